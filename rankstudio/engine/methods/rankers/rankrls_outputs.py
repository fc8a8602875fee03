"""RankRLS with several outputs, labels of shape (m, v), which share one factorisation (Paper I, section 3.2).

Also the sums X^'X^ and X^'y^ of RankRLS, to which further queries can
be added (Airola 2011, section 6.3).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arithmetic.nested_rankrls import factorise
from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.query_data import (
    QueryData,
    centre,
    check_labels,
    several_queries,
)
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.methods.capabilities import LabelPaths, Share
from rankstudio.engine.methods.permuted_labels import rows_and_targets
from rankstudio.engine.methods.rankers.rankrls_gradient import ConjugateGradients
from rankstudio.engine.support.blocks import solve_lower
from rankstudio.engine.support.query_ids import checked_ids

_OUTPUTS_PER_PRODUCT = 16  # label vectors that are multiplied together

Sums = tuple[Floats, Floats]
"""X^'X^ (n, n) and X^'y^ (n,) or (n, v)."""


class OutputModels:
    """Models of any number of label vectors for the same documents, and their leave-query-out residuals.

    Parameters
    ----------
    data : QueryData
        Documents; their labels are not used.
    regularization : float
        λ > 0.

    Notes
    -----
    O(mn² + n³) once, and O(|q|³ + n|q|²) for each query, or with n instead of
    |q| if that is less. Then O((m + n)n) for the weights of an output, and O(mn
    + sum of |q|²) for its residuals.
    """

    def __init__(self, data: QueryData, regularization: float) -> None:
        """Factorise X^'X^ + λI, with the features X^ centred within queries; labels come later.

        ``regularization`` is λ. The labels of ``data`` are not used.
        """
        self._X = data.centred[0]  # the other item are the labels
        self._ptr = data.ptr
        regularized: Floats = self._X.T @ self._X
        regularized[np.diag_indices_from(regularized)] += regularization
        # Cholesky's factor L; its pivots are at least λ.
        self._factor = factorise(regularized, regularization)
        # For each query, a function; made when needed.
        self._solvers: list[Callable[[Floats], Floats]] | None = None

    def weights(self, labels: Floats) -> Floats:
        """Return the weights (n, v) for centred labels (m, v)."""
        from scipy.linalg import cho_solve  # noqa: PLC0415 - where it is needed

        coefs: Floats = cho_solve(
            # True: the factor is the lower triangle.
            (self._factor, True),
            self._X.T @ labels,
            check_finite=False,
        )
        return coefs

    def residuals(self, labels: Floats) -> Floats:
        """Return the leave-query-out residuals (m, v) for centred labels (m, v).

        The residuals of a query are those of the models trained without it.
        """
        residuals: Floats = labels - self._X @ self.weights(labels)
        # Each function turns the residuals of a query in the model of
        # all queries into those without the query.
        for (first, last), solve in zip(
            pairwise(self._ptr.tolist()), self._query_solvers(), strict=True
        ):
            residuals[first:last] = solve(residuals[first:last])
        return residuals

    def _query_solvers(self) -> list[Callable[[Floats], Floats]]:
        """Return a function for each query that multiplies by (I - V_q V_q')^-1.

        It turns the query's residuals (|q|, v) in the model of all
        queries into those of the model without the query. X^ (m, n) are
        the features minus their mean in each query, L is the Cholesky
        factor of X^'X^ + λI, and V_q are the rows of the query in V =
        X^ L'^-1. The functions are made once, and stored.
        """
        if self._solvers is None:
            # `_X` is X^. `_inverse` makes the function for the rows V_q
            # of a query.
            V = np.ascontiguousarray(solve_lower(self._factor, self._X.T).T)
            self._solvers = [
                _inverse(V[first:last]) for first, last in pairwise(self._ptr.tolist())
            ]
        return self._solvers


def _inverse(rows: Floats) -> Callable[[Floats], Floats]:
    """Return the function that multiplies by (I - RR')^-1 for the rows R (|q|, n) of a query.

    It takes and returns an array of shape (|q|, v). The smaller matrix
    is inverted: if RR' (|q|,
    |q|) is larger than R'R (n, n), then (I -
    RR')^-1 = I + R (I - R'R)^-1 R' is used.
    """
    size, n = rows.shape
    gram = rows @ rows.T if size <= n else rows.T @ rows
    inverse = np.asarray(np.linalg.inv(np.eye(min(size, n)) - gram), dtype=np.float64)
    if size <= n:
        return lambda right: inverse @ right
    rows_times_inverse: Floats = rows @ inverse
    return lambda right: right + rows_times_inverse @ (rows.T @ right)


def several_outputs(y: Any) -> Floats | None:
    """Return labels of several outputs, shape (m, v) with v > 1.

    ``y`` are labels of any shape. The result is None for a single output.
    """
    try:
        shape = np.shape(y)
    except ValueError:  # rows of different lengths, which validation refuses
        return None
    if len(shape) != 2 or shape[1] < 2:
        return None
    return np.ascontiguousarray(y, dtype=np.float64)


def query_ids(qid: ArrayLike | None) -> frozenset[Any]:
    """Return the distinct ids of queries in ``qid``; none for None."""
    return (
        frozenset() if qid is None else frozenset(np.unique(checked_ids(qid)).tolist())
    )


def centred_labels(
    data: QueryData | SparseQueryData, outputs: Floats | None = None
) -> Floats:
    """Return labels minus their mean within each query, in the order of the grouped rows.

    Parameters
    ----------
    data : QueryData or SparseQueryData
    outputs : ndarray of shape (m, v), optional
        Labels in the order of the rows of X; by default those of ``data``.
    """
    if outputs is None:
        return data.centred_labels
    for column in outputs.T:
        check_labels(data.X.shape, column)
    return centre(outputs if data.order is None else outputs[data.order], data.ptr)


def fit_outputs(
    data: QueryData | SparseQueryData,
    outputs: Floats,
    regularization: float,
    gradients: ConjugateGradients,
) -> tuple[Floats, Floats, int, Sums | None]:
    """Train a model for each of several outputs.

    Parameters
    ----------
    data : QueryData or SparseQueryData
        Documents; their labels are not used.
    outputs : ndarray of shape (m, v)
        Labels of each output, in the order of the rows of X.
    regularization : float
        λ > 0.
    gradients : ConjugateGradients
        Solver, used if it is chosen or X is sparse.

    Returns
    -------
    weights : ndarray of shape (v, n)
    criteria : ndarray of shape (v,)
        Leave-query-out errors; with conjugate gradients the minima of the objective.
    iterations : int
        1; with conjugate gradients the largest number of iterations of an output.
    sums : tuple of ndarray, or None
        X^'X^ and X^'Y^; None with conjugate gradients.
    """
    # Conjugate gradients solve each output by itself. The last
    # iteration of each has the weights.
    labels = centred_labels(data, outputs)
    if gradients.are_used_for(data):
        last_iterations = []
        for column in np.ascontiguousarray(labels.T):
            *_, last = gradients.iterations(data, column, regularization)
            gradients.warn_unless_converged(last)
            last_iterations.append(last)
        criteria = np.array([last.criterion for last in last_iterations])
        weights = np.stack([last.coef for last in last_iterations])
        return weights, criteria, max(last.number for last in last_iterations), None
    # Directly, all outputs share one decomposition. Their residuals (m,
    # v) are those of the models without the query of a document.
    data = data.dense()
    models = OutputModels(data, regularization)
    residuals = models.residuals(labels)
    criteria = np.einsum("mv,mv->v", residuals, residuals)
    X = data.centred[0]
    sums = (X.T @ X, X.T @ labels)
    return models.weights(labels).T, criteria, 1, sums


def left_out_outputs(
    data: QueryData | SparseQueryData, outputs: Floats, regularization: float
) -> Floats:
    """Predict each document by the models trained without its query: centred scores, shape (m, v).

    ``outputs`` (m, v) are labels, with a model for each of v outputs.
    Rows are in their order, that of X. ``regularization`` is λ.
    ``data`` has the documents.
    """
    labels = centred_labels(data, outputs)
    residuals = OutputModels(data.dense(), regularization).residuals(labels)
    return data.dense().in_original_order(labels - residuals)


def added(
    earlier_sums: Sums | None,
    earlier_ids: frozenset[Any],
    data: QueryData,
    outputs: Floats | None,
    ids: frozenset[Any],
) -> Sums:
    """Return the earlier sums, or 0 if there are none, plus the sums of further queries.

    The sums are X^'X^ and X^'y^ of centred features and labels.
    ``data`` are the further queries, ``outputs`` (m, v) their labels if
    there are several, and ``ids`` the ids of their queries;
    ``earlier_ids`` are those of earlier calls.

    Raises
    ------
    DatasetError
        For a query of an earlier call, or another number of outputs.
    """
    # A query must not be split: the pairs of a document of this call
    # and one of an earlier call would be missing.
    repeated = sorted(map(str, earlier_ids & ids))
    if repeated:
        raise DatasetError(
            f"qid: expected new queries, found {', '.join(repeated[:3])} again. Pass all documents of a "
            "query in one call."
        )
    # The sums of the further queries.
    X = data.centred[0]
    labels = centred_labels(data, outputs)
    gram = X.T @ X
    products_with_y = X.T @ labels
    if earlier_sums is None:
        return gram, products_with_y
    earlier_gram, earlier_products = earlier_sums
    if earlier_products.shape != products_with_y.shape:
        raise DatasetError(
            f"y: expected as many outputs as before, {earlier_products[0].size}, "
            f"got {products_with_y[0].size}."
        )
    return earlier_gram + gram, earlier_products + products_with_y


def solved(gram: Floats, right: Floats, regularization: float) -> Floats:
    """Return the weights (X^'X^ + λI)^-1 X^'y^, shape (n,) or (v, n) for v outputs: O(n³).

    ``regularization`` is λ, ``gram`` (n, n) is X^'X^, and ``right``
    (n,) or (n, v) is X^'y^.
    """
    from scipy.linalg import cho_solve  # noqa: PLC0415 - where it is needed

    regularized = gram.copy()
    regularized[np.diag_indices_from(regularized)] += regularization
    coef: Floats = cho_solve(
        # True: the factor is the lower triangle.
        (factorise(regularized, regularization), True),
        right,
        check_finite=False,
    )
    return coef.T


def label_paths(data: QueryData, regularization: float, cost: PairCost) -> LabelPaths:
    """Return a function from label vectors (P, m) to the leave-query-out error of each, in arrays (1,).

    All label vectors share one factorisation of the features. ``cost``
    is the loss of pairs. Raises a DatasetError for a single query.
    ``regularization`` is λ. ``data`` has the documents.
    """
    several_queries(data.ptr, "The permutation test of RankRLS")  # for its error only
    # Rows whose squared errors are the loss, and the function that
    # converts labels of documents to targets of these rows.
    data, targets = rows_and_targets(cost, data)
    models = OutputModels(data, regularization)

    def paths(labels: Floats, share: Share) -> list[Floats]:
        """Return the leave-query-out error of each label vector in ``labels`` (P, m), in arrays (1,).

        ``share`` calls a function with each of some numbers, on several
        threads. ``models`` and ``targets`` are those of the enclosing
        function.
        """
        centred = targets(np.ascontiguousarray(labels.T))
        criteria = np.empty((labels.shape[0], 1))

        def learn(first: int) -> None:
            """Write the errors of some label vectors from ``first`` on to ``criteria``.

            Several vectors at a time are outputs of one product. Uses
            the centred targets (m, P), the ``models`` and ``criteria``
            (P, 1) of the enclosing functions.
            """
            part = slice(first, first + _OUTPUTS_PER_PRODUCT)
            residuals = models.residuals(np.ascontiguousarray(centred[:, part]))
            criteria[part, 0] = np.einsum("mv,mv->v", residuals, residuals)

        share(learn, range(0, labels.shape[0], _OUTPUTS_PER_PRODUCT))
        return list(criteria)

    return paths
