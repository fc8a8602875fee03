"""The headings of a table: bars over its rows that fold the rows below them, and can have a link."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QEnterEvent,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QTableView,
    QToolButton,
    QWidget,
)

from rankstudio.ui.language import tr
from rankstudio.ui.style.fonts import BASE, LEFT, SMALL, font
from rankstudio.ui.style.icons import set_icon
from rankstudio.ui.style.plain_text import plain
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.columns import ColumnModel, Heading
from rankstudio.ui.widgets.layout import fill, named

_SIDE = 14  # size of the arrow in logical pixels
_LEAST = 40  # least width of the text in pixels; it is cut before the link is
_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)


class HeadingText(QWidget):
    """The text of a table's heading on one line: title and parts, cut where there is no room.

    Parameters
    ----------
    theme : Theme
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._heading = Heading("", "")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def show_heading(self, heading: Heading) -> None:
        """Show another heading."""
        self._heading = heading
        self.updateGeometry()
        self.update()

    @property
    def is_cut(self) -> bool:
        """Whether there is not room for the whole text."""
        return self.width() < self.sizeHint().width()

    def sizeHint(self) -> QSize:
        """Return the width of the whole text."""
        return QSize(sum(self._width(*piece) for piece in self._pieces()) + 1, 16)

    def minimumSizeHint(self) -> QSize:
        """Return the width of the first letters."""
        return QSize(_LEAST, 16)

    def _pieces(self) -> list[tuple[str, bool, int]]:
        """Return the title and the parts, each with whether it is bold and with its font size."""
        heading = self._heading
        return [
            (f"{heading.title}   ", True, BASE),
            *((text, bold, SMALL) for text, bold in heading.parts),
        ]

    @staticmethod
    def _width(text: str, bold: bool, size: int) -> int:
        """Return the width of a text in pixels, in bold or ordinary letters of a size in pixels."""
        return QFontMetrics(font(size, bold)).horizontalAdvance(text)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the title and the parts one after the other; the last one that fits only in part is cut."""
        painter = QPainter(self)
        colors = self._theme.colors
        rest = self.rect()  # to the right of the texts that are drawn

        # The title is bold, and a part may be; other parts are muted.
        for text, bold, size in self._pieces():
            painter.setFont(font(size, bold))
            painter.setPen(colors.q("text" if bold else "muted"))
            cut_text = painter.fontMetrics().elidedText(
                text, Qt.TextElideMode.ElideRight, rest.width()
            )
            painter.drawText(rest, LEFT, cut_text)
            rest.setLeft(
                rest.left() + painter.fontMetrics().horizontalAdvance(cut_text)
            )
        painter.end()


class HeadingBar(QWidget):
    """One heading of a table: an arrow that folds the rows below it, its text, and a link.

    A click anywhere on the bar folds or unfolds the rows. So do Space
    and Enter on the arrow. The left arrow key folds the rows, the right
    arrow key unfolds them.

    Parameters
    ----------
    theme : Theme
    parent : QWidget

    Attributes
    ----------
    folded : Signal()
        The rows are to be folded, or unfolded.
    linked : Signal()
        The link was pressed.
    entered : Signal()
        The mouse has entered the bar.
    button : QToolButton
        The arrow.
    link : QPushButton
    """

    folded = Signal()
    linked = Signal()
    entered = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._heading = Heading("", "")
        self.button = named(QToolButton(), "heading-fold", role="fold")
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.text = HeadingText(theme)
        self.link = named(QPushButton(), "heading-link", role="chip-link")
        self.link.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        row = fill(
            QHBoxLayout(self),
            self.button,
            self.text,
            self.link,
            margins=(6, 1, 8, 1),
            spacing=4,
        )
        row.addStretch(1)

        # `eventFilter` handles the keys of both buttons.
        for button in (self.button, self.link):
            button.installEventFilter(self)
        self.button.clicked.connect(self.folded)
        self.link.clicked.connect(self.linked)

    def show_heading(self, heading: Heading) -> None:
        """Show another heading, or another state of the same one."""
        if heading == self._heading:
            return
        self._heading = heading
        arrow = "chevron-right" if heading.is_folded else "chevron-down"
        set_icon(self.button, self._theme, arrow, "text", _SIDE)
        state = tr("folded") if heading.is_folded else tr("unfolded")
        self.button.setAccessibleName(f"{heading.text} · {state}")
        self.text.show_heading(heading)
        self.link.setText(heading.link.replace("&", "&&"))
        self.link.setAccessibleName(heading.link)
        self.link.setToolTip(plain(heading.link_hint))
        self.link.setVisible(bool(heading.link))
        self._update_tooltip()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the background, and a line at its upper and lower edge."""
        painter = QPainter(self)
        colors = self._theme.colors
        box = self.rect()
        painter.fillRect(box, colors.q("inset"))
        painter.setPen(colors.q("line"))
        for y in (box.top(), box.bottom()):
            painter.drawLine(0, y, box.width(), y)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Update the tooltip, which shows a text that is cut off."""
        super().resizeEvent(event)
        self._update_tooltip()

    def enterEvent(self, event: QEnterEvent) -> None:
        """Emit that the mouse has entered the bar."""
        super().enterEvent(event)
        self.entered.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Fold or unfold on a press of the left button."""
        event.accept()
        if event.button() == Qt.MouseButton.LeftButton:
            self.folded.emit()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Take the second press of a double click as another one."""
        self.mousePressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle keys while one of the two buttons has the focus.

        ``watched`` is the button. The left arrow key folds the rows of
        the heading and the right one unfolds them, as in trees; Enter
        presses the button. Return True for these keys; False leaves
        other events to the button.
        """
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return False
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            assert isinstance(watched, QAbstractButton)
            watched.click()
            return True
        if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            folds = event.key() == Qt.Key.Key_Left
            if folds != self._heading.is_folded:
                self.folded.emit()
            return True
        return False

    def _update_tooltip(self) -> None:
        """Set the whole text as the tooltip if it is cut."""
        self.setToolTip(plain(self._heading.text) if self.text.is_cut else "")


