"""Rows of the selected features that a shard keeps, to update the other features after each selection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls import (
    _delayed_kernel,
    _solved_kernel,
)
from rankstudio.engine.methods.selection.greedy_rankrls import _joint_kernel as kernels
from rankstudio.engine.methods.selection.greedy_rankrls._delayed_kernel import Delayed
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import (
    BLOCK,
    State,
)

Arrays = TypeVar("Arrays", bound=tuple[Floats, ...])
Shapes = list[tuple[int, ...]]

Each = Callable[[Callable[[slice], None]], None]
"""Calls a function with ranges of the blocks of queries that together cover all blocks, on all threads."""


class SelectedRows(Protocol):
    """State of the selected features in the queries of a shard.

    A shard is a part of the data with whole queries.

    Attributes
    ----------
    next : ndarray of shape (blocks, 1, n, BLOCK)
        Output array for the products of the next feature with all
        features, if there are no Gram matrices.
    """

    @property
    def next(self) -> Floats: ...  # noqa: D102 - above

    @property
    def selected(self) -> Sequence[int]: ...  # noqa: D102 - the selected features, in order of selection

    def select(
        self,
        feature: int,
        total: Floats,
        remaining: Ints,
        state: State,
        for_each_block: Each,
    ) -> None:
        """Select a feature, and update the state of the features ``remaining``, in ascending order.

        A shard has a part of the queries, in blocks of ``BLOCK``
        queries. ``state`` has four arrays (blocks, n, BLOCK) of
        numbers: for each query, those by which the model without this
        query compares features. They are updated for the features that
        remain, and so is the error of the model, the fifth array
        (blocks, BLOCK). ``total`` (n,) contains the products of the
        selected feature with all features, over all queries of all
        shards. ``for_each_block`` calls a function with slices of the
        blocks, on all threads.
        """


class SolvedRows:
    """Rows of selected features in the Gram matrices, and a triangle per query that solves two systems per step.

    Parameters
    ----------
    gram : ndarray of shape (blocks, n + 1, n + 1, BLOCK) or None
        Gram matrices of the queries, if they exist.
    regularization : float
    arrays : sequence of ndarray
        Arrays of the :meth:`shapes`, with the blocks first and the
        queries of a block last.

    Notes
    -----
    Memory: k² / 2 numbers per query, and kn more without Gram matrices.
    Step t reads t (n - t) numbers of each Gram matrix, and 2 t² numbers
    for the systems.
    """

    def __init__(
        self, gram: Floats | None, regularization: float, arrays: Sequence[Floats]
    ) -> None:
        """Start without features, with ``arrays`` of the shapes of :meth:`shapes`.

        ``regularization`` is λ. ``gram`` are the Gram matrices of the
        queries; None if only the rows of selected features are
        computed.
        """
        # For each query, the regularised Gram matrix of the selected
        # features over the other queries is LDL': -L^-1, and D.
        inverse, diagonal, rows = arrays
        # Whole Gram matrices, or only the rows of the selected features, one per step.
        self._has_whole_matrices = gram is not None
        self._gram = rows if gram is None else gram
        self._factor = (inverse, diagonal)
        self._regularization = regularization
        self.selected: list[int] = []
        self._totals: list[Floats] = []

    @staticmethod
    def shapes(n: int, k: int, with_gram: bool, delay: int) -> Shapes:
        """Return the shapes of a query's arrays for a path of k steps among n features.

        LDL' is the regularised Gram matrix of the selected features
        over the other queries. The arrays are the entries of -L^-1, the
        diagonal of D, and unless Gram matrices exist, their rows of the
        selected features. ``delay`` is not used. ``with_gram`` says
        whether Gram matrices exist. Other queries are all but the one
        left out.
        """
        return [(k * (k - 1) // 2,), (k,), () if with_gram else (k, n)]

    @property
    def next(self) -> Floats:  # noqa: D102 - of the protocol
        t = len(self.selected)
        return self._gram[:, t : t + 1]

    def select(
        self,
        feature: int,
        total: Floats,
        remaining: Ints,
        state: State,
        for_each_block: Each,
    ) -> None:
        """Solve the systems of the selected feature in each query, and update the remaining features.

        ``total`` (n,) are the feature's products with all features over
        all queries, and ``remaining`` the columns that are not
        selected. ``for_each_block`` calls a function with slices of the
        blocks of queries, in threads. ``state`` has arrays (blocks, n,
        BLOCK) of numbers of the features, by which the model without
        each query compares them. They are updated, as is the error of
        each model.
        """
        t = len(self.selected)
        self._totals.append(total)
        self.selected.append(feature)
        selected = np.array(self.selected)
        totals = np.array(self._totals)
        # The earlier features in ascending order, so that rows of Gram
        # matrices are read in order.
        ascending = np.argsort(selected[:-1])
        # Whole Gram matrices have rows of all features; otherwise row a
        # is that of the a-th selected feature.
        places = selected if self._has_whole_matrices else np.arange(t + 1)
        inverse, diagonal = self._factor

        # Each thread has a part of the blocks, and work space of its own.
        def work(part: slice) -> None:
            """Update the numbers of the remaining features in the queries of a slice of the blocks.

            Uses the variables of the enclosing method. ``selected`` are
            the columns of the t + 1 selected features, ``ascending``
            the order of the first t by column, and ``places`` their
            rows in the Gram matrices. ``totals`` are their products
            over all queries. ``inverse`` and ``diagonal`` have a
            triangular system per query. In each query, the numbers of a
            feature are its pivot and right-hand side over the other
            queries, and the products of its held-out residual with
            itself and with that of the labels. Other queries are all
            but the one left out.
            """
            # Work space, of the size that the kernel needs.
            space = np.empty((3 * t + 6 + 3 * _solved_kernel.TILE, BLOCK))
            factor = inverse[part], diagonal[part]
            part_state = of_blocks(state, part)
            _solved_kernel.select(
                selected,
                ascending,
                places,
                remaining,
                self._gram[part],
                totals,
                self._regularization,
                part_state,
                factor,
                space,
            )

        for_each_block(work)


class DelayedRows:
    """Delayed updates: the changes of some steps are stored, then applied at once to matrices of all features.

    Parameters
    ----------
    gram, regularization, arrays
        As in :class:`SolvedRows`.

    Notes
    -----
    (n - p)² + 2 np numbers per query for p delayed steps. Step t reads
    at most 2 p (n - t) of them, and every p-th step reads and writes (n
    - t)². Without Gram matrices p is k, because there are no matrices
    to update.
    """

    def __init__(
        self, gram: Floats | None, regularization: float, arrays: Sequence[Floats]
    ) -> None:
        """Start without features, with ``arrays`` of the shapes of :meth:`shapes`.

        ``regularization`` is λ. ``gram`` are the Gram matrices of the
        queries; None if only the rows of selected features are
        computed.
        """
        # Each delayed step has a pivot, and two numbers γ and d of each
        # feature, by which the entries of all pairs of features change.
        # The two matrices of these pairs follow. The last array has the
        # products of the next feature, for data without whole Gram
        # matrices.
        rows, halves, pivots, outer, inner, following = arrays
        self._has_whole_matrices = gram is not None
        self._gram = following if gram is None else gram
        self.delayed = (rows, halves, pivots)
        self._matrices = (outer, inner)
        self._regularization = regularization
        self._n_delayed_steps = 0
        self.selected: list[int] = []
        # The columns of the matrices, ascending. Before the first
        # update there are no matrices, and entries are read from the
        # Gram matrices.
        self._columns_by_place: Ints = np.arange(rows.shape[1])
        self._has_matrices = False

    @staticmethod
    def shapes(n: int, k: int, with_gram: bool, delay: int) -> Shapes:
        """Return the shapes of a query's arrays for a path of k steps among n features.

        The first three have the changes of up to ``delay`` steps, which
        are applied later: two numbers per feature and step, and one per
        step. The next two are matrices with an entry for each pair of
        the features that remain after these steps. A path that ends
        before needs no such entries. The last one has the next
        feature's products, which Gram matrices have already.
        """
        places = n - delay if k > delay else 0
        pairs = places * (places - 1) // 2
        return [
            (n, delay),
            (n, delay),
            (delay,),
            (pairs,),
            (pairs,),
            () if with_gram else (1, n),
        ]

    @property
    def next(self) -> Floats:  # noqa: D102 - of the protocol
        return self._gram

    def select(
        self,
        feature: int,
        total: Floats,
        remaining: Ints,
        state: State,
        for_each_block: Each,
    ) -> None:
        """Update the remaining features with a selected feature, and store its changes as another delayed step.

        The changes concern the matrices of pairs of features, to which
        some steps are applied at once. ``total`` (n,) are the feature's
        products with all features over all queries, and ``remaining``
        the columns that are not selected. ``for_each_block`` calls a
        function with slices of the blocks of queries, in threads.
        ``state`` has arrays (blocks, n, BLOCK) of numbers of the
        features, by which the model without each query compares them.
        They are updated, as is the error of each model.
        """
        gammas, _, _ = self.delayed
        if self._n_delayed_steps == gammas.shape[2]:  # no room for another step
            self._apply_delayed_steps(np.union1d(remaining, [feature]), for_each_block)
        # The place of each column in the matrices, which only have the
        # columns that remained at the last update.
        selected_position = int(np.searchsorted(self._columns_by_place, feature))
        places = np.searchsorted(self._columns_by_place, remaining)
        # Before the first update there are no matrices, and the Gram
        # matrices or their last row are read instead.
        h = self._n_delayed_steps
        at_gram = -1  # the matrices are read instead
        if not self._has_matrices:
            at_gram = feature if self._has_whole_matrices else 0

        def work(part: slice) -> None:
            """Update the numbers of the remaining features in the queries of a slice of the blocks.

            Uses the variables of the enclosing method.
            ``selected_position`` and ``places`` are the positions of
            the selected and the ``remaining`` columns in the matrices
            of pairs, and ``h`` is the number of stored steps.
            ``at_gram`` is the row of the Gram matrices that is read
            instead of the matrices, or -1. In each query, the numbers
            of a feature are its pivot and right-hand side over the
            other queries, and the products of its held-out residual
            with itself and with that of the labels. Other queries are
            all but the one left out.
            """
            _delayed_kernel.select(
                feature,
                remaining,
                selected_position,
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

        for_each_block(work)
        self.selected.append(feature)
        self._n_delayed_steps += 1

    def _apply_delayed_steps(self, remaining: Ints, for_each_block: Each) -> None:
        """Apply the delayed steps to the matrices of the columns ``remaining``, and drop the steps.

        The two matrices of each query have an entry for each pair of
        columns; other columns are dropped. ``for_each_block`` calls a
        function for slices of the blocks of queries.
        """
        # The positions of the columns in the matrices so far.
        places = np.searchsorted(self._columns_by_place, remaining)
        h = self._n_delayed_steps

        def work(part: slice) -> None:
            """Apply the steps to the matrices of some blocks of queries.

            The first time, the matrices are made from the Gram
            matrices. ``part`` is the slice of the blocks. Uses the
            columns ``remaining``, their former ``places`` in the
            matrices and the number ``h`` of steps.
            """
            # An empty array says that the matrices exist already.
            gram = self._gram[:0] if self._has_matrices else self._gram[part]
            matrices = of_blocks(self._matrices, part)
            space = np.empty((3 * h + 2, BLOCK))
            _delayed_kernel.bring_up(
                remaining, places, gram, of_blocks(self.delayed, part), matrices, space
            )

        for_each_block(work)
        self._columns_by_place = remaining
        self._n_delayed_steps = 0
        self._has_matrices = True


def of_blocks(arrays: Arrays, part: slice) -> Arrays:
    """Return the parts of some arrays (blocks, …) that belong to a range of blocks."""
    # mypy cannot see that the tuple has as many arrays as before.
    return tuple(array[part] for array in arrays)  # type: ignore[return-value]


def _pairs_of(group: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return the pairs of a group's features: (1, 0), (2, 0), (2, 1), …."""
    return [
        (feature, other)
        for index, feature in enumerate(group)
        for other in group[:index]
    ]


