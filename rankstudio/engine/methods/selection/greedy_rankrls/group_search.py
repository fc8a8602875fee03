"""Leave-query-out errors of groups of features: each is added, or taken out, as a whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.greedy_rankrls.floating_selection import FloatingSearch


class GroupSearch:
    """Leave-query-out criterion with a group added to a selection, or with one taken out of it.

    It is a search whose features are groups: what is selected, the candidates and the criteria are those of
    groups, by their position; the weights are those of the features.

    Parameters
    ----------
    search : FloatingSearch
        Of features, with nothing selected.
    groups : ColumnGroups

    Notes
    -----
    The criterion of a selection with a group is the one of the union, exactly: the columns of the group are
    selected one after another, and taken back. With t features selected and Q queries, a group of b columns
    costs O(b Q (t + b)²) besides the products of its columns; features by themselves are compared at once, as
    without groups.
    """

    def __init__(self, search: FloatingSearch, groups: ColumnGroups) -> None:
        self._search, self._groups = search, groups
        self.selected: tuple[int, ...] = ()
        varying = groups.of_column[search.informative]
        self.informative = np.isin(np.arange(len(groups.groups)), varying)

    def costs(self, candidates: Ints) -> Floats:
        """Return what the criterion would be with each candidate added, shape (c,)."""
        groups = [self._groups.groups[candidate] for candidate in candidates]
        alone = np.array([len(group) == 1 for group in groups], dtype=np.bool_)
        costs = np.empty(candidates.size)
        if alone.any():
            costs[alone] = self._search.costs(self._groups.representatives[candidates[alone]])
        joint = np.flatnonzero(~alone).tolist()
        for place in joint:
            costs[place] = self._criterion_of((*self.selected, int(candidates[place])))
        if joint:
            self.move_to(self.selected)
        return costs

    def removals(self) -> Floats:
        """Return what the criterion would be without each of the selected groups, shape (t,)."""
        selected = self.selected
        # From the last to the first: what stands before the group stays where it is.
        costs = [
            self._criterion_of(selected[:place] + selected[place + 1 :])
            for place in reversed(range(len(selected)))
        ]
        self.move_to(selected)
        return np.array(costs[::-1])

    def criterion(self) -> float:
        """Return the criterion of the present selection."""
        return self._search.criterion()

    def select(self, feature: int) -> None:
        """Add a group."""
        self.move_to((*self.selected, feature))

    def move_to(self, selected: Sequence[int]) -> None:
        """Make another selection the present one."""
        self.selected = tuple(selected)
        self._search.move_to(self._groups.columns(selected))

    def weights(self) -> Floats:
        """Return the weights of the features, shape (n,)."""
        return self._search.weights()

    def _criterion_of(self, selected: tuple[int, ...]) -> float:
        self._search.move_to(self._groups.columns(selected))
        return self._search.criterion()
