"""Swap search: the best exact exchange of one feature for another, until none helps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rankstudio.engine.arrays import Bools, Ints
from rankstudio.engine.methods.selection.base import TIE
from rankstudio.engine.methods.selection.greedy_rankrls.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls.search_steps import FloatingSearch
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress


def swap_features(
    search: FloatingSearch, selected: tuple[int, ...], rules: Constraints, tie: float
) -> tuple[tuple[int, ...], float]:
    """Exchange a feature of a set for the best one outside it, until no exchange lowers the criterion.

    Parameters
    ----------
    search : FloatingSearch
        Of features or of groups of them, which then stand for features.
    selected : tuple of int
        The set to begin with.
    rules : Constraints
        Of which ``allowed``, ``pinned``, ``costs`` and ``budget`` count.
    tie : float
        A criterion is lower if it is so by more than this, its rounding.

    Returns
    -------
    selected : tuple of int
        The feature that comes in takes the place of the one that goes.
    criterion : float

    Notes
    -----
    Each round compares all k (n - k) exchanges exactly and carries out the best one, in O(Q n k³) for
    Q queries. The search ends, because each round lowers the criterion, and there are finitely many sets.
    """
    search.move_to(selected)
    criterion = search.criterion()
    while True:
        best, better = criterion - tie, None
        for place in reversed(range(len(selected))):  # what stands before the place stays in the search
            if selected[place] in rules.pinned:
                continue
            rest = selected[:place] + selected[place + 1 :]
            candidates = _candidates(search.informative, selected, rest, rules)
            if not candidates.size:
                continue
            search.move_to(rest)
            costs = search.costs(candidates)
            least = int(costs.argmin())
            if costs[least] < best:
                best = float(costs[least])
                better = (*selected[:place], int(candidates[least]), *selected[place + 1 :])
        if better is None:
            break
        search.move_to(better)
        changed = search.criterion()
        if changed >= criterion - tie:  # its price was lower by rounding alone
            break
        selected, criterion = better, changed
    search.move_to(selected)
    return selected, criterion


def _candidates(
    informative: Bools, selected: tuple[int, ...], rest: tuple[int, ...], rules: Constraints
) -> Ints:
    """Return what may come in for the feature of the selection that is not in the rest."""
    left = rules.allowed & informative
    left[list(selected)] = False
    spent = 0.0 if rules.costs is None else float(rules.costs[list(rest)].sum())
    return rules.affordable(left, spent)


def swapped_steps(
    greedy: list[Step], search: FloatingSearch, rules: Constraints
) -> Iterator[Step | WorkProgress]:
    """Improve each set of a greedy path by swaps, and yield one step a size.

    Parameters
    ----------
    greedy : list of Step
        The greedy path under the same rules, one step a size.
    search : FloatingSearch
    rules : Constraints

    Yields
    ------
    Step or WorkProgress
        Progress, then the steps. The sets need not be nested, and none is worse than the greedy one of its
        size.
        ``candidates`` has the criterion of the set of one feature less with each feature added.
    """
    tie = TIE * greedy[0].before
    steps: list[Step] = []
    for step in greedy:
        yield WorkProgress("swap search", step.number / len(greedy))
        before = steps[-1] if steps else None
        if not step.selected:
            steps.append(step)
            continue
        candidates = step.candidates
        if before is not None and before.selected != greedy[len(steps) - 1].selected:
            search.move_to(before.selected)
            left = rules.allowed & search.informative
            left[list(before.selected)] = False
            compared = np.flatnonzero(left)
            candidates = np.full(left.size, np.nan)
            if compared.size:
                candidates[compared] = search.costs(compared)
        selected, criterion = swap_features(search, step.selected, rules, tie)
        coef = search.weights()
        last = step.before if before is None else before.criterion
        if selected == step.selected:
            criterion = step.criterion
        steps.append(
            replace(
                step, selected=selected, criterion=criterion, coef=coef, candidates=candidates, before=last
            )
        )
    yield from steps
