"""Pages of files that are mapped into memory: let go once they were read, so that they do not add up."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
    """Tell whether the numbers of an array are those of a file mapped into memory."""
    return _mapped(array) is not None


def _mapped(array: Any) -> mmap.mmap | None:
    """Return the mapping that the memory of an array belongs to."""
    base = array
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None
