"""What all methods share: they learn step by step, and ``fit`` is the loop that asks for every step."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arithmetic.magnitude import column_name
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.arithmetic.sparse_query_data import group_sparse, is_sparse
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import MissingQueryWarning, ParameterError
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.method import Method
from rankstudio.engine.methods.left_out import LeftOutScorer
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed, sums_need, whole_need
from rankstudio.engine.methods.scikit_learn import Estimator, check_is_fitted, validate_data
from rankstudio.engine.methods.shards.training_data import GivenData, TrainingData, training_data
from rankstudio.engine.steps import Iteration, Step
from rankstudio.engine.support.work import Note, WorkProgress

if TYPE_CHECKING:
    from rankstudio.engine.arithmetic.optimisers.conjugate_gradient import OptimizerState


MOST_SEED = 2**32 - 1
"""The greatest seed that numpy's generators take as it is."""


class LinearRanker(Estimator):
    """Base of the methods that learn one weight a feature.

    A subclass writes :meth:`learn`, a generator of steps over grouped data. It knows no progress bar, no
    thread and no callback: to cancel it is not to ask for the next step. One that works long before a step,
    or goes by sums over shards, writes :meth:`work` instead, and gives signs of life in between.
    """

    entry: ClassVar[Method]
    """Its entry in the catalog: which parameters it has, and what each may be."""
    accepts_sparse: ClassVar[bool] = False
    """Whether X may be a sparse matrix of scipy."""

    coef_: Floats
    n_features_in_: int

    def memory_need(self, shape: DataShape) -> MemoryNeed:
        """Return what :meth:`work` needs of memory for data of a shape, before there are any.

        It also tells how that goes over the documents, and so whether workers share their shards. A method
        that has its own :meth:`work` says it there; :meth:`learn` is given all documents at once.
        """
        return whole_need(shape)

    def learn(self, data: GivenData) -> Iterator[Step]:
        """Yield one :class:`Step` a feature or iteration; the last one is the model."""
        for step in self.work(data):
            if isinstance(step, Step):
                yield step
            elif isinstance(step, Note):
                warnings.warn(step.what, step.kind, stacklevel=4)

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Yield the steps of :meth:`learn`, and signs of life between those that take long."""
        yield from self.learn(training_data(data).whole(self.entry.label))

    def checked(self, name: str) -> Any:
        """Return a parameter as its entry allows it; ParameterError where it is out of its range."""
        return self.entry.parameter(name).check(getattr(self, name))

    def n_steps(self, n_features: int) -> int:
        """Return how many steps :meth:`learn` takes at most on data with so many features: one a feature."""
        return n_features

    def nested(self, data: Any, order: tuple[int, ...]) -> Iterator[Step | WorkProgress] | None:
        """Learn with the first feature of an order, the first two, and so on, faster than one by one.

        Returns
        -------
        iterator of Step and WorkProgress, or None
            One step a feature of all data; None where the method knows no faster way.
        """
        return None

    def why_no_error(self, n_documents: int) -> str:
        """Return why one ranking of so many documents has no left-out error, as a sentence; "" if it has."""
        return ""

    def left_out(self, data: QueryData, columns: Sequence[int]) -> Floats:
        """Score each document by the model of some features that is learned without its query.

        Only of methods that the catalog says this of.

        Parameters
        ----------
        data : QueryData
            Of several queries.
        columns : sequence of int
            The features; the selection of them is not repeated without each query.

        Returns
        -------
        ndarray of shape (m,)
            In the order of the grouped rows; equal documents of a query have equal scores.
        """
        raise NotImplementedError

    def left_out_need(self, shape: DataShape) -> MemoryNeed:
        """Return what :meth:`left_out` needs of memory, as :meth:`memory_need` says it of :meth:`work`."""
        return whole_need(shape)

    def left_out_scorer(
        self, data: TrainingData, columns: Sequence[int]
    ) -> Generator[WorkProgress, None, LeftOutScorer | None]:
        """Return what scores the documents of each shard as :meth:`left_out` does, with signs of life.

        None where that takes all documents at once.
        """
        yield from ()
        return None

    def steps(self, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike | None = None) -> Iterator[Step]:
        """Learn step by step.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Features of the documents: an array, a DataFrame of pandas, nested lists, or, where
            ``accepts_sparse`` says so, a sparse matrix of scipy.
        y : array-like of shape (m,)
            Their relevance labels.
        qid : array-like of shape (m,), optional
            Query of each document. Without it all documents are one query, and there is a
            :class:`rankstudio.engine.errors.MissingQueryWarning`.

        Yields
        ------
        Step

        Raises
        ------
        DatasetError
            For data that do not fit together.
        ParameterError
            For a parameter outside its range.
        """
        yield from self.learn(self._group(X, y, qid))

    def fit(self, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike | None = None) -> Self:
        """Learn from documents, labels and queries; parameters as for :meth:`steps`.

        Returns
        -------
        self
        """
        return self._fit(self._validated(X, y, qid))

    def _validated(self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None) -> Any:
        """Check data by scikit-learn's conventions, and return them grouped."""
        sparse = "csc" if self.accepts_sparse else False
        features, labels = validate_data(self, X, y, y_numeric=True, dtype=np.float64, accept_sparse=sparse)
        return self._group(features, labels, qid, getattr(self, "feature_names_in_", None))

    def _fit(self, data: QueryData) -> Self:
        """Learn from grouped data."""
        taken = list(self.learn(data))
        self.coef_ = taken[-1].coef
        self._finish(data, taken)
        return self

    def _group(self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None, names: Any = None) -> Any:
        """Put the documents of each query together, as :meth:`learn` takes them.

        ``names`` are those of the features, where they are not X's own.
        """
        if qid is None:
            warnings.warn(
                f"{type(self).__name__}: the argument qid is missing, so all documents are treated as one "
                "query. Pass qid=... with the query of each document.",
                MissingQueryWarning,
                stacklevel=4,
            )
        names = getattr(X, "columns", None) if names is None else names
        called: Callable[[int], str] = column_name if names is None else lambda j: f"column {names[j]!r}"
        sparse = self.accepts_sparse and is_sparse(X)
        return (group_sparse if sparse else group)(X, y, qid, called)

    def _finish(self, data: QueryData, taken: list[Step]) -> None:
        """Set the attributes of the fitted method beyond ``coef_``."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = self.accepts_sparse
        return tags

    def predict(self, X: ArrayLike) -> Floats:
        """Return a score for each document, shape (m,): the higher, the more relevant."""
        check_is_fitted(self, "coef_")
        sparse = "csr" if self.accepts_sparse else False
        return self._score(validate_data(self, X, reset=False, dtype=np.float64, accept_sparse=sparse))

    def _score(self, X: Any) -> Floats:
        """Return the scores of documents that were checked."""
        scores: Floats
        if is_sparse(X):
            scores = X.dot(self.coef_)
        else:
            scores = linear_scores(np.ascontiguousarray(X.T), self.coef_[None, :])[0]
        return scores


def between(name: str, value: Any, low: int, high: int) -> int:
    """Return a parameter as an int; ParameterError unless it is a whole number from low to high."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and low <= value <= high:
        return int(value)
    raise ParameterError(name, value, tr("a whole number from {low} to {high}").format(low=low, high=high))


