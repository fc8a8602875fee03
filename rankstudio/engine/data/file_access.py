"""Access to data files for all readers: sizes, buffers, first bytes, and decompression."""

from __future__ import annotations

import bz2
import lzma
import stat
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Bytes
from rankstudio.engine.errors import (
    FileAccessError,
    MissingExtraError,
    did_you_mean,
    nearest,
    one_line,
)
from rankstudio.engine.language import tr
from rankstudio.engine.support import memory

PADDING = 64  # newlines behind the text, so that no kernel has to look where it ends
GZIP = b"\x1f\x8b"
BZIP2 = b"BZh"
XZ = b"\xfd7zXZ\0"
ZSTANDARD = b"\x28\xb5\x2f\xfd"
PARQUET = b"PAR1"
ARROW = b"ARROW1\0\0"
"""First bytes of files that are not text."""

HEAD = 1 << 16
"""Number of bytes of a text by which its format is recognised."""


def regular_file_size(path: Path) -> int:
    """Return the size of a file in bytes.

    Raises
    ------
    FileAccessError
        If the file does not exist, cannot be accessed, or is not a
        regular file.
    """
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise refusal(path, error) from None
    if stat.S_ISDIR(status.st_mode):
        raise FileAccessError(path, tr("found a folder, expected a file."))
    if not stat.S_ISREG(status.st_mode):
        raise FileAccessError(
            path, tr("found a device or a pipe, expected a regular file.")
        )
    return status.st_size


def padded(path: Path, size: int) -> Bytes:
    """Return a buffer for the ``size`` bytes of a file, followed by newlines.

    The newlines let a parser read words of eight bytes beyond the end.
    The first ``size`` bytes are not yet set; ``path`` is for messages.

    Raises
    ------
    FileAccessError
        If there is not enough memory.
    """
    # Too little memory is the same error as NumPy's.
    try:
        if size > memory.available():
            raise MemoryError
        content = np.empty(size + PADDING, dtype=np.uint8)
    except MemoryError:
        free = memory.size(memory.available())
        raise FileAccessError(
            path,
            tr(
                "the file ({size} bytes) does not fit into memory ({free} free)."
            ).format(size=size, free=free),
        ) from None
    content[size:] = ord("\n")
    return content


def children(folder: Path) -> list[Path]:
    """Return the files and folders in a folder, sorted by name.

    Raise FileAccessError if the folder cannot be read.
    """
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise FileAccessError(
            folder,
            tr("the folder could not be read: {strerror}.").format(
                strerror=error.strerror
            ),
        ) from None


def refusal(path: Path, error: OSError | ValueError) -> FileAccessError:
    """Return a FileAccessError with the reason why a file could not be opened.

    ``error`` is the exception of the attempt; a ValueError means an
    invalid path. For a missing file, the message suggests a similar
    name in its folder.
    """
    # Without a similar name, the suggestion is "".
    if isinstance(error, FileNotFoundError):
        return FileAccessError(
            path,
            f"{tr('file not found.')} {did_you_mean(_most_similar_name(path))}".rstrip(),
        )
    if isinstance(error, PermissionError):
        return FileAccessError(path, tr("permission denied."))
    reason = (
        error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    )
    return FileAccessError(
        path, tr("the file could not be read: {reason}.").format(reason=reason)
    )


def _most_similar_name(path: Path) -> str:
    """Return the name in the folder of a path that is most similar to the path's own name.

    Return "" if no name is similar, or the folder cannot be read.
    """
    try:
        names = [entry.name for entry in islice(path.parent.iterdir(), _MAX_SIBLINGS)]
    except OSError:
        return ""
    return one_line(nearest(path.name, names, _MIN_SIMILARITY))


ENDINGS = (".gz", ".bz2", ".xz", ".zst")
"""Endings of the names of compressed files."""

_MIN_SIMILARITY = 0.75  # of the letters of two names of files
_MAX_SIBLINGS = 1_000
_PIECE_BYTES = 1 << 20  # 1 MiB: largest decompressed piece, whatever size a file claims
# compressed bytes for Zstandard at a time: its output has no limit
_PACKED_PIECE_BYTES = 1 << 10
_MAX_XZ_BYTES = 1 << 30  # memory limit of the decompressor of xz


