"""What the commands print: tables as text, in Markdown and LaTeX, and documents in JSON."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankstudio.engine.export.tables import latex_text, markdown_text

_WIDTH = 110


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


@dataclass(frozen=True)
class Section:
    """One table of a document.

    Attributes
    ----------
    title : str
    header : sequence of str
    rows : sequence of sequences of str
    left : sequence of int
        Columns aligned to the left; the others hold numbers.
    note : str
        What is to be said under it.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: Sequence[int] = (0,)
    note: str = ""


def document(sections: Iterable[Section], form: str = "text") -> str:
    """Return tables one under the other, as "text", "markdown" or "latex"."""
    return "\n\n".join(_FORMS[form](section) for section in sections)


def _text(section: Section) -> str:
    note = textwrap.fill(section.note, _WIDTH)
    return "\n".join(filter(None, [section.title, as_text(section.header, section.rows, section.left), note]))


def _markdown(section: Section) -> str:
    table = markdown_text(section.header, section.rows, section.left)
    return "\n\n".join(filter(None, [f"## {section.title}", table, section.note]))


def _latex(section: Section) -> str:
    caption = f"{section.title}. {section.note}" if section.note else section.title
    return latex_text(section.header, section.rows, section.left, caption)


_FORMS: dict[str, Callable[[Section], str]] = {"text": _text, "markdown": _markdown, "latex": _latex}


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
