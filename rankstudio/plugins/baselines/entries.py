"""The entries of the published rankers in the catalog of methods."""

from __future__ import annotations

from dataclasses import replace

from rankstudio.engine.methods.catalog.method import (
    Criterion,
    Description,
    Method,
    Seconds,
    StepKind,
)
from rankstudio.engine.methods.catalog.parameter import Kind, Parameter
from rankstudio.engine.methods.catalog.shared import (
    LAMBDA,
    MEASURE,
    TOL,
    C,
    max_iter,
    rounds,
)

LISTNET = Method(
    key="listnet",
    label="ListNet",
    family="ranker",
    description=Description(
        citation="Cao et al. 2007",
        title="Learning to rank: from pairwise approach to listwise approach",
        summary=(
            "Fits the scores so that each document's probability of being ranked first in its query matches "
            "that of the labels."
        ),
        formula="minimise over w:  Σ_q Σ_{i∈q} −P_y(i) ln P_w(i) + λ/2 ‖w‖²,  P(i) = exp(s_i) / Σ_j exp(s_j)",
    ),
    criterion=Criterion("objective"),
    step_kind=StepKind.ITERATIONS,
    estimator="rankstudio.plugins.baselines.listnet:ListNet",
    seconds=Seconds(0.06, 0.026, 0.41),
    parameters=(
        replace(
            LAMBDA,
            default=tuple(4.0**e for e in range(-4, 4)),
            help=(
                "Regularization: weight of the squared norm of the model relative to the cross "
                "entropy. Every value is tried."
            ),
            source="not in the paper; it makes the minimum unique",
        ),
        replace(
            TOL,
            help="Stops when the gradient norm is at most this share of its initial value.",
        ),
        max_iter(500, 100_000),
    ),
)

COORDINATE_ASCENT = Method(
    key="coordinate-ascent",
    label="Coordinate ascent",
    family="ranker",
    description=Description(
        citation="Metzler and Croft 2007",
        title="Linear feature-based models for information retrieval",
        summary=(
            "Optimises one weight at a time for the ranking measure itself, from several starting points."
        ),
    ),
    criterion=Criterion("training measure", measured=True),
    step_kind=StepKind.ITERATIONS,
    takes=("convention", "seed"),
    traits=("drops_features",),
    estimator="rankstudio.plugins.baselines.coordinate_ascent:CoordinateAscent",
    seconds=Seconds(0.0, 1.5, 40.0),
    parameters=(
        MEASURE,
        Parameter(
            name="n_restarts",
            label="starts",
            kind=Kind.INTEGER,
            default=3,
            help="Number of starting points: equal weights first, then random ones.",
            source="Metzler and Croft 2007, section 4",
            option="--restarts",
            basic=False,
            low=1,
            high=1000,
        ),
        max_iter(
            25,
            10_000,
            "Maximum number of iterations per start; each visits all weights.",
        ),
        replace(
            TOL,
            name="tolerance",
            option="",
            default=1e-3,
            help=(
                "Each start stops after the first iteration that improves the measure by this much or less."
            ),
        ),
    ),
)

ADARANK = Method(
    key="adarank",
    label="AdaRank",
    family="ranker",
    description=Description(
        citation="Xu and Li 2007",
        title="AdaRank: a boosting algorithm for information retrieval",
        summary=(
            "A weighted sum of single features; each round adds the best feature for the queries that are "
            "still ranked badly."
        ),
        formula="α_t = ½ ln( Σ_q P(q)(1 + E(q, x_k)) / Σ_q P(q)(1 − E(q, x_k)) )",
    ),
    criterion=Criterion("training measure", measured=True),
    step_kind=StepKind.ROUNDS,
    takes=("convention",),
    traits=("drops_features",),
    estimator="rankstudio.plugins.baselines.adarank:AdaRank",
    seconds=Seconds(0.0, 0.17, 3.2),
    parameters=(
        MEASURE,
        rounds(100, "Xu and Li 2007, Figure 1"),
        Parameter(
            name="repeats",
            label="repeats",
            kind=Kind.SWITCH,
            default=False,
            help=(
                "Whether a feature may be selected more than once; after the first repetition, every "
                "later round selects the same feature."
            ),
            basic=False,
        ),
        Parameter(
            name="direction",
            label="direction",
            kind=Kind.CHOICE,
            default="both",
            help="Whether a feature may also rank in ascending order; not allowed in the paper.",
            option="--weak-direction",
            basic=False,
            choices=(("both", "both"), ("descending", "high values first")),
        ),
    ),
)

RANKBOOST = Method(
    key="rankboost",
    label="RankBoost",
    family="ranker",
    description=Description(
        citation="Freund et al. 2003",
        title="An efficient boosting algorithm for combining preferences",
        summary=(
            "A weighted sum of thresholds on single features; each round adds the best threshold for the "
            "pairs that are still in the wrong order. The model is not linear."
        ),
        formula="minimise  Σ_{y_i > y_j} exp(H(x_j) − H(x_i)),  H = Σ_t α_t [x_{j_t} > θ_t]",
    ),
    criterion=Criterion("mean loss of the pairs"),
    step_kind=StepKind.ROUNDS,
    traits=("drops_features",),
    estimator="rankstudio.plugins.baselines.rankboost:RankBoost",
    seconds=Seconds(0.0, 0.27, 5.3),
    parameters=(
        rounds(300, "Freund et al. 2003, Figure 1"),
        Parameter(
            "n_thresholds",
            "thresholds",
            Kind.INTEGER,
            None,
            "Divides the range of each feature into this many intervals and tries the values between them.",
            low=2,
            high=65_536,
            none_label="all values",
            source="10 in RankLib (option -tc)",
        ),
    ),
)

SVM_MAP = Method(
    key="svm-map",
    label="SVM-MAP",
    family="ranker",
    description=Description(
        citation="Yue et al. 2007",
        title="A support vector method for optimizing average precision",
        summary=(
            "Linear model that maximises average precision: the perfect ranking of each query "
            "should score more than any other, by a margin that grows with the loss in average "
            "precision. Labels from 1 up are relevant."
        ),
        formula="minimise over w:  ½ w'w + C/Q Σ_q max_y (1 − AP(y) + w'Ψ(x_q, y) − w'Ψ(x_q, y_q))",
    ),
    criterion=Criterion("objective"),
    step_kind=StepKind.ITERATIONS,
    estimator="rankstudio.plugins.baselines.svm_map:SVMMAP",
    seconds=Seconds(0.0, 0.05, 1.3),
    parameters=(
        replace(
            C,
            default=(0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0),
            help=(
                "Weight of the mean slack of the queries relative to the squared norm. Every value is tried."
            ),
            source="Yue et al. 2007, Optimization Problem 1",
        ),
        replace(TOL, default=1e-4),
        max_iter(1000, 1_000_000, "Maximum number of cutting planes."),
    ),
)

METHODS: tuple[Method, ...] = (LISTNET, COORDINATE_ASCENT, ADARANK, RANKBOOST, SVM_MAP)