class ConvergingRanker(LinearRanker):
    """Base of rankers whose steps are :class:`rankstudio.engine.steps.Iteration`.

    Their parameters include ``C``, the weight of the loss against the squared norm, ``tol``, the duality gap
    at which they stop as a share of the objective, and ``max_iter``. A fit that ends before that gives a
    ``ConvergenceWarning``. A subclass writes ``_minimise``.

    Attributes
    ----------
    objective_ : float
        The minimised sum.
    gap_ : float
        Duality gap: ``objective_`` is at most this much above the minimum.
    n_iter_ : int
        Iterations taken.
    """

    C: float
    tol: float
    max_iter: int

    objective_: float
    gap_: float
    n_iter_: int

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return self.max_iter

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        return sums_need(shape)

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Yield one :class:`Iteration` a Newton step or cutting plane, its criterion the objective."""
        C, tol, max_iter = self.checked("C"), self.checked("tol"), self.checked("max_iter")
        number, everything = 0, tuple(range(data.X.shape[1]))
        for now in self._minimise(training_data(data), C, tol, max_iter):
            if isinstance(now, WorkProgress):
                yield now
                continue
            number += 1
            yield Iteration(number, everything, now.w, now.objective, np.empty(0), now.gap, now.converged)

    def _minimise(
        self, data: TrainingData, C: float, tol: float, max_iter: int
    ) -> Iterator[OptimizerState | WorkProgress]:
        """Go down to the minimum."""
        raise NotImplementedError

    def _finish(self, data: QueryData, taken: list[Step]) -> None:
        last = taken[-1]
        assert isinstance(last, Iteration)
        self.objective_, self.gap_, self.n_iter_ = last.criterion, last.gap, last.number
        if not last.converged:
            from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - where it is needed

            warnings.warn(
                f"{type(self).__name__} stopped after {self.n_iter_} iterations with a duality gap of "
                f"{self.gap_:.3g} at an objective of {self.objective_:.6g} (tol {self.tol:g}). Increase "
                f"max_iter, now {self.max_iter}, or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
