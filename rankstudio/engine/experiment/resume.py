"""Runs with a study.

They have the events of a plain run; each result is stored before its
event is yielded.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Generator, Iterator
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import replace

from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.experiment.plan.from_data import with_usual_convention
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import (
    Event,
    FoldFinished,
    RunFinished,
    StepDone,
    UnitFinished,
    UnitProgress,
)
from rankstudio.engine.experiment.runner import Finished, check, run
from rankstudio.engine.experiment.storage.study import RunKey, Study
from rankstudio.engine.methods.shards.training_data import TrainingData


def run_stored(
    plan: Plan,
    dataset: FoldedDataset | RankingDataset,
    study: Study,
    grouped: dict[int, TrainingData] | None = None,
    anew: bool = False,
    key: RunKey | None = None,
    executor: Executor | None = None,
) -> Generator[Event, None, None]:
    """Run a plan, or resume it if the study contains a run of it.

    Parameters
    ----------
    plan : Plan
        Plan to run.
    dataset : FoldedDataset or RankingDataset
        Data of the plan.
    study : Study
        Open study; it must stay open until the last event.
    grouped : dict of int to TrainingData, optional
        Training parts by fold, with cached results of other plans; it is extended.
    anew : bool
        Whether to start a new run in any case.
    key : RunKey, optional
        Run of the study to resume, if it cannot be found by the plan.
    executor : Executor, optional
        Executor for parallel units, see
        :func:`rankstudio.engine.experiment.runner.run`; by default none.

    Yields
    ------
    Event
        Events of :func:`rankstudio.engine.experiment.runner.run`.
        Stored results are reported by BaselineFound, UnitStarted,
        UnitFinished and FoldFinished, without StepDone; the results are
        bit-identical to those of an uninterrupted run. The duration is
        the sum over all parts of the run.

    Raises
    ------
    PlanError, ParameterError
        Before the first event, if the plan does not fit the data; the
        study is unchanged.
    StoreError
        If the data changed since the study recorded them, other
        versions started the given run, or a result cannot be stored.
        Results stored earlier are safe, and another call resumes from
        them.
    """
    # Find or begin the run in the study.
    dataset = FoldedDataset.of(dataset)
    # A convention says how measures treat ties and short queries. A
    # plan that names none gets that of its data.
    plan = with_usual_convention(plan, dataset)
    if key is None:
        # Called for its errors only: the plan must fit the data.
        check(plan, dataset)
        key = study.begin(plan, dataset, anew)
    else:
        # Also for its errors only: the data and versions must be those of the run.
        study.check(key, dataset)
    # Damaged results are computed again.
    study.discard_damaged(key)

    # Results that the study has.
    units = study.finished_units(key)
    finished = Finished(units, {fold.fold: fold for fold in study.folds(key, units)})
    total_seconds = study.seconds(key)
    seconds_by_unit: defaultdict[tuple[int, int], float] = defaultdict(float)

    # Store each result before its event is passed on.
    for event, seconds in _timed(run(plan, dataset, grouped, finished, executor)):
        # Only the last event changes: it gets the duration of all parts of the run.
        outgoing_event = event
        total_seconds = total_seconds + seconds
        match event:
            # Steps are stored with their unit, and their time counts for it.
            case StepDone(unit=unit) | UnitProgress(unit=unit):
                seconds_by_unit[unit.fold, unit.position] += seconds
            # A unit that the study has is not stored again.
            case UnitFinished(unit=unit, path=path, seconds=unit_seconds) if (
                unit.fold,
                unit.position,
            ) not in units:
                measured_seconds = (
                    seconds_by_unit.pop((unit.fold, unit.position), 0.0) + seconds
                )
                study.save_unit(
                    key,
                    path,
                    # A unit of another process brings its own duration.
                    measured_seconds if unit_seconds is None else unit_seconds,
                )
            case FoldFinished(result=fold) if fold.fold not in finished.folds:
                study.save_fold(key, fold)
            case RunFinished(result=result):
                study.finish(key, total_seconds)
                outgoing_event = RunFinished(
                    replace(result, seconds=study.seconds(key))
                )
        yield outgoing_event


def _timed(events: Generator[Event, None, None]) -> Iterator[tuple[Event, float]]:
    """Yield each event with the seconds of its computation.

    The time between two events in which the receiver works is not counted.
    """
    with closing(events):
        while True:
            began = time.perf_counter()
            event = next(events, None)
            if event is None:
                return
            yield event, time.perf_counter() - began
