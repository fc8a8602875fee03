"""Two-stage cascades: a cheap model ranks all documents of a query, a larger one ranks the first K again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from rankstudio.engine.analysis.tried_models.tried_models import (
    TriedPath,
    can_measure,
    tried_models,
)
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.units.scored_part import ScoredPart
from rankstudio.engine.language import tr
from rankstudio.engine.metrics.names import measure, missing_requirement
from rankstudio.engine.statistics.pareto import pareto_front
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import Waiting, WorkProgress

DEPTHS = (5, 10, 20, 50, 100)
"""Numbers of documents that are ranked again, by default."""

_COMBINED_SIZES = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144)
"""Sizes of the models that are combined, besides the last model; more sizes would hardly change the front."""


@dataclass(frozen=True)
class Cascade:
    """A cascade of two models of one path, or a single model.

    Attributes
    ----------
    first : int
        Number of features of the model that ranks all documents; mean
        over the folds, rounded.
    second : int
        Number of features of the model that ranks the first documents
        again; ``first`` for a single model.
    depth : int or None
        Number of documents per query that are ranked again, K; None for a single model.
    milliseconds : float
        Mean time over the validation queries of a fold, then over folds.
    validation : float
        Mean of the validation measure over the folds.
    test : float
        Mean of the test measure over the folds; NaN without a test part.
    features : tuple of (tuple of int, tuple of int)
        For each fold the features of the two models, by 1-based id in
        the order of selection.
    """

    first: int
    second: int
    depth: int | None
    milliseconds: float
    validation: float
    test: float
    features: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]


@dataclass(frozen=True)
class CascadeFront:
    """The cascades that no other cascade beats both in time and in the validation measure.

    Attributes
    ----------
    cascades : tuple of Cascade
        The cascades by ascending time, and so by improving validation measure.
    measure : str
        Name of the measure.
    values : tuple
        Values on the axes of the run's plan: the parameters of the path.
    n_tried : int
        Number of cascades that were measured.
    """

    cascades: tuple[Cascade, ...]
    measure: str
    values: tuple[object, ...]
    n_tried: int

    def within(self, budget: float) -> Cascade | None:
        """Return the best cascade within a budget of milliseconds per query.

        Return None if there is no such cascade.
        """
        # so that rounding does not exclude a cascade that costs the budget
        limit = budget * (1 + 1e-12)
        affordable = [
            cascade for cascade in self.cascades if cascade.milliseconds <= limit
        ]
        return affordable[-1] if affordable else None


def cascade_scores(
    first: Floats, second: Floats, query_ptr: Ints, depth: int
) -> Floats:
    """Return scores that rank documents as a cascade does.

    Parameters
    ----------
    first, second : ndarray of shape (m,)
        Scores of the model that ranks all documents, and of the model
        that ranks the first ones again.
    query_ptr : ndarray of shape (Q + 1,)
        Bounds of the queries.
    depth : int
        Number of documents per query that are ranked again. Of
        documents with equal first scores, the earlier ones in the data
        are ranked again.

    Returns
    -------
    ndarray of shape (m,)
        Scores of which only the order matters. Documents with equal
        scores in their stage have equal scores.

    Notes
    -----
    O(m log m).
    """
    query = np.repeat(np.arange(query_ptr.size - 1), np.diff(query_ptr))
    order = np.lexsort((-first, query))
    position = np.empty(first.size, dtype=np.int64)

    # Position of each document within its query, by the first model.
    position[order] = np.arange(first.size) - query_ptr[query[order]]

    # The documents below are not ranked again: their scores are the first ones.
    below = position >= depth
    stage_scores = np.where(below, first, second)

    # Ranks replace scores, because scores of the two models are not
    # comparable; ties have to stay ties. The order is by query, stage
    # and score.
    order = np.lexsort((-stage_scores, below, query))
    keys = [key[order] for key in (query, below, stage_scores)]

    # A new rank begins where any of the three keys changes.
    differs_from_last = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    scores = np.empty(first.size)
    scores[order] = -np.concatenate(([0], np.cumsum(differs_from_last)))
    return scores


def cascade_milliseconds(
    costs: FeatureCosts,
    first: Sequence[int],
    second: Sequence[int],
    documents: Ints,
    depth: int | None,
) -> float:
    """Return the mean time per query of a cascade.

    Parameters
    ----------
    costs : FeatureCosts
    first, second : sequence of int
        Features of the two models by 1-based id; values of common
        features are computed only once.
    documents : ndarray of shape (Q,)
        Number of documents of each query.
    depth : int or None
        Number of documents that are ranked again; None for the first model alone.
    """
    mean = costs.milliseconds(first, float(documents.mean()))
    if depth is None:
        return mean
    added = sorted(set(second) - set(first))
    return mean + costs.milliseconds(added, float(np.minimum(documents, depth).mean()))


def _sorted_depths(depths: Sequence[int]) -> list[int]:
    """Return depths of cascades in ascending order, each once; raise ParameterError for invalid depths.

    A depth is the number of documents per query that the second model ranks again.
    """
    sorted_depths = sorted(set(depths))
    if not sorted_depths or any(
        not isinstance(depth, int) or depth < 1 for depth in sorted_depths
    ):
        raise ParameterError(
            "depths", list(depths), tr("whole numbers from 1 up, such as 10, 50")
        )
    return sorted_depths


def find_cascades(
    run: RunResult,
    data: FoldedDataset,
    costs: FeatureCosts,
    name: str,
    depths: Sequence[int] = DEPTHS,
    *,
    sealed: bool = False,
) -> Waiting[CascadeFront]:
    """Return the cascades of a run's best path that no other one beats in time and measure.

    The path is that of the parameters with the best mean validation
    measure. Its models of up to 12 sizes are combined in pairs, each
    with every depth; single models are candidates as well. The
    validation part determines the front; the test part is measured for
    the cascades on the front only.

    Parameters
    ----------
    run : RunResult
        Finished run.
    data : FoldedDataset
        Data of the run.
    costs : FeatureCosts
        Milliseconds that the features cost.
    name : str
        Name of a measure of the run.
    depths : sequence of int
        Numbers of documents per query that are ranked again, from 1 up.
    sealed : bool
        Whether to leave the test part out.

    Raises
    ------
    PlanError
        If the run selects no features, has no validation part or did
        not compute the measure.
    ParameterError
        For an invalid depth.

    Notes
    -----
    O(s² D m log m) per fold for s sizes, D depths and m documents.
    """
    sorted_depths = _sorted_depths(depths)
    higher_is_better = measure(name).higher_is_better

    # The models of the best path that are combined, by their positions on the path.
    path = _best_path(run, data, name, higher_is_better)
    combined_positions = _combined_positions(path)

    # The models of each fold with the fold's data, which give measures and costs.
    parts = {fold.number: fold.parts for fold in data.folds}
    folds = []
    for index, (fold_result, fold_path) in enumerate(
        zip(run.folds, path.paths, strict=True)
    ):
        steps = [
            fold_path.steps[int(i)] for i in path.positions[combined_positions, index]
        ]
        folds.append(_Fold(parts[fold_result.fold], steps, run, name))

    # Indices of the first and the second model, and the depth; None for a single model.
    tried: list[tuple[int, int, int | None]] = [
        (i, j, depth)
        for j in range(len(combined_positions))
        for i in range(j)
        for depth in sorted_depths
    ]
    tried += [(i, i, None) for i in range(len(combined_positions))]

    # The mean validation measure and cost over the folds for each combination.
    values = []
    times = []
    for number, (i, j, depth) in enumerate(tried):
        if number % 10 == 0:
            yield WorkProgress(tr("measuring cascades"), number / len(tried))
        fold_values = [fold.value("vali", i, j, depth) for fold in folds]
        fold_times = [fold.milliseconds(costs, i, j, depth) for fold in folds]
        values.append(float(np.mean(fold_values)))
        times.append(float(np.mean(fold_times)))

    # Only cascades on the front are measured on the test part.
    sizes = np.rint(path.sizes[combined_positions]).astype(int).tolist()

    def cascade_of(position: int) -> Cascade:
        """Return the tried cascade at a position, with its test measure unless the test part is sealed.

        ``tried``, ``values``, ``times``, ``sizes``, ``folds`` and
        ``sealed`` are those of the enclosing function.
        """
        i, j, depth = tried[position]  # numbers of the two models, and the depth
        tests = [] if sealed else [fold.value("test", i, j, depth) for fold in folds]
        return Cascade(
            first=sizes[i],
            second=sizes[j],
            depth=depth,
            milliseconds=times[position],
            validation=values[position],
            test=float(np.mean(tests)) if tests else nan,
            features=tuple((fold.features(i), fold.features(j)) for fold in folds),
        )

    front = map(cascade_of, pareto_front(times, values, higher_is_better).tolist())
    path_values = run.plan.combinations[path.combination].values
    return CascadeFront(
        tuple(front),
        measure=name,
        values=path_values,
        n_tried=len(tried),
    )


def _best_path(
    run: RunResult, data: FoldedDataset, name: str, higher_is_better: bool
) -> TriedPath:
    """Return the path of models with the parameters that have the best mean validation measure.

    Raise PlanError if the method selects no features, or the run has no such measure.
    """
    # Cascades need models of several sizes and a measure that can be computed for them.
    if not run.plan.entry.selects:
        raise PlanError(
            tr("{title} selects no features, so it has no cheap model.").format(
                title=run.plan.title
            )
        )
    if missing_requirement(name):
        raise PlanError(missing_requirement(name))

    # The models of each combination of parameters; `means` (K,) are the
    # validation measures of its K models. Only paths with one can be
    # compared.
    paths = [path for path in tried_models(run, name) if np.isfinite(path.means).any()]
    if not paths or not can_measure(run, data, name):
        text = tr(
            "{title} has no {name} on a validation part. A cascade is chosen by the validation part of each "
            "fold."
        )
        raise PlanError(text.format(title=run.plan.title, name=name))
    sign = 1.0 if higher_is_better else -1.0
    return max(paths, key=lambda path: float(np.nanmax(sign * path.means)))


def _combined_positions(path: TriedPath) -> Ints:
    """Return the positions on a path of the models to combine, ascending.

    A short path has a position for each size. A longer path has one for
    each of a few sizes, and one for the largest model.
    """
    # The first model of each size. Sizes are means over the folds, so
    # that they may lie between whole numbers.
    sizes, positions = np.unique(path.sizes, return_index=True)
    is_long = len(path.sizes) > len(_COMBINED_SIZES) + 1
    combined = [
        int(position)
        for size, position in zip(sizes, positions, strict=True)
        if size >= 1 and (not is_long or round(float(size)) in _COMBINED_SIZES)
    ]
    largest = int(positions[-1])
    return np.array(sorted({*combined, largest}), dtype=np.int64)


class _Fold:
    """The models of a fold's path: measures and times of cascades of two of them, by their indices."""

    def __init__(
        self,
        parts: Mapping[Any, RankingDataset],
        steps: Sequence[Step],
        run: RunResult,
        name: str,
    ) -> None:
        """Make an evaluator of the measure `name` for each part of a fold.

        `parts` are by name, and `steps` are the models. Scores are
        computed when they are first needed, and stored.
        """
        from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - numba

        self.steps = steps
        self._name = name
        self._ids = run.feature_ids
        self._parts = parts
        self._evaluators = {
            key: Evaluator(
                part.y,
                part.query_ptr,
                run.plan.convention,
                (name,),
                grading=part.grading,
            )
            for key, part in parts.items()
        }

        # by part and index of the model
        self._scores: dict[tuple[str, int], Floats] = {}

    def _scores_of(self, part: str, model: int) -> Floats:
        """Return the scores of a model for the documents of a part; these are computed once."""
        if (part, model) not in self._scores:
            self._scores[part, model] = ScoredPart(self._parts[part]).scores(
                self.steps[model]
            )
        return self._scores[part, model]

    def features(self, model: int) -> tuple[int, ...]:
        """Return the ids, from 1, of the features of a model; ``model`` is its index."""
        return tuple(int(self._ids[column]) for column in self.steps[model].selected)

    def value(self, part: str, first: int, second: int, depth: int | None) -> float:
        """Return the measure of a cascade of two models on a part of the fold.

        `first` and `second` are indices of the models; without a
        `depth`, only the first model ranks. The result is NaN if the
        fold lacks the part, or the data a feature of the models.
        """
        # `can_score` says whether a part has all features of a model.
        has_part = part in self._parts
        if not has_part or not all(
            self.steps[i].can_score(self._parts[part].X) for i in {first, second}
        ):
            return float("nan")
        scores = self._scores_of(part, first)
        if depth is not None:
            ptr = self._parts[part].query_ptr
            scores = cascade_scores(scores, self._scores_of(part, second), ptr, depth)
        return self._evaluators[part].evaluate(scores)[self._name]

    def milliseconds(
        self, costs: FeatureCosts, first: int, second: int, depth: int | None
    ) -> float:
        """Return the mean time per validation query."""
        documents = np.diff(self._parts["vali"].query_ptr)
        return cascade_milliseconds(
            costs, self.features(first), self.features(second), documents, depth
        )
