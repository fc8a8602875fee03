"""One field that finds everything by its name: commands, settings, pages, methods, features and runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from rankstudio.ui.language import tr
from rankstudio.ui.style.plain_text import plain
from rankstudio.ui.widgets.layout import fill, named

_MOST = 60  # entries in the list at once
_WIDTH, _HEIGHT, _FROM_TOP = 560, 380, 90
_LIST_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


@dataclass(frozen=True)
class Entry:
    """Something that can be found.

    Attributes
    ----------
    kind : str
        What it is, as it is shown: "command", "setting", "page", "method", "feature", "run", "query".
    text : str
    act : callable
        Called without arguments when it is chosen.
    note : str
        Shown behind the text: a key, an id.
    """

    kind: str
    text: str
    act: Callable[[], object]
    note: str = ""


def matching(entries: Sequence[Entry], typed: str) -> list[Entry]:
    """Return the entries that have every word that was typed, those that begin with it first.

    The entries keep their order otherwise; nothing typed matches everything.
    """
    words = typed.lower().split()

    def rank(entry: Entry) -> int:
        text = entry.text.lower()
        if words and text.startswith(" ".join(words)):
            return 0
        starts = {part[: len(word)] for word in words for part in text.split()}
        return 1 if all(word in starts for word in words) else 2

    found = [e for e in entries if all(w in f"{e.text} {e.kind} {e.note}".lower() for w in words)]
    return sorted(found, key=rank)


class CommandPalette(QDialog):
    """The field and what it finds, over the upper part of the window.

    Parameters
    ----------
    entries : sequence of Entry
    parent : QWidget
        The window.
    """

    def __init__(self, entries: Sequence[Entry], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        named(self, "command-palette", tr("find anything"), role="palette")
        self._entries = entries
        self._found: list[Entry] = []
        self.field = named(
            QLineEdit(), "palette-field", tr("find a command, setting, page, method, feature, run or query")
        )
        self.field.setPlaceholderText(tr("Find a command, setting, page, method, feature, run or query"))
        self.list = named(QListWidget(), "palette-list", tr("what was found"))
        self.list.setUniformItemSizes(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        fill(QVBoxLayout(self), self.field, (self.list, 1), margins=(10, 10, 10, 10), spacing=8)
        self.field.installEventFilter(self)
        self.field.textChanged.connect(self._find)
        self.field.returnPressed.connect(self._choose)
        self.list.itemClicked.connect(self._choose)
        self.resize(min(_WIDTH, parent.width() - 40), _HEIGHT)
        corner = parent.mapToGlobal(parent.rect().topLeft())
        self.move(corner.x() + (parent.width() - self.width()) // 2, corner.y() + _FROM_TOP)
        self._find("")
        self.field.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the arrow keys move in the list while the field has the focus."""
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() in _LIST_KEYS
        ):
            self.list.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)

    @Slot(str)
    def _find(self, typed: str) -> None:
        self._found = matching(self._entries, typed)[:_MOST]
        self.list.clear()
        for entry in self._found:
            note = f" · {entry.note}" if entry.note else ""
            item = QListWidgetItem(f"{entry.text}   ({entry.kind}{note})")
            item.setToolTip(plain(entry.text))
            self.list.addItem(item)
        if self._found:
            self.list.setCurrentRow(0)
        else:
            nothing = QListWidgetItem(tr("Nothing matches “{typed}”.").format(typed=typed))
            nothing.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(nothing)

    @Slot()
    def _choose(self) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self._found):
            self.close()
            self._found[row].act()
