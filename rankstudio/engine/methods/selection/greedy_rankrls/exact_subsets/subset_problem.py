"""The problem of a search among sets of features.

It has the totals of the features in branching order, and the constants of the bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Self

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.errors import OutOfMemoryError, ParameterError
from rankstudio.engine.methods.selection.base import TIE
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import BLOCK
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets import (
    _subset_kernel as kernels,
)
from rankstudio.engine.methods.selection.greedy_rankrls.forward_path import (
    gram_statistics,
)
from rankstudio.engine.support import memory

# Share of the greatest eigenvalue; with a smaller ridge, bounds would only be rounding.
_LEAST_RIDGE = 1e-9
_ROUNDINGS = 64 * float(np.finfo(np.float64).eps)
"""A bound solves systems with K + μI, whose condition number is 1 + σ / μ. Rounding may change the bound by a
small multiple of eps times this number."""


@dataclass(frozen=True, eq=False)
class SubsetProblem:
    """Search among sets of items; an item is a group of features added together, usually one feature.

    Attributes
    ----------
    items : tuple of int
        Groups that a set may contain, in branching order; required ones first.
    n_forced : int
        Number of required groups.
    totals : tuple of ndarray
        Arrays for the kernel, with features in the order of the items.
    starts : ndarray of shape (items + 1,)
        Start of the features of each item.
    regularization : float
        λ > 0.
    ridge : float
        μ of the bounds.
    slack : float
        Maximum error of a bound, due to rounding and to a ridge larger
        than that of the equations.
    tie : float
        Criteria with at most this difference are equal.
    budget : float
    n_queries : int
    groups : ColumnGroups
    """

    items: tuple[int, ...]
    n_forced: int
    totals: kernels.Totals
    starts: Ints
    regularization: float
    ridge: float
    slack: float
    tie: float
    budget: float
    n_queries: int
    groups: ColumnGroups

    @classmethod
    def of(
        cls,
        data: QueryData,
        regularization: float,
        groups: ColumnGroups,
        rules: Constraints,
    ) -> Self:
        """Prepare the search for the rows ``data``, whose squared errors are the loss.

        For the default loss the rows are the documents.
        ``regularization`` is λ. ``groups`` are features that are added
        together, and ``rules`` say which groups are required or
        allowed. Raises an OutOfMemoryError if the Gram matrices of the
        queries do not fit into memory.

        Notes
        -----
        O(mn²) for the Gram matrices, which are cached with the data,
        and O(n³) for the order of n features.
        """
        Q = data.ptr.size - 1
        if not data.has_statistics:  # the Gram matrices are not in the cache
            check_room(Q, data.X.shape[1])
        statistics = gram_statistics(data)
        return cls.of_matrices(
            total=statistics.total,
            grams=statistics.gram,
            n_queries=Q,
            regularization=regularization,
            groups=groups,
            rules=rules,
        )

    @classmethod
    def of_matrices(
        cls,
        total: Floats,
        grams: Floats,
        n_queries: int,
        regularization: float,
        groups: ColumnGroups,
        rules: Constraints,
    ) -> Self:
        """Prepare the search from known Gram matrices.

        Parameters
        ----------
        total : ndarray of shape (n + 1, n + 1)
            Gram matrix of all queries, with the labels.
        grams : ndarray of shape (blocks, n + 1, n + 1, BLOCK)
            Gram matrix of each query; padding is 0.
        n_queries : int
        regularization : float
            λ > 0.
        groups : ColumnGroups
            Features that are added together; usually each by itself.
        rules : Constraints
            Groups that are required or allowed, and their costs.
        """
        n = total.shape[0] - 1
        # Groups whose features are constant in all queries are only in
        # the search if they are pinned.
        varying = np.diagonal(total)[:-1] > 0
        varies = np.bincount(groups.of_column, varying, len(groups.groups)) > 0
        forced = rules.pinned
        free_items = [
            int(i)
            for i in np.flatnonzero(rules.allowed & varies)
            if int(i) not in forced
        ]
        pool = np.array(groups.columns((*forced, *free_items)), dtype=np.int64)
        # The greatest eigenvalue σ of these features' matrix. It has to
        # be an upper bound, so the eigenvalue's rounding, a few n eps,
        # is added.
        greatest = (
            float(np.linalg.eigvalsh(total[np.ix_(pool, pool)])[-1]) * (1 + 1e-9)
            if pool.size
            else 0.0
        )
        # The ridge μ that replaces λ in lower bounds, and how much such
        # a bound may be above the exact one, as a share of the labels'
        # square.
        ridge, ridge_excess = _ridge(regularization, greatest)
        # The order in which the search branches, and the columns of the
        # items in this order.
        order = _order(total, groups, forced, free_items, ridge)
        items = (*forced, *order)
        columns = np.array(groups.columns(items), dtype=np.int64)
        # Column n is the labels'.
        indices = np.append(columns, n)
        prices = np.zeros(len(groups.groups)) if rules.costs is None else rules.costs
        # Item i has the columns starts[i]:starts[i + 1].
        starts = np.concatenate(
            ([0], np.cumsum([len(groups.groups[item]) for item in items]))
        )
        labels = float(total[n, n])
        # How much a computed bound may be above the exact one: because
        # μ may be larger, and by rounding, which grows with the
        # condition number.
        slack = (ridge_excess + 1e-12 + _ROUNDINGS * (1 + greatest / ridge)) * labels
        return cls(
            items=items,
            n_forced=len(forced),
            totals=(
                np.ascontiguousarray(total[np.ix_(indices, indices)]),
                grams,
                columns,
                prices[list(items)].astype(np.float64),
            ),
            starts=starts.astype(np.int64),
            regularization=regularization,
            ridge=ridge,
            slack=slack,
            tie=TIE * labels,
            budget=rules.budget * (1 + 1e-12),  # 0.1 + 0.1 + 0.1 fits into 0.3
            n_queries=n_queries,
            groups=groups,
        )

    @property
    def n_items(self) -> int:
        """Maximum number of items of a set: that of all items."""
        return len(self.items)

    def n_sets(self, size: int) -> int:
        """Return the number of sets of ``size`` items with all required ones, regardless of cost."""
        return comb(self.n_items - self.n_forced, size - self.n_forced)

    def most_columns(self, size: int) -> int:
        """Return the maximum number of columns of a set of ``size`` items."""
        widths: list[int] = sorted(
            np.diff(self.starts[self.n_forced :]).tolist(), reverse=True
        )
        return int(self.starts[self.n_forced]) + sum(widths[: size - self.n_forced])

    def columns(self, groups: tuple[int, ...]) -> tuple[int, ...]:
        """Return the columns of some groups, ascending."""
        return tuple(sorted(self.groups.columns(groups)))

    def errors(self, columns: tuple[int, ...]) -> tuple[float, Floats]:
        """Return the leave-query-out error with some columns, and that of each query, (blocks, BLOCK).

        ``columns`` are those of the data. The arrays of the problem have the
        columns in another order, that of the search. Queries are in blocks of
        ``BLOCK``.
        """
        # The products of each query, and the columns in the search's order.
        _, grams, columns_in_order, _ = self.totals
        index_of = {int(column): index for index, column in enumerate(columns_in_order)}
        chosen = np.array([index_of[column] for column in columns], dtype=np.int64)
        by_query = np.empty((grams.shape[0], BLOCK))
        return kernels.errors(
            chosen, self.totals, self.regularization, by_query
        ), by_query

    def numbers(
        self, limit: float, deviations: float = 0.0
    ) -> tuple[float, float, float, float, float, float, float]:
        """Return the numbers that the kernel's search for sets needs, in its order.

        Sets are evaluated up to a criterion of ``limit``, and may be
        worse than a reference set by at most ``deviations`` standard
        errors. The others are λ, the ridge μ that replaces it in
        bounds, the budget, and the rounding errors of a bound and of a
        criterion.
        """
        return (
            self.regularization,
            self.ridge,
            self.budget,
            limit,
            self.slack,
            self.tie,
            deviations,
        )


def errors_of_sets(
    rows: QueryData, regularization: float, sets: Sequence[Sequence[int]]
) -> Floats:
    """Return the leave-query-out error of each query with each of some sets of columns, (sets, Q).

    The squared errors of ``rows`` are the loss; by default they are the
    documents. ``regularization`` is λ. O(Qk³) for a set of k columns.
    """
    statistics = gram_statistics(rows)
    n = rows.X.shape[1]
    # What the kernel expects: the products over all queries and in each
    # one, all columns in their order, and costs of 0.
    totals = statistics.total, statistics.gram, np.arange(n), np.zeros(n)
    # The last block may be padded with further queries, which are cut off below.
    by_query = np.empty((statistics.gram.shape[0], BLOCK))
    query_errors = np.empty((len(sets), rows.ptr.size - 1))
    for errors, columns in zip(query_errors, sets, strict=True):
        kernels.errors(
            np.array(columns, dtype=np.int64), totals, regularization, by_query
        )
        errors[:] = by_query.reshape(-1)[: errors.size]
    return query_errors


MOST_SETS = 200_000_000
"""Maximum number of sets of all sizes that a path of best sets is searched among.

