"""Swap search: the best exact exchange of one feature for another, until none helps."""

from __future__ import annotations

from collections.abc import Iterator

from rankstudio.engine.arrays import Bools, Ints
from rankstudio.engine.language import tr
from rankstudio.engine.methods.selection.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls.search_steps import (
    BestSets,
    FloatingSearch,
)
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress


def swap_features(
    search: FloatingSearch, selected: tuple[int, ...], rules: Constraints, tie: float
) -> tuple[tuple[int, ...], float]:
    """Replace a feature of a set by the best one outside of it, until no swap reduces the criterion.

    The criterion of a set is the error of left-out queries, or of
    left-out documents for one ranking.

    Parameters
    ----------
    search : FloatingSearch
        Computes the criterion of a set; its features may be groups.
    selected : tuple of int
        Initial set.
    rules : Constraints
        Which features may or have to be selected, their costs and the budget.
    tie : float
        Rounding: only a criterion that is lower by more than this counts as lower.

    Returns
    -------
    selected : tuple of int
        New features take the positions of the ones they replace.
    criterion : float

    Notes
    -----
    Each round evaluates all k (n - k) swaps exactly and carries out the
    best one, in O(Q n k³) for Q queries. The search ends, because each
    round reduces the criterion, and the number of sets is finite.
    """
    search.move_to(selected)
    criterion = search.criterion()
    while True:
        best = criterion - tie
        better = None
        # From the last position to the first, so that the search need
        # not select the earlier features again.
        for position in reversed(range(len(selected))):
            if selected[position] in rules.pinned:  # never removed
                continue
            # The feature at this position is removed. The criterion
            # with another one added is that after the swap of the two.
            rest = selected[:position] + selected[position + 1 :]
            candidates = _swap_candidates(search.informative, selected, rest, rules)
            if not candidates.size:
                continue
            search.move_to(rest)
            costs = search.costs(candidates)
            least = int(costs.argmin())
            if costs[least] < best:
                best = float(costs[least])
                better = (
                    *selected[:position],
                    int(candidates[least]),
                    *selected[position + 1 :],
                )
        if better is None:
            break
        # The best swap of all positions is carried out.
        search.move_to(better)
        new_criterion = search.criterion()
        # The criterion in `costs` was only lower by rounding: the search ends.
        if new_criterion >= criterion - tie:
            break
        selected = better
        criterion = new_criterion
    search.move_to(selected)
    return selected, criterion


def _swap_candidates(
    informative: Bools,
    selected: tuple[int, ...],
    rest: tuple[int, ...],
    rules: Constraints,
) -> Ints:
    """Return the columns that may replace the only feature of ``selected`` that is not in ``rest``.

    A column may replace the feature if it varies in some query, by the
    mask ``informative`` (n,), and if its cost fits into the budget of
    the ``rules``.
    """
    remaining = rules.allowed & informative
    remaining[list(selected)] = False
    spent = 0.0 if rules.costs is None else float(rules.costs[list(rest)].sum())
    return rules.affordable(remaining, spent)


def swap_path(
    greedy: list[Step], search: FloatingSearch, rules: Constraints
) -> Iterator[Step | WorkProgress]:
    """Improve each set of a greedy path by swaps as long as possible, and yield one step per size.

    The criterion of a set is the error of left-out queries, or of
    left-out documents for one ranking.

    Parameters
    ----------
    greedy : list of Step
        Greedy path under the same rules, one step per size.
    search : FloatingSearch
        Computes the criterion of a set; its features may be groups.
    rules : Constraints
        Which features may or have to be selected.

    Yields
    ------
    Step or WorkProgress
        Progress, then one step per size with its best set. The sets
        need not be nested.
    """
    sets = BestSets(greedy, search, rules)
    yield from swap_sets(sets, search, rules)
    yield from sets.steps()


def swap_sets(
    sets: BestSets, search: FloatingSearch, rules: Constraints
) -> Iterator[WorkProgress]:
    """Improve each of the best sets, one per size, by swaps, with a progress event per size.

    A swap replaces a feature of the set by one outside of it. ``sets``
    are changed in place. ``search`` computes the criteria, and
    ``rules`` say which features may or have to be selected. The
    criterion of a set is the error of left-out queries, or of left-out
    documents for one ranking.
    """
    # From the size of the pinned features on.
    for size in range(max(1, len(rules.pinned)), sets.largest_size + 1):
        before = sets.of_size(size).selected
        if before:
            selected, _ = swap_features(search, before, rules, sets.tie)
            if selected != before:
                sets.put(size, selected)
        yield WorkProgress(tr("swap search"), size / sets.largest_size)
