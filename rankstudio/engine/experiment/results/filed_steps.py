"""Steps of paths in a file: of leave-query-out there are as many paths as queries times combinations."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any, overload
from weakref import WeakValueDictionary, finalize

from rankstudio.engine.data import store
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import LEAVE_QUERY_OUT
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.steps import Step

Keeper = Callable[[PathResult], PathResult]
"""Returns a path as it is kept until the run ends."""


def path_keeper(plan: Plan) -> Keeper:
    """Return what keeps the paths of a run: in memory, or of leave-query-out with their steps in a file."""
    return StepsFile(store.scratch_folder()).keep if plan.protocol == LEAVE_QUERY_OUT else _as_it_is


def _as_it_is(path: PathResult) -> PathResult:
    return path


class StepsFile:
    """A file without a name that has the steps of paths; it goes when nobody has any of them any more.

    Parameters
    ----------
    folder : Path
        Where it is.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: Any = None
        self._end = 0
        self._lock = Lock()
        self._last: tuple[int, tuple[Step, ...]] = (-1, ())
        self._held: WeakValueDictionary[tuple[int, int], Step] = WeakValueDictionary()

    def keep(self, path: PathResult) -> PathResult:
        """Return a path whose steps are read when they are asked for, with the same bits.

        What curves are drawn from stays in memory, and so does everything where the disk has no room.
        """
        if isinstance(path.steps, FiledSteps):
            return path
        content = pickle.dumps(tuple(path.steps), protocol=5)
        with self._lock:
            try:
                place = self._write(content)
            except OSError:
                return path
            self._held.update({(place, k): step for k, step in enumerate(path.steps)})
        kept = replace(path, steps=FiledSteps(self, place, len(content), len(path.steps)))
        vars(kept).update(criterion=path.criterion, sizes=path.sizes, x_values=path.x_values)
        return kept

    def _write(self, content: bytes) -> int:
        """Write behind what is there, and return where it begins."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115 - as long as this is
            finalize(self, self._file.close)
        self._file.seek(self._end)
        rest = memoryview(content)
        while rest:
            rest = rest[self._file.write(rest) :]
        place, self._end = self._end, self._end + len(content)
        return place

    def read(self, place: int, size: int) -> tuple[Step, ...]:
        """Return the steps that stand somewhere; one that somebody still has is that very object."""
        with self._lock:
            if self._last[0] != place:
                self._file.seek(place)
                steps = enumerate(pickle.loads(self._file.read(size)))
                self._last = place, tuple(self._held.setdefault((place, k), step) for k, step in steps)
            return self._last[1]


class FiledSteps(Sequence[Step]):
    """The steps of a path, in a file.

    Parameters
    ----------
    file : StepsFile
    place, size : int
        Where they begin there, and how many bytes they are.
    count : int
        How many steps they are.
    """

    def __init__(self, file: StepsFile, place: int, size: int, count: int) -> None:
        self._file, self._place, self._size, self._count = file, place, size, count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Step: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Step, ...]: ...

    def __getitem__(self, index: int | slice) -> Step | tuple[Step, ...]:
        return self._steps()[index]

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps())

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to other processes as the steps themselves."""
        return tuple, (self._steps(),)

    def _steps(self) -> tuple[Step, ...]:
        return self._file.read(self._place, self._size)
