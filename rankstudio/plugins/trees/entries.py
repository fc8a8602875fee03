"""The entries of the methods with boosted trees in the catalog."""

from __future__ import annotations

from dataclasses import replace

from rankstudio.engine.methods.catalog.method import (
    CandidateScore,
    Criterion,
    Description,
    Method,
    Requirement,
    ScoreSource,
    Seconds,
    StepKind,
)
from rankstudio.engine.methods.catalog.parameter import Kind, Parameter
from rankstudio.engine.methods.catalog.shared import (
    COSTS,
    LEAVE_QUERY_OUT,
    RANKING_LAMBDA,
    SIZE,
    rounds,
)

LAMBDAMART = Method(
    key="lambdamart",
    label="LambdaMART",
    family="ranker",
    description=Description(
        citation="Burges 2010",
        title="From RankNet to LambdaRank to LambdaMART: an overview",
        summary=(
            "A sum of regression trees that maximise NDCG, by LightGBM. The model is not linear."
        ),
        formula="λ_ij = −|ΔNDCG_ij| / (1 + exp(s_i − s_j));  each tree is fitted to the sums of λ",
    ),
    criterion=Criterion("NDCG of the training documents", measured=True),
    step_kind=StepKind.ROUNDS,
    takes=("seed",),
    library=("costs",),
    requires=Requirement("lightgbm"),
    greatest_label=30,  # LightGBM's table of gains, 2^l - 1 for label l, ends at l = 30
    candidate_score=CandidateScore(
        "gain of its splits", "over all trees so far", ScoreSource.WEIGHT
    ),
    traits=("drops_features",),
    estimator="rankstudio.plugins.trees.lambdamart:LambdaMART",
    seconds=Seconds(0.0, 25.0, 50.0),
    parameters=(
        replace(
            rounds(300, "Burges 2010, section 7"),
            label="trees",
            help="Maximum number of trees; the validation part chooses how many the model uses.",
            symbol="N",
            high=10_000,
        ),
        Parameter(
            name="learning_rate",
            label="learning rate",
            kind=Kind.GRID,
            default=(0.1,),
            help="Factor for the output of each tree: smaller steps need more trees.",
            symbol="η",
            source="Burges 2010, section 7",
            low=0.0,
            open_low=True,
            high=1.0,
        ),
        Parameter(
            name="num_leaves",
            label="leaves",
            kind=Kind.INTEGER,
            default=31,
            help="Maximum number of leaves per tree; use fewer for small data.",
            symbol="L",
            source="Burges 2010, section 7",
            option="--leaves",
            low=2,
            high=131_072,
        ),
        Parameter(
            name="min_data_in_leaf",
            label="leaf size",
            kind=Kind.INTEGER,
            default=20,
            help="Minimum number of training documents per leaf.",
            source="LightGBM, min_data_in_leaf",
            option="--leaf-documents",
            basic=False,
            low=1,
            high=1_000_000_000,
        ),
        Parameter(
            name="ndcg_at",
            label="NDCG at",
            kind=Kind.INTEGER,
            default=10,
            help="k of the NDCG@k to maximise: only pairs with a document among the first k count.",
            symbol="k",
            source="LightGBM, lambdarank_truncation_level",
            basic=False,
            low=1,
            high=10_000,
        ),
        Parameter(
            name="feature_fraction",
            label="feature share",
            kind=Kind.NUMBER,
            default=1.0,
            help="Share of the features available to each tree, drawn at random.",
            source="LightGBM, feature_fraction",
            basic=False,
            low=0.0,
            open_low=True,
            high=1.0,
        ),
    ),
)

_TREES, _LEARNING_RATE, _, _, _NDCG_AT, _FEATURE_SHARE = LAMBDAMART.parameters
_DEPTH = Parameter(
    name="depth",
    label="depth",
    kind=Kind.INTEGER,
    default=6,
    help="Depth of a tree; use less for small data.",
    source="CatBoost, depth",
    low=1,
    high=16,
)

