"""What filters count in sparse columns: their entries one by one, and all that is 0 at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rankstudio.engine.arithmetic.query_data import rows_of_queries
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData
from rankstudio.engine.arrays import Floats, Ints

_VALUES = 1 << 22  # scores that are measured at a time: 32 MB
_FEWER = 0.7  # of the documents, with which the rest of the queries is measured apart


class _Entries(NamedTuple):
    """Entries of some columns: the column of each, counted from the first, its row and its value."""

    column: Ints
    row: Ints
    value: Floats

    @classmethod
    def of(cls, data: SparseQueryData, columns: slice) -> _Entries:
        csc = data.X.csc
        starts = csc.indptr[columns.start : columns.stop + 1]
        some = slice(starts[0], starts[-1])
        column = np.repeat(np.arange(columns.stop - columns.start), np.diff(starts))
        return cls(column, csc.indices[some], csc.data[some])


def joint_counts(data: SparseQueryData, columns: slice, edges: Floats, number: Ints, n_labels: int) -> Floats:
    """Return the documents of each bin and label, of some features, shape (c, bins, labels).

    Parameters
    ----------
    data : SparseQueryData
    columns : slice
    edges : ndarray of shape (c, bins - 1)
        Upper edges of the bins, ascending; an edge that comes again begins no bin.
    number : ndarray of shape (m,)
        Number of each document's label.
    n_labels : int
    """
    found, n_bins = _Entries.of(data, columns), edges.shape[1] + 1
    bins, zero = np.zeros(found.value.size, dtype=np.int64), np.zeros(edges.shape[0], dtype=np.int64)
    for b in range(n_bins - 1):
        own = edges[:, b]
        new = np.ones(own.size, dtype=np.bool_) if b == 0 else own != edges[:, b - 1]
        bins += new[found.column] & (own[found.column] < found.value)
        zero += new & (own < 0.0)
    out = np.zeros((edges.shape[0], n_bins, n_labels))
    counts = np.bincount((found.column * n_bins + bins) * n_labels + number[found.row], minlength=out.size)
    out += counts.reshape(out.shape)
    out[np.arange(zero.size), zero] += np.bincount(number, minlength=n_labels) - out.sum(axis=1)
    return out


def measure_sums(
    data: SparseQueryData, columns: slice, measure: str, convention: str, signs: tuple[float, ...]
) -> tuple[Floats, Floats]:
    """Return the sums over queries of some features' measure, and how many have one, each (signs, c).

    Where a feature has no entry in a query, its documents tie: that is measured once. The others are
    measured side by side: one row of scores holds one feature in each query, not the same in all.

    Notes
    -----
    O(N log |q|) for the N documents of the queries in which the features have entries.
    """
    from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - numba, where it is needed

    found, width = _Entries.of(data, columns), columns.stop - columns.start
    ties = Evaluator(data.y, data.ptr, convention, [measure], grading=data.grading).per_query(
        np.zeros(data.y.size)
    )[measure]
    query = data.query[found.row]
    begins = np.ones(query.size, dtype=np.bool_)
    begins[1:] = (query[1:] != query[:-1]) | (found.column[1:] != found.column[:-1])
    column, own = found.column[begins], query[begins]
    # The place of each feature among those of the query.
    order = np.argsort(own, kind="stable")
    count = np.bincount(own, minlength=ties.size)
    place = np.empty(own.size, dtype=np.int64)
    place[order] = np.arange(own.size) - np.repeat(np.cumsum(count) - count, count)
    entry_place = place[np.cumsum(begins) - 1]
    entries, runs = (np.argsort(places, kind="stable") for places in (entry_place, place))
    places_of_entries, places_of_runs = entry_place[entries], place[runs]
    total, count_of = np.empty((2, len(signs), width))
    total[:], count_of[:] = np.nansum(ties), np.count_nonzero(~np.isnan(ties))
    for first, last, queries in _passes(np.diff(data.ptr), count):
        rows, ptr = rows_of_queries(data.ptr, queries)
        evaluator = Evaluator(data.y[rows], ptr, convention, [measure], grading=data.grading.taken(rows))
        of_row, of_query = np.empty(data.y.size, dtype=np.int64), np.empty(count.size, dtype=np.int64)
        of_row[rows], of_query[queries] = np.arange(rows.size), np.arange(queries.size)
        step = max(1, _VALUES // rows.size)
        for at in range(first, last, step):
            end = min(at + step, last)
            scores = np.zeros((end - at, rows.size))
            some = entries[slice(*np.searchsorted(places_of_entries, (at, end)))]
            scores[entry_place[some] - at, of_row[found.row[some]]] = found.value[some]
            some = runs[slice(*np.searchsorted(places_of_runs, (at, end)))]
            tied = ties[own[some]]
            for turn, sign in enumerate(signs):
                table = evaluator.per_query_many(sign * scores)[measure]
                value = table[place[some] - at, of_query[own[some]]]
                # τ is undefined where all documents tie, and defined where they do not.
                change = np.nan_to_num(value) - np.nan_to_num(tied)
                total[turn] += np.bincount(column[some], change, width)
                defined = np.isnan(tied).astype(np.float64) - np.isnan(value)
                count_of[turn] += np.bincount(column[some], defined, width)
    return total, count_of


def _passes(sizes: Ints, count: Ints) -> Iterator[tuple[int, int, Ints]]:
    """Yield first and last + 1 of places, and the queries that have features there.

    Parameters
    ----------
    sizes, count : ndarray of shape (Q,)
        Number of documents of each query, and of features with entries in it.
    """
    first = 0
    while (queries := np.flatnonzero(count > first)).size:
        ends, most = np.sort(count[queries]), _FEWER * sizes[queries].sum()
        left = np.cumsum(sizes[queries][np.argsort(count[queries], kind="stable")][::-1])[::-1]
        last = int(ends[np.count_nonzero(left >= most) - 1])
        yield first, last, queries
        first = last
