"""Decisions by a threshold on the scores: precision, recall and F of a run's models (Airola 2011, Paper V).

A threshold makes a classifier of a ranking. It is chosen on the training part, never on the documents that
are judged; the greatest F of any threshold on these stands beside it, as in the paper's Tables 3 to 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Bools, Floats
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.units.scored_part import ScoredPart
from rankstudio.engine.language import tr
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.statistics.auc import mean_auc_interval, pooled_auc

BEST_F = "best F"
CLASS_SHARE = "class share"
"""Rules by which a threshold is chosen on the training part."""


@dataclass(frozen=True)
class Decision:
    """Precision, recall and F of the documents with scores of at least a threshold.

    Attributes
    ----------
    threshold : float
        Score of the last document that is taken; infinite where none is.
    precision, recall, f : float
        0 where nothing is taken, or nothing is relevant.
    """

    threshold: float
    precision: float
    recall: float
    f: float


@dataclass(frozen=True)
class FoldDecisions:
    """Decisions of the model of a fold, all documents of a part pooled.

    Attributes
    ----------
    fold : int
    best, share : Decision
        By the training threshold with the greatest F, and by the one that takes as many training documents as
        are relevant.
    greatest : Decision
        By the threshold with the greatest F on the judged documents themselves: no threshold does better.
    auc : float
        AUC of the part; NaN with documents of one kind only.
    auc_interval : (float, float)
        DeLong's 95 % interval, if the part is one ranking; else NaN.
    """

    fold: int
    best: Decision
    share: Decision
    greatest: Decision
    auc: float
    auc_interval: tuple[float, float]


@dataclass(frozen=True)
class Decisions:
    """Decisions of the models of a run.

    Attributes
    ----------
    part : {"test", "validation"}
        Part on which they are judged.
    folds : tuple of FoldDecisions
    mean_auc : float
        Mean over the folds.
    mean_auc_interval : (float, float)
        DeLong's 95 % interval of the mean, if each part is one ranking; else NaN. The models are taken as
        they are, and the parts have no document in common.
    """

    part: str
    folds: tuple[FoldDecisions, ...]
    mean_auc: float
    mean_auc_interval: tuple[float, float]


def best_threshold(scores: Floats, relevant: Bools) -> Decision:
    """Return the decision with the greatest F; of equal ones that with the fewest documents.

    Parameters
    ----------
    scores : ndarray of shape (m,)
    relevant : ndarray of shape (m,), bool

    Notes
    -----
    O(m log m). Documents with equal scores are taken together.
    """
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(scores[order]) < 0, True))
    n_found = np.cumsum(relevant[order])[ends]
    f = 2.0 * n_found / (ends + 1 + max(1, relevant.sum()))
    threshold = scores[order[ends[int(np.argmax(f))]]] if f.max() > 0 else np.inf
    return decide(scores, relevant, float(threshold))


def share_threshold(scores: Floats, relevant: Bools) -> Decision:
    """Return the decision that takes as many documents as are relevant, or the next fewer that part no tie.

    See `best_threshold` for the parameters.
    """
    n_relevant = int(relevant.sum())
    falling = -np.sort(-scores)
    if n_relevant < scores.size and n_relevant and falling[n_relevant] == falling[n_relevant - 1]:
        n_relevant = int(np.searchsorted(-falling, -falling[n_relevant]))  # all that are above the tie
    return decide(scores, relevant, float(falling[n_relevant - 1]) if n_relevant else np.inf)


def decide(scores: Floats, relevant: Bools, threshold: float) -> Decision:
    """Return the decision that takes all documents with scores of at least the threshold."""
    is_taken = scores >= threshold
    right = int(np.count_nonzero(is_taken & relevant))
    total = int(np.count_nonzero(is_taken))
    n_relevant = int(np.count_nonzero(relevant))
    if not right:
        return Decision(threshold, 0.0, 0.0, 0.0)
    return Decision(threshold, right / total, right / n_relevant, 2.0 * right / (total + n_relevant))


def run_decisions(run: RunResult, data: FoldedDataset, *, sealed: bool = False) -> Decisions:
    """Choose thresholds on the training parts of a run, and judge its models by them.

    Parameters
    ----------
    run : RunResult
        A finished run.
    data : FoldedDataset
        Its data, with documents.
    sealed : bool
        Whether the validation part is judged although there is a test part.

    Raises
    ------
    PlanError
        If a fold has neither part, or a model was not stored completely.

    Notes
    -----
    O(m (n + log m)) for m documents of all parts and n features.
    """
    parts = {fold.number: fold for fold in data.folds}
    tested = not sealed and all(parts[chosen_fold.fold].test is not None for chosen_fold in run.folds)
    least = convention(run.plan.convention).relevant_from
    decisions = []
    rankings = []
    for fold_result in run.folds:
        fold = parts[fold_result.fold]
        part = fold.test if tested else fold.vali
        step = fold_result.chosen.step
        if part is None or not step.covers(part.X):
            text = tr("fold {fold} has no documents to judge by a threshold, or no complete model")
            raise PlanError(text.format(fold=fold_result.fold))
        train = ScoredPart(fold.train).scores(step)
        scores = ScoredPart(part).scores(step)
        relevant = _is_relevant(part, least)
        train_relevant = _is_relevant(fold.train, least)
        rankings.append((scores, relevant))
        single = part.n_queries == 1
        decisions.append(
            FoldDecisions(
                fold_result.fold,
                decide(scores, relevant, best_threshold(train, train_relevant).threshold),
                decide(scores, relevant, share_threshold(train, train_relevant).threshold),
                best_threshold(scores, relevant),
                pooled_auc(scores, relevant),
                mean_auc_interval(rankings[-1:]) if single else (float("nan"), float("nan")),
            )
        )
    areas = [decision.auc for decision in decisions]
    has_intervals = not np.isnan([decision.auc_interval for decision in decisions]).any()
    return Decisions(
        "test" if tested else "validation",
        tuple(decisions),
        float(np.mean(areas)) if areas else float("nan"),
        mean_auc_interval(rankings) if has_intervals else (float("nan"), float("nan")),
    )


@dataclass(frozen=True)
class DecisionRow:
    """One decision as a row of a table.

    Attributes
    ----------
    label, fold
        "1" and 1; "mean" and None for the mean over the folds, which has no threshold: NaN.
    rule : {"best F", "class share"}
        How the threshold was chosen on the training part.
    decision : Decision
    greatest : float
        Greatest F of any threshold on the judged documents.
    """

    label: str
    fold: int | None
    rule: str
    decision: Decision
    greatest: float

    @property
    def difference(self) -> float:
        """F minus the greatest F."""
        return self.decision.f - self.greatest


def decision_rows(decisions: Decisions) -> list[DecisionRow]:
    """Return two rows per fold, and two means if there are several folds."""
    folds = decisions.folds
    rows = [
        DecisionRow(str(fold.fold), fold.fold, rule, decision, fold.greatest.f)
        for fold in folds
        for rule, decision in ((BEST_F, fold.best), (CLASS_SHARE, fold.share))
    ]
    if len(folds) < 2:
        return rows
    greatest = float(np.mean([fold.greatest.f for fold in folds]))
    return rows + [
        DecisionRow(
            "mean", None, rule, _mean_decision([row.decision for row in rows if row.rule == rule]), greatest
        )
        for rule in (BEST_F, CLASS_SHARE)
    ]


def _mean_decision(decisions: Sequence[Decision]) -> Decision:
    table = np.array([(decision.precision, decision.recall, decision.f) for decision in decisions])
    return Decision(float("nan"), *(float(value) for value in table.mean(axis=0)))


def _is_relevant(part: RankingDataset, least: float) -> Bools:
    return np.asarray(part.y >= least)
