"""Steps of paths in a file: of leave-query-out there are as many paths as queries times combinations."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import finalize

from rankstudio.engine.data import store
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import LEAVE_QUERY_OUT
from rankstudio.engine.experiment.results.path_steps import PathSteps
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
        self._last: tuple[int, PathSteps | None] = (-1, None)

    def keep(self, path: PathResult) -> PathResult:
        """Return a path whose steps are read when they are asked for, with the same bits.

        What curves are drawn from stays in memory, and so does everything where the disk has no room.
        """
        if isinstance(path.steps, FiledSteps):
            return path
        content = pickle.dumps(path.steps, protocol=5)
        with self._lock:
            try:
                place = self._write(content)
            except OSError:
                return path
        return replace(path, steps=FiledSteps(self, place, len(content), path.steps))

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

    def read(self, place: int, size: int) -> PathSteps:
        """Return the steps that stand somewhere."""
        with self._lock:
            known, steps = self._last
            if known != place or steps is None:
                self._file.seek(place)
                steps = pickle.loads(self._file.read(size))
                self._last = place, steps
            return steps


class FiledSteps(PathSteps):
    """The steps of a path, in a file.

    Parameters
    ----------
    file : StepsFile
    place, size : int
        Where they begin there, and how many bytes they are.
    steps : PathSteps
        They themselves, in memory.
    """

    def __init__(self, file: StepsFile, place: int, size: int, steps: PathSteps) -> None:
        self.numbers, self.criteria, self.sizes, self.gains = (
            steps.numbers,
            steps.criteria,
            steps.sizes,
            steps.gains,
        )
        self._file, self._place, self._size = file, place, size

    def __len__(self) -> int:
        return int(self.numbers.size)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Travel to other processes as the steps themselves."""
        return self._file.read(self._place, self._size).__reduce__()

    def _made(self, place: int) -> Step:
        return self._file.read(self._place, self._size)[place]
