"""RankRLS by sums over shards: X^'X^ and X^'y^, then the errors and the scores of left-out queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData, query_grams
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.methods.left_out import centred_scores, left_out_scores
from rankstudio.engine.methods.shards.sums import (
    models_in_order,
    products_of,
    summed,
    sums_of_products,
)
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.methods.shards.work import Joined
from rankstudio.engine.steps import Step
from rankstudio.engine.support import memory
from rankstudio.engine.support.blocks import group_blocks
from rankstudio.engine.support.threads import STEADY, pool, share, worthwhile
from rankstudio.engine.support.work import Waiting, WorkProgress, finish

_MULTIPLICATION = 0.2  # nanoseconds, in the elimination of a small matrix
# Rows of a matrix up to which the compiled kernel is faster than BLAS.
_MOST_COMPILED = 64
# The Gram matrices of all features are kept if they have at most _FEW
# numbers, or at most _TIMES as many as the documents.
_FEW = 1 << 24
_TIMES = 2
# Bytes up to which memory is allocated without checking how much is free.
_LARGE = 1e8
# Numbers of narrowed Gram matrices that are made at a time: 32 MB.
_AT_ONCE = 1 << 22


@dataclass
class _Rotated:
    """Cache of the centred rows of one dataset in the eigenbasis of X^'X^, for all λ."""

    vectors: Floats | None = None
    rows: Floats | None = None

    def by(self, vectors: Floats, X: Floats) -> Floats:
        """Return X^ U, the centred features (m, n) in the basis ``vectors`` U (n, r), shape (m, r).

        The result for the latest basis is cached.
        """
        if self.rows is None or self.vectors is not vectors:
            self.rows = X @ vectors
            self.vectors = vectors
        return self.rows


def _leave_query_out(
    data: QueryData,
    cost: PairCost,
    coef: Floats,
    values: Floats,
    vectors: Floats,
    regularization: float,
) -> tuple[Floats]:
    """Return the sum of the squared residuals of a shard's queries, each left out of the model, shape (1,).

    ``coef`` (n,) are the weights trained on all queries. ``values``
    (r,) and ``vectors`` (n, r) are the eigenvalues and eigenvectors of
    X^'X^, the products of the centred features of all queries. ``cost``
    is the loss of pairs, and ``regularization`` is λ. ``data`` has the
    documents of the shard. A shard is a part of the data with whole
    queries.
    """
    from rankstudio.engine.methods.rankers import _rankrls_kernel  # noqa: PLC0415 - numba

    rows = PairRows.of(data, cost)
    X, y = rows.centred
    n = values.size
    sizes = np.diff(rows.ptr)
    # The rows in the basis of the eigenvectors, in which X^'X^ + λI is
    # the diagonal matrix `total`.
    total = values + regularization
    # The rotated rows do not depend on λ, so that they are cached with
    # the rows.
    rotated = rows.shared.of(_Rotated).by(vectors, X)
    residuals = y - X @ coef
    root = total**-0.5
    # Pivots of the systems are smaller than this only by rounding.
    smallest = regularization / float(total.max())
    errors = np.empty(sizes.size)
    # The system of a query is as large as its number of rows or of
    # features, whichever is smaller.
    n_unknowns = np.minimum(sizes, n)

    def leave_out(part: tuple[int, int]) -> None:
        """Write the errors of the queries first … last - 1 to ``errors`` of the enclosing function.

        ``part`` is (first, last). The compiled kernel skips queries
        with many unknowns, which LAPACK then solves. Uses the rows of
        the shard in the eigenvectors' basis (``rotated``), their
        ``residuals`` and the scale ``root`` of each eigenvector.
        """
        first, last = part
        _rankrls_kernel.left_out_errors(
            rotated,
            residuals,
            rows.ptr,
            root,
            smallest,
            _MOST_COMPILED,
            first,
            last,
            errors,
        )
        for query in first + np.flatnonzero(n_unknowns[first:last] > _MOST_COMPILED):
            query_rows = slice(rows.ptr[query], rows.ptr[query + 1])
            errors[query] = _left_out_error(
                rotated[query_rows] * root, residuals[query_rows]
            )

    # The number of multiplications says whether threads are worthwhile:
    # those for the matrix of each system, and for its factorisation.
    multiplications = float(
        (sizes * n_unknowns * n / 2 + n_unknowns.astype(np.float64) ** 3 / 6).sum()
    )
    with pool(worthwhile(_MULTIPLICATION * multiplications)) as (executor, workers):
        # Queries are cut into parts with about equal numbers of rows, one per thread.
        cuts = np.searchsorted(
            rows.ptr, np.linspace(0, rows.ptr[-1], workers + 1)
        ).tolist()
        share(executor, workers, leave_out, pairwise(cuts))
    return (np.array([errors.sum()]),)


