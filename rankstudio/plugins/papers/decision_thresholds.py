"""Decisions by a threshold on the scores: precision, recall and F of a run's models (Airola 2011, Paper V).

A threshold turns a ranking into a classifier. It is chosen on the
training part, never on the documents on which it is judged. For
comparison, each decision has the greatest F that any threshold reaches
on the judged documents, as in the paper's Tables 3 to 5.
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
    """The decision to take all documents with scores of at least a threshold: precision, recall and F.

    Attributes
    ----------
    threshold : float
        Score of the last document that is taken; infinity if no document is taken.
    precision, recall, f : float
        Quality of the set of documents that are taken; 0 if no relevant
        document is taken.
    """

    threshold: float
    precision: float
    recall: float
    f: float


@dataclass(frozen=True)
class FoldDecisions:
    """Decisions of the model of a fold on the pooled documents of a part.

    Attributes
    ----------
    fold : int
    best, share : Decision
        Decisions by two thresholds of the training part: the threshold
        with the greatest F, and the threshold that takes as many
        documents as are relevant.
    greatest : Decision
        Decision by the threshold with the greatest F on the judged
        documents: no threshold has a greater F.
    auc : float
        AUC of the part; NaN if all or none of its documents are relevant.
    auc_interval : (float, float)
        DeLong's 95 % interval if the part is one ranking, otherwise NaN.
    """

    fold: int
    best: Decision
    share: Decision
    greatest: Decision
    auc: float
    auc_interval: tuple[float, float]


@dataclass(frozen=True)
class Decisions:
    """Decisions by thresholds of the models of a run, one model per fold.

    Attributes
    ----------
    part : {"test", "validation"}
        Part on which the decisions are judged.
    folds : tuple of FoldDecisions
    mean_auc : float
        Mean AUC over the folds.
    mean_auc_interval : (float, float)
        DeLong's 95 % interval of the mean if each part is one ranking,
        otherwise NaN. It holds for these models, and assumes that the
        parts have no document in common.
    """

    part: str
    folds: tuple[FoldDecisions, ...]
    mean_auc: float
    mean_auc_interval: tuple[float, float]


def best_threshold(scores: Floats, relevant: Bools) -> Decision:
    """Return the decision with the greatest F; among equal ones, the one that takes the fewest documents.

    Parameters
    ----------
    scores : ndarray of shape (m,)
        Scores of the documents.
    relevant : ndarray of shape (m,), bool
        Whether each document is relevant.

    Notes
    -----
    O(m log m). Documents with equal scores are taken together.
    """
    order = np.argsort(-scores, kind="stable")

    # last document of each distinct score
    ends = np.flatnonzero(np.append(np.diff(scores[order]) < 0, True))

    # Relevant documents among those taken, and F, for each possible
    # threshold: F is twice their number, divided by that of taken plus
    # that of all relevant.
    n_found = np.cumsum(relevant[order])[ends]
    f = 2.0 * n_found / (ends + 1 + max(1, relevant.sum()))
    best_end = ends[int(np.argmax(f))]
    threshold = scores[order[best_end]] if f.max() > 0 else np.inf
    return decide(scores, relevant, float(threshold))


def share_threshold(scores: Floats, relevant: Bools) -> Decision:
    """Return the decision that takes as many documents as are relevant.

    ``scores``, (m,), are those of the documents, and ``relevant``,
    (m,), says which are relevant. If this number would divide documents
    with equal scores, all of these documents are left out.
    """
    n_taken = int(relevant.sum())
    descending = -np.sort(-scores)
    if (
        n_taken
        and n_taken < scores.size
        and descending[n_taken] == descending[n_taken - 1]
    ):
        # documents above the tie
        n_taken = int(np.searchsorted(-descending, -descending[n_taken]))
    threshold = float(descending[n_taken - 1]) if n_taken else np.inf
    return decide(scores, relevant, threshold)


def decide(scores: Floats, relevant: Bools, threshold: float) -> Decision:
    """Return the decision that takes all documents with scores of at least the threshold.

    The decision has precision, recall and F of the documents taken.
    ``scores``, (m,), are those of the documents, and ``relevant``,
    (m,), says which are relevant.
    """
    is_taken = scores >= threshold
    n_found = int(np.count_nonzero(is_taken & relevant))
    n_taken = int(np.count_nonzero(is_taken))
    n_relevant = int(np.count_nonzero(relevant))
    if not n_found:
        return Decision(threshold, precision=0.0, recall=0.0, f=0.0)
    return Decision(
        threshold,
        precision=n_found / n_taken,
        recall=n_found / n_relevant,
        f=2.0 * n_found / (n_taken + n_relevant),
    )


def run_decisions(
    run: RunResult, data: FoldedDataset, *, sealed: bool = False
) -> Decisions:
    """Choose thresholds on the training parts of a run, and judge its models by them.

    Parameters
    ----------
    run : RunResult
        A finished run.
    data : FoldedDataset
        Data of the run, with documents.
    sealed : bool
        Whether the test part is sealed, so that the models are judged
        on the validation part.

    Raises
    ------
    PlanError
        If a fold lacks the part, or a model was not stored completely.

    Notes
    -----
    O(m (n + log m)) for m documents of all parts and n features.
    """
    fold_of_number = {fold.number: fold for fold in data.folds}
    uses_test = not sealed and all(
        fold_of_number[result.fold].test is not None for result in run.folds
    )
    least_relevant = convention(run.plan.convention).relevant_from
    no_interval = (float("nan"), float("nan"))
    decisions = []
    rankings = []  # scores and relevance of each judged part
    for fold_result in run.folds:
        fold = fold_of_number[fold_result.fold]
        part = fold.test if uses_test else fold.vali
        step = fold_result.chosen.step

        # A model does not cover a part that it cannot score: it was not
        # stored completely, or it has scores of other documents only.
        if part is None or not step.can_score(part.X):
            text = tr(
                "fold {fold} has no documents to judge by a threshold, or no complete model"
            )
            raise PlanError(text.format(fold=fold_result.fold))
        train_scores = ScoredPart(fold.train).scores(step)
        scores = ScoredPart(part).scores(step)
        relevant = _is_relevant(part, least_relevant)
        train_relevant = _is_relevant(fold.train, least_relevant)
        rankings.append((scores, relevant))

        # An interval is defined for one ranking, here the last one.
        is_one_ranking = part.n_queries == 1
        decisions.append(
            FoldDecisions(
                fold=fold_result.fold,
                best=decide(
                    scores,
                    relevant,
                    best_threshold(train_scores, train_relevant).threshold,
                ),
                share=decide(
                    scores,
                    relevant,
                    share_threshold(train_scores, train_relevant).threshold,
                ),
                greatest=best_threshold(scores, relevant),
                auc=pooled_auc(scores, relevant),
                auc_interval=mean_auc_interval(rankings[-1:])
                if is_one_ranking
                else no_interval,
            )
        )
    areas = [decision.auc for decision in decisions]
    has_intervals = not np.isnan(
        [decision.auc_interval for decision in decisions]
    ).any()
    return Decisions(
        part="test" if uses_test else "validation",
        folds=tuple(decisions),
        mean_auc=float(np.mean(areas)) if areas else float("nan"),
        mean_auc_interval=mean_auc_interval(rankings) if has_intervals else no_interval,
    )


@dataclass(frozen=True)
class DecisionRow:
    """A decision by a threshold as a row of a table.

    Attributes
    ----------
    label, fold
        "1" and 1 for fold 1; "mean" and None for the mean over the folds.
    rule : {"best F", "class share"}
        Rule by which the threshold was chosen on the training part.
    decision : Decision
        Decision of the fold, or the mean of all decisions, with NaN as threshold.
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
    """Return the rows of a table of decisions: one per fold and rule for the threshold.

    If there are several folds, a row with the mean over the folds
    follows for each rule.
    """
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
            "mean",
            None,
            rule,
            _mean_decision([row.decision for row in rows if row.rule == rule]),
            greatest,
        )
        for rule in (BEST_F, CLASS_SHARE)
    ]


def _mean_decision(decisions: Sequence[Decision]) -> Decision:
    """Return the means of precision, recall and F."""
    table = np.array(
        [(decision.precision, decision.recall, decision.f) for decision in decisions]
    )
    return Decision(float("nan"), *(float(value) for value in table.mean(axis=0)))


def _is_relevant(part: RankingDataset, least_relevant: float) -> Bools:
    """Return whether each document is relevant, (m,)."""
    return np.asarray(part.y >= least_relevant)