class HeadingBars(QObject):
    """Keeps a `HeadingBar` over each heading of a table, as wide as the table's visible part.

    Parameters
    ----------
    theme : Theme
    table : QTableView
        The table that the bars lie over.
    rows : ColumnModel
        The rows of the table.

    Attributes
    ----------
    folded, linked : Signal(object)
        Key of a heading whose rows are to be folded or unfolded, or
        whose link was pressed.
    entered : Signal()
        The mouse has entered the bar of a heading.
    """

    folded = Signal(object)
    linked = Signal(object)
    entered = Signal()

    def __init__(self, theme: Theme, table: QTableView, rows: ColumnModel) -> None:
        super().__init__(table)
        self._theme = theme
        self._table = table
        self._rows = rows
        self._bars: dict[Hashable, HeadingBar] = {}  # by the keys of the headings
        self._tab_order: list[Hashable] = []  # keys of the headings
        theme.restyled.connect(self.place)

    def bars(self) -> list[HeadingBar]:
        """Return the bars in the order of their headings."""
        return [self._bars[heading.key] for _, heading in self._headings()]

    def place(self) -> None:
        """Show a bar over each of the present headings, and delete the bars of headings that are gone.

        If the headings have changed, the bars are put into the tab order anew.
        """
        headings = self._headings()
        if not headings and not self._bars:
            return
        keys = {heading.key for _, heading in headings}
        for key in [key for key in self._bars if key not in keys]:
            bar = self._bars.pop(key)
            bar.hide()
            bar.deleteLater()

        # A heading is a row of the table; its bar has the geometry of the row.
        for number, heading in headings:
            bar = self._bars.get(heading.key) or self._add(heading.key)
            bar.show_heading(heading)
            bar.setGeometry(self._box(number))
            bar.show()
        order = [heading.key for _, heading in headings]
        if order != self._tab_order:
            self._tab_order = order
            self._set_tab_order()

    def _set_tab_order(self) -> None:
        """Let Tab go from the table through the buttons of its headings."""
        previous: QWidget = self._table
        for bar in self.bars():
            for button in (bar.button, bar.link):
                QWidget.setTabOrder(previous, button)
                previous = button

    def move(self) -> None:
        """Move the bars to their rows, after the table was scrolled or resized."""
        for number, heading in self._headings() if self._bars else ():
            if heading.key in self._bars:
                self._bars[heading.key].setGeometry(self._box(number))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Scroll to the heading of a button that got the focus by Tab.

        ``watched`` is the button, which handles the event, too.
        """
        if event.type() == QEvent.Type.FocusIn and event.reason() in _KEYBOARD:  # type: ignore[attr-defined]
            numbers = {heading.key: number for number, heading in self._headings()}
            for key, bar in self._bars.items():
                if watched in (bar.button, bar.link) and key in numbers:
                    self._table.scrollTo(self._rows.index(numbers[key], 0))
        return False

    def _headings(self) -> list[tuple[int, Heading]]:
        """Return the headings among the shown rows, each with the number of its row."""
        rows = self._rows.shown_rows()
        return [
            (number, row) for number, row in enumerate(rows) if isinstance(row, Heading)
        ]

    def _box(self, number: int) -> QRect:
        """Return the rectangle of a row, by its number, in the width of the table."""
        table = self._table
        top = table.rowViewportPosition(number)
        height = table.rowHeight(number)
        return QRect(0, top, table.viewport().width(), height)

    def _add(self, key: Hashable) -> HeadingBar:
        """Make and return the bar of a new heading, by the heading's key.

        The signals of the bar are emitted by this object, with the key.
        """
        bar = self._bars[key] = HeadingBar(self._theme, self._table.viewport())
        bar.folded.connect(partial(self.folded.emit, key))
        bar.linked.connect(partial(self.linked.emit, key))
        bar.entered.connect(self.entered)
        for button in (bar.button, bar.link):
            button.installEventFilter(self)
        return bar
