"""Panels, the cards of which pages consist, their headers, labels that can be cut, and foldable columns."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QContextMenuEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
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

# stretch factor of a caption, so large that the caption gets all room that it can use
_CAPTION = 1000
_ENOUGH_LETTERS = 12  # letters of a caption that are enough to understand a longer one


class ElidedLabel(TermLabel):
    """A label of one line that is cut with "…" where it has no room.

    The tooltip of a cut label shows the full text.

    Parameters
    ----------
    text : str
    mode : Qt.TextElideMode
        Position of the "…": in the middle for paths.
    """

    def __init__(
        self, text: str = "", mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight
    ) -> None:
        super().__init__()
        self._mode = mode
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Show another text."""
        super().setText(text)
        self._update_tooltip()

    def shown_text(self) -> str:
        """Return the text as it is drawn at the present width.

        Return "" if at most two letters would be left.
        """
        room = self.contentsRect().width()
        metrics = self.fontMetrics()
        elided = metrics.elidedText(self.text(), self._mode, room)
        is_too_short = room < metrics.horizontalAdvance("mm…")
        return "" if elided != self.text() and is_too_short else elided

    def minimumSizeHint(self) -> QSize:
        """Return a width of a few letters, so that the label is cut before other widgets become narrow."""
        widest = self.fontMetrics().horizontalAdvance("mm…")
        hint = super().minimumSizeHint()
        return QSize(min(widest, hint.width()), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Update the tooltip, which shows a text that is cut off."""
        super().resizeEvent(event)
        self._update_tooltip()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text, cut to the present width, and the underline of a glossary term."""
        # The style draws the frame and background of the style sheet, then the text.
        painter = QPainter(self)
        option = QStyleOption()
        option.initFrom(self)
        self.style().drawPrimitive(
            QStyle.PrimitiveElement.PE_Widget, option, painter, self
        )
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

    def _update_tooltip(self) -> None:
        """Set the tooltip to the whole text where the label cuts it."""
        self.setToolTip(plain(self.text()) if self.shown_text() != self.text() else "")


class Caption(ElidedLabel):
    """A caption that is cut between words, or left out if too little of it would remain.

    The caption takes no more width than its text needs, so that the
    widgets after the caption follow directly.
    """

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
        """Limit the width to that of the text.

        The widgets after the caption get the rest.
        """
        self.setMaximumWidth(max(1, self.sizeHint().width()))

    def shown_text(self) -> str:
        """Return the words that fit into the width, with "…" if some are left out.

        Return "" if too little remains to be understood: not more
        letters than a constant, and not more than half of the first
        part. " · " separates the parts of a caption.
        """
        full_text = self.text()
        width = self.contentsRect().width()
        metrics = self.fontMetrics()
        words = full_text.split(" ")
        shortened = full_text
        while metrics.horizontalAdvance(shortened) > width and words:
            words.pop()
            shortened = f"{' '.join(words).rstrip(' ·')} …"
        first_part = full_text.partition(" · ")[0]
        is_enough = len(shortened) > min(_ENOUGH_LETTERS, len(first_part) / 2)
        return shortened if words and is_enough else ""


class WrappedLabel(QLabel):
    """A label with several lines for a place in a splitter, which does not ask for the height at a width.

    Parameters
    ----------
    keeps : bool
        Whether the label always has the height of all lines. If not,
        the last lines may be cut off, and the tooltip then shows the
        full text.
    text_format : Qt.TextFormat
    """

    def __init__(
        self,
        *,
        keeps: bool = True,
        text_format: Qt.TextFormat = Qt.TextFormat.PlainText,
    ) -> None:
        super().__init__()
        self._keeps_height = keeps
        self.setTextFormat(text_format)
        self.setWordWrap(True)

    def setText(self, text: str) -> None:
        """Show another text."""
        super().setText(text)
        self._update_tooltip()

    def minimumSizeHint(self) -> QSize:
        """Return the height of all lines at the present width, if the label keeps this height."""
        hint = super().minimumSizeHint()
        return (
            QSize(hint.width(), self._needed_height()) if self._keeps_height else hint
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for the height that the lines need at the new width, which may be less."""
        super().resizeEvent(event)
        if event.oldSize().width() != self.width():
            self.updateGeometry()
        self._update_tooltip()

    def changeEvent(self, event: QEvent) -> None:
        """Ask for the height that the lines need in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            self.updateGeometry()
            self._update_tooltip()

    def _needed_height(self) -> int:
        """Return the height that the text needs at the present width; 0 without a text."""
        return max(0, self.heightForWidth(self.width())) if self.text() else 0

    def _update_tooltip(self) -> None:
        """Set the text as the tooltip if not all of its lines are visible."""
        if not self._keeps_height:
            self.setToolTip(
                plain(self.text()) if self._needed_height() > self.height() else ""
            )


class PanelHeader(QFrame):
    """The header of a panel.

    The header emits a signal for a double click, and one with the
    position of a request for a menu.
    """

    doubleClicked = Signal()
    menuAsked = Signal(QPoint)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Emit `menuAsked`."""
        event.accept()
        self.menuAsked.emit(event.globalPos())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Emit `doubleClicked`."""
        event.accept()
        self.doubleClicked.emit()


class Panel(QFrame):
    """A rounded card with a 36 px header: bold title and muted caption at the left, tools at the right.

    Parameters
    ----------
    theme : Theme
    title : str
    caption : str
        What the panel shows, or how to act on it. The caption is cut
        before the title is.
    padding : int
        Margin around the content in pixels; 0 for tables, which reach
        from edge to edge.
    name : str
        Object name, for the program and its tests.
    keeps_title : bool
        Whether the title is never cut; the tools then become narrow first.

    Attributes
    ----------
    body : QVBoxLayout
        Layout of the content.
    tools : QHBoxLayout
        Layout at the right end of the header.
    header : PanelHeader
    appeared : Signal()
        The panel has become visible; its contents may be out of date,
        as it was not updated while hidden.
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
        self._title = named(
            ElidedLabel(title, Qt.TextElideMode.ElideMiddle), role="title"
        )
        self._caption = named(Caption(caption), role="caption")
        self._caption.setMinimumWidth(1)  # the caption vanishes before the title is cut
        self._links = fill(QHBoxLayout(), spacing=2)
        self.tools = fill(QHBoxLayout(), spacing=2)
        self.body = fill(
            QVBoxLayout(), margins=(padding, padding, padding, padding), spacing=8
        )

        # Margins of left, top, right and bottom in pixels: 1 for the
        # border, and 5 at the bottom where contents without padding
        # would cover the rounded corners.
        edges = (1, 1, 1, 0 if padding else 5)
        self.header = self._make_header()
        fill(QVBoxLayout(self), self.header, (self.body, 1), margins=edges, spacing=0)
        self._keeps_title = keeps_title  # whether the title is never cut
        self._keep_title()

    def showEvent(self, event: QShowEvent) -> None:
        """Emit `appeared`."""
        super().showEvent(event)
        self.appeared.emit()

    def set_title(self, title: str) -> None:
        """Show another title."""
        self._title.setText(title)
        self.setAccessibleName(title)
        self._keep_title()

    def _keep_title(self) -> None:
        """Prevent that the title is cut, if the panel keeps its title."""
        if self._keeps_title:
            self._title.setMinimumWidth(self._title.sizeHint().width())

    def set_caption(self, caption: str) -> None:
        """Show another caption."""
        self._caption.setText(caption)

    def link_title(self, term: str, word: str = "") -> None:
        """Underline a glossary term in the title: the given word, or by default the whole title."""
        self._title.set_term(term, word)

    def link_caption(self, term: str, word: str) -> None:
        """Underline a glossary term in the caption, if the caption contains the given word for the term."""
        self._caption.set_term(term, word)

    def caption(self) -> str:
        """Return the full caption."""
        return self._caption.text()

    def set_content(self, widget: QWidget) -> None:
        """Fill the panel with one widget."""
        self.body.addWidget(widget, 1)

    def add_link(self, button: QPushButton) -> None:
        """Add a link after the caption."""
        self._links.addWidget(button)

    def add_tool(self, icon: str, text: str) -> QToolButton:
        """Add a small button to the right end of the header, and return the button.

        Parameters
        ----------
        icon : str
            Name of an icon.
        text : str
            Tooltip and accessible name of the button: what it does.
        """
        button = named(QToolButton(), accessible_name=text, tip=text, role="quiet")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        icons.set_icon(button, self._theme, icon, "muted")
        self.tools.addWidget(button)
        return button

    def _make_header(self) -> PanelHeader:
        """Return the header with its widgets.

        From left to right: title, caption, links, an empty space, and
        the tools.
        """
        header = named(PanelHeader(), role="header")
        self._title.setSizePolicy(
            QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred
        )
        self._caption.setSizePolicy(
            QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred
        )

        # Numbers are margins and spaces in pixels, and the stretch
        # factor 1 of the empty space.
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
    """A scrolling area for a column of widgets, which is never narrower than the column can be."""

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def minimumSizeHint(self) -> QSize:
        """Return the least width of the column beside the scroll bar."""
        column = self.widget()
        bar = self.verticalScrollBar().sizeHint().width()
        room = bar + (column.minimumSizeHint().width() if column is not None else 0)
        return QSize(room, super().minimumSizeHint().height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Update the least width when the column needs another one."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)


_SIDE = 12  # size of the arrow in logical pixels


class Disclosure(QWidget):
    """A column of widgets below a button that shows and hides the column.

    The user opens and closes the column by the button. The program also
    opens it, by `set_open`, where something in it needs attention. Only
    the user's choice is remembered.

    Parameters
    ----------
    theme : Theme
    name : str
        Object name, for the program, its tests and the settings.

    Attributes
    ----------
    column : QVBoxLayout
        Layout of the widgets that are shown and hidden.
    button : QToolButton
    wanted : bool
        Whether the user has opened the column last, rather than closed it.
    """

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._theme = theme
        self.wanted = False  # whether the user has opened the column
        self.button = named(QToolButton(), f"{name}-button", role="disclosure")
        self.button.setCheckable(True)
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._content = QWidget()
        self.column = fill(QVBoxLayout(self._content), margins=(0, 0, 0, 0), spacing=6)
        fill(
            QVBoxLayout(self),
            self.button,
            self._content,
            margins=(0, 0, 0, 0),
            spacing=6,
        )
        self.button.clicked.connect(self._on_clicked)
        self._show(False)

    @property
    def opened(self) -> bool:
        """Whether the column is shown."""
        return self._content.isVisibleTo(self)

    def set_open(self, opened: bool) -> None:
        """Show or hide the column without changing the user's choice in `wanted`."""
        if opened != self.opened:
            self._show(opened)

    def restore(self, is_open: bool) -> None:
        """Open the column if the user had it open at last, as the settings say.

        ``is_open`` is that choice of the user. A column that is already
        open stays open.
        """
        self.wanted = is_open
        self.set_open(is_open or self.opened)

    @Slot(bool)
    def _on_clicked(self, opened: bool) -> None:
        """Show or hide the column, and remember the user's choice."""
        self.wanted = opened
        self._show(opened)

    def _show(self, opened: bool) -> None:
        """Show or hide the column, and the arrow of the button with it.

        ``opened`` says whether to show the column. The arrow then
        points down, else to the right.
        """
        self.button.setChecked(opened)
        self._content.setVisible(opened)
        set_icon(
            self.button,
            self._theme,
            "chevron-down" if opened else "chevron-right",
            "muted",
            _SIDE,
        )
