"""Floating search, large groups and back-fitting: each comparison is a sum of what shards find."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.greedy_rankrls.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls.floating_selection import floating, greedy_steps
from rankstudio.engine.methods.selection.greedy_rankrls.forward_path import WHAT, forward_path, totals
from rankstudio.engine.methods.selection.greedy_rankrls.forward_selection import forward
from rankstudio.engine.methods.selection.greedy_rankrls.on_demand_work import Begin, Compare, OnDemandWork
from rankstudio.engine.methods.shards.training_data import ShardSession, Sums, TrainingData
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress, finish


def on_demand_path(
    data: TrainingData,
    regularization: float,
    groups: ColumnGroups,
    rules: Constraints,
    cost: PairCost,
    algorithm: str,
    search: str,
    fitting: str,
) -> Iterator[Step | WorkProgress]:
    """Yield the steps of a path in which groups stand for features, and signs of life in between.

    Parameters
    ----------
    data : TrainingData
    regularization : float
        λ > 0.
    groups : ColumnGroups
        Each feature one by itself, or in groups.
    rules : Constraints
        Of groups.
    cost : PairCost
    algorithm : str
        Of the greedy path that floating search begins with.
    search : {"forward", "floating"}
    fitting : {"pre", "back"}

    Notes
    -----
    With Q queries and n features, Gram matrices take O(mn²) once for all λ and O(Qn²) memory of the workers,
    or of their disks. A step with t features selected takes O(Qnt²), floating one or two for each set.
    """
    greedy: list[Step] = []
    if search == "floating":
        without = replace(rules, size_penalty=0.0)
        found = forward_path(data, regularization, groups, without, cost, algorithm)
        greedy = yield from greedy_steps(found, rules)
    capacity = groups.greatest(rules.k)
    work = OnDemandWork(regularization, groups.groups, capacity, fitting == "back", cost, data.several)
    with data.session(work) as session:
        total = yield from totals(session, data, True, cost)
        (criterion,) = yield from session.sum(Begin(total), WHAT)
        of_groups = OnDemandGroups(session, total, float(criterion[0]), regularization, groups)
        yield from floating(greedy, of_groups, rules) if greedy else forward(of_groups, rules)


class OnDemandGroups:
    """Leave-query-out criterion with a group added to a selection, or with one taken out of it.

    It is a :class:`FloatingSearch` of groups.

    Parameters
    ----------
    session : ShardSession
        Begun, with nothing selected.
    total : ndarray of shape (n + 1, n + 1)
        [X^ y^]'[X^ y^].
    criterion : float
        Of the empty selection.
    regularization : float
        λ > 0.
    groups : ColumnGroups
    """

    def __init__(
        self,
        session: ShardSession,
        total: Floats,
        criterion: float,
        regularization: float,
        groups: ColumnGroups,
    ) -> None:
        self._session, self._total, self._regularization = session, total, regularization
        self._groups = groups
        varying = groups.of_column[np.diagonal(total)[:-1] > 0]
        self.informative = np.isin(np.arange(len(groups.groups)), varying)
        self.selected: tuple[int, ...] = ()
        self._criterion: float | None = criterion

    def costs(self, candidates: Ints) -> Floats:
        """Return what the criterion would be with each candidate added, shape (c,)."""
        return self._ask(Compare(self.selected, candidates))[1]

    def removals(self) -> Floats:
        """Return what the criterion would be without each of the selected groups, shape (t,)."""
        return self._ask(Compare(self.selected, _NONE, removals=True))[2]

    def criterion(self) -> float:
        """Return the criterion of the present selection."""
        if self._criterion is None:
            self._ask(Compare(self.selected, _NONE))
        assert self._criterion is not None  # asked just now
        return self._criterion

    def select(self, feature: int) -> Iterator[WorkProgress]:
        """Add a group, giving a sign of life a shard."""
        self.move_to((*self.selected, feature))
        sums = yield from self._session.sum(Compare(self.selected, _NONE), WHAT)
        self._criterion = float(sums[0][0])

    def move_to(self, selected: tuple[int, ...]) -> None:
        """Make another selection the present one."""
        self.selected, self._criterion = selected, None

    def weights(self) -> Floats:
        """Return the weights of the features, learned from all queries, shape (n,)."""
        coef = np.zeros(self._total.shape[0] - 1)
        if self.selected:
            index = np.array(self._groups.columns(self.selected))
            left = self._total[np.ix_(index, index)]
            left[np.diag_indices_from(left)] += self._regularization
            coef[index] = np.linalg.solve(left, self._total[index, -1])
        return coef

    def _ask(self, message: Compare) -> Sums:
        sums = finish(self._session.sum(message, WHAT))
        self._criterion = float(sums[0][0])
        return sums


_NONE = np.empty(0, dtype=np.int64)
