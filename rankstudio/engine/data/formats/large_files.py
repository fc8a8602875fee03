"""Which data are larger than the memory budget, and such files read piece by piece."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rankstudio.engine.arrays import Bytes
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.formats.file_reader import (
    TABLES_VERSION,
    FileContents,
    identity_of,
    read_as,
    recognised_form,
)
from rankstudio.engine.data.formats.group_sizes import read_sizes, sizes_file
from rankstudio.engine.data.large.arrow_reader import arrow_size, read_arrow
from rankstudio.engine.data.large.csv_reader import csv_width, read_csv_pieces
from rankstudio.engine.data.large.letor_reader import LargePart, read_large, read_letor
from rankstudio.engine.data.large.table_writer import Treatment
from rankstudio.engine.data.letor import file_access
from rankstudio.engine.data.letor.compression import read_beginning, without_ending
from rankstudio.engine.data.letor.file_access import ARROW, PARQUET
from rankstudio.engine.data.letor.progress import ReadProgress
from rankstudio.engine.data.trec.qrels import is_qrels_name
from rankstudio.engine.errors import DatasetError, shown_path
from rankstudio.engine.language import tr
from rankstudio.engine.support import memory

SHARE = 0.5
"""Of the memory budget, what data may take; the rest is for what is computed of them."""

_LITTLE = 1 << 27  # bytes of files that always fit
_LEAST = 1 << 28  # bytes that are free where files are read by pieces; with fewer they fit, or are refused
_HEAD = 1 << 16  # bytes that are looked at
_PACKED = 6  # times the size, which the text in a packed file has, about
_PER_DOCUMENT = 60  # bytes beside its features
_ID = re.compile(rb"[ \t](\d{1,7}):")
_BY_PIECES = ("letor", "sizes", "arrow", "csv")
_SINGLE = ("sizes", "csv")
_READERS = {"arrow": read_arrow, "csv": read_csv_pieces}

Files = tuple[Path, ...]


@dataclass(frozen=True)
class FileMemory:
    """How many bytes files take in memory, about.

    Attributes
    ----------
    table : float
        What is read from them.
    text : float
        What they hold themselves, which is there meanwhile.
    """

    table: float
    text: float


def exceeds_budget(parts: Sequence[Files], told: DataColumns) -> bool:
    """Tell whether data take more than their share of the memory budget, as far as one sees beforehand.

    Parameters
    ----------
    parts : sequence of tuple of Path
        The files of each part.
    told : DataColumns

    Notes
    -----
    O(parts): the beginning of each file is read where all of them are not small.
    """
    files = {path for part in parts for path in part}
    room = SHARE * memory.budget()
    size = sum(file_access.regular_file_size(path) for path in files)
    if size < min(_LITTLE, room / 64) or memory.available() < _LEAST:
        return False
    needs = [_need(path, told) for path in files]
    return sum(need.table for need in needs) + max(need.text for need in needs) > room


def read_by_pieces(
    paths: Files, progress: ReadProgress, told: DataColumns, treatment: Treatment, n_features: int = 0
) -> FileContents | None:
    """Read the files of a part into mapped files, or find them there; None for a format that cannot be.

    Parameters
    ----------
    paths : tuple of Path
    progress : ReadProgress
    told : DataColumns
    treatment : Treatment
    n_features : int
        Least number of columns.

    Raises
    ------
    DataError
        Where they cannot be read.
    """
    path = paths[0]
    beside = sizes_file(path)
    form = _form(path, told, read_beginning(path, _HEAD))
    if form not in _BY_PIECES or (len(paths) > 1 and form in _SINGLE):
        if len(paths) == 1:
            return None
        raise DatasetError(
            tr(
                "{path}: found {n} files for one part, expected one, or several of LETOR text, Parquet "
                "or Arrow."
            ).format(path=shown_path(path), n=len(paths))
        )
    by_size = read_sizes(beside) if beside is not None and form == "sizes" else None
    identity = identity_of(told, by_size, form)
    part = LargePart(
        paths,
        treatment,
        "" if form == "letor" and not identity else f"{form} {TABLES_VERSION} {identity}",
        identity,
        1 if told.ids_from is None else told.ids_from,
        by_size,
        n_features,
        told,
    )
    table, source = read_large(part, progress, _READERS.get(form, read_letor))
    return FileContents(table, source, read_as(path, form, beside, table), True)


def in_memory(contents: FileContents) -> FileContents:
    """Return what was read into mapped files as arrays in memory."""
    table = contents.table
    loaded = replace(
        table,
        X=np.array(table.X),
        y=np.array(table.y),
        query_ptr=np.array(table.query_ptr),
        missing=np.array(table.missing),
        file_rows=np.array(table.file_rows),
    )
    return replace(contents, table=loaded)


def _need(path: Path, told: DataColumns) -> FileMemory:
    """Return what a file takes; nothing where its format cannot be read by pieces."""
    head = read_beginning(path, _HEAD)
    form = _form(path, told, head)
    size = float(file_access.regular_file_size(path))
    if form == "arrow":
        return FileMemory(arrow_size(path), size)
    if form not in _BY_PIECES:
        return FileMemory(0.0, 0.0)
    text = size if without_ending(path.name) == path.name else _PACKED * size
    lines = max(head.count(b"\n"), 1)
    width = csv_width(head) if form == "csv" else max(map(int, set(_ID.findall(head))), default=1)
    return FileMemory(text * lines / max(len(head), 1) * (8 * width + _PER_DOCUMENT), text)


def _form(path: Path, told: DataColumns, begin: bytes) -> str:
    """Return how a file with such a beginning is read; see `recognised_form`."""
    if is_qrels_name(path.name):
        return "trec"
    with path.open("rb") as file:
        packed = not file.read(len(ARROW)).startswith((PARQUET, ARROW))
    head: Bytes = np.frombuffer(begin, dtype=np.uint8)
    form = recognised_form(path, head, told, sizes_file(path), ReadProgress())
    if sizes_file(path) is not None and form in ("arrow", "csv"):
        return "sized table"
    return "packed" if form == "arrow" and packed else form
