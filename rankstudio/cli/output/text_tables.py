"""Forms of the commands' output: tables as text, in Markdown and LaTeX, and documents in JSON."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rankstudio.cli.terminal import Block
from rankstudio.engine.errors import one_line, without_controls
from rankstudio.engine.export.tables import TextTable, latex_text, markdown_text
from rankstudio.engine.support.escaping import markdown_escaped
from rankstudio.engine.support.number_format import NOTHING

_NOTE_WIDTH = 110


def as_text(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    left_columns: Sequence[int] = (0,),
) -> Block:
    """Return rows of text as aligned columns, below the header and a line.

    Parameters
    ----------
    header : sequence of str
        Titles of the columns.
    rows : sequence of sequences of str
        The texts of the cells of each row.
    left_columns : sequence of int
        Positions of the columns aligned to the left; the other columns
        hold numbers.
    """
    table = [tuple(map(one_line, row)) for row in (header, *rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    lines = [
        "  ".join(
            cell.ljust(width) if column in left_columns else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in table
    ]
    lines.insert(1, "─" * max(len(line) for line in lines))  # below the header
    return Block("\n".join(line.rstrip() for line in lines))


def number(value: float, form: str = ".4f") -> str:
    """Return a number as a text for a table; a dash for NaN.

    ``form`` is a format specification, as for `format`.
    """
    return NOTHING if math.isnan(value) else f"{value:{form}}"


def document(tables: Iterable[TextTable], form: str = "text") -> Block:
    """Return the text of tables one below the other, in the form "text", "markdown" or "latex"."""
    return Block("\n\n".join(_TABLE_WRITERS[form](table) for table in tables))


def _table_as_text(table: TextTable) -> str:
    """Return a table as text, with its title above and its note below."""
    note = textwrap.fill(table.note, _NOTE_WIDTH)
    text = as_text(table.header, table.rows, table.left)
    return "\n".join(filter(None, [one_line(table.title), text, note]))


def _table_as_markdown(table: TextTable) -> str:
    """Return a table in Markdown, below a heading."""
    text = markdown_text(table.header, table.rows, table.left, table.bold)
    return "\n\n".join(
        filter(
            None,
            [f"## {markdown_escaped(table.title)}", text, markdown_escaped(table.note)],
        )
    )


def _table_as_latex(table: TextTable) -> str:
    """Return a table in LaTeX, with a caption."""
    caption = f"{table.title}. {table.note}" if table.note else table.title
    return latex_text(table.header, table.rows, table.left, caption)


_TABLE_WRITERS: dict[str, Callable[[TextTable], str]] = {
    "text": _table_as_text,
    "markdown": _table_as_markdown,
    "latex": _table_as_latex,
}


def explained(entries: Iterable[tuple[str, str]]) -> str:
    """Return names with their meanings as lines of a help text, 100 characters wide.

    ``entries`` are pairs of name and meaning.
    """
    names, texts = zip(*entries, strict=True)
    width = max(map(len, names))
    return "\n".join(
        textwrap.fill(
            text,
            100,
            initial_indent=f"  {name:<{width}}  ",
            subsequent_indent=" " * (width + 4),
        )
        for name, text in zip(names, texts, strict=True)
    )


def as_json(values: Any) -> Block:
    """Return plain values as a document in JSON.

    NaN and infinities become null, as JSON has neither.
    """
    text = json.dumps(
        _with_nulls(values), indent=2, ensure_ascii=False, allow_nan=False
    )

    # A text may have characters that control a terminal; JSON can write
    # any character as an escape.
    lines = (
        without_controls(line, lambda sign: f"\\u{ord(sign):04x}")
        for line in text.split("\n")
    )
    return Block("\n".join(lines))


def _with_nulls(values: Any) -> Any:
    """Return plain values with None in place of each number that is not finite.

    Lists and mappings are searched at any depth.
    """
    match values:
        case Mapping():
            return {name: _with_nulls(value) for name, value in values.items()}
        case list() | tuple():
            return [_with_nulls(value) for value in values]
        case float() if not math.isfinite(values):
            return None
    return values
