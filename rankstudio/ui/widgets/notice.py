"""A message where it belongs: no dialog to click away, nothing lost while it is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from rankstudio.ui.language import tr
from rankstudio.ui.style import icons
from rankstudio.ui.style.colors import mix
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import fill, named

Level = Literal["info", "warning", "error"]
_ROLES: dict[Level, str] = {"info": "accent", "warning": "warning", "error": "error"}
_SAID: dict[Level, str] = {"info": tr("info"), "warning": tr("warning"), "error": tr("error")}

_ABOVE = 8  # pixels between the bar and what it lies below; none while there is no bar


class Notice(QWidget):
    """A bar with an icon, a text that wraps and can be selected, perhaps an action, and a way to close it.

    It is hidden until it has something to say.

    Parameters
    ----------
    theme : Theme
    stacked : bool
        Whether the action stands below the text, for a narrow place.

    Attributes
    ----------
    closed : Signal()
        The user closed the notice.
    """

    closed = Signal()

    def __init__(self, theme: Theme, *, stacked: bool = False) -> None:
        super().__init__()
        self.setObjectName("notice")
        self._theme = theme
        self._level: Level = "info"
        self._picture = PlainLabel()
        self._text = PlainLabel()
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._act: Callable[[], object] | None = None
        self._action = named(QPushButton(), "notice-action")
        self._action.clicked.connect(self._on_action)
        text = tr("Close this message")
        self._close = named(QToolButton(), said=text, tip=text, role="quiet")
        self._close.clicked.connect(self.dismiss)
        icons.set_icon(self._close, theme, "close", "muted")
        self._lay_out(stacked)
        theme.changed.connect(self._restyle)
        self.hide()

    def say(
        self, text: str, level: Level = "info", action: str = "", act: Callable[[], object] | None = None
    ) -> None:
        """Show a message.

        Parameters
        ----------
        text : str
            Whole sentences.
        level : {"info", "warning", "error"}
        action : str
            What a button offers to do about it ("Retry"); no button where empty.
        act : callable, optional
            What it does then.
        """
        self._act = act
        self._level = level
        self._text.setText(text)
        self._action.setText(action)
        self._action.setVisible(bool(action))
        self.setAccessibleName(f"{_SAID[level]}: {text}")
        self._restyle()
        self.show()

    def text(self) -> str:
        """Return the message; empty while there is none."""
        return "" if self.isHidden() else self._text.text()

    @property
    def last_text(self) -> str:
        """The message that is shown, or was the last."""
        return self._text.text()

    @Slot()
    def dismiss(self) -> None:
        """Close the message."""
        if not self.isHidden():
            self.hide()
            self.closed.emit()

    @Slot()
    def _on_action(self) -> None:
        if self._act is not None:
            self._act()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bar: a tinted card in the colour of its level."""
        colors = self._theme.colors
        color = colors.role(_ROLES[self._level])
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colors.q(mix(colors.panel, color, 0.45)), 1.0))
        painter.setBrush(colors.q(mix(colors.panel, color, 0.12 if colors.dark else 0.07)))
        painter.drawRoundedRect(self.rect().toRectF().adjusted(0.5, _ABOVE + 0.5, -0.5, -0.5), 7, 7)

    def _lay_out(self, stacked: bool) -> None:
        """Put icon, text and buttons in a row, or the action below it."""
        row = fill(QHBoxLayout(), self._picture, (self._text, 1), spacing=9)
        lines = fill(QVBoxLayout(self), row, margins=(11, _ABOVE + 7, 6, 7), spacing=4)
        if stacked:
            lines.addWidget(self._action, 0, Qt.AlignmentFlag.AlignHCenter)
        else:
            row.addWidget(self._action, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self._text.setContentsMargins(0, 3, 0, 3)

    @Slot()
    def _restyle(self) -> None:
        """Draw icon and bar in the theme's present colours."""
        color = self._theme.colors.role(_ROLES[self._level])
        self._picture.setPixmap(icons.pixmap(self._level, color, 18, self.devicePixelRatioF()))
        self.update()
