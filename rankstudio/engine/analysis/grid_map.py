"""What a run measured over two of its grids, the best of all else in each cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations as pairs_of
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.experiment.plan.combinations import Axis

Pair = tuple[int, int]
"""Positions of the axes of a plan that rows and columns are."""

Curve = tuple[Ints, Floats]
"""Places on the axis of a path, and what the models there measured."""


@dataclass(frozen=True, eq=False)
class GridMap:
    """A measure over two grids.

    Attributes
    ----------
    rows, columns : Axis
    values : ndarray of shape (R, C)
        The best of what was tried with a row's and a column's value; NaN for nothing yet.
    combinations, places : ndarray of shape (R, C)
        Position of the combination that it was measured with, and the place on its path; -1 and 0 for none.
    best : tuple of (int, int), optional
        Row and column of the best of all; of equal ones the earlier combination, then the earlier place.
    """

    rows: Axis
    columns: Axis
    values: Floats
    combinations: Ints
    places: Ints
    best: tuple[int, int] | None

    def cell(self, values: Sequence[Any]) -> tuple[int, int] | None:
        """Return the cell of a row's and a column's value; None for values between those of the grids."""
        row, column = values
        if row not in self.rows.values or column not in self.columns.values:
            return None
        return self.rows.values.index(row), self.columns.values.index(column)


def grid_pairs(axes: Sequence[Axis]) -> tuple[Pair, ...]:
    """Return the pairs of grids that a plan's values can be laid out by; those of one method come first.

    Rows are the later grid of a pair, as the first one, λ, has more values.
    """
    grids = [number for number, axis in enumerate(axes) if axis.is_grid and len(axis.values) > 1]
    found = [(later, first) for first, later in pairs_of(grids, 2)]
    return tuple(sorted(found, key=lambda pair: axes[pair[0]].ranker != axes[pair[1]].ranker))


def grid_map(
    axes: Sequence[Axis],
    combinations: Sequence[tuple[Any, ...]],
    pair: Pair,
    measured: Callable[[int], Curve],
    higher_is_better: bool = True,
) -> GridMap:
    """Lay what was measured out by two grids.

    Parameters
    ----------
    axes : sequence of Axis
        Of the plan.
    combinations : sequence of tuple
        The values on them, in the order of the plan.
    pair : pair of int
        As of :func:`grid_pairs`.
    measured : callable
        From the position of a combination to its models' places and measures, NaN where one is not defined.
    higher_is_better : bool
        Which of several values a cell has.
    """
    rows, columns = (axes[number] for number in pair)
    shape = len(rows.values), len(columns.values)
    values = np.full(shape, np.nan)
    positions, places = np.full(shape, -1), np.zeros(shape, dtype=np.int64)
    sign, greatest, best = 1.0 if higher_is_better else -1.0, -np.inf, None
    for position, one in enumerate(combinations):
        at, found = measured(position)
        gains = np.where(np.isnan(found), -np.inf, sign * found)
        if not gains.size or gains.max() == -np.inf:
            continue
        cell = rows.values.index(one[pair[0]]), columns.values.index(one[pair[1]])
        place = int(gains.argmax())
        if positions[cell] < 0 or gains[place] > sign * values[cell]:
            values[cell], positions[cell], places[cell] = found[place], position, at[place]
        if gains[place] > greatest:
            greatest, best = float(gains[place]), cell
    return GridMap(rows, columns, values, positions, places, best)
