"""Groups of features that a selector selects as a whole, in one step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self

import numpy as np

from rankstudio.engine.arrays import Floats, Ints, unwritable
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.steps import Step

Columns = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ColumnGroups:
    """Groups of n features; an ungrouped feature is a group by itself.

    Attributes
    ----------
    groups : tuple of tuple of int
        Columns of each of the g groups, ascending; groups are ordered
        by their first columns.
    of_column : ndarray of shape (n,)
        Position of each column's group.

    Examples
    --------
    >>> from rankstudio.api import ColumnGroups
    >>> ColumnGroups.of(4, [(0, 2)]).groups
    ((0, 2), (1,), (3,))
    """

    groups: tuple[Columns, ...]
    of_column: Ints

    @classmethod
    def of(cls, n: int, groups: Sequence[Sequence[int]]) -> Self:
        """Return these groups of n features, with each ungrouped feature as a group by itself.

        Each item of ``groups`` has the 0-based columns of one group.

        Raises
        ------
        ParameterError
            For an empty group, or an invalid or repeated column.
        """
        if not groups:
            return cls(*_single_groups(n))
        sorted_groups = [
            tuple(sorted(int(column) for column in group)) for group in groups
        ]
        # A column may be in one group only.
        columns = [column for group in sorted_groups for column in group]
        has_empty_group = not all(sorted_groups)
        has_repeated_column = len(set(columns)) < len(columns)
        if (
            has_empty_group
            or has_repeated_column
            or any(not 0 <= column < n for column in columns)
        ):
            expected = f"nonempty lists of distinct columns from 0 to {n - 1}"
            raise ParameterError(
                "groups", [list(group) for group in sorted_groups], expected
            )
        # Columns without a group become groups of one; all groups are
        # in order of their first columns.
        ungrouped = sorted(set(range(n)) - set(columns))
        all_groups = tuple(
            sorted([*sorted_groups, *((column,) for column in ungrouped)])
        )
        # The reverse: the position of each column's group.
        of_column = np.empty(n, dtype=np.int64)
        for position, group in enumerate(all_groups):
            of_column[list(group)] = position
        return cls(all_groups, of_column)

    @property
    def trivial(self) -> bool:
        """Whether each feature is a group by itself."""
        return len(self.groups) == self.of_column.size

    @property
    def joint(self) -> tuple[Columns, ...]:
        """Groups with several columns."""
        return tuple(group for group in self.groups if len(group) > 1)

    @property
    def representatives(self) -> Ints:
        """First column of each group, shape (g,)."""
        if self.trivial:
            return self.of_column  # each column is its own group
        return np.array([group[0] for group in self.groups], dtype=np.int64)

    def containing(self, columns: Iterable[int]) -> Columns:
        """Return the positions of the groups that contain some columns, each once, in the columns' order."""
        return tuple(dict.fromkeys(int(self.of_column[column]) for column in columns))

    def columns(self, positions: Iterable[int]) -> Columns:
        """Return the columns of some groups, group by group."""
        return tuple(
            column for position in positions for column in self.groups[position]
        )

    def ends(self, columns: Ints) -> list[int]:
        """Return the number of columns up to the end of each group.

        ``columns`` are listed group by group, in whole groups.
        """
        positions = self.of_column[columns]
        return [
            *(np.flatnonzero(positions[1:] != positions[:-1]) + 1).tolist(),
            columns.size,
        ]

    def sums(self, values: Floats) -> Floats:
        """Return the sum of the values of each group's columns, shape (g,)."""
        return np.asarray(
            np.bincount(self.of_column, values, len(self.groups)), dtype=np.float64
        )

    def greatest(self, n_groups: int) -> int:
        """Return the number of columns of the ``n_groups`` largest groups."""
        return sum(sorted(map(len, self.groups), reverse=True)[:n_groups])

    def by_column(self, step: Step) -> Step:
        """Convert a step that selects groups, by their positions, into a step that selects features.

        The candidate score of a feature is that of its group. The
        weights of ``step`` are those of the features already. Only if
        no group is selected do they have a number per group, and are
        replaced by zeros.
        """
        # Candidates of size 0 mean a step that compared nothing.
        candidates = (
            step.candidates[self.of_column] if step.candidates.size else step.candidates
        )
        coef = step.coef if step.selected else np.zeros(self.of_column.size)
        return replace(
            step, selected=self.columns(step.selected), candidates=candidates, coef=coef
        )


@lru_cache(maxsize=4)
def _single_groups(n: int) -> tuple[tuple[Columns, ...], Ints]:
    """Return a group for each of n features, and the position of each feature's group, (n,).

    The result is cached, because many plans need it.
    """
    return tuple((column,) for column in range(n)), unwritable(np.arange(n))