class JointPairs:
    """State of the pairs of features within groups, and the leave-query-out error with each group added.

    Parameters
    ----------
    groups : tuple of tuple of int
        Columns of each group with several features.
    n : int
        Number of features.
    blocks : int
        Number of blocks of queries.
    empty : callable
        Returns a float64 array with the given number of elements.

    Notes
    -----
    A comparison costs O(Q b³) for a group of b features, independent of
    the selection; selecting a feature costs a further O(Q p) for p
    pairs of features within groups, which take O(Q p) memory.
    """

    def __init__(
        self,
        groups: tuple[tuple[int, ...], ...],
        n: int,
        blocks: int,
        empty: Callable[[int], Floats],
    ) -> None:
        """Allocate two numbers for each pair of features of a group in each query.

        The two numbers are the products of the features over the other
        queries, and in the query. ``groups`` have several of the n
        columns each, and ``blocks`` is the number of blocks of queries.
        ``empty`` allocates an array of a size. Other queries are all
        but the one left out.
        """
        # The features, group by group; where each group begins; and where its pairs begin.
        sizes = np.array([len(group) for group in groups], dtype=np.int64)
        self._members: Ints = np.concatenate(groups).astype(np.int64)
        self._starts: Ints = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._pairs: Ints = np.concatenate(
            [[0], np.cumsum(sizes * (sizes - 1) // 2)]
        ).astype(np.int64)
        self._pair_columns = [pair for group in groups for pair in _pairs_of(group)]
        self._is_remaining = np.ones(n, dtype=np.bool_)
        n_pairs = len(self._pair_columns)
        space = empty(2 * blocks * n_pairs * BLOCK)
        self._joint, self._products = space.reshape(2, blocks, n_pairs, BLOCK)
        self._largest_group = int(sizes.max())

    def start(self, gram: Floats, total: Floats) -> None:
        """Set both products of all pairs of features for the empty selection.

        They are the products in each query, and those over all other
        queries. ``gram`` (blocks, n + 1, n + 1, BLOCK) are the Gram
        matrices of the shard's queries, and ``total`` (n + 1, n + 1) is
        the sum of those of all shards.
        """
        for pair, (feature, other) in enumerate(self._pair_columns):
            self._products[:, pair] = gram[:, feature, other]
            self._joint[:, pair] = total[feature, other] - self._products[:, pair]

    def follow(
        self, feature: int, step: int, delayed: Delayed, for_each_block: Each
    ) -> None:
        """Update the pairs after the selection of a feature.

        ``delayed`` has the changes by all selected features, and
        ``step`` is the position of this feature among them.
        ``for_each_block`` calls a function for slices of the blocks.
        """
        self._is_remaining[feature] = False
        # The parameters of the kernel that all blocks share: the mask
        # of the features that are not selected; the features group by
        # group, where each group begins, and where its pairs begin.
        arguments = step, self._is_remaining, self._members, self._starts, self._pairs

        def work(part: slice) -> None:
            """Update the pairs of features in the queries of some blocks.

            Uses ``delayed`` and ``arguments`` of the enclosing method,
            the parameters that all blocks share. ``part`` is the slice
            of the blocks.
            """
            kernels.follow(
                *arguments,
                of_blocks(delayed, part),
                self._joint[part],
                self._products[part],
            )

        for_each_block(work)

    def costs(
        self, regularization: float, state: State, for_each_block: Each
    ) -> Floats:
        """Return the shard's part of the criterion with each group added, 0 for selected groups, (g,).

        ``state`` has arrays (blocks, n, BLOCK) of numbers of single
        features, by which the model without each query compares them.
        ``regularization`` is λ, and ``for_each_block`` calls a function
        with slices of the blocks of queries, in threads.
        """
        # Groups of which no feature is selected yet.
        n_remaining = np.add.reduceat(
            self._is_remaining[self._members], self._starts[:-1], dtype=np.int64
        )
        open_groups = np.flatnonzero(n_remaining == np.diff(self._starts))
        partial = np.zeros((self._joint.shape[0], self._starts.size - 1))
        # Each thread has a part of the blocks, and work space for the
        # largest group. The first arguments of the kernel are the same
        # for all parts.
        s = self._largest_group
        arguments = (
            open_groups,
            self._members,
            self._starts,
            self._pairs,
            regularization,
        )

        def work(part: slice) -> None:
            """Write the criteria of some blocks of queries to ``partial``.

            Uses ``state``, ``partial``, ``s`` and ``arguments`` of the
            enclosing method: the largest group has s features, and all
            blocks share the arguments. The criterion is the
            leave-query-out error.
            """
            kernels.costs(
                *arguments,
                of_blocks(state, part),
                self._joint[part],
                self._products[part],
                np.empty((s, s, BLOCK)),
                np.empty((s, BLOCK)),
                partial[part],
            )

        for_each_block(work)
        summed: Floats = partial.sum(axis=0)
        return summed
