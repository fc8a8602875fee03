"""The best sets of all sizes: greedy sets, improved by swaps, then proved or replaced by branch and bound."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import replace

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.methods.selection.exact_subsets.branch_and_bound import (
    SizeSearch,
    bound_of_size,
    search_size,
)
from rankstudio.engine.methods.selection.exact_subsets.subset_problem import SubsetProblem
from rankstudio.engine.methods.selection.exact_subsets.swap_search import swap_features
from rankstudio.engine.methods.selection.greedy_rankrls.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls.search_steps import GroupSearch, forward
from rankstudio.engine.methods.selection.greedy_rankrls.swaps import on_demand_search
from rankstudio.engine.steps import Step


def search_sizes(
    data: QueryData, problem: SubsetProblem, rules: Constraints
) -> Generator[SizeSearch, None, None]:
    """Search the sizes one after the other, and yield the state of one whenever it may have changed.

    The first states, one a size, are those of greedy search improved by swaps. If the generator is closed,
    all states yielded stay valid.

    Parameters
    ----------
    data : QueryData
        The rows of the problem.
    problem : SubsetProblem
    rules : Constraints
        Of groups; ``k`` is the greatest size.
    """
    sizes = [
        SizeSearch(size, problem.n_sets(size))
        for size in range(max(1, problem.n_forced), min(rules.k, problem.most) + 1)
    ]
    _start(data, problem, rules, sizes)
    for state in sizes:
        state.lower = min(state.criterion, bound_of_size(problem, state.size))
    yield from sizes
    for before, state in zip([None, *sizes], sizes, strict=False):
        if before is not None and not before.columns and before.done:
            state.done = True  # a set that the budget allows has a part of one feature less
            state.lower = state.criterion
            yield state
            continue
        with closing(search_size(problem, state)) as work:
            for _ in work:
                yield state
        yield state


def _start(data: QueryData, problem: SubsetProblem, rules: Constraints, sizes: list[SizeSearch]) -> None:
    """Give each size the greedy set, improved by swaps."""
    search = GroupSearch(
        on_demand_search(data, problem.regularization, max(1, problem.groups.greatest(rules.k))),
        problem.groups,
    )
    by_size = {state.size: state for state in sizes}
    with_all = replace(rules, size_penalty=0.0, n_candidates=None)
    for step in [told for told in forward(search, with_all) if isinstance(told, Step)]:
        state = by_size.get(len(step.selected))
        if state is not None:
            state.greedy = step.criterion
            selected, state.criterion = swap_features(search, step.selected, rules, problem.tie)
            state.columns = problem.columns(selected)
