"""The rail at the left edge: one button a page of the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from rankstudio.ui.language import tr
from rankstudio.ui.style.fonts import scaled
from rankstudio.ui.style.icons import set_icon
from rankstudio.ui.style.plain_text import key_text
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import fill, named

WIDTH = 76
"""Of the rail, in logical pixels."""

_ICON = 20
_STEPS: dict[int, int] = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


@dataclass(frozen=True)
class PageName:
    """What a page is called.

    Attributes
    ----------
    key : str
        Its name in the code.
    label : str
        Under its icon.
    icon : str
        Name of an icon.
    help : str
        What is to be seen there, as a sentence.
    """

    key: str
    label: str
    icon: str
    help: str


class PageRail(QWidget):
    """A column of buttons of which exactly one is chosen; one stop for Tab, arrows move within.

    Parameters
    ----------
    theme : Theme
    pages : sequence of PageName
        From top to bottom.

    Attributes
    ----------
    chosen : Signal(str)
        Key of the page that the user chose.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme, pages: Sequence[PageName]) -> None:
        super().__init__()
        named(self, "page-rail", tr("pages"), role="rail")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedWidth(scaled(WIDTH))
        self._theme = theme
        self._keys = [page.key for page in pages]
        self._group = QButtonGroup(self)
        column = fill(QVBoxLayout(self), margins=(6, 8, 6, 8), spacing=4)
        for position, page in enumerate(pages):
            button = self._button(page, position + 1)
            self._group.addButton(button, position)
            column.addWidget(button)
        column.addStretch(1)
        self._group.idClicked.connect(lambda position: self.chosen.emit(self._keys[position]))

    def select(self, key: str) -> None:
        """Mark a page as the one that is shown; tells nobody."""
        self._group.button(self._keys.index(key)).setChecked(True)
        for button in self._group.buttons():
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus if button.isChecked() else Qt.FocusPolicy.NoFocus)

    def changeEvent(self, event: QEvent) -> None:
        """Make room for larger text."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.setFixedWidth(scaled(WIDTH))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move from page to page by the arrow keys."""
        step = _STEPS.get(event.key())
        to = self._group.checkedId() + (step or 0)
        if step is None or not 0 <= to < len(self._keys):
            event.ignore()
            return
        button = self._group.button(to)
        button.setFocus(Qt.FocusReason.TabFocusReason)
        button.click()

    def _button(self, page: PageName, number: int) -> QToolButton:
        button = named(
            QToolButton(), f"page-{page.key}", tr("{label} page").format(label=page.label), role="page-button"
        )
        button.setToolTip(f"{page.help} ({key_text(f'Ctrl+{number}')})")
        button.setText(page.label)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        button.setCheckable(True)
        button.setAutoExclusive(True)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        set_icon(button, self._theme, page.icon, "muted", _ICON)
        button.toggled.connect(
            lambda on: set_icon(button, self._theme, page.icon, "accent" if on else "muted", _ICON)
        )
        return button
