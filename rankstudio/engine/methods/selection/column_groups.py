"""Groups of features: what a selector takes or leaves as a whole, in one step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.steps import Step

Columns = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ColumnGroups:
    """The groups among n features, a feature of none being a group by itself.

    Attributes
    ----------
    groups : tuple of tuple of int
        The columns of each of the g groups, ascending; the group whose first column is lowest comes first.
    of_column : ndarray of shape (n,)
        The position of each column's group.
    """

    groups: tuple[Columns, ...]
    of_column: Ints

    @classmethod
    def of(cls, n: int, groups: Sequence[Sequence[int]]) -> Self:
        """Complete some groups of n features with the features that are in none.

        Raises
        ------
        ParameterError
            For an empty group, a column that is not there, or one that stands twice.
        """
        given = [tuple(sorted(int(column) for column in group)) for group in groups]
        every = [column for group in given for column in group]
        if not all(given) or len(set(every)) < len(every) or any(not 0 <= column < n for column in every):
            expected = f"nonempty lists of distinct columns from 0 to {n - 1}"
            raise ParameterError("groups", [list(group) for group in given], expected)
        alone = sorted(set(range(n)) - set(every))
        all_groups = tuple(sorted([*given, *((column,) for column in alone)]))
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
        """The groups of several columns."""
        return tuple(group for group in self.groups if len(group) > 1)

    @property
    def representatives(self) -> Ints:
        """The first column of each group, shape (g,)."""
        return np.array([group[0] for group in self.groups], dtype=np.int64)

    def containing(self, columns: Iterable[int]) -> Columns:
        """Return the positions of the groups that have some columns, each once, in the order of these."""
        return tuple(dict.fromkeys(int(self.of_column[column]) for column in columns))

    def columns(self, positions: Iterable[int]) -> Columns:
        """Return the columns of some groups, one group after the other."""
        return tuple(column for position in positions for column in self.groups[position])

    def ends(self, columns: Ints) -> list[int]:
        """Return where each group ends in columns that stand group by group, counted from 1."""
        of = self.of_column[columns]
        return [*(np.flatnonzero(of[1:] != of[:-1]) + 1).tolist(), columns.size]

    def sums(self, values: Floats) -> Floats:
        """Return what the values of each group's columns add up to, shape (g,)."""
        return np.asarray(np.bincount(self.of_column, values, len(self.groups)), dtype=np.float64)

    def greatest(self, n_groups: int) -> int:
        """Return how many columns so many groups have at most."""
        return sum(sorted(map(len, self.groups), reverse=True)[:n_groups])

    def by_column(self, step: Step) -> Step:
        """Return a step of a search among groups as one of features; each has its group's candidate score."""
        candidates = step.candidates[self.of_column] if step.candidates.size else step.candidates
        coef = step.coef if step.selected else np.zeros(self.of_column.size)
        return replace(step, selected=self.columns(step.selected), candidates=candidates, coef=coef)
