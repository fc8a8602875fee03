"""RankRLS with a kernel: exact, or with some documents as basis vectors (Pahikkala et al. 2009)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstudio.engine.arithmetic.kernel_functions import PRECOMPUTED, Kernel
from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.pair_cost.pair_rows import query_factors
from rankstudio.engine.arithmetic.query_data import QueryData, centre, several_queries
from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.preferences import Preferences
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.shared import LAMBDA
from rankstudio.engine.methods.holdout import (
    HeldOutPredictor,
    HoldOutRanker,
    KernelDecomposition,
)
from rankstudio.engine.methods.kernels.kernel_model import (
    BasisStep,
    KernelModel,
    KernelStep,
)
from rankstudio.engine.methods.kernels.nystrom import (
    DependentBasisWarning,
    KernelMapped,
    basis_of,
    kernel_need,
    kernel_of,
    nystrom_features,
    refuse_too_large,
)
from rankstudio.engine.methods.kernels.shared_work import (
    basis_vectors,
    left_out_predictions,
    shared,
)
from rankstudio.engine.methods.left_out import first_twins, with_columns
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed
from rankstudio.engine.methods.pair_learners import (
    PairwiseLeastSquares,
    held_out_weighting,
    labels_or_zeros,
    non_default_parameter,
    preferring,
)
from rankstudio.engine.methods.rankers.rankrls_outputs import several_outputs
from rankstudio.engine.methods.shards.training_data import GivenData, training_data
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import Note, Waiting, WorkProgress, finish
from rankstudio.plugins.kernels.entries import KERNEL_RANKRLS
from rankstudio.plugins.kernels.kernel_outputs import (
    in_order_of_queries,
    left_out_errors,
    output_slopes,
    weights_of_columns,
    with_outputs,
)
from rankstudio.plugins.kernels.systems import (
    DualSystem,
    KernelSystem,
    QueryFactor,
    ReducedSystem,
)

# of a precomputed kernel: largest |K - K'|, as a share of the largest |K|
_MAX_ASYMMETRY = 1e-10


@dataclass(frozen=True, eq=False)
class _Decomposed:
    """A decomposed system of kernel RankRLS, shared by models with different λ.

    Attributes
    ----------
    system : KernelSystem
    basis : ndarray of shape (r,)
        Rows of the basis vectors among the documents grouped by query.
    warning : str
        Note for the user on dropped basis vectors; "" for none.
    twins_cache : list of ndarray
        Result of :meth:`twins`, once it is known.
    """

    system: KernelSystem
    basis: Ints
    warning: str = ""
    twins_cache: list[NDArray[Any]] = field(default_factory=list)

    @property
    def n_bytes(self) -> int:
        """Bytes of the system, including those that :meth:`twins` may take."""
        m = int(self.system.factor.documents[-1])
        return self.system.n_bytes + m * np.min_scalar_type(m).itemsize

    def twins(self, data: QueryData) -> NDArray[Any]:
        """Return for each document the first one of its query with the same features, (m,).

        ``data`` are those that were decomposed. The result is computed once.
        """
        if not self.twins_cache:
            firsts = first_twins(data)
            self.twins_cache.append(firsts.astype(np.min_scalar_type(firsts.size)))
        return self.twins_cache[0]


@dataclass(eq=False, repr=False)
class KernelRankRLS(HoldOutRanker, PairwiseLeastSquares, KernelMapped):
    """Kernel RankRLS fits a sum of kernel functions by least squares on pairs of documents.

    Minimizes the loss of RankRLS, sum_q 1/(2|q|) sum_{i,j in q} (y_i -
    y_j - f(x_i) + f(x_j))² + λ||f||², over functions f = Σ_i b_i k(·,
    x_i). The sum is over all training documents (Pahikkala et al. 2009,
    section 3.2), or over some of them, the basis vectors (section 3.5,
    eqs. (40)-(42)).

    Parameters
    ----------
    kernel : {"rbf", "poly", "linear", "precomputed"}, sum or callable, default "rbf"
        The kernels of documents x and z are exp(-γ||x - z||²), (γ x'z +
        c)^d and x'z. Sums of products with weights greater than 0, such
        as "linear +
        0.5 * linear * rbf", are kernels, too; their parts have the same γ, c
        and d. For "precomputed", X contains the kernel values between
        its documents, and for ``predict`` the values between the new
        documents (rows) and the training documents. A callable takes
        documents (a, n) and (b, n) and returns values (a, b).
    regularization : float, default 1.0
        λ > 0.
    gamma : float, default 2^-6
        γ > 0.
    degree : int, default 3
        d, from 1 up.
    coef0 : float, default 1.0
        c, from 0 up.
    n_basis : int, optional
        Number of basis vectors; by default all documents, which is exact.
    basis : {"uniform", "per_query"}, default "uniform"
        Whether basis vectors are drawn from all documents with equal
        probability, or in equal numbers per query.
    seed : int, default 0
        Seed of the draw.
    cost, ties, weighting
        Loss of a pair, as in :class:`rankstudio.engine.RankRLS`.
    pairs : {"query", "pointwise"}, default "query"
        "pointwise" is regularised least squares, Σ_i (y_i - f(x_i) -
        b)² + λ||f||², with an intercept b (thesis, section 3.4.1), or
        with basis vectors sparse RLS (Paper V). Scores do not contain
        b.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (r,) or (v, r)
        The weights b of the basis vectors; one row for each output of
        labels y of shape (m, v).
    basis_ : ndarray of shape (r,)
        Rows of X that are the basis vectors. Linearly dependent ones
        are dropped, with a ``DependentBasisWarning``.
    basis_vectors_ : ndarray of shape (r, n)
        Basis vectors: the rows ``basis_`` of X.
    coef_ : ndarray of shape (n,) or (v, n)
        Importance of each feature: the root mean square slope of the
        score at up to 500 basis vectors, which is |w| for the linear
        kernel. For a precomputed kernel, whose columns are documents,
        the weights of the documents.
    criterion_ : float or ndarray of shape (v,)
        Leave-query-out squared error, summed over documents. Each query
        is predicted by the model trained without the query *and* its
        basis vectors. With another cost or weighting, the loss of the
        pairs of left-out queries. For a single query, the
        leave-pair-out error; NaN with fewer basis vectors than
        documents. With ``pairs="pointwise"``, its leave-one-out error,
        also with basis vectors.

    Notes
    -----
    The exact model takes O(m³ + m²n) for m documents, once for all λ, then O(m²
    + m sum_q |q|²) per λ with the leave-query-out error. Its memory is five m ×
    m matrices.

    With r basis vectors, of which H_q are in query q, the model takes
    O(mr² + mrn) once, then O(r²) per λ, and O(r sum_q (|q| + |H_q|)²)
    for the error.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> model = KernelRankRLS(gamma=0.1, n_basis=50).fit(train.X, train.y, qid=train.qid)
    >>> model.dual_coef_.shape
    (50,)
    """

    entry = KERNEL_RANKRLS

    criterion_: float | Floats = field(init=False)
    dual_coef_: Floats = field(init=False)

    regularization: float = 1.0
    _: KW_ONLY
    pairs: Literal["query", "pointwise"] = "query"

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return 1

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        is_exact = self.n_basis is None or self.n_basis >= shape.m
        return kernel_need(shape, self.n_basis, is_exact, n_other_kernels=2)

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Yield progress and the only step; its criterion is the leave-query-out error.

        The step has the fitted model. For data with one query, the
        criterion is the error with pairs or documents left out.
        """
        # All documents at once. The label of the method is for the
        # error if they do not fit into memory.
        rows: QueryData = training_data(data).whole(self.entry.label)
        kernel = kernel_of(self)
        regularization = self.checked("regularization")

        # One decomposition gives the weights and the leave-query-out error.
        decomposed = yield from self._decomposed(rows, kernel)
        weights = decomposed.system.dual(regularization)
        n_features = rows.X.shape[1]
        columns = tuple(range(n_features))
        criterion = yield from self._criterion(rows, decomposed, regularization)
        no_candidates = np.empty(0)
        if kernel.function == PRECOMPUTED:
            # With a precomputed kernel, each column is a document, so
            # that the weights are coefficients. `basis` has the rows of
            # the basis vectors in the documents grouped by query.
            coef = np.zeros(n_features)
            coef[_original_rows(rows, decomposed.basis)] = weights
            yield BasisStep(
                number=1,
                selected=columns,
                coef=coef,
                criterion=criterion,
                candidates=no_candidates,
                basis=decomposed.basis,
                dual=weights,
            )
        else:
            # Otherwise the model keeps its basis vectors, to compute
            # the kernel with new documents.
            model = KernelModel(kernel, basis_vectors(rows, decomposed.basis), weights)
            yield KernelStep(
                number=1,
                selected=columns,
                coef=model.slopes(),
                criterion=criterion,
                candidates=no_candidates,
                basis=decomposed.basis,
                dual=weights,
                model=model,
            )

    def _criterion(
        self, rows: QueryData, decomposed: _Decomposed, regularization: float
    ) -> Waiting[float]:
        """Return the leave-query-out error, the sum of squares over documents.

        ``rows`` are the documents, and ``decomposed`` has the kernel's
        eigendecomposition. For a single query, the result is the
        leave-pair-out or leave-one-out error instead.
        """
        has_one_query = rows.ptr.size == 2
        system = decomposed.system
        if has_one_query and rows.preferences is None:
            return (yield from self._one_query_error(system, rows.y, regularization))
        left_out_residuals = system.residuals(self._predicted(rows, decomposed))

        # The criterion compares documents of a query. A loss of pairs
        # does so itself; one of documents, with an intercept, needs
        # centred residuals.
        if system.factor.intercept:
            left_out_residuals = centre(left_out_residuals[:, None], rows.ptr)
        return float(np.sum(left_out_residuals**2))

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        preferences: Preferences | None = None,
    ) -> Self:
        """Fit to documents, labels and queries.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Features; a row is a document.
        y : array-like of shape (m,) or (m, v)
            Labels; v outputs share one decomposition.
        qid : array-like of shape (m,), optional
            Query of each document.
        preferences : Preferences, optional
            Preferences, each between rows of X of one query, instead of y.

        Returns
        -------
        self
            The fitted estimator.
        """
        # `outputs` is None for labels (m,), and a matrix for labels (m,
        # v). The first output stands for all where the rows are grouped
        # and checked.
        outputs = several_outputs(y)
        labels = labels_or_zeros(
            X, y if outputs is None else outputs[:, 0], preferences
        )
        data = self._validated(X, labels, qid)
        if outputs is None:
            return self._fit(preferring(data, preferences))

        # One decomposition gives the models of all outputs.
        decomposed = self._decomposed_outputs(data)
        if decomposed.warning:
            warnings.warn(
                decomposed.warning,
                DependentBasisWarning,
                stacklevel=2,
            )
        regularization = self.checked("regularization")
        system = with_outputs(decomposed.system, data, outputs)

        # The weights of r basis vectors for v outputs, (v, r).
        self.dual_coef_ = system.dual(regularization).T
        self.criterion_ = self._output_criteria(
            system,
            in_order_of_queries(data, outputs),
            regularization,
        )

        # The attributes that predictions need.
        self.basis_ = _original_rows(data, decomposed.basis)
        self.basis_vectors_ = data.X[decomposed.basis]
        kernel = kernel_of(self)
        self.coef_ = (
            weights_of_columns(data.X.shape[1], self.basis_, self.dual_coef_)
            if kernel.function == PRECOMPUTED
            else output_slopes(kernel, self.basis_vectors_, self.dual_coef_)
        )
        return self

    def _decomposed_outputs(self, data: QueryData) -> _Decomposed:
        """Return the kernel's decomposition for labels with several outputs.

        ParameterError is raised for a loss whose decomposition depends on the labels.
        """
        if name := non_default_parameter(self.pair_cost()):
            expected = "the default with several outputs, or one output at a time"
            raise ParameterError(name, getattr(self, name), expected)
        return finish(self._decomposed(data, kernel_of(self)))

    def _output_criteria(
        self,
        system: KernelSystem,
        labels: Floats,
        regularization: float,
    ) -> Floats:
        """Return the left-out squared error of each of v outputs, (v,).

        ``system`` is decomposed for all outputs, and ``labels``, (m,
        v), are in the order of the queries. If there is only one query,
        documents or pairs are left out instead of queries.
        """
        has_several_queries = system.factor.documents.size > 2
        if has_several_queries:
            return left_out_errors(system, regularization)

        # For a single query, one output at a time, with its labels minus their mean.
        criteria = []
        for column in np.ascontiguousarray(labels.T):
            error = self._one_query_error(
                system.with_factor(
                    replace(
                        system.factor,
                        targets=column - column.mean(),
                    )
                ),
                column,
                regularization,
            )
            criteria.append(finish(error))
        return np.array(criteria)

    def _one_query_error(
        self,
        system: KernelSystem,
        labels: Floats,
        regularization: float,
    ) -> Waiting[float]:
        """Return the left-out error of a single query, whose documents or pairs are left out.

        For a pointwise model with basis vectors, documents are left
        out. The error of all other models follows from the
        decomposition of the whole kernel. The error is the result of a
        generator of progress.
        """
        is_pointwise = system.factor.intercept
        if is_pointwise and isinstance(system, ReducedSystem):
            return _leave_one_out_error(system, regularization)

        # the eigenvectors (m, k) and eigenvalues (k,) of the kernel
        decomposition = KernelDecomposition(system.rows, system.values)
        return (
            yield from self.one_ranking_error(decomposition, labels, regularization)
        )

    def leave_query_out(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        regularization: Sequence[float] | None = None,
        preferences: Preferences | None = None,
    ) -> Floats:
        """Predict each document with the model trained without its query.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Features; a row is a document.
        y : array-like of shape (m,) or (m, v), optional
            Labels of the documents.
        qid : array-like of shape (m,), optional
            Query of each document.
        regularization : sequence of float, optional
            Several λ for predictions from one decomposition; by default
            the estimator's own.
        preferences : Preferences, optional
            Preferences instead of y, as in :meth:`fit`.

        Returns
        -------
        ndarray of shape (m,) or (m, v), or (L, m) or (L, m, v)
            For L values of λ and v outputs: scores, centered within
            each query, in the order of the rows of X. The basis vectors
            of a query are left out with it.

        Raises
        ------
        DatasetError
            For documents of a single query, because no training data would remain.
        """
        kernel = kernel_of(self)
        single = [self.checked("regularization")]
        grid = (
            single
            if regularization is None
            else [LAMBDA.check(value) for value in regularization]
        )

        # Several outputs are a matrix; None for labels (m,). The first
        # output stands for all where the rows are grouped and checked.
        outputs = several_outputs(y)
        labels = labels_or_zeros(
            X, y if outputs is None else outputs[:, 0], preferences
        )
        data = preferring(self._group(X, labels, qid), preferences)

        # Called for its error only: there must be several queries.
        several_queries(data.ptr, "The leave-query-out predictions of kernel RankRLS")
        if outputs is not None:
            decomposed = self._decomposed_outputs(data)
            system = with_outputs(decomposed.system, data, outputs)
            rows = np.array(
                [
                    data.in_original_order(centre(scores, data.ptr))
                    for scores in system.left_out(grid)
                ]
            )
            return rows[0] if regularization is None else rows
        decomposed = finish(self._decomposed(data, kernel))
        predicted = decomposed.system.left_out(grid)

        # Scores of the usual loss of pairs are already centered within
        # each query. `blocks` are those of other losses of pairs.
        factor = decomposed.system.factor
        if factor.blocks is not None or factor.intercept:
            predicted = centre(np.ascontiguousarray(predicted.T), data.ptr).T
        rows = np.array(
            [data.in_original_order(scores) for scores in predicted]
        ).reshape(len(grid), -1)
        return rows[0] if regularization is None else rows

    def leave_one_out(
        self,
        X: ArrayLike,
        y: ArrayLike,
        regularization: Sequence[float] | None = None,
    ) -> Floats:
        """Predict each label by the model without the document.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Features; a row is a document.
        y : array-like of shape (m,) or (m, v)
            Labels of the documents.
        regularization : sequence of float, optional
            Several λ; by default the estimator's own.

        Returns
        -------
        ndarray of shape (m,) or (m, v), or (L, m) or (L, m, v)
            For L values of λ: predictions, including the intercept. A
            basis vector is left out together with its document.

        Raises
        ------
        ParameterError
            Unless ``pairs`` is "pointwise".
        DatasetError
            For a single document.

        Notes
        -----
        One decomposition, then O(m²) for each λ of the exact model, and
        O(mr) with r basis vectors.
        """
        if not self._is_pointwise():
            expected = "pointwise when documents are left out"
            raise ParameterError("pairs", self.pairs, expected)
        grid = [self.checked("regularization")]
        if regularization is not None:
            grid = [LAMBDA.check(value) for value in regularization]

        # All documents are one query; the first of several outputs stands for all.
        outputs = several_outputs(y)
        data = self._group(
            X,
            y if outputs is None else outputs[:, 0],
            np.zeros(np.shape(y)[:1], dtype=np.int64),
        )
        if len(data.y) < 2:
            raise DatasetError("y: expected at least two documents, found 1.")
        system = finish(self._decomposed(data, kernel_of(self))).system
        if outputs is not None:
            system = with_outputs(system, data, outputs)

        # The system predicts labels minus their mean.
        predicted = np.array([_leave_one_out(system, value) for value in grid])
        labels = data.y if outputs is None else outputs
        predicted += labels.mean(axis=0)
        return predicted[0] if regularization is None else predicted

    def left_out(self, data: QueryData, columns: Sequence[int]) -> Floats:
        """Score each document by the model trained without its query, (m,).

        Only the features in ``columns`` are used.
        """
        # The first two calls are for their errors only.
        self.checked("regularization")
        several_queries(data.ptr, "The leave-query-out predictions of kernel RankRLS")
        narrow = with_columns(data, columns)
        decomposed = finish(self._decomposed(narrow, kernel_of(self)))

        # Equal documents of a query all get the score of the first of them.
        scores: Floats = self._predicted(narrow, decomposed)[decomposed.twins(narrow)]
        return scores

    def _predicted(self, data: QueryData, decomposed: _Decomposed) -> Floats:
        """Predict each document by the model trained without its query, (m,).

        The predictions are scores, (m,). ``decomposed`` has the
        kernel's eigendecomposition. The last predictions are cached.
        """
        key = self._settings(kernel_of(self)), self.regularization
        return left_out_predictions(
            data, key, lambda: decomposed.system.left_out([self.regularization])[0]
        )

    def _settings(
        self, kernel: Kernel
    ) -> tuple[Kernel, int | None, str, int, PairCost, bool]:
        """Return the settings on which the decomposition depends, in the order of `_decompose`.

        The settings are the kernel, the number of basis vectors (None
        for all documents), the way and the seed of the draw of basis
        vectors, the loss of a pair, and whether the loss is of
        documents instead of pairs.
        """
        return (
            kernel,
            *basis_of(self),
            self.pair_cost(),
            self._is_pointwise(),
        )

    def _is_pointwise(self) -> bool:
        """Return whether the loss is of single documents, not of pairs.

        ParameterError is raised for "pointwise" with options of a loss of pairs.
        """
        is_pointwise = bool(self.checked("pairs") == "pointwise")
        if is_pointwise and not self.pair_cost().default:
            expected = (
                "query with another cost, ties or weighting, "
                "because single documents have no pairs"
            )
            raise ParameterError("pairs", self.pairs, expected)
        return is_pointwise

    def _decomposed(self, data: QueryData, kernel: Kernel) -> Waiting[_Decomposed]:
        """Decompose the kernel, or return the decomposition that was made for another λ.

        The decomposition is cached with the data. Yield progress, and a
        note if basis vectors depend on each other.
        """
        settings = self._settings(kernel)
        yield WorkProgress(tr("decomposing the kernel"), 0.0)

        # `shared` calls `_decompose` if the result is not cached.
        decomposed = shared(
            data, ("RankRLS", settings), lambda: _decompose(data, *settings)
        )
        if decomposed.warning:
            yield Note(decomposed.warning, kind=DependentBasisWarning)
        return decomposed

    def _held_out(self, X: ArrayLike, y: ArrayLike) -> HeldOutPredictor:
        """Return an object that predicts held-out documents by models trained without these documents.

        The documents are one ranking, and the model must be exact, with
        all documents as basis vectors; otherwise a ParameterError is
        raised.
        """
        if self.n_basis is not None and self.n_basis < np.shape(y)[0]:
            raise ParameterError(
                "n_basis",
                self.n_basis,
                "None, because held-out predictions need the exact model",
            )

        # All documents are one query.
        data = self._group(X, y, np.zeros(np.shape(y)[:1], dtype=np.int64))

        # Raises an error if the kernel matrix does not fit into memory.
        refuse_too_large(len(data.y), None, exact=True)
        all_rows = np.arange(len(data.y), dtype=np.int64)

        # `_kernel_rows` returns a function that computes rows of the kernel.
        kernel = _kernel_rows(data, kernel_of(self))(all_rows)
        regularization = self.checked("regularization")
        is_pointwise = self._is_pointwise()
        return HeldOutPredictor(
            kernel=KernelDecomposition.of_kernel(kernel),
            y=data.y,
            regularization=regularization,
            loss="documents" if is_pointwise else "differences",
            weighting=held_out_weighting(self.pair_cost()),
        )

    def held_out_loss(self) -> tuple[str, str]:
        """Return the loss of held-out documents, and the weighting of their pairs.

        The loss is of "documents" or of "differences" (pairs) that are
        left out. The weighting is "size" if the sum over pairs is
        divided by the number of training documents.
        """
        cost = self.pair_cost()
        if self._is_pointwise():
            return "documents", "size"
        if cost.weighting != "size":
            raise ParameterError(
                "weighting", cost.weighting, "size when pairs are left out"
            )
        return "differences", held_out_weighting(cost)

    def why_no_error(self, n_documents: int) -> str:
        """Return why one ranking of n documents has no left-out error; "" if it has one."""
        # Reduced: basis vectors are some of the documents only.
        is_reduced = self.n_basis is not None and self.n_basis < n_documents
        if is_reduced and self.checked("pairs") != "pointwise":
            return tr(
                "Kernel RankRLS leaves pairs out of exact models only, and {n_basis} basis vectors of "
                '{n:,} documents are chosen. Choose by a validation measure, or all documents ("all").'
            ).format(n_basis=self.n_basis, n=n_documents)
        return super().why_no_error(n_documents)

    def _finish(self, data: QueryData, steps: list[Step]) -> None:
        """Set the fitted attributes from the only step, after training on some documents."""
        last = steps[-1]
        assert isinstance(last, BasisStep)
        self.criterion_ = last.criterion
        self.dual_coef_ = last.dual

        # The basis of a step are rows of the documents grouped by query.
        self.basis_ = _original_rows(data, last.basis)
        self.basis_vectors_ = data.X[last.basis]

    def _score(self, X: Floats) -> Floats:
        """Return the scores (m,) of documents X (m, n), or (m, v) for v outputs.

        For a precomputed kernel, X has the kernel values of the
        documents and the n training documents, so that scores are
        weighted sums of the columns of X.
        """
        kernel = kernel_of(self)
        has_outputs = self.dual_coef_.ndim > 1
        if kernel.function == PRECOMPUTED:
            if has_outputs:
                return linear_scores(np.ascontiguousarray(X.T), self.coef_).T
            return super()._score(X)
        if has_outputs:
            scores = kernel.scores(
                np.ascontiguousarray(X),
                self.basis_vectors_,
                self.dual_coef_,
            )
            return scores.T

        # the model of a single output
        return KernelModel(kernel, self.basis_vectors_, self.dual_coef_).scores(
            np.ascontiguousarray(X)
        )


