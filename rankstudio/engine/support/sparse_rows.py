"""Features of documents that are mostly 0: a matrix of which only the other values are stored."""

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

# bytes of a dense matrix, and of the products of its columns, that is always kept as it is
_ALWAYS_DENSE_BYTES = 1 << 28
_MAX_DENSE_COLUMNS = 1_000_000  # columns that a dense matrix has at most
_MIN_MEMORY_RATIO = 8  # times the memory of the stored values, which a dense matrix has to need
_BYTES_PER_VALUE = 12  # bytes of a value and its column
_MAX_NARROW_COLUMNS = 1000  # that are taken out of all, before scores are computed of them

Features = Any
"""Features of documents: an array of shape (m, n), or `SparseRows`, where both are read alike."""

_EMPTY_ARRAY = unwritable(np.empty(0))


def worth_it(rows: int, width: int, n_values: float) -> bool:
    """Return whether only the nonzero values of a matrix should be stored.

    A matrix of up to a million columns is dense where it and the products of its columns take up to 256 MB
    each, or where it takes up to eight times the memory of the values.
    """
    small = 8 * max(rows, width) * width <= _ALWAYS_DENSE_BYTES
    return width > _MAX_DENSE_COLUMNS or not (
        small or 8 * rows * width <= _MIN_MEMORY_RATIO * _BYTES_PER_VALUE * n_values
    )


