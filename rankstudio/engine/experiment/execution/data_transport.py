"""Access of workers to the data of a run.

Workers in this process share the data. Others map them from files.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar, runtime_checkable

from rankstudio.engine.data import shared_parts, store
from rankstudio.engine.data.dataset import Fold, RankingDataset
from rankstudio.engine.data.splitting.leave_query_out import EachQueryLeftOut
from rankstudio.engine.data.splitting.part_of_whole import Division, PartOfWhole
from rankstudio.engine.errors import Cancelled
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress

Given = ParamSpec("Given")
Value = TypeVar("Value")

_PART_NAMES = ("train", "vali", "test")


class FoldSource(Protocol):
    """Source of a run's folds for a worker."""

    def follow(self, unit: Unit, event: Step | WorkProgress) -> None:
        """Receive a finished step, or progress within a step, of a unit from a worker.

        A unit is one combination of the parameters' values on one fold.
        Raise Cancelled if the caller has given up the run.
        """

    def key(self, number: int) -> Hashable:
        """Return a key that is equal for folds with the same data."""

    def fold(self, number: int) -> Fold:
        """Return a fold by its number."""


@runtime_checkable
class UnitExecutor(Protocol):
    """An executor that says how it executes the units of a run; see :func:`unit_executor`.

    A unit is one combination of the parameters' values on one fold.

    Attributes
    ----------
    lost : tuple of exception types
        Exceptions that report lost workers, besides those of `concurrent.futures`.
    """

    lost: tuple[type[BaseException], ...]

    def ahead(self) -> int:
        """Return the number of units that a run submits before the first of them is finished.

        A unit is one combination of the parameters' values on one fold.
        A small number lets a paused run end soon.
        """

    def submit(
        self, fn: Callable[Given, Value], /, *args: Given.args, **kwargs: Given.kwargs
    ) -> Future[Value]:
        """Submit a call."""

    def give(self, folds: Sequence[Fold]) -> FoldSource:
        """Distribute folds to the workers once for all units, and return their source."""


def unit_executor(executor: Executor) -> UnitExecutor:
    """Return an executor of any kind as a `UnitExecutor`."""
    return executor if isinstance(executor, UnitExecutor) else _AnyExecutor(executor)


class _AnyExecutor:
    """An executor of any kind, such as one of `concurrent.futures`, as a `UnitExecutor`.

    Threads share the folds of a run in memory; workers in other
    processes read them from files.
    """

    lost: tuple[type[BaseException], ...] = ()

    def __init__(self, executor: Executor) -> None:
        """Take the calls of an executor."""
        self._in_memory = isinstance(executor, ThreadPoolExecutor)
        self.submit = executor.submit

    def ahead(self) -> int:
        """Return a fixed number of units."""
        return 64  # the number of workers is unknown: enough for a large machine

    def give(self, folds: Sequence[Fold]) -> FoldSource:
        """Share the folds with threads, or write them to files."""
        return InMemory(folds) if self._in_memory else write_folds(folds)


class InMemory:
    """Source of the folds of a run for workers that are threads of this process.

    The folds stay in memory. Workers report their progress to this
    object, and end if the run is given up.

    Parameters
    ----------
    folds : sequence of Fold
        Folds of the run, each with its training, validation and test part.
    """

    def __init__(self, folds: Sequence[Fold]) -> None:
        """Share these folds."""
        self._folds = {fold.number: fold for fold in folds}
        self._latest: tuple[Unit, WorkProgress] | None = None
        self._given_up = False

    def give_up(self) -> None:
        """Ask the workers to stop as soon as possible."""
        self._given_up = True

    def latest(self) -> tuple[Unit, WorkProgress] | None:
        """Return the last progress event of any worker."""
        return self._latest

    def follow(self, unit: Unit, event: Step | WorkProgress) -> None:
        """Receive a finished step of a unit, or progress within one, from a worker.

        Raise Cancelled if the caller of the run has given it up.
        Otherwise the event is stored as the latest progress of all
        workers, which
        :meth:`latest` returns.
        """
        if self._given_up:
            raise Cancelled("The run")
        # A step has no share of the work, because the number of steps is not known.
        progress = (
            event
            if isinstance(event, WorkProgress)
            else WorkProgress(f"step {event.number}", 0.0)
        )
        self._latest = unit, progress

    def key(self, number: int) -> Hashable:
        """Return a key that is equal for folds with the same data."""
        fold = self._folds[number]
        return fold.train, fold.vali

    def fold(self, number: int) -> Fold:
        """Return a fold by its number."""
        return self._folds[number]


