"""A part of a fold to score by models: whole, or shard by shard where it is large."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.querywise.scoring import linear_scores
from rankstudio.engine.steps import Step
from rankstudio.engine.support import threads
from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.shard import Shard, shards_of


class ScoredPart:
    """A part to score by models.

    The documents of a part of one shard are kept with a row for each feature, for all models that come. Those
    of a larger part are read anew for each model, or for several at once, a shard at a time, and in them only
    the features with weights. The scores have the same bits.

    Parameters
    ----------
    data : RankingDataset
    """

    def __init__(self, data: RankingDataset) -> None:
        self._data = data

    def covered(self, step: Step) -> bool:
        """Tell whether a step's model can score these documents."""
        return step.linear or step.covers(self._data.X)

    def scores(self, step: Step, known: Floats | None = None) -> Floats:
        """Return a model's scores, shape (m,); ``known`` are those of the step before."""
        if len(self._shards) == 1:
            return step.scores(self._columns, known)
        if step.linear:
            one: Floats = self.linear_scores(step.coef[None, :])[0]
            return one
        out = np.empty(self._data.n_documents)

        def score(shard: Shard) -> None:
            rows = self._data.X[shard.rows]
            before = None if known is None else known[shard.rows]
            out[shard.rows] = step.scores(np.ascontiguousarray(rows.T), before)
            release(rows)

        self._spread(score)
        return out

    def linear_scores(self, coefs: Floats) -> Floats:
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

    @cached_property
    def _shards(self) -> tuple[Shard, ...]:
        return shards_of(self._data.query_ptr)

    @cached_property
    def _columns(self) -> Floats:
        return np.ascontiguousarray(self._data.X.T)

    def _spread(self, score: Callable[[Shard], None]) -> None:
        with threads.pool() as (executor, workers):
            threads.share(executor, workers, score, self._shards)
