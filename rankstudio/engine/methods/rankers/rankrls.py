"""RankRLS: regularised least squares on the differences within queries (Pahikkala et al. 2007, 2009)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.pair_cost.global_pairs import global_statistics
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows, losses_inside
from rankstudio.engine.arithmetic.query_data import QueryData, several_queries
from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.arithmetic.sparse_query_data import is_sparse
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.preferences import Preferences
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.capabilities import ExactExchange, LabelPaths
from rankstudio.engine.methods.catalog.rankers import RANKRLS
from rankstudio.engine.methods.catalog.shared import LAMBDA
from rankstudio.engine.methods.holdout import HoldOutRanker, KernelDecomposition
from rankstudio.engine.methods.left_out import (
    LeftOutScorer,
    centred_scores,
    left_out_of_shards,
    left_out_scores,
    with_columns,
)
from rankstudio.engine.methods.memory_need import (
    NUMBER,
    DataShape,
    MemoryNeed,
    sums_need,
    whole_need,
)
from rankstudio.engine.methods.pair_learners import (
    PairwiseLeastSquares,
    held_out_weighting,
    labels_or_zeros,
    non_default_parameter,
    pair_rows,
    preferring,
    refuse_non_default_loss,
)
from rankstudio.engine.methods.permuted_labels import (
    LOSS,
    exchanged_rows,
    has_defaults_except,
)
from rankstudio.engine.methods.rankers.rankrls_gradient import ConjugateGradients
from rankstudio.engine.methods.rankers.rankrls_outputs import (
    Sums,
    added,
    fit_outputs,
    label_paths,
    left_out_outputs,
    query_ids,
    several_outputs,
    solved,
)
from rankstudio.engine.methods.rankers.rankrls_shards import (
    is_wide,
    left_out_models,
    left_out_predictions,
    model_steps,
    models_without,
    nested_steps,
)
from rankstudio.engine.methods.scikit_learn import validate_data
from rankstudio.engine.methods.shards.sums import sums_of_products
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    TrainingData,
    training_data,
)
from rankstudio.engine.steps import Iteration, Step
from rankstudio.engine.support.work import Waiting, WorkProgress, finish

_RELABELLED = LOSS | {"regularization", "solver", "tol", "max_iter"}
"""Parameters that paths of permuted labels support.

