"""Coordinate ascent: a linear ranker that maximizes a ranking measure directly (Metzler & Croft 2007)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field

import numpy as np

from rankstudio.engine.arithmetic.optimisers.coordinate_ascent import AscentSearch
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import between
from rankstudio.engine.methods.base import MOST_SEED, LinearRanker
from rankstudio.engine.methods.memory_need import (
    DataShape,
    MemoryNeed,
    shard_need,
    whole_need,
)
from rankstudio.engine.methods.shards.ascent_search import ascent_search, bytes_of_shard
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    training_data,
)
from rankstudio.engine.metrics.conventions import DEFAULT, objective
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress, telling
from rankstudio.plugins.baselines.entries import COORDINATE_ASCENT


@dataclass(eq=False, repr=False)
class CoordinateAscent(LinearRanker):
    """Coordinate ascent maximizes a ranking measure of the training documents, one weight at a time.

    Every iteration visits all features in a random order. Along each
    weight, changes by ±2^-11 … ±2^4 and to zero are tried, for weights
    whose absolute values sum to 1, and the best one is taken if it is
    better than no change (Metzler & Croft 2007, section
    4). Because the measure is not smooth, the search starts several times, first from
    equal weights, then from random ones, and the best model is kept.

    Parameters
    ----------
    measure : str, default "NDCG@10"
        Any measure of :func:`rankstudio.engine.evaluate`.
    n_restarts : int, default 3
        Number of starts, 1 to 1000.
    max_iter : int, default 25
        Maximum number of iterations per start, 1 to 10,000.
    tolerance : float, default 1e-3
        A start stops after the first iteration that improves the
        measure by at most this much; greater than 0.
    convention : str, default "standard"
        Convention of the measure; k of a cut-off is at most the number
        of documents of a query.
    seed : int, default 0
        Seed of orders and random starts, 0 to 2^32 - 1. Equal seeds
        give the same model on every machine.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        Weights; 0 for features that are constant within every query.
    value_ : float
        Measure of the training documents.
    n_iter_ : int
        Number of iterations of all starts together.

    Notes
    -----
    The absolute weights, each times the standard deviation of its
    feature within queries, sum to 1. O(33 n m log |q|) per iteration
    for m documents, n features and queries of |q| documents, on all
    threads.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> CoordinateAscent(n_restarts=1).fit(train.X, train.y, qid=train.qid).coef_.argmax().item()
    0
    """

    entry = COORDINATE_ASCENT

    value_: float = field(init=False)
    n_iter_: int = field(init=False)

    measure: str = "NDCG@10"
    _: KW_ONLY
    n_restarts: int = 3
    max_iter: int = 25
    tolerance: float = 1e-3
    convention: str = DEFAULT
    seed: int = 0

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return self.n_restarts * self.max_iter

    def memory_need(self, shape: DataShape) -> MemoryNeed:
        """Return the memory for m documents with n features: a transposed copy, and an evaluator.

        Several shards store the copy and the evaluator as their states,
        which may be in files.
        """
        kept_bytes = bytes_of_shard(shape.m, shape.n)
        return (
            shard_need(shape, states=kept_bytes)
            if shape.sharded
            else whole_need(shape).plus(kept_bytes)
        )

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Improve the measure by one weight after the other, and yield one step per iteration.

        A step has the best model so far, and the negative of its
        measure as the criterion.
        """
        n_restarts = self.checked("n_restarts")
        max_iter = self.checked("max_iter")
        tolerance = self.checked("tolerance")
        rng = np.random.default_rng(between("seed", self.seed, 0, MOST_SEED))
        with ascent_search(
            training_data(data), self.measure, objective(self.convention)
        ) as opening:
            # Prepares the search, with progress events.
            ascent = yield from opening

            # The best model over all restarts so far.
            best = np.zeros(data.X.shape[1])
            best_value = -np.inf
            number = 0
            for start in range(n_restarts):
                # the first start has equal weights
                coef = _start_weights(ascent, rng if start else None)
                value = yield from ascent.measured(coef)

                # Each sweep changes every informative weight once, in a random order.
                for _ in range(max_iter):
                    value_before = value
                    order = rng.permutation(ascent.informative).tolist()

                    # `telling` turns each changed weight into a progress event.
                    sweep = telling(
                        ascent.sweeping(coef, value, order),
                        f"start {start + 1}",
                        len(order),
                    )
                    coef, value = yield from sweep

                    # The first model is taken whatever its measure is: it may be -inf.
                    if value > best_value or number == 0:
                        best = coef
                        best_value = value
                    number += 1
                    yield Step(
                        number,
                        selected=tuple(np.flatnonzero(best).tolist()),
                        coef=best,
                        criterion=-best_value,
                        candidates=np.empty(0),
                    )

                    # The restart ends when a sweep improves the measure
                    # by no more than the tolerance.
                    if not value > value_before + tolerance:
                        break

    def _finish(self, data: QueryData, steps: list[Step]) -> None:
        sign = 1.0 if find_measure(self.measure).higher_is_better else -1.0
        self.value_ = -sign * steps[-1].criterion
        self.n_iter_ = len(steps)


def _start_weights(ascent: AscentSearch, rng: np.random.Generator | None) -> Floats:
    """Return weights for the features that vary within some query.

    ``ascent`` has these features. Without a generator (None) the
    weights are equal, else they are drawn by ``rng``.
    """
    coef = np.zeros(ascent.scale.size)
    used = ascent.informative
    weights = np.ones(used.size) if rng is None else rng.normal(size=used.size)
    coef[used] = weights / ascent.scale[used]
    return ascent.normalise(coef)
