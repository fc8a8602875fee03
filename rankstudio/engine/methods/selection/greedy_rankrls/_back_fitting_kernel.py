"""Compiled inner loops of back-fitting: one new weight, and all others as they are."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls._column_products_kernel import Columns
from rankstudio.engine.methods.selection.greedy_rankrls._column_search_kernel import State
from rankstudio.engine.support.jit import fused


@fused
def held_out_models(t: int, state: State, columns: Columns, models: Floats, residual: Floats) -> None:
    """Write the weights w_q of the t selected features without each query, and y^_q - X^_q w_q."""
    inverse, along = state[0], state[2]
    basis, query, width = columns[4], columns[5], along.shape[2]
    for q in range(models.shape[0]):
        k, i = q // width, q % width
        for a in range(t):
            models[q, a] = 0.0
            for c in range(a, t):
                models[q, a] += inverse[k, c, a, i] * along[k, c, i]
    for row in range(residual.shape[0]):
        residual[row] = basis[row, 0]
        for a in range(t):
            residual[row] -= basis[row, a + 1] * models[query[row], a]


@fused
def changes_by_back_fitting(
    t: int,
    chosen: Ints,
    columns: Columns,
    regularization: float,
    models: Floats,
    residual: Floats,
    out: Floats,
) -> None:
    """Write how the criterion changes with each chosen candidate: only queries count in which it has entries.

    The new weight without query q is β = x'(y^ - X^_A w_q) / (x'x + λ) over the documents of the others.
    """
    values, rows, starts, squares, basis, query, ptr = columns
    total = np.empty(t + 1)
    for c in range(chosen.shape[0]):
        j = chosen[c]
        total[:] = 0.0
        for place in range(starts[j], starts[j + 1]):
            for a in range(t + 1):
                total[a] += basis[rows[place], a] * values[place]
        change = 0.0
        place = starts[j]
        while place < starts[j + 1]:
            q = query[rows[place]]
            first, mean, product = place, 0.0, 0.0
            while place < starts[j + 1] and rows[place] < ptr[q + 1]:
                mean += values[place]
                product += values[place] * residual[rows[place]]
                place += 1
            size = ptr[q + 1] - ptr[q]
            mean /= size
            square = (size - (place - first)) * mean * mean
            for entry in range(first, place):
                square += (values[entry] - mean) ** 2
            right = total[0] - product
            for a in range(t):
                right -= total[a + 1] * models[q, a]
            weight = right / (max(squares[j] - square, 0.0) + regularization)
            change += weight * (weight * square - 2.0 * product)
        out[c] = change
