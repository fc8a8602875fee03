"""Measures from which nothing can be learned, because every ranking of the documents has the same value."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.metrics.conventions import Convention
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.support.grades import Grading


def is_constant(
    y: Floats,
    query_ptr: Ints,
    name: str,
    convention: Convention,
    grading: Grading | None = None,
) -> bool:
    """Return whether a measure is the same for every ranking: for the best in each query as for the worst.

    Parameters
    ----------
    y : ndarray of shape (m,)
        Relevance labels.
    query_ptr : ndarray of shape (Q + 1,)
        Query q has the documents ``query_ptr[q]:query_ptr[q + 1]``.
    name : str
        A measure of rankings.
    convention : Convention
    grading : Grading, optional
        Of the whole dataset.

    Notes
    -----
    O(m log m).
    """
    evaluator = Evaluator(y, query_ptr, convention, (name,), grading=grading)
    # Scores that are the labels give the best ranking, negated labels
    # the worst. The evaluator has one measure, with a value per query.
    best, worst = (
        next(iter(evaluator.per_query(sign * y).values())) for sign in (1.0, -1.0)
    )
    return np.array_equal(best, worst, equal_nan=True)
