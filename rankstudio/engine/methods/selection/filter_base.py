"""What the selectors share that put features in an order by something else than RankRLS's own error."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.shared import once
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed, sums_need
from rankstudio.engine.methods.selection.base import GrowingSelector
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.greedy_rankrls.forward_selection import TIE
from rankstudio.engine.methods.shards.training_data import GivenData, TrainingData, training_data
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress


@dataclass(frozen=True, eq=False)
class Ordering:
    """What a selector found out about some data.

    Attributes
    ----------
    features : ndarray of shape (k,)
        The columns selected, the first one first.
    candidates : ndarray of shape (n,) or (k, n)
        The score of each feature, where it is the same at every step, or its score at each of them; NaN for
        what was no candidate.
    found : Mapping
        Attributes of the fitted selector, by name: scores and the like.
    """

    features: Ints
    candidates: Floats
    found: Mapping[str, Any] = field(default_factory=dict)

    def compared(self, place: int) -> Floats:
        """Return the scores of the candidates for a place of the order, counted from 0, shape (n,)."""
        if self.candidates.ndim == 2:
            return np.array(self.candidates[place])
        return without(self.candidates, self.features[:place])

    def joined(self, groups: ColumnGroups, k: int) -> Ordering:
        """Return the order of all features as one of the first k groups, by the best of each one's features.

        Every feature has the score of its group.
        """
        best = np.full(len(groups.groups), -np.inf)
        np.fmax.at(best, groups.of_column, self.candidates)
        scores = np.where(np.isneginf(best), np.nan, best)[groups.of_column]
        columns = groups.columns(groups.containing(self.features.tolist())[:k])
        return Ordering(np.array(columns, dtype=np.int64), scores, self.found)


@dataclass
class _Orderings:
    """What selectors found out about some data, by their parameters without λ and the number of features."""

    found: dict[tuple[type, tuple[tuple[str, Any], ...], int], Ordering] = field(default_factory=dict)


class PathSelector(GrowingSelector):
    """Base of selectors that order features; RankRLS ranks with the first 1, 2, … k of them.

    A subclass writes :meth:`order_features`. Its parameters include ``n_features_to_select`` and
    ``regularization``. What it finds is kept with the data, and serves every λ.

    The criterion of every step is the leave-query-out error of RankRLS with the features selected so far:
    selectors can then be compared with each other and with greedy RankRLS on one scale, and a size can be
    chosen without a validation part.

    Attributes
    ----------
    coef_, support_, selection_order_, coef_path_ : ndarray
        As in :class:`rankstudio.engine.methods.selection.base.Selector`; the weights are those of RankRLS.
    criterion_path_ : ndarray of shape (k,)
        The leave-query-out error, summed over documents, after each step.
    """

    regularization: float
    groups: Sequence[Sequence[int]] = ()
    """0-based columns that are taken or left together; a parameter of those that can honour it."""

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return super().n_steps(len(ColumnGroups.of(n_features, self.groups).groups))

    @property
    def orders_by_lambda(self) -> bool:
        """Whether the order, too, depends on λ."""
        return False

    def order_features(self, data: TrainingData, k: int) -> Generator[WorkProgress, None, Ordering]:
        """Find the first k features, with signs of life on the way."""
        raise NotImplementedError

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        return sums_need(shape)

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Yield one step a selected feature or group: RankRLS with it and all before it."""
        # scipy is imported where it is needed: reading the catalog must not wait for it.
        from rankstudio.engine.methods.shards.query_sums import models_in_order  # noqa: PLC0415

        data = training_data(data)
        groups = ColumnGroups.of(data.X.shape[1], self.groups)
        k = self._most(len(groups.groups))
        regularization = self.checked("regularization")
        ordering = yield from self._order(data, k if groups.trivial else data.X.shape[1])
        if not groups.trivial:
            ordering = ordering.joined(groups, k)
        order = ordering.features
        coefs, errors = yield from models_in_order(data, order, regularization)
        before = 0
        for number, size in enumerate(groups.ends(order), start=1):
            selected = tuple(order[:size].tolist())
            compared = ordering.compared(before)
            yield Step(number, selected, coefs[size - 1], float(errors[size - 1]), compared)
            before = size

    def _order(self, data: TrainingData, k: int) -> Generator[WorkProgress, None, Ordering]:
        known, key = data.shared.of(_Orderings).found, (type(self), self._without_lambda(), k)
        ordering = yield from once(known, key, self.order_features(data, k))
        for name, value in ordering.found.items():
            setattr(self, name, value)
        return ordering

    def _without_lambda(self) -> tuple[tuple[str, Any], ...]:
        """Return the parameters that the order depends on."""
        others = {"groups"} if self.orders_by_lambda else {"groups", "regularization"}
        return tuple(item for item in self.get_params().items() if item[0] not in others)


def best_first(scores: Floats, k: int) -> Ints:
    """Return the columns of the k greatest scores, of equal ones the lowest column first.

    Scores are equal that differ by rounding only, as in greedy RankRLS: sums over queries in another order
    have other last bits, and must not decide.
    """
    order = np.argsort(-scores, kind="stable").astype(np.int64)
    known = np.abs(scores[np.isfinite(scores)])
    tie = TIE * float(known.max(initial=0.0))
    descending, starts = scores[order].tolist(), [0]
    for place, score in enumerate(descending):
        if not score >= descending[starts[-1]] - tie:  # not a number: for itself, at the end
            starts.append(place)
    level = np.zeros(order.size, dtype=np.int64)
    level[starts[1:]] = 1
    return order[np.lexsort((order, np.cumsum(level)))][:k]


def without(scores: Floats, features: Ints | list[int]) -> Floats:
    """Return scores with NaN for the features that are candidates no more."""
    left = np.array(scores, dtype=np.float64)
    left[features] = np.nan
    return left
