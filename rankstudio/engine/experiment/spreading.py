"""The units of a run on an executor: many at a time, in any order, with the same results as one by one."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import dataclass
from uuid import uuid4

from rankstudio.engine import threads
from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.errors import WorkerError
from rankstudio.engine.experiment.events import Event, UnitFinished, UnitStarted
from rankstudio.engine.experiment.plan import Plan, Unit
from rankstudio.engine.experiment.prepared import PreparedFold, prepare_fold
from rankstudio.engine.experiment.results import PathResult
from rankstudio.engine.experiment.shipping import InMemory, Source, ship

_KEPT = 2  # prepared folds a worker: the units come fold by fold


@dataclass(frozen=True, eq=False)
class Task:
    """One unit on its way to a worker.

    Attributes
    ----------
    run : str
        Unlike that of any other run: a worker prepares a fold once for all units of a run.
    plan : Plan
    source : Source
        Of the fold.
    unit : Unit
    """

    run: str
    plan: Plan
    source: Source
    unit: Unit


@dataclass(frozen=True, eq=False)
class Learned:
    """What a worker found, and how many seconds it took."""

    path: PathResult
    seconds: float


class _Bench(threading.local):
    """The folds that a worker has ready. One a thread, as methods share what they find out about a fold."""

    def __init__(self) -> None:
        self._prepared: OrderedDict[tuple[str, int], PreparedFold] = OrderedDict()

    def fold(self, task: Task) -> PreparedFold:
        key = task.run, task.unit.fold
        if key not in self._prepared:
            while len(self._prepared) >= _KEPT:
                self._prepared.popitem(last=False)
            self._prepared[key] = prepare_fold(task.plan, task.source.fold(task.unit.fold))
        self._prepared.move_to_end(key)
        return self._prepared[key]


_BENCH = _Bench()


def learn_unit(task: Task) -> Learned:
    """Carry a unit out, on one thread. This is what a worker does.

    Raises
    ------
    Cancelled
        Where the run was given up by another thread of this process.
    """
    began = time.perf_counter()
    with threads.at_most(1):
        path = _BENCH.fold(task).path(task.unit, lambda: task.source.given_up)
    return Learned(path, time.perf_counter() - began)


class Spread:
    """The units of one run on an executor; a context manager that takes back what nobody waits for.

    Parameters
    ----------
    executor : Executor
        Of threads of this process, of processes, or any other. One with a method ``deliver`` is shown the
        data first, for the machines that cannot see this one's disk; ``lost`` are the exceptions by which
        it tells of workers that are gone, besides those of `concurrent.futures`.
    plan : Plan
    folds : sequence of Fold
        Those that have units.
    units : sequence of Unit
        Those to be carried out, fold by fold.

    Attributes
    ----------
    paths : dict of (int, int) to PathResult
        What is finished and was told of, by the number of the fold and the position of the setting.

    Raises
    ------
    OutputError
        Where the data cannot be written for other processes.
    WorkerError
        Where there are no workers.
    """

    def __init__(self, executor: Executor, plan: Plan, folds: Sequence[Fold], units: Sequence[Unit]) -> None:
        self.paths: dict[tuple[int, int], PathResult] = {}
        self._source = _source(executor, folds)
        self._lost = (BrokenExecutor, CancelledError, *getattr(executor, "lost", ()))
        self._futures: dict[Future[Learned], Unit] = {}
        run = uuid4().hex
        try:
            for unit in units:
                self._futures[executor.submit(learn_unit, Task(run, plan, self._source, unit))] = unit
        except self._lost as error:
            raise _gone() from error

    def __enter__(self) -> Spread:
        return self

    def __exit__(self, *_: object) -> None:
        if isinstance(self._source, InMemory):
            self._source.given_up = True
        for future in self._futures:
            future.cancel()

    def finish(self, fold: int) -> Iterator[Event]:
        """Wait for the units of a fold, telling of those of other folds that are done meanwhile.

        Raises
        ------
        WorkerError
            Where the workers are gone.
        RankStudioError
            What a unit raised.
        """
        while any(unit.fold == fold for unit in self._futures.values()):
            ready, _ = wait(self._futures, return_when=FIRST_COMPLETED)
            for future in sorted(ready, key=self._place):
                place = self._place(future)
                unit = self._futures.pop(future)
                try:
                    learned = future.result()
                except self._lost as error:
                    raise _gone() from error
                self.paths[place] = learned.path
                yield UnitStarted(unit)
                yield UnitFinished(unit, learned.path, learned.seconds)

    def _place(self, future: Future[Learned]) -> tuple[int, int]:
        unit = self._futures[future]
        return unit.fold, unit.position


def _source(executor: Executor, folds: Sequence[Fold]) -> Source:
    """Give the data to the workers of an executor: once, not with every unit."""
    if isinstance(executor, ThreadPoolExecutor):
        return InMemory(folds)
    shipment = ship(folds)
    deliver = getattr(executor, "deliver", None)
    if deliver is not None:
        deliver(shipment)
    return shipment


def _gone() -> WorkerError:
    return WorkerError(
        "The workers ended before their work did: they were killed, perhaps for want of memory, or cannot be "
        "reached. What is finished is kept; run again to go on."
    )
