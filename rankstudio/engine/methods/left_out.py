"""Scores of queries that were left out, such that documents with the same features have the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.querywise.query_data import QueryData


def with_columns(data: QueryData, columns: Sequence[int]) -> QueryData:
    """Return the data with some of their features, in the order of the data; themselves with all."""
    ascending = sorted(columns)
    return data if ascending == list(range(data.X.shape[1])) else data.narrowed(ascending)


def left_out_scores(data: QueryData, models: Floats) -> Floats:
    """Score the documents of each query by a linear model of its own.

    Parameters
    ----------
    data : QueryData
    models : ndarray of shape (Q, n)
        Row q was learned without query q.

    Returns
    -------
    ndarray of shape (m,)
        Each sum is taken from the first feature to the last, so that equal documents have equal scores.
    """
    sizes = np.diff(data.ptr)
    scores = np.zeros(len(data.X))
    for column, weights in zip(data.X.T, models.T, strict=True):
        scores += column * np.repeat(weights, sizes)
    return scores


def first_twins(data: QueryData) -> Ints:
    """Return for each document the first of its query that has the same features, shape (m,); O(mn log m)."""
    query = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
    rows = np.column_stack((query, data.X + 0.0))  # -0 is 0
    order = np.lexsort(rows.T[::-1])
    starts = np.append(True, (rows[order[1:]] != rows[order[:-1]]).any(axis=1))
    first = np.empty(len(rows), dtype=np.int64)
    first[order] = order[starts][np.cumsum(starts) - 1]  # lexsort is stable: a run begins with its first
    return first
