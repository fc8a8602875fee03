"""What greedy RankRLS does on one shard: statistics of its queries, and a step for each selected feature."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import ClassVar, NamedTuple

import numpy as np

from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData, centre, query_grams
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls._gram_rows_kernel import products
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import BLOCK, State
from rankstudio.engine.methods.selection.greedy_rankrls.sharded import _shard_kernel as kernels
from rankstudio.engine.methods.selection.greedy_rankrls.sharded.selected_rows import (
    DelayedRows,
    SelectedRows,
    SolvedRows,
)
from rankstudio.engine.methods.shards.scratch import Scratch


@dataclass(frozen=True)
class Totals:
    """Asks for [X^ y^]'[X^ y^]; by rows for X^'X^'s diagonal, X^'y^ and y^'y^ in its place, the rest 0."""


@dataclass(frozen=True, eq=False)
class Start:
    """Begins a path with ``total`` (2, n): squares of features and products with labels, of all shards."""

    total: Floats


@dataclass(frozen=True)
class TotalRow:
    """Asks for the products of a feature with all others, (n,)."""

    feature: int


@dataclass(frozen=True, eq=False)
class Select:
    """Adds a feature, with its products with all features, ``total`` (n,), of all shards."""

    feature: int
    total: Floats


Message = Totals | Start | TotalRow | Select


@dataclass(frozen=True)
class GreedyWork:
    """The part of a shard in the path for one λ.

    Attributes
    ----------
    regularization : float
        λ > 0.
    k : int
        How many features will be selected at most.
    whole : bool
        Whether there is a Gram matrix a query, which all λ share, or the rows of the selected features are
        computed from the documents.
    cost : PairCost
    delay : int
        The steps that :class:`DelayedRows` keeps; 0 for :class:`SolvedRows`.
    """

    replayed: ClassVar[bool] = True

    regularization: float
    k: int
    whole: bool
    cost: PairCost
    delay: int = 0

    def begin(self, data: QueryData, scratch: Scratch) -> GreedyState:  # noqa: D102 - of the protocol
        return GreedyState(self, data, scratch)


class Statistics(NamedTuple):
    """What all λ share of a shard.

    Attributes
    ----------
    known : tuple of ndarray
        As `_shard_kernel.start` has it.
    total : ndarray of shape (n + 1, n + 1)
        What :class:`Totals` asks for.
    gram : ndarray of shape (blocks, n, n, BLOCK)
        The Gram matrices of the queries; of shape (blocks, BLOCK) and without meaning where there are none.
    """

    known: tuple[Floats, Floats, Floats]
    total: Floats
    gram: Floats


@dataclass
class _KnownStatistics:
    """The statistics of a shard, by whether they are whole, and the cost."""

    found: dict[tuple[bool, PairCost], Statistics] = field(default_factory=dict)


