"""The card that every section of the window is: a header with title and caption, and room below."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from rankstudio.ui.style import icons
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.elided import ElidedLabel

HEADER = 36
"""Height of a panel's header, in logical pixels."""


class Panel(QFrame):
    """A rounded card with a 36 px header: bold title at the left, muted caption and tools at the right.

    Parameters
    ----------
    theme : Theme
    title : str
    caption : str
        What the panel shows or how to act on it; gives way before the title does.
    padding : int
        Around the content, in pixels; 0 for tables, which reach from edge to edge.

    Attributes
    ----------
    body : QVBoxLayout
        Where the content goes.
    tools : QHBoxLayout
        The right end of the header.
    """

    def __init__(self, theme: Theme, title: str, caption: str = "", padding: int = 12) -> None:
        super().__init__()
        self._theme = theme
        self.setProperty("role", "panel")
        self.setAccessibleName(title)
        self._title = ElidedLabel(title)
        self._title.setProperty("role", "title")
        self._caption = ElidedLabel(caption)
        self._caption.setProperty("role", "caption")
        self._caption.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.tools = QHBoxLayout()
        self.tools.setSpacing(2)
        self.body = QVBoxLayout()
        self.body.setContentsMargins(padding, padding, padding, padding)
        self.body.setSpacing(8)
        outer = QVBoxLayout(self)
        # The hairline stays free, and so do the lower corners, which a child would otherwise square off.
        outer.setContentsMargins(1, 1, 1, 0 if padding else 5)
        outer.setSpacing(0)
        outer.addWidget(self._header())
        outer.addLayout(self.body, 1)

    def set_title(self, title: str) -> None:
        """Show another title."""
        self._title.setText(title)
        self.setAccessibleName(title)

    def set_caption(self, caption: str) -> None:
        """Show another caption."""
        self._caption.setText(caption)

    def title(self) -> str:
        """Return the title."""
        return self._title.text()

    def caption(self) -> str:
        """Return the caption, uncut."""
        return self._caption.text()

    def set_content(self, widget: QWidget) -> None:
        """Fill the panel with one widget."""
        self.body.addWidget(widget, 1)

    def add_tool(self, icon: str, text: str, menu: QMenu | None = None) -> QToolButton:
        """Add a small button to the right end of the header.

        Parameters
        ----------
        icon : str
            Name of an icon.
        text : str
            What it does: its tooltip and accessible name.
        menu : QMenu, optional
            Opened by the button, which then has no action of its own.

        Returns
        -------
        QToolButton
            To connect ``clicked``.
        """
        button = QToolButton()
        button.setProperty("role", "quiet")
        button.setToolTip(text)
        button.setAccessibleName(text)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        icons.set_icon(button, self._theme, icon, "muted")
        if menu is not None:
            button.setMenu(menu)
            button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.tools.addWidget(button)
        return button

    def _header(self) -> QFrame:
        """Build the header."""
        header = QFrame()
        header.setProperty("role", "header")
        header.setFixedHeight(HEADER)
        row = QHBoxLayout(header)
        row.setContentsMargins(12, 0, 8, 0)
        row.setSpacing(10)
        self._title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self._caption.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        row.addWidget(self._title)
        row.addWidget(self._caption, 1)
        row.addLayout(self.tools)
        row.addSpacing(3)
        return header
