"""RankRLS by sums over shards: X^'X^ and X^'y^, then the errors and the scores of left-out queries."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.left_out import centred_scores, left_out_scores
from rankstudio.engine.methods.shards.function import summed
from rankstudio.engine.methods.shards.scratch import Scratch
from rankstudio.engine.methods.shards.summation import Joined
from rankstudio.engine.methods.shards.training_data import GivenData, TrainingData, training_data
from rankstudio.engine.querywise.nested_rankrls import left_out_errors, nested_factor
from rankstudio.engine.querywise.pair_cost.cost import PairCost
from rankstudio.engine.querywise.pair_cost.pair_rows import PairRows
from rankstudio.engine.querywise.query_data import QueryData, query_grams
from rankstudio.engine.steps import Step, WorkProgress, finish
from rankstudio.engine.support.blocks import group_blocks
from rankstudio.engine.support.threads import STEADY


class SumsOfProducts:
    """Asks for [X^ y^]'[X^ y^], shape (n + 1, n + 1)."""

    columns: ClassVar[None] = None

    def of(self, rows: QueryData) -> Floats:
        """Return those of some queries."""
        both = np.column_stack(rows.centred)
        products: Floats = both.T @ both
        return products


@dataclass(frozen=True, eq=False)
class LeaveQueryOut:
    """Asks for the leave-query-out squared error, shape (1,).

    Attributes
    ----------
    coef : ndarray of shape (n,)
        Learned from all queries, w.
    whitening : ndarray of shape (n, n)
        W with WW' = (X^'X^ + λI)^-1.
    """

    columns: ClassVar[None] = None

    coef: Floats
    whitening: Floats

    def of(self, rows: QueryData) -> Floats:
        """Add up the squared residuals (I - V_q V_q')^-1 (y^_q - X^_q w) of some queries, with V = X^W.

        For a query of more than n documents the inverse is I + V_q (I - V_q'V_q)^-1 V_q'.
        """
        X, y = rows.centred
        V, residuals = X @ self.whitening, y - X @ self.coef
        total = np.zeros(1)
        for first, last in pairwise(rows.ptr.tolist()):
            part, left = V[first:last], residuals[first:last]
            if last - first <= X.shape[1]:
                rest = np.linalg.solve(np.eye(last - first) - part @ part.T, left)
            else:
                rest = left + part @ np.linalg.solve(np.eye(X.shape[1]) - part.T @ part, part.T @ left)
            total += rest @ rest
        return total


@dataclass(frozen=True, eq=False)
class NestedErrors:
    """Asks for the leave-query-out squared errors of models along an order, shape (k,).

    Attributes
    ----------
    columns : ndarray of shape (k,)
        The order.
    factor, along : ndarray
        As :class:`rankstudio.engine.querywise.nested_rankrls.NestedFactor` has them.
    regularization : float
        λ.
    """

    columns: Ints
    factor: Floats
    along: Floats
    regularization: float

    def of(self, rows: QueryData) -> Floats:
        """Return those of some queries."""
        return left_out_errors(rows, self.columns, self.factor, self.along, self.regularization)

    def narrowed(self) -> NestedErrors:
        """Return what is asked of rows that have the features of the order alone."""
        return replace(self, columns=np.arange(self.columns.size))


Message = SumsOfProducts | LeaveQueryOut | NestedErrors