def _left_out_error(V: Floats, residuals: Floats) -> float:
    """Return the squared error of one query by the model trained without it, with LAPACK.

    ``V`` (|q|, n) are its centred features in the eigenvectors' basis,
    scaled by 1 / √(e + λ) with the eigenvalues e, and ``residuals``
    (|q|,) those of the model of all queries. Of two equivalent systems,
    the smaller one is solved: that of the documents, or that of the
    eigenvectors.
    """
    size, n = V.shape
    # (I - VV')^-1 r, or the same as r + V (I - V'V)^-1 V'r.
    if size <= n:
        held_out_residuals = np.linalg.solve(np.eye(size) - V @ V.T, residuals)
    else:
        held_out_residuals = residuals + V @ np.linalg.solve(
            np.eye(n) - V.T @ V, V.T @ residuals
        )
    return float(held_out_residuals @ held_out_residuals)


@dataclass
class _Decomposed:
    """Cache of the eigenvalues (r,) and eigenvectors (n, r) of one dataset's X^'X^, and X^'y^, by the cost.

    r is n, or the number of documents if X was decomposed: the other
    eigenvalues are 0, and X^'y^ is orthogonal to their eigenvectors.
    """

    by_cost: dict[PairCost, tuple[Floats, Floats, Floats]] = field(default_factory=dict)


def model_steps(
    data: TrainingData, regularization: float, cost: PairCost
) -> Iterator[Step | WorkProgress]:
    """Yield the model for one λ as the only step, after progress events; its criterion is the leave-query-out error.

    ``cost`` is the loss of a pair of documents, and ``regularization``
    is λ. ``data`` are the training documents.

    Notes
    -----
    O(mn²) for the sums and O(n³) for their eigendecomposition; if there
    are at least twice as many features as documents, O(m²n) instead.
    Both are computed once for all λ, and for a single shard also the
    rows in the eigenvectors' basis. Then for each λ the error takes the
    sum over queries of |q| r min(|q|, r).
    """
    # The eigendecomposition of X^'X^, of the centred features, is
    # shared by all λ, and gives the weights directly.
    by_cost = data.shared.of(_Decomposed).by_cost
    if cost not in by_cost:
        by_cost[cost] = yield from _decomposed(data, cost)
    eigenvalues, eigenvectors, products_with_y = by_cost[cost]
    # BLAS has one thread, because with several its sums differ in their
    # last bits.
    with STEADY:
        coef: Floats = eigenvectors @ (
            (eigenvectors.T @ products_with_y) / (eigenvalues + regularization)
        )
    (error,) = yield from summed(
        data,
        "leaving queries out",
        _leave_query_out,
        cost,
        coef,
        eigenvalues,
        eigenvectors,
        regularization,
        by_blocks=True,
    )
    yield Step(
        number=1,
        selected=tuple(range(coef.size)),
        coef=coef,
        criterion=float(error[0]),
        candidates=np.empty(0),
    )


def is_wide(m: int, n: int) -> bool:
    """Return whether the features X^ are decomposed instead of X^'X^: for few documents with many features."""
    return 2 * m <= n


def _decomposed(
    data: TrainingData, cost: PairCost
) -> Waiting[tuple[Floats, Floats, Floats]]:
    """Return the eigenvalues (r,) and eigenvectors (n, r) of X^'X^, and X^'y^ (n,).

    X^ and y^ are the centred rows whose squared errors are the loss
    with this ``cost`` of pairs. With far more features than documents,
    they come from the singular values of X^, r ≤ m. BLAS has one
    thread, so that the results do not depend on the machine. Raises an
    OutOfMemoryError for too many features. ``data`` are the training
    documents. The generator yields progress events, and then returns
    the result.
    """
    # A single shard, with far more features than documents. In STEADY,
    # BLAS has one thread.
    if not data.several and is_wide(*data.X.shape):
        X, y = PairRows.of(data.whole("RankRLS"), cost).centred
        with STEADY:
            _, singular_values, right_vectors = np.linalg.svd(X, full_matrices=False)
            return singular_values**2, right_vectors.T, X.T @ y
    _refuse_large(*data.X.shape)
    gram, products_with_y = yield from sums_of_products(data, cost)
    with STEADY:
        eigenvalues, eigenvectors = np.linalg.eigh(gram)
    return np.maximum(eigenvalues, 0.0), eigenvectors, products_with_y


def nested_steps(
    data: TrainingData, order: tuple[int, ...], regularization: float, cost: PairCost
) -> Iterator[Step | WorkProgress]:
    """Yield the models with the first feature of an order, the first two, and so on, for one λ.

    The criterion of each step is the leave-query-out error of its
    model. ``cost`` is the loss of a pair of documents, and
    ``regularization`` is λ. ``data`` are the training documents.
    """
    # Row k - 1 of coefs has the model of the first k features, with 0 for all others.
    coefs, errors = yield from models_in_order(
        data, np.array(order), regularization, cost
    )
    for k in range(1, len(order) + 1):
        yield Step(
            number=k,
            selected=order[:k],
            coef=coefs[k - 1],
            criterion=float(errors[k - 1]),
            candidates=np.empty(0),
        )


