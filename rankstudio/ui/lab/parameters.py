"""The fields of the Lab page, as data."""

from __future__ import annotations

from rankstudio.engine.methods.catalog import Kind, Parameter
from rankstudio.ui.language import tr

_LAMBDA = Parameter(
    name="regularization",
    label=tr("λ"),
    kind=Kind.NUMBER,
    default=1.0,
    low=0.0,
    open_low=True,
    help=tr("How strongly large weights are punished."),
    symbol="λ",
)


def _seed() -> Parameter:
    return Parameter(
        name="seed",
        label=tr("seed"),
        kind=Kind.INTEGER,
        default=0,
        low=0,
        high=2**32 - 1,
        help=tr("Of the random numbers: equal seeds give equal results, to the last bit."),
    )


AUC_PARAMETERS = (
    Parameter(
        name="n_examples",
        label=tr("examples"),
        kind=Kind.INTEGER,
        default=30,
        low=4,
        high=2000,
        help=tr("Size of each training set that is drawn, both classes together."),
        symbol="m",
        source="Airola 2011, 5.4",
    ),
    Parameter(
        name="positive",
        label=tr("positives"),
        kind=Kind.NUMBER,
        default=0.5,
        low=0.01,
        high=0.99,
        help=tr("Share of the positive examples; at least one is of each class."),
        source="Airola 2011, 5.4",
    ),
    Parameter(
        name="n_features",
        label=tr("features"),
        kind=Kind.INTEGER,
        default=10,
        low=1,
        high=1000,
        help=tr("How many features an example has; each is normally distributed with variance 1."),
        symbol="n",
        source="Airola 2011, 5.4",
    ),
    Parameter(
        name="n_informative",
        label=tr("informative"),
        kind=Kind.INTEGER,
        default=None,
        low=0,
        high=1000,
        none_label=tr("all"),
        help=tr("How many of the features are shifted between the classes; the others are noise."),
        source="Airola 2011, 5.4",
    ),
    Parameter(
        name="shift",
        label=tr("shift"),
        kind=Kind.NUMBER,
        default=0.0,
        low=-10.0,
        high=10.0,
        help=tr("Distance of the means of the two classes in each informative feature; 0 is no signal."),
        symbol="δ",
        source="Airola 2011, 5.4",
    ),
    _LAMBDA,
    Parameter(
        name="repetitions",
        label=tr("repetitions"),
        kind=Kind.INTEGER,
        default=10_000,
        low=1,
        high=100_000,
        help=tr("How many training sets are drawn."),
    ),
    _seed(),
)
"""Of `simulate_auc`, by the names of its arguments."""

VARIED_REPETITIONS = Parameter(
    name="varied_repetitions",
    label=tr("of each"),
    kind=Kind.INTEGER,
    default=1000,
    low=1,
    high=100_000,
    help=tr("How many training sets are drawn for each of these values."),
)

SHORT = {"n_examples": tr("examples"), "positive": tr("positives"), "regularization": tr("λ")}
"""What can be varied, in a word."""

VARIED = {
    "n_examples": Parameter(
        name="values",
        label=tr("values"),
        kind=Kind.GRID,
        default=(10.0, 20.0, 30.0, 50.0, 100.0, 200.0),
        low=4,
        high=2000,
        help=tr("Sizes of the training set to try one after the other."),
    ),
    "positive": Parameter(
        name="values",
        label=tr("values"),
        kind=Kind.GRID,
        default=(0.1, 0.2, 0.3, 0.4, 0.5),
        low=0.01,
        high=0.99,
        help=tr("Shares of positive examples to try one after the other."),
    ),
    "regularization": Parameter(
        name="values",
        label=tr("values"),
        kind=Kind.GRID,
        default=tuple(2.0**e for e in range(-6, 11, 2)),
        low=0.0,
        open_low=True,
        help=tr("Values of λ to try one after the other."),
    ),
}
"""The values of what can be varied, by the engine's names."""

SELECTION_PARAMETERS = (
    Parameter(
        name="n_queries",
        label=tr("queries"),
        kind=Kind.INTEGER,
        default=20,
        low=3,
        high=10_000,
        help=tr("How many training queries are drawn each time; the truth is measured on all others."),
        source="Airola 2011, 5.5",
    ),
    Parameter(
        name="n_features",
        label=tr("features, k"),
        kind=Kind.INTEGER,
        default=5,
        low=1,
        high=10_000,
        none_label=tr("all"),
        help=tr("How many features greedy RankRLS selects from them."),
        symbol="k",
    ),
    _LAMBDA,
    Parameter(
        name="measure",
        label=tr("measure"),
        kind=Kind.MEASURE,
        default="MAP",
        help=tr("What is estimated, and measured on all other queries."),
    ),
    Parameter(
        name="repetitions",
        label=tr("repetitions"),
        kind=Kind.INTEGER,
        default=100,
        low=1,
        high=100_000,
        help=tr("How often training queries are drawn."),
    ),
    _seed(),
)
"""Of `simulate_selection`, by the names of its arguments."""
