"""Reads the parts of a dataset: into memory if the memory budget suffices, otherwise into mapped files.

Files that were read before in the same way are loaded from the store.
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
from rankstudio.engine.data.formats.recognised_form import (
    identity_of,
    read_as,
    recognised_form,
)
from rankstudio.engine.data.judgments import Judgments
from rankstudio.engine.data.kept_tables import (
    find_mapped,
    find_parsed,
    keep_parsed,
    mapped_folder,
    source_sizes,
)
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.source_file import (
    LoadedFile,
    StreamedFile,
    derived_checksum,
    quoted,
    read_text,
)
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
"""Share of the memory budget for data; the rest is for computations with them."""

_ALWAYS_FITTING_BYTES = 1 << 27  # files with fewer bytes in total always fit
_DOCUMENTS_AT_ONCE = 4096  # documents that are searched for missing values at a time
# With fewer free bytes, files are not mapped: they fit into memory, or are refused.
_MIN_FREE_BYTES = 1 << 28

Files = tuple[Path, ...]


def exceeds_budget(parts: Sequence[Files], specified: DataColumns) -> bool:
    """Return whether the files of a dataset probably exceed the data's share of the memory limit.

    If so, the documents are read from disk as needed. Text with mostly
    zeros stays in memory, where zeros are not stored: with zeros it
    would fill the disk.

    Parameters
    ----------
    parts : sequence of tuple of Path
        The files of each part.
    specified : DataColumns
        Specified columns and files.

    Raises
    ------
    OutOfMemoryError
        If text with mostly zeros exceeds the memory limit.

    Notes
    -----
    O(parts): the beginning of each file is read unless all files are small.
    """
    # A file that belongs to feature logs (responses of a search engine)
    # stands for all the log files; logs_of() gives these first, () for
    # other data.
    parts = [
        logs_of(part, recognised_form(part[0], specified), specified)[0] or part
        for part in parts
    ]
    files = {path for part in parts for path in part}
    memory_for_data = SHARE * memory.budget()
    size_of_files = sum(regular_file_size(path) for path in files)
    # Small files always fit, even if their data take 64 times their
    # size. With little free memory, data either fit, too, or are
    # refused.
    if (
        size_of_files < min(_ALWAYS_FITTING_BYTES, memory_for_data / 64)
        or memory.available() < _MIN_FREE_BYTES
    ):
        return False
    # Estimate the bytes. All tables are in memory, but the text of one
    # part at a time, as parts are read one after the other.
    needs = {path: recognised_form(path, specified).memory_need(path) for path in files}
    texts = [sum(needs[path].text for path in part) for part in parts]
    need = sum(memory_need.table for memory_need in needs.values()) + max(texts)
    # Data that are mostly 0 are never read from disk.
    sparse_file = next(
        (path for path, memory_need in needs.items() if memory_need.stores_no_zeros),
        None,
    )
    if sparse_file is None or need <= memory_for_data:
        return need > memory_for_data
    if need > memory.budget():
        text = tr(
            "{path}: the values other than 0 need about {size} of memory; the memory limit is {budget}. "
            "Raise the limit, or leave out documents or features."
        )
        raise OutOfMemoryError(
            text.format(
                path=sparse_file,
                size=memory.size(int(need)),
                budget=memory.size(memory.budget()),
            )
        )
    return False


class PartReader:
    """Reads each file of a dataset once, and makes datasets from the contents.

    Parameters
    ----------
    path : Path
        Path of the dataset, for messages.
    parts : sequence of tuple of Path
        The files of each part.
    progress : ReadProgress
        Receives the progress over all bytes of the files.
    specified : DataColumns
        Specified columns and files.
    missing : {"query_min", "zero", "refuse"}
        Whether a missing value becomes the smallest value of the
        feature in its query, becomes 0, or is an error.
    normalize : False or "query_minmax"
        Whether to scale features to [0, 1] within each query.
    cache : bool
        Whether to read and write the cache of parsed files.
    several_folds : bool
        Whether there are several folds: a message then says that a
        single fold needs less memory.
    """

    def __init__(
        self,
        path: Path,
        parts: Sequence[Files],
        progress: ReadProgress,
        specified: DataColumns,
        missing: Missing,
        normalize: Normalize,
        *,
        cache: bool,
        several_folds: bool = False,
    ) -> None:
        """Prepare to read the files of ``parts``; begin with empty caches of the results.

        ``path`` is the dataset, for messages. ``specified`` are columns
        and files that the user names, ``missing`` and ``normalize`` say
        how values are treated, and ``cache`` whether the cache of
        parsed files is used. With ``several_folds``, a message advises
        to open one.
        """
        self._path = path
        self._parts = parts
        self._progress = progress
        self._specified = specified
        self._treatment = Treatment(missing, bool(normalize))
        self._cache = cache
        self._several_folds = several_folds
        # by checksum of the files, and name of the part ("" for any)
        self._datasets: dict[tuple[str, str], RankingDataset] = {}
        # by id() of the array of labels of a dataset
        self._judgments: dict[int, Judgments] = {}

    def read(self) -> dict[Files, FileContents]:
        """Read each part once; return the contents of each part by its files.

        Feature ids count from 1. If any file has an id 0, all are read
        again with ids that count from 0, unless the user specified the
        first id.
        """
        try:
            return self._read_parts()
        except ZeroIdError:
            if self._specified.ids_from is not None:
                raise
            # Ids begin at 0 in all files, also in files without an id 0.
            self._specified = replace(self._specified, ids_from=0)
            return self._read_parts()

    def _read_parts(self) -> dict[Files, FileContents]:
        """Read each part once, into memory or into mapped files if the data are large.

        Raise DatasetError as soon as the parts take nearly all the memory.
        """
        is_large = exceeds_budget(self._parts, self._specified)
        contents_of_part: dict[Files, FileContents] = {}
        # Several folds may have the same part.
        for part in self._parts:
            if part not in contents_of_part:
                contents_of_part[part] = self._contents(part, is_large)
                _check_memory(
                    self._path, list(contents_of_part.values()), self._several_folds
                )
        return contents_of_part

    def datasets(
        self, part: Files, file_contents: FileContents, name: str, width: int
    ) -> dict[str, RankingDataset]:
        """Return the datasets of the contents by the name of the part: "train", "vali" or "test".

        A table with a column for the part gives several datasets, other
        files give one. Files with equal contents share arrays.

        Parameters
        ----------
        part : tuple of Path
            The files.
        file_contents : FileContents
            Contents of the files, which are changed in place.
        name : str
            Name of the part, if the contents do not state it.
        width : int
            Number of features in all parts together.
        """
        self._progress.check()
        # Other parts may be wider: write the mapped file again, unless
        # the format is not read piece by piece (None).
        if in_file(file_contents.table.X) and file_contents.table.X.shape[1] < width:
            file_contents = (
                self._to_disk(part, self._progress.silent(), width) or file_contents
            )
        datasets = {}
        for part_name, table in tables_by_part(file_contents.table, name).items():
            # Files with equal contents are made into a dataset once,
            # whatever their part.
            key = (
                file_contents.source.checksum,
                part_name if file_contents.table.parts.size else "",
            )
            if key not in self._datasets:
                self._datasets[key] = self.dataset(
                    replace(file_contents, table=table), width
                )
            data = self._datasets[key]
            # Documents that the judge in use did not label are counted in a note.
            n_unjudged = len(table.y) - data.n_documents
            notes = table.notes(str(file_contents.source.path))
            notes += self._unjudged(file_contents, n_unjudged)
            source = self._source(file_contents)
            datasets[part_name] = replace(data, source=source, warnings=notes)
        return datasets

    def dataset(self, file_contents: FileContents, width: int) -> RankingDataset:
        """Return the contents of a file as one dataset with ``width`` features.

        With several judges, that is, several labels per document, the
        dataset has the documents and labels of the judge in use.
        Missing values are filled from all documents, so that features
        do not depend on the judge. The labels of all judges are stored,
        too: :meth:`judgments` returns them.
        """
        # With several judges, labels are a matrix, NaN where one is missing.
        table = file_contents.table
        judges = self._specified.judges
        labels = table.y
        judge = judges.index(self._specified.label) if judges else 0
        dataset = RankingDataset.of_table(
            replace(table, y=np.nan_to_num(labels[:, judge])) if judges else table,
            self._source(file_contents),
            # In mapped files, missing values are filled and features
            # scaled already (``treated``): "refuse" fills nothing.
            missing="refuse" if file_contents.treated else self._treatment.missing,
            n_features=width,
            normalize=not file_contents.treated and self._treatment.normalize,
        )
        if not judges:
            return dataset
        # Keep the documents with a label of the judge in use.
        judged = np.flatnonzero(~np.isnan(labels[:, judge]))
        if not judged.size:
            raise DatasetError(
                tr(
                    "{path}: found no label of {judge} for any document; expected at least one."
                ).format(
                    path=file_contents.source.path, judge=quoted(self._specified.label)
                )
            )
        data = (
            dataset if judged.size == len(labels) else select_documents(dataset, judged)
        )
        # Store the labels of all judges for `judgments`, under the
        # identity of the dataset's array of labels: copies of the
        # dataset with other attributes share this array.
        judgments = Judgments(judges, labels, dataset.query_ptr, dataset.query_ids)
        self._judgments[id(data.y)] = judgments
        return data

    def _source(self, file_contents: FileContents) -> Source:
        """Return the source of the documents of some files, with path and checksum.

        With several judges, the checksum depends on the judge in use,
        as labels do.
        """
        if not self._specified.judges:
            return file_contents.source
        checksum = derived_checksum(
            file_contents.source.checksum, f"label {self._specified.label}"
        )
        return replace(file_contents.source, checksum=checksum)

    def judgments(self, part: RankingDataset) -> Judgments:
        """Return the judgments of all judges for the documents of a part.

        The part is one that this reader created, or a copy with the
        same array of labels, by whose identity they are stored.
        """
        # The key is the identity of the array of labels, which each
        # part has for itself.
        return self._judgments[id(part.y)]

    def _unjudged(self, file_contents: FileContents, n: int) -> tuple[str, ...]:
        """Return a note on n documents that the judge in use has not judged.

        Return () if n is 0 or no note is needed.
        """
        if not n:
            return ()
        text = trn(
            "{path}: {n} document without a label of {judge} is left out.",
            "{path}: {n} documents without a label of {judge} are left out.",
            n,
        )
        judge = quoted(self._specified.label)
        return (
            text.format(path=file_contents.source.path, n=count_text(n), judge=judge),
        )

    def notes(self, folds: Sequence[Fold]) -> tuple[str, ...]:
        """Return a note on data that are read from disk as needed, with the reason.

        Return () if all data are in memory.
        """
        # Folds may share a part: count each once.
        parts = {
            id(part.X): part
            for fold in folds
            for part in fold.parts.values()
            if in_file(part.X)
        }
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

    def _contents(self, part: Files, is_large: bool) -> FileContents:
        """Read the files of a part into memory, or into mapped files.

        Mapped files are used if the data are large, and the format can
        be read piece by piece. ``is_large`` is whether the data are
        large.
        """
        _refuse_judges(
            part[0], recognised_form(part[0], self._specified), self._specified
        )
        # None for a format that is not read piece by piece.
        on_disk = self._to_disk(part, self._progress) if is_large else None
        return on_disk or read_files(
            part,
            self._progress,
            self._specified,
            refuse=self._refuses,
            cache=self._cache,
        )

    def _to_disk(
        self, part: Files, progress: ReadProgress, width: int = 0
    ) -> FileContents | None:
        """Read a part into mapped files with at least ``width`` columns.

        Return None if the format cannot be read piece by piece.
        """
        form = recognised_form(part[0], self._specified)
        part_files = part_of(part, form, self._specified, refuse=self._refuses)
        if not part_files.form.is_streamed:
            return None
        return read_to_disk(part_files, progress, self._treatment, width)

    @property
    def _refuses(self) -> bool:
        """Whether a missing value is an error."""
        return self._treatment.missing == "refuse"


def _refuse_judges(path: Path, form: DataFormat, specified: DataColumns) -> None:
    """Raise DatasetError for label columns of several judges if a format has one label per document.

    ``specified`` has the label columns that the user named; ``path`` is
    for the message.
    """
    if specified.labels and not form.is_table:
        text = (
            tr(
                "{path}: feature logs have no label columns; name a file of judgments for each judge instead."
            )
            if form.is_joined
            else tr(
                "{path}: LETOR and SVMlight text has one label per document, but {n} label columns are "
                "named. Several judges need a table (CSV, TSV, Parquet or Arrow)."
            )
        )
        raise DatasetError(text.format(path=shown_path(path), n=len(specified.labels)))


def _check_memory(
    path: Path, parts_read: Sequence[FileContents], has_several_folds: bool
) -> None:
    """Raise `DatasetError` if the parts read so far take nearly all the memory.

    The message advises to open a single fold if there are several.
    """
    needed = sum(
        part.table.X.nbytes for part in parts_read if not in_file(part.table.X)
    )
    free = memory.available()
    # "Nearly all" is 90 %.
    if needed > 0.9 * (needed + free):
        advice = (
            tr("open a single fold")
            if has_several_folds
            else tr("leave out unused features or renumber them")
        )
        raise DatasetError(
            tr(
                "{path}: not enough memory: the data read so far take {size}, and {size_2} are "
                "free; {advice}."
            ).format(
                path=path,
                size=memory.size(needed),
                size_2=memory.size(free),
                advice=advice,
            )
        )


TABLES_VERSION = 3
"""Version of the readers of tables: raise it when they would return other values."""

_MAPPED_VERSION = 3  # raise it when the same files would give other mapped arrays


@dataclass(frozen=True, eq=False)
class FileContents:
    """Contents of the files of a part of a dataset.

    Attributes
    ----------
    table : Table
        The documents.
    source : Source
        Path, size and checksum.
    read_as : ReadAs
        How the files were read, such as their format.
    treated : bool
        Whether missing values are filled and features scaled as requested.
    """

    table: Table
    source: Source
    read_as: ReadAs
    treated: bool = False


def part_of(
    paths: tuple[Path, ...], form: DataFormat, specified: DataColumns, *, refuse: bool
) -> PartFiles:
    """Return files of a format as a part, with the files that belong to it.

    A part is the training, validation or test documents of a fold. The
    files that belong to it are the judgments of feature logs, or a file
    with the numbers of documents of the queries. ``specified`` are the
    columns and files that the user names, ``refuse`` is whether a
    missing value is an error.

    Raises
    ------
    DatasetError, FileAccessError, FormatError
        If several files cannot form one part, or the file of sizes is invalid.
    """
    # Feature logs are joined with their judgments.
    logs, judgments = logs_of(paths, form, specified)
    if logs:
        texts = tuple(map(read_text, judgments))
        # A joined format has marks, texts at the beginning of its
        # files. Logs that were recognised as another format are joined,
        # too.
        joining_form = form if form.marks else joined_format(logs[0])
        return PartFiles(logs, joining_form, specified, refuse=refuse, judgments=texts)
    # A format that is not read piece by piece has no further files.
    if not form.is_streamed:
        return PartFiles(paths, form, specified, refuse=refuse)
    # A file beside the data may give the sizes of queries.
    may_have_sizes = form.takes_sizes and not specified.no_queries
    size_file = sizes_file(paths[0]) if may_have_sizes else None
    if len(paths) > 1 and (not form.several_files or size_file is not None):
        raise DatasetError(
            tr(
                "{path}: found {n} files for one part; expected one file, or several in LETOR, "
                "Parquet or Arrow format."
            ).format(path=shown_path(paths[0]), n=len(paths))
        )
    sizes = None if size_file is None else read_sizes(size_file)
    return PartFiles(paths, form, specified, sizes=sizes, refuse=refuse)


def logs_of(
    paths: Files, form: DataFormat, specified: DataColumns
) -> tuple[Files, Files]:
    """Return feature logs and the files of their judgments; () and () for other data."""
    if specified.judgments:
        return paths, tuple(map(Path, specified.judgments))
    if specified.no_labels:
        return (paths if form.marks else ()), ()
    return form.logs_of(paths)


def read_files(
    paths: tuple[Path, ...],
    progress: ReadProgress,
    specified: DataColumns,
    *,
    refuse: bool,
    cache: bool,
) -> FileContents:
    """Read the files of a part of a dataset into memory, or load their contents from the cache.

    Parameters
    ----------
    paths : tuple of Path
        Files of the part, in order.
    progress : ReadProgress
        Receives the progress over all bytes of the files.
    specified : DataColumns
        Columns and format that the user specified.
    refuse : bool
        Whether a missing value is an error.
    cache : bool
        Whether to use the cache of parsed files.

    Raises
    ------
    DataError, MissingExtraError
        If the files cannot be read; ZeroIdError for an id 0 unless ids
        are declared to start at 0.
    """
    part = part_of(
        paths, recognised_form(paths[0], specified), specified, refuse=refuse
    )
    # A format that is not read piece by piece reads the first file and
    # all that belong to it.
    if not part.form.is_streamed:
        table, source, as_read = part.form.read_whole(paths[0], progress, refuse=refuse)
        return FileContents(table, source, as_read)
    return read_into_memory(part, progress, cache=cache)


def read_into_memory(
    part: PartFiles, progress: ReadProgress, *, cache: bool
) -> FileContents:
    """Read the files of a part of a dataset into memory, or load their contents from the cache.

    ``cache`` is whether to use the cache of parsed files, which is
    keyed by the checksum of the files. Raise DataError if a file cannot
    be read.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="checksum") as pool:
        files = [_open_file(part, path, progress, pool) for path in part.paths]
        progress.stopped = False  # an earlier reading that failed has set it
        try:
            # Compute the checksums in a second thread.
            pending = [pool.submit(file.checksum) for file in files]
            key = ""
            if cache:
                joint_checksum = _joint_checksum(_awaited_results(pending, progress))
                key = derived_checksum(joint_checksum, _parsing_key(part))
            # Load the table of the same bytes, or parse the files.
            table = _stored_table(key, progress, part) if cache else None
            if table is not None:
                # The checksums have reported one half of the bytes;
                # parsing would report the other.
                progress.advance(sum(file.size for file in files) / 2)
            else:
                builder = TableInMemory(part.paths[0])
                # The reader of the format passes the documents to the
                # builder, and returns facts about them, such as the
                # number of features.
                read_table = part.form.table_reader()
                facts = read_table(part, files, builder, progress)
                table = builder.finish(facts, part.sizes)
                if cache:
                    keep_parsed(
                        key, table, progress.check, sum(file.size for file in files)
                    )
            return _contents(part, table, _awaited_results(pending, progress))
        except BaseException:
            # Ends the computation of checksums in the other thread.
            progress.stopped = True
            raise


