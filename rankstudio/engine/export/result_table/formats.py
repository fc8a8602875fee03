"""The formats of a table of results, with the functions that write them."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from rankstudio.engine.errors import MissingExtraError, OutputError, ParameterError
from rankstudio.engine.export.result_table.table import (
    Rank,
    ResultCell,
    ResultTable,
    TableStyle,
)
from rankstudio.engine.export.tables import (
    csv_text,
    latex_float,
    latex_line,
    markdown_lines,
)
from rankstudio.engine.support.escaping import (
    clean_text,
    latex_escaped,
    markdown_escaped,
    one_line,
)
from rankstudio.engine.support.templates import rendered

_LATEX_RANKS: dict[Rank, str] = {
    "best": r"\textbf{%s}",
    "second": r"\underline{%s}",
    "": "%s",
}
_LATEX_MARKS = {"†": r"\dagger", "‡": r"\ddagger"}
_MARKDOWN_RANKS: dict[Rank, str] = {
    "best": "**%s**",
    "second": "<ins>%s</ins>",
    "": "%s",
}
_EXCEL_RANKS: dict[Rank, dict[str, Any]] = {
    "best": {"bold": True},
    "second": {"underline": 1},
    "": {},
}
_MAX_COLUMN_WIDTH = 60
_MAX_CELL_LENGTH = 32_767  # characters of a cell


def latex_table(table: ResultTable, style: TableStyle) -> str:
    """Return a table of results as a LaTeX float, with caption above and notes below.

    Columns are centred. Marks next to the numbers take no space, so
    that digits stay aligned.
    """
    # Lines with the titles of the columns, below those of their groups.
    head = [
        *_group_lines(table),
        latex_line(
            latex_escaped(title)
            for title in (table.corner, *(c.title for c in table.columns))
        ),
    ]

    # Rows of each block below its caption.
    body: list[str] = []
    for number, (caption, rows) in enumerate(table.styled_blocks(style)):
        if caption:
            # A paragraph as wide as the line: captions are sentences.
            text = rf"\parbox{{\linewidth}}{{\textit{{{latex_escaped(caption)}}}}}"
            if number > 0:
                body.append(r"\addlinespace")
            body.append(
                latex_line(
                    [rf"\multicolumn{{{len(table.columns) + 1}}}{{l}}{{{text}}}"]
                )
            )
        # Each cell is a tuple of the cell, its rank and its mark.
        body += [
            latex_line(
                [
                    latex_escaped(row.title),
                    *(_latex_cell(*cell, style) for cell in cells),
                ]
            )
            for row, cells in rows
        ]

    # Below the table: notes as wide as the page, not only as the table.
    text = " ".join(map(latex_escaped, table.notes_of(style)))
    below = [
        "",
        r"\smallskip",
        rf"\begin{{minipage}}{{\linewidth}}\footnotesize {text}\end{{minipage}}",
    ]
    columns = f"l{'c' * len(table.columns)}"
    float_ = latex_float(
        columns, head, body, latex_escaped(table.caption), below if text else ()
    )
    packages = "% \\usepackage{booktabs}\n"
    return f"{packages}{_citation_comment(table.references)}{float_}\n"


def _citation_comment(keys: Sequence[str]) -> str:
    """Return a LaTeX comment that cites the methods and libraries of the runs of a table.

    `keys` are those of entries of BibTeX. The result is "" without keys.
    """
    if not keys:
        return ""
    return (
        "% What the runs use; rankstudio cite STUDY prints the entries:\n"
        f"% \\cite{{{','.join(keys)}}}\n"
    )


def _group_lines(table: ResultTable) -> list[str]:
    """Return the LaTeX line of groups of columns, and the rules below those with a name.

    A group is a title above adjacent columns of `table`. The result is
    [] without groups.
    """
    groups = table.groups()
    if not groups:
        return []
    cells = [""]
    rules = ""
    first = 2  # column 1 has the titles of the rows
    for group, width in groups:
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{latex_escaped(group)}}}")
        rules += rf"\cmidrule(lr){{{first}-{first + width - 1}}}" if group else ""
        first += width
    return [latex_line(cells), rules]


def _latex_cell(cell: ResultCell, rank: Rank, mark: str, style: TableStyle) -> str:
    """Return a cell of a table of results in LaTeX: mean, deviation and mark.

    The rank is "best", "second" or "", and determines the style of the
    mean. The mark of significance is "" for none.
    """
    text = _LATEX_RANKS[rank] % latex_escaped(style.number(cell.mean))
    if cell.is_muted:
        text = rf"\textit{{{text}}}"
    if style.deviation(cell):
        text += rf" $\pm$ {style.deviation(cell)}"
    # \rlap has no width, so that marks do not shift the numbers.
    return text + (rf"\rlap{{$^{{{_LATEX_MARKS[mark]}}}$}}" if mark else "")


def markdown_table(table: ResultTable, style: TableStyle) -> str:
    """Return a table of results in Markdown, with caption above and notes below.

    The titles of columns begin with the names of their groups.
    """
    head = [
        markdown_escaped(table.corner),
        *(markdown_escaped(column.name) for column in table.columns),
    ]
    parts = [f"**{markdown_escaped(table.caption)}**"]
    for caption, rows in table.styled_blocks(style):
        # Each cell is a tuple of the cell, its rank and its mark.
        lines = [
            [
                markdown_escaped(row.title),
                *(_markdown_cell(*cell, style) for cell in cells),
            ]
            for row, cells in rows
        ]
        parts += [
            f"*{markdown_escaped(caption)}*" if caption else "",
            markdown_lines([head, *lines]),
        ]
    parts.append("\n".join(markdown_escaped(note) for note in table.notes_of(style)))
    return "\n\n".join(filter(None, parts)) + "\n"


def _markdown_cell(cell: ResultCell, rank: Rank, mark: str, style: TableStyle) -> str:
    """Return a cell in Markdown: the mean, its style by rank, the deviation and the mark."""
    text = ("*%s*" if cell.is_muted else _MARKDOWN_RANKS[rank]) % style.number(
        cell.mean
    )
    sd = f" ± {style.deviation(cell)}" if style.deviation(cell) else ""
    return text + sd + mark


def excel_table(table: ResultTable, style: TableStyle) -> bytes:
    """Return a table of results as an Excel file with one sheet.

    The sheet has the caption, the header, the rows and the notes. A
    mark of significance is part of its cell's number format, so that
    the cell contains only the number; a deviation has its own column
    after the mean.

    Raises
    ------
    MissingExtraError
        If XlsxWriter is not installed.
    """
    try:
        import xlsxwriter  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("A table for Excel", "XlsxWriter", "excel") from None
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        _Sheet(book, table, style).write()
    return out.getvalue()


class _Sheet:
    """The sheet of a table while it is written, line after line."""

    def __init__(self, book: Any, table: ResultTable, style: TableStyle) -> None:
        """Add the sheet to the workbook `book`, and find which columns have deviations."""
        self._book = book
        self._table = table
        self._style = style
        self._sheet = book.add_worksheet("Table")
        self._formats: dict[tuple[tuple[str, Any], ...], Any] = {}
        has_deviations = [
            any(not isnan(row.cells[column].sd) for row in table.rows)
            for column in range(len(table.columns))
        ]
        # Whether a column of deviations follows each column of the table.
        self._has_deviation_column = [
            style.sd and has_deviation for has_deviation in has_deviations
        ]

    def write(self) -> None:
        """Write caption, header, rows and notes of the table, from top to bottom."""
        # The caption, an empty row, and the titles of the columns below their groups.
        table = self._table
        sheet = self._sheet
        # `bottom=1` is a thin line below a cell.
        sheet.write_string(0, 0, _cell_text(table.caption), self._format(bold=True))
        sheet_row = 2
        if table.groups():
            self._write_groups(sheet_row)
            sheet_row += 1
        sheet.write_string(
            sheet_row, 0, _cell_text(table.corner), self._format(bottom=1)
        )
        for column, title in enumerate(self._titles(), start=1):
            sheet.write_string(
                sheet_row,
                column,
                _cell_text(title),
                self._format(bottom=1, align="right"),
            )
        sheet.freeze_panes(sheet_row + 1, 1)

        # Rows in blocks; a block may have a caption of its own.
        for caption, rows in table.styled_blocks(self._style):
            if caption:
                sheet_row += 1
                sheet.write_string(
                    sheet_row, 0, _cell_text(caption), self._format(italic=True)
                )
            for row, cells in rows:
                sheet_row += 1
                sheet.write_string(sheet_row, 0, _cell_text(row.title))
                self._write_cells(sheet_row, cells)

        # Notes after an empty row.
        for note_row, note in enumerate(
            table.notes_of(self._style), start=sheet_row + 2
        ):
            sheet.write_string(note_row, 0, _cell_text(note), self._format(italic=True))

        # The first column is as wide as its longest text, up to a limit.
        titles = [table.corner, *(row.title for row in table.rows)]
        sheet.set_column(0, 0, min(_MAX_COLUMN_WIDTH, 2 + max(map(len, titles))))

    def _titles(self) -> list[str]:
        """Return the title of every column of numbers, from left to right."""
        titles = []
        for column, has_deviations in zip(
            self._table.columns, self._has_deviation_column, strict=True
        ):
            titles.append(column.title)
            if has_deviations:
                titles.append(f"{column.title} sd")
        return titles

    def _write_groups(self, row: int) -> None:
        """Write the names of groups of columns, each over all of its columns in the sheet."""
        sheet_column = 1
        column = 0
        for group, width in self._table.groups():
            # Columns of deviations count as well.
            sheet_width = width + sum(
                self._has_deviation_column[column : column + width]
            )
            style = self._format(bottom=1, align="center")
            if sheet_width > 1:
                last_column = sheet_column + sheet_width - 1
                # Merged without text, which is written below as text, not as a formula.
                self._sheet.merge_range(row, sheet_column, row, last_column, "", style)
            self._sheet.write_string(row, sheet_column, _cell_text(group), style)
            sheet_column = sheet_column + sheet_width
            column = column + width

    def _write_cells(self, row: int, cells: list[tuple[Any, Rank, str]]) -> None:
        """Write the means of a row of the table, with their marks and deviations.

        `row` is the number of the row in the sheet. `cells` has, for
        each column of the table, the cell, its rank ("best", "second"
        or "") and its mark.
        """
        # For example "0.0000"; without decimals "0".
        number_format = ("0." + "0" * self._style.shown_digits).rstrip(".")
        sheet_column = 1
        for (cell, rank, mark), has_deviations in zip(
            cells, self._has_deviation_column, strict=True
        ):
            # A mark in quotes is text that Excel shows after the number.
            marked_format = number_format + (f'"{mark}"' if mark else "")
            looks = (
                {"italic": True, "font_color": "#808080"}
                if cell.is_muted
                else _EXCEL_RANKS[rank]
            )
            self._write_number(
                row,
                sheet_column,
                cell.mean,
                self._format(num_format=marked_format, **looks),
            )
            sheet_column += 1
            if has_deviations:
                self._write_number(
                    row, sheet_column, cell.sd, self._format(num_format=number_format)
                )
                sheet_column += 1

    def _write_number(self, row: int, column: int, value: float, style: Any) -> None:
        """Write a number into a cell, rounded to the digits of the table's style; NaN is empty.

        `style` is the format of the cell.
        """
        if not isnan(value):
            digits = self._style.digits
            self._sheet.write_number(
                row, column, value if digits is None else round(value, digits), style
            )

    def _format(self, **properties: Any) -> Any:
        """Return a format of the workbook with these properties, made once."""
        key = tuple(sorted(properties.items()))
        if key not in self._formats:
            self._formats[key] = self._book.add_format(properties)
        return self._formats[key]


def _cell_text(text: str) -> str:
    """Return a text on one line, cut to the length that a cell of Excel can hold."""
    return clean_text(one_line(text))[:_MAX_CELL_LENGTH]


def parquet_table(table: ResultTable, style: TableStyle) -> bytes:
    """Return the numbers of a table of results as a Parquet file.

    The caption and the notes are metadata of the file.

    Raises
    ------
    MissingExtraError
        If pyarrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        from pyarrow.parquet import write_table  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError("A table as Parquet", "pyarrow", "parquet") from None
    header, rows = table.numbers(style)
    columns = list(zip(*rows, strict=True)) or [() for _ in header]
    # Titles of rows are texts, and so are captions of blocks; the rest are numbers.
    n_texts = 2 if table.block_captions else 1
    kinds = [
        pa.string() if index < n_texts else pa.float64() for index in range(len(header))
    ]
    arrays = [
        pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)
    ]
    metadata = {"caption": table.caption, "notes": "\n".join(table.notes_of(style))}
    fields = [pa.field(name, kind) for name, kind in zip(header, kinds, strict=True)]
    out = io.BytesIO()
    write_table(
        pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=metadata)), out
    )
    return out.getvalue()


