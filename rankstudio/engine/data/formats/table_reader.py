"""Read the files of a part: into memory, or to the disk; or find what was once read of the same bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rankstudio.engine.data import store
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.file_access import regular_file_size
from rankstudio.engine.data.formats.group_sizes import read_sizes, sizes_file
from rankstudio.engine.data.formats.recognised_form import identity_of, read_as, recognised_form
from rankstudio.engine.data.formats.trec import graded_documents, run_scores, runs_beside
from rankstudio.engine.data.kept_tables import (
    find_mapped,
    find_parsed,
    keep_parsed,
    mapped_folder,
    source_sizes,
)
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.source import ReadAs, Source
from rankstudio.engine.data.source_file import LoadedFile, StreamedFile
from rankstudio.engine.data.table import Table
from rankstudio.engine.data.table_builder import (
    FormatReader,
    PartFiles,
    TableInMemory,
    TableOnDisk,
    Treatment,
    unreadable,
)
from rankstudio.engine.data.text_lines import read_lines
from rankstudio.engine.errors import DatasetError, shown_path
from rankstudio.engine.language import tr

TABLES_VERSION = 3
"""Of the readers of tables: to be raised when they would give other values."""

_MAPPED_VERSION = 2  # to be raised whenever the same files would give other mapped arrays
_SEVERAL = ("letor", "arrow")  # forms of which several files may be one part


@dataclass(frozen=True, eq=False)
class FileContents:
    """What was read from the files of a part.

    Attributes
    ----------
    table : Table
    source : Source
    read_as : ReadAs
    treated : bool
        Whether missing values are filled in, and features scaled, as was asked for.
    """

    table: Table
    source: Source
    read_as: ReadAs
    treated: bool = False


def part_of(paths: tuple[Path, ...], form: str, told: DataColumns, *, refuse: bool) -> PartFiles:
    """Return files of such a form as a part, with the sizes of its queries where those stand beside it.

    Raises
    ------
    DatasetError, FileAccessError, FormatError
        Where several files cannot be one part, or that of sizes is none.
    """
    beside = sizes_file(paths[0]) if form != "letor" else None
    if len(paths) > 1 and (form not in _SEVERAL or beside is not None):
        raise DatasetError(
            tr(
                "{path}: found {n} files for one part; expected one file, or several in LETOR, "
                "Parquet or Arrow format."
            ).format(path=shown_path(paths[0]), n=len(paths))
        )
    return PartFiles(paths, form, told, None if beside is None else read_sizes(beside), refuse)


def read_files(
    paths: tuple[Path, ...], progress: ReadProgress, told: DataColumns, *, refuse: bool, cache: bool
) -> FileContents:
    """Read the files of a part into memory, or find what was once read from the same bytes in the same way.

    Parameters
    ----------
    paths : tuple of Path
    progress : ReadProgress
    told : DataColumns
        What is known of the columns.
    refuse : bool
        Whether a missing value is an error.
    cache : bool
        Whether to use the store of parsed files.

    Raises
    ------
    DataError, MissingExtraError
        Where they cannot be read; ZeroIdError at an id 0 where it is not told that ids begin with it.
    """
    form = recognised_form(paths[0], told)
    if form == "trec" and len(paths) == 1:
        return _read_trec(paths[0], progress, refuse=refuse)
    return read_into_memory(part_of(paths, form, told, refuse=refuse), progress, cache=cache)


def read_into_memory(part: PartFiles, progress: ReadProgress, *, cache: bool) -> FileContents:
    """Read files into memory, or find what was once read; see `read_files`."""
    files = [LoadedFile.read(path, progress) for path in part.paths]
    progress.stopped = False  # by a reading before this one, that failed
    with ThreadPoolExecutor(1, thread_name_prefix="checksum") as pool:
        try:
            pending = [pool.submit(file.checksum) for file in files]
            key = _derived(_joined(_results(pending, progress)), _variant(part)) if cache else ""
            table = _recalled(key, progress, part) if cache else None
            if table is not None:
                progress.advance(sum(file.size for file in files) / 2)
            else:
                builder = TableInMemory(part.paths[0])
                table = builder.finish(_reader(part.form)(part, files, builder, progress), part.sizes)
                if cache:
                    keep_parsed(key, table, progress.check, sum(file.size for file in files))
            return _contents(part, table, _results(pending, progress))
        except BaseException:
            progress.stopped = True
            raise


def read_to_disk(
    part: PartFiles, progress: ReadProgress, treatment: Treatment, n_features: int = 0
) -> FileContents:
    """Read files into mapped files, or find what was once read of the same bytes in the same way.

    Parameters
    ----------
    part : PartFiles
    progress : ReadProgress
        Told of all bytes of the files.
    treatment : Treatment
    n_features : int
        Least number of columns.

    Returns
    -------
    FileContents
        Its arrays mapped and read-only, its values filled in and scaled as the treatment says.

    Raises
    ------
    DataError
        As the reader raises it, and where what is read cannot be written.
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
                facts = _reader(part.form)(
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


def _read_trec(path: Path, progress: ReadProgress, *, refuse: bool) -> FileContents:
    """Read judgements with the runs beside them."""
    qrels = read_lines(path)
    texts = {name: read_lines(file) for name, file in runs_beside(path).items()}
    progress.advance(qrels.size / 2)
    table = graded_documents(qrels, {n: run_scores(text) for n, text in texts.items()}, refuse=refuse)
    progress.advance(qrels.size / 2)
    identity = json.dumps([[name, text.checksum] for name, text in texts.items()])
    source = Source(path, qrels.size, _derived(f"sha256:{qrels.checksum}", identity))
    return FileContents(table, source, ReadAs("trec", ", ".join(texts)))


def _reader(form: str) -> FormatReader:
    """Return what reads such files; imported only now, as who opens what is known does not wait for it."""
    if form == "arrow":
        from rankstudio.engine.data.formats.arrow import read_arrow  # noqa: PLC0415 - see above

        return read_arrow
    if form == "csv":
        from rankstudio.engine.data.formats.csv_text import read_csv  # noqa: PLC0415 - see above

        return read_csv
    from rankstudio.engine.data.formats.letor import read_letor  # noqa: PLC0415 - numba takes long

    return read_letor


def _variant(part: PartFiles) -> str:
    """Return in which way the bytes are parsed; "" for LETOR text with ids from 1."""
    identity = identity_of(part)
    return "" if part.form == "letor" and not identity else f"{part.form} {TABLES_VERSION} {identity}"


def _contents(part: PartFiles, table: Table, found: Sequence[str], *, treated: bool = False) -> FileContents:
    """Return what was read of files with these checksums."""
    size = sum(regular_file_size(path) for path in part.paths)
    source = Source(part.paths[0], size, _derived(_joined(found), identity_of(part)))
    return FileContents(table, source, read_as(part.paths[0], part.form, table.told_by), treated)


def _recalled(key: str, progress: ReadProgress, part: PartFiles) -> Table | None:
    """Return the table from the store, unless the text is needed to say what is wrong with it."""
    table = find_parsed(key, progress.check)
    if table is None or (part.refuse and table.missing.any()):
        return None
    most = part.most_features
    return None if most is not None and table.X.shape[1] > most else table


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
    return found[0] if len(found) == 1 else _derived("", json.dumps([*found]))


def _derived(checksum: str, what: str) -> str:
    """Return the checksum of some bytes together with how they are read; the same where that is "".

    Examples
    --------
    >>> _derived("sha256:00", "")
    'sha256:00'
    """
    return f"sha256:{hashlib.sha256(f'{checksum} {what}'.encode()).hexdigest()}" if what else checksum
