"""Reads the parts of a dataset: into memory where the memory budget has room, else into mapped files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.dataset import Fold, RankingDataset
from rankstudio.engine.data.formats.file_reader import FileContents, read_data_file
from rankstudio.engine.data.formats.large_files import (
    SHARE,
    Files,
    exceeds_budget,
    in_memory,
    read_by_pieces,
)
from rankstudio.engine.data.large.table_writer import Treatment
from rankstudio.engine.data.letor.missing_values import Missing, Normalize
from rankstudio.engine.data.letor.progress import ReadProgress
from rankstudio.engine.data.letor.reader import make_dataset
from rankstudio.engine.data.tabular.parts import tables_by_part
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.language import tr
from rankstudio.engine.support import memory
from rankstudio.engine.support.file_pages import in_file


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
        if found.treated and in_file(found.table.X) and found.table.X.shape[1] < width:
            found = read_by_pieces(part, self._progress.silent(), told, self._treatment, width) or found
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
        return make_dataset(
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
                "{path}: {documents} documents with {n} features, {size}, are read from the disk as they are "
                "needed: in memory they would take more than {share:.0%} of the memory budget of {budget}."
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
        """Read the files of a part: several of them by pieces, even if they fit into memory then."""
        if large or len(part) > 1:
            found = read_by_pieces(part, self._progress, told, self._treatment)
            if found is not None:
                return found if large else in_memory(found)
        return read_data_file(
            part[0], self._progress, told, refuse=self._missing == "refuse", cache=self._cache
        )


def _check_memory(path: Path, found: Sequence[FileContents], several: bool) -> None:
    """Raise `DatasetError` before the parts read so far are more than the machine can hold."""
    needed = sum(read.table.X.nbytes for read in found if not in_file(read.table.X))
    free = memory.available()
    if needed > 0.9 * (needed + free):
        advice = tr("open a single fold") if several else tr("leave out unused features, or number them anew")
        raise DatasetError(
            tr(
                "{path}: more memory is needed than there is: {size} are taken by what is read, and "
                "{size_2} are free; please {advice}."
            ).format(path=path, size=memory.size(needed), size_2=memory.size(free), advice=advice)
        )
