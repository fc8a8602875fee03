"""The greedy path from per-query statistics: documents count only for rows that no λ has asked for yet."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from itertools import pairwise

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.greedy_rankrls import _joint_statistics_kernel as _joint_kernels
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


class JointStatisticsSearch:
    """Leave-query-out criterion of every group that could be added, all of its features together.

    It is a search whose features are groups, as :class:`GroupSearch`, that takes none out again.

    Parameters
    ----------
    search : LeaveQueryOutSearch
        Of features, with nothing selected.
    rows : GramRows
        Those it works on.
    regularization : float
        λ > 0.
    groups : ColumnGroups

    Notes
    -----
    A comparison costs O(Q b³) for a group of b features, whatever is selected. To select a feature costs
    O(Q (nt + p)) for p pairs of features of one group, which take O(Qp) memory.
    """

    def __init__(
        self, search: LeaveQueryOutSearch, rows: GramRows, regularization: float, groups: ColumnGroups
    ) -> None:
        self._search, self._groups, self._regularization = search, groups, regularization
        self.selected: tuple[int, ...] = ()
        varying = groups.of_column[search.informative]
        self.informative = np.isin(np.arange(len(groups.groups)), varying)
        self._several = np.array([len(group) > 1 for group in groups.groups], dtype=np.bool_)
        joint = [group for group in groups.groups if len(group) > 1]
        sizes = np.array([len(group) for group in joint], dtype=np.int64)
        self._members = np.array([column for group in joint for column in group], dtype=np.int64)
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._pairs = np.concatenate([[0], np.cumsum(sizes * (sizes - 1) // 2)]).astype(np.int64)
        self._number = np.cumsum(self._several) - 1  # of each group among those of several features
        blocks, _, width = rows.squares.shape
        self._joint = np.empty((blocks, int(self._pairs[-1]), width))
        self._products = np.empty_like(self._joint)
        pair = 0
        for group in joint:
            for place, column in enumerate(group):
                others = list(group[:place])
                row = rows.row(column, search.each)
                ends = slice(pair, pair + place)
                self._products[:, ends] = row.gram[:, row.place, others]
                self._joint[:, ends] = row.total[others][None, :, None] - self._products[:, ends]
                pair += place
        self._largest = int(sizes.max(initial=1))

    def costs(self, candidates: Ints) -> Floats:
        """Return what the criterion would be with each candidate added, shape (c,)."""
        several, found = self._several[candidates], np.empty(candidates.size)
        found[~several] = self._search.costs(self._groups.representatives[candidates[~several]])
        wanted = self._number[candidates[several]]
        blocks, _, width = self._joint.shape
        partial, places, s = np.empty((blocks, wanted.size)), self._places(), self._largest

        def work(first: int, last: int) -> None:
            lists = wanted, places, self._starts, self._pairs, self._regularization, first, last
            space = np.empty((s, s, width)), np.empty((s, width))
            _joint_kernels.costs(*lists, self._search.state, self._joint, self._products, *space, partial)

        self._search.each(work)
        found[several] = partial.sum(axis=0)
        return found

    def criterion(self) -> float:
        """Return the criterion of the present selection."""
        return self._search.criterion()

    def select(self, feature: int) -> None:
        """Add a group."""
        for column in self._groups.groups[feature]:
            self._search.select(column)
            self._follow()
        self.selected = (*self.selected, feature)

    def weights(self) -> Floats:
        """Return the weights of the features, shape (n,)."""
        return self._search.weights()

    def _follow(self) -> None:
        t, places, width = len(self._search.selected) - 1, self._places(), self._joint.shape[2]

        def work(first: int, last: int) -> None:
            lists = places, self._starts, self._pairs, first, last, self._search.history
            space = np.empty((places.size, width))
            _joint_kernels.follow(t, *lists, self._joint, self._products, space)

        self._search.each(work)

    def _places(self) -> Ints:
        """Return where the features of groups stand among those left, -1 for selected ones."""
        left = self._search.left
        places = np.full(self._groups.of_column.size, -1, dtype=np.int64)
        places[left] = np.arange(left.size)
        return places[self._members]


def _ranges(blocks: int, parts: int) -> tuple[tuple[int, int], ...]:
    """Cut the blocks of queries into ranges, one a thread."""
    cuts = [round(blocks * part / parts) for part in range(parts + 1)]
    return tuple((a, b) for a, b in pairwise(cuts) if b > a)
