"""All sets of a size that a paired test over queries does not distinguish from the best one."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets import (
    _subset_kernel as kernels,
)
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets.branch_and_bound import (
    in_rounds,
    open_branches,
)
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets.subset_problem import (
    SubsetProblem,
)

# Room for the sets of a branch; a branch with more sets is searched
# again with more room.
_ROWS = 1024


@dataclass
class NearSets:
    """Sets found so far whose criterion is close to that of the best set.

    Attributes
    ----------
    columns : list of tuple of int
        Columns of each set.
    criteria, deviations : list of float
        Criterion of each set, and the standard error of its difference
        from the best set's criterion.
    n_evaluated : int
        Number of sets whose criterion was computed.
    done : bool
        Whether all branches have been searched.
    share : float
        Share of the branches searched.
    """

    columns: list[tuple[int, ...]] = field(default_factory=list)
    criteria: list[float] = field(default_factory=list)
    deviations: list[float] = field(default_factory=list)
    n_evaluated: int = 0
    done: bool = False
    share: float = 0.0


def search_near(
    problem: SubsetProblem,
    size: int,
    reference: Floats,
    max_error: float,
    deviations: float,
    state: NearSets,
) -> Generator[None, None, None]:
    """Search all sets of a size whose error is close to that of the best set, and at most ``max_error``.

    The error is the leave-query-out error. "Close" means that the
    difference of the errors is at most ``deviations`` standard errors,
    which follow from the differences in the queries. Yields None
    whenever the state may have changed.

    Parameters
    ----------
    problem : SubsetProblem
        Items, their products and the rules of a set; an item is a
        feature or a group of features.
    size : int
        Number of items of a set.
    reference : ndarray of shape (blocks, BLOCK)
        Error of the best set in each query.
    max_error : float
        Largest error of a set.
    deviations : float
        Number of standard errors; 1.96 for a two-sided test at 5 %.
    state : NearSets
        Receives the sets.
    """
    branches = open_branches(problem, size, max_error)
    stop = np.zeros(1, dtype=np.int64)
    searched: dict[int, kernels.Found] = {}
    limits = problem.numbers(max_error, deviations)
    parts = problem.totals, problem.starts, limits, problem.n_queries

    def job(number: int) -> None:
        """Write all qualifying sets of the branch with a number to ``searched``.

        The sets of a branch begin with the same items. Uses
        ``problem``, ``size``, ``branches``, ``parts``, ``reference``
        and ``stop`` of the enclosing function. An item is a feature or
        a group of features.
        """
        # The table of sets has a fixed number of rows. If it is too
        # small, the branch is searched again with a larger one.
        rows = _ROWS
        while True:
            shape = rows, problem.most_columns(size)
            # The numbers of stored and of evaluated sets, and whether
            # the table was too small.
            counts = np.zeros(3, dtype=np.int64)
            # The sets, and their criteria and standard errors.
            output = np.empty(shape, dtype=np.int64), np.empty((rows, 2)), counts
            kernels.search(
                size, branches.forced[number], *parts, reference, stop, output
            )
            if not counts[2]:
                break
            rows *= 8
        searched[number] = output

    with closing(in_rounds(len(branches.forced), job, stop)) as rounds:
        for n_done in rounds:
            # None: a round has not ended yet, but the caller may stop.
            if n_done is not None:
                state.share = n_done / len(branches.forced)
                # The results of the round, in order of the branches.
                for number in sorted(searched):
                    sets, numbers, counts = searched.pop(number)
                    n_found = int(counts[0])
                    state.n_evaluated += int(counts[1])
                    # Rows are padded with -1.
                    state.columns += [
                        tuple(row[row >= 0].tolist()) for row in sets[:n_found]
                    ]
                    state.criteria += numbers[:n_found, 0].tolist()
                    state.deviations += numbers[:n_found, 1].tolist()
            yield
    state.done = True
    state.share = 1.0
