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
        "By what two documents are compared: with the linear kernel a score is a weighted sum, with the "
        "others any smooth function, or a polynomial of the features."
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
        "The kernel's width is 1/√γ: the greater γ, the nearer two documents must be to be alike. In the "
        "polynomial, what the inner product is multiplied with. Every value is tried."
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
    help="Of the polynomial: so many features at most are multiplied with each other.",
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
    help="Of the polynomial: the greater it is, the more products of few features count.",
    symbol="c",
    source="Airola 2011, eq. (2.9)",
    option="--coef0",
    low=0.0,
    only_with=("kernel", ("poly",)),
)

N_BASIS = Parameter(
    name="n_basis",
    label="basis vectors",
    kind=Kind.INTEGER,
    default=300,
    help=(
        "Training documents whose kernel functions the score is a sum of, drawn at random. With all of them "
        "it is exact; time grows with the cube of the documents then."
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
    help="Whether each document is as likely to be a basis vector, or each query has as many of them.",
    source="Airola 2011, sections 2.5 and 5.6",
    option="--basis",
    choices=(("uniform", "all documents"), ("per_query", "each query alike")),
)

WITH_KERNEL = ("kernel", ("rbf", "poly"))

MAPPED = (
    replace(
        KERNEL,
        default="linear",
        help="By what two documents are compared; other than the linear one, by way of the basis vectors.",
        source="Airola 2011, section 4.2.2",
        choices=(("linear", "linear"), ("rbf", "Gaussian"), ("poly", "polynomial")),
    ),
    replace(GAMMA, default=(2.0**-6,)),
    DEGREE,
    COEF0,
    *(replace(p, only_with=WITH_KERNEL) for p in (N_BASIS, BASIS)),
)
"""Of a method that is linear by default, and with a kernel learns on the Nyström map."""
