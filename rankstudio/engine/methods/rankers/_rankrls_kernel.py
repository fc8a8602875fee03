"""Compiled inner loops of RankRLS's leave-query-out cross-validation."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.jit import fused, fused_inlined


@fused_inlined
def _eliminate(left: Floats, right: Floats, smallest: float) -> None:
    """Turn the upper triangle of ``left`` into DL', and ``right`` with it, four pivots at a time.

    By rows, so that the innermost loop runs over contiguous memory, and by fours, so that each row is read
    and written a quarter as often.
    """
    n = left.shape[0]
    for top in range(0, n, 4):
        below = min(top + 4, n)
        for i in range(top, below):
            # Pivots of a positive semidefinite matrix plus λI are at least λ, up to rounding.
            left[i, i] = max(left[i, i], smallest)
            for r in range(i + 1, below):
                factor = left[i, r] / left[i, i]
                right[r] -= factor * right[i]
                for j in range(r, n):
                    left[r, j] -= factor * left[i, j]
        for r in range(below, n):
            a, b = left[top, r] / left[top, top], left[top + 1, r] / left[top + 1, top + 1]
            c, d = left[top + 2, r] / left[top + 2, top + 2], left[top + 3, r] / left[top + 3, top + 3]
            right[r] -= a * right[top] + b * right[top + 1] + c * right[top + 2] + d * right[top + 3]
            for j in range(r, n):
                left[r, j] -= (
                    a * left[top, j] + b * left[top + 1, j] + c * left[top + 2, j] + d * left[top + 3, j]
                )


@fused
def leave_out(
    gram: Floats,
    total: Floats,
    regularization: float,
    first: int,
    last: int,
    weights: Floats,
    errors: Floats,
) -> None:
    """Learn without each of the queries first … last - 1, and measure the squared error on it.

    Solves (T - G_q + λI) w = (T - G_q)[:, y] by LDL' without square roots.
    """
    n = total.shape[0] - 1
    left = np.empty((n, n))
    right = np.empty(n)
    for q in range(first, last):
        for i in range(n):
            right[i] = total[i, n] - gram[q, i, n]
            for j in range(i, n):
                left[i, j] = total[i, j] - gram[q, i, j]
            left[i, i] += regularization
        _eliminate(left, right, regularization)
        for i in range(n - 1, -1, -1):
            value = right[i]
            for j in range(i + 1, n):
                value -= left[i, j] * weights[q, j]
            weights[q, i] = value / left[i, i]
        error = gram[q, n, n]
        for i in range(n):
            along = 0.0
            for j in range(n):
                along += gram[q, i, j] * weights[q, j]
            error += weights[q, i] * (along - 2.0 * gram[q, i, n])
        # The sum of squares is never negative; its expansion may be, by rounding.
        errors[q] = max(error, 0.0)
