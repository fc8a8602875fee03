"""CSV and TSV: the delimiter, the header, and the columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.letor.parsed_table import Table
from rankstudio.engine.data.tabular.documents import MISSING, TableColumns, read_documents
from rankstudio.engine.data.tabular.recognition import clean_name, part_candidates, recognise_columns, short
from rankstudio.engine.errors import (
    ColumnValueError,
    DataError,
    DatasetError,
    FormatError,
    MissingValueError,
    shown_path,
)
from rankstudio.engine.support.csv_cells import unguarded

_DELIMITERS = ",\t;|"
_HEAD = 1 << 16
_PIECE = 1 << 24
_ROWS = 1 << 14  # whose cells are text at a time
_MOST_COLUMNS = 1_000_000
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class CsvHead:
    """How the lines of a text are cut into cells.

    Attributes
    ----------
    delimiter : str
    names : tuple of str
        Of the columns; "column 1" and so on where there is no header.
    has_header : bool
    n_lines : int
        How many lines stand before the first document.
    """

    delimiter: str
    names: tuple[str, ...]
    has_header: bool
    n_lines: int


def read_head(path: Path, text: bytes) -> CsvHead:
    """Find out how a text is cut into cells, from its beginning.

    Raises
    ------
    FormatError
        Where it is no such text.
    """
    begin = text[:_HEAD].removeprefix(_MARK)
    if begin[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FormatError(path, 1, 1, "text in UTF-16", "text in UTF-8 or ASCII; please save the file so")
    if b"\0" in begin:
        raise FormatError(path, 0, 0, "binary data (a zero byte)", "text")
    lines = list(io.StringIO(begin.decode("utf-8", errors="replace"), newline=""))
    first = next((i for i, line in enumerate(lines) if line.strip()), None)
    if first is None:
        raise FormatError(path, 0, 0, "an empty file", "a header, and a line for each document")
    delimiter = max(_DELIMITERS, key=lines[first].count)
    rows = csv.reader(lines[first:], delimiter=delimiter, skipinitialspace=True)
    try:
        cells = next(rows)
    except csv.Error as error:
        raise FormatError(path, first + 1, 0, f"what is no line of cells ({error})", "a header") from None
    if len(cells) > _MOST_COLUMNS:
        raise FormatError(path, first + 1, 0, f"{len(cells)} columns", f"at most {_MOST_COLUMNS}")
    names = tuple(clean_name(unguarded(cell.strip())) for cell in cells)
    has_header = not all(_is_number(name) for name in names)
    if has_header:
        return CsvHead(delimiter, names, True, first + rows.line_num)
    return CsvHead(delimiter, tuple(f"column {i}" for i in range(1, len(names) + 1)), False, first)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text in MISSING
    return True


class CsvTable:
    """The columns of a CSV text in memory.

    Parameters
    ----------
    path : Path
        The file, for sentences.
    text : bytes
        What is in it.
    told : DataColumns
        What is known of the columns: of those that are none of a document's, nothing is read.
    with_sizes : bool
        Whether the queries are told by a file of sizes.
    offset : int
        How many lines more there are before a document in the file than in the text.
    check : callable, optional
        Called now and then; it may raise.
    """

    def __init__(
        self,
        path: Path,
        text: bytes,
        told: DataColumns,
        *,
        with_sizes: bool = False,
        offset: int = 0,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._path = path
        self._offset = offset
        self._text = text.removeprefix(_MARK)
        self.head = read_head(path, text)
        where = shown_path(path)
        found = recognise_columns(
            where, self.head.names, told, with_sizes=with_sizes, has_header=self.head.has_header
        )
        self._texts = {i for i in (found.qid, found.comment, found.part) if i is not None}
        self._looked_at = set(part_candidates(self.head.names, found.features))
        self._numbers = {found.label, *found.features}
        self._values: dict[int, list[NDArray[Any]]] = {i: [] for i in self._texts | self._numbers}
        self._odd = b"_" in self._text or not self._text.isascii()
        n_rows = self._read(check)
        self.columns = TableColumns(
            where=where,
            names=self.head.names,
            n_rows=n_rows,
            column=self._column,
            texts=self._column,
            error=self._error,
            line=self.line,
            unit="line",
            text_numbers=True,
            has_header=self.head.has_header,
        )

    def _read(self, check: Callable[[], None]) -> int:
        """Read the columns that are used; return the number of rows.

        Every cell is read as text, and float() makes the number of it: pandas' own is not always the nearest.
        """
        import pandas as pd  # noqa: PLC0415 - it takes long to import

        self._check_cells()
        options: dict[str, Any] = {
            "sep": self.head.delimiter,
            "header": None,
            "names": list(range(len(self.head.names))),
            "index_col": False,
            "usecols": sorted(self._values),
            "skiprows": self.head.n_lines,
            "dtype": object,
            "na_filter": False,
            "skipinitialspace": True,
            "encoding_errors": "backslashreplace",
            "chunksize": _ROWS,
        }
        n_rows = 0
        try:
            with pd.read_csv(io.BytesIO(self._text), **options) as chunks:
                for chunk in chunks:
                    check()
                    n_rows += len(chunk)
                    for position, parts in self._values.items():
                        parts.append(self._converted(position, np.asarray(chunk[position], dtype=object)))
            return n_rows
        except pd.errors.EmptyDataError:
            raise DatasetError(
                f"{shown_path(self._path)}: found no rows, expected at least one document."
            ) from None
        except (ValueError, OverflowError, pd.errors.ParserError) as error:
            found = short(" ".join(str(error).split()), 200)
            raise DatasetError(
                f"{shown_path(self._path)}: this is no table of cells: {found.rstrip('.')}."
            ) from None

    def _converted(self, position: int, cells: NDArray[Any]) -> NDArray[Any]:
        """Return cells as numbers where all of them are, else as they are written."""
        if position in self._texts:
            return np.array([unguarded(cell) for cell in cells.tolist()], dtype=object)
        if self._odd and any("_" in cell or not cell.isascii() for cell in cells.tolist()):
            return cells
        try:
            return cells.astype(np.float64)
        except ValueError:
            return cells

    def _column(self, position: int) -> NDArray[Any]:
        """Return the values at a position, given away where nobody asks again: there may be many."""
        parts = self._values[position] if position in self._looked_at else self._values.pop(position)
        return np.concatenate(parts) if parts else np.zeros(0)

    def _error(self, row: int, found: str, expected: str, missing: bool = False) -> DataError:
        kind = MissingValueError if missing else ColumnValueError
        return kind(self._path, self.line(row), 0, found, expected)

    def line(self, row: int) -> int:
        """Return the line, from 1, on which a row ends. O(bytes before it)."""
        for number, (line, _) in enumerate(self._rows()):
            if number == row:
                return line + self._offset
        return 0

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line on which each document ends, and its cells."""
        text = io.StringIO(self._text.decode("utf-8", errors="replace"), newline="")
        for _ in range(self.head.n_lines):
            text.readline()
        reader = csv.reader(text, delimiter=self.head.delimiter, skipinitialspace=True)
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells) or len(cells) > 1:
                    yield self.head.n_lines + reader.line_num, cells
        except csv.Error as error:
            raise FormatError(
                self._path,
                self.head.n_lines + reader.line_num + self._offset,
                0,
                f"a cell that is none ({error})",
                "a number",
            ) from None

    def _check_cells(self) -> None:
        """Raise `FormatError` at the first line that has not as many cells as the header."""
        expected = len(self.head.names)
        if b"\0" in self._text:
            raise FormatError(self._path, 0, 0, "binary data (a zero byte)", "text")
        if b'"' not in self._text and b"\r" not in self._text.replace(b"\r\n", b"\n"):
            bad = self._unequal_line(expected - 1)
            if bad:
                cells = self._line_text(bad).count(self.head.delimiter.encode()) + 1
                self._refuse_cells(bad, cells)
            return
        for line, row in self._rows():
            if len(row) != expected:
                self._refuse_cells(line, len(row))

    def _refuse_cells(self, line: int, found: int) -> None:
        raise FormatError(
            self._path,
            line + self._offset,
            0,
            f"{found} cells",
            f"{len(self.head.names)}, as many as the first line has",
        )

    def _unequal_line(self, expected: int) -> int:
        """Return the first line, from 1, with another number of delimiters than expected; 0 for none."""
        delimiter = ord(self.head.delimiter)
        begin, before = 0, 0
        while begin < len(self._text):
            end = self._text.rfind(b"\n", begin, begin + _PIECE) + 1 or self._text.find(b"\n", begin) + 1
            piece = np.frombuffer(self._text[begin : end or len(self._text)], dtype=np.uint8)
            ends = np.flatnonzero(piece == ord("\n"))
            if not ends.size or ends[-1] != len(piece) - 1:
                ends = np.append(ends, len(piece))
            counts = np.diff(np.searchsorted(np.flatnonzero(piece == delimiter), ends), prepend=0)
            starts = np.concatenate([[0], ends[:-1] + 1])
            blank = (ends == starts) | (
                (ends == starts + 1) & (piece[np.minimum(starts, len(piece) - 1)] == 13)
            )
            lines = before + 1 + np.flatnonzero((counts != expected) & ~blank)
            wrong = lines[lines > self.head.n_lines]
            if wrong.size:
                return int(wrong[0])
            before += len(ends)
            begin += len(piece)
        return 0

    def _line_text(self, line: int) -> bytes:
        """Return a line, from 1."""
        at = 0
        for _ in range(line - 1):
            at = self._text.find(b"\n", at) + 1
        end = self._text.find(b"\n", at)
        return self._text[at : end if end >= 0 else len(self._text)]


def read_csv(
    path: Path,
    text: bytes,
    told: DataColumns,
    *,
    sizes: Ints | None = None,
    refuse: bool = False,
    check: Callable[[], None] = lambda: None,
) -> Table:
    """Read the documents of a CSV text; see :func:`read_documents`.

    Parameters
    ----------
    path : Path
        The file, for sentences.
    text : bytes
        What is in it. The delimiter is a comma, tab, semicolon or bar; a first line of numbers alone is a
        document, no header, and has the label before the features.
    told : DataColumns
    sizes : int64 array of shape (Q,), optional
        How many documents each query has, where no column tells the query.
    refuse : bool
        Whether a missing value is an error.
    check : callable, optional
        Called between columns; it may raise.
    """
    table = CsvTable(path, text, told, with_sizes=sizes is not None, check=check)
    return read_documents(table.columns, told, sizes=sizes, refuse=refuse, check=check)
