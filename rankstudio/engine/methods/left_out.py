"""Scores of left-out queries, computed so that documents with equal features have equal scores."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.shards.sums import summed
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.methods.shards.work import Joined
from rankstudio.engine.support.work import Waiting, finish


def with_columns(data: QueryData, columns: Sequence[int]) -> QueryData:
    """Return the data with some of their features, in the order of the data.

    ``columns`` are those of the features. If these are all features,
    the data themselves are returned.
    """
    ascending = sorted(columns)
    return (
        data if ascending == list(range(data.X.shape[1])) else data.narrowed(ascending)
    )


def left_out_scores(
    data: QueryData, models: Floats, columns: Sequence[int] | None = None
) -> Floats:
    """Score the documents of each query by its own linear model.

    Parameters
    ----------
    data : QueryData
        Documents of Q queries.
    models : ndarray of shape (Q, n)
        Weights; row q are those of the model for query q, trained without it.
    columns : sequence of int, optional
        Columns of the models' features, in their order; all by default.

    Returns
    -------
    ndarray of shape (m,)
        Scores. Each is summed from the first feature to the last, so
        that equal documents have equal scores.
    """
    sizes = np.diff(data.ptr)
    scores = np.zeros(len(data.X))
    used_columns = range(data.X.shape[1]) if columns is None else columns
    for column, weights in zip(used_columns, models.T, strict=True):
        scores += data.X[:, column] * np.repeat(weights, sizes)
    return scores


def centred_scores(data: QueryData, models: Floats) -> Floats:
    """Score centred documents, each by the linear model of its query.

    The features of each document are those minus the mean of its query.
    Row q of ``models`` (Q, n) are the weights for query q. Returns the
    scores (m,). ``data`` has the documents.
    """
    X = data.centred[0]  # the centred features; the other item are the labels
    scores = np.empty(len(data.y))
    for query, (first, last) in enumerate(pairwise(data.ptr.tolist())):
        # Copies, because einsum with a broadcast view would sum in another order.
        model_rows = np.repeat(models[query : query + 1], last - first, axis=0)
        scores[first:last] = np.einsum("mi,mi->m", X[first:last], model_rows)
    return scores


class LeftOutScorer(Protocol):
    """Models of a method without each query, as a small value that can be pickled.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import LeftOutScorer, QueryData
    >>> class Zeros:
    ...     def scores(self, data):
    ...         return np.zeros(len(data.y))
    >>> scorer: LeftOutScorer = Zeros()
    >>> scorer.scores(QueryData(np.eye(2), np.array([0.0, 1.0]), np.array([0, 2])))
    array([0., 0.])
    """

    def scores(self, data: QueryData) -> Floats:
        """Score the documents of some queries (m,), each by the model trained without its query.

        Equal documents of a query have equal scores. ``data`` has the
        documents.
        """


def left_out_of_shards(data: TrainingData, scorer: LeftOutScorer) -> Floats:
    """Score each document by the model without its query, shape (m,), in one pass over the shards.

    ``scorer`` has the models, and scores the documents of one shard.
    ``data`` are the training documents. A shard is a part of the data
    with whole queries.
    """
    (scores,) = finish(summed(data, "leaving queries out", _shard_scores, scorer))
    return np.asarray(scores)


def measured_left_out(
    data: TrainingData,
    scorer: LeftOutScorer,
    convention: str,
    measures: tuple[str, ...],
) -> Waiting[Floats]:
    """Measure the ranking of each query by the model trained without it, shape (M, Q).

    M is the number of ``measures``, by name, and Q that of queries.
    ``scorer`` has the models, and ``convention`` is the key of the
    rules of the measures. Takes one pass over the shards, the parts of
    the data. The generator yields progress events, and then returns the
    result.
    """
    (table,) = yield from summed(
        data, "leaving queries out", _shard_measures, scorer, convention, measures
    )
    return np.asarray(table)


def _shard_scores(data: QueryData, scorer: LeftOutScorer) -> tuple[Joined]:
    """Return the left-out scores of a shard's documents, to be joined with those of other shards."""
    return (Joined(scorer.scores(data)),)


def _shard_measures(
    data: QueryData, scorer: LeftOutScorer, convention: str, measures: tuple[str, ...]
) -> tuple[Joined]:
    """Return the measures of the queries of a shard, each ranked by the model trained without it.

    The result is an array (M, Q) of M measures and Q queries, to be
    joined along the queries with those of other shards, parts of the
    data. ``convention`` is the key of the rules of the measures.
    ``scorer`` has the models, and scores each query by its own.
    """
    from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - numba, where it is needed

    per_query = Evaluator(
        data.y, data.ptr, convention, measures, grading=data.grading
    ).per_query(scorer.scores(data))
    return (Joined(np.stack([*per_query.values()])),)


def first_twins(data: QueryData) -> Ints:
    """Return for each document the first document of its query with the same features, shape (m,).

    A document without an equal document before it is its own first one.
    Takes O(mn log m). ``data`` has the documents.
    """
    # The number of each document's query is the first column to compare.
    query = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
    # + 0.0 turns -0 into 0, so that equal numbers are sorted as equal.
    rows = np.column_stack((query, np.asarray(data.X) + 0.0))
    # Sorted by query, then by each feature; lexsort takes the last key first.
    order = np.lexsort(rows.T[::-1])
    # A run of equal rows starts where a sorted row differs from the one before.
    starts = np.append(True, (rows[order[1:]] != rows[order[:-1]]).any(axis=1))
    first = np.empty(len(rows), dtype=np.int64)
    # lexsort is stable, so a run of equal rows begins with its first document.
    first[order] = order[starts][np.cumsum(starts) - 1]
    return first
