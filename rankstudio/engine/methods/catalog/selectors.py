"""The catalog's entries of selectors: methods that select features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rankstudio.engine.methods.catalog.method import (
    CandidateScore,
    Criterion,
    Description,
    Method,
    ScoreSource,
    Seconds,
    StepKind,
)
from rankstudio.engine.methods.catalog.parameter import Kind, Parameter
from rankstudio.engine.methods.catalog.shared import (
    BUDGET,
    COST,
    COSTS,
    LAMBDA,
    LEAVE_QUERY_OUT,
    MEASURE,
    PAIRS,
    RANKING_LAMBDA,
    SCORE_COSTS,
    SIZE,
    TIES,
    TOL,
    WEIGHTING,
    C,
    max_iter,
)

GREEDY_RANKRLS = Method(
    key="greedy-rankrls",
    label="Greedy RankRLS",
    family="selector",
    description=Description(
        citation="Pahikkala et al. 2010",
        title="Greedy RankRLS: a Linear Time Algorithm for Learning Sparse Ranking Models",
        summary=(
            "Adds one feature at a time, chosen to minimise the exact leave-query-out error of RankRLS. "
            "Unlike in Algorithm 1 of the paper, features that are constant within every query come last, "
            "even if every other candidate raises the error."
        ),
        formula="minimise over S:  Σ_Q ‖y^_Q − X^_Q,S w_−Q‖²,  w_−Q = (X^'X^ + λI)⁻¹ X^'y^ without query Q",
    ),
    criterion=LEAVE_QUERY_OUT,
    traits=(
        "learns_preferences",
        "left_out",
        "live",
    ),
    capabilities=("paths_from_sums", "step_test", "exact_exchange", "paths_of_labels"),
    candidate_score=CandidateScore(
        name="drop in leave-query-out error",
        unit="per document",
        source=ScoreSource.CRITERION,
    ),
    takes=("seed", "groups"),
    estimator="rankstudio.engine.methods.selection.greedy_rankrls.estimator:GreedyRankRLS",
    seconds=Seconds(fold=0.02, fit=0.033),
    ranks_with="RankRLS",
    parameters=(
        LAMBDA,
        SIZE,
        Parameter(
            name="pinned",
            label="pinned",
            kind=Kind.FEATURES,
            default=(),
            help="Features that are part of every model. They are selected first, in this order.",
            option="--pin",
        ),
        Parameter(
            name="banned",
            label="banned",
            kind=Kind.FEATURES,
            default=(),
            help="Features that are never selected.",
            option="--ban",
        ),
        Parameter(
            name="search",
            label="search",
            kind=Kind.CHOICE,
            default="forward",
            help=(
                "Floating search also removes features that later ones have made redundant. Swap search "
                "replaces features of each set as long as that lowers the error. Best search proves the "
                "best set of each size, for few features. All of these take longer than forward search, and "
                "are at least as good at every size."
            ),
            source="Pudil et al. 1994; Pahikkala et al. 2010, section 5; Furnival and Wilson 1974",
            basic=False,
            choices=(
                ("forward", "forward"),
                ("floating", "floating"),
                ("swap", "swap"),
                ("best", "best sets"),
            ),
        ),
        Parameter(
            name="size_penalty",
            label="penalty μ",
            kind=Kind.NUMBER,
            default=0.0,
            help=(
                "Minimum reduction of the error for a feature to be selected, as a share of "
                "the error without features. The path ends when no feature reaches it; with 0 "
                "it continues to k."
            ),
            symbol="μ",
            basic=False,
            low=0.0,
        ),
        COSTS,
        BUDGET,
        Parameter(
            name="n_candidates",
            label="sample κ",
            kind=Kind.INTEGER,
            default=None,
            help=(
                "Number of candidates that each step compares, drawn at random from the remaining features."
            ),
            symbol="κ",
            source="Pahikkala et al. 2010, section 5",
            option="--candidates",
            basic=False,
            offers_several=False,
            low=1,
            none_label="all",
        ),
        Parameter(
            name="fitting",
            label="refit",
            kind=Kind.CHOICE,
            default="pre",
            help=(
                "How a candidate is evaluated: with all weights retrained, or with only its own new weight "
                "(back-fitting, for very many features)."
            ),
            source="Pahikkala et al. 2010, section 5",
            basic=False,
            choices=(("pre", "all weights"), ("back", "new weight only")),
        ),
        COST,
        TIES,
        WEIGHTING,
        replace(
            PAIRS,
            help=(
                "Pairs within queries, selected by the leave-query-out error, or by the leave-pair-out error "
                "if all documents are one ranking; or no pairs: greedy regression on the labels (RLS), "
                "selected by the leave-one-out error of documents."
            ),
            source="Pahikkala et al. 2010c",
            changes_criterion=True,
            choices=(PAIRS.choices[0], PAIRS.choices[2]),
        ),
        Parameter(
            name="algorithm",
            label="algorithm",
            kind=Kind.CHOICE,
            default="auto",
            help=(
                "All choices give the same path. Per-query statistics are fastest if most features are "
                "selected, rows of statistics if few are. Algorithm 1 is that of the paper. Columns "
                "need the least memory."
            ),
            source="Pahikkala et al. 2010, Algorithm 1",
            basic=False,
            offers_several=False,
            choices=(
                ("auto", "automatic"),
                ("statistics", "per-query statistics"),
                ("rows", "rows of statistics"),
                ("algorithm1", "Algorithm 1"),
                ("columns", "column by column"),
            ),
        ),
    ),
)


_FSM = (
    Parameter(
        name="lambda1",
        label="λ1",
        kind=Kind.GRID,
        default=(0.01, 0.1),
        help="Penalty on pairs of similar features with nonzero weights. Every value is tried.",
        symbol="λ₁",
        source="Lai et al. 2013, eq. (2)",
        low=0.0,
    ),
    Parameter(
        name="lambda2",
        label="λ2",
        kind=Kind.GRID,
        default=(1e-5, 1e-4, 1e-3),
        help="Penalty on weight, larger for less important features. Every value is tried.",
        symbol="λ₂",
        source="Lai et al. 2013, eq. (2)",
        low=0.0,
    ),
    Parameter(
        name="importance",
        label="importance",
        kind=Kind.CHOICE,
        default="pearson",
        help=(
            "Importance of a feature: its correlation with the labels, the measure of ranking by it alone, "
            "or own numbers from a CSV file with the columns feature and importance."
        ),
        symbol="s",
        source="Lai et al. 2013, section III.B",
        basic=False,
        choices=(
            ("pearson", "Pearson"),
            ("ndcg", "NDCG@10 alone"),
            ("map", "MAP alone"),
            ("none", "all equal"),
        ),
        own_file=True,
    ),
    Parameter(
        name="similarity",
        label="similarity",
        kind=Kind.CHOICE,
        default="pearson",
        help=(
            "Similarity of two features: their correlation, the similarity of their rankings (Kendall's τ), "
            "or own numbers from a CSV file with a row and a column for each feature."
        ),
        symbol="A",
        source="Lai et al. 2013, section III.B",
        basic=False,
        choices=(
            ("pearson", "Pearson"),
            ("kendall", "Kendall's τ"),
            ("none", "none are"),
        ),
        own_file=True,
    ),
    Parameter(
        name="loss",
        label="loss",
        kind=Kind.CHOICE,
        default="squared_hinge",
        help=(
            "Loss of a pair: it is 0 from a difference of 1 up (squared hinge), falls with every "
            "difference (logistic), or pulls each difference to 1 (least squares)."
        ),
        symbol="f",
        source="Lai et al. 2013, section III.A",
        # The command "evidence" has an option --loss of its own.
        option="--pair-loss",
        basic=False,
        choices=(
            ("squared_hinge", "squared hinge"),
            ("logistic", "logistic"),
            ("least_squares", "least squares"),
        ),
    ),
    Parameter(
        name="project",
        label="make convex",
        kind=Kind.SWITCH,
        default=False,
        help=(
            "Replace an indefinite similarity matrix by the nearest positive semidefinite matrix. "
            "Otherwise the objective may not be convex, and a warning appears."
        ),
        basic=False,
    ),
    replace(
        TOL,
        default=1e-10,
        help=(
            "Stops when an iteration changes the objective by at most this share. With the paper's value, "
            "1e-4, the order of the features can still differ from that at the minimum."
        ),
        symbol="ε",
        source="Lai et al. 2013, Algorithm 1",
    ),
    max_iter(400, 10_000_000, source="Lai et al. 2013, Algorithm 1"),
)

FSMRANK = Method(
    key="fsmrank",
    label="FSMRank",
    family="selector",
    description=Description(
        citation="Lai et al. 2013",
        title="FSMRank: Feature Selection Algorithm for Learning to Rank",
        summary=(
            "Learns weights and selects features in one convex problem: ranking errors plus "
            "penalties on unimportant features and on pairs of similar features. Features with "
            "weight 0 are not selected."
        ),
        formula="minimise over w ≥ 0:  λ₁/2 w'Aw + λ₂ Σ w_i/s_i + 1/p Σ max(0, 1 − y_ij w'(x_i − x_j))²",
    ),
    criterion=Criterion("objective"),
    step_kind=StepKind.ITERATIONS,
    candidate_score=CandidateScore(
        name="absolute weight", unit="after the iteration", source=ScoreSource.WEIGHT
    ),
    capabilities=("compared_by_query", "weighed_features"),
    estimator="rankstudio.engine.methods.selection.fsmrank:FSMRank",
    seconds=Seconds(fold=0.1, fit=0.33),
    parameters=(
        *_FSM[:6],
        Parameter(
            name="solver",
            label="solver",
            kind=Kind.CHOICE,
            default="nesterov",
            help=(
                "Algorithm 1, or the projected subgradient method that the paper compares it "
                "with (step size 1/√t; the paper gives none)."
            ),
            source="Lai et al. 2013, Algorithm 1 and section IV.E",
            option="--fsm-solver",
            basic=False,
            choices=(("nesterov", "Algorithm 1"), ("subgradient", "subgradient")),
        ),
        *_FSM[6:],
    ),
)

_ALL_FEATURES = Parameter(
    name="all_features",
    label="features without weight",
    kind=Kind.SWITCH,
    default=False,
    help="Also selects the features to which FSMRank gives no weight, after all others.",
    source="Lai et al. 2013, Figures 1 to 3",
    basic=False,
)

FSMSVM = Method(
    key="fsmsvm",
    label="FSMSVM",
    family="selector",
    description=Description(
        citation="Lai et al. 2013",
        title="FSMRank: Feature Selection Algorithm for Learning to Rank",
        summary=(
            "Orders the features by their FSMRank weights; RankSVM is trained for every size."
        ),
    ),
    criterion=Criterion("objective of RankSVM"),
    candidate_score=CandidateScore("absolute weight", "in FSMRank"),
    capabilities=("compared_by_query", "weighed_features"),
    estimator="rankstudio.engine.methods.selection.fsmrank:FSMSVM",
    seconds=Seconds(fold=0.24, fit=0.07),
    ranks_with="RankSVM",
    parameters=(
        replace(
            C,
            default=tuple(4.0**e for e in range(-7, 2, 2)),
            help="C of the final ranker RankSVM; the selection does not depend on it.",
            ranks=True,
        ),
        SIZE,
        replace(_FSM[0], default=(0.1,)),
        replace(_FSM[1], default=(1e-4,)),
        *_FSM[2:],
        _ALL_FEATURES,
    ),
)

FSMRANK_TOP = Method(
    key="fsmrank-top",
    label="FSMRank, first k",
    family="selector",
    description=Description(
        citation="Lai et al. 2013",
        title="FSMRank: Feature Selection Algorithm for Learning to Rank",
        summary=(
            "Trains FSMRank with all features and truncates its model to the features with the "
            "largest weights. The weights are not retrained."
        ),
        formula="f_k(x) = Σ_{i among the k greatest |w_i|} w_i x_i,  w of FSMRank",
    ),
    criterion=Criterion("objective of FSMRank"),
    candidate_score=CandidateScore("absolute weight", "in FSMRank"),
    capabilities=("compared_by_query", "weighed_features"),
    estimator="rankstudio.engine.methods.selection.fsmrank:FSMRankTop",
    seconds=Seconds(fold=0.0, fit=0.22),
    ranks_with="FSMRank",
    parameters=(
        replace(SIZE, source="Lai et al. 2013, section IV.D"),
        *_FSM,
        _ALL_FEATURES,
    ),
)


def _order(**fields: Any) -> Method:
    """Return the entry of a method that orders the features, for RankRLS to rank with."""
    return Method(
        family="selector", criterion=LEAVE_QUERY_OUT, ranks_with="RankRLS", **fields
    )


EXPECTED_DIVERGENCE = _order(
    key="expected-divergence",
    label="Expected divergence",
    description=Description(
        citation="Gupta and Rosso 2012",
        title="Expected divergence based feature selection for learning to rank",
        summary=(
            "Orders the features by the sum of two scores: the measure of ranking by the feature alone, "
            "and the expected divergence of its densities between relevance grades. Densities are "
            "estimated on the training part and compared at the values of the validation part. RankRLS "
            "ranks with the features."
        ),
        formula="ψ(f) = s(f) + d(f),  d(f) = Σ_{m<n} (n − m) JS(f^{r_m}, f^{r_n})",
    ),
    takes=("convention", "groups"),
    candidate_score=CandidateScore(
        "NDCG@10 alone plus expected divergence", "", from_zero=False
    ),
    capabilities=("compared_by_query", "densities_of"),
    estimator="rankstudio.engine.methods.selection.expected_divergence:ExpectedDivergence",
    seconds=Seconds(fold=0.07, fit=0.02),
    parameters=(
        RANKING_LAMBDA,
        SIZE,
        Parameter(
            name="density",
            label="densities",
            kind=Kind.CHOICE,
            default="normalised",
            help=(
                "Normalised: each density sums to one, so that divergence and importance have "
                "comparable weight. As released: without normalisation, like the authors' program."
            ),
            symbol="f̂",
            source="Gupta and Rosso 2012, eq. (4)",
            basic=False,
            choices=(("normalised", "normalised"), ("released", "as released")),
        ),
        Parameter(
            name="kde",
            label="estimate",
            kind=Kind.CHOICE,
            default="fast",
            help=(
                "Fast and exact differ only by rounding; exact takes much longer with many documents."
            ),
            basic=False,
            offers_several=False,
            choices=(("fast", "fast"), ("exact", "exact")),
        ),
        SCORE_COSTS,
        BUDGET,
    ),
)

GAS = _order(
    key="gas",
    label="GAS",
    description=Description(
        citation="Geng et al. 2007",
        title="Feature selection for ranking",
        summary=(
            "Selects the feature that ranks best alone, lowers the importance of features that rank alike, "
            "and repeats. RankRLS ranks with the features."
        ),
        formula="maximise over x ∈ {0,1}ⁿ, Σ x_i = k:  Σ w_i x_i − c Σ_{i≠j} e_ij x_i x_j",
    ),
    takes=("convention",),
    candidate_score=CandidateScore("importance minus redundancy", "", from_zero=False),
    capabilities=("compared_by_query", "weighed_features"),
    estimator="rankstudio.engine.methods.selection.gas:GAS",
    seconds=Seconds(fold=0.13, fit=0.015),
    parameters=(
        RANKING_LAMBDA,
        SIZE,
        Parameter(
            name="importance",
            label="importance",
            kind=Kind.CHOICE,
            default="map",
            help=(
                "Measure of ranking by a single feature, in its better direction, or own numbers from a CSV "
                "file with the columns feature and importance."
            ),
            symbol="w",
            source="Geng et al. 2007, section 3.2",
            choices=(
                ("map", "MAP"),
                ("ndcg@10", "NDCG@10"),
                ("loss", "correctly ordered pairs"),
            ),
            own_file=True,
        ),
        Parameter(
            name="c",
            label="penalty c",
            kind=Kind.NUMBER,
            default=0.1,
            help="Weight of similarity against importance; with 0 only importance counts.",
            symbol="c",
            source="Geng et al. 2007, eq. (3)",
            low=0.0,
        ),
        Parameter(
            name="similarity",
            label="similarity",
            kind=Kind.CHOICE,
            default="kendall",
            help=(
                "Similarity of two features: that of their rankings (Kendall's τ), their correlation, or own "
                "numbers from a CSV file with a row and a column for each feature."
            ),
            symbol="e",
            source="Geng et al. 2007, section 3.3",
            choices=(("kendall", "Kendall's τ"), ("pearson", "Pearson")),
            own_file=True,
        ),
    ),
)

FS_BFS = _order(
    key="fs-bfs",
    label="FS-BFS",
    description=Description(
        citation="Dang and Croft 2010",
        title="Feature selection for document ranking using best first search and coordinate ascent",
        summary=(
            "Divides the features into small subsets by best-first search. Coordinate ascent turns "
            "each subset into one new feature, and RankRLS, or another ranker, ranks with those."
        ),
    ),
    takes=("convention", "seed"),
    candidate_score=CandidateScore(
        "best measure", "of a subset with the feature", from_zero=False
    ),
    traits=("combines",),
    capabilities=("compared_by_query",),
    estimator="rankstudio.engine.methods.selection.fs_bfs:FSBFS",
    seconds=Seconds(fold=8.4, fit=0.034, slow=True),
    parameters=(
        RANKING_LAMBDA,
        replace(
            SIZE,
            label="subsets",
            help=(
                "Maximum number of subsets. Models with 1, 2, … subsets are compared, up to this maximum."
            ),
            symbol="",
            source="Dang and Croft 2010, section 3",
            none_label="no limit",
            none_names=("until no feature is left", "no maximum"),
        ),
        Parameter(
            name="subset_size",
            label="subset size p",
            kind=Kind.INTEGER,
            default=5,
            help="Maximum number of features in a subset.",
            symbol="p",
            source="Dang and Croft 2010, section 3",
            low=1,
            high=10_000,
        ),
        MEASURE,
        Parameter(
            name="patience",
            label="patience R",
            kind=Kind.INTEGER,
            default=5,
            help="A search ends after this many nodes in a row without an improvement.",
            symbol="R",
            source="Dang and Croft 2010, section 3",
            basic=False,
            low=1,
            high=1000,
        ),
        max_iter(
            25, 10_000, "Maximum number of coordinate ascent iterations per subset."
        ),
        replace(
            TOL,
            name="tolerance",
            option="",
            default=1e-3,
            help=(
                "Coordinate ascent stops after the first iteration that improves the measure by this "
                "much or less."
            ),
        ),
    ),
)

SINGLE_FEATURE = _order(
    key="single-feature",
    label="Single features",
    description=Description(
        citation="Geng et al. 2007",
        title="Feature selection for ranking",
        summary=(
            "Orders the features by the measure of ranking by each feature alone on the training part. "
            "RankRLS ranks with them."
        ),
    ),
    takes=("convention", "groups"),
    candidate_score=CandidateScore("measure", "of the feature alone", from_zero=False),
    capabilities=("compared_by_query",),
    estimator="rankstudio.engine.methods.selection.single_feature:SingleFeatureRanking",
    seconds=Seconds(fold=0.03, fit=0.015),
    parameters=(
        RANKING_LAMBDA,
        SIZE,
        MEASURE,
        Parameter(
            name="direction",
            label="direction",
            kind=Kind.CHOICE,
            default="best",
            help="Whether a feature may also rank in ascending order, if that is better.",
            choices=(("best", "better direction"), ("descending", "high values first")),
        ),
        SCORE_COSTS,
        BUDGET,
    ),
)

MUTUAL_INFORMATION = _order(
    key="mutual-information",
    label="Mutual information",
    description=Description(
        citation="Guyon and Elisseeff 2003",
        title="An introduction to variable and feature selection",
        summary=(
            "Orders the features by the mutual information of their binned values and the labels. "
            "RankRLS ranks with them."
        ),
        formula="I(f; y) = Σ_b,l p(b, l) ln( p(b, l) / (p(b) p(l)) )",
    ),
    takes=("groups",),
    traits=("live",),
    candidate_score=CandidateScore("mutual information", "in nats"),
    capabilities=("compared_by_query",),
    estimator="rankstudio.engine.methods.selection.single_feature:MutualInformation",
    seconds=Seconds(fold=0.03, fit=0.015),
    parameters=(
        RANKING_LAMBDA,
        SIZE,
        Parameter(
            name="n_bins",
            label="bins",
            kind=Kind.INTEGER,
            default=10,
            help=(
                "Number of bins, with about equally many documents each, for the values of a feature."
            ),
            option="--bins",
            low=2,
            high=1000,
        ),
        SCORE_COSTS,
        BUDGET,
    ),
)

CHI_SQUARED = _order(
    key="chi-squared",
    label="χ² filter",
    description=Description(
        citation="Liu and Setiono 1995",
        title="Chi2: feature selection and discretization of numeric attributes",
        summary=(
            "Orders the features by Pearson's χ² statistic of their binned values and the labels (CHI). "
            "RankRLS ranks with them."
        ),
        formula="χ²(f; y) = Σ_b,l (O(b, l) − E(b, l))² / E(b, l)",
    ),
    takes=("groups",),
    traits=("live",),
    candidate_score=CandidateScore("statistic χ²", ""),
    capabilities=("compared_by_query",),
    estimator="rankstudio.engine.methods.selection.single_feature:ChiSquared",
    seconds=Seconds(fold=0.03, fit=0.015),
    parameters=MUTUAL_INFORMATION.parameters,
)

RECURSIVE_ELIMINATION = _order(
    key="rfe",
    label="Recursive elimination",
    description=Description(
        citation="Guyon et al. 2002",
        title="Gene selection for cancer classification using support vector machines",
        summary=(
            "Recursive feature elimination: trains RankRLS or RankSVM, drops the feature with the smallest "
            "weight, and repeats. The last remaining feature comes first on the path. RankRLS ranks with "
            "the features."
        ),
    ),
    traits=("live",),
    candidate_score=CandidateScore(
        "absolute weight",
        "of the remaining features (the smallest is dropped)",
        least=True,
    ),
    capabilities=("compared_by_query",),
    estimator="rankstudio.engine.methods.selection.recursive_elimination:RecursiveElimination",
    seconds=Seconds(fold=0.02, fit=0.021),
    parameters=(
        LAMBDA,
        SIZE,
        Parameter(
            name="importance",
            label="importance",
            kind=Kind.CHOICE,
            default="weight",
            help=(
                "Criterion for dropping a feature: its weight (features on the same scale), or its "
                "weight times its deviation within queries (features on different scales)."
            ),
            source="Guyon et al. 2002, section 4",
            basic=False,
            choices=(("weight", "weight"), ("scaled", "weight × deviation")),
        ),
        Parameter(
            name="ranker",
            label="weights of",
            kind=Kind.CHOICE,
            default="rankrls",
            help=(
                "The model whose weights decide which feature is dropped: RankRLS with λ, or RankSVM with C."
            ),
            source="Guyon et al. 2002, section 4",
            option="--weights-of",
            basic=False,
            choices=(("rankrls", "RankRLS"), ("ranksvm", "RankSVM")),
        ),
        replace(
            C,
            kind=Kind.NUMBER,
            default=0.01,
            help="C of RankSVM; used only if the weights of RankSVM decide.",
            basic=False,
        ),
    ),
)

L1_PATH = _order(
    key="l1-path",
    label="L1 path",
    description=Description(
        citation="Efron et al. 2004",
        title="Least angle regression",
        summary=(
            "Orders the features by the lasso path: by the penalty at which each feature first gets a "
            "weight. RankRLS ranks with them."
        ),
        formula="minimise over w:  ½ ‖y^ − X^w‖² + α ‖w‖₁,  α falling from where w = 0",
    ),
    traits=("live",),
    candidate_score=CandidateScore("correlation with the residual", "(the lasso's α)"),
    capabilities=("compared_by_query",),
    estimator="rankstudio.engine.methods.selection.l1_path:L1Path",
    seconds=Seconds(fold=0.03, fit=0.015),
    parameters=(
        RANKING_LAMBDA,
        SIZE,
        Parameter(
            name="scaling",
            label="scaling",
            kind=Kind.CHOICE,
            default="unit",
            help="Whether features are scaled to unit length for the lasso, or used as they are.",
            choices=(("unit", "unit length"), ("none", "unscaled")),
        ),
    ),
)

SPARSE_RANKSVM = _order(
    key="sparse-ranksvm",
    label="Sparse RankSVM",
    description=Description(
        citation="Laporte et al. 2014",
        title="Nonconvex regularizations for feature selection in ranking with sparse SVM",
        summary=(
            "Orders the features by the penalty at which each first gets a weight in RankSVM with a sparse "
            "penalty that decreases: L1, or a concave penalty, which gives fewer features weights. RankRLS "
            "ranks with them. In the paper, validation chooses the penalty; here it chooses the number of "
            "features."
        ),
        formula="minimise over w:  1/p Σ max(0, 1 − w'(x_i − x_j))² + λ Σ g(|w_k|),  λ falling from where w = 0",
    ),
    candidate_score=CandidateScore("penalty at which it gets a weight", ""),
    estimator="rankstudio.engine.methods.selection.sparse_ranksvm:SparseRankSVM",
    seconds=Seconds(fold=0.5, fit=0.02),
    parameters=(
        RANKING_LAMBDA,
        SIZE,
        Parameter(
            name="penalty",
            label="penalty",
            kind=Kind.CHOICE,
            default="l1",
            help=(
                "Penalty on the weights: L1, or a concave one, which penalises large weights less: MCP not "
                "beyond a width, the logarithm and ℓp with p < 1 ever less."
            ),
            symbol="g",
            source="Laporte et al. 2014",
            choices=(
                ("l1", "L1"),
                ("mcp", "MCP"),
                ("log", "logarithm"),
                ("lp", "ℓp, p < 1"),
            ),
        ),
        Parameter(
            name="gamma",
            label="MCP width γ",
            kind=Kind.NUMBER,
            default=3.0,
            help="Weights above γ times the penalty λ are not penalised further.",
            symbol="γ",
            source="Zhang 2010",
            option="--mcp-width",
            basic=False,
            low=0.0,
            open_low=True,
            only_with=("penalty", ("mcp",)),
        ),
        Parameter(
            name="epsilon",
            label="ε",
            kind=Kind.NUMBER,
            default=0.1,
            help=(
                "Weight from which the penalty of the logarithm and of ℓp flattens; the smaller, the "
                "fewer features get weights."
            ),
            symbol="ε",
            source="Laporte et al. 2014",
            basic=False,
            low=1e-6,
            high=1e6,
            only_with=("penalty", ("log", "lp")),
        ),
        Parameter(
            name="exponent",
            label="exponent p",
            kind=Kind.NUMBER,
            default=0.5,
            help="p of ℓp: the smaller, the less are large weights penalised.",
            symbol="p",
            source="Laporte et al. 2014",
            basic=False,
            low=0.01,
            high=0.99,
            only_with=("penalty", ("lp",)),
        ),
        Parameter(
            name="n_penalties",
            label="penalties",
            kind=Kind.INTEGER,
            default=30,
            help="Number of penalties λ, at equal ratios; more separate features that enter together.",
            option="--penalties",
            basic=False,
            low=1,
            high=10_000,
        ),
        Parameter(
            name="smallest_penalty",
            label="smallest penalty",
            kind=Kind.NUMBER,
            default=1e-3,
            help=(
                "Smallest penalty λ, as a share of the least one for which all weights are 0. Features "
                "without weights come last."
            ),
            basic=False,
            low=1e-8,
            high=0.99,
        ),
        replace(
            TOL,
            default=1e-3,
            help="Stops when the conditions of the minimum are met up to this share of the penalty.",
        ),
        max_iter(
            2000,
            10_000_000,
            "Maximum number of steps for each penalty and reweighting.",
        ),
    ),
)

SELECTORS: tuple[Method, ...] = (
    GREEDY_RANKRLS,
    FSMRANK,
    FSMRANK_TOP,
    FSMSVM,
    EXPECTED_DIVERGENCE,
    GAS,
    FS_BFS,
    RECURSIVE_ELIMINATION,
    L1_PATH,
    SPARSE_RANKSVM,
    SINGLE_FEATURE,
    MUTUAL_INFORMATION,
    CHI_SQUARED,
)
