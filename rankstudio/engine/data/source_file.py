"""The bytes of a data file, read at once or piece by piece, and the text and the lines in them."""

from __future__ import annotations

import hashlib
import io
import math
import os
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from rankstudio.engine.arrays import Bytes
from rankstudio.engine.data.file_access import (
    ARROW,
    PADDING,
    PARQUET,
    is_packed,
    padded,
    refusal,
    regular_file_size,
    unpacked_pieces,
)
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.errors import FileAccessError, FormatError
from rankstudio.engine.language import tr
from rankstudio.engine.support import memory

CHUNK = 1 << 25  # bytes of text
_PIECE_BYTES = 1 << 20  # 1 MiB: cancellation is checked between two pieces
_NEWLINE = ord("\n")
_HEAD_BYTES = 16  # first bytes of a file, which identify its compression


class LoadedFile:
    """A data file that is read into memory.

    The file is copied rather than mapped: truncation of a mapped file
    by another program would end this one.

    Parameters
    ----------
    path : Path
        The file.
    content : uint8 array
        Bytes of the file, followed by `PADDING` newlines.
    progress : ReadProgress
        Receives half of the bytes as they are processed; the other half
        was received as they were read.

    Attributes
    ----------
    size, done : int
        Number of bytes of the file, and of bytes processed so far.
    """

    def __init__(self, path: Path, content: Bytes, progress: ReadProgress) -> None:
        self.path = path
        self.content = content
        self.size = len(content) - PADDING
        self.done = 0
        self._progress = progress

    @classmethod
    def read(cls, path: Path, progress: ReadProgress) -> LoadedFile:
        """Read a whole file into memory, followed by newlines.

        A binary file, with a zero byte near its start, will be refused:
        only its beginning is read.

        Raises
        ------
        FileAccessError
            If the file cannot be read, or changes its size during reading.
        """
        size = regular_file_size(path)
        content = padded(path, size)
        view = content.data
        n_read = 0
        try:
            with path.open("rb", buffering=0) as file:
                while n_read < size:
                    count = file.readinto(
                        view[n_read : min(n_read + _PIECE_BYTES, size)]
                    )
                    if not count:
                        break
                    # The beginning of a binary file is enough to refuse it.
                    if not n_read and _is_binary(view[:count]):
                        begin = padded(path, count)
                        begin[:count] = content[:count]
                        return cls(path, begin, progress)
                    # Reading is half of the progress, and parsing the other half.
                    n_read += count
                    progress.advance(count / 2)
                # The file must not have changed while it was read.
                is_unchanged = n_read == size == os.fstat(file.fileno()).st_size
        except OSError as error:
            raise refusal(path, error) from None
        if not is_unchanged:
            raise _size_changed_error(path)
        return cls(path, content, progress)

    @property
    def packed(self) -> Bytes:
        """Bytes in the order of the file, without padding."""
        return self.content[: self.size]

    @property
    def whole(self) -> Bytes | None:
        """Complete text, unless the file is compressed."""
        return None if is_packed(self.content[:_HEAD_BYTES].tobytes()) else self.content

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes piece by piece."""
        for offset in range(0, self.size, _PIECE_BYTES):
            piece = self.packed[offset : offset + _PIECE_BYTES].tobytes()
            self.done += len(piece)
            self._progress.advance(len(piece) / 2)
            yield piece

    def end(self) -> None:
        """Report that the whole file was read."""
        self._progress.advance((self.size - self.done) / 2)
        self.done = self.size

    def checksum(self) -> str:
        """Return ``sha256:…`` of the bytes of the file.

        The method may run in another thread. After cancellation it ends
        early, with a result of no use.

        SHA-256 is what ``sha256sum`` prints, and processors support it
        in hardware: at nearly 2 GB/s it is twice as fast as BLAKE2.
        O(size).
        """
        digest = hashlib.sha256()
        for begin in range(0, self.size, _PIECE_BYTES):
            if self._progress.stopped:
                break
            digest.update(
                self.content.data[begin : min(begin + _PIECE_BYTES, self.size)]
            )
        return f"sha256:{digest.hexdigest()}"


class StreamedFile:
    """A data file that is read from disk in pieces, with its checksum.

    Parameters
    ----------
    path : Path
        The file.
    progress : ReadProgress
        Receives the bytes as they are read.
    pool : Executor
        Executor, one thread of which computes the checksum.

    Attributes
    ----------
    size, done : int
        Number of bytes of the file, and of bytes read so far.
    """

    whole = None  # the text is never complete in memory

    def __init__(self, path: Path, progress: ReadProgress, pool: Executor) -> None:
        """Prepare to read; ``pool`` computes the checksum on another thread."""
        self.path = path
        self.size = regular_file_size(path)
        self.done = 0
        self._progress = progress
        self._pool = pool
        self._digest = hashlib.sha256()
        self._pending: Future[None] | None = None

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes of the file piece by piece, each after it was added to the checksum.

        Progress is reported for each piece.

        Raises
        ------
        FileAccessError
            If the file cannot be read, or changes its size during reading.
        """
        try:
            with self.path.open("rb", buffering=0) as file:
                while piece := file.read(_PIECE_BYTES):
                    self._update(piece)
                    self.done += len(piece)
                    self._progress.advance(len(piece))
                    yield piece
                is_unchanged = self.done == self.size == os.fstat(file.fileno()).st_size
        except OSError as error:
            raise refusal(self.path, error) from None
        if not is_unchanged:
            raise _size_changed_error(self.path)

    def end(self) -> None:
        """Read the whole file for its checksum only."""
        for _ in self.pieces():
            pass

    def checksum(self) -> str:
        """Return ``sha256:…`` of the bytes read so far."""
        self._wait()
        return f"sha256:{self._digest.hexdigest()}"

    def _update(self, piece: bytes) -> None:
        """Add a piece to the checksum in another thread, while the next piece is read and parsed."""
        self._wait()
        self._pending = self._pool.submit(self._digest.update, piece)

    def _wait(self) -> None:
        if self._pending is not None:
            self._pending.result()


