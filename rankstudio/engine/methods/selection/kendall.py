"""How alike two features rank: Kendall's τ inside queries."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.steps import WorkProgress, finish
from rankstudio.engine.support.threads import pool

_WORTH_THREADS = 2e5  # documents times features


class KendallSimilarity:
    """|Kendall's τ-b| between features, averaged over queries.

    τ-b and not τ-a, because the features of ranking data are full of ties: by τ-a a feature that is 0 for
    half of a query would be little like itself, by τ-b every feature that varies has the similarity 1 with
    itself and with whatever ranks the same way or the opposite way. Queries in which one of the two features
    is constant say nothing about them and are left out of the mean; without any other query it is 0.

    Parameters
    ----------
    data : QueryData
        Documents, n features.

    Notes
    -----
    O(nm log m) and 8nm bytes to prepare; O(m log |q|) for each pair of features.
    """

    def __init__(self, data: QueryData) -> None:
        from rankstudio.engine.methods.selection import _kendall_kernel as kernels  # noqa: PLC0415 - numba

        self._kernels = kernels
        self._ptr = data.ptr
        m, n = data.X.shape
        query = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
        self._ranks, self._order = np.empty((n, m), dtype=np.int32), np.empty((n, m), dtype=np.int32)
        self._tied = np.empty((n, data.ptr.size - 1))
        for j in range(n):
            column = data.X[:, j]
            order = np.lexsort((column, query))
            rises = np.append(0, np.diff(column[order]) > 0)
            self._order[j] = order
            # A rank for each different value; where a new query begins does not matter.
            self._ranks[j, order] = np.cumsum(rises)
            kernels.tied_pairs(self._ranks[j], self._order[j], self._ptr, self._tied[j])

    def between(self, feature: int, others: Ints) -> Floats:
        """Return the similarity of one feature with some others, shape (len(others),)."""
        out = np.empty(others.size)
        with pool(others.size * self._ranks.shape[1] > _WORTH_THREADS) as (executor, workers):
            cuts = np.array_split(np.arange(others.size), workers)

            def work(part: Ints) -> None:
                if part.size:
                    own = slice(int(part[0]), int(part[-1]) + 1)
                    self._kernels.similarities(
                        feature, others[own], self._ranks, self._order, self._tied, self._ptr, out[own]
                    )

            list((executor.map if executor else map)(work, cuts))
        return out


def kendall_matrix(data: QueryData) -> Floats:
    """Return the similarities of all pairs of features, shape (n, n): O(n² m log |q|)."""
    return finish(comparing_rankings(data))


def comparing_rankings(data: QueryData) -> Generator[WorkProgress, None, Floats]:
    """Do what :func:`kendall_matrix` does, with signs of life."""
    yield WorkProgress("ranking features", 0.0)
    similarity = KendallSimilarity(data)
    n = data.X.shape[1]
    matrix = np.zeros((n, n))
    for j in range(n):
        yield WorkProgress("comparing features", j / n)
        matrix[j, j:] = similarity.between(j, np.arange(j, n))
        matrix[j:, j] = matrix[j, j:]
    return matrix
