"""Two stages: one method selects features, another ranks.

A path of selections becomes a path of models.
"""

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
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    TrainingData,
    training_data,
)
from rankstudio.engine.steps import Step, steps_of
from rankstudio.engine.support.blocks import VALUES
from rankstudio.engine.support.work import Waiting, WorkProgress

Columns = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Narrowed(Step):
    """A step with a nonlinear model of some of the features.

    Attributes
    ----------
    inner : Step
        Model that was trained on these features only.
    columns : tuple of int
        Columns of these features, ascending; ``selected`` has the
        columns in the order of selection.
    """

    linear: ClassVar[bool] = False
    narrow: ClassVar[bool] = True

    inner: Step
    columns: Columns

    @property
    def kind(self) -> str:
        """Kind of the inner model, such as "kernel"; "" for a linear one.

        See :attr:`rankstudio.engine.steps.Step.kind`.
        """
        return self.inner.kind

    def scores(self, columns: Floats, previous_scores: Floats | None = None) -> Floats:
        """Return the scores (m,) of documents whose features are ``columns`` (n, m).

        ``previous_scores``, those of the step before, are not used.
        """
        return self.inner.scores(np.ascontiguousarray(columns[list(self.columns)]))

    def beyond_weights(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return the model as plain values, which can be written to a file.

        See :meth:`rankstudio.engine.steps.Step.beyond_weights`. ``ids``
        are those of all features.
        """
        return self.inner.beyond_weights([ids[column] for column in self.columns])


@dataclass(frozen=True, eq=False)
class OfSums(Narrowed):
    """A step with a nonlinear model of new features, which are weighted sums of features.

    Attributes
    ----------
    sums : ndarray of shape (t, s)
        Weights of the s columns in each of t sums. ``coef`` divides the
        importance of a sum among its features in proportion to the
        sizes of their weights.
    """

    sums: Floats

    @property
    def kind(self) -> str:
        """Kind of the inner model, or "sums".

        See :attr:`rankstudio.engine.steps.Step.kind`.
        """
        return self.inner.kind or "sums"

    def scores(self, columns: Floats, previous_scores: Floats | None = None) -> Floats:
        """Return the scores (m,) of documents whose features are ``columns`` (n, m).

        ``previous_scores``, those of the step before, are not used.
        """
        new_features = linear_scores(
            np.ascontiguousarray(columns[list(self.columns)]), self.sums
        )
        return self.inner.scores(new_features)

    def beyond_weights(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return the model as plain values for a file: the sums, and the model of them.

        ``ids`` are the ids of all features, by column. The features of
        the inner model are the t sums, so they have the ids 1 to t.
        """
        model = self.inner.beyond_weights(range(1, len(self.sums) + 1))
        columns = [int(ids[column]) for column in self.columns]
        return {
            "kind": "sums",
            "columns": columns,
            "sums": self.sums.tolist(),
            "model": model,
        }


def selections(steps: Sequence[Step], growing: bool) -> tuple[Columns, ...]:
    """Return the sets of features that a selector has selected, of increasing size, for a final ranker.

    Parameters
    ----------
    steps : sequence of Step
        Steps of a selector.
    growing : bool
        Whether the steps are growing sets. Otherwise the steps are
        iterations: the sets are then the first 1, 2, … features of the
        last iteration, the most important feature first.
    """
    if growing:
        return tuple(step.selected for step in steps)
    order = steps[-1].selected
    # An empty order has one set, the empty one.
    return tuple(order[:k] for k in range(1, len(order) + 1)) or ((),)


def comparisons(
    steps: Sequence[Step], growing: bool, score: CandidateScore | None, divisor: float
) -> tuple[Floats, ...]:
    """Return the scores by which a selector compared the features before it selected each set.

    Parameters
    ----------
    steps : sequence of Step
        Steps of the selector.
    growing : bool
        Whether each step is a set of features, one larger than the
        last. Otherwise they are iterations, and the sets are the first
        1, 2, … features of the last one.
    score : CandidateScore or None
        Score by which the selector compares features; None if it compares none.
    divisor : float
        Divisor of the selector's criteria, which makes those of
        different folds comparable.

    Returns
    -------
    tuple of ndarray of shape (n,) or (0,)
        Scores, NaN for features that were not candidates; of size 0 if
        none were compared.
    """
    if score is None:
        return tuple(np.empty(0) for _ in selections(steps, growing))
    if growing:
        return tuple(score.of(step, divisor) for step in steps)
    # The scores of the last iteration for all sets. For the set of k +
    # 1 features, those of the set of k are no candidates: NaN. An empty
    # order still has one set, the empty one.
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
        Training data with all features. For a ranker that needs all
        documents at once, only the selected features are in memory.
    sets : sequence of tuple of int
        Columns of each set; an empty set gives the model with equal
        scores for all documents.

    Yields
    ------
    Step, WorkProgress
        The criterion of a step is that of the ranker after its last iteration or round.

    Raises
    ------
    OutOfMemoryError
        If a ranker needs all documents at once, and a set of their
        features exceeds the memory limit.
    """
    data = training_data(data)
    # Each set may be the beginning of the last one. Some rankers train
    # all models of such sets at once, and return None otherwise.
    largest_set = sets[-1]
    are_nested = all(columns == largest_set[: len(columns)] for columns in sets)
    if largest_set and are_nested:
        nested_steps = ranker.nested(data, largest_set)
        if nested_steps is not None:
            # The models by their numbers of features; `steps_of` passes
            # on their progress.
            step_of_size = {
                len(step.selected): step for step in (yield from steps_of(nested_steps))
            }
            for number, columns in enumerate(sets, start=1):
                nested_step = step_of_size.get(len(columns))
                if nested_step:
                    yield replace(nested_step, number=number)
                else:  # the empty set, for which the ranker has no step
                    yield widened(None, number, (), data.X.shape[1])  # weights of 0
            return
    # Otherwise one model after the other.
    for number, columns in enumerate(sets, start=1):
        ascending = tuple(sorted(columns))
        # The last step of the ranker on these columns only, and then
        # the same with weights for all columns.
        model = yield from _learn_once(
            ranker, data, ascending, (number - 1) / len(sets)
        )
        yield widened(model, number, columns, data.X.shape[1])


def combined_steps(
    ranker: LinearRanker,
    data: TrainingData,
    sets: Sequence[Columns],
    combinations: Floats,
    first: int = 1,
) -> Iterator[Step | WorkProgress]:
    """Train a ranker with the first 1, 2, … of some new features, which are weighted sums of features.

    Parameters
    ----------
    ranker : LinearRanker
        Final ranker.
    data : TrainingData
        Training data with all features.
    sets : sequence of tuple of int
        A set of columns for each of t steps: all features that have a
        weight in the first sum, in the first two sums, and so on. These
        are the selected features of the step.
    combinations : ndarray of shape (t, n)
        Weights of the n features in each of t sums. Each sum is then
        scaled to a standard deviation of 1 within queries.
    first : int, default 1
        Number of the first model to train, from 1; those before are skipped.

    Yields
    ------
    Step, WorkProgress
        A step per model. Its ``coef`` are the weights of the original
        features in a linear model, otherwise their importance. Its
        criterion is that of the ranker.
    """
    # The new features of all documents, each with a standard deviation
    # of 1 within queries. The text is for the error if they do not fit
    # into memory.
    query_data = data.whole(
        trn("{n} new feature", "{n} new features", len(sets)).format(n=len(sets))
    )
    deviation = yield from deviations(data, combinations)
    # A sum that is constant within all queries stays as it is.
    scaled = combinations / np.where(deviation > 0, deviation, 1.0)[:, None]
    validation = query_data.validation
    new_data = replace(
        query_data,
        X=_sums_of_features(query_data.X, scaled),
        validation=None
        if validation is None
        else _sums_of_features(validation, scaled),
        sharing=None,  # cached results of the original features do not apply
    )
    for number, columns in enumerate(sets[first - 1 :], start=first):
        sums = tuple(range(number))
        model = yield from _learn_once(
            ranker, training_data(new_data), sums, (number - 1) / len(sets)
        )
        assert model is not None  # a set of sums is never empty
        # A linear model of sums of features is a linear model of the features.
        if model.linear:
            coef = model.coef @ scaled[:number]
            yield Step(
                number=number,
                selected=columns,
                coef=coef,
                criterion=model.criterion,
                candidates=np.empty(0),
            )
            continue
        # Any other model is stored with its sums, whose weights outside
        # the columns of this step are 0.
        used = tuple(sorted(columns))
        weights = np.ascontiguousarray(scaled[:number, used])
        # The model has an importance for each sum, which is divided
        # among the features of the sum. The share of a feature is
        # |weight| / (sum of all
        # |weights|).
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
    """Return weighted sums of the features X (m, n), shape (m, t); ``sums`` (t, n) are their weights.

    The sums are rounded exactly as in the scores of a model, because
    the same function computes both.
    """
    out = np.empty((len(X), len(sums)))
    # Blocks of rows, because each block is copied with the features as rows.
    step = max(1, VALUES // X.shape[1])
    for first in range(0, len(X), step):
        rows = X[first : first + step]
        out[first : first + step] = linear_scores(np.ascontiguousarray(rows.T), sums).T
    return out


@dataclass
class _Models:
    """Cache of linear models of one dataset.

    A key is the ranker's class, its parameters and the columns.
    """

    learned: dict[tuple[type, str, Columns], Step] = field(default_factory=dict)


def _learn_once(
    ranker: LinearRanker, data: TrainingData, columns: Columns, share: float
) -> Waiting[Step | None]:
    """Train a ranker on some columns with progress events, and return its last step; None without columns.

    ``share``, from 0 to 1, is the progress that all events show. Linear
    models are cached in the results that the training data share,
    because several selectors may select the same columns. The generator
    yields progress events, and then returns the result.
    """
    models = data.shared.of(_Models).learned
    key = (type(ranker), repr(ranker.get_params()), columns)
    if key in models:
        return models[key]
    # The loop has no items without columns.
    last: Step | None = None
    for step in ranker.work(data.narrowed(columns)) if columns else ():
        if isinstance(step, Step):
            last = step
        text = trn(
            "ranking with {n} feature", "ranking with {n} features", len(columns)
        )
        yield WorkProgress(text.format(n=len(columns)), share)
    if last is not None and last.linear:  # other models may take much memory
        models[key] = last
    return last


def widened(last: Step | None, number: int, columns: Columns, n: int) -> Step:
    """Return a model of some columns as a step with a model of all n columns.

    The model ``last`` was trained on the columns in ascending order.
    ``columns`` are the same in the order of selection, and ``number``
    is the number of the step. If ``last`` is None, all weights of the
    step are 0.
    """
    coef = np.zeros(n)
    no_candidates = np.empty(0)
    if last is None:
        return Step(
            number=number,
            selected=(),
            coef=coef,
            criterion=float("nan"),
            candidates=no_candidates,
        )
    # Weights, or importances, of the columns of the model; 0 for all others.
    ascending = tuple(sorted(columns))
    coef[list(ascending)] = last.coef
    # A linear model needs nothing else; another one keeps the inner
    # model and reads its columns.
    if last.linear:
        return Step(
            number=number,
            selected=columns,
            coef=coef,
            criterion=last.criterion,
            candidates=no_candidates,
        )
    return Narrowed(
        number=number,
        selected=columns,
        coef=coef,
        criterion=last.criterion,
        candidates=no_candidates,
        inner=last,
        columns=ascending,
    )
