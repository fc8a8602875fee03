"""Branch and bound: the proved best set of a size, or the best set so far and a lower bound."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from math import comb, inf, nan
from time import perf_counter

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import BLOCK
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets import (
    _subset_kernel as kernels,
)
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets.subset_problem import (
    SubsetProblem,
)
from rankstudio.engine.support.threads import available

_SETS_PER_BRANCH = 500_000  # approximate number of sets in a branch
_MAX_BRANCHES = 20_000  # their bounds are computed before the search
# Branches that start from the same best set: a constant, because results depend on it.
_BRANCHES_PER_ROUND = 8
_PROGRESS_SECONDS = 0.1  # between two yields

NO_REFERENCE: Floats = np.empty((0, BLOCK))
"""Argument of the kernel's search if it is to find the best set, not the sets close to a reference."""


@dataclass
class SizeSearch:
    """State of the search among the sets of one size.

    An item is a feature or a group of features.

    Attributes
    ----------
    size : int
        Number of items of a set, features or groups.
    n_sets : int
        Number of all sets of this size.
    columns : tuple of int
        Best set found, ascending; () for none.
    criterion : float
        Leave-query-out error of the best set found.
    greedy : float
        Criterion of the greedy set; NaN without one.
    lower : float
        Lower bound: no set of the size has a lower criterion.
    n_evaluated : int
        Number of sets with a computed criterion.
    done : bool
        Whether the search has ended.
    share : float
        Share of the sets evaluated or excluded.
    seconds : float
        Time of the search so far.
    """

    size: int
    n_sets: int
    columns: tuple[int, ...] = ()
    criterion: float = inf
    greedy: float = nan
    lower: float = 0.0
    n_evaluated: int = 0
    done: bool = False
    share: float = 0.0
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, eq=False)
class Branches:
    """Branches of a search among sets of items; the sets of a branch begin with the same items.

    An item is a feature or a group of features.

    Attributes
    ----------
    forced : list of ndarray
        Positions of the items with which the sets of each branch begin,
        in order of the branches' bounds.
    bounds : ndarray
        Lower bound of the criterion of each branch's sets, ascending;
        the criterion is the leave-query-out error.
    sets : list of int
        Number of sets of each branch.
    """

    forced: list[Ints]
    bounds: Floats
    sets: list[int]


def open_branches(problem: SubsetProblem, size: int, limit: float) -> Branches:
    """Return the branches that may contain a set of a size with a criterion up to a limit.

    A branch are the sets that begin with the same items, in the
    problem's order of items; an item is a feature or a group of them.
    All sets begin with the required items. Branches are in order of
    their lower bounds. The criterion is the leave-query-out error.
    """
    # Of `n_items`, the number of all items, these may be chosen.
    free = problem.n_items - problem.n_forced
    n_wanted = size - problem.n_forced
    length = 0
    # Longer prefixes, until branches are small, or there would be too many.
    while (
        length < n_wanted - 2
        and comb(free - length, n_wanted - length) > _SETS_PER_BRANCH
        and comb(free, length + 1) <= _MAX_BRANCHES
    ):
        length += 1
    prefixes, bounds = _bounds(problem, size, length, limit)
    order = np.lexsort((*prefixes.T[::-1], bounds))  # by bounds, then by the items
    required = np.arange(problem.n_forced)
    forced = [
        np.concatenate((required, prefixes[row])).astype(np.int64) for row in order
    ]
    # A branch continues with items after its last one; an empty branch has all.
    n_after = [
        problem.n_items - 1 - int(branch[-1]) if branch.size else problem.n_items
        for branch in forced
    ]
    return Branches(
        forced=forced,
        bounds=bounds[order],
        sets=[comb(n_later, n_wanted - length) for n_later in n_after],
    )


def _bounds(
    problem: SubsetProblem, size: int, length: int, limit: float
) -> tuple[Ints, Floats]:
    """Return the prefixes of ``length`` items whose lower bound is at most ``limit``, and these bounds.

    Shapes are (p, length) for p prefixes, and (p,). A bound is that of
    the criterion of all sets of ``size`` items that begin with the
    prefix. ``problem`` has the items, their products and the rules of a
    set. The criterion is the leave-query-out error. An item is a
    feature or a group of features.
    """
    # Room for all prefixes; only the first `count` rows are filled.
    rows = comb(problem.n_items - problem.n_forced, length)
    prefixes = np.empty((rows, max(1, length)), dtype=np.int64)
    bounds = np.empty(rows)
    count = kernels.branches(
        size,
        length,
        problem.n_forced,
        problem.totals,
        problem.starts,
        problem.ridge,
        problem.budget,
        limit + problem.slack,
        prefixes,
        bounds,
    )
    # Rounding may have made a bound too high by the slack; a criterion
    # is never negative.
    return prefixes[:count, :length], np.maximum(bounds[:count] - problem.slack, 0.0)


def bound_of_size(problem: SubsetProblem, size: int) -> float:
    """Return a lower bound of the criterion of all sets of a size, before any search.

    ``problem`` has the items, their products and the rules of a set.
    The criterion is the leave-query-out error. An item is a feature or
    a group of features.
    """
    _, bounds = _bounds(problem, size, length=0, limit=inf)  # of the empty prefix
    return float(bounds[0])


Job = Callable[[int], None]


