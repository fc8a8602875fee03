"""Pages of files that are mapped into memory: released after reading, so that they do not add up."""

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

_MAX_BLOCK_NUMBERS = 1 << 22  # numbers that are copied at a time


def release(array: NDArray[Any]) -> None:
    """Release the memory of an array mapped from a file; do nothing for an array in memory.

    Pages count as memory of the process once they are read. The values,
    including written ones, stay in the file, and are read again on
    demand. On systems that offer no such call, nothing happens.

    Parameters
    ----------
    array : ndarray
        C-contiguous rows of a mapped matrix.
    """
    mapped = _memory_map(array)
    if mapped is None or not hasattr(mmap, "MADV_DONTNEED") or not array.nbytes:
        return
    # The position of the array within the mapped file, by the addresses of both.
    begin = np.frombuffer(mapped, np.uint8).__array_interface__["data"][0]
    offset = array.__array_interface__["data"][0] - begin
    # Only whole pages of the array, from the first boundary of pages
    # (rounded up) to the last: a page at its edge may belong to another
    # array, too.
    first = -(-offset // mmap.PAGESIZE) * mmap.PAGESIZE
    end = (offset + array.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    if first < end:
        mapped.madvise(mmap.MADV_DONTNEED, first, end - first)


def in_file(array: NDArray[Any]) -> bool:
    """Return whether an array is mapped from a file."""
    return _memory_map(array) is not None


def empty_in_file(shape: tuple[int, ...], folder: Path) -> Floats:
    """Return a float64 array mapped from an unnamed file, which disappears with the array.

    Parameters
    ----------
    shape : tuple of int
        Shape with at least one element.
    folder : Path
        Folder of the file: on a disk, because the system's folder for
        temporary files may be memory.

    Raises
    ------
    OSError
        If the disk is full.
    """
    size = 8 * math.prod(shape)
    with tempfile.TemporaryFile(dir=folder) as file:
        # Allocate all pages now: writing to a page for which the disk
        # has no room would end the process.
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
        array: Floats = np.ndarray(shape, np.float64, mmap.mmap(file.fileno(), size))
    return array


def taken_rows(X: Floats, rows: Ints, folder: Path) -> Floats:
    """Return some rows of a mapped matrix, mapped from another file.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        Matrix mapped from a file.
    rows : ndarray of shape (m',)
        Numbers of the rows to return, in this order.
    folder : Path
        Folder of the new file, which disappears with the array.

    Returns
    -------
    ndarray of shape (m', n)

    Notes
    -----
    O(m'n), block by block.
    """
    selected = empty_in_file((rows.size, X.shape[1]), folder)
    for block in _row_blocks(rows.size, X.shape[1]):
        batch = rows[block]
        np.take(X, batch, axis=0, out=selected[block])
        # Pages that were read must not add up in memory: release the
        # range of rows that contains the batch.
        release(X[batch.min() : batch.max() + 1])
        release(selected[block])
    return selected


def chosen_columns(X: Floats, columns: Sequence[int], folder: Path) -> Floats:
    """Return some columns of a mapped matrix, mapped from another file.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        Matrix mapped from a file.
    columns : sequence of k int
        Numbers of the columns to return, in this order.
    folder : Path
        Folder of the new file, which disappears with the array.

    Returns
    -------
    ndarray of shape (m, k)

    Notes
    -----
    O(mk), block by block.
    """
    chosen = empty_in_file((len(X), len(columns)), folder)
    for rows in _row_blocks(*X.shape):
        # The columns are valid; with mode="clip", NumPy writes without a buffer.
        np.take(X[rows], columns, axis=1, out=chosen[rows], mode="clip")
        release(X[rows])
        release(chosen[rows])
    return chosen


def taken_columns(X: Floats, columns: slice) -> Floats:
    """Return some columns of a matrix as the rows of an array in memory.

    X has shape (m, n), the result (k, m) for k columns. If X is mapped
    from a file, it is read block by block, and the pages that were read
    are released. O(mk).
    """
    if not in_file(X):
        return np.ascontiguousarray(X[:, columns].T)
    n_columns = X[:1, columns].shape[1]  # of the slice
    transposed = np.empty((n_columns, len(X)))
    for rows in _row_blocks(*X.shape):
        transposed[:, rows] = X[rows, columns].T
        release(X[rows])
    return transposed


def joined_rows(matrices: Sequence[Floats], folder: Path) -> Floats:
    """Return matrices with n columns, one below the other, mapped from a new file.

    Parameters
    ----------
    matrices : sequence of ndarray of shape (m_i, n)
        Matrices with the same number of columns.
    folder : Path
        Folder of the new file, which disappears with the array.

    Returns
    -------
    ndarray of shape (m, n)
        For m rows in all.

    Notes
    -----
    O(mn), block by block.
    """
    joined = empty_in_file((sum(map(len, matrices)), matrices[0].shape[1]), folder)
    first_row = 0
    for X in matrices:
        for block in _row_blocks(*X.shape):
            rows = X[block]
            joined[first_row : first_row + len(rows)] = rows
            release(rows)
            release(joined[first_row : first_row + len(rows)])
            first_row += len(rows)
    return joined


def _row_blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Yield blocks of the rows of a matrix, each small enough to be copied.

    The matrix has ``n_rows`` rows and ``width`` columns.
    """
    step = max(1, _MAX_BLOCK_NUMBERS // width)
    for first in range(0, n_rows, step):
        yield slice(first, first + step)


def _memory_map(array: Any) -> mmap.mmap | None:
    """Return the memory map that an array's memory belongs to; None for other memory."""
    base = array
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None
