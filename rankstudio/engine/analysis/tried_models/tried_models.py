"""The models that a run has tried, and their measures in each query.

A model has a step on a path of each fold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.experiment.results.results import PathResult, RunResult
from rankstudio.engine.experiment.units.scored_part import ScoredPart
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.metrics.names import measure, missing_requirement
from rankstudio.engine.steps import Step

Part = Literal["vali", "test"]


@dataclass(frozen=True, eq=False)
class TriedModel:
    """A combination of parameter values of a run, at a step of its path, over all folds.

    A path is the models with 1, 2, … features or rounds.

    Attributes
    ----------
    combination : int
        Position of the combination in the plan.
    x_value : int
        Length of the model on the path: number of features, or round.
    size : float
        Number of features of the model, mean over the folds.
    paths : tuple of PathResult
        Path of each fold.
    positions : tuple of int
        Position of each fold's model on its path.
    values : ndarray of shape (F,)
        Validation measure of each fold; NaN if undefined.
    """

    combination: int
    x_value: int
    size: float
    paths: tuple[PathResult, ...]
    positions: tuple[int, ...]
    values: Floats

    @property
    def steps(self) -> tuple[Step, ...]:
        """Model of each fold."""
        return tuple(
            path.steps[position]
            for path, position in zip(self.paths, self.positions, strict=True)
        )

    @cached_property
    def mean(self) -> float:
        """Mean over the folds in which the measure is defined."""
        defined = self.values[~np.isnan(self.values)]
        return float(defined.mean()) if defined.size else float("nan")

    @property
    def error(self) -> float:
        """Standard error of the mean over the folds, deviation / √folds; NaN for a single fold."""
        defined = self.values[~np.isnan(self.values)]
        return (
            float(defined.std(ddof=1) / np.sqrt(defined.size))
            if defined.size > 1
            else float("nan")
        )


@dataclass(frozen=True, eq=False)
class TriedPath:
    """The models of one combination of parameters' values that all folds have.

    The K models differ in length; each is trained on F folds.

    Attributes
    ----------
    combination : int
        Position of the combination in the plan.
    paths : tuple of PathResult
        Path of each of the F folds.
    positions : ndarray of shape (K, F)
        Position of each model on the path of each fold.
    values : ndarray of shape (K, F)
        Validation measure of each model in each fold; NaN if undefined.
    """

    combination: int
    paths: tuple[PathResult, ...]
    positions: Ints
    values: Floats

    @cached_property
    def sizes(self) -> Floats:
        """Number of features of each model, mean over the folds, shape (K,)."""
        columns = [
            path.sizes[path_positions]
            for path, path_positions in zip(self.paths, self.positions.T, strict=True)
        ]
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
        """Iterate over the K models."""
        return map(self.model, range(len(self.positions)))

    def model(self, number: int) -> TriedModel:
        """Return one of the K models, by its row in `positions`."""
        positions = tuple(self.positions[number].tolist())
        return TriedModel(
            combination=self.combination,
            x_value=int(self.paths[0].x_values[positions[0]]),
            size=float(self.sizes[number]),
            paths=self.paths,
            positions=positions,
            values=self.values[number],
        )


def tried_models(run: RunResult, name: str) -> list[TriedPath]:
    """Return the models of each combination of parameters' values, in order of the path.

    A path has the models of a combination, by length. The result is []
    without validation.

    Parameters
    ----------
    run : RunResult
        Run whose models are returned.
    name : str
        Name of the measure.
    """
    paths = zip(*(fold.paths for fold in run.folds), strict=True)
    return [
        _models_of_all_folds(number, folds, name) for number, folds in enumerate(paths)
    ]


def best_of_sizes(paths: Sequence[TriedPath], name: str) -> list[TriedModel]:
    """Return the best model of every size, by ascending size; ties go to the first.

    Parameters
    ----------
    paths : sequence of TriedPath
        Models to choose from.
    name : str
        Name of the measure.
    """
    # Path and row of each model, in the order of the arrays below.
    candidates = [
        (path, number) for path in paths for number in range(len(path.positions))
    ]
    if not candidates:
        return []
    sizes = np.concatenate([path.sizes for path in paths])
    means = np.concatenate([path.means for path in paths])
    finite = np.flatnonzero(np.isfinite(means))
    gains = means[finite] if measure(name).higher_is_better else -means[finite]
    # `lexsort` sorts by its last key first: by size, then from the best
    # to the worst, then in the order of the candidates. The first of
    # each size is its best.
    order = finite[np.lexsort((finite, -gains, sizes[finite]))]
    _, first_of_size = np.unique(sizes[order], return_index=True)
    return [
        path.model(number)
        for path, number in (candidates[i] for i in order[first_of_size])
    ]


def _models_of_all_folds(
    combination: int, paths: tuple[PathResult, ...], name: str
) -> TriedPath:
    """Return the models of a combination of parameters' values that all folds have.

    `combination` is the position of the combination in the plan, and
    `paths` has the path of its models on each fold. The values of the
    models are those of the validation measure `name`; without it there
    are no models.
    """
    if any(name not in path.validation for path in paths):
        empty = np.empty((0, len(paths)))
        return TriedPath(
            combination=combination,
            paths=paths,
            positions=empty.astype(np.int64),
            values=empty,
        )
    # Row k of `positions`, shape (K, folds), has the step of model k on
    # the path of each fold. Of iterations, only the last one is a
    # model, and its number may differ from fold to fold.
    if paths[0].step_kind is StepKind.ITERATIONS:
        positions = np.array([[len(path.steps) - 1 for path in paths]])
    else:
        shared_positions = np.arange(min(len(path.steps) for path in paths))
        positions = np.repeat(shared_positions[:, None], len(paths), axis=1)
    columns = [
        path.validation[name][path_positions]
        for path, path_positions in zip(paths, positions.T, strict=True)
    ]
    return TriedPath(
        combination=combination,
        paths=paths,
        positions=positions,
        values=np.column_stack(columns),
    )


def can_measure(
    run: RunResult, data: FoldedDataset, name: str, part: Part = "vali"
) -> bool:
    """Return whether a measure can be computed on the validation or test parts of a run.

    The documents are not available if the run comes from a study
    without its data, or if the data have no such part. Validation by
    inner folds used other models than those of the paths.
    """
    # The code of the measure is absent.
    if missing_requirement(name):
        return False
    parts = _fold_parts(run, data, part)
    is_by_inner_folds = part == "vali" and run.plan.inner
    have_documents = all(
        dataset is not None and dataset.n_documents for dataset in parts
    )
    return bool(parts) and not is_by_inner_folds and have_documents


def values_by_query(
    run: RunResult,
    data: FoldedDataset,
    models: Sequence[Sequence[Step]],
    name: str,
    part: Part = "vali",
) -> list[Floats]:
    """Measure models of a run in each query of its validation or test parts.

    Parameters
    ----------
    run : RunResult
        Run whose folds determine the parts, and whose plan determines
        the convention.
    data : FoldedDataset
        Data for which `can_measure` is true.
    models : sequence of sequence of Step
        K steps for each fold of the run.
    name : str
        Name of the measure.
    part : {"vali", "test"}
        Parts whose queries count.

    Returns
    -------
    list of ndarray of shape (K, Q)
        One array per fold. A model that a study did not store in every
        fold has rows of NaN in all arrays.

    Notes
    -----
    O(K m (n + log d)) for m documents, n features and d documents per query.
    """
    convention = run.plan.convention
    by_fold = []
    parts_and_steps = list(zip(_fold_parts(run, data, part), models, strict=True))
    for dataset, steps in parts_and_steps:
        assert dataset is not None  # `can_measure` is true
        by_fold.append(_values_by_query_of_steps(dataset, steps, convention, name))
    # Shape (K,): whether model k is stored in every fold. With some
    # folds only, an interval over their queries would be mistaken for
    # one over all queries.
    is_stored = np.all(
        [
            [_can_score(step, fold_part) for step in steps]
            for fold_part, steps in parts_and_steps
        ],
        axis=0,
    )
    for values in by_fold:
        values[~is_stored] = np.nan
    return by_fold


def _fold_parts(
    run: RunResult, data: FoldedDataset, part: Part
) -> list[RankingDataset | None]:
    """Return the validation or test part of each fold of a run.

    `part` is "vali" or "test". The result has None for a fold that the
    data lack, or that lacks the part.
    """
    folds = {fold.number: fold.parts for fold in data.folds}
    return [folds.get(fold.fold, {}).get(part) for fold in run.folds]


def _can_score(step: Step, part: RankingDataset | None) -> bool:
    """Return whether the model of a step can score the documents of a part.

    It cannot if there is no part, or a study stores only the weights of
    the model, not its trees.
    """
    return step.linear or (part is not None and step.can_score(part.X))


def _values_by_query_of_steps(
    part: RankingDataset, steps: Sequence[Step], convention: str, name: str
) -> Floats:
    """Return a measure of K steps, each a model, in each of a part's Q queries, (K, Q).

    The result is NaN for steps whose model cannot score the documents.
    """
    scored = ScoredPart(part)
    from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - numba, which no window waits for

    evaluator = Evaluator(
        part.y, part.query_ptr, convention, (name,), grading=part.grading
    )
    measured = np.full((len(steps), part.n_queries), np.nan)
    # Linear models are scored together, others one by one.
    linear = [number for number, step in enumerate(steps) if step.linear]
    if linear:
        scores = scored.linear_scores(
            np.array([steps[number].coef for number in linear])
        )
        measured[linear] = evaluator.per_query_many(scores)[name]
    for number, step in enumerate(steps):
        if not step.linear and _can_score(step, part):
            measured[number] = evaluator.per_query(scored.scores(step))[name]
    return measured
