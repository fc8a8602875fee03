"""The table as it will be printed: drawn on a white sheet, or as the text of its format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QFont, QFontDatabase, QTextOption
from PySide6.QtWidgets import QFrame, QTextBrowser

from rankstudio.engine.support.templates import rendered
from rankstudio.ui.style.fonts import family

if TYPE_CHECKING:
    from rankstudio.engine.export.result_table.table import ResultTable, TableStyle

_SHEET = """
QTextBrowser, QTextBrowser:focus { background: #ffffff; color: #1b2330; border: none; border-radius: 6px; }
"""
_MARGIN = 20


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
        self.setHtml(rendered("result_sheet.html", table=table, style=style, family=family() or "sans-serif"))

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
