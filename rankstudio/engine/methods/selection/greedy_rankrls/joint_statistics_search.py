"""Leave-query-out errors of all groups that could be added, from per-query statistics."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.greedy_rankrls import _joint_statistics_kernel as kernels
from rankstudio.engine.methods.selection.greedy_rankrls.gram_rows import GramRows
from rankstudio.engine.methods.selection.greedy_rankrls.statistics_search import LeaveQueryOutSearch


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
            kernels.costs(*lists, self._search.state, self._joint, self._products, *space, partial)

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
            kernels.follow(t, *lists, self._joint, self._products, space)

        self._search.each(work)

    def _places(self) -> Ints:
        """Return where the features of groups stand among those left, -1 for selected ones."""
        left = self._search.left
        places = np.full(self._groups.of_column.size, -1, dtype=np.int64)
        places[left] = np.arange(left.size)
        return places[self._members]
