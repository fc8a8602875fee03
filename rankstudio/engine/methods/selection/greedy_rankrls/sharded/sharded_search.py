"""The greedy path over shards: this process knows totals over all queries, and shards their own ones."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

import numpy as np

from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.shared import once
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls import _statistics_kernel
from rankstudio.engine.methods.selection.greedy_rankrls.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls.forward_selection import forward
from rankstudio.engine.methods.selection.greedy_rankrls.sharded.path_memory import delay, kept_statistics
from rankstudio.engine.methods.selection.greedy_rankrls.sharded.shard_work import (
    GreedyWork,
    Message,
    Select,
    Start,
    TotalRow,
    Totals,
)
from rankstudio.engine.methods.shards.training_data import ShardSession, Sums, TrainingData
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress


def sharded_path(
    data: TrainingData,
    regularization: float,
    rules: Constraints,
    cost: PairCost,
    algorithm: str,
) -> Iterator[Step | WorkProgress]:
    """Yield the steps of the greedy path, and a sign of life a shard in between.

    Parameters
    ----------
    data : TrainingData
    regularization : float
        λ > 0.
    rules : Constraints
    cost : PairCost
    algorithm : {"auto", "statistics", "rows"}

    Notes
    -----
    With m documents, n features and Q queries, "statistics" takes O(mn²) once for all λ and then O(Qnk²) for
    each, in O(Qn²) memory of the workers; "rows" O(kmn + Qnk²) in O(Qnk). This process keeps O(n² + k²).
    "auto" looks at the shape of the data alone, and so does what shards keep of the selected features: the
    bits do not depend on the memory there is.
    """
    kept = kept_statistics(algorithm, (*data.X.shape, data.ptr.size - 1), rules.k)
    whole = kept == "statistics"
    work = GreedyWork(regularization, rules.k, whole, cost, delay(data.X.shape[1], rules.k, whole))
    with data.session(work) as session:
        search = ShardedSearch(session, work)
        (total,) = yield from once(data.shared.of(_Totals).found, (whole, cost), search.ask(Totals()))
        yield from search.start(total)
        yield from forward(search, rules)


@dataclass
class _Totals:
    """What :class:`Totals` asks for of some data, by whether statistics are whole, and the cost."""

    found: dict[tuple[bool, PairCost], Sums] = field(default_factory=dict)


class ShardedSearch:
    """Leave-query-out criterion of every feature that could be added to a growing selection.

    It is a search of :mod:`forward_selection` whose steps are sums over shards.

    Parameters
    ----------
    session : ShardSession
        With nothing selected.
    work : GreedyWork
        That it is of.
    """

    def __init__(self, session: ShardSession, work: GreedyWork) -> None:
        self._session, self._work = session, work
        self.selected: tuple[int, ...] = ()
        self._factor = np.empty((work.k, work.k)), np.empty(work.k)

    def ask(self, message: Message) -> Generator[WorkProgress, None, Sums]:
        """Ask all shards for sums."""
        return self._session.sum(message, "comparing features")

    def start(self, total: Floats) -> Iterator[WorkProgress]:
        """Begin with the answer to :class:`Totals`, shape (n + 1, n + 1)."""
        n = total.shape[0] - 1
        self._total, self._coef = total, np.zeros(n)
        yield from self._compare(Start(np.stack([np.diagonal(total)[:n], total[n, :n]])))

    @property
    def informative(self) -> Bools:
        """Which features vary inside some query, shape (n,)."""
        varies: Bools = np.diagonal(self._total)[:-1] > 0
        return varies

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
        """Add a feature to the selection, giving a sign of life a shard."""
        row = self._total[feature]
        if not self._work.whole:
            row = np.append((yield from self.ask(TotalRow(feature)))[0], row[-1])
        yield from self._compare(Select(feature, row[:-1]))
        self.selected = (*self.selected, feature)
        arguments = row, self._work.regularization, np.array(self.selected)
        _statistics_kernel.extend(*arguments, *self._factor, self._coef)

    def _compare(self, message: Message) -> Iterator[WorkProgress]:
        self._costs, self._criterion = yield from self.ask(message)
