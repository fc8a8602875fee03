"""The forward path of greedy RankRLS, by sums over shards.

This process holds totals over all queries, and each shard the
statistics of its own queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import prod
from typing import ClassVar, Literal

import numpy as np

from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData, centre, query_grams
from rankstudio.engine.arithmetic.shared import once
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls import _solved_kernel as kernels
from rankstudio.engine.methods.selection.greedy_rankrls import _statistics_kernel
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import (
    BLOCK,
    State,
    products,
)
from rankstudio.engine.methods.selection.greedy_rankrls.search_choice import (
    KEPT_ROWS,
    delay,
    kept_statistics,
)
from rankstudio.engine.methods.selection.greedy_rankrls.search_steps import forward
from rankstudio.engine.methods.selection.greedy_rankrls.selected_rows import (
    DelayedRows,
    Each,
    JointPairs,
    SelectedRows,
    SolvedRows,
)
from rankstudio.engine.methods.shards.scratch import Room, Scratch
from rankstudio.engine.methods.shards.training_data import (
    ShardSession,
    Sums,
    TrainingData,
)
from rankstudio.engine.steps import Step
from rankstudio.engine.support.threads import pool, share, worthwhile
from rankstudio.engine.support.work import Waiting, WorkProgress

DEFAULT_COST = PairCost()
"""The loss to use with pair rows, which already contain the loss of the documents."""
_MULTIPLICATION = 0.3  # nanoseconds per multiplication, including memory access


@dataclass(frozen=True)
class Totals:
    """Message that requests [X^ y^]'[X^ y^], the products of centred features and labels, from a shard.

    A shard answers with the sum over its queries. If it has no Gram
    matrices, only the diagonal of X^'X^ is computed. A shard is a part
    of the data with whole queries.
    """


@dataclass(frozen=True, eq=False)
class Start:
    """Message that starts a path, with what shards need of the result of :class:`Totals` for all shards.

    A shard is a part of the data with whole queries.

    Attributes
    ----------
    ends : ndarray of shape (2, n)
        Squares of the features, and their products with the labels.
    total : ndarray of shape (n + 1, n + 1) or None
        The whole result, where features are compared in groups.
    """

    ends: Floats
    total: Floats | None = None

    @classmethod
    def of(cls, total: Floats, has_groups: bool = False) -> Start:
        """Return the message to all shards that starts a path without features.

        ``total`` (n + 1, n + 1) are the products of features and labels
        over all shards, labels last. ``has_groups`` is whether groups
        of several features are compared. A shard is a part of the data
        with whole queries.
        """
        ends = np.stack([np.diagonal(total)[:-1], total[-1, :-1]])
        return cls(ends, total if has_groups else None)


@dataclass(frozen=True)
class TotalRow:
    """Requests the products of a feature with all others, (n,)."""

    feature: int


@dataclass(frozen=True, eq=False)
class Select:
    """Adds a feature, with its products with all features, ``total`` (n,), over all shards."""

    feature: int
    total: Floats


Message = Totals | Start | TotalRow | Select


@dataclass(frozen=True)
class GreedyWork:
    """Work of each shard for the path with one λ.

    A shard is a part of the data with whole queries.

    Attributes
    ----------
    regularization : float
        λ > 0.
    k : int
        Maximum number of selected features.
    whole : bool
        Whether there is a Gram matrix per query, shared by all λ;
        otherwise the rows of the selected features are computed from
        the documents.
    cost : PairCost
    by_blocks : bool
        Whether a few queries are centred at a time; a single shard
        stays in memory and caches its centred data.
    delay : int
        Number of steps that :class:`DelayedRows` keeps; 0 for :class:`SolvedRows`.
    groups : tuple of tuple of int
        Columns of groups with several features, which are compared as a
        whole: for Gram matrices, with all steps delayed.
    """

    replayed: ClassVar[bool] = True

    regularization: float
    k: int
    whole: bool
    cost: PairCost
    by_blocks: bool
    delay: int = 0
    groups: tuple[tuple[int, ...], ...] = ()

    def begin(self, data: QueryData, scratch: Scratch) -> GreedyState:  # noqa: D102 - of the protocol
        return GreedyState(self, data, scratch)


GramLayout = Literal["none", "queries", "blocks"]
"""Whether there are Gram matrices, and whether the queries are their first axis, or blocks of queries the last."""

QueryProducts = tuple[Floats, Floats, Floats]
"""Squares of the features, their products with the labels, and squares of the labels.

