"""The greedy path from per-query sufficient statistics: no term in the number of documents per λ."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.querywise import QueryStatistics
from rankstudio.engine.selection import _kernels

Floats = NDArray[np.float64]


class LeaveQueryOutSearch:
    """Leave-query-out criterion of every feature that could be added to a growing selection.

    Parameters
    ----------
    statistics : QueryStatistics
        Of the training data.
    regularization : float
        λ > 0.
    capacity : int
        How many features will be selected at most, k.
    executor : Executor, optional
        Threads to spread the queries over; the numbers do not depend on it.
    workers : int
        How many they are.

    Notes
    -----
    The criterion of a set S is sum_q ||y^_q - X^_q[:, S] w_q||², with w_q the RankRLS weights learned from
    all queries but q (Pahikkala et al. 2010, eq. (7)). O(Qnk²) time for a path of k features out of n over
    Q queries, O(Qnk) memory.
    """

    def __init__(
        self,
        statistics: QueryStatistics,
        regularization: float,
        capacity: int,
        executor: Executor | None = None,
        workers: int = 1,
    ) -> None:
        Q, n = statistics.n_queries, statistics.n_features
        self._statistics = statistics
        self._regularization = regularization
        self._executor = executor
        self._ranges = _ranges(Q, workers)
        self._state = (*(np.empty((Q, n)) for _ in range(4)), np.empty(Q))
        self._history = (
            np.empty((Q, capacity, n)),
            np.empty((Q, capacity, n)),
            np.empty((Q, capacity, capacity)),
            np.empty((Q, capacity)),
        )
        self._partial = np.empty((-(-Q // _kernels.BLOCK), n))
        self.selected: tuple[int, ...] = ()
        self.informative = statistics.informative
        self._each(self._start)

    def costs(self) -> Floats:
        """Return what the criterion would be with each feature added, shape (n,).

        The entries of features already selected mean nothing.
        """
        total: Floats = self._partial.sum(axis=0)
        return total

    def criterion(self) -> float:
        """Return the criterion of the present selection."""
        return float(self._state[-1].sum())

    def select(self, feature: int) -> None:
        """Add a feature to the selection."""
        step = len(self.selected)
        self._each(lambda first, last: self._select(feature, step, first, last))
        self.selected = (*self.selected, feature)

    def weights(self) -> Floats:
        """Return RankRLS's weights with the present selection, learned from all queries, shape (n,)."""
        return self._statistics.weights(self.selected, self._regularization)

    def _each(self, work: Callable[[int, int], None]) -> None:
        if self._executor is None:
            work(*self._ranges[0])
            return
        waiting = [self._executor.submit(work, first, last) for first, last in self._ranges]
        for future in waiting:
            future.result()

    def _start(self, first: int, last: int) -> None:
        s = self._statistics
        _kernels.start(s.gram, s.total, self._regularization, first, last, *self._state)
        self._sum_costs(first, last)

    def _select(self, feature: int, step: int, first: int, last: int) -> None:
        s = self._statistics
        _kernels.select(
            feature, step, s.gram, s.total, self._regularization, first, last, *self._state, *self._history
        )
        self._sum_costs(first, last)

    def _sum_costs(self, first: int, last: int) -> None:
        for begin in range(first, last, _kernels.BLOCK):
            end = min(begin + _kernels.BLOCK, last)
            _kernels.costs(begin, end, *self._state, self._partial[begin // _kernels.BLOCK])


def _ranges(n_queries: int, parts: int) -> tuple[tuple[int, int], ...]:
    """Cut the queries into ranges of whole blocks, one a thread."""
    blocks = -(-n_queries // _kernels.BLOCK)
    cuts = [round(blocks * p / parts) * _kernels.BLOCK for p in range(parts)] + [n_queries]
    return tuple((a, b) for a, b in pairwise(cuts) if b > a) or ((0, n_queries),)
