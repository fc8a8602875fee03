"""The run of a plan, as a stream of events for the window and the terminal."""

from __future__ import annotations

import time
from collections.abc import Container, Generator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial

from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.fingerprint import data_digest
from rankstudio.engine.data.splitting.part_of_whole import PartOfWhole
from rankstudio.engine.errors import DatasetError, PlanError
from rankstudio.engine.experiment.execution.scheduler import UnitScheduler
from rankstudio.engine.experiment.execution.shard_executors import (
    shard_executor,
    workers_here,
)
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.from_data import (
    with_data_format,
    with_known_costs,
    with_usual_convention,
)
from rankstudio.engine.experiment.plan.plan import (
    CRITERION,
    SAMPLE,
    Plan,
    estimator,
    n_steps,
    usual_measures,
)
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.experiment.plan.protocol import parse_protocol, parse_rule
from rankstudio.engine.experiment.results.events import (
    BaselineFound,
    Event,
    FoldFinished,
    RunFinished,
    RunStarted,
    StepDone,
    UnitFinished,
    UnitProgress,
    UnitStarted,
)
from rankstudio.engine.experiment.results.memory_estimate import (
    MemoryEstimate,
    memory_estimate,
    shards_are_shared,
)
from rankstudio.engine.experiment.results.model_selection import select_model
from rankstudio.engine.experiment.results.results import (
    FoldResult,
    Keeper,
    PathResult,
    RunResult,
    path_keeper,
)
from rankstudio.engine.experiment.units.fold_context import (
    FoldContext,
    group_training,
    make_fold_context,
)
from rankstudio.engine.experiment.units.given_fold import given_folds
from rankstudio.engine.experiment.units.preferred import check_preferences
from rankstudio.engine.experiment.versions import versions
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog import methods
from rankstudio.engine.methods.catalog.rankers import RANKRLS
from rankstudio.engine.methods.catalog.shared import LEAVE_QUERY_OUT
from rankstudio.engine.methods.holdout import MOST_LEFT_OUT
from rankstudio.engine.methods.shards.training_data import ShardExecutor, TrainingData
from rankstudio.engine.steps import Step
from rankstudio.engine.support.memory import sufficient
from rankstudio.engine.support.sparse_rows import SparseRows
from rankstudio.engine.support.work import Note, WorkProgress

__all__ = [
    "check",
    "collect",
    "estimate",
    "open_data",
    "run",
    "select_model",
    "usual_choices",
]


@dataclass(frozen=True)
class Finished:
    """Existing results of a run, which are not computed again.

    They were computed by an equal plan on the same data.

    Attributes
    ----------
    units : Mapping of (int, int) to PathResult
        Paths (all models of one combination of parameters' values on
        one fold), by the number of the fold and the position of the
        combination.
    folds : Mapping of int to FoldResult
        Finished folds, by number.
    """

    units: Mapping[tuple[int, int], PathResult] = field(default_factory=dict)
    folds: Mapping[int, FoldResult] = field(default_factory=dict)

    def has(self, unit: Unit) -> bool:
        """Return whether a unit is already computed."""
        return unit.fold in self.folds or _unit_key(unit) in self.units


def open_data(plan: Plan) -> FoldedDataset:
    """Open the dataset of a plan, prepared and divided into its folds.

    Raises
    ------
    DataError
        If the dataset cannot be opened, or its queries cannot be
        divided by the plan's protocol.
    """
    return parse_protocol(plan.protocol).divide(_open_undivided(plan), plan.seed)


