"""Counts and measures of sparse columns for filters.

Entries are processed one by one, and all zeros of a column at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rankstudio.engine.arithmetic.query_data import rows_of_queries
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.metrics.conventions import Convention
from rankstudio.engine.metrics.names import measure as find_measure

_VALUES = 1 << 22  # scores that are measured at a time: 32 MB
# A pass ends where the queries with further runs have less than this
# share of the pass's documents.
_REST_SHARE = 0.7


class _Entries(NamedTuple):
    """Entries of some columns: the column of each, counted from the first, its row and its value."""

    column: Ints
    row: Ints
    value: Floats

    @classmethod
    def of(cls, data: SparseQueryData, columns: slice) -> _Entries:
        csc = data.X.csc
        starts = csc.indptr[columns.start : columns.stop + 1]
        span = slice(starts[0], starts[-1])
        column = np.repeat(np.arange(columns.stop - columns.start), np.diff(starts))
        return cls(column, csc.indices[span], csc.data[span])


def joint_counts(
    data: SparseQueryData, columns: slice, edges: Floats, number: Ints, n_labels: int
) -> Floats:
    """Count the documents of each bin and label for some sparse features, shape (c, bins, labels).

    Parameters
    ----------
    data : SparseQueryData
        Documents with sparse columns.
    columns : slice
        The c features.
    edges : ndarray of shape (c, bins - 1)
        Upper edges of the bins, ascending; a repeated edge begins no further bin.
    number : ndarray of shape (m,)
        Position of each document's label among the different labels.
    n_labels : int
        Number of different labels.
    """
    # The entries of the columns, values other than 0. The bin of an
    # entry is the number of different edges below its value.
    nonzeros = _Entries.of(data, columns)
    n_bins = edges.shape[1] + 1
    bins = np.zeros(nonzeros.value.size, dtype=np.int64)
    # The bin of value 0 of each feature.
    zero_bins = np.zeros(edges.shape[0], dtype=np.int64)
    for b in range(n_bins - 1):
        edge = edges[:, b]
        begins_bin = (
            np.ones(edge.size, dtype=np.bool_) if b == 0 else edge != edges[:, b - 1]
        )
        bins += begins_bin[nonzeros.column] & (edge[nonzeros.column] < nonzeros.value)
        zero_bins += begins_bin & (edge < 0.0)
    out = np.zeros((edges.shape[0], n_bins, n_labels))
    # Feature, bin and label as one number, in the order of `out`.
    counts = np.bincount(
        (nonzeros.column * n_bins + bins) * n_labels + number[nonzeros.row],
        minlength=out.size,
    )
    out += counts.reshape(out.shape)
    # All documents without an entry are in the bin of 0.
    out[np.arange(zero_bins.size), zero_bins] += np.bincount(
        number, minlength=n_labels
    ) - out.sum(axis=1)
    return out


def measure_sums(
    data: SparseQueryData,
    columns: slice,
    measure: str,
    convention: str | Convention,
    signs: tuple[float, ...],
) -> tuple[Floats, Floats]:
    """Return the sums over queries of some features' measure, and how many queries have one, (signs, c).

    A run is the entries of one feature in one query. Without a run, the
    documents of the query tie: this is measured once per query, for all
    features. A run of one entry ranks its document first or last: this
    is measured once per document, for all features. The other runs are
    measured side by side: a row of scores holds one run of each query,
    which are runs of different features. The c features are those of
    the slice ``columns``. Each feature is multiplied by each of the
    ``signs``, 1 to rank its larger values first and -1 to rank them
    last. ``convention`` has the rules of the measure.

    Notes
    -----
    O(N log |q|) for the N documents of the queries in which the
    features have several entries.
    """
    from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - numba, where it is needed

    all_nonzeros = _Entries.of(data, columns)
    width = columns.stop - columns.start
    # The measure of equal scores, in each query.
    all_queries = Evaluator(
        data.y, data.ptr, convention, [measure], grading=data.grading
    )
    ties = all_queries.per_query(np.zeros(data.y.size))[measure]
    # The column and the query of each run.
    begins = _starts_of_runs(all_nonzeros, data.query)
    column = all_nonzeros.column[begins]
    query_of_run = data.query[all_nonzeros.row[begins]]
    # Only a measure of ranks is the same for runs whose single entries
    # rank their query alike.
    n_ways = 2 * data.y.size if find_measure(measure).by_rank else 0
    merged_into, is_kept = _merged_runs(all_nonzeros, begins, n_ways)
    # From here on, only the kept runs and their entries.
    in_kept_run = is_kept[np.cumsum(begins) - 1]
    nonzeros = _Entries(*(array[in_kept_run] for array in all_nonzeros))
    begins = begins[in_kept_run]
    run_query = query_of_run[is_kept]
    # The place of a run is its position among the runs of its query:
    # the row of scores that holds it.
    order = np.argsort(run_query, kind="stable")
    count = np.bincount(run_query, minlength=ties.size)
    run_place = np.empty(run_query.size, dtype=np.int64)
    run_place[order] = np.arange(run_query.size) - np.repeat(
        np.cumsum(count) - count, count
    )
    entry_place = run_place[np.cumsum(begins) - 1]
    entries, runs = (
        np.argsort(places, kind="stable") for places in (entry_place, run_place)
    )
    places_of_entries = entry_place[entries]
    places_of_runs = run_place[runs]
    values = np.empty((len(signs), run_query.size))
    for first, last, queries in _passes_over_features(np.diff(data.ptr), count):
        rows, ptr = rows_of_queries(data.ptr, queries)
        evaluator = Evaluator(
            data.y[rows], ptr, convention, [measure], grading=data.grading.taken(rows)
        )
        # Position of each document and query among those of this pass.
        of_row = np.empty(data.y.size, dtype=np.int64)
        of_query = np.empty(count.size, dtype=np.int64)
        of_row[rows] = np.arange(rows.size)
        of_query[queries] = np.arange(queries.size)
        step = max(1, _VALUES // rows.size)
        for start in range(first, last, step):
            end = min(start + step, last)
            scores = np.zeros((end - start, rows.size))
            # The entries with places start … end - 1 are written to the scores.
            first_entry, end_entry = np.searchsorted(places_of_entries, (start, end))
            chosen = entries[first_entry:end_entry]
            scores[entry_place[chosen] - start, of_row[nonzeros.row[chosen]]] = (
                nonzeros.value[chosen]
            )
            # The measures of the runs with these places are read from the table.
            first_run, end_run = np.searchsorted(places_of_runs, (start, end))
            chosen_runs = runs[first_run:end_run]
            table_rows = run_place[chosen_runs] - start
            table_columns = of_query[run_query[chosen_runs]]
            for index, sign in enumerate(signs):
                table = evaluator.per_query_many(sign * scores)[measure]
                values[index, chosen_runs] = table[table_rows, table_columns]
    # Start from ties in all queries, and replace the values of the queries with runs.
    total, count_of = np.empty((2, len(signs), width))
    tied = ties[query_of_run]
    for index, value in enumerate(values[:, merged_into]):
        # A measure may be undefined only with ties, such as τ, or only without.
        change = np.nan_to_num(value) - np.nan_to_num(tied)
        total[index] = np.nansum(ties) + np.bincount(column, change, width)
        defined = np.isnan(tied).astype(np.float64) - np.isnan(value)
        count_of[index] = np.count_nonzero(~np.isnan(ties)) + np.bincount(
            column, defined, width
        )
    return total, count_of


def _starts_of_runs(cells: _Entries, query: Ints) -> Bools:
    """Return for each entry whether it is the first of its run.

    A run are the entries of one feature in one query. Entries are the
    nonzero values of sparse columns, ordered by column and row.
    ``query`` (m,) is the number of each document's query. ``cells`` are
    these entries.
    """
    entry_query = query[cells.row]
    begins = np.ones(cells.row.size, dtype=np.bool_)
    begins[1:] = (entry_query[1:] != entry_query[:-1]) | (
        cells.column[1:] != cells.column[:-1]
    )
    return begins


def _merged_runs(cells: _Entries, begins: Bools, n_ways: int) -> tuple[Ints, Bools]:
    """Merge runs of a single entry that rank their query alike.

    A run is the nonzero entries of one feature in one query. If there
    is only one, the feature ranks its document first or last, and all
    others equally.

    Parameters
    ----------
    cells, begins
        Entries, ordered by run, and whether each is the first of its run.
    n_ways : int
        Twice the number of documents, because the document of a single
        entry is above or below all others of its query; 0 to merge no
        runs.

    Returns
    -------
    merged_into : ndarray
        For each run, the position of the equivalent run among the kept ones.
    is_kept : ndarray of bool
        Mask of the kept runs.
    """
    starts = np.flatnonzero(begins)
    # For each run, the number of the run that stands for it: at first, itself.
    number = np.arange(starts.size)
    if n_ways:
        # The runs with a single entry. The way of such a run is its
        # document, and whether this is above or below the others.
        single = np.flatnonzero(np.diff(starts, append=begins.size) == 1)
        way = 2 * cells.row[starts[single]].astype(np.int64) + (
            cells.value[starts[single]] > 0.0
        )
        # By way, a run that stands for all runs with this way. Each run
        # is written over the one before, so that it is the last one.
        run_of_way = np.empty(n_ways, dtype=np.int64)
        run_of_way[way] = single
        number[single] = run_of_way[way]
    is_kept = np.zeros(starts.size, dtype=np.bool_)
    is_kept[number] = True
    # Positions of the runs among the kept ones.
    return (np.cumsum(is_kept) - 1)[number], is_kept


def _passes_over_features(sizes: Ints, count: Ints) -> Iterator[tuple[int, int, Ints]]:
    """Yield the passes by which a measure is computed: first place, last place + 1, and queries with runs there.

    A run is the nonzero entries of one feature in a query; its place is
    its position among the runs of the query. A pass measures the runs
    of a range of places at once, in all queries that have such runs. A
    pass ends where few documents are left in queries with further runs.
    Later passes then include only these queries.

    Parameters
    ----------
    sizes, count : ndarray of shape (Q,)
        Number of documents of each query, and number of its runs, whose
        places are 0 to count - 1.
    """
    first = 0
    while (queries := np.flatnonzero(count > first)).size:
        ends = np.sort(count[queries])
        threshold = _REST_SHARE * sizes[queries].sum()
        # Documents of the queries with at least as many runs, by
        # ascending number of runs.
        remaining = np.cumsum(
            sizes[queries][np.argsort(count[queries], kind="stable")][::-1]
        )[::-1]
        last = int(ends[np.count_nonzero(remaining >= threshold) - 1])
        yield first, last, queries
        first = last
