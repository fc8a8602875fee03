"""Backward elimination: repeatedly remove the least important features of a model, and train again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.language import tr
from rankstudio.engine.support.work import Waiting, WorkProgress

Importances = Callable[[Ints], Waiting[Floats]]
"""Function from r columns to the importances (r,) of a model that is trained on these columns."""


def eliminate(
    importances: Importances,
    columns: Ints,
    n_features: int,
    k: int,
    *,
    tie: float,
    share: float = 0.0,
) -> Waiting[tuple[Ints, Floats]]:
    """Eliminate the least important column again and again, and return the columns, the last remaining one first.

    The generator yields progress events, and then returns the result.

    Parameters
    ----------
    importances : callable
        Function that trains a model on some columns (r,) and returns
        their importances (r,), with progress events.
    columns : ndarray of shape (r,)
        Columns to order, ascending.
    n_features : int
        Number of features of the data, n.
    k : int
        Number of positions for which importances are returned.
    tie : float
        Importances count as equal if they differ by at most this share
        of the greatest one. Of equally important features, the later
        column is dropped first.
    share : float, default 0.0
        Share of the remaining features that a round drops, rounded
        down; at least one feature is dropped, and at least one is kept.

    Returns
    -------
    order : ndarray of shape (r,)
        The last remaining column first.
    candidate_importances : ndarray of shape (k, n)
        Row t has the importances of all columns that remained when the
        t-th column of the order was dropped as the least important; NaN
        for columns that were already dropped. Row 0 is NaN: the last
        column is not dropped.
    """
    remaining = columns
    dropped: list[int] = []
    candidate_importances = np.full((k, n_features), np.nan)
    while remaining.size > 1:
        yield WorkProgress(
            tr("eliminating features"), 1.0 - remaining.size / n_features
        )
        importance = yield from importances(remaining)
        # At least one feature is dropped, and at least one remains.
        n_dropped = min(max(1, int(share * remaining.size)), remaining.size - 1)
        for _ in range(n_dropped):
            position = _least_important(importance, tie)
            # The order ends with the columns dropped first, so this
            # column's position in it is remaining.size - 1. Only the
            # first k positions have importances.
            if remaining.size <= k:
                candidate_importances[remaining.size - 1, remaining] = importance
            dropped.insert(0, int(remaining[position]))
            remaining = np.delete(remaining, position)
            importance = np.delete(importance, position)
    order = np.array([*remaining.tolist(), *dropped], dtype=np.int64)
    return order, candidate_importances


def _least_important(importance: Floats, tie: float) -> int:
    """Return the last position among those with the least importance.

    Importances count as equal if they differ by at most the share
    ``tie`` of the greatest one.
    """
    is_least = importance <= importance.min() + tie * importance.max()
    return int(np.flatnonzero(is_least)[-1])
