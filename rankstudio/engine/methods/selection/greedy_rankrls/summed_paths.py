"""Paths of greedy RankRLS from sums of per-query statistics.

The paths are those on some of the queries, or with other labels.
"""

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
from rankstudio.engine.methods.selection.greedy_rankrls._subset_kernel import (
    gather_row,
    gather_squares,
)
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

# Copies of up to this size are made without asking how much memory is free.
_UNCHECKED_BYTES = 1e8
# The loss to use with rows, which already contain the loss of the documents.
_COST = PairCost()


@dataclass(frozen=True, eq=False)
class SomeQueries:
    """Statistics of some queries, with the requested rows of their Gram matrices.

    Attributes
    ----------
    statistics : Statistics
        Starting point of a path. A row of the matrices and of their sum
        is undefined until :meth:`fill` copies it; a path of k features
        reads k rows.
    source : ndarray of shape (blocks, n + 1, n + 1, BLOCK)
        The Gram matrices of all queries.
    queries : ndarray
        Positions of the queries, ascending.
    """

    statistics: Statistics
    source: Floats
    queries: Ints

    def fill(self, row: int) -> None:
        """Copy a row of the Gram matrices of these queries from those of all queries; O(Qn)."""
        gather_row(
            self.source, self.queries, row, self.statistics.gram, self.statistics.total
        )

    def fill_all(self) -> None:
        """Copy all rows of the Gram matrices of these queries; O(Qn²)."""
        for row in range(len(self.statistics.total)):
            self.fill(row)


@dataclass(frozen=True, eq=False)
class WithoutQueries(SomeQueries):
    """Statistics of all but a few queries, which are replaced by queries without documents.

    ``queries`` are the left-out queries.

    Attributes
    ----------
    whole : ndarray of shape (n + 1, n + 1)
        The sum of the Gram matrices of all queries.
    """

    whole: Floats

    def fill(self, row: int) -> None:
        """Copy a row of the Gram matrices of all queries, and set it to 0 for the left-out ones; O(Qn).

        Also fill the same row and column of their total. Rows are
        filled when a path needs them.
        """
        statistics = self.statistics
        # The blocks of the left-out queries, and their positions in
        # these. `source` and `whole` are the matrices of all queries
        # and their total.
        blocks = self.queries // BLOCK
        lanes = self.queries % BLOCK
        statistics.gram[:, row] = self.source[:, row]
        statistics.gram[blocks, row, :, lanes] = 0.0
        statistics.total[row] = self.whole[row] - self.source[
            blocks, row, :, lanes
        ].sum(axis=0)
        statistics.total[:, row] = statistics.total[row]


class _FillingSearch(ForwardSearch):
    """A forward search that copies the row of each selected feature from the matrices of all queries."""

    def __init__(
        self,
        session: ShardSession,
        work: GreedyWork,
        groups: ColumnGroups,
        some_queries: SomeQueries | None,
    ) -> None:
        super().__init__(session, work, groups)
        self._some_queries = some_queries

    def select(self, feature: int) -> Iterator[WorkProgress]:
        """Copy the feature's row if matrices are of some queries, and select it."""
        if self._some_queries is not None:
            self._some_queries.fill(feature)
        yield from super().select(feature)


