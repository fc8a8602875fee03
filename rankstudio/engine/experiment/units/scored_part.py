"""A part of a fold to score by models: whole, or piece by piece where it is large."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.steps import Step
from rankstudio.engine.support import threads
from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.shard import shards_of
from rankstudio.engine.support.sparse_rows import SparseRows

PIECE = 1 << 18
"""Values of a part's documents that a thread scores together: two megabytes, which caches hold."""


class ScoredPart:
    """A part whose documents are scored by models.

    The documents of a part with one shard are stored with a row per feature, for all models. Larger parts are
    read again for each model, or for several at once, `PIECE` values at a time, and only features with
    weights: each thread holds a piece and a copy of it, regardless of the memory limit. The scores have the
    same bits. Sparse features are never written out, but for a nonlinear model of all of them.

    Parameters
    ----------
    data : RankingDataset
    """

    def __init__(self, data: RankingDataset) -> None:
        self._data = data

    def covered(self, step: Step) -> bool:
        """Return whether a step's model can score these documents."""
        return step.linear or step.covers(self._data.X)

    def scores(self, step: Step, previous_scores: Floats | None = None) -> Floats:
        """Return a model's scores, shape (m,); ``previous_scores`` are those of the previous step."""
        if not step.learned:  # what was given is found by the whole part
            return step.scores(self._data.X.T)
        if self._sparse and not step.linear:
            columns = self._data.X.T
            return step.scores(columns if step.narrow else np.ascontiguousarray(columns), previous_scores)
        if not self._large:
            return step.scores(self._columns, previous_scores)
        if step.linear:
            scores: Floats = self.linear_scores(step.coef[None, :])[0]
            return scores
        out = np.empty(self._data.n_documents)

        def score(piece: slice) -> None:
            rows = self._data.X[piece]
            before = None if previous_scores is None else previous_scores[piece]
            out[piece] = step.scores(np.ascontiguousarray(rows.T), before)
            release(rows)

        self._spread(score)
        return out

    def linear_scores(self, coefs: Floats) -> Floats:
        """Return the scores of linear models (K, n), shape (K, m)."""
        if not self._large:
            return linear_scores(self._columns, coefs)
        used_columns = np.flatnonzero(coefs.any(axis=0))
        weights = np.ascontiguousarray(coefs[:, used_columns])
        out = np.empty((coefs.shape[0], self._data.n_documents))

        def score(piece: slice) -> None:
            rows = self._data.X[piece]
            out[:, piece] = linear_scores(np.ascontiguousarray(rows[:, used_columns].T), weights)
            release(rows)

        self._spread(score)
        return out

    @cached_property
    def _large(self) -> bool:
        return not self._sparse and len(shards_of(self._data.query_ptr)) > 1

    @property
    def _sparse(self) -> bool:
        return isinstance(self._data.X, SparseRows)

    @cached_property
    def _columns(self) -> Any:
        return self._data.X.T if self._sparse else np.ascontiguousarray(self._data.X.T)

    def _spread(self, score: Callable[[slice], None]) -> None:
        m, n = self._data.X.shape
        step = max(1, PIECE // max(1, n))
        pieces = [slice(first, min(m, first + step)) for first in range(0, m, step)]
        with threads.pool() as (executor, workers):
            threads.share(executor, workers, score, pieces)
