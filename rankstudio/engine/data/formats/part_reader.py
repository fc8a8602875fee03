"""Reads the parts of a dataset: into memory where the memory budget has room, else into mapped files.

What was once read of the same bytes in the same way is found in the store.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rankstudio.engine.data import store
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.comments import document_id
from rankstudio.engine.data.data_format import DataFormat
from rankstudio.engine.data.dataset import Fold, RankingDataset
from rankstudio.engine.data.file_access import regular_file_size
from rankstudio.engine.data.formats.built_in import LETOR
from rankstudio.engine.data.formats.joined_files import joined_format
from rankstudio.engine.data.formats.query_sizes import read_sizes, sizes_file
from rankstudio.engine.data.formats.recognised_form import identity_of, read_as, recognised_form
from rankstudio.engine.data.judgments import Judgments
from rankstudio.engine.data.kept_tables import (
    find_mapped,
    find_parsed,
    keep_parsed,
    mapped_folder,
    source_sizes,
)
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.source_file import LoadedFile, StreamedFile, derived_checksum, quoted, read_text
from rankstudio.engine.data.splitting.splits import select_documents
from rankstudio.engine.data.table import Missing, Normalize, ReadAs, Source, Table
from rankstudio.engine.data.table_builder import (
    PartFiles,
    TableInMemory,
    TableOnDisk,
    Treatment,
    unreadable,
)
from rankstudio.engine.data.tabular.recognition import tables_by_part
from rankstudio.engine.errors import (
    DatasetError,
    MissingValueError,
    OutOfMemoryError,
    ZeroIdError,
    shown_path,
)
from rankstudio.engine.language import tr, trn
from rankstudio.engine.support import memory
from rankstudio.engine.support.file_pages import in_file
from rankstudio.engine.support.number_format import count_text, percentage

SHARE = 0.5
"""Of the memory budget, what data may take; the rest is for what is computed of them."""

_LITTLE = 1 << 27  # bytes of files that always fit
_PIECE = 4096  # documents that are searched at once
_LEAST = 1 << 28  # bytes that are free where files are read by pieces; with fewer they fit, or are refused

Files = tuple[Path, ...]


def exceeds_budget(parts: Sequence[Files], told: DataColumns) -> bool:
    """Return whether data probably exceed their share of the memory limit, so that they are read from disk.

    Text that is mostly zeros stays in memory without them: with its zeros it would fill the disk.

    Parameters
    ----------
    parts : sequence of tuple of Path
        The files of each part.
    told : DataColumns

    Raises
    ------
    OutOfMemoryError
        If such text exceeds the memory limit.

    Notes
    -----
    O(parts): the beginning of each file is read unless all files are small.
    """
    parts = [logs_of(part, recognised_form(part[0], told), told)[0] or part for part in parts]
    files = {path for part in parts for path in part}
    room = SHARE * memory.budget()
    size = sum(regular_file_size(path) for path in files)
    if size < min(_LITTLE, room / 64) or memory.available() < _LEAST:
        return False
    needs = {path: recognised_form(path, told).memory_need(path) for path in files}
    texts = [sum(needs[path].text for path in part) for part in parts]  # a part is read at once
    need = sum(one.table for one in needs.values()) + max(texts)
    thin = next((path for path, one in needs.items() if one.is_thin), None)
    if thin is None or need <= room:
        return need > room
    if need > memory.budget():
        text = tr(
            "{path}: the values other than 0 need about {size} of memory; the memory limit is {budget}. "
            "Raise the limit, or leave out documents or features."
        )
        raise OutOfMemoryError(
            text.format(path=thin, size=memory.size(int(need)), budget=memory.size(memory.budget()))
        )
    return False


class PartReader:
    """Reads each file of a dataset once, and creates datasets from the contents.

    Parameters
    ----------
    path : Path
        Path of the dataset, for messages.
    parts : sequence of tuple of Path
        The files of each part.
    progress : ReadProgress
    told : DataColumns
    missing, normalize, cache
        As in `open_dataset`.
    several_folds : bool
        Whether a single fold would need less memory.
    """

    def __init__(
        self,
        path: Path,
        parts: Sequence[Files],
        progress: ReadProgress,
        told: DataColumns,
        missing: Missing,
        normalize: Normalize,
        *,
        cache: bool,
        several_folds: bool = False,
    ) -> None:
        self._path = path
        self._parts = parts
        self._progress = progress
        self._told = told
        self._treatment = Treatment(missing, bool(normalize))
        self._cache = cache
        self._several_folds = several_folds
        self._made: dict[tuple[str, str], RankingDataset] = {}
        self._judgments: dict[int, Judgments] = {}

    def read(self) -> dict[Files, FileContents]:
        """Read each part; for errors see `open_dataset`."""
        try:
            return self._tables()
        except ZeroIdError:
            if self._told.ids_from is not None:
                raise
            self._told = replace(self._told, ids_from=0)  # in all files alike, also where nothing has that id
            return self._tables()

    def _tables(self) -> dict[Files, FileContents]:
        large = exceeds_budget(self._parts, self._told)
        found: dict[Files, FileContents] = {}
        for part in self._parts:
            if part not in found:
                found[part] = self._contents(part, large)
                _check_memory(self._path, list(found.values()), self._several_folds)
        return found

    def datasets(self, part: Files, found: FileContents, name: str, width: int) -> dict[str, RankingDataset]:
        """Return the dataset of a part, or of each part of a table; equal files share arrays.

        Parameters
        ----------
        part : tuple of Path
        found : FileContents
            Contents of the files; they are changed in place.
        name : str
            The part.
        width : int
            Number of features in all parts together.
        """
        self._progress.check()
        if in_file(found.table.X) and found.table.X.shape[1] < width:
            found = self._to_disk(part, self._progress.silent(), width) or found
        made = {}
        for own, table in tables_by_part(found.table, name).items():
            key = (found.source.checksum, own if found.table.parts.size else "")
            if key not in self._made:
                self._made[key] = self.dataset(replace(found, table=table), width)
            data = self._made[key]
            notes = table.notes(str(found.source.path)) + self._unjudged(
                found, len(table.y) - data.n_documents
            )
            made[own] = replace(data, source=self._source(found), warnings=notes)
        return made

    def dataset(self, found: FileContents, width: int) -> RankingDataset:
        """Return the contents of a file as one dataset with a given number of features.

        Of several judges, it has the documents and labels of the one in use. Missing values are filled from
        all documents, so that features do not depend on the judge.
        """
        table = found.table
        judges = self._told.judges
        labels = table.y
        place = judges.index(self._told.label) if judges else 0
        made = RankingDataset.of_table(
            replace(table, y=np.nan_to_num(labels[:, place])) if judges else table,
            self._source(found),
            missing="refuse" if found.treated else self._treatment.missing,
            n_features=width,
            normalize=not found.treated and self._treatment.normalize,
        )
        if not judges:
            return made
        judged = np.flatnonzero(~np.isnan(labels[:, place]))
        if not judged.size:
            raise DatasetError(
                tr("{path}: found no label of {judge} for any document; expected at least one.").format(
                    path=found.source.path, judge=quoted(self._told.label)
                )
            )
        data = made if judged.size == len(labels) else select_documents(made, judged)
        self._judgments[id(data.y)] = Judgments(judges, labels, made.query_ptr, made.query_ids)
        return data

    def _source(self, found: FileContents) -> Source:
        """Return the source of documents: the same file with the labels of two judges are two."""
        if not self._told.judges:
            return found.source
        checksum = derived_checksum(found.source.checksum, f"label {self._told.label}")
        return replace(found.source, checksum=checksum)

    def judgments(self, part: RankingDataset) -> Judgments:
        """Return what all judges say of the documents of a part that was made here."""
        return self._judgments[id(part.y)]

    def _unjudged(self, found: FileContents, n: int) -> tuple[str, ...]:
        """Return a sentence on the documents that the judge in use has not judged."""
        if not n:
            return ()
        text = trn(
            "{path}: {n} document without a label of {judge} is left out.",
            "{path}: {n} documents without a label of {judge} are left out.",
            n,
        )
        return (text.format(path=found.source.path, n=count_text(n), judge=quoted(self._told.label)),)

    def notes(self, folds: Sequence[Fold]) -> tuple[str, ...]:
        """Return a note on data mapped from files, with the reason; None if there are none."""
        parts = {id(part.X): part for fold in folds for part in fold.parts.values() if in_file(part.X)}
        if not parts:
            return ()
        return (
            tr(
                "{path}: {documents} documents with {n} features ({size}) are read from disk "
                "as needed, because they exceed {share} of the memory limit of {budget}."
            ).format(
                path=self._path,
                documents=count_text(sum(part.n_documents for part in parts.values())),
                n=folds[0].train.n_features,
                size=memory.size(sum(part.X.nbytes for part in parts.values())),
                share=percentage(SHARE),
                budget=memory.size(memory.budget()),
            ),
        )

    def _contents(self, part: Files, large: bool) -> FileContents:
        """Read the files of a part."""
        _refuse_judges(part[0], recognised_form(part[0], self._told), self._told)
        on_disk = self._to_disk(part, self._progress) if large else None
        return on_disk or read_files(
            part, self._progress, self._told, refuse=self._refuses, cache=self._cache
        )

    def _to_disk(self, part: Files, progress: ReadProgress, width: int = 0) -> FileContents | None:
        """Read the files of a part into mapped files of so many columns; None for a form that cannot be."""
        known = part_of(part, recognised_form(part[0], self._told), self._told, refuse=self._refuses)
        if not known.form.streams:
            return None
        return read_to_disk(known, progress, self._treatment, width)

    @property
    def _refuses(self) -> bool:
        return self._treatment.missing == "refuse"


def _refuse_judges(path: Path, form: DataFormat, told: DataColumns) -> None:
    """Refuse label columns of several judges where a format has one label."""
    if told.labels and not form.is_table:
        text = (
            tr("{path}: feature logs have no label columns; name a file of judgments for each judge instead.")
            if form.is_joined
            else tr(
                "{path}: LETOR and SVMlight text has one label per document, but {n} label columns are "
                "named. Several judges need a table (CSV, TSV, Parquet or Arrow)."
            )
        )
        raise DatasetError(text.format(path=shown_path(path), n=len(told.labels)))


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


TABLES_VERSION = 3
"""Of the readers of tables: to be raised when they would give other values."""

_MAPPED_VERSION = 3  # to be raised whenever the same files would give other mapped arrays


@dataclass(frozen=True, eq=False)
class FileContents:
    """Contents of the files of a part.

    Attributes
    ----------
    table : Table
    source : Source
    read_as : ReadAs
    treated : bool
        Whether missing values are filled and features scaled as requested.
    """

    table: Table
    source: Source
    read_as: ReadAs
    treated: bool = False


def part_of(paths: tuple[Path, ...], form: DataFormat, told: DataColumns, *, refuse: bool) -> PartFiles:
    """Return files of a format as a part, with the accompanying query sizes, or judgments of logs.

    Raises
    ------
    DatasetError, FileAccessError, FormatError
        If several files cannot form one part, or the file of sizes is invalid.
    """
    logs, judgments = logs_of(paths, form, told)
    if logs:
        texts = tuple(map(read_text, judgments))
        return PartFiles(
            logs, form if form.marks else joined_format(logs[0]), told, refuse=refuse, judgments=texts
        )
    if not form.streams:
        return PartFiles(paths, form, told, refuse=refuse)
    beside = sizes_file(paths[0]) if form.takes_sizes and not told.no_queries else None
    if len(paths) > 1 and (not form.several_files or beside is not None):
        raise DatasetError(
            tr(
                "{path}: found {n} files for one part; expected one file, or several in LETOR, "
                "Parquet or Arrow format."
            ).format(path=shown_path(paths[0]), n=len(paths))
        )
    return PartFiles(paths, form, told, None if beside is None else read_sizes(beside), refuse)


def logs_of(paths: Files, form: DataFormat, told: DataColumns) -> tuple[Files, Files]:
    """Return feature logs and the files of their judgments; nothing for other data."""
    if told.judgments:
        return paths, tuple(map(Path, told.judgments))
    if told.no_labels:
        return (paths if form.marks else ()), ()
    return form.logs_of(paths)


def read_files(
    paths: tuple[Path, ...], progress: ReadProgress, told: DataColumns, *, refuse: bool, cache: bool
) -> FileContents:
    """Read the files of a part into memory, or load them from the cache.

    Parameters
    ----------
    paths : tuple of Path
    progress : ReadProgress
    told : DataColumns
        Specified columns.
    refuse : bool
        Whether a missing value is an error.
    cache : bool
        Whether to use the cache of parsed files.

    Raises
    ------
    DataError, MissingExtraError
        If the files cannot be read; ZeroIdError for an id 0 unless ids are declared to start at 0.
    """
    part = part_of(paths, recognised_form(paths[0], told), told, refuse=refuse)
    if not part.form.streams:
        table, source, found_as = part.form.read_whole(paths[0], progress, refuse=refuse)
        return FileContents(table, source, found_as)
    return read_into_memory(part, progress, cache=cache)


def read_into_memory(part: PartFiles, progress: ReadProgress, *, cache: bool) -> FileContents:
    """Read files into memory, or load them from the cache; see `read_files`."""
    with ThreadPoolExecutor(1, thread_name_prefix="checksum") as pool:
        files = [_opened(part, path, progress, pool) for path in part.paths]
        progress.stopped = False  # by a reading before this one, that failed
        try:
            pending = [pool.submit(file.checksum) for file in files]
            key = derived_checksum(_joined(_results(pending, progress)), _variant(part)) if cache else ""
            table = _recalled(key, progress, part) if cache else None
            if table is not None:
                progress.advance(sum(file.size for file in files) / 2)
            else:
                builder = TableInMemory(part.paths[0])
                table = builder.finish(part.form.table_reader()(part, files, builder, progress), part.sizes)
                if cache:
                    keep_parsed(key, table, progress.check, sum(file.size for file in files))
            return _contents(part, table, _results(pending, progress))
        except BaseException:
            progress.stopped = True
            raise


def _opened(part: PartFiles, path: Path, progress: ReadProgress, pool: Executor) -> LoadedFile | StreamedFile:
    """Return a file in memory; for a format of a plug-in, which reads it itself, only its checksum is."""
    if not part.form.package:
        return LoadedFile.read(path, progress)
    file = StreamedFile(path, progress, pool)
    file.end()
    return file


def read_to_disk(
    part: PartFiles, progress: ReadProgress, treatment: Treatment, n_features: int = 0
) -> FileContents:
    """Read files into mapped files, or load them from the cache.

    Parameters
    ----------
    part : PartFiles
    progress : ReadProgress
        Receives the progress over all bytes of the files.
    treatment : Treatment
    n_features : int
        Minimum number of columns.

    Returns
    -------
    FileContents
        Mapped read-only arrays, with values filled and scaled as requested.

    Raises
    ------
    DataError
        As in the reader, and if the mapped files cannot be written.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="checksum") as pool:
        found = [store.recalled_checksum(path) for path in part.paths]
        sizes = tuple(regular_file_size(path) for path in part.paths)
        if not all(found) and sizes in source_sizes():
            found = []
            for file in _streamed(part.paths, progress.silent(), pool, found):
                file.end()
        if all(found):
            key = _mapped_key(part, found, treatment, n_features)
            table = find_mapped(mapped_folder() / key, progress.check)
            if table is not None:
                progress.advance(sum(sizes))
                return _contents(part, table, found, treated=True)
        found = []
        try:
            with TableOnDisk(part.paths[0], treatment) as builder:
                facts = part.form.table_reader()(
                    part, _streamed(part.paths, progress, pool, found), builder, progress
                )
                table = builder.finish(
                    facts,
                    _mapped_key(part, found, treatment, n_features),
                    [*zip(sizes, found, strict=True)],
                    n_features=n_features,
                    sizes=part.sizes,
                )
        except OSError as error:
            raise unreadable(part.paths[0], error) from error
        return _contents(part, table, found, treated=True)


