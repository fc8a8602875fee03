"""Parameters and criteria that several methods share."""

from __future__ import annotations

from dataclasses import replace

from rankstudio.engine.methods.catalog.method import Criterion
from rankstudio.engine.methods.catalog.parameter import Kind, Parameter
from rankstudio.engine.support.named_sums import SUM, TIMES

LEAVE_QUERY_OUT = Criterion("leave-query-out error per document", per_document=True)
"""The criterion of all methods that rank with RankRLS."""

LEFT_OUT_CRITERIA = {
    LEAVE_QUERY_OUT.name: (
        "leave-pair-out error per document",
        "leave-one-out error per document",
    ),
    "drop in leave-query-out error": (
        "drop in leave-pair-out error",
        "drop in leave-one-out error",
    ),
}
"""Criteria that replace leaving queries out for one ranking of all documents: with pairs, and without."""

LAMBDA = Parameter(
    name="regularization",
    label="λ",
    kind=Kind.GRID,
    default=tuple(2.0**e for e in range(11)),
    help=(
        "Regularization: weight of the squared norm of the model relative to its training error. "
        "Every value is tried."
    ),
    symbol="λ",
    source="Pahikkala et al. 2010, eq. (3)",
    option="--lambda",
    low=0.0,
    open_low=True,
)

RANKING_LAMBDA = replace(
    LAMBDA,
    help="λ of the final ranker RankRLS; the selection does not depend on it.",
    ranks=True,
)

SIZE = Parameter(
    name="n_features_to_select",
    label="features k",
    kind=Kind.INTEGER,
    default=None,
    help=(
        "Maximum number of features to select; a group counts as one. Models of all sizes up to this maximum "
        "are compared."
    ),
    symbol="k",
    source="Pahikkala et al. 2010, Algorithm 1",
    option="--features",
    low=1,
    none_label="all",
)

COSTS = Parameter(
    name="costs",
    label="costs",
    kind=Kind.COSTS,
    default=(),
    help=(
        "Cost of each feature by id (others cost 1), or “milliseconds” for the imported costs. Each step "
        "then selects the feature with the largest gain per cost."
    ),
    option="--by-cost",
    basic=False,
    none_label="all 1",
)

SCORE_COSTS = replace(
    COSTS,
    help=(
        "Cost of each feature by id (others cost 1), or “milliseconds” for the imported costs. The features "
        "are then ordered by score per cost."
    ),
)

BUDGET = Parameter(
    name="budget",
    label="budget",
    kind=Kind.NUMBER,
    default=None,
    help="Maximum total cost of the selected features; needs costs.",
    basic=False,
    low=0.0,
    open_low=True,
    none_label="none",
)

C = Parameter(
    name="C",
    label="C",
    kind=Kind.GRID,
    default=tuple(4.0**e for e in range(-7, 2)),
    help="Weight of the pair losses relative to the squared norm of the model. Every value is tried.",
    symbol="C",
    source="Chapelle and Keerthi 2010, eq. (4)",
    low=0.0,
    open_low=True,
)

MEASURE = Parameter(
    name="measure",
    label="measure",
    kind=Kind.MEASURE,
    default="NDCG@10",
    help="Training measure to optimise, computed by the convention of the run.",
)

TOL = Parameter(
    name="tol",
    label="tolerance",
    kind=Kind.NUMBER,
    default=1e-6,
    help="Stops when the duality gap is at most this share of the objective.",
    basic=False,
    offers_several=False,
    low=0.0,
    open_low=True,
)


COST = Parameter(
    name="cost",
    label="pair weight",
    kind=Kind.CHOICE,
    default="magnitude",
    help=(
        "Cost of a pair with label difference d and score difference g: (d − g)², (1 − g)² for "
        "all d, or (1 − g/d)², which allows larger errors for large d."
    ),
    source="Pahikkala et al. 2009, eqs. (20) to (22)",
    basic=False,
    choices=(
        ("magnitude", "label difference"),
        ("unit", "equal"),
        ("inverse", "relative"),
    ),
    changes_criterion=True,
)

TIES = Parameter(
    name="ties",
    label="tied pairs",
    kind=Kind.SWITCH,
    default=True,
    help="Whether pairs with equal labels count. If they do, equal scores are best for them.",
    source="Pahikkala et al. 2009, section 5.1",
    basic=False,
    only_with=("cost", ("magnitude",)),
    changes_criterion=True,
)

WEIGHTING = Parameter(
    name="weighting",
    label="query weight",
    kind=Kind.CHOICE,
    default="size",
    help=(
        "Divisor of the pair losses of a query: its number of documents (long queries count "
        "more), its number of pairs (all queries count equally), or none."
    ),
    source="Pahikkala et al. 2009, section 2.4; 2010, eq. (3)",
    basic=False,
    choices=(("size", "by documents"), ("pairs", "equal"), ("none", "by pairs")),
    changes_criterion=True,
)

