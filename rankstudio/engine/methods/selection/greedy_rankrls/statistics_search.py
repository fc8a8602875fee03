"""The greedy path from per-query statistics: documents count only for rows that no λ has asked for yet."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from itertools import pairwise

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls import _statistics_kernel as _kernels
from rankstudio.engine.methods.selection.greedy_rankrls.gram_rows import GramRow, GramRows


class LeaveQueryOutSearch:
    """Leave-query-out criterion of every feature that could be added to a growing selection.

    Parameters
    ----------
    rows : GramRows
        Of the training data.
    regularization : float
        λ > 0.
    capacity : int
        How many features will be selected at most, k.
    executor : Executor, optional
        Threads to spread the queries over; the numbers do not depend on it.
    workers : int
        How many they are.

    Attributes
    ----------
    state, history : tuple of ndarray
        As :mod:`_statistics_kernel` has them.

    Notes
    -----
    The criterion of a set S is sum_q ||y^_q - X^_q[:, S] w_q||², with w_q the RankRLS weights learned from
    all queries but q (Pahikkala et al. 2010, eq. (7)). O(Qnk²) time for a path of k features out of n over
    Q queries, O(Qnk) memory.
    """

    def __init__(
        self,
        rows: GramRows,
        regularization: float,
        capacity: int,
        executor: Executor | None = None,
        workers: int = 1,
    ) -> None:
        blocks, n, width = rows.squares.shape
        self._rows = rows
        self._regularization = regularization
        self._executor = executor
        self._ranges = _ranges(blocks, workers)
        self._order = np.arange(n)
        self.state = (
            np.empty((blocks, n, width)),
            np.empty((blocks, n, width)),
            np.empty((blocks, n, width)),
            np.empty((blocks, n, width)),
            np.empty((blocks, width)),
        )
        self.history = (
            np.empty((blocks, n, capacity, width)),
            np.empty((blocks, n, capacity, width)),
            np.empty((blocks, capacity, capacity, width)),
            np.empty((blocks, capacity, width)),
        )
        self._partial = np.empty((blocks, n))
        self._coef = np.zeros(n)
        self._factor = np.empty((capacity, capacity)), np.empty(capacity)
        self.selected: tuple[int, ...] = ()
        self.informative = rows.informative
        self.each(self._start)

    def costs(self, candidates: Ints) -> Floats:
        """Return what the criterion would be with each candidate added, shape (c,)."""
        left = self.left
        costs = np.full(self._order.size, np.nan)
        costs[left] = self._partial[:, : left.size].sum(axis=0)
        return costs[candidates]

    @property
    def left(self) -> Ints:
        """The features not selected, in the order in which the state has them."""
        return self._order[: self._order.size - len(self.selected)]

    def criterion(self) -> float:
        """Return the criterion of the present selection."""
        return float(self.state[-1].sum())

    def weights(self) -> Floats:
        """Return RankRLS's weights with the present selection, learned from all queries, shape (n,)."""
        return self._coef.copy()

    def select(self, feature: int) -> None:
        """Add a feature to the selection."""
        last = self._order.size - len(self.selected) - 1
        place = int(np.flatnonzero(self._order[: last + 1] == feature)[0])
        row = self._rows.row(feature, self.each)
        self.each(lambda first, end: self._select(place, row, first, end))
        self._order[place], self._order[last] = self._order[last], feature
        self.selected = (*self.selected, feature)
        _kernels.extend(row.total, self._regularization, np.array(self.selected), *self._factor, self._coef)

    def each(self, work: Callable[[int, int], None]) -> None:
        """Call a function of (first, last) for ranges of the blocks of queries, on all threads."""
        if self._executor is None:
            work(*self._ranges[0])
            return
        waiting = [self._executor.submit(work, first, last) for first, last in self._ranges]
        for future in waiting:
            future.result()

    def _start(self, first: int, last: int) -> None:
        rows = self._rows
        known = rows.squares, rows.rights, rows.labels, rows.total
        _kernels.start(*known, self._regularization, first, last, self.state, self._partial)

    def _select(self, place: int, row: GramRow, first: int, last: int) -> None:
        step = len(self.selected)
        _kernels.select(
            place,
            self._order,
            step,
            *row,
            self._regularization,
            first,
            last,
            self.state,
            self.history,
            self._partial,
            np.empty((2 * step + 8, _kernels.BLOCK)),
        )


def _ranges(blocks: int, parts: int) -> tuple[tuple[int, int], ...]:
    """Cut the blocks of queries into ranges, one a thread."""
    cuts = [round(blocks * part / parts) for part in range(parts + 1)]
    return tuple((a, b) for a, b in pairwise(cuts) if b > a)
