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

from rankstudio.plugins.report.window.report_tasks import (
    BREAK,
    figure_name,
    picture,
    rich_text,
)
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
# figures are drawn anew this long after the last change of the width
_REDRAW_MILLISECONDS = 150
_MAX_FIGURE_WIDTH = 720.0  # of a figure, in pixels
_MUTED_COLOR = QColor("#5b6678")  # the page is white in every theme
_SHEET_STYLE = """
QTextBrowser, QTextBrowser:focus {
  background: #ffffff; color: #1b2330; border: none; border-radius: 0; border-bottom-left-radius: 8px;
  border-bottom-right-radius: 8px;
}
"""


class WordsPanel(Panel):
    """The panel in which the user writes the question of the study, and notes on it.

    Attributes
    ----------
    written : Signal()
        The user has changed the question or the notes.
    """

    written = Signal()

    def __init__(self, theme: Theme) -> None:
        """Lay out the two fields, each below its title."""
        super().__init__(
            theme,
            tr("In your words"),
            tr("stored in the study"),
            name="report-words-panel",
        )
        self.question = _text_field(
            "report-question",
            tr("Question of the study"),
            tr("What do you want to know?"),
        )
        self.notes = _text_field(
            "report-notes",
            tr("Notes on the study"),
            tr("What did you find? What remains open?"),
        )
        for title, field, share in (
            (tr("Question"), self.question, 1),
            (tr("Notes"), self.notes, 2),
        ):
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
    """The list of sections, in which the user ticks sections to include them, and moves them.

    Sections are moved by dragging, with Alt and an arrow key, or with buttons.

    Attributes
    ----------
    arranged : Signal()
        The user has ticked, unticked or moved a section.
    """

    arranged = Signal()

    def __init__(self, theme: Theme) -> None:
        """Make the empty list of sections, and the buttons that move them."""
        super().__init__(
            theme,
            tr("Sections"),
            tr("tick to include"),
            padding=6,
            name="report-sections-panel",
        )

        # The list of the sections, which are moved by dragging.
        self.list = named(
            QListWidget(), "report-sections", tr("Sections of the report")
        )
        self.list.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.list.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.body.addWidget(self.list)

        # Sections can be moved with buttons and shortcuts, too.
        self.up = self.add_tool("chevron-up", tr("Move the section up (Alt+Up)"))
        self.down = self.add_tool(
            "chevron-down", tr("Move the section down (Alt+Down)")
        )
        self.usual = self.add_tool("reset", tr("All sections in their usual order"))

        # `by` is bound to each function now; `_` is whether the button is checked.
        for button, by, keys in ((self.up, -1, "Alt+Up"), (self.down, 1, "Alt+Down")):
            button.clicked.connect(lambda _=False, by=by: self.move_section(by))
            shortcut = QShortcut(QKeySequence(keys), self.list)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(lambda by=by: self.move_section(by))

        # A tick and a move both change the report.
        self.list.itemChanged.connect(lambda _: self.arranged.emit())
        self.list.model().rowsMoved.connect(lambda *_: self.arranged.emit())

    def show_sections(
        self, titles: Mapping[str, str], included: Mapping[str, bool]
    ) -> None:
        """Show sections in the order of ``included``, which says whether each is ticked.

        ``titles`` has the title of each section by its key. No signal is emitted.
        """
        row = self.list.currentRow()
        blocker = QSignalBlocker(self.list)
        self.list.clear()
        for key, ticked in included.items():
            item = QListWidgetItem(tr(titles[key]))
            item.setData(_KEY_ROLE, key)
            flags = (
                Qt.ItemFlag.ItemIsEnabled
                | Qt.ItemFlag.ItemIsSelectable
                | Qt.ItemFlag.ItemIsUserCheckable
            )
            item.setFlags(flags | Qt.ItemFlag.ItemIsDragEnabled)
            item.setCheckState(
                Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked
            )
            self.list.addItem(item)
        self.list.setCurrentRow(max(row, 0))
        blocker.unblock()

    def sections(self) -> tuple[tuple[str, bool], ...]:
        """Return the keys of the sections in their order, each with whether it is ticked."""
        items: Sequence[QListWidgetItem] = [
            self.list.item(row) for row in range(self.list.count())
        ]
        return tuple(
            (str(item.data(_KEY_ROLE)), item.checkState() is Qt.CheckState.Checked)
            for item in items
        )

    def move_section(self, by: int) -> None:
        """Move the current section down by a number of places; up for a negative number."""
        row = self.list.currentRow()
        new_row = min(max(row + by, 0), self.list.count() - 1)
        if row < 0 or new_row == row:
            return

        # Taking and inserting would give two signals: one is emitted at the end.
        blocker = QSignalBlocker(self.list)
        self.list.insertItem(new_row, self.list.takeItem(row))
        self.list.setCurrentRow(new_row)
        blocker.unblock()
        self.arranged.emit()


