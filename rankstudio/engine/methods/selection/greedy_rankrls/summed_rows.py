"""Rows of a loss for data of any size: the documents of one shard, or the Gram matrices of many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Bools, Floats
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import BLOCK
from rankstudio.engine.methods.selection.greedy_rankrls.forward_path import (
    DEFAULT_COST,
    KnownStatistics,
    Statistics,
    cut_blocks,
    gram_blocks,
    gram_statistics,
)
from rankstudio.engine.methods.shards.scratch import Room, Scratch
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.methods.shards.work import TreeSum
from rankstudio.engine.support.memory import budget
from rankstudio.engine.support.shard import Shard
from rankstudio.engine.support.work import Waiting, finish


class SummedRows(QueryData):
    """Rows of a loss that are not stored: only the Gram matrix of each query is.

    Everything that follows from these matrices is computed as for rows
    in memory. Access to the centred rows raises a TypeError.
    """

    @classmethod
    def of(cls, data: TrainingData | QueryData, statistics: Statistics) -> SummedRows:
        """Return rows that have only the Gram matrices of their queries, in ``statistics``, and no features."""
        n = statistics.total.shape[0] - 1
        # The features are a view of a single 0, so that they have a
        # shape but take no memory.
        rows = cls(np.broadcast_to(0.0, (data.y.size, n)), data.y, data.ptr)
        # Paths read the statistics from this cache. The squared errors
        # of the rows are the loss, so their own cost is the default.
        rows.shared.of(KnownStatistics).by_layout["blocks", DEFAULT_COST] = statistics
        return rows

    @cached_property
    def centred(self) -> tuple[Floats, Floats]:
        """Raise an error: there are no rows."""
        raise TypeError("These rows are known by their Gram matrices only.")

    @property
    def informative(self) -> Bools:
        """Features that vary within some query, shape (n,)."""
        varies: Bools = np.diagonal(gram_statistics(self).total)[:-1] > 0
        return varies

    @property
    def has_statistics(self) -> bool:
        """Whether the Gram matrices exist: always."""
        return True

    def narrowed(self, columns: Sequence[int]) -> SummedRows:
        """Return the same rows with some of the features, from the parts of their Gram matrices."""
        statistics = gram_statistics(self)
        chosen = list(columns)
        # In each query: the squares of the features, their products
        # with the labels, and the squares of the labels.
        squares, rights, labels = statistics.query_products
        indices = np.array([*chosen, statistics.total.shape[0] - 1])  # the labels last
        total = statistics.total[np.ix_(indices, indices)]
        gram = statistics.gram[:, indices[:, None], indices]
        parts = (
            np.ascontiguousarray(squares[:, chosen]),
            np.ascontiguousarray(rights[:, chosen]),
            labels,
        )
        return SummedRows.of(
            self,
            Statistics(
                query_products=parts, total=total, gram=np.ascontiguousarray(gram)
            ),
        )


@dataclass
class _Known:
    """Cache of the rows of one dataset, by the cost."""

    by_cost: dict[PairCost, SummedRows] = field(default_factory=dict)


def summed_rows(
    data: TrainingData, cost: PairCost, columns: Sequence[int] | None = None
) -> QueryData:
    """Return the rows whose squared errors are the loss of pairs; they are cached with the data.

    A shard is a part of the data with whole queries.

    Parameters
    ----------
    data : TrainingData
        Of any size.
    cost : PairCost
        Loss of a pair of documents.
    columns : sequence of int, optional
        Columns of the features; all by default.

    Returns
    -------
    QueryData
        For one shard, the documents or the rows of the cost; for several shards,
        :class:`SummedRows`, which only have the Gram matrix of each query.

    Notes
    -----
    One pass over several shards, O(mn²) for m documents with n
    features. The matrices take O(Qn²) for Q queries: in memory up to
    half of the memory limit, otherwise in an unnamed file.
    """
    if not data.several:  # one shard, which is in memory
        rows = PairRows.of(data.whole("Exact search"), cost)
    elif columns is not None and cost not in data.shared.of(_Known).by_cost:
        # The rows with all columns are not cached yet. The matrices of
        # these columns are smaller than those of all.
        return finish(summing_rows(data.narrowed(columns), cost))
    else:
        rows = finish(summing_rows(data, cost))
    return rows if columns is None else rows.narrowed(columns)


def summing_rows(data: TrainingData, cost: PairCost) -> Waiting[QueryData]:
    """Return the rows whose squared errors are the loss of pairs.

    The rows are cached with the data, for each ``cost`` of a pair of
    documents. For several shards, the rows have no features, only the
    Gram matrix of each query. A shard is a part of the data with whole
    queries. The generator yields progress events, and then returns the
    result.
    """
    if not data.several:
        return summed_rows(data, cost)  # one shard, without progress
    by_cost = data.shared.of(_Known).by_cost
    if cost not in by_cost:
        by_cost[cost] = SummedRows.of(data, (yield from _summed_statistics(data, cost)))
    return by_cost[cost]


def _summed_statistics(data: TrainingData, cost: PairCost) -> Waiting[Statistics]:
    """Compute the statistics of all queries, shard by shard.

    The statistics are the features' squares and products with the
    labels in each query, the Gram matrices of the queries, and their
    sum. The statistics belong to the rows whose squared errors are the
    loss with this ``cost`` of pairs. The arrays are in memory, or in
    files if they are large. ``data`` are the training documents. A
    shard is a part of the data with whole queries. The generator yields
    progress events, and then returns the result.
    """
    n = data.X.shape[1]
    Q = data.ptr.size - 1
    # The arrays of all queries take at most half of the memory limit;
    # beyond it, they are in files.
    limit = budget() / 2
    blocks = -(-Q // BLOCK)  # rounded up
    scratch = Scratch(Room(lambda: limit))
    shapes = [(n,), (n,), (), (n + 1, n + 1)]
    squares, rights, labels, gram = cut_blocks(scratch.lasting, blocks, shapes)
    for array in (squares, rights, labels, gram):
        # The last block may be padded with queries without documents.
        array[-1] = 0.0
    totals: list[Floats] = [np.empty(0)] * len(data.shards)

    def add(index: int, shard: Shard, rows: QueryData) -> None:
        """Copy the Gram matrices of a shard's queries to the arrays of all queries.

        The arrays are ``squares``, ``rights``, ``labels`` and ``gram``
        of the enclosing function, whose axes are blocks of queries,
        features, and the queries of a block. The sum of the matrices is
        written to ``totals``, at the shard's number ``index``. ``rows``
        are the rows of the shard. A shard is a part of the data with
        whole queries.
        """
        query = shard.first_query
        total = np.zeros((n + 1, n + 1))
        for grams in gram_blocks(rows, cost, by_blocks=True):
            total += grams.sum(axis=0)
            # A block of the shard may straddle two blocks of all
            # queries, so it is split where the next one begins. `lane`
            # is the position in a block. Row and column n of a matrix
            # are those of the labels.
            for part in np.split(grams, [BLOCK - query % BLOCK]):
                block, lane = divmod(query, BLOCK)
                lanes = slice(lane, lane + len(part))
                if len(part):
                    gram[block, ..., lanes] = np.moveaxis(part, 0, -1)
                    squares[block, :, lanes] = np.diagonal(part, axis1=1, axis2=2).T[:n]
                    rights[block, :, lanes] = part[:, n, :n].T
                    labels[block, lanes] = part[:, n, n]
                query += len(part)
        totals[index] = total

    yield from data.visited(add, "adding up products of features")
    # Sums are added in a fixed order, so that the result does not
    # depend on the order of the shards' ends.
    tree = TreeSum()
    for total in totals:
        tree.add((total,))
    (summed_total,) = tree.result()
    return Statistics(
        query_products=(squares, rights, labels), total=summed_total, gram=gram
    )
