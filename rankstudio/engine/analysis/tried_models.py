"""The models that a run has tried, each over all its folds: one combination and step of its path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.experiment.results.results import PathResult, RunResult
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.steps import Step


@dataclass(frozen=True, eq=False)
class TriedModel:
    """One combination and step, over the folds of a run.

    Attributes
    ----------
    combination : int
        Position among the plan's combinations.
    place : int
        On the path: how many features, or which round.
    size : float
        Features of the model, mean over the folds.
    steps : tuple of Step
        The model of each fold.
    values : ndarray of shape (F,)
        The validation measure in each fold; NaN where it is not defined.
    """

    combination: int
    place: int
    size: float
    steps: tuple[Step, ...]
    values: Floats

    @property
    def mean(self) -> float:
        """Mean over the folds in which the measure is defined."""
        there = self.values[~np.isnan(self.values)]
        return float(there.mean()) if there.size else float("nan")

    @property
    def error(self) -> float:
        """Standard error of that mean over the folds: deviation / √folds; NaN with one fold."""
        there = self.values[~np.isnan(self.values)]
        return float(there.std(ddof=1) / np.sqrt(there.size)) if there.size > 1 else float("nan")


def tried_models(run: RunResult, name: str) -> list[list[TriedModel]]:
    """Return what was tried with each combination, in the order of the path; nothing without validation.

    Parameters
    ----------
    run : RunResult
    name : str
        Of the measure.
    """
    paths = zip(*(fold.paths for fold in run.folds), strict=True)
    return [list(_across(number, folds, name)) for number, folds in enumerate(paths)]


def best_of_sizes(models: Sequence[TriedModel], name: str) -> list[TriedModel]:
    """Return the best model of every size, by ascending size; of equal ones the first."""
    better = measure(name).higher_is_better
    best: dict[float, TriedModel] = {}
    for model in models:
        known, mean = best.get(model.size), model.mean
        ahead = known is None or (mean > known.mean if better else mean < known.mean)
        if np.isfinite(mean) and ahead:
            best[model.size] = model
    return [best[size] for size in sorted(best)]


def _across(combination: int, paths: Sequence[PathResult], name: str) -> Iterator[TriedModel]:
    """Yield every model that all folds have."""
    if any(name not in path.validation for path in paths):
        return
    if paths[0].step_kind is StepKind.ITERATIONS:  # which are not equally many in all folds
        steps = [[len(path.steps) - 1 for path in paths]]
    else:
        steps = [[i] * len(paths) for i in range(min(len(path.steps) for path in paths))]
    for numbers in steps:
        on = list(zip(paths, numbers, strict=True))
        yield TriedModel(
            combination,
            int(on[0][0].x_values[on[0][1]]),
            float(np.mean([path.sizes[i] for path, i in on])),
            tuple(path.steps[i] for path, i in on),
            np.array([path.validation[name][i] for path, i in on]),
        )
