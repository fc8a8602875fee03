"""Compiled loops that copy the Gram matrices of some queries, or only the entries that a path reads."""

from __future__ import annotations

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import kernel


@kernel
def gather_row(
    gram: Floats, queries: Ints, row: int, out: Floats, total: Floats
) -> None:
    """Copy one ``row`` of the Gram matrices of some queries to ``out``, and their sum to ``total`` (n, n).

    ``gram`` and ``out`` have shape (blocks, n, n, BLOCK): query q is
    number q % BLOCK of block q // BLOCK. ``queries``, ascending, are
    the numbers of those to copy. In ``out``, 0 pads the last block. The
    sum is taken in each block of ``out`` and then over its blocks. So
    it has the same rounding as for data with only these queries. The
    sum is also written to the column of ``total``, a symmetric matrix.
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

    ``gram`` has shape (blocks, n, n, BLOCK), with query q at [q //
    BLOCK, :, :, q % BLOCK], and ``queries`` are the numbers of those to
    copy. Also add their diagonals to that of ``total`` (n, n).
    """
    n = gram.shape[1]
    width = gram.shape[3]
    for k in range(out.shape[0]):
        first = k * width
        count = min(width, queries.shape[0] - first)
        # The entries of the block's queries, their sum, and 0 for the
        # queries that pad the block.
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