def _open_undivided(plan: Plan) -> FoldedDataset:
    """Open the dataset of a plan with the folds of its files.

    The plan's protocol has not divided it yet.
    """
    if plan.data == SAMPLE:
        from rankstudio.engine.data.synthetic import load_sample  # noqa: PLC0415 - only for the sample

        if "labels" in plan.columns:
            raise DatasetError(
                tr("The sample has one label, so no label columns can be named.")
            )
        return load_sample()
    from rankstudio.engine.data.folders import open_dataset  # noqa: PLC0415 - numba, where it is needed
    from rankstudio.engine.data.table import scaling  # noqa: PLC0415 - numba, where it is needed

    # How to scale the values; False for not at all.
    scaled = scaling(plan.normalize)
    return open_dataset(
        plan.data, missing=plan.missing, normalize=scaled, columns=plan.columns
    )


def usual_choices(plan: Plan, dataset: FoldedDataset, stated: Container[str]) -> Plan:
    """Return a plan with the usual settings of its data, unless the user has stated them.

    The settings are "measures", "convention" and "select_by"; `stated`
    has the names of those that the user has stated. The costs of
    features are those of the data if the plan has none. Without a
    validation part the method's own criterion selects.
    """
    if "measures" not in stated:
        plan = usual_measures(plan, one_ranking=dataset.origin.columns.no_queries)
    if "convention" not in stated or not plan.convention:
        plan = plan.changed(convention=dataset.convention)
    # The plan also records the plug-in's format of the data, if there is one.
    plan = with_known_costs(with_data_format(plan, dataset), dataset)
    has_validation = plan.inner or any(fold.vali is not None for fold in dataset.folds)
    return (
        plan
        if "select_by" in stated or has_validation
        else plan.changed(select_by=CRITERION)
    )


def check(plan: Plan, dataset: FoldedDataset | RankingDataset) -> None:
    """Reject a plan that cannot run on the data, before any work.

    Raises
    ------
    DataError, PlanError, ParameterError
        If the plan does not fit the data.
    OutOfMemoryError
        If a single worker needs more memory than the limit.
    """
    estimate(plan, dataset).refuse()


def estimate(
    plan: Plan,
    dataset: FoldedDataset | RankingDataset,
    executor: Executor | None = None,
) -> MemoryEstimate:
    """Return the memory that a plan needs on data, and how it would be run, before any work.

    `executor` is the executor of the run, whose workers need memory at
    the same time; None for none. DataError, PlanError or ParameterError
    is raised if the plan does not fit the data. Lack of memory raises
    no error.
    """
    _, folds, _ = _checked_work(plan, dataset)
    return memory_estimate(plan, folds, workers_here(executor))


