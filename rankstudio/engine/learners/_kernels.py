"""Compiled inner loops of RankRLS's leave-query-out cross-validation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.jit import fused

Floats = NDArray[np.float64]


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

    Solves (T - G_q + λI) w = (T - G_q)[:, y] by LDL' without square roots, the upper triangle by rows so
    that the innermost loop runs over contiguous memory.
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
        for i in range(n):
            # Pivots of a positive semidefinite matrix plus λI are at least λ, up to rounding.
            left[i, i] = max(left[i, i], regularization)
            inverse = 1.0 / left[i, i]
            for r in range(i + 1, n):
                factor = left[i, r] * inverse
                if factor != 0.0:
                    right[r] -= factor * right[i]
                    for j in range(r, n):
                        left[r, j] -= factor * left[i, j]
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
