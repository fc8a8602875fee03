"""Folders with the arrays of a table, beside the cache of parsed files, each found by what it was read from.

An entry is named after the SHA-256 of the files that it was read from and of the way in which they were read.
Nothing of it is believed unread: each process holds the digest of every array, header included, against its
file when it first opens it, which takes about as long as the disk needs to give the file. Sizes and times
would not do, as a disk or a program that damages a file may leave both. An entry that does not fit is as good
as none. The folder can be deleted at any time; entries unused for longest go first where the disk gets full.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.data.comments import TakenComments, TextComments
from rankstudio.engine.data.large.array_file import ArrayFile, array_of, digest_of, file_of
from rankstudio.engine.data.letor import cache as parsed_files
from rankstudio.engine.data.letor.parsed_table import Scattered, Table
from rankstudio.engine.errors import DatasetError, shown_path
from rankstudio.engine.language import tr
from rankstudio.engine.support import memory
from rankstudio.engine.support.files import remove_abandoned, temporary_folder, write_bytes

VERSION = 2  # to be raised whenever the same files would give other arrays
MANIFEST = "table.json"
"""The file with what is no array, and what is known of the arrays' files."""
_NEW = "new-"
_SPARE = 1 << 28  # bytes of the disk that are left to others
_HALF = 0.5  # of the disk's room, which all entries may take
_HOUR = 3600  # seconds in which an entry is not removed: it may be mapped
_DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError)
ARRAYS = ("X", "y", "query_ptr", "missing", "file_rows", "comments", "comment_offsets")
_DIGESTS: dict[tuple[int, ...], str] = {}
"""Of files that this process has read, by what tells them apart as long as it maps them."""
LINKED_ARRAYS = ("X", "y", "query_ptr")
"""What other processes learn from."""


@dataclass(frozen=True)
class TableText:
    """What of a table is no array.

    Attributes
    ----------
    query_ids, feature_names, left_out, told_by
        As of `Table`.
    dense : bool
    scattered : Scattered or None
    sources : tuple of (int, str)
        Size and checksum of each file that it was read from.
    """

    query_ids: tuple[str, ...]
    dense: bool
    scattered: Scattered | None
    sources: tuple[tuple[int, str], ...]
    feature_names: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    told_by: tuple[str, ...] = ()


def folder() -> Path:
    """Return the folder of the entries, beside that of the parsed files."""
    return parsed_files.folder().parent / "large"


def new_folder() -> Path:
    """Make the folder of an entry that is to be written; a temporary one where the cache cannot be written.

    Raises
    ------
    OSError
        Where there is none for temporary files either.
    """
    try:
        folder().mkdir(parents=True, exist_ok=True)
        remove_abandoned(folder(), f"{_NEW}*")
        return Path(tempfile.mkdtemp(dir=folder(), prefix=_NEW))
    except OSError:
        return temporary_folder()


def find(key: str, check: Callable[[], None] = lambda: None) -> Table | None:
    """Return the table of an entry, its arrays mapped into memory; None where there is none that is whole.

    Parameters
    ----------
    key : str
    check : callable, optional
        Called now and then; it may raise.
    """
    return _opened(folder() / key, key, check)


def source_sizes() -> Iterator[tuple[int, ...]]:
    """Yield the sizes of the files that each entry was read from."""
    with suppress(OSError):
        for entry in folder().iterdir():
            with suppress(*_DAMAGE):
                content = json.loads((entry / MANIFEST).read_text(encoding="utf-8"))
                yield tuple(size for size, _ in content["text"]["sources"])


def finish(new: Path, key: str, text: TableText, digests: Mapping[str, str]) -> Table:
    """Give a folder with all its arrays its name, and return its table.

    Parameters
    ----------
    new : Path
    key : str
    text : TableText
    digests : Mapping of str to str
        Of each array.

    Raises
    ------
    OSError
        Where it cannot be written.
    """
    content = {"version": VERSION, "key": key, "text": asdict(text), "files": dict(digests)}
    content["digest"] = _digest(content["text"])
    write_bytes(new / MANIFEST, json.dumps(content).encode())
    final = folder() / key
    if new.parent == folder():
        shutil.rmtree(final, ignore_errors=True)  # it was of no use, else it would not have been read anew
        with suppress(OSError):  # another process was faster, and its files are mapped
            new.rename(final)
            new = final
    table = _opened(new, key)
    if table is None:
        raise OSError(f"{new} cannot be read")
    return table


