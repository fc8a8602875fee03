"""Coordinate ascent on shards.

It maximises a measure as a function of a linear model's weights.
"""

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

_EVALUATOR_BYTES = 80  # bytes of an evaluator per document
_MEASURING_NANOSECONDS = 35.0  # nanoseconds to measure the score of one document


@contextmanager
def ascent_search(
    data: TrainingData, measure: str, convention: Convention
) -> Iterator[Waiting[AscentSearch]]:
    """Provide a generator that prepares the search on some data, with progress events, and returns it.

    Parameters
    ----------
    data : TrainingData
        Documents that are ranked and measured.
    measure : str
        Measure to maximise; errors are minimised.
    convention : Convention
        Convention of the measure.
    """
    target = find_measure(measure)
    with data.session(StateWork(_Measuring, (target.name, convention))) as session:
        yield _start_ascent(session, data, 1.0 if target.higher_is_better else -1.0)


def _start_ascent(
    session: ShardSession, data: TrainingData, sign: float
) -> Waiting[AscentSearch]:
    """Prepare and return the search, whose scale are the features' standard deviations within queries.

    ``sign`` is 1, or -1 for a measure that is minimised. ``session``
    sends models to the shards. ``data`` are the training documents. A
    shard is a part of the data with whole queries. The generator yields
    progress events, and then returns the result.
    """
    (squares,) = yield from summed(
        data, "measuring models", _sums_of_squares, by_blocks=True
    )
    return Ascent(session, np.sqrt(squares / data.y.size), sign)


def _sums_of_squares(data: QueryData) -> tuple[Floats]:
    return ((data.centred[0] ** 2).sum(axis=0),)


class Ascent(AscentSearch):
    """A measure as a function of a linear model's weights, and the search along a single weight.

    The measure is computed from exactly the scores that ``predict`` returns.

    Parameters
    ----------
    session : ShardSession
        Session of :class:`_Measuring`.
    scale : ndarray of shape (n,)
        Standard deviation of each feature within queries.
    sign : float
        1.0, or -1.0 for a measure for which lower is better.
    """

    def __init__(self, session: ShardSession, scale: Floats, sign: float) -> None:
        super().__init__(scale)
        self._session = session
        self._sign = sign

    def measured(self, coef: Floats) -> Waiting[float]:
        """Return the value of a model with weights (n,): the mean measure, larger for better models."""
        values = yield from self.values_after(coef, feature=0, changes=np.zeros(0))
        return float(values[0])

    def values_after(
        self, coef: Floats, feature: int, changes: Floats
    ) -> Waiting[Floats]:
        """Return the value of a model (n,) after each of some changes (c,) of the weight of a feature, shape (c,).

        A value is the mean of the measure over queries, negated for an
        error, so that larger is better. The value is -inf if the
        measure is undefined for all queries. If ``changes`` is empty,
        the result (1,) is the value of the unchanged model. The
        generator yields progress events, and then returns the result.
        """
        # The sum of the measure over the queries of all shards, and how
        # many of these have a value.
        total, count = yield from self._session.sum(
            (coef, feature, changes), "measuring models"
        )
        worst = np.full(total.shape, -np.inf)
        return np.asarray(
            np.divide(self._sign * total, count, out=worst, where=count > 0)
        )


def bytes_of_shard(m: int, n: int) -> int:
    """Return the bytes that a shard of m documents and n features keeps: features and an evaluator."""
    return m * (8 * n + _EVALUATOR_BYTES)


class _Measuring:
    """State of a shard, a part of the queries, which measures models.

    Transposed features and evaluator are kept if memory allows.
    """

    def __init__(
        self, data: QueryData, scratch: Scratch, measure: str, convention: Convention
    ) -> None:
        self._measure = measure
        self._convention = convention
        self._keeps_features = scratch.keeps(bytes_of_shard(*data.X.shape))
        self._kept_features: tuple[Floats, Any] | None = None  # with the evaluator

    def step(
        self, data: QueryData, message: tuple[Floats, int, Floats]
    ) -> tuple[Floats, Floats]:
        """Return sums over queries of a model's measure with each change, and for how many queries it is defined.

        The message is the model (n,), the column of a feature, and the
        changes (c,) of its weight. Both results have shape (c,), or
        without changes (1,). ``data`` has the documents of the shard. A
        shard is a part of the data with whole queries.
        """
        coef, feature, changes = message
        columns, evaluator = self._kept_features or self._prepare_features(data)
        # A change of one weight adds a multiple of one feature to the scores: (c, m).
        scores = linear_scores(columns, coef[None, :])
        if changes.size:
            scores = scores + changes[:, None] * columns[feature]
        with pool(worthwhile(_MEASURING_NANOSECONDS * scores.size)) as (
            executor,
            workers,
        ):
            # Each thread measures some of the rows of scores.
            parts = np.array_split(scores, min(workers, scores.shape[0]))
            measured = list(
                (executor.map if executor else map)(evaluator.per_query_many, parts)
            )
        # Values (c, Q), NaN for queries without a defined value.
        values = np.concatenate([part[self._measure] for part in measured])
        return np.nansum(values, axis=-1), np.count_nonzero(
            ~np.isnan(values), axis=-1
        ).astype(np.float64)

    def _prepare_features(self, data: QueryData) -> tuple[Floats, Any]:
        """Return the transposed features (n, m) and an evaluator of the measure, and cache them if memory allows."""
        from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - numba

        evaluator = Evaluator(
            data.y, data.ptr, self._convention, [self._measure], grading=data.grading
        )
        prepared = np.ascontiguousarray(data.X.T), evaluator
        self._kept_features = prepared if self._keeps_features else None
        return prepared
