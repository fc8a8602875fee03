"""Reads the parts of a dataset: into memory where the memory budget has room, else into mapped files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.compression import read_beginning, without_ending
from rankstudio.engine.data.dataset import Fold, RankingDataset
from rankstudio.engine.data.file_access import regular_file_size
from rankstudio.engine.data.formats.recognised_form import HEAD, recognised_form
from rankstudio.engine.data.formats.table_reader import (
    FileContents,
    part_of,
    read_files,
    read_to_disk,
)
from rankstudio.engine.data.missing_values import Missing, Normalize
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.table_builder import Treatment
from rankstudio.engine.data.tabular.parts import tables_by_part
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.language import tr
from rankstudio.engine.support import memory
from rankstudio.engine.support.file_pages import in_file

SHARE = 0.5
"""Of the memory budget, what data may take; the rest is for what is computed of them."""

_LITTLE = 1 << 27  # bytes of files that always fit
_LEAST = 1 << 28  # bytes that are free where files are read by pieces; with fewer they fit, or are refused
_PACKED = 6  # times the size, which the text in a packed file has, about
_PER_DOCUMENT = 60  # bytes beside its features
_ID = re.compile(rb"[ \t](\d{1,7}):")

Files = tuple[Path, ...]


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
    size = sum(regular_file_size(path) for path in files)
    if size < min(_LITTLE, room / 64) or memory.available() < _LEAST:
        return False
    needs = {path: _need(path, told) for path in files}
    texts = [sum(needs[path][1] for path in part) for part in parts]  # a part is read at once
    return sum(table for table, _ in needs.values()) + max(texts) > room


class PartReader:
    """Reads the files of a dataset, each once, and makes datasets of what was read.

    Parameters
    ----------
    path : Path
        What is opened, for sentences.
    parts : tuple of tuple of Path
        The files of each part.
    progress : ReadProgress
    missing, normalize, cache
        As for `open_dataset`.
    several_folds : bool
        Whether a single fold would be less.
    """

    def __init__(
        self,
        path: Path,
        parts: tuple[Files, ...],
        progress: ReadProgress,
        missing: Missing,
        normalize: Normalize,
        cache: bool,
        several_folds: bool,
    ) -> None:
        self._path = path
        self._parts = parts
        self._progress = progress
        self._missing = missing
        self._normalize = normalize
        self._cache = cache
        self._several_folds = several_folds
        self._treatment = Treatment(missing, bool(normalize))
        self._made: dict[tuple[str, str], RankingDataset] = {}

    def read(self, told: DataColumns) -> dict[Files, FileContents]:
        """Read each part; `open_dataset` says what is raised."""
        large = exceeds_budget(self._parts, told)
        found: dict[Files, FileContents] = {}
        for part in self._parts:
            if part not in found:
                found[part] = self._contents(part, told, large)
                _check_memory(self._path, list(found.values()), self._several_folds)
        return found

    def datasets(
        self, part: Files, found: FileContents, name: str, told: DataColumns, width: int
    ) -> Mapping[str, RankingDataset]:
        """Return the dataset of a part, or of each part that a table names; equal files share arrays.

        Parameters
        ----------
        part : tuple of Path
        found : FileContents
            What was read from them; used up.
        name : str
            The part.
        told : DataColumns
        width : int
            Number of features in all parts together.
        """
        if in_file(found.table.X) and found.table.X.shape[1] < width:
            found = self._to_disk(part, told, self._progress.silent(), width) or found
        made = {}
        for own, table in tables_by_part(found.table, name).items():
            key = (found.source.checksum, own if found.table.parts.size else "")
            if key not in self._made:
                self._made[key] = self.dataset(replace(found, table=table), width)
            notes = table.notes(str(found.source.path))
            made[own] = replace(self._made[key], source=found.source, warnings=notes)
        return made

    def dataset(self, found: FileContents, width: int) -> RankingDataset:
        """Return everything that was read from a file as one dataset with so many features."""
        return RankingDataset.of_table(
            found.table,
            found.source,
            missing="refuse" if found.treated else self._missing,
            n_features=width,
            normalize=False if found.treated else self._normalize,
        )

    def notes(self, folds: Sequence[Fold]) -> tuple[str, ...]:
        """Say of data that are mapped from files that they are, and why."""
        parts = {id(part.X): part for fold in folds for part in fold.parts.values() if in_file(part.X)}
        if not parts:
            return ()
        return (
            tr(
                "{path}: {documents} documents with {n} features ({size}) are read from disk "
                "as needed, because they exceed {share:.0%} of the memory limit of {budget}."
            ).format(
                path=self._path,
                documents=f"{sum(part.n_documents for part in parts.values()):,}",
                n=folds[0].train.n_features,
                size=memory.size(sum(part.X.nbytes for part in parts.values())),
                share=SHARE,
                budget=memory.size(memory.budget()),
            ),
        )

    def _contents(self, part: Files, told: DataColumns, large: bool) -> FileContents:
        """Read the files of a part."""
        on_disk = self._to_disk(part, told, self._progress) if large else None
        refuse = self._missing == "refuse"
        return on_disk or read_files(part, self._progress, told, refuse=refuse, cache=self._cache)

    def _to_disk(
        self, part: Files, told: DataColumns, progress: ReadProgress, width: int = 0
    ) -> FileContents | None:
        """Read the files of a part into mapped files of so many columns; None for a form that cannot be."""
        form = recognised_form(part[0], told)
        if form == "trec":
            return None
        known = part_of(part, form, told, refuse=self._missing == "refuse")
        return read_to_disk(known, progress, self._treatment, width)


def _need(path: Path, told: DataColumns) -> tuple[float, float]:
    """Return about how many bytes what is read from a file takes, and what it holds itself, there meanwhile.

    That is nothing where its form is only read in memory.
    """
    form = recognised_form(path, told)
    size = float(regular_file_size(path))
    if form == "trec":
        return 0.0, 0.0
    if form == "arrow":
        from rankstudio.engine.data.formats.arrow import arrow_size  # noqa: PLC0415 - pyarrow takes long

        return arrow_size(path), size
    head = read_beginning(path, HEAD)
    text = size if without_ending(path.name) == path.name else _PACKED * size
    lines = max(head.count(b"\n"), 1)
    width = max(map(int, set(_ID.findall(head))), default=1)
    if form == "csv":
        from rankstudio.engine.data.formats.csv_text import csv_width  # noqa: PLC0415 - as above

        width = csv_width(head)
    return text * lines / max(len(head), 1) * (8 * width + _PER_DOCUMENT), text


def _check_memory(path: Path, found: Sequence[FileContents], several: bool) -> None:
    """Raise `DatasetError` before the parts read so far are more than the machine can hold."""
    needed = sum(read.table.X.nbytes for read in found if not in_file(read.table.X))
    free = memory.available()
    if needed > 0.9 * (needed + free):
        advice = tr("open a single fold") if several else tr("leave out unused features or renumber them")
        raise DatasetError(
            tr(
                "{path}: not enough memory: the data read so far take {size}, and {size_2} are "
                "free; {advice}."
            ).format(path=path, size=memory.size(needed), size_2=memory.size(free), advice=advice)
        )