def _open_file(
    part: PartFiles, path: Path, progress: ReadProgress, pool: Executor
) -> LoadedFile | StreamedFile:
    """Return a file of a part, read into memory.

    The reader of a plug-in opens the file itself: then the file is only
    read for its checksum here. ``pool`` computes the checksum.
    """
    if not part.form.package:
        return LoadedFile.read(path, progress)
    file = StreamedFile(path, progress, pool)
    file.end()
    return file


def read_to_disk(
    part: PartFiles, progress: ReadProgress, treatment: Treatment, n_features: int = 0
) -> FileContents:
    """Read the files of a part into arrays on disk that are mapped into memory, or find these in the cache.

    Parameters
    ----------
    part : PartFiles
        The files, and how they are read.
    progress : ReadProgress
        Receives the progress over all bytes of the files.
    treatment : Treatment
        How missing values are filled, and whether features are scaled.
    n_features : int
        Minimum number of columns.

    Returns
    -------
    FileContents
        Mapped read-only arrays, with values filled and scaled as requested.

    Raises
    ------
    DataError
        If a file cannot be read or is invalid, or the mapped files
        cannot be written.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="checksum") as pool:
        # A checksum per file from an earlier reading, "" for a file
        # that changed since; and the size of each file in bytes.
        checksums = [store.recalled_checksum(path) for path in part.paths]
        file_sizes = tuple(regular_file_size(path) for path in part.paths)
        # Reading the files only for their checksums is worthwhile if a
        # table of files of these sizes exists.
        if not all(checksums) and file_sizes in source_sizes():
            # `_stream_files` appends the checksum of each file once the
            # file is read to its end.
            checksums = []
            for file in _stream_files(part.paths, progress.silent(), pool, checksums):
                file.end()
        # If all checksums are known, a table of the same bytes may be in the cache.
        if all(checksums):
            key = _key_of_mapped_table(part, checksums, treatment, n_features)
            table = find_mapped(mapped_folder() / key, progress.check)
            if table is not None:
                progress.advance(sum(file_sizes))
                return _contents(part, table, checksums, treated=True)
        # The checksums of the bytes that are read now, which
        # `_stream_files` appends.
        new_checksums: list[str] = []
        try:
            with TableOnDisk(part.paths[0], treatment) as builder:
                facts = part.form.table_reader()(
                    part,
                    _stream_files(part.paths, progress, pool, new_checksums),
                    builder,
                    progress,
                )
                table = builder.finish(
                    facts,
                    _key_of_mapped_table(part, new_checksums, treatment, n_features),
                    [*zip(file_sizes, new_checksums, strict=True)],
                    n_features=n_features,
                    # the number of documents of each query, or None
                    sizes=part.sizes,
                )
        except OSError as error:
            raise unreadable(part.paths[0], error) from error
        return _contents(part, table, new_checksums, treated=True)


def _parsing_key(part: PartFiles) -> str:
    """Return a text that says how the bytes of a part's files are parsed, for keys of the cache.

    Return "" for LETOR text with ids from 1, the usual case.
    """
    # The user's specifications, and the key of the reader.
    identity = identity_of(part)
    parser = part.form.parsing()
    return (
        ""
        if parser == LETOR.parsed_as and not identity
        else f"{parser} {TABLES_VERSION} {identity}"
    )


def _contents(
    part: PartFiles, table: Table, checksums: Sequence[str], *, treated: bool = False
) -> FileContents:
    """Return the table of a part with its source, whose checksum covers all its files.

    ``checksums`` are those of the files; ``treated`` is whether missing
    values are filled and features scaled already.
    """
    size = sum(regular_file_size(path) for path in part.paths)
    # The checksum of logs covers the files of judgments, too.
    if part.judgments:
        if part.refuse:
            _refuse_missing(part.paths[0], table)
        # Checksums of the logs are "sha256:…", of which only the digits
        # count; those of the judgments have digits only.
        all_checksums = [text.checksum for text in part.judgments] + [
            checksum.partition(":")[2] for checksum in checksums
        ]
        checksum_of_all = derived_checksum(checksums[0], json.dumps(all_checksums))
        source = Source(part.paths[0], size, checksum_of_all)
        names = ", ".join(text.path.name for text in part.judgments)
        return FileContents(table, source, ReadAs(part.form.key, names), treated)
    # The checksum of other files covers how they are read, too.
    checksum_of_all = derived_checksum(_joint_checksum(checksums), identity_of(part))
    source = Source(part.paths[0], size, checksum_of_all)
    as_read = read_as(
        part.paths[0],
        part.form,
        table.role_columns,
        no_queries=part.user_columns.no_queries,
    )
    return FileContents(table, source, as_read, treated)


def _refuse_missing(path: Path, table: Table) -> None:
    """Raise MissingValueError for the first missing value of a table, if there is any.

    The table is of feature logs, which are joined with judgments: the
    message names the query and document instead of a line.
    """
    if not table.missing.any():
        return
    for begin in range(0, len(table.y), _DOCUMENTS_AT_ONCE):
        rows, columns = np.nonzero(
            np.isnan(table.X[begin : begin + _DOCUMENTS_AT_ONCE])
        )
        if rows.size:
            row = begin + int(rows[0])
            # The query that has this row.
            query = table.query_ids[
                int(np.searchsorted(table.query_ptr, row, side="right")) - 1
            ]
            name = table.feature_names[int(columns[0])]
            location = quoted(f"{query} {document_id(table.comments[row])}: {name}")
            raise MissingValueError(
                path, 0, 0, location, tr("a value of every feature")
            )


def _stored_table(key: str, progress: ReadProgress, part: PartFiles) -> Table | None:
    """Return the table of a part that is stored in the cache under a key, or None if there is none.

    Return None, too, if the table has a missing value that is refused,
    or too great a feature id: the text is then parsed, because only it
    shows the position of the error.
    """
    table = find_parsed(key, progress.check)
    if table is None or (part.refuse and table.missing.any()):
        return None
    # The ids ascend; without ids, features count from 1.
    max_features = part.most_features
    greatest = table.feature_ids[-1] if table.feature_ids.size else table.X.shape[1]
    return None if max_features is not None and greatest > max_features else table


def _stream_files(
    paths: Sequence[Path], progress: ReadProgress, pool: Executor, checksums: list[str]
) -> Iterator[StreamedFile]:
    """Yield files one by one, and append the checksum of each after it was read.

    The caller reads each file to its end before it takes the next one.
    The checksum is also remembered on disk, with the file's state (such
    as its time) from before the reading. ``pool`` is for its
    computation.
    """
    for path in paths:
        state = store.source_state(path)
        file = StreamedFile(path, progress, pool)
        yield file
        checksums.append(file.checksum())
        store.remember_checksum(path, state, checksums[-1])


def _key_of_mapped_table(
    part: PartFiles, checksums: Sequence[str], treatment: Treatment, n_features: int
) -> str:
    """Return the cache's key of the table in mapped arrays of a part whose files have some checksums.

    ``treatment`` says how values are filled and scaled, ``n_features``
    the least number of columns.
    """
    how = (treatment.missing, treatment.normalize, n_features, _parsing_key(part))
    return hashlib.sha256(
        json.dumps([_MAPPED_VERSION, list(checksums), *how]).encode()
    ).hexdigest()


def _awaited_results(
    pending: Sequence[Future[str]], progress: ReadProgress
) -> list[str]:
    """Return the results of other threads, once they are ready."""
    return [progress.result(future) for future in pending]


def _joint_checksum(checksums: Sequence[str]) -> str:
    """Return one checksum for the checksums of one or several files."""
    return (
        checksums[0]
        if len(checksums) == 1
        else derived_checksum("", json.dumps([*checksums]))
    )
