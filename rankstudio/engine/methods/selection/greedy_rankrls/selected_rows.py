"""What a shard keeps of the selected features, to change the others' numbers with the next one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls import _delayed_kernel, _solved_kernel
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import BLOCK, State

Arrays = TypeVar("Arrays", bound=tuple[Floats, ...])
Shapes = list[tuple[int, ...]]

Each = Callable[[Callable[[slice], None]], None]
"""Calls a function of a range of the blocks of queries for all of them, on all threads."""


class SelectedRows(Protocol):
    """What is kept of the selected features in the queries of a shard.

    Attributes
    ----------
    next : ndarray of shape (blocks, 1, n, BLOCK)
        Where the products of the next feature with all others belong, if there are no Gram matrices.
    """

    @property
    def next(self) -> Floats: ...  # noqa: D102 - above

    @property
    def selected(self) -> Sequence[int]: ...  # noqa: D102 - the features, in the order in which they came in

    def select(self, feature: int, total: Floats, left: Ints, state: State, each: Each) -> None:
        """Change the numbers of the features ``left``, ascending, with one more feature.

        ``total`` (n,) are its products with all features, over all queries of all shards.
        """


class SolvedRows:
    """Rows of Gram matrices, and for each query a triangle that two systems a step are solved by.

    Parameters
    ----------
    gram : ndarray of shape (blocks, n + 1, n + 1, BLOCK) or None
        The Gram matrices of the queries, if they are there.
    regularization : float
    arrays : sequence of ndarray
        Of the :meth:`shapes`, with the blocks before and the queries of a block behind.

    Notes
    -----
    k² / 2 numbers a query, and kn more where there are no Gram matrices. Step t reads t (n - t) of the Gram
    matrix, and 2 t² for the systems.
    """

    def __init__(self, gram: Floats | None, regularization: float, arrays: Sequence[Floats]) -> None:
        inverse, diagonal, rows = arrays
        self._whole, self._gram = gram is not None, rows if gram is None else gram
        self._factor, self._regularization = (inverse, diagonal), regularization
        self.selected: list[int] = []
        self._totals: list[Floats] = []

    @staticmethod
    def shapes(n: int, k: int, whole: bool, delay: int) -> Shapes:
        """Return the shapes of what is kept of a query."""
        return [(k * (k - 1) // 2,), (k,), () if whole else (k, n)]

    @property
    def next(self) -> Floats:  # noqa: D102 - of the protocol
        t = len(self.selected)
        return self._gram[:, t : t + 1]

    def select(  # noqa: D102 - of the protocol
        self, feature: int, total: Floats, left: Ints, state: State, each: Each
    ) -> None:
        t = len(self.selected)
        self._totals.append(total)
        self.selected.append(feature)
        selected, totals = np.array(self.selected), np.array(self._totals)
        ascending, places = np.argsort(selected[:-1]), selected if self._whole else np.arange(t + 1)
        inverse, diagonal = self._factor

        def work(part: slice) -> None:
            lists = selected, ascending, places, left
            space = np.empty((3 * t + 6 + 3 * _solved_kernel.TILE, BLOCK))
            factor = inverse[part], diagonal[part]
            own = of_blocks(state, part)
            _solved_kernel.select(*lists, self._gram[part], totals, self._regularization, own, factor, space)

        each(work)


class DelayedRows:
    """The changes of some steps, and matrices of all features left that follow when there are so many.

    Parameters
    ----------
    gram, regularization, arrays
        As of :class:`SolvedRows`.

    Notes
    -----
    (n - p)² + 2 np numbers a query where p steps are kept. Step t reads 2 p (n - t) of them at most, and
    every p-th one reads and writes (n - t)². Where there are no Gram matrices p is k: there is nothing that
    the matrices of all features could begin from.
    """

    def __init__(self, gram: Floats | None, regularization: float, arrays: Sequence[Floats]) -> None:
        rows, halves, pivots, outer, inner, following = arrays
        self._whole, self._gram = gram is not None, following if gram is None else gram
        self.delayed, self._matrices = (rows, halves, pivots), (outer, inner)
        self._regularization, self._count = regularization, 0
        self.selected: list[int] = []
        self._order: Ints = np.arange(rows.shape[1])  # of the columns, by their places
        self._brought_up = False

    @staticmethod
    def shapes(n: int, k: int, whole: bool, delay: int) -> Shapes:
        """Return the shapes of what is kept of a query."""
        places = n - delay if k > delay else 0
        pairs = places * (places - 1) // 2
        return [(n, delay), (n, delay), (delay,), (pairs,), (pairs,), () if whole else (1, n)]

    @property
    def next(self) -> Floats:  # noqa: D102 - of the protocol
        return self._gram

    def select(  # noqa: D102 - of the protocol
        self, feature: int, total: Floats, left: Ints, state: State, each: Each
    ) -> None:
        if self._count == self.delayed[0].shape[2]:
            self._bring_up(np.union1d(left, [feature]), each)
        at, places, h = (
            int(np.searchsorted(self._order, feature)),
            np.searchsorted(self._order, left),
            self._count,
        )
        h, at_gram = self._count, -1 if self._brought_up else feature if self._whole else 0

        def work(part: slice) -> None:
            _delayed_kernel.select(
                feature,
                left,
                at,
                places,
                h,
                self._gram[part],
                at_gram,
                total,
                self._regularization,
                of_blocks(state, part),
                of_blocks(self.delayed, part),
                of_blocks(self._matrices, part),
                np.empty((3 * h + 7, BLOCK)),
            )

        each(work)
        self.selected.append(feature)
        self._count += 1

    def _bring_up(self, left: Ints, each: Each) -> None:
        places, h = np.searchsorted(self._order, left), self._count

        def work(part: slice) -> None:
            gram = self._gram[:0] if self._brought_up else self._gram[part]
            matrices = of_blocks(self._matrices, part)
            space = np.empty((3 * h + 2, BLOCK))
            _delayed_kernel.bring_up(left, places, gram, of_blocks(self.delayed, part), matrices, space)

        each(work)
        self._order, self._count, self._brought_up = left, 0, True


def of_blocks(arrays: Arrays, part: slice) -> Arrays:
    """Return the part of some arrays that belongs to a range of blocks."""
    return tuple(array[part] for array in arrays)  # type: ignore[return-value] # as many as there were
