"""Compiled inner loop over centred documents, for a row of the Gram matrix of each query."""

from __future__ import annotations

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import fused


@fused
def products(
    X: Floats, values: Floats, column: int, ptr: Ints, first: int, last: int, sums: Floats, out: Floats
) -> None:
    """Write the products of a column of ``values`` (m, …) with each of X (m, n), query by query.

    ``ptr`` says where queries start. ``out`` (blocks, 1, n, width) has those of a block side by side on its
    last axis, 0 where there is none; blocks first … last - 1 are written. ``sums`` (n,) is space to work in:
    an array that is made here takes long to compile. Four documents at a time: what is summed is then read
    and written a fourth as often.
    """
    n, width = X.shape[1], out.shape[3]
    for k in range(first, last):
        for i in range(width):
            q = k * width + i
            for j in range(n):
                sums[j] = 0.0
            if q + 1 < ptr.shape[0]:
                d, end = ptr[q], ptr[q + 1]
                while d + 4 <= end:
                    v0, v1 = values[d, column], values[d + 1, column]
                    v2, v3 = values[d + 2, column], values[d + 3, column]
                    for j in range(n):
                        sums[j] += v0 * X[d, j] + v1 * X[d + 1, j] + v2 * X[d + 2, j] + v3 * X[d + 3, j]
                    d += 4
                while d < end:
                    v0 = values[d, column]
                    for j in range(n):
                        sums[j] += v0 * X[d, j]
                    d += 1
            for j in range(n):
                out[k, 0, j, i] = sums[j]
