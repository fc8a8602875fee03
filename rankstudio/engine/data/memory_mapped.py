"""Parts of datasets as arrays on the disk, which any number of processes map instead of each having a copy.

A part is found by the SHA-256 of its files, so that a part that two folds or two runs have in common is there
once, and none is believed unread: whoever opens one holds its files against its name, once in a process for
as long as they stay as they are. A part that does not fit is written anew. It is written under a name of its
own and then moved, so that nobody maps half of one. The folder can be deleted at any time. When it grows
beyond its limit the parts unused for longest go first.

A part that is mapped from files already, as it is larger than the memory budget, is neither read nor copied:
its folder has links to these files, and is called after what they were read from. They are believed as
`rankstudio.engine.data.large.table_folder` believes them.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.data.comments import RankedIds
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.large.table_folder import LINKED_ARRAYS, MANIFEST, arrays_fit, entry_of
from rankstudio.engine.data.letor import cache as parsed
from rankstudio.engine.errors import CacheWarning, FileAccessError, OutputError
from rankstudio.engine.support.file_pages import in_file
from rankstudio.engine.support.files import READING_ARRAYS, remove_abandoned, temporary_folder

LIMIT = 4 << 30  # bytes, or as many as one run needs

_ARRAYS = ("X", "y", "query_ptr", "feature_ids", "id_ranks")
_WORDS = "words.json"
_FILES = (_WORDS, *(f"{name}.npy" for name in _ARRAYS))
_LARGE = tuple(f"{name}.npy" for name in LINKED_ARRAYS)
_LINKED = "table-"
_PIECE = 1 << 22
_NEW = "new-"


def folder() -> Path:
    """Return the folder of the parts: beside that of the parsed files, or a temporary one instead."""
    return _writable(parsed.folder().parent / "mapped")


def keep(parts: Sequence[RankingDataset]) -> list[str]:
    """Write the parts that are not there yet, and return the name of each.

    Comments, and what was missing in the files, are not kept: nobody learns from them. The ranks of document
    ids are where somebody asked for them before, as whoever measures by a convention that needs them does.

    Raises
    ------
    OutputError
        Where they cannot be written.

    Notes
    -----
    O(mn) for each part, to tell it from others and, where it is there, to see that it is whole.
    """
    place = folder()
    try:
        place.mkdir(parents=True, exist_ok=True)
        names = [_keep(place, part) for part in parts]
        _prune(place, LIMIT, names)
    except OSError as error:
        raise OutputError(
            f"{place}: data for other processes could not be written: {error.strerror or error}."
        ) from error
    return names


def is_whole(place: Path) -> bool:
    """Return whether the part in a folder is there, and its files are those that its name stands for.

    O(bytes of the part) once in a process, until one of the files changes its size or time.
    """
    try:
        states = [(place / name).stat() for name in _FILES]
        if place.name.startswith(_LINKED):
            small = b"".join((place / name).read_bytes() for name in _FILES if name not in _LARGE)
            return place.name.endswith(_digest(small)) and arrays_fit(place, LINKED_ARRAYS)
        return _fits(place, tuple((state.st_ino, state.st_size, state.st_mtime_ns) for state in states))
    except OSError:
        return False


def open_kept(place: Path) -> RankingDataset:
    """Return the part in a folder, its arrays mapped into memory and read-only.

    Raises
    ------
    FileAccessError
        Where it is not there, or not whole.
    """
    if not is_whole(place):
        raise FileAccessError(
            place,
            "the data of a run cannot be read here: files are missing or damaged. Start the run again: it "
            "writes them anew.",
        )
    try:
        X, y, query_ptr, feature_ids, ranks = (_mapped(place / f"{name}.npy") for name in _ARRAYS)
        words = json.loads((place / _WORDS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileAccessError(place, f"the data of a run cannot be read here ({error}).") from error
    return RankingDataset(
        X,
        y,
        query_ptr,
        tuple(words["query_ids"]),
        feature_ids,
        tuple(words["feature_names"]),
        RankedIds(ranks) if ranks.size else (),
        greatest_grade=words["greatest_grade"],
    )


def bytes_of(place: Path) -> int:
    """Return how many bytes the files of a part take."""
    return _size(place)


def packed(place: Path) -> dict[str, bytes]:
    """Return the files of a part, to be sent to another machine."""
    names = (*_FILES, MANIFEST) if (place / MANIFEST).exists() else _FILES
    return {name: (place / name).read_bytes() for name in names}


def unpack(name: str, content: Mapping[str, bytes]) -> None:
    """Write a part that another machine sent, unless it is there and whole.

    Raises
    ------
    OSError
        Where it cannot be written.
    """
    place = folder()
    place.mkdir(parents=True, exist_ok=True)
    if not is_whole(place / name):
        _write(place / name, {file: [memoryview(data)] for file, data in content.items()})


@cache
def _writable(folder: Path) -> Path:
    """Return a folder if it can be written, else a temporary one of this process, if there can be one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        with suppress(OSError):
            temporary = temporary_folder()
            warnings.warn(
                f"{folder} cannot be written ({error.strerror or error}): data for other processes are in a "
                "temporary folder until this one ends. RANKSTUDIO_CACHE_DIR names another folder.",
                CacheWarning,
                stacklevel=2,
            )
            return temporary
    return folder


