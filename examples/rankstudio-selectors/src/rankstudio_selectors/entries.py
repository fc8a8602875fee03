"""Entries of the methods: all texts that users see, and the parameters of the form."""

from __future__ import annotations

from dataclasses import replace

from rankstudio.api import (
    LEAVE_QUERY_OUT,
    MEASURE,
    RANKING_LAMBDA,
    SIZE,
    Analysis,
    CandidateScore,
    Description,
    Kind,
    Measure,
    Method,
    Parameter,
    Seconds,
)

_RELEVANCE = replace(
    MEASURE,
    help="Measure of ranking by a single feature in its better direction: the feature's relevance.",
)
_SIMILARITIES = (
    ("kendall", "Kendall's τ, within queries"),
    ("spearman", "Spearman's ρ, all documents"),
    ("pearson", "Pearson's r, all documents"),
)
_SIMILARITY = Parameter(
    name="similarity",
    label="similarity",
    kind=Kind.CHOICE,
    default="kendall",
    help="Correlation whose absolute value is the similarity of two features.",
    source="Naini and Altıngövde 2014",
    basic=False,
    choices=_SIMILARITIES,
)
_TRADE_OFF = Parameter(
    name="trade_off",
    label="trade-off",
    kind=Kind.NUMBER,
    default=0.5,
    help="Weight of dissimilarity; with 0 only relevance counts, with 1 only dissimilarity.",
    symbol="c",
    source="Naini and Altıngövde 2014",
    low=0.0,
    high=1.0,
)
_OF_GIGLI = replace(_SIMILARITY, default="spearman", source="Gigli et al. 2016")

MRMR = Method(
    key="mrmr",
    label="mRMR",
    family="selector",
    description=Description(
        citation="Peng et al. 2005",
        title=(
            "Feature selection based on mutual information: criteria of max-dependency, max-relevance, and "
            "min-redundancy"
        ),
        summary=(
            "Adds the feature with the largest mutual information with the labels, minus or divided by its "
            "mean mutual information with the features selected so far. RankRLS ranks with the features."
        ),
        formula="maximise over f:  I(f; y) − 1/|S| Σ_{s∈S} I(f; s)",
    ),
    criterion=LEAVE_QUERY_OUT,
    ranks_with="RankRLS",
    candidate_score=CandidateScore("relevance minus redundancy", "", from_zero=False),
    estimator="rankstudio_selectors.mrmr:MRMR",
    seconds=Seconds(0.3, 0.02),
    parameters=(
        RANKING_LAMBDA,
        SIZE,
        Parameter(
            name="scheme",
            label="scheme",
            kind=Kind.CHOICE,
            default="difference",
            help="Redundancy is subtracted from relevance (MID), or divides it (MIQ).",
            source="Peng et al. 2005, section 2.3",
            choices=(("difference", "difference"), ("quotient", "quotient")),
        ),
        Parameter(
            name="n_bins",
            label="bins",
            kind=Kind.INTEGER,
            default=10,
            help="Number of bins of a feature, each with about the same number of documents.",
            option="--bins",
            basic=False,
            low=2,
            high=100,
        ),
    ),
)

MMR = Method(
    key="mmr",
    label="MMR",
    family="selector",
    description=Description(
        citation="Naini and Altıngövde 2014",
        title="Exploiting result diversification methods for feature selection in learning to rank",
        summary=(
            "Maximal marginal relevance: adds the feature that ranks well alone and differs on average from "
            "the features selected so far. RankRLS ranks with the features."
        ),
        formula="maximise over f:  (1 − c) rel(f) + c/|S| Σ_{s∈S} (1 − sim(f, s))",
    ),
    criterion=LEAVE_QUERY_OUT,
    ranks_with="RankRLS",
    takes=("convention",),
    candidate_score=CandidateScore("marginal relevance", "", from_zero=False),
    estimator="rankstudio_selectors.diversity:MMR",
    seconds=Seconds(0.3, 0.02),
    parameters=(RANKING_LAMBDA, SIZE, _TRADE_OFF, _RELEVANCE, _SIMILARITY),
)

MSD = Method(
    key="msd",
    label="MSD",
    family="selector",
    description=Description(
        citation="Naini and Altıngövde 2014",
        title="Exploiting result diversification methods for feature selection in learning to rank",
        summary=(
            "Maximum sum dispersion: adds the pair of features that rank well alone and differ most from "
            "each other. RankRLS ranks with the features."
        ),
        formula="maximise over {f, g}:  (1 − c) (rel(f) + rel(g)) + 2c (1 − sim(f, g))",
    ),
    criterion=LEAVE_QUERY_OUT,
    ranks_with="RankRLS",
    takes=("convention",),
    candidate_score=CandidateScore("value of the best pair", "", from_zero=False),
    estimator="rankstudio_selectors.diversity:MSD",
    seconds=Seconds(0.3, 0.02),
    parameters=(RANKING_LAMBDA, SIZE, _TRADE_OFF, _RELEVANCE, _SIMILARITY),
)

NGAS = Method(
    key="ngas",
    label="NGAS",
    family="selector",
    description=Description(
        citation="Gigli et al. 2016",
        title="Fast feature selection for learning to rank",
        summary=(
            "Naive greedy selection: finds the feature least similar to the last one selected, and the "
            "feature most similar to that one, and adds the more relevant of the two. RankRLS ranks with the "
            "features."
        ),
        formula="f = argmin sim(f, last),  g = argmax sim(g, f),  add argmax {rel(f), rel(g)}",
    ),
    criterion=LEAVE_QUERY_OUT,
    ranks_with="RankRLS",
    takes=("convention",),
    candidate_score=CandidateScore("relevance of the candidates", "", from_zero=False),
    estimator="rankstudio_selectors.greedy:NGAS",
    seconds=Seconds(0.3, 0.02),
    parameters=(RANKING_LAMBDA, SIZE, _RELEVANCE, _OF_GIGLI),
)

