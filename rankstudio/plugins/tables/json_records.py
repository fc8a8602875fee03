"""JSON Lines of plain records, with an object per document on each line; or a list of such objects.

A value in a record is a number, a text, null, or a list of numbers that
stands for several features.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.data.data_format import DataFormat, FirstRows
from rankstudio.engine.data.formats.json_values import JsonValues
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.source_file import SourceFile, line_error, unpacked_stream
from rankstudio.engine.data.table_builder import PartFiles, TableBuilder, TableFacts
from rankstudio.engine.data.tabular.documents import ColumnsReader
from rankstudio.engine.data.tabular.recognition import clean_name, column_names
from rankstudio.engine.data.tabular.table_columns import TableColumns
from rankstudio.engine.data.tabular.vectors import with_vectors
from rankstudio.engine.errors import (
    ColumnValueError,
    DataError,
    FormatError,
    MissingValueError,
    shown_path,
)
from rankstudio.engine.language import tr, translatable

EXPECTED = translatable(
    "an object with the query, the label and the features of a document on each line"
)

_BLOCK_SIZE = 4096  # records read at a time
_SHOWN_CHARACTERS = 40  # of a name or a value in a message
_SEARCH_RESPONSE = re.compile(rb'"(?:hits|root|responses?)"\s*:\s*[\[{]')
# after a byte-order mark, or in a list
_FIRST_OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{")


def is_records(beginning: bytes) -> bool:
    """Return whether the beginning of a file has JSON objects that are no responses of a search engine."""
    has_object = _FIRST_OBJECT.match(beginning) is not None
    has_response = _SEARCH_RESPONSE.search(beginning) is not None
    return has_object and not has_response


def read_records(
    part: PartFiles,
    files: Iterable[SourceFile],
    builder: TableBuilder,
    progress: ReadProgress,
) -> TableFacts:
    """Read the records of JSON of a part, and pass their documents to a builder.

    A record is an object, and its values are the cells of a row. Return
    facts about the whole part, such as its number of features.

    The keys of the first records are the columns; later records may
    leave some of them out.
    """
    reader = ColumnsReader(part, builder, progress)
    for file in files:
        for block in _record_blocks(file):
            progress.check()

            # `with_vectors` makes a column of each position in lists of numbers.
            reader.add(
                file.path, with_vectors(block.columns()), file.done / max(file.size, 1)
            )
    return reader.facts("line")  # the word for a row in messages


def preview(_: DataFormat, path: Path, beginning: bytes, n_rows: int) -> FirstRows:
    """Return at most ``n_rows`` records from ``beginning``, the first bytes of a file.

    The first argument, the format, is not used.

    Raises
    ------
    DataError
        If the first record is no JSON object.
    """
    block = _Block(path)
    try:
        for line, value in islice(
            JsonValues(path, io.BytesIO(beginning), tr(EXPECTED)), n_rows
        ):
            block.add(line, value)
    except (
        DataError
    ):  # the beginning may end within an object; the records before it are shown
        if not block.lines:
            raise
    table = with_vectors(block.columns())
    columns = [table.column(i).tolist() for i in range(len(table.names))]
    return FirstRows(table.names, [list(row) for row in zip(*columns, strict=True)])


def _record_blocks(file: SourceFile) -> Iterator[_Block]:
    """Yield the JSON records of a file as blocks of rows.

    The keys of the first block are the columns: later records may have
    no other keys.
    """
    values = iter(JsonValues(file.path, unpacked_stream(file), tr(EXPECTED)))
    keys: tuple[str, ...] | None = None
    while True:
        block = _Block(file.path, keys)
        for line, value in islice(values, _BLOCK_SIZE):
            block.add(line, value)
        if not block.lines:
            return
        keys = tuple(block.values)
        yield block


@dataclass
class _Block:
    """A block of JSON records, which become columns of a table.

    Parameters
    ----------
    path : Path
        The file, for messages.
    keys : tuple of str, optional
        The only keys that records may have; by default any key.
    """

    path: Path
    keys: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        self.values: dict[str, list[Any]] = {key: [] for key in self.keys or ()}
        self.lines: list[int] = []

    def add(self, line: int, record: Any) -> None:
        """Add a record of the file as a new row of the block; ``line`` is its line.

        Raises
        ------
        FormatError
            If the record is no object, or has a key that it may not have.
        """
        if not isinstance(record, dict):
            raise line_error(
                self.path, line, repr(record)[:_SHOWN_CHARACTERS], tr(EXPECTED)
            )
        for key in record:
            if key in self.values:
                continue

            # None in the first block, whose keys become the columns
            if self.keys is not None:
                text = tr('the new key "{name}"').format(
                    name=clean_name(key)[:_SHOWN_CHARACTERS]
                )
                raise FormatError(
                    self.path, line, 0, text, tr("the keys of the records before")
                )

            # A new column is empty in the rows before.
            self.values[key] = [None] * len(self.lines)
        self.lines.append(line)
        for key, column in self.values.items():
            column.append(record.get(key))

    def columns(self) -> TableColumns:
        """Return the records as a table, which has a column for each key."""
        arrays = [_as_array(values) for values in self.values.values()]
        return TableColumns(
            where=shown_path(self.path),
            names=column_names([*self.values]),
            n_rows=len(self.lines),
            # functions of the position of a column, and of a row
            column=arrays.__getitem__,
            error=self._error,
            line=self.lines.__getitem__,
            unit="line",
        )

    def _error(
        self, row: int, excerpt: str, expected: str, missing: bool = False
    ) -> DataError:
        """Return the error of a record in the block, for a ``missing`` or a wrong value.

        ``row`` is the number of the record in the block, ``excerpt``
        what the record has, and ``expected`` what it should have.
        """
        error_type = MissingValueError if missing else ColumnValueError
        return error_type(
            self.path, line=self.lines[row], column=0, found=excerpt, expected=expected
        )


def _as_array(values: list[Any]) -> NDArray[Any]:
    """Return values as an array of numbers or, if any is no number, of objects.

    The array has one element for each value. A value that is a list
    stays one object: NumPy alone would make a second dimension of its
    numbers.
    """
    if {type(value) for value in values} <= {int, float}:
        try:
            return np.array(values)
        except OverflowError:  # an integer is too large for a number of numpy
            pass
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects
