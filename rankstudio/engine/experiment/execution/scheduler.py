"""Execution of the units of a run by an executor.

Several units are computed at a time, in any order. The results are the
same as one by one.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Hashable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from dataclasses import dataclass, replace
from functools import partial
from uuid import uuid4

from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.data.splitting.part_of_whole import PartOfWhole
from rankstudio.engine.errors import WorkerError
from rankstudio.engine.experiment.execution.data_transport import (
    FoldSource,
    InMemory,
    unit_executor,
)
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import (
    Event,
    UnitFinished,
    UnitProgress,
    UnitStarted,
)
from rankstudio.engine.experiment.results.results import Keeper, PathResult
from rankstudio.engine.experiment.units.fold_context import (
    FoldContext,
    group_training,
    make_fold_context,
)
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.metrics.conventions import Ties, convention
from rankstudio.engine.steps import Step
from rankstudio.engine.support import threads
from rankstudio.engine.support.stop_request import heeding
from rankstudio.engine.support.work import Note, WorkProgress

# folds of a run that a worker has ready: the units come fold by fold
_MAX_PREPARED_FOLDS = 2
_POLL_SECONDS = 0.1  # seconds within which a stop is noticed
# bytes of training features that a worker keeps for another run
_MAX_KEPT_BYTES = 1 << 29


@dataclass(frozen=True, eq=False)
class Task:
    """One unit of a run for a worker: one combination of the parameters' values on one fold.

    Attributes
    ----------
    run : str
        Unique key of the run: a worker prepares a fold once for all units of a run.
    plan : Plan
        Plan of the run.
    source : FoldSource
        Source from which the worker gets the fold.
    unit : Unit
        Number of the fold, and values of the parameters.
    """

    run: str
    plan: Plan
    source: FoldSource
    unit: Unit


Learned = tuple[PathResult, float]
"""Path that a worker computed, and its duration in seconds."""


class _FoldCache(threading.local):
    """Folds of the latest runs, prepared for training, as a worker keeps them.

    Each thread has a cache, because methods store results with the data.

    The data outlive the run: the next run may be another method on the
    same folds.
    """

    def __init__(self) -> None:
        """Begin without data."""
        self._grouped: OrderedDict[Hashable, TrainingData] = OrderedDict()
        self._prepared: OrderedDict[tuple[str, int], FoldContext] = OrderedDict()

    def fold(self, task: Task) -> FoldContext:
        """Return the fold of a task, with its data prepared for all units of the run.

        The result is stored for the next unit, another combination of
        parameters' values on the fold. Only the few folds that were
        used last are kept.
        """
        number = task.unit.fold
        # `run` is an id of the run, which all its tasks have.
        key = task.run, number
        if key not in self._prepared:
            while len(self._prepared) >= _MAX_PREPARED_FOLDS:
                self._prepared.popitem(last=False)
            fold = task.source.fold(number)
            # The training data are shared with other runs on the same fold.
            self._prepared[key] = make_fold_context(
                task.plan, fold, self._group(task.source.key(number), fold)
            )
        self._prepared.move_to_end(key)
        return self._prepared[key]

    def _group(self, key: Hashable, fold: Fold) -> TrainingData:
        """Return the training data of a fold, grouped by queries, and keep them for other runs.

        Beyond a limit of bytes, the data that were not used for the
        longest time are discarded. `key` is equal for folds with the
        same data.
        """
        if key not in self._grouped:
            self._grouped[key] = group_training(fold)
        self._grouped.move_to_end(key)
        n_bytes = sum(data.X.nbytes for data in self._grouped.values())
        while len(self._grouped) > 1 and n_bytes > _MAX_KEPT_BYTES:
            _, oldest = self._grouped.popitem(last=False)
            n_bytes -= oldest.X.nbytes
        return self._grouped[key]


_FOLDS = _FoldCache()


def learn_unit(task: Task) -> Learned:
    """Train one combination of parameters on one fold, a unit, on one thread.

    This function runs in a worker. It returns a pair: the path, which
    is the sequence of models with their measures, and the duration in
    seconds.

    Raises
    ------
    Cancelled
        If another thread of this process cancelled the run.
    """
    began = time.perf_counter()
    # A note for the user does not need to be passed on at once: it goes
    # back with the path.
    notes: list[Note] = []
    latest: Step | WorkProgress = WorkProgress("learning", 0.0)

    def follow(event: Step | WorkProgress) -> None:
        """Collect a note in `notes`; pass another event on, and keep it as `latest`."""
        nonlocal latest
        if isinstance(event, Note):
            notes.append(event)
        else:
            latest = event
            task.source.follow(task.unit, event)

    # Inside `heeding`, long computations call this function again and
    # again. It repeats the latest event, and raises Cancelled if the
    # run was cancelled.
    with threads.at_most(1), heeding(lambda: task.source.follow(task.unit, latest)):
        path = _FOLDS.fold(task).path(task.unit, follow)
    return replace(path, notes=tuple(notes)), time.perf_counter() - began


class UnitScheduler:
    """Submits the units of one run to an executor, and collects their results.

    A unit is one combination of the parameters' values on one fold; its
    result is a path, the sequence of its models.

    As a context manager, it cancels pending units on exit.

    Parameters
    ----------
    executor : Executor
        Any executor, preferably a `UnitExecutor`.
    plan : Plan
        Plan of the run.
    folds : sequence of Fold
        Folds with units.
    units : sequence of Unit
        Units to execute, fold by fold.
    keep : callable
        Converts a path for storage.

    Attributes
    ----------
    paths : dict of (int, int) to PathResult
        Finished and reported paths, by the number of the fold and the
        position of the combination.

    Raises
    ------
    OutputError
        If the folds cannot be written for other processes.
    WorkerError
        If the executor has no workers.
    """

    def __init__(
        self,
        executor: Executor,
        plan: Plan,
        folds: Sequence[Fold],
        units: Sequence[Unit],
        keep: Keeper,
    ) -> None:
        """Give the folds of a plan to the executor, and submit the first units.

        `units` are the combinations of parameters' values on the folds.
        `keep` converts the finished path of each unit, the sequence of
        its models, to the form in which it is kept.
        """
        self.paths: dict[tuple[int, int], PathResult] = {}
        self._keep = keep
        self._executor = unit_executor(executor)
        # `lost` has the exceptions of this kind of executor for a lost worker.
        self._lost_worker_errors: tuple[type[BaseException], ...] = (
            BrokenExecutor,
            CancelledError,
            *self._executor.lost,
        )

        # An OSError is one of the network: files that cannot be written
        # raise OutputError.
        unreachable_errors: tuple[type[BaseException], ...] = (
            *self._lost_worker_errors,
            OSError,
        )
        try:
            # Compute the ranks of the document ids now: they are sent
            # to the workers with the parts.
            by_id = convention(plan.convention).ties is Ties.DOCUMENT_ID
            for part in (part for fold in folds for part in fold.parts.values()):
                (
                    # The rows of a part are cut out of the whole, with their ranks.
                    part.whole if isinstance(part, PartOfWhole) else part
                ).grading.find_now(by_id=by_id)
            self._source = self._executor.give(folds)
            # Number of units to submit before the first of them is finished.
            self._max_submitted = self._executor.ahead()
        except unreachable_errors as error:
            raise _lost_workers_error() from error
        self._make_task = partial(Task, uuid4().hex, plan, self._source)
        self._pending_units = deque(units)
        self._futures: dict[Future[Learned], Unit] = {}
        self._submit_units()

    def __enter__(self) -> UnitScheduler:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop threads, and cancel calls that have not begun."""
        if isinstance(self._source, InMemory):
            self._source.give_up()
        for future in self._futures:
            future.cancel()

    def finish(self, fold: int) -> Iterator[Event]:
        """Yield events until the units of a fold are finished, and those of others meanwhile.

        A unit is one combination of the parameters' values on one fold,
        and `fold` is the number of the fold. Until a unit finishes
        there is a progress event every tenth of a second, so that the
        caller can stop.

        The path of a finished unit, the sequence of its models, is
        converted for storage, and put into the attribute `paths`. The
        start and the end of a unit are reported together, because the
        worker does not report the start.

        Raises
        ------
        WorkerError
            If the workers of the executor are lost.
        RankStudioError
            Any error that a unit has raised in its worker.
        """
        while any(
            unit.fold == fold
            for unit in (*self._futures.values(), *self._pending_units)
        ):
            ready, _ = wait(
                self._futures, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED
            )
            # Nothing finished in this time: report the progress of any unit.
            if not ready:
                unit, progress = self._latest_progress()
                yield UnitProgress(unit, progress)
            # Several units that are ready at once are reported in order.
            for future in sorted(ready, key=self._unit_key):
                key = self._unit_key(future)
                unit = self._futures.pop(future)
                try:
                    path, seconds = future.result()
                except self._lost_worker_errors as error:
                    raise _lost_workers_error() from error
                self.paths[key] = self._keep(path)
                # Each finished unit makes room for another one.
                self._submit_units()
                yield UnitStarted(unit)
                yield UnitFinished(unit, self.paths[key], seconds)

    def _submit_units(self) -> None:
        """Submit units until the executor has as many unfinished ones as it may have.

        The other units of the run remain pending until the next call.
        """
        try:
            while self._pending_units and len(self._futures) < self._max_submitted:
                future = self._executor.submit(
                    learn_unit, self._make_task(self._pending_units[0])
                )
                self._futures[future] = self._pending_units.popleft()
        except self._lost_worker_errors as error:
            raise _lost_workers_error() from error

    def _latest_progress(self) -> tuple[Unit, WorkProgress]:
        """Return the latest progress of a worker, with its unit.

        A unit is one combination of parameters' values on one fold.
        Workers in other processes report no progress: the result is
        then any unit that is being computed, with the progress
        "waiting".
        """
        latest = self._source.latest() if isinstance(self._source, InMemory) else None
        return latest or (
            next(iter(self._futures.values())),
            WorkProgress("waiting for the workers", 0.0),
        )

    def _unit_key(self, future: Future[Learned]) -> tuple[int, int]:
        """Return the fold and the position of a call's unit."""
        unit = self._futures[future]
        return unit.fold, unit.position


def _lost_workers_error() -> WorkerError:
    """Make the error for workers that ended before their work was done."""
    return WorkerError(
        "The workers ended before their work was done: they were killed, possibly for lack of memory, or "
        "cannot be reached. Completed units are kept; run again to resume."
    )