XGAS = Method(
    key="xgas",
    label="XGAS",
    family="selector",
    description=Description(
        citation="Gigli et al. 2016",
        title="Fast feature selection for learning to rank",
        summary=(
            "Extended naive greedy selection: adds the most relevant of the features that are least similar "
            "to the last one selected. RankRLS ranks with the features."
        ),
        formula="add argmax rel(f) over the share p of features with the smallest sim(f, last)",
    ),
    criterion=LEAVE_QUERY_OUT,
    ranks_with="RankRLS",
    takes=("convention",),
    candidate_score=CandidateScore("relevance of the candidates", "", from_zero=False),
    estimator="rankstudio_selectors.greedy:XGAS",
    seconds=Seconds(0.3, 0.02),
    parameters=(
        RANKING_LAMBDA,
        SIZE,
        Parameter(
            name="share",
            label="share p",
            kind=Kind.NUMBER,
            default=0.05,
            help="Share of the remaining features that are candidates: those least similar to the last one.",
            symbol="p",
            source="Gigli et al. 2016",
            low=0.0,
            high=1.0,
        ),
        _RELEVANCE,
        _OF_GIGLI,
    ),
)

HCAS = Method(
    key="hcas",
    label="HCAS",
    family="selector",
    description=Description(
        citation="Gigli et al. 2016",
        title="Fast feature selection for learning to rank",
        summary=(
            "Hierarchical clustering of the features by their dissimilarity: for k features, the most "
            "relevant feature of each of k clusters. RankRLS ranks with the features."
        ),
        formula="argmax rel(f) over each of k clusters, with distances 1 − sim(f, g)",
    ),
    criterion=LEAVE_QUERY_OUT,
    ranks_with="RankRLS",
    takes=("convention",),
    estimator="rankstudio_selectors.clusters:HCAS",
    seconds=Seconds(0.3, 0.02),
    parameters=(
        RANKING_LAMBDA,
        SIZE,
        Parameter(
            name="linkage",
            label="linkage",
            kind=Kind.CHOICE,
            default="ward",
            help="Distance of two clusters: Ward's, or that of their two closest features (single).",
            source="Gigli et al. 2016",
            choices=(("ward", "Ward"), ("single", "single")),
        ),
        _RELEVANCE,
        _OF_GIGLI,
    ),
)

FS_SCPR = Method(
    key="fs-scpr",
    label="FS-SCPR",
    family="selector",
    description=Description(
        citation="Yeh and Tsai 2022",
        title=(
            "A graph-based feature selection method for learning to rank using spectral clustering for redundancy "
            "minimization and biased PageRank for relevance analysis"
        ),
        summary=(
            "Divides the graph of similar features by normalised cuts, and selects the feature of each cluster "
            "with the largest PageRank, biased to features that rank well alone, times its mean similarity to "
            "the cluster. RankRLS ranks with the features."
        ),
        formula="maximise over f in each cluster C:  r(f) · mean sim(f, C),  r = d Pᵀ r + (1 − d) rel / Σ rel",
    ),
    criterion=LEAVE_QUERY_OUT,
    ranks_with="RankRLS",
    takes=("convention",),
    candidate_score=CandidateScore(
        "PageRank times mean similarity", "", from_zero=False
    ),
    estimator="rankstudio_selectors.graph:FSSCPR",
    seconds=Seconds(0.3, 0.02),
    parameters=(
        RANKING_LAMBDA,
        SIZE,
        Parameter(
            name="damping",
            label="damping",
            kind=Kind.NUMBER,
            default=0.85,
            help="Share of the PageRank that a feature receives from similar features; with 0 only its relevance "
            "counts.",
            symbol="d",
            source="Page et al. 1999",
            low=0.0,
            high=0.99,
        ),
        _RELEVANCE,
        replace(_SIMILARITY, source="Yeh and Tsai 2022"),
    ),
)

FIRST_RANK = Measure(
    key="FirstRank",
    label="Rank of the first relevant document",
    summary="Rank of the first relevant document, n + 1 without one among n documents, averaged over "
    "queries. Lower is better.",
    function="rankstudio_selectors.measures:first_rank",
    higher_is_better=False,
    low=1.0,
)

GRADED_RBP = Measure(
    key="GradedRBP",
    label="Graded rank-biased precision",
    summary="Gain that a reader gets who goes on to the next document with probability 0.8, averaged over "
    "queries. The gain of a label is its share of the largest label.",
    function="rankstudio_selectors.measures:graded_rbp",
    convention="Moffat and Zobel 2008, p = 0.8",
    cutoff="optional",
    low=0.0,
    high=1.0,
)

SIMILAR_PAIRS = Analysis(
    key="similar-pairs",
    label="Similar features",
    summary="List the most similar pairs of features of a training part, and the better one of each pair",
    compute="rankstudio_selectors.pairs:similar_pairs",
    parameters=(
        replace(_SIMILARITY, basic=True, choices=(_SIMILARITIES[0], _SIMILARITIES[2])),
        Parameter(
            name="n_pairs",
            label="pairs",
            kind=Kind.INTEGER,
            default=20,
            help="Number of pairs to list.",
            option="--pairs",
            low=1,
        ),
    ),
)
