"""A sentence about something that can be taken off again by the button beside it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QWidget

from rankstudio.ui.style import icons
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import fill, named


class RemovableNote(QWidget):
    """A muted text that wraps, with a button that removes what it is about; hidden while it has none.

    Parameters
    ----------
    theme : Theme
    name : str
        For the program and its tests; the button is called by it and "-remove".
    remove : str
        What the button does.

    Attributes
    ----------
    removed : Signal()
        The button was pressed.
    """

    removed = Signal()

    def __init__(self, theme: Theme, name: str, remove: str) -> None:
        super().__init__()
        self._text = named(PlainLabel(), name, role="caption")
        self._text.setWordWrap(True)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.button = named(QToolButton(), f"{name}-remove", said=remove, tip=remove, role="quiet")
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.clicked.connect(self.removed)
        icons.set_icon(self.button, theme, "close", "muted")
        row = fill(QHBoxLayout(self), (self._text, 1), self.button, margins=(0, 0, 0, 0), spacing=4)
        row.setAlignment(self.button, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def say(self, text: str) -> None:
        """Show a text; "" hides it with its button."""
        self._text.setText(text)
        self.setVisible(bool(text))

    def text(self) -> str:
        """Return what it says."""
        return self._text.text()
