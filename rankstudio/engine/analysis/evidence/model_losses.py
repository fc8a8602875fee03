"""What a given model loses without each of its features: it is not learned anew, but scores again."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from rankstudio.engine.analysis.evidence.permutation_importance import (
    MeasuredDocuments,
    PermutationImportance,
    Score,
)
from rankstudio.engine.analysis.evidence.subset_paths import enough_queries
from rankstudio.engine.metrics.conventions import DEFAULT, Convention
from rankstudio.engine.metrics.evaluation import check_scores
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.metrics.names import Measure
from rankstudio.engine.support.work import WorkProgress

_WHAT = "scoring without each feature"


def loss_steps(
    score: Score,
    documents: MeasuredDocuments,
    measure: Measure,
    columns: tuple[int, ...],
    convention: str | Convention = DEFAULT,
    level: float = 0.95,
) -> Generator[WorkProgress, None, PermutationImportance]:
    """Yield progress, and return what a model loses without each of some features.

    Without a feature means that all documents of a query have its mean in that query. A weighted sum then
    ranks as with the weight 0.

    Parameters
    ----------
    score : callable
        Scores documents by their features alone.
    documents : MeasuredDocuments
    measure : Measure
    columns : tuple of int
        0-based columns of the features.
    convention, level
        As of :func:`rankstudio.engine.analysis.evidence.permutation_importance.permutation_importance`.

    Notes
    -----
    O(k) predictions for k features.
    """
    ptr = documents.ptr
    enough_queries(ptr.size - 1, 2, "The loss without a feature")
    X = documents.features(slice(0, int(ptr[-1])))
    evaluator = Evaluator(documents.y, ptr, convention, [measure], grading=documents.grading)
    sign = 1.0 if measure.higher_is_better else -1.0
    baseline = evaluator.per_query(check_scores(score(X), len(X)))[measure.name]
    losses = np.empty((len(columns), ptr.size - 1))
    sizes = np.diff(ptr)
    for place, column in enumerate(columns):
        yield WorkProgress(_WHAT, place / len(columns))
        values = X[:, column].copy()
        X[:, column] = np.repeat(np.add.reduceat(values, ptr[:-1]) / sizes, sizes)
        found = evaluator.per_query(check_scores(score(X), len(X)))[measure.name]
        X[:, column] = values
        losses[place] = sign * (baseline - found)
    return PermutationImportance(measure, tuple((column,) for column in columns), baseline, losses, level)