SourceFile = LoadedFile | StreamedFile
"""A data file that is read once, from its beginning to its end."""


def text_chunks(file: SourceFile, size: float = CHUNK) -> Iterator[Bytes]:
    """Yield the text of a file as arrays of complete lines, each followed by `PADDING` newlines.

    A file in memory is a single chunk. For other files, each chunk
    overwrites the previous one, and is larger than requested if a line
    is longer. The text ends after the first piece with a zero byte:
    such a file is not text.

    Parameters
    ----------
    file : SourceFile
        A file in memory, or one that is read from disk.
    size : float
        Approximate size of a chunk in bytes.

    Raises
    ------
    FileAccessError, MissingExtraError
        If the file cannot be read or decompressed, or a line does not
        fit into memory.
    """
    # A file that is in memory is a single chunk.
    if file.whole is not None:  # the text in memory, padded already
        file.done = file.size
        if file.size:
            yield file.whole
        return
    # Half of the free memory: the documents read from the text take
    # about as much again.
    limit = memory.available() / 2
    # An infinite size asks for a single chunk.
    size = min(size, limit / 2) if np.isfinite(size) else limit
    buffer = np.empty(2 * _PIECE_BYTES + PADDING, dtype=np.uint8)
    filled = 0
    for piece in unpacked_pieces(file.path, file.pieces()):
        # Double the buffer if the piece does not fit.
        if filled + len(piece) + PADDING > len(buffer):
            if filled + len(piece) > limit:
                raise _too_long_error(file.path, limit)
            larger = np.empty(2 * (filled + len(piece)) + PADDING, dtype=np.uint8)
            larger[:filled] = buffer[:filled]
            buffer = larger
        buffer[filled : filled + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
        filled += len(piece)
        # The text before a zero byte is enough to report it.
        if b"\0" in piece:
            break
        # Yield the complete lines, once there are enough of them.
        last = piece.rfind(b"\n")
        if filled < size or last < 0:
            continue
        end = filled - len(piece) + last + 1  # behind the last complete line
        # The rest behind the complete lines begins the next chunk. Copy
        # it, as the newlines behind this chunk overwrite it.
        rest = buffer[end:filled].copy()
        buffer[end : end + PADDING] = _NEWLINE
        yield buffer[: end + PADDING]
        buffer[: len(rest)] = rest
        filled = len(rest)
    buffer[filled : filled + PADDING] = _NEWLINE
    if filled:
        yield buffer[: filled + PADDING]


def whole_text(file: SourceFile) -> Bytes:
    """Return the whole text of a file without padding, as uint8 of shape (bytes,).

    Raise FileAccessError or MissingExtraError if the file cannot be
    read or decompressed.
    """
    text = next(text_chunks(file, float("inf")), None)
    return np.zeros(0, dtype=np.uint8) if text is None else text[:-PADDING]


def unpacked_stream(file: SourceFile) -> IO[bytes]:
    """Return the text of a file as a binary stream, decompressed if necessary.

    The file is read piece by piece, as the stream is read.
    """
    return cast(
        "IO[bytes]",
        io.BufferedReader(
            _Pieces(unpacked_pieces(file.path, file.pieces())), _PIECE_BYTES
        ),
    )


class _Pieces(io.RawIOBase):
    """A readable file of bytes that come in pieces."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Copy the next bytes into a buffer; return their number, 0 at the end."""
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        n = min(len(buffer), len(self._rest))
        buffer[:n] = self._rest[:n]
        self._rest = self._rest[n:]
        return n


def _is_binary(begin: memoryview) -> bool:
    """Return whether the first bytes of a file show that it has an unknown binary format.

    Compressed, Parquet and Arrow files are binary, too, but known.
    """
    content = begin.tobytes()
    return (
        not is_packed(content)
        and not content.startswith((PARQUET, ARROW))
        and b"\0" in content
    )


def _size_changed_error(path: Path) -> FileAccessError:
    """Return the error of a file that changes while it is read."""
    return FileAccessError(
        path, tr("the size of the file changed during reading. Try again.")
    )


def _too_long_error(path: Path, limit: float) -> FileAccessError:
    """Return the error for a text of more than ``limit`` bytes.

    The limit is half of the free memory.
    """
    return FileAccessError(
        path,
        tr(
            "the decompressed text exceeds {size} and does not fit into memory ({size_2} free)."
        ).format(size=memory.size(limit), size_2=memory.size(2 * limit)),
    )


_MAX_EXCERPT_LENGTH = 40


@dataclass(frozen=True)
class TextLines:
    """The lines of a text file, which may be compressed.

    Attributes
    ----------
    path : Path
        The file.
    lines : tuple of str
        Lines without empty ones at the end.
    checksum : str
        SHA-256 of the file's bytes.
    size : int
        Size of the file in bytes.
    """

    path: Path
    lines: tuple[str, ...]
    checksum: str
    size: int

    def words(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the words of each nonempty line, with its number from 1."""
        for number, line in enumerate(self.lines, start=1):
            if words := line.split():
                yield number, words

    def error(self, line: int, actual: str, expected: str) -> FormatError:
        """Return the error of a line, numbered from 1."""
        return line_error(self.path, line, actual, expected)


@dataclass(frozen=True, eq=False)
class TextFile:
    """The contents of a text file, which may be compressed.

    Attributes
    ----------
    path : Path
        The file.
    content : uint8 array
        Bytes of the text.
    checksum : str
        SHA-256 of the file's bytes.
    size : int
        Size of the file in bytes.
    """

    path: Path
    content: Bytes
    checksum: str
    size: int

    def in_lines(self) -> TextLines:
        """Return its lines."""
        text = self.content.tobytes().decode("utf-8-sig", errors="replace").rstrip()
        lines = text.splitlines() if "\r" in text else text.split("\n")
        return TextLines(
            self.path, tuple(lines) if text else (), self.checksum, self.size
        )


def read_text(path: Path) -> TextFile:
    """Read the contents of a text file, which may be compressed.

    Raises
    ------
    FileAccessError
        If the file cannot be read.
    """
    file = LoadedFile.read(path, ReadProgress())
    checksum = hashlib.sha256(file.packed.data).hexdigest()
    return TextFile(path, whole_text(file), checksum, file.size)


def read_lines(path: Path) -> TextLines:
    """Read the lines of a text file, which may be compressed.

    Raises
    ------
    FileAccessError
        If the file cannot be read.
    """
    return read_text(path).in_lines()


def streamed_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file, which may be compressed, without their ends; never all at once.

    Raises
    ------
    FileAccessError
        If the file cannot be read.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="checksum") as pool:
        stream = unpacked_stream(StreamedFile(path, ReadProgress(), pool))
        for line in io.TextIOWrapper(stream, "utf-8-sig", errors="replace"):
            yield line.rstrip("\n")


def checksum_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, which are read a piece at a time."""
    with ThreadPoolExecutor(1, thread_name_prefix="checksum") as pool:
        file = StreamedFile(path, ReadProgress(), pool)
        file.end()
        return file.checksum().partition(":")[2]


def derived_checksum(checksum: str, reading: str) -> str:
    """Return the checksum of some bytes together with a text on how they are read.

    The text is ``reading``; if it is "", return ``checksum`` itself.

    Examples
    --------
    >>> derived_checksum("sha256:00", "")
    'sha256:00'
    """
    return (
        f"sha256:{hashlib.sha256(f'{checksum} {reading}'.encode()).hexdigest()}"
        if reading
        else checksum
    )


def utf_16_error(path: Path) -> FormatError:
    """Return the error of a text that begins with a byte order mark of UTF-16."""
    return FormatError(
        path, 1, 1, tr("text in UTF-16"), tr("UTF-8; save the file in UTF-8")
    )


def line_error(path: Path, line: int, actual: str, expected: str) -> FormatError:
    """Return the error of a line of a file, numbered from 1."""
    return FormatError(path, line, 0, quoted(actual), expected)


def number(word: str) -> float | None:
    """Return the number that a word represents, or None if it represents no number.

    Digits separated by ``_`` are not accepted.
    """
    try:
        value = float(word)
    except ValueError:
        return None
    return None if math.isnan(value) or "_" in word else value


def quoted(text: str) -> str:
    """Return a piece of a file as shown in messages."""
    if not text.strip():
        return "nothing"
    return repr(
        text if len(text) <= _MAX_EXCERPT_LENGTH else text[:_MAX_EXCERPT_LENGTH] + "…"
    )
