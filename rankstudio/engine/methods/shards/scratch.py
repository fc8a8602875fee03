"""The arrays of a shard's state.

They are in memory up to a limit, and beyond it in files that are mapped into memory.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data import store
from rankstudio.engine.support.file_pages import empty_in_file, in_file, release


class Room:
    """Memory limit for the states of shards, shared by the shards of a process; counts the reserved bytes.

    A shard is a part of the data with whole queries.

    Parameters
    ----------
    n_bytes : callable
        Returns the limit in bytes; called once, on first use, because
        reading the memory of the machine takes as long as a sum over a
        small shard.
    folder : Path, optional
        Folder of the files for arrays beyond the limit; by default the
        folder of the parsed data. The files are unnamed, and disappear
        with the process.
    unchecked_bytes : float
        Number of bytes that can be reserved before ``n_bytes`` is called.
    """

    def __init__(
        self,
        n_bytes: Callable[[], float],
        folder: Path | None = None,
        unchecked_bytes: float = 0.0,
    ) -> None:
        self.folder = folder
        self._n_bytes = n_bytes
        self._unchecked_bytes = unchecked_bytes
        self._reserved_bytes = 0
        self._lock = threading.Lock()

    @cached_property
    def _limit(self) -> float:
        """The limit in bytes, which is asked for once."""
        return self._n_bytes()

    def taken(self, n_bytes: int, spare: float = 0.0) -> bool:
        """Reserve a number of bytes if the share ``spare`` of the limit stays free.

        The result is whether this was possible.
        """
        with self._lock:
            total = self._reserved_bytes + n_bytes
            # The limit is only read beyond the unchecked bytes, because
            # reading it takes time.
            fits = (
                total <= self._unchecked_bytes
                or total + spare * self._limit <= self._limit
            )
            self._reserved_bytes += n_bytes if fits else 0
            return fits

    def give_back(self, n_bytes: int) -> None:
        """Release a reservation of a number of bytes."""
        with self._lock:
            self._reserved_bytes -= n_bytes


class Scratch:
    """Allocates the arrays of a shard's state, in memory or in files, and releases them.

    A shard is a part of the data with whole queries.

    Parameters
    ----------
    room : Room
        Memory limit for the arrays.
    """

    def __init__(self, room: Room) -> None:
        self._room = room
        self._reserved_bytes = 0
        self._mapped_arrays: list[Floats] = []

    def empty(self, *shape: int) -> Floats:
        """Return an uninitialised float64 array of a shape, in memory or mapped from a file.

        Raises
        ------
        OSError
            If the disk is full.
        """
        return self._array(shape, 0.0)

    def lasting(self, *shape: int) -> Floats:
        """Return an array that exists longer than a single work on the shard, so that all works share it.

        A work is what a method computes on the shard, such as for one
        λ. A quarter of the memory limit stays free for the arrays of
        single works, which are written repeatedly. A shard is a part of
        the data with whole queries.
        """
        return self._array(shape, 0.25)

    def _array(self, shape: tuple[int, ...], spare: float) -> Floats:
        """Allocate an array without initial values, in memory or in a file.

        The array is in memory if the share ``spare`` of the limit stays
        free afterwards. Bytes in memory and arrays in files are
        recorded, to be released with the state.
        """
        count = int(np.prod(shape, dtype=np.int64))
        # `taken` reserves the bytes of these numbers, if they fit.
        if not count or self._room.taken(8 * count, spare):
            self._reserved_bytes += 8 * count
            return np.empty(shape)
        array = empty_in_file(shape, self._room.folder or store.scratch_folder())
        self._mapped_arrays.append(array)
        return array

    def share(self, array: Floats) -> None:
        """Add an array that another work has allocated, so that :meth:`release` releases its pages, too."""
        if in_file(array) and not any(
            array is mapped for mapped in self._mapped_arrays
        ):
            self._mapped_arrays.append(array)

    def keeps(self, n_bytes: int) -> bool:
        """Reserve a number of bytes for objects other than arrays, and return whether it was possible."""
        fits = self._room.taken(n_bytes)
        self._reserved_bytes += n_bytes if fits else 0
        return fits

    def release(self) -> None:
        """Release the pages of mapped arrays.

        The pages are read again on next use.
        """
        for array in self._mapped_arrays:
            release(array)

    def close(self) -> None:
        """Release the memory; the arrays must not be used afterwards."""
        self._mapped_arrays.clear()
        self._room.give_back(self._reserved_bytes)
        self._reserved_bytes = 0