XGBOOST = Method(
    key="xgboost",
    label="XGBoost",
    family="ranker",
    description=Description(
        citation="Chen and Guestrin 2016",
        title="XGBoost: a scalable tree boosting system",
        summary=(
            "A sum of regression trees that maximise NDCG, by XGBoost (objective rank:ndcg). The model is "
            "not linear."
        ),
        formula=LAMBDAMART.description.formula,
    ),
    criterion=LAMBDAMART.criterion,
    step_kind=StepKind.ROUNDS,
    takes=("seed",),
    requires=Requirement("xgboost", "xgboost"),
    greatest_label=31,  # XGBoost refuses greater labels l with its gain of 2^l - 1
    candidate_score=CandidateScore(
        "loss reduction by its splits", "over all trees so far", ScoreSource.WEIGHT
    ),
    traits=("drops_features",),
    estimator="rankstudio.plugins.trees.converted_trees:XGBoostTrees",
    seconds=Seconds(0.0, 7.0, 14.0),
    parameters=(
        replace(_TREES, source="XGBoost, num_boost_round"),
        replace(_LEARNING_RATE, source="XGBoost, eta"),
        replace(
            _DEPTH,
            name="max_depth",
            option="",
            help="Maximum depth of a tree; use less for small data.",
            source="XGBoost, max_depth",
        ),
        Parameter(
            name="min_child_weight",
            label="leaf weight",
            kind=Kind.NUMBER,
            default=1.0,
            help="Minimum sum of second derivatives per leaf.",
            source="XGBoost, min_child_weight",
            option="--leaf-weight",
            basic=False,
            low=0.0,
        ),
        replace(
            _NDCG_AT,
            help=(
                "k of the NDCG@k to maximise: only pairs with a document among the first k of the ranking "
                "count."
            ),
            source="XGBoost, lambdarank_num_pair_per_sample",
        ),
        replace(_FEATURE_SHARE, source="XGBoost, colsample_bytree"),
    ),
)

CATBOOST = Method(
    key="catboost",
    label="CatBoost",
    family="ranker",
    description=Description(
        citation="Prokhorenkova et al. 2018",
        title="CatBoost: unbiased boosting with categorical features",
        summary=(
            "A sum of symmetric regression trees, by CatBoost: every level of a tree has one split. The "
            "model is not linear."
        ),
    ),
    criterion=Criterion("NDCG of the training documents", measured=True),
    step_kind=StepKind.ROUNDS,
    takes=("seed",),
    requires=Requirement("catboost", "catboost"),
    candidate_score=CandidateScore(
        "change of scores by its splits", "over all trees so far", ScoreSource.WEIGHT
    ),
    traits=("drops_features",),
    estimator="rankstudio.plugins.trees.converted_trees:CatBoostTrees",
    seconds=Seconds(0.0, 8.0, 16.0),
    parameters=(
        replace(_TREES, source="CatBoost, iterations"),
        replace(_LEARNING_RATE, source="CatBoost, learning_rate"),
        _DEPTH,
        Parameter(
            name="objective",
            label="objective",
            kind=Kind.CHOICE,
            default="YetiRank",
            help=(
                "YetiRank weights pairs near the top of perturbed rankings; PairLogit counts all pairs "
                "alike; QueryRMSE fits the labels within queries."
            ),
            source="Gulin et al. 2011; CatBoost, loss_function",
            # the method "evidence" has an option --loss of its own
            option="--loss-function",
            basic=False,
            choices=(
                ("YetiRank", "YetiRank"),
                ("PairLogit", "PairLogit"),
                ("QueryRMSE", "QueryRMSE"),
            ),
        ),
    ),
)

_IMPORTANCE = Parameter(
    name="importance",
    label="importance",
    kind=Kind.CHOICE,
    default="gain",
    help=(
        "Importance of a feature in the trees: "
        "the total gain of the splits on it, or their number."
    ),
    source="Pan et al. 2009; LightGBM, importance_type",
    choices=(("gain", "gain of its splits"), ("split", "number of splits")),
)

LAMBDAMART_TOP = Method(
    key="lambdamart-top",
    label="LambdaMART, first k",
    family="selector",
    description=Description(
        citation="Burges 2010",
        title="From RankNet to LambdaRank to LambdaMART: an overview",
        summary=(
            "Orders the features by the total gain of their splits in LambdaMART with all "
            "features, or by the number of these splits, and trains LambdaMART again for every size. The "
            "models are not linear."
        ),
    ),
    criterion=Criterion("NDCG of the training documents", measured=True),
    takes=("seed",),
    requires=Requirement("lightgbm"),
    greatest_label=LAMBDAMART.greatest_label,
    candidate_score=CandidateScore("importance in the trees", "with all features"),
    estimator="rankstudio.plugins.trees.lambdamart_top:LambdaMARTTop",
    seconds=Seconds(0.0, 25.0, slow=True),
    ranks_with="LambdaMART",
    parameters=(
        replace(SIZE, source="LightGBM, feature importance"),
        replace(
            LAMBDAMART.parameters[0], default=30, help="Number of trees in every model."
        ),
        *LAMBDAMART.parameters[1:],
        _IMPORTANCE,
        replace(
            COSTS,
            help=(
                "Cost of each feature by id (others cost 1), or “milliseconds” for the imported costs. The "
                "first split on a feature must gain more than its cost times the cost weight."
            ),
            source="Peter et al. 2017; LightGBM, cegb_penalty_feature_coupled",
        ),
        Parameter(
            name="cost_weight",
            label="cost weight",
            kind=Kind.NUMBER,
            default=1.0,
            help="Weight of the costs against the gain of a split; without costs it has no effect.",
            source="LightGBM, cegb_tradeoff",
            basic=False,
            low=0.0,
            open_low=True,
        ),
    ),
)

