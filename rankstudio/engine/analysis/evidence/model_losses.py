"""What a given model loses without each of its features: it is not learned anew, but scores again."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from rankstudio.engine.analysis.evidence.permutation_importance import (
    MeasuredDocuments,
    PermutationImportance,
    Score,
    parts_of,
)
from rankstudio.engine.analysis.evidence.subset_paths import enough_queries
from rankstudio.engine.metrics.conventions import DEFAULT, Convention
from rankstudio.engine.metrics.evaluation import check_scores
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.metrics.names import Measure
from rankstudio.engine.support.work import WorkProgress

_WHAT = "scoring without each feature"
_VALUES = 4_000_000  # of documents that are copied and scored at a time


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
    sign = 1.0 if measure.higher_is_better else -1.0
    baseline, losses = np.empty(ptr.size - 1), np.empty((len(columns), ptr.size - 1))
    for first, last in parts_of(ptr, max(1, _VALUES // documents.X.shape[1])):
        part, own = slice(int(ptr[first]), int(ptr[last])), ptr[first : last + 1] - ptr[first]
        X, sizes = documents.features(part), np.diff(own)
        graded = documents.grading.taken(part)
        evaluator = Evaluator(documents.y[part], own, convention, [measure], grading=graded)
        whole = evaluator.per_query(check_scores(score(X), len(X)))[measure.name]
        baseline[first:last] = whole
        for place, column in enumerate(columns):
            done = first + (last - first) * place / len(columns)
            yield WorkProgress(_WHAT, done / (ptr.size - 1))
            values = X[:, column].copy()
            X[:, column] = np.repeat(np.add.reduceat(values, own[:-1]) / sizes, sizes)
            found = evaluator.per_query(check_scores(score(X), len(X)))[measure.name]
            X[:, column] = values
            losses[place, first:last] = sign * (whole - found)
    return PermutationImportance(measure, tuple((column,) for column in columns), baseline, losses, level)