def _variant(part: PartFiles) -> str:
    """Return in which way the bytes are parsed; "" for LETOR text with ids from 1."""
    identity = identity_of(part)
    how = part.form.parsing()
    return "" if how == LETOR.parsed_as and not identity else f"{how} {TABLES_VERSION} {identity}"


def _contents(part: PartFiles, table: Table, found: Sequence[str], *, treated: bool = False) -> FileContents:
    """Return what was read of files with these checksums."""
    size = sum(regular_file_size(path) for path in part.paths)
    if part.judgments:
        if part.refuse:
            _refuse_missing(part.paths[0], table)
        every = [text.checksum for text in part.judgments] + [one.partition(":")[2] for one in found]
        source = Source(part.paths[0], size, derived_checksum(found[0], json.dumps(every)))
        names = ", ".join(text.path.name for text in part.judgments)
        return FileContents(table, source, ReadAs(part.form.key, names), treated)
    source = Source(part.paths[0], size, derived_checksum(_joined(found), identity_of(part)))
    as_read = read_as(part.paths[0], part.form, table.told_by, no_queries=part.told.no_queries)
    return FileContents(table, source, as_read, treated)


def _refuse_missing(path: Path, table: Table) -> None:
    """Refuse the first missing value of a table of joined documents.

    Raises
    ------
    MissingValueError
    """
    for begin in range(0, len(table.y) if table.missing.any() else 0, _PIECE):
        rows, columns = np.nonzero(np.isnan(table.X[begin : begin + _PIECE]))
        if rows.size:
            row = begin + int(rows[0])
            query = table.query_ids[int(np.searchsorted(table.query_ptr, row, side="right")) - 1]
            name = table.feature_names[int(columns[0])]
            found = quoted(f"{query} {document_id(table.comments[row])}: {name}")
            raise MissingValueError(path, 0, 0, found, tr("a value of every feature"))


