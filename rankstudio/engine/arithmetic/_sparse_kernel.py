"""Compiled inner loops over sparse columns, whose entries come query by query."""

from __future__ import annotations

from rankstudio.engine.arrays import Floats, Indices, Ints
from rankstudio.engine.support.jit import fused, kernel


@kernel
def shift_columns(
    values: Floats, rows: Indices, starts: Indices, query: Ints, ptr: Ints
) -> None:
    """Shift each column, in each query where all documents have an entry, by the first of these entries.

    The values change in place. A column that is constant inside a query becomes exactly
    0 there; the shift does not change the centred column.
    """
    for j in range(starts.shape[0] - 1):
        first = starts[j]
        while first < starts[j + 1]:
            q = query[rows[first]]
            last = first
            while last < starts[j + 1] and rows[last] < ptr[q + 1]:
                last += 1
            # an entry for each document of the query
            if last - first == ptr[q + 1] - ptr[q]:
                value = values[first]
                for p in range(first, last):
                    values[p] -= value
            first = last


@kernel
def centred_squares(
    values: Floats, rows: Indices, starts: Indices, query: Ints, ptr: Ints, out: Floats
) -> None:
    """Write the sum of each column's squares, centred inside queries, to ``out`` (n,)."""
    for j in range(starts.shape[0] - 1):
        out[j] = 0.0
        first = starts[j]
        while first < starts[j + 1]:
            q = query[rows[first]]
            size = ptr[q + 1] - ptr[q]
            last = first
            mean = 0.0
            while last < starts[j + 1] and rows[last] < ptr[q + 1]:
                mean += values[last]
                last += 1
            mean /= size
            # A document without an entry has the value 0, which is -mean after
            # centring.
            square = (size - (last - first)) * mean * mean
            for p in range(first, last):
                square += (values[p] - mean) ** 2
            out[j] += square
            first = last


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

    The scores Xv of a query are centred before X' is applied: X itself is never
    centred. ``scores`` (m,) is scratch space.
    """
    for q in range(first, last):
        # The scores of the query's documents, and their mean.
        total = 0.0
        for i in range(ptr[q], ptr[q + 1]):
            score = 0.0
            for p in range(starts[i], starts[i + 1]):
                score += values[p] * vector[columns[p]]
            scores[i] = score
            total += score
        mean = total / (ptr[q + 1] - ptr[q])
        # Centred scores times the entries of each document.
        for i in range(ptr[q], ptr[q + 1]):
            centred = scores[i] - mean
            for p in range(starts[i], starts[i + 1]):
                out[columns[p]] += values[p] * centred
