"""A part of a fold to measure models on: whole, or shard by shard where it is large."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.units.scored_part import ScoredPart
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.steps import Step

_SCORES = 1 << 25  # of several models that are measured at a time: 256 MB


class MeasuredPart(ScoredPart):
    """A part to measure models on.

    Parameters
    ----------
    data : RankingDataset
    plan : Plan
        Its measures and convention.
    """

    def __init__(self, data: RankingDataset, plan: Plan) -> None:
        super().__init__(data)
        self._plan = plan

    def measure(self, scores: Floats) -> dict[str, float]:
        """Return the measures of one model's scores."""
        return {name: float(v[0]) for name, v in self._evaluator.evaluate_many(scores[None, :]).items()}

    def per_query(self, step: Step) -> dict[str, Floats]:
        """Return a model's measures in each query."""
        return self._evaluator.per_query(self.scores(step))

    def measure_all(self, steps: Sequence[Step]) -> dict[str, Floats]:
        """Return the measures of the models of a path, an array of them each."""
        if all(step.linear for step in steps):
            at_once = max(1, _SCORES // self._data.n_documents)
            found = [
                self._evaluator.evaluate_many(
                    self.linear_scores(np.array([step.coef for step in steps[first : first + at_once]]))
                )
                for first in range(0, len(steps), at_once)
            ]
            return {name: np.concatenate([values[name] for values in found]) for name in found[0]}
        known: Floats | None = None
        rows = []
        for step in steps:
            known = self.scores(step, known)
            rows.append(self.measure(known))
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    @cached_property
    def _evaluator(self) -> Evaluator:
        plan, data = self._plan, self._data
        return Evaluator(data.y, data.query_ptr, plan.convention, plan.evaluated, grading=data.grading)
