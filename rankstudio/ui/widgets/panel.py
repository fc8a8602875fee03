"""The card that every section of the window is, labels that give way in it, and widgets that fold."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, Signal, Slot
from PySide6.QtGui import QContextMenuEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QStyleOption,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from rankstudio.ui.style import icons
from rankstudio.ui.style.icons import set_icon
from rankstudio.ui.style.plain_text import plain
from rankstudio.ui.style.terms import TermLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import fill, named

_CAPTION = 1000  # stretch of a caption: all of the room that it can use
_FEW = 12  # letters of a caption, with which a longer one is understood


class ElidedLabel(TermLabel):
    """A one-line label that never asks for more width than there is.

    Parameters
    ----------
    text : str
    mode : Qt.TextElideMode
        Where the "…" goes; in the middle for paths.
    """

    def __init__(self, text: str = "", mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        super().__init__()
        self._mode = mode
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Show another text."""
        super().setText(text)
        self._tell_in_full()

    def shown_text(self) -> str:
        """Return the text as it is drawn at the present width; nothing where two letters would be left."""
        room = self.contentsRect().width()
        metrics = self.fontMetrics()
        cut = metrics.elidedText(self.text(), self._mode, room)
        return "" if cut != self.text() and room < metrics.horizontalAdvance("mm…") else cut

    def minimumSizeHint(self) -> QSize:
        """Return a width of a few letters: the label yields before its neighbours do."""
        widest = self.fontMetrics().horizontalAdvance("mm…")
        hint = super().minimumSizeHint()
        return QSize(min(widest, hint.width()), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Offer the tooltip only where something is cut off."""
        super().resizeEvent(event)
        self._tell_in_full()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text, cut to the width there is."""
        painter = QPainter(self)
        option = QStyleOption()
        option.initFrom(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, painter, self)
        self.style().drawItemText(
            painter,
            self.contentsRect(),
            int(self.alignment().value),
            self.palette(),
            self.isEnabled(),
            self.shown_text(),
            self.foregroundRole(),
        )
        painter.end()
        self.underline()

    def _tell_in_full(self) -> None:
        """Set the tooltip to the whole text where the label cuts it."""
        self.setToolTip(plain(self.text()) if self.shown_text() != self.text() else "")


class Caption(ElidedLabel):
    """A caption that is cut between its words; a stub that says nothing is left out. It is never too wide."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self._bound_width()

    def setText(self, text: str) -> None:
        """Show another text."""
        super().setText(text)
        self._bound_width()

    def changeEvent(self, event: QEvent) -> None:
        """Take the width of the text in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            self._bound_width()

    def _bound_width(self) -> None:
        """Leave the room that the text does not need to the widgets that follow."""
        self.setMaximumWidth(max(1, self.sizeHint().width()))

    def shown_text(self) -> str:
        """Return the words that have room; none where they are few, and not half of the first part."""
        full_text = self.text()
        room = self.contentsRect().width()
        metrics = self.fontMetrics()
        words = full_text.split(" ")
        cut = full_text
        while metrics.horizontalAdvance(cut) > room and words:
            words.pop()
            cut = f"{' '.join(words).rstrip(' ·')} …"
        is_enough = len(cut) > min(_FEW, len(full_text.partition(" · ")[0]) / 2)
        return cut if words and is_enough else ""


class WrappedLabel(QLabel):
    """A label that goes on in another line, and keeps the height of all its lines or has them as a tooltip.

    A splitter asks no text how high it is at its width.

    Parameters
    ----------
    keeps : bool
        Whether it keeps the height; else its last lines give way to what is above it.
    text_format : Qt.TextFormat
    """

    def __init__(self, *, keeps: bool = True, text_format: Qt.TextFormat = Qt.TextFormat.PlainText) -> None:
        super().__init__()
        self._keeps = keeps
        self.setTextFormat(text_format)
        self.setWordWrap(True)

    def setText(self, text: str) -> None:
        """Show another text."""
        super().setText(text)
        self._tell_rest()

    def minimumSizeHint(self) -> QSize:
        """Return the height of all lines at the present width where they are kept."""
        hint = super().minimumSizeHint()
        return QSize(hint.width(), self._needed()) if self._keeps else hint

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for the height that the lines need at the new width, which may be less."""
        super().resizeEvent(event)
        if event.oldSize().width() != self.width():
            self.updateGeometry()
        self._tell_rest()

    def changeEvent(self, event: QEvent) -> None:
        """Ask for the height that the lines need in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            self.updateGeometry()
            self._tell_rest()

    def _needed(self) -> int:
        return max(0, self.heightForWidth(self.width())) if self.text() else 0

    def _tell_rest(self) -> None:
        if not self._keeps:
            self.setToolTip(plain(self.text()) if self._needed() > self.height() else "")


class PanelHeader(QFrame):
    """The upper edge of a panel, which can be double-clicked, and asked for a menu at a point."""

    doubleClicked = Signal()
    menuAsked = Signal(QPoint)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for a menu."""
        event.accept()
        self.menuAsked.emit(event.globalPos())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Ask for more room, or less."""
        event.accept()
        self.doubleClicked.emit()


class Panel(QFrame):
    """A rounded card with a 36 px header: bold title and muted caption at the left, tools at the right.

    Parameters
    ----------
    theme : Theme
    title : str
    caption : str
        What the panel shows or how to act on it; gives way before the title does.
    padding : int
        Around the content, in pixels; 0 for tables, which reach from edge to edge.
    name : str
        For the program and its tests.
    keeps_title : bool
        Whether the tools give way before the title does.

    Attributes
    ----------
    body : QVBoxLayout
        Where the content goes.
    tools : QHBoxLayout
        The right end of the header.
    header : PanelHeader
        The upper edge.
    appeared : Signal()
        It is seen from now on, and may not have followed what came while it was hidden.
    """

    appeared = Signal()

    def __init__(
        self,
        theme: Theme,
        title: str,
        caption: str = "",
        padding: int = 12,
        *,
        name: str = "",
        keeps_title: bool = False,
    ) -> None:
        super().__init__()
        self._theme = theme
        named(self, name, title, role="panel")
        self._title = named(ElidedLabel(title, Qt.TextElideMode.ElideMiddle), role="title")
        self._caption = named(Caption(caption), role="caption")
        self._caption.setMinimumWidth(1)  # it gives way altogether before the title is cut
        self._links = fill(QHBoxLayout(), spacing=2)
        self.tools = fill(QHBoxLayout(), spacing=2)
        self.body = fill(QVBoxLayout(), margins=(padding, padding, padding, padding), spacing=8)
        # The hairline stays free, and so do the lower corners, which a child would otherwise square off.
        edges = (1, 1, 1, 0 if padding else 5)
        self.header = self._make_header()
        fill(QVBoxLayout(self), self.header, (self.body, 1), margins=edges, spacing=0)
        self._keeps_title = keeps_title
        self._keep_title()

    def showEvent(self, event: QShowEvent) -> None:
        """Announce it."""
        super().showEvent(event)
        self.appeared.emit()

    def set_title(self, title: str) -> None:
        """Show another title."""
        self._title.setText(title)
        self.setAccessibleName(title)
        self._keep_title()

    def _keep_title(self) -> None:
        if self._keeps_title:
            self._title.setMinimumWidth(self._title.sizeHint().width())

    def set_caption(self, caption: str) -> None:
        """Show another caption."""
        self._caption.setText(caption)

    def link_title(self, term: str, word: str = "") -> None:
        """Underline a term of the glossary in the title; all of it is underlined where no word is given."""
        self._title.set_term(term, word)

    def link_caption(self, term: str, word: str) -> None:
        """Underline a term of the glossary in the caption where that contains a word for it."""
        self._caption.set_term(term, word)

    def caption(self) -> str:
        """Return the caption, uncut."""
        return self._caption.text()

    def set_content(self, widget: QWidget) -> None:
        """Fill the panel with one widget."""
        self.body.addWidget(widget, 1)

    def add_link(self, button: QPushButton) -> None:
        """Add a link behind the caption."""
        self._links.addWidget(button)

    def add_tool(self, icon: str, text: str) -> QToolButton:
        """Add a small button to the right end of the header; return it, to connect ``clicked``.

        Parameters
        ----------
        icon : str
            Name of an icon.
        text : str
            What it does: its tooltip and accessible name.
        """
        button = named(QToolButton(), accessible_name=text, tip=text, role="quiet")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        icons.set_icon(button, self._theme, icon, "muted")
        self.tools.addWidget(button)
        return button

    def _make_header(self) -> PanelHeader:
        """Build the header."""
        header = named(PanelHeader(), role="header")
        self._title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self._caption.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        fill(
            QHBoxLayout(header),
            self._title,
            (self._caption, _CAPTION),
            self._links,
            1,
            self.tools,
            margins=(12, 0, 8, 0),
            spacing=10,
        ).addSpacing(3)
        return header


class ColumnArea(QScrollArea):
    """Scrolls a column of widgets up and down, and is never narrower than they can be."""

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def minimumSizeHint(self) -> QSize:
        """Return the least width of the column beside the bar."""
        column = self.widget()
        bar = self.verticalScrollBar().sizeHint().width()
        room = bar + (column.minimumSizeHint().width() if column is not None else 0)
        return QSize(room, super().minimumSizeHint().height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the column where it comes to need another width."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)


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

    def restore(self, is_open: bool) -> None:
        """Restore the user's last choice; an open one stays open."""
        self.wanted = is_open
        self.set_open(is_open or self.opened)

    @Slot(bool)
    def _take(self, opened: bool) -> None:
        self.wanted = opened
        self._show(opened)

    def _show(self, opened: bool) -> None:
        self.button.setChecked(opened)
        self._content.setVisible(opened)
        set_icon(self.button, self._theme, "chevron-down" if opened else "chevron-right", "muted", _SIDE)
