"""Compiled inner loop of centring inside queries."""

from __future__ import annotations

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import kernel


@kernel
def centre_rows(values: Floats, ptr: Ints, out: Floats, mean: Floats) -> None:
    """Write ``values`` (m, n) minus the mean of each column inside its query to ``out``.

    ``mean`` (n,) is space to work in: an array that is made here takes long to compile.
    """
    n = values.shape[1]
    for q in range(ptr.shape[0] - 1):
        first, last = ptr[q], ptr[q + 1]
        for j in range(n):
            mean[j] = 0.0
        for i in range(first, last):
            for j in range(n):
                # Away from the query's first row, so that what is constant there comes out as exactly 0.
                out[i, j] = values[i, j] - values[first, j]
                mean[j] += out[i, j]
        for j in range(n):
            mean[j] /= last - first
        for i in range(first, last):
            for j in range(n):
                out[i, j] -= mean[j]
