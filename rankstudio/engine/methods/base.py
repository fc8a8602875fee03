"""Base classes of all methods: a method learns step by step, and ``fit`` runs through every step."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arithmetic.magnitude import column_name
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.arithmetic.sparse_query_data import group_sparse, is_sparse
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import MissingQueryWarning, ParameterError
from rankstudio.engine.methods.capabilities import Capabilities
from rankstudio.engine.methods.catalog.method import Method
from rankstudio.engine.methods.left_out import LeftOutScorer
from rankstudio.engine.methods.memory_need import (
    DataShape,
    MemoryNeed,
    sums_need,
    whole_need,
)
from rankstudio.engine.methods.scikit_learn import (
    Estimator,
    check_is_fitted,
    validate_data,
)
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    TrainingData,
    training_data,
)
from rankstudio.engine.steps import Iteration, Step
from rankstudio.engine.support.work import Note, Waiting, WorkProgress

if TYPE_CHECKING:
    from rankstudio.engine.arithmetic.optimisers.conjugate_gradient import (
        OptimizerState,
    )


Sign = TypeVar("Sign", bound=WorkProgress)

# Bytes of the weights of all iterations that are yielded before only some are.
_MAX_STEP_BYTES = 1 << 26

MOST_SEED = 2**32 - 1
"""The greatest seed that numpy's generators use unchanged."""


