"""Forward and floating search.

Both go from one set of features to the next, by the criteria that a `Search` computes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.language import tr
from rankstudio.engine.methods.selection.base import TIE
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.constraints import Constraints, worth
from rankstudio.engine.steps import Step, steps_of
from rankstudio.engine.support.work import Waiting, WorkProgress


class Search(Protocol):
    """A growing selection with the criterion of every candidate feature."""

    selected: tuple[int, ...]

    @property
    def informative(self) -> Bools:
        """Features that vary within some query, shape (n,)."""

    def costs(self, candidates: Ints) -> Floats:
        """Return the criterion with each candidate added, shape (c,)."""

    def criterion(self) -> float:
        """Return the criterion of the current selection."""

    def select(self, feature: int) -> Iterator[WorkProgress] | None:
        """Add a feature; slow searches yield progress events meanwhile."""

    def weights(self) -> Floats:
        """Return the weights of the current selection, shape (n,)."""


def forward(search: Search, rules: Constraints) -> Iterator[Step | WorkProgress]:
    """Select pinned features, then the best ones, until there are k or no candidate remains.

    Parameters
    ----------
    search : Search
        Search without selection; it contains the selection at the end.
    rules : Constraints
        Pinned and allowed features, their greatest number, k, costs and penalty.

    Yields
    ------
    Step or WorkProgress
        One step per feature; if no feature may be added, one step of
        the empty model. Progress events of the search.
    """
    # The criterion before any step, and before the next one.
    empty = before = search.criterion()
    rng = np.random.default_rng(rules.seed)
    remaining = rules.allowed.copy()
    spent = 0.0
    for number in range(1, rules.k + 1):
        # The features that this step compares: some or all of those
        # within the budget. Features that vary in some query are
        # preferred to others.
        affordable = prefer(rules.affordable(remaining, spent), search.informative)
        candidates = _drawn_candidates(affordable, rules.n_candidates, rng)
        # Pinned features are selected first, whatever their criteria.
        # The others are then only compared for the step's list of
        # candidates.
        pinned = rules.pinned[number - 1] if number <= len(rules.pinned) else None
        if pinned is not None:
            candidates = np.union1d(candidates, pinned)
        # The criterion of the model with each candidate; NaN for
        # features that are not compared.
        costs = search.costs(candidates)
        candidate_criteria = np.full(remaining.size, np.nan)
        candidate_criteria[candidates] = costs
        best = (
            _best_candidate(candidates, costs, before, empty, rules)
            if pinned is None
            else pinned
        )
        if best is None:
            break
        # The winner becomes part of the model, and is no candidate any
        # more. Fast searches return None instead of progress events.
        yield from search.select(best) or ()
        remaining[best] = False
        spent += 0.0 if rules.costs is None else rules.costs[best]
        after = search.criterion()
        yield Step(
            number=number,
            selected=search.selected,
            coef=search.weights(),
            criterion=after,
            candidates=candidate_criteria,
            before=before,
        )
        before = after
    if not search.selected:
        yield empty_model(empty, candidate_criteria)


def empty_model(criterion: float, candidate_criteria: Floats) -> Step:
    """Return the only step of a search in which no feature is worth its penalty: the model without features.

    ``criterion`` is that of this model, ``candidate_criteria`` (n,) the
    criteria with each feature. The criterion of a set is the error of
    left-out queries, or of left-out documents for one ranking.
    """
    return Step(
        number=1,
        selected=(),
        coef=np.zeros(candidate_criteria.size),
        criterion=criterion,
        candidates=candidate_criteria,
        before=criterion,
    )


def prefer(candidates: Ints, informative: Bools) -> Ints:
    """Return the candidates (columns) that can change a ranking, or all candidates if none can.

    ``informative`` (n,) is the mask of the features that vary within
    some query.
    """
    better = candidates[informative[candidates]]
    return better if better.size else candidates


def _drawn_candidates(
    candidates: Ints, count: int | None, rng: np.random.Generator
) -> Ints:
    """Return ``count`` random candidates in ascending order; all of them for None, or if there are no more."""
    if count is None or count >= candidates.size:
        return candidates
    return np.sort(rng.choice(candidates, count, replace=False))


def _best_candidate(
    candidates: Ints, costs: Floats, before: float, empty: float, rules: Constraints
) -> int | None:
    """Return the best candidate; of those that are equal up to rounding, the first one.

    None if there is no candidate, or if no candidate reduces the
    criterion by more than the size penalty. ``costs`` are the criteria
    with each candidate added, ``before`` is the present criterion, and
    ``empty`` the criterion of the empty model. ``rules`` have the costs
    and the penalty. The criterion of a set is the error of left-out
    queries, or of left-out documents for one ranking.
    """
    tie = TIE * empty  # the rounding of criteria
    # Only candidates whose reduction is worth the penalty of one more feature.
    if rules.size_penalty > 0:
        is_worth_its_penalty = before - costs > rules.size_penalty * empty + tie
        candidates = candidates[is_worth_its_penalty]
        costs = costs[is_worth_its_penalty]
    if candidates.size == 0:
        return None
    # The lowest criteria, or with costs the greatest reductions per
    # cost; both up to rounding.
    if rules.costs is None:
        is_best = costs <= costs.min() + tie
    else:
        gains = before - costs
        prices = rules.costs[candidates]
        # `worth` is the gain per price.
        is_best = worth(gains + tie, prices) >= worth(gains, prices).max()
    return int(candidates[is_best][0])


class FloatingSearch(Search, Protocol):
    """A selection that also computes the criterion without each of its features."""

    def removals(self) -> Floats:
        """Return the criterion without each of the t selected features, shape (t,)."""

    def move_to(self, selected: tuple[int, ...]) -> None:
        """Change to another selection."""


def greedy_steps(
    path: Iterator[Step | WorkProgress], rules: Constraints
) -> Waiting[list[Step]]:
    """Run a greedy path, and return its steps, with its progress events and one for each step.

    ``rules`` have k, the number of steps. The generator yields progress
    events, and then returns the result.
    """
    return steps_of(
        path, lambda step: WorkProgress(tr("greedy search"), step.number / rules.k)
    )


def floating(
    greedy: list[Step], search: FloatingSearch, rules: Constraints
) -> Iterator[Step | WorkProgress]:
    """Improve the greedy path by sequential floating forward selection, and yield the best set of every size.

    The criterion of a set is the error of left-out queries, or of
    left-out documents for one ranking.

    Parameters
    ----------
    greedy : list of Step
        Greedy path under the same rules, one step per size.
    search : FloatingSearch
        Search without selection.
    rules : Constraints
        Rules; ``k``, ``pinned``, ``allowed`` and ``size_penalty`` are used.

    Yields
    ------
    Step or WorkProgress
        Progress events, then one step per size from 1 on. The sets need
        not be nested. ``candidates`` contains the criterion of the best
        set with one feature less and each feature added; the criterion
        of the step may be lower if its set resulted from a removal.

    Notes
    -----
    For every size the best set found so far is kept, initially that of
    the greedy path. At each size, starting from the best set: if
    removing some feature gives the best set so far with one feature
    less, the search continues there; otherwise the best feature is
    added, and the search continues from the best set with one feature
    more, whether new or old. (Pudil et al. 1994 continue from the new
    one even if it is worse, so that their path may leave the greedy one
    for worse sets.) Sets of more than k features are not considered:
    with a larger k, smaller sets may improve.

    This has two consequences. No step is worse than the greedy step of
    its size, because a set is only replaced by one with a lower
    criterion; a greedy path of another algorithm may differ by
    rounding, which :data:`TIE` bounds. The search also ends, because
    each replacement reduces the criterion of a size by more than its
    rounding, and no criterion is negative. At the end, no single
    removal or addition leads from a set of the path to a better one of
    the adjacent size.

    Each set found costs O(t) selections and one evaluation of all
    additions and removals.
    """
    sets = BestSets(greedy, search, rules)
    # The present size, and the largest one so far, for the progress.
    size = reached = max(1, len(rules.pinned))
    # A better set of the size below, or else one of the size above, if any.
    while size <= sets.largest_size:
        reached = max(reached, size)
        if sets.prune(size):
            size -= 1
        else:
            sets.grow(size)
            size += 1
        yield WorkProgress(tr("floating search"), reached / sets.largest_size)
    yield from sets.steps()


class BestSets:
    """The best set found so far of every size, initially the greedy ones.

    The criterion of a set is the error of left-out queries, or of
    left-out documents for one ranking. The best set of a size has the
    smallest one.

    Parameters
    ----------
    greedy : list of Step
        Greedy path under the same rules, one step per size.
    search : FloatingSearch
    rules : Constraints

    Attributes
    ----------
    largest_size : int
        Largest size whose set is searched. Larger sets add features
        that cannot change a ranking.
    tie : float
        Rounding: a set is better if its criterion is lower by more than this.
    """

    def __init__(
        self, greedy: list[Step], search: FloatingSearch, rules: Constraints
    ) -> None:
        """Start with the greedy sets, one step per size; ``search`` computes the criteria of other sets.

        ``rules`` are the pinned and allowed features, and the penalty
        of the size. The criterion of a set is the error of left-out
        queries, or of left-out documents for one ranking.
        """
        self._best = greedy.copy()
        self._search = search
        self._rules = rules
        self._empty_criterion = greedy[0].before
        self.tie = TIE * self._empty_criterion  # the rounding of criteria
        # The greatest size: features that never vary are not searched, unless pinned.
        selectable = rules.allowed & search.informative
        selectable[list(rules.pinned)] = True
        self.largest_size = min(len(greedy), max(1, int(selectable.sum())))
        # By size, from 0 on: the criterion of the best set with each feature added.
        self._additions = [step.candidates for step in greedy]
        # By size, from 1 on: whether removals from, and additions to,
        # the best set have been compared. The greedy path has already
        # compared the additions.
        self._is_pruned = [False] * len(greedy)
        self._is_grown = [True] * len(greedy)

    def of_size(self, size: int) -> Step:
        """Return the best set of a size so far, as a step.

        The step's ``before`` and ``candidates``, the criteria of the
        size below, are only set by :meth:`steps`. The criterion of a
        set is the error of left-out queries, or of left-out documents
        for one ranking.
        """
        return self._best[size - 1]

    def prune(self, size: int) -> bool:
        """Remove a feature from the best set of a size, if that gives a better set of the size below.

        Return whether it does. Of equal removals, that of the last
        column counts. A set whose removals were compared before is not
        compared again.
        """
        pinned = len(self._rules.pinned)
        if self._is_pruned[size - 1] or size <= max(1, pinned):
            return False
        self._is_pruned[size - 1] = True
        selected = self._best[size - 1].selected
        self._search.move_to(selected)
        costs = self._search.removals()
        costs[:pinned] = np.inf  # pinned features come first, and are never removed
        # Of the removals that are best up to rounding, that of the last column.
        position = max(
            np.flatnonzero(costs <= costs.min() + self.tie),
            key=lambda index: selected[index],
        )
        return self._improve(
            size - 1, selected[:position] + selected[position + 1 :], costs[position]
        )

    def grow(self, size: int) -> None:
        """Add the best feature to the best set of a size, and register the result if it is better.

        The result is better if its criterion is lower than that of the
        best set of the next size. A set whose additions were compared
        before is not compared again. The criterion of a set is the
        error of left-out queries, or of left-out documents for one
        ranking.
        """
        if self._is_grown[size - 1] or size == self.largest_size:
            return
        selected = self._best[size - 1].selected
        costs = self._compare(size)
        # The first of the features that are best up to rounding.
        best = int(np.flatnonzero(costs <= np.nanmin(costs) + self.tie)[0])
        self._improve(size + 1, (*selected, best), costs[best])

    def put(self, size: int, selected: tuple[int, ...]) -> None:
        """Register a set as the best of its size; the search moves to it, to train its model.

        ``selected`` are the columns of the set. The removals and
        additions of this set have not been compared yet.
        """
        self._search.move_to(selected)
        criterion = self._search.criterion()
        self._best[size - 1] = Step(
            number=size,
            selected=selected,
            coef=self._search.weights(),
            criterion=criterion,
            candidates=np.empty(0),
        )
        self._is_pruned[size - 1] = self._is_grown[size - 1] = False

    def _compare(self, size: int) -> Floats:
        """Compute, store and return the criterion (n,) of the best set of a size with each feature added.

        NaN for features in the set, and for those that may not be
        added. The additions of the set count as compared from now on.
        The criterion of a set is the error of left-out queries, or of
        left-out documents for one ranking.
        """
        self._is_grown[size - 1] = True
        selected = self._best[size - 1].selected
        remaining = self._rules.allowed.copy()
        remaining[list(selected)] = False
        candidates = np.flatnonzero(remaining & self._search.informative)
        self._search.move_to(selected)
        costs = np.full(remaining.size, np.nan)
        costs[candidates] = self._search.costs(candidates)
        self._additions[size] = costs
        return costs

    def _improve(self, size: int, selected: tuple[int, ...], cost: float) -> bool:
        """Register a set as the best of its size if it is better; return whether it is.

        ``cost`` is the set's criterion up to rounding: it rejects most
        sets before they are selected. The criterion of a set is the
        error of left-out queries, or of left-out documents for one
        ranking.
        """
        limit = self._best[size - 1].criterion - self.tie
        if cost >= limit:
            return False
        self._search.move_to(selected)
        if self._search.criterion() >= limit:
            return False
        self.put(size, selected)
        return True

    def steps(self) -> Iterator[Step]:
        """Yield the best set of each size as a step, up to the size with the lowest penalised criterion.

        The rules have a penalty per feature. Without a penalty, all
        sizes are yielded. If the model without features is best, it is
        the only step. The criterion of a set is the error of left-out
        queries, or of left-out documents for one ranking.
        """
        # A step shows the criteria of the additions to the best set of
        # the size before. Those that were not compared yet are compared
        # now.
        for size in range(1, self.largest_size):
            if not self._is_grown[size - 1]:
                self._compare(size)
        # The criterion of the best set by size, from 0 on.
        criteria = np.array(
            [self._empty_criterion, *(step.criterion for step in self._best)]
        )
        # Pinned features are part of any result, so smaller sizes do not count.
        last = len(self._best)
        first = len(self._rules.pinned)
        if self._rules.size_penalty > 0:
            penalised = (
                criteria
                + self._rules.size_penalty
                * self._empty_criterion
                * np.arange(criteria.size)
            )
            last = first + int(penalised[first:].argmin())
        if last == 0:
            yield empty_model(self._empty_criterion, self._additions[0])
        for number in range(1, last + 1):
            before = float(criteria[number - 1])
            candidates = self._additions[number - 1]
            yield replace(self._best[number - 1], before=before, candidates=candidates)


class GroupSearch:
    """Search that computes the leave-query-out error after adding a group to a selection, or removing one.

    In this search, selection, candidates and criteria refer to groups,
    by position; weights refer to features.

    Parameters
    ----------
    search : FloatingSearch
        Search among features, without selection.
    groups : ColumnGroups

    Notes
    -----
    The criterion of a selection with a group is exactly that of the
    union: the columns of the group are selected one after another, and
    removed again. With t features selected and Q queries, a group of b
    columns costs O(b Q (t + b)²) besides the products of its columns;
    single features are compared at once, as without groups.
    """

    def __init__(self, search: FloatingSearch, groups: ColumnGroups) -> None:
        """Start without groups; ``search`` computes criteria of sets of their features."""
        self._search = search
        self._groups = groups
        self.selected: tuple[int, ...] = ()
        # A group is informative if one of its features is.
        varying = groups.of_column[search.informative]
        self.informative = np.isin(np.arange(len(groups.groups)), varying)

    def costs(self, candidates: Ints) -> Floats:
        """Return the criterion with each candidate added, shape (c,); candidates are positions of groups.

        Groups of one feature are compared together. Each other group is
        added to the selection to compute its criterion. The criterion
        of a set is the error of left-out queries, or of left-out
        documents for one ranking.
        """
        groups = [self._groups.groups[candidate] for candidate in candidates]
        is_single = np.array([len(group) == 1 for group in groups], dtype=np.bool_)
        costs = np.empty(candidates.size)
        if is_single.any():
            # The representative of a group is its first, here its only, column.
            costs[is_single] = self._search.costs(
                self._groups.representatives[candidates[is_single]]
            )
        joint = np.flatnonzero(~is_single).tolist()
        for index in joint:
            costs[index] = self._criterion_of((*self.selected, int(candidates[index])))
        # Back to the selection, which the comparison of groups has left.
        if joint:
            self.move_to(self.selected)
        return costs

    def removals(self) -> Floats:
        """Return the criterion without each of the selected groups, shape (t,)."""
        selected = self.selected  # `_criterion_of` changes the selection
        # From the last group to the first, so that the earlier groups
        # need not be selected again.
        costs = [
            self._criterion_of(selected[:position] + selected[position + 1 :])
            for position in reversed(range(len(selected)))
        ]
        self.move_to(selected)
        return np.array(costs[::-1])

    def criterion(self) -> float:
        """Return the criterion of the current selection."""
        return self._search.criterion()

    def select(self, feature: int) -> None:
        """Add a group, ``feature``, by its position to the selection."""
        self.move_to((*self.selected, feature))

    def move_to(self, selected: Sequence[int]) -> None:
        """Change to another selection."""
        self.selected = tuple(selected)
        self._search.move_to(self._groups.columns(selected))

    def weights(self) -> Floats:
        """Return the weights of the features, shape (n,)."""
        return self._search.weights()

    def _criterion_of(self, selected: tuple[int, ...]) -> float:
        """Return the criterion of some groups, by their positions; they stay selected in the search of features."""
        self._search.move_to(self._groups.columns(selected))
        return self._search.criterion()