Branch and bound then takes a minute or two on two threads.
"""


def check_sizes(informative: Bools, rules: Constraints) -> None:
    """Raise a ParameterError if there are too many sets of each size up to k to search the best ones.

    Parameters
    ----------
    informative : ndarray of shape (n,)
        Features that vary within some query.
    rules : Constraints
        Pinned and allowed features, and their greatest number, k.
    """
    forced = len(rules.pinned)
    # Sets of each size consist of the pinned features and some of the free ones.
    free = int((rules.allowed & informative).sum()) - int(
        informative[list(rules.pinned)].sum()
    )
    sets = 0
    size = forced
    # Sizes are added until there are too many sets; the message names
    # the last size that was possible.
    while size < min(rules.k, forced + free):
        sets += comb(free, size + 1 - forced)
        if sets > MOST_SETS:
            expected = (
                f"at most {size} with search best (up to {size + 1} of {free:,} features are more than "
                f"{MOST_SETS:,} sets)"
            )
            raise ParameterError("n_features_to_select", rules.k, expected)
        size += 1


def check_room(n_queries: int, n: int) -> None:
    """Raise an OutOfMemoryError if the Gram matrices of the queries do not fit into memory.

    Each of ``n_queries`` queries has a matrix, of the n features and
    the labels.
    """
    needed = 8.0 * n_queries * (n + 1) ** 2  # bytes
    # Small matrices always fit; to ask for the free memory takes time.
    if needed > 1e8 and needed > (free := memory.available()):
        raise OutOfMemoryError(
            f"Exact search: the Gram matrices of {n_queries:,} queries with {n:,} features need "
            f"{memory.size(needed)} of memory, and {memory.size(free)} are free. Use fewer features."
        )


def _ridge(regularization: float, greatest: float) -> tuple[float, float]:
    """Return the ridge μ of the search's lower bounds, and the share of y'y to subtract from the bound.

    A bound is the error of ridge regression with μ in place of λ. With
    σ = ``greatest``, the greatest eigenvalue of the features' Gram
    matrix, μ = λ² / (2λ + σ) gives a lower bound of the criterion, so
    that nothing has to be subtracted. If this μ is so small that
    rounding would dominate, μ is larger. The share is then the maximum
    of μ / (σ_i + μ) - (λ / (σ_i + λ))² over σ_i from 0 to σ.
    """
    exact = regularization * regularization / (2 * regularization + greatest)
    ridge = max(exact, _LEAST_RIDGE * greatest)
    if ridge == exact:
        return ridge, 0.0
    # The maximum over a grid of values σ_i.
    values = np.append(
        0.0, np.geomspace(1e-6 * min(ridge, regularization), greatest, 4000)
    )
    excess = (
        ridge / (values + ridge) - (regularization / (values + regularization)) ** 2
    )
    # Between two points, which are 0.7 % apart, neither term changes by
    # more than 0.7 %. So 2 % of the first one is enough, at the maximum
    # of the grid.
    return ridge, float(max(0.0, excess.max())) + 0.02 * float(
        (ridge / (values + ridge))[excess.argmax()]
    )


def _order(
    total: Floats,
    groups: ColumnGroups,
    forced: tuple[int, ...],
    free: list[int],
    ridge: float,
) -> list[int]:
    """Order the free items, groups of features, for the search: the most useful ones first.

    A backward elimination drops the item without which the training
    error increases least, again and again. The returned order is the
    opposite one. So sets that lack several of the first items have
    large bounds, and are soon excluded. ``total`` (n + 1, n + 1) are
    the products of features and labels, labels last. ``forced`` items
    are never eliminated, and ``ridge`` is that of the bounds. An item
    is a feature or a group of features.
    """
    inside = np.array(groups.columns((*forced, *free)), dtype=np.int64)
    index_of = {int(column): index for index, column in enumerate(inside)}
    regularized = total[np.ix_(inside, inside)] + ridge * np.eye(inside.size)
    inverse = np.linalg.inv(regularized)
    weights = inverse @ total[inside, -1]
    removed = []
    remaining = list(free)
    while remaining:
        # The rise of the error without each column.
        rises = weights**2 / np.diagonal(inverse)
        item_indices = [
            [index_of[column] for column in groups.groups[item]] for item in remaining
        ]
        # An item raises the error at least by the greatest rise of its columns.
        item_rises = [float(rises[indices].max()) for indices in item_indices]
        least = int(np.argmin(item_rises))
        removed.append(remaining.pop(least))
        # Eliminate the item's columns from the weights and the inverse.
        for index in item_indices[least]:
            column = inverse[:, index].copy()
            pivot = inverse[index, index]
            weights -= column * (weights[index] / pivot)
            inverse -= np.outer(column, column / pivot)
            # The column's rise is 0² / 1 from now on; nothing asks for it.
            weights[index] = 0.0
            inverse[index, index] = 1.0
    return removed[::-1]
