"""The arrays of a shard's state: in memory as long as there is room, then in files mapped into memory."""

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
    """Memory limit for states, shared by the shards of a process.

    Parameters
    ----------
    n_bytes : callable
        Returns the limit in bytes; called once, on first use, because reading the memory of the machine takes
        as long as a sum over a small shard.
    folder : Path, optional
        Folder of the files for the rest; by default that of the parsed data. The files are unnamed, and
        disappear with the process.
    unasked : float
        Number of bytes granted before ``n_bytes`` is called.
    """

    def __init__(
        self, n_bytes: Callable[[], float], folder: Path | None = None, unasked: float = 0.0
    ) -> None:
        self.folder = folder
        self._n_bytes = n_bytes
        self._unasked = unasked
        self._taken = 0
        self._lock = threading.Lock()

    @cached_property
    def _whole(self) -> float:
        return self._n_bytes()

    def taken(self, n_bytes: int, spare: float = 0.0) -> bool:
        """Reserve a number of bytes if a share of the space stays free; return whether it was possible."""
        with self._lock:
            total = self._taken + n_bytes
            fits = total <= self._unasked or total + spare * self._whole <= self._whole
            self._taken += n_bytes if fits else 0
            return fits

    def give_back(self, n_bytes: int) -> None:
        """Release a reservation."""
        with self._lock:
            self._taken -= n_bytes


class Scratch:
    """Provides the arrays of a shard.

    Parameters
    ----------
    room : Room
        Memory limit for the arrays.
    """

    def __init__(self, room: Room) -> None:
        self._room = room
        self._taken = 0
        self._mapped: list[Floats] = []

    def empty(self, *shape: int) -> Floats:
        """Return an uninitialised float64 array, in memory or mapped from a file.

        Raises
        ------
        OSError
            If the disk is full.
        """
        return self._array(shape, 0.0)

    def lasting(self, *shape: int) -> Floats:
        """Return an array that other works on the shard share, and that outlives this one.

        A quarter of the space is reserved for the arrays of single works, which are written repeatedly.
        """
        return self._array(shape, 0.25)

    def _array(self, shape: tuple[int, ...], spare: float) -> Floats:
        count = int(np.prod(shape, dtype=np.int64))
        if not count or self._room.taken(8 * count, spare):
            self._taken += 8 * count
            return np.empty(shape)
        array = empty_in_file(shape, self._room.folder or store.scratch_folder())
        self._mapped.append(array)
        return array

    def share(self, array: Floats) -> None:
        """Release the pages of a shared array of another work together with the own ones."""
        if in_file(array) and not any(array is mine for mine in self._mapped):
            self._mapped.append(array)

    def keeps(self, n_bytes: int) -> bool:
        """Reserve a number of bytes for other objects, and return whether it was possible."""
        fits = self._room.taken(n_bytes)
        self._taken += n_bytes if fits else 0
        return fits

    def release(self) -> None:
        """Release the pages of mapped arrays; they are read again on next use."""
        for array in self._mapped:
            release(array)

    def close(self) -> None:
        """Release the memory; the arrays must not be used afterwards."""
        self._mapped.clear()
        self._room.give_back(self._taken)
        self._taken = 0
