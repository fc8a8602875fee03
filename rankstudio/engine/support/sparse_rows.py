"""Features of documents that are mostly 0: a matrix that stores only the other values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Floats, Indices, Ints, unwritable
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.language import tr
from rankstudio.engine.support import memory
from rankstudio.engine.support.number_format import count_text

MOST_ID = 2**31 - 1
"""The greatest feature id: columns are numbered in 32 bits."""

# a matrix is dense if it, and the products of its columns, take at most this
_ALWAYS_DENSE_BYTES = 1 << 28
_MAX_DENSE_COLUMNS = 1_000_000  # maximum number of columns of a dense matrix
# a matrix is also dense if it takes at most this multiple of its values
_MIN_MEMORY_RATIO = 8
_BYTES_PER_VALUE = 12  # bytes of a stored value and its column
# up to this number, columns are copied before their scores are computed
_MAX_NARROW_COLUMNS = 1000

Features = Any
"""Features of documents, for code that reads both kinds alike: an array of shape (m, n), or `SparseRows`."""

_EMPTY_ARRAY = unwritable(np.empty(0))


def worth_it(rows: int, width: int, n_values: float) -> bool:
    """Return whether only the nonzero values of a matrix should be stored.

    Return False, for an array of all values, if there are up to a
    million columns, and the array and the products of its columns take
    up to 256 MB each, or if the array takes up to eight times the
    memory of the nonzero values. ``n_values`` is the number of values
    in a matrix of ``rows`` rows and ``width`` columns.
    """
    is_small = 8 * max(rows, width) * width <= _ALWAYS_DENSE_BYTES
    has_few_zeros = 8 * rows * width <= _MIN_MEMORY_RATIO * _BYTES_PER_VALUE * n_values
    return width > _MAX_DENSE_COLUMNS or not (is_small or has_few_zeros)


class SparseRows:
    """A read-only matrix of mostly zeros, used instead of an array of shape (m, n).

    A selection of rows is again such a matrix, and a selection of
    columns is an array: code that reads a few features at a time works
    for both kinds. The whole matrix is converted to an array on demand,
    if it fits into memory.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array or csc_array of shape (m, n)
        The values, in SciPy's canonical form: sorted, and without
        repeated entries.
    """

    ndim = 2
    dtype = np.dtype(np.float64)
    flags = _EMPTY_ARRAY.flags

    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix
        self.shape: tuple[int, int] = matrix.shape

    @classmethod
    def of_parts(
        cls, values: Floats, columns: Indices, starts: Ints, width: int
    ) -> SparseRows:
        """Return the matrix whose row i has ``values[starts[i]:starts[i + 1]]``, and otherwise zeros.

        ``columns`` has the column of each value, and ``width`` is the
        number of all columns.
        """
        from scipy.sparse import csr_array  # noqa: PLC0415 - where it is needed

        return cls(csr_array((values, columns, starts), shape=(starts.size - 1, width)))

    @classmethod
    def of_array(cls, X: NDArray[np.float64]) -> SparseRows:
        """Return a dense matrix in this form."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - as above

        return cls(csr_array(X))

    @classmethod
    def spread(cls, dense_columns: Floats, columns: Ints, width: int) -> SparseRows:
        """Return a matrix with zeros in all but some columns.

        Parameters
        ----------
        dense_columns : ndarray of shape (m, k)
            Values of those columns.
        columns : ndarray of shape (k,)
            Their positions, ascending.
        width : int
            Number of all columns.
        """
        csr = cls.of_array(dense_columns).csr
        return cls.of_parts(csr.data, columns[csr.indices], csr.indptr, width)

    @cached_property
    def csr(self) -> Any:
        """The matrix by rows."""
        return self._matrix if self._matrix.format == "csr" else self._matrix.tocsr()

    @cached_property
    def csc(self) -> Any:
        """The matrix by columns, the entries of each in the order of the rows."""
        return self._matrix if self._matrix.format == "csc" else self._matrix.tocsc()

    @property
    def nnz(self) -> int:
        """Number of stored values."""
        return int(self._matrix.nnz)

    @property
    def nbytes(self) -> int:
        """Bytes of the matrix in one of its forms, by rows or by columns."""
        matrix = self._matrix
        return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)

    def __len__(self) -> int:
        return self.shape[0]

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseRows, (self._matrix,)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        return self.dense().astype(dtype or np.float64, copy=False)

    def __getitem__(self, key: Any) -> Any:
        """Return rows as a sparse matrix, a single row or some columns as an array.

        As in NumPy, the key is a row, a selection of rows, or (rows, columns).
        """
        if isinstance(key, tuple):
            rows, columns = key
            # A single value, 0 unless it is stored.
            if isinstance(rows, int | np.integer):
                stored, values = self.entries(int(rows))
                return values[stored.index(columns)] if columns in stored else 0.0
            has_all_rows = isinstance(rows, slice) and rows == slice(None)
            return (self if has_all_rows else self[rows]).columns(columns)
        if isinstance(key, int | np.integer):
            return self.csr[[key]].toarray()[0]
        # All rows: nothing is copied.
        if isinstance(key, slice) and key.indices(len(self)) == (0, len(self), 1):
            return self
        return SparseRows(self.csr[key])

    def entries(self, row: int) -> tuple[list[int], list[float]]:
        """Return the columns of the stored values of a row, ascending, and the values."""
        span = slice(*self.csr.indptr[row : row + 2])
        return self.csr.indices[span].tolist(), self.csr.data[span].tolist()

    def widened(self, n: int) -> SparseRows:
        """Return the matrix with columns of zeros appended, up to n columns."""
        return SparseRows.of_parts(self.csr.data, self.csr.indices, self.csr.indptr, n)

    def columns(self, key: int | slice | Sequence[int] | NDArray[Any]) -> Floats:
        """Return a column as an array of shape (m,), or c columns of shape (m, c)."""
        if isinstance(key, int | np.integer):
            # The entries of the column and their rows.
            csc = self.csc
            out = np.zeros(len(self))
            first = csc.indptr[key]
            last = csc.indptr[key + 1]
            out[csc.indices[first:last]] = csc.data[first:last]
            return out
        return SparseRows(
            self.csc[:, key if isinstance(key, slice) else np.asarray(key)]
        ).dense()

    def portions(self, n_values: int) -> Iterator[slice]:
        """Yield slices of consecutive columns, which together cover all columns.

        The columns of a slice have at most ``n_values`` stored values
        together, or the slice is a single column with more.
        """
        starts = self.csc.indptr
        first = 0
        # As many columns as fit, but at least one.
        while first < self.shape[1]:
            last = (
                int(np.searchsorted(starts, starts[first] + n_values, side="right")) - 1
            )
            last = min(max(last, first + 1), self.shape[1])
            yield slice(first, last)
            first = last

    def kept(self, columns: Ints) -> SparseRows:
        """Return some columns as a sparse matrix."""
        return SparseRows(self.csc[:, columns])

    @cached_property
    def sizes(self) -> Ints:
        """Number of stored values of each column, shape (n,)."""
        # Of a matrix by rows, the columns of its entries are counted.
        matrix = self._matrix
        sizes = np.diff(matrix.indptr).astype(np.int64)
        return (
            sizes
            if matrix.format == "csc"
            else np.bincount(matrix.indices, minlength=self.shape[1])
        )

    def with_values(self, values: Floats) -> SparseRows:
        """Return a matrix with the same stored entries, but other values in them.

        ``values`` has the new value of each stored entry, column by
        column. Entries that become 0 are removed.
        """
        from scipy.sparse import csc_array  # noqa: PLC0415 - where it is needed

        csc = csc_array((values, self.csc.indices, self.csc.indptr), shape=self.shape)
        if not values.all():
            csc = csc.copy()  # it shares its indices with this matrix
            csc.eliminate_zeros()
        return SparseRows(csc)

    def dense(self) -> Floats:
        """Return the matrix as an array.

        Raises
        ------
        OutOfMemoryError
            If the array does not fit into memory.
        """
        m, n = self.shape
        needed = 16.0 * m * n  # 8 bytes per value, and as many for a centred copy
        free = memory.budget()
        if needed > free:
            raise OutOfMemoryError(
                tr(
                    "{m} documents with {n} features need {needed} as dense arrays; the memory limit is "
                    "{free}. Reduce the features first: run a filter such as Mutual information, then "
                    "rankstudio convert --selected, or in the window Export → Data with the selected "
                    "features."
                ).format(
                    m=count_text(m),
                    n=count_text(n),
                    needed=memory.size(needed),
                    free=memory.size(free),
                )
            )
        dense: Floats = self._matrix.toarray(order="C")
        return dense

    def scores(self, coefs: Floats) -> Floats:
        """Return the scores of K linear models for the m rows, of shape (K, m).

        ``coefs`` has shape (K, n): the coefficients of each model. Each
        score is summed in the order of the columns, so that its last
        bits do not depend on the other models.
        """
        # Columns without a coefficient in any model add nothing; if the
        # others are few, they are cut out first.
        used = np.flatnonzero(coefs.any(axis=0))
        rows = (
            self.csr if used.size > _MAX_NARROW_COLUMNS else self.csc[:, used].tocsr()
        )
        weights = coefs if used.size > _MAX_NARROW_COLUMNS else coefs[:, used]
        return np.array([rows @ row for row in np.ascontiguousarray(weights)])

    @property
    def T(self) -> SparseColumns:  # noqa: N802 - as numpy has it
        """The transposed matrix: a row for each feature."""
        return SparseColumns(self)


