"""The entry of greedy RankRLS, which has more to set than any other method."""

from __future__ import annotations

from rankstudio.engine.methods.catalog.candidate_score import CandidateScore, ScoreSource
from rankstudio.engine.methods.catalog.method import Method
from rankstudio.engine.methods.catalog.parameter import Parameter
from rankstudio.engine.methods.catalog.shared import (
    COST,
    LAMBDA,
    LEAVE_QUERY_OUT,
    SIZE,
    TIES,
    WEIGHTING,
)
from rankstudio.engine.methods.catalog.value_kind import Kind

GREEDY_RANKRLS = Method(
    key="greedy-rankrls",
    label="Greedy RankRLS",
    family="selector",
    citation="Pahikkala et al. 2010",
    title="Greedy RankRLS: a Linear Time Algorithm for Learning Sparse Ranking Models",
    summary=(
        "Adds one feature at a time: the one that minimises the exact leave-query-out error of "
        "RankRLS. Unlike in Algorithm 1 of the paper, features that are constant within every "
        "query come last, even if every other candidate raises the error."
    ),
    formula="minimise over S:  Σ_Q ‖y^_Q − X^_Q,S w_−Q‖²,  w_−Q = (X^'X^ + λI)⁻¹ X^'y^ without query Q",
    criterion=LEAVE_QUERY_OUT,
    per_document=True,
    learns_preferences=True,
    permutes=True,
    candidate_score=CandidateScore("drop in leave-query-out error", "per document", ScoreSource.CRITERION),
    live=True,
    left_out=True,
    takes=("seed", "groups"),
    estimator="rankstudio.engine.methods.selection.greedy_rankrls.estimator:GreedyRankRLS",
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
                "Floating search also removes features that later ones have made redundant. No "
                "size gets worse than with forward search, but it takes longer."
            ),
            source="Pudil et al. 1994; Pahikkala et al. 2010, section 5",
            option="--search",
            basic=False,
            choices=(("forward", "forward"), ("floating", "floating")),
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
            option="--size-penalty",
            basic=False,
            low=0.0,
        ),
        Parameter(
            name="costs",
            label="costs",
            kind=Kind.COSTS,
            default=(),
            help=(
                "Cost of each feature by id; others cost 1. Each step then selects the feature "
                "with the largest gain per cost."
            ),
            option="--costs",
            basic=False,
            none_label="all 1",
        ),
        Parameter(
            name="budget",
            label="budget",
            kind=Kind.NUMBER,
            default=None,
            help="Maximum total cost of the selected features; needs costs.",
            option="--budget",
            basic=False,
            low=0.0,
            open_low=True,
            none_label="none",
        ),
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
                "How a candidate is evaluated: with all weights trained again, or with only "
                "its own new weight (back-fitting, for very many features)."
            ),
            source="Pahikkala et al. 2010, section 5",
            option="--fitting",
            basic=False,
            choices=(("pre", "all weights"), ("back", "new weight only")),
        ),
        COST,
        TIES,
        WEIGHTING,
        Parameter(
            name="algorithm",
            label="algorithm",
            kind=Kind.CHOICE,
            default="auto",
            help=(
                "All choices give the same path. Per-query statistics are fastest if most "
                "features are selected, rows of statistics if few are. Algorithm 1 is the "
                "paper's. Columns need the least memory."
            ),
            source="Pahikkala et al. 2010, Algorithm 1",
            option="--algorithm",
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
