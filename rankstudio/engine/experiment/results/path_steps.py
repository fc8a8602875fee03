"""The steps of a path, in memory or in a file.

In memory, the values of all features are stored together.

Leave-query-out keeps its steps in a file, because it has as many paths
as queries times combinations.
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
from rankstudio.engine.support.packed_rows import (
    IndexTuples,
    PlainRows,
    Rows,
    packed_rows,
)

_NO_ROWS: Mapping[str, Rows] = {}

# Values of attributes that a step lacks because they are stored as rows.
_EMPTY_VALUES: dict[str, Any] = {
    "selected": (),
    "coef": np.empty(0),
    "candidates": np.empty(0),
}

# Functions that make compact rows of the values of an attribute, a row per step.
_ROWS_BY_NAME: dict[str, Callable[[Sequence[Any]], Rows]] = {
    "selected": IndexTuples.of,
    "coef": partial(packed_rows, fill=0.0),
    "candidates": partial(packed_rows, fill=nan),
}

_CACHE_LOCK = Lock()  # the window and its worker ask for steps of the same paths


class PathSteps(Sequence[Step], ABC):
    """The steps of a path, each with a model; a step may be created on demand.

    As long as a step exists, the same object is returned, so that
    information can be attached to it.

    Attributes
    ----------
    numbers : ndarray of shape (K,)
        Numbers of the steps.
    criteria : ndarray of shape (K,)
        Criterion after each step.
    sizes : ndarray of shape (K,)
        Number of features used by each step's model.
    gains : ndarray of shape (K,)
        Amount by which each step reduces the criterion.
    """

    _existing_steps: WeakValueDictionary[int, Step] | None = None

    @cached_property
    def numbers(self) -> Ints:  # noqa: D102 - see above
        return np.array([step.number for step in self._small_steps()], dtype=np.int64)

    @cached_property
    def criteria(self) -> Floats:  # noqa: D102
        return np.array(
            [step.criterion for step in self._small_steps()], dtype=np.float64
        )

    @cached_property
    def sizes(self) -> Ints:  # noqa: D102
        return np.array(
            [step.n_selected for step in self._small_steps()], dtype=np.int64
        )

    @cached_property
    def gains(self) -> Floats:
        """Drop of the criterion at each step, shape (K,)."""
        return np.array(
            [step.before - step.criterion for step in self._small_steps()],
            dtype=np.float64,
        )

    def __iter__(self) -> Iterator[Step]:
        return map(self.__getitem__, range(len(self)))

    @overload
    def __getitem__(self, index: int) -> Step: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Step, ...]: ...

    def __getitem__(self, index: int | slice) -> Step | tuple[Step, ...]:
        """Return the step at an index, or a tuple of steps for a slice.

        A step is made when it is first needed. As long as anybody uses
        it, the same object is returned.
        """
        positions = range(len(self))
        if isinstance(index, slice):
            return tuple(self[i] for i in positions[index])
        # This also counts negative positions from the end, and raises the IndexError.
        position = positions[index]
        step = (
            None if self._existing_steps is None else self._existing_steps.get(position)
        )
        if step is None:
            new_step = self._make_step(position)
            with _CACHE_LOCK:
                # a mapping takes more memory than a short path
                if self._existing_steps is None:
                    self._existing_steps = WeakValueDictionary()
                # Another thread may have made it in the meantime.
                step = self._existing_steps.setdefault(position, new_step)
        return step

    def position(self, number: int) -> int:
        """Return the position of the step with a number.

        ValueError is raised if there is no such step.
        """
        return list(self.numbers).index(number)

    def selected(self, position: int) -> tuple[int, ...]:
        """Return the columns of a step's model, if possible without making the whole step."""
        return self[position].selected

    def added(self, position: int) -> tuple[int, ...]:
        """Return the columns of the features that a step adds to those of the previous step.

        `position` is that of the step. All columns of the step are
        returned if it does not begin with the columns of the previous
        step.
        """
        selected = self.selected(position)
        before = self.selected(position - 1) if position else ()
        return (
            selected[len(before) :] if selected[: len(before)] == before else selected
        )

    def _small_steps(self) -> Sequence[Step]:
        """Return the steps in a form that may lack their values of all features.

        The number, criterion and size of each step are the same as in
        its complete form.
        """
        return self

    @abstractmethod
    def _make_step(self, position: int) -> Step:
        """Make the step at a position."""


