"""Coordinate ascent: weights that raise a ranking measure directly (Metzler & Croft 2007)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.base import MOST_SEED, LinearRanker, between
from rankstudio.engine.metrics.conventions import DEFAULT
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.optimization.coordinate_ascent import Ascent
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.steps import Step, WorkProgress, telling


class CoordinateAscent(LinearRanker):
    """Coordinate ascent raises a ranking measure of the training documents, one weight at a time.

    Every iteration visits all features in a random order. Along each weight, changes by ±2^-11 … ±2^4 and to
    zero are tried, of weights whose absolute values sum to 1, and the best is taken if it is better than
    no change (Metzler & Croft 2007, section 4). As the measure is no smooth function, the search starts
    several times, from equal weights first and from random ones then, and the best model of all is kept.

    Parameters
    ----------
    measure : str, default "NDCG@10"
        Any measure of :func:`rankstudio.engine.evaluate`.
    n_restarts : int, default 3
        How often to start, 1 to 1000.
    max_iter : int, default 25
        Iterations a start at most, 1 to 10,000.
    tolerance : float, default 1e-3
        A start ends with an iteration that raises the measure by no more than this; greater than 0.
    convention : str, default "letor4"
        Convention of the measure.
    seed : int, default 0
        Of orders and random starts, 0 to 2^32 - 1. The same seed gives the same model on every machine.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        The weights; features that are constant inside every query have 0.
    value_ : float
        The measure of the training documents.
    n_iter_ : int
        Iterations taken, of all starts together.

    Notes
    -----
    The absolute values of the weights, each times the feature's standard deviation inside queries, sum to 1.
    O(33 n m log |q|) an iteration for m documents, n features and queries of |q| documents, on all threads.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> CoordinateAscent(n_restarts=1).fit(train.X, train.y, qid=train.qid).coef_.argmax().item()
    0
    """

    value_: float
    n_iter_: int

    def __init__(
        self,
        measure: str = "NDCG@10",
        n_restarts: int = 3,
        max_iter: int = 25,
        tolerance: float = 1e-3,
        convention: str = DEFAULT,
        seed: int = 0,
    ) -> None:
        self.measure = measure
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.tolerance = tolerance
        self.convention = convention
        self.seed = seed

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return self.n_restarts * self.max_iter

    def work(self, data: QueryData) -> Iterator[Step | WorkProgress]:
        """Yield one step an iteration: the best model so far, and its measure as the criterion to lower."""
        n_restarts = self.checked("n_restarts")
        max_iter = self.checked("max_iter")
        tolerance = self.checked("tolerance")
        rng = np.random.default_rng(between("seed", self.seed, 0, MOST_SEED))
        ascent = Ascent(data, self.measure, self.convention)
        best, best_value, number = np.zeros(data.X.shape[1]), -np.inf, 0
        for start in range(n_restarts):
            coef = _start(ascent, rng if start else None)
            value = ascent.value(coef)
            for _ in range(max_iter):
                before = value
                order = rng.permutation(ascent.informative).tolist()
                sweep = telling(ascent.sweeping(coef, value, order), f"start {start + 1}", len(order))
                coef, value = yield from sweep
                if value > best_value or number == 0:
                    best, best_value = coef, value
                number += 1
                yield Step(number, tuple(np.flatnonzero(best).tolist()), best, -best_value, np.empty(0))
                if not value > before + tolerance:
                    break

    def _finish(self, data: QueryData, taken: list[Step]) -> None:
        sign = 1.0 if find_measure(self.measure).higher_is_better else -1.0
        self.value_ = -sign * taken[-1].criterion
        self.n_iter_ = len(taken)


def _start(ascent: Ascent, rng: np.random.Generator | None) -> Floats:
    """Return equal weights, or random ones, for the features that vary inside some query."""
    coef = np.zeros(ascent.scale.size)
    used = ascent.informative
    weights = np.ones(used.size) if rng is None else rng.normal(size=used.size)
    coef[used] = weights / ascent.scale[used]
    return ascent.normalise(coef)
