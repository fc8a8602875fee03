"""Greedy RankRLS on some of the queries, or with other labels, from sums of per-query statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankstudio.engine.analysis.evidence._subset_kernel import gather
from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import BLOCK
from rankstudio.engine.methods.selection.greedy_rankrls.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS
from rankstudio.engine.methods.selection.greedy_rankrls.forward_path import (
    GreedyState,
    GreedyWork,
    KnownStatistics,
    Select,
    Start,
    Statistics,
    forward_path,
    gram_statistics,
)
from rankstudio.engine.methods.shards.scratch import Room, Scratch
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.steps import Step
from rankstudio.engine.support.threads import at_most

_MOST_ROOM = 4e9  # bytes of Gram matrices and a copy; not what is free just now: ways differ in last bits
_COST = PairCost()  # of rows, whatever that of the documents is


def enough_queries(count: int, least: int, what: str) -> None:
    """Raise DatasetError for fewer queries than an analysis needs."""
    if count < least:
        raise DatasetError(f"{what}: expected documents of at least {least} queries, found {count}.")


def columns_of(features: Sequence[int], n: int, *, least: int, most: int | None = None) -> tuple[int, ...]:
    """Return the columns of a set of some of n features; raise ParameterError for what is none."""
    columns, most = tuple(int(column) for column in features), n if most is None else most
    distinct = len(set(columns)) == len(columns) and all(0 <= column < n for column in columns)
    if not distinct or not least <= len(columns) <= most:
        expected = f"{least} to {most} different columns from 0 to {n - 1}"
        raise ParameterError("features", list(columns), expected)
    return columns


def by_sums(estimator: LinearRanker, data: QueryData) -> bool:
    """Return whether a method's path follows from sums of per-query statistics, and these fit.

    So it does for forward search by greedy RankRLS without groups; its algorithms all give the same path.
    """
    if type(estimator) is not GreedyRankRLS or data.preferences is not None:
        return False
    forward = estimator.search == "forward" and estimator.fitting == "pre" and len(estimator.groups) == 0
    room = 16.0 * (data.ptr.size - 1) * (data.X.shape[1] + 1) ** 2
    return forward and estimator.algorithm in ("auto", "statistics", "rows") and room <= _MOST_ROOM


@dataclass(frozen=True, eq=False)
class QueryErrors:
    """The left-out squared errors of each query at one point of a path.

    Attributes
    ----------
    present : ndarray of shape (Q,)
        With the features so far.
    added : ndarray of shape (Q, n)
        With each other feature added; without meaning for those of the path.
    """

    present: Floats
    added: Floats


class SubsetPaths:
    """Paths of greedy RankRLS on any of the queries, without their documents.

    Parameters
    ----------
    estimator : GreedyRankRLS
    data : QueryData
        Of all queries.

    Raises
    ------
    ParameterError
        For another method, or one whose paths do not follow from sums of per-query statistics.

    Notes
    -----
    O(mn²) once for m documents with n features. A path of k features on Q queries then takes O(Qn²) to copy
    the Gram matrices, and O(Qnk²).
    """

    def __init__(self, estimator: LinearRanker, data: QueryData) -> None:
        if not isinstance(estimator, GreedyRankRLS) or not by_sums(estimator, data):
            expected = "GreedyRankRLS with search forward, fitting pre, and without groups"
            raise ParameterError("estimator", type(estimator).__name__, expected)
        n = data.X.shape[1]
        self.regularization: float = estimator.checked("regularization")
        self._groups = ColumnGroups.of(n, ())
        self.rules: Constraints = estimator.rules(self._groups)
        self.rows = PairRows.of(data, estimator.pair_cost())
        self.statistics: Statistics = gram_statistics(self.rows)
        self.n_queries = int(data.ptr.size) - 1

    def room(self) -> Floats:
        """Return room for the Gram matrices that :meth:`among` copies, one for each thread."""
        return np.empty_like(self.statistics.gram)

    def among(self, queries: Ints, room: Floats) -> Statistics:
        """Return the statistics of some queries, given in ascending order, which use ``room``."""
        out = room[: -(-queries.size // BLOCK)]
        total = np.zeros_like(self.statistics.total)
        gather(self.statistics.gram, queries, out, total)
        n = total.shape[0] - 1
        diagonal = np.arange(n)
        known = out[:, diagonal, diagonal], out[:, n, :n], out[:, n, n]
        squares, rights, labels = (np.ascontiguousarray(values) for values in known)
        return Statistics((squares, rights, labels), total, out)

    def labelled(self, labels: Floats) -> Statistics:
        """Return the statistics of all queries with other labels (m, 1), centred; O(mn)."""
        found = self.statistics.relabelled(self.rows.centred[0], labels, self.rows.ptr)
        squares = np.zeros(found.known[2].size)
        squares[: self.n_queries] = np.add.reduceat(labels[:, 0] ** 2, self.rows.ptr[:-1])
        found.total[-1, -1] = squares.sum()
        return replace(found, known=(*found.known[:2], squares.reshape(found.known[2].shape)))

    def path(self, known: Statistics, n_queries: int, first: Sequence[int] | None = None) -> list[Step]:
        """Return the steps of a path.

        Parameters
        ----------
        known : Statistics
            Of some of the queries.
        n_queries : int
            How many these are.
        first : sequence of int, optional
            Features to begin with: the path then ends with the next one.
        """
        rules = self.rules
        if first is not None:
            rules = replace(rules, pinned=(*first, *rules.pinned[len(first) :]), k=len(first) + 1)
            rules = replace(rules, pinned=rules.pinned[: rules.k])
        with at_most(1):
            told = forward_path(
                _standing_for(known, n_queries), self.regularization, self._groups, rules, _COST, "statistics"
            )
            return [step for step in told if isinstance(step, Step)]

    def errors(self, first: Sequence[int]) -> QueryErrors:
        """Return the errors of each of all queries after some features."""
        n = self.statistics.total.shape[0] - 1
        data = _standing_for(self.statistics, self.n_queries).shard(0)
        work = GreedyWork(self.regularization, max(1, len(first)), True, _COST, by_blocks=False)
        scratch = Scratch(Room(lambda: float("inf")))
        state: GreedyState = work.begin(data, scratch)
        total = self.statistics.total
        state.step(data, Start(total))
        for feature in first:
            state.step(data, Select(feature, total[feature, :n]))
        present, added = state.by_query()
        found = QueryErrors(present[: self.n_queries], added[: self.n_queries])
        scratch.close()
        return found


def _standing_for(known: Statistics, n_queries: int) -> TrainingData:
    """Return training data of which nothing is there but the statistics: a path asks for no more."""
    n = known.total.shape[0] - 1
    nothing = np.broadcast_to(0.0, (n_queries, n))
    data = QueryData(nothing, nothing[:, 0], np.arange(n_queries + 1))
    data.shared.of(KnownStatistics).found[True, _COST] = known
    return TrainingData(data.X, data.y, data.ptr, given=data, sharing=data.shared)