class SparseRows:
    """A read-only matrix of mostly zeros that takes the place of an array of shape (m, n).

    Rows of it are such a matrix again, and columns of it are arrays: code that goes through features a few at
    a time reads both kinds alike. What asks for all of it as an array gets one if memory has room for it.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array or csc_array of shape (m, n)
        In canonical form.
    """

    ndim = 2
    dtype = np.dtype(np.float64)
    flags = _EMPTY_ARRAY.flags

    def __init__(self, matrix: Any) -> None:
        self._given = matrix
        self.shape: tuple[int, int] = matrix.shape

    @classmethod
    def of_parts(cls, values: Floats, columns: Indices, starts: Ints, width: int) -> SparseRows:
        """Return the matrix whose row i has the values ``starts[i]`` to ``starts[i + 1] - 1``."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - where it is needed

        return cls(csr_array((values, columns, starts), shape=(starts.size - 1, width)))

    @classmethod
    def of_array(cls, X: NDArray[np.float64]) -> SparseRows:
        """Return a dense matrix in this form."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - as above

        return cls(csr_array(X))

    @classmethod
    def spread(cls, dense_columns: Floats, columns: Ints, width: int) -> SparseRows:
        """Return a matrix whose columns, ascending, are those of an array, and all others 0."""
        csr = cls.of_array(dense_columns).csr
        return cls.of_parts(csr.data, columns[csr.indices], csr.indptr, width)

    @cached_property
    def csr(self) -> Any:
        """The matrix by rows."""
        return self._given if self._given.format == "csr" else self._given.tocsr()

    @cached_property
    def csc(self) -> Any:
        """The matrix by columns, the entries of each in the order of the rows."""
        return self._given if self._given.format == "csc" else self._given.tocsc()

    @property
    def nnz(self) -> int:
        """Number of stored values."""
        return int(self._given.nnz)

    @property
    def nbytes(self) -> int:
        """Memory of one form of the matrix."""
        matrix = self._given
        return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)

    def __len__(self) -> int:
        return self.shape[0]

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseRows, (self._given,)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        return self.dense().astype(dtype or np.float64, copy=False)

    def __getitem__(self, key: Any) -> Any:
        """Return rows as such a matrix, or columns of some rows as an array."""
        if isinstance(key, tuple):
            rows, columns = key
            if isinstance(rows, int | np.integer):
                stored, values = self.entries(int(rows))
                return values[stored.index(columns)] if columns in stored else 0.0
            has_all_rows = isinstance(rows, slice) and rows == slice(None)
            return (self if has_all_rows else self[rows]).columns(columns)
        if isinstance(key, int | np.integer):
            return self.csr[[key]].toarray()[0]
        if isinstance(key, slice) and key.indices(len(self)) == (0, len(self), 1):
            return self
        return SparseRows(self.csr[key])

    def entries(self, row: int) -> tuple[list[int], list[float]]:
        """Return the columns of the stored values of a row, ascending, and the values."""
        span = slice(*self.csr.indptr[row : row + 2])
        return self.csr.indices[span].tolist(), self.csr.data[span].tolist()

    def widened(self, n: int) -> SparseRows:
        """Return the matrix with columns of zeros behind its own, n in all."""
        return SparseRows.of_parts(self.csr.data, self.csr.indices, self.csr.indptr, n)

    def columns(self, key: int | slice | Sequence[int] | NDArray[Any]) -> Floats:
        """Return a column (m,), or several (m, c), as an array."""
        if isinstance(key, int | np.integer):
            csc = self.csc
            out = np.zeros(len(self))
            first = csc.indptr[key]
            last = csc.indptr[key + 1]
            out[csc.indices[first:last]] = csc.data[first:last]
            return out
        return SparseRows(self.csc[:, key if isinstance(key, slice) else np.asarray(key)]).dense()

    def portions(self, n_values: int) -> Iterator[slice]:
        """Yield slices of columns with at most ``n_values`` stored values, or of one column."""
        starts = self.csc.indptr
        first = 0
        while first < self.shape[1]:
            last = int(np.searchsorted(starts, starts[first] + n_values, side="right")) - 1
            last = min(max(last, first + 1), self.shape[1])
            yield slice(first, last)
            first = last

    def kept(self, columns: Ints) -> SparseRows:
        """Return some columns in this form."""
        return SparseRows(self.csc[:, columns])

    @cached_property
    def sizes(self) -> Ints:
        """Number of stored values of each column, shape (n,)."""
        matrix = self._given
        sizes = np.diff(matrix.indptr).astype(np.int64)
        return sizes if matrix.format == "csc" else np.bincount(matrix.indices, minlength=self.shape[1])

    def with_values(self, values: Floats) -> SparseRows:
        """Return the matrix with other values of its entries, listed column by column; zeros are removed."""
        from scipy.sparse import csc_array  # noqa: PLC0415 - as above

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
            If memory has no room for it.
        """
        m, n = self.shape
        needed = 16.0 * m * n  # with a copy that is centred
        free = memory.budget()
        if needed > free:
            raise OutOfMemoryError(
                tr(
                    "{m} documents with {n} features need {needed} as dense arrays; the memory limit is "
                    "{free}. Reduce the features first: run a filter such as Mutual information, then "
                    "rankstudio convert --selected, or in the window Export → Data with the selected "
                    "features."
                ).format(m=count_text(m), n=count_text(n), needed=memory.size(needed), free=memory.size(free))
            )
        dense: Floats = self._given.toarray(order="C")
        return dense

    def scores(self, coefs: Floats) -> Floats:
        """Return the scores of linear models (K, n), shape (K, m), summed in the order of the columns."""
        used = np.flatnonzero(coefs.any(axis=0))
        is_narrow = used.size <= _MAX_NARROW_COLUMNS
        rows, weights = (self.csc[:, used].tocsr(), coefs[:, used]) if is_narrow else (self.csr, coefs)
        return np.array([rows @ row for row in np.ascontiguousarray(weights)])

    @property
    def T(self) -> SparseColumns:  # noqa: N802 - as numpy has it
        """The transposed matrix: a row for each feature."""
        return SparseColumns(self)


class SparseColumns:
    """The transposed matrix of `SparseRows`: features, each with its values in all documents."""

    ndim = 2
    dtype = np.dtype(np.float64)

    def __init__(self, rows: SparseRows) -> None:
        self._rows = rows
        self.shape = rows.shape[::-1]

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        return np.ascontiguousarray(self._rows.dense().T.astype(dtype or np.float64, copy=False))

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
    """Return the least and the greatest value of an array or of such a matrix, with its zeros."""
    if not isinstance(X, SparseRows):
        return float(X.min()), float(X.max())
    has_zeros = X.nnz < X.shape[0] * X.shape[1]
    values = X.csr.data
    bounds = (0.0, 0.0) if has_zeros or not values.size else (np.inf, -np.inf)
    return float(values.min(initial=bounds[0])), float(values.max(initial=bounds[1]))


def concatenated(matrices: Sequence[Features]) -> Features:
    """Return arrays, or matrices of this kind, one behind the other."""
    if not isinstance(matrices[0], SparseRows):
        return np.concatenate(matrices)
    from scipy.sparse import vstack  # noqa: PLC0415 - where it is needed

    return SparseRows(vstack([X.csr for X in matrices], format="csr"))


def chosen_columns(X: Features, columns: Ints) -> Features:
    """Return some columns of an array or of such a matrix, which is an array where that is small or full."""
    if not isinstance(X, SparseRows):
        return np.ascontiguousarray(X[:, columns])
    selected = X.kept(columns)
    return selected if worth_it(*selected.shape, selected.nnz) else selected.dense()


SPARSE = ("values", "columns", "starts")
"""Names of the arrays of such a matrix in a store."""


def features_apart(X: Features) -> dict[str, NDArray[Any]]:
    """Return the plain arrays that features consist of, by names for a store."""
    if not isinstance(X, SparseRows):
        return {"X": X}
    return dict(zip(SPARSE, (X.csr.data, X.csr.indices, X.csr.indptr), strict=True))


def features_of(arrays: Mapping[str, NDArray[Any]], width: int) -> Features:
    """Return the features of `features_apart` with ``width`` columns; KeyError if an array is missing."""
    if "X" in arrays:
        return arrays["X"]
    values, columns, starts = (arrays[name] for name in SPARSE)
    return SparseRows.of_parts(values, columns, starts, width)
