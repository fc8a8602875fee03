"""The Pareto front of finished runs: fewest features and best mean validation measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankstudio.engine.analysis.tried_models import (
    TriedModel,
    best_of_sizes,
    can_measure,
    tried_models,
    validation_values,
)
from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.statistics.mean_intervals import mean_intervals
from rankstudio.engine.statistics.pareto import one_standard_error, pareto_front


@dataclass(frozen=True)
class ParetoModel:
    """One combination and step of its path, over the folds of a run.

    Attributes
    ----------
    run : int
        Position of the run among those given.
    values : tuple
        On the axes of its plan.
    step : int
        On the path: how many features, or which round.
    size : float
        Features of the model, mean over the folds.
    mean : float
        Of the validation measure over the folds.
    error : float
        Standard error of that mean: the deviation over the folds / √folds; NaN with one fold.
    """

    run: int
    values: tuple[Any, ...]
    step: int
    size: float
    mean: float
    error: float


@dataclass(frozen=True, eq=False)
class ParetoFront:
    """The models that no other beats in size and measure, among all, and which one to take.

    Attributes
    ----------
    models : tuple of ParetoModel
        The best combination of every size of every run, by run and ascending size.
    optimal : tuple of int
        Positions of those that no other beats in size and mean, by ascending size.
    best : int
        Position of the greatest mean (the least, for an error); of equal ones the smallest.
    suggested : int
        Position of the smallest one that is good enough: by `levels`.
    levels : tuple of float
        For each of `optimal`, the mean from which on it is good enough. Where `paired`, the best mean less
        half the length of the 95 % interval of the difference between the two models over queries: a model
        on its level is just not significantly worse than the best. Else one standard error below the best
        for all; a fold alone has no standard error, and there only the best itself will do.
    paired : bool
        Whether models were held against the best query by query.
    """

    models: tuple[ParetoModel, ...]
    optimal: tuple[int, ...]
    best: int
    suggested: int
    levels: tuple[float, ...]
    paired: bool = False


def pareto_front_of(
    runs: Sequence[RunResult], name: str, data: Sequence[FoldedDataset] = ()
) -> ParetoFront | None:
    """Find the Pareto front of the sizes that runs have tried and their mean validation measure.

    The deviation between folds belongs to the folds more than to the models: a fold of hard queries is hard
    for all of them. So where the documents are at hand, the smallest model is suggested that the queries do
    not tell apart from the best one, by the paired interval over all of them.

    Parameters
    ----------
    runs : sequence of RunResult
        On the same folds.
    name : str
        Of the measure.
    data : sequence of FoldedDataset, optional
        That of each run. Without it, or where it has no documents to validate with, one standard error over
        the folds stands for the interval.

    Returns
    -------
    ParetoFront or None
        None where no run has a model that was measured on a validation part.
    """
    better = measure(name).higher_is_better
    tried = _tried(runs, name)
    if not tried:
        return None
    models = tuple(_model(number, runs[number], model) for number, model in tried)
    sizes, means, errors = ([getattr(m, what) for m in models] for what in ("size", "mean", "error"))
    optimal = tuple(pareto_front(sizes, means, better).tolist())
    best = optimal[-1]
    towards = -1.0 if better else 1.0  # from the best mean to worse ones
    half = _paired_half(runs, data, [tried[i] for i in optimal], name) if len(data) == len(runs) else None
    if half is not None:
        levels = tuple(means[best] + towards * float(h) for h in half)
        suggested = _first_within([means[i] for i in optimal], levels, better)
        return ParetoFront(models, optimal, best, optimal[suggested], levels, paired=True)
    room = 0.0 if np.isnan(errors[best]) else errors[best]
    levels = (means[best] + towards * room,) * len(optimal)
    return ParetoFront(models, optimal, best, one_standard_error(means, errors, sizes, better), levels)


def _tried(runs: Sequence[RunResult], name: str) -> list[tuple[int, TriedModel]]:
    """Return the best model of every size of each run, with the run's position."""
    return [
        (number, model)
        for number, run in enumerate(runs)
        if run.sizes  # of a ranking that was given there is none
        for model in best_of_sizes(tried_models(run, name), name)
    ]


def _first_within(means: Sequence[float], levels: Sequence[float], better: bool) -> int:
    """Return the position of the first mean that is as good as its level."""
    pairs = zip(means, levels, strict=True)
    return next(i for i, (mean, level) in enumerate(pairs) if (mean >= level if better else mean <= level))


def _model(number: int, run: RunResult, tried: TriedModel) -> ParetoModel:
    values = run.plan.combinations[tried.combination].values
    return ParetoModel(number, values, tried.place, tried.size, tried.mean, tried.error)


def _paired_half(
    runs: Sequence[RunResult],
    data: Sequence[FoldedDataset],
    front: Sequence[tuple[int, TriedModel]],
    name: str,
) -> Floats | None:
    """Return half the interval of each front model's difference to the last; None without documents."""
    numbers = {number for number, _ in front}
    if not all(can_measure(runs[number], data[number]) for number in numbers):
        return None
    found: dict[int, list[Floats]] = {}
    for number in numbers:
        steps = [model.steps for of, model in front if of == number]
        rows = validation_values(runs[number], data[number], list(zip(*steps, strict=True)), name)
        places = [place for place, (of, _) in enumerate(front) if of == number]
        for row, place in enumerate(places):
            found[place] = [fold[row] for fold in rows]
    values = [np.array([found[place][fold] for place in range(len(front))]) for fold in range(len(found[0]))]
    half = mean_intervals([one - one[-1] for one in values]).half
    if np.isnan(half[-1]):
        return None
    return np.where(np.isnan(half), 0.0, half)
