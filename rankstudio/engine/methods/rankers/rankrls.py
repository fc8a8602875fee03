"""RankRLS: regularised least squares on the differences inside queries (Pahikkala et al. 2007, 2009)."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.preferences.preferences import Preferences
from rankstudio.engine.errors import OutOfMemoryError, ParameterError
from rankstudio.engine.methods.catalog.shared import LAMBDA
from rankstudio.engine.methods.holdout.ranker import HoldOutRanker
from rankstudio.engine.methods.left_out import (
    LeftOutScorer,
    centred_scores,
    left_out_of_shards,
    left_out_scores,
    scores_by_statistics,
    with_columns,
)
from rankstudio.engine.methods.memory_need import (
    DataShape,
    MemoryNeed,
    rankrls_need,
    residuals_bytes,
    statistics_bytes,
)
from rankstudio.engine.methods.pair_costs import held_out_weighting, pair_rows
from rankstudio.engine.methods.preference_learner import labels_or_zeros, preferring
from rankstudio.engine.methods.rankers.rankrls_outputs import (
    SeveralOutputs,
    centred_labels,
    left_out_outputs,
    several_outputs,
)
from rankstudio.engine.methods.rankers.rankrls_shards import (
    left_out_models,
    left_out_predictions,
    nested_steps,
    sharded_model,
)
from rankstudio.engine.methods.shards.training_data import GivenData, TrainingData, training_data
from rankstudio.engine.querywise.pair_cost.cost import PairCost
from rankstudio.engine.querywise.pair_cost.global_pairs import global_statistics
from rankstudio.engine.querywise.pair_cost.held_out import held_out_residuals, held_out_weights, losses_inside
from rankstudio.engine.querywise.pair_cost.pair_rows import PairRows
from rankstudio.engine.querywise.query_data import QueryData, QueryStatistics, several_queries
from rankstudio.engine.querywise.sparse_query_data import SparseQueryData, dense
from rankstudio.engine.steps import Step, WorkProgress, finish
from rankstudio.engine.support import memory
from rankstudio.engine.support.threads import pool, worthwhile

_MOST_BYTES = 4e9  # of per-query statistics, before they are done without


class RankRLS(SeveralOutputs, HoldOutRanker):
    """RankRLS fits a linear ranker by regularised least squares on pairs of documents of one query.

    Minimises sum_q 1/(2|q|) sum_{i,j in q} (y_i - y_j - w'(x_i - x_j))² + λ||w||²
    (Pahikkala et al. 2010, eq. (3)), so w = (X^'X^ + λI)^-1 X^'y^ with ^ centring inside each query
    (eq. (5)). Other losses of a pair are those of Pahikkala et al. (2009), section 2.4, and the minimum is
    w = (X'MM'X + λI)^-1 X'MN (eq. (28)).

    Parameters
    ----------
    regularization : float, default 1.0
        λ > 0.
    solver : {"auto", "direct", "cg"}, default "auto"
        "direct" decomposes X^'X^. "cg" takes conjugate gradients, O(entries of X) each, and makes no matrix:
        for sparse X of scipy with any number of features. "auto" takes it where X is sparse.
    tol : float, default 1e-10
        Of conjugate gradients: they end where the residual of the normal equations is at most this share of
        X^'y^.
    max_iter : int, default 1000
        Conjugate gradients at most.
    cost : {"magnitude", "unit", "inverse"}, default "magnitude"
        The loss of a pair whose labels differ by d > 0 and whose scores differ by g: (d - g)², (1 - g)² or
        (1 - g/d)² (eqs. (21), (20) and (22)).
    ties : bool, optional
        Whether pairs of equal labels count, with g²; for the cost "magnitude" alone. Without it they do where
        they can.
    weighting : {"size", "pairs", "none"}, default "size"
        Whether a query's loss is divided by its number of documents, by its number of pairs, or not at all.
    pairs : {"query", "all", "pointwise"}, default "query"
        "all": pairs of documents of different queries count too (section 5.1), and ``weighting`` is by the
        documents or pairs of all queries together. "pointwise": regression on the labels of the documents
        with a bias that is not regularised; its weights are those of "all" with the default cost.

    Attributes
    ----------
    coef_ : ndarray of shape (n,) or (v, n)
        The weights; a row an output for labels y of shape (m, v).
    criterion_ : float or ndarray of shape (v,)
        The leave-query-out squared error, summed over documents, or with another cost the loss of the pairs
        inside left-out queries; of conjugate gradients, which leave no query out, the minimised sum; NaN
        after :meth:`partial_fit`.
    n_iter_ : int
        Conjugate gradients taken; 1 without.

    Notes
    -----
    O(mn²) for the Gram matrices of the queries, shared by every λ; then O(n²) for the weights from one
    eigendecomposition and O(Qn³) for the leave-query-out error. Where these matrices, O(Qn²), are too large
    for memory, O(mn² + n³) for each λ in O(mn + n²) memory. More than 65,536 documents are learned from by
    shards, which may be larger than memory, with pairs inside queries: O(n²) memory besides a shard. Queries
    are left out by shards, too.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> RankRLS(regularization=4.0).fit(train.X, train.y, qid=train.qid).coef_.argmax().item()
    0
    """

    accepts_sparse: ClassVar[bool] = True

    def __init__(
        self,
        regularization: float = 1.0,
        solver: str = "auto",
        tol: float = 1e-10,
        max_iter: int = 1000,
        cost: str = "magnitude",
        ties: bool | None = None,
        weighting: str = "size",
        pairs: str = "query",
    ) -> None:
        self.regularization = regularization
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.cost = cost
        self.ties = ties
        self.weighting = weighting
        self.pairs = pairs

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return self.max_iter if self.solver == "cg" else 1

    @property
    def leaves_out_by_shards(self) -> bool:  # noqa: D102 - inherited
        pairs: str = self.checked("pairs")
        return pairs == "query"

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        by_shards = shape.sharded and self.pairs == "query" and self.solver != "cg"
        return super().memory_need(shape) if by_shards else rankrls_need(shape, _MOST_BYTES)

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Yield the one step there is, all features at once; by conjugate gradients one each.

        Learning by shards gives signs of life before it.
        """
        regularization = self.checked("regularization")
        gradients, pairs = self._gradients, self.checked("pairs")
        data = training_data(data)
        sums = pairs == "query" and not gradients.serve(data)
        if data.several and sums:
            yield from sharded_model(data, regularization, self.pair_cost())
            return
        yield from self._at_once(data.whole("RankRLS"), regularization)

    def _at_once(self, data: QueryData | SparseQueryData, regularization: float) -> Iterator[Step]:
        """Yield the steps from all documents at once."""
        gradients, pairs = self._gradients, self.checked("pairs")
        ranked, data = data, pair_rows(data, self.pair_cost())
        if gradients.serve(data) or isinstance(data, SparseQueryData):
            if pairs != "query":
                raise ParameterError("pairs", pairs, "query where conjugate gradients learn")
            yield from gradients.iterations(data, centred_labels(data), regularization)
            return
        n = data.X.shape[1]
        if pairs != "query":
            coef, _, errors = self._global_models(dense(ranked), regularization)
            criterion = float(errors.sum())
        elif _statistics_fit(data):
            coef = weights(data.statistics, regularization)
            _, errors = leave_query_out_models(data.statistics, regularization)
            criterion = float(errors.sum())
        else:
            coef, residuals = held_out_residuals(data, regularization)
            criterion = float(residuals @ residuals)
        yield Step(1, tuple(range(n)), coef, criterion, np.empty(0))

    def nested(  # noqa: D102 - inherited
        self, data: TrainingData, order: tuple[int, ...]
    ) -> Iterator[Step | WorkProgress] | None:
        if self.checked("pairs") != "query":
            return None
        return nested_steps(data, order, self.checked("regularization"), self.pair_cost())

    def _global_models(self, data: QueryData, regularization: float) -> tuple[Floats, Floats, Floats]:
        """Return the weights, those without each query (Q, n), and their losses on its pairs (Q,)."""
        cost = self.pair_cost()
        if data.preferences is not None:
            raise ParameterError("pairs", self.pairs, "query with preferences, which are of one query each")
        self._pointwise(cost)
        statistics = global_statistics(data, cost)
        models, _ = leave_query_out_models(statistics, regularization)
        return weights(statistics, regularization), models, losses_inside(data, cost, models)

    def _pointwise(self, cost: PairCost) -> bool:
        """Tell whether there are no pairs; ParameterError for a loss of pairs then."""
        if self.pairs == "pointwise" and not cost.default:
            expected = "query or all with another cost, ties or weighting: documents have no pairs"
            raise ParameterError("pairs", self.pairs, expected)
        return self.pairs == "pointwise"

    def held_out_loss(self) -> tuple[str, str]:
        """Return the loss of held-out documents of one ranking; ParameterError for one that it is not for.

        Returns
        -------
        loss, weighting : str
            As :class:`rankstudio.engine.methods.holdout.predictor.HeldOutPredictor` has them.
        """
        cost = self.pair_cost()
        weighting = held_out_weighting(cost)
        pointwise = self.checked("pairs") == "pointwise" and self._pointwise(cost)
        return "documents" if pointwise else "differences", weighting

    def leave_query_out(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        preferences: Preferences | None = None,
        regularization: Sequence[float] | None = None,
    ) -> Floats:
        """Predict each document with the model learned from all queries but its own.

        Parameters
        ----------
        X : array-like of shape (m, n)
        y : array-like of shape (m,) or (m, v), optional
        qid : array-like of shape (m,), optional
        preferences : Preferences, optional
            In place of y, as for :meth:`fit`.
        regularization : sequence of float, optional
            Several λ to predict with at once; the estimator's own without them.

        Returns
        -------
        ndarray of shape (m,) or (m, v), or (L, m) or (L, m, v) for L values of λ
            Scores, centred inside each query, in the order of the rows of X.

        Raises
        ------
        DatasetError
            For documents of one query only: no other is left to learn from.
        """
        outputs = several_outputs(y)
        labels = labels_or_zeros(X, y if outputs is None else outputs[:, 0], preferences)
        data = preferring(self._group(X, labels, qid), preferences)
        several_queries(data.ptr, "The leave-query-out predictions of RankRLS")
        own = [self.checked("regularization")]
        grid = own if regularization is None else [LAMBDA.check(value) for value in regularization]
        if outputs is not None:
            self.refuse_several_outputs()
            found: Iterator[Floats] = (left_out_outputs(data, outputs, value) for value in grid)
        else:
            found = self._left_out(dense(data), grid)
        if regularization is None:
            return next(found)
        shape = (len(grid), *np.shape(data.y if outputs is None else outputs))
        return np.fromiter(found, dtype=np.dtype((np.float64, shape[1:])), count=len(grid))

    def left_out(self, data: GivenData, columns: Sequence[int]) -> Floats:  # noqa: D102 - inherited
        several_queries(data.ptr, "The leave-query-out predictions of RankRLS")
        shards = training_data(data)
        if shards.several and self.leaves_out_by_shards:
            return left_out_of_shards(shards, finish(self.left_out_scorer(shards, columns)))
        whole: QueryData = shards.whole("RankRLS")
        regularization = self.checked("regularization")
        if _statistics_fit(whole):
            _ = whole.statistics  # of which those of some features are cut out, whoever asked before
            centred = self.pair_cost().default and whole.preferences is None
            if centred and self.checked("pairs") == "query":
                return scores_by_statistics(
                    whole, columns, lambda some: leave_query_out_models(some, regularization)[0]
                )
        narrow = with_columns(whole, columns)
        return left_out_scores(narrow, self._left_out_models(narrow, regularization))

    def left_out_scorer(  # noqa: D102 - inherited
        self, data: TrainingData, columns: Sequence[int]
    ) -> Generator[WorkProgress, None, LeftOutScorer]:
        return (yield from left_out_models(data, columns, self.checked("regularization"), self.pair_cost()))

    def _left_out_models(self, data: QueryData, regularization: float) -> Floats:
        """Return the weights learned without each query, shape (Q, n)."""
        if self.checked("pairs") != "query":
            return self._global_models(data, regularization)[1]
        rows = PairRows.of(data, self.pair_cost())
        if _statistics_fit(rows):
            return leave_query_out_models(rows.statistics, regularization)[0]
        return held_out_weights(rows, regularization, *held_out_residuals(rows, regularization))

    def _left_out(self, data: QueryData, grid: Sequence[float]) -> Iterator[Floats]:
        """Yield the centred scores (m,) for each λ by the models learned without each query."""
        shards = training_data(data)
        if shards.several and self.leaves_out_by_shards:
            found: Iterable[Floats] = left_out_predictions(shards, grid, self.pair_cost())
        else:
            models = (self._left_out_models(data, value) for value in grid)
            found = (centred_scores(data, weights) for weights in models)
        yield from map(data.in_original_order, found)


def _statistics_fit(data: QueryData) -> bool:
    """Tell whether the Gram matrices of all queries fit in memory.

    Raises
    ------
    OutOfMemoryError
        Where neither they do nor what :func:`held_out_residuals` needs instead.
    """
    if "statistics" in vars(data):
        return True
    (m, n), Q = data.X.shape, data.ptr.size - 1
    free = memory.available()
    needed = statistics_bytes(Q, n)
    if needed <= min(_MOST_BYTES, free):
        return True
    without = residuals_bytes(m, n)
    if without > free:
        most = int((np.sqrt(16 * m**2 + 12 * free / 8) - 4 * m) / 6)
        raise OutOfMemoryError(
            f"RankRLS: {m:,} documents with {n:,} features need {memory.size(without)} of memory, and "
            f"{memory.size(free)} are free; with {most:,} features so many documents fit."
        )
    return False


def weights(statistics: QueryStatistics, regularization: float) -> Floats:
    """Return w = (T + λI)^-1 T[:, y] from the eigendecomposition of T that every λ shares, shape (n,)."""
    values, vectors = statistics.eigen
    coef: Floats = vectors @ ((vectors.T @ statistics.total[:-1, -1]) / (values + regularization))
    return coef


def leave_query_out_models(statistics: QueryStatistics, regularization: float) -> tuple[Floats, Floats]:
    """Learn without each query in turn.

    Parameters
    ----------
    statistics : QueryStatistics
        Of the training data.
    regularization : float
        λ > 0.

    Returns
    -------
    weights : ndarray of shape (Q, n)
        Row q was learned from all queries but q.
    errors : ndarray of shape (Q,)
        Its squared error on the centred documents of query q.

    Notes
    -----
    O(Qn³) time, and no term in the number of documents.
    """
    from rankstudio.engine.methods.rankers import _rankrls_kernel  # noqa: PLC0415 - numba

    Q, n = statistics.n_queries, statistics.n_features
    models, errors = np.empty((Q, n)), np.empty(Q)
    with pool(worthwhile(0.2 * Q * n**3 / 3)) as (executor, workers):
        cuts = np.linspace(0, Q, workers + 1).astype(int)
        ranges = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
        work = [
            (statistics.gram, statistics.total, regularization, first, last, models, errors)
            for first, last in ranges
        ]
        if executor is None:
            _rankrls_kernel.leave_out(*work[0])
        else:
            list(executor.map(lambda arguments: _rankrls_kernel.leave_out(*arguments), work))
    return models, errors
