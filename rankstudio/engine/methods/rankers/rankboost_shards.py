"""RankBoost by sums over shards: the weights of the documents in each bin of each feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankstudio.engine.arrays import Bytes, Floats, Ints
from rankstudio.engine.methods.shards.scratch import Scratch
from rankstudio.engine.querywise.query_data import QueryData

THRESHOLDS = 255
"""That a feature has at most: a bin is a byte."""
STATE = 16
"""Bytes that are kept of a document besides its bins: its score, and the order of labels."""


@dataclass(frozen=True, eq=False)
class Beginning:
    """Tells the thresholds of every feature, and asks what documents weigh before any weak ranker.

    Attributes
    ----------
    thresholds : ndarray of shape (n, THRESHOLDS)
        Ascending.
    """

    thresholds: Floats

    def to(self, state: _BoostedShard, data: QueryData) -> None:
        """Put a shard's documents in bins."""
        state.begin(data, self.thresholds)


@dataclass(frozen=True)
class WeakRanker:
    """Tells a weak ranker, and asks what documents weigh with it.

    Attributes
    ----------
    feature : int
    last : int
        It adds to the scores of documents in the bins after this one.
    weight : float
        What it adds.
    """

    feature: int
    last: int
    weight: float

    def to(self, state: _BoostedShard, data: QueryData) -> None:
        """Add it to a shard's scores."""
        state.H += self.weight * (state.bins[self.feature] > self.last)


@dataclass(frozen=True)
class RankBoostWork:
    """The work of boosting on a shard."""

    replayed: ClassVar[bool] = True

    def begin(self, data: QueryData, scratch: Scratch) -> _BoostedShard:
        """Return a state that has to hear the thresholds first."""
        return _BoostedShard(data, scratch)


class _BoostedShard:
    """The scores of a shard's documents, shape (m,), and their bins (n, m): how many thresholds are less."""

    def __init__(self, data: QueryData, scratch: Scratch) -> None:
        m, n = data.X.shape
        self.H = scratch.empty(m)
        self._by_label: Ints = scratch.empty(m).view(np.int64)
        self.bins: Bytes = scratch.empty(-(-n * m // 8)).view(np.uint8)[: n * m].reshape(n, m)

    def begin(self, data: QueryData, thresholds: Floats) -> None:
        self.H[:] = 0.0
        self._by_label[:] = by_label(data)
        for j, own in enumerate(thresholds):
            self.bins[j] = np.searchsorted(own, np.ascontiguousarray(data.X[:, j]))

    def step(self, data: QueryData, message: Beginning | WeakRanker) -> tuple[Floats, Floats]:
        """Return what the documents in each bin weigh, (n, THRESHOLDS + 1), and what the pairs do, (1,)."""
        from rankstudio.engine.methods.rankers import _rankboost_kernel as kernels  # noqa: PLC0415 - numba

        message.to(self, data)
        weights = np.empty(data.y.size)
        total = kernels.potential(self.H, data.y, self._by_label, data.ptr, weights)
        in_bins = np.zeros((self.bins.shape[0], THRESHOLDS + 1))
        kernels.add_to_bins(self.bins, weights, in_bins)
        return in_bins, np.array([total])


def by_label(data: QueryData) -> Ints:
    """Return the documents of each query by ascending label, shape (m,)."""
    query = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
    return np.lexsort((data.y, query)).astype(np.int64)
