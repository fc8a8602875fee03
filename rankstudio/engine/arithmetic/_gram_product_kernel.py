"""Compiled inner loop of products with X^'X^ for sparse X, one pass over its rows."""

from __future__ import annotations

from rankstudio.engine.arrays import Floats, Indices, Ints
from rankstudio.engine.support.jit import fused


@fused
def add_products(
    values: Floats,
    columns: Indices,
    starts: Indices,
    ptr: Ints,
    vector: Floats,
    first: int,
    last: int,
    scores: Floats,
    out: Floats,
) -> None:
    """Add X^_q'X^_q v of the queries q from first to last - 1 to ``out`` (n,).

    The scores Xv of a query are centred before X' is applied: X itself is never centred. ``scores`` (m,) is
    space to work in.
    """
    for q in range(first, last):
        total = 0.0
        for i in range(ptr[q], ptr[q + 1]):
            score = 0.0
            for p in range(starts[i], starts[i + 1]):
                score += values[p] * vector[columns[p]]
            scores[i] = score
            total += score
        mean = total / (ptr[q + 1] - ptr[q])
        for i in range(ptr[q], ptr[q + 1]):
            centred = scores[i] - mean
            for p in range(starts[i], starts[i + 1]):
                out[columns[p]] += values[p] * centred
