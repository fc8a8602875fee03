"""The entries of FSMRank and of what is made of its weights."""

from __future__ import annotations

from dataclasses import replace

from rankstudio.engine.methods.catalog.candidate_score import CandidateScore, ScoreSource
from rankstudio.engine.methods.catalog.method import Method, StepKind
from rankstudio.engine.methods.catalog.parameter import Parameter
from rankstudio.engine.methods.catalog.shared import SIZE, C, max_iter
from rankstudio.engine.methods.catalog.value_kind import Kind

_FSM = (
    Parameter(
        name="lambda1",
        label="λ1",
        kind=Kind.GRID,
        default=(0.01, 0.1),
        help="Penalty on pairs of similar features that both have weight. Every value is tried.",
        symbol="λ₁",
        source="Lai et al. 2013, eq. (2)",
        option="--lambda1",
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
        option="--lambda2",
        low=0.0,
    ),
    Parameter(
        name="importance",
        label="importance",
        kind=Kind.CHOICE,
        default="pearson",
        help="Importance of a feature: its correlation with the labels, or its ranking measure alone.",
        symbol="s",
        source="Lai et al. 2013, section III.B",
        option="--importance",
        basic=False,
        choices=(
            ("pearson", "Pearson"),
            ("ndcg", "NDCG@10 alone"),
            ("map", "MAP alone"),
            ("none", "all equal"),
        ),
    ),
    Parameter(
        name="similarity",
        label="similarity",
        kind=Kind.CHOICE,
        default="pearson",
        help=(
            "Similarity of two features: their correlation, or the similarity of their rankings "
            "(Kendall's τ)."
        ),
        symbol="A",
        source="Lai et al. 2013, section III.B",
        option="--similarity",
        basic=False,
        choices=(("pearson", "Pearson"), ("kendall", "Kendall's τ"), ("none", "none are")),
    ),
    Parameter(
        name="project",
        label="make convex",
        kind=Kind.SWITCH,
        default=False,
        help=(
            "Replace a similarity matrix that is not positive semidefinite by the nearest one "
            "that is. Otherwise the objective may not be convex, and a warning appears."
        ),
        option="--project",
        basic=False,
    ),
    Parameter(
        name="tol",
        label="tolerance",
        kind=Kind.NUMBER,
        default=1e-10,
        help=(
            "Stops when an iteration changes the objective by at most this share. The paper's "
            "value, 1e-4, stops so early that the order of the features differs from that at "
            "the minimum."
        ),
        symbol="ε",
        source="Lai et al. 2013, Algorithm 1",
        option="--tol",
        basic=False,
        offers_several=False,
        low=0.0,
        open_low=True,
    ),
    max_iter(400, 10_000_000, source="Lai et al. 2013, Algorithm 1"),
)

FSMRANK = Method(
    key="fsmrank",
    label="FSMRank",
    family="selector",
    citation="Lai et al. 2013",
    title="FSMRank: Feature Selection Algorithm for Learning to Rank",
    summary=(
        "Learns weights and selects features in one convex problem: ranking errors plus "
        "penalties on unimportant features and on pairs of similar features. Features with "
        "weight 0 are not selected."
    ),
    formula="minimise over w ≥ 0:  λ₁/2 w'Aw + λ₂ Σ w_i/s_i + 1/p Σ max(0, 1 − y_ij w'(x_i − x_j))²",
    criterion="objective",
    step_kind=StepKind.ITERATIONS,
    candidate_score=CandidateScore("size of the weight", "after the iteration", ScoreSource.WEIGHT),
    estimator="rankstudio.engine.methods.selection.fsmrank:FSMRank",
    parameters=(
        *_FSM[:5],
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
        *_FSM[5:],
    ),
)

FSMSVM = Method(
    key="fsmsvm",
    label="FSMSVM",
    family="selector",
    citation="Lai et al. 2013",
    title="FSMRank: Feature Selection Algorithm for Learning to Rank",
    summary=("Orders the features by their FSMRank weights; RankSVM ranks with every size."),
    criterion="objective of RankSVM",
    candidate_score=CandidateScore("size of the weight", "in FSMRank"),
    estimator="rankstudio.engine.methods.selection.fsmsvm:FSMSVM",
    ranks_with="RankSVM",
    parameters=(
        replace(
            C,
            default=tuple(4.0**e for e in range(-7, 2, 2)),
            help="Of the final ranker RankSVM; the selection does not depend on it.",
            ranks=True,
        ),
        SIZE,
        replace(_FSM[0], default=(0.1,)),
        replace(_FSM[1], default=(1e-4,)),
        *_FSM[2:],
    ),
)

FSMRANK_TOP = Method(
    key="fsmrank-top",
    label="FSMRank, first k",
    family="selector",
    citation="Lai et al. 2013",
    title="FSMRank: Feature Selection Algorithm for Learning to Rank",
    summary=(
        "Trains FSMRank with all features and truncates its model to the features with the "
        "largest weights. The weights are not trained again."
    ),
    formula="f_k(x) = Σ_{i among the k greatest |w_i|} w_i x_i,  w of FSMRank",
    criterion="objective of FSMRank",
    candidate_score=CandidateScore("size of the weight", "in FSMRank"),
    estimator="rankstudio.engine.methods.selection.fsmrank_top:FSMRankTop",
    ranks_with="FSMRank",
    parameters=(
        replace(SIZE, source="Lai et al. 2013, section IV.D"),
        *_FSM,
    ),
)