@dataclass(frozen=True)
class FoldFiles:
    """Source of the folds of a run for other processes: names of files on the disk.

    Each file has a part: training, validation or test data. The names
    are small enough to be sent with every unit.

    Attributes
    ----------
    folder : str
        Folder of the files.
    parts : Mapping of int to tuple of str
        By fold number: names of the files of its train, vali and test
        part, "" for a missing part.
    """

    folder: str
    parts: Mapping[int, tuple[str, ...]]

    def follow(self, unit: Unit, event: Step | WorkProgress) -> None:
        """Ignore an event of a unit.

        The caller of the run is in another process, and ends this
        worker process to cancel.
        """

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all parts, without repetition."""
        return tuple(
            dict.fromkeys(
                name for names in self.parts.values() for name in names if name
            )
        )

    def key(self, number: int) -> Hashable:
        """Return a key that is equal for folds with the same data."""
        return self.parts[number]

    def path_of(self, name: str) -> Path:
        """Return the path of the file with a part of a fold on this machine.

        `name` is the name of the file. The file is in `folder`, or else
        in this machine's own folder of temporary files.
        """
        path = Path(self.folder) / name
        return path if store.is_whole(path) else store.scratch_folder() / name

    def fold(self, number: int) -> Fold:
        """Return a fold by its number, its arrays mapped into memory.

        Raises
        ------
        FileAccessError
            If the file of a part (training, validation or test data) is
            not on this machine, or is damaged.
        """
        # The names of the files of the three parts; "" if the fold has no such part.
        train, vali, test = (
            shared_parts.open_kept(self.path_of(name)) if name else None
            for name in self.parts[number]
        )
        assert train is not None  # every fold has one
        return Fold(number=number, train=train, vali=vali, test=test)


@dataclass(frozen=True)
class WholeFile(FoldFiles):
    """Source of folds that are all made from the file of one dataset.

    The dataset is on the disk once. A worker divides it into folds
    itself, as in leave-query-out, where each fold leaves out one query.

    Attributes
    ----------
    whole : str
        Name of the file.
    division : Division
        Rule that divides the dataset into folds.
    """

    whole: str = ""
    division: Division = field(default_factory=EachQueryLeftOut)

    @property
    def names(self) -> tuple[str, ...]:
        """Name of the single part."""
        return (self.whole,)

    def key(self, number: int) -> Hashable:
        """Return a key that is equal for folds with the same data."""
        return self.whole, self.division, number

    def fold(self, number: int) -> Fold:
        """Return a fold by its number; see :meth:`FoldFiles.fold`."""
        return self.division.fold(
            shared_parts.open_kept(self.path_of(self.whole)), number
        )


def write_folds(folds: Sequence[Fold]) -> FoldFiles:
    """Write the parts of folds to disk for other processes of this machine.

    A part is the training, validation or test data of a fold. Parts
    that are made from one dataset are not written, only this dataset.

    The result has the names of the files. It is sent to a process,
    which opens each fold by its number with `FoldFiles.fold`.

    Raises
    ------
    OutputError
        If the parts cannot be written.
    """
    first = folds[0].train if folds else None
    # Parts that are rows of one dataset: only the whole is written, and
    # each process cuts the parts out of it by the division into folds.
    if isinstance(first, PartOfWhole):
        name = shared_parts.keep([first.whole])[0]
        return WholeFile(
            folder=str(store.scratch_folder()),
            parts={},
            whole=name,
            division=first.division,
        )
    # A part that several folds share is one object, and is written once.
    parts_by_id: dict[int, RankingDataset] = {
        id(part): part for fold in folds for part in fold.parts.values()
    }
    names = dict(
        zip(parts_by_id, shared_parts.keep(list(parts_by_id.values())), strict=True)
    )
    parts = {
        # An empty name stands for a part that the fold does not have.
        fold.number: tuple(
            names[id(fold.parts[name])] if name in fold.parts else ""
            for name in _PART_NAMES
        )
        for fold in folds
    }
    return FoldFiles(str(store.scratch_folder()), parts)
