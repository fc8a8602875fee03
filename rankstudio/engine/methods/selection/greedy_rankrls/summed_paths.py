"""Paths of greedy RankRLS on some of the queries, or with other labels, from sums of per-query statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.capabilities import QueryErrors
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import BLOCK
from rankstudio.engine.methods.selection.greedy_rankrls._subset_kernel import gather_row, gather_squares
from rankstudio.engine.methods.selection.greedy_rankrls.forward_path import (
    ForwardSearch,
    GreedyState,
    GreedyWork,
    KnownStatistics,
    Select,
    Start,
    Statistics,
    centred_blocks,
    gram_statistics,
)
from rankstudio.engine.methods.selection.greedy_rankrls.search_choice import delay
from rankstudio.engine.methods.selection.greedy_rankrls.search_steps import forward
from rankstudio.engine.methods.selection.greedy_rankrls.summed_rows import summed_rows
from rankstudio.engine.methods.shards.scratch import Room, Scratch
from rankstudio.engine.methods.shards.training_data import ShardSession, TrainingData
from rankstudio.engine.steps import Step
from rankstudio.engine.support.memory import budget
from rankstudio.engine.support.shard import Shard
from rankstudio.engine.support.threads import at_most
from rankstudio.engine.support.work import WorkProgress

_UNCHECKED_BYTES = 1e8  # bytes of copies: to ask what is free takes longer than a path
_COST = PairCost()  # of rows, whatever that of the documents is


@dataclass(frozen=True, eq=False)
class SomeQueries:
    """Statistics of some queries, with the requested rows of their Gram matrices.

    Attributes
    ----------
    statistics : Statistics
        Starting point of a path. Rows of the matrices and of their sum exist once they are filled in; a path
        of k features reads k rows.
    source : ndarray of shape (blocks, n + 1, n + 1, BLOCK)
        The Gram matrices of all queries.
    queries : ndarray
        Positions of the queries, ascending.
    """

    statistics: Statistics
    source: Floats
    queries: Ints

    def fill(self, row: int) -> None:
        """Copy a row; O(Qn)."""
        gather_row(self.source, self.queries, row, self.statistics.gram, self.statistics.total)

    def fill_all(self) -> None:
        """Copy all rows; O(Qn²)."""
        for row in range(len(self.statistics.total)):
            self.fill(row)


@dataclass(frozen=True, eq=False)
class WithoutQueries(SomeQueries):
    """Statistics of all but a few queries; the others remain as queries without documents.

    ``queries`` are the left-out ones; matrices are copied whole.

    Attributes
    ----------
    whole : ndarray of shape (n + 1, n + 1)
        The sum of the Gram matrices of all queries.
    """

    whole: Floats

    def fill(self, row: int) -> None:
        """Copy a row; O(Qn)."""
        statistics = self.statistics
        blocks = self.queries // BLOCK
        lanes = self.queries % BLOCK
        statistics.gram[:, row] = self.source[:, row]
        statistics.gram[blocks, row, :, lanes] = 0.0
        statistics.total[row] = self.whole[row] - self.source[blocks, row, :, lanes].sum(axis=0)
        statistics.total[:, row] = statistics.total[row]


class _FillingSearch(ForwardSearch):
    """A search that fills in the row of each feature that it selects."""

    def __init__(
        self, session: ShardSession, work: GreedyWork, groups: ColumnGroups, some_queries: SomeQueries | None
    ) -> None:
        super().__init__(session, work, groups)
        self._some_queries = some_queries

    def select(self, feature: int) -> Iterator[WorkProgress]:
        if self._some_queries is not None:
            self._some_queries.fill(feature)
        yield from super().select(feature)


class SummedPaths:
    """Paths of greedy RankRLS on any of the queries, without their documents.

    Parameters
    ----------
    data : TrainingData
        Data of all queries, of any size.
    regularization : float
        λ.
    rules : Constraints
        Which features may be selected, without groups.
    cost : PairCost

    Notes
    -----
    O(mn²) once for m documents with n features. A path of k features on Q queries then takes O(Qnk) to copy
    the required parts of the Gram matrices, or O(Qn²) for k of at least n / 2, and O(Qnk²). Each thread has
    copies of its own; where there is too little memory for all of them, they are in unnamed files.
    """

    def __init__(self, data: TrainingData, regularization: float, rules: Constraints, cost: PairCost) -> None:
        self.regularization = regularization
        self.rules = rules
        self._groups = ColumnGroups.of(data.X.shape[1], ())
        self._data = data
        self._cost = cost
        self._rows = summed_rows(data, cost)
        self.statistics: Statistics = gram_statistics(self._rows)
        self.n_queries = int(data.ptr.size) - 1
        self._room = Room(lambda: budget() / 4, unasked=_UNCHECKED_BYTES)
        self._copies: dict[int, list[Floats]] = {}

    @property
    def n_pinned(self) -> int:
        """Number of first steps that select a pinned feature."""
        return len(self.rules.pinned)

    @property
    def informative(self) -> Bools:
        """Whether each feature varies within some query, shape (n,)."""
        varies: Bools = np.diagonal(self.statistics.total)[:-1] > 0
        return varies

    def path(self) -> list[Step]:
        """Return the steps on all queries."""
        return self._path(self.statistics)

    def path_of(self, queries: Ints) -> list[Step]:
        """Return the steps on some queries, given in ascending order."""
        with self._copy(queries.size) as room:
            return self._path(self._among(queries, room))

    def path_without(self, queries: Ints, first: Sequence[int] | None = None) -> list[Step]:
        """Return the steps on all but a few queries, as of :meth:`labelled_path`."""
        with self._copy(self.n_queries) as room:
            return self._path(self._without(queries, room), first)

    def labelled_path(self, labels: Floats, first: Sequence[int] | None = None) -> list[Step]:
        """Return the steps with other labels (m, 1), centred.

        Parameters
        ----------
        labels : ndarray of shape (m, 1)
        first : sequence of int, optional
            Features to start with; the path then ends with the next one.
        """
        return self._path(self._labelled(labels), first)

    def errors_of(self, query: int, coefs: Sequence[Floats]) -> Floats:
        """Return the squared errors of some models on a query, shape (k,)."""
        gram = self.statistics.gram[query // BLOCK, :, :, query % BLOCK]
        models = np.column_stack((coefs, np.full(len(coefs), -1.0)))
        errors: Floats = np.maximum(np.einsum("ki,ij,kj->k", models, gram, models, optimize=True), 0.0)
        return errors

    @contextmanager
    def _copy(self, n_queries: int) -> Iterator[Floats]:
        """Lend buffers for the Gram matrices of ``n_queries`` queries."""
        blocks = -(-n_queries // BLOCK)
        unused = self._copies.setdefault(blocks, [])
        try:
            room = unused.pop()
        except IndexError:
            room = Scratch(self._room).empty(blocks, *self.statistics.gram.shape[1:])
        try:
            yield room
        finally:
            unused.append(room)

    def _among(self, queries: Ints, room: Floats) -> SomeQueries:
        """Return the statistics of some queries, given in ascending order, in the buffers ``room``."""
        out = room[: -(-queries.size // BLOCK)]
        total = np.zeros_like(self.statistics.total)
        squares = np.empty((len(out), *out.shape[2:]))
        gather_squares(self.statistics.gram, queries, squares, total)
        n = total.shape[0] - 1
        gather_row(self.statistics.gram, queries, n, out, total)
        parts = squares[:, :n], out[:, n, :n], squares[:, n]
        statistics = Statistics(tuple(map(np.ascontiguousarray, parts)), total, out)  # type: ignore[arg-type]
        return SomeQueries(statistics, self.statistics.gram, queries)

    def _without(self, queries: Ints, room: Floats) -> SomeQueries:
        """Return the statistics of all but a few queries in ``room``.

        Faster than :meth:`_among`.
        """
        all_of = self.statistics
        blocks = queries // BLOCK
        lanes = queries % BLOCK
        squares = all_of.known[0].copy()
        rights = all_of.known[1].copy()
        labels = all_of.known[2].copy()
        total = all_of.total.copy()
        n = squares.shape[1]
        total[np.diag_indices(n)] -= squares[blocks, :, lanes].sum(axis=0)
        squares[blocks, :, lanes] = rights[blocks, :, lanes] = 0.0
        labels[blocks, lanes] = 0.0
        statistics = Statistics((squares, rights, labels), total, room)
        remaining = WithoutQueries(statistics, all_of.gram, queries, all_of.total)
        remaining.fill(n)
        return remaining

    def products(self, targets: Floats) -> Floats:
        """Return the products of the features with P targets (m, P) in each query, (Q, P, n): O(mnP).

        The rows have to be those of documents.
        """
        out = np.empty((self.n_queries, targets.shape[1], self.statistics.total.shape[0] - 1))

        def add(index: int, shard: Shard, rows: QueryData) -> None:
            query = shard.first_query
            row = shard.first_row
            for X, _, ptr in centred_blocks(rows, self._cost, by_blocks=self._data.several):
                for first, last in pairwise(ptr.tolist()):
                    out[query] = targets[row + first : row + last].T @ X[first:last]
                    query += 1
                row += len(X)

        for _ in self._data.visited(add, "multiplying features"):
            pass
        return out

    def _labelled(self, labels: Floats) -> Statistics:
        """Return the statistics of all queries with other labels (m, 1), centred; O(mn)."""
        statistics = self.statistics
        rights = np.zeros_like(statistics.known[1])
        total = statistics.total.copy()
        products = self.products(labels)[:, 0]
        positions = np.divmod(np.arange(self.n_queries), BLOCK)
        rights[positions[0], :, positions[1]] = products
        total[-1, :-1] = total[:-1, -1] = rights.sum(axis=0).sum(axis=-1)
        squares = np.zeros(statistics.known[2].size)
        squares[: self.n_queries] = np.add.reduceat(labels[:, 0] ** 2, self._rows.ptr[:-1])
        total[-1, -1] = squares.sum()
        return replace(
            statistics,
            known=(statistics.known[0], rights, squares.reshape(statistics.known[2].shape)),
            total=total,
        )

    def _path(self, source: Statistics | SomeQueries, first: Sequence[int] | None = None) -> list[Step]:
        """Return the steps of a path.

        Parameters
        ----------
        source : Statistics or SomeQueries
            Statistics of some of the queries.
        first : sequence of int, optional
            Features to start with; the path then ends with the next one.
        """
        rules = self.rules
        if first is not None:
            rules = replace(rules, pinned=(*first, *rules.pinned[len(first) :]), k=len(first) + 1)
            rules = replace(rules, pinned=rules.pinned[: rules.k])
        some_queries = source if isinstance(source, SomeQueries) else None
        statistics = source.statistics if isinstance(source, SomeQueries) else source
        n = statistics.total.shape[0] - 1
        k = rules.k
        work = GreedyWork(self.regularization, k, True, _COST, by_blocks=False, delay=delay(n, k, True))
        if some_queries is not None and work.delay:
            some_queries.fill_all()
            some_queries = None
        with at_most(1), _data_of_statistics(statistics).session(work) as session:
            search = _FillingSearch(session, work, self._groups, some_queries)
            for _ in search.start(statistics.total):
                pass
            return [step for step in forward(search, rules) if isinstance(step, Step)]

    def errors(self, first: Sequence[int]) -> QueryErrors:
        """Return the errors of all queries after some features."""
        n = self.statistics.total.shape[0] - 1
        data = _data_of_statistics(self.statistics).shard(0)
        work = GreedyWork(self.regularization, max(1, len(first)), True, _COST, by_blocks=False)
        scratch = Scratch(Room(lambda: float("inf")))
        state: GreedyState = work.begin(data, scratch)
        total = self.statistics.total
        state.step(data, Start(total))
        for feature in first:
            state.step(data, Select(feature, total[feature, :n]))
        present, added = state.by_query()
        query_errors = QueryErrors(present[: self.n_queries], added[: self.n_queries])
        scratch.close()
        return query_errors


def _data_of_statistics(statistics: Statistics) -> TrainingData:
    """Return training data of zeros that hold these statistics, as a path reads nothing else."""
    n = statistics.total.shape[0] - 1  # with those of no documents
    n_queries = statistics.gram.shape[0] * BLOCK
    zeros = np.broadcast_to(0.0, (n_queries, n))
    data = QueryData(zeros, zeros[:, 0], np.arange(n_queries + 1))
    data.shared.of(KnownStatistics).found[True, _COST] = statistics
    return TrainingData(data.X, data.y, data.ptr, given=data, sharing=data.shared)