All others must have their defaults.
"""


@dataclass
class _OneRanking:
    """Cache of the decomposition of the documents of one ranking, for all λ."""

    kernel: KernelDecomposition | None = None


@dataclass(eq=False, repr=False)
class RankRLS(HoldOutRanker, PairwiseLeastSquares):
    """RankRLS fits a linear ranker by regularised least squares on pairs of documents of one query.

    Minimises sum_q 1/(2|q|) sum_{i,j in q} (y_i - y_j - w'(x_i - x_j))²
    + λ||w||² (Pahikkala et al. 2010, eq. (3)), so w = (X^'X^ + λI)^-1
    X^'y^ with ^ for centring within each query (eq. (5)). Other losses
    of a pair are those of Pahikkala et al. (2009), section 2.4, with
    the minimum w = (X'MM'X + λI)^-1 X'MN (eq. (28)).

    Parameters
    ----------
    regularization : float, default 1.0
        λ > 0.
    cost : {"magnitude", "unit", "inverse"}, default "magnitude"
        The loss of a pair whose labels differ by d > 0 and whose scores
        differ by g: (d - g)², (1 - g)² or (1 - g/d)² (eqs. (21), (20)
        and (22)).
    ties : bool, optional
        Whether pairs of equal labels count, with g²; only for the cost
        "magnitude". By default they count if possible.
    weighting : {"size", "pairs", "none"}, default "size"
        Whether a query's loss is divided by its number of documents, by
        its number of pairs, or not at all.
    solver : {"auto", "direct", "cg"}, default "auto"
        "direct" decomposes X^'X^. "cg" uses conjugate gradients, whose
        steps take O(entries of X) and do not compute X^'X^: for SciPy
        sparse X with any number of features. "auto" uses "cg" if X is
        sparse.
    tol : float, default 1e-15
        Conjugate gradients stop at this backward error of the weights,
        relative to the norms of X^'X^ + λI and X^'y^, or when rounding
        prevents further progress. With the default, the weights equal
        those of "direct" up to rounding.
    max_iter : int, default 100000
        Maximum number of conjugate gradient steps. If they do not
        suffice, a warning gives the distance from the minimum.
    pairs : {"query", "all", "pointwise"}, default "query"
        "all": pairs of documents of different queries count, too
        (section 5.1), and ``weighting`` uses the documents or pairs of
        all queries together. "pointwise": regression on the labels of
        the documents with an unregularised intercept; the weights are
        those of "all" with the default cost.

    Attributes
    ----------
    coef_ : ndarray of shape (n,) or (v, n)
        Weights; one row per output for labels y of shape (m, v).
    criterion_ : float or ndarray of shape (v,)
        Leave-query-out squared error, summed over documents, or with
        another cost the loss of the pairs within left-out queries. For
        a single query, the leave-pair-out error, or the leave-one-out
        error with ``pairs="pointwise"``, see
        :class:`rankstudio.engine.methods.holdout.HeldOutPredictor`. The minimised sum
        for conjugate gradients, which leave no query out; NaN after
        :meth:`partial_fit`.
    n_iter_ : int
        Number of conjugate gradient steps; 1 for the direct solver.

    Notes
    -----
    O(mn² + n³) for X^'X^, its eigendecomposition and the rows in its
    basis, shared by every λ; then O(n²) for the weights and O(sum of
    |q| n min(|q|, n)) for the leave-query-out error. With at least
    twice as many features as documents, a singular value decomposition
    of X^ takes O(m²n) time and O(mn) memory instead.

    More than 65,536 documents are processed in shards, which may be
    larger than memory, with pairs within queries: O(n²) memory in
    addition to a shard, and O(mn²) for each λ. Leave-query-out errors
    are also computed by shards.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> RankRLS(regularization=4.0).fit(train.X, train.y, qid=train.qid).coef_.argmax().item()
    0
    """

    entry = RANKRLS

    accepts_sparse: ClassVar[bool] = True

    criterion_: float | Floats = field(init=False)
    n_iter_: int = field(init=False)
    _n_gradients: int = field(init=False)
    _sums: Sums | None = field(init=False)

    regularization: float = 1.0
    _: KW_ONLY
    solver: str = "auto"
    tol: float = 1e-15
    max_iter: int = 100_000
    pairs: Literal["query", "all", "pointwise"] = "query"

    @property
    def _gradients(self) -> ConjugateGradients:
        return ConjugateGradients.of(self.solver, self.tol, self.max_iter)

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return 1

    def memory_need(self, shape: DataShape) -> MemoryNeed:
        """Return the memory that training needs on data of a shape: m documents, n features and Q queries."""
        # Conjugate gradients, "cg", need only the documents.
        if self.solver == "cg":
            return whole_need(shape)
        # Pairs of documents of different queries: a Gram matrix for each query.
        if self.pairs != "query":
            return whole_need(shape).plus(NUMBER * shape.Q * (shape.n + 1) ** 2)
        # Three matrices: X^'X^, its eigenvectors and a work array. They
        # are (n, n), or (n, m) if there are many more features than
        # documents. A single shard also needs a copy of the rows, in
        # the eigenvectors' basis.
        need = sums_need(shape) if shape.sharded else whole_need(shape, 2.0)
        wide = not shape.sharded and is_wide(shape.m, shape.n)
        return need.plus(3 * NUMBER * shape.n * (shape.m if wide else shape.n))

    def check_sparse(self, *, one_ranking: bool, preferring: bool) -> None:  # noqa: D102 - inherited
        self._gradients.check_sparse()
        if self.checked("pairs") != "query":
            raise ParameterError("pairs", self.pairs, "query where X is sparse")
        if not preferring:
            refuse_non_default_loss(self.pair_cost())

    def exact_exchange(self) -> ExactExchange | None:  # noqa: D102 - inherited
        if self.pairs != "query":
            return None
        return ExactExchange(self.checked("regularization"), self.pair_cost())

    def paths_of_labels(self, data: QueryData) -> LabelPaths | None:
        """Return a function that computes the leave-query-out errors of other label vectors.

        The function gets label vectors (P, m); a permutation test uses
        it. All of them share one factorisation of the features. The
        result is None for settings without such a factorisation, and
        for a single query. ``data`` has the documents.
        """
        # A subclass may learn in another way. _RELABELLED are λ, the
        # loss and the solver's settings, which such paths support; all
        # other parameters need their defaults.
        is_direct = (
            type(self) is RankRLS
            and self.solver != "cg"
            and has_defaults_except(self, _RELABELLED)
        )
        is_single_query = data.ptr.size == 2
        # If ties do not count, the labels decide which pairs count, and
        # each label vector has a loss, and a factorisation, of its own.
        if not is_direct or not self.pair_cost().ties or is_single_query:
            return None
        return label_paths(data, self.checked("regularization"), self.pair_cost())

    def exchanged_preferences(self, data: QueryData) -> Callable[[Ints], QueryData]:
        """Return the function from an order (m,) to data whose documents take each other's preferences.

        In an order, each document has the position of the one whose
        preferences it takes. The data also have the rows whose squared
        errors are the loss, so that training need not compute them. A
        subclass may learn in another way, so its data are without them.
        """
        without_rows = super().exchanged_preferences(data)
        return (
            exchanged_rows(self.pair_cost(), data, without_rows)
            if type(self) is RankRLS
            else without_rows
        )

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Yield the only step, with all features, after progress events.

        The criterion of the step is the leave-query-out error; for one
        ranking, an error of left-out documents or pairs of them.
        ``data`` are the training documents.
        """
        regularization = self.checked("regularization")
        data = training_data(data)
        steps = self._steps(data, regularization)
        # With several queries, or with conjugate gradients ("cg", also
        # used for sparse data), the step has the right criterion.
        # Otherwise there is one ranking, and its criterion is replaced.
        if not data.one_ranking or self.solver == "cg" or data.sparse:
            yield from steps
            return
        query_data = data.whole("RankRLS")
        # The decomposition does not depend on λ, and is cached with the data.
        cache = data.shared.of(_OneRanking)
        for event in steps:
            if isinstance(event, Step):
                cache.kernel = cache.kernel or KernelDecomposition.of(query_data.X)
                error = yield from self.one_ranking_error(
                    cache.kernel, query_data.y, regularization
                )
                yield replace(event, criterion=error)
            else:
                yield event

    def _steps(
        self, data: TrainingData, regularization: float
    ) -> Iterator[Step | WorkProgress]:
        """Yield progress events, and the only step with its criterion for several queries.

        The criterion is the leave-query-out error; with conjugate
        gradients it is the objective, and the number of iterations is
        stored. ``regularization`` is λ. ``data`` are the training
        documents.
        """
        gradients = self._gradients
        pairs = self.checked("pairs")
        cost = self.pair_cost()
        if gradients.are_used_for(data):
            if pairs != "query":
                raise ParameterError(
                    "pairs", pairs, "query with the conjugate gradient solver"
                )
            rows = pair_rows(data.whole("RankRLS"), cost)
            last = yield from gradients.solution(
                rows, rows.centred_labels, regularization
            )
            self._n_gradients = last.number
            # Only the last iteration is a step. If all were steps,
            # validation would choose one of them, which is early
            # stopping.
            yield replace(last, number=1)
        elif pairs == "query":
            yield from model_steps(data, regularization, cost)
        else:
            # Pairs of documents of all queries, or single documents.
            coef, _, errors = self._global_models(data.whole("RankRLS"), regularization)
            yield Step(
                number=1,
                selected=tuple(range(coef.size)),
                coef=coef,
                criterion=float(errors.sum()),
                candidates=np.empty(0),
            )

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        preferences: Preferences | None = None,
    ) -> Self:
        """Fit to documents, labels and queries.

        Sets ``coef_``, ``criterion_`` and ``n_iter_``, and what ``partial_fit`` needs.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Features; a row is a document.
        y : array-like of shape (m,) or (m, v)
            Labels; v outputs share one factorisation.
        qid : array-like of shape (m,), optional
            Query of each document.
        preferences : Preferences, optional
            Preferences, each between rows of X of one query, instead of y.

        Returns
        -------
        self
            The fitted estimator.
        """
        # Several outputs (m, v) are learned together; None for one. The
        # checks want a single label for each document, so they get
        # those of the first output.
        outputs = several_outputs(y)
        labels = labels_or_zeros(
            X, y if outputs is None else outputs[:, 0], preferences
        )
        data = self._validated(X, labels, qid)
        # `partial_fit` adds further queries, but none of these again.
        self._queries = query_ids(qid)
        if outputs is None:
            return self._fit(preferring(data, preferences))
        self._refuse_several_outputs()
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
        """Fit to further queries, in addition to those of ``fit`` and of earlier calls.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Features; a row is a document.
        y : array-like of shape (m,) or (m, v)
            Labels of the documents.
        qid : array-like of shape (m,), optional
            Query ids; all documents of a query must be in one call. By
            default all documents are one query.
        preferences : Preferences, optional
            Preferences instead of y, as in :meth:`fit`.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        DatasetError
            For a query of an earlier call.

        Notes
        -----
        O(mn² + n³): X^'X^ and X^'y^ are sums over queries (Airola 2011, section
        6.3). The weights equal those of one ``fit`` on all data, up to
        rounding.
        """
        # The further documents, as rows whose squared errors are the
        # losses of pairs. Several outputs (m, v) are labels that are
        # learned together; None for one. The checks get those of the
        # first output.
        outputs = several_outputs(y)
        labels = labels_or_zeros(
            X, y if outputs is None else outputs[:, 0], preferences
        )
        data = preferring(self._further(X, labels, qid), preferences)
        if self.checked("pairs") != "query":
            raise ParameterError(
                "pairs", self.pairs, "query when further queries are added"
            )
        if outputs is not None:
            self._refuse_several_outputs()
        data = PairRows.of(data, self.pair_cost())
        regularization = self.checked("regularization")
        # Only the direct solver keeps the sums X^'X^ and X^'y^ to which
        # the further ones are added.
        earlier_sums = getattr(self, "_sums", None)
        if earlier_sums is None and hasattr(self, "coef_"):
            raise ParameterError(
                "solver",
                "cg",
                "direct when further queries are added, because it keeps X^'X^",
            )
        # The queries so far are known, because a query may not be added twice.
        earlier_queries: frozenset[Any] = getattr(self, "_queries", frozenset())
        further_ids = query_ids(qid)
        self._sums = added(earlier_sums, earlier_queries, data, outputs, further_ids)
        self._queries = earlier_queries | further_ids
        # The weights for all queries so far. Their leave-query-out
        # error would need the documents of earlier calls, so it is NaN.
        # The sums are X^'X^ and X^'y^.
        self.coef_ = solved(*self._sums, regularization)
        self.criterion_ = (
            np.nan if outputs is None else np.full(outputs.shape[1], np.nan)
        )
        self.n_iter_ = 1
        return self

    def _refuse_several_outputs(self) -> None:
        """Raise a ParameterError if loss or pairs are not the default ones, as several outputs need."""
        expected = "{} with several outputs, or one output at a time"
        # The first parameter of the loss that is not the default, if any.
        if name := non_default_parameter(self.pair_cost()):
            raise ParameterError(
                name, getattr(self, name), expected.format("the default")
            )
        if self.checked("pairs") != "query":
            raise ParameterError("pairs", self.pairs, expected.format("query"))

    def _further(self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None) -> QueryData:
        """Check further queries, and return them with the documents of each query together.

        On the first call, also sets the attributes of the number and
        names of features. ``qid`` has the query of each document; None
        for one query.
        """
        # The first call decides the number and names of features.
        is_first_call = not hasattr(self, "coef_")
        features, labels = validate_data(
            self, X, y, y_numeric=True, dtype=np.float64, reset=is_first_call
        )
        data: QueryData = self._group(
            features, labels, qid, getattr(self, "feature_names_in_", None)
        )
        return data

    def _finish(self, data: QueryData, steps: list[Step]) -> None:
        """Set ``criterion_`` and ``n_iter_`` from the only step, and store the sums to which ``partial_fit`` adds.

        The sums are X^'X^ and X^'y^ of centred features and labels;
        None if further queries cannot be added, because of the solver
        or the pairs.
        """
        last = steps[-1]
        # Conjugate gradients end with an iteration; the direct solver has a plain step.
        is_iterated = isinstance(last, Iteration)
        self.criterion_ = last.criterion
        self._sums = None
        self.n_iter_ = self._n_gradients if is_iterated else 1
        if is_iterated or self.pairs != "query":
            return
        self._sums = finish(sums_of_products(training_data(data), self.pair_cost()))

    def _score(self, X: Any) -> Floats:
        """Return the scores of checked documents X (m, n), shape (m,), or (m, v) for v outputs."""
        if self.coef_.ndim == 1:
            return super()._score(X)
        # Several outputs: scores of shape (m, v).
        if is_sparse(X):
            return np.asarray(X.dot(self.coef_.T))
        # The function reads features as rows (n, m), and returns scores (v, m).
        return linear_scores(np.ascontiguousarray(X.T), self.coef_).T

    def nested(  # noqa: D102 - inherited
        self, data: TrainingData, order: tuple[int, ...]
    ) -> Iterator[Step | WorkProgress] | None:
        if self.checked("pairs") != "query" or data.one_ranking:
            return None
        return nested_steps(
            data, order, self.checked("regularization"), self.pair_cost()
        )

    def _global_models(
        self, data: QueryData, regularization: float
    ) -> tuple[Floats, Floats, Floats]:
        """Train with pairs of documents of all queries, or with single documents.

        The parameter ``pairs`` is "all" or "pointwise". Returns the
        weights (n,), the weights without each query (Q, n), and the
        loss of each left-out query's own pairs (Q,). ``regularization``
        is λ. ``data`` has the documents.
        """
        cost = self.pair_cost()
        if data.preferences is not None:
            raise ParameterError(
                "pairs",
                self.pairs,
                "query with preferences, because each belongs to one query",
            )
        self._check_pointwise_loss(cost)
        # The products of features and labels in each query, as these
        # pairs or documents need them. `models` (Q, n) are those
        # without each query.
        statistics = global_statistics(data, cost)
        (models,) = models_without(statistics.gram, statistics.total, (regularization,))
        coef = statistics.weights(tuple(range(statistics.n_features)), regularization)
        return coef, models, losses_inside(data, cost, models)

    def _check_pointwise_loss(self, cost: PairCost) -> None:
        """Raise a ParameterError if ``pairs`` is "pointwise" and the loss needs pairs of documents.

        ``cost`` is the loss of a pair of documents.
        """
        if self.pairs == "pointwise" and not cost.default:
            expected = "query or all with another cost, ties or weighting, because single documents have no pairs"
            raise ParameterError("pairs", self.pairs, expected)

    def held_out_loss(self) -> tuple[str, str]:
        """Return the loss of held-out documents of one ranking; ParameterError for unsupported losses.

        Returns
        -------
        loss : str
            "differences" of pairs, or "documents".
        weighting : str
            "size" if the loss of pairs is divided by the number of
            training documents, else "none".
        """
        cost = self.pair_cost()
        weighting = held_out_weighting(cost)
        is_pointwise = self.checked("pairs") == "pointwise"
        self._check_pointwise_loss(cost)
        return "documents" if is_pointwise else "differences", weighting

    def leave_query_out(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        preferences: Preferences | None = None,
        regularization: Sequence[float] | None = None,
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
        preferences : Preferences, optional
            Preferences instead of y, as in :meth:`fit`.
        regularization : sequence of float, optional
            Several λ for predictions; by default the estimator's own.

        Returns
        -------
        ndarray of shape (m,) or (m, v), or (L, m) or (L, m, v) for L values of λ
            Scores, centred within each query, in the order of the rows of X.

        Raises
        ------
        DatasetError
            For documents of a single query, because no training data would remain.
        """
        outputs = several_outputs(y)
        labels = labels_or_zeros(
            X, y if outputs is None else outputs[:, 0], preferences
        )
        data = preferring(self._group(X, labels, qid), preferences)
        # Called for its error only: a single query leaves no training data.
        several_queries(data.ptr, "The leave-query-out predictions of RankRLS")
        own_grid = [self.checked("regularization")]
        grid = (
            own_grid
            if regularization is None
            else [LAMBDA.check(value) for value in regularization]  # positive numbers
        )
        if outputs is None:
            scores = self._left_out(data.dense(), grid)
            return scores[0] if regularization is None else scores
        self._refuse_several_outputs()
        predictions = (left_out_outputs(data, outputs, value) for value in grid)
        if regularization is None:
            return next(predictions)
        # One array (L, m, v), filled as the predictions for each λ are computed.
        return np.fromiter(
            predictions,
            dtype=np.dtype((np.float64, np.shape(outputs))),
            count=len(grid),
        )

    def left_out(self, data: GivenData, columns: Sequence[int]) -> Floats:
        """Return each document's score (m,) by the model of some columns trained without its query.

        Raises a DatasetError for a single query. ``data`` are the
        training documents.
        """
        # Called for its error only: a single query leaves no training data.
        several_queries(data.ptr, "The leave-query-out predictions of RankRLS")
        data = training_data(data)
        # Of sparse data, only these columns are made dense. They are then all columns.
        if data.sparse:
            data = data.narrowed(sorted(columns))
            columns = range(len(columns))
        scorer = finish(self.left_out_scorer(data, columns))
        # Pairs of documents of different queries have no scorer of single shards.
        if scorer is not None:
            return left_out_of_shards(data, scorer)
        narrow = with_columns(data.whole("RankRLS"), columns)
        _, models_without, _ = self._global_models(
            narrow, self.checked("regularization")
        )
        return left_out_scores(narrow, models_without)

    def left_out_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        return (
            sums_need(shape) if self.checked("pairs") == "query" else whole_need(shape)
        )

    def left_out_scorer(
        self, data: TrainingData, columns: Sequence[int]
    ) -> Waiting[LeftOutScorer | None]:
        """Return the scorer of documents by models of some columns trained without each query.

        The scorer gets one shard, a part of the queries, at a time. The
        result is None if the loss has pairs of documents of different
        queries, for which shards do not suffice. ``data`` are the
        training documents. The generator yields progress events, and
        then returns the result.
        """
        if self.checked("pairs") != "query":
            return None
        return (
            yield from left_out_models(
                data, columns, self.checked("regularization"), self.pair_cost()
            )
        )

    def _left_out(self, data: QueryData, grid: Sequence[float]) -> Floats:
        """Return the centred scores (L, m) for each λ by the models trained without each query.

        ``grid`` has the L values of λ. ``data`` has the documents.
        """
        if self.checked("pairs") == "query":
            scores = left_out_predictions(training_data(data), grid, self.pair_cost())
        else:
            scores = np.empty((len(grid), len(data.y)))
            for row, value in zip(scores, grid, strict=True):
                _, query_models, _ = self._global_models(data, value)
                row[:] = centred_scores(data, query_models)
        # Documents that were not grouped by query get their original
        # order; `data.order` is None if they were.
        for row in scores if data.order is not None else ():
            row[:] = data.in_original_order(row)
        return scores
