"""The bytes of a data file, decompressed where need be, and their checksum."""

from __future__ import annotations

import hashlib
import os
import stat
import zlib
from pathlib import Path

import numpy as np

from rankstudio.engine.arrays import Bytes
from rankstudio.engine.data.letor.progress import ReadProgress
from rankstudio.engine.errors import FileAccessError
from rankstudio.engine.language import tr
from rankstudio.engine.support import memory

PADDING = 64  # newlines behind the text, so that no kernel has to look where it ends
_PIECE = 1 << 20
_GZIP = b"\x1f\x8b"


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
        raise _refusal(path, error) from None
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
    content = _padded(path, size)
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
        raise _refusal(path, error) from None
    if not same:
        raise FileAccessError(path, tr("the file changed its size while it was read; please try again."))
    return content


def _is_binary(begin: memoryview) -> bool:
    return begin[: len(_GZIP)] != _GZIP and b"\0" in begin.tobytes()


def _beginning(path: Path, content: Bytes, size: int) -> Bytes:
    begin = _padded(path, size)
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


def decompress(path: Path, content: Bytes, progress: ReadProgress) -> Bytes:
    """Return the text in what `read_file` returned: the same array, or what gzip had packed.

    A text ends at the first piece with a zero byte, which is no text: there is nothing to be read behind it.

    Raises
    ------
    FileAccessError
        If the compressed file is damaged or cut short, or holds more than fits into memory.
    """
    if content[: len(_GZIP)].tobytes() != _GZIP:
        return content
    # The pieces and the text that is made of them are there at the same time.
    pieces = _Pieces(path, memory.available() / 2)
    size = len(content) - PADDING
    position = 0
    try:
        while position < size and not pieces.binary:  # there may be several members
            position = _unpack_member(path, content[:size], position, pieces, progress)
            position = _skip_zeros(content[:size], position)
        text = _padded(path, pieces.size)
    except zlib.error:
        raise FileAccessError(
            path, tr("the compressed file is damaged; expected a complete gzip file.")
        ) from None
    except MemoryError:
        raise FileAccessError(path, "what is in the compressed file does not fit into memory.") from None
    done = 0
    for piece in pieces.taken:
        text[done : done + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
        done += len(piece)
    return text


class _Pieces:
    """The text that has been unpacked, of which no more is taken than fits."""

    def __init__(self, path: Path, most: float) -> None:
        self._path = path
        self._most = most
        self.taken: list[bytes] = []
        self.size = 0
        self.binary = False

    def append(self, piece: bytes) -> None:
        """Take a piece, unless it is one too many."""
        self.size += len(piece)
        if self.size > self._most:
            raise FileAccessError(
                self._path,
                f"the text in the compressed file has more than {memory.size(self._most)}, and does not fit "
                f"into memory, of which {memory.size(2 * self._most)} are free.",
            )
        self.taken.append(piece)
        self.binary = b"\0" in piece


def _unpack_member(path: Path, packed: Bytes, position: int, pieces: _Pieces, progress: ReadProgress) -> int:
    """Append what the gzip member at a position holds to ``pieces``; return the position behind it."""
    member = zlib.decompressobj(wbits=31)
    waiting = b""
    while not member.eof and not pieces.binary:
        progress.check()
        if not waiting:
            waiting = packed[position : position + _PIECE].tobytes()
            position += len(waiting)
            if not waiting:
                raise FileAccessError(
                    path, tr("the compressed file is cut short; expected a complete gzip file.")
                )
        pieces.append(member.decompress(waiting, _PIECE))
        waiting = member.unconsumed_tail
    return position - len(member.unused_data)


def _skip_zeros(packed: Bytes, position: int) -> int:
    """Return the position of the next byte that is not 0: zeros fill up tapes."""
    while position < len(packed) and packed[position] == 0:
        filled = packed[position : position + _PIECE] != 0
        position += int(filled.argmax()) if filled.any() else len(filled)
    return position


def _padded(path: Path, size: int) -> Bytes:
    try:
        if size > memory.available():
            raise MemoryError
        content = np.empty(size + PADDING, dtype=np.uint8)
    except MemoryError:
        free = memory.size(memory.available())
        raise FileAccessError(
            path, f"the file, of {size} bytes, does not fit into memory, of which {free} are free."
        ) from None
    content[size:] = ord("\n")
    return content


def _refusal(path: Path, error: OSError | ValueError) -> FileAccessError:
    """Put an error of the operating system into words."""
    if isinstance(error, FileNotFoundError):
        return FileAccessError(path, tr("there is no such file."))
    if isinstance(error, PermissionError):
        return FileAccessError(path, tr("there is no permission to read this file."))
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return FileAccessError(path, tr("the file could not be read: {reason}.").format(reason=reason))