def _decompose(
    data: QueryData,
    kernel: Kernel,
    n_basis: int | None,
    way: str,
    seed: int,
    cost: PairCost,
    pointwise: bool,
) -> _Decomposed:
    """Decompose RankRLS with a kernel, once for all λ.

    All documents of ``data`` are basis vectors if ``n_basis`` is None.
    Otherwise ``n_basis`` documents are, drawn in the ``way`` "uniform"
    or "per_query" with a seed. ``pointwise`` says whether the loss is
    of documents instead of pairs.
    """
    m = len(data.y)
    factor = _document_factor(data) if pointwise else _loss_factor(data, cost)
    is_exact = n_basis is None or n_basis >= m

    # An error is raised if the whole kernel does not fit into memory.
    if is_exact:
        refuse_too_large(m, None, exact=True)
    rows = _kernel_rows(data, kernel)  # function that computes rows of the kernel
    all_rows = np.arange(m, dtype=np.int64)
    if is_exact:
        return _Decomposed(DualSystem.of(rows(all_rows), factor), basis=all_rows)

    # The Nyström map takes each document to features that approximate
    # the kernel of the basis vectors.
    nystrom, warning = nystrom_features(rows, data.ptr, n_basis, way, seed)

    # By it, weights of the features become weights of the basis vectors.
    inverse = nystrom.dual(np.eye(nystrom.basis.size))
    system = ReducedSystem.of(nystrom.features, inverse, nystrom.basis, factor)
    return _Decomposed(system, basis=nystrom.basis, warning=warning)


