"""Select with one method, rank with another: a path of selected features becomes a path of models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.arrays import Floats
from rankstudio.engine.language import trn
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog.method import CandidateScore
from rankstudio.engine.methods.selection.base import without
from rankstudio.engine.methods.shards.sums import deviations
from rankstudio.engine.methods.shards.training_data import GivenData, TrainingData, training_data
from rankstudio.engine.steps import Step, steps_of
from rankstudio.engine.support.blocks import VALUES
from rankstudio.engine.support.work import Waiting, WorkProgress

Columns = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Narrowed(Step):
    """A nonlinear model of some of the features.

    Attributes
    ----------
    inner : Step
        Model trained on some columns only.
    columns : tuple of int
        Columns, ascending; ``selected`` has them in the order of selection.
    """

    linear: ClassVar[bool] = False
    narrow: ClassVar[bool] = True

    inner: Step
    columns: Columns

    @property
    def kind(self) -> str:
        """Kind of the inner model; see :attr:`rankstudio.engine.steps.Step.kind`."""
        return self.inner.kind

    def scores(self, columns: Floats, previous_scores: Floats | None = None) -> Floats:
        """Score documents; see :meth:`rankstudio.engine.steps.Step.scores`."""
        return self.inner.scores(np.ascontiguousarray(columns[list(self.columns)]))

    def beyond_weights(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return the definition; see :meth:`rankstudio.engine.steps.Step.beyond_weights`."""
        return self.inner.beyond_weights([ids[column] for column in self.columns])


