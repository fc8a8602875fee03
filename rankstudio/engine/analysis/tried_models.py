"""The models that a run has tried, each over all its folds: one combination and step of its path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
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
    paths : tuple of PathResult
        Of each fold.
    positions : tuple of int
        Of the model of each fold on its path.
    values : ndarray of shape (F,)
        The validation measure in each fold; NaN where it is not defined.
    """

    combination: int
    place: int
    size: float
    paths: tuple[PathResult, ...]
    positions: tuple[int, ...]
    values: Floats

    @property
    def steps(self) -> tuple[Step, ...]:
        """The model of each fold."""
        return tuple(path.steps[at] for path, at in zip(self.paths, self.positions, strict=True))

    @cached_property
    def mean(self) -> float:
        """Mean over the folds in which the measure is defined."""
        there = self.values[~np.isnan(self.values)]
        return float(there.mean()) if there.size else float("nan")

    @property
    def error(self) -> float:
        """Standard error of that mean over the folds: deviation / √folds; NaN with one fold."""
        there = self.values[~np.isnan(self.values)]
        return float(there.std(ddof=1) / np.sqrt(there.size)) if there.size > 1 else float("nan")


@dataclass(frozen=True, eq=False)
class TriedPath:
    """The models of one combination that all folds have, as arrays.

    Attributes
    ----------
    combination : int
        Position among the plan's combinations.
    paths : tuple of PathResult
        Of each of the F folds.
    positions : ndarray of shape (K, F)
        Of each model's step on the path of each fold.
    values : ndarray of shape (K, F)
        The validation measure; NaN where it is not defined.
    """

    combination: int
    paths: tuple[PathResult, ...]
    positions: Ints
    values: Floats

    @cached_property
    def sizes(self) -> Floats:
        """Features of each model, mean over the folds, shape (K,)."""
        columns = [path.sizes[at] for path, at in zip(self.paths, self.positions.T, strict=True)]
        means: Floats = np.column_stack(columns).mean(axis=1)
        return means

    @cached_property
    def means(self) -> Floats:
        """Mean of each model over the folds in which the measure is defined, shape (K,)."""
        means: Floats = self.values.mean(axis=1)
        for number in np.flatnonzero(np.isnan(means)):
            means[number] = self.model(int(number)).mean
        return means

    def __iter__(self) -> Iterator[TriedModel]:
        return map(self.model, range(len(self.positions)))

    def model(self, number: int) -> TriedModel:
        """Return one of the models."""
        at = tuple(self.positions[number].tolist())
        return TriedModel(
            self.combination,
            int(self.paths[0].x_values[at[0]]),
            float(self.sizes[number]),
            self.paths,
            at,
            self.values[number],
        )


def tried_models(run: RunResult, name: str) -> list[TriedPath]:
    """Return what was tried with each combination, in the order of the path; nothing without validation.

    Parameters
    ----------
    run : RunResult
    name : str
        Of the measure.
    """
    paths = zip(*(fold.paths for fold in run.folds), strict=True)
    return [_across(number, folds, name) for number, folds in enumerate(paths)]


def best_of_sizes(paths: Sequence[TriedPath], name: str) -> list[TriedModel]:
    """Return the best model of every size, by ascending size; of equal ones the first.

    Parameters
    ----------
    paths : sequence of TriedPath
        Among whose models.
    name : str
        Of the measure.
    """
    found = [(path, number) for path in paths for number in range(len(path.positions))]
    if not found:
        return []
    sizes = np.concatenate([path.sizes for path in paths])
    means = np.concatenate([path.means for path in paths])
    there = np.flatnonzero(np.isfinite(means))
    worth = means[there] if measure(name).higher_is_better else -means[there]
    order = there[np.lexsort((there, -worth, sizes[there]))]
    firsts = order[np.unique(sizes[order], return_index=True)[1]]
    return [path.model(number) for path, number in (found[i] for i in firsts)]


def _across(combination: int, paths: tuple[PathResult, ...], name: str) -> TriedPath:
    """Return every model that all folds have."""
    if any(name not in path.validation for path in paths):
        nothing = np.empty((0, len(paths)))
        return TriedPath(combination, paths, nothing.astype(np.int64), nothing)
    if paths[0].step_kind is StepKind.ITERATIONS:  # which are not equally many in all folds
        positions = np.array([[len(path.steps) - 1 for path in paths]])
    else:
        shared = np.arange(min(len(path.steps) for path in paths))
        positions = np.repeat(shared[:, None], len(paths), axis=1)
    columns = [path.validation[name][at] for path, at in zip(paths, positions.T, strict=True)]
    return TriedPath(combination, paths, positions, np.column_stack(columns))