def _refuse_large(m: int, n: int) -> None:
    """Raise an OutOfMemoryError if X^'X^, its eigenvectors and a work array do not fit into memory.

    Each of the three is a matrix (n, n) of numbers of 8 bytes, for n
    features; ``m``, the number of documents, is only for the message.
    Small matrices are not checked.
    """
    if (needed := 24.0 * n**2) > _LARGE and needed > (free := memory.available()):
        raise OutOfMemoryError(
            f"RankRLS: {m:,} documents with {n:,} features need {memory.size(needed)} of memory, and "
            f"{memory.size(free)} are free. Use at most {int(np.sqrt(free / 24)):,} features for this number "
            "of documents."
        )


def models_without(
    grams: Floats, total: Floats, regularizations: Sequence[float]
) -> Iterator[Floats]:
    """Yield for each λ the weights (Q, n) trained without each of some queries, O(Qn³).

    The array is overwritten for the next λ.

    Parameters
    ----------
    grams : ndarray of shape (Q, n + 1, n + 1)
        [X^ y^]'[X^ y^] of each query.
    total : ndarray of shape (n + 1, n + 1)
        Their sum over all training queries.
    regularizations : sequence of float
        λ > 0.
    """
    from rankstudio.engine.methods.rankers import _rankrls_kernel  # noqa: PLC0415 - numba

    models = np.empty((len(grams), len(total) - 1))
    with pool(worthwhile(_MULTIPLICATION * models.size * models.shape[1] ** 2 / 3)) as (
        executor,
        workers,
    ):
        cuts = np.linspace(0, len(grams), workers + 1).astype(int).tolist()
        for regularization in regularizations:
            # A default value, because a function would see later values
            # of the loop's variable.
            def learn(part: tuple[int, int], strength: float = regularization) -> None:
                """Write the weights without each query of a range (first, last) to ``models``.

                ``part`` is this range, and ``strength`` is λ.
                """
                _rankrls_kernel.leave_out(grams, total, strength, *part, models)

            share(executor, workers, learn, pairwise(cuts))
            yield models


