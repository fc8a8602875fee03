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


FSM = (
    Parameter(
        name="lambda1",
        label="λ1",
        kind=Kind.GRID,
        default=(0.01, 0.1),
        help="Penalty on similar features that both have weight. Every value is tried.",
        symbol="λ₁",
        source="Lai et al. 2013, eq. (2)",
        option="--lambda1",
        low=0.0,
    ),
    Parameter(
        name="lambda2",
        label="λ2",
        kind=Kind.GRID,
        default=(1e-5, 1e-4, 1e-3),
        help="Penalty on weight, the greater the less important the feature. Every value is tried.",
        symbol="λ₂",
        source="Lai et al. 2013, eq. (2)",
        option="--lambda2",
        low=0.0,
    ),
    Parameter(
        name="importance",
        label="importance",
        kind=Kind.CHOICE,
        default="pearson",
        help="How important a feature is: its correlation with the labels, or how well it ranks alone.",
        symbol="s",
        source="Lai et al. 2013, section III.B",
        option="--importance",
        choices=(
            ("pearson", "Pearson"),
            ("ndcg", "NDCG@10 alone"),
            ("map", "MAP alone"),
            ("none", "all equal"),
        ),
    ),
    Parameter(
        name="similarity",
        label="similarity",
        kind=Kind.CHOICE,
        default="pearson",
        help="How similar two features are: their correlation, or how alike they rank.",
        symbol="A",
        source="Lai et al. 2013, section III.B",
        option="--similarity",
        choices=(("pearson", "Pearson"), ("kendall", "Kendall's τ"), ("none", "none are")),
    ),
    Parameter(
        name="project",
        label="make convex",
        kind=Kind.SWITCH,
        default=False,
        help=(
            "Replace similarities that are not positive semidefinite by the nearest ones that are; without "
            "it the objective may not be convex, and a warning says so."
        ),
        option="--project",
    ),
    Parameter(
        name="tol",
        label="tolerance",
        kind=Kind.NUMBER,
        default=1e-10,
        help=(
            "It ends with an iteration that changes the objective by at most this share of it. The paper's "
            "1e-4 stops so early that other features come first than at the minimum."
        ),
        symbol="ε",
        source="Lai et al. 2013, Algorithm 1",
        option="--tol",
        low=0.0,
        open_low=True,
    ),
    max_iter(400, 10_000_000, source="Lai et al. 2013, Algorithm 1"),
)
"""The parameters of FSMRank, which FSMSVM has too."""