def without_ending(name: str) -> str:
    """Return a file name without the extension of its compression.

    Examples
    --------
    >>> without_ending("train.txt.zst"), without_ending("train.txt")
    ('train.txt', 'train.txt')
    """
    ending = next((e for e in ENDINGS if name.lower().endswith(e)), "")
    return name[: len(name) - len(ending)]


def packed_pieces(path: Path, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes to write to a file, compressed as the ending of its name says.

    ``pieces`` are the contents, in order. The compressed bytes do not
    depend on the time of writing. The file itself is not opened.

    Raises
    ------
    MissingExtraError
        If the library of Zstandard is not installed.
    """
    packer: Any
    match path.suffix.lower():
        case ".gz":  # wbits=31 gives a gzip header without a time
            packer = zlib.compressobj(level=9, wbits=31)
        case ".bz2":
            packer = bz2.BZ2Compressor()
        case ".xz":
            packer = lzma.LZMACompressor()
        case ".zst":
            packer = (
                _zstandard(path)
                .ZstdCompressor(level=10, write_checksum=True)
                .compressobj()
            )
        case _:
            yield from pieces
            return
    yield from map(packer.compress, pieces)
    yield packer.flush()


def unpacked_pieces(path: Path, packed: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the decompressed text of a file, or its contents if it is not compressed.

    Parameters
    ----------
    path : Path
        Path of the file, for messages.
    packed : iterator of bytes
        Contents of the file; the first piece must be long enough to
        recognise the compression.

    Raises
    ------
    FileAccessError
        If the compressed file is damaged or truncated.
    MissingExtraError
        If the library of Zstandard is not installed.
    """
    packed_piece = next(packed, b"")
    compression = _compression_of(packed_piece)
    # A file that is not compressed is passed on as it is.
    if compression is None:
        yield packed_piece
        yield from packed
        return
    kind, make = compression
    member: _Member | None = None
    while True:
        # A file may have several members, that is, compressed texts one
        # after another, with zero bytes between them, as on tapes.
        if member is None:
            packed_piece = packed_piece.lstrip(b"\0")
            member = make(path) if packed_piece else None
        if member is not None:
            yield from _unpacked_rest(path, kind, member, packed_piece)
            # The bytes behind the end of a member belong to the next
            # one; use them before the next piece.
            if member.eof:
                packed_piece = packed_piece[len(packed_piece) - member.unused :]
                member = None
                continue
        next_piece = next(packed, None)
        if next_piece is None:
            break
        packed_piece = next_piece
    if member is not None:
        raise FileAccessError(
            path,
            tr(
                "the compressed file is truncated; expected a complete {kind} file."
            ).format(kind=kind),
        )


def is_packed(begin: bytes) -> bool:
    """Return whether a file with this beginning is compressed."""
    return _compression_of(begin) is not None


def _compression_of(begin: bytes) -> tuple[str, Callable[[Path], _Member]] | None:
    """Return (kind of compression, decompressor) of a file by its beginning.

    ``begin`` has the first bytes. Return None if the file is not compressed.
    """
    return next(
        ((kind, make) for magic, kind, make in _KINDS if begin.startswith(magic)), None
    )


def _unpacked_rest(
    path: Path, kind: str, member: _Member, packed_piece: bytes
) -> Iterator[bytes]:
    """Yield the decompressed pieces of the next packed bytes of a file.

    ``member`` is the decompressor of the file, ``kind`` the name of the
    compression for messages. Raise FileAccessError if the bytes are
    damaged.
    """
    pieces = member.pieces(packed_piece)
    while True:
        try:
            piece = next(pieces)
        except StopIteration:
            return
        except Exception as error:
            # The error of Zstandard is compared by name, as its library may be missing.
            if not isinstance(
                error, zlib.error | lzma.LZMAError | OSError | ValueError | EOFError
            ) and (type(error).__name__ != "ZstdError"):
                raise
            raise FileAccessError(
                path,
                tr(
                    "the compressed file is damaged; expected a complete {kind} file."
                ).format(kind=kind),
            ) from None
        yield piece


def read_beginning(path: Path, max_bytes: int = _PIECE_BYTES) -> bytes:
    """Return the first bytes of a file, decompressed if necessary.

    Only ``max_bytes`` bytes are read. For a compressed file, the result
    is their decompressed contents, cut to as many bytes.

    Raises
    ------
    FileAccessError
        If the file cannot be read.
    MissingExtraError
        If the library of Zstandard is not installed.
    """
    # Called for its errors only: opening a pipe could wait forever.
    regular_file_size(path)
    try:
        with path.open("rb") as file:
            content = file.read(max_bytes)
    except OSError as error:
        raise refusal(path, error) from None
    text = b""
    # What was read may end within the compressed text. A damaged file
    # is reported by its reader.
    with suppress(FileAccessError):
        for piece in unpacked_pieces(path, iter((content,))):
            text += piece
            if len(text) >= max_bytes:
                break
    return text[:max_bytes]


class _Member(ABC):
    """Decompressor of a member of a compressed file, one of the packed texts in the file.

    Parameters
    ----------
    member : object
        Decompressor of the compression's library.
    """

    def __init__(self, member: Any) -> None:
        self._member = member

    @abstractmethod
    def pieces(self, packed: bytes) -> Iterator[bytes]:
        """Yield the decompressed pieces of more packed bytes, each of a bounded size."""

    @property
    def eof(self) -> bool:
        """Whether the end of the member was reached."""
        return bool(self._member.eof)

    @property
    def unused(self) -> int:
        """Number of the last packed bytes that follow the member."""
        return len(self._member.unused_data)


class _Gzip(_Member):
    """A member of gzip, whose library itself limits the size of a piece."""

    def pieces(self, packed: bytes) -> Iterator[bytes]:
        # At the end of the member, zlib still has the unconsumed tail
        # of an earlier call: eof stops the loop.
        while packed and not self._member.eof:
            yield self._member.decompress(packed, _PIECE_BYTES)
            packed = self._member.unconsumed_tail


class _Bounded(_Member):
    """A member of bzip2 or xz, whose libraries have the same interface."""

    def pieces(self, packed: bytes) -> Iterator[bytes]:
        yield self._member.decompress(packed, _PIECE_BYTES)
        while not self._member.eof and not self._member.needs_input:
            yield self._member.decompress(b"", _PIECE_BYTES)


class _Zstandard(_Member):
    """A member of Zstandard, whose library cannot limit the size of a piece: it gets few bytes at a time."""

    _n_skipped = 0  # bytes of the last call that the library did not get

    def pieces(self, packed: bytes) -> Iterator[bytes]:
        for begin in range(0, len(packed), _PACKED_PIECE_BYTES):
            if self._member.eof:
                break
            yield self._member.decompress(packed[begin : begin + _PACKED_PIECE_BYTES])
            self._n_skipped = max(len(packed) - begin - _PACKED_PIECE_BYTES, 0)

    @property
    def unused(self) -> int:
        return self._n_skipped + super().unused


def _zstandard(path: Path) -> Any:
    """Import and return the library of Zstandard, which only files in this compression need.

    ``path`` is such a file, for the message. Raise MissingExtraError if
    the library is not installed.
    """
    try:
        import zstandard  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError(path.name, "zstandard", "zstd") from None
    return zstandard


_KINDS: tuple[tuple[bytes, str, Callable[[Path], _Member]], ...] = (
    (GZIP, "gzip", lambda _path: _Gzip(zlib.decompressobj(wbits=31))),
    (BZIP2, "bzip2", lambda _path: _Bounded(bz2.BZ2Decompressor())),
    (XZ, "xz", lambda _path: _Bounded(lzma.LZMADecompressor(memlimit=_MAX_XZ_BYTES))),
    (
        ZSTANDARD,
        "Zstandard",
        lambda path: _Zstandard(_zstandard(path).ZstdDecompressor().decompressobj()),
    ),
)
