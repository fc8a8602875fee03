"""What every reader of data files needs: their sizes, room for their bytes, and how they begin."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np

from rankstudio.engine.arrays import Bytes
from rankstudio.engine.errors import FileAccessError
from rankstudio.engine.language import tr
from rankstudio.engine.support import memory

PADDING = 64  # newlines behind the text, so that no kernel has to look where it ends
GZIP, BZIP2, XZ, ZSTANDARD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"
PARQUET, ARROW = b"PAR1", b"ARROW1\0\0"
"""How files begin that are no text."""


def regular_file_size(path: Path) -> int:
    """Return the size of a file in bytes.

    Raises
    ------
    FileAccessError
        If there is no such file, or it is not one that can be read to its end.
    """
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise refusal(path, error) from None
    if stat.S_ISDIR(status.st_mode):
        raise FileAccessError(path, tr("found a folder, expected a file."))
    if not stat.S_ISREG(status.st_mode):
        raise FileAccessError(path, tr("found a device or a pipe, expected a regular file."))
    return status.st_size


def padded(path: Path, size: int) -> Bytes:
    """Return room for so many bytes, with newlines behind them.

    Raises
    ------
    FileAccessError
        If there is less memory.
    """
    try:
        if size > memory.available():
            raise MemoryError
        content = np.empty(size + PADDING, dtype=np.uint8)
    except MemoryError:
        free = memory.size(memory.available())
        raise FileAccessError(
            path,
            tr("the file ({size} bytes) does not fit into memory ({free} free).").format(
                size=size, free=free
            ),
        ) from None
    content[size:] = ord("\n")
    return content


def children(folder: Path) -> list[Path]:
    """Return what is in a folder, by name; FileAccessError where it cannot be looked into."""
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise FileAccessError(
            folder, tr("the folder could not be read: {strerror}.").format(strerror=error.strerror)
        ) from None


def refusal(path: Path, error: OSError | ValueError) -> FileAccessError:
    """Put an error of the operating system into words."""
    if isinstance(error, FileNotFoundError):
        return FileAccessError(path, tr("file not found."))
    if isinstance(error, PermissionError):
        return FileAccessError(path, tr("permission denied."))
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return FileAccessError(path, tr("the file could not be read: {reason}.").format(reason=reason))
