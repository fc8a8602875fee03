"""All sets of a size that a paired test over queries does not distinguish from the best one."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets import _subset_kernel as kernels
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets.branch_and_bound import (
    in_rounds,
    open_branches,
)
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets.subset_problem import SubsetProblem

_ROWS = 1024  # of a branch, before it is searched again with more room


@dataclass
class NearSets:
    """Sets found so far within a window above the criterion of the best one.

    Attributes
    ----------
    columns : list of tuple of int
    criteria, deviations : list of float
        Criterion of each set, and the standard error of its difference from the best one.
    n_evaluated : int
    done : bool
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
    problem: SubsetProblem, size: int, reference: Floats, max_error: float, deviations: float, state: NearSets
) -> Generator[None, None, None]:
    """Find the sets of a size up to ``max_error``, within some standard errors of the reference.

    Parameters
    ----------
    problem : SubsetProblem
    size : int
    reference : ndarray of shape (blocks, BLOCK)
        Error of the best set in each query.
    max_error : float
    deviations : float
        1.96 for a two-sided test at 5 %.
    state : NearSets
        Is filled.
    """
    branches = open_branches(problem, size, max_error)
    stop = np.zeros(1, dtype=np.int64)
    searched: dict[int, kernels.Found] = {}
    limits = problem.numbers(max_error, deviations)
    parts = problem.totals, problem.starts, limits, problem.n_queries

    def job(number: int) -> None:
        rows = _ROWS
        while True:
            shape = rows, problem.most_columns(size)
            output = np.empty(shape, dtype=np.int64), np.empty((rows, 2)), np.zeros(3, dtype=np.int64)
            kernels.search(size, branches.forced[number], *parts, reference, stop, output)
            if not output[2][2]:
                break
            rows *= 8
        searched[number] = output

    with closing(in_rounds(len(branches.forced), job, stop)) as rounds:
        for n_done in rounds:
            if n_done is not None:
                state.share = n_done / len(branches.forced)
                for number in sorted(searched):
                    sets, numbers, counts = searched.pop(number)
                    count = int(counts[0])
                    state.n_evaluated += int(counts[1])
                    state.columns += [tuple(row[row >= 0].tolist()) for row in sets[:count]]
                    state.criteria += numbers[:count, 0].tolist()
                    state.deviations += numbers[:count, 1].tolist()
            yield
    state.done = True
    state.share = 1.0
