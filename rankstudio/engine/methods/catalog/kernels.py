"""The parameters of methods that learn with a kernel."""

from __future__ import annotations

from dataclasses import replace

from rankstudio.engine.methods.catalog.parameter import Parameter
from rankstudio.engine.methods.catalog.value_kind import Kind

KERNEL = Parameter(
    name="kernel",
    label="kernel",
    kind=Kind.CHOICE,
    default="rbf",
    help=(
        "How two documents are compared. The linear kernel gives a weighted sum of features, "
        "the others smooth functions or polynomials."
    ),
    symbol="k(x, x')",
    source="Airola 2011, section 2.6",
    option="--kernel",
    choices=(("rbf", "Gaussian"), ("poly", "polynomial"), ("linear", "linear")),
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
    option="--gamma",
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
    option="--degree",
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
    option="--coef0",
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
        "Number of basis vectors, drawn at random from the training documents. The model is a "
        "sum of their kernel functions. With all documents it is exact, and time grows with "
        "their cube."
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
        "Whether basis vectors are drawn from all documents with equal probability, or equally "
        "many from each query."
    ),
    source="Airola 2011, sections 2.5 and 5.6",
    option="--basis",
    basic=False,
    choices=(("uniform", "all documents"), ("per_query", "same number per query")),
)

WITH_KERNEL = ("kernel", ("rbf", "poly"))

_MAP = (
    replace(
        KERNEL,
        default="linear",
        help=("How two documents are compared. Kernels other than the linear one use the basis vectors."),
        source="Airola 2011, section 4.2.2",
        choices=(("linear", "linear"), ("rbf", "Gaussian"), ("poly", "polynomial")),
    ),
    replace(GAMMA, default=(2.0**-6,)),
    DEGREE,
    COEF0,
    *(replace(p, only_with=WITH_KERNEL) for p in (N_BASIS, BASIS)),
)

MAPPED = tuple(replace(p, basic=False) for p in _MAP)
"""Of a method that is linear by default, and with a kernel learns on the Nyström map."""