@dataclass(frozen=True)
class RankRLSWork:
    """The part of a shard, with the rows of a cost.

    Attributes
    ----------
    cost : PairCost
    by_blocks : bool
        Whether rows are made for some megabytes of whole queries at a time. Otherwise they are kept with the
        documents for the next λ.
    """

    replayed: ClassVar[bool] = False

    cost: PairCost
    by_blocks: bool

    def begin(self, data: QueryData, scratch: Scratch) -> RankRLSWork:
        """Return itself: nothing is kept between messages."""
        return self

    def step(self, data: QueryData, message: Message) -> tuple[Floats, ...]:
        """Add up over the queries of the shard."""
        if not self.by_blocks:
            return (message.of(PairRows.of(data, self.cost)),)
        own = message.narrowed() if isinstance(message, NestedErrors) else message
        return (np.sum([own.of(rows) for rows in self._blocks(data, message.columns)], axis=0),)

    def _blocks(self, data: QueryData, columns: Ints | None) -> Iterator[QueryData]:
        for first, last in group_blocks(data.ptr, data.X.shape[1]):
            ptr = data.ptr[first : last + 1]
            rows = slice(ptr[0], ptr[-1])
            X = data.X[rows] if columns is None else np.ascontiguousarray(data.X[rows, columns])
            yield PairRows.of(QueryData(X, data.y[rows], ptr - ptr[0]), self.cost)


def sharded_model(data: TrainingData, regularization: float, cost: PairCost) -> Iterator[Step | WorkProgress]:
    """Yield the model of one λ, and signs of life before it.

    Notes
    -----
    O(mn²) for the sums, which all λ share with their eigendecomposition, O(n³); then for each λ
    O(mn² + sum of |q|² (n + |q|)) for the error, with n for |q| where that is less.
    """
    total, (values, vectors) = yield from _decomposed(data, cost)
    n = values.size
    scale = 1.0 / (values + regularization)
    with STEADY:
        coef: Floats = vectors @ ((vectors.T @ total[:n, n]) * scale)
    with data.session(RankRLSWork(cost, data.several)) as session:
        message = LeaveQueryOut(coef, vectors * np.sqrt(scale))
        (error,) = yield from session.sum(message, "leaving queries out")
    yield Step(1, tuple(range(n)), coef, float(error[0]), np.empty(0))


def nested_steps(
    data: GivenData, order: tuple[int, ...], regularization: float, cost: PairCost
) -> Iterator[Step | WorkProgress]:
    """Yield the models with the first feature of an order, the first two, and so on, for one λ.

    Notes
    -----
    O(mn²) for the sums, which all orders and all λ share; then O(mk²) for each, as
    :func:`rankstudio.engine.querywise.nested_rankrls.left_out_errors` has it.
    """
    data = training_data(data)
    total = yield from _products(data, cost)
    columns = np.array(order)
    with STEADY:
        factored = nested_factor(total[:-1, :-1], total[:-1, -1], columns, regularization)
    message = NestedErrors(columns, factored.factor, factored.along, regularization)
    with data.session(RankRLSWork(cost, data.several)) as session:
        (errors,) = yield from session.sum(message, "leaving queries out")
    for k in range(1, len(order) + 1):
        yield Step(k, order[:k], factored.coefs[k - 1], float(errors[k - 1]), np.empty(0))


def products_of(data: TrainingData, cost: PairCost) -> tuple[Floats, Floats]:
    """Return X^'X^ (n, n) and X^'y^ (n,) of data that :func:`sharded_model` has learned from."""
    total, _ = data.remembered["decomposed products", cost]
    return total[:-1, :-1], total[:-1, -1]


def _decomposed(
    data: TrainingData, cost: PairCost
) -> Generator[WorkProgress, None, tuple[Floats, tuple[Floats, Floats]]]:
    """Return [X^ y^]'[X^ y^], and the eigenvalues (n,), none negative, and vectors of X^'X^."""
    key = "decomposed products", cost
    if key not in data.remembered:
        total = yield from _products(data, cost)
        with STEADY:
            values, vectors = np.linalg.eigh(total[:-1, :-1])
        data.remembered[key] = total, (np.maximum(values, 0.0), vectors)
    found: tuple[Floats, tuple[Floats, Floats]] = data.remembered[key]
    return found


def _products(data: TrainingData, cost: PairCost) -> Generator[WorkProgress, None, Floats]:
    """Return [X^ y^]'[X^ y^]; that of some features is cut out of that of all, which are summed once."""
    if data.source is not None:
        kept = [*data.columns, data.source.X.shape[1]]
        return (yield from _products(data.source, cost))[np.ix_(kept, kept)]
    key = "products", cost
    if key not in data.remembered:
        with data.session(RankRLSWork(cost, data.several)) as session:
            (data.remembered[key],) = yield from session.sum(
                SumsOfProducts(), "adding up products of features"
            )
    total: Floats = data.remembered[key]
    return total


