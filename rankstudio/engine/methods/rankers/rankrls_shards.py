"""RankRLS by sums over shards: X^'X^ and X^'y^, then the errors of left-out queries."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.shards.scratch import Scratch
from rankstudio.engine.methods.shards.sharded_data import ShardedQueryData
from rankstudio.engine.querywise.pair_cost.cost import PairCost
from rankstudio.engine.querywise.pair_cost.pair_rows import PairRows
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.steps import Step, WorkProgress
from rankstudio.engine.support.blocks import group_blocks
from rankstudio.engine.support.threads import STEADY


class SumsOfProducts:
    """Asks for [X^ y^]'[X^ y^], shape (n + 1, n + 1)."""

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


@dataclass(frozen=True)
class RankRLSWork:
    """The part of a shard, with the rows of a cost."""

    replayed: ClassVar[bool] = False

    cost: PairCost

    def begin(self, data: QueryData, scratch: Scratch) -> RankRLSWork:
        """Return itself: nothing is kept between messages."""
        return self

    def step(self, data: QueryData, message: SumsOfProducts | LeaveQueryOut) -> tuple[Floats, ...]:
        """Add up over the queries of the shard, a block of some megabytes at a time."""
        found = [message.of(rows) for rows in self._blocks(data)]
        return (np.sum(found, axis=0),)

    def _blocks(self, data: QueryData) -> Iterator[QueryData]:
        for first, last in group_blocks(data.ptr, data.X.shape[1]):
            ptr = data.ptr[first : last + 1]
            rows = slice(ptr[0], ptr[-1])
            yield PairRows.of(QueryData(data.X[rows], data.y[rows], ptr - ptr[0]), self.cost)


def sharded_model(
    data: ShardedQueryData, regularization: float, cost: PairCost
) -> Iterator[Step | WorkProgress]:
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
    with data.session(RankRLSWork(cost)) as session:
        message = LeaveQueryOut(coef, vectors * np.sqrt(scale))
        (error,) = yield from session.sum(message, "leaving queries out")
    yield Step(1, tuple(range(n)), coef, float(error[0]), np.empty(0))


def products_of(data: ShardedQueryData, cost: PairCost) -> tuple[Floats, Floats]:
    """Return X^'X^ (n, n) and X^'y^ (n,) of data that :func:`sharded_model` has learned from."""
    total, _ = data.remembered["decomposed products", cost]
    return total[:-1, :-1], total[:-1, -1]


def _decomposed(
    data: ShardedQueryData, cost: PairCost
) -> Generator[WorkProgress, None, tuple[Floats, tuple[Floats, Floats]]]:
    """Return [X^ y^]'[X^ y^], and the eigenvalues (n,), none negative, and vectors of X^'X^."""
    key = "decomposed products", cost
    if key not in data.remembered:
        with data.session(RankRLSWork(cost)) as session:
            (total,) = yield from session.sum(SumsOfProducts(), "adding up products of features")
        with STEADY:
            values, vectors = np.linalg.eigh(total[:-1, :-1])
        data.remembered[key] = total, (np.maximum(values, 0.0), vectors)
    found: tuple[Floats, tuple[Floats, Floats]] = data.remembered[key]
    return found
