"""Compiled inner loops over sparse columns, whose entries come query by query."""

from __future__ import annotations

from rankstudio.engine.arrays import Floats, Indices, Ints
from rankstudio.engine.support.jit import fused, kernel


@kernel
def shift_columns(
    values: Floats, rows: Indices, starts: Indices, query: Ints, ptr: Ints
) -> None:
    """Shift columns of a sparse matrix so that those constant inside a query become 0.

    Where all documents of a query have an entry in a column, the first of them
    is subtracted from all. The shift does not change the column centred inside
    queries. ``values`` change in place: column j has the entries
    ``starts[j]:starts[j + 1]``, in the rows ``rows``, which ascend. ``query``
    (m,) is the query of each row, and query q has the rows ``ptr[q]:ptr[q +
    1]``.
    """
    for j in range(starts.shape[0] - 1):
        first = starts[j]
        while first < starts[j + 1]:
            # The entries first … last - 1 are those of one query.
            q = query[rows[first]]
            last = first
            while last < starts[j + 1] and rows[last] < ptr[q + 1]:
                last += 1
            # There is an entry for each document of the query.
            if last - first == ptr[q + 1] - ptr[q]:
                value = values[first]
                for p in range(first, last):
                    values[p] -= value
            first = last


@kernel
def centred_squares(
    values: Floats, rows: Indices, starts: Indices, query: Ints, ptr: Ints, out: Floats
) -> None:
    """Write the sum of the squares of each column, centred inside queries, to ``out``.

    ``out`` has shape (n,). Column j of the sparse matrix has the entries
    ``starts[j]:starts[j + 1]`` of ``values``, in the rows ``rows``, which ascend.
    ``query`` (m,) is the query of each row, and query q has the rows ``ptr[q]:ptr[q +
    1]``.
    """
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
    """Add X^'X^ v of the queries first … last - 1 to ``out`` (n,).

    X^ is the sparse matrix X (m, n), centred inside queries, and v is
    ``vector`` (n,). The scores Xv of a query are centred before X' is applied:
    X itself is never centred. Row i of X has the entries ``starts[i]:starts[i +
    1]`` of ``values`` in ``columns``; query q has the rows ``ptr[q]:ptr[q +
    1]``. ``scores`` (m,) is scratch space.
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