@dataclass(frozen=True, eq=False)
class LeftOutRankRLS:
    """The models learned without each query in turn, for whoever has the documents of some queries.

    Attributes
    ----------
    columns : tuple of int
        The features, ascending.
    total : ndarray of shape (k + 1, k + 1)
        [X^ y^]'[X^ y^] of them over all queries.
    regularization : float
        λ > 0.
    cost : PairCost
    """

    columns: tuple[int, ...]
    total: Floats
    regularization: float
    cost: PairCost

    def scores(self, data: QueryData) -> Floats:
        """Score the documents of some queries, each by the model learned without it, shape (m,).

        Equal documents of a query have equal scores. O(mk² + Qk³).
        """
        if not self.columns:
            return np.zeros(len(data.y))
        return np.concatenate(
            [left_out_scores(block, models) for block, (models,) in self._models(data, self.regularization)]
        )

    def predictions(self, data: QueryData, regularizations: Sequence[float]) -> Floats:
        """Return the scores centred inside each query for each λ, shape (L, m)."""
        return np.concatenate(
            [
                np.stack([centred_scores(block, weights) for weights in models])
                for block, models in self._models(data, *regularizations)
            ],
            axis=1,
        )

    def _models(self, data: QueryData, *regularizations: float) -> Iterator[tuple[QueryData, Floats]]:
        """Yield documents with these features, and their queries' weights (L, Q, k), by some megabytes.

        A query has one Gram matrix for all λ.
        """
        from rankstudio.engine.methods.rankers import _rankrls_kernel  # noqa: PLC0415 - numba

        m, n_queries, k = len(data.y), data.ptr.size - 1, len(self.columns)
        for first, last in group_blocks(data.ptr, max(k, n_queries * (k + 1) ** 2 // m)):
            ptr = data.ptr[first : last + 1]
            rows, ptr = slice(ptr[0], ptr[-1]), ptr - ptr[0]
            block = QueryData(data.X[rows].take(self.columns, axis=1), data.y[rows], ptr)
            pairs, count = PairRows.of(block, self.cost), last - first
            grams = query_grams(*pairs.centred, pairs.ptr, np.empty((count, k + 1, k + 1)))
            models, errors = np.empty((len(regularizations), count, k)), np.empty(count)
            for weights, regularization in zip(models, regularizations, strict=True):
                _rankrls_kernel.leave_out(grams, self.total, regularization, 0, count, weights, errors)
            yield block, models


def left_out_models(
    data: TrainingData, columns: Sequence[int], regularization: float, cost: PairCost
) -> Generator[WorkProgress, None, LeftOutRankRLS]:
    """Return what scores the documents of a shard by the models of some features learned without each query.

    One pass over the data, O(mn²), for all features and λ together, which is remembered.
    """
    total = yield from _products(data, cost)
    chosen = sorted(columns)
    kept = np.array([*chosen, total.shape[0] - 1])
    return LeftOutRankRLS(
        tuple(chosen), np.ascontiguousarray(total[np.ix_(kept, kept)]), regularization, cost
    )


def left_out_predictions(data: TrainingData, regularizations: Sequence[float], cost: PairCost) -> Floats:
    """Predict each document without its query for each λ, centred, shape (L, m): two passes over the data."""
    models = finish(left_out_models(data, range(data.X.shape[1]), regularizations[0], cost))
    message = models, tuple(regularizations)
    (found,) = finish(summed(data, "leaving queries out", _predictions, *message))
    return np.asarray(found)


def _predictions(
    data: QueryData, models: LeftOutRankRLS, regularizations: tuple[float, ...]
) -> tuple[Joined]:
    return (Joined(models.predictions(data, regularizations)),)
