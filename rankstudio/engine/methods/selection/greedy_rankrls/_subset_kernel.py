"""Compiled loops that copy the Gram matrices of some queries, or only the entries that a path reads."""

from __future__ import annotations

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import kernel


@kernel
def gather_row(
    gram: Floats, queries: Ints, row: int, out: Floats, total: Floats
) -> None:
    """Copy one row of the matrices of some queries, in ascending order, and sum it in ``total`` (n, n).

    ``gram`` and ``out`` are of shape (blocks, n, n, BLOCK), with a Gram matrix per
    query on the first and last axes; ``queries`` are the numbers of those to copy. The
    entries of this row that pad the last block of ``out`` become 0; other rows are
    unchanged. Sums are taken in each block of ``out`` and then over its blocks, so that
    they equal those of data with these queries alone.
    """
    n = gram.shape[1]
    width = gram.shape[3]
    total[row] = 0.0
    for k in range(out.shape[0]):
        first = k * width
        count = min(width, queries.shape[0] - first)
        # The entries of the block's queries, and their sum.
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
    """Copy the diagonals of some queries' Gram matrices to ``out`` (blocks, n, BLOCK).

    ``gram`` has shape (blocks, n, n, BLOCK), with query q at [q // BLOCK, :, :, q %
    BLOCK], and ``queries`` are the numbers of those to copy. Also add their diagonals
    to that of ``total`` (n, n).
    """
    n = gram.shape[1]
    width = gram.shape[3]
    for k in range(out.shape[0]):
        first = k * width
        count = min(width, queries.shape[0] - first)
        # The entries of the block's queries, their sum, and 0 for the queries that pad
        # the block.
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
