"""Compiled copy of the Gram matrices of some queries."""

from __future__ import annotations

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import kernel


@kernel
def gather(gram: Floats, queries: Ints, out: Floats, total: Floats) -> None:
    """Copy the matrices of some queries, in ascending order, and add them to ``total`` (n, n).

    ``gram`` and ``out`` are of shape (blocks, n, n, BLOCK); what ``out`` has beyond the queries becomes 0.
    The sums are those that these queries alone would have: first in each block, then over the blocks.
    """
    n, width = gram.shape[1], gram.shape[3]
    for k in range(out.shape[0]):
        first = k * width
        count = min(width, queries.shape[0] - first)
        for a in range(n):
            for j in range(n):
                summed = 0.0
                for i in range(count):
                    query = queries[first + i]
                    entry = gram[query // width, a, j, query % width]
                    out[k, a, j, i] = entry
                    summed += entry
                for i in range(count, width):
                    out[k, a, j, i] = 0.0
                total[a, j] += summed
