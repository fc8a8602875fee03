"""Compiled products of a matrix that is read row by row, a range of rows at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.jit import reordered

Floats = NDArray[np.float64]


@reordered
def multiply(X: Floats, w: Floats, first: int, last: int, out: Floats) -> None:
    """Compute rows first … last - 1 of Xw."""
    for i in range(first, last):
        value = 0.0
        for j in range(w.size):
            value += X[i, j] * w[j]
        out[i] = value


@reordered
def weigh(X: Floats, weights: Floats, first: int, last: int, out: Floats) -> None:
    """Compute the sum of rows first … last - 1, each times its weight."""
    out[:] = 0.0
    whole = first + (last - first) // 4 * 4
    for i in range(first, whole, 4):
        a, b, c, d = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        for j in range(out.size):
            out[j] += a * X[i, j] + b * X[i + 1, j] + c * X[i + 2, j] + d * X[i + 3, j]
    for i in range(whole, last):
        for j in range(out.size):
            out[j] += weights[i] * X[i, j]


@reordered
def dot(a: Floats, b: Floats) -> float:
    """Compute a'b on this thread: BLAS would wake threads of its own for each of many short products."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total
