"""Parsed files, kept so that opening them again needs no parser.

An entry is found by the SHA-256 of the *contents* of the text file and the version of the parser, never by
name, size or time: those can stay the same while the contents change (a restored backup, a coarse clock, a
network drive), and a result computed from data that are no longer there is worse than the hundredth of a
second per 20 MB that hashing costs. An entry ends with the SHA-256 of its own bytes; one that was cut short,
flipped a bit or comes from another version is ignored and written anew. It holds what the text says, before
any policy for missing values or normalisation, so that one entry serves all of them. Nothing in it is
executed: it is JSON and arrays.

The folder can be deleted at any time. When it grows beyond its limit the entries unused for longest go first.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Bytes
from rankstudio.engine.data.comments import TextComments
from rankstudio.engine.data.letor.parsed_table import Scattered, Table
from rankstudio.engine.data.letor.progress import ReadProgress
from rankstudio.engine.support.files import remove_abandoned

log = logging.getLogger(__name__)

PARSER_VERSION = 6  # to be raised whenever the parser would give another Table for the same text
LIMIT = 4 << 30  # bytes
GROWTH = 64  # an entry has at most as many times the bytes of the file, and a little more
_LITTLE = 1 << 20

_MAGIC = b"RankStudio table\n"
_SUFFIX = ".table"
_DIGEST = 32
_ALIGN = 64
_PIECE = 1 << 22
_NEW = "new-"
_ARRAYS = ("X", "y", "query_ptr", "missing", "file_rows", "parts")
_COMMENTS = ("offsets", "content")


def folder() -> Path:
    """Return the folder of the cache: RANKSTUDIO_CACHE_DIR, or in the user's own cache folder."""
    chosen = os.environ.get("RANKSTUDIO_CACHE_DIR")
    if chosen:
        return Path(chosen) / "tables"
    from platformdirs import user_cache_path  # noqa: PLC0415 - only who opens a file needs it

    return user_cache_path("rankstudio", appauthor=False) / "tables"


def entry_path(checksum: str) -> Path:
    """Return where the entry for a file with this checksum is, or would be."""
    return folder() / f"{checksum.partition(':')[2]}-{PARSER_VERSION}{_SUFFIX}"


def load(checksum: str, progress: ReadProgress) -> Table | None:
    """Return the table of a file with this checksum; None if there is none that verifies.

    It is asked whether to stop, but not told of progress. O(bytes of the entry).
    """
    path = entry_path(checksum)
    try:
        table = _unpack(_read(path, progress), checksum)
        os.utime(path)  # used just now
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, MemoryError) as error:
        log.debug("cache entry %s is of no use: %s", path, error)
        return None
    return table


def store(checksum: str, table: Table, progress: ReadProgress, file_size: int) -> None:
    """Keep the table of a file with this checksum. Where that fails, nothing but a debug log says so.

    A table much larger than its file is not kept: a few lines that name feature 1,000,000 are soon parsed.
    """
    path = entry_path(checksum)
    try:
        parts = _pack(table, checksum)
        size = sum(len(part) for part in parts) + _DIGEST
        if size > min(LIMIT, GROWTH * file_size + _LITTLE):
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        prune(LIMIT - size)
        _write(path, parts, progress)
    except OSError as error:
        log.debug("cache entry %s was not written: %s", path, error)


def prune(limit: int) -> None:
    """Remove the entries unused for longest until the others have at most ``limit`` bytes."""
    remove_abandoned(folder(), f"{_NEW}*")
    entries = []
    for path in folder().iterdir():
        status = path.lstat()
        entries.append((status.st_mtime, status.st_size, path))
    total = 0
    for _, size, path in sorted(entries, reverse=True):
        total += size
        if total > limit:
            path.unlink(missing_ok=True)


def _read(path: Path, progress: ReadProgress) -> Bytes:
    """Return an entry without its digest, which must fit."""
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        size = max(os.fstat(file.fileno()).st_size - _DIGEST, 0)
        content = np.empty(size, dtype=np.uint8)
        for begin in range(0, size, _PIECE):
            progress.check()
            piece = content.data[begin : min(begin + _PIECE, size)]
            if file.readinto(piece) != len(piece):
                raise ValueError("it became shorter")
            digest.update(piece)
        if file.read() != digest.digest():
            raise ValueError("its digest does not fit")
    return content


def _write(path: Path, parts: list[memoryview], progress: ReadProgress) -> None:
    """Write the parts and their digest under a name of its own, then give the file its name."""
    digest = hashlib.sha256()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=_NEW, suffix=_SUFFIX)
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                for begin in range(0, len(part), _PIECE):
                    progress.check()
                    piece = part[begin : begin + _PIECE]
                    digest.update(piece)
                    file.write(piece)
            file.write(digest.digest())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _pack(table: Table, checksum: str) -> list[memoryview]:
    """Return the bytes of an entry, all but the digest."""
    arrays = [getattr(table, name) for name in _ARRAYS]
    arrays += [getattr(table.comments, name) for name in _COMMENTS]
    header = {
        "checksum": checksum,
        "parser": PARSER_VERSION,
        "shapes": [array.shape for array in arrays],
        "types": [array.dtype.str for array in arrays],
        "query_ids": table.query_ids,
        "feature_names": table.feature_names,
        "left_out": table.left_out,
        "told_by": table.told_by,
        "dense": table.dense,
        "scattered": None if table.scattered is None else asdict(table.scattered),
    }
    text = json.dumps(header).encode()
    start = _MAGIC + len(text).to_bytes(8, "little") + text
    parts = [memoryview(start), memoryview(bytes(-len(start) % _ALIGN))]
    for array in arrays:
        content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        parts += [content.data, memoryview(bytes(-len(content) % _ALIGN))]
    return parts


def _unpack(content: Bytes, checksum: str) -> Table:
    """Return the table of an entry whose digest fits.

    Raises
    ------
    ValueError, KeyError, TypeError
        If it is not an entry of this version for this checksum.
    """
    body = content.data
    if content[: len(_MAGIC)].tobytes() != _MAGIC:
        raise ValueError("it does not begin as an entry does")
    at = len(_MAGIC) + 8
    length = int.from_bytes(body[len(_MAGIC) : at], "little")
    header = json.loads(bytes(body[at : at + length]))
    if header["checksum"] != checksum or header["parser"] != PARSER_VERSION:
        raise ValueError("it belongs to another file or version")
    arrays: list[NDArray[Any]] = []
    at += length
    for kind, shape in zip(header["types"], header["shapes"], strict=True):
        at += -at % _ALIGN
        dtype = np.dtype(kind)
        size = dtype.itemsize * int(np.prod(shape))
        arrays.append(content[at : at + size].view(dtype).reshape(shape))
        at += size
    own, comments = arrays[: len(_ARRAYS)], arrays[len(_ARRAYS) :]
    return Table(
        **dict(zip(_ARRAYS, own, strict=True)),
        query_ids=tuple(header["query_ids"]),
        comments=TextComments(**dict(zip(_COMMENTS, comments, strict=True))),
        feature_names=tuple(header["feature_names"]),
        said=(),
        left_out=tuple(header["left_out"]),
        told_by=tuple(header["told_by"]),
        dense=header["dense"],
        scattered=None if header["scattered"] is None else Scattered(**header["scattered"]),
    )