def _document_factor(data: QueryData) -> QueryFactor:
    """Return the loss of regression with an intercept, as a factor for documents grouped by query.

    Raise ParameterError if the data have preferences instead of labels.
    """
    if data.preferences is not None:
        expected = "query with preferences, because each belongs to one query"
        raise ParameterError("pairs", "pointwise", expected)
    return QueryFactor.with_intercept(data.y, data.ptr)


def _leave_one_out(system: KernelSystem, regularization: float) -> Floats:
    """Predict each label by the least-squares model, with an intercept, that is trained without its document.

    Labels count as differences from the mean of all labels, and so do
    the predictions. Their shape is (m,), or (m, v) for v outputs.
    """
    if isinstance(system, ReducedSystem):
        return system.leave_one_out(regularization)
    return HeldOutPredictor(
        kernel=KernelDecomposition(system.rows, system.values),
        y=system.factor.targets,  # labels minus their mean
        regularization=regularization,
        loss="documents",
    ).each()  # predicts each document by the model of all others


def _leave_one_out_error(
    system: ReducedSystem,
    regularization: float,
) -> float:
    """Return the sum of squared leave-one-out errors.

    The errors are those of the labels, each predicted by the model
    without its document. The sum is NaN for a single document.
    """
    if system.factor.n_documents < 2:
        return float("nan")
    predicted = system.leave_one_out(regularization)
    errors = system.factor.targets - predicted
    return float(errors @ errors)