@dataclass(frozen=True, eq=False)
class LeftOutRankRLS:
    """RankRLS models trained without each query: scores documents by the model without their query.

    Attributes
    ----------
    columns : tuple of int
        Columns of the features, ascending.
    total : ndarray of shape (k + 1, k + 1)
        [X^ y^]'[X^ y^] of these features over all queries.
    regularization : float
        λ > 0.
    cost : PairCost
    by_blocks : bool
        Whether Gram matrices are computed for some queries at a time.
        Otherwise, the matrices of all features are cached with the
        documents, unless they are much larger than the documents.
    """

    columns: tuple[int, ...]
    total: Floats
    regularization: float
    cost: PairCost
    by_blocks: bool

    def scores(self, data: QueryData) -> Floats:
        """Score the documents of some queries, each by the model trained without it, shape (m,).

        Equal documents of a query have equal scores. O(mk²
        + Qk³). ``data`` has the documents.
        """
        scores = np.zeros(len(data.y))
        # The model without features gives all documents 0. Otherwise
        # some queries at a time, with the products of their features
        # and labels; `_documents_of` are the documents of these
        # queries, and `_rows_of` their rows.
        for queries, grams in self._grams(data) if self.columns else ():
            (models,) = models_without(grams, self.total, (self.regularization,))
            block = _documents_of(data, queries)
            scores[_rows_of(data, queries)] = left_out_scores(
                block, models, self.columns
            )
        return scores

    def predictions(self, data: QueryData, regularizations: Sequence[float]) -> Floats:
        """Return the scores centred within each query for each λ, shape (L, m).

        Each document is scored by the model trained without its query.
        ``regularizations`` are the L values of λ. ``data`` has the
        documents.
        """
        scores = np.empty((len(regularizations), len(data.y)))
        # Some queries at a time; for each λ, `models` (queries, k) has
        # a model for each.
        for queries, grams in self._grams(data):
            block = _documents_of(data, queries, self.columns)
            learned = models_without(grams, self.total, regularizations)
            for row, models in zip(scores, learned, strict=True):
                row[_rows_of(data, queries)] = centred_scores(block, models)
        return scores

    def _grams(self, data: QueryData) -> Iterator[tuple[slice, Floats]]:
        """Yield ranges of queries and their Gram matrices, some megabytes at a time."""
        return (
            self._narrowed_grams(data)
            if self._are_cached(data)
            else self._computed_grams(data)
        )

    def _are_cached(self, data: QueryData) -> bool:
        """Return whether the Gram matrices of all features are cached, which the shape of the data decides."""
        numbers = (data.ptr.size - 1) * (data.X.shape[1] + 1) ** 2
        return not self.by_blocks and numbers <= max(_FEW, _TIMES * data.X.size)

    def _narrowed_grams(self, data: QueryData) -> Iterator[tuple[slice, Floats]]:
        """Yield ranges of queries, and the Gram matrices of the columns, cut out of the cached ones of all features.

        With k columns, the matrices have shape (queries, k
        + 1, k + 1), labels last. ``data`` has the
        documents.
        """
        statistics = PairRows.of(data, self.cost).statistics
        Q = data.ptr.size - 1
        # As many queries at a time as a limit of numbers in their matrices allows.
        step = max(1, _AT_ONCE // (len(self.columns) + 1) ** 2)
        for first in range(0, Q, step):
            queries = slice(first, min(first + step, Q))
            yield queries, statistics.narrowed(self.columns, queries).gram

    def _computed_grams(self, data: QueryData) -> Iterator[tuple[slice, Floats]]:
        """Yield ranges of queries, and the Gram matrices of the columns, computed from the documents.

        With k columns, the matrices have shape (queries, k
        + 1, k + 1), labels last. ``data`` has the
        documents.
        """
        m = len(data.y)
        n_queries = data.ptr.size - 1
        k = len(self.columns)
        # Blocks of whole queries limit the memory. The second argument
        # is how many numbers a document needs: k features, or the
        # document's share of the matrices if greater.
        if data.preferences is None:
            blocks = group_blocks(data.ptr, max(k, n_queries * (k + 1) ** 2 // m))
        else:
            # Preferences refer to rows of all queries, which stay together.
            blocks = iter([(0, n_queries)])
        for first, last in blocks:
            queries = slice(first, last)
            block = replace(
                _documents_of(data, queries, self.columns), preferences=data.preferences
            )
            pairs = PairRows.of(block, self.cost)
            yield (
                queries,
                query_grams(
                    *pairs.centred, pairs.ptr, np.empty((last - first, k + 1, k + 1))
                ),
            )


def _rows_of(data: QueryData, queries: slice) -> slice:
    """Return the rows of the documents of some queries."""
    return slice(data.ptr[queries.start], data.ptr[queries.stop])


def _documents_of(
    data: QueryData, queries: slice, columns: tuple[int, ...] | None = None
) -> QueryData:
    """Return the documents of a range of queries, with some columns, or with all for None.

    Some columns are copied; all columns are a view. ``data`` has the documents.
    """
    rows = _rows_of(data, queries)
    ptr = data.ptr[queries.start : queries.stop + 1]
    X = data.X[rows] if columns is None else data.X[rows].take(columns, axis=1)
    return QueryData(X, data.y[rows], ptr - ptr[0])


def left_out_models(
    data: TrainingData, columns: Sequence[int], regularization: float, cost: PairCost
) -> Waiting[LeftOutRankRLS]:
    """Return the scorer of documents by models of some features that are trained without each query.

    ``columns`` are those of the features. The scorer has the sums of
    all queries, from which a query's own are later subtracted. One pass
    over the data, O(mn²), whose result is cached for all features and
    λ. ``cost`` is the loss of a pair of documents, and
    ``regularization`` is λ. The generator yields progress events, and
    then returns the result.
    """
    total = yield from products_of(data, cost)
    chosen_columns = sorted(columns)
    # The last column is the labels.
    indices = np.array([*chosen_columns, total.shape[0] - 1])
    return LeftOutRankRLS(
        columns=tuple(chosen_columns),
        total=np.ascontiguousarray(total[np.ix_(indices, indices)]),
        regularization=regularization,
        cost=cost,
        by_blocks=data.several,  # several shards are large data
    )


def left_out_predictions(
    data: TrainingData, regularizations: Sequence[float], cost: PairCost
) -> Floats:
    """Return each document's centred score by the model without its query, for each λ, shape (L, m).

    Takes two passes over the data. ``cost`` is the loss of a pair of
    documents, and ``regularizations`` are the L values of λ.
    """
    # The λ of the scorer is not used, so any will do: `predictions` gets all λ.
    models = finish(
        left_out_models(data, range(data.X.shape[1]), regularizations[0], cost)
    )
    (predictions,) = finish(
        summed(
            data, "leaving queries out", _predictions, models, tuple(regularizations)
        )
    )
    return np.asarray(predictions)


def _predictions(
    data: QueryData, models: LeftOutRankRLS, regularizations: tuple[float, ...]
) -> tuple[Joined]:
    return (Joined(models.predictions(data, regularizations)),)
