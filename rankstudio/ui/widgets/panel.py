"""The card that every section of the window is: a header with title and caption, and room below."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from rankstudio.ui.style import icons
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.elided import ElidedLabel
from rankstudio.ui.widgets.layout import fill, named


class _Header(QFrame):
    """The upper edge of a panel, which can be double-clicked and asked for a menu."""

    doubleClicked = Signal()
    menuAsked = Signal(QPoint)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Tell where."""
        event.accept()
        self.menuAsked.emit(event.globalPos())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Tell of it."""
        event.accept()
        self.doubleClicked.emit()


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
    headerDoubleClicked : Signal()
        The user wants the panel larger, or as it was.
    headerMenuAsked : Signal(QPoint)
        The user wants to know what can be done with the panel; where on the screen.
    """

    headerDoubleClicked = Signal()
    headerMenuAsked = Signal(QPoint)

    def __init__(self, theme: Theme, title: str, caption: str = "", padding: int = 12) -> None:
        super().__init__()
        self._theme = theme
        self.setProperty("role", "panel")
        self.setAccessibleName(title)
        self._title = named(ElidedLabel(title, Qt.TextElideMode.ElideMiddle), role="title")
        self._caption = named(ElidedLabel(caption), role="caption")
        self._caption.setMinimumWidth(1)  # it gives way altogether before the title is cut
        self._caption.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.tools = fill(QHBoxLayout(), spacing=2)
        self.body = fill(QVBoxLayout(), margins=(padding, padding, padding, padding), spacing=8)
        # The hairline stays free, and so do the lower corners, which a child would otherwise square off.
        edges = (1, 1, 1, 0 if padding else 5)
        fill(QVBoxLayout(self), self._header(), (self.body, 1), margins=edges, spacing=0)

    def set_title(self, title: str) -> None:
        """Show another title."""
        self._title.setText(title)
        self.setAccessibleName(title)

    def keep_title(self) -> None:
        """Let the tools give way before the title does."""
        self._title.setMinimumWidth(self._title.sizeHint().width())

    def set_caption(self, caption: str) -> None:
        """Show another caption."""
        self._caption.setText(caption)

    def caption(self) -> str:
        """Return the caption, uncut."""
        return self._caption.text()

    def set_content(self, widget: QWidget) -> None:
        """Fill the panel with one widget."""
        self.body.addWidget(widget, 1)

    def add_tool(self, icon: str, text: str) -> QToolButton:
        """Add a small button to the right end of the header; return it, to connect ``clicked``.

        Parameters
        ----------
        icon : str
            Name of an icon.
        text : str
            What it does: its tooltip and accessible name.
        """
        button = named(QToolButton(), said=text, tip=text, role="quiet")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        icons.set_icon(button, self._theme, icon, "muted")
        self.tools.addWidget(button)
        return button

    def _header(self) -> QFrame:
        """Build the header."""
        header = named(_Header(), role="header")
        header.doubleClicked.connect(self.headerDoubleClicked)
        header.menuAsked.connect(self.headerMenuAsked)
        self._title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self._caption.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        shown = (self._title, (self._caption, 1), self.tools)
        fill(QHBoxLayout(header), *shown, margins=(12, 0, 8, 0), spacing=10).addSpacing(3)
        return header
