"""Measures of a run over two of its grids.

Each cell has the best value over all other parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations as pairs_of
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.experiment.plan.combinations import Axis

Pair = tuple[int, int]
"""Positions of two axes of a plan: that of the rows, and that of the columns."""

Curve = tuple[Ints, Floats]
"""The x-values of the models of a path, and their measures."""


@dataclass(frozen=True, eq=False)
class GridMap:
    """Map of a measure by the values of two parameters, the grids.

    Attributes
    ----------
    rows, columns : Axis
        Parameter of the rows, and parameter of the columns.
    values : ndarray of shape (R, C)
        Best value of the measure with the values of a row and a column;
        NaN for none.
    combinations, lengths : ndarray of shape (R, C)
        Position of the combination with the best value, and its x-value
        on the path; -1 and 0 for none.
    best : tuple of (int, int), optional
        Row and column of the best value; ties go to the earlier
        combination, then to the earlier model on the path.
    """

    rows: Axis
    columns: Axis
    values: Floats
    combinations: Ints
    lengths: Ints
    best: tuple[int, int] | None

    def cell(self, values: Sequence[Any]) -> tuple[int, int] | None:
        """Return the cell of the map for two values: its row and its column.

        `values` has the values of the rows' and of the columns'
        parameter. The result is None for values that are not on the
        grids.
        """
        row, column = values
        if row not in self.rows.values or column not in self.columns.values:
            return None
        return self.rows.values.index(row), self.columns.values.index(column)


def grid_pairs(axes: Sequence[Axis]) -> tuple[Pair, ...]:
    """Return the pairs of a plan's grids for which a map can be drawn.

    A grid is a parameter with several numbers. A pair has the positions
    in `axes` of the grid for the rows and of that for the columns. The
    rows show the later grid, because the first one, usually λ, has more
    values. Pairs of the same method come before pairs of a method and
    its final ranker.
    """
    grids = [
        number
        for number, axis in enumerate(axes)
        if axis.is_grid and len(axis.values) > 1
    ]
    pairs = [(later, first) for first, later in pairs_of(grids, 2)]

    def has_two_methods(pair: Pair) -> bool:
        """Return whether the grids are of two methods. Uses `axes` of the function around it."""
        row, column = pair
        return axes[row].ranker != axes[column].ranker

    # False comes before True.
    return tuple(sorted(pairs, key=has_two_methods))


def grid_map(
    axes: Sequence[Axis],
    combinations: Sequence[tuple[Any, ...]],
    pair: Pair,
    measured: Callable[[int], Curve],
    higher_is_better: bool = True,
) -> GridMap:
    """Return a map of the best values of a measure by the values of two parameters.

    Parameters
    ----------
    axes : sequence of Axis
        Axes of the plan: its parameters with several values.
    combinations : sequence of tuple
        Values on the axes of each combination of parameters' values, in
        the order of the plan.
    pair : pair of int
        A pair of :func:`grid_pairs`.
    measured : callable
        Returns the x-values and measures of the models of a
        combination, by its position; NaN for undefined measures.
    higher_is_better : bool
        Whether a cell shows the greatest of several values, or the least.
    """
    # Cells for the values of both grids: the measure, the position of
    # the combination that has it, and the x-value of its model. -1 is a
    # cell without a combination.
    row_axis, column_axis = pair
    rows = axes[row_axis]
    columns = axes[column_axis]
    shape = len(rows.values), len(columns.values)
    values = np.full(shape, np.nan)
    positions = np.full(shape, -1)
    lengths = np.zeros(shape, dtype=np.int64)
    sign = 1.0 if higher_is_better else -1.0
    greatest = -np.inf
    best = None

    # The best model of each combination.
    for position, combination in enumerate(combinations):
        x, scores = measured(position)
        # With this sign, larger is better; an undefined value is never
        # the best.
        gains = np.where(np.isnan(scores), -np.inf, sign * scores)
        if not gains.size or gains.max() == -np.inf:
            continue
        # Combinations that differ in other parameters share a cell; the
        # best of them is shown.
        cell = (
            rows.values.index(combination[row_axis]),
            columns.values.index(combination[column_axis]),
        )
        index = int(gains.argmax())
        if positions[cell] < 0 or gains[index] > sign * values[cell]:
            values[cell] = scores[index]
            positions[cell] = position
            lengths[cell] = x[index]
        # The best cell of all.
        if gains[index] > greatest:
            greatest = float(gains[index])
            best = cell
    return GridMap(
        rows=rows,
        columns=columns,
        values=values,
        combinations=positions,
        lengths=lengths,
        best=best,
    )
