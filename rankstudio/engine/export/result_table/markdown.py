"""A table of results in Markdown."""

from __future__ import annotations

from rankstudio.engine.export.result_table.table import Rank, ResultCell, ResultTable, TableStyle
from rankstudio.engine.export.tables import markdown_lines
from rankstudio.engine.support.escaping import markdown_escaped

_RANKS: dict[Rank, str] = {"best": "**%s**", "second": "<ins>%s</ins>", "": "%s"}


def markdown_table(table: ResultTable, style: TableStyle) -> str:
    """Return a table with its caption above and its notes below; groups stand before the titles."""
    rows = [
        [markdown_escaped(table.corner), *(markdown_escaped(column.name) for column in table.columns)],
        *(
            [markdown_escaped(row.title), *(_cell(*cell, style) for cell in cells)]
            for row, cells in table.styled(style)
        ),
    ]
    notes = "\n".join(markdown_escaped(note) for note in table.notes_of(style))
    caption = f"**{markdown_escaped(table.caption)}**"
    return "\n\n".join(filter(None, (caption, markdown_lines(rows), notes))) + "\n"


def _cell(cell: ResultCell, rank: Rank, mark: str, style: TableStyle) -> str:
    text = _RANKS[rank] % style.number(cell.mean)
    sd = f" ± {style.deviation(cell)}" if style.deviation(cell) else ""
    return text + sd + mark
