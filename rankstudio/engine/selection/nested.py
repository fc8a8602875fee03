"""RankRLS along a given order of features: every model from one factorisation, with its exact criterion.

Along a path that is known beforehand, the models with the first 1, 2, … k features share one Cholesky
factorisation, because the leading block of a Cholesky factor is the factor of the leading block. That holds
for the models that leave a query out as well.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from rankstudio.engine.querywise import Grouped

Floats = NDArray[np.float64]


def nested_models(data: Grouped, order: NDArray[np.int64], regularization: float) -> tuple[Floats, Floats]:
    """Learn RankRLS with the first feature of an order, the first two, and so on.

    Parameters
    ----------
    data : Grouped
        Training data.
    order : ndarray of shape (k,)
        Different columns.
    regularization : float
        λ > 0.

    Returns
    -------
    coefs : ndarray of shape (k, n)
        Row t has the weights with the first t + 1 features, 0 for the others.
    errors : ndarray of shape (k,)
        The leave-query-out squared errors of these models, summed over documents: what greedy RankRLS
        minimises (Pahikkala et al. 2010, eq. (7)).

    Notes
    -----
    With TS = T[S, S] + λI = LL' and z = L^-1 T[S, y], the weights with the first t features are the sum of
    z_i times row i of L^-1 over i <= t, for all t at once. O(mk² + Qk³) time for m documents in Q queries and
    O(mk) memory; all of it in BLAS-3.
    """
    X, y = data.centred
    X = np.ascontiguousarray(X[:, order])
    gram, right = X.T @ X, X.T @ y
    inverse, along = _factorise(gram, right, regularization)
    coefs = np.zeros((order.size, data.X.shape[1]))
    coefs[:, order] = np.cumsum(along[:, None] * inverse, axis=0)
    errors = np.zeros(order.size)
    for first, last in zip(data.ptr[:-1], data.ptr[1:], strict=True):
        held, labels = X[first:last], y[first:last]
        if last - first > 1:  # a document alone has nothing to be compared with: all of it is 0
            inverse, along = _factorise(gram - held.T @ held, right - labels @ held, regularization)
            residuals = labels[:, None] - np.cumsum((held @ inverse.T) * along, axis=1)
            errors += np.einsum("mt,mt->t", residuals, residuals)
    return coefs, errors


def _factorise(gram: Floats, right: Floats, regularization: float) -> tuple[Floats, Floats]:
    """Return L^-1 and L^-1 ``right`` for gram + λI = LL'."""
    left = gram.copy()
    left[np.diag_indices_from(left)] += regularization
    try:
        factor = cholesky(left, lower=True, check_finite=False)
    except LinAlgError:
        factor = _clamped_cholesky(left, regularization)
    inverse = solve_triangular(factor, np.eye(left.shape[0]), lower=True, check_finite=False)
    return np.asarray(inverse), np.asarray(inverse @ right)


def _clamped_cholesky(left: Floats, least: float) -> Floats:
    """Factorise with pivots of at least λ, which they would be without rounding."""
    left = left.copy()
    factor = np.zeros_like(left)
    for i in range(left.shape[0]):
        pivot = np.sqrt(max(left[i, i], least))
        factor[i, i] = pivot
        factor[i + 1 :, i] = left[i + 1 :, i] / pivot
        left[i + 1 :, i + 1 :] -= np.outer(factor[i + 1 :, i], factor[i + 1 :, i])
    return factor