@dataclass(frozen=True)
class TableFormat:
    """A format in which a table of results can be written: as text, or as bytes.

    Attributes
    ----------
    key : str
        Key in the terminal: "latex".
    label : str
        Name for users: "LaTeX".
    suffix : str
        Suffix of the files of this format.
    text : callable, optional
        Takes a table and a style, and returns the table as text; None
        for formats in bytes.
    binary : callable, optional
        Takes a table and a style, and returns the table as bytes; None
        for text formats.
    """

    key: str
    label: str
    suffix: str
    text: Callable[[ResultTable, TableStyle], str] | None = None
    binary: Callable[[ResultTable, TableStyle], bytes] | None = None

    def content(self, table: ResultTable, style: TableStyle) -> bytes:
        """Return the contents of a file with a table of results in this format.

        Raises
        ------
        MissingExtraError
            If the library that the format needs is not installed.
        OutputError
            If a name in the table is not valid UTF-8.
        """
        try:
            if self.binary is not None:
                return self.binary(table, style)
            assert self.text is not None  # a format has one of the two functions
            return self.text(table, style).encode("utf-8")
        except UnicodeEncodeError as error:
            raise OutputError(
                f"Expected names in UTF-8, found {error.object[:120]!a}."
            ) from error


def _html(table: ResultTable, style: TableStyle) -> str:
    """Return a table as HTML."""
    return rendered("result_table.html", table=table, style=style)


