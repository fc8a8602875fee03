"""Compiled inner loops of kernel functions: one value for each pair of documents.

A value depends on its two documents alone, and is the same with the two exchanged, to the last bit.
"""

from __future__ import annotations

from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.jit import reordered


@reordered
def squared_distances(A: Floats, B: Floats, first: int, last: int, out: Floats) -> None:
    """Fill rows first … last - 1 of out (a, b) with ||A_i - B_j||²."""
    for i in range(first, last):
        for j in range(B.shape[0]):
            total = 0.0
            for k in range(A.shape[1]):
                difference = A[i, k] - B[j, k]
                total += difference * difference
            out[i, j] = total


@reordered
def inner_products(A: Floats, B: Floats, first: int, last: int, out: Floats) -> None:
    """Fill rows first … last - 1 of out (a, b) with A_i'B_j."""
    for i in range(first, last):
        for j in range(B.shape[0]):
            total = 0.0
            for k in range(A.shape[1]):
                total += A[i, k] * B[j, k]
            out[i, j] = total
