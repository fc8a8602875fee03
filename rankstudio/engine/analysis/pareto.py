"""The Pareto front of finished runs: fewest features and best mean validation measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.experiment.results.results import PathResult, RunResult
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.metrics.names import measure
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
        Position of the smallest one within a standard error of the best; a fold alone has no standard
        error, and there it is the best itself.
    enough : float
        The mean that is one standard error worse than the best.
    """

    models: tuple[ParetoModel, ...]
    optimal: tuple[int, ...]
    best: int
    suggested: int
    enough: float


def pareto_front_of(runs: Sequence[RunResult], name: str) -> ParetoFront | None:
    """Find the Pareto front of the sizes that runs have tried and their mean validation measure.

    Parameters
    ----------
    runs : sequence of RunResult
        On the same folds.
    name : str
        Of the measure.

    Returns
    -------
    ParetoFront or None
        None where no run has a model that was measured on a validation part.
    """
    better = measure(name).higher_is_better
    models = tuple(m for number, run in enumerate(runs) for m in _models(number, run, name, better))
    if not models:
        return None
    sizes, means, errors = ([getattr(m, what) for m in models] for what in ("size", "mean", "error"))
    front = pareto_front(sizes, means, better)
    suggested = one_standard_error(means, errors, sizes, better)
    best = models[int(front[-1])]
    room = 0.0 if np.isnan(best.error) else best.error
    enough = best.mean - room if better else best.mean + room
    return ParetoFront(models, tuple(front.tolist()), int(front[-1]), suggested, enough)


def _models(number: int, run: RunResult, name: str, better: bool) -> list[ParetoModel]:
    """Return the best model of every size of a run."""
    best: dict[float, ParetoModel] = {}
    for combination, paths in enumerate(zip(*(fold.paths for fold in run.folds), strict=True)):
        values = run.plan.combinations[combination].values
        for step, size, everywhere in _across(paths, name):
            measured = everywhere[~np.isnan(everywhere)]  # in one query alone it may not be defined
            mean = float(measured.mean()) if measured.size else np.nan
            error = float(measured.std(ddof=1) / np.sqrt(measured.size)) if measured.size > 1 else np.nan
            known = best.get(size)
            ahead = known is None or (mean > known.mean if better else mean < known.mean)
            if np.isfinite(mean) and ahead:
                best[size] = ParetoModel(number, values, step, size, mean, error)
    return [best[size] for size in sorted(best)]


def _across(paths: Sequence[PathResult], name: str) -> Iterator[tuple[int, float, Floats]]:
    """Yield step, mean size and the measure in each fold of every model that all folds have."""
    if any(name not in path.validation for path in paths):
        return
    if paths[0].step_kind is StepKind.ITERATIONS:  # which are not equally many in all folds
        steps = [[len(path.steps) - 1 for path in paths]]
    else:
        steps = [[i] * len(paths) for i in range(min(len(path.steps) for path in paths))]
    for numbers in steps:
        on = list(zip(paths, numbers, strict=True))
        size = float(np.mean([path.sizes[i] for path, i in on]))
        yield int(on[0][0].x_values[on[0][1]]), size, np.array([path.validation[name][i] for path, i in on])
