"""The models that a run has tried, each over all its folds, and what they are worth in each query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.experiment.results.results import PathResult, RunResult
from rankstudio.engine.experiment.units.scored_part import ScoredPart
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


def can_measure(run: RunResult, data: FoldedDataset) -> bool:
    """Return whether the documents are at hand with which a run's models were validated.

    They are not where a run is known from a study alone, where the data have no validation part, and where
    inner folds validated: these are not the models of the paths.
    """
    folds = {fold.number: fold for fold in data.folds}
    parts = [folds[one.fold].vali if one.fold in folds else None for one in run.folds]
    return bool(parts) and not run.plan.inner and all(part is not None and part.n_documents for part in parts)


def validation_values(
    run: RunResult, data: FoldedDataset, models: Sequence[Sequence[Step]], name: str
) -> list[Floats]:
    """Measure models of a run in each query of the validation parts.

    Parameters
    ----------
    run : RunResult
        Its folds say which parts, its plan by which convention.
    data : FoldedDataset
        For which `can_measure` holds.
    models : sequence of sequence of Step
        For each fold of the run, K steps.
    name : str
        Of the measure.

    Returns
    -------
    list of ndarray of shape (K, Q)
        One a fold; a row of NaN for a model that a study did not keep whole.

    Notes
    -----
    O(K m (n + log d)) for m documents, n features and d documents a query.
    """
    folds = {fold.number: fold for fold in data.folds}
    parts = [_validation(folds[one.fold]) for one in run.folds]
    convention = run.plan.convention
    return [_measured(part, steps, convention, name) for part, steps in zip(parts, models, strict=True)]


def _validation(fold: Fold) -> RankingDataset:
    assert fold.vali is not None  # `can_measure` was asked
    return fold.vali


def _measured(part: RankingDataset, steps: Sequence[Step], convention: str, name: str) -> Floats:
    scored = ScoredPart(part)
    from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - numba, which no window waits for

    evaluator = Evaluator(part.y, part.query_ptr, convention, (name,), grading=part.grading)
    found = np.full((len(steps), part.n_queries), np.nan)
    linear = [number for number, step in enumerate(steps) if step.linear]
    if linear:
        scores = scored.linear_scores(np.array([steps[number].coef for number in linear]))
        found[linear] = evaluator.per_query_many(scores)[name]
    for number, step in enumerate(steps):
        if not step.linear and step.covers(part.X):
            found[number] = evaluator.per_query(scored.scores(step))[name]
    return found
