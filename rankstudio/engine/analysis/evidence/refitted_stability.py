"""Stability selection of any selector as units of work: on any executor, kept in a study as it goes."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import ExitStack

from rankstudio.engine.analysis.evidence.partial_result import PartialResult
from rankstudio.engine.analysis.evidence.stability_selection import (
    MOST_HALVES,
    StabilitySelection,
    path_of_steps,
    with_paths,
    without_paths,
)
from rankstudio.engine.analysis.evidence.subset_paths import enough_queries
from rankstudio.engine.analysis.workload import workload
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.splitting.query_halves import halved
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.execution.executors import on_threads
from rankstudio.engine.experiment.execution.scheduler import UnitScheduler
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan, estimator
from rankstudio.engine.experiment.plan.protocol import BEST, GIVEN
from rankstudio.engine.experiment.results.events import UnitFinished
from rankstudio.engine.experiment.results.results import PathResult, RunResult, path_keeper
from rankstudio.engine.experiment.runner import check
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.methods.base import MOST_SEED, between
from rankstudio.engine.methods.selection.base import Selector
from rankstudio.engine.methods.shards.sums import informative_columns
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support.work import Waiting, WorkProgress, finish

_WHAT = "selecting on halves of the queries"


def stability_by_refitting(
    plan: Plan,
    train: RankingDataset,
    study: Study | None = None,
    *,
    n_halves: int = 50,
    seed: int = 0,
    executor: Executor | None = None,
) -> StabilitySelection:
    """Learn a selector anew on complementary halves of the queries, on any executor, and keep each half.

    Parameters
    ----------
    plan : Plan
        The selector, with one value of each parameter. Its ranker, folds and way to choose do not count.
    train : RankingDataset
        A training part, in memory or mapped from a file.
    study : Study, optional
        A study of its own, which receives each half when it is done. With the same plan and data, another
        call continues from there; what ends the process loses the halves that were being learned from.
    n_halves : int, default 50
        How often the queries are divided into two halves, B.
    seed : int, default 0
        Equal seeds give equal halves.
    executor : Executor, optional
        Threads, processes or a cluster, of :mod:`rankstudio.engine.experiment.execution.executors`, or any
        other; as many threads as there are processors by default.

    Returns
    -------
    StabilitySelection
        The numbers of :func:`rankstudio.engine.analysis.evidence.stability_selection.stability_selection`,
        whatever the executor; features that are constant in every query of a half count as not selected
        there.

    Notes
    -----
    Each half is a unit of a run of 2B folds, none of which keeps a copy of the data. Where the documents are
    mapped from a file, so is the half that is being learned from.
    """
    return finish(refitting_steps(plan, train, study, n_halves, seed, executor))


def refitting_seconds(
    plan: Plan,
    train: RankingDataset,
    n_halves: int = 50,
    workers: int = 1,
    finished: Sequence[RunResult] = (),
) -> float:
    """Estimate how long :func:`stability_by_refitting` takes.

    Parameters
    ----------
    plan, train, n_halves
        As there.
    workers : int
        How many work at a time.
    finished : sequence of RunResult
        Runs on the same data, which tell how fast this computer is.
    """
    count = 2 * between("n_halves", n_halves, 1, MOST_HALVES)
    refit = plan_of_halves(plan).changed(data=plan.data)
    load = workload([(refit, count)], finished, train.n_documents, train.n_features)
    return load.seconds / 2 / max(1, min(workers, count))


def plan_of_halves(plan: Plan) -> Plan:
    """Return the plan of a selector alone, with the criterion of its path.

    Raises
    ------
    ParameterError
        For a method that does not select, several combinations of parameters, or preferences.
    """
    entry = plan.entry
    if not entry.selects or entry.given:
        raise ParameterError("method", plan.method, "a method that selects features")
    if plan.preferences:
        raise ParameterError("preferences", plan.preferences["path"], "none: halves are of labelled queries")
    # What concerns only the method's own model changes no selection.
    ranks = {p.name: p.values(plan.parameters[p.name])[0] for p in entry.parameters if p.ranks}
    alone = plan.changed(
        parameters={**plan.parameters, **ranks},
        ranker="",
        ranker_parameters={},
        select_by=CRITERION,
        rule=BEST,
        protocol=GIVEN,
        folds=(),
    )
    several = [axis for axis in alone.axes if len(axis.values) > 1]
    if several:
        raise ParameterError(several[0].name, list(several[0].values), "one value for stability selection")
    return alone


def refitting_steps(
    plan: Plan,
    train: RankingDataset,
    study: Study | None = None,
    n_halves: int = 50,
    seed: int = 0,
    executor: Executor | None = None,
) -> Waiting[StabilitySelection]:
    """Yield progress with what is known so far, and return as :func:`stability_by_refitting`.

    Yields
    ------
    PartialResult
        A :class:`StabilitySelection` of the halves that are done, when another one is; other progress in
        between. Workers finish halves in any order. To stop, close the generator.
    """
    count = 2 * between("n_halves", n_halves, 1, MOST_HALVES)
    start = between("seed", seed, 0, MOST_SEED)
    enough_queries(train.n_queries, 4, "Stability selection")
    refit, dataset = plan_of_halves(plan), halved(train, n_halves, start)
    check(refit, dataset)
    (combination,) = refit.combinations
    selector = estimator(refit, refit.entry, combination.parameters, train.feature_ids)
    assert isinstance(selector, Selector)  # as the plan has one
    whole = TrainingData(train.X, train.y, train.query_ptr)
    varies = yield from informative_columns(whole)
    key = None if study is None else study.begin(refit, dataset)
    paths: dict[int, tuple[tuple[int, ...], ...]] = {}

    def known() -> StabilitySelection:
        nothing = without_paths(selector, varies, start)
        return with_paths(nothing, [paths[number] for number in sorted(paths)])

    def take(path: PathResult) -> None:
        paths[path.unit.fold - 1] = tuple(path_of_steps(selector, list(path.steps)))

    if study is not None and key is not None:
        study.discard_damaged(key)
        for path in study.finished_units(key).values():
            take(path)
    missing = [Unit(fold.number, 0, combination) for fold in dataset.folds if fold.number - 1 not in paths]
    with ExitStack() as stack:
        if paths:
            yield PartialResult(_WHAT, len(paths) / count, known())
        if missing:
            workers = stack.enter_context(on_threads()) if executor is None else executor
            folds = [dataset.folds[unit.fold - 1] for unit in missing]
            scheduler = UnitScheduler(workers, refit, folds, missing, path_keeper(refit))
            stack.enter_context(scheduler)
            for unit in missing:
                for event in scheduler.finish(unit.fold):
                    if not isinstance(event, UnitFinished):
                        yield WorkProgress(_WHAT, len(paths) / count)
                        continue
                    if study is not None and key is not None:
                        study.save_unit(key, event.path, event.seconds or 0.0)
                    take(event.path)
                    scheduler.paths.clear()
                    yield PartialResult(_WHAT, len(paths) / count, known())
    return known()