def run(
    plan: Plan,
    dataset: FoldedDataset | RankingDataset | None = None,
    grouped: dict[int, TrainingData] | None = None,
    finished_work: Finished | None = None,
    executor: Executor | None = None,
) -> Generator[Event, None, None]:
    """Run a plan.

    Parameters
    ----------
    plan : Plan
        Plan to run.
    dataset : FoldedDataset or RankingDataset, optional
        Data of the plan if already open, with the plan's folds or those
        of the files; a single part is used for training.
    grouped : dict of int to TrainingData, optional
        Training parts by fold, with cached results of other plans; it is extended.
    finished_work : Finished, optional
        Existing results.
    executor : Executor, optional
        Executor for parallel units: one of `concurrent.futures` with
        threads or processes, or any other. It is not shut down. Without
        an executor each unit is computed when its events are requested.
        Methods that process shards also compute one unit at a time; the
        workers then share the shards of the unit.

    Yields
    ------
    Event
        RunStarted; for each unit UnitStarted, StepDone …, UnitFinished;
        FoldFinished after the units of a fold; RunFinished. Stop
        iterating to pause or cancel; an executor completes the units it
        has started. Units that already exist, or that an executor
        computed, have no StepDone; units of an executor finish in any
        order, folds in order. The results are bit-identical.

    Raises
    ------
    DataError, PlanError, ParameterError
        Before the first event, if the data cannot be opened or the plan
        does not fit them.
    WorkerError
        If the executor's workers are lost.
    OutOfMemoryError
        Before the first event if the plan exceeds the memory limit by
        :func:`estimate`; later if a unit exceeds the available memory.
    """
    # Check everything before the first event.
    began = time.perf_counter()
    dataset = FoldedDataset.of(_open_undivided(plan) if dataset is None else dataset)
    plan = with_usual_convention(plan, dataset)
    dataset, folds, most_steps = _checked_work(plan, dataset)
    finished_work = finished_work or Finished()

    # Work that has no result yet.
    open_folds = [fold for fold in folds if fold.number not in finished_work.folds]
    need = _checked_estimate(plan, open_folds, executor)
    numbers = tuple(fold.number for fold in folds)

    # A unit is one parameter combination on one fold.
    units = tuple(
        Unit(fold, position, combination)
        for fold in numbers
        for position, combination in enumerate(plan.combinations)
    )
    yield RunStarted(
        plan=plan,
        folds=numbers,
        units=units,
        steps_per_unit=most_steps,
        feature_ids=dataset.feature_ids,
        feature_names=dataset.feature_names,
        memory=need,
    )
    finished: list[FoldResult] = []
    keep = path_keeper(plan)

    # Files of given scores and models are read once, before the first fold.
    is_given = plan.entry.learns_nothing and open_folds
    prepare = (
        given_folds(plan, dataset) if is_given else partial(make_fold_context, plan)
    )
    digest = data_digest(dataset) if open_folds else ""

    # Workers compute whole units, or share the shards of one unit.
    is_sharded = _learns_by_shards(plan, folds)
    workers = shard_executor(executor if is_sharded else None, need)
    with ExitStack() as stack:
        stack.enter_context(sufficient(plan.entry.label))
        scheduler = None
        if executor is not None and not (plan.entry.learns_nothing or is_sharded):
            scheduler = stack.enter_context(
                _scheduler(executor, plan, folds, units, finished_work, keep)
            )
        # A fold is repeated from its stored result, or computed.
        for fold in folds:
            if fold.number in finished_work.folds:
                result = yield from _repeat_events(
                    finished_work.folds[fold.number], keep
                )
            else:
                fold_units = [unit for unit in units if unit.fold == fold.number]
                prepared = prepare(fold, _training_data(fold, grouped, workers))
                fold_result = yield from _run_fold(
                    prepared, fold_units, finished_work, scheduler, keep
                )
                result = replace(fold_result, data_digest=digest)
            finished.append(result)
            yield FoldFinished(result)
    yield RunFinished(collect(plan, dataset, finished, time.perf_counter() - began))


def _checked_estimate(
    plan: Plan, folds: Sequence[Fold], executor: Executor | None
) -> MemoryEstimate | None:
    """Return the memory estimate of a run of a plan on folds; None for no folds.

    Nothing is executed. Of ``executor``, which will compute the units
    of the run, only the number of workers counts, which need memory
    side by side. For None, the run is alone in its process. Raise
    OutOfMemoryError if the memory is insufficient.
    """
    if not folds:
        return None
    need = memory_estimate(plan, folds, workers_here(executor))
    need.refuse()  # raises the error
    return need


def _learns_by_shards(plan: Plan, folds: Sequence[Fold]) -> bool:
    """Return whether workers share shards of training parts instead of units."""
    if plan.entry.learns_nothing or preferences_of(plan):
        return False
    parts = [fold.train for fold in folds if not isinstance(fold.train, PartOfWhole)]
    return any(shards_are_shared(plan, part) for part in parts)


def _scheduler(
    executor: Executor,
    plan: Plan,
    folds: Sequence[Fold],
    units: Sequence[Unit],
    finished_work: Finished,
    keep: Keeper,
) -> UnitScheduler:
    """Return a scheduler of the units that `finished_work` does not have, on an executor.

    A unit is one combination of parameters' values on one of the folds;
    its result is a path of models. `keep` converts each path to the
    form in which it stays until the run ends.
    """
    missing_units = [unit for unit in units if not finished_work.has(unit)]
    numbers = {unit.fold for unit in missing_units}
    needed_folds = [fold for fold in folds if fold.number in numbers]
    return UnitScheduler(executor, plan, needed_folds, missing_units, keep)