class SparseColumns:
    """The transposed matrix of `SparseRows`.

    Its rows are features, each with its values in all documents.
    """

    ndim = 2
    dtype = np.dtype(np.float64)

    def __init__(self, rows: SparseRows) -> None:
        self._rows = rows
        self.shape = rows.shape[::-1]

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        return np.ascontiguousarray(
            self._rows.dense().T.astype(dtype or np.float64, copy=False)
        )

    @property
    def T(self) -> SparseRows:  # noqa: N802 - as numpy has it
        """The matrix itself: a row for each document."""
        return self._rows

    def __getitem__(self, key: Any) -> Floats:
        """Return the values of a feature (m,), or of several (c, m)."""
        return np.ascontiguousarray(self._rows.columns(key).T)

    def scores(self, coefs: Floats) -> Floats:
        """Return the scores of linear models; see :meth:`SparseRows.scores`."""
        return self._rows.scores(coefs)


def value_range(X: Features) -> tuple[float, float]:
    """Return the least and the greatest value of an array or a sparse matrix.

    Zeros that a sparse matrix does not store count, too.
    """
    if not isinstance(X, SparseRows):
        return float(X.min()), float(X.max())
    has_zeros = X.nnz < X.shape[0] * X.shape[1]
    values = X.csr.data
    if has_zeros or not values.size:
        return float(values.min(initial=0.0)), float(values.max(initial=0.0))
    return float(values.min()), float(values.max())