See ``Statistics``.
"""


@dataclass(frozen=True)
class Statistics:
    """Products of features and labels in each query of a shard, which all λ share.

    A shard is a part of the data with whole queries.

    Attributes
    ----------
    query_products : tuple of ndarray
        Squares of the features and their products with the labels, both
        (blocks, n, BLOCK), and squares of the labels, (blocks, BLOCK).
    total : ndarray of shape (n + 1, n + 1)
        Products over all queries of the n features and, in the last row
        and column, the labels. Without Gram matrices, only the squares
        of the features and their products with the labels.
    gram : ndarray
        Gram matrices of the queries with the labels: of shape (Q, n +
        1, n + 1) for the layout "queries", of shape (blocks, n + 1, n +
        1, BLOCK) for "blocks". If ``rows`` are computed instead, an
        empty array.
    rows : dict
        Rows of the Gram matrices by feature, each of shape (blocks, n,
        BLOCK), where whole matrices would need too much memory. Rows
        are cached because paths for other λ select similar features.
    """

    query_products: QueryProducts
    total: Floats
    gram: Floats
    rows: dict[int, Floats] = field(default_factory=dict)

    def relabelled(self, X: Floats, labels: Floats, ptr: Ints) -> Statistics:
        """Return the statistics for other labels of the same documents, O(mn); ``gram`` is unchanged.

        Only the products of features and labels are computed again. The
        labels in ``gram`` stay the former ones, because a path does not
        read them.

        Parameters
        ----------
        X : ndarray of shape (m, n)
            Centred features.
        labels : ndarray of shape (m, 1)
            Labels, centred and permuted within their queries, so that
            their squares in each query are the same.
        ptr : ndarray of shape (Q + 1,)
            Query q has the rows ``ptr[q]:ptr[q + 1]``.
        """
        # The squares of the features, their products with the labels,
        # and the squares of the labels, in each query.
        squares, rights, label_squares = self.query_products
        rights = np.empty_like(rights)
        total = self.total.copy()
        # Writes the products of all features with column 0 of `labels`
        # to `rights`, for all blocks of queries.
        products(
            X, labels, 0, ptr, 0, rights.shape[0], np.empty(X.shape[1]), rights[:, None]
        )
        # The last row and the last column of `total` are the products
        # of the features with the labels.
        total[-1, :-1] = total[:-1, -1] = _sum_over_queries(rights)
        return replace(
            self, query_products=(squares, rights, label_squares), total=total
        )


@dataclass
class KnownStatistics:
    """Cache of a shard's statistics.

    A key is the layout of their Gram matrices, and the cost. A shard is
    a part of the data with whole queries.
    """

    by_layout: dict[tuple[GramLayout, PairCost], Statistics] = field(
        default_factory=dict
    )


class GreedyState:
    """State of one shard, a part of the queries, in a greedy path for one λ.

    The state has the shard's parts of the criteria, and the rows of the
    selected features. The criterion is the leave-query-out error.
    """

    def __init__(self, work: GreedyWork, data: QueryData, scratch: Scratch) -> None:
        """Allocate the state of a shard's queries in ``scratch``, which is memory or a file.

        ``work`` has the settings of the path. Also computes the
        products of features and labels in each query, if they are not
        in the cache. ``data`` has the documents of the shard. A shard
        is a part of the data with whole queries.
        """
        n = data.X.shape[1]
        blocks = -(-(data.ptr.size - 1) // BLOCK)  # rounded up
        self._work = work
        # The numbers of a candidate are updated by the stored changes
        # of earlier steps, or by linear systems.
        rows = DelayedRows if work.delay else SolvedRows
        # "none" without a Gram matrix per query; "blocks" if the
        # queries of a block are the last axis, "queries" if they are
        # the first one.
        layout = _layout_for(work, data)
        in_blocks = layout == "blocks"
        # For each query, pivot, right, ev and vv have a number per
        # feature, and ee is a single number. The rows have arrays of
        # their own.
        shapes = [*[(n,)] * 4, (), *rows.shapes(n, work.k, in_blocks, work.delay)]
        pivot, right, ev, vv, ee, *row_arrays = cut_blocks(
            scratch.empty, blocks, shapes
        )
        self._state: State = pivot, right, ev, vv, ee
        self._statistics = statistics_of(
            data, work.cost, layout, work.by_blocks, scratch
        )
        self._layout = layout
        gram = self._statistics.gram if in_blocks else None
        self._rows: SelectedRows = rows(gram, work.regularization, row_arrays)
        self._remaining: Ints = np.arange(n)
        self._groups = (
            JointPairs(groups=work.groups, n=n, blocks=blocks, empty=scratch.empty)
            if work.groups
            else None
        )

    def step(self, data: QueryData, message: Message) -> tuple[Floats, ...]:
        """Return the answer to a message, as arrays to be summed over shards.

        ``Totals`` asks for the products of all features and labels over
        the shard's queries, ``TotalRow`` for those of one feature.
        ``Start`` and ``Select`` change the state: they begin a path, or
        add a feature. The answer is then the criterion with each
        feature added. ``data`` has the documents of the shard. The
        criterion is the leave-query-out error. A shard is a part of the
        data with whole queries.
        """
        match message:
            case Totals():
                return (self._statistics.total,)
            case TotalRow(feature):
                return (self._row(data, feature),)
            case Start(ends, total):
                # `ends` are the squares of the features over all
                # queries, and their products with the labels; groups
                # need all products.
                kernels.start(
                    self._statistics.query_products,
                    ends,
                    self._work.regularization,
                    self._state,
                )
                if self._groups and total is not None:
                    self._groups.start(self._statistics.gram, total)
            case Select(feature, total):
                self._select(feature, total)
        return self._criteria()

    def by_query(self) -> tuple[Floats, Floats]:
        """Return each query's part of the criterion (Q,), and its part with each feature added (Q, n).

        A part is the squared error of the model trained without the
        query. Q also counts the queries that pad the last block; their
        parts are 0.
        """
        # Of shape (blocks, n, BLOCK), for each feature and query: the
        # pivot and the right-hand side, whose quotient is the weight of
        # the feature if it is added; and its residual v times the
        # labels' residual e and times itself. Of shape (blocks, BLOCK):
        # e'e.
        pivot, right, ev, vv, ee = self._state
        weight = right / pivot
        # A feature with this weight changes a query's residual e to e -
        # weight v, whose square is its part.
        added = ee[:, None] + weight * (weight * vv - 2.0 * ev)
        # The queries of a block are the last axis: next to the blocks,
        # both axes become one.
        return ee.reshape(-1).copy(), np.moveaxis(added, 2, 1).reshape(ee.size, -1)

    def _row(self, data: QueryData, feature: int) -> Floats:
        """Compute a feature's products with all n features in each query, and return their sums (n,).

        The products are written to the next row of the selected
        features. The products are read from the cache if a path for
        another λ has computed them. Otherwise new products are cached,
        as long as the cache is small. ``data`` has the documents.
        """
        gram = self._rows.next  # shape (blocks, 1, n, BLOCK)
        cached_rows = self._statistics.rows
        if feature in cached_rows:
            gram[:, 0] = cached_rows[feature]
        else:
            work = np.empty(data.X.shape[1])
            rows = centred_blocks(data, self._work.cost, self._work.by_blocks)
            # Each block of queries is written by itself: it is block 0 of its own data.
            for block, (X, _, ptr) in enumerate(rows):
                products(X, X, feature, ptr, 0, 1, work, gram[block : block + 1])
            if (
                not self._work.by_blocks
                and (len(cached_rows) + 1) * gram.nbytes <= KEPT_ROWS
            ):
                cached_rows[feature] = gram[:, 0].copy()
        return _sum_over_queries(gram[:, 0])

    def _select(self, feature: int, total: Floats) -> None:
        """Add a feature with its total products, (n,), to the selection, and update the state."""
        self._remaining = self._remaining[self._remaining != feature]
        # The feature's products with all others come from its row of
        # each query's matrix, in the layout of the kernels: queries of
        # a block last.
        if self._layout == "queries":
            _write_rows(self._statistics.gram, feature, self._rows.next[:, 0])
        # Each remaining feature takes a few multiplications per selected one.
        with self._threads(
            self._remaining.size * (len(self._rows.selected) + 4)
        ) as for_each_block:
            self._rows.select(
                feature, total, self._remaining, self._state, for_each_block
            )
            if self._groups and isinstance(self._rows, DelayedRows):
                step = len(self._rows.selected) - 1
                self._groups.follow(feature, step, self._rows.delayed, for_each_block)

    @contextmanager
    def _threads(self, multiplications: float) -> Iterator[Each]:
        """Provide a function that calls another one for slices of the blocks of queries.

        The function uses threads if threads are worthwhile.
        ``multiplications`` is the work of all calls per query.
        """
        ee = self._state[-1]  # a number per query, (blocks, BLOCK)
        with pool(worthwhile(_MULTIPLICATION * multiplications * ee.size)) as (
            executor,
            workers,
        ):
            n_blocks = ee.shape[0]
            # Two slices per thread, as one may take longer than another.
            size = max(1, n_blocks // (2 * workers)) if workers > 1 else n_blocks
            parts = [slice(first, first + size) for first in range(0, n_blocks, size)]
            yield lambda work: share(executor, workers, work, parts)

    def _criteria(self) -> tuple[Floats, ...]:
        """Return the criterion with each feature added (n,), the present one (1,), and that with each group added.

        The criterion is 0 for selected features. Without groups of
        several features, there is no third array. The criterion is the
        leave-query-out error.
        """
        # The sum of each block of queries for each feature; the last
        # array of the state has the present errors of the queries.
        partial = np.zeros(self._state[0].shape[:2])
        kernels.compare(self._remaining, self._state, partial)
        costs = partial.sum(axis=0), np.array([self._state[-1].sum()])
        if not self._groups:
            return costs
        # A Cholesky factorisation of b columns takes b³ / 6 multiplications.
        with self._threads(
            sum(len(group) ** 3 for group in self._work.groups) / 6
        ) as for_each_block:
            return *costs, self._groups.costs(
                self._work.regularization, self._state, for_each_block
            )


def _layout_for(work: GreedyWork, data: QueryData) -> GramLayout:
    """Return the layout of the Gram matrices that a path reads.

    Delayed steps change all entries of the matrices, with vectors over
    queries. Otherwise only the rows of the selected features are read,
    and matrices query by query take no copy, unless there are blocks
    already. ``work`` has the settings of the path. ``data`` has the
    documents.
    """
    if not work.whole:
        return "none"
    has_blocks = ("blocks", work.cost) in data.shared.of(KnownStatistics).by_layout
    return "blocks" if work.delay or has_blocks else "queries"


def statistics_of(
    data: QueryData,
    cost: PairCost,
    layout: GramLayout,
    by_blocks: bool,
    scratch: Scratch,
) -> Statistics:
    """Return the statistics of a shard's queries, which all λ share; they are computed on first use.

    The statistics are the features' squares and products with the
    labels in each query. Unless ``layout`` is "none", the statistics
    also have the Gram matrix of each query. The statistics belong to
    the rows whose squared errors are the loss with this ``cost`` of
    pairs. With ``by_blocks``, a few queries are centred at a time.
    ``scratch`` allocates arrays, in memory or in a file. ``data`` has
    the documents of the shard. A shard is a part of the data with whole
    queries.
    """
    cache = data.shared.of(KnownStatistics).by_layout
    key = (layout, cost)
    if key not in cache:
        cache[key] = _query_statistics(data, cost, layout, by_blocks, scratch)
    # If the matrices are mapped from a file, this work releases their pages, too.
    scratch.share(cache[key].gram)
    return cache[key]


def gram_statistics(data: QueryData, cost: PairCost = DEFAULT_COST) -> Statistics:
    """Return the statistics of the queries of data in memory, with Gram matrices in blocks.

    The statistics are cached with the data. They are sums over rows,
    whose squared errors are the loss with this ``cost`` of pairs; by
    default the rows are the documents.
    """
    no_limit = Scratch(Room(lambda: float("inf")))
    return statistics_of(data, cost, layout="blocks", by_blocks=False, scratch=no_limit)


def _query_statistics(
    data: QueryData,
    cost: PairCost,
    layout: GramLayout,
    by_blocks: bool,
    scratch: Scratch,
) -> Statistics:
    """Compute the statistics of all queries of a shard: squares, products with the labels, and Gram matrices.

    ``layout`` is the form of the Gram matrices: "none" for no matrices,
    "blocks" for the form of the kernels, or "queries" for a matrix
    after the other. The statistics are those of the rows whose squared
    errors are the loss with this ``cost`` of pairs. Arrays come from
    ``scratch``, which is memory or a file. With ``by_blocks``, a few
    queries are centred at a time. ``data`` has the documents of the
    shard. A shard is a part of the data with whole queries.
    """
    n = data.X.shape[1]
    blocks = -(-(data.ptr.size - 1) // BLOCK)  # rounded up
    # The arrays of all blocks, which are filled block by block.
    product_shapes: list[tuple[int, ...]] = [(n,), (n,), ()]
    gram_shapes = [(n + 1, n + 1)] if layout == "blocks" else []
    squares, rights, labels, *grams = cut_blocks(
        scratch.lasting, blocks, [*product_shapes, *gram_shapes]
    )
    query_products = (squares, rights, labels)
    if layout == "none":
        total = _write_products(query_products, data, cost, by_blocks)
        return Statistics(query_products=query_products, total=total, gram=np.empty(0))
    if layout == "blocks":
        # Copied block by block, below.
        gram = grams[0]
        in_blocks = gram_blocks(data, cost, by_blocks)
    elif by_blocks:
        # The generator writes them to `gram`.
        gram = scratch.lasting(data.ptr.size - 1, n + 1, n + 1)
        in_blocks = gram_blocks(data, cost, by_blocks, gram)
    else:
        # The matrices are in the cache of the data.
        gram = PairRows.of(data, cost).statistics.gram
        in_blocks = gram_blocks(data, cost, by_blocks)
    # Gram matrices contain all other products: squares on the diagonal,
    # those with the labels in the last row.
    total = np.zeros((n + 1, n + 1))
    for block, block_grams in enumerate(in_blocks):
        if layout == "blocks":
            kernels.side_by_side(block_grams, gram[block])
        total += block_grams.sum(axis=0)
        of_squares = np.diagonal(block_grams, axis1=1, axis2=2)[:, :n]
        _write_block(query_products, block, of_squares, block_grams[:, n])
    return Statistics(query_products=query_products, total=total, gram=gram)


def _write_products(
    query_products: QueryProducts, data: QueryData, cost: PairCost, by_blocks: bool
) -> Floats:
    """Write the squares and the label products of all queries, and return their sums (n + 1, n + 1).

    The sums are on the diagonal and in the last row and column, with
    the labels last; other entries are 0. ``query_products`` are the
    arrays that are written: (blocks, n, BLOCK) of squares and of label
    products, and (blocks, BLOCK) of the labels' squares. With
    ``by_blocks``, a few queries are centred at a time. ``cost`` is the
    loss of a pair. ``data`` has the documents. Queries are in blocks of
    ``BLOCK``.
    """
    squares, rights, labels = query_products
    n = squares.shape[1]
    # One buffer for all blocks: allocating memory for each would take
    # longer than computing.
    buffer = np.empty((0, n))
    for block, (X, y, ptr) in enumerate(centred_blocks(data, cost, by_blocks)):
        buffer = buffer if len(buffer) >= len(X) else np.empty_like(X)
        label_products = np.multiply(X, y[:, None], out=buffer[: len(X)])
        # `reduceat` adds up the rows of each query.
        of_labels = np.column_stack(
            (
                np.add.reduceat(label_products, ptr[:-1]),
                np.add.reduceat(y * y, ptr[:-1]),
            )
        )
        of_squares = np.add.reduceat(np.multiply(X, X, out=buffer[: len(X)]), ptr[:-1])
        _write_block(query_products, block, of_squares, of_labels)
    # Only the diagonal and the last row are computed.
    total = np.zeros((n + 1, n + 1))
    total[np.diag_indices(n)] = _sum_over_queries(squares)
    total[n, :n] = total[:n, n] = _sum_over_queries(rights)
    total[n, n] = labels.sum()
    return total


def _write_rows(grams: Floats, feature: int, out: Floats) -> None:
    """Write the products of a feature with all features in each query, in blocks (blocks, n, BLOCK).

    ``grams`` has the shape (Q, n + 1, n + 1). The last block is padded
    with zeros. The result is written to ``out``. Queries are in blocks
    of ``BLOCK``.
    """
    for block, first in enumerate(range(0, grams.shape[0], BLOCK)):
        rows = grams[first : first + BLOCK, feature, :-1]
        out[block, :, : len(rows)] = rows.T
        out[block, :, len(rows) :] = 0.0


def _write_block(
    arrays: QueryProducts, block: int, of_squares: Floats, of_labels: Floats
) -> None:
    """Write the squares (width, n) and the products with the labels (width, n + 1) of a block's queries.

    ``of_squares`` and ``of_labels`` are written to number ``block`` of
    three arrays: the squares and the products with the labels, both
    (blocks, n, BLOCK), and the labels' own squares (blocks, BLOCK),
    which are the last column of ``of_labels``. The ``width`` queries
    are the first ones of the block; the rest becomes 0. Queries are in
    blocks of ``BLOCK``.
    """
    width = of_labels.shape[0]
    for array, values in zip(
        arrays, (of_squares, of_labels[:, :-1], of_labels[:, -1]), strict=True
    ):
        array[block, ..., :width] = values.T
        array[block, ..., width:] = 0.0


def gram_blocks(
    data: QueryData, cost: PairCost, by_blocks: bool, out: Floats | None = None
) -> Iterator[Floats]:
    """Yield the Gram matrices [X^ y^]'[X^ y^] of ``BLOCK`` queries at a time, (width, n + 1, n + 1).

    X^ and y^ are centred features and labels. The last block may have
    fewer queries. Without ``by_blocks``, the matrices are cached with
    the data. Otherwise they are computed block by block, and written to
    ``out`` (Q, n + 1, n + 1); without ``out``, an array may be
    overwritten when the next one is requested. ``cost`` is the loss of
    a pair: for another loss than the default, the matrices are those of
    its rows.
    """
    if not by_blocks:
        gram = PairRows.of(data, cost).statistics.gram
        yield from (
            gram[first : first + BLOCK] for first in range(0, gram.shape[0], BLOCK)
        )
        return
    n = data.X.shape[1]
    # Work space for the matrices of one block, unless they are written
    # to ``out``.
    space = np.empty((BLOCK if out is None else 0, n + 1, n + 1))
    first = 0
    for X, y, ptr in centred_blocks(data, cost, by_blocks):
        width = ptr.size - 1
        grams = space[:width] if out is None else out[first : first + width]
        yield query_grams(X, y, ptr, grams)
        first += width


def centred_blocks(
    data: QueryData, cost: PairCost, by_blocks: bool
) -> Iterator[tuple[Floats, Floats, Ints]]:
    """Yield centred features (d, n), centred labels (d,) and ``ptr`` of ``BLOCK`` queries at a time.

    These queries have d documents, and ``ptr`` are their first rows,
    followed by d. For a cost other than the default, the rows are those
    of the cost instead of the documents. Without ``by_blocks``, the
    centred rows are cached with the data. Otherwise each block is
    centred by itself, and its features may be overwritten when the next
    ones are requested: allocating memory would take longer than
    computing.
    """
    source_rows = data if by_blocks else PairRows.of(data, cost)
    # The first row of each block, and the end of the last block, which
    # may have fewer queries.
    n_queries = source_rows.ptr.size - 1
    starts = source_rows.ptr[np.append(np.arange(0, n_queries, BLOCK), n_queries)]
    # Work space for the largest block.
    space = (
        np.empty((int(np.diff(starts).max()), data.X.shape[1]))
        if by_blocks
        else np.empty(0)
    )
    # The first query of each block, and its first row and end.
    for first, (start, end) in zip(
        range(0, source_rows.ptr.size, BLOCK), pairwise(starts.tolist()), strict=False
    ):
        # The first rows of the block's queries, from the start of the block.
        ptr = source_rows.ptr[first : first + BLOCK + 1] - start
        # All rows are centred and in memory already.
        if not by_blocks:
            X, y = source_rows.centred
            yield X[start:end], y[start:end], ptr
            continue
        # Otherwise only the rows of this block are centred.
        X = data.X[start:end]
        y = data.y[start:end]
        if cost.default:
            yield centre(X, ptr, space[: y.size]), centre(y[:, None], ptr)[:, 0], ptr
        else:
            rows = PairRows.of(QueryData(X, y, ptr), cost)
            yield *rows.centred, rows.ptr


def cut_blocks(
    empty: Callable[[int], Floats], blocks: int, shapes: Sequence[tuple[int, ...]]
) -> list[Floats]:
    """Return an array of shape (blocks, *shape, BLOCK) for each of ``shapes``.

    The arrays are parts of one array, which ``empty`` allocates by its
    size, in memory or in a file. Queries are in blocks of ``BLOCK``.
    """
    sizes = [blocks * prod(shape) * BLOCK for shape in shapes]
    parts = np.split(empty(sum(sizes)), np.cumsum(sizes)[:-1])
    return [
        part.reshape(blocks, *shape, BLOCK)
        for part, shape in zip(parts, shapes, strict=True)
    ]


def _sum_over_queries(blocks: Floats) -> Floats:
    """Return the sums over all queries (n,) of an array (blocks, n, BLOCK)."""
    totals: Floats = blocks.sum(axis=0).sum(axis=-1)
    return totals


WHAT = "comparing features"


def forward_path(
    data: TrainingData,
    regularization: float,
    groups: ColumnGroups,
    rules: Constraints,
    cost: PairCost,
    algorithm: str,
) -> Iterator[Step | WorkProgress]:
    """Select groups by forward search, and yield the steps of the path, with progress events in between.

    Steps select groups by their positions. An ungrouped feature is a group by itself.

    Parameters
    ----------
    data : TrainingData
    regularization : float
        λ > 0.
    groups : ColumnGroups
        Groups of features; groups with several features need Gram matrices.
    rules : Constraints
        Pinned and allowed groups, their greatest number, costs and penalty.
    cost : PairCost
        Loss of a pair of documents.
    algorithm : {"auto", "statistics", "rows"}

    Notes
    -----
    With m documents, n features and Q queries, "statistics" takes
    O(mn²) once for all λ and then O(Qnk²) for each, in O(Qn²) memory of
    the workers; "rows" takes O(kmn + Qnk²) in O(Qnk), and data with one
    shard cache rows for other λ. This process needs O(n² + k²) memory.
    "auto" and the cached rows of shards depend only on the shape of the
    data, so results do not depend on the available memory.
    """
    m, n = data.X.shape
    k = groups.greatest(rules.k)
    # Whole Gram matrices or only the rows of selected features: groups
    # of several features, `joint`, always need whole ones.
    shape = (m, n, data.ptr.size - 1)
    statistics_kind = (
        "statistics" if groups.joint else kept_statistics(algorithm, shape, k)
    )
    is_whole = statistics_kind == "statistics"
    # The number of steps whose changes are stored before they are
    # applied to the matrices of pairs; with groups, those of all steps.
    steps = k if groups.joint else delay(n, k, is_whole)
    work = GreedyWork(
        regularization=regularization,
        k=k,
        whole=is_whole,
        cost=cost,
        by_blocks=data.several,  # several shards are large data
        delay=steps,
        groups=groups.joint,
    )
    # The work runs in the session, on the workers of the shards:
    # threads or other processes. The search only sends messages and
    # chooses features.
    with data.session(work) as session:
        search = ForwardSearch(session, work, groups)
        total = yield from totals(session, data, is_whole, cost)
        yield from search.start(total)
        yield from forward(search, rules)


@dataclass
class _Totals:
    """Cache of one dataset's :class:`Totals`.

    A key is whether there are Gram matrices, and the cost.
    """

    found: dict[tuple[bool, PairCost], Sums] = field(default_factory=dict)


def totals(
    session: ShardSession, data: TrainingData, with_gram: bool, cost: PairCost
) -> Waiting[Floats]:
    """Return the products of all features and labels, (n + 1, n + 1), computed once for all λ.

    The products are sums over the queries of all shards, with the
    labels last. Without ``with_gram``, only the diagonal and the last
    row and column are computed. ``session`` works on the shards, and
    ``cost`` is the loss of a pair. ``data`` are the training documents.
    A shard is a part of the data with whole queries. The generator
    yields progress events, and then returns the result.
    """
    cache = data.shared.of(_Totals).found
    (total,) = yield from once(
        cache,
        (with_gram, cost),
        session.sum(Totals(), "adding up products of features"),
    )
    return total


class ForwardSearch:
    """Search that computes the leave-query-out error of a growing selection with every feature or group added.

    The class is a search among groups, of the kind that
    :mod:`search_steps` expects, with steps that are
    sums over shards. A shard is a part of the data with whole queries.

    Parameters
    ----------
    session : ShardSession
        Session without selected features.
    work : GreedyWork
        Work of the session.
    groups : ColumnGroups
    """

    def __init__(
        self, session: ShardSession, work: GreedyWork, groups: ColumnGroups
    ) -> None:
        """Store the session with the shards; :meth:`start` begins the search.

        ``work`` has the settings of the path, and ``groups`` are
        features that are added together. A shard is a part of the data
        with whole queries.
        """
        self._session = session
        self._work = work
        self._groups = groups
        # The selected groups by their positions, and the columns of their features.
        self.selected: tuple[int, ...] = ()
        self._columns: tuple[int, ...] = ()
        self._first_columns = groups.representatives
        self._is_joint = np.array(
            [len(group) > 1 for group in groups.groups], dtype=np.bool_
        )
        # For the weights trained on all queries: the factor of their
        # equations, and the solution of the forward substitution with
        # it. The kernel `extend` updates them.
        self._factor = (
            np.empty((work.k, work.k)),
            np.empty(work.k),
        )

    def start(self, total: Floats) -> Iterator[WorkProgress]:
        """Start the path in all shards, with progress events.

        ``total`` (n + 1, n + 1) are the products of features and labels
        over all shards, labels last. A shard is a part of the data with
        whole queries.
        """
        self._total = total
        self._coef = np.zeros(total.shape[0] - 1)
        varying = self._groups.of_column[np.diagonal(total)[:-1] > 0]
        self.informative: Bools = np.isin(np.arange(self._is_joint.size), varying)
        yield from self._compare(Start.of(total, bool(self._work.groups)))

    def costs(self, candidates: Ints) -> Floats:
        """Return the criterion with each candidate added, shape (c,)."""
        return self._costs[candidates]

    def criterion(self) -> float:
        """Return the criterion of the current selection."""
        return float(self._criterion[0])

    def weights(self) -> Floats:
        """Return RankRLS's weights with the current selection, trained on all queries, shape (n,)."""
        return self._coef.copy()

    def select(self, feature: int) -> Iterator[WorkProgress]:
        """Add a group to the selection, with a progress event per shard; ``feature`` is the group's position.

        Also computes the criteria with each further group, and the
        weights. The criterion is the leave-query-out error. A shard is
        a part of the data with whole queries.
        """
        for column in self._groups.groups[feature]:
            # Products with all features, then with the labels.
            row = self._total[column]
            if not self._work.whole:
                # Without Gram matrices, `_total` has only the diagonal
                # and the labels: the shards compute the other products.
                row = np.append(
                    (yield from self._session.sum(TotalRow(column), WHAT))[0], row[-1]
                )
            yield from self._compare(Select(column, row[:-1]))
            self._columns = (*self._columns, column)
            # Adds a row to the factor, and updates the weights trained
            # on all queries.
            _statistics_kernel.extend(
                row,
                self._work.regularization,
                np.array(self._columns),
                *self._factor,
                self._coef,
            )
        self.selected = (*self.selected, feature)

    def _compare(self, message: Message) -> Iterator[WorkProgress]:
        """Send a message to the shards, and store the criterion as it is and with each group added."""
        # The criterion with each feature added; and only if there are
        # groups of several features, that with each of them added.
        costs, self._criterion, *group_costs = yield from self._session.sum(
            message, WHAT
        )
        # For a group of one feature, the criterion is that with its feature.
        self._costs = costs[self._first_columns]
        if group_costs:
            self._costs[self._is_joint] = group_costs[0]
