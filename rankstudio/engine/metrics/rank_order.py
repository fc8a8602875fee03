"""The order in which a convention reads the documents of a query off their scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arrays import Ints
from rankstudio.engine.metrics._truth import check_query_ptr
from rankstudio.engine.metrics.conventions import Convention
from rankstudio.engine.metrics.conventions import convention as find_convention
from rankstudio.engine.metrics.evaluation import check_scores
from rankstudio.engine.metrics.evaluator import reading_order
from rankstudio.engine.support.grades import Grading


def rank_order(
    scores: ArrayLike,
    query_ptr: ArrayLike,
    convention: str | Convention,
    grading: Grading | None = None,
) -> Ints:
    """Return the documents of each query from the first rank down.

    Parameters
    ----------
    scores : array-like of shape (m,)
    query_ptr : array-like of shape (Q + 1,)
        First document of each query, and m.
    convention : str or Convention
        Says which of two equal scores goes first. Where it averages over all orders, they stay as in the
        file.
    grading : Grading, optional
        Of the documents, for conventions that go by their ids.

    Returns
    -------
    ndarray of shape (m,)
        Rows; those of query q stand at ``query_ptr[q]:query_ptr[q + 1]``.

    Raises
    ------
    ParameterError
        For shapes that do not fit together.
    DatasetError
        For a score that is NaN.

    Notes
    -----
    O(m log m). It is the order in which :class:`rankstudio.engine.metrics.evaluator.Evaluator` measures.

    Examples
    --------
    >>> rank_order([0.1, 0.9, 0.9], [0, 3], "letor4").tolist()
    [1, 2, 0]
    """
    rules = find_convention(convention) if isinstance(convention, str) else convention
    n_documents = np.shape(scores)[0] if np.ndim(scores) else 0
    ptr = check_query_ptr(query_ptr, n_documents)
    values = check_scores(scores, n_documents)
    order = reading_order(ptr, rules, grading or Grading(0.0), last_first=True)
    start = np.arange(n_documents) if order is None else order
    query = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))
    return start[np.lexsort((-values[start], query))].astype(np.int64)
