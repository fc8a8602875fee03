"""Parts of datasets in the store, which any number of processes map instead of each having a copy.

A part is named after its contents, so that a part that two folds or two
runs share is stored once. A part larger than the memory budget is
mapped from the store already: it is neither read nor copied, but its
new entry links to the same files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.data import store
from rankstudio.engine.data.comments import RankedIds
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.store import (
    ArrayDescription,
    EntryError,
    NewEntry,
    StoredEntry,
)
from rankstudio.engine.errors import FileAccessError, OutputError
from rankstudio.engine.support.sparse_rows import SPARSE, features_apart, features_of

_LINKED_ARRAYS = ("X", "y", "query_ptr")
_SMALL_ARRAYS = ("feature_ids", "id_ranks")


def keep(parts: Sequence[RankingDataset]) -> list[str]:
    """Write parts of a dataset to a folder for other processes; return their names.

    The name of a part depends on its contents, and a part that exists
    there is not written again. Comments and counts of missing values
    are not stored, because no method uses them. Ranks of document ids
    are stored only if they were already computed for a convention that
    needs them.

    Raises
    ------
    OutputError
        If the parts cannot be written.

    Notes
    -----
    O(mn) for each part, to compute its name and to verify an existing copy.
    """
    folder = store.scratch_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        names = [_write_part(folder, part) for part in parts]
        store.prune(folder, store.LIMIT, names)  # entries other than these names
    except OSError as error:
        raise OutputError(
            f"{folder}: data for other processes could not be written: {error.strerror or error}."
        ) from error
    return names


class KeptPart:
    """A part of a dataset that is stored in a folder for several processes.

    Parameters
    ----------
    folder : Path
        Folder of the part.

    Raises
    ------
    FileAccessError
        When the object is made or used, if the part is missing or damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with self._readable():
            self._entry = StoredEntry.open(folder)

    def check(self, rows: slice | None = None) -> None:
        """Compare the features of some or all documents with their digests before they are read."""
        with self._readable():
            if "X" in self._entry.arrays:
                self._entry.check(["X"], rows=rows)
            else:  # a row of sparse features has no fixed position in the files: all are compared
                self._entry.check(SPARSE)

    def dataset(self) -> RankingDataset:
        """Return the part with mapped read-only arrays.

        The digests of its features are not verified yet.
        """
        with self._readable():
            self._entry.check(
                [name for name in self._entry.arrays if name not in ("X", *SPARSE)]
            )
            return _mapped_part(self._entry)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Turn errors of the store within a with statement into FileAccessError.

        The message names the folder of the part.
        """
        try:
            yield
        except (EntryError, KeyError):
            raise FileAccessError(
                self._folder,
                "the data of the run cannot be read: files are missing or damaged. Start the run again to "
                "restore them.",
            ) from None


def open_kept(folder: Path) -> RankingDataset:
    """Return the part of a dataset that is stored in a folder, with mapped read-only arrays.

    Raises
    ------
    FileAccessError
        If the part is missing or damaged.
    """
    part = KeptPart(folder)
    part.check()
    return part.dataset()


def _mapped_part(entry: StoredEntry) -> RankingDataset:
    """Return the part of a dataset that is stored in an entry (a folder), with mapped arrays.

    Comments are not stored. If documents with equal scores are ranked
    by their ids, the ranks of the ids are stored instead of the ids.
    """
    arrays = {name: entry.mapped(name) for name in entry.arrays}
    # X comes first among the linked arrays, and is stored in several forms.
    y, query_ptr, feature_ids, ranks = (
        arrays[name] for name in (*_LINKED_ARRAYS[1:], *_SMALL_ARRAYS)
    )
    # Ranks stand for the ids of documents, which comments contain.
    return RankingDataset(
        X=features_of(arrays, feature_ids.size),
        y=y,
        query_ptr=query_ptr,
        query_ids=tuple(entry.text["query_ids"]),
        feature_ids=feature_ids,
        feature_names=tuple(entry.text["feature_names"]),
        comments=RankedIds(ranks) if ranks.size else (),
        greatest_grade=entry.text["greatest_grade"],
    )


def unpack(name: str, content: Mapping[str, bytes]) -> None:
    """Write a part of a dataset received from another machine, unless an undamaged copy exists.

    ``name`` is the name of the part in the store, and ``content`` the
    bytes of its files by name.

    Raises
    ------
    OSError
        If the part cannot be written.
    """
    if not store.is_whole(store.scratch_folder() / name):
        with NewEntry(store.scratch_folder()) as new:
            new.receive(name, content)


def _write_part(folder: Path, part: RankingDataset) -> str:
    """Write a part of a dataset to a folder, and return the name of its entry (a subfolder).

    If an undamaged entry with the same contents exists, nothing is written.
    """
    # Ranks of the document ids, None if they were not computed.
    ranks = part.grading.found_ranks
    arrays: dict[str, NDArray[Any]] = {
        **features_apart(part.X),
        "y": part.y,
        "query_ptr": part.query_ptr,
        "feature_ids": part.feature_ids,
        "id_ranks": np.empty(0, dtype=np.int64) if ranks is None else ranks,
    }
    # The contents of the entry other than arrays.
    text = {
        "query_ids": part.query_ids,
        "feature_names": part.feature_names,
        "greatest_grade": part.greatest_grade,
    }
    # The entry of the store that the part is mapped from, if any: its
    # digests are known, and its files can be linked instead of written.
    source = store.entry_of(X=part.X, y=part.y, query_ptr=part.query_ptr)
    described = {
        name: ArrayDescription.of(array)
        for name, array in arrays.items()
        if name in _SMALL_ARRAYS
    }
    for name in [name for name in arrays if name not in described]:
        if source is None:
            described[name] = ArrayDescription.of(arrays[name])
        else:
            described[name] = source.arrays[name]
    # An entry with the same contents has the same name; using it keeps it longer.
    entry = folder / store.name_of(text, described)
    if store.is_whole(entry):
        StoredEntry.open(entry).touch()
        return entry.name
    with NewEntry(folder) as new:
        for name, array in arrays.items():
            # Large arrays are linked to the files of the source if possible.
            if (
                name in _SMALL_ARRAYS
                or source is None
                or not _try_link(new, name, source)
            ):
                new.save(name, array)
        return new.finish(text).name


def _try_link(new: NewEntry, name: str, source: StoredEntry) -> bool:
    """Link an array of another entry (a stored folder) into a new entry, instead of writing it.

    ``new`` is the entry that is written, ``source`` the entry that has
    the array ``name``. Return False if the disk does not support links.
    """
    try:
        new.link(name, source)
    except OSError:
        return False
    return True
