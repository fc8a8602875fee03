"""CSV and TSV: the delimiter, the header, and the columns."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.data_format import DataFormat, FirstRows
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.source_file import SourceFile, unpacked_stream, utf_16_error
from rankstudio.engine.data.table_builder import PartFiles, TableBuilder, TableFacts
from rankstudio.engine.data.tabular.documents import MISSING, ColumnsReader
from rankstudio.engine.data.tabular.recognition import column_names, recognise_columns
from rankstudio.engine.data.tabular.table_columns import TableColumns
from rankstudio.engine.errors import (
    ColumnValueError,
    DataError,
    FormatError,
    MissingValueError,
    shown_path,
)
from rankstudio.engine.language import tr
from rankstudio.engine.support.escaping import unguarded
from rankstudio.engine.support.number_format import count_text

CHUNK = 1 << 22  # characters at a time

_DELIMITERS = ",\t;|"
_QUOTED = re.compile(r'(^|[,\t;|]) *"(?:[^"]+|"")*(?:"|\Z)')
_HEAD_CHARACTERS = 1 << 16  # characters by which the delimiter is recognised
_TEXT_CELLS_AT_ONCE = 1 << 16  # cells that are kept as text at a time
# 256 MiB: a file without line ends is refused before memory is full
_MAX_LINE_LENGTH = 1 << 28
_MAX_COLUMNS = 1_000_000  # more columns mean that the delimiter is another one
_DECIMAL_COMMA = re.compile(r"\s*[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?\s*")
_DECIMAL_POINT = re.compile(r"[+-]?[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?")
_THOUSANDS = r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+"
_ONLY_DECIMAL = re.compile(rf"(?!{_THOUSANDS}\Z){_DECIMAL_COMMA.pattern}")
# byte order marks of UTF-16, as surrogateescape decodes them
_UTF_16 = ("\udcff\udcfe", "\udcfe\udcff")
# Last line of each text, where an open quotation mark ends; no other
# line has a zero byte, which is refused.
_END_MARK = "\0"


@dataclass(frozen=True)
class CsvHead:
    """Dialect and header of a CSV text.

    Attributes
    ----------
    delimiter : str
        Sign between cells.
    names : tuple of str
        Names of the columns; "column 1" and so on without a header.
    has_header : bool
        Whether the first line has the names.
    decimal_comma : bool
        Whether numbers have a decimal comma, as in 0,5.
    """

    delimiter: str
    names: tuple[str, ...]
    has_header: bool
    decimal_comma: bool = False

    def number_text(self, cell: str) -> str:
        """Return a number with a decimal point; any other cell as it is."""
        if self.decimal_comma and "," in cell and _DECIMAL_COMMA.fullmatch(cell):
            return cell.replace(",", ".")
        return cell


class CsvText:
    """Documents of a CSV text, in order.

    Cells, including the header, are always split by Python's own
    reader, in memory and from disk. Two readers that count lines
    differently would lose documents, because a quoted cell may contain
    a line break.

    Parameters
    ----------
    path : Path
        Path of the file, for messages.
    stream : binary file
        Contents of the file.

    Raises
    ------
    FormatError
        If the text is not CSV.
    """

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        """Read the beginning: find the delimiter, decimal commas and the header.

        ``stream`` has the bytes of the text, and ``path`` is for messages.
        """
        self._path = path
        self.n_characters = 0
        self.has_odd_characters = False
        """Whether any line had an underscore or a character beyond ASCII, which float() may accept."""
        self._blank_lines = 0
        lines = self._lines(stream)
        begin = self._beginning(lines)
        delimiter = _delimiter("".join(begin))
        # The lines that were read for the delimiter are read again, before the others.
        self._reader = csv.reader(
            chain(begin, lines, [_END_MARK]), delimiter=delimiter, skipinitialspace=True
        )
        # The first record is a header, or already a document. Each
        # record comes with its line, which is not needed here.
        cells = next((cells for _, cells in self._records()), None)
        if cells is None:
            raise self._empty_error()
        if len(cells) > _MAX_COLUMNS:
            raise self.error(f"{len(cells)} columns", f"at most {_MAX_COLUMNS}")
        texts = [unguarded(_escaped_cell(cell, "replace").strip()) for cell in cells]
        decimal_comma = delimiter != "," and _has_decimal_commas(begin, delimiter)
        # Its method number_text() needs only the decimal comma; the names follow below.
        head = CsvHead(
            delimiter, names=(), has_header=True, decimal_comma=decimal_comma
        )
        # A first line of numbers is a document, which rows() yields first.
        has_header = not all(_is_number(head.number_text(text)) for text in texts)
        names = column_names(texts)
        self._first_row = None if has_header else (self.line, cells)
        if not has_header:
            names = tuple(f"column {i}" for i in range(1, len(names) + 1))
        self.head = replace(head, names=names, has_header=has_header)

    @property
    def line(self) -> int:
        """The line, from 1, on which the last read ended."""
        return self._blank_lines + self._reader.line_num

    def error(self, actual: str, expected: str) -> FormatError:
        """Return the error for an invalid value in the row that was read last.

        ``actual`` and ``expected`` are texts for the message: the
        value, and what it should be.
        """
        return FormatError(self._path, self.line, 0, actual, expected)

    def _empty_error(self) -> FormatError:
        """Return the error of a file without lines."""
        return FormatError(
            self._path, 0, 0, "an empty file", "a header and one line per document"
        )

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (line on which it ends, cells) for each remaining document of the text.

        A first record that was no header is yielded once, before the others.

        Raises
        ------
        FormatError
            At the first document whose number of cells differs from the
            header's.
        """
        if self._first_row is not None:
            first_row = self._first_row
            self._first_row = None
            yield first_row
        expected = len(self.head.names)
        for line, cells in self._records():
            if len(cells) != expected:
                raise self.error(
                    f"{len(cells)} cells", f"{expected}, as in the first line"
                )
            yield line, cells

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (line on which it ends, cells) for each remaining record of the text.

        A record may have several lines, as a cell may contain line
        breaks. Blank records are skipped. Raise FormatError for a
        quotation mark that is not closed, or too long a cell.
        """
        try:
            for cells in self._reader:
                # The last line of the text is an added mark. It is a
                # record of its own, or in a cell with other text if a
                # quotation mark is not closed.
                if cells and cells[-1].endswith(_END_MARK):
                    if cells != [_END_MARK]:
                        raise self.error(
                            tr("a quotation mark that is not closed"),
                            tr("a closing quotation mark"),
                        )
                elif len(cells) > 1 or any(cell.strip() for cell in cells):
                    yield self.line, cells
        except csv.Error:
            limit = count_text(csv.field_size_limit())
            raise self.error(
                tr("a cell of more than {n} characters").format(n=limit),
                tr("a shorter cell; a closing quotation mark may be missing"),
            ) from None

    def _lines(self, stream: IO[bytes]) -> Iterator[str]:
        """Yield the lines of the text with their ends: a newline, a carriage return or both.

        The characters are counted. Raise FormatError for UTF-16, zero
        bytes and lines that are too long, which are no CSV text.
        """
        # Bytes that are not UTF-8 become surrogates here;
        # _escaped_cell() escapes them in kept texts.
        text = io.TextIOWrapper(
            stream, encoding="utf-8-sig", errors="surrogateescape", newline=""
        )
        while line := text.readline(_MAX_LINE_LENGTH):
            if not self.n_characters and line.startswith(_UTF_16):
                raise utf_16_error(self._path)
            if "\0" in line:
                raise FormatError(self._path, 0, 0, "binary data (a zero byte)", "text")
            if len(line) == _MAX_LINE_LENGTH:
                problem = tr("a line of more than {n} characters").format(
                    n=count_text(len(line))
                )
                raise FormatError(self._path, 0, 0, problem, "text")
            self.n_characters += len(line)
            self.has_odd_characters = (
                self.has_odd_characters or "_" in line or not line.isascii()
            )
            yield line

    def _beginning(self, lines: Iterator[str]) -> list[str]:
        """Return the first lines, enough to recognise the delimiter.

        The result begins with the first line that is not blank. Blank
        lines before are counted, so that messages name the right line.
        Raise FormatError if all lines are blank.
        """
        begin: list[str] = []
        for line in lines:
            if begin or line.strip():
                begin.append(line)
            else:
                self._blank_lines += 1
            if self.n_characters > _HEAD_CHARACTERS:
                break
        if not begin:
            raise self._empty_error()
        return begin


def _delimiter(begin: str) -> str:
    """Return the delimiter of cells that occurs most often in the first record of a CSV text.

    ``begin`` has the first lines. Text in quotation marks does not count.
    """
    first = re.split("[\r\n]", _QUOTED.sub(r"\1", begin), maxsplit=1)[0]
    return max(_DELIMITERS, key=first.count)


def _has_decimal_commas(begin: Sequence[str], delimiter: str) -> bool:
    """Return whether numbers at the beginning of a CSV text have decimal commas.

    ``begin`` has the first lines. At least one number must have a
    decimal comma, and no number a decimal point. Numbers such as
    "1,234" are not enough: their comma may separate thousands.
    ``delimiter`` is the sign between cells.
    """
    has_decimal_comma = False
    try:
        for cells in csv.reader(begin, delimiter=delimiter, skipinitialspace=True):
            for text in map(str.strip, cells):
                if "." in text and _DECIMAL_POINT.fullmatch(text):
                    return False
                is_decimal = "," in text and bool(_ONLY_DECIMAL.fullmatch(text))
                has_decimal_comma = has_decimal_comma or is_decimal
    except csv.Error:  # the reader reports it, with the line
        return False
    return has_decimal_comma


def _escaped_cell(cell: str, errors: str = "backslashreplace") -> str:
    """Return a cell in which bytes that are not UTF-8 are escaped, or replaced, as by ``errors``."""
    return (
        cell
        if cell.isascii()
        else cell.encode("utf-8", "surrogateescape").decode("utf-8", errors)
    )


def _is_number(text: str) -> bool:
    """Return whether a cell has a number, or no value."""
    try:
        float(text)
    except ValueError:
        return text in MISSING
    return True


class _CsvRows:
    """The columns of the next documents of a CSV text, which are read from the text.

    Parameters
    ----------
    path : Path
        Path of the file, for messages.
    text : CsvText
        The text; it is read further.
    part : PartFiles
        Names of columns that the user specified. Values of columns
        without a role are not kept.
    progress : ReadProgress
        Reports how much is read.
    """

    def __init__(
        self, path: Path, text: CsvText, part: PartFiles, progress: ReadProgress
    ) -> None:
        """Read the next documents, those of some megabytes of text, into ``columns``.

        ``part`` has the specified names of columns, and ``path`` is for
        messages.
        """
        self._path = path
        self._text = text
        location = shown_path(path)
        names = text.head.names
        has_header = text.head.has_header
        with_sizes = part.sizes is not None
        # Only columns of the query, the labels, the features and so on are read.
        roles = recognise_columns(
            location,
            names,
            part.user_columns,
            with_sizes=with_sizes,
            has_header=has_header,
        )
        self._text_columns = {
            i for i in (roles.qid, roles.comment, roles.part) if i is not None
        }
        labels = {i for i in (roles.label, *roles.judges) if i is not None}
        # The values of each column that is read, by its position from
        # 0, in blocks of rows; filled by the next step.
        self._values: dict[int, list[NDArray[Any]]] = {
            i: [] for i in sorted(self._text_columns | labels | {*roles.features})
        }
        self._lines = self._read(progress)
        self.columns = TableColumns(
            where=location,
            names=names,
            n_rows=len(self._lines),
            column=lambda position: np.concatenate(self._values[position]),
            error=self._error,
            line=self._line,
            unit="line",
            text_numbers=True,
            has_header=has_header,
        )

    def _read(self, progress: ReadProgress) -> Ints:
        """Read the next `CHUNK` characters of the text into the columns that are used.

        Return the line on which each row ends, of shape (m,). Every
        cell is read as text, and float() converts it to the nearest
        number.
        """
        # Read some rows at a time: their texts take much memory.
        text = self._text
        end = text.n_characters + CHUNK
        rows = text.rows()
        n_rows_at_once = max(1, _TEXT_CELLS_AT_ONCE // len(text.head.names))
        lines: list[int] = []
        while text.n_characters < end:
            progress.check()
            block: list[list[str]] = []
            for line, cells in islice(rows, n_rows_at_once):
                lines.append(line)
                block.append(cells)
                if text.n_characters >= end:
                    break
            if not block:
                break
            # Convert the cells of each used column.
            columns = list(zip(*block, strict=True))
            for position, blocks in self._values.items():
                blocks.append(
                    self._converted(position, np.array(columns[position], dtype=object))
                )
        return np.array(lines, dtype=np.int64)

    def _converted(self, position: int, cells: NDArray[Any]) -> NDArray[Any]:
        """Return some cells of a column as numbers if possible, or as texts.

        ``position`` is the number of the column from 0. The query, the
        comment and the part remain texts, and so do cells that are not
        all numbers: the caller finds the invalid cell.
        """
        # unguarded() removes the apostrophe that protects a cell from
        # spreadsheets.
        if position in self._text_columns:
            texts = [unguarded(_escaped_cell(cell)) for cell in cells.tolist()]
            return np.array(texts, dtype=object)
        # number_text() replaces a decimal comma by a point.
        if self._text.head.decimal_comma:
            texts = [self._text.head.number_text(cell) for cell in cells.tolist()]
            cells = np.array(texts, dtype=object)
        # float() would accept 1_000 and digits of other scripts: keep
        # them as texts, which are refused as numbers. The cells are
        # searched only if the file has such characters at all.
        may_be_odd = self._text.has_odd_characters
        if may_be_odd and any(
            "_" in cell or not cell.isascii() for cell in cells.tolist()
        ):
            return np.array(
                [_escaped_cell(cell) for cell in cells.tolist()], dtype=object
            )
        # float() of each cell; if any is no number, all of them stay texts.
        try:
            return cells.astype(np.float64)
        except ValueError:
            return cells

    def _error(
        self, row: int, actual: str, expected: str, missing: bool = False
    ) -> DataError:
        """Return the error for an invalid value in a row of these rows.

        ``actual`` and ``expected`` are texts for the message: the
        value, and what it should be. ``missing`` is whether the value
        is missing.
        """
        kind = MissingValueError if missing else ColumnValueError
        return kind(self._path, self._line(row), 0, actual, expected)

    def _line(self, row: int) -> int:
        """Return the line on which a row ends."""
        return int(self._lines[row])


def preview(_: DataFormat, path: Path, beginning: bytes, n_rows: int) -> FirstRows:
    """Return the first rows of a CSV table from the first bytes of its text.

    The first parameter, the format, is not used; all formats have a
    function with these parameters. At most ``n_rows`` rows are
    returned.

    Raises
    ------
    DataError
        If the file has no header, or is not text.
    """
    text = CsvText(path, io.BytesIO(beginning))
    head = text.head
    rows: list[list[str]] = []
    # the beginning may end within a document; the reader reports other errors
    with suppress(DataError):
        for _line, cells in islice(text.rows(), n_rows):
            rows.append([head.number_text(unguarded(cell)) for cell in cells])
    return FirstRows(
        head.names, rows, head.has_header, "tsv" if head.delimiter == "\t" else "csv"
    )


def csv_width(head: bytes) -> int:
    """Return the approximate number of cells per line, from the beginning of a text."""
    line = next((line for line in head.split(b"\n") if line.strip()), b"")
    return 1 + max(line.count(delimiter) for delimiter in (b",", b"\t", b";", b"|"))


def read_csv(
    part: PartFiles,
    files: Iterable[SourceFile],
    builder: TableBuilder,
    progress: ReadProgress,
) -> TableFacts:
    """Read the CSV files of a part and pass their documents to a builder.

    Return facts about the whole part, such as its number of features
    and remarks.

    The delimiter is a comma, tab, semicolon or bar; a first line of
    numbers is a document instead of a header, with the label before the
    features.
    """
    reader = ColumnsReader(part, builder, progress)
    remarks: list[str] = []
    for file in files:
        text = CsvText(file.path, unpacked_stream(file))
        if text.head.decimal_comma:
            remarks.append(tr("The numbers have decimal commas."))
        # Each step reads the next megabytes of the text; the last one
        # has no rows. The share of the file that is read tells how many
        # rows will follow.
        while (columns := _CsvRows(file.path, text, part, progress).columns).n_rows:
            reader.add(file.path, columns, file.done / max(file.size, 1))
    facts = reader.facts("line")
    return replace(facts, remarks=(*facts.remarks, *dict.fromkeys(remarks)))
