"""Stability selection of any selector, on any executor, with each finished half stored in a study."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import ExitStack

from rankstudio.engine.analysis.features.set_checks import halved_count
from rankstudio.engine.data.dataset import Fold, RankingDataset
from rankstudio.engine.data.splitting.query_halves import halved
from rankstudio.engine.errors import ParameterError, between
from rankstudio.engine.experiment.execution.executors import on_threads
from rankstudio.engine.experiment.execution.scheduler import UnitScheduler
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan, estimator
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.experiment.plan.protocol import BEST, GIVEN
from rankstudio.engine.experiment.results.events import UnitFinished
from rankstudio.engine.experiment.results.results import (
    PathResult,
    RunResult,
    path_keeper,
)
from rankstudio.engine.experiment.results.workload import workload
from rankstudio.engine.experiment.runner import check
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.units.fold_context import group_training
from rankstudio.engine.methods.base import MOST_SEED
from rankstudio.engine.methods.selection.base import Selector
from rankstudio.engine.methods.shards.sums import informative_columns
from rankstudio.engine.support.work import Waiting, WorkProgress, finish
from rankstudio.plugins.evidence.partial_result import PartialResult
from rankstudio.plugins.evidence.stability_selection import (
    MOST_HALVES,
    StabilitySelection,
    halves_text,
    path_of_steps,
    with_paths,
    without_paths,
)


def stability_by_refitting(
    plan: Plan,
    train: RankingDataset,
    study: Study | None = None,
    *,
    n_halves: int = 50,
    seed: int = 0,
    executor: Executor | None = None,
) -> StabilitySelection:
    """Select features on complementary halves of the queries or documents.

    The selector is trained on each half, on any executor, and the
    halves are stored.

    Parameters
    ----------
    plan : Plan
        The selector, with one value of each parameter. Its ranker,
        folds and selection rule are ignored.
    train : RankingDataset
        A training part, in memory or mapped from a file.
    study : Study, optional
        Study that receives each finished half. Another call with the
        same plan and data continues from it; an interruption loses only
        the halves in progress.
    n_halves : int, default 50
        Number of divisions of the queries into halves, B; of the
        documents if these are one ranking.
    seed : int, default 0
        Equal seeds give equal halves.
    executor : Executor, optional
        Executor: threads, processes or a cluster of
        :mod:`rankstudio.engine.experiment.execution.executors`, or any other;
        by default one thread per processor.

    Returns
    -------
    StabilitySelection
        Numbers as in
        :func:`rankstudio.plugins.evidence.stability_selection.stability_selection`,
        independent of the executor; features that are constant in every
        query of a half count as not selected there.

    Notes
    -----
    Each half is a unit of a run with 2B folds; no fold copies the data.
    If the documents are mapped from a file, so is the half in training.
    """
    return finish(refitting_steps(plan, train, study, n_halves, seed, executor))


def refitting_seconds(
    plan: Plan,
    train: RankingDataset,
    n_halves: int = 50,
    workers: int = 1,
    finished: Sequence[RunResult] = (),
) -> float:
    """Estimate the seconds of selecting features anew on random halves of the queries.

    Parameters
    ----------
    plan : Plan
        Plan with the method that selects.
    train : RankingDataset
        Documents that are divided into halves.
    n_halves : int
        Number of divisions into two halves.
    workers : int
        Number of parallel workers.
    finished : sequence of RunResult
        Runs on the same data, from which the speed of this computer is
        estimated.
    """
    count = 2 * between("n_halves", n_halves, 1, MOST_HALVES)
    refit = plan_of_halves(plan).changed(data=plan.data)
    load = workload([(refit, count)], finished, train.n_documents, train.n_features)

    # each unit learns from half of the documents
    return load.seconds / 2 / max(1, min(workers, count))


def plan_of_halves(plan: Plan) -> Plan:
    """Return a plan's selector alone as a plan, without its ranker and folds.

    The order of the features is then the method's own: no validation
    measure chooses among its steps.

    Raises
    ------
    ParameterError
        If the method selects no features, has several parameter
        combinations, or learns from preferences.
    """
    entry = plan.entry
    if not entry.selects or entry.learns_nothing:
        raise ParameterError("method", plan.method, "a method that selects features")
    if preferences_of(plan):
        raise ParameterError(
            "preferences",
            preferences_of(plan)["path"],
            "none: halves are of labelled queries",
        )

    # Parameters of the method's own model (`ranks`) do not change the
    # selection: their first value is enough.
    model_parameters = {
        p.name: p.values(plan.parameters[p.name])[0]
        for p in entry.parameters
        if p.ranks
    }

    # Without a ranker, folds and choice by validation, only the
    # selector is left.
    selector_plan = plan.changed(
        parameters={**plan.parameters, **model_parameters},
        ranker="",
        ranker_parameters={},
        select_by=CRITERION,
        rule=BEST,
        protocol=GIVEN,
        folds=(),
    )
    varied_axes = [axis for axis in selector_plan.axes if len(axis.values) > 1]
    if varied_axes:
        raise ParameterError(
            varied_axes[0].name,
            list(varied_axes[0].values),
            "one value for stability selection",
        )
    return selector_plan


def refitting_steps(
    plan: Plan,
    train: RankingDataset,
    study: Study | None = None,
    n_halves: int = 50,
    seed: int = 0,
    executor: Executor | None = None,
) -> Waiting[StabilitySelection]:
    """Train a selector on random halves of the queries; yield and return how often features are selected.

    The parameters are those of :func:`stability_by_refitting`.

    Yields
    ------
    PartialResult
        :class:`StabilitySelection` of the finished halves, after each half;
        other progress in between. Workers may finish halves in any
        order. Close the generator to stop.
    """
    count = 2 * between("n_halves", n_halves, 1, MOST_HALVES)
    start = between("seed", seed, 0, MOST_SEED)
    one_ranking = train.n_queries == 1
    halved_count(
        train.n_queries,
        train.n_documents,
        "Stability selection",
        one_ranking=one_ranking,
    )
    activity = halves_text(one_ranking=one_ranking)
    refit = plan_of_halves(plan)

    # A single query is one ranking, however its file was read, and so
    # are its halves.
    if one_ranking:
        refit = refit.changed(columns={"no_queries": True})
    dataset = halved(train, n_halves, start)
    check(refit, dataset)
    (combination,) = refit.combinations
    selector = estimator(refit, refit.entry, combination.parameters, train.feature_ids)
    assert isinstance(selector, Selector)  # plan_of_halves accepts only selectors
    varies = yield from informative_columns(group_training(Fold(1, train)))
    key = None if study is None else study.begin(refit, dataset)
    paths: dict[int, tuple[tuple[int, ...], ...]] = {}

    def stability_so_far() -> StabilitySelection:
        """Return the result of all halves in `paths` so far."""
        empty = without_paths(selector, varies, start)
        return with_paths(empty, [paths[number] for number in sorted(paths)])

    def add_path(path: PathResult) -> None:
        """Add the path of a half to `paths`; each half is a fold, counted from 1."""
        paths[path.unit.fold - 1] = tuple(path_of_steps(selector, list(path.steps)))

    if study is not None and key is not None:
        study.discard_damaged(key)
        for path in study.finished_units(key).values():
            add_path(path)
    missing = [
        Unit(fold.number, 0, combination)
        for fold in dataset.folds
        if fold.number - 1 not in paths
    ]

    with ExitStack() as stack:
        if paths:
            yield PartialResult(activity, len(paths) / count, stability_so_far())
        if missing:
            workers = (
                stack.enter_context(on_threads()) if executor is None else executor
            )
            folds = [dataset.folds[unit.fold - 1] for unit in missing]
            scheduler = UnitScheduler(
                workers, refit, folds, missing, path_keeper(refit)
            )
            stack.enter_context(scheduler)
            for unit in missing:
                for event in scheduler.finish(unit.fold):
                    if not isinstance(event, UnitFinished):
                        yield WorkProgress(activity, len(paths) / count)
                        continue
                    if study is not None and key is not None:
                        study.save_unit(key, event.path, event.seconds or 0.0)
                    add_path(event.path)
                    scheduler.paths.clear()
                    yield PartialResult(
                        activity, len(paths) / count, stability_so_far()
                    )

    return stability_so_far()
