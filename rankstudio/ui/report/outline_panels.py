"""What a person says in the report: question and notes, and which sections it has in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QListWidget, QListWidgetItem, QTextEdit

from rankstudio.ui.language import tr
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel
from rankstudio.ui.widgets.layout import fill, named

_KEY = Qt.ItemDataRole.UserRole


class WordsPanel(Panel):
    """The question of the study, and notes on it.

    Attributes
    ----------
    written : Signal()
        Something else is written there now.
    """

    written = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("In your words"), tr("stored in the study"))
        self.setObjectName("report-words-panel")
        self.question = _text("report-question", tr("Question of the study"), tr("What do you want to know?"))
        self.notes = _text(
            "report-notes", tr("Notes on the study"), tr("What did you find? What remains open?")
        )
        for said, field, share in ((tr("Question"), self.question, 1), (tr("Notes"), self.notes, 2)):
            label = named(PlainLabel(said), role="muted")
            label.setBuddy(field)
            fill(self.body, label, (field, share), spacing=4)
            field.textChanged.connect(self.written)

    def show_words(self, question: str, notes: str) -> None:
        """Show what another study says; tells nobody."""
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
        super().__init__(theme, tr("Sections"), tr("tick to include, drag to reorder"), padding=6)
        self.setObjectName("report-sections-panel")
        self.list = named(_Rows(), "report-sections", tr("Sections of the report"))
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
        self.list.dropped.connect(self.arranged)

    def show_sections(self, titles: Mapping[str, str], wanted: Mapping[str, bool]) -> None:
        """Show sections by their keys, in the order of the ticks; tells nobody."""
        at = self.list.currentRow()
        blocker = QSignalBlocker(self.list)
        self.list.clear()
        for key, ticked in wanted.items():
            item = QListWidgetItem(tr(titles[key]))
            item.setData(_KEY, key)
            flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable
            item.setFlags(flags | Qt.ItemFlag.ItemIsDragEnabled)
            item.setCheckState(Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)
            self.list.addItem(item)
        self.list.setCurrentRow(max(at, 0))
        blocker.unblock()

    def sections(self) -> tuple[tuple[str, bool], ...]:
        """Return the keys in their order, each with whether it is wanted."""
        items: Sequence[QListWidgetItem] = [self.list.item(row) for row in range(self.list.count())]
        return tuple((str(item.data(_KEY)), item.checkState() is Qt.CheckState.Checked) for item in items)

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


class _Rows(QListWidget):
    """A list whose items are moved by the mouse.

    Attributes
    ----------
    dropped : Signal()
        An item was moved.
    """

    dropped = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.model().rowsMoved.connect(self._tell)

    @Slot()
    def _tell(self) -> None:
        self.dropped.emit()


def _text(name: str, said: str, hint: str) -> QTextEdit:
    field = named(QTextEdit(), name, said)
    field.setAcceptRichText(False)
    field.setTabChangesFocus(True)
    field.setPlaceholderText(hint)
    return field