def _keep(folder: Path, part: RankingDataset) -> str:
    if linked := _linked(folder, part):
        return linked
    files = _files(part)
    digest = hashlib.sha256()
    for name, pieces in files.items():
        digest.update(_title(name, sum(len(piece) for piece in pieces)))
        for piece in pieces:
            digest.update(piece)
    place = folder / digest.hexdigest()
    if is_whole(place):
        with suppress(PermissionError):  # somebody else's
            os.utime(place)  # used just now
    else:
        _write(place, files)
    return place.name


def _linked(folder: Path, part: RankingDataset) -> str:
    """Make the folder of a part with links to the files that it is mapped from; "" where it is not."""
    entry = entry_of(part.X, part.y, part.query_ptr)
    if entry is None:
        return ""
    files = {name: pieces for name, pieces in _files(part).items() if name not in _LARGE}
    small = b"".join(piece for pieces in files.values() for piece in pieces)
    place = folder / f"{_LINKED}{entry.name}-{_digest(small)}"
    if is_whole(place):
        with suppress(PermissionError):
            os.utime(place)
        return place.name
    try:
        _write(place, files, [entry / name for name in (*_LARGE, MANIFEST)])
    except OSError:  # a disk without links
        return ""
    return place.name


def _files(part: RankingDataset) -> dict[str, list[memoryview]]:
    """Return the bytes of each file of a part, without a copy of the arrays."""
    ranks = part.grading.found_ranks
    words = json.dumps(
        {
            "query_ids": part.query_ids,
            "feature_names": part.feature_names,
            "greatest_grade": part.greatest_grade,
        }
    )
    files = {_WORDS: [memoryview(words.encode())]}
    for name in _ARRAYS[:-1]:
        files[f"{name}.npy"] = _array_file(getattr(part, name))
    files[f"{_ARRAYS[-1]}.npy"] = _array_file(np.empty(0, dtype=np.int64) if ranks is None else ranks)
    return files


def _array_file(values: NDArray[Any]) -> list[memoryview]:
    array = np.ascontiguousarray(values)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
    return [header.getbuffer(), array.reshape(-1).view(np.uint8).data]


def _digest(small: bytes) -> str:
    """Return how the name of a folder with links ends: with what stands beside them."""
    return hashlib.sha256(small).hexdigest()[:32]


def _title(name: str, size: int) -> bytes:
    """Return what a digest has of a file before its bytes."""
    return f"{name} {size}\n".encode()


@lru_cache(maxsize=4096)
def _fits(place: Path, states: tuple[tuple[int, int, int], ...]) -> bool:
    """Return whether files fit the name of their folder, as long as they are in these states."""
    digest = hashlib.sha256()
    buffer = memoryview(bytearray(_PIECE))
    for name, (_, size, _) in zip(_FILES, states, strict=True):
        digest.update(_title(name, size))
        with (place / name).open("rb", buffering=0) as file:
            while count := file.readinto(buffer):
                digest.update(buffer[:count])
    return digest.hexdigest() == place.name


def _write(place: Path, files: Mapping[str, Sequence[memoryview]], linked: Sequence[Path] = ()) -> None:
    """Make the folder of a part, whole and on the disk or not at all, with links to files that are there."""
    new = Path(tempfile.mkdtemp(dir=place.parent, prefix=_NEW))
    try:
        for name, pieces in files.items():
            with (new / name).open("wb") as file:
                file.writelines(pieces)
                file.flush()
                os.fsync(file.fileno())
        for path in linked:
            os.link(path, new / path.name)
        if not is_whole(place):
            shutil.rmtree(place, ignore_errors=True)  # damaged
        new.replace(place)
        _sync(place.parent)
    except BaseException as error:
        shutil.rmtree(new, ignore_errors=True)
        if not (isinstance(error, OSError) and is_whole(place)):  # another process was faster
            raise


def _sync(folder: Path) -> None:
    """Have the system write the names in a folder to the disk, where it can be asked to."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _mapped(path: Path) -> NDArray[Any]:
    with READING_ARRAYS:
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def _prune(folder: Path, limit: int, needed: Iterable[str]) -> None:
    """Remove the parts unused for longest until the others take at most ``limit`` bytes; keep the needed."""
    remove_abandoned(folder, f"{_NEW}*")
    kept = set(needed)
    entries = []
    for place in folder.iterdir():
        # Another process removes some, too, and what is no folder is no part.
        with suppress(FileNotFoundError, NotADirectoryError):
            if place.name not in kept:
                entries.append((place.stat().st_mtime, _size(place), place))
    total = sum(_size(folder / name) for name in kept)
    for _, size, place in sorted(entries, reverse=True):
        total += size
        if total > limit:
            shutil.rmtree(place, ignore_errors=True)


def _size(place: Path) -> int:
    return sum(file.stat().st_size for file in place.iterdir())


def read_from_disk(dataset: FoldedDataset) -> bool:
    """Tell whether documents of a dataset are read from mapped files as they are needed."""
    # A part of leave-query-out has no matrix of its own, which would be made only to be asked.
    parts = (vars(part) for fold in dataset.folds[:1] for part in fold.parts.values())
    return any("X" in part and in_file(part["X"]) for part in parts)
