"""A search among sets of features: its totals in the order in which it branches, and what its bounds need."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Self

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.methods.selection.base import TIE
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.exact_subsets import _subset_kernel as kernels
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import BLOCK
from rankstudio.engine.methods.selection.greedy_rankrls.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls.forward_path import gram_statistics
from rankstudio.engine.support import memory

_LEAST_RIDGE = 1e-9  # of the greatest eigenvalue: with less, bounds would be rounding
_ROUNDINGS = 64 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class SubsetProblem:
    """Sets of items: groups of features that come in together, most often of one feature each.

    Attributes
    ----------
    items : tuple of int
        The groups that a set may have, in the order in which the search branches; required ones first.
    n_forced : int
        How many are required.
    totals : tuple of ndarray
        As the kernel has it, features in the order of the items.
    starts : ndarray of shape (items + 1,)
        Where the features of each item begin.
    regularization : float
        λ > 0.
    ridge : float
        μ of the bounds.
    slack : float
        What rounding, and a ridge greater than the equations allow, may add to a bound.
    tie : float
        Criteria that differ by no more are equal.
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
    def of(cls, data: QueryData, regularization: float, groups: ColumnGroups, rules: Constraints) -> Self:
        """Prepare the search in rows whose squared errors are the loss.

        Notes
        -----
        O(mn²) for the Gram matrices, which the data keep, and O(n³) for the order of n features.
        """
        n, Q = data.X.shape[1], data.ptr.size - 1
        needed = 8.0 * Q * (n + 1) ** 2
        if not data.has_statistics and needed > 1e8 and needed > (free := memory.available()):
            raise OutOfMemoryError(
                f"Exact search: the Gram matrices of {Q:,} queries with {n:,} features need "
                f"{memory.size(needed)} of memory, and {memory.size(free)} are free. Use fewer features."
            )
        statistics = gram_statistics(data)
        whole = statistics.total
        varying = np.diagonal(whole)[:-1] > 0
        varies = np.bincount(groups.of_column, varying, len(groups.groups)) > 0
        forced = rules.pinned
        others = [int(i) for i in np.flatnonzero(rules.allowed & varies) if int(i) not in forced]
        pool = np.array(groups.columns((*forced, *others)), dtype=np.int64)
        greatest = float(np.linalg.eigvalsh(whole[np.ix_(pool, pool)])[-1]) * (1 + 1e-9) if pool.size else 0.0
        ridge, loss = _ridge(regularization, greatest)
        order = _order(whole, groups, forced, others, ridge)
        items = (*forced, *order)
        columns = np.array(groups.columns(items), dtype=np.int64)
        kept = np.append(columns, n)
        prices = np.zeros(len(groups.groups)) if rules.costs is None else rules.costs
        starts = np.concatenate(([0], np.cumsum([len(groups.groups[item]) for item in items])))
        labels = float(whole[n, n])
        slack = (loss + 1e-12 + _ROUNDINGS * (1 + greatest / ridge)) * labels
        return cls(
            items,
            len(forced),
            (
                np.ascontiguousarray(whole[np.ix_(kept, kept)]),
                statistics.gram,
                columns,
                prices[list(items)].astype(np.float64),
            ),
            starts.astype(np.int64),
            regularization,
            ridge,
            slack,
            TIE * labels,
            rules.budget * (1 + 1e-12),
            Q,
            groups,
        )

    @property
    def most(self) -> int:
        """How many items a set may have."""
        return len(self.items)

    def n_sets(self, size: int) -> int:
        """Return how many sets of a size there are, whatever their price."""
        return comb(self.most - self.n_forced, size - self.n_forced)

    def most_columns(self, size: int) -> int:
        """Return how many columns a set of a size has at most."""
        widths: list[int] = sorted(np.diff(self.starts[self.n_forced :]).tolist(), reverse=True)
        return int(self.starts[self.n_forced]) + sum(widths[: size - self.n_forced])

    def columns(self, groups: tuple[int, ...]) -> tuple[int, ...]:
        """Return the columns of some groups, ascending."""
        return tuple(sorted(self.groups.columns(groups)))

    def errors(self, columns: tuple[int, ...]) -> tuple[float, Floats]:
        """Return the leave-query-out error of some columns, and by blocks that of each query."""
        place = {int(column): at for at, column in enumerate(self.totals[2])}
        chosen = np.array([place[column] for column in columns], dtype=np.int64)
        by_query = np.empty((self.totals[1].shape[0], BLOCK))
        return kernels.errors(chosen, self.totals, self.regularization, by_query), by_query

    def numbers(
        self, limit: float, deviations: float = 0.0
    ) -> tuple[float, float, float, float, float, float, float]:
        """Return the numbers that the search takes, for sets up to a criterion."""
        return self.regularization, self.ridge, self.budget, limit, self.slack, self.tie, deviations


def _ridge(regularization: float, greatest: float) -> tuple[float, float]:
    """Return μ of equation (4), and what has to be taken off the bound, as a share of y'y.

    μ = λ² / (2λ + σ) needs nothing off. Where that is so small that M is rounding, a greater one takes
    off the most that μ / (σ_i + μ) exceeds (λ / (σ_i + λ))² for σ_i up to σ.
    """
    exact = regularization * regularization / (2 * regularization + greatest)
    ridge = max(exact, _LEAST_RIDGE * greatest)
    if ridge == exact:
        return ridge, 0.0
    values = np.append(0.0, np.geomspace(1e-6 * min(ridge, regularization), greatest, 4000))
    excess = ridge / (values + ridge) - (regularization / (values + regularization)) ** 2
    # Between two points, 0.7 % apart, neither term changes by more than that.
    return ridge, float(max(0.0, excess.max())) + 0.02 * float((ridge / (values + ridge))[excess.argmax()])


def _order(
    total: Floats, groups: ColumnGroups, forced: tuple[int, ...], free: list[int], ridge: float
) -> list[int]:
    """Return the free items, the last to go of a backward elimination first.

    With the items first without which the error rises most, sets without several of these have great bounds.
    """
    inside = np.array(groups.columns((*forced, *free)), dtype=np.int64)
    where = {int(column): at for at, column in enumerate(inside)}
    left = total[np.ix_(inside, inside)] + ridge * np.eye(inside.size)
    inverse = np.linalg.inv(left)
    weights = inverse @ total[inside, -1]
    removed, rest = [], list(free)
    while rest:
        rises = weights**2 / np.diagonal(inverse)
        places = [[where[column] for column in groups.groups[item]] for item in rest]
        worth = [float(rises[at].max()) for at in places]
        least = int(np.argmin(worth))
        removed.append(rest.pop(least))
        for at in places[least]:
            column, pivot = inverse[:, at].copy(), inverse[at, at]
            weights -= column * (weights[at] / pivot)
            inverse -= np.outer(column, column / pivot)
            weights[at], inverse[at, at] = 0.0, 1.0
    return removed[::-1]
