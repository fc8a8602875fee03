"""The steps of a path: in memory, with what they have of each feature kept together, or in a file.

They are in a file for leave-query-out, of which there are as many paths as queries times combinations.
"""

from __future__ import annotations

import pickle
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from math import nan
from pathlib import Path
from threading import Lock
from typing import Any, overload
from weakref import WeakValueDictionary, finalize

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.steps import Step
from rankstudio.engine.support.packed_rows import IndexTuples, PlainRows, Rows, packed_rows

_NO_ROWS: Mapping[str, Rows] = {}

_EMPTY: dict[str, Any] = {"selected": (), "coef": np.empty(0), "candidates": np.empty(0)}

_OF_FEATURES: dict[str, Callable[[Sequence[Any]], Rows]] = {
    "selected": IndexTuples.of,
    "coef": partial(packed_rows, fill=0.0),
    "candidates": partial(packed_rows, fill=nan),
}

_ENTERING = Lock()  # the window and its worker ask for steps of the same paths


class PathSteps(Sequence[Step], ABC):
    """The steps of a path, each of which may be made when it is asked for.

    A step that somebody still has is that very object, so that whoever knows something of a model can keep
    it with the model.

    Attributes
    ----------
    numbers : ndarray of shape (K,)
        Of each step.
    criteria : ndarray of shape (K,)
        After each step.
    sizes : ndarray of shape (K,)
        How many features each step's model uses.
    gains : ndarray of shape (K,)
        How much less the criterion is after each step than before it.
    """

    _held: WeakValueDictionary[int, Step] | None = None

    @cached_property
    def numbers(self) -> Ints:  # noqa: D102 - see above
        return np.array([step.number for step in self._light()], dtype=np.int64)

    @cached_property
    def criteria(self) -> Floats:  # noqa: D102
        return np.array([step.criterion for step in self._light()], dtype=np.float64)

    @cached_property
    def sizes(self) -> Ints:  # noqa: D102
        return np.array([step.n_selected for step in self._light()], dtype=np.int64)

    @cached_property
    def gains(self) -> Floats:  # noqa: D102
        return np.array([step.before - step.criterion for step in self._light()], dtype=np.float64)

    def __iter__(self) -> Iterator[Step]:
        return map(self.__getitem__, range(len(self)))

    @overload
    def __getitem__(self, index: int) -> Step: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Step, ...]: ...

    def __getitem__(self, index: int | slice) -> Step | tuple[Step, ...]:
        places = range(len(self))
        if isinstance(index, slice):
            return tuple(self[place] for place in places[index])
        place = places[index]
        step = None if self._held is None else self._held.get(place)
        if step is None:
            made = self._made(place)
            with _ENTERING:
                if self._held is None:  # one takes more room than a short path
                    self._held = WeakValueDictionary()
                step = self._held.setdefault(place, made)
        return step

    def position(self, number: int) -> int:
        """Return the place of the step with a number; ValueError where there is none."""
        return list(self.numbers).index(number)

    def _light(self) -> Sequence[Step]:
        """Return steps that tell the same but for what they have of each feature."""
        return self

    @abstractmethod
    def _made(self, place: int) -> Step:
        """Make a step."""


class HeldSteps(PathSteps):
    """Steps in memory: as they are, or without what is kept of all of them in rows.

    Parameters
    ----------
    steps : sequence of Step
        Of those with rows, nothing stands in the attributes that have rows.
    rows : Mapping of str to Rows, optional
        By the attribute's name: a row a step.
    """

    def __init__(self, steps: Sequence[Step], rows: Mapping[str, Rows] = _NO_ROWS) -> None:
        self.rows = rows
        self._steps = tuple(steps)

    def __len__(self) -> int:
        return len(self._steps)

    @cached_property
    def sizes(self) -> Ints:  # noqa: D102 - inherited
        selected = self.rows.get("selected")
        return selected.lengths if isinstance(selected, IndexTuples) else super().sizes

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to other processes, and into files, as small as it is."""
        return type(self), (self._steps, self.rows)

    def _light(self) -> Sequence[Step]:
        return self._steps

    def _made(self, place: int) -> Step:
        found = {name: rows.row(place) for name, rows in self.rows.items()}
        return replace(self._steps[place], **found) if found else self._steps[place]


def packed(steps: Sequence[Step], shared: Mapping[str, Rows] = _NO_ROWS) -> HeldSteps:
    """Return the steps of a path with what they have of each feature kept together, in less memory.

    ``selected``, ``coef`` and ``candidates`` of a step are made when it is asked for, with the very same
    bits, and are nobody else's. Arrays that would not become smaller stay the objects that they are.

    Parameters
    ----------
    steps : sequence of Step
    shared : Mapping of str to Rows, optional
        What is kept already, for other paths too, by the attribute's name: a row a step.

    Notes
    -----
    O(Kn) for K steps of n features. Along a path that selects all n features one by one half of the weights
    are 0 and half of the candidates are none: 8n² + n²/4 bytes instead of 16n², and the selections take n
    numbers instead of n²/2.
    """
    kept = dict(shared)
    for name, rows_of in _OF_FEATURES.items() if steps else ():
        if name not in kept:
            values = [getattr(step, name) for step in steps]
            rows = rows_of(values)
            if rows.n_bytes < PlainRows(tuple(values)).n_bytes:
                kept[name] = rows
    rest = {name: _EMPTY[name] for name in kept}
    return HeldSteps([replace(step, **rest) for step in steps] if kept else steps, kept)


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

    def keep(self, steps: PathSteps) -> PathSteps:
        """Return steps that are read when they are asked for, with the same bits.

        What curves are drawn from stays in memory, and so does everything where the disk has no room.
        """
        if isinstance(steps, FiledSteps):
            return steps
        content = pickle.dumps(steps, protocol=5)
        with self._lock:
            try:
                place = self._write(content)
            except OSError:
                return steps
        return FiledSteps(self, place, len(content), steps)

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
        self.numbers, self.criteria = steps.numbers, steps.criteria
        self.sizes, self.gains = steps.sizes, steps.gains
        self._file, self._place, self._size = file, place, size

    def __len__(self) -> int:
        return int(self.numbers.size)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Travel to other processes as the steps themselves."""
        return self._file.read(self._place, self._size).__reduce__()

    def _made(self, place: int) -> Step:
        return self._file.read(self._place, self._size)[place]
