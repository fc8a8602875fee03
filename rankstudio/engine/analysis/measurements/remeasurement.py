"""Finished runs measured anew, from their stored models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.analysis.measurements.baseline_model import baseline_step
from rankstudio.engine.analysis.measurements.measurement import Measurement
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.experiment.plan.left_out_names import left_out, validated
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.cross_fit import (
    choose_on_subsets,
    cross_fitted_values,
    is_chosen_on_validation,
)
from rankstudio.engine.experiment.results.model_selection import p_values, select_model
from rankstudio.engine.experiment.results.results import (
    Baseline,
    Chosen,
    FoldResult,
    PathResult,
    RunResult,
)
from rankstudio.engine.experiment.results.subset_choices import SubsetChoices
from rankstudio.engine.experiment.units.scored_part import ScoredPart
from rankstudio.engine.metrics._kernels import Codes
from rankstudio.engine.metrics.conventions import Ties
from rankstudio.engine.metrics.conventions import convention as find_convention
from rankstudio.engine.metrics.distinct_rankings import DistinctRankings, Places
from rankstudio.engine.metrics.evaluator import (
    Evaluator,
    average,
    rank,
    reading_order,
    standard_error,
)
from rankstudio.engine.metrics.names import computable, foreign_entries
from rankstudio.engine.steps import Step
from rankstudio.engine.support.frozen_mapping import FrozenMapping

_MAX_VALUES = 1 << 23  # values of a measure that are computed at a time: 64 MB


@dataclass(frozen=True, eq=False)
class RankedPath:
    """Rankings of a part's documents by all complete steps of a path, the stored models.

    Each different ranking of a query is stored once.

    Attributes
    ----------
    part : RankingDataset
        Part of the data, such as the validation part.
    by_id : bool
        Whether ids of documents break ties, instead of their positions.
    whole : ndarray of shape (K,), bool
        Whether each step is complete, so that it can score the part.
    distinct : DistinctRankings
        The different rankings of each query.
    ranking_numbers : Places
        Number of the ranking by each complete step among the different
        rankings of each query.
    """

    part: RankingDataset
    by_id: bool
    whole: NDArray[np.bool_]
    distinct: DistinctRankings
    ranking_numbers: Places


def in_blocks(ranked: Iterable[RankedPath]) -> Iterator[list[RankedPath]]:
    """Yield the rankings by paths in blocks, so that the measures of a block fit in memory.

    The paths of a block share one store of different rankings.
    """
    block: list[RankedPath] = []
    n_values = 0
    for path in ranked:
        # `distinct` is the store of the rankings of a path.
        is_too_large = n_values + path.ranking_numbers.size > _MAX_VALUES
        if block and (path.distinct is not block[0].distinct or is_too_large):
            yield block
            block = []
            n_values = 0
        block.append(path)
        n_values += path.ranking_numbers.size
    if block:
        yield block


def whole_steps(
    path: PathResult, part: RankingDataset
) -> tuple[NDArray[np.bool_], Sequence[Step]]:
    """Return which steps of a path, its models, can score a part, and these steps.

    The first array has shape (K,), for all K steps of the path.
    """
    is_whole = np.array([step.can_score(part.X) for step in path.steps], dtype=np.bool_)
    if is_whole.all():
        return is_whole, path.steps
    return is_whole, [path.steps[index] for index in np.flatnonzero(is_whole).tolist()]


def spread(values: Floats, complete: NDArray[np.bool_]) -> Floats:
    """Return an array with the values of complete steps at their positions, others NaN.

    `complete`, shape (K,), says which steps are complete, which are
    those whose models are stored; `values` has a row for each of them.
    """
    if complete.all():
        return values
    all_values = np.full((complete.size, *values.shape[1:]), np.nan)
    all_values[complete] = values
    return all_values


_MAX_SCORES = 1 << 23  # scores computed at a time: 64 MB
_MAX_RANKING_BYTES = 1 << 29  # bytes of rankings that are kept
_MAX_EVALUATORS = 64  # evaluators of parts that are kept; the oldest is discarded
# measurements of each fold that are kept; the oldest is discarded
_MAX_MEASUREMENTS = 64


class Remeasurement:
    """Measures the models of finished runs again, by any measure and convention.

    The documents are scored and sorted once per model. Every measure is
    computed from those rankings, once for identical rankings of a
    query; they are cached as long as the paths, up to half a gigabyte.
    Nothing is trained again.

    A nonlinear model that a study does not store completely has no
    measure: NaN. The models of inner folds are not stored, so only the
    validation measures of the plan are available for them.
    """

    def __init__(self) -> None:
        """Make empty caches.

        They are for rankings by the steps of paths and by single
        models, for the different rankings of a part, the order of its
        documents with equal scores, measured folds, and evaluators of
        measures.
        """
        # Caches. Weak keys: each entry lasts as long as the object it
        # belongs to. Keys of type bool say whether ids of documents
        # break ties; the int in a key is the id of a part.
        self._paths: WeakKeyDictionary[PathResult, RankedPath] = WeakKeyDictionary()
        self._distinct: WeakKeyDictionary[
            RankingDataset, dict[bool, DistinctRankings]
        ] = WeakKeyDictionary()
        self._orders: WeakKeyDictionary[RankingDataset, Ints | None] = (
            WeakKeyDictionary()
        )
        self._models: WeakKeyDictionary[
            Step | Baseline, dict[tuple[int, bool], tuple[RankingDataset, Codes]]
        ] = WeakKeyDictionary()
        self._folds: WeakKeyDictionary[
            FoldResult, dict[tuple[Plan, Measurement], FoldResult]
        ] = WeakKeyDictionary()
        # by the id of the part, which is stored too, the convention and the measures
        self._evaluators: dict[
            tuple[int, str, tuple[str, ...]], tuple[RankingDataset, Evaluator]
        ] = {}

    def run(
        self, result: RunResult, dataset: FoldedDataset, measurement: Measurement
    ) -> RunResult:
        """Return a run measured under other settings, with its plan changed to them.

        Parameters
        ----------
        result : RunResult
            Finished run.
        dataset : FoldedDataset
            Data of the run, with documents.
        measurement : Measurement
            Measure and convention, and whether the measure selects the models.
        """
        folds = {fold.number: fold for fold in dataset.folds}
        measured = tuple(
            self.fold(fold_result, folds[fold_result.fold], result.plan, measurement)
            for fold_result in result.folds
        )
        return replace(result, plan=measurement.plan(result.plan), folds=measured)

    def with_measures(
        self,
        result: RunResult,
        dataset: FoldedDataset,
        names: Sequence[str],
        *,
        sealed: bool = False,
    ) -> RunResult:
        """Return a run with further measures of the models that it selected.

        Existing values are kept.

        Parameters
        ----------
        result : RunResult
            Finished run.
        dataset : FoldedDataset
            Data of the run, with documents.
        names : sequence of str
            Names of the measures, by the convention of the plan.
        sealed : bool
            Whether the test part is left out, as if the data had none.

        Raises
        ------
        PlanError
            For a measure that is not RankStudio's own, and whose code
            is absent.
        """
        # Measures of other packages are loaded first: called for their errors.
        for entry in foreign_entries(names):
            entry.load()
        plan = result.plan.changed(measures=(*result.plan.measures, *names))
        parts = {fold.number: fold for fold in dataset.folds}
        folds = []
        for fold_result in result.folds:
            # Values of the test part, or else of the validation part.
            fold = parts[fold_result.fold]
            step = fold_result.chosen.step
            test = None if sealed else fold.test
            per_query = self._per_query(
                step, test if test is not None else fold.vali, plan
            )
            fitted: Mapping[str, Floats] = {}
            if test is None or fold_result.cross_fitted:
                fitted = self.cross_fitted(fold_result, fold, result.plan, plan)
            # Models of inner folds are not stored, and cannot be measured again.
            validation = (
                {} if plan.inner else self._mean_measures(step, fold.vali, plan)
            )
            # Existing values come last, so that they replace new ones.
            folds.append(
                replace(
                    fold_result,
                    validation=FrozenMapping({**validation, **fold_result.validation}),
                    test=FrozenMapping(
                        {**self._mean_measures(step, test, plan), **fold_result.test}
                    ),
                    per_query=FrozenMapping({**per_query, **fold_result.per_query}),
                    cross_fitted=FrozenMapping(fitted),
                )
            )
        return replace(result, plan=plan, folds=tuple(folds))

    def rank_models(self, result: RunResult, dataset: FoldedDataset) -> Iterator[None]:
        """Rank the documents by a run's models in advance, and cache the rankings.

        The generator yields None after each path, and may be
        interrupted there. Paths with more scores than one block are
        left out, as are all others once half of the cache is full: they
        are ranked when they are needed.

        Parameters
        ----------
        result : RunResult
            Finished run.
        dataset : FoldedDataset
            Data of the run, with documents.
        """
        parts = {fold.number: fold for fold in dataset.folds}
        convention = result.plan.convention
        for fold_result in result.folds:
            fold = parts[fold_result.fold]
            # The baseline and the chosen model, on both parts.
            for part in filter(None, (fold.vali, fold.test)):
                self._ranking(
                    baseline_step(
                        fold_result.baseline, fold.train.feature_ids.tolist()
                    ),
                    part,
                    convention,
                    fold_result.baseline,
                )
                if fold_result.chosen.step.can_score(part.X):
                    self._ranking(fold_result.chosen.step, part, convention)
            yield
            # Models of inner folds are not stored, so they cannot rank.
            if fold.vali is None or result.plan.inner:
                continue
            # The other models on the validation part, while the cache is not full.
            for path in fold_result.paths:
                if self._nbytes > _MAX_RANKING_BYTES // 2:
                    return
                if len(path.steps) * fold.vali.n_documents <= _MAX_SCORES:
                    self._ranked_path(path, fold.vali, convention)
                yield

    def mean(
        self, result: RunResult, dataset: FoldedDataset, measurement: Measurement
    ) -> float:
        """Return the mean of a measure over the folds of a run, under other settings.

        The measure is that of the settings, for the models that the run
        selected, on the test part; without a test part, or if it is
        sealed, on the validation part. The result is NaN if the measure
        is undefined.
        """
        parts = {fold.number: fold for fold in dataset.folds}
        averages = []
        for fold_result in result.folds:
            fold = parts[fold_result.fold]
            part = fold.vali if measurement.sealed or fold.test is None else fold.test
            # `can_score` says that the model can score the values of the part.
            if part is not None and fold_result.chosen.step.can_score(part.X):
                evaluator = self._evaluator(
                    part, measurement.convention, (measurement.measure,)
                )
                values = self._query_measures(evaluator, fold_result.chosen.step, part)[
                    measurement.measure
                ]
                averages.append(average(values))
        return float(average(np.array(averages))) if averages else float("nan")

    def measure_models(
        self,
        result: RunResult,
        dataset: FoldedDataset,
        measurements: Sequence[Measurement],
    ) -> Iterator[None]:
        """Measure the models of a run in advance, and cache the measures for later calls.

        The generator yields None after each fold, and may be
        interrupted there. Only models that :meth:`rank_models` has
        ranked are measured, which needs almost no memory.

        Parameters
        ----------
        result : RunResult
            Finished run.
        dataset : FoldedDataset
            Data of the run, with documents.
        measurements : sequence of Measurement
            Settings of measures and conventions.
        """
        parts = {fold.number: fold for fold in dataset.folds}
        for measurement in measurements:
            for fold_result in result.folds:
                is_ranked = all(path in self._paths for path in fold_result.paths)
                # Measuring other folds would rank their models first,
                # which takes memory. Folds without an own validation
                # part need no such rankings.
                if (
                    is_ranked
                    or result.plan.inner
                    or parts[fold_result.fold].vali is None
                ):
                    # Called only to put the result into the cache.
                    self.fold(
                        fold_result, parts[fold_result.fold], result.plan, measurement
                    )
                yield

    def fold(
        self, result: FoldResult, fold: Fold, plan: Plan, measurement: Measurement
    ) -> FoldResult:
        """Return the results of a fold of a run, measured under other settings.

        `result` has the old results, `fold` the data, and `plan` is
        that of the run. The measured fold is cached as long as `result`
        exists.
        """
        # The same plan: the settings change nothing.
        if measurement.plan(plan) is plan and not measurement.sealed:
            return result
        cached = self._folds.setdefault(result, {})
        if (plan, measurement) not in cached:
            while len(cached) >= _MAX_MEASUREMENTS:
                # The oldest entry is the first one.
                del cached[next(iter(cached))]
            cached[plan, measurement] = self._measured_fold(
                result, fold, plan, measurement
            )
        return cached[plan, measurement]

    def _measured_fold(
        self, result: FoldResult, fold: Fold, plan: Plan, measurement: Measurement
    ) -> FoldResult:
        """Return the results of a fold of a run of `plan`, measured under other settings.

        `result` has the old results, and `fold` the data. If the
        settings say that their measure selects, another model may be
        selected.
        """
        # A sealed test part is not measured.
        new_plan = measurement.plan(plan)
        test_part = None if measurement.sealed else fold.test

        # Another measure may choose another model, if all paths have its values.
        paths = self.paths(result.paths, fold, plan, measurement)
        chosen = result.chosen
        if measurement.chooses and all(
            new_plan.select_by in path.validation for path in paths
        ):
            # The rule of the plan may need the standard error of a step.
            chosen = select_model(
                new_plan, paths, lambda step: self._standard_error(step, fold, new_plan)
            )

        # Values of the chosen model on the test part, and of the best single feature.
        test = self._mean_measures(chosen.step, test_part, new_plan)
        baseline = self.baseline(result.baseline, fold, plan, measurement)

        # Cross-fitted values: for another choice, models chosen by the
        # new plan. Otherwise only a fold without a test part needs
        # them, or one that has them.
        cross_fitted: Mapping[str, Floats] = {}
        if measurement.chooses and new_plan is not plan:
            cross_fitted = self._cross_fitted_by(
                new_plan, chosen, paths, fold, new_plan
            )
        elif test_part is None or result.cross_fitted:
            cross_fitted = self.cross_fitted(result, fold, plan, new_plan)

        # Without a test part the validation queries are measured.
        per_query = self._per_query(
            chosen.step, test_part if test_part is not None else fold.vali, new_plan
        )
        return replace(
            result,
            chosen=chosen,
            selected=tuple(
                int(fold.train.feature_ids[column]) for column in chosen.step.selected
            ),
            validation=FrozenMapping(self._validation(chosen, paths, fold, new_plan)),
            test=FrozenMapping(test),
            paths=paths,
            baseline=baseline,
            per_query=FrozenMapping(per_query),
            cross_fitted=FrozenMapping(cross_fitted),
        )

    def cross_fitted(
        self, result: FoldResult, fold: Fold, plan: Plan, new_plan: Plan
    ) -> Mapping[str, Floats]:
        """Return each measure in each validation query, by models chosen without this query.

        Parameters
        ----------
        result : FoldResult
            Fold of a run.
        fold : Fold
            Data of the fold.
        plan : Plan
            Plan of the run, whose rule and measure choose the models.
        new_plan : Plan
            Plan whose measures and convention are used.

        Returns
        -------
        Mapping of str to ndarray of shape (Q,)
            Empty without a validation part, or if a study does not
            store the models.

        Notes
        -----
        O(KQ) per path for the choices if the path does not keep them,
        of one path at a time, and one scoring of the part for each of
        up to 100 models that are chosen.
        """
        # Values of another convention do not apply.
        stored = result.cross_fitted if new_plan.convention == plan.convention else {}
        if all(name in stored for name in new_plan.evaluated):
            return stored
        if fold.vali is None or plan.inner:
            return {}
        paths: Sequence[PathResult] = result.paths
        if is_chosen_on_validation(plan) and any(
            path.choices is None for path in paths
        ):
            paths = self._with_choices(paths, fold.vali, plan)
        if (
            new_plan.evaluated != plan.evaluated
            or new_plan.convention != plan.convention
        ):
            # The measures that the paths keep are those of the old plan.
            paths = [_without_kept_measures(path) for path in paths]
        fitted = self._cross_fitted_by(plan, result.chosen, paths, fold, new_plan)
        # Values of the run itself replace the new ones.
        return {**fitted, **stored} if fitted else {}

    def _with_choices(
        self, paths: Sequence[PathResult], part: RankingDataset, plan: Plan
    ) -> list[PathResult]:
        """Return paths with the models that the plan's rule chooses on subsets of queries.

        `part` is the validation part, whose queries choose. The choices
        of a path whose models are not stored are None.
        """
        # The measure that selects, for each step in each query, by path.
        values = self._query_values(
            paths, part, Measurement(plan.convention, plan.chosen_by)
        )
        return [
            replace(path, choices=_subset_choices(plan, path, rows, part))
            for path, rows in zip(paths, values, strict=True)
        ]

    def _cross_fitted_by(
        self,
        plan: Plan,
        chosen: Chosen,
        paths: Sequence[PathResult],
        fold: Fold,
        new_plan: Plan,
    ) -> dict[str, Floats]:
        """Measure each validation query by models that a plan chooses without this query.

        The rule of `plan` chooses among the models of `paths`, and
        `new_plan` has the measures to compute. The result has shape
        (Q,) for each measure; it is {} if a model is not stored.
        """
        # The models of inner folds are not stored.
        part = fold.vali
        if part is None or plan.inner:
            return {}
        evaluator = self._evaluator(part, new_plan.convention, new_plan.evaluated)

        def measure_models(
            path: PathResult, positions: Sequence[int]
        ) -> dict[str, Floats]:
            """Return each measure of D models of a path in each of Q queries, shape (D, Q).

            `positions` has the positions of the models on the path. The
            result is {} if a model is not stored. `part` and
            `evaluator` are variables of the enclosing method.
            """
            steps = [path.steps[position] for position in positions]
            if not all(step.can_score(part.X) for step in steps):
                return {}
            tables = [
                evaluator.per_query_many(scores)
                for scores in _score_blocks_of_any_steps(steps, part)
            ]
            return {
                name: np.concatenate([table[name] for table in tables])
                for name in tables[0]
            }

        return cross_fitted_values(plan, chosen, paths, part.n_queries, measure_models)

    def paths(
        self,
        paths: Sequence[PathResult],
        fold: Fold,
        plan: Plan,
        measurement: Measurement,
    ) -> tuple[PathResult, ...]:
        """Return the paths of a fold, measured under other settings.

        The paths get the measure of the settings as their validation measure.

        Parameters
        ----------
        paths : sequence of PathResult
            Paths of a run of this plan, each with the models of one
            combination of parameters' values.
        fold : Fold
            Data of the fold.
        plan : Plan
            Plan of the run.
        measurement : Measurement
            Measure and convention, and whether the measure selects the models.
        """
        new_plan = measurement.plan(plan)
        if new_plan is plan:
            return tuple(paths)

        # Measures of inner folds are not computed again.
        has_same_convention = measurement.convention == plan.convention
        if plan.inner or fold.vali is None:
            return tuple(
                path
                if has_same_convention and path.validation
                else _without_measures(path)
                for path in paths
            )

        # Measure the steps of each path on the validation part.
        measured = []
        for path, values in zip(
            paths, self._query_values(paths, fold.vali, measurement), strict=True
        ):
            # Measures of left-out queries are kept: they are not computed again.
            left_out_measures = left_out(path.validation) if has_same_convention else {}
            measured_path = replace(
                path,
                validation=FrozenMapping(
                    {measurement.measure: average(values), **left_out_measures}
                ),
                standard_errors=path.standard_errors
                if has_same_convention
                else FrozenMapping({}),
            )
            # Only a measure that chooses has p-values; the p-values of
            # the previous measure do not apply.
            new_p_values: Mapping[str, Floats] = FrozenMapping({})
            choices = path.choices
            if measurement.chooses and new_plan.select_by in measured_path.validation:
                new_p_values = p_values(new_plan, measured_path, [values])
                choices = _subset_choices(new_plan, measured_path, values, fold.vali)
            measured.append(
                replace(measured_path, p_values=new_p_values, choices=choices)
            )
        return tuple(measured)

    def baseline(
        self, baseline: Baseline, fold: Fold, plan: Plan, measurement: Measurement
    ) -> Baseline:
        """Return the best single feature of a fold, measured under other settings.

        The feature stays the same. `plan` is that of the run.
        """
        new_plan = measurement.plan(plan)
        # Nothing changes, but a sealed test part has no measures.
        if new_plan is plan:
            return (
                replace(baseline, test=FrozenMapping({}))
                if measurement.sealed
                else baseline
            )
        step = baseline_step(baseline, fold.train.feature_ids.tolist())
        # Means over inner folds cannot be computed again, only kept.
        stored = (
            baseline.validation if measurement.convention == plan.convention else {}
        )
        validation = (
            stored
            if plan.inner
            else self._mean_measures(step, fold.vali, new_plan, baseline)
        )
        test = self._mean_measures(
            step, None if measurement.sealed else fold.test, new_plan, baseline
        )
        return replace(
            baseline, validation=FrozenMapping(validation), test=FrozenMapping(test)
        )

    def _validation(
        self, chosen: Chosen, paths: Sequence[PathResult], fold: Fold, plan: Plan
    ) -> Mapping[str, float]:
        """Return the validation measures of the selected model of a fold, by name.

        With inner folds, the measures are the means over the inner
        folds, as in the model's path.
        """
        if not plan.inner:
            return self._mean_measures(chosen.step, fold.vali, plan)
        path = next(path for path in paths if path.unit == chosen.unit)
        index = path.steps.position(chosen.step.number)
        return {
            name: float(values[index])
            for name, values in validated(path.validation).items()
        }

    def _query_values(
        self,
        paths: Sequence[PathResult],
        part: RankingDataset,
        measurement: Measurement,
    ) -> Iterator[Floats]:
        """Yield for each path the measure of its K steps in each query, shape (K, Q).

        A measure of rankings is computed for many paths at a time, from
        rankings that are cached. Rankings that would take too much
        memory are not cached.

        A step whose model is not stored completely has NaN.
        """
        # Only complete steps can be measured. `spread` puts their rows
        # to the positions of the steps, and NaN to the others.
        name = measurement.measure
        evaluator = self._evaluator(part, measurement.convention, (name,))
        # A measure that needs the scores themselves, not only the order.
        if not evaluator.by_rank:
            for path in paths:
                is_whole, steps = whole_steps(path, part)
                by_step = [
                    evaluator.per_query_many(scores)[name]
                    for scores in _score_blocks(steps, part)
                ]
                yield spread(
                    np.concatenate(by_step or [np.empty((0, part.n_queries))]), is_whole
                )
            return

        # Rankings too many to keep at once are measured one by one.
        if any(
            len(path.steps) * part.n_documents > _MAX_RANKING_BYTES // 2
            for path in paths
        ):
            for path in paths:
                is_whole, steps = whole_steps(path, part)
                ranking_blocks = _ranking_blocks(
                    steps, part, self._order(part, measurement.convention)
                )
                by_step = [
                    evaluator.rankings_per_query(row[None])[name]
                    for rankings in ranking_blocks
                    for row in rankings
                ]
                yield spread(np.array(by_step).reshape(-1, part.n_queries), is_whole)
            return

        # Otherwise paths are measured together, each distinct ranking once.
        for block in in_blocks(
            self._ranked_path(path, part, measurement.convention) for path in paths
        ):
            # Shape (steps of all paths of the block, Q).
            values = block[0].distinct.per_query(
                [ranked.ranking_numbers for ranked in block], evaluator
            )[name]
            ends = np.cumsum([len(ranked.ranking_numbers) for ranked in block])[:-1]
            for rows, ranked_path in zip(np.split(values, ends), block, strict=True):
                yield spread(rows, ranked_path.whole)

    def _ranked_path(
        self, path: PathResult, part: RankingDataset, convention: str
    ) -> RankedPath:
        """Rank the documents of a part by the steps of a path, its models; cache the result.

        Identical rankings of a query are stored once. The key
        `convention` says how documents with equal scores are ordered.
        """
        cached = self._paths.get(path)
        # Order of documents with equal scores; None for that of the file.
        order = self._order(part, convention)
        by_id = order is not None
        if cached is None or cached.part is not part or cached.by_id != by_id:
            is_whole, steps = whole_steps(path, part)
            distinct = self._make_room(part, by_id)
            # Numbers of the steps' rankings in the store, shape (steps,
            # Q) per block; an empty block, for a path without complete
            # steps.
            ranking_numbers = [np.empty((0, part.n_queries), dtype=np.int32)]
            ranking_numbers += [
                distinct.enter(ranked) for ranked in _ranking_blocks(steps, part, order)
            ]
            self._paths[path] = cached = RankedPath(
                part=part,
                by_id=by_id,
                whole=is_whole,
                distinct=distinct,
                ranking_numbers=np.concatenate(ranking_numbers),
            )
        return cached

    @property
    def _nbytes(self) -> int:
        """Bytes of memory that the rankings take."""
        return sum(
            rankings.nbytes
            for stored in self._distinct.values()
            for rankings in stored.values()
        )

    def _make_room(self, part: RankingDataset, by_id: bool) -> DistinctRankings:
        """Return the store of a part's different rankings, a new one if there is none.

        If all cached rankings together take too much memory, they are
        discarded first. `by_id` says whether ids of documents break
        ties.
        """
        if self._nbytes > _MAX_RANKING_BYTES:
            self._paths.clear()
            self._distinct.clear()
        by_order = self._distinct.setdefault(part, {})
        if by_id not in by_order:
            by_order[by_id] = DistinctRankings(part.query_ptr)
        return by_order[by_id]

    def _mean_measures(
        self,
        step: Step,
        part: RankingDataset | None,
        plan: Plan,
        owner: Baseline | None = None,
    ) -> dict[str, float]:
        """Return the mean measures, by name, of the model of a step on a part.

        The result is {} without a part, or if the model cannot score
        the part. `plan` has the measures and their convention. `owner`
        is the object with which the model's ranking is cached; by
        default the step.
        """
        if part is None or not step.can_score(part.X):
            return {}
        per_query = self._query_measures(
            self._evaluator(part, plan.convention, plan.evaluated), step, part, owner
        )
        return {name: float(average(values)) for name, values in per_query.items()}

    def _per_query(
        self, step: Step, part: RankingDataset | None, plan: Plan
    ) -> dict[str, Floats]:
        """Return the measures, by name, of the model of a step in each query of a part.

        `plan` has the measures and their convention. Each array has
        shape (Q,) for Q queries. The result is {} without a part, or if
        the model cannot score the part.
        """
        if part is None or not step.can_score(part.X):
            return {}
        return self._query_measures(
            self._evaluator(part, plan.convention, plan.evaluated), step, part
        )

    def _query_measures(
        self,
        evaluator: Evaluator,
        step: Step,
        part: RankingDataset,
        owner: Baseline | None = None,
    ) -> dict[str, Floats]:
        """Return the measures, by name, of the model of a step in each query of a part.

        Each array has shape (Q,) for Q queries. The measures are those
        of `evaluator`, computed from the model's ranking, or from its
        scores if a measure needs scores. `owner` is the object with
        which the ranking is cached; by default the step.
        """
        if not evaluator.by_rank:
            return evaluator.per_query(ScoredPart(part).scores(step))
        return evaluator.rankings_per_query(
            self._ranking(step, part, evaluator.convention.key, owner)
        )

    def _standard_error(self, step: Step, fold: Fold, plan: Plan) -> float:
        """Return the standard error of the selection measure."""
        return standard_error(self._per_query(step, fold.vali, plan)[plan.select_by])

    def _ranking(
        self,
        step: Step,
        part: RankingDataset,
        convention: str,
        owner: Baseline | None = None,
    ) -> Codes:
        """Return the ranking of a part's m documents by the model of a step, shape (1, m).

        The ranking is cached as long as `owner` exists: the best single
        feature of a fold, if the model is made of one, otherwise the
        step itself.
        """
        cached = self._models.setdefault(owner or step, {})
        order = self._order(part, convention)

        # Conventions with the same order of equal scores share a ranking.
        key = id(part), order is not None
        if key not in cached:
            scores = ScoredPart(part).scores(step)
            # The part is kept with its ranking, so that no other object can get its id.
            cached[key] = part, rank(scores[None, :], part.y, part.query_ptr, order)
        _, ranking = cached[key]
        return ranking

    def _order(self, part: RankingDataset, convention: str) -> Ints | None:
        """Return the order in which a convention reads a part's documents with equal scores.

        The result is None for the order of the file, otherwise an array
        of shape (m,). Only conventions by which ids of documents break
        ties have another order. All of these have the same one, so that
        it is stored by part alone.
        """
        rules = find_convention(convention)
        if rules.ties is not Ties.DOCUMENT_ID:
            return None
        if part not in self._orders:
            # Of the rules, it only uses that of ties, which is the same
            # for all conventions here. Without ids, it returns None.
            self._orders[part] = reading_order(part.query_ptr, rules, part.grading)
        return self._orders[part]

    def _evaluator(
        self, part: RankingDataset, convention: str, names: tuple[str, ...]
    ) -> Evaluator:
        """Return the evaluator that computes measures on a part by a convention.

        Measures whose code is absent in this installation are left out,
        unless all measures lack code. The evaluators of the latest
        calls are stored for the next ones.
        """
        names = computable(names) or names
        key = id(part), convention, names
        if key not in self._evaluators:
            while len(self._evaluators) >= _MAX_EVALUATORS:
                # The oldest entry is the first one.
                del self._evaluators[next(iter(self._evaluators))]
            evaluator = Evaluator(
                part.y, part.query_ptr, convention, names, grading=part.grading
            )
            # the part is kept, so that no other object gets its id
            self._evaluators[key] = part, evaluator
        _, evaluator = self._evaluators[key]
        return evaluator


def _subset_choices(
    plan: Plan, path: PathResult, values: Floats, part: RankingDataset
) -> SubsetChoices | None:
    """Return which models of a path the plan's rule chooses on subsets of the queries.

    `values`, shape (K, Q), has the selection measure of K steps in the
    Q queries of the validation part `part`. The result is None if
    validation queries do not choose, or some models are not stored.
    """
    # A step without any value either was not stored completely, or the
    # measure is not defined for it.
    undefined_steps = [
        path.steps[row] for row in np.flatnonzero(np.isnan(values).all(axis=1)).tolist()
    ]
    are_complete = all(step.can_score(part.X) for step in undefined_steps)
    if not is_chosen_on_validation(plan) or not are_complete:
        return None
    return choose_on_subsets(plan, path, [values])


def _without_kept_measures(path: PathResult) -> PathResult:
    """Return a path without the measures that are stored with its chosen models.

    These are the models that subsets of the queries choose. Without
    stored measures, the models are measured again.
    """
    return (
        path
        if path.choices is None
        else replace(path, choices=replace(path.choices, per_query={}))
    )


def _without_measures(path: PathResult) -> PathResult:
    """Return a path without all that depends on measures, because they do not apply."""
    return replace(
        path,
        validation=FrozenMapping({}),
        standard_errors={},
        p_values={},
        choices=None,
    )


def _ranking_blocks(
    steps: Sequence[Step], part: RankingDataset, order: Ints | None
) -> Iterator[Codes]:
    """Yield the rankings of a part's documents by the models of steps, in blocks.

    A block has shape (steps, m): a ranking of the m documents per step.
    `order` is the order of documents with equal scores, None for that
    of the file.
    """
    for scores in _score_blocks(steps, part):
        yield rank(scores, part.y, part.query_ptr, order)


def _score_blocks(steps: Sequence[Step], part: RankingDataset) -> Iterator[Floats]:
    """Yield the scores of a part's m documents by successive steps, shape (block, m)."""
    scored = ScoredPart(part)
    block_size = max(1, _MAX_SCORES // part.n_documents)
    previous: Floats | None = None
    for start in range(0, len(steps), block_size):
        scores, previous = _scores_of_steps(
            steps[start : start + block_size], scored, previous
        )
        yield scores


def _score_blocks_of_any_steps(
    steps: Sequence[Step], part: RankingDataset
) -> Iterator[Floats]:
    """Yield the scores of a part's m documents by any steps of a path, shape (block, m)."""
    if all(step.linear for step in steps):
        yield from _score_blocks(steps, part)
        return
    scored = ScoredPart(part)
    # Each model is scored from its beginning, because the steps need
    # not be consecutive.
    for step in steps:
        yield scored.scores(step)[None, :]


def _scores_of_steps(
    steps: Sequence[Step], part: ScoredPart, scores: Floats | None
) -> tuple[Floats, Floats | None]:
    """Return the scores of a part's m documents by K steps, and those of the last step.

    The scores have shape (K, m). Nonlinear models continue from the
    scores of the step before, at first `scores`, shape (m,). The last
    scores are None for linear models, which need none.
    """
    if all(step.linear for step in steps):
        return part.linear_scores(np.array([step.coef for step in steps])), None
    rows = []
    for step in steps:
        scores = part.scores(step, scores)
        rows.append(scores)
    return np.array(rows), scores
