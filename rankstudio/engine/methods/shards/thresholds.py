"""Thresholds on features: all their values, or some of them where they are many, from sums over shards."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.shared import once
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.shards.function import summed
from rankstudio.engine.methods.shards.order_statistics import order_statistics
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support.work import Waiting

_FINDING = "finding thresholds"


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Ascending thresholds of each feature, all in a row.

    Attributes
    ----------
    values : ndarray of shape (t,)
    starts : ndarray of shape (n + 1,)
        Feature j has ``values[starts[j]:starts[j + 1]]``, none where it is constant.
    fewer : ndarray of shape (n,), bool
        Which features have more values than these thresholds are between.
    """

    values: Floats
    starts: Ints
    fewer: Bools

    def of(self, feature: int) -> Floats:
        """Return those of one feature."""
        return self.values[self.starts[feature] : self.starts[feature + 1]]

    def narrowed(self, columns: tuple[int, ...]) -> Thresholds:
        """Return those of some features."""
        return _joined([self.of(column) for column in columns], self.fewer[list(columns)])


@dataclass(frozen=True, eq=False)
class FewValues:
    """The different values of each feature, a summand of which the union of all shards counts.

    Attributes
    ----------
    most : int
        Of how many they are kept.
    values : tuple of ndarray
        For each feature, ascending; empty where there are more.
    """

    most: int
    values: tuple[Floats, ...]

    def __add__(self, other: FewValues) -> FewValues:
        both = zip(self.values, other.values, strict=True)
        return FewValues(self.most, tuple(self._union(left, right) for left, right in both))

    def _union(self, left: Floats, right: Floats) -> Floats:
        if not (left.size and right.size):
            return np.empty(0)
        return _few(np.union1d(left, right), self.most)


def thresholds(data: TrainingData, most: int, ranks: int) -> Waiting[Thresholds]:
    """Return the thresholds of each feature: values of documents.

    Every value but the greatest of a feature with up to ``most`` of them; of others the values at ``ranks``
    ranks that are as far from each other as they can be. They are kept; those of some features are
    those of all, cut out.

    Notes
    -----
    O(nm log m) a pass, of which there is one where no feature has many values.
    """
    if data.source is not None:
        return (yield from thresholds(data.source, most, ranks)).narrowed(data.columns)
    return (yield from once(data.shared.of(_FoundThresholds).found, (most, ranks), _found(data, most, ranks)))


@dataclass
class _FoundThresholds:
    """The thresholds of some data, by how many values a feature has at most and the number of ranks."""

    found: dict[tuple[int, int], Thresholds] = field(default_factory=dict)


def _found(data: TrainingData, most: int, ranks: int) -> Waiting[Thresholds]:
    (few,) = yield from summed(data, _FINDING, _few_values, most)
    found = [values[:-1] for values in few.values]
    many: Ints = np.flatnonzero([not values.size for values in few.values])
    if many.size:
        wanted = np.arange(1, ranks + 1) * data.y.size // (ranks + 1) - 1
        at_ranks = yield from order_statistics(data, wanted, _FINDING, many)
        for feature, values in zip(many.tolist(), at_ranks, strict=True):
            found[feature] = np.unique(values + 0.0)
    fewer = np.zeros(len(found), dtype=np.bool_)
    fewer[many] = True
    return _joined(found, fewer)


def _joined(found: list[Floats], fewer: Bools) -> Thresholds:
    starts = np.cumsum([0, *(own.size for own in found)]).astype(np.int64)
    return Thresholds(np.concatenate(found), starts, fewer)


def _few_values(data: QueryData, most: int) -> tuple[FewValues]:
    columns = (np.ascontiguousarray(data.X[:, j]) for j in range(data.X.shape[1]))
    return (FewValues(most, tuple(_few(np.unique(column), most) for column in columns)),)


def _few(values: Floats, most: int) -> Floats:
    """Return different values, empty where they are more; 0 has no sign."""
    return values + 0.0 if values.size <= most else np.empty(0)
