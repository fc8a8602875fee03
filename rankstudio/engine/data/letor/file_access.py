"""The bytes of a data file, and their checksum."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import numpy as np

from rankstudio.engine.arrays import Bytes
from rankstudio.engine.data.letor.progress import ReadProgress
from rankstudio.engine.errors import FileAccessError
from rankstudio.engine.language import tr
from rankstudio.engine.support import memory

PADDING = 64  # newlines behind the text, so that no kernel has to look where it ends
_PIECE = 1 << 20
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


def read_file(path: Path, progress: ReadProgress) -> Bytes:
    """Read a whole file into memory.

    The file is copied rather than mapped: a mapped file that another program cuts short would end this one.

    Parameters
    ----------
    path : Path
        The file.
    progress : ReadProgress
        Told of half of the file's bytes; parsing them is the other half.

    Returns
    -------
    uint8 array of shape (size + PADDING,)
        The contents, and newlines behind them; of what has a zero byte in its beginning, and is no text, only
        that.

    Raises
    ------
    FileAccessError
        If the file cannot be read, or changes its size meanwhile.
    """
    size = regular_file_size(path)
    content = padded(path, size)
    view = content.data
    done = 0
    try:
        with path.open("rb", buffering=0) as file:
            while done < size:
                count = file.readinto(view[done : min(done + _PIECE, size)])
                if not count:
                    break
                if not done and _is_binary(view[:count]):
                    return _beginning(path, content, count)
                done += count
                progress.advance(count / 2)
            same = done == size == os.fstat(file.fileno()).st_size
    except OSError as error:
        raise refusal(path, error) from None
    if not same:
        raise FileAccessError(path, tr("the file changed its size while it was read; please try again."))
    return content


def _is_binary(begin: memoryview) -> bool:
    known = (GZIP, BZIP2, XZ, ZSTANDARD, PARQUET, ARROW)
    content = begin.tobytes()
    return not content.startswith(known) and b"\0" in content


def _beginning(path: Path, content: Bytes, size: int) -> Bytes:
    begin = padded(path, size)
    begin[:size] = content[:size]
    return begin


def checksum(content: Bytes, progress: ReadProgress) -> str:
    """Return ``sha256:…`` of what `read_file` returned, without the padding.

    SHA-256 because it is what ``sha256sum`` prints, and because today's processors have instructions for it:
    at nearly 2 GB/s it is twice as fast as BLAKE2. May run in another thread; ends early where the work was
    stopped. O(size).
    """
    digest = hashlib.sha256()
    size = len(content) - PADDING
    for begin in range(0, size, _PIECE):
        if progress.stopped:
            break
        digest.update(content.data[begin : min(begin + _PIECE, size)])
    return f"sha256:{digest.hexdigest()}"


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
            tr("the file, of {size} bytes, does not fit into memory, of which {free} are free.").format(
                size=size, free=free
            ),
        ) from None
    content[size:] = ord("\n")
    return content


def refusal(path: Path, error: OSError | ValueError) -> FileAccessError:
    """Put an error of the operating system into words."""
    if isinstance(error, FileNotFoundError):
        return FileAccessError(path, tr("there is no such file."))
    if isinstance(error, PermissionError):
        return FileAccessError(path, tr("there is no permission to read this file."))
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return FileAccessError(path, tr("the file could not be read: {reason}.").format(reason=reason))
