"""The parameters of simulations as data: the window's forms and the terminal's options are made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rankstudio.engine.methods.catalog import Kind, Parameter
from rankstudio.engine.methods.catalog.shared import GAMMA, LAMBDA

NO_KERNEL = "none"
"""Value of the parameter `kernel` for greedy selection instead of a kernel."""

SELECTED_ONCE = "selected once"
BASIS_KEPT = "basis vectors kept"
"""Endings of the names of estimators whose features or basis vectors were chosen with held-out documents."""

_LAMBDA = replace(
    LAMBDA,
    kind=Kind.NUMBER,
    default=1.0,
    help="Regularization: larger values give smaller weights.",
    source="",
)
_REPETITIONS = Parameter(
    name="repetitions",
    label="repetitions",
    kind=Kind.INTEGER,
    default=10_000,
    low=1,
    high=100_000_000,
    help="Number of training sets to draw.",
)
_SEED = Parameter(
    name="seed",
    label="seed",
    kind=Kind.INTEGER,
    default=0,
    low=0,
    high=2**32 - 1,
    help="Seed of the random numbers: equal seeds give identical results.",
)

AUC: tuple[Parameter, ...] = (
    Parameter(
        name="n_examples",
        label="examples",
        kind=Kind.INTEGER,
        default=30,
        low=4,
        high=20_000,
        help="Size of each training set, both classes together.",
        symbol="m",
        source="Airola 2011, 5.4",
        option="--examples",
    ),
    Parameter(
        name="positive",
        label="positives",
        kind=Kind.NUMBER,
        default=0.5,
        low=0.0001,
        high=0.9999,
        help="Share of positive examples; each class has at least one example.",
        source="Airola 2011, 5.4",
    ),
    Parameter(
        name="n_features",
        label="features",
        kind=Kind.INTEGER,
        default=10,
        low=1,
        high=1_000_000,
        help="Number of features; each is normally distributed with variance 1.",
        symbol="n",
        source="Airola 2011, 5.4",
        option="--features",
    ),
    Parameter(
        name="n_informative",
        label="informative",
        kind=Kind.INTEGER,
        default=None,
        low=0,
        high=1_000_000,
        none_label="all",
        help="Number of features whose mean differs between the classes; the others are noise.",
        source="Airola 2011, 5.4",
        option="--informative",
    ),
    Parameter(
        name="shift",
        label="shift",
        kind=Kind.NUMBER,
        default=0.0,
        low=-1e6,
        high=1e6,
        help="Distance between the two class means in each informative feature; 0 means no signal.",
        symbol="δ",
        source="Airola 2011, 5.4",
    ),
    Parameter(
        name="learner",
        label="learner",
        kind=Kind.CHOICE,
        default="rls",
        help="The learner of the linear model, with an intercept; the second is trained for each pair.",
        source="Airola 2011, 2.7-2.8",
        choices=(
            ("rls", "least squares"),
            ("svm", "support vector machine"),
        ),
    ),
    _LAMBDA,
    _REPETITIONS,
    _SEED,
)
"""Parameters of `simulate_auc`, by the names of its arguments."""

_WITHOUT_KERNEL = ("kernel", (NO_KERNEL,))
_WITH_KERNEL = ("kernel", ("rbf", "poly", "linear"))

SELECTION: tuple[Parameter, ...] = (
    Parameter(
        name="n_queries",
        label="queries",
        kind=Kind.INTEGER,
        default=20,
        low=3,
        high=10_000_000,
        help="Number of training queries drawn each time; all other queries measure the truth.",
        source="Airola 2011, 5.5",
        option="--queries",
    ),
    Parameter(
        name="kernel",
        label="learner",
        kind=Kind.CHOICE,
        default=NO_KERNEL,
        help=(
            "The learner: greedy RankRLS selects features; RankRLS with a kernel uses all "
            "features, with some documents of each query as basis vectors."
        ),
        source="Airola 2011, 5.5-5.6",
        choices=(
            (NO_KERNEL, "greedy RankRLS"),
            ("rbf", "Gaussian kernel"),
            ("poly", "polynomial"),
            ("linear", "linear kernel"),
        ),
    ),
    Parameter(
        name="n_features",
        label="features, k",
        kind=Kind.INTEGER,
        default=5,
        low=1,
        high=1_000_000,
        none_label="all",
        help="Number of features that greedy RankRLS selects.",
        symbol="k",
        option="--features",
        only_with=_WITHOUT_KERNEL,
    ),
    replace(
        GAMMA,
        kind=Kind.NUMBER,
        default=2.0**-6,
        help=GAMMA.help.removesuffix(" Every value is tried."),
    ),
    Parameter(
        name="per_query",
        label="basis",
        kind=Kind.INTEGER,
        default=2,
        low=1,
        high=1_000_000,
        help="Number of basis vectors, drawn from the documents of each training query.",
        source="Airola 2011, 5.6",
        option="--basis",
        only_with=_WITH_KERNEL,
    ),
    replace(
        _LAMBDA,
        help="Regularization of the selection and the model: larger values give smaller weights.",
    ),
    Parameter(
        name="measure",
        label="measure",
        kind=Kind.MEASURE,
        default="MAP",
        help="The measure that is estimated; its true value is measured on all other queries.",
    ),
    replace(
        _REPETITIONS,
        default=100,
        high=10_000_000,
        help="Number of draws of training queries.",
    ),
    _SEED,
)
"""Parameters of `simulate_selection`, by the names of its arguments."""

PARAMETERS: Mapping[str, tuple[Parameter, ...]] = {"auc": AUC, "selection": SELECTION}
"""Parameters of each simulation, by its name."""


def _values(default: tuple[float, ...], text: str, like: Parameter) -> Parameter:
    """Return a parameter that takes a list of values of the parameter ``like``, within its limits.

    ``default`` has the default values, and ``text`` is the description
    for the user.
    """
    return Parameter(
        "values", "values", Kind.GRID, default, text, option="--values",
        low=like.low, high=like.high, open_low=like.open_low, only_with=like.only_with,
    )  # fmt: skip


_AUC, _SELECTION = ({p.name: p for p in parameters} for parameters in (AUC, SELECTION))

VARIED: Mapping[str, Mapping[str, Parameter]] = {
    "auc": {
        "n_examples": _values(
            (10.0, 20.0, 30.0, 50.0, 100.0, 200.0),
            "Sizes of the training set to try.",
            _AUC["n_examples"],
        ),
        "positive": _values(
            (0.1, 0.2, 0.3, 0.4, 0.5),
            "Shares of positive examples to try.",
            _AUC["positive"],
        ),
        "regularization": _values(
            tuple(2.0**e for e in range(-6, 11, 2)), "Values of λ to try.", _LAMBDA
        ),
    },
    "selection": {
        "regularization": _values(
            tuple(4.0**e for e in range(-5, 6)), "Values of λ to try.", _LAMBDA
        ),
        "n_queries": _values(
            (5.0, 10.0, 20.0, 40.0),
            "Numbers of training queries to try.",
            _SELECTION["n_queries"],
        ),
        "n_features": _values(
            (1.0, 2.0, 3.0, 5.0, 8.0),
            "Numbers of selected features to try.",
            _SELECTION["n_features"],
        ),
        "per_query": _values(
            (1.0, 2.0, 4.0, 8.0),
            "Numbers of basis vectors per query to try.",
            _SELECTION["per_query"],
        ),
    },
}
"""Parameters for the values of each quantity that can be varied, by simulation and argument."""

EACH: Mapping[str, Parameter] = {
    kind: Parameter(
        "each",
        "per value",
        Kind.INTEGER,
        usual,
        text,
        low=1,
        high=high,
        option="--of-each",
    )
    for kind, usual, high, text in (
        (
            "auc",
            1000,
            100_000_000,
            "Number of training sets drawn for each of these values.",
        ),
        (
            "selection",
            20,
            10_000_000,
            "Number of draws of training queries for each of these values.",
        ),
    )
}
"""Parameter for the repetitions of each value, by simulation."""


def option_of(simulation: str, quantity: str) -> str:
    """Return the name of a quantity on the command line: "lambda" for "regularization"."""
    return next(
        p.option for p in PARAMETERS[simulation] if p.name == quantity
    ).removeprefix("--")
