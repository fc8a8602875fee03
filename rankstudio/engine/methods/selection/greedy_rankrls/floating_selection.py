"""Floating search: features that later ones have made dispensable are taken out again (Pudil et al. 1994)."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Protocol

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.selection.greedy_rankrls.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls.forward_selection import TIE, Search, empty_model
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress


class FloatingSearch(Search, Protocol):
    """A selection that also knows the criterion without each of its features."""

    def removals(self) -> Floats:
        """Return the criterion without each of the t selected features, shape (t,)."""

    def move_to(self, selected: tuple[int, ...]) -> None:
        """Make another selection the present one."""


def greedy_steps(
    path: Iterator[Step | WorkProgress], rules: Constraints
) -> Generator[WorkProgress, None, list[Step]]:
    """Return the steps of a greedy path, with its signs of life and one for each step."""
    steps: list[Step] = []
    for told in path:
        if isinstance(told, Step):
            steps.append(told)
            yield WorkProgress("greedy search", told.number / rules.k)
        else:
            yield told
    return steps


def floating(greedy: list[Step], search: FloatingSearch, rules: Constraints) -> Iterator[Step | WorkProgress]:
    """Improve the greedy path by sequential floating forward selection, and yield the best set of every size.

    Parameters
    ----------
    greedy : list of Step
        The greedy path under the same rules, one step a size.
    search : FloatingSearch
        With nothing selected.
    rules : Constraints
        Of which ``k``, ``pinned``, ``allowed`` and ``size_penalty`` count.

    Yields
    ------
    Step or WorkProgress
        Signs of life, then one step a size from 1 on. The sets need not be nested. ``candidates`` has the
        criterion of the best set of one feature less with each feature added; the step's own may be lower,
        where its set came about by a removal.

    Notes
    -----
    For every size the best set found so far is kept, the greedy path's to begin with. At each size, from the
    best set there: if taking some feature out gives a better set of one feature less than any before, that is
    where the search goes on; otherwise the best feature is added, and it goes on from the best set of one
    feature more, whether that is the new one or an older one. (Pudil et al. 1994 go on from the new one even
    where it is worse, so that their path may leave the greedy one for worse sets.) Sets of more than k
    features are not looked at: with a larger k, smaller sets may come out better.

    Two things follow. No step is worse than the greedy step of its size, because a set is only ever
    replaced by one with a lower criterion; a greedy path of another algorithm may differ from this one by
    its rounding, which :data:`TIE` bounds. And the search ends, because each replacement lowers the
    criterion of a size by more than its rounding, and no criterion is negative. When it ends, no single
    removal or addition leads from a set of the path to a better one of the next size.

    Each set found costs the search O(t) selections and the criteria of all additions and removals once.
    """
    sets = _BestSets(greedy, search, rules)
    size = reached = max(1, len(rules.pinned))
    while size <= sets.most:
        reached = max(reached, size)
        if sets.prune(size):
            size -= 1
        else:
            sets.grow(size)
            size += 1
        yield WorkProgress("floating search", reached / sets.most)
    yield from sets.steps()


class _BestSets:
    """The best set found so far of every size, the greedy ones to begin with."""

    def __init__(self, greedy: list[Step], search: FloatingSearch, rules: Constraints) -> None:
        self._best = greedy.copy()
        self._search = search
        self._rules = rules
        self._empty = greedy[0].before
        self._tie = TIE * self._empty
        # What cannot change a ranking comes after all that can: it takes no part.
        wanted = rules.allowed & search.informative
        wanted[list(rules.pinned)] = True
        self.most = min(len(greedy), max(1, int(wanted.sum())))
        # By size, from 0 on: the criterion of the best set with each feature added.
        self._additions = [step.candidates for step in greedy]
        # By size, from 1 on. What a greedy set grows to is known.
        self._pruned, self._grown = [False] * len(greedy), [True] * len(greedy)

    def prune(self, size: int) -> bool:
        """Take a feature out of the best set of a size if that makes a better one; tell whether it did.

        Of equal features the last column goes.
        """
        pinned = len(self._rules.pinned)
        if self._pruned[size - 1] or size <= max(1, pinned):
            return False
        self._pruned[size - 1] = True
        selected = self._best[size - 1].selected
        self._search.move_to(selected)
        costs = self._search.removals()
        costs[:pinned] = np.inf
        place = max(np.flatnonzero(costs <= costs.min() + self._tie), key=lambda place: selected[place])
        return self._improve(size - 1, selected[:place] + selected[place + 1 :], costs[place])

    def grow(self, size: int) -> None:
        """Add the best feature to the best set of a size, and keep the result if it is better."""
        if self._grown[size - 1] or size == self.most:
            return
        self._grown[size - 1] = True
        selected = self._best[size - 1].selected
        left = self._rules.allowed.copy()
        left[list(selected)] = False
        candidates = np.flatnonzero(left & self._search.informative)
        self._search.move_to(selected)
        costs = self._search.costs(candidates)
        self._additions[size] = np.full(left.size, np.nan)
        self._additions[size][candidates] = costs
        place = int(np.flatnonzero(costs <= costs.min() + self._tie)[0])
        self._improve(size + 1, (*selected, int(candidates[place])), costs[place])

    def _improve(self, size: int, selected: tuple[int, ...], cost: float) -> bool:
        """Make a set the best of its size if it is; ``cost`` is its criterion but for rounding."""
        most = self._best[size - 1].criterion - self._tie
        if cost >= most:
            return False
        self._search.move_to(selected)
        criterion = self._search.criterion()
        if criterion >= most:
            return False
        self._best[size - 1] = Step(size, selected, self._search.weights(), criterion, np.empty(0))
        self._pruned[size - 1] = self._grown[size - 1] = False
        return True

    def steps(self) -> Iterator[Step]:
        """Yield the best sets, up to the size with the least penalised criterion."""
        criteria = np.array([self._empty, *(step.criterion for step in self._best)])
        last, first = len(self._best), len(self._rules.pinned)
        if self._rules.size_penalty > 0:
            penalised = criteria + self._rules.size_penalty * self._empty * np.arange(criteria.size)
            last = first + int(penalised[first:].argmin())
        if last == 0:
            yield empty_model(self._empty, self._additions[0])
        for number in range(1, last + 1):
            before, candidates = float(criteria[number - 1]), self._additions[number - 1]
            yield replace(self._best[number - 1], before=before, candidates=candidates)
