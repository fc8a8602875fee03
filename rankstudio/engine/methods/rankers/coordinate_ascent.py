"""Coordinate ascent: weights that raise a ranking measure directly (Metzler & Croft 2007)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.optimisers.coordinate_ascent import AscentSearch
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import between
from rankstudio.engine.methods.base import MOST_SEED, LinearRanker
from rankstudio.engine.methods.catalog.rankers import COORDINATE_ASCENT
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed, shard_need, whole_need
from rankstudio.engine.methods.shards.scratch import Scratch
from rankstudio.engine.methods.shards.sums import summed
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    ShardSession,
    TrainingData,
    training_data,
)
from rankstudio.engine.methods.shards.work import StateWork
from rankstudio.engine.metrics.conventions import DEFAULT, Convention, objective
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.steps import Step
from rankstudio.engine.support.threads import pool, worthwhile
from rankstudio.engine.support.work import Waiting, WorkProgress, telling

_EVALUATOR = 80  # bytes a document
_MEASURING = 35.0  # nanoseconds for the score of a document


@dataclass(eq=False, repr=False)
class CoordinateAscent(LinearRanker):
    """Coordinate ascent maximises a ranking measure of the training documents, one weight at a time.

    Every iteration visits all features in a random order. Along each weight, changes by ±2^-11 … ±2^4 and to
    zero are tried, for weights whose absolute values sum to 1, and the best one is taken if it is better than
    no change (Metzler & Croft 2007, section 4). Because the measure is not smooth, the search starts several
    times, first from equal weights, then from random ones, and the best model is kept.

    Parameters
    ----------
    measure : str, default "NDCG@10"
        Any measure of :func:`rankstudio.engine.evaluate`.
    n_restarts : int, default 3
        Number of starts, 1 to 1000.
    max_iter : int, default 25
        Maximum number of iterations per start, 1 to 10,000.
    tolerance : float, default 1e-3
        A start stops after the first iteration that improves the measure by at most this much; greater than
        0.
    convention : str, default "standard"
        Convention of the measure; k of a cut-off is at most the number of documents of a query.
    seed : int, default 0
        Seed of orders and random starts, 0 to 2^32 - 1. Equal seeds give the same model on every machine.

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
    The absolute weights, each times the standard deviation of its feature within queries, sum to 1. O(33 n m
    log |q|) per iteration for m documents, n features and queries of |q| documents, on all threads.

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
    n_restarts: int = 3
    max_iter: int = 25
    tolerance: float = 1e-3
    convention: str = DEFAULT
    seed: int = 0

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return self.n_restarts * self.max_iter

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        kept = _kept(shape.m, shape.n)
        return shard_need(shape, states=kept) if shape.sharded else whole_need(shape).plus(kept)

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Yield one step per iteration: the best model so far, with its negative measure as the criterion."""
        n_restarts = self.checked("n_restarts")
        max_iter = self.checked("max_iter")
        tolerance = self.checked("tolerance")
        rng = np.random.default_rng(between("seed", self.seed, 0, MOST_SEED))
        with ascent_search(training_data(data), self.measure, objective(self.convention)) as opened:
            ascent = yield from opened
            best, best_value, number = np.zeros(data.X.shape[1]), -np.inf, 0
            for start in range(n_restarts):
                coef = _start(ascent, rng if start else None)
                value = yield from ascent.measured(coef)
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


def _start(ascent: AscentSearch, rng: np.random.Generator | None) -> Floats:
    """Return equal weights, or random ones, for the features that vary inside some query."""
    coef = np.zeros(ascent.scale.size)
    used = ascent.informative
    weights = np.ones(used.size) if rng is None else rng.normal(size=used.size)
    coef[used] = weights / ascent.scale[used]
    return ascent.normalise(coef)


@contextmanager
def ascent_search(
    data: TrainingData, measure: str, convention: Convention
) -> Iterator[Waiting[AscentSearch]]:
    """Provide the function that returns the search on some data.

    Parameters
    ----------
    data : TrainingData
    measure : str
        Measure to maximise; errors are minimised.
    convention : Convention
    """
    wanted = find_measure(measure)
    with data.session(StateWork(_Measuring, (wanted.name, convention))) as session:
        yield _beginning(session, data, 1.0 if wanted.higher_is_better else -1.0)


def _beginning(session: ShardSession, data: TrainingData, sign: float) -> Waiting[AscentSearch]:
    (squares,) = yield from summed(data, "measuring models", _squares, by_blocks=True)
    return Ascent(session, np.sqrt(squares / data.y.size), sign)


def _squares(data: QueryData) -> tuple[Floats]:
    return ((data.centred[0] ** 2).sum(axis=0),)


class Ascent(AscentSearch):
    """A measure as a function of a linear model's weights, and the search along one of them.

    Values use exactly the scores that ``predict`` returns.

    Parameters
    ----------
    session : ShardSession
        Session of :class:`_Measuring`.
    scale : ndarray of shape (n,)
    sign : float
        -1.0 for a measure for which lower is better.
    """

    def __init__(self, session: ShardSession, scale: Floats, sign: float) -> None:
        super().__init__(scale)
        self._session, self._sign = session, sign

    def measured(self, coef: Floats) -> Waiting[float]:
        """Return the value of one model (n,)."""
        return float((yield from self.changed(coef, 0, np.zeros(0)))[0])

    def changed(self, coef: Floats, feature: int, changes: Floats) -> Waiting[Floats]:
        """Return the value of a model after each of some changes of one weight, or its own value."""
        total, count = yield from self._session.sum((coef, feature, changes), "measuring models")
        worst = np.full(total.shape, -np.inf)
        return np.asarray(np.divide(self._sign * total, count, out=worst, where=count > 0))


def _kept(m: int, n: int) -> int:
    """Return the bytes of what a shard keeps: a row for each feature, and an evaluator."""
    return m * (8 * n + _EVALUATOR)


class _Measuring:
    """The transposed features of a shard, if memory allows, and how models are measured."""

    def __init__(self, data: QueryData, scratch: Scratch, measure: str, convention: Convention) -> None:
        self._measure, self._convention = measure, convention
        self._keeps = scratch.keeps(_kept(*data.X.shape))
        self._kept: tuple[Floats, Any] | None = None

    def step(self, data: QueryData, message: tuple[Floats, int, Floats]) -> tuple[Floats, Floats]:
        """Return sums over queries of the measure of a model with each change, and how many have one."""
        coef, feature, changes = message
        columns, evaluator = self._kept or self._prepared(data)
        scores = linear_scores(columns, coef[None, :])
        if changes.size:
            scores = scores + changes[:, None] * columns[feature]
        with pool(worthwhile(_MEASURING * scores.size)) as (executor, workers):
            parts = np.array_split(scores, min(workers, scores.shape[0]))
            measured = list((executor.map if executor else map)(evaluator.per_query_many, parts))
        values = np.concatenate([part[self._measure] for part in measured])
        return np.nansum(values, axis=-1), np.count_nonzero(~np.isnan(values), axis=-1).astype(np.float64)

    def _prepared(self, data: QueryData) -> tuple[Floats, Any]:
        from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - numba

        evaluator = Evaluator(data.y, data.ptr, self._convention, [self._measure], grading=data.grading)
        made = np.ascontiguousarray(data.X.T), evaluator
        self._kept = made if self._keeps else None
        return made
