"""Widgets that fold under a button."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QToolButton, QVBoxLayout, QWidget

from rankstudio.ui.style.icons import set_icon
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import fill, named

_SIDE = 12  # of the arrow, in logical pixels


class Disclosure(QWidget):
    """A column of widgets below a button that shows and hides them.

    It opens when the user asks for it, and by itself where something in it needs attention. Only what the
    user asked for is remembered.

    Parameters
    ----------
    theme : Theme
    name : str
        For the program, its tests and the settings.

    Attributes
    ----------
    column : QVBoxLayout
        Of what is folded.
    button : QToolButton
    wanted : bool
        Whether the user opened it last, rather than closed it.
    """

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._theme = theme
        self.wanted = False
        self.button = named(QToolButton(), f"{name}-button", role="disclosure")
        self.button.setCheckable(True)
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._content = QWidget()
        self.column = fill(QVBoxLayout(self._content), margins=(0, 0, 0, 0), spacing=6)
        fill(QVBoxLayout(self), self.button, self._content, margins=(0, 0, 0, 0), spacing=6)
        self.button.clicked.connect(self._take)
        self._show(False)

    @property
    def opened(self) -> bool:
        """Whether its widgets are shown."""
        return self._content.isVisibleTo(self)

    def set_open(self, opened: bool) -> None:
        """Show or hide its widgets, whatever the user asked for."""
        if opened != self.opened:
            self._show(opened)

    def restore(self, wanted: bool) -> None:
        """Take what the user asked for the last time; what is open stays open."""
        self.wanted = wanted
        self.set_open(wanted or self.opened)

    @Slot(bool)
    def _take(self, opened: bool) -> None:
        self.wanted = opened
        self._show(opened)

    def _show(self, opened: bool) -> None:
        self.button.setChecked(opened)
        self._content.setVisible(opened)
        set_icon(self.button, self._theme, "chevron-down" if opened else "chevron-right", "muted", _SIDE)