@dataclass(frozen=True, eq=False)
class OfSums(Narrowed):
    """A nonlinear model of new features, which are sums of features.

    Attributes
    ----------
    sums : ndarray of shape (t, s)
        Weights of each sum for the s columns. ``coef`` divides the importance of a sum by the sizes of these.
    """

    sums: Floats

    @property
    def kind(self) -> str:
        """Kind of the inner model, or "sums"; see :attr:`rankstudio.engine.steps.Step.kind`."""
        return self.inner.kind or "sums"

    def scores(self, columns: Floats, previous_scores: Floats | None = None) -> Floats:
        """Score documents; see :meth:`rankstudio.engine.steps.Step.scores`."""
        return self.inner.scores(linear_scores(np.ascontiguousarray(columns[list(self.columns)]), self.sums))

    def beyond_weights(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return the definition; see :meth:`rankstudio.engine.steps.Step.beyond_weights`."""
        model = self.inner.beyond_weights(range(1, len(self.sums) + 1))
        columns = [int(ids[column]) for column in self.columns]
        return {"kind": "sums", "columns": columns, "sums": self.sums.tolist(), "model": model}


def selections(steps: Sequence[Step], growing: bool) -> tuple[Columns, ...]:
    """Return the feature sets to rank with, of growing size.

    Parameters
    ----------
    steps : sequence of Step
        Steps of a selector.
    growing : bool
        Whether its steps are growing sets. Otherwise they are iterations, and the features of the last one,
        most important first, form sets of the first one, the first two, and so on.
    """
    if growing:
        return tuple(step.selected for step in steps)
    order = steps[-1].selected
    return tuple(order[:k] for k in range(1, len(order) + 1)) or ((),)


def comparisons(
    steps: Sequence[Step], growing: bool, score: CandidateScore | None, divisor: float
) -> tuple[Floats, ...]:
    """Return the scores by which the features of each set of :func:`selections` were compared.

    Parameters
    ----------
    steps, growing
        As in :func:`selections`.
    score : CandidateScore or None
        The selector's.
    divisor : float
        Divisor of its criteria.

    Returns
    -------
    tuple of ndarray of shape (n,) or (0,)
        Scores, NaN for features that were not candidates; of size 0 if none were compared.
    """
    if score is None:
        return tuple(np.empty(0) for _ in selections(steps, growing))
    if growing:
        return tuple(score.of(step, divisor) for step in steps)
    order = steps[-1].selected
    scores = score.of(steps[-1], divisor)
    return tuple(without(scores, list(order[:k])) for k in range(max(1, len(order))))


def two_stage_steps(
    ranker: LinearRanker, data: GivenData, sets: Sequence[Columns]
) -> Iterator[Step | WorkProgress]:
    """Train a model with each of several sets of features; each is one step.

    Parameters
    ----------
    ranker : LinearRanker
        Final ranker.
    data : QueryData or TrainingData
        Training data with all features. A ranker that needs all documents at once has only the selected
        features in memory.
    sets : sequence of tuple of int
        Columns of each set; an empty set gives the model with equal scores for all documents.

    Yields
    ------
    Step, WorkProgress
        The criterion of a step is that of the ranker after its last iteration or round.

    Raises
    ------
    OutOfMemoryError
        If a ranker needs all documents at once, and a set of their features exceeds the memory limit.
    """
    data = training_data(data)
    if sets[-1] and all(columns == sets[-1][: len(columns)] for columns in sets):
        nested_steps = ranker.nested(data, sets[-1])
        if nested_steps is not None:
            of_size = {len(step.selected): step for step in (yield from steps_of(nested_steps))}
            for number, columns in enumerate(sets, start=1):
                nested_step = of_size.get(len(columns))
                yield (
                    replace(nested_step, number=number)
                    if nested_step
                    else widened(None, number, (), data.X.shape[1])
                )
            return
    for number, columns in enumerate(sets, start=1):
        ascending = tuple(sorted(columns))
        model = yield from _learn_once(ranker, data, ascending, (number - 1) / len(sets))
        yield widened(model, number, columns, data.X.shape[1])


def combined_steps(
    ranker: LinearRanker, data: TrainingData, sets: Sequence[Columns], combinations: Floats, first: int = 1
) -> Iterator[Step | WorkProgress]:
    """Train a ranker with the first 1, 2, … of some new features, which are sums of features.

    Parameters
    ----------
    ranker : LinearRanker
        Final ranker.
    data : TrainingData
        Training data with all features.
    sets : sequence of tuple of int
        Features of the first 1, 2, … sums; they are those of each model.
    combinations : ndarray of shape (t, n)
        Weights of the sums, each scaled to a standard deviation of 1 within queries.
    first : int, default 1
        Number of the first model to train.

    Yields
    ------
    Step, WorkProgress
        Weights are those of the features, or their importance; the criterion is that of the ranker.
    """
    query_data = data.whole(trn("{n} new feature", "{n} new features", len(sets)).format(n=len(sets)))
    deviation = yield from deviations(data, combinations)
    scaled = combinations / np.where(deviation > 0, deviation, 1.0)[:, None]
    new = replace(
        query_data,
        X=_sums_of_features(query_data.X, scaled),
        validation=None
        if query_data.validation is None
        else _sums_of_features(query_data.validation, scaled),
        sharing=None,
    )
    for number, columns in enumerate(sets[first - 1 :], start=first):
        sums = tuple(range(number))
        model = yield from _learn_once(ranker, training_data(new), sums, (number - 1) / len(sets))
        assert model is not None  # a set of sums is never empty
        if model.linear:
            yield Step(number, columns, model.coef @ scaled[:number], model.criterion, np.empty(0))
            continue
        used = tuple(sorted(columns))
        weights = np.ascontiguousarray(scaled[:number, used])
        shares = np.abs(scaled[:number]) / np.abs(weights).sum(axis=1, keepdims=True)
        yield OfSums(
            number=number,
            selected=columns,
            coef=model.coef @ shares,
            criterion=model.criterion,
            candidates=np.empty(0),
            inner=model,
            columns=used,
            sums=weights,
        )


def _sums_of_features(X: Floats, sums: Floats) -> Floats:
    """Return sums (t, n) of features, shape (m, t), to the same bits as models compute them."""
    out = np.empty((len(X), len(sums)))
    step = max(1, VALUES // X.shape[1])
    for first in range(0, len(X), step):
        rows = X[first : first + step]
        out[first : first + step] = linear_scores(np.ascontiguousarray(rows.T), sums).T
    return out


@dataclass
class _Models:
    """Linear models of some data, by the ranker, its parameters and the columns."""

    learned: dict[tuple[type, str, Columns], Step] = field(default_factory=dict)


def _learn_once(
    ranker: LinearRanker, data: TrainingData, columns: Columns, share: float
) -> Waiting[Step | None]:
    """Yield progress, and return the last model of some columns, which is kept for all who select them.

    None without a column.
    """
    models = data.shared.of(_Models).learned
    key = (type(ranker), repr(ranker.get_params()), columns)
    if key in models:
        return models[key]
    last: Step | None = None
    for step in ranker.work(data.narrowed(columns)) if columns else ():
        if isinstance(step, Step):
            last = step
        text = trn("ranking with {n} feature", "ranking with {n} features", len(columns))
        yield WorkProgress(text.format(n=len(columns)), share)
    if last is not None and last.linear:  # others hold on to more than a few numbers
        models[key] = last
    return last


def widened(last: Step | None, number: int, columns: Columns, n: int) -> Step:
    """Return a model of some columns, in ascending order, as a model of all n columns."""
    coef = np.zeros(n)
    if last is None:
        return Step(number, (), coef, float("nan"), np.empty(0))
    ascending = tuple(sorted(columns))
    coef[list(ascending)] = last.coef
    if last.linear:
        return Step(number, columns, coef, last.criterion, np.empty(0))
    return Narrowed(number, columns, coef, last.criterion, np.empty(0), inner=last, columns=ascending)
