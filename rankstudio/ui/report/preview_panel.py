"""The report as it will look on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QMimeData, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QImage, QResizeEvent, QTextDocument, QTextOption
from PySide6.QtWidgets import QFrame, QPushButton, QTextBrowser

from rankstudio.ui.language import tr, trn
from rankstudio.ui.report.rich_text import BREAK, figure_name, picture, rich_text
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel
from rankstudio.ui.widgets.layout import named

if TYPE_CHECKING:
    from rankstudio.engine.analysis.report.document import Report, ReportFigure

_MARGIN = 28  # pixels around the text
_SETTLE = 150  # milliseconds without a change of the width, before figures are drawn anew
_WIDEST = 720.0  # of a figure, in pixels
_SHEET = """
QTextBrowser, QTextBrowser:focus {
  background: #ffffff; color: #1b2330; border: none; border-radius: 0; border-bottom-left-radius: 8px;
  border-bottom-right-radius: 8px;
}
"""


class _Sheet(QTextBrowser):
    """A white page that shows text and the figures it was given, and loads nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self._figures: dict[str, ReportFigure] = {}
        self._html = ""
        self._width = 0
        self._settling = QTimer(self)
        self._settling.setSingleShot(True)
        self._settling.setInterval(_SETTLE)
        self._settling.timeout.connect(self._draw_again)
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet(_SHEET)
        # The width of the text must not depend on whether it is long, nor a pixel more than there is.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setLineWrapMode(QTextBrowser.LineWrapMode.FixedPixelWidth)
        self.setWordWrapMode(QTextOption.WrapMode.WordWrap)  # no number is cut in two

    def show_report(self, report: Report) -> None:
        """Show a report where the one before was being read."""
        self._html, figures = rich_text(report, breaks=True)
        self._figures = {figure_name(number): figure for number, figure in enumerate(figures)}
        self._draw()

    def clear_report(self) -> None:
        """Show nothing."""
        self._html, self._figures = "", {}
        self.clear()

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Return a figure; there is nothing else to load."""
        figure = self._figures.get(name if isinstance(name, str) else name.toString())
        if kind != QTextDocument.ResourceType.ImageResource.value or figure is None:
            return QImage()
        return picture(figure, min(_WIDEST, max(self._room(), 200.0)), self.devicePixelRatioF())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Draw the figures for the new width, when it stays."""
        super().resizeEvent(event)
        if self._html and self._room() != self._width:
            self._settling.start()

    def createMimeDataFromSelection(self) -> QMimeData:
        """Return what is marked as text, without the places where long words are broken."""
        data = QMimeData()
        data.setText(self.textCursor().selection().toPlainText().replace(BREAK, ""))
        return data

    def _room(self) -> int:
        return self.viewport().width() - 2 * _MARGIN - 2

    @Slot()
    def _draw_again(self) -> None:
        self._draw()

    def _draw(self) -> None:
        at = self.verticalScrollBar().value()
        self._width = self._room()
        self.setLineWrapColumnOrWidth(self._width + 2 * _MARGIN)
        self.document().clear()  # the pictures too, whose names are the same in every report
        self.setHtml(self._html)
        self.document().setDocumentMargin(_MARGIN)
        self.verticalScrollBar().setValue(at)


class PreviewPanel(Panel):
    """The preview, with what is done with the report.

    Attributes
    ----------
    saveAsked, browserAsked : Signal()
        The user wants a file, or to read it in a browser.
    sheet : QTextBrowser
    """

    saveAsked = Signal()
    browserAsked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Preview"), tr("as on paper"), padding=0)
        self.setObjectName("report-preview-panel")
        self.sheet = named(_Sheet(), "report-preview", tr("Preview of the report"))
        self.body.addWidget(self.sheet)
        read = tr("Write the report to a temporary file and open it in the browser")
        self.read = named(QPushButton(tr("Open in browser")), "report-browser", tip=read)
        self.save = named(
            QPushButton(tr("Save…")),
            "report-save",
            tip=tr("Save it as an HTML file or as PDF"),
            role="primary",
        )
        self.tools.setSpacing(8)
        for button in (self.read, self.save):
            button.setMaximumHeight(28)
            self.tools.addWidget(button)
        self.read.clicked.connect(self.browserAsked)
        self.save.clicked.connect(self.saveAsked)

    def clear(self) -> None:
        """Show nothing."""
        self.sheet.clear_report()
        self.set_caption("")

    def show_report(self, report: Report) -> None:
        """Show a report."""
        self.sheet.show_report(report)
        n = len(report.sections)
        self.set_caption(trn("{n} section", "{n} sections", n).format(n=n))
