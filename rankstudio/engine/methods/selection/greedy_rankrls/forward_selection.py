"""Forward selection: from one feature to the next, by whatever search knows what each would be worth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls.constraints import Constraints
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress

TIE = 64 * float(np.finfo(np.float64).eps)
"""Two criteria tie that differ by no more than this share of the empty model's, their rounding."""


class Search(Protocol):
    """A growing selection that knows the criterion of every feature that could be added."""

    selected: tuple[int, ...]

    @property
    def informative(self) -> Bools:
        """Which features vary inside some query, shape (n,)."""

    def costs(self, candidates: Ints) -> Floats:
        """Return the criterion with each candidate added, shape (c,)."""

    def criterion(self) -> float:
        """Return the criterion of the present selection."""

    def select(self, feature: int) -> Iterator[WorkProgress] | None:
        """Add a feature; one that takes long gives signs of life meanwhile."""

    def weights(self) -> Floats:
        """Return the weights of the present selection, shape (n,)."""


def forward(search: Search, rules: Constraints) -> Iterator[Step | WorkProgress]:
    """Select pinned features, then the best ones, until there are k or none may be added.

    Parameters
    ----------
    search : Search
        With nothing selected; it has the selection afterwards.
    rules : Constraints

    Yields
    ------
    Step or WorkProgress
        One step a feature; where none may be added at all, one of the empty model. Signs of life of the
        search.
    """
    empty = before = search.criterion()
    rng = np.random.default_rng(rules.seed)
    left, spent = rules.allowed.copy(), 0.0
    for number in range(1, rules.k + 1):
        candidates = _draw(prefer(rules.affordable(left, spent), search.informative), rules.n_candidates, rng)
        pinned = rules.pinned[number - 1] if number <= len(rules.pinned) else None
        if pinned is not None:
            candidates = np.union1d(candidates, pinned)
        costs = search.costs(candidates)
        compared = np.full(left.size, np.nan)
        compared[candidates] = costs
        best = _best(candidates, costs, before, empty, rules) if pinned is None else pinned
        if best is None:
            break
        yield from search.select(best) or ()
        left[best] = False
        spent += 0.0 if rules.costs is None else rules.costs[best]
        after = search.criterion()
        yield Step(number, search.selected, search.weights(), after, compared, before=before)
        before = after
    if not search.selected:
        yield empty_model(empty, compared)


def empty_model(criterion: float, compared: Floats) -> Step:
    """Return the step of a search in which no feature is worth its place."""
    return Step(1, (), np.zeros(compared.size), criterion, compared, before=criterion)


def prefer(candidates: Ints, informative: Bools) -> Ints:
    """Return those candidates that can change a ranking, or all where there is no such one."""
    better = candidates[informative[candidates]]
    return better if better.size else candidates


def _draw(candidates: Ints, most: int | None, rng: np.random.Generator) -> Ints:
    """Return so many random candidates in ascending order, or all where there are no more."""
    if most is None or most >= candidates.size:
        return candidates
    return np.sort(rng.choice(candidates, most, replace=False))


def _best(candidates: Ints, costs: Floats, before: float, empty: float, rules: Constraints) -> int | None:
    """Return the first of the best candidates, equal but for rounding; None where none is worth its place."""
    tie = TIE * empty
    if rules.size_penalty > 0:
        lower = before - costs > rules.size_penalty * empty + tie
        candidates, costs = candidates[lower], costs[lower]
    if candidates.size == 0:
        return None
    if rules.costs is None:
        within = costs <= costs.min() + tie
    else:
        gains, prices = before - costs, rules.costs[candidates]
        within = _worth(gains + tie, prices) >= _worth(gains, prices).max()
    return int(candidates[within][0])


def _worth(gains: Floats, prices: Floats) -> Floats:
    """Return the gain per cost; a loss counts the more, the more it costs."""
    return np.where(gains > 0, gains / prices, gains * prices)