def arrays_fit(entry: Path, names: Sequence[str]) -> bool:
    """Tell whether some of an entry's arrays are in a folder as they were written."""
    try:
        content = json.loads((entry / MANIFEST).read_text(encoding="utf-8"))
        return bool(content["version"] == VERSION) and _is_whole(entry, content, names)
    except _DAMAGE:
        return False


def entry_of(*arrays: NDArray[Any]) -> Path | None:
    """Return the entry whose `LINKED_ARRAYS` are these, as a whole; None where there is none."""
    files = [file_of(array) for array in arrays]
    first = files[0]
    named = [None if file is None else (file.parent, file.stem) for file in files]
    if first is None or named != [(first.parent, name) for name in LINKED_ARRAYS]:
        return None
    return first.parent if arrays_fit(first.parent, LINKED_ARRAYS) else None


def make_room(where: Path, path: Path, needed: float, what: str) -> None:
    """Remove entries unused for longest until there are so many bytes, and all take half of the room at most.

    Parameters
    ----------
    where : Path
        A folder on the disk.
    path : Path
        The file that is read, for the sentence.
    needed : float
    what : str
        What needs them.

    Raises
    ------
    DatasetError
        Where there are not so many.
    """
    removable = _removable()
    held = sum(size for _, size, _ in removable)
    while True:
        free = shutil.disk_usage(where).free
        if not removable or (free >= needed + _SPARE and held + needed <= _HALF * (held + free)):
            break
        _, size, entry = removable.pop(0)
        held -= size
        shutil.rmtree(entry, ignore_errors=True)
    if free < needed + _SPARE:
        raise DatasetError(
            tr(
                "{path}: {what} need about {needed} on the disk, as they are more than the memory budget "
                "allows, and {folder} has {free} free; please make room there, name a folder on a larger "
                "disk by RANKSTUDIO_CACHE_DIR, allow more memory, or leave out unused features."
            ).format(
                path=shown_path(path),
                what=what,
                needed=memory.size(needed),
                folder=where,
                free=memory.size(free),
            )
        )


def _removable() -> list[tuple[float, int, Path]]:
    """Return the entries that nobody has used for a while, each with when that was and its size, in order."""
    found = []
    with suppress(OSError):
        for entry in folder().iterdir():
            with suppress(OSError):
                used = entry.stat().st_mtime
                if not entry.name.startswith(_NEW) and time.time() - used > _HOUR:
                    found.append((used, sum(file.stat().st_size for file in entry.iterdir()), entry))
    return sorted(found)


def _digest(text: Any) -> str:
    return hashlib.sha256(json.dumps(text, sort_keys=True).encode()).hexdigest()


def _opened(entry: Path, key: str, check: Callable[[], None] = lambda: None) -> Table | None:
    try:
        content = json.loads((entry / MANIFEST).read_text(encoding="utf-8"))
        if content["version"] != VERSION or content["digest"] != _digest(content["text"]):
            return None
        if content["key"] != key or not _is_whole(entry, content, ARRAYS, check):
            return None
        arrays = {name: array_of(entry / f"{name}.npy") for name in ARRAYS}
        text = dict(content["text"])
        scattered = None if text["scattered"] is None else Scattered(**text["scattered"])
        with suppress(OSError):
            os.utime(entry)  # used just now
        order = arrays["file_rows"]
        comments = TextComments(arrays["comments"], arrays["comment_offsets"])
        return Table(
            X=arrays["X"],
            y=arrays["y"],
            query_ptr=arrays["query_ptr"],
            missing=arrays["missing"],
            file_rows=order,
            query_ids=tuple(text["query_ids"]),
            comments=TakenComments(comments, order) if order.size else comments,
            dense=text["dense"],
            scattered=scattered,
            feature_names=tuple(text["feature_names"]),
            left_out=tuple(text["left_out"]),
            told_by=tuple(text["told_by"]),
        )
    except _DAMAGE:
        return None


def _is_whole(
    entry: Path,
    content: Mapping[str, Any],
    names: Sequence[str],
    check: Callable[[], None] = lambda: None,
) -> bool:
    """Tell whether the files of an entry are those that were written; each is read once in a process."""
    for name in names:
        path = entry / f"{name}.npy"
        status = path.stat()
        state = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
        if state not in _DIGESTS:
            _DIGESTS[state] = digest_of(path, check)
        if _DIGESTS[state] != content["files"][name]:
            del _DIGESTS[state]  # what was removed may come again under the same number
            return False
    return True


def save_array(entry: Path, name: str, array: np.ndarray[Any, Any]) -> str:
    """Write an array that is in memory, and return its digest."""
    with ArrayFile(entry / f"{name}.npy", array.dtype) as file:
        file.append(array)
        return file.finish()
