"""A part of a fold whose documents are scored, piece by piece if it is large."""

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
"""Values that a thread scores together: two megabytes, which caches hold."""


class ScoredPart:
    """A part of the data, such as the test part, whose documents models score.

    The documents of a part with one shard are copied once, with a row
    per feature, for all models. Larger parts are read again for each
    model, or for several models at once: `PIECE` values at a time, and
    only features with weights. Each thread holds a piece and a copy of
    it, regardless of the memory limit. The scores have the same bits in
    all cases. Sparse features stay sparse, except for a nonlinear model
    that needs all features.

    Parameters
    ----------
    data : RankingDataset
        Documents of the part.
    """

    def __init__(self, data: RankingDataset) -> None:
        """Score the documents of a part."""
        self._data = data

    def can_be_scored_by(self, step: Step) -> bool:
        """Return whether a step's model can score these documents."""
        return step.linear or step.can_score(self._data.X)

    def scores(self, step: Step, previous_scores: Floats | None = None) -> Floats:
        """Return the scores of a step's model, shape (m,), one per document.

        ``previous_scores``, of the same shape, are those of the
        previous step, to which an additive model only adds a term.
        """
        # Scores of the user, not of a model: the step has them for each
        # part, and finds the part by its content.
        if not step.learned:
            return step.scores(self._data.X.T)

        # Sparse values, or dense values that fit into memory.
        # `_columns` is a copy of the documents with a row per feature.
        if self._is_sparse and not step.linear:
            columns = self._data.X.T
            return step.scores(
                # A model that reads few features needs no copy of all of them.
                columns if step.narrow else np.ascontiguousarray(columns),
                previous_scores,
            )
        if not self._is_large:
            return step.scores(self._columns, previous_scores)

        # Large dense values are scored piece by piece.
        if step.linear:
            scores: Floats = self.linear_scores(step.coef[None, :])[0]
            return scores
        out = np.empty(self._data.n_documents)

        def score(piece: slice) -> None:
            """Score the documents in a range of rows, and write the scores to `out`.

            `out`, `step` (the model) and `previous_scores` are
            variables of the enclosing method.
            """
            rows = self._data.X[piece]
            previous = None if previous_scores is None else previous_scores[piece]
            out[piece] = step.scores(np.ascontiguousarray(rows.T), previous)
            # The rows are mapped from a file: free their memory.
            release(rows)

        self._score_pieces(score)
        return out

    def linear_scores(self, coefs: Floats) -> Floats:
        """Return the scores of K linear models, shape (K, m) for m documents.

        `coefs`, shape (K, n), has a row of weights for each model.
        """
        # All values at once; `_columns`, shape (n, m), has a row per feature.
        if not self._is_large:
            return linear_scores(self._columns, coefs)
        # Otherwise by ranges of documents. Features without a weight
        # need not be read.
        used_columns = np.flatnonzero(coefs.any(axis=0))
        weights = np.ascontiguousarray(coefs[:, used_columns])
        out = np.empty((coefs.shape[0], self._data.n_documents))

        def score(piece: slice) -> None:
            """Score the documents in a range of rows, and write the scores to `out`.

            `out`, `used_columns` and `weights` (of the models) are
            variables of the enclosing method.
            """
            rows = self._data.X[piece]
            out[:, piece] = linear_scores(
                np.ascontiguousarray(rows[:, used_columns].T), weights
            )
            # The rows are mapped from a file: free their memory.
            release(rows)

        self._score_pieces(score)
        return out

    @cached_property
    def _is_large(self) -> bool:
        """Whether the part is scored piece by piece."""
        return not self._is_sparse and len(shards_of(self._data.query_ptr)) > 1

    @property
    def _is_sparse(self) -> bool:
        """Whether the features are sparse."""
        return isinstance(self._data.X, SparseRows)

    @cached_property
    def _columns(self) -> Any:
        """Features as rows, shape (n, m); dense ones are copied."""
        return (
            self._data.X.T if self._is_sparse else np.ascontiguousarray(self._data.X.T)
        )

    def _score_pieces(self, score: Callable[[slice], None]) -> None:
        """Call a function for each piece of the documents, on several threads."""
        m, n = self._data.X.shape
        size = max(1, PIECE // max(1, n))
        pieces = [slice(first, min(m, first + size)) for first in range(0, m, size)]
        with threads.pool() as (executor, workers):
            threads.share(executor, workers, score, pieces)
