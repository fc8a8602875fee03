"""Sparse feature values: from the entries in a text to a matrix, and the treatment of its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Bools, Floats, Indices, Int32s, Ints
from rankstudio.engine.support.sparse_rows import SparseRows

# for more possible ids per value, the ids are sorted instead of marked in a table
_MAX_IDS_PER_VALUE = 8


@dataclass(frozen=True, eq=False)
class Entries:
    """Nonzero values of documents with their feature ids, before it is known which ids occur.

    Attributes
    ----------
    ids : int32 array of shape (N,)
        Feature ids, document by document.
    values : ndarray of shape (N,)
        Values of these features; NaN for missing values.
    lengths : ndarray of shape (m,)
        Number of entries of each document.
    width : int
        Greatest feature id.
    """

    ids: Int32s
    values: Floats
    lengths: Ints
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        """Number of documents, and the greatest id."""
        return self.lengths.size, self.width

    @classmethod
    def of_array(cls, X: Floats) -> Entries:
        """Return the nonzero values of a matrix of the features 1 … n."""
        rows, columns = np.nonzero(X)
        ids = (columns + 1).astype(np.int32)
        return cls(
            ids, X[rows, columns], np.bincount(rows, minlength=len(X)), X.shape[1]
        )

    @classmethod
    def joined(cls, pieces: Sequence[Entries]) -> Entries:
        """Return the entries of several pieces of a file, document after document."""
        width = max(piece.width for piece in pieces)
        arrays_of_pieces = (
            (piece.ids, piece.values, piece.lengths) for piece in pieces
        )
        # The ids of all pieces, then their values, then their lengths.
        ids, values, lengths = (
            np.concatenate(arrays) for arrays in zip(*arrays_of_pieces, strict=True)
        )
        return cls(ids, values, lengths, width)

    def matrix(self) -> tuple[SparseRows, Ints]:
        """Return (X, ids): documents as a sparse matrix, and the ids of its columns.

        X has shape (m, n), with a column for each of the n ids that
        occur. The ids ascend.
        """
        columns: Indices
        # Mark in a table which ids occur, or sort the ids if they are
        # so few and large that the table would be longer than their
        # list.
        if self.width <= _MAX_IDS_PER_VALUE * self.ids.size:
            occurs = np.zeros(self.width + 1, dtype=np.bool_)
            occurs[self.ids] = True
            column_of_id = (np.cumsum(occurs) - 1).astype(np.int32)
            ids = np.flatnonzero(occurs)
            columns = column_of_id[self.ids]
        else:
            ids, columns = np.unique(self.ids, return_inverse=True)
        starts = np.append(0, np.cumsum(self.lengths))
        columns = columns.astype(np.int32, copy=False)
        X = SparseRows.of_parts(self.values, columns, starts, ids.size)
        if not self.values.all():  # the text may contain zeros
            X.csr.eliminate_zeros()
        return X, ids.astype(np.int64)


def sorted_rows(entries: Entries) -> tuple[Entries, int]:
    """Sort the entries of each document by id.

    Return (sorted entries, first document with an id twice, from 0, or
    -1 if none has).
    """
    ids = entries.ids
    ends = np.cumsum(entries.lengths)
    falls = np.flatnonzero(ids[1:] <= ids[:-1])  # entries before a smaller or equal id
    # Entries are sorted already if ids fall only from one document to the next.
    if np.isin(falls + 1, ends).all():
        return entries, -1
    row = np.repeat(np.arange(entries.lengths.size), entries.lengths)
    key = (row << 32) | ids  # sorts by document, then by id
    order = np.argsort(key, kind="stable")
    # Equal keys are the same id twice in a document.
    repeats = np.flatnonzero(np.diff(key[order]) == 0)
    row_with_repeat = int(row[order[repeats[0]]]) if repeats.size else -1
    return Entries(
        ids[order], entries.values[order], entries.lengths, entries.width
    ), row_with_repeat


def placed(X: SparseRows, column_ids: Ints, ids: Ints) -> SparseRows:
    """Return a sparse matrix with a column for each of ``ids``, of which X has only some.

    ``column_ids`` are the ids of the columns of X, and are among
    ``ids``. Both are ascending; the new columns are 0.
    """
    positions = np.searchsorted(ids, column_ids).astype(np.int32)
    csr = X.csr
    return SparseRows.of_parts(csr.data, positions[csr.indices], csr.indptr, ids.size)


@dataclass(frozen=True, eq=False)
class _Runs:
    """The entries of each feature in each query of a sparse matrix.

    A run is the entries of a feature in a query, which follow each
    other if the entries are ordered by column.

    Attributes
    ----------
    values : ndarray of shape (N,)
        Values of the entries, column by column.
    starts, sizes : ndarray of shape (R,)
        First entry and number of entries of each run.
    covers_query : ndarray of shape (R,), bool
        Whether all documents of the query have an entry; the other
        documents have the value 0.
    """

    values: Floats
    starts: Ints
    sizes: Ints
    covers_query: Bools

    @classmethod
    def of(cls, X: SparseRows, query_ptr: Ints) -> _Runs:
        """Find the runs of X, of shape (m, n); query q has the rows from ``query_ptr[q]`` on."""
        # Column after column, with ascending rows in each.
        csc = X.csc
        query = np.searchsorted(query_ptr, csc.indices, side="right") - 1
        # A run begins with each column that has entries, and with each query within it.
        begins = np.zeros(csc.nnz + 1, dtype=np.bool_)
        begins[csc.indptr] = True
        begins[1:-1] |= query[1:] != query[:-1]
        begins[-1] = False  # indptr ends with nnz, where no entry is
        starts = np.flatnonzero(begins)
        sizes = np.diff(starts, append=csc.nnz)
        # A run covers its query if it has as many entries as the query documents.
        n_documents = np.diff(query_ptr)[query[starts]]
        return cls(csc.data, starts, sizes, sizes == n_documents)

    def least(self) -> Floats:
        """Return the least value of each run's feature in its query.

        The result has shape (R,) for R runs; it is NaN where all values
        are missing.
        """
        low = np.fmin.reduceat(self.values, self.starts)
        return np.where(self.covers_query, low, np.fmin(low, 0.0))

    def greatest(self) -> Floats:
        """Return the greatest value of each run's feature in its query."""
        high = np.maximum.reduceat(self.values, self.starts)
        return np.where(self.covers_query, high, np.maximum(high, 0.0))


