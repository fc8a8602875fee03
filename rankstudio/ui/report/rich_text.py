"""A report in the part of HTML that Qt's text documents know, for the preview and the PDF."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, assert_never

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

from rankstudio.engine.analysis.report.document import (
    Block,
    CodeText,
    FactList,
    Paragraph,
    ReportFigure,
    ReportTable,
)
from rankstudio.engine.support.escaping import html_text, paragraphs
from rankstudio.ui.style.fonts import family

if TYPE_CHECKING:
    from rankstudio.engine.analysis.report.document import Report

BREAK = "\u200b"
"""Where a word may be broken."""

_LONG_WORD = re.compile(r"[0-9A-Za-z:]{24}(?=[0-9A-Za-z:]{8})")  # no entity is so long, nor any tag of ours
_SIZE = re.compile(r"font-size: (\d+)px")
_STYLE = """
body { color: #1b2330; font-family: '$family', sans-serif; font-size: 13px; line-height: 140%; }
h1 { font-size: 25px; margin-top: 0px; margin-bottom: 2px; }
h2 { font-size: 18px; margin-top: 30px; margin-bottom: 8px; }
h3 { font-size: 13px; margin-top: 14px; margin-bottom: 4px; }
p { margin-top: 5px; margin-bottom: 5px; }
p.muted, p.note { color: #5b6577; }
p.note { font-size: 11px; }
pre { font-family: monospace; font-size: 11px; background-color: #f4f5f7; white-space: pre-wrap; }
table { font-size: 12px; margin-top: 2px; margin-bottom: 4px; }
th { color: #5b6577; font-weight: 400; border-bottom: 1px solid #c3cad5; padding: 3px 12px 3px 0px; }
td { border-bottom: 1px solid #e6e9ef; padding: 3px 12px 3px 0px; vertical-align: top; }
td.name { color: #5b6577; border-bottom: none; }
td.fact { border-bottom: none; }
"""
_TABLE = '<table cellspacing="0" cellpadding="0" style="border-collapse: collapse;">'


def rich_text(
    report: Report, *, breaks: bool = False, points: bool = False
) -> tuple[str, list[ReportFigure]]:
    """Return a report as HTML for a text document, and its figures, which it names by `figure_name`.

    Parameters
    ----------
    report : Report
    breaks : bool
        Whether long words, such as checksums, may be broken anywhere: by `BREAK`, which nobody sees.
    points : bool
        Whether sizes of letters are in points, as printing wants them, rather than in pixels.
    """
    figures: list[ReportFigure] = []
    parts = [f"<h1>{html_text(report.title)}</h1>", f'<p class="muted">{html_text(report.subtitle)}</p>']
    for section in report.sections:
        parts.append(f"<h2>{html_text(section.title)}</h2>")
        parts += [_block(block, figures) for block in section.blocks]
    style = _STYLE.replace("$family", family() or "sans-serif")
    if points:
        style = _SIZE.sub(lambda size: f"font-size: {0.72 * int(size[1]):g}pt", style)
    body = "".join(parts)
    if breaks:
        body = _LONG_WORD.sub(lambda word: word[0] + BREAK, body)
    return f"<html><head><style>{style}</style></head><body>{body}</body></html>", figures


def figure_name(number: int) -> str:
    """Return what a figure is called in the text, by its number from 0."""
    return f"figure:{number}"


def picture(figure: ReportFigure, width: float, ratio: float) -> QImage:
    """Return a figure as wide as so many logical pixels, for a screen of a pixel ratio."""
    smooth = Qt.TransformationMode.SmoothTransformation
    image = QImage.fromData(figure.png).scaledToWidth(round(width * ratio), smooth)
    image.setDevicePixelRatio(ratio)
    return image


def _block(block: Block, figures: list[ReportFigure]) -> str:
    match block:
        case Paragraph():
            kind = ' class="muted"' if block.muted else ""
            return "".join(f"<p{kind}>{lines}</p>" for lines in paragraphs(block.text))
        case FactList():
            rows = (
                f'<tr><td class="name">{html_text(name)}</td><td class="fact">{html_text(value)}</td></tr>'
                for name, value in block.rows
            )
            return f"{_TABLE}{''.join(rows)}</table>"
        case ReportTable():
            return _table(block)
        case ReportFigure():
            figures.append(block)
            name = figure_name(len(figures) - 1)
            shown = f'<p style="line-height: 100%"><img src="{name}"></p>'
            return f'{shown}<p class="note">{html_text(block.caption)}</p>'
        case CodeText():
            return f"<h3>{html_text(block.title)}</h3><pre>{html_text(block.text)}</pre>"
        case _:
            assert_never(block)


def _table(table: ReportTable) -> str:
    sides = ["left" if column in table.left else "right" for column in range(len(table.header))]
    head = "".join(
        f'<th align="{side}">{html_text(name)}</th>' for side, name in zip(sides, table.header, strict=True)
    )
    rows = "".join(
        "<tr>" + "".join(_cell(table, at, column, sides[column]) for column in range(len(row))) + "</tr>"
        for at, row in enumerate(table.rows)
    )
    note = f'<p class="note">{html_text(table.note)}</p>' if table.note else ""
    return f"<h3>{html_text(table.title)}</h3>{_TABLE}<tr>{head}</tr>{rows}</table>{note}"


def _cell(table: ReportTable, at: int, column: int, side: str) -> str:
    text = html_text(table.rows[at][column])
    return f'<td align="{side}">{f"<b>{text}</b>" if (at, column) in table.bold else text}</td>'