def _training_data(
    fold: Fold, grouped: dict[int, TrainingData] | None, workers: ShardExecutor
) -> TrainingData:
    """Return the training part of a fold in the form that methods take.

    The form is grouped by queries. `grouped` is a cache by number of
    the fold, whose data are used if they have the same `workers`: those
    that process the shards, ranges of queries.
    """
    # Folds that are views of one dataset are not cached, because each
    # entry would be a copy.
    cache = {} if grouped is None or isinstance(fold.train, PartOfWhole) else grouped
    data = cache.get(fold.number)
    if data is None or (data.several and data.executor is not workers):
        data = cache[fold.number] = group_training(fold, workers)
    return data


def run_plan(
    plan: Plan,
    dataset: FoldedDataset | RankingDataset | None = None,
    executor: Executor | None = None,
) -> RunResult:
    """Run a plan to its end; parameters and errors as in :func:`run`."""
    for event in run(plan, dataset, executor=executor):
        if isinstance(event, RunFinished):
            return event.result
    raise AssertionError("a run ends with its results")


def collect(
    plan: Plan, dataset: FoldedDataset, folds: Sequence[FoldResult], seconds: float
) -> RunResult:
    """Return the result of a run from its finished folds, all or some.

    `dataset` is the data of the plan, and `seconds` the duration of the run.
    """
    return RunResult(
        plan=plan,
        data_name=dataset.name,
        feature_ids=dataset.feature_ids,
        feature_names=dataset.feature_names,
        folds=tuple(folds),
        complete=len(folds) == len(plan.folds or dataset.folds),
        versions=versions(plan.sources),
        seconds=seconds,
    )


def _checked_work(
    plan: Plan, dataset: FoldedDataset | RankingDataset
) -> tuple[FoldedDataset, list[Fold], int]:
    """Check that a plan can run on the data, before any work.

    Return the data with the plan's folds, the folds to run, and the
    largest number of steps of a unit. A unit is one combination of
    parameters on one fold.
    """
    divided_dataset = parse_protocol(plan.protocol).divide(
        FoldedDataset.of(dataset), plan.seed
    )
    # These checks are called for their errors only.
    _check_rule(plan, divided_dataset)
    _check_criterion(plan)
    check_preferences(plan, divided_dataset)
    for entry in plan.foreign_measures:
        entry.load()  # an import that fails does so now, not after hours of work
    return (
        divided_dataset,
        _checked_folds(plan, divided_dataset),
        n_steps(plan, divided_dataset.feature_ids),
    )


def _checked_folds(plan: Plan, dataset: FoldedDataset) -> list[Fold]:
    """Return the folds of a dataset that a plan runs.

    PlanError is raised if a fold does not exist, or lacks what the plan
    needs to choose a model, such as a validation part; sparse features
    that the method does not support also raise an error.
    """
    # Folds of the plan, or all.
    folds_by_number = {fold.number: fold for fold in dataset.folds}
    for number in plan.folds:
        if number not in folds_by_number:
            numbers_text = ", ".join(str(n) for n in folds_by_number)
            raise PlanError(
                tr("folds: {name} has no fold {number}; it has {known}.").format(
                    name=dataset.name, number=number, known=numbers_text
                )
            )
    folds = [folds_by_number[number] for number in plan.folds or folds_by_number]

    # Where there is only one model, nothing is chosen, so its criterion
    # need not be defined.
    has_choice = len(plan.combinations) > 1 or n_steps(plan, dataset.feature_ids) > 1

    # Each fold must have what the model is chosen by.
    for fold in folds:
        _check_sparse(
            plan,
            fold,
            dataset.name,
            by_criterion=plan.select_by == CRITERION and has_choice,
        )
        if plan.leaves_out:
            _check_left_out(plan, fold, dataset.name)
        elif plan.select_by != CRITERION and fold.vali is None and not plan.inner:
            text = tr(
                "criterion {measure}: fold {fold} of {data} has no validation part. Choose by "
                "the method's own criterion, {criterion!r}, instead."
            )
            raise PlanError(
                text.format(
                    measure=plan.select_by,
                    fold=fold.number,
                    data=dataset.name,
                    criterion=CRITERION,
                )
            )
        elif plan.select_by == CRITERION and has_choice:
            _check_left_out_criterion(plan, fold, dataset)
    return folds