class SummedPaths:
    """Paths of greedy RankRLS on any subset of the queries, from sums of per-query statistics.

    Parameters
    ----------
    data : TrainingData
        Data of all queries, of any size.
    regularization : float
        λ.
    rules : Constraints
        Rules of the paths, without groups.
    cost : PairCost

    Notes
    -----
    O(mn²) once for m documents with n features. A path of k features on
    Q queries then takes O(Qnk) to copy the required parts of the Gram
    matrices, or O(Qn²) for k of at least n / 2, and O(Qnk²). Each
    thread has copies of its own; if there is too little memory for all
    copies, the copies are in unnamed files.
    """

    def __init__(
        self,
        data: TrainingData,
        regularization: float,
        rules: Constraints,
        cost: PairCost,
    ) -> None:
        """Compute the products of features and labels in each query.

        Paths have the ``regularization`` λ and these ``rules`` of which
        features may or have to be selected. ``cost`` is the loss of a
        pair of documents. ``data`` are the training documents.
        """
        self.regularization = regularization
        self.rules = rules
        self._groups = ColumnGroups.of(data.X.shape[1], ())  # of one feature each
        self._data = data
        self._cost = cost
        # Rows whose squared errors are the loss; large data have only
        # the Gram matrices of their queries.
        self._rows = summed_rows(data, cost)
        self.statistics: Statistics = gram_statistics(self._rows)
        self.n_queries = int(data.ptr.size) - 1
        # Buffers for the matrices of some queries: in memory up to a
        # quarter of its limit, and without a check up to a few bytes;
        # then in files.
        self._room = Room(lambda: budget() / 4, unchecked_bytes=_UNCHECKED_BYTES)
        self._unused_buffers: dict[int, list[Floats]] = {}  # by the number of blocks

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
        """Return the steps of the path on all queries."""
        return self._path(self.statistics)

    def path_of(self, queries: Ints) -> list[Step]:
        """Return the steps of the path on some queries; ``queries`` are their numbers, ascending."""
        with self._buffer(queries.size) as buffer:
            return self._path(self._statistics_of(queries, buffer))

    def path_without(
        self, queries: Ints, first: Sequence[int] | None = None
    ) -> list[Step]:
        """Return the steps of the path on all but a few ``queries``, which are their positions in the data, from 0.

        ``first`` are features to start with; the path then has these
        features and one more.
        """
        with self._buffer(self.n_queries) as buffer:
            return self._path(self._statistics_without(queries, buffer), first)

    def labelled_path(
        self, labels: Floats, first: Sequence[int] | None = None
    ) -> list[Step]:
        """Return the steps of the path on all queries with other labels.

        Parameters
        ----------
        labels : ndarray of shape (m, 1)
            Centred labels.
        first : sequence of int, optional
            Features to start with; the path then has these features and
            one more.
        """
        return self._path(self._statistics_with_labels(labels), first)

    def errors_of(self, query: int, coefs: Sequence[Floats]) -> Floats:
        """Return the squared errors of k models, each with weights (n,), on a query, shape (k,)."""
        gram = self.statistics.gram[query // BLOCK, :, :, query % BLOCK]
        # ||X w - y||² is a quadratic form of [w; -1] in the Gram matrix [X y]'[X y].
        models = np.column_stack((coefs, np.full(len(coefs), -1.0)))
        errors: Floats = np.maximum(
            np.einsum("ki,ij,kj->k", models, gram, models, optimize=True), 0.0
        )
        return errors

    @contextmanager
    def _buffer(self, n_queries: int) -> Iterator[Floats]:
        """Provide a buffer (blocks, n + 1, n + 1, BLOCK) for Gram matrices of ``n_queries`` queries.

        After the ``with`` block, it is stored for the next call.
        Queries are in blocks of ``BLOCK``.
        """
        blocks = -(-n_queries // BLOCK)  # rounded up
        unused = self._unused_buffers.setdefault(blocks, [])
        try:
            # Without a test whether the list is empty: another thread
            # could take the last buffer after the test.
            buffer = unused.pop()
        except IndexError:
            buffer = Scratch(self._room).empty(blocks, *self.statistics.gram.shape[1:])
        try:
            yield buffer
        finally:
            unused.append(buffer)

    def _statistics_of(self, queries: Ints, buffer: Floats) -> SomeQueries:
        """Return the statistics of some queries, whose numbers are in ascending order.

        The Gram matrices of the queries are written to
        ``buffer`` (blocks, n + 1, n + 1, BLOCK), row by row
        when a path needs them. Queries are in blocks of
        ``BLOCK``.
        """
        # Room for as many blocks as the queries fill, rounded up.
        out = buffer[: -(-queries.size // BLOCK)]
        # The squares of all features and labels (blocks, n + 1, BLOCK),
        # and in the Gram matrices the row of the labels, number n;
        # other rows are filled when needed. Both functions also add to
        # `total`.
        total = np.zeros_like(self.statistics.total)
        squares = np.empty((len(out), *out.shape[2:]))
        gather_squares(self.statistics.gram, queries, squares, total)
        n = total.shape[0] - 1
        gather_row(self.statistics.gram, queries, n, out, total)
        query_sums = (
            np.ascontiguousarray(squares[:, :n]),
            np.ascontiguousarray(out[:, n, :n]),
            np.ascontiguousarray(squares[:, n]),
        )
        return SomeQueries(
            statistics=Statistics(query_products=query_sums, total=total, gram=out),
            source=self.statistics.gram,
            queries=queries,
        )

    def _statistics_without(self, queries: Ints, buffer: Floats) -> SomeQueries:
        """Return the statistics of all queries but a few, ``queries``.

        Gram matrices are written to ``buffer`` (blocks, n + 1, n + 1,
        BLOCK), row by row when a path needs them. To leave out a few
        queries is faster than to gather all others. Queries are in
        blocks of ``BLOCK``.
        """
        all_queries = self.statistics
        # The places of the queries: block, and position in the block.
        blocks = queries // BLOCK
        lanes = queries % BLOCK
        # The queries are subtracted from the sums, and become queries
        # without documents: all 0.
        squares, rights, labels = (array.copy() for array in all_queries.query_products)
        total = all_queries.total.copy()
        n = squares.shape[1]
        total[np.diag_indices(n)] -= squares[blocks, :, lanes].sum(axis=0)
        squares[blocks, :, lanes] = rights[blocks, :, lanes] = 0.0
        labels[blocks, lanes] = 0.0
        # Gram matrices are only made for rows that are needed, with the
        # sums of all queries less these few.
        statistics = Statistics(
            query_products=(squares, rights, labels), total=total, gram=buffer
        )
        remaining = WithoutQueries(
            statistics,
            source=all_queries.gram,
            queries=queries,
            whole=all_queries.total,
        )
        remaining.fill(n)  # the row of the labels
        return remaining

    def products(self, targets: Floats) -> Floats:
        """Return the products of the features with P targets (m, P) in each query, (Q, P, n): O(mnP).

        The rows whose squared errors are the loss have to be the
        documents, so that there is a target per document.
        """
        out = np.empty(
            (self.n_queries, targets.shape[1], self.statistics.total.shape[0] - 1)
        )

        def add(index: int, shard: Shard, rows: QueryData) -> None:
            """Write the products of a shard's queries to ``out``, with the enclosing method's ``targets``.

            ``rows`` are the documents of the shard. ``index``, the
            number of the shard, is not used. A shard is a part of the
            data with whole queries.
            """
            query = shard.first_query
            row = shard.first_row
            # The centred features of some queries at a time, and their starts.
            for X, _, ptr in centred_blocks(
                rows, self._cost, by_blocks=self._data.several
            ):
                for first, last in pairwise(ptr.tolist()):
                    out[query] = targets[row + first : row + last].T @ X[first:last]
                    query += 1
                row += len(X)

        # The progress events of the pass over the shards are not shown.
        for _ in self._data.visited(add, "multiplying features"):
            pass
        return out

    def _statistics_with_labels(self, labels: Floats) -> Statistics:
        """Return the statistics of all queries with other centred labels (m, 1); O(mn).

        Statistics are the squares and products of the n features and
        the labels, in each query and over all queries. Those with the
        labels are computed again. The Gram matrices keep the former
        labels, which a path does not read.
        """
        statistics = self.statistics
        # In each query: the features' squares and their products with
        # the labels, both (blocks, n, BLOCK), and the labels' squares
        # (blocks, BLOCK). A block has the numbers of BLOCK queries side
        # by side.
        feature_squares, former_rights, former_squares = statistics.query_products
        rights = np.zeros_like(former_rights)
        total = statistics.total.copy()
        # The products of features and labels (Q, n), placed by the
        # query's block and position in the block. The last block may
        # have unused positions, which stay 0.
        products = self.products(labels)[:, 0]
        blocks, lanes = np.divmod(np.arange(self.n_queries), BLOCK)
        rights[blocks, :, lanes] = products
        # `total` (n + 1, n + 1) has the products over all queries; its
        # last row and its last column are those of the labels.
        total[-1, :-1] = total[:-1, -1] = rights.sum(axis=0).sum(axis=-1)
        # The sum of the squared labels of each query.
        squares = np.zeros(former_squares.size)
        squares[: self.n_queries] = np.add.reduceat(
            labels[:, 0] ** 2, self._rows.ptr[:-1]
        )
        total[-1, -1] = squares.sum()
        query_sums = feature_squares, rights, squares.reshape(former_squares.shape)
        return replace(statistics, query_products=query_sums, total=total)

    def _path(
        self, source: Statistics | SomeQueries, first: Sequence[int] | None = None
    ) -> list[Step]:
        """Compute a greedy path from the statistics of queries, without documents, and return its steps.

        Parameters
        ----------
        source : Statistics or SomeQueries
            Statistics of all or some of the queries.
        first : sequence of int, optional
            Features to start with; the path then has these features and
            one more.
        """
        rules = self.rules
        # With first features, these are pinned, and one more is
        # selected. If the rules pin more features, it is the next
        # pinned one.
        if first is not None:
            rules = replace(
                rules, pinned=(*first, *rules.pinned[len(first) :]), k=len(first) + 1
            )
            rules = replace(rules, pinned=rules.pinned[: rules.k])
        some_queries = source if isinstance(source, SomeQueries) else None
        statistics = source.statistics if isinstance(source, SomeQueries) else source
        n = statistics.total.shape[0] - 1
        k = rules.k
        n_delayed_steps = delay(n, k, with_gram=True)
        # The work of a shard: by whole Gram matrices of rows whose
        # squared errors are the loss, so that their own cost is the
        # default.
        work = GreedyWork(
            self.regularization,
            k,
            whole=True,
            cost=_COST,
            by_blocks=False,
            delay=n_delayed_steps,
        )
        if some_queries is not None and work.delay:
            # Matrices of all features are read, not only the rows of selected ones.
            some_queries.fill_all()
            some_queries = None
        # The path runs on one shard with statistics in place of
        # documents, and on one thread, because paths may run side by
        # side.
        with at_most(1), _data_of_statistics(statistics).session(work) as session:
            search = _FillingSearch(session, work, self._groups, some_queries)
            for _ in search.start(statistics.total):  # its progress is not shown
                pass
            return [step for step in forward(search, rules) if isinstance(step, Step)]

    def errors(self, first: Sequence[int]) -> QueryErrors:
        """Return each query's error with the features ``first`` (Q,), and with each other feature added (Q, n).

        The error of a query is that of the model trained without it. No
        documents are needed: one shard's state of a greedy path is
        started with the statistics of all queries, and the features are
        selected in it. A shard is a part of the data with whole
        queries.
        """
        n = self.statistics.total.shape[0] - 1
        data = _data_of_statistics(self.statistics).shard(0)
        work = GreedyWork(
            self.regularization,
            max(1, len(first)),
            whole=True,
            cost=_COST,
            by_blocks=False,
        )
        scratch = Scratch(Room(lambda: float("inf")))  # in memory
        state: GreedyState = work.begin(data, scratch)
        total = self.statistics.total
        state.step(data, Start.of(total))
        for feature in first:
            state.step(data, Select(feature, total[feature, :n]))
        present, added = state.by_query()
        # Without the queries that pad the last block.
        query_errors = QueryErrors(present[: self.n_queries], added[: self.n_queries])
        scratch.close()
        return query_errors


def _data_of_statistics(statistics: Statistics) -> TrainingData:
    """Return training data of zeros with these statistics in their cache.

    A path by statistics reads only the cache, so the documents do not matter.
    """
    n = statistics.total.shape[0] - 1
    # The number includes the queries that pad the last block. Each
    # query has one document; a view of a single 0 takes no memory.
    n_queries = statistics.gram.shape[0] * BLOCK
    zeros = np.broadcast_to(0.0, (n_queries, n))
    data = QueryData(zeros, zeros[:, 0], np.arange(n_queries + 1))
    data.shared.of(KnownStatistics).by_layout["blocks", _COST] = statistics
    return TrainingData(data.X, data.y, data.ptr, given=data, sharing=data.shared)
