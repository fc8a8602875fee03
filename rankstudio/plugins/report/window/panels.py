"""The panels of the Report page: question and notes, the sections, and the preview."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QMimeData, QSignalBlocker, Qt, QUrl, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QImage,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShortcut,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QTextBrowser,
    QTextEdit,
)

from rankstudio.plugins.report.window.report_tasks import BREAK, figure_name, picture, rich_text
from rankstudio.ui.language import tr, trn
from rankstudio.ui.process.turns import single_shot
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import CoveredNumber, Panel
from rankstudio.ui.widgets.layout import fill, named

if TYPE_CHECKING:
    from rankstudio.plugins.report.document import Report, ReportFigure

_KEY_ROLE = Qt.ItemDataRole.UserRole
_MARGIN = 28  # pixels around the text
_REDRAW_MILLISECONDS = 150  # milliseconds without a change of the width, before figures are drawn anew
_MAX_FIGURE_WIDTH = 720.0  # of a figure, in pixels
_MUTED_COLOR = QColor("#5b6678")  # on the page, which is white in every theme
_SHEET_STYLE = """
QTextBrowser, QTextBrowser:focus {
  background: #ffffff; color: #1b2330; border: none; border-radius: 0; border-bottom-left-radius: 8px;
  border-bottom-right-radius: 8px;
}
"""


class WordsPanel(Panel):
    """The question of the study, and notes on it.

    Attributes
    ----------
    written : Signal()
        Something else is written there now.
    """

    written = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("In your words"), tr("stored in the study"), name="report-words-panel")
        self.question = _text_field(
            "report-question", tr("Question of the study"), tr("What do you want to know?")
        )
        self.notes = _text_field(
            "report-notes", tr("Notes on the study"), tr("What did you find? What remains open?")
        )
        for title, field, share in ((tr("Question"), self.question, 1), (tr("Notes"), self.notes, 2)):
            label = named(PlainLabel(title), role="muted")
            label.setBuddy(field)
            fill(self.body, label, (field, share), spacing=4)
            field.textChanged.connect(self.written)

    def show_words(self, question: str, notes: str) -> None:
        """Show the texts of another study, without a signal."""
        for field, text in ((self.question, question), (self.notes, notes)):
            if field.toPlainText() != text:
                blocker = QSignalBlocker(field)
                field.setPlainText(text)
                blocker.unblock()


class OutlinePanel(Panel):
    """The sections: ticked where they are wanted, moved by the mouse, by Alt with an arrow, or by buttons.

    Attributes
    ----------
    arranged : Signal()
        Other sections are wanted, or in another order.
    """

    arranged = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(
            theme,
            tr("Sections"),
            tr("tick to include"),
            padding=6,
            name="report-sections-panel",
        )
        self.list = named(QListWidget(), "report-sections", tr("Sections of the report"))
        self.list.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.list.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.body.addWidget(self.list)
        self.up = self.add_tool("chevron-up", tr("Move the section up (Alt+Up)"))
        self.down = self.add_tool("chevron-down", tr("Move the section down (Alt+Down)"))
        self.usual = self.add_tool("reset", tr("All sections in their usual order"))
        for button, by, keys in ((self.up, -1, "Alt+Up"), (self.down, 1, "Alt+Down")):
            button.clicked.connect(lambda _=False, by=by: self.move_section(by))
            shortcut = QShortcut(QKeySequence(keys), self.list)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(lambda by=by: self.move_section(by))
        self.list.itemChanged.connect(lambda _: self.arranged.emit())
        self.list.model().rowsMoved.connect(lambda *_: self.arranged.emit())

    def show_sections(self, titles: Mapping[str, str], included: Mapping[str, bool]) -> None:
        """Show sections by their keys, in the order of the ticks, without a signal."""
        row = self.list.currentRow()
        blocker = QSignalBlocker(self.list)
        self.list.clear()
        for key, ticked in included.items():
            item = QListWidgetItem(tr(titles[key]))
            item.setData(_KEY_ROLE, key)
            flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable
            item.setFlags(flags | Qt.ItemFlag.ItemIsDragEnabled)
            item.setCheckState(Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)
            self.list.addItem(item)
        self.list.setCurrentRow(max(row, 0))
        blocker.unblock()

    def sections(self) -> tuple[tuple[str, bool], ...]:
        """Return the keys in their order, each with whether it is wanted."""
        items: Sequence[QListWidgetItem] = [self.list.item(row) for row in range(self.list.count())]
        return tuple(
            (str(item.data(_KEY_ROLE)), item.checkState() is Qt.CheckState.Checked) for item in items
        )

    def move_section(self, by: int) -> None:
        """Move the marked section up or down by a number of places."""
        row = self.list.currentRow()
        to = min(max(row + by, 0), self.list.count() - 1)
        if row < 0 or to == row:
            return
        blocker = QSignalBlocker(self.list)
        self.list.insertItem(to, self.list.takeItem(row))
        self.list.setCurrentRow(to)
        blocker.unblock()
        self.arranged.emit()


def _text_field(name: str, accessible_name: str, hint: str) -> QTextEdit:
    field = named(QTextEdit(), name, accessible_name)
    field.setAcceptRichText(False)
    field.setTabChangesFocus(True)
    field.setPlaceholderText(hint)
    return field


class _Sheet(QTextBrowser):
    """A white page that shows text and the figures it was given, and loads nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self._figures: dict[str, ReportFigure] = {}
        self._html = ""
        self._waiting = ""
        self._width = 0
        self._settling = single_shot(_REDRAW_MILLISECONDS, self._draw, self)
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet(_SHEET_STYLE)
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
        self._html = ""
        self._figures = {}
        self.clear()

    @property
    def is_blank(self) -> bool:
        """Whether no report is shown."""
        return not self._html

    def set_waiting(self, text: str) -> None:
        """Show in the middle of an empty page what it waits for; "" for nothing."""
        self._waiting = text
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the report, or what an empty page waits for."""
        super().paintEvent(event)
        if self._waiting and not self._html:
            painter = QPainter(self.viewport())
            painter.setPen(_MUTED_COLOR)
            painter.drawText(self.viewport().rect(), Qt.AlignmentFlag.AlignCenter, self._waiting)

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Return a figure of the report; other resources are not loaded."""
        figure = self._figures.get(name if isinstance(name, str) else name.toString())
        if kind != QTextDocument.ResourceType.ImageResource.value or figure is None:
            return QImage()
        return picture(figure, min(_MAX_FIGURE_WIDTH, max(self._room(), 200.0)), self.devicePixelRatioF())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Draw the figures for the new width, when it stays."""
        super().resizeEvent(event)
        if self._html and self._room() != self._width:
            self._settling.start()

    def createMimeDataFromSelection(self) -> QMimeData:
        """Return the selection as text, without the places where long words are broken."""
        data = QMimeData()
        data.setText(self.textCursor().selection().toPlainText().replace(BREAK, ""))
        return data

    def _room(self) -> int:
        return self.viewport().width() - 2 * _MARGIN - 2

    @Slot()
    def _draw(self) -> None:
        scroll_position = self.verticalScrollBar().value()
        self._width = self._room()
        self.setLineWrapColumnOrWidth(self._width + 2 * _MARGIN)
        self.document().clear()  # the pictures too, whose names are the same in every report
        self.setHtml(self._html)
        self.document().setDocumentMargin(_MARGIN)
        self.verticalScrollBar().setValue(scroll_position)


class PreviewPanel(Panel):
    """The preview, with what is done with the report.

    Attributes
    ----------
    save, read : QPushButton
        For a file, and to read it in a browser.
    sheet : QTextBrowser
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Preview"), tr("as on paper"), padding=0, name="report-preview-panel")
        self.sheet = named(_Sheet(), "report-preview", tr("Preview of the report"))
        self.body.addWidget(self.sheet)
        read = tr("Write the report to a temporary file and open it in the browser")
        self.covered = CoveredNumber()
        self.read = named(QPushButton(tr("Open in browser")), "report-browser", tip=read)
        self.save = named(
            QPushButton(tr("Save…")),
            "report-save",
            tip=tr("Save it as an HTML file or as PDF"),
            role="primary",
        )
        self.tools.setSpacing(8)
        for button in (self.covered, self.read, self.save):
            self.tools.addWidget(button)

    def wait(self) -> None:
        """Show that a report is being made; the one before stays."""
        self.set_caption("" if self.sheet.is_blank else tr("creating the report …"))
        self.sheet.set_waiting(tr("Creating the report …"))

    def stop_waiting(self) -> None:
        """Show that no report is being made any more."""
        self.set_caption("")
        self.sheet.set_waiting("")

    def clear(self) -> None:
        """Show nothing."""
        self.sheet.clear_report()
        self.covered.hide()
        self.set_caption("")

    def show_report(self, report: Report) -> None:
        """Show a report."""
        self.sheet.show_report(report)
        n = len(report.sections)
        self.set_caption(trn("{n} section", "{n} sections", n).format(n=n))
