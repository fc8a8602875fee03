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
        "Adds one feature at a time: the one with which RankRLS, trained with each query left out in "
        "turn, predicts the left-out queries best. The shortcut makes this exact and fast. Unlike in the "
        "paper's Algorithm 1, features that are constant within every query come last, even where every "
        "other candidate raises the error."
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
    parameters=(
        LAMBDA,
        SIZE,
        Parameter(
            name="pinned",
            label="pinned",
            kind=Kind.FEATURES,
            default=(),
            help="Features that are in every model: they are selected first, in this order.",
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
                "Floating search also takes features out again that later ones have made dispensable. No "
                "size is worse than by going forward only; it takes longer."
            ),
            source="Pudil et al. 1994; Pahikkala et al. 2010, section 5",
            option="--search",
            choices=(("forward", "forward"), ("floating", "floating")),
        ),
        Parameter(
            name="size_penalty",
            label="penalty μ",
            kind=Kind.NUMBER,
            default=0.0,
            help=(
                "What a feature has to lower the error by to be worth it, as a share of the error without "
                "any feature. The path ends where none is; with 0 it goes on to k."
            ),
            symbol="μ",
            option="--size-penalty",
            low=0.0,
        ),
        Parameter(
            name="costs",
            label="costs",
            kind=Kind.COSTS,
            default=(),
            help=(
                "What features cost, by id; those not named cost 1. Each step then takes the feature with "
                "the greatest gain per cost."
            ),
            option="--costs",
            none_label="all 1",
        ),
        Parameter(
            name="budget",
            label="budget",
            kind=Kind.NUMBER,
            default=None,
            help="What the selected features may cost together; needs costs.",
            option="--budget",
            low=0.0,
            open_low=True,
            none_label="none",
        ),
        Parameter(
            name="n_candidates",
            label="sample κ",
            kind=Kind.INTEGER,
            default=None,
            help="How many candidates each step compares, drawn at random from those left.",
            symbol="κ",
            source="Pahikkala et al. 2010, section 5",
            option="--candidates",
            low=1,
            none_label="all",
        ),
        Parameter(
            name="fitting",
            label="fitting",
            kind=Kind.CHOICE,
            default="pre",
            help=(
                "Whether a candidate is measured with all weights learned anew, or with those before it as "
                "they are: back-fitting, for very many features."
            ),
            source="Pahikkala et al. 2010, section 5",
            option="--fitting",
            choices=(("pre", "all anew"), ("back", "back-fitting")),
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
                "All give the same path. Per-query statistics are fastest where most features are selected, "
                "the rows of those statistics where few are; Algorithm 1 is the paper's; by columns keeps "
                "nothing of a feature that is not selected, and takes the least memory."
            ),
            source="Pahikkala et al. 2010, Algorithm 1",
            option="--algorithm",
            choices=(
                ("auto", "automatic"),
                ("statistics", "per-query statistics"),
                ("rows", "rows of statistics"),
                ("algorithm1", "Algorithm 1"),
                ("columns", "by columns"),
            ),
        ),
    ),
)
