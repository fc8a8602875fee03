"""Training data with sparse features: grouped and centred query by query, and never made dense.

Centring is an operator here: a column's mean inside a query is
subtracted where the column is used. Only the columns of the features in
a model are ever written out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arithmetic.magnitude import check_magnitudes, column_name
from rankstudio.engine.arithmetic.query_data import (
    QueryData,
    centre,
    check_labels,
    rows_by_query,
    rows_of_queries,
)
from rankstudio.engine.arithmetic.shared import SharedResults
from rankstudio.engine.arrays import Bools, Floats, Ints, unwritable
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.support.grades import Grading
from rankstudio.engine.support.sparse_rows import SparseRows

if TYPE_CHECKING:
    from rankstudio.engine.data.preferences import Preferences


@dataclass(frozen=True, eq=False)
class SparseQueryData:
    """Training data with sparse features and the documents of each query in consecutive rows.

    Attributes
    ----------
    X : SparseRows of shape (m, n)
        Features, one row per document.
    y : ndarray of shape (m,)
        Label of each document.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    order : ndarray of shape (m,) or None
        ``X = original_X[order]``; None if the rows were already grouped.
    validation : SparseRows of shape (V, n) or None
        Features of the validation documents.
    preferences, part_of, shared
        As in :class:`QueryData`.
    """

    sparse: ClassVar[Literal[True]] = True

    X: SparseRows
    y: Floats
    ptr: Ints
    order: Ints | None = None
    validation: SparseRows | None = None
    preferences: Preferences | None = None
    part_of: Grading | None = None
    sharing: InitVar[SharedResults | None] = None
    shared: SharedResults = field(init=False, repr=False)

    def __post_init__(self, sharing: SharedResults | None) -> None:
        """Keep labels and queries as views through which nothing is written."""
        object.__setattr__(
            self, "shared", SharedResults() if sharing is None else sharing
        )
        for name in ("y", "ptr"):
            object.__setattr__(self, name, unwritable(getattr(self, name)))

    @classmethod
    def of(cls, data: QueryData) -> SparseQueryData:
        """Return dense data in sparse form, in which zeros are entries, too.

        Later computations drop these zeros.
        """
        from scipy.sparse import csc_array  # noqa: PLC0415 - where it is needed

        # Column by column, each with all m rows. Indices have 32 bits if these suffice.
        m, n = data.X.shape
        index = np.int32 if m * n < 2**31 else np.int64
        rows = np.tile(np.arange(m).astype(index), n)
        starts = (m * np.arange(n + 1)).astype(index)
        entries: Any = (data.X.T.ravel(), rows, starts)
        return cls(SparseRows(csc_array(entries, shape=(m, n))), data.y, data.ptr)

    @property
    def grading(self) -> Grading:
        """Information that measures need besides labels."""
        return self.part_of or Grading.of(self.y)

    def taken(self, queries: Ints) -> SparseQueryData:
        """Return a copy of the documents of some queries, in the order of ``queries``."""
        rows, ptr = rows_of_queries(self.ptr, queries)
        graded = self.grading.taken(rows)
        return SparseQueryData(
            self.X[rows], self.y[rows], ptr, validation=self.validation, part_of=graded
        )

    def narrowed(self, columns: Sequence[int]) -> QueryData:
        """Return the same documents with some of their features, as dense data.

        Facts of the whole dataset (``part_of``), such as its greatest
        grade, remain; the cache of results stores the ``columns``.

        Raises
        ------
        OutOfMemoryError
            If the array does not fit into memory.
        """
        # Some columns of a sparse matrix are an array.
        chosen = list(columns)
        return QueryData(
            self.X[:, chosen],
            self.y,
            self.ptr,
            order=self.order,
            validation=None if self.validation is None else self.validation[:, chosen],
            preferences=self.preferences,
            part_of=self.part_of,
            sharing=SharedResults(self.shared, tuple(columns)),
        )

    def dense(self) -> QueryData:
        """Raise ParameterError: the caller cannot leave documents out of sparse data."""
        raise ParameterError(
            "X", "a sparse matrix", "an array: held-out predictions need dense features"
        )

    def check(self, name: Callable[[int], str] = column_name) -> None:
        """Raise DatasetError if the numbers of a feature are too great or too close for the arithmetic.

        ``name`` returns the name of a feature for the message. O(values).
        """
        low, high = (
            getattr(self.X.csc, end)(axis=0).toarray().ravel() for end in ("min", "max")
        )
        check_magnitudes(low, high, self.differences, name)

    @cached_property
    def shifted(self) -> Any:
        """X with columns shifted within queries, so that constant features are 0 throughout a query.

        Sparse matrix of shape (m, n), in the form of ``X``, without
        explicit zeros. Centring it gives X^, as centring X does.
        """
        from rankstudio.engine.arithmetic._sparse_kernel import shift_columns  # noqa: PLC0415 - numba

        # Stored zeros before the shift, and those that it makes, are dropped.
        shifted = self.X.csc.copy()
        shifted.eliminate_zeros()
        shift_columns(
            shifted.data, shifted.indices, shifted.indptr, self.query, self.ptr
        )
        shifted.eliminate_zeros()
        return shifted

    @cached_property
    def query(self) -> Ints:
        """The query of each document, shape (m,)."""
        return np.repeat(np.arange(self.ptr.size - 1), np.diff(self.ptr))

    @cached_property
    def centred_labels(self) -> Floats:
        """Labels minus their mean within each query, y^, shape (m,)."""
        return centre(self.y[:, None], self.ptr)[:, 0]

    @cached_property
    def squares(self) -> Floats:
        """Squared length of every column of X^, the features centred in queries, shape (n,)."""
        from rankstudio.engine.arithmetic._sparse_kernel import centred_squares  # noqa: PLC0415 - numba

        out = np.empty(self.X.shape[1])
        X = self.shifted
        centred_squares(X.data, X.indices, X.indptr, self.query, self.ptr, out)
        return out

    @property
    def informative(self) -> Bools:
        """Whether each feature varies within some query, shape (n,).

        The other features cannot change any ranking.
        """
        varies: Bools = np.diff(self.shifted.indptr) > 0
        return varies

    @property
    def differences(self) -> Floats:
        """Largest difference of each feature within a query, up to a factor of 2, shape (n,)."""
        return np.asarray(
            abs(self.shifted).max(axis=0).toarray(), dtype=np.float64
        ).ravel()

    def centred_column(self, feature: int) -> Floats:
        """Return a column of X^, shape (m,)."""
        first, last = self.shifted.indptr[feature : feature + 2]
        column = np.zeros((self.y.size, 1))
        column[self.shifted.indices[first:last], 0] = self.shifted.data[first:last]
        return centre(column, self.ptr)[:, 0]


def group_sparse(
    X: Any,
    y: ArrayLike,
    qid: ArrayLike | None = None,
    name: Callable[[int], str] = column_name,
) -> SparseQueryData:
    """Validate training data with sparse features and group the documents by query.

    Parameters
    ----------
    X : scipy.sparse matrix or array of shape (m, n)
        Features, in any of SciPy's formats.
    y : array-like of shape (m,)
        Relevance labels.
    qid : array-like of shape (m,), optional
        Query id of each row; by default all rows are one query.
    name : callable
        Returns the name of a column for error messages.

    Returns
    -------
    SparseQueryData

    Raises
    ------
    DatasetError
        For inconsistent shapes, no rows, no columns, values that are
        not finite, or magnitudes beyond the range of the arithmetic.

    Notes
    -----
    O(m + n + entries) time and memory.
    """
    from scipy.sparse import csc_array  # noqa: PLC0415 - where it is needed

    # Only stored entries can be infinite or NaN.
    features = csc_array(X, dtype=np.float64)
    labels = np.ascontiguousarray(y, dtype=np.float64)
    check_labels(features.shape, labels)
    if not np.isfinite(features.data).all():
        row = int(features.indices[~np.isfinite(features.data)].min())
        raise DatasetError(
            f"X: expected finite numbers, row {row} has NaN or infinity."
        )
    # The documents of a query have to be adjacent.
    ptr, order = rows_by_query(qid, labels.size)
    if order is not None:
        features = csc_array(features.tocsr()[order])
        labels = labels[order]
    # Entries that are given several times are summed, in a copy of the caller's matrix.
    if not features.has_canonical_format:
        features = features.copy()
        features.sum_duplicates()
    grouped = SparseQueryData(SparseRows(features), labels, ptr, order)
    grouped.check(name)
    return grouped


def is_sparse(X: Any) -> bool:
    """Return whether an object is a sparse matrix or array of SciPy.

    SciPy need not be imported for that.
    """
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))
