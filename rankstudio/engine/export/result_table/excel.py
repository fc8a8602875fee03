"""A table of results as a workbook of Excel: numbers stay numbers, ranks and marks are formats."""

from __future__ import annotations

import io
from math import isnan
from typing import Any

from rankstudio.engine.errors import MissingExtraError
from rankstudio.engine.export.result_table.table import Rank, ResultTable, TableStyle
from rankstudio.engine.support.escaping import clean_text, one_line

_RANKS: dict[Rank, dict[str, Any]] = {"best": {"bold": True}, "second": {"underline": 1}, "": {}}
_WIDEST = 60
_MOST = 32_767  # characters of a cell


def excel_table(table: ResultTable, style: TableStyle) -> bytes:
    """Return a workbook with one sheet: caption, header, a row for each run, notes.

    A mark is part of its cell's number format, so that the cell holds the number alone; a deviation has a
    column of its own behind the mean.

    Raises
    ------
    MissingExtraError
        Without XlsxWriter.
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
        self._book, self._table, self._style = book, table, style
        self._sheet = book.add_worksheet("Table")
        self._formats: dict[tuple[tuple[str, Any], ...], Any] = {}
        spread = [any(not isnan(row.cells[at].sd) for row in table.rows) for at in range(len(table.columns))]
        self._spread = [style.sd and there for there in spread]

    def write(self) -> None:
        """Write everything."""
        table, sheet = self._table, self._sheet
        sheet.write_string(0, 0, _text(table.caption), self._format(bold=True))
        at = 2
        if table.groups():
            self._write_groups(at)
            at += 1
        sheet.write_string(at, 0, _text(table.corner), self._format(bottom=1))
        for column, title in enumerate(self._titles(), start=1):
            sheet.write_string(at, column, _text(title), self._format(bottom=1, align="right"))
        sheet.freeze_panes(at + 1, 1)
        for at, (row, cells) in enumerate(table.styled(self._style), start=at + 1):  # noqa: B020 - goes on
            sheet.write_string(at, 0, _text(row.title))
            self._write_cells(at, cells)
        for at, note in enumerate(table.notes_of(self._style), start=at + 2):  # noqa: B020 - goes on
            sheet.write_string(at, 0, _text(note), self._format(italic=True))
        titles = [table.corner, *(row.title for row in table.rows)]
        sheet.set_column(0, 0, min(_WIDEST, 2 + max(map(len, titles))))

    def _titles(self) -> list[str]:
        """Return the title of every column of numbers, from left to right."""
        return [
            title
            for column, spread in zip(self._table.columns, self._spread, strict=True)
            for title in ((column.title, f"{column.title} sd") if spread else (column.title,))
        ]

    def _write_groups(self, at: int) -> None:
        first, place = 1, 0
        for group, width in self._table.groups():
            wide = width + sum(self._spread[place : place + width])
            style = self._format(bottom=1, align="center")
            if wide > 1:
                self._sheet.merge_range(at, first, at, first + wide - 1, "", style)
            self._sheet.write_string(at, first, _text(group), style)
            first, place = first + wide, place + width

    def _write_cells(self, at: int, cells: list[tuple[Any, Rank, str]]) -> None:
        zeros, column = "0." + "0" * self._style.shown_digits, 1
        zeros = zeros.rstrip(".")
        for (cell, rank, mark), spread in zip(cells, self._spread, strict=True):
            number = zeros + (f'"{mark}"' if mark else "")
            self._write_number(at, column, cell.mean, self._format(num_format=number, **_RANKS[rank]))
            if spread:
                self._write_number(at, column + 1, cell.sd, self._format(num_format=zeros))
            column += 1 + spread

    def _write_number(self, at: int, column: int, value: float, style: Any) -> None:
        if not isnan(value):
            digits = self._style.digits
            self._sheet.write_number(at, column, value if digits is None else round(value, digits), style)

    def _format(self, **wanted: Any) -> Any:
        key = tuple(sorted(wanted.items()))
        if key not in self._formats:
            self._formats[key] = self._book.add_format(wanted)
        return self._formats[key]


def _text(text: str) -> str:
    """Return a text as a cell has room for it."""
    return clean_text(one_line(text))[:_MOST]