def constant_columns(X: SparseRows, query_ptr: Ints) -> Bools:
    """Return whether each feature is constant within every query, shape (n,).

    Query q has the rows from ``query_ptr[q]`` to ``query_ptr[q + 1] -
    1``. O(values).
    """
    # A run is the values of one feature in one query, including 0 if any is not stored.
    runs = _Runs.of(X, query_ptr)
    constant = np.ones(X.shape[1], dtype=np.bool_)
    varies = runs.least() != runs.greatest()
    # Find the column of each run that varies, by the position of its first value.
    constant[np.searchsorted(X.csc.indptr, runs.starts[varies], side="right") - 1] = (
        False
    )
    return constant


def fill_missing(X: SparseRows, query_ptr: Ints, policy: str) -> SparseRows:
    """Return a sparse matrix of features with the missing values, NaN, filled.

    With the policy "query_min", a missing value becomes the least value
    of the feature in the query, which may be a 0 that is not stored, or
    0 if all values are missing; with "zero", it becomes 0.
    ``query_ptr`` has the first row of each query. O(values).
    """
    # A run is the values of one feature in one query.
    runs = _Runs.of(X, query_ptr)
    absent = np.isnan(runs.values)
    filling = np.zeros(runs.starts.size)
    if policy == "query_min":
        least = runs.least()
        filling = np.where(np.isnan(least), 0.0, least)
    values = np.where(absent, np.repeat(filling, runs.sizes), runs.values)
    return X.with_values(values)


def normalize_queries(X: SparseRows, query_ptr: Ints) -> SparseRows:
    """Scale every feature of a sparse matrix within every query to a span of 1: O(values).

    Return the new matrix. The values go from 0 to 1, as in dense data,
    if a feature is never negative, or has an entry in all documents of
    the query. Otherwise documents without an entry keep 0, and the
    other values are divided by the span without a shift: no difference
    between documents, and so no ranking, changes by a shift.
    """
    # A run is the values of one feature in one query.
    runs = _Runs.of(X, query_ptr)
    values = runs.values
    low = runs.least()
    high = runs.greatest()
    with np.errstate(over="ignore"):
        huge = ~np.isfinite(high - low)
    half = np.where(huge, 0.5, 1.0)  # halved numbers have a finite difference
    low = low * half
    high = high * half
    span = high - low
    # Only values of runs without zeros that are not stored can be shifted.
    shift = np.where(runs.covers_query, low, 0.0)
    # A constant feature is divided by 1 instead of 0.
    span[span == 0.0] = 1.0
    half, shift, span = (
        np.repeat(run_values, runs.sizes) for run_values in (half, shift, span)
    )
    return X.with_values((values * half - shift) / span)
