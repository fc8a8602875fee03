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
    """How many bytes of states are kept in memory, shared by the shards of a process.

    Parameters
    ----------
    n_bytes : callable
        Returns how many at most; asked once, when somebody first takes some: to look at the memory of the
        machine takes as long as a sum over a small shard.
    folder : Path, optional
        Where the files are of what does not fit; that of the parsed data by default. They have no names, and
        are gone with the process.
    unasked : float
        How many bytes are taken before ``n_bytes`` is asked.
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
        """Take so many bytes where a share of the room stays free; return whether there was room for them."""
        with self._lock:
            wanted = self._taken + n_bytes
            fits = wanted <= self._unasked or wanted + spare * self._whole <= self._whole
            self._taken += n_bytes if fits else 0
            return fits

    def give_back(self, n_bytes: int) -> None:
        """Make room again."""
        with self._lock:
            self._taken -= n_bytes


class Scratch:
    """Gives a shard its arrays.

    Parameters
    ----------
    room : Room
        That it takes them from.
    """

    def __init__(self, room: Room) -> None:
        self._room = room
        self._taken = 0
        self._mapped: list[Floats] = []

    def empty(self, *shape: int) -> Floats:
        """Return an array of float64, in memory or mapped from a file; what is in it is not said.

        Raises
        ------
        OSError
            Where the disk has no room.
        """
        return self._array(shape, 0.0)

    def lasting(self, *shape: int) -> Floats:
        """Return an array for what other works on the shard will ask for too, and that outlives this one.

        A quarter of the room is left to what each work has for itself: that is written again and again.
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
        """Let the pages of an array that another work made go with those of the others."""
        if in_file(array) and not any(array is mine for mine in self._mapped):
            self._mapped.append(array)

    def keeps(self, n_bytes: int) -> bool:
        """Take so many bytes for what is no array of ours, and return whether there is room for them."""
        fits = self._room.taken(n_bytes)
        self._taken += n_bytes if fits else 0
        return fits

    def release(self) -> None:
        """Let the pages of mapped arrays go: whoever asks next has them read again."""
        for array in self._mapped:
            release(array)

    def close(self) -> None:
        """Make room for others; the arrays are not to be used any more."""
        self._mapped.clear()
        self._room.give_back(self._taken)
        self._taken = 0