def _loss_factor(data: QueryData, cost: PairCost) -> QueryFactor:
    """Return the loss of pairs as a squared error per query, for documents grouped by query.

    The loss of a query is ||M'f - N||² for its scores f, with a factor M and targets N.
    """
    if cost.default and data.preferences is None:
        return QueryFactor.centring(data.y, data.ptr)

    # M_q and N_q of each query
    factors, targets = zip(*query_factors(data, cost), strict=True)
    return QueryFactor(
        data.ptr, np.concatenate(targets), tuple(factor.T for factor in factors)
    )


def _kernel_rows(data: QueryData, kernel: Kernel) -> Callable[[Ints], Floats]:
    """Return a function that computes rows of the kernel matrix.

    The function takes the positions (r,) of documents, and returns the
    kernel values (r, m) of these documents with all m documents of
    ``data``.
    """
    if kernel.function == PRECOMPUTED:
        return _checked_precomputed(data).__getitem__
    return partial(_kernel_of_rows, kernel, data.X)


def _kernel_of_rows(kernel: Kernel, X: Floats, rows: Ints) -> Floats:
    """Return the kernel between some rows and all, of shape (rows, m)."""
    return kernel.matrix(X[rows], X)


def _checked_precomputed(data: QueryData) -> Floats:
    """Return the precomputed kernel matrix (m, m) of the documents, grouped by query.

    Raise DatasetError if the matrix is not a kernel.
    """
    m, n = data.X.shape
    if m != n:
        raise DatasetError(
            f"X: expected the kernel matrix of the {m} documents, of shape {m} × {m}, got {m} × {n}."
        )

    # Rows are grouped by query, and so must be the columns.
    kernel = data.X if data.order is None else data.X[:, data.order]
    asymmetry = float(np.abs(kernel - kernel.T).max())
    if asymmetry > _MAX_ASYMMETRY * float(np.abs(kernel).max()):
        raise DatasetError(
            f"X: expected a symmetric kernel, found an asymmetry of {asymmetry:.3g}."
        )
    return kernel


def _original_rows(data: QueryData, rows: Ints) -> Ints:
    """Return the rows of X as it was given, for rows of the grouped documents."""
    return rows if data.order is None else data.order[rows]