def concatenated(matrices: Sequence[Features]) -> Features:
    """Return the concatenated rows of arrays, or of sparse matrices."""
    if not isinstance(matrices[0], SparseRows):
        return np.concatenate(matrices)
    from scipy.sparse import vstack  # noqa: PLC0415 - where it is needed

    return SparseRows(vstack([X.csr for X in matrices], format="csr"))


def chosen_columns(X: Features, columns: Ints) -> Features:
    """Return some columns of features.

    A sparse matrix that is small or has few zeros becomes an array.
    ``columns`` has the numbers of the columns to return.
    """
    if not isinstance(X, SparseRows):
        return np.ascontiguousarray(X[:, columns])
    selected = X.kept(columns)
    return selected if worth_it(*selected.shape, selected.nnz) else selected.dense()


SPARSE = ("values", "columns", "starts")
"""Names of the arrays of a sparse matrix in a store."""


def features_apart(X: Features) -> dict[str, NDArray[Any]]:
    """Return the plain arrays that features consist of, by names for a store."""
    if not isinstance(X, SparseRows):
        return {"X": X}
    return dict(zip(SPARSE, (X.csr.data, X.csr.indices, X.csr.indptr), strict=True))


def features_of(arrays: Mapping[str, NDArray[Any]], width: int) -> Features:
    """Return the features that :func:`features_apart` has divided into plain arrays.

    Parameters
    ----------
    arrays : mapping from str to ndarray
        Those arrays by name: "X", or the parts of a sparse matrix.
    width : int
        Number of columns of the features.

    Raises
    ------
    KeyError
        If an array is missing.
    """
    if "X" in arrays:
        return arrays["X"]
    values, columns, starts = (arrays[name] for name in SPARSE)
    return SparseRows.of_parts(values, columns, starts, width)
