"""A menu that is a list: one of many things, however many there are."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QMenu, QWidget, QWidgetAction

from rankstudio.ui.language import tr
from rankstudio.ui.style.plain_text import plain
from rankstudio.ui.widgets.layout import named

_ROWS = 14  # in sight at once
_ROW_HEIGHT = 28
_WIDTH = 180, 460


class PickMenu(QMenu):
    """A list in a popup, filled before it is shown; arrows, Enter and letters work as in any list.

    Parameters
    ----------
    name : str
        For screen readers: "fold".

    Attributes
    ----------
    picked : Signal(object)
        The value that the user chose.
    """

    picked = Signal(object)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._list = named(QListWidget(), f"{name.replace(' ', '-')}-list", tr(name))
        self._list.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setUniformItemSizes(True)
        action = QWidgetAction(self)
        action.setDefaultWidget(self._list)
        self.addAction(action)
        self._list.itemActivated.connect(self._on_item)
        self._list.itemClicked.connect(self._on_item)

    def set_entries(self, entries: Sequence[tuple[object, str]], chosen: object) -> None:
        """Offer values with their texts, and mark the present one."""
        self._list.clear()
        for value, text in entries:
            item = QListWidgetItem(text)
            item.setData(Qt.ItemDataRole.UserRole, (value,))
            item.setToolTip(plain(text))
            self._list.addItem(item)
            if value == chosen:
                self._list.setCurrentItem(item)
        widest = max((self._list.sizeHintForColumn(0), _WIDTH[0]))
        self._list.setFixedSize(min(widest + 28, _WIDTH[1]), min(len(entries), _ROWS) * _ROW_HEIGHT + 8)

    def entries(self) -> list[tuple[object, str]]:
        """Return what is on offer."""
        items = [self._list.item(row) for row in range(self._list.count())]
        return [(item.data(Qt.ItemDataRole.UserRole)[0], item.text()) for item in items]

    def pick(self, value: object) -> None:
        """Choose a value as a click does."""
        for row, (offered, _) in enumerate(self.entries()):
            if offered == value:
                self._on_item(self._list.item(row))
                return

    def showEvent(self, event: QShowEvent) -> None:
        """Let the keyboard be the list's."""
        super().showEvent(event)
        self._list.setFocus(Qt.FocusReason.PopupFocusReason)
        current = self._list.currentItem()
        if current is not None:
            self._list.scrollToItem(current, QListWidget.ScrollHint.PositionAtCenter)

    @Slot(QListWidgetItem)
    def _on_item(self, item: QListWidgetItem) -> None:
        self.close()
        self.picked.emit(item.data(Qt.ItemDataRole.UserRole)[0])
