"""The Pareto front of finished runs.

Its models have few features, or low cost, and good means of a
validation measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rankstudio.engine.analysis.tried_models.run_costs import RunCosts, costs_of
from rankstudio.engine.analysis.tried_models.tried_models import (
    TriedModel,
    best_of_sizes,
    can_measure,
    tried_models,
    values_by_query,
)
from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.statistics.mean_intervals import LEAST_PAIRS, mean_intervals
from rankstudio.engine.statistics.pareto import one_standard_error, pareto_front


@dataclass(frozen=True)
class ParetoModel:
    """A combination of parameter values of a run, at a step of its path, over all folds.

    A path is the models with 1, 2, … features or rounds. A run tries
    several values of some parameters, the axes of its plan; each
    combination of these values has a path.

    Attributes
    ----------
    run : int
        Position of the run among those compared.
    values : tuple
        The combination: a value for each axis of the plan.
    step : int
        Position on the path: number of features, or round.
    size : float
        Number of features of the model, mean over the folds.
    x : float
        Size or cost, by which models are compared.
    mean : float
        Mean of the validation measure over the folds.
    error : float
        Standard error of the mean: standard deviation over the folds /
        √folds; NaN for a single fold.
    """

    run: int
    values: tuple[Any, ...]
    step: int
    size: float
    x: float
    mean: float
    error: float


@dataclass(frozen=True, eq=False)
class ParetoFront:
    """Pareto-optimal models: no other is both smaller and better by a measure.

    If models are compared by cost, the cost takes the place of the size
    in the attributes.

    Attributes
    ----------
    models : tuple of ParetoModel
        Best combination of parameter values of every size of every run,
        by run and ascending size; by cost, the models of each run that
        no other model of this run beats.
    optimal : tuple of int
        Positions in `models` of the Pareto-optimal models, by ascending size.
    best : int
        Position of the model with the largest mean (the smallest, for
        an error); ties go to the smallest model.
    suggested : int
        Position of the smallest model whose mean is at least its level
        in `levels`, the suggestion.
    levels : tuple of float
        Minimum mean to be good enough, for each model of `optimal`. If
        `paired`, the best mean minus half the length of the 95 %
        interval of the difference between the two models over queries:
        a model at its level is just not significantly worse than the
        best. Otherwise one standard error below the best for all; a
        single fold has no standard error, so only the best model is
        good enough.
    paired : bool
        Whether models were compared with the best one query by query.
    by : {"size", "cost", "milliseconds"}
        Property by which models are compared; milliseconds per query
        are a cost.
    """

    models: tuple[ParetoModel, ...]
    optimal: tuple[int, ...]
    best: int
    suggested: int
    levels: tuple[float, ...]
    paired: bool = False
    by: Literal["size", "cost", "milliseconds"] = "size"


def pareto_front_of(
    runs: Sequence[RunResult],
    name: str,
    data: Sequence[FoldedDataset] = (),
    by: Literal["size", "cost"] = "size",
) -> ParetoFront | None:
    """Find the models of runs for which no other model is both smaller and better.

    Models are compared by size, or by cost, and by the mean validation measure.

    The deviation between folds reflects the folds more than the models:
    a fold of hard queries is hard for all models. If the documents are
    available, the suggested model is therefore the smallest one not
    significantly worse than the best, by the paired interval over all
    queries.

    Parameters
    ----------
    runs : sequence of RunResult
        Runs on the same folds.
    name : str
        Name of the measure.
    data : sequence of FoldedDataset, optional
        Data of each run. Without data, validation documents or
        `LEAST_PAIRS` validation queries, or with a model on the front
        that the study did not store, one standard error over the folds
        replaces the interval.
    by : {"size", "cost"}
        Number of features, or what they cost; see
        :func:`rankstudio.engine.analysis.tried_models.run_costs.costs_of`.

    Returns
    -------
    ParetoFront or None
        None if no run has a model with a validation measure, or by cost
        if no run has costs.
    """
    # Tried models with the positions of their runs, and their sizes or costs.
    better = measure(name).higher_is_better
    costs = costs_of(runs) if by == "cost" else None
    if costs is None and by == "cost":
        return None
    tried = (
        _best_models_of_sizes(runs, name)
        if costs is None
        else _optimal_models_by_cost(runs, name, costs, better)
    )
    if not tried:
        return None

    # Positions of the models on the front; the last of them has the best mean.
    models = tuple(
        _pareto_model(number, runs[number], model, x) for number, model, x in tried
    )
    sizes = [model.x for model in models]
    means = [model.mean for model in models]
    optimal = tuple(pareto_front(sizes, means, better).tolist())

    front = [(number, model) for number, model, _ in (tried[i] for i in optimal)]
    half_widths = _paired_half_widths(runs, data, front, name)
    levels, suggested = _levels_and_suggestion(models, optimal, half_widths, better)
    is_timed = costs is not None and costs.milliseconds
    return ParetoFront(
        models=models,
        optimal=optimal,
        best=optimal[-1],
        suggested=suggested,
        levels=levels,
        paired=half_widths is not None,
        by="milliseconds" if is_timed else by,
    )


def _levels_and_suggestion(
    models: Sequence[ParetoModel],
    optimal: Sequence[int],
    half_widths: Floats | None,
    better: bool,
) -> tuple[tuple[float, ...], int]:
    """Return the level of each model of the front, and the position of the suggested model.

    The front has the models for which no other is both smaller and
    better. A model is good enough if its mean is at least as good as
    its level. The suggested model is the smallest good one.

    ``optimal`` has the positions of the models on the front, by size;
    the last one has the best mean. ``half_widths`` has for each of them
    half the interval of the paired difference to the best model: a good
    model may be worse by this much. With None, it may be worse by one
    standard error of the best mean. ``better`` says whether larger
    means are better.
    """
    means = [model.mean for model in models]
    best = optimal[-1]
    worse_sign = -1.0 if better else 1.0  # direction from the best mean to worse means
    if half_widths is not None:
        levels = tuple(
            means[best] + worse_sign * float(half_width) for half_width in half_widths
        )
        first = _first_within([means[i] for i in optimal], levels, better)
        return levels, optimal[first]
    errors = [model.error for model in models]
    sizes = [model.x for model in models]
    error = 0.0 if np.isnan(errors[best]) else errors[best]
    levels = (means[best] + worse_sign * error,) * len(optimal)
    return levels, one_standard_error(means, errors, sizes, better)


def _best_models_of_sizes(
    runs: Sequence[RunResult], name: str
) -> list[tuple[int, TriedModel, float]]:
    """Return the best model of every size of each run, by the measure `name`.

    The items are the position of the run, the model, and its size.
    """
    return [
        (number, model, model.size)
        for number, run in enumerate(runs)
        if run.sizes  # a given ranking has no size
        for model in best_of_sizes(tried_models(run, name), name)
    ]


def _optimal_models_by_cost(
    runs: Sequence[RunResult], name: str, costs: RunCosts, better: bool
) -> list[tuple[int, TriedModel, float]]:
    """Return the models of each run that no other model beats in cost and measure.

    Only models of the same run are compared. Models of one size differ
    in cost, so all models are compared, not only the best one of each
    size. The items of the result are the position of the run, the
    model, and its cost. `better` says whether larger values of the
    measure `name` are better.
    """
    front_models: list[tuple[int, TriedModel, float]] = []
    for number, run in enumerate(runs):
        # A ranking of the user has no sizes, and so no models.
        models = (
            [model for path in tried_models(run, name) for model in path]
            if run.sizes
            else []
        )
        # Models whose cost is known, and the front of them.
        model_costs = [costs.of(model, run.feature_ids) for model in models]
        models_with_cost = [
            (model, cost)
            for model, cost in zip(models, model_costs, strict=True)
            if np.isfinite(cost)
        ]
        if models_with_cost:
            means = [model.mean for model, _ in models_with_cost]
            optimal = pareto_front(
                [cost for _, cost in models_with_cost], means, better
            ).tolist()
            front_models += [(number, *models_with_cost[i]) for i in optimal]
    return front_models


def _first_within(means: Sequence[float], levels: Sequence[float], better: bool) -> int:
    """Return the position of the first mean that is at least as good as its level.

    Such a mean exists, because the last mean is always good enough.
    `better` says whether larger means are better.
    """
    pairs = zip(means, levels, strict=True)
    return next(
        i
        for i, (mean, level) in enumerate(pairs)
        if (mean >= level if better else mean <= level)
    )


def _pareto_model(
    number: int, run: RunResult, tried: TriedModel, x: float
) -> ParetoModel:
    """Return a tried model of a run as a point of the front; x is its size or cost."""
    values = run.plan.combinations[tried.combination].values
    return ParetoModel(
        run=number,
        values=values,
        step=tried.x_value,
        size=tried.size,
        x=x,
        mean=tried.mean,
        error=tried.error,
    )


def _paired_half_widths(
    runs: Sequence[RunResult],
    data: Sequence[FoldedDataset],
    front: Sequence[tuple[int, TriedModel]],
    name: str,
) -> Floats | None:
    """Return half the interval of each model's difference to the best model, shape (K,).

    The front has the K models for which no other is both smaller and
    better; the last one has the best mean. The differences are those of
    the measure `name` in each query. The result is None without the
    data of all runs, with too few queries, or if a study did not store
    one of the models.
    """
    if len(data) != len(runs):
        return None
    # Positions of the runs that have models on the front.
    numbers = {number for number, _ in front}
    if not all(can_measure(runs[number], data[number], name) for number in numbers):
        return None
    # For each model, by its position on the front: the measure in each
    # query, shape (Q,), for each fold.
    values_by_model: dict[int, list[Floats]] = {}
    for number in numbers:
        # A model has a step for each fold.
        steps = [model.steps for run, model in front if run == number]
        fold_values = values_by_query(
            runs[number], data[number], list(zip(*steps, strict=True)), name
        )
        positions = [
            position for position, (run, _) in enumerate(front) if run == number
        ]
        for row, position in enumerate(positions):
            values_by_model[position] = [
                values_of_fold[row] for values_of_fold in fold_values
            ]

    # One table per fold, with a row per model and a column per query.
    n_folds = len(values_by_model[0])
    values = [
        np.array([values_by_model[position][fold] for position in range(len(front))])
        for fold in range(n_folds)
    ]

    # Too few queries give no interval.
    n_queries = np.sum(
        [np.count_nonzero(~np.isnan(table), axis=1) for table in values], axis=0
    )
    if n_queries[-1] < LEAST_PAIRS or not n_queries.all():
        return None
    # Differences to the last row, query by query; the last model's own are
    # 0.
    half = mean_intervals([table - table[-1] for table in values]).half
    return np.where(np.isnan(half), 0.0, half)
