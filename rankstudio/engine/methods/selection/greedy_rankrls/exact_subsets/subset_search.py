"""The best sets of all sizes.

Greedy sets are improved by swaps, and then proved or replaced by branch and bound.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import replace

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.language import tr
from rankstudio.engine.methods.selection.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets.branch_and_bound import (
    SizeSearch,
    bound_of_size,
    search_size,
)
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets.subset_problem import (
    SubsetProblem,
)
from rankstudio.engine.methods.selection.greedy_rankrls.search_steps import (
    BestSets,
    FloatingSearch,
    GroupSearch,
    forward,
)
from rankstudio.engine.methods.selection.greedy_rankrls.swap_search import (
    swap_features,
    swap_sets,
)
from rankstudio.engine.methods.selection.greedy_rankrls.swaps import on_demand_search
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress


def search_sizes(
    data: QueryData, problem: SubsetProblem, rules: Constraints
) -> Generator[SizeSearch, None, None]:
    """Search the best set of each size, and yield the state of a size whenever it may have changed.

    The first states, one per size, contain the sets of greedy search
    improved by swaps. Then the sizes are searched one after the other.
    If the caller closes the generator early, all yielded states stay
    valid.

    Parameters
    ----------
    data : QueryData
        Rows whose squared errors are the loss.
    problem : SubsetProblem
        Items with their products; an item is a feature or a group of features.
    rules : Constraints
        Items that are required or allowed; ``k`` is the largest size.
    """
    # Sizes from that of the required items on; `n_items` is the number
    # of items.
    sizes = [
        SizeSearch(size, problem.n_sets(size))
        for size in range(max(1, problem.n_forced), min(rules.k, problem.n_items) + 1)
    ]
    # Each size starts with a good set; the search then finds and proves the best one.
    _start(data, problem, rules, sizes)
    yield from prove_sizes(problem, sizes)


def prove_sizes(
    problem: SubsetProblem, sizes: list[SizeSearch]
) -> Generator[SizeSearch, None, None]:
    """Search sizes in ascending order from known sets, and yield a size's state whenever it may have changed.

    ``sizes`` are the states, one per size. At first, each state has a
    set of its size with the set's criterion. At the end, it has the
    best set. ``lower`` of a state is a bound below which no set's
    criterion is; at the end, it equals the criterion. ``problem`` has
    the items, their products and the rules of a set. The criterion is
    the leave-query-out error. An item is a feature or a group of
    features.
    """
    for state in sizes:
        state.lower = min(state.criterion, bound_of_size(problem, state.size))
    yield from sizes
    # Each size with the next smaller one, None for the first. The first
    # list is longer by one.
    for smaller, state in zip([None, *sizes], sizes, strict=False):
        if smaller is not None and not smaller.columns and smaller.done:
            # The budget allows no set with one feature less, so it
            # allows none of this size, either.
            state.done = True
            state.lower = state.criterion
            yield state
            continue
        with closing(search_size(problem, state)) as work:
            for _ in work:
                yield state
        yield state


def best_path(
    greedy: list[Step],
    search: FloatingSearch,
    rules: Constraints,
    problem: SubsetProblem,
) -> Iterator[Step | WorkProgress]:
    """Search the best set of each size among all sets, and yield one step per size.

    The best set has the smallest leave-query-out error.

    Parameters
    ----------
    greedy : list of Step
        Greedy path under the same rules, one step per size.
    search : FloatingSearch
        Search among groups, which computes the criterion of any set.
    rules : Constraints
        Groups that are required or allowed, without costs.
    problem : SubsetProblem
        The same groups and rules, as the branch-and-bound search needs them.

    Yields
    ------
    Step or WorkProgress
        Progress, then one step per size. The features of a set are in
        the order of the previous set, followed by new ones in column
        order.
    """
    # Good sets first, by the greedy path and by swaps: the lower their
    # criteria, the more branches are excluded.
    sets = BestSets(greedy, search, rules)
    yield from swap_sets(sets, search, rules)
    # One search per size that has sets, starting from the best set known.
    states = []
    for size in range(max(1, problem.n_forced), min(len(greedy), problem.n_items) + 1):
        best_set = sets.of_size(size)
        columns = problem.columns(best_set.selected)
        states.append(
            SizeSearch(
                size=size,
                n_sets=problem.n_sets(size),
                columns=columns,
                criterion=best_set.criterion,
            )
        )
    # The sizes are proved one after the other, each in one step or
    # more. The state of each one has its best set at the end.
    n_sets = sum(state.n_sets for state in states)
    with closing(prove_sizes(problem, states)) as work:
        for _ in work:
            searched = sum(state.share * state.n_sets for state in states)
            yield WorkProgress(tr("best sets"), searched / max(1, n_sets))
    # The best set of the previous size, in order of selection.
    selected = rules.pinned
    for state in states:
        groups = problem.groups.containing(state.columns)
        common = [group for group in selected if group in groups]
        best_selected = sets.of_size(state.size).selected
        selected = (*common, *(group for group in groups if group not in common))
        # The set of greedy search or swaps may be the best one already.
        # It keeps its order of selection.
        if set(selected) == set(best_selected):
            selected = best_selected
        else:
            sets.put(state.size, selected)
    yield from sets.steps()


def _start(
    data: QueryData, problem: SubsetProblem, rules: Constraints, sizes: list[SizeSearch]
) -> None:
    """Write the greedy set of each size, improved by swaps, and its criterion to the size's state.

    ``sizes`` are the states. ``data`` are the rows whose squared errors
    are the loss, and ``rules`` say which groups are required or
    allowed. ``problem`` has the items, their products and the rules of
    a set. An item is a feature or a group of features.
    """
    # Selects groups; the search inside selects their features.
    search = GroupSearch(
        on_demand_search(
            data, problem.regularization, max(1, problem.groups.greatest(rules.k))
        ),
        problem.groups,
    )
    by_size = {state.size: state for state in sizes}
    # Every size needs a set, so the path must not end early or skip candidates.
    greedy_rules = replace(rules, size_penalty=0.0, n_candidates=None)
    # All greedy steps come first, because swaps then move the same search.
    for step in [
        event for event in forward(search, greedy_rules) if isinstance(event, Step)
    ]:
        state = by_size.get(len(step.selected))
        if state is not None:
            state.greedy = step.criterion
            selected, state.criterion = swap_features(
                search, step.selected, rules, problem.tie
            )
            state.columns = problem.columns(selected)