def _check_sparse(plan: Plan, fold: Fold, data: str, *, by_criterion: bool) -> None:
    """Raise an error if a plan's method does not support the sparse features of a fold.

    Dense features pass. `data` is the name of the data for the message,
    and `by_criterion` says whether the method's own criterion chooses
    the model, which RankRLS cannot compute with sparse features.
    """
    if plan.entry.learns_nothing or not isinstance(fold.train.X, SparseRows):
        return
    if plan.method == RANKRLS.key:
        _check_sparse_rankrls(plan, data, by_criterion=by_criterion)
    # Methods that do not accept sparse features learn from a dense
    # array of them.
    if plan.entry.load().accepts_sparse:
        has_preferences = bool(preferences_of(plan))
        one_ranking = fold.train.n_queries < 2 and not has_preferences
        for combination in plan.combinations:
            learner = estimator(
                plan, plan.entry, combination.parameters, fold.train.feature_ids
            )
            # Called for its error only: some settings need a dense array.
            learner.check_sparse(one_ranking=one_ranking, preferring=has_preferences)


def _check_sparse_rankrls(plan: Plan, data: str, *, by_criterion: bool) -> None:
    """Raise a PlanError for settings that RankRLS does not support with sparse features.

    The settings are pairs across queries, and, if `by_criterion`, the
    choice of the model by RankRLS's own criterion. `data` is the name
    of the data for the message.
    """
    pairs = RANKRLS.parameter("pairs").values(plan.parameters["pairs"])
    if any(kind != "query" for kind in pairs):
        text = tr(
            "pairs: {data} has sparse features, with which RankRLS learns from pairs within queries only. "
            "Choose the pairs query, or reduce the features first."
        )
        raise PlanError(text.format(data=data))
    if by_criterion:
        text = tr(
            "criterion: {data} has sparse features, with which RankRLS has no leave-query-out error. Choose "
            "by a measure on the validation part or on left-out queries, or reduce the features first."
        )
        raise PlanError(text.format(data=data))


def _check_left_out(plan: Plan, fold: Fold, data: str) -> None:
    """Raise a PlanError if the method or the data do not support the measure that selects.

    The measure that selects is one of queries or pairs of documents
    that are left out of training. `data` is the name of the data for
    the message.
    """
    # The method must have a formula for predictions without a query.
    if not plan.can_leave_out:
        ranker = plan.ranker_entry or plan.entry
        labels_text = ", ".join(entry.label for entry in methods() if entry.left_out)
        text = tr(
            "criterion {measure}: {label} cannot compute leave-query-out predictions. Methods "
            "that can: {methods}."
        )
        raise PlanError(
            text.format(measure=plan.select_by, methods=labels_text, label=ranker.label)
        )
    # Whole queries are left out.
    if not plan.pairs_out:
        _check_several_queries(plan, fold, data)
        return

    # Pairs are left out of one ranking of limited size only.
    if not plan.one_ranking:
        text = tr(
            "criterion {measure}: pairs are left out of one ranking, and {data} has queries. Choose by "
            "leave-query-out {name} instead."
        )
        raise PlanError(
            text.format(measure=plan.select_by, data=data, name=plan.chosen_by)
        )
    _check_document_errors(plan, fold)
    if fold.train.n_documents > MOST_LEFT_OUT:
        text = tr(
            "criterion {measure}: pairs of up to {most:,} documents are left out, found {n:,}."
        )
        n = fold.train.n_documents
        raise PlanError(text.format(measure=plan.select_by, most=MOST_LEFT_OUT, n=n))


