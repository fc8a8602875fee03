"""Parquet and Arrow files larger than the memory budget: read some rows at a time into mapped files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from operator import add
from pathlib import Path
from typing import Any

from rankstudio.engine.data.large import checksums
from rankstudio.engine.data.large.letor_reader import ChecksummedFiles, LargePart
from rankstudio.engine.data.large.rows import add_documents, check_same, one_part
from rankstudio.engine.data.large.table_folder import TableText
from rankstudio.engine.data.large.table_writer import TableWriter
from rankstudio.engine.data.letor.file_access import PARQUET, regular_file_size
from rankstudio.engine.data.letor.parsed_table import Table
from rankstudio.engine.data.letor.progress import ReadProgress
from rankstudio.engine.data.tabular.documents import read_documents
from rankstudio.engine.data.tabular.parquet import columns_of, damaged, without_lists
from rankstudio.engine.errors import DatasetError, MissingExtraError, RankStudioError, shown_path
from rankstudio.engine.language import tr

ROWS = 1 << 14  # at a time
_BUFFER = 1 << 15  # bytes of a column that are read at a time; its page of a megabyte is there besides


def arrow_size(path: Path) -> float:
    """Return how many bytes the numbers of a file take in memory.

    Raises
    ------
    FileAccessError, MissingExtraError
        Where it cannot be read.
    """
    rows, schema = _described(path)
    return 8.0 * rows * sum(getattr(field.type, "list_size", 1) for field in schema)


def first_rows(path: Path, n_rows: int) -> Any:
    """Return the first rows of a file as a table, without reading the others.

    Raises
    ------
    FileAccessError, MissingExtraError
        Where it cannot be read.
    """
    return (
        next((frame.slice(0, n_rows) for _, frame in _frames(path)), None)
        or _described(path)[1].empty_table()
    )


def read_arrow(part: LargePart, progress: ReadProgress, files: ChecksummedFiles) -> Table:
    """Read Parquet and Arrow files; see `letor_reader.read_large`.

    Raises
    ------
    DataError, MissingExtraError
        Where they cannot be read, or do not have the same columns.
    """
    totals = [_described(path)[0] for path in part.paths]
    with TableWriter(part.paths[0], part.treatment, "row") as writer:
        first: Table | None = None
        for path in part.paths:
            state = checksums.state_of(path)
            packed = files.open(path, progress)
            for _ in packed.pieces():
                pass
            files.add(packed, state)
            for row, frame in _frames(path):
                progress.check()
                if not frame.num_rows:
                    continue
                refuse = part.treatment.missing == "refuse"
                table = one_part(path, read_documents(columns_of(path, frame, row), part.told, refuse=refuse))
                first = first or table
                check_same(path, row, first, table)
                share = (writer.n_documents + len(table.y)) / max(sum(totals), 1)
                add_documents(writer, table, partial(add, row + 1), share)
        if first is None:
            raise DatasetError(
                tr("{path}: found no rows, expected at least one document.").format(
                    path=shown_path(part.paths[0])
                )
            )
        known = first
        sources = tuple(
            (regular_file_size(path), found) for path, found in zip(part.paths, files.found, strict=True)
        )
        return writer.finish(
            max(known.X.shape[1], part.n_features),
            lambda: part.key(files.found),
            lambda ids, scattered: TableText(
                ids, True, scattered, sources, known.feature_names, known.left_out, known.told_by
            ),
        )


def _described(path: Path) -> tuple[int, Any]:
    """Return how many rows a file has, and its schema."""
    pa, pq = _libraries(path)
    try:
        if _is_parquet(path):
            with pq.ParquetFile(path) as file:
                return int(file.metadata.num_rows), file.schema_arrow
        with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as reader:
            rows = sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches))
            return rows, reader.schema
    except Exception as error:  # a damaged file fails in many ways
        raise damaged(path, error) from None


def _frames(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield some rows of a file at a time, as tables, each with the number of its first row."""
    pa, _ = _libraries(path)
    done = 0
    batches = _batches(path)
    while True:
        try:
            batch = next(batches, None)
            if batch is None:
                return
            batch.validate(full=True)
            frame = without_lists(pa.Table.from_batches([batch]))
        except RankStudioError:
            raise
        except Exception as error:
            raise damaged(path, error) from None
        for begin in range(0, frame.num_rows, ROWS):
            yield done + begin, frame.slice(begin, ROWS)
        done += frame.num_rows


def _batches(path: Path) -> Iterator[Any]:
    pa, pq = _libraries(path)
    if _is_parquet(path):
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER) as file:
            yield from file.iter_batches(batch_size=ROWS)
        return
    with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as reader:
        for i in range(reader.num_record_batches):
            yield reader.get_batch(i)


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(PARQUET)) == PARQUET


def _libraries(path: Path) -> tuple[Any, Any]:
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError(path.name, "pyarrow", "parquet") from None
    return pa, pq
