"""What the rankers share that go down to a minimum and know how far above it they are."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.shards.sharded_data import ShardedQueryData, by_shards
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.steps import Iteration, Step, WorkProgress
from rankstudio.engine.support.threads import pool

if TYPE_CHECKING:
    from rankstudio.engine.optimization.truncated_newton import OptimizerState


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

    def work(self, data: Any) -> Iterator[Step | WorkProgress]:
        """Yield one :class:`Iteration` a Newton step or cutting plane, its criterion the objective."""
        C, tol, max_iter = self.checked("C"), self.checked("tol"), self.checked("max_iter")
        data = by_shards(data) if self.accepts_shards else data
        everything = tuple(range(data.X.shape[1]))
        if isinstance(data, ShardedQueryData):
            yield from _iterations(self._minimise_shards(data, C, tol, max_iter), everything)
            return
        with pool() as (executor, workers):
            yield from _iterations(self._minimise(data, C, tol, max_iter, executor, workers), everything)

    def _minimise(
        self, data: QueryData, C: float, tol: float, max_iter: int, executor: Executor | None, workers: int
    ) -> Iterator[OptimizerState | WorkProgress]:
        """Go down to the minimum, on the threads there are."""
        raise NotImplementedError

    def _minimise_shards(
        self, data: ShardedQueryData, C: float, tol: float, max_iter: int
    ) -> Iterator[OptimizerState | WorkProgress]:
        """Go down to the minimum by sums over shards."""
        raise NotImplementedError

    def _finish(self, data: QueryData, taken: list[Step]) -> None:
        last = taken[-1]
        assert isinstance(last, Iteration)
        self.objective_, self.gap_, self.n_iter_ = last.criterion, last.gap, last.number
        if not last.converged:
            from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - where it is needed

            warnings.warn(
                f"{type(self).__name__} stopped after {self.n_iter_} iterations with a duality gap of "
                f"{self.gap_:.3g} at an objective of {self.objective_:.6g}; max_iter is {self.max_iter}, "
                f"tol {self.tol:g}.",
                ConvergenceWarning,
                stacklevel=4,
            )


def _iterations(
    descent: Iterator[OptimizerState | WorkProgress], features: tuple[int, ...]
) -> Iterator[Step | WorkProgress]:
    """Yield the states of an optimiser as steps, and its signs of life."""
    number = 0
    for now in descent:
        if isinstance(now, WorkProgress):
            yield now
            continue
        number += 1
        yield Iteration(number, features, now.w, now.objective, np.empty(0), now.gap, now.converged)