def in_rounds(count: int, job: Job, stop: Ints) -> Generator[int | None, None, None]:
    """Call ``job`` for the numbers below ``count``, on all threads, in rounds of a few jobs.

    A job is the search of one branch. When the generator ends, also
    because the caller closes it early, it sets ``stop[0]`` to 1. That
    ends the running jobs, for which the generator waits.

    Yields
    ------
    int or None
        Number of finished jobs after each round; None in between.
    """
    with ThreadPoolExecutor(available(), thread_name_prefix="rankstudio") as executor:
        try:
            for first in range(0, count, _BRANCHES_PER_ROUND):
                # A round ends when all its jobs have ended; meanwhile,
                # the caller can show progress.
                last = min(count, first + _BRANCHES_PER_ROUND)
                waiting = {
                    executor.submit(job, number) for number in range(first, last)
                }
                while True:
                    finished, waiting = wait(waiting, timeout=_PROGRESS_SECONDS)
                    # The result of a job is None; asking for it raises the job's error.
                    for future in finished:
                        future.result()
                    if not waiting:
                        break
                    yield None
                yield last
        finally:
            stop[0] = 1


def search_size(
    problem: SubsetProblem, state: SizeSearch
) -> Generator[None, None, None]:
    """Find the best set of a size and prove it; ``state`` is up to date at every yield.

    When the generator is closed early, ``state`` has the best set of
    the branches searched so far, and ``state.lower`` stays a valid
    bound. ``problem`` has the items, their products and the rules of a
    set. The criterion is the leave-query-out error. The caller gets
    None at every yield. An item is a feature or a group of features.

    Notes
    -----
    Branches are searched in order of their bounds. Once a bound exceeds
    the best criterion, so do all later bounds, and the best set is
    proved. Branches of one round start from the same best set, so that
    result and counts do not depend on the number of threads. Sets whose
    criteria are equal up to rounding are all evaluated, and the result
    is the set whose columns are first in lexicographic order.
    """
    began = perf_counter()
    branches = open_branches(problem, state.size, state.criterion + problem.tie)
    # The bound before the search: without open branches, the known best
    # set is already proved.
    state.lower = (
        min(state.criterion, float(branches.bounds[0]))
        if branches.forced
        else state.criterion
    )
    # Columns of the largest set of this size; the rows of results are as wide.
    widest = max(len(state.columns), problem.most_columns(state.size))
    stop = np.zeros(1, dtype=np.int64)
    # Results of the branches of a round, by the branch's number.
    searched: dict[int, kernels.Found] = {}

    def job(number: int) -> None:
        """Search the branch with a number, and write the best set in it to ``searched``.

        The sets of a branch begin with the same items. Uses
        ``problem``, ``state``, ``branches`` and ``stop`` of the
        enclosing function. Branches that cannot have a better set are
        skipped. ``widest`` is the number of columns of the largest set.
        An item is a feature or a group of features.
        """
        # An earlier round may have found a better set than there was
        # when the branches were opened.
        max_criterion = state.criterion + problem.tie
        if branches.bounds[number] > max_criterion:
            return
        # The columns of a set, padded with -1; its criterion and
        # deviation; the numbers of stored and of evaluated sets, and
        # whether there were more than one row.
        sets = np.full((1, widest), -1, dtype=np.int64)
        numbers = np.full((1, 2), inf)
        counts = np.zeros(3, dtype=np.int64)
        # The kernel's output starts with the best set so far, so that
        # it only keeps sets as good.
        if state.columns:
            sets[0, : len(state.columns)] = state.columns
            numbers[0, 0] = state.criterion
            counts[0] = 1
        output = searched[number] = (sets, numbers, counts)
        limits = problem.numbers(max_criterion)  # λ, budget and roundings, too
        kernels.search(
            state.size,
            branches.forced[number],
            problem.totals,
            problem.starts,
            limits,
            problem.n_queries,
            NO_REFERENCE,
            stop,
            output,
        )

    # Sets outside the open branches are excluded, by their bounds or by the budget.
    excluded = state.n_sets - sum(branches.sets)
    rounds = in_rounds(len(branches.forced), job, stop)
    try:
        for n_done in rounds:
            state.seconds = perf_counter() - began
            if n_done is not None:
                _merge(problem, state, searched)
                # Branches are in order of their bounds, so the next one
                # has the lowest of the open ones.
                next_bound = (
                    float(branches.bounds[n_done])
                    if n_done < branches.bounds.size
                    else None
                )
                state.lower = (
                    state.criterion
                    if next_bound is None
                    else min(state.criterion, next_bound)
                )
                state.share = (excluded + sum(branches.sets[:n_done])) / max(
                    1, state.n_sets
                )
                if (
                    next_bound is not None
                    and next_bound > state.criterion + problem.tie
                ):
                    break
            yield
        state.done = True
        state.share = 1.0
        state.lower = state.criterion
    finally:
        # Reached after an early close, too: the jobs end, and their
        # best set still counts.
        rounds.close()
        _merge(problem, state, searched)
        state.lower = min(state.lower, state.criterion)
        state.seconds = perf_counter() - began


def _merge(
    problem: SubsetProblem, state: SizeSearch, searched: dict[int, kernels.Found]
) -> None:
    """Update the state with the results of the searched branches, and remove them from ``searched``.

    The best set of all branches becomes that of ``state``, and
    evaluated sets are counted. Branches are merged in order of their
    numbers, so that ties do not depend on which one ended first.
    """
    for number in sorted(searched):
        # The best set of the branch, padded with
        # -1; its criterion; and the numbers of
        # stored and of evaluated sets.
        sets, numbers, counts = searched.pop(number)
        state.n_evaluated += int(counts[1])
        if not counts[0]:  # the branch has no set
            continue
        criterion = float(numbers[0, 0])
        columns = tuple(int(c) for c in sets[0] if c >= 0)
        is_better = criterion < state.criterion - problem.tie
        is_tied = abs(criterion - state.criterion) <= problem.tie
        if is_better or (is_tied and columns < state.columns):
            state.criterion = criterion
            state.columns = columns
