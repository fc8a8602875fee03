"""Finished runs measured anew: other measures, another convention, from the models that are there."""

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
from rankstudio.engine.experiment.results.results import Baseline, Chosen, FoldResult, PathResult, RunResult
from rankstudio.engine.experiment.results.subset_choices import SubsetChoices
from rankstudio.engine.experiment.units.scored_part import ScoredPart
from rankstudio.engine.metrics._kernels import Codes
from rankstudio.engine.metrics.conventions import Ties
from rankstudio.engine.metrics.conventions import convention as find_convention
from rankstudio.engine.metrics.distinct_rankings import DistinctRankings, Places
from rankstudio.engine.metrics.evaluator import Evaluator, average, rank, reading_order, standard_error
from rankstudio.engine.metrics.names import computable, foreign_entries
from rankstudio.engine.steps import Step
from rankstudio.engine.support.frozen_mapping import FrozenMapping

_VALUES = 1 << 23  # read off at a time: 64 MB


@dataclass(frozen=True, eq=False)
class RankedPath:
    """Rankings of a part by all complete steps of a path, each stored once."""

    part: RankingDataset
    by_id: bool
    whole: NDArray[np.bool_]
    distinct: DistinctRankings
    places: Places


def together(ranked: Iterable[RankedPath]) -> Iterator[list[RankedPath]]:
    """Yield the steps with shared rankings, a few at a time."""
    alike: list[RankedPath] = []
    values = 0
    for one in ranked:
        if alike and (one.distinct is not alike[0].distinct or values + one.places.size > _VALUES):
            yield alike
            alike, values = [], 0
        alike.append(one)
        values += one.places.size
    if alike:
        yield alike


def whole_steps(path: PathResult, part: RankingDataset) -> tuple[NDArray[np.bool_], Sequence[Step]]:
    """Return which steps of a path can score a part, and these steps."""
    whole = np.array([step.covers(part.X) for step in path.steps], dtype=np.bool_)
    return whole, path.steps if whole.all() else [
        path.steps[place] for place in np.flatnonzero(whole).tolist()
    ]


def spread(values: Floats, whole: NDArray[np.bool_]) -> Floats:
    """Return the values of complete steps, one row each, at their positions; NaN at the others."""
    if whole.all():
        return values
    every = np.full((whole.size, *values.shape[1:]), np.nan)
    every[whole] = values
    return every


_SCORES = 1 << 23  # scores computed at a time: 64 MB
_KEPT = 1 << 29  # bytes of rankings that are kept
_EVALUATORS = 64  # kept of parts: the oldest goes
_MEASUREMENTS = 64  # of a fold's results that are kept


