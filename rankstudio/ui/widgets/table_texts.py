"""Tables as texts: for a spreadsheet all digits, for a paper those that are shown."""

from __future__ import annotations

from collections.abc import Sequence

from rankstudio.engine.export.tables import csv_text, latex_text, markdown_text
from rankstudio.ui.widgets.columns import Column, Row

FORMATS = (("CSV", ".csv"), ("LaTeX", ".tex"), ("Markdown", ".md"))
"""In which a table can be saved, with the ending that asks for each."""

_DRAWN = ("dot", "tick", "histogram")  # kinds of cells without a text


def separated(columns: Sequence[Column], rows: Sequence[Row], separator: str = ",") -> str:
    """Return rows as separated text with a header line, numbers with all their digits."""
    kept = [c for c in columns if c.kind not in _DRAWN]
    return csv_text(
        [c.written_title for c in kept], ([c.plain(row) for c in kept] for row in rows), separator
    )


def table_text(columns: Sequence[Column], rows: Sequence[Row], ending: str) -> str:
    """Return rows in the format of an ending of `FORMATS`; CSV for any other."""
    make = {".tex": latex_text, ".md": markdown_text}.get(ending)
    if make is None:
        return separated(columns, rows)
    kept = [c for c in columns if c.kind not in _DRAWN]
    texts = [[c.text(row) for c in kept] for row in rows]
    left = [i for i, c in enumerate(kept) if c.align == "left"]
    return make([c.written_title for c in kept], texts, left) + "\n"