class GreedyState:
    """One shard in the path for one λ."""

    def __init__(self, work: GreedyWork, data: QueryData, scratch: Scratch) -> None:
        n, blocks = data.X.shape[1], -(-(data.ptr.size - 1) // BLOCK)
        self._work = work
        rows = DelayedRows if work.delay else SolvedRows
        shapes = [*[(n,)] * 4, (), *rows.shapes(n, work.k, work.whole, work.delay)]
        pivot, right, ev, vv, ee, *own = _cut(scratch.empty, blocks, shapes)
        self._state: State = pivot, right, ev, vv, ee
        known, key = data.shared.of(_KnownStatistics).found, (work.whole, work.cost)
        if key not in known:
            known[key] = _statistics(data, work, scratch)
        self._statistics = known[key]
        scratch.share(self._statistics.gram)
        gram = self._statistics.gram if work.whole else None
        self._rows: SelectedRows = rows(gram, work.regularization, own)
        self._left: Ints = np.arange(n)

    def step(self, data: QueryData, message: Message) -> tuple[Floats, ...]:  # noqa: D102 - of the protocol
        match message:
            case Totals():
                return (self._statistics.total,)
            case TotalRow(feature):
                return (self._row(data, feature),)
            case Start(total):
                known, strength = self._statistics.known, self._work.regularization
                kernels.start(known, total, strength, self._state)
            case Select(feature, total):
                self._select(feature, total)
        return self._criteria()

    def _row(self, data: QueryData, feature: int) -> Floats:
        """Compute the products of a feature from the documents, where those of the next one belong."""
        gram, work = self._rows.next, np.empty(data.X.shape[1])
        for block, (X, _, ptr) in enumerate(centred_blocks(data, self._work.cost)):
            products(X, X, feature, ptr, 0, 1, work, gram[block : block + 1])
        return _over_queries(gram[:, 0])

    def _select(self, feature: int, total: Floats) -> None:
        self._left = self._left[self._left != feature]
        self._rows.select(feature, total, self._left, self._state)

    def _criteria(self) -> tuple[Floats, ...]:
        """Return the criterion with each feature added, 0 for those selected, and as it is."""
        partial = np.zeros(self._state[0].shape[:2])
        kernels.compare(self._left, self._state, partial)
        return partial.sum(axis=0), np.array([self._state[-1].sum()])


def _statistics(data: QueryData, work: GreedyWork, scratch: Scratch) -> Statistics:
    n, blocks = data.X.shape[1], -(-(data.ptr.size - 1) // BLOCK)
    shapes = [(n,), (n,), (), (n, n) if work.whole else ()]
    squares, rights, labels, gram = _cut(scratch.lasting, blocks, shapes)
    total, grams = np.zeros((n + 1, n + 1)), np.empty((BLOCK, n + 1, n + 1) if work.whole else 0)
    for block, (X, y, ptr) in enumerate(centred_blocks(data, work.cost)):
        width = ptr.size - 1
        if work.whole:
            found = query_grams(X, y, ptr, grams[:width])
            kernels.side_by_side(found, gram[block])
            total += found.sum(axis=0)
            of_squares, of_labels = np.diagonal(found, axis1=1, axis2=2)[:, :n], found[:, n]
        else:
            of_squares = np.add.reduceat(X * X, ptr[:-1])
            of_labels = np.add.reduceat(np.column_stack((X, y)) * y[:, None], ptr[:-1])
        for known, values in ((squares, of_squares), (rights, of_labels[:, :n]), (labels, of_labels[:, n])):
            known[block, ..., :width] = values.T
            known[block, ..., width:] = 0.0
    if not work.whole:
        total[np.diag_indices(n)] = _over_queries(squares)
        total[n, :n] = total[:n, n] = _over_queries(rights)
        total[n, n] = labels.sum()
    return Statistics((squares, rights, labels), total, gram)


def centred_blocks(data: QueryData, cost: PairCost) -> Iterator[tuple[Floats, Floats, Ints]]:
    """Yield centred features, labels and ``ptr`` of ``BLOCK`` queries at a time, or the rows of a cost.

    They are good until the next ones come: fresh memory for each would cost more than what is computed.
    """
    sizes = np.diff(data.ptr[np.append(np.arange(0, data.ptr.size - 1, BLOCK), data.ptr.size - 1)])
    space = np.empty((int(sizes.max()), data.X.shape[1]))
    for first in range(0, data.ptr.size - 1, BLOCK):
        ptr = data.ptr[first : first + BLOCK + 1]
        X, y, ptr = data.X[ptr[0] : ptr[-1]], data.y[ptr[0] : ptr[-1]], ptr - ptr[0]
        if cost.default:
            yield centre(X, ptr, space[: y.size]), centre(y[:, None], ptr)[:, 0], ptr
        else:
            rows = PairRows.of(QueryData(X, y, ptr), cost)
            yield *rows.centred, rows.ptr


def _cut(empty: Callable[[int], Floats], blocks: int, shapes: Sequence[tuple[int, ...]]) -> list[Floats]:
    """Return arrays of shape (blocks, …, BLOCK) that are parts of one: each of those may be an open file."""
    sizes = [blocks * prod(shape) * BLOCK for shape in shapes]
    parts = np.split(empty(sum(sizes)), np.cumsum(sizes)[:-1])
    return [part.reshape(blocks, *shape, BLOCK) for part, shape in zip(parts, shapes, strict=True)]


def _over_queries(blocks: Floats) -> Floats:
    totals: Floats = blocks.sum(axis=0).sum(axis=-1)
    return totals
