"""The search of coordinate ascent on shards: a measure as a function of a linear model's weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.optimisers.coordinate_ascent import AscentSearch
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.shards.scratch import Scratch
from rankstudio.engine.methods.shards.sums import summed
from rankstudio.engine.methods.shards.training_data import (
    ShardSession,
    TrainingData,
)
from rankstudio.engine.methods.shards.work import StateWork
from rankstudio.engine.metrics.conventions import Convention
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.support.threads import pool, worthwhile
from rankstudio.engine.support.work import Waiting

_EVALUATOR_BYTES = 80  # bytes a document
_MEASURING_NANOSECONDS = 35.0  # nanoseconds for the score of a document


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
    target = find_measure(measure)
    with data.session(StateWork(_Measuring, (target.name, convention))) as session:
        yield _start_ascent(session, data, 1.0 if target.higher_is_better else -1.0)


def _start_ascent(session: ShardSession, data: TrainingData, sign: float) -> Waiting[AscentSearch]:
    (squares,) = yield from summed(data, "measuring models", _sums_of_squares, by_blocks=True)
    return Ascent(session, np.sqrt(squares / data.y.size), sign)


def _sums_of_squares(data: QueryData) -> tuple[Floats]:
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
        self._session = session
        self._sign = sign

    def measured(self, coef: Floats) -> Waiting[float]:
        """Return the value of one model (n,)."""
        return float((yield from self.changed(coef, 0, np.zeros(0)))[0])

    def changed(self, coef: Floats, feature: int, changes: Floats) -> Waiting[Floats]:
        """Return the value of a model after each of some changes of one weight, or its own value."""
        total, count = yield from self._session.sum((coef, feature, changes), "measuring models")
        worst = np.full(total.shape, -np.inf)
        return np.asarray(np.divide(self._sign * total, count, out=worst, where=count > 0))


def bytes_of_shard(m: int, n: int) -> int:
    """Return the bytes of what a shard keeps: a row for each feature, and an evaluator."""
    return m * (8 * n + _EVALUATOR_BYTES)


class _Measuring:
    """The transposed features of a shard, if memory allows, and how models are measured."""

    def __init__(self, data: QueryData, scratch: Scratch, measure: str, convention: Convention) -> None:
        self._measure = measure
        self._convention = convention
        self._keeps = scratch.keeps(bytes_of_shard(*data.X.shape))
        self._kept: tuple[Floats, Any] | None = None

    def step(self, data: QueryData, message: tuple[Floats, int, Floats]) -> tuple[Floats, Floats]:
        """Return sums over queries of the measure of a model with each change, and how many have one."""
        coef, feature, changes = message
        columns, evaluator = self._kept or self._prepared(data)
        scores = linear_scores(columns, coef[None, :])
        if changes.size:
            scores = scores + changes[:, None] * columns[feature]
        with pool(worthwhile(_MEASURING_NANOSECONDS * scores.size)) as (executor, workers):
            parts = np.array_split(scores, min(workers, scores.shape[0]))
            measured = list((executor.map if executor else map)(evaluator.per_query_many, parts))
        values = np.concatenate([part[self._measure] for part in measured])
        return np.nansum(values, axis=-1), np.count_nonzero(~np.isnan(values), axis=-1).astype(np.float64)

    def _prepared(self, data: QueryData) -> tuple[Floats, Any]:
        from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - numba

        evaluator = Evaluator(data.y, data.ptr, self._convention, [self._measure], grading=data.grading)
        prepared = np.ascontiguousarray(data.X.T), evaluator
        self._kept = prepared if self._keeps else None
        return prepared
