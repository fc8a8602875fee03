"""What the rankers share that go down to a minimum and know how far above it they are."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed, sums_need
from rankstudio.engine.methods.shards.training_data import GivenData, TrainingData, training_data
from rankstudio.engine.steps import Iteration, Step
from rankstudio.engine.support.work import WorkProgress

if TYPE_CHECKING:
    from rankstudio.engine.arithmetic.optimisers.conjugate_gradient import OptimizerState


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
