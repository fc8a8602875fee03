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
    return read_documents(
        columns_of(path, arrow_table(path, content)), told, sizes=sizes, refuse=refuse, check=check
    )


def columns_of(path: Path, frame: Any, first_row: int = 0) -> TableColumns:
    """Return the columns of a table of Arrow, whose first row is one of many of the file's.

    Parameters
    ----------
    path : Path
        The file, for sentences.
    frame : pyarrow.Table
    first_row : int
        Its number in the file, from 0.
    """

    def column(position: int) -> NDArray[Any]:
        try:
            return np.asarray(frame.column(position).to_numpy())
        except Exception as error:
            raise damaged(path, error) from None

    def error(row: int, found: str, expected: str, missing: bool = False) -> DataError:
        kind = MissingValueError if missing else ColumnValueError
        return kind(path, 0, 0, f"{found}, row {first_row + row + 1}", expected)

    return TableColumns(
        shown_path(path),
        tuple(map(clean_name, frame.column_names)),
        frame.num_rows,
        column,
        column,
        error,
        lambda row: first_row + row + 1,
    )


def arrow_table(path: Path, content: Bytes) -> Any:
    """Return the table in a Parquet or an Arrow file.

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
            table = file.read()
        else:
            with pa.ipc.open_file(source) as reader:
                table = reader.read_all()
        table.validate(full=True)
        table = without_lists(table)
    except DatasetError:
        raise
    except Exception as error:  # a damaged file fails in many ways
        raise damaged(path, error) from None
    return table


def without_lists(table: Any) -> Any:
    """Return a table with a column for each place of the lists of fixed size in it.

    They are called after the place, as in "feature 7", where one column has such lists, else after both.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    lists = [field.name for field in table.schema if pa.types.is_fixed_size_list(field.type)]
    if not lists:
        return table
    columns, names = [], []
    for field, column in zip(table.schema, table.columns, strict=True):
        if field.name not in lists:
            columns.append(column)
            names.append(field.name)
            continue
        for i in range(field.type.list_size):
            columns.append(
                pa.chunked_array([_place(chunk, i) for chunk in column.chunks], field.type.value_type)
            )
            names.append(f"{'feature' if len(lists) == 1 else field.name} {i + 1}")
    return pa.table(columns, names=names)


def _place(chunk: Any, place: int) -> Any:
    """Return the value at a place of each list, none where there is no list."""
    import pyarrow.compute as pc  # noqa: PLC0415 - an extra

    return pc.list_element(chunk, place)


def _check_memory(path: Path, rows: int, columns: int) -> None:
    needed, free = 8 * rows * columns, memory.available()
    if rows < 0 or needed > free:
        raise DatasetError(
            f"{shown_path(path)}: {rows} rows of {columns} columns need {needed / 1e9:.1f} GB of memory, and "
            f"{memory.size(free)} are free."
        )


def damaged(path: Path, error: Exception) -> FileAccessError:
    """Return the error of a file of which a library says that it cannot be read."""
    if isinstance(error, MemoryError):
        return FileAccessError(path, "what is in the file does not fit into memory.")
    text = short(" ".join(str(error).split()), 200).rstrip(".")
    return FileAccessError(path, f"the file could not be read as Parquet or Arrow: {text}.")
