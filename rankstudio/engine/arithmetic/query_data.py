"""The arithmetic that every method shares: grouping, centring and Gram statistics, query by query.

Centring each query removes an offset that cannot change its ranking.
For centred data, pairwise least squares inside queries is ordinary
least squares (Pahikkala et al. 2010, section 2), and leaving a query
out means subtracting its Gram matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstudio.engine.arithmetic.magnitude import GREATEST, check_rows, column_name
from rankstudio.engine.arithmetic.shared import SharedResults
from rankstudio.engine.arrays import Bools, Floats, Ints, unwritable
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.support.blocks import VALUES
from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.grades import Grading
from rankstudio.engine.support.query_ids import checked_ids
from rankstudio.engine.support.threads import STEADY

if TYPE_CHECKING:
    from rankstudio.engine.data.preferences import Preferences


@dataclass(frozen=True, eq=False)
class QueryData:
    """Training data with the documents of each query in consecutive rows.

    Attributes
    ----------
    X : ndarray of shape (m, n)
        Features, one row per document.
    y : ndarray of shape (m,)
        Label of each document.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    order : ndarray of shape (m,) or None
        ``X = original_X[order]``; None if the rows were already grouped.
    validation : ndarray of shape (V, n) or None
        Features of the validation documents, for methods that use them;
        never their labels.
    preferences : Preferences or None
        Preferences between rows, for learning from preferences; the
        labels are then 0.
    part_of : Grading or None
        Information about the dataset that these documents are a part
        of; None for a whole dataset.
    shared : SharedResults
        Cache of results that do not depend on the settings of a method.
        The cache is the argument ``sharing``, by default a new one: a
        copy with other labels shares nothing.

    Examples
    --------
    Two queries, the first one with two documents:

    >>> import numpy as np
    >>> data = QueryData(np.eye(3), np.array([0.0, 1.0, 2.0]), np.array([0, 2, 3]))
    >>> data.X.shape
    (3, 3)
    """

    sparse: ClassVar[Literal[False]] = False
    """Whether X stores values other than 0 only."""

    X: Floats
    y: Floats
    ptr: Ints
    order: Ints | None = None
    validation: Floats | None = None
    preferences: Preferences | None = None
    part_of: Grading | None = None
    sharing: InitVar[SharedResults | None] = None
    shared: SharedResults = field(init=False, repr=False)

    def __post_init__(self, sharing: SharedResults | None) -> None:
        """Keep documents and queries as views through which nothing is written."""
        object.__setattr__(
            self, "shared", SharedResults() if sharing is None else sharing
        )
        for name in ("X", "y", "ptr"):
            object.__setattr__(self, name, unwritable(getattr(self, name)))

    @property
    def grading(self) -> Grading:
        """Information that measures need besides labels."""
        return self.part_of or Grading.of(self.y)

    def queries(self, first: int, end: int) -> QueryData:
        """Return the documents of the queries ``first`` to ``end - 1``, as views."""
        rows = slice(int(self.ptr[first]), int(self.ptr[end]))
        ptr = self.ptr[first : end + 1] - rows.start
        return QueryData(
            self.X[rows], self.y[rows], ptr, part_of=self.grading.taken(rows)
        )

    def taken(self, queries: Ints) -> QueryData:
        """Return a copy of the documents of some queries, in the order of ``queries``."""
        rows, ptr = rows_of_queries(self.ptr, queries)
        graded = self.grading.taken(rows)
        return QueryData(
            self.X[rows], self.y[rows], ptr, validation=self.validation, part_of=graded
        )

    @cached_property
    def centred(self) -> tuple[Floats, Floats]:
        """X and y, centred within queries: X^ (m, n) and y^ (m,)."""
        return centre(self.X, self.ptr), centre(self.y[:, None], self.ptr)[:, 0]

    @property
    def centred_labels(self) -> Floats:
        """Labels minus their mean within each query, y^, shape (m,)."""
        return self.centred[1]

    def dense(self) -> Self:
        """Return the data themselves; the method of sparse data raises an error."""
        return self

    @property
    def informative(self) -> Bools:
        """Whether each feature varies within some query, shape (n,).

        The other features cannot change any ranking.
        """
        varies: Bools = (self.centred[0] != 0).any(axis=0)
        return varies

    @property
    def statistics(self) -> QueryStatistics:
        """Gram matrices of the centred data, computed on first use."""
        cache = self.shared.of(MadeStatistics)
        if cache.whole is None:
            cache.whole = QueryStatistics.of(*self.centred, self.ptr)
        return cache.whole

    @property
    def has_statistics(self) -> bool:
        """Whether the Gram matrices exist, so that they need no further memory."""
        return self.shared.of(MadeStatistics).whole is not None

    def narrowed(self, columns: Sequence[int]) -> QueryData:
        """Return the same documents with some of their features, by their columns.

        Sums of products that were computed before are reduced to these
        features.
        """
        chosen = list(columns)
        validation = None if self.validation is None else self.validation[:, chosen]
        # With the columns, results for the chosen features can be taken
        # from those for all features.
        narrow = QueryData(
            np.ascontiguousarray(self.X[:, chosen]),
            self.y,
            self.ptr,
            order=self.order,
            validation=validation,
            preferences=self.preferences,
            part_of=self.part_of,
            sharing=SharedResults(self.shared, tuple(chosen)),
        )
        # Sums of products that exist are reduced, not computed again.
        if self.has_statistics:
            narrow.shared.of(MadeStatistics).whole = self.statistics.narrowed(chosen)
        return narrow

    def in_original_order(self, values: Floats) -> Floats:
        """Return values of the grouped rows (m, …) in the original order of the rows."""
        if self.order is None:
            return values
        out = np.empty_like(values)
        out[self.order] = values
        return out


def rows_of_queries(ptr: Ints, queries: Ints) -> tuple[Ints, Ints]:
    """Return (rows, starts) of some queries: their rows, and where each query begins among these rows.

    Query q has the rows ``ptr[q]:ptr[q + 1]``. ``starts`` has one more
    entry, the number of the rows.
    """
    sizes = np.diff(ptr)[queries]
    starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
    # from a position in the result to its row
    offsets = np.repeat(ptr[queries] - starts[:-1], sizes)
    return offsets + np.arange(starts[-1]), starts


def group(
    X: ArrayLike,
    y: ArrayLike,
    qid: ArrayLike | None = None,
    name: Callable[[int], str] = column_name,
) -> QueryData:
    """Validate training data and group the documents by query, keeping their order.

    Parameters
    ----------
    X : array-like of shape (m, n)
        Features.
    y : array-like of shape (m,)
        Relevance labels.
    qid : array-like of shape (m,), optional
        Query id of each row, of any comparable type; by default all
        rows are one query (one global ranking).
    name : callable
        Returns the name of a column for error messages.

    Returns
    -------
    QueryData

    Raises
    ------
    DatasetError
        For inconsistent shapes, no rows, no columns, values that are
        not finite, or magnitudes beyond the range of the arithmetic
        (see
        :mod:`rankstudio.engine.arithmetic.magnitude`).

    Notes
    -----
    O(mn), plus O(m log m) if rows are moved.
    """
    features = np.ascontiguousarray(X, dtype=np.float64)
    labels = np.ascontiguousarray(y, dtype=np.float64)
    check_labels(features.shape, labels)
    _check_finite(features)
    # The order of rows that makes queries contiguous; None if they are already.
    ptr, order = rows_by_query(qid, labels.size)
    if order is not None:
        features = features[order]
        labels = labels[order]
    check_rows(features, ptr, name)
    return QueryData(features, labels, ptr, order)


def _check_finite(X: Floats) -> None:
    """Raise DatasetError for the first row of X (m, n) that is not finite.

    X is read in blocks; pages of data mapped from a file are released.
    """
    step = max(1, VALUES // X.shape[1])
    for first in range(0, len(X), step):
        rows = X[first : first + step]
        finite = np.isfinite(rows).all(axis=1)
        if not finite.all():
            row = first + int(np.argmin(finite))
            raise DatasetError(
                f"X: expected finite numbers, row {row} has NaN or infinity."
            )
        release(rows)


def check_labels(shape: tuple[int, ...], labels: Floats) -> None:
    """Raise DatasetError unless there is a finite, not too great label for each row of a matrix.

    ``shape`` is the shape of the matrix, which must have rows and columns.
    """
    if len(shape) != 2 or 0 in shape:
        raise DatasetError(
            f"X: expected a matrix with rows and columns, got shape {shape}."
        )
    if labels.shape != (shape[0],):
        raise DatasetError(
            f"y: expected one label per row of X ({shape[0]}), got shape {labels.shape}."
        )
    if not np.isfinite(labels).all():
        row = int(np.flatnonzero(~np.isfinite(labels))[0])
        raise DatasetError(
            f"y: expected finite numbers, row {row} has NaN or infinity."
        )
    if (greatest := float(np.abs(labels).max())) > GREATEST:
        raise DatasetError(
            f"y: expected labels from {-GREATEST:g} to {GREATEST:g}, found one of magnitude {greatest:g}."
        )


def several_queries(ptr: Ints, criterion: str) -> None:
    """Raise DatasetError for a single query, without which no training data would remain.

    Query q has the rows ``ptr[q]:ptr[q + 1]``. ``criterion`` is the
    name of the criterion that leaves out each query, for the message.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import several_queries
    >>> several_queries(np.array([0, 2, 5]), "my criterion")  # raises DatasetError for one query
    """
    if ptr.size < 3:
        raise DatasetError(
            f"{criterion}: expected documents of at least two queries, found one. Leaving it out leaves no "
            "training data. Give the query of each document as qid."
        )


def rows_by_query(qid: ArrayLike | None, m: int) -> tuple[Ints, Ints | None]:
    """Return the start of each query, and the order of rows that groups the documents.

    Parameters
    ----------
    qid : array-like of shape (m,) or None
        Query id of each row; None if all rows are one query.
    m : int
        Number of rows.

    Returns
    -------
    ptr : ndarray of shape (Q + 1,)
        With the rows in this order, query q has the rows ``ptr[q]:ptr[q + 1]``.
    order : ndarray of shape (m,) or None
        Row numbers, query by query, with the queries in the order of
        their first row; None if the rows are already grouped.
    """
    if qid is None:
        return np.array([0, m], dtype=np.int64), None
    ids: NDArray[Any] = checked_ids(qid)
    if ids.shape != (m,):
        raise DatasetError(
            f"qid: expected one query id per row of X ({m}), got shape {ids.shape}."
        )
    # A query starts where the id changes; if no id starts twice, the
    # rows are already grouped.
    starts = np.flatnonzero(ids[1:] != ids[:-1]) + 1
    ptr = np.concatenate(([0], starts, [m])).astype(np.int64)
    if np.unique(ids[ptr[:-1]]).size == ptr.size - 1:
        return ptr, None
    # Otherwise ids are numbered by their first rows, and rows are
    # sorted by these numbers.
    _, first, index = np.unique(ids, return_index=True, return_inverse=True)
    rank_of_id = np.argsort(np.argsort(first))  # by first appearance
    by_appearance = rank_of_id[index]
    order = np.argsort(by_appearance, kind="stable").astype(np.int64)
    counts = np.bincount(by_appearance)
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64), order


def centre(values: Floats, ptr: Ints, out: Floats | None = None) -> Floats:
    """Return the columns minus their mean within each query.

    A column that is constant within a query becomes exactly 0 there:
    the first row of the query is subtracted before the mean, so that no
    rounding error of a mean looks like information.

    Parameters
    ----------
    values : ndarray of shape (m, n)
        Columns, such as features; one row per document.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    out : ndarray of shape (m, n), optional
        Array for the result; a new one by default.

    Returns
    -------
    ndarray of shape (m, n)
    """
    from rankstudio.engine.arithmetic._rows_kernel import centre_rows  # noqa: PLC0415 - numba, where it is needed

    out = np.empty_like(values) if out is None else out
    centre_rows(unwritable(values), unwritable(ptr), out, np.empty(values.shape[1]))
    return out


def query_grams(X: Floats, y: Floats, ptr: Ints, out: Floats) -> Floats:
    """Write the sums of products of each query to ``out`` (Q, n + 1, n + 1); return it.

    The sums are [X y]'[X y] of features X (m, n) and labels y (m,),
    which are centred in each query. Query q has the rows ``ptr[q]:ptr[q
    + 1]``.
    """
    n = X.shape[1]
    for gram, (first, last) in zip(out, pairwise(ptr.tolist()), strict=True):
        rows = X[first:last]
        labels = y[first:last]
        np.matmul(rows.T, rows, out=gram[:n, :n])
        gram[n, :n] = gram[:n, n] = labels @ rows
        gram[n, n] = labels @ labels
    return out


@dataclass(frozen=True, eq=False)
class QueryStatistics:
    """Gram matrices of centred data: all that least squares with left-out queries needs.

    Attributes
    ----------
    gram : ndarray of shape (Q, n + 1, n + 1)
        ``[X^_q y^_q]'[X^_q y^_q]`` for each query.
    total : ndarray of shape (n + 1, n + 1)
        Sum of these matrices over all queries.
    n_documents : int
        Number m of documents.
    """

    gram: Floats
    total: Floats
    n_documents: int

    @classmethod
    def of(cls, X: Floats, y: Floats, ptr: Ints) -> QueryStatistics:
        """Compute the Gram matrices from centred data, with one BLAS call per query.

        ``X`` (m, n) are the features and ``y`` (m,) the labels, centred
        in each query. Query q has the rows ``ptr[q]:ptr[q + 1]``.

        Notes
        -----
        O(mn²) time and O(Qn²) memory for m documents, n features and Q queries.
        """
        n = X.shape[1]
        gram = np.empty((ptr.size - 1, n + 1, n + 1))
        with STEADY:  # small products lose much if threads wait for a processor
            query_grams(X, y, ptr, gram)
        return cls(gram, gram.sum(axis=0), int(X.shape[0]))

    @property
    def n_features(self) -> int:
        """Number of features, n."""
        return int(self.total.shape[0]) - 1

    @property
    def n_queries(self) -> int:
        """Number of queries, Q."""
        return int(self.gram.shape[0])

    @property
    def informative(self) -> Bools:
        """Whether each feature varies within some query, shape (n,).

        The other features cannot change any ranking.
        """
        varies: Bools = np.diagonal(self.total)[:-1] > 0
        return varies

    def narrowed(
        self, columns: Sequence[int], queries: slice = slice(None)
    ) -> QueryStatistics:
        """Return the statistics with some of the features, by their columns.

        Only the matrices of some ``queries`` are included; the total
        covers all queries. With all features, views are returned
        instead of copies.
        """
        if list(columns) == list(range(self.n_features)):
            return QueryStatistics(self.gram[queries], self.total, self.n_documents)
        # The last row and column of each matrix are those of the labels.
        indices = np.array([*columns, self.n_features])
        gram = np.ascontiguousarray(self.gram[queries, indices[:, None], indices])
        return QueryStatistics(
            gram,
            np.ascontiguousarray(self.total[np.ix_(indices, indices)]),
            self.n_documents,
        )

    def weights(self, selected: tuple[int, ...], regularization: float) -> Floats:
        """Return the weights (n,) of RankRLS with the selected features, 0 for the other features.

        Notes
        -----
        w = (T[S, S] + λI)^-1 T[S, y] (Pahikkala et al. 2010, eq. (5)),
        O(k³) for k selected features.
        """
        return weights_with(self.total, selected, regularization)


def weights_with(
    total: Floats, selected: Sequence[int], regularization: float
) -> Floats:
    """Return the weights (n,) of RankRLS with the selected features, 0 for the other features.

    ``total`` has shape (n + 1, n + 1): sums of products of the features
    and, in its last row and column, the labels. ``regularization`` is λ
    > 0.
    """
    coef = np.zeros(total.shape[0] - 1)
    if selected:
        # The equations (T[S, S] + λI) w = T[S, y] of the features S.
        index = np.array(selected)
        system = total[np.ix_(index, index)]
        system[np.diag_indices_from(system)] += regularization
        coef[index] = np.linalg.solve(system, total[index, -1])
    return coef


@dataclass
class MadeStatistics:
    """Gram matrices of some data, if computed."""

    whole: QueryStatistics | None = None
