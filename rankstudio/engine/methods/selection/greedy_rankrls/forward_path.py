"""The forward path: this process knows totals over all queries, and shards those of their own."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

import numpy as np

from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.shared import once
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.greedy_rankrls import _statistics_kernel
from rankstudio.engine.methods.selection.greedy_rankrls.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls.forward_selection import forward
from rankstudio.engine.methods.selection.greedy_rankrls.forward_work import (
    GreedyWork,
    Message,
    Select,
    Start,
    TotalRow,
    Totals,
)
from rankstudio.engine.methods.selection.greedy_rankrls.path_memory import delay, kept_statistics
from rankstudio.engine.methods.shards.training_data import ShardSession, Sums, TrainingData
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress

WHAT = "comparing features"


def forward_path(
    data: TrainingData,
    regularization: float,
    groups: ColumnGroups,
    rules: Constraints,
    cost: PairCost,
    algorithm: str,
) -> Iterator[Step | WorkProgress]:
    """Yield the steps of the greedy path, in which groups stand for features, and signs of life in between.

    Parameters
    ----------
    data : TrainingData
    regularization : float
        λ > 0.
    groups : ColumnGroups
        Each feature one by itself, or in groups; those take Gram matrices.
    rules : Constraints
        Of groups.
    cost : PairCost
    algorithm : {"auto", "statistics", "rows"}

    Notes
    -----
    With m documents, n features and Q queries, "statistics" takes O(mn²) once for all λ and then O(Qnk²) for
    each, in O(Qn²) memory of the workers; "rows" O(kmn + Qnk²) in O(Qnk), where data of one shard keep rows
    for other λ. This process keeps O(n² + k²). "auto" looks at the shape of the data alone, and so does what
    shards keep of the selected features: the bits do not depend on the memory there is.
    """
    n, k = data.X.shape[1], groups.greatest(rules.k)
    kept = "statistics" if groups.joint else kept_statistics(algorithm, (*data.X.shape, data.ptr.size - 1), k)
    whole = kept == "statistics"
    steps = k if groups.joint else delay(n, k, whole)
    work = GreedyWork(regularization, k, whole, cost, data.several, steps, groups.joint)
    with data.session(work) as session:
        search = ForwardSearch(session, work, groups)
        total = yield from totals(session, data, whole, cost)
        yield from search.start(total)
        yield from forward(search, rules)


@dataclass
class _Totals:
    """What :class:`Totals` asks for of some data, by whether statistics are whole, and the cost."""

    found: dict[tuple[bool, PairCost], Sums] = field(default_factory=dict)


def totals(
    session: ShardSession, data: TrainingData, whole: bool, cost: PairCost
) -> Generator[WorkProgress, None, Floats]:
    """Return what :class:`Totals` asks for, (n + 1, n + 1), asked once for all λ."""
    found = data.shared.of(_Totals).found
    (total,) = yield from once(found, (whole, cost), session.sum(Totals(), "adding up products of features"))
    return total


class ForwardSearch:
    """Leave-query-out criterion of every feature or group that could be added to a growing selection.

    It is a search of :mod:`forward_selection` among groups, whose steps are sums over shards.

    Parameters
    ----------
    session : ShardSession
        With nothing selected.
    work : GreedyWork
        That it is of.
    groups : ColumnGroups
    """

    def __init__(self, session: ShardSession, work: GreedyWork, groups: ColumnGroups) -> None:
        self._session, self._work, self._groups = session, work, groups
        self.selected: tuple[int, ...] = ()
        self._columns: tuple[int, ...] = ()
        self._firsts = groups.representatives
        self._several = np.array([len(group) > 1 for group in groups.groups], dtype=np.bool_)
        self._factor = np.empty((work.k, work.k)), np.empty(work.k)

    def start(self, total: Floats) -> Iterator[WorkProgress]:
        """Begin with the answer to :class:`Totals`, shape (n + 1, n + 1)."""
        self._total, self._coef = total, np.zeros(total.shape[0] - 1)
        varying = self._groups.of_column[np.diagonal(total)[:-1] > 0]
        self.informative: Bools = np.isin(np.arange(self._several.size), varying)
        yield from self._compare(Start(total))

    def costs(self, candidates: Ints) -> Floats:
        """Return what the criterion would be with each candidate added, shape (c,)."""
        return self._costs[candidates]

    def criterion(self) -> float:
        """Return the criterion of the present selection."""
        return float(self._criterion[0])

    def weights(self) -> Floats:
        """Return RankRLS's weights with the present selection, learned from all queries, shape (n,)."""
        return self._coef.copy()

    def select(self, feature: int) -> Iterator[WorkProgress]:
        """Add a group to the selection, giving a sign of life a shard."""
        for column in self._groups.groups[feature]:
            row = self._total[column]
            if not self._work.whole:
                row = np.append((yield from self._session.sum(TotalRow(column), WHAT))[0], row[-1])
            yield from self._compare(Select(column, row[:-1]))
            self._columns = (*self._columns, column)
            arguments = row, self._work.regularization, np.array(self._columns)
            _statistics_kernel.extend(*arguments, *self._factor, self._coef)
        self.selected = (*self.selected, feature)

    def _compare(self, message: Message) -> Iterator[WorkProgress]:
        costs, self._criterion, *of_groups = yield from self._session.sum(message, WHAT)
        self._costs = costs[self._firsts]
        if of_groups:
            self._costs[self._several] = of_groups[0]