LAMBDAMART_ELIMINATION = Method(
    key="lambdamart-rfe",
    label="LambdaMART elimination",
    family="selector",
    description=Description(
        citation="Pan et al. 2009",
        title="Feature selection for ranking using boosted trees",
        summary=(
            "Recursive feature elimination: trains LambdaMART, drops the features with the "
            "least importance in its trees, and repeats. "
            "The last remaining feature comes first on the path. "
            "LambdaMART ranks with the features. "
            "In the paper, the elimination starts from random subsets."
        ),
    ),
    criterion=LAMBDAMART_TOP.criterion,
    takes=("seed",),
    requires=Requirement("lightgbm"),
    greatest_label=LAMBDAMART.greatest_label,
    candidate_score=CandidateScore(
        "importance in the trees",
        "of the remaining features (the smallest is dropped)",
        least=True,
    ),
    estimator="rankstudio.plugins.trees.lambdamart_elimination:LambdaMARTElimination",
    seconds=Seconds(0.0, 25.0, slow=True),
    ranks_with="LambdaMART",
    parameters=(
        replace(SIZE, source="Pan et al. 2009"),
        LAMBDAMART_TOP.parameters[1],
        *LAMBDAMART.parameters[1:],
        replace(
            _IMPORTANCE,
            help=(
                "Criterion for dropping a feature: "
                "the total gain of the splits on it, or their number."
            ),
        ),
        Parameter(
            name="dropped_share",
            label="dropped share",
            kind=Kind.NUMBER,
            default=None,
            help=(
                "Share of the remaining features that each round drops, "
                "for many features. "
                "By default a round drops one feature, which takes longest."
            ),
            low=0.0,
            open_low=True,
            high=1.0,
            none_label="one feature",
        ),
    ),
)

CATBOOST_SELECTION = Method(
    key="catboost-select",
    label="CatBoost selection",
    family="selector",
    description=Description(
        citation="Prokhorenkova et al. 2018",
        title="CatBoost: unbiased boosting with categorical features",
        summary=(
            "CatBoost's select_features: trains CatBoost, drops the least important features, and repeats. "
            "The last remaining feature comes first on the path. RankRLS ranks with the features."
        ),
    ),
    criterion=LEAVE_QUERY_OUT,
    takes=("seed",),
    requires=Requirement("catboost", "catboost"),
    estimator="rankstudio.plugins.trees.catboost_selection:CatBoostSelection",
    seconds=Seconds(4.0, 0.015, slow=True),
    ranks_with="RankRLS",
    parameters=(
        RANKING_LAMBDA,
        replace(SIZE, source="CatBoost, num_features_to_select"),
        Parameter(
            name="importance",
            label="importance",
            kind=Kind.CHOICE,
            default="loss",
            help=(
                "Criterion for dropping a feature: the change of the loss without it, its Shapley values, or "
                "the change of the scores by its splits (fastest)."
            ),
            source="CatBoost, EFeaturesSelectionAlgorithm",
            choices=(
                ("loss", "change of the loss"),
                ("shap", "Shapley values"),
                ("scores", "change of scores"),
            ),
        ),
        Parameter(
            name="n_stages",
            label="stages",
            kind=Kind.INTEGER,
            default=5,
            help="How often CatBoost is trained; each stage keeps the same share of the features.",
            source="CatBoost, steps",
            option="--stages",
            low=1,
            high=1000,
        ),
        replace(
            CATBOOST.parameters[0], default=100, help="Number of trees in each stage."
        ),
        replace(CATBOOST.parameters[1], kind=Kind.NUMBER, default=0.1),
        *CATBOOST.parameters[2:],
    ),
)

METHODS: tuple[Method, ...] = (
    LAMBDAMART_TOP,
    LAMBDAMART_ELIMINATION,
    CATBOOST_SELECTION,
    LAMBDAMART,
    XGBOOST,
    CATBOOST,
)
