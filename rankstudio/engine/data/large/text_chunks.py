"""The text of a file some whole lines at a time, unpacked where it is packed."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from rankstudio.engine.arrays import Bytes
from rankstudio.engine.data.letor.compression import unpacked_pieces
from rankstudio.engine.data.letor.file_access import PADDING, refusal, regular_file_size
from rankstudio.engine.data.letor.progress import ReadProgress
from rankstudio.engine.errors import FileAccessError
from rankstudio.engine.language import tr

CHUNK = 1 << 25  # bytes of text
_PIECE = 1 << 20
_NEWLINE = ord("\n")


class PackedFile:
    """The bytes of a file as they stand there, piece by piece, with their checksum.

    Parameters
    ----------
    path : Path
    progress : ReadProgress
        Told of the bytes as they are read.
    pool : Executor
        One thread of it computes the checksum.
    """

    def __init__(self, path: Path, progress: ReadProgress, pool: Executor) -> None:
        self.path = path
        self.size = regular_file_size(path)
        self.done = 0
        self._progress = progress
        self._pool = pool
        self._digest = hashlib.sha256()
        self._pending: Future[None] | None = None

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes.

        Raises
        ------
        FileAccessError
            Where they cannot be read, or the file changes its size meanwhile.
        """
        try:
            with self.path.open("rb", buffering=0) as file:
                while piece := file.read(_PIECE):
                    self._update(piece)
                    self.done += len(piece)
                    self._progress.advance(len(piece))
                    yield piece
                same = self.done == self.size == os.fstat(file.fileno()).st_size
        except OSError as error:
            raise refusal(self.path, error) from None
        if not same:
            raise FileAccessError(
                self.path, tr("the file changed its size while it was read; please try again.")
            )

    def checksum(self) -> str:
        """Return ``sha256:…`` of the bytes that were read: of all of them, once they were."""
        self._wait()
        return f"sha256:{self._digest.hexdigest()}"

    def _update(self, piece: bytes) -> None:
        """Have the checksum go on with a piece, while others are read and parsed."""
        self._wait()
        self._pending = self._pool.submit(self._digest.update, piece)

    def _wait(self) -> None:
        if self._pending is not None:
            self._pending.result()


def text_chunks(packed: PackedFile, size: int = CHUNK) -> Iterator[Bytes]:
    """Yield the text of a file as arrays with `PADDING` newlines behind it, each of whole lines.

    A chunk is overwritten by the next one. It is larger than asked for where a line is.

    Parameters
    ----------
    packed : PackedFile
        Read to its end, even if the text ends before that.
    size : int
        Bytes of a chunk, about.

    Raises
    ------
    FileAccessError, MissingExtraError
        Where the file cannot be read or unpacked.
    """
    buffer = np.empty(size + _PIECE + PADDING, dtype=np.uint8)
    filled = 0
    for piece in unpacked_pieces(packed.path, packed.pieces()):
        if filled + len(piece) + PADDING > len(buffer):
            larger = np.empty(2 * (filled + len(piece)) + PADDING, dtype=np.uint8)
            larger[:filled] = buffer[:filled]
            buffer = larger
        buffer[filled : filled + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
        filled += len(piece)
        if filled < size:
            continue
        last = piece.rfind(b"\n")
        if last < 0:
            continue
        end = filled - len(piece) + last + 1
        rest = buffer[end:filled].copy()
        buffer[end : end + PADDING] = _NEWLINE
        yield buffer[: end + PADDING]
        buffer[: len(rest)] = rest
        filled = len(rest)
    buffer[filled : filled + PADDING] = _NEWLINE
    if filled:
        yield buffer[: filled + PADDING]


def unpacked_stream(packed: PackedFile) -> IO[bytes]:
    """Return the text of a file as one that can be read, unpacked where it is packed."""
    return cast(
        "IO[bytes]", io.BufferedReader(_Pieces(unpacked_pieces(packed.path, packed.pieces())), _PIECE)
    )


class _Pieces(io.RawIOBase):
    """Pieces of bytes as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        n = min(len(room), len(self._rest))
        room[:n] = self._rest[:n]
        self._rest = self._rest[n:]
        return n