PAIRS = Parameter(
    name="pairs",
    label="pairs",
    kind=Kind.CHOICE,
    default="query",
    help=(
        "Pairs that count: those within each query; all, also between queries, which no measure uses; or "
        "none, which is regression on the labels with an intercept."
    ),
    source="Pahikkala et al. 2009, section 5.1",
    basic=False,
    choices=(
        ("query", "inside queries"),
        ("all", "over all queries"),
        ("pointwise", "documents, no pairs"),
    ),
)


def max_iter(
    default: int,
    high: int,
    help_text: str = "Maximum number of iterations.",
    source: str = "",
) -> Parameter:
    """Return the parameter that limits a method's iterations, from 1 to ``high``.

    ``default`` is its default, and ``help_text`` its description for
    users. ``source`` is the passage of the paper that names the limit
    T; "" if no passage does.
    """
    return Parameter(
        name="max_iter",
        label="iterations",
        kind=Kind.INTEGER,
        default=default,
        help=help_text,
        symbol="T" if source else "",
        source=source,
        basic=False,
        low=1,
        high=high,
    )


def rounds(default: int, source: str) -> Parameter:
    """Return the parameter that limits the rounds of boosting, each of which adds a weak ranker.

    ``default`` is its default. ``source`` is the passage of the paper about it.
    """
    return Parameter(
        name="n_rounds",
        label="rounds",
        kind=Kind.INTEGER,
        default=default,
        help="Maximum number of weak rankers; the validation part chooses how many the model uses.",
        symbol="T",
        source=source,
        option="--rounds",
        low=1,
        high=100_000,
    )


KERNEL = Parameter(
    name="kernel",
    label="kernel",
    kind=Kind.CHOICE,
    default="rbf",
    help=(
        "How two documents are compared. The linear kernel gives a weighted sum of features, "
        "the others smooth functions or polynomials. Sums and products combine kernels, with the "
        "same γ: linear + 0.5 * rbf."
    ),
    symbol="k(x, x')",
    source="Airola 2011, section 2.6",
    choices=(("rbf", "Gaussian"), ("poly", "polynomial"), ("linear", "linear")),
    summed=True,
)

GAMMA = Parameter(
    name="gamma",
    label="γ",
    kind=Kind.GRID,
    default=(2.0**-8, 2.0**-6, 2.0**-4),
    help=(
        "The kernel's width is 1/√γ: a larger γ makes only close documents similar. In the "
        "polynomial kernel, γ multiplies the inner product. Every value is tried."
    ),
    symbol="γ",
    source="Airola 2011, eq. (2.10)",
    low=0.0,
    open_low=True,
    only_with=("kernel", ("rbf", "poly")),
)

DEGREE = Parameter(
    name="degree",
    label="degree",
    kind=Kind.INTEGER,
    default=3,
    help="Degree of the polynomial: the maximum number of features multiplied with each other.",
    symbol="d",
    source="Airola 2011, eq. (2.9)",
    low=1,
    high=20,
    only_with=("kernel", ("poly",)),
)

COEF0 = Parameter(
    name="coef0",
    label="constant",
    kind=Kind.NUMBER,
    default=1.0,
    help="Constant of the polynomial: a larger value gives more weight to products of few features.",
    symbol="c",
    source="Airola 2011, eq. (2.9)",
    basic=False,
    low=0.0,
    only_with=("kernel", ("poly",)),
)

N_BASIS = Parameter(
    name="n_basis",
    label="basis vectors",
    kind=Kind.INTEGER,
    default=300,
    help=(
        "Number of basis vectors, drawn at random from the training documents. The model is a sum of "
        "their kernel functions. With all documents the model is exact, but the time grows with the "
        "cube of their number."
    ),
    symbol="|R|",
    source="Airola 2011, section 2.5",
    option="--basis-vectors",
    low=1,
    none_label="all documents",
)

BASIS = Parameter(
    name="basis",
    label="drawn from",
    kind=Kind.CHOICE,
    default="uniform",
    help=(
        "Whether basis vectors are drawn from all documents with equal probability, or in equal "
        "numbers from each query."
    ),
    source="Airola 2011, sections 2.5 and 5.6",
    basic=False,
    choices=(("uniform", "all documents"), ("per_query", "same number per query")),
)

WITH_KERNEL = ("kernel", ("rbf", "poly", SUM, TIMES))

_MAP = (
    replace(
        KERNEL,
        default="linear",
        help=(
            "How two documents are compared. Kernels other than the linear one use the basis vectors. "
            "Sums and products combine kernels, with the same γ: linear + 0.5 * rbf."
        ),
        source="Airola 2011, section 4.2.2",
        choices=(("linear", "linear"), ("rbf", "Gaussian"), ("poly", "polynomial")),
    ),
    replace(GAMMA, default=(2.0**-6,)),
    DEGREE,
    COEF0,
    *(replace(p, only_with=WITH_KERNEL) for p in (N_BASIS, BASIS)),
)

MAPPED = tuple(replace(p, basic=False) for p in _MAP)
"""Parameters of a method that is linear by default, and with a kernel learns on the Nyström map."""