class LinearRanker(Capabilities, Estimator):
    """Base class of methods that learn one weight per feature.

    Subclasses implement :meth:`learn`, a generator of steps over
    grouped data. The generator needs no progress bar, thread or
    callback; a caller that stops iterating cancels the training.
    Methods with slow steps, or with sums over shards, implement
    :meth:`work` instead, and yield progress events
    between the steps. A shard is a part of the data with whole queries.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import LinearRanker, Step
    >>> class Means(LinearRanker):
    ...     def learn(self, data):
    ...         coef = data.X.mean(axis=0)
    ...         yield Step(1, tuple(range(coef.size)), coef, np.nan, np.full(coef.size, np.nan))
    >>> Means().fit(np.eye(2), [0, 1], qid=[1, 1]).predict(np.eye(2))
    array([0.5, 0.5])
    """

    entry: ClassVar[Method]
    """The method's entry in the catalog: which parameters it has, and which values each may have."""
    accepts_sparse: ClassVar[bool] = False
    """Whether X may be a sparse matrix of scipy."""

    coef_: Floats
    n_features_in_: int

    def memory_need(self, shape: DataShape) -> MemoryNeed:
        """Return the memory requirements of :meth:`work` for data of a shape, before the data are read.

        The requirements also say whether the method needs all documents
        at once or processes shards, which workers can share. Methods
        with their own
        :meth:`work` override this; by default, all
        documents are needed. A shard is a part of the data with whole queries.
        """
        return whole_need(shape)

    def learn(self, data: GivenData) -> Iterator[Step]:
        """Yield one :class:`Step` per feature or iteration.

        The last step is the fitted model. ``data`` are the training
        documents, with those of each query together.
        """
        for step in self.work(data):
            if isinstance(step, Step):
                yield step
            elif isinstance(step, Note):
                # The warning names the line that calls fit.
                warnings.warn(step.what, step.kind, stacklevel=4)

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Yield the steps of :meth:`learn`, with progress events between slow steps."""
        yield from self.learn(training_data(data).whole(self.entry.label))

    def checked(self, name: str) -> Any:
        """Return the value of the parameter ``name`` of this estimator, after a check.

        Raises a ParameterError if the value is out of range.
        """
        return self.entry.parameter(name).check(getattr(self, name))

    def check_sparse(self, *, one_ranking: bool, preferring: bool) -> None:
        """Check that these parameters support sparse features; called if ``accepts_sparse`` is True.

        Parameters
        ----------
        one_ranking : bool
            Whether all documents belong to one query.
        preferring : bool
            Whether preferences are learned instead of labels.

        Raises
        ------
        ParameterError, DatasetError
            If the parameters or the data do not support sparse features.
        """

    def n_steps(self, n_features: int) -> int:
        """Return the maximum number of steps of :meth:`learn`: one per feature."""
        return n_features

    def nested(
        self, data: Any, order: tuple[int, ...]
    ) -> Iterator[Step | WorkProgress] | None:
        """Train with the first feature of an order, the first two, and so on, faster than one by one.

        ``data`` are the training documents, and ``order`` has 0-based
        columns of features.

        Returns
        -------
        iterator of Step and WorkProgress, or None
            One step per feature of all data; None if the method has no faster way.
        """
        return None

    def why_no_error(self, n_documents: int) -> str:
        """Return the reason why one ranking of n documents has no error by left-out documents.

        The error is that of documents, or pairs of them, by models
        trained without them. The reason is "" if the ranking has such
        an error.
        """
        return ""

    def left_out(self, data: QueryData, columns: Sequence[int]) -> Floats:
        """Score each document by the model of some features trained without its query.

        Only for methods that support it according to the catalog.

        Parameters
        ----------
        data : QueryData
            Data with several queries.
        columns : sequence of int
            Columns of the features; their selection is not repeated without each query.

        Returns
        -------
        ndarray of shape (m,)
            Scores in the order of the grouped rows; equal documents of
            a query have equal scores.
        """
        raise NotImplementedError

    def pair_area(
        self, data: QueryData, columns: Sequence[int], kinds: Floats
    ) -> Waiting[float]:
        """Measure one ranking by leave-pair-out; for methods with :meth:`left_out`.

        The generator yields progress events, and then returns the result.

        Parameters
        ----------
        data : QueryData
            Documents of a single query.
        columns : sequence of int
            Columns of the features; their selection is not repeated without each pair.
        kinds : ndarray of shape (m,)
            Numbers that define the correct order of the documents:
            relevance for the AUC, or labels.

        Returns
        -------
        float
            Share of the pairs of different kinds that are in the
            correct order by the model trained without both documents.
        """
        raise NotImplementedError

    def left_out_need(self, shape: DataShape) -> MemoryNeed:
        """Return the memory that :meth:`left_out` needs for data of a shape, in addition to the data."""
        return whole_need(shape)

    def left_out_scorer(
        self, data: TrainingData, columns: Sequence[int]
    ) -> Waiting[LeftOutScorer | None]:
        """Return a scorer of a shard's documents that scores like :meth:`left_out`.

        A shard is a part of the documents, with whole queries. The
        result is None if scoring needs all documents at once.
        ``columns`` are those of the features of the models. ``data``
        are the training documents. The generator yields progress
        events, and then returns the result.
        """
        yield from ()
        return None

    def steps(
        self, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike | None = None
    ) -> Iterator[Step]:
        """Train step by step.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Features of the documents: an array, a pandas DataFrame,
            nested lists, or a SciPy sparse matrix if ``accepts_sparse``
            is True.
        y : array-like of shape (m,)
            Relevance labels.
        qid : array-like of shape (m,), optional
            Query of each document. By default all documents are one query, with a
            :class:`rankstudio.engine.errors.MissingQueryWarning`.

        Yields
        ------
        Step

        Raises
        ------
        DatasetError
            For inconsistent data.
        ParameterError
            For a parameter out of range.
        """
        yield from self.learn(self._group(X, y, qid))

    def fit(self, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike | None = None) -> Self:
        """Fit to documents, labels and queries; parameters as in :meth:`steps`.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(self._validated(X, y, qid))

    def _validated(self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None) -> Any:
        """Check data by scikit-learn's conventions, and return them with the documents of each query together.

        ``qid`` has the query of each document; None for one query. Also
        sets ``n_features_in_``, and ``feature_names_in_`` for a table
        with names.
        """
        sparse = "csc" if self.accepts_sparse else False
        features, labels = validate_data(
            self, X, y, y_numeric=True, dtype=np.float64, accept_sparse=sparse
        )
        return self._group(
            features, labels, qid, getattr(self, "feature_names_in_", None)
        )

    def _fit(self, data: QueryData) -> Self:
        """Learn from data grouped by query, set the fitted attributes, and return the estimator."""
        steps = list(self.learn(data))
        self.coef_ = steps[-1].coef
        self._finish(data, steps)
        return self

    def _group(
        self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None, names: Any = None
    ) -> Any:
        """Return the data with the documents of each query together, as :meth:`learn` expects them.

        ``qid`` has the query of each document. Without it, all
        documents are one query, and there is a warning. ``names`` are
        the names of the features for error messages; by default those
        of the columns of X, if X has names.
        """
        if qid is None:
            warnings.warn(
                f"{type(self).__name__}: the argument qid is missing, so all documents are treated as one "
                "query. Pass qid=... with the query of each document.",
                MissingQueryWarning,
                stacklevel=4,  # the line that calls fit
            )
        # pandas tables have the names of their columns.
        names = getattr(X, "columns", None) if names is None else names
        name_of: Callable[[int], str] = (
            column_name if names is None else lambda j: f"column {names[j]!r}"
        )
        sparse = self.accepts_sparse and is_sparse(X)
        return (group_sparse if sparse else group)(X, y, qid, name_of)

    def _finish(self, data: QueryData, steps: list[Step]) -> None:
        """Set the attributes of the fitted method other than ``coef_``, from its training data and steps."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = self.accepts_sparse
        return tags

    def predict(self, X: ArrayLike) -> Floats:
        """Return a score for each document, shape (m,).

        ``X`` (m, n) are the features of the documents. Higher scores
        are more relevant.
        """
        check_is_fitted(self, "coef_")
        sparse = "csr" if self.accepts_sparse else False
        return self._score(
            validate_data(self, X, reset=False, dtype=np.float64, accept_sparse=sparse)
        )

    def _score(self, X: Any) -> Floats:
        """Return the scores (m,) of checked documents X (m, n)."""
        scores: Floats
        if is_sparse(X):
            scores = X.dot(self.coef_)
        else:
            # The function scores any number of models (K, n), here one,
            # and reads features as rows (n, m).
            scores = linear_scores(np.ascontiguousarray(X.T), self.coef_[None, :])[0]
        return scores


_MIN_COST = 1e-100
_MAX_COST = 1e100


def prices_of(costs: ArrayLike, n: int) -> Floats:
    """Return the costs of n features as an array; ParameterError unless each has a cost greater than 0.

    Examples
    --------
    >>> from rankstudio.api import prices_of
    >>> prices_of([1, 2, 5], 3)
    array([1., 2., 5.])
    """
    prices = np.asarray(costs, dtype=np.float64)
    if prices.shape != (n,):
        raise ParameterError(
            "costs", prices.shape, f"an array of shape ({n},), one number per feature"
        )
    # With costs outside these bounds, a score per cost or a sum could
    # leave the floating-point range.
    out_of_bounds = prices[~((prices >= _MIN_COST) & (prices <= _MAX_COST))]
    if out_of_bounds.size:
        first = float(out_of_bounds[0])
        is_positive = 0.0 < first < np.inf
        bounds = f"numbers from {_MIN_COST:g} to {_MAX_COST:g}"
        expected = bounds if is_positive else "finite numbers greater than 0"
        raise ParameterError("costs", first, expected)
    return prices


def iterations(
    states: Iterable[OptimizerState | Sign], n: int
) -> Iterator[Iteration | Sign]:
    """Yield the iterations of an optimiser of n weights as steps of a path; for many weights, only some.

    The receiver keeps all steps of a path in memory. So iterations are
    yielded as long as their weights take at most 64 MB together, and
    after that only those whose number is a power of 2, and the last
    one.

    ``states`` are the states of the optimiser, one per iteration, and
    its progress events, which are yielded unchanged.
    """
    number = 0
    all_columns = tuple(range(n))
    # The latest iteration, unless it was yielded. It is yielded at the
    # end if no other one follows.
    pending: Iteration | None = None
    for state in states:
        if isinstance(state, WorkProgress):
            yield state
            continue
        number += 1
        pending = Iteration(
            number=number,
            selected=all_columns,
            coef=state.w,
            criterion=state.objective,
            candidates=np.empty(0),
            gap=state.gap,
            converged=state.converged,
        )
        # All iterations as long as their weights take little memory
        # together; later, those with a power of 2.
        is_power_of_2 = number & (number - 1) == 0  # a single bit is set
        if 8 * n * number <= _MAX_STEP_BYTES or is_power_of_2:
            yield pending
            pending = None
    if pending is not None:
        yield pending


class ConvergingRanker(LinearRanker):
    """Base class of rankers with :class:`rankstudio.engine.steps.Iteration` steps.

    The parameters of such rankers include ``C``, the weight of the loss
    relative to the squared norm, ``tol``, the duality gap for stopping
    as a share of the objective, and ``max_iter``. Reaching ``max_iter``
    gives a ``ConvergenceWarning``. Subclasses implement ``_minimise``.

    Attributes
    ----------
    objective_ : float
        Minimum of the objective.
    gap_ : float
        Duality gap: an upper bound of the distance of ``objective_`` from the minimum.
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
        """Minimise the objective; yield an iteration per Newton step or cutting plane, and progress events.

        The criterion of an iteration is the objective. Of many large
        iterations, only some are yielded. ``data`` are the training
        documents.
        """
        C = self.checked("C")
        tol = self.checked("tol")
        max_iter = self.checked("max_iter")
        yield from iterations(
            self._minimise(training_data(data), C, tol, max_iter), data.X.shape[1]
        )

    def _minimise(
        self, data: TrainingData, C: float, tol: float, max_iter: int
    ) -> Iterator[OptimizerState | WorkProgress]:
        """Yield the states of the optimiser down to the minimum, and progress events.

        ``data`` are the training documents, and ``C`` weighs the loss.
        The optimiser stops at a relative gap of ``tol``, or after
        ``max_iter`` iterations.
        """
        raise NotImplementedError

    def _finish(self, data: QueryData, steps: list[Step]) -> None:
        """Set ``objective_``, ``gap_`` and ``n_iter_`` from the last of the steps; warn if it has not converged.

        The gap is an upper bound of the distance of the objective from
        its minimum.
        """
        last = steps[-1]
        assert isinstance(last, Iteration)
        self.objective_ = last.criterion
        self.gap_ = last.gap
        self.n_iter_ = last.number
        if not last.converged:
            from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - where it is needed

            warnings.warn(
                f"{type(self).__name__} stopped after {self.n_iter_} iterations with a duality gap of "
                f"{self.gap_:.3g} at an objective of {self.objective_:.6g} (tol {self.tol:g}). Increase "
                f"max_iter, now {self.max_iter}, or tol.",
                ConvergenceWarning,
                stacklevel=4,  # the line that calls fit
            )