def _check_left_out_criterion(plan: Plan, fold: Fold, dataset: FoldedDataset) -> None:
    """Raise a PlanError if the criterion that chooses models is not defined on a fold.

    The criterion is the error of RankRLS on left-out queries. With a
    single query, the criterion is the error on left-out documents or
    pairs of documents.
    """
    ranker = plan.ranker_entry or plan.entry
    # Other criteria, and this one with several queries, are always defined.
    if ranker.criterion != LEAVE_QUERY_OUT or fold.train.n_queries > 1:
        return
    if not plan.one_ranking:
        _check_several_queries(plan, fold, dataset.name)
    _check_document_errors(plan, fold)


def _check_document_errors(plan: Plan, fold: Fold) -> None:
    """Raise a PlanError if a combination has no error of left-out documents."""
    ranker = plan.ranker_entry or plan.entry
    for combination in plan.combinations:
        values = combination.ranker if plan.ranker_entry else combination.parameters
        learner = estimator(plan, ranker, values, fold.train.feature_ids)
        # A filter has no models of its own: RankRLS ranks with its
        # features, and has the error.
        if ranker.ranks_with == RANKRLS.label and not ranker.left_out:
            learner = RANKRLS.load()()
        # The reason is a sentence, or "" if the error is defined.
        if reason := learner.why_no_error(fold.train.n_documents):
            raise PlanError(
                tr("The training criterion cannot choose: {why}").format(why=reason)
            )


def _check_several_queries(plan: Plan, fold: Fold, data: str) -> None:
    """Raise a PlanError if a fold has one training query, which cannot be left out."""
    if fold.train.n_queries < 2:
        text = tr(
            "criterion {measure}: fold {fold} of {data} has only one training query, so leaving it out "
            "leaves no training data. If its documents are one ranking, open the data without queries."
        )
        if plan.one_ranking:
            text = tr(
                "criterion {measure}: one ranking has no queries to leave out. Choose by leave-pair-out AUC."
            )
        criterion = plan.criterion if plan.select_by == CRITERION else plan.select_by
        raise PlanError(text.format(measure=criterion, fold=fold.number, data=data))


def _check_rule(plan: Plan, dataset: FoldedDataset) -> None:
    """Raise a PlanError for a rule by which no model of the plan can be chosen."""
    rule = parse_rule(plan.rule)
    # Rules such as "smallest" compare models in each query.
    if rule.needs_queries and (plan.select_by == CRITERION or plan.pairs_out):
        text = tr(
            "rule: {rule} compares values in each query, and {criterion!r} has none. Choose by a "
            "validation measure or a leave-query-out measure."
        )
        raise PlanError(text.format(rule=rule, criterion=plan.select_by))
    # `most` is the largest number of features of the rule. A ranker
    # that may leave out features can have a small model.
    uses_all_features = plan.entry.family == "ranker" and plan.entry.uses_all
    if rule.most is not None and uses_all_features and dataset.n_features > rule.most:
        text = tr(
            "rule: {rule} needs a method that selects features; {label} uses all {n_features}."
        )
        raise PlanError(
            text.format(
                rule=rule, label=plan.entry.label, n_features=dataset.n_features
            )
        )


