"""Compiled inner loops over sparse columns, whose entries come query by query."""

from __future__ import annotations

from rankstudio.engine.arrays import Floats, Indices, Ints
from rankstudio.engine.support.jit import fused, kernel


@kernel
def shift_columns(
    values: Floats, rows: Indices, starts: Indices, query: Ints, ptr: Ints
) -> None:
    """Shift columns of a sparse matrix so that those constant inside a query become 0.

    Where all documents of a query have an entry in a column, the first
    document's entry is subtracted from all these entries. The shift
    does not change the column centred inside queries.

    Parameters
    ----------
    values, rows : ndarray of shape (entries,)
        The entries column by column, which change in place, and their
        rows, which ascend in each column.
    starts : ndarray of shape (n + 1,)
        Column j has the entries ``starts[j]:starts[j + 1]``.
    query : ndarray of shape (m,)
        Query of each row.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
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

    Parameters
    ----------
    values, rows : ndarray of shape (entries,)
        The entries of a sparse matrix column by column, and their rows,
        which ascend in each column.
    starts : ndarray of shape (n + 1,)
        Column j has the entries ``starts[j]:starts[j + 1]``.
    query : ndarray of shape (m,)
        Query of each row.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    out : ndarray of shape (n,)
        Receives the sum of each column.
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
            # A document without an entry has the value 0, which is
            # -mean after centring.
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
    """Add X^'X^ v of some queries to ``out``, for a sparse matrix X.

    X^ is X (m, n), centred inside queries. The scores Xv of a query are
    centred before X' is applied: X itself is never centred.

    Parameters
    ----------
    values, columns : ndarray of shape (entries,)
        The entries of X, row by row, and their columns.
    starts : ndarray of shape (m + 1,)
        Row i has the entries ``starts[i]:starts[i + 1]``.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    vector : ndarray of shape (n,)
        The vector v.
    first, last : int
        The queries are first … last - 1.
    scores : ndarray of shape (m,)
        Scratch space, which is overwritten.
    out : ndarray of shape (n,)
        Array to which the product is added.
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
