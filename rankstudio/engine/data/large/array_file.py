"""An array in a file of numpy's format, which becomes longer block by block and never is in memory."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.files import READING_ARRAYS

HEADER = 128  # bytes before the numbers, whatever the shape
_BLOCK = 1 << 22  # bytes copied at a time


class ArrayFile:
    """Writes an array whose number of rows is not known before.

    Parameters
    ----------
    path : Path
        Of the new file.
    dtype : dtype
    width : int, optional
        Number of columns; without it the array has one dimension.

    Raises
    ------
    OSError
        Here and later, where it cannot be written.
    """

    def __init__(self, path: Path, dtype: DTypeLike, width: int | None = None) -> None:
        self.path = path
        self.width = width
        self.rows = 0
        self._dtype = np.dtype(dtype)
        self._digest = hashlib.sha256()
        self._file = path.open("xb")
        self._file.write(bytes(HEADER))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def append(self, block: NDArray[Any]) -> None:
        """Write rows behind the others."""
        content = np.ascontiguousarray(block, dtype=self._dtype)
        body = content.reshape(-1).view(np.uint8).data
        self._digest.update(body)
        self._file.write(body)
        self.rows += len(block)

    def finish(self) -> str:
        """Write what the file holds at its beginning, have all of it on the disk, and return its digest."""
        header = io.BytesIO()
        shape = (self.rows,) if self.width is None else (self.rows, self.width)
        described = {"descr": self._dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(header, described)
        assert header.tell() == HEADER
        self._digest.update(header.getvalue())
        self._file.seek(0)
        self._file.write(header.getvalue())
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return self._digest.hexdigest()


def digest_of(path: Path, check: Callable[[], None] = lambda: None) -> str:
    """Return the digest of a file's numbers and header, as `ArrayFile.finish` does. O(size).

    Parameters
    ----------
    path : Path
    check : callable, optional
        Called now and then; it may raise.
    """
    digest = hashlib.sha256()
    buffer = memoryview(bytearray(_BLOCK))
    with path.open("rb", buffering=0) as file:
        header = file.read(HEADER)
        while count := file.readinto(buffer):
            digest.update(buffer[:count])
            check()
    digest.update(header)
    return digest.hexdigest()


def array_of(path: Path) -> NDArray[Any]:
    """Return the array of a file, mapped into memory and read-only; an empty one cannot be mapped.

    Raises
    ------
    OSError, ValueError
        Where it cannot be read, or is none.
    """
    with READING_ARRAYS:
        empty = path.stat().st_size == HEADER
        array = np.load(path, mmap_mode=None if empty else "r", allow_pickle=False)
    array.flags.writeable = False
    return np.asarray(array)


def file_of(array: NDArray[Any]) -> Path | None:
    """Return the file whose whole array this one is, mapped into memory; None where it is not."""
    base: Any = array
    while base is not None and not isinstance(base, np.memmap):
        base = getattr(base, "base", None)
    if base is None or base.filename is None or (base.shape, base.dtype) != (array.shape, array.dtype):
        return None
    whole = array.flags.c_contiguous and array.ctypes.data == base.ctypes.data
    return Path(base.filename) if whole else None


def widened(path: Path, to: Path, width: int) -> ArrayFile:
    """Return a file with the rows of another one and columns of zeros behind theirs, to be gone on with."""
    X = array_of(path)
    out = ArrayFile(to, X.dtype, width)
    rows = max(1, _BLOCK // (8 * width))
    for begin in range(0, len(X), rows):
        block = np.zeros((min(rows, len(X) - begin), width))
        block[:, : X.shape[1]] = X[begin : begin + rows]
        out.append(block)
        release(X)
    return out
