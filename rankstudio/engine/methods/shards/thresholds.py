"""Thresholds between which documents are put in bins: the same however the documents are cut into shards."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.shards.function import summed
from rankstudio.engine.methods.shards.order_statistics import order_statistics
from rankstudio.engine.methods.shards.sharded_data import ShardedQueryData
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.steps import WorkProgress

_FINDING = "finding thresholds"


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


def thresholds(data: ShardedQueryData, most: int) -> Generator[WorkProgress, None, Floats]:
    """Return the thresholds of each feature, (n, most): ascending values of documents, then infinity.

    Every value but the greatest of a feature with up to ``most + 1`` of them; of others the values at
    ``most`` ranks that are as far from each other as they can be. They are remembered; those of some features
    are those of all, cut out.

    Notes
    -----
    O(nm log m) a pass, of which there is one where no feature has many values.
    """
    return (yield from _remembered(data, most))[0]


def with_many_values(data: ShardedQueryData, most: int) -> Generator[WorkProgress, None, Bools]:
    """Return which features have more than ``most + 1`` values: :func:`thresholds` leaves some out."""
    return (yield from _remembered(data, most))[1]


def _remembered(data: ShardedQueryData, most: int) -> Generator[WorkProgress, None, tuple[Floats, Bools]]:
    if data.source is not None:
        found, are_many = yield from _remembered(data.source, most)
        columns = list(data.columns)
        return found[columns], are_many[columns]
    key = "thresholds", most
    if key not in data.remembered:
        data.remembered[key] = yield from _found(data, most)
    of_all: tuple[Floats, Bools] = data.remembered[key]
    return of_all


def _found(data: ShardedQueryData, most: int) -> Generator[WorkProgress, None, tuple[Floats, Bools]]:
    found = np.full((data.X.shape[1], most), np.inf)
    (few,) = yield from summed(data, _FINDING, _few_values, most + 1)
    many: Ints = np.flatnonzero([not values.size for values in few.values])
    for row, values in zip(found, few.values, strict=True):
        row[: max(0, values.size - 1)] = values[:-1]
    if many.size:
        ranks = np.arange(1, most + 1) * data.y.size // (most + 1) - 1
        at_ranks = yield from order_statistics(data, ranks, _FINDING, many)
        for feature, values in zip(many.tolist(), at_ranks, strict=True):
            different = np.unique(values + 0.0)
            found[feature, : different.size] = different
    are_many = np.zeros(len(found), dtype=np.bool_)
    are_many[many] = True
    return found, are_many


def _few_values(data: QueryData, most: int) -> tuple[FewValues]:
    columns = (np.ascontiguousarray(data.X[:, j]) for j in range(data.X.shape[1]))
    return (FewValues(most, tuple(_few(np.unique(column), most) for column in columns)),)


def _few(values: Floats, most: int) -> Floats:
    """Return different values, empty where they are more; 0 has no sign."""
    return values + 0.0 if values.size <= most else np.empty(0)
