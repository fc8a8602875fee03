"""What the commands print: tables as text, for a terminal and in Markdown, and documents in JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any


def as_text(header: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """Return rows of text as aligned columns.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequences of str
    left : sequence of int
        Columns aligned to the left; the others hold numbers.
    """
    table = [tuple(header), *(tuple(row) for row in rows)]
    widths = [max(len(row[c]) for row in table) for c in range(len(header))]
    lines = [
        "  ".join(
            cell.ljust(w) if c in left else cell.rjust(w)
            for c, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in table
    ]
    lines.insert(1, "─" * max(len(line) for line in lines))
    return "\n".join(line.rstrip() for line in lines)


def as_markdown(header: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """Return rows of text as a table in Markdown; parameters as for :func:`as_text`.

    An empty cell holds a dash: some readers of Markdown, Qt's among them, melt empty cells together.
    """
    ruler = ["---" if c in left else "---:" for c in range(len(header))]
    return "\n".join(
        "| " + " | ".join(cell.strip() or "–" for cell in row) + " |" for row in [header, ruler, *rows]
    )


def as_json(values: Any) -> str:
    """Return plain values as one document; what is not a number becomes null, as JSON has none of it."""
    return json.dumps(_finite(values), indent=2, ensure_ascii=False, allow_nan=False)


def _finite(values: Any) -> Any:
    match values:
        case Mapping():
            return {name: _finite(value) for name, value in values.items()}
        case list() | tuple():
            return [_finite(value) for value in values]
        case float() if not math.isfinite(values):
            return None
    return values
