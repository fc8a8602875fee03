"""Constraints of a selection: allowed and pinned features, their number, costs, and a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.errors import ParameterError, between
from rankstudio.engine.methods.base import MOST_SEED, prices_of
from rankstudio.engine.methods.selection.column_groups import ColumnGroups

# Share of a budget by which a total cost may exceed it, because sums of
# decimal costs are rounded.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Constraints:
    """Rules of a forward or floating search among n groups of features, usually of one feature each.

    Below, "feature" means such a group.

    Attributes
    ----------
    k : int
        Maximum number of features.
    pinned : tuple of int
        Features selected first, regardless of their criterion.
    allowed : ndarray of shape (n,), bool
        Features that may be selected.
    n_candidates : int or None
        Number of random candidates that a step compares, κ; None for all.
    seed : int
        Seed of the candidates.
    costs : ndarray of shape (n,) or None
        Cost of each feature; None if costs are not used.
    budget : float
        Maximum total cost of the selected features.
    size_penalty : float
        μ: a feature must reduce the criterion by more than this share
        of the empty model's criterion; with 0 there is no such
        condition.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import Constraints
    >>> rules = Constraints(k=2, pinned=(1,), allowed=np.array([True, True, False]))
    >>> rules.n_candidates is None
    True
    """

    k: int
    pinned: tuple[int, ...]
    allowed: Bools
    n_candidates: int | None = None
    seed: int = 0
    costs: Floats | None = None
    budget: float = np.inf
    size_penalty: float = 0.0

    @classmethod
    def of(
        cls,
        groups: ColumnGroups,
        n_features_to_select: int | None,
        pinned: Sequence[int],
        banned: Sequence[int],
        n_candidates: int | None,
        seed: int,
        costs: ArrayLike | None,
        budget: float | None,
        size_penalty: float,
    ) -> Self:
        """Check the parameters of a search among features, and return the same rules for groups of features.

        ``pinned`` are the columns that are always selected, and
        ``banned`` those that never are. ``n_features_to_select`` is the
        greatest number of groups. A step compares ``n_candidates``
        groups, drawn with the ``seed``. ``costs`` (n,) has a cost per
        feature, and ``budget`` limits the total cost. None means no
        limit or no costs.

        A group has to reduce the criterion by more than
        ``size_penalty`` times the criterion of the empty model. Raises
        a ParameterError that names the invalid parameter.
        """
        n = groups.of_column.size
        pinned_groups = groups.containing(_checked_columns("pinned", pinned, n))
        # A banned column bans its whole group, so a group must not have
        # both a banned and a pinned column.
        banned_columns = _checked_columns("banned", banned, n)
        conflicts = sorted(
            column
            for column in banned_columns
            if groups.of_column[column] in pinned_groups
        )
        if conflicts:
            raise ParameterError(
                "banned",
                list(banned_columns),
                f"features that are not pinned ({conflicts[0]} is)",
            )
        banned_groups = groups.containing(banned_columns)
        # The number of groups to select: by default, all that are not banned.
        n_free = len(groups.groups) - len(banned_groups)
        if n_free == 0:
            raise ParameterError(
                "banned", list(banned_columns), "at least one feature left to select"
            )
        size = n_free if n_features_to_select is None else n_features_to_select
        # `between` returns the number, or raises an error outside of
        # its limits.
        k = between("n_features_to_select", size, max(1, len(pinned_groups)), n_free)
        between("seed", seed, 0, MOST_SEED)  # called for its error only
        allowed = np.ones(len(groups.groups), dtype=bool)
        allowed[list(banned_groups)] = False
        # The cost of a group is the sum of its features' costs.
        prices = None if costs is None else groups.sums(prices_of(costs, n))
        max_cost = _checked_budget(budget, prices, allowed, pinned_groups)
        return cls(
            k=k,
            pinned=pinned_groups,
            allowed=allowed,
            n_candidates=n_candidates,
            seed=seed,
            costs=prices,
            budget=max_cost,
            size_penalty=size_penalty,
        )

    def affordable(self, remaining: Bools, spent: float) -> Ints:
        """Return the positions of the groups that the budget still covers, up to rounding.

        ``remaining`` (g,) is the mask of the groups that may be
        selected, and ``spent`` the cost of those selected so far.
        """
        if self.costs is None:
            return np.flatnonzero(remaining)
        return np.flatnonzero(
            remaining & (spent + self.costs <= self.budget * (1 + _ROUNDING))
        )


def worth(gains: Floats, prices: Floats) -> Floats:
    """Return the gain per cost of each candidate, from its gain and its price, (c,).

    ``gains`` and ``prices`` have shape (c,). A negative gain is
    multiplied by its cost, so that high costs rank lower.
    """
    return np.where(gains > 0, gains / prices, gains * prices)


def _checked_columns(name: str, columns: Sequence[int], n: int) -> tuple[int, ...]:
    """Check and return the columns, from 0 to n - 1, that are the value of a parameter.

    Raises a ParameterError with its ``name`` if one is invalid or repeated.
    """
    chosen = tuple(int(c) for c in columns)
    if any(not 0 <= c < n for c in chosen) or len(set(chosen)) != len(chosen):
        raise ParameterError(name, list(chosen), f"different columns from 0 to {n - 1}")
    return chosen


def _checked_budget(
    budget: float | None, prices: Floats | None, allowed: Bools, pinned: tuple[int, ...]
) -> float:
    """Check and return the budget, the maximum total cost; infinite for None.

    ``prices`` (g,) are the costs of groups of features, or None.
    ``allowed`` (g,) is the mask of those that may be selected, and
    ``pinned`` are the positions of those that are always selected.

    Raises a ParameterError if the budget does not cover the pinned
    groups, or without these the cheapest one.
    """
    if budget is None:
        return float(np.inf)
    if (
        not isinstance(budget, int | float | np.number)
        or isinstance(budget, bool)
        or not budget > 0
    ):
        raise ParameterError("budget", budget, "a number greater than 0")
    if prices is None:
        raise ParameterError("budget", budget, "None when the features have no costs")
    # The least cost of any selection, and the features with this cost
    # as the error names them: all pinned features, or without these the
    # cheapest one.
    least = float(prices[allowed].min())
    cheapest = "cheapest feature"
    if pinned:
        least = float(prices[list(pinned)].sum())
        cheapest = "pinned features"
    if budget * (1 + _ROUNDING) < least:
        raise ParameterError(
            "budget", budget, f"at least {least:g}, the cost of the {cheapest}"
        )
    return float(budget)