def _csv(table: ResultTable, style: TableStyle) -> str:
    """Return a table as CSV."""
    return csv_text(*table.numbers(style))


def _tsv(table: ResultTable, style: TableStyle) -> str:
    """Return a table as CSV with tabs."""
    return csv_text(*table.numbers(style), separator="\t")


FORMATS: tuple[TableFormat, ...] = (
    TableFormat("latex", "LaTeX", ".tex", text=latex_table),
    TableFormat("markdown", "Markdown", ".md", text=markdown_table),
    TableFormat("html", "HTML", ".html", text=_html),
    TableFormat("csv", "CSV", ".csv", text=_csv),
    TableFormat("tsv", "TSV", ".tsv", text=_tsv),
    TableFormat("excel", "Excel", ".xlsx", binary=excel_table),
    TableFormat("parquet", "Parquet", ".parquet", binary=parquet_table),
)
"""Every format, those that papers use first."""


def table_format(key: str) -> TableFormat:
    """Return the format of tables with a key, or with a file suffix such as ".tex".

    Raises
    ------
    ParameterError
        For an unknown format.
    """
    for form in FORMATS:
        if key.lower() in (form.key, form.suffix):
            return form
    keys = ", ".join(f"{form.key} ({form.suffix})" for form in FORMATS)
    raise ParameterError("format", key, f"one of {keys}")
