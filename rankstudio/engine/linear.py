"""Linear scores of the documents of many queries, computed block by block on the threads there are."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine._linear_kernel import multiply, weigh

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_WORTH_THREADS = 16_000  # documents, below which handing work to threads costs more
_BLOCK = 8_192  # documents that a thread takes at a time


class Queries:
    """Queries, cut into blocks of about as many documents each, for threads to take one at a time.

    Parameters
    ----------
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    executor : Executor, optional
        Threads to spread the blocks over; the numbers do not depend on it.

    Attributes
    ----------
    blocks : list of (int, int, int)
        Number, first query and query after the last of each block.
    """

    def __init__(self, ptr: Ints, executor: Executor | None = None) -> None:
        self.ptr = ptr
        m = int(ptr[-1])
        self._executor = executor if m > _WORTH_THREADS else None
        cuts = np.unique(np.searchsorted(ptr, np.linspace(0, m, m // _BLOCK + 2))).tolist()
        self.blocks = [(number, first, last) for number, (first, last) in enumerate(pairwise(cuts))]

    def spread(self, work: Callable[[int, int, int], None]) -> None:
        """Call ``work(number, first query, query after the last)`` for each block, on the threads there are.

        The blocks do not depend on the threads, so sums over them do not either.
        """
        if self._executor is None:
            for block in self.blocks:
                work(*block)
        else:
            list(self._executor.map(lambda block: work(*block), self.blocks))


class Linear:
    """Scores that are linear in the features, s = Xw.

    Parameters
    ----------
    X : ndarray of shape (m, n)
    queries : Queries
        Of the m documents.
    """

    def __init__(self, X: Floats, queries: Queries) -> None:
        self.X = X
        self.queries = queries

    def scores(self, w: Floats) -> Floats:
        """Return Xw, shape (m,). O(mn)."""
        out = np.empty(self.X.shape[0])
        ptr = self.queries.ptr
        self.queries.spread(lambda _, first, last: multiply(self.X, w, ptr[first], ptr[last], out))
        return out

    def weigh(self, weights: Floats) -> Floats:
        """Return X'weights, shape (n,). O(mn)."""
        parts, ptr = self._parts(), self.queries.ptr
        self.queries.spread(
            lambda block, first, last: weigh(self.X, weights, ptr[first], ptr[last], parts[block])
        )
        total: Floats = parts.sum(axis=0)
        return total

    def _parts(self) -> Floats:
        """Return a row for each block's share of a sum over the documents, (blocks, n)."""
        return np.empty((len(self.queries.blocks), self.X.shape[1]))
