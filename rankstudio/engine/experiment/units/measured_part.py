"""A part of a fold to measure models on: whole, or shard by shard where it is large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.units.scored_part import ScoredPart
from rankstudio.engine.metrics.evaluator import Evaluator, average
from rankstudio.engine.steps import Step

_SCORES = 1 << 25  # of several models that are measured at a time: 256 MB
_VALUES = 1 << 22  # in queries that are measured at a time: 32 MB


class MeasuredSteps(NamedTuple):
    """What K steps measured: means by measure, shape (K,), and one measure in each query, shape (K, Q)."""

    means: dict[str, Floats]
    queries: Floats | None


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

    def measure_queries(self, scores: Floats) -> dict[str, Floats]:
        """Return the measures of one model's scores in each query."""
        return self._evaluator.per_query(scores)

    def measure_all(self, steps: Sequence[Step], kept: str = "") -> MeasuredSteps:
        """Return the measures of a path's models, and what the kept one is in each query."""
        means, queries = [], []
        for found in self._tables(steps):
            means.append({name: average(values) for name, values in found.items()})
            queries += [found[kept]] if kept in found else []
        columns = {name: np.concatenate([row[name] for row in means]) for name in means[0]}
        return MeasuredSteps(columns, np.concatenate(queries) if queries else None)

    def _tables(self, steps: Sequence[Step]) -> Iterator[dict[str, Floats]]:
        """Yield the measures of some steps at a time in each query."""
        if all(step.linear for step in steps):
            at_once = max(1, min(_SCORES // self._data.n_documents, _VALUES // self._values))
            for first in range(0, len(steps), at_once):
                coefs = np.array([step.coef for step in steps[first : first + at_once]])
                yield self._evaluator.per_query_many(self.linear_scores(coefs))
            return
        known: Floats | None = None
        for step in steps:
            known = self.scores(step, known)
            yield {name: row[None, :] for name, row in self.measure_queries(known).items()}

    @property
    def _values(self) -> int:
        """How many values one model has: of each measure in each query."""
        return self._evaluator.n_queries * max(1, len(self._evaluator.measures))

    @cached_property
    def _evaluator(self) -> Evaluator:
        plan, data = self._plan, self._data
        return Evaluator(data.y, data.query_ptr, plan.convention, plan.evaluated, grading=data.grading)