class HeldSteps(PathSteps):
    """Steps of a path in memory, complete or with some attributes stored as rows.

    Parameters
    ----------
    steps : sequence of Step
        Steps; the attributes stored as rows are empty.
    rows : Mapping of str to Rows, optional
        Values of an attribute, by its name: one row per step.
    """

    def __init__(
        self, steps: Sequence[Step], rows: Mapping[str, Rows] = _NO_ROWS
    ) -> None:
        """Hold steps, and the rows of attributes that they lack."""
        self.rows = rows
        self._steps = tuple(steps)

    def __len__(self) -> int:
        return len(self._steps)

    @cached_property
    def sizes(self) -> Ints:  # noqa: D102 - inherited
        selected = self.rows.get("selected")
        return selected.lengths if isinstance(selected, IndexTuples) else super().sizes

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the compact form, without the steps made on demand."""
        return type(self), (self._steps, self.rows)

    def selected(self, position: int) -> tuple[int, ...]:  # noqa: D102 - inherited
        rows = self.rows.get("selected")
        return self._steps[position].selected if rows is None else rows.row(position)

    def added(self, position: int) -> tuple[int, ...]:
        """Return the columns of the features that a step adds to those of the previous step.

        `position` is that of the step. All columns of the step are
        returned if it does not begin with the columns of the previous
        step.
        """
        rows = self.rows.get("selected")
        # This form of rows says what a step adds without making the
        # tuples. Other forms of rows need the tuples of both steps,
        # which the base class compares.
        return (
            rows.added(position)
            if isinstance(rows, IndexTuples)
            else super().added(position)
        )

    def _small_steps(self) -> Sequence[Step]:
        """Return the steps without the attributes in rows."""
        return self._steps

    def _make_step(self, position: int) -> Step:
        """Return the complete step at a position.

        Attributes that are stored as rows for all steps, such as
        `coef`, are put into the step.
        """
        attributes = {name: rows.row(position) for name, rows in self.rows.items()}
        return (
            replace(self._steps[position], **attributes)
            if attributes
            else self._steps[position]
        )


def packed(steps: Sequence[Step], shared: Mapping[str, Rows] = _NO_ROWS) -> HeldSteps:
    """Return the steps of a path in compact form.

    The values of an attribute are stored together, for all steps:
    ``selected``, ``coef`` and ``candidates`` of a step are created on
    demand, bit-identical and not shared. Arrays that would not become
    smaller stay unchanged.

    Parameters
    ----------
    steps : sequence of Step
        Complete steps, in order.
    shared : Mapping of str to Rows, optional
        Existing rows by attribute name, possibly shared with other
        paths: one row per step.

    Notes
    -----
    O(Kn) for K steps of n features. On a path that selects all n
    features one by one, half of the weights are 0 and half of the
    candidates are missing: 8n² + n²/4 bytes instead of 16n², and the
    selections take n numbers instead of n²/2.
    """
    rows_by_name = dict(shared)
    for name, rows_of in _ROWS_BY_NAME.items() if steps else ():
        if name not in rows_by_name:
            values = [getattr(step, name) for step in steps]
            # `rows_of` makes rows of the compact form for this attribute.
            rows = rows_of(values)
            # Only if they take less memory than the values themselves.
            if rows.n_bytes < PlainRows(tuple(values)).n_bytes:
                rows_by_name[name] = rows
    if not rows_by_name:
        return HeldSteps(steps, rows_by_name)
    # Attributes that are stored as rows need not be in the steps.
    empty_values = {name: _EMPTY_VALUES[name] for name in rows_by_name}
    return HeldSteps([replace(step, **empty_values) for step in steps], rows_by_name)


class StepsFile:
    """A temporary file with the steps of paths, deleted when no path uses it any more.

    Parameters
    ----------
    folder : Path
        Folder of the file.
    """

    def __init__(self, folder: Path) -> None:
        """Prepare a temporary file in a folder."""
        self._folder = folder
        self._file: Any = None  # created with the first steps
        self._end = 0  # offset behind the last steps, in bytes
        self._lock = Lock()
        # offset of the steps that were read last, and the steps
        self._last_read: tuple[int, PathSteps | None] = (-1, None)

    def keep(self, steps: PathSteps) -> PathSteps:
        """Write the steps of a path to the file, and return steps that are read on demand.

        The steps that are read are identical to those that were
        written, bit for bit. Numbers, criteria, sizes and gains of the
        steps stay in memory. If the disk is full, the steps themselves
        are returned.
        """
        # These are in a file already.
        if isinstance(steps, FiledSteps):
            return steps
        content = pickle.dumps(steps, protocol=5)
        with self._lock:
            try:
                offset = self._write(content)
            except OSError:
                return steps
        return FiledSteps(self, offset, len(content), steps)

    def _write(self, content: bytes) -> int:
        """Append content to the file, and return its offset."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115 - as long as this is
            # Close, and so delete, the file when this object is gone.
            finalize(self, self._file.close)
        self._file.seek(self._end)
        unwritten = memoryview(content)
        while unwritten:
            # An unbuffered file may write less than asked for.
            n_written = self._file.write(unwritten)
            unwritten = unwritten[n_written:]
        offset = self._end
        self._end = self._end + len(content)
        return offset

    def read(self, offset: int, size: int) -> PathSteps:
        """Return the steps of a path at an offset of the file; offset and size are in bytes.

        The steps stay in memory until those of another path are read.
        """
        with self._lock:
            last_offset, steps = self._last_read
            if last_offset != offset or steps is None:
                self._file.seek(offset)
                steps = pickle.loads(self._file.read(size))
                self._last_read = offset, steps
            return steps


class FiledSteps(PathSteps):
    """The steps of a path that are stored in a file, and read on demand.

    Parameters
    ----------
    file : StepsFile
    offset, size : int
        Position and size of the steps in the file, in bytes.
    steps : PathSteps
        The same steps in memory, for the numbers, criteria, sizes and
        gains that stay in memory.
    """

    def __init__(
        self, file: StepsFile, offset: int, size: int, steps: PathSteps
    ) -> None:
        """Store where the steps are in the file, and what curves need of them."""
        # What curves need stays in memory; the steps are read from the file.
        self.numbers = steps.numbers
        self.criteria = steps.criteria
        self.sizes = steps.sizes
        self.gains = steps.gains
        self._file = file
        self._offset = offset
        self._size = size

    def __len__(self) -> int:
        return int(self.numbers.size)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle the steps themselves, because other processes do not have the file."""
        return self._file.read(self._offset, self._size).__reduce__()

    def _make_step(self, position: int) -> Step:
        """Read the step at a position from the file."""
        return self._file.read(self._offset, self._size)[position]
