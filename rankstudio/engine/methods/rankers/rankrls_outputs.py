"""RankRLS with several outputs: labels of shape (m, v) share one factorisation (Paper I, section 3.2)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arithmetic.nested_rankrls import factorise
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData, centre, check_labels
from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData, dense, is_sparse
from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.preferences.preferences import Preferences
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.methods.pair_learners import PairwiseLeastSquares, labels_or_zeros, preferring, unusual
from rankstudio.engine.methods.rankers.rankrls_gradient import ConjugateGradients
from rankstudio.engine.methods.rankers.rankrls_shards import products_of
from rankstudio.engine.methods.scikit_learn import validate_data
from rankstudio.engine.methods.shards.training_data import training_data
from rankstudio.engine.steps import Iteration, Step
from rankstudio.engine.support.blocks import solve_lower
from rankstudio.engine.support.query_ids import checked_ids

Sums = tuple[Floats, Floats]
"""X^'X^ (n, n) and X^'y^ (n,) or (n, v)."""


class OutputModels:
    """Models of any number of label vectors for the same documents, and their leave-query-out residuals.

    Parameters
    ----------
    data : QueryData
        Documents; its labels are not looked at.
    regularization : float
        λ > 0.

    Notes
    -----
    O(mn² + n³) once, and O(|q|³ + n|q|²) for each query, or with n for |q| where that is less. Then
    O((m + n)n) for the weights of an output, and O(mn + sum of |q|²) for its residuals.
    """

    def __init__(self, data: QueryData, regularization: float) -> None:
        self._X, self._ptr = data.centred[0], data.ptr
        left: Floats = self._X.T @ self._X
        left[np.diag_indices_from(left)] += regularization
        self._factor = factorise(left, regularization)
        self._solvers: list[Callable[[Floats], Floats]] | None = None

    def weights(self, labels: Floats) -> Floats:
        """Return the weights (n, v) for centred labels (m, v)."""
        from scipy.linalg import cho_solve  # noqa: PLC0415 - where it is needed

        coefs: Floats = cho_solve((self._factor, True), self._X.T @ labels, check_finite=False)
        return coefs

    def residuals(self, labels: Floats) -> Floats:
        """Return what the models without each query leave of its centred labels, both of shape (m, v)."""
        rest: Floats = labels - self._X @ self.weights(labels)
        for (first, last), solve in zip(pairwise(self._ptr.tolist()), self._left_out(), strict=True):
            rest[first:last] = solve(rest[first:last])
        return rest

    def _left_out(self) -> list[Callable[[Floats], Floats]]:
        """Return for each query the product with (I - V_q V_q')^-1, V = X^ L'^-1."""
        if self._solvers is None:
            V = np.ascontiguousarray(solve_lower(self._factor, self._X.T).T)
            self._solvers = [_inverse(V[first:last]) for first, last in pairwise(self._ptr.tolist())]
        return self._solvers


def _inverse(rows: Floats) -> Callable[[Floats], Floats]:
    """Return the product with (I - RR')^-1 for the rows R of a query, by the smaller of the two Grams."""
    size, n = rows.shape
    gram = rows @ rows.T if size <= n else rows.T @ rows
    inverse = np.asarray(np.linalg.inv(np.eye(min(size, n)) - gram), dtype=np.float64)
    if size <= n:
        return lambda right: inverse @ right
    far: Floats = rows @ inverse
    return lambda right: right + far @ (rows.T @ right)


class FittedOutputs(NamedTuple):
    """What RankRLS knows of several outputs: weights (v, n), criteria (v,), iterations and sums."""

    coef: Floats
    criterion: Floats
    n_iter: int
    sums: Sums | None


def several_outputs(y: Any) -> Floats | None:
    """Return labels of several outputs, shape (m, v) with v > 1; None for any others."""
    try:
        shape = np.shape(y)
    except ValueError:  # rows of different lengths, which validation refuses
        return None
    if len(shape) != 2 or shape[1] < 2:
        return None
    return np.ascontiguousarray(y, dtype=np.float64)


def query_ids(qid: ArrayLike | None) -> frozenset[Any]:
    """Return the different queries; none where there is no qid."""
    return frozenset() if qid is None else frozenset(np.unique(checked_ids(qid)).tolist())


def centred_labels(data: QueryData | SparseQueryData, outputs: Floats | None = None) -> Floats:
    """Return labels minus their mean inside each query, in the order of the grouped rows.

    Parameters
    ----------
    data : QueryData or SparseQueryData
    outputs : ndarray of shape (m, v), optional
        Labels in the order of the rows of X; those of ``data`` where it is not given.
    """
    if outputs is None:
        return data.centred_labels if isinstance(data, SparseQueryData) else data.centred[1]
    for column in outputs.T:
        check_labels(data.X.shape, column)
    return centre(outputs if data.order is None else outputs[data.order], data.ptr)


def fit_outputs(
    data: QueryData | SparseQueryData, outputs: Floats, regularization: float, gradients: ConjugateGradients
) -> FittedOutputs:
    """Learn a model for each output, labels of shape (m, v)."""
    labels = centred_labels(data, outputs)
    if gradients.serve(data) or isinstance(data, SparseQueryData):
        ends = []
        for column in np.ascontiguousarray(labels.T):
            *_, last = gradients.iterations(data, column, regularization)
            gradients.warn_unless_converged(last)
            ends.append(last)
        criteria = np.array([end.criterion for end in ends])
        return FittedOutputs(
            np.stack([end.coef for end in ends]), criteria, max(end.number for end in ends), None
        )
    models = OutputModels(data, regularization)
    criteria = np.einsum("mv,mv->v", *2 * (models.residuals(labels),))
    sums = data.centred[0].T @ data.centred[0], data.centred[0].T @ labels
    return FittedOutputs(models.weights(labels).T, criteria, 1, sums)


def left_out_outputs(data: QueryData | SparseQueryData, outputs: Floats, regularization: float) -> Floats:
    """Predict each document with the models learned without its query, shape (m, v), centred."""
    labels = centred_labels(data, outputs)
    rest = OutputModels(dense(data), regularization).residuals(labels)
    return dense(data).in_original_order(labels - rest)


def added(
    before: Sums | None, known: frozenset[Any], data: QueryData, outputs: Floats | None, ids: frozenset[Any]
) -> Sums:
    """Return the sums with those of further queries.

    Raises
    ------
    DatasetError
        For a query that was there before, or another number of outputs.
    """
    both = sorted(map(str, known & ids))
    if both:
        raise DatasetError(
            f"qid: expected new queries, found {', '.join(both[:3])} again. Pass all documents of a query in "
            "one call."
        )
    X, labels = data.centred[0], centred_labels(data, outputs)
    sums = X.T @ X, X.T @ labels
    if before is None:
        return sums
    if before[1].shape != sums[1].shape:
        raise DatasetError(
            f"y: expected as many outputs as before, {before[1][0].size}, got {sums[1][0].size}."
        )
    return before[0] + sums[0], before[1] + sums[1]


def solved(gram: Floats, right: Floats, regularization: float) -> Floats:
    """Return (X^'X^ + λI)^-1 X^'y^, shape (n,) or (v, n): O(n³)."""
    from scipy.linalg import cho_solve  # noqa: PLC0415 - where it is needed

    left = gram.copy()
    left[np.diag_indices_from(left)] += regularization
    coef: Floats = cho_solve((factorise(left, regularization), True), right, check_finite=False)
    return coef.T


class SeveralOutputs(PairwiseLeastSquares):
    """Base of a ranker by least squares that learns several outputs at once, and from further queries later.

    Its parameters include ``regularization``, ``solver``, ``tol`` and ``max_iter`` of
    :class:`ConjugateGradients`, and those of the loss of a pair. Several outputs are learned with the default
    one, further queries with any whose pairs are inside queries.

    Attributes
    ----------
    criterion_ : float or ndarray of shape (v,)
    n_iter_ : int
        Conjugate gradients taken; 1 without.
    """

    solver: str
    tol: float
    max_iter: int
    pairs: str

    criterion_: float | Floats
    n_iter_: int
    _sums: Sums | None

    @property
    def _gradients(self) -> ConjugateGradients:
        return ConjugateGradients.of(self.solver, self.tol, self.max_iter)

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        preferences: Preferences | None = None,
    ) -> Self:
        """Learn from documents, labels and queries; parameters as for :meth:`steps`.

        Parameters
        ----------
        X : array-like of shape (m, n)
        y : array-like of shape (m,) or (m, v)
            Labels; v outputs are learned from one factorisation.
        qid : array-like of shape (m,), optional
        preferences : Preferences, optional
            Between rows of X of one query each, in place of y.

        Returns
        -------
        self
        """
        outputs = several_outputs(y)
        labels = labels_or_zeros(X, y if outputs is None else outputs[:, 0], preferences)
        data = self._validated(X, labels, qid)
        self._queries = query_ids(qid)
        if outputs is None:
            return self._fit(preferring(data, preferences))
        self.refuse_several_outputs()
        self.coef_, self.criterion_, self.n_iter_, self._sums = fit_outputs(
            data, outputs, self.checked("regularization"), self._gradients
        )
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        preferences: Preferences | None = None,
    ) -> Self:
        """Learn from further queries too, beside those of :meth:`fit` and of earlier calls.

        Parameters
        ----------
        X : array-like of shape (m, n)
        y : array-like of shape (m,) or (m, v)
        qid : array-like of shape (m,), optional
            Their queries, all of whose documents come in one call; without it they are one query.
        preferences : Preferences, optional
            In place of y, as for :meth:`fit`.

        Returns
        -------
        self

        Raises
        ------
        DatasetError
            For a query that was there before.

        Notes
        -----
        O(mn² + n³): X^'X^ and X^'y^ are sums over queries (Airola 2011, section 6.3). The weights are those
        of one ``fit`` on everything, up to rounding.
        """
        outputs = several_outputs(y)
        labels = labels_or_zeros(X, y if outputs is None else outputs[:, 0], preferences)
        data = preferring(self._further(X, labels, qid), preferences)
        if self.checked("pairs") != "query":
            raise ParameterError("pairs", self.pairs, "query when further queries are added")
        if outputs is not None:
            self.refuse_several_outputs()
        data = PairRows.of(data, self.pair_cost())
        regularization = self.checked("regularization")
        before = getattr(self, "_sums", None)
        if before is None and hasattr(self, "coef_"):
            raise ParameterError(
                "solver", "cg", "direct when further queries are added, because it keeps X^'X^"
            )
        known: frozenset[Any] = getattr(self, "_queries", frozenset())
        further = query_ids(qid)
        self._sums = added(before, known, data, outputs, further)
        self._queries = known | further
        self.coef_ = solved(*self._sums, regularization)
        self.criterion_ = np.nan if outputs is None else np.full(outputs.shape[1], np.nan)
        self.n_iter_ = 1
        return self

    def refuse_several_outputs(self) -> None:
        """Raise ParameterError where the loss is one that several outputs are not learned with."""
        expected = "{} with several outputs, or one output at a time"
        if name := unusual(self.pair_cost()):
            raise ParameterError(name, getattr(self, name), expected.format("the default"))
        if self.checked("pairs") != "query":
            raise ParameterError("pairs", self.pairs, expected.format("query"))

    def _further(self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None) -> QueryData:
        """Check further queries, and return them grouped."""
        first = not hasattr(self, "coef_")
        features, labels = validate_data(self, X, y, y_numeric=True, dtype=np.float64, reset=first)
        data: QueryData = self._group(features, labels, qid, getattr(self, "feature_names_in_", None))
        return data

    def _finish(self, data: QueryData, taken: list[Step]) -> None:
        last = taken[-1]
        self.criterion_, self.n_iter_, self._sums = last.criterion, last.number, None
        if isinstance(last, Iteration):
            self._gradients.warn_unless_converged(last)
        if isinstance(last, Iteration) or self.pairs != "query":
            return
        self._sums = products_of(training_data(data), self.pair_cost())

    def _score(self, X: Any) -> Floats:
        if self.coef_.ndim == 1:
            return super()._score(X)
        if is_sparse(X):
            return np.asarray(X.dot(self.coef_.T))
        return linear_scores(np.ascontiguousarray(X.T), self.coef_).T
