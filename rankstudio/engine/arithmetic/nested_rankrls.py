"""RankRLS along a given order of features: every model from one factorisation, with its exact criterion.

Along a path that is known beforehand, the models with the first 1, 2, …
k features share one Cholesky factorisation, because the leading block
of a Cholesky factor is the factor of the leading block.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats, Ints, unwritable
from rankstudio.engine.support.blocks import VALUES, solve_lower


class NestedFactor(NamedTuple):
    """Factorisation shared by all models along an order S of features: T[S, S] + λI = LL', Lz = T[S, y].

    T contains X^'X^ and X^'y^ of the training data, where ^ means
    centred in each query.

    Attributes
    ----------
    coefs : ndarray of shape (k, n)
        Weights of the models: row t is the model with the first t + 1
        features of the order.
    factor : ndarray of shape (k, k)
        The lower triangular matrix L.
    along : ndarray of shape (k,)
        The vector z.
    """

    coefs: Floats
    factor: Floats
    along: Floats


def nested_factor(
    gram: Floats, right: Floats, order: Ints, regularization: float
) -> NestedFactor:
    """Train RankRLS models with the first feature of an order, the first two, and so on.

    Return the weights of the k models, with the factorisation that they share.

    Parameters
    ----------
    gram, right : ndarray of shape (n, n) and (n,)
        X^'X^ and X^'y^ of the training data, where ^ means centred in
        each query. T[S, S] and T[S, y] below are their parts for the
        features S of the order.
    order : ndarray of shape (k,)
        Columns of the k features, all different, in the order in which
        they are added.
    regularization : float
        λ > 0.

    Notes
    -----
    With T[S, S] + λI = LL' and z = L^-1 T[S, y], the weights with the
    first t features are the sum of z_i times row i of L^-1 over i <= t,
    for all t at once. O(k³).
    """
    system = gram[np.ix_(order, order)]
    system[np.diag_indices_from(system)] += regularization
    factor = factorise(system, regularization)
    inverse = solve_lower(factor, np.eye(order.size))
    along = inverse @ right[order]
    # Row t has the weights with the first t + 1 features: sums of the
    # first t + 1 terms z_i times row i of the inverse.
    coefs = np.zeros((order.size, gram.shape[0]))
    coefs[:, order] = _cumulated(along[:, None] * inverse)
    return NestedFactor(coefs=coefs, factor=factor, along=along)


def left_out_errors(
    data: QueryData, order: Ints, factor: Floats, along: Floats, regularization: float
) -> Floats:
    """Return the leave-query-out errors of models with 1, 2, … k features.

    Parameters
    ----------
    data : QueryData
        Documents of the queries, some of those that the models were trained on.
    order : ndarray of shape (k,)
        Columns of the features, in the order in which they are added.
    factor : ndarray of shape (k, k)
        L, the Cholesky factor of the models' system of equations.
    along : ndarray of shape (k,)
        z, the solution of L z = X^'y^ for the features.
    regularization : float
        λ > 0 of the models.

    Returns
    -------
    ndarray of shape (k,)
        Leave-query-out squared errors of the models, summed over
        documents: the criterion of greedy RankRLS (Pahikkala et al.
        2010, eq. (7)).

    Notes
    -----
    O(mk² + k sum_q min(|q|, k)²) time for queries of |q| documents, and O(mk) memory.
    """
    from rankstudio.engine.arithmetic._nested_kernel import nested_errors  # noqa: PLC0415 - numba

    # Fewer rows per query, which have the same squared errors.
    rows, labels, ptr = _compressed(data, order)
    # The transpose of a matrix stored by rows is stored by columns, so
    # that the kernel reads the documents of a feature from consecutive
    # memory.
    V = solve_lower(factor, rows.T).T
    # λ / L_tt² is the least pivot of column t.
    least_pivots = regularization / np.diag(factor) ** 2
    errors = np.zeros(order.size)
    nested_errors(V, labels, unwritable(ptr), along, least_pivots, errors)
    return errors


@dataclass
class _Compressed:
    """Cache of the compressed rows of some training data, for the order of features that was last used.

    Models with different λ use the same rows.
    """

    order: tuple[int, ...] = ()
    system: tuple[Floats, Floats, Ints] | None = None  # rows, labels and ptr


def _compressed(data: QueryData, order: Ints) -> tuple[Floats, Floats, Ints]:
    """Return (rows, labels, ptr) of centred data with the features of an order.

    Each query has at most k + 1 rows, for k features, with the same
    sums of products as its documents. The rows of the last order are
    cached in the data.
    """
    # The cache of the data: the order of the last call, and its result.
    # Other data of the same documents use it, too.
    last = data.shared.of(_Compressed)
    features = tuple(order.tolist())
    if last.system is None or last.order != features:
        X, y = data.centred
        last.order = features
        last.system = _compress(np.ascontiguousarray(X[:, order]), y, data.ptr)
    return last.system


def _compress(X: Floats, y: Floats, ptr: Ints) -> tuple[Floats, Floats, Ints]:
    """Return (rows, labels, ptr) with at most k + 1 rows per query, for k features.

    The new rows have the same Gram matrix of [X y], and so the same
    squared errors, as the documents X (m, k) with labels y (m,). Query
    q has the rows ``ptr[q]:ptr[q + 1]``. Long queries become shorter: a
    QR decomposition of a query has the new rows in its triangular
    factor R.
    """
    sizes = np.diff(ptr)
    max_rows = X.shape[1] + 1
    if sizes.max() <= max_rows:
        return X, y, ptr
    # The labels are the last column. Long queries become R.
    Xy = np.column_stack((X, y))
    parts = [Xy[first:last] for first, last in pairwise(ptr.tolist())]
    Xy = np.vstack(
        [
            np.linalg.qr(part, mode="r") if len(part) > max_rows else part
            for part in parts
        ]
    )
    compressed_ptr = np.append(0, np.cumsum(np.minimum(sizes, max_rows)))
    return (
        np.ascontiguousarray(Xy[:, :-1]),
        np.ascontiguousarray(Xy[:, -1]),
        compressed_ptr,
    )


def _cumulated(terms: Floats) -> Floats:
    """Return the cumulated sums of the rows, which overwrite the rows.

    ``terms`` has shape (k, n).
    """
    step = max(1, VALUES // len(terms))
    for first in range(0, terms.shape[1], step):
        part = terms[:, first : first + step]
        np.cumsum(part, axis=0, out=part)
    return terms


def factorise(matrix: Floats, regularization: float) -> Floats:
    """Return the lower triangular L with LL' = matrix, with every pivot at least λ.

    λ is ``regularization``, which the matrix contains. In exact
    arithmetic no pivot is less; pivots that rounding made less are
    raised.
    """
    try:
        return np.asarray(np.linalg.cholesky(matrix))
    except np.linalg.LinAlgError:
        return _clamped_cholesky(matrix, regularization)


def _clamped_cholesky(matrix: Floats, least: float) -> Floats:
    """Return the lower triangular L with LL' = matrix, raising pivots that rounding made too small.

    ``least`` is the least pivot in exact arithmetic, λ. The columns are
    computed one by one, for a matrix that NumPy's decomposition
    refuses.
    """
    matrix = matrix.copy()
    factor = np.zeros_like(matrix)
    for i in range(matrix.shape[0]):
        pivot = np.sqrt(max(matrix[i, i], least))
        factor[i, i] = pivot
        factor[i + 1 :, i] = matrix[i + 1 :, i] / pivot
        # The later rows and columns, without the part of this one.
        matrix[i + 1 :, i + 1 :] -= np.outer(factor[i + 1 :, i], factor[i + 1 :, i])
    return factor
