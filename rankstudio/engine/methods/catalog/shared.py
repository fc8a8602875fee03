"""Parameters that several methods have."""

from __future__ import annotations

from dataclasses import replace

from rankstudio.engine.methods.catalog.parameter import Parameter
from rankstudio.engine.methods.catalog.value_kind import Kind

LEAVE_QUERY_OUT = "leave-query-out error per document"
"""The criterion of all that ends in RankRLS."""

LAMBDA = Parameter(
    name="regularization",
    label="λ",
    kind=Kind.GRID,
    default=tuple(2.0**e for e in range(11)),
    help="Weight of the squared norm of the model against its training error. Every value is tried.",
    symbol="λ",
    source="Pahikkala et al. 2010, eq. (3)",
    option="--lambda",
    low=0.0,
    open_low=True,
)

RANKING_LAMBDA = replace(
    LAMBDA,
    help="Of the RankRLS that ranks with the selected features; the selection does not depend on it.",
    ranks=True,
)

SIZE = Parameter(
    name="n_features_to_select",
    label="features k",
    kind=Kind.INTEGER,
    default=None,
    help=(
        "How many features to select at most, a group of features counting as one; every size up to it is a "
        "candidate model."
    ),
    symbol="k",
    source="Pahikkala et al. 2010, Algorithm 1",
    option="--features",
    low=1,
    none_label="all",
)

C = Parameter(
    name="C",
    label="C",
    kind=Kind.GRID,
    default=tuple(4.0**e for e in range(-7, 2)),
    help="Weight of a pair's loss against the squared norm of the model. Every value is tried.",
    symbol="C",
    source="Chapelle and Keerthi 2010, eq. (4)",
    option="--C",
    low=0.0,
    open_low=True,
)

MEASURE = Parameter(
    name="measure",
    label="measure",
    kind=Kind.MEASURE,
    default="NDCG@10",
    help="The measure of the training documents that counts, in the convention of the run.",
    option="--measure",
)

TOL = Parameter(
    name="tol",
    label="tolerance",
    kind=Kind.NUMBER,
    default=1e-6,
    help="It ends where the duality gap is at most this share of the objective.",
    option="--tol",
    low=0.0,
    open_low=True,
)


COST = Parameter(
    name="cost",
    label="pair cost",
    kind=Kind.CHOICE,
    default="magnitude",
    help=(
        "What a pair costs whose labels differ by d and whose scores differ by g: (d − g)², or (1 − g)² "
        "whatever d is, or (1 − g/d)², which allows greater errors where d is great."
    ),
    source="Pahikkala et al. 2009, eqs. (20) to (22)",
    option="--cost",
    choices=(
        ("magnitude", "magnitude"),
        ("unit", "unit"),
        ("inverse", "relative"),
    ),
    changes_criterion=True,
)

TIES = Parameter(
    name="ties",
    label="tied pairs",
    kind=Kind.SWITCH,
    default=True,
    help="Whether pairs of documents with equal labels count, which should get equal scores.",
    source="Pahikkala et al. 2009, section 5.1",
    option="--ties",
    only_with=("cost", ("magnitude",)),
    changes_criterion=True,
)

WEIGHTING = Parameter(
    name="weighting",
    label="queries weigh",
    kind=Kind.CHOICE,
    default="size",
    help=(
        "What the loss of a query's pairs is divided by: its number of documents, so that a query counts as "
        "much as it has documents; its number of pairs, so that all queries count alike; or nothing."
    ),
    source="Pahikkala et al. 2009, section 2.4; 2010, eq. (3)",
    option="--weighting",
    choices=(("size", "by documents"), ("pairs", "all alike"), ("none", "by pairs")),
    changes_criterion=True,
)

PAIRS = Parameter(
    name="pairs",
    label="pairs",
    kind=Kind.CHOICE,
    default="query",
    help=(
        "Whether pairs of documents of different queries count too, though no measure looks at them; or no "
        "pairs but the documents' labels alone, with a bias: ordinary regression."
    ),
    source="Pahikkala et al. 2009, section 5.1",
    option="--pairs",
    choices=(("query", "inside queries"), ("all", "over all queries"), ("pointwise", "documents, no pairs")),
)


def max_iter(default: int, high: int, what: str = "Iterations at most.", source: str = "") -> Parameter:
    """Return the parameter that bounds a method's iterations."""
    return Parameter(
        name="max_iter",
        label="iterations",
        kind=Kind.INTEGER,
        default=default,
        help=what,
        symbol="T" if source else "",
        source=source,
        option="--max-iter",
        low=1,
        high=high,
    )


def rounds(default: int, source: str) -> Parameter:
    """Return the parameter that bounds the rounds of boosting."""
    return Parameter(
        name="n_rounds",
        label="rounds",
        kind=Kind.INTEGER,
        default=default,
        help="Weak rankers at most; the validation part chooses how many of them make the model.",
        symbol="T",
        source=source,
        option="--rounds",
        low=1,
        high=100_000,
    )
