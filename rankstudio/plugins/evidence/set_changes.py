"""A set of features: its left-out error with each feature added, without each, and with each swap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.analysis.features.set_checks import columns_of, exact_exchange
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.capabilities import ExactExchange
from rankstudio.engine.methods.selection.greedy_rankrls.summed_rows import summed_rows
from rankstudio.engine.methods.selection.greedy_rankrls.swaps import swap_criteria
from rankstudio.engine.methods.shards.training_data import GivenData, training_data
from rankstudio.engine.support.number_format import relative_excess
from rankstudio.engine.support.threads import STEADY

_PURPOSE = "Changes of a set"


@dataclass(frozen=True, eq=False)
class SetChanges:
    """Left-out errors of a set of features after each change by one feature.

    Attributes
    ----------
    features : tuple of int
        0-based columns of the set, k of them.
    criterion : float
        Leave-query-out error of the set, summed over documents.
    added : ndarray of shape (n,)
        Error with each other feature added; NaN for features of the set.
    without : ndarray of shape (k,)
        Error without each feature of the set.
    swapped : ndarray of shape (k, n)
        Row a has the error with each other feature in place of the
        a-th; NaN for features of the set.
    """

    features: tuple[int, ...]
    criterion: float
    added: Floats
    without: Floats
    swapped: Floats

    def relative(self, error: float) -> float:
        """Return by which share of the set's own error another error is above it."""
        return relative_excess(error, self.criterion)


def set_changes(
    estimator: LinearRanker,
    X: ArrayLike,
    y: ArrayLike,
    *,
    qid: ArrayLike | None,
    features: Sequence[int],
) -> SetChanges:
    """Compute the left-out error of a set of features after each change by one feature.

    Parameters
    ----------
    estimator : GreedyRankRLS, RankRLS or another method with exact left-out errors
        Its λ and loss are used; it is not fitted here.
    X : array-like of shape (m, n)
        Features; a row is a document.
    y : array-like of shape (m,)
        Labels of the documents.
    qid : array-like of shape (m,)
        Query of each document.
    features : sequence of int
        0-based columns of the set, k of them; the set may be empty.

    Returns
    -------
    SetChanges
        Errors after each change of the set.

    Raises
    ------
    ParameterError
        For other methods, or invalid or repeated columns.

    Notes
    -----
    The leave-query-out errors are exact (Pahikkala et al. 2010, eq.
    (7)), and no model is trained: O(Q n k⁴) from the Gram matrices of Q
    queries.

    Examples
    --------
    >>> from rankstudio.engine import RankRLS
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.random((60, 4)), np.repeat(np.arange(10), 6)
    >>> found = set_changes(RankRLS(), X, X[:, 0] + 0.5 * X[:, 2], qid=qid, features=(0, 1))
    >>> int(np.nanargmin(found.added)), int(np.argmin(found.without))
    (2, 1)
    """
    return changes_of(estimator, group(X, y, qid), features)


def changes_of(
    estimator: LinearRanker, data: GivenData, features: Sequence[int]
) -> SetChanges:
    """Compute the left-out error of a set after each change by one feature.

    ``data`` are grouped by query, ``features`` are the 0-based columns
    of the set, and ``estimator`` has λ and the loss of the left-out
    error.
    """
    rows = training_data(data)
    return exchanged_changes(exact_exchange(estimator, rows, _PURPOSE), rows, features)


def exchanged_changes(
    judge: ExactExchange, data: GivenData, features: Sequence[int]
) -> SetChanges:
    """Compute the left-out error of a set with each feature added, without each, and with each swap.

    The errors are those of RankRLS with the λ and loss of ``judge``;
    ``features`` are the 0-based columns of the set.
    """
    rows = training_data(data)
    n = rows.X.shape[1]
    columns = columns_of(features, n, least=0)
    outside = np.setdiff1d(np.arange(n), columns)

    # One thread of BLAS: the result has the same bits on every machine.
    with STEADY:
        pairs = summed_rows(rows, judge.cost)
        criterion, swap_errors, without, added_errors = swap_criteria(
            pairs, judge.regularization, columns, outside
        )

    # Features of the set can be neither added nor swapped in: NaN.
    added = np.full(n, np.nan)
    swapped = np.full((len(columns), n), np.nan)
    added[outside] = added_errors
    swapped[:, outside] = swap_errors
    return SetChanges(columns, criterion, added, without, swapped)
