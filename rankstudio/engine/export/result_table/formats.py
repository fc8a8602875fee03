"""The formats of a table of results: what each is called, and what writes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rankstudio.engine.errors import OutputError, ParameterError
from rankstudio.engine.export.result_table.excel import excel_table
from rankstudio.engine.export.result_table.latex import latex_table
from rankstudio.engine.export.result_table.markdown import markdown_table
from rankstudio.engine.export.result_table.parquet import parquet_table
from rankstudio.engine.export.result_table.table import ResultTable, TableStyle
from rankstudio.engine.export.tables import csv_text
from rankstudio.engine.support.files import write_bytes
from rankstudio.engine.support.templates import rendered


@dataclass(frozen=True)
class TableFormat:
    """One format.

    Attributes
    ----------
    key : str
        For the terminal: "latex".
    label : str
        For people: "LaTeX".
    suffix : str
        Of its files.
    text : callable, optional
        Returns a table in a style as text, for formats that are text.
    binary : callable, optional
        The same as bytes, for the others.
    """

    key: str
    label: str
    suffix: str
    text: Callable[[ResultTable, TableStyle], str] | None = None
    binary: Callable[[ResultTable, TableStyle], bytes] | None = None

    def content(self, table: ResultTable, style: TableStyle) -> bytes:
        """Return what a file of it holds.

        Raises
        ------
        MissingExtraError
            Where a library is not installed.
        OutputError
            Where a name is no text in UTF-8.
        """
        try:
            if self.binary is not None:
                return self.binary(table, style)
            assert self.text is not None  # a format is either
            return self.text(table, style).encode("utf-8")
        except UnicodeEncodeError as error:
            raise OutputError(f"Expected names in UTF-8, found {error.object[:120]!a}.") from error


def _html(table: ResultTable, style: TableStyle) -> str:
    return rendered("result_table.html", table=table, style=style)


def _csv(table: ResultTable, style: TableStyle) -> str:
    return csv_text(*table.numbers(style))


def _tsv(table: ResultTable, style: TableStyle) -> str:
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
    """Return the format with a key, or with a suffix of files such as ".tex".

    Raises
    ------
    ParameterError
        Where there is none.
    """
    for one in FORMATS:
        if key.lower() in (one.key, one.suffix):
            return one
    keys = ", ".join(f"{one.key} ({one.suffix})" for one in FORMATS)
    raise ParameterError("format", key, f"one of {keys}")


def save_table(path: str | Path, table: ResultTable, style: TableStyle, key: str = "") -> None:
    """Write a table, whole or not at all, in a format or in that of the file's suffix.

    Raises
    ------
    OutputError
        Where it cannot be written.
    ParameterError
        Where there is no such format.
    MissingExtraError
        Where a library is not installed.
    """
    write_bytes(path, table_format(key or Path(path).suffix).content(table, style))
