"""Parts of datasets as arrays on the disk, which any number of processes map instead of each having a copy.

A part is found by the SHA-256 of what is in it, so that a part that two folds or two runs have in common is
there once. It is written under a name of its own and then moved, so that nobody maps half of one. The folder
can be deleted at any time. When it grows beyond its limit the parts unused for longest go first.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.letor import cache
from rankstudio.engine.errors import FileAccessError, OutputError
from rankstudio.engine.support.files import READING_ARRAYS

LIMIT = 4 << 30  # bytes, or as many as one run needs

_ARRAYS = ("X", "y", "query_ptr", "feature_ids")
_WORDS = "words.json"


def folder() -> Path:
    """Return the folder of the parts, beside that of the parsed files."""
    return cache.folder().parent / "mapped"


def keep(parts: Sequence[RankingDataset]) -> list[str]:
    """Write the parts that are not there yet, and return the name of each.

    Comments, and what was missing in the files, are not kept: nobody learns from them.

    Raises
    ------
    OutputError
        Where they cannot be written.

    Notes
    -----
    O(mn) for each part, to tell it from others.
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


def open_kept(place: Path) -> RankingDataset:
    """Return the part in a folder, its arrays mapped into memory and read-only.

    Raises
    ------
    FileAccessError
        Where it is not there, or not whole.
    """
    try:
        X, y, query_ptr, feature_ids = (_mapped(place / f"{name}.npy") for name in _ARRAYS)
        words = json.loads((place / _WORDS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileAccessError(place, f"the data of a run cannot be read here ({error}).") from error
    return RankingDataset(
        X, y, query_ptr, tuple(words["query_ids"]), feature_ids, tuple(words["feature_names"])
    )


def packed(place: Path) -> dict[str, bytes]:
    """Return the files of a part, to be sent to another machine."""
    return {file.name: file.read_bytes() for file in place.iterdir()}


def unpack(name: str, content: Mapping[str, bytes]) -> None:
    """Write a part that another machine sent, unless it is there.

    Raises
    ------
    OSError
        Where it cannot be written.
    """

    def write(new: Path) -> None:
        for file, data in content.items():
            (new / file).write_bytes(data)

    place = folder()
    place.mkdir(parents=True, exist_ok=True)
    if not (place / name).exists():
        _write(place / name, write)


def _keep(folder: Path, part: RankingDataset) -> str:
    arrays = {name: np.ascontiguousarray(getattr(part, name)) for name in _ARRAYS}
    words = json.dumps({"query_ids": part.query_ids, "feature_names": part.feature_names})
    digest = hashlib.sha256(words.encode())
    for array in arrays.values():
        digest.update(f"{array.dtype.str} {array.shape}".encode())
        digest.update(array.data)
    place = folder / digest.hexdigest()
    if place.exists():
        os.utime(place)  # used just now
        return place.name

    def write(new: Path) -> None:
        for name, array in arrays.items():
            np.save(new / f"{name}.npy", array)
        (new / _WORDS).write_text(words, encoding="utf-8")

    _write(place, write)
    return place.name


def _write(place: Path, write: Callable[[Path], None]) -> None:
    """Make a folder with what ``write`` puts into it, whole or not at all."""
    new = Path(tempfile.mkdtemp(dir=place.parent, prefix="new-"))
    try:
        write(new)
        new.replace(place)
    except BaseException as error:
        shutil.rmtree(new, ignore_errors=True)
        if not (isinstance(error, OSError) and place.exists()):  # another process was faster
            raise


def _mapped(path: Path) -> NDArray[Any]:
    with READING_ARRAYS:
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def _prune(folder: Path, limit: int, needed: Iterable[str]) -> None:
    """Remove the parts unused for longest until the others take at most ``limit`` bytes; keep the needed."""
    kept = set(needed)
    entries = []
    for place in folder.iterdir():
        with suppress(FileNotFoundError):  # another process removes some too
            if place.name not in kept:
                entries.append((place.stat().st_mtime, _size(place), place))
    total = sum(_size(folder / name) for name in kept)
    for _, size, place in sorted(entries, reverse=True):
        total += size
        if total > limit:
            shutil.rmtree(place, ignore_errors=True)


def _size(place: Path) -> int:
    return sum(file.stat().st_size for file in place.iterdir())
