"""A part of a fold to measure models on: whole, or shard by shard where it is large."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.querywise.scoring import linear_scores
from rankstudio.engine.steps import Step
from rankstudio.engine.support import threads
from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.shard import Shard, shards_of

_SCORES = 1 << 25  # of several models that are measured at a time: 256 MB


class MeasuredPart:
    """A part to measure models on.

    The documents of a part of one shard are kept with a row for each feature, for all models that come. Those
    of a larger part are read anew for each model, or for several at once, a shard at a time, and in them only
    the features with weights. The scores have the same bits.

    Parameters
    ----------
    data : RankingDataset
    plan : Plan
        Its measures and convention.
    """

    def __init__(self, data: RankingDataset, plan: Plan) -> None:
        self._data = data
        self._plan = plan

    def covered(self, step: Step) -> bool:
        """Tell whether a step's model can score these documents."""
        return step.linear or step.covers(self._data.X)

    def scores(self, step: Step, known: Floats | None = None) -> Floats:
        """Return a model's scores, shape (m,); ``known`` are those of the step before."""
        if len(self._shards) == 1:
            return step.scores(self._columns, known)
        if step.linear:
            one: Floats = self._linear(step.coef[None, :])[0]
            return one
        out = np.empty(self._data.n_documents)

        def score(shard: Shard) -> None:
            rows = self._data.X[shard.rows]
            before = None if known is None else known[shard.rows]
            out[shard.rows] = step.scores(np.ascontiguousarray(rows.T), before)
            release(rows)

        self._spread(score)
        return out

    def measure(self, scores: Floats) -> dict[str, float]:
        """Return the measures of one model's scores."""
        return {name: float(v[0]) for name, v in self._evaluator.evaluate_many(scores[None, :]).items()}

    def per_query(self, step: Step) -> dict[str, Floats]:
        """Return a model's measures in each query."""
        return self._evaluator.per_query(self.scores(step))

    def measure_all(self, steps: Sequence[Step]) -> dict[str, Floats]:
        """Return the measures of the models of a path, an array of them each."""
        if all(step.linear for step in steps):
            coefs = np.array([step.coef for step in steps])
            at_once = max(1, _SCORES // self._data.n_documents) if len(self._shards) > 1 else len(steps)
            found = [
                self._evaluator.evaluate_many(self._linear(coefs[first : first + at_once]))
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
    def _shards(self) -> tuple[Shard, ...]:
        return shards_of(self._data.query_ptr)

    @cached_property
    def _evaluator(self) -> Evaluator:
        plan = self._plan
        return Evaluator(self._data.y, self._data.query_ptr, plan.convention, plan.evaluated)

    @cached_property
    def _columns(self) -> Floats:
        return np.ascontiguousarray(self._data.X.T)

    def _linear(self, coefs: Floats) -> Floats:
        """Return the scores of linear models (K, n), shape (K, m)."""
        if len(self._shards) == 1:
            return linear_scores(self._columns, coefs)
        used = np.flatnonzero(coefs.any(axis=0))
        weights = np.ascontiguousarray(coefs[:, used])
        out = np.empty((coefs.shape[0], self._data.n_documents))

        def score(shard: Shard) -> None:
            rows = self._data.X[shard.rows]
            out[:, shard.rows] = linear_scores(np.ascontiguousarray(rows[:, used].T), weights)
            release(rows)

        self._spread(score)
        return out

    def _spread(self, score: Callable[[Shard], None]) -> None:
        with threads.pool() as (executor, workers):
            threads.share(executor, workers, score, self._shards)
