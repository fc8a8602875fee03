"""Pages of files that are mapped into memory: let go once they were read, so that they do not add up."""

from __future__ import annotations

import math
import mmap
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Floats, Ints

_BLOCK = 1 << 22  # numbers that are copied at a time


def release(array: NDArray[Any]) -> None:
    """Let the pages of an array that is mapped from a file go; nothing for an array in memory.

    They count as memory of the process from when they are first read. The numbers stay in the file, those
    that were written to it too, and are read again when somebody asks for them. Where the system takes no
    such advice it decides itself.

    Parameters
    ----------
    array : ndarray
        C-contiguous: rows of a mapped matrix.
    """
    mapped = _mapped(array)
    if mapped is None or not hasattr(mmap, "MADV_DONTNEED") or not array.nbytes:
        return
    begin = np.frombuffer(mapped, np.uint8).__array_interface__["data"][0]
    first = array.__array_interface__["data"][0] - begin
    # Whole pages inside of it: a page at its edge may be somebody else's, too.
    first, end = (
        -(-first // mmap.PAGESIZE) * mmap.PAGESIZE,
        (first + array.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE,
    )
    if first < end:
        mapped.madvise(mmap.MADV_DONTNEED, first, end - first)


def in_file(array: NDArray[Any]) -> bool:
    """Return whether the numbers of an array are those of a file mapped into memory."""
    return _mapped(array) is not None


def empty_in_file(shape: tuple[int, ...], folder: Path) -> Floats:
    """Return an array of float64 that is mapped from a file without a name, which goes with the array.

    Parameters
    ----------
    shape : tuple of int
        Of one number at least.
    folder : Path
        Where the file is: on a disk, as that of the system for temporary files may be memory.

    Raises
    ------
    OSError
        Where the disk has no room.
    """
    size = 8 * math.prod(shape)
    with tempfile.TemporaryFile(dir=folder) as file:
        # A page of a file that is found to have no room when it is written ends the process.
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
        array: Floats = np.ndarray(shape, np.float64, mmap.mmap(file.fileno(), size))
    return array


def taken_rows(X: Floats, rows: Ints, folder: Path) -> Floats:
    """Return some rows of a matrix that is mapped from a file, mapped from another one.

    O(m'n) for m' rows, a block at a time.
    """
    taken = empty_in_file((rows.size, X.shape[1]), folder)
    for block in _blocks(rows.size, X.shape[1]):
        some = rows[block]
        np.take(X, some, axis=0, out=taken[block])
        release(X[some.min() : some.max() + 1])
        release(taken[block])
    return taken


def chosen_columns(X: Floats, columns: Sequence[int], folder: Path) -> Floats:
    """Return a matrix that is mapped from a file with some of its columns, mapped from another one.

    O(mk) for k columns of m rows, a block of rows at a time.
    """
    chosen = empty_in_file((len(X), len(columns)), folder)
    for rows in _blocks(*X.shape):
        np.take(X[rows], columns, axis=1, out=chosen[rows], mode="clip")
        release(X[rows])
        release(chosen[rows])
    return chosen


def taken_columns(X: Floats, columns: slice) -> Floats:
    """Return some columns of a matrix as rows, in memory; pages that were read for them are let go.

    O(mk) for k columns of m rows, a block of rows at a time where they are mapped from a file.
    """
    if not in_file(X):
        return np.ascontiguousarray(X[:, columns].T)
    taken = np.empty((X[:1, columns].shape[1], len(X)))
    for rows in _blocks(*X.shape):
        taken[:, rows] = X[rows, columns].T
        release(X[rows])
    return taken


def joined_rows(matrices: Sequence[Floats], folder: Path) -> Floats:
    """Return matrices one behind the other, mapped from a file; O(mn), a block at a time."""
    joined = empty_in_file((sum(map(len, matrices)), matrices[0].shape[1]), folder)
    at = 0
    for X in matrices:
        for block in _blocks(*X.shape):
            rows = X[block]
            joined[at : at + len(rows)] = rows
            release(rows)
            release(joined[at : at + len(rows)])
            at += len(rows)
    return joined


def _blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Yield the rows of a matrix that are copied at a time."""
    step = max(1, _BLOCK // width)
    for first in range(0, n_rows, step):
        yield slice(first, first + step)


def _mapped(array: Any) -> mmap.mmap | None:
    """Return the mapping that the memory of an array belongs to."""
    base = array
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None
