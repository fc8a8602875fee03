"""Parquet, Feather and Arrow files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Bytes, Ints
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.letor.file_access import PADDING, PARQUET
from rankstudio.engine.data.letor.parsed_table import Table
from rankstudio.engine.data.tabular.documents import TableColumns, read_documents
from rankstudio.engine.data.tabular.recognition import clean_name, short
from rankstudio.engine.errors import (
    ColumnValueError,
    DataError,
    DatasetError,
    FileAccessError,
    MissingExtraError,
    MissingValueError,
    shown_path,
)
from rankstudio.engine.support import memory


def read_parquet(
    path: Path,
    content: Bytes,
    told: DataColumns,
    *,
    sizes: Ints | None = None,
    refuse: bool = False,
    check: Callable[[], None] = lambda: None,
) -> Table:
    """Read the documents of a Parquet or an Arrow file in memory; see :func:`read_documents`.

    Raises
    ------
    FileAccessError
        Where it is damaged.
    MissingExtraError
        Where the library of the format is not installed.
    """
    frame = arrow_table(path, content)
    where = shown_path(path)

    def column(position: int) -> NDArray[Any]:
        try:
            return np.asarray(frame.column(position).to_numpy())
        except Exception as error:
            raise _damaged(path, error) from None

    def error(row: int, found: str, expected: str, missing: bool = False) -> DataError:
        kind = MissingValueError if missing else ColumnValueError
        return kind(path, 0, 0, f"{found}, row {row + 1}", expected)

    columns = TableColumns(
        where,
        tuple(map(clean_name, frame.column_names)),
        frame.num_rows,
        column,
        column,
        error,
        lambda row: row + 1,
    )
    return read_documents(columns, told, sizes=sizes, refuse=refuse, check=check)


def arrow_table(path: Path, content: Bytes, n_rows: int | None = None) -> Any:
    """Return the table in a Parquet or an Arrow file, or its first rows.

    Raises
    ------
    FileAccessError, DatasetError, MissingExtraError
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError(path.name, "pyarrow", "parquet") from None
    try:
        source = pa.py_buffer(content[: len(content) - PADDING])
        if content[: len(PARQUET)].tobytes() == PARQUET:
            file = pq.ParquetFile(source)
            _check_memory(path, file.metadata.num_rows, file.metadata.num_columns)
            table = file.read() if n_rows is None else _first_batch(pa, file, n_rows)
        else:
            with pa.ipc.open_file(source) as reader:
                table = reader.read_all()
        table.validate(full=True)
    except DatasetError:
        raise
    except Exception as error:  # a damaged file fails in many ways
        raise _damaged(path, error) from None
    return table if n_rows is None else table.slice(0, n_rows)


def _first_batch(pa: Any, file: Any, n_rows: int) -> Any:
    first = next(file.iter_batches(batch_size=n_rows), None)
    return pa.Table.from_batches([] if first is None else [first], file.schema_arrow)


def _check_memory(path: Path, rows: int, columns: int) -> None:
    needed, free = 8 * rows * columns, memory.available()
    if rows < 0 or needed > free:
        raise DatasetError(
            f"{shown_path(path)}: {rows} rows of {columns} columns need {needed / 1e9:.1f} GB of memory, and "
            f"{memory.size(free)} are free."
        )


def _damaged(path: Path, error: Exception) -> FileAccessError:
    if isinstance(error, MemoryError):
        return FileAccessError(path, "what is in the file does not fit into memory.")
    text = short(" ".join(str(error).split()), 200).rstrip(".")
    return FileAccessError(path, f"the file could not be read as Parquet or Arrow: {text}.")