class Remeasurement:
    """Measures the models of finished runs by any measure and convention.

    The documents are scored and sorted once per model. Every measure is computed from those rankings, once
    for identical rankings of a query; they are cached as long as the paths, up to half a gigabyte. Nothing is
    trained again.

    A nonlinear model that a study does not store completely has no measure: NaN. The models of inner folds
    are not stored, so only the validation measures of the plan are available for them.
    """

    def __init__(self) -> None:
        self._paths: WeakKeyDictionary[PathResult, RankedPath] = WeakKeyDictionary()
        self._distinct: WeakKeyDictionary[RankingDataset, dict[bool, DistinctRankings]] = WeakKeyDictionary()
        self._orders: WeakKeyDictionary[RankingDataset, Ints | None] = WeakKeyDictionary()
        self._models: WeakKeyDictionary[
            Step | Baseline, dict[tuple[int, bool], tuple[RankingDataset, Codes]]
        ] = WeakKeyDictionary()
        self._folds: WeakKeyDictionary[FoldResult, dict[tuple[Plan, Measurement], FoldResult]] = (
            WeakKeyDictionary()
        )
        self._evaluators: dict[tuple[int, str, tuple[str, ...]], tuple[RankingDataset, Evaluator]] = {}

    def run(self, result: RunResult, dataset: FoldedDataset, wanted: Measurement) -> RunResult:
        """Return a run under the current settings, with its plan changed accordingly.

        Parameters
        ----------
        result : RunResult
        dataset : FoldedDataset
            Data of the run, with documents.
        wanted : Measurement
        """
        folds = {fold.number: fold for fold in dataset.folds}
        measured = tuple(self.fold(one, folds[one.fold], result.plan, wanted) for one in result.folds)
        return replace(result, plan=wanted.plan(result.plan), folds=measured)

    def with_measures(
        self, result: RunResult, dataset: FoldedDataset, names: Sequence[str], *, sealed: bool = False
    ) -> RunResult:
        """Return a run with further measures; existing measures are kept.

        Parameters
        ----------
        result : RunResult
        dataset : FoldedDataset
            Data of the run, with documents.
        names : sequence of str
            Names of the measures, by the convention of the plan.
        sealed : bool
            Whether the test part is left out, as if the data had none.

        Raises
        ------
        PlanError
            For a measure of others whose code is absent.
        """
        for entry in foreign_entries(names):
            entry.load()
        plan = result.plan.changed(measures=(*result.plan.measures, *names))
        parts = {fold.number: fold for fold in dataset.folds}
        folds = []
        for one in result.folds:
            fold, step = parts[one.fold], one.chosen.step
            test = None if sealed else fold.test
            found = self._per_query(step, test if test is not None else fold.vali, plan)
            fitted = (
                self.cross_fitted(one, fold, result.plan, plan) if test is None or one.cross_fitted else {}
            )
            validation = {} if plan.inner else self._model(step, fold.vali, plan)
            folds.append(
                replace(
                    one,
                    validation=FrozenMapping({**validation, **one.validation}),
                    test=FrozenMapping({**self._model(step, test, plan), **one.test}),
                    per_query=FrozenMapping({**found, **one.per_query}),
                    cross_fitted=FrozenMapping(fitted),
                )
            )
        return replace(result, plan=plan, folds=tuple(folds))

    def rank_models(self, result: RunResult, dataset: FoldedDataset) -> Iterator[None]:
        """Rank the documents by a run's models in advance.

        Yields after each path, and may be interrupted there. Paths with more scores than one block are ranked
        on request, as are the others once half of the cache is full.

        Parameters
        ----------
        result : RunResult
        dataset : FoldedDataset
            Data of the run, with documents.
        """
        parts = {fold.number: fold for fold in dataset.folds}
        convention = result.plan.convention
        for one in result.folds:
            fold = parts[one.fold]
            for part in filter(None, (fold.vali, fold.test)):
                self._ranked(
                    baseline_step(one.baseline, fold.train.feature_ids.tolist()),
                    part,
                    convention,
                    one.baseline,
                )
                if one.chosen.step.covers(part.X):
                    self._ranked(one.chosen.step, part, convention)
            yield
            if fold.vali is None or result.plan.inner:
                continue
            for path in one.paths:
                if self._nbytes > _KEPT // 2:
                    return
                if len(path.steps) * fold.vali.n_documents <= _SCORES:
                    self._ranked_path(path, fold.vali, convention)
                yield

    def mean(self, result: RunResult, dataset: FoldedDataset, wanted: Measurement) -> float:
        """Return the mean of the current measure over the folds, for the models selected by the run.

        On the test part, or on the validation part without one; NaN if undefined.
        """
        parts = {fold.number: fold for fold in dataset.folds}
        found = []
        for one in result.folds:
            fold = parts[one.fold]
            part = fold.vali if wanted.sealed or fold.test is None else fold.test
            if part is not None and one.chosen.step.covers(part.X):
                evaluator = self._evaluator(part, wanted.convention, (wanted.measure,))
                values = self._read(evaluator, one.chosen.step, part)[wanted.measure]
                found.append(average(values))
        return float(average(np.array(found))) if found else float("nan")

    def measure_models(
        self, result: RunResult, dataset: FoldedDataset, wanted: Sequence[Measurement]
    ) -> Iterator[None]:
        """Measure a run in advance; yields after each fold, and may be interrupted there.

        Only the rankings of :meth:`rank_models` are measured, which needs almost no memory.

        Parameters
        ----------
        result : RunResult
        dataset : FoldedDataset
            Data of the run, with documents.
        wanted : sequence of Measurement
        """
        parts = {fold.number: fold for fold in dataset.folds}
        for measurement in wanted:
            for one in result.folds:
                ranked = all(path in self._paths for path in one.paths)
                if ranked or result.plan.inner or parts[one.fold].vali is None:
                    self.fold(one, parts[one.fold], result.plan, measurement)
                yield

    def fold(self, result: FoldResult, fold: Fold, plan: Plan, wanted: Measurement) -> FoldResult:
        """Return a fold of a run under the current settings; it is cached as long as the fold."""
        if wanted.plan(plan) is plan and not wanted.sealed:
            return result
        kept = self._folds.setdefault(result, {})
        if (plan, wanted) not in kept:
            while len(kept) >= _MEASUREMENTS:
                del kept[next(iter(kept))]
            kept[plan, wanted] = self._fold(result, fold, plan, wanted)
        return kept[plan, wanted]

    def _fold(self, result: FoldResult, fold: Fold, plan: Plan, wanted: Measurement) -> FoldResult:
        now = wanted.plan(plan)
        test_part = None if wanted.sealed else fold.test
        paths = self.paths(result.paths, fold, plan, wanted)
        chosen = result.chosen
        if wanted.chooses and all(now.select_by in path.validation for path in paths):
            chosen = select_model(now, paths, lambda step: self._standard_error(step, fold, now))
        test = self._model(chosen.step, test_part, now)
        baseline = self.baseline(result.baseline, fold, plan, wanted)
        cross_fitted: Mapping[str, Floats] = {}
        if wanted.chooses and now is not plan:
            cross_fitted = self._fitted(now, chosen, paths, fold, now)
        elif test_part is None or result.cross_fitted:
            cross_fitted = self.cross_fitted(result, fold, plan, now)
        per_query = self._per_query(chosen.step, test_part if test_part is not None else fold.vali, now)
        return replace(
            result,
            chosen=chosen,
            selected=tuple(int(fold.train.feature_ids[column]) for column in chosen.step.selected),
            validation=FrozenMapping(self._validation(chosen, paths, fold, now)),
            test=FrozenMapping(test),
            paths=paths,
            baseline=baseline,
            per_query=FrozenMapping(per_query),
            cross_fitted=FrozenMapping(cross_fitted),
        )

    def cross_fitted(self, result: FoldResult, fold: Fold, plan: Plan, now: Plan) -> Mapping[str, Floats]:
        """Return the measures in each validation query, of models that the run would choose without it.

        Parameters
        ----------
        result : FoldResult
            Fold of a run.
        fold : Fold
        plan : Plan
            Plan of the run, which chooses.
        now : Plan
            Plan whose measures and convention are used.

        Returns
        -------
        Mapping of str to ndarray of shape (Q,)
            Empty without a validation part, or if a study does not store the models.

        Notes
        -----
        O(KQ) per path for the choices if the path does not keep them, of one path at a time, and one scoring
        of the part for each of up to 100 models that are chosen.
        """
        known = result.cross_fitted if now.convention == plan.convention else {}
        if all(name in known for name in now.evaluated):
            return known
        if fold.vali is None or plan.inner:
            return {}
        paths: Sequence[PathResult] = result.paths
        if is_chosen_on_validation(plan) and any(path.choices is None for path in paths):
            paths = self._with_choices(paths, fold.vali, plan)
        if now.evaluated != plan.evaluated or now.convention != plan.convention:
            paths = [_without_kept(path) for path in paths]
        fitted = self._fitted(plan, result.chosen, paths, fold, now)
        return {**fitted, **known} if fitted else {}

    def _with_choices(
        self, paths: Sequence[PathResult], part: RankingDataset, plan: Plan
    ) -> list[PathResult]:
        """Return paths with the choices of their plan, where all models are stored."""
        values = self._query_values(paths, part, Measurement(plan.convention, plan.chosen_by))
        return [
            replace(path, choices=_choices(plan, path, rows, part))
            for path, rows in zip(paths, values, strict=True)
        ]

    def _fitted(
        self, plan: Plan, chosen: Chosen, paths: Sequence[PathResult], fold: Fold, now: Plan
    ) -> dict[str, Floats]:
        """Return what models that a plan chooses without each query measure on it, by another plan."""
        part = fold.vali
        if part is None or plan.inner:
            return {}
        evaluator = self._evaluator(part, now.convention, now.evaluated)

        def measure_models(path: PathResult, positions: Sequence[int]) -> dict[str, Floats]:
            steps = [path.steps[position] for position in positions]
            if not all(step.covers(part.X) for step in steps):
                return {}
            tables = [evaluator.per_query_many(scores) for scores in _scored_apart(steps, part)]
            return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}

        return cross_fitted_values(plan, chosen, paths, part.n_queries, measure_models)

    def paths(
        self, paths: Sequence[PathResult], fold: Fold, plan: Plan, wanted: Measurement
    ) -> tuple[PathResult, ...]:
        """Return the paths of a fold with the current measure as their validation measure.

        Parameters
        ----------
        paths : sequence of PathResult
            Paths of a run of this plan.
        fold : Fold
        plan : Plan
        wanted : Measurement
        """
        now = wanted.plan(plan)
        if now is plan:
            return tuple(paths)
        if plan.inner or fold.vali is None:
            keeps = wanted.convention == plan.convention
            return tuple(path if keeps and path.validation else _unmeasured(path) for path in paths)
        keeps = wanted.convention == plan.convention
        measured = []
        for path, values in zip(paths, self._query_values(paths, fold.vali, wanted), strict=True):
            kept = left_out(path.validation) if keeps else {}
            one = replace(
                path,
                validation=FrozenMapping({wanted.measure: average(values), **kept}),
                standard_errors=path.standard_errors if keeps else FrozenMapping({}),
            )
            # What does not choose is not tested, and p-values of what chose before are of other values.
            chooses = wanted.chooses and now.select_by in one.validation
            tested = p_values(now, one, [values]) if chooses else FrozenMapping[str, Floats]({})
            choices = _choices(now, one, values, fold.vali) if chooses else path.choices
            measured.append(replace(one, p_values=tested, choices=choices))
        return tuple(measured)

    def baseline(self, baseline: Baseline, fold: Fold, plan: Plan, wanted: Measurement) -> Baseline:
        """Return the best single feature of a fold under the current settings; the feature stays the same."""
        now = wanted.plan(plan)
        if now is plan:
            return replace(baseline, test=FrozenMapping({})) if wanted.sealed else baseline
        step = baseline_step(baseline, fold.train.feature_ids.tolist())
        known = baseline.validation if wanted.convention == plan.convention else {}
        validation = known if plan.inner else self._model(step, fold.vali, now, baseline)
        test = self._model(step, None if wanted.sealed else fold.test, now, baseline)
        return replace(baseline, validation=FrozenMapping(validation), test=FrozenMapping(test))

    def _validation(
        self, chosen: Chosen, paths: Sequence[PathResult], fold: Fold, plan: Plan
    ) -> Mapping[str, float]:
        """Return what the chosen model measured on the validation part, or on average on the inner folds'."""
        if not plan.inner:
            return self._model(chosen.step, fold.vali, plan)
        path = next(path for path in paths if path.unit == chosen.unit)
        place = path.steps.position(chosen.step.number)
        return {name: float(values[place]) for name, values in validated(path.validation).items()}

    def _query_values(
        self, paths: Sequence[PathResult], part: RankingDataset, wanted: Measurement
    ) -> Iterator[Floats]:
        """Yield the measure of each path's K steps in each query, (K, Q); NaN where a step is not whole.

        It is read off rankings that are kept where there is room, those of many paths at a time.
        """
        name = wanted.measure
        evaluator = self._evaluator(part, wanted.convention, (name,))
        if not evaluator.by_rank:
            for path in paths:
                whole, steps = whole_steps(path, part)
                found = [evaluator.per_query_many(some)[name] for some in _scored(steps, part)]
                yield spread(np.concatenate(found or [np.empty((0, part.n_queries))]), whole)
            return
        if any(len(path.steps) * part.n_documents > _KEPT // 2 for path in paths):
            for path in paths:
                whole, steps = whole_steps(path, part)
                rankings = _rankings(steps, part, self._order(part, wanted.convention))
                found = [evaluator.rankings_per_query(row[None])[name] for some in rankings for row in some]
                yield spread(np.array(found).reshape(-1, part.n_queries), whole)
            return
        for alike in together(self._ranked_path(path, part, wanted.convention) for path in paths):
            values = alike[0].distinct.per_query([one.places for one in alike], evaluator)[name]
            ends = np.cumsum([len(one.places) for one in alike])[:-1]
            for rows, one in zip(np.split(values, ends), alike, strict=True):
                yield spread(rows, one.whole)

    def _ranked_path(self, path: PathResult, part: RankingDataset, convention: str) -> RankedPath:
        """Return where the rankings of a part by a path's whole steps stand among the different ones."""
        kept, order = self._paths.get(path), self._order(part, convention)
        by_id = order is not None
        if kept is None or kept.part is not part or kept.by_id != by_id:
            whole, steps = whole_steps(path, part)
            distinct = self._make_room(part, by_id)
            places = [np.empty((0, part.n_queries), dtype=np.int32)]
            places += [distinct.enter(ranked) for ranked in _rankings(steps, part, order)]
            self._paths[path] = kept = RankedPath(part, by_id, whole, distinct, np.concatenate(places))
        return kept

    @property
    def _nbytes(self) -> int:
        """Bytes of memory that the rankings take."""
        return sum(one.nbytes for kept in self._distinct.values() for one in kept.values())

    def _make_room(self, part: RankingDataset, by_id: bool) -> DistinctRankings:
        """Return where the rankings of a part are kept; forget all there are where they are too many."""
        if self._nbytes > _KEPT:
            self._paths.clear()
            self._distinct.clear()
        kept = self._distinct.setdefault(part, {})
        if by_id not in kept:
            kept[by_id] = DistinctRankings(part.query_ptr)
        return kept[by_id]

    def _model(
        self, step: Step, part: RankingDataset | None, plan: Plan, owner: Baseline | None = None
    ) -> dict[str, float]:
        if part is None or not step.covers(part.X):
            return {}
        found = self._read(self._evaluator(part, plan.convention, plan.evaluated), step, part, owner)
        return {name: float(average(values)) for name, values in found.items()}

    def _per_query(self, step: Step, part: RankingDataset | None, plan: Plan) -> dict[str, Floats]:
        if part is None or not step.covers(part.X):
            return {}
        return self._read(self._evaluator(part, plan.convention, plan.evaluated), step, part)

    def _read(
        self, evaluator: Evaluator, step: Step, part: RankingDataset, owner: Baseline | None = None
    ) -> dict[str, Floats]:
        """Return the measures of one model in each query, from its ranking wherever that is enough."""
        if not evaluator.by_rank:
            return evaluator.per_query(ScoredPart(part).scores(step))
        return evaluator.rankings_per_query(self._ranked(step, part, evaluator.convention.key, owner))

    def _standard_error(self, step: Step, fold: Fold, plan: Plan) -> float:
        return standard_error(self._per_query(step, fold.vali, plan)[plan.select_by])

    def _ranked(
        self, step: Step, part: RankingDataset, convention: str, owner: Baseline | None = None
    ) -> Codes:
        """Return the ranking of a part by one model, shape (1, m); kept as long as the owner is."""
        kept, order = self._models.setdefault(owner or step, {}), self._order(part, convention)
        key = id(part), order is not None
        if key not in kept:
            scores = ScoredPart(part).scores(step)
            # The part is kept with its ranking: its id stays its own.
            kept[key] = part, rank(scores[None, :], part.y, part.query_ptr, order)
        return kept[key][1]

    def _order(self, part: RankingDataset, convention: str) -> Ints | None:
        """Return the order of a part's documents in which a convention reads it; None for the file's."""
        chosen = find_convention(convention)
        if chosen.ties is not Ties.DOCUMENT_ID:
            return None
        if part not in self._orders:
            self._orders[part] = reading_order(part.query_ptr, chosen, part.grading)
        return self._orders[part]

    def _evaluator(self, part: RankingDataset, convention: str, names: tuple[str, ...]) -> Evaluator:
        """Return what measures a part; a study's measures without code are left out, unless all are."""
        names = computable(names) or names
        key = id(part), convention, names
        if key not in self._evaluators:
            while len(self._evaluators) >= _EVALUATORS:
                del self._evaluators[next(iter(self._evaluators))]
            made = Evaluator(part.y, part.query_ptr, convention, names, grading=part.grading)
            self._evaluators[key] = part, made  # the part is kept with it: its id stays its own
        return self._evaluators[key][1]


def _choices(plan: Plan, path: PathResult, values: Floats, part: RankingDataset) -> SubsetChoices | None:
    """Choose on subsets of the queries; None if they do not choose, or not all models are stored."""
    unknown = np.flatnonzero(np.isnan(values).all(axis=1)).tolist()
    if not is_chosen_on_validation(plan) or not all(path.steps[row].covers(part.X) for row in unknown):
        return None
    return choose_on_subsets(plan, path, [values])


def _without_kept(path: PathResult) -> PathResult:
    """Return a path whose choices keep no measures: they are to be measured anew."""
    return path if path.choices is None else replace(path, choices=replace(path.choices, per_query={}))


def _unmeasured(path: PathResult) -> PathResult:
    """Return a path without what it measured."""
    return replace(path, validation=FrozenMapping({}), standard_errors={}, p_values={}, choices=None)


def _rankings(steps: Sequence[Step], part: RankingDataset, order: Ints | None) -> Iterator[Codes]:
    """Yield the rankings of a part by steps, some steps at a time."""
    for scores in _scored(steps, part):
        yield rank(scores, part.y, part.query_ptr, order)


def _scored(steps: Sequence[Step], part: RankingDataset) -> Iterator[Floats]:
    """Yield the scores of a part by steps, some steps at a time."""
    scored = ScoredPart(part)
    at_a_time = max(1, _SCORES // part.n_documents)
    known: Floats | None = None
    for start in range(0, len(steps), at_a_time):
        scores, known = _scores(steps[start : start + at_a_time], scored, known)
        yield scores


def _scored_apart(steps: Sequence[Step], part: RankingDataset) -> Iterator[Floats]:
    """Yield the scores of a part by steps that need not follow each other, some steps at a time."""
    if all(step.linear for step in steps):
        yield from _scored(steps, part)
        return
    scored = ScoredPart(part)
    for step in steps:
        yield scored.scores(step)[None, :]


def _scores(steps: Sequence[Step], part: ScoredPart, known: Floats | None) -> tuple[Floats, Floats | None]:
    """Return the scores of steps, a row each, and what the next ones may go on from."""
    if all(step.linear for step in steps):
        return part.linear_scores(np.array([step.coef for step in steps])), None
    rows = []
    for step in steps:
        known = part.scores(step, known)
        rows.append(known)
    return np.array(rows), known
