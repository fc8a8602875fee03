"""Parquet, Feather and Arrow files, which are read and written some rows at a time."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.data.data_format import ContentsNeed, DataFormat, FirstRows
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.file_access import PARQUET, packed_pieces, regular_file_size
from rankstudio.engine.data.formats.dataset_writer import (
    column_names as feature_columns,
)
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.source_file import LoadedFile, SourceFile
from rankstudio.engine.data.table_builder import (
    PartFiles,
    TableBuilder,
    TableFacts,
    check_memory,
)
from rankstudio.engine.data.tabular.documents import ColumnsReader
from rankstudio.engine.data.tabular.recognition import COMMENT_NAME, column_names, short
from rankstudio.engine.data.tabular.table_columns import TableColumns
from rankstudio.engine.data.tabular.vectors import (
    check_length,
    length_expected,
    length_found,
    vector_names,
)
from rankstudio.engine.errors import (
    ColumnValueError,
    DataError,
    DatasetError,
    FileAccessError,
    MissingExtraError,
    MissingValueError,
    RankStudioError,
    shown_path,
)
from rankstudio.engine.language import tr
from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.files import write_pieces

ROWS = 1 << 14  # read at a time
# read at a time for a column, whose page takes a megabyte of memory besides
_BUFFER_BYTES = 1 << 15
# values of features in a written row group, or batch of records
_BATCH_VALUES = 1 << 23


def read_arrow(
    part: PartFiles,
    files: Iterable[SourceFile],
    builder: TableBuilder,
    progress: ReadProgress,
) -> TableFacts:
    """Read the Parquet or Arrow files of a part, and pass their documents to a builder.

    Return facts about the whole part, such as its number of features.
    """
    total_rows = sum(_ArrowFile(path).n_rows() for path in part.paths)
    reader = ColumnsReader(part, builder, progress)
    for file in files:
        # pyarrow reads the file itself. So `end` reports its progress
        # or, of a file not in memory, computes its checksum.
        file.end()
        arrow = _ArrowFile(file.path, file if isinstance(file, LoadedFile) else None)

        # A builder that `holds_parts` needs memory for the whole table.
        if builder.holds_parts:
            check_memory(shown_path(file.path), arrow.n_rows(), arrow.n_columns())
        for first_row, frame in arrow.frames():
            progress.check()
            if frame.num_rows:
                share_read = (builder.n_documents + frame.num_rows) / max(total_rows, 1)
                reader.add(
                    file.path, _table_columns(file.path, frame, first_row), share_read
                )
    return reader.facts("row")  # the word for a row in messages


def arrow_need(_: DataFormat, path: Path) -> ContentsNeed:
    """Return the memory that the contents of a Parquet or Arrow file need.

    The file states the number of its values.
    """
    return ContentsNeed(arrow_size(path), float(regular_file_size(path)))


def write_arrow(
    form: DataFormat, dataset: RankingDataset, path: Path, comments: bool
) -> None:
    """Write a dataset as Parquet or Arrow, with a column of comments if there are any and they are wanted."""
    comment_column = COMMENT_NAME if comments and any(dataset.comments) else ""
    table = arrow_pieces(
        dataset, path, form.key, feature_columns(dataset), comment_column
    )
    write_pieces(path, packed_pieces(path, table))


def arrow_size(path: Path) -> float:
    """Return the size of the numbers of a Parquet or Arrow file in memory, in bytes.

    Raises
    ------
    FileAccessError, MissingExtraError
        If the file cannot be read.
    """
    file = _ArrowFile(path)
    return 8.0 * file.n_rows() * file.n_columns()


def preview(_: DataFormat, path: Path, _beginning: bytes, n_rows: int) -> FirstRows:
    """Return the first ``n_rows`` rows of a Parquet or Arrow file, without reading the rest.

    Raises
    ------
    FileAccessError, MissingExtraError
        If the file cannot be read.
    """
    file = _ArrowFile(path)
    first_frame = next((frame.slice(0, n_rows) for _, frame in file.frames()), None)
    table = file.schema().empty_table() if first_frame is None else first_frame
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return FirstRows(column_names(table.column_names), rows)


class _ArrowFile:
    """A file of Parquet, or of Arrow's records.

    Parameters
    ----------
    path : Path
    loaded : LoadedFile, optional
        The bytes of the file, if they are in memory.

    Raises
    ------
    MissingExtraError
        If pyarrow is not installed.
    """

    def __init__(self, path: Path, loaded: LoadedFile | None = None) -> None:
        """Recognise the format by the first bytes; ``loaded`` is the file in memory."""
        self._pa, self._pq = _pyarrow(path)
        self._path = path
        self._loaded = loaded

        # A file of Parquet begins with `PARQUET`.
        if loaded is not None:
            begin = loaded.packed[: len(PARQUET)].tobytes()
        else:
            with path.open("rb") as file:
                begin = file.read(len(PARQUET))
        self._is_parquet = begin == PARQUET
        self._lengths: dict[str, int] = {}
        """Length of the lists in each column whose type does not fix the length, once a list was read."""

    def n_rows(self) -> int:
        """Return the number of rows of the file."""
        n_rows, _ = self._rows_and_schema()
        return n_rows

    def schema(self) -> Any:
        """Return the names and types of the columns."""
        _, schema = self._rows_and_schema()
        return schema

    def _rows_and_schema(self) -> tuple[int, Any]:
        """Return the number of rows, and the schema of the columns."""
        try:
            if self._is_parquet:
                with self._pq.ParquetFile(self._source()) as file:
                    return int(file.metadata.num_rows), file.schema_arrow
            with self._source() as source, self._pa.ipc.open_file(source) as reader:
                rows = sum(
                    reader.get_batch(i).num_rows
                    for i in range(reader.num_record_batches)
                )
                return rows, reader.schema
        except Exception as error:  # a damaged file fails in many ways
            raise _damaged(self._path, error) from None

    def frames(self) -> Iterator[tuple[int, Any]]:
        """Yield the rows of the file as tables of pyarrow, each with the number of its first row, from 0.

        A table has at most ``ROWS`` rows. A column of lists of numbers
        becomes a column for each position in the lists. Raise
        FileAccessError for a damaged file.
        """
        n_done = 0
        batches = self.batches()
        while True:
            try:
                batch = next(batches, None)
                if batch is None:
                    return
                batch.validate(full=True)
                frame = _without_lists(
                    self._with_equal_lists(self._pa.Table.from_batches([batch]), n_done)
                )

                # This decodes the names, which fails if they are damaged.
                frame = frame.rename_columns(list(column_names(frame.column_names)))
            except RankStudioError:
                raise
            except Exception as error:
                raise _damaged(self._path, error) from None
            for begin in range(0, frame.num_rows, ROWS):
                yield n_done + begin, frame.slice(begin, ROWS)
            n_done += frame.num_rows

    def n_columns(self) -> int:
        """Return the number of columns of the file, where lists count a column for each position.

        The first rows are read if a type does not fix the length of the
        lists in a column.
        """
        schema = self.schema()

        # only types of lists with a fixed length have a `list_size`
        n_columns = sum(getattr(field.type, "list_size", 1) for field in schema)
        if any(self._is_list(field.type) for field in schema):
            first_frame = next((frame for _, frame in self.frames()), None)
            return n_columns if first_frame is None else int(first_frame.num_columns)
        return n_columns

    def _is_list(self, kind: Any) -> bool:
        """Return whether a type is a list without a fixed length."""
        types = self._pa.types
        return bool(types.is_list(kind) or types.is_large_list(kind))

    def _with_equal_lists(self, table: Any, first_row: int) -> Any:
        """Return rows whose columns of lists have a type with a fixed length.

        ``table`` has the rows, and ``first_row`` is the number of its
        first row in the file, from 0.

        Raises
        ------
        DataError
            If the lists of a column differ in length, or the first rows
            of the file have no list.
        """
        for position, field in enumerate(table.schema):
            if self._is_list(field.type):
                column = table.column(position).combine_chunks()
                length = self._length_of_lists(field.name, column, first_row)
                column = column.cast(self._pa.list_(field.type.value_type, length))
                table = table.set_column(position, field.name, column)
        return table

    def _length_of_lists(self, name: str, column: Any, first_row: int) -> int:
        """Return the length of all lists of a column: the length of the first list in the file.

        Parameters
        ----------
        name : str
            Name of the column.
        column : pyarrow.Array
            Lists, some of which may be missing.
        first_row : int
            Number of the first of these rows in the file, from 0.

        Raises
        ------
        DataError
            If a list has another length, or the first rows of the file have no list.
        """
        import pyarrow.compute as pc  # noqa: PLC0415 - an extra

        # Rows that have a list: the length of a missing list is NaN, and not compared.
        lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
        rows = np.flatnonzero(~np.isnan(lengths.astype(np.float64)))

        # The first list of the file gives the length of all others.
        if name not in self._lengths:
            if not rows.size:
                text = tr(
                    '{path}: found no list in the first {n} rows of column "{name}", expected one.'
                )
                raise DatasetError(
                    text.format(
                        path=shown_path(self._path), n=len(lengths), name=short(name)
                    )
                )
            self._lengths[name] = int(lengths[rows[0]])
            check_length(shown_path(self._path), short(name), self._lengths[name])

        # The first row with another length is the one in the error.
        length = self._lengths[name]
        rows_with_other_length = rows[lengths[rows] != length]
        if rows_with_other_length.size:
            row = rows_with_other_length[0]
            length_text = length_found(int(lengths[row]), name)
            raise ColumnValueError(
                self._path,
                line=0,
                column=0,
                found=f"{length_text}, row {first_row + int(row) + 1}",
                expected=length_expected(length),
            )
        return length

    def batches(self) -> Iterator[Any]:
        """Yield the rows of the file in batches of pyarrow, as they are stored.

        The batches of an Arrow file are as they are stored. From
        Parquet, batches of ``ROWS`` rows are made.
        """
        # Columns are read in small pieces, to save memory.
        if self._is_parquet:
            with self._pq.ParquetFile(
                self._source(), pre_buffer=False, buffer_size=_BUFFER_BYTES
            ) as file:
                yield from file.iter_batches(batch_size=ROWS)
            return
        with self._source() as source, self._pa.ipc.open_file(source) as reader:
            for i in range(reader.num_record_batches):
                yield reader.get_batch(i)

    def _source(self) -> Any:
        """Return the opened file, or its bytes if they are in memory."""
        if self._loaded is not None:
            return self._pa.BufferReader(self._pa.py_buffer(self._loaded.packed))
        return self._pa.OSFile(str(self._path))


def _table_columns(path: Path, frame: Any, first_row: int) -> TableColumns:
    """Return the columns of a table of Arrow with some rows of a file.

    Parameters
    ----------
    path : Path
        The file, for messages.
    frame : pyarrow.Table
        The rows.
    first_row : int
        Number of the first row of the table in the file, from 0.
    """

    # A column is converted when it is read; damage is found only then.
    def column(position: int) -> NDArray[Any]:
        """Return the values of a column, by its position."""
        try:
            return np.asarray(frame.column(position).to_numpy())
        except Exception as error:
            raise _damaged(path, error) from None

    # In messages, rows are counted from 1 in the whole file. The
    # function uses `path` and `first_row`.
    def error(
        row: int, excerpt: str, expected: str, missing: bool = False
    ) -> DataError:
        """Return the error of a row of this table, for a ``missing`` or a wrong value.

        ``row`` is the number of the row in the table. ``excerpt`` is
        what the row has, ``expected`` what it should have.
        """
        # Line and column are those of text files: 0 for none.
        error_type = MissingValueError if missing else ColumnValueError
        return error_type(
            path,
            line=0,
            column=0,
            found=f"{excerpt}, row {first_row + row + 1}",
            expected=expected,
        )

    return TableColumns(
        where=shown_path(path),
        names=tuple(frame.column_names),
        n_rows=frame.num_rows,
        column=column,
        error=error,
        line=lambda row: first_row + row + 1,
    )


def _without_lists(table: Any) -> Any:
    """Return a table of pyarrow in which lists of numbers became columns.

    A column of lists of length d is replaced by d columns of numbers.
    Their names are the name of the column and the position in the list.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    # the names of the columns that have lists
    lists = [
        field.name for field in table.schema if pa.types.is_fixed_size_list(field.type)
    ]
    if not lists:
        return table
    columns = []
    names = []
    for field, column in zip(table.schema, table.columns, strict=True):
        if field.name not in lists:
            columns.append(column)
            names.append(field.name)
            continue

        # Each position in the lists becomes a column. It is "feature 1"
        # and so on for the only lists.
        columns += [
            pa.chunked_array(
                [_value_at(chunk, i) for chunk in column.chunks], field.type.value_type
            )
            for i in range(field.type.list_size)
        ]
        names += vector_names(field.name, field.type.list_size, is_only=len(lists) == 1)
    return pa.table(columns, names=names)