def _check_criterion(plan: Plan) -> None:
    """Raise a PlanError if the training criterion is to choose among values that change it.

    A plan may have several values of a parameter. If the parameter is
    part of the criterion, the criterion of one value cannot be compared
    with that of another.
    """
    # The criterion is that of the final ranker, if there is one; ""
    # marks the method's own parameters.
    ranker = plan.ranker_entry.label if plan.ranker_entry else ""
    # For one ranking, "pairs" decides whether pairs of documents are
    # left out, or single documents.
    changing_names = {"pairs"} if plan.one_ranking else set()
    criterion_axes = [
        axis
        for axis in plan.axes
        if axis.ranker == ranker
        and (axis.parameter.changes_criterion or axis.parameter.name in changing_names)
    ]
    if plan.select_by == CRITERION and criterion_axes:
        text = tr(
            'The training criterion cannot choose among values of "{label}": each value defines another '
            "criterion. Choose by a validation measure, or give one value."
        )
        raise PlanError(text.format(label=criterion_axes[0].label))


def _repeat_events(
    result: FoldResult, keep: Keeper
) -> Generator[Event, None, FoldResult]:
    """Yield the events of a fold that was computed earlier, and return its result.

    A path is the sequence of models of one combination of parameters'
    values. `keep` converts each path to the form in which it stays
    until the run ends, for example with its steps in a file.
    """
    result = replace(result, paths=tuple(map(keep, result.paths)))
    yield BaselineFound(result.fold, result.baseline)
    for path in result.paths:
        yield UnitStarted(path.unit)
        yield UnitFinished(path.unit, path)
    return result


def _run_fold(
    prepared: FoldContext,
    units: Sequence[Unit],
    finished_work: Finished,
    scheduler: UnitScheduler | None,
    keep: Keeper,
) -> Generator[Event, None, FoldResult]:
    """Yield the events of a fold, and return its result.

    Parameters
    ----------
    prepared : FoldContext
        The fold, ready for training.
    units : sequence of Unit
        Combinations of parameters on the fold.
    finished_work : Finished
        Results of earlier work: completed units are not computed again.
    scheduler : UnitScheduler or None
        Gives the units to workers of an executor; None to compute them here.
    keep : callable
        Converts each path to the form in which it stays until the run
        ends, for example with its steps in a file.
    """
    # The baseline is the ranking by the best single feature. Its
    # progress is reported with the first unit.
    for progress in prepared.find_baseline():
        yield UnitProgress(units[0], progress)
    yield BaselineFound(prepared.fold.number, prepared.baseline)
    if scheduler is not None:
        yield from scheduler.finish(prepared.fold.number)
    paths: list[PathResult] = []
    for unit in units:
        key = _unit_key(unit)
        if scheduler is not None and key in scheduler.paths:
            # The scheduler has yielded the events of this unit in `finish`.
            paths.append(scheduler.paths.pop(key))
            continue
        yield UnitStarted(unit)
        path = finished_work.units.get(key)
        if path is None:
            path = yield from _run_unit(prepared, unit)
        paths.append(keep(path))
        yield UnitFinished(unit, paths[-1])
    return prepared.result(select_model(prepared.plan, paths), paths)


def _unit_key(unit: Unit) -> tuple[int, int]:
    """Return the fold and the position of a unit."""
    return unit.fold, unit.position


def _run_unit(prepared: FoldContext, unit: Unit) -> Generator[Event, None, PathResult]:
    """Train one combination of parameters' values on a fold, a unit of the run.

    Yield progress, and an event for each step; return the path of all
    steps with their measures. Notes for the user are put into the path.
    """
    # Notes are collected, progress is passed on, and each step is reported.
    measured_steps: list[tuple[Step, Mapping[str, float]]] = []
    notes: list[Note] = []
    for event in prepared.work(unit):
        if isinstance(event, Note):
            notes.append(event)
            continue
        if isinstance(event, WorkProgress):
            yield UnitProgress(unit, event)
            continue
        measured_steps.append(event)
        step, validation = event
        yield StepDone(
            unit=unit,
            step=step,
            validation=validation,
            divisor=prepared.divisor,
            step_kind=prepared.plan.step_kind,
        )
    return replace(prepared.collect(unit, measured_steps), notes=tuple(notes))
