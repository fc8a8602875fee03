"""Compiled copies of the Gram matrices of some queries, or of what a path reads of them."""

from __future__ import annotations

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import kernel


@kernel
def gather_row(gram: Floats, queries: Ints, row: int, out: Floats, total: Floats) -> None:
    """Copy one row of the matrices of some queries, in ascending order, and sum it in ``total`` (n, n).

    ``gram`` and ``out`` are of shape (blocks, n, n, BLOCK). In the row, what ``out`` has beyond the queries
    becomes 0; what else is there stays as it is. The sums are those that these queries alone would have:
    first in each block, then over the blocks.
    """
    n = gram.shape[1]
    width = gram.shape[3]
    total[row] = 0.0
    for k in range(out.shape[0]):
        first = k * width
        count = min(width, queries.shape[0] - first)
        for j in range(n):
            summed = 0.0
            for i in range(count):
                query = queries[first + i]
                entry = gram[query // width, row, j, query % width]
                out[k, row, j, i] = entry
                summed += entry
            for i in range(count, width):
                out[k, row, j, i] = 0.0
            total[row, j] += summed
    for j in range(n):
        total[j, row] = total[row, j]


@kernel
def gather_squares(gram: Floats, queries: Ints, out: Floats, total: Floats) -> None:
    """Copy the diagonals of these matrices to ``out`` (blocks, n, BLOCK), and add them to ``total``."""
    n = gram.shape[1]
    width = gram.shape[3]
    for k in range(out.shape[0]):
        first = k * width
        count = min(width, queries.shape[0] - first)
        for j in range(n):
            summed = 0.0
            for i in range(count):
                query = queries[first + i]
                entry = gram[query // width, j, j, query % width]
                out[k, j, i] = entry
                summed += entry
            for i in range(count, width):
                out[k, j, i] = 0.0
            total[j, j] += summed