def _text_field(name: str, accessible_name: str, hint: str) -> QTextEdit:
    """Return a field for plain text of several lines."""
    field = named(QTextEdit(), name, accessible_name)
    field.setAcceptRichText(False)
    field.setTabChangesFocus(True)
    field.setPlaceholderText(hint)
    return field


class _Sheet(QTextBrowser):
    """A white page that shows a report with its figures; it loads no other resources."""

    def __init__(self) -> None:
        """Begin with an empty page."""
        super().__init__()
        self._figures: dict[str, ReportFigure] = {}
        self._html = ""
        self._waiting = ""  # text on an empty page
        self._width = 0  # of the text that is drawn, in pixels
        self._redraw_timer = single_shot(_REDRAW_MILLISECONDS, self._draw, self)
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet(_SHEET_STYLE)

        # The scroll bar is always visible, so that the width of the
        # text does not depend on its length.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setLineWrapMode(QTextBrowser.LineWrapMode.FixedPixelWidth)
        self.setWordWrapMode(QTextOption.WrapMode.WordWrap)  # no number is cut in two

    def show_report(self, report: Report) -> None:
        """Show a report, scrolled to the position of the previous one."""
        self._html, figures = rich_text(report, breaks=True)
        self._figures = {
            figure_name(number): figure for number, figure in enumerate(figures)
        }
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
        """Set the text in the middle of an empty page that waits for a report; "" for none."""
        self._waiting = text
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the report, or the waiting text on an empty page."""
        super().paintEvent(event)
        if self._waiting and not self._html:
            painter = QPainter(self.viewport())
            painter.setPen(_MUTED_COLOR)
            painter.drawText(
                self.viewport().rect(), Qt.AlignmentFlag.AlignCenter, self._waiting
            )

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Return a figure of the report; other resources are not loaded.

        Qt calls this for each picture in the HTML. The figure is as
        wide as the text, within limits.
        """
        figure = self._figures.get(name if isinstance(name, str) else name.toString())
        if kind != QTextDocument.ResourceType.ImageResource.value or figure is None:
            return QImage()

        # At least 200 pixels, however narrow the page is.
        return picture(
            figure,
            min(_MAX_FIGURE_WIDTH, max(self._text_width(), 200.0)),
            self.devicePixelRatioF(),
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Draw the figures for the new width, once the width no longer changes."""
        super().resizeEvent(event)
        if self._html and self._text_width() != self._width:
            self._redraw_timer.start()

    def createMimeDataFromSelection(self) -> QMimeData:
        """Return the selection as text, without the places where long words are broken."""
        data = QMimeData()
        data.setText(self.textCursor().selection().toPlainText().replace(BREAK, ""))
        return data

    def _text_width(self) -> int:
        """Return the width that the window leaves for the text, in pixels."""
        return self.viewport().width() - 2 * _MARGIN - 2

    @Slot()
    def _draw(self) -> None:
        """Draw the report for the present width of the text; the scroll position stays."""
        scroll_position = self.verticalScrollBar().value()
        self._width = self._text_width()
        self.setLineWrapColumnOrWidth(self._width + 2 * _MARGIN)

        # removes the cached pictures, too; every report has the same names of pictures
        self.document().clear()
        self.setHtml(self._html)
        self.document().setDocumentMargin(_MARGIN)
        self.verticalScrollBar().setValue(scroll_position)


class PreviewPanel(Panel):
    """The panel with the preview of the report, and buttons to save it and to open it in a browser.

    Attributes
    ----------
    save, read : QPushButton
        Buttons to save the report to a file, and to read it in a browser.
    sheet : QTextBrowser
        The page that shows the report.
    """

    def __init__(self, theme: Theme) -> None:
        """Make the page, and the buttons above it."""
        super().__init__(
            theme,
            tr("Preview"),
            tr("as on paper"),
            padding=0,
            name="report-preview-panel",
        )
        self.sheet = named(_Sheet(), "report-preview", tr("Preview of the report"))
        self.body.addWidget(self.sheet)
        tip = tr("Write the report to a temporary file and open it in the browser")

        # Shown if the report leaves out sealed measures.
        self.covered = CoveredNumber()
        self.read = named(QPushButton(tr("Open in browser")), "report-browser", tip=tip)
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
        """Show that a report is being made; the previous one stays visible."""
        self.set_caption("" if self.sheet.is_blank else tr("creating the report …"))
        self.sheet.set_waiting(tr("Creating the report …"))

    def stop_waiting(self) -> None:
        """Show that no report is being made any longer."""
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