def _recalled(key: str, progress: ReadProgress, part: PartFiles) -> Table | None:
    """Return the table from the store, unless the text is needed to say what is wrong with it."""
    table = find_parsed(key, progress.check)
    if table is None or (part.refuse and table.missing.any()):
        return None
    most = part.most_features
    greatest = table.feature_ids[-1] if table.feature_ids.size else table.X.shape[1]
    return None if most is not None and greatest > most else table


def _streamed(
    paths: Sequence[Path], progress: ReadProgress, pool: Executor, found: list[str]
) -> Iterator[StreamedFile]:
    """Yield files one after the other, and add the checksum of each that was read to its end."""
    for path in paths:
        state = store.source_state(path)
        file = StreamedFile(path, progress, pool)
        yield file
        found.append(file.checksum())
        store.remember_checksum(path, state, found[-1])


def _mapped_key(part: PartFiles, found: Sequence[str], treatment: Treatment, n_features: int) -> str:
    """Return by what the mapped table of files with these checksums is found."""
    how = (treatment.missing, treatment.normalize, n_features, _variant(part))
    return hashlib.sha256(json.dumps([_MAPPED_VERSION, list(found), *how]).encode()).hexdigest()


def _results(pending: Sequence[Future[str]], progress: ReadProgress) -> list[str]:
    return [progress.result(future) for future in pending]


def _joined(found: Sequence[str]) -> str:
    """Return one checksum for that of several files."""
    return found[0] if len(found) == 1 else derived_checksum("", json.dumps([*found]))