def _value_at(chunk: Any, position: int) -> Any:
    """Return the value at a position of each list of a pyarrow array.

    The result is an array with null for a missing list.
    """
    import pyarrow.compute as pc  # noqa: PLC0415 - an extra

    return pc.list_element(chunk, position)


def _damaged(path: Path, error: Exception) -> FileAccessError:
    """Return the error for a file that pyarrow cannot read, with its reason."""
    if isinstance(error, MemoryError):
        return FileAccessError(path, "the contents of the file do not fit into memory.")
    text = short(" ".join(str(error).split()), 200).rstrip(".")
    return FileAccessError(
        path, f"the file could not be read as Parquet or Arrow: {text}."
    )


def arrow_pieces(
    dataset: RankingDataset, path: Path, key: str, names: Sequence[str], comments: str
) -> Iterator[bytes]:
    """Yield the bytes of a Parquet or Arrow file, with a few megabytes in memory at a time.

    Parameters
    ----------
    dataset : RankingDataset
        Documents to write.
    path : Path
        Path of the file, for messages.
    key : {"parquet", "arrow"}
        Key of the format.
    names : sequence of str
        Names of the feature columns.
    comments : str
        Name of the comment column, "" for none.

    Raises
    ------
    MissingExtraError
        If pyarrow is not installed.
    """
    pa, pq = _pyarrow(path)
    out = _Pieces()
    writer: Any = None

    # Each batch of rows has about the same number of values.
    rows_per_batch = max(1, _BATCH_VALUES // max(1, dataset.n_features))
    for first in range(0, dataset.n_documents, rows_per_batch):
        # The columns: query, label, features, and comments if they are wanted.
        rows = slice(first, min(first + rows_per_batch, dataset.n_documents))
        columns: dict[str, Any] = {
            "qid": pa.array(dataset.query_keys[dataset.query_index[rows]]),
            "label": pa.array(dataset.y[rows]),
        }
        for i, name in enumerate(names):
            columns[name] = pa.array(np.ascontiguousarray(dataset.X[rows, i]))
        if comments:
            columns[comments] = pa.array(
                [dataset.comments[row] for row in range(rows.start, rows.stop)]
            )
        table = pa.table(columns)

        # The writer needs the types of the columns, which the first batch has.
        if writer is None:
            new_writer = pq.ParquetWriter if key == "parquet" else pa.ipc.new_file
            writer = new_writer(out, table.schema)
        writer.write_table(table)

        # Memory of the rows is released, and bytes are yielded as they are written.
        release(dataset.X[rows])
        yield from out.drained()
    writer.close()
    yield from out.drained()


class _Pieces(io.RawIOBase):
    """A file that keeps written bytes until they are drained."""

    def __init__(self) -> None:
        self._kept: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self._kept.append(bytes(content))
        return len(self._kept[-1])

    def drained(self) -> Iterator[bytes]:
        """Yield the bytes written since the last call."""
        chunks = self._kept
        self._kept = []
        yield from chunks


def _pyarrow(path: Path) -> tuple[Any, Any]:
    """Return the modules pyarrow and pyarrow.parquet.

    Raise MissingExtraError if pyarrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError(path.name, "pyarrow", "parquet") from None
    return pa, pq
