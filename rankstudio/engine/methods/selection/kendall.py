"""Similarity of the rankings by two features: Kendall's τ within queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.shards.scratch import Scratch
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.methods.shards.work import StateWork
from rankstudio.engine.support.threads import pool, worthwhile
from rankstudio.engine.support.work import Waiting, WorkProgress


class KendallSimilarity:
    """|Kendall's τ-b| between features, averaged over queries.

    τ-b is used instead of τ-a, because features of ranking data have
    many ties: by τ-a a feature that is 0 for half of a query would be
    dissimilar to itself, by τ-b every varying feature has similarity 1
    with itself and with features that rank the same or the opposite
    way. Queries in which one of the two features is constant are left
    out of the mean. If this leaves out all queries, the similarity is
    0.

    Parameters
    ----------
    data : QueryData
        Documents, n features.
    scratch : Scratch, optional
        Provider of the arrays; memory by default.

    Notes
    -----
    O(nm log m) and 8nm bytes to prepare; O(m log |q|) for each pair of features.
    """

    def __init__(self, data: QueryData, scratch: Scratch | None = None) -> None:
        """Rank the documents of each query by each feature, with arrays from ``scratch``, or in memory.

        ``scratch`` allocates arrays in memory or in a file. ``data``
        has the documents.
        """
        from rankstudio.engine.methods.selection import _kendall_kernel as kernels  # noqa: PLC0415 - numba

        self._kernels = kernels
        self._ptr = data.ptr
        m, n = data.X.shape
        query = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
        # Scratch space is allocated as numbers of 8 bytes: n m numbers
        # of 8 bytes have space for two arrays of n m numbers of 4
        # bytes.
        numbers = np.empty(n * m) if scratch is None else scratch.empty(n * m)
        self._ranks, self._order = numbers.view(np.int32).reshape(2, n, m)
        self._n_tied_pairs = np.empty((n, data.ptr.size - 1))
        for j in range(n):
            column = data.X[:, j]
            # By query, and by value within a query: the last key is the primary one.
            order = np.lexsort((column, query))
            rises = np.append(0, np.diff(column[order]) > 0)
            self._order[j] = order
            # Equal values have equal ranks. Ranks are only compared
            # within a query, so they need not restart.
            self._ranks[j, order] = np.cumsum(rises)
            kernels.tied_pairs(
                self._ranks[j], self._order[j], self._ptr, self._n_tied_pairs[j]
            )

    def sums(self, feature: int, other_features: Ints) -> Floats:
        """Return sums of |τ-b| over queries, and in how many queries it is defined, shape (2, others).

        τ-b is that of ``feature`` and each of ``other_features``
        (others,), all columns.
        """
        out = np.empty((2, other_features.size))
        # Each thread compares the feature with a part of the others. A
        # document takes about 36 ns; threads are only used if all take
        # long enough.
        with pool(worthwhile(36.0 * other_features.size * self._ranks.shape[1])) as (
            executor,
            workers,
        ):
            cuts = np.array_split(np.arange(other_features.size), workers)

            def work(part: Ints) -> None:
                """Write the sums of the other features at the positions ``part`` to ``out``.

                Uses ``feature``, ``other_features`` and ``out`` of the
                enclosing method.
                """
                if part.size:
                    sums = np.empty((2, part.size))
                    self._kernels.similarities(
                        feature,
                        other_features[part],
                        self._ranks,
                        self._order,
                        self._n_tied_pairs,
                        self._ptr,
                        sums,
                    )
                    out[:, part] = sums

            # The list has no use. But map without threads only runs
            # when it is read, and errors of threads are only raised
            # then.
            list((executor.map if executor else map)(work, cuts))
        return out

    def step(self, data: QueryData, message: tuple[int, Ints]) -> tuple[Floats]:
        """Return the sums over a shard's queries of |τ-b| of a feature and some others.

        The ``message`` has their columns. The result (2, others) also
        has the number of queries that define τ-b. ``data`` has the
        documents of the shard. A shard is a part of the data with whole
        queries.
        """
        return (self.sums(*message),)


def _means(sums: Floats) -> Floats:
    """Return the means (others,) of sums and numbers of queries (2, others), 0 where no query defines τ-b."""
    total, n_defined = sums
    return np.asarray(
        np.divide(total, n_defined, out=np.zeros_like(total), where=n_defined > 0)
    )


Between = Callable[[int, Ints], Waiting[Floats]]
"""Function (feature, others) that returns the similarities of a feature with some others, (len(others),)."""


@contextmanager
def kendall_similarity(data: TrainingData) -> Iterator[Between]:
    """Provide the function that returns |Kendall's τ-b| of a feature and some others, with progress events.

    The function takes the columns of the feature and of the others. The
    result of the function has shape (others,), and is a mean over the
    queries of all shards, the parts of the data.
    """
    # The documents of each shard are ranked once, for all calls. The
    # session sends columns to the shards, and adds up their sums.
    with data.session(StateWork(KendallSimilarity)) as session:

        def between(feature: int, other_features: Ints) -> Waiting[Floats]:
            """Return the mean |τ-b| of a feature and others (others,), from ``session``."""
            # Sums over queries of |τ-b|, and the number of queries that
            # define it.
            (sums,) = yield from session.sum(
                (feature, other_features), "comparing features"
            )
            return _means(sums)

        yield between


def comparing_rankings(data: TrainingData) -> Waiting[Floats]:
    """Return |Kendall's τ-b| of all pairs of features, averaged over queries, shape (n, n): O(n² m log |q|)."""
    yield WorkProgress("ranking features", 0.0)
    n = data.X.shape[1]
    matrix = np.zeros((n, n))
    with kendall_similarity(data) as between:
        for j in range(n):
            yield WorkProgress("comparing features", j / n)
            # With itself and all later features; the matrix is symmetric.
            matrix[j, j:] = yield from between(j, np.arange(j, n))
            matrix[j:, j] = matrix[j, j:]
    return matrix


def kendall_between(
    data: TrainingData, columns: Ints, other_columns: Ints
) -> Waiting[Floats]:
    """Return |Kendall's τ-b| of each of ``columns`` (c,) and each of ``other_columns`` (o,), shape (c, o).

    Each value is a mean over queries; O(m log |q|) for a pair. ``data``
    are the training documents. The generator yields progress events,
    and then returns the result.
    """
    similarity = np.empty((columns.size, other_columns.size))
    with kendall_similarity(data) as between:
        for row, feature in zip(similarity, columns.tolist(), strict=True):
            row[:] = yield from between(feature, other_columns)
    return similarity
