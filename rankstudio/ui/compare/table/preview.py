"""The table as it will be printed: drawn on a white sheet, or as the text of its format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QFont, QFontDatabase, QTextOption
from PySide6.QtWidgets import QFrame, QTextBrowser

from rankstudio.engine.export.result_table.html import cell_html
from rankstudio.engine.support.escaping import html_text
from rankstudio.ui.style.fonts import family

if TYPE_CHECKING:
    from rankstudio.engine.export.result_table.table import ResultTable, TableStyle

_SHEET = """
QTextBrowser, QTextBrowser:focus { background: #ffffff; color: #1b2330; border: none; border-radius: 6px; }
"""
_MARGIN = 20
_STYLE = """
body { color: #1b2330; font-family: '$family', sans-serif; font-size: 13px; }
p { margin-top: 0px; margin-bottom: 10px; }
p.note { color: #5b6577; font-size: 12px; margin-top: 10px; }
td { padding: 2px 10px 2px 10px; white-space: nowrap; }
td.name { padding-left: 0px; }
td.first { border-top: 2px solid #1b2330; padding-top: 4px; }
td.group { border-bottom: 1px solid #8a94a6; }
td.head { border-bottom: 1px solid #1b2330; padding-bottom: 4px; }
td.last { border-bottom: 2px solid #1b2330; padding-bottom: 4px; }
"""


class TableSheet(QTextBrowser):
    """A white sheet that shows a table, or a text in letters of one width."""

    def __init__(self) -> None:
        super().__init__()
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet(_SHEET)
        self.document().setDocumentMargin(_MARGIN)

    def show_table(self, table: ResultTable, style: TableStyle) -> None:
        """Show a table as it is printed."""
        self.setWordWrapMode(QTextOption.WrapMode.WordWrap)
        self.setFont(QFont(family()))
        self.setHtml(sheet_html(table, style))

    def show_text(self, text: str) -> None:
        """Show the text of a file, line by line."""
        self.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        fixed.setPixelSize(12)
        self.setFont(fixed)
        self.setPlainText(text)

    def createMimeDataFromSelection(self) -> QMimeData:
        """Return what is marked as text."""
        data = QMimeData()
        data.setText(self.textCursor().selection().toPlainText())
        return data


def sheet_html(table: ResultTable, style: TableStyle) -> str:
    """Return a table in the part of HTML that Qt's text documents know, with the rules of booktabs."""
    groups = table.groups()
    lines = []
    if groups:
        cells = "".join(
            _cell(html_text(group), "first", "group" if group else "", width=width) for group, width in groups
        )
        lines.append(f"<tr>{_cell('', 'name', 'first')}{cells}</tr>")
    over = ("head",) if groups else ("head", "first")
    titles = "".join(_cell(html_text(column.title), *over) for column in table.columns)
    lines.append(f"<tr>{_cell(html_text(table.corner), 'name', *over, side='left')}{titles}</tr>")
    rows = list(table.styled(style))
    for at, (row, found) in enumerate(rows, start=1):
        under = "last" if at == len(rows) else ""
        values = "".join(_cell(cell_html(*cell, style), under) for cell in found)
        lines.append(f"<tr>{_cell(html_text(row.title), 'name', under, side='left')}{values}</tr>")
    notes = "".join(f'<p class="note">{html_text(note)}</p>' for note in table.notes_of(style)[:1])
    rest = " ".join(table.notes_of(style)[1:])
    notes += f'<p class="note">{html_text(rest)}</p>' if rest else ""
    css = _STYLE.replace("$family", family() or "sans-serif")
    return (
        f"<html><head><style>{css}</style></head><body><p>{html_text(table.caption)}</p>"
        '<table cellspacing="0" cellpadding="0" style="border-collapse: collapse;">'
        f"{''.join(lines)}</table>{notes}</body></html>"
    )


def _cell(html: str, *kinds: str, width: int = 1, side: str = "center") -> str:
    return f'<td class="{" ".join(kinds)}" align="{side}" colspan="{width}">{html}</td>'
