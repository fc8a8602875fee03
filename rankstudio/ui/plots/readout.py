"""The box with exact values beside the mouse or beside the chosen point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from rankstudio.engine.arrays import Floats
from rankstudio.ui.style.fonts import LEFT, RIGHT, SMALL, font
from rankstudio.ui.style.theme import Theme

Pixels = tuple[Floats, Floats]

_LINE = 17  # height of a line of the box, in pixels as all that follow
_TITLE = 20  # height of the plot's title, which the box does not hide
_PAD = 9
_SWATCH = 18
_GAP = 14  # between the text of a line and its value


@dataclass(frozen=True)
class Line:
    """One line of the box of values beside the mouse: a swatch (a piece of line), a name and a value.

    Attributes
    ----------
    text : str
    value : str
        Text at the right end of the line; may be empty.
    color : QColor or None
        Color of the swatch; None for a line without a swatch.
    dash : tuple of float
        Dash and gap lengths of the swatch, in line widths.
    bold : bool
    """

    text: str
    value: str = ""
    color: QColor | None = None
    dash: tuple[float, ...] = ()
    bold: bool = False


class ValueBox(QWidget):
    """A small card over a plot that shows the values at the mouse.

    Mouse events pass through it to the plot.

    Parameters
    ----------
    theme : Theme
    parent : QWidget
        The plot.
    """

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._plot = parent
        self._theme = theme
        self._lines: tuple[Line, ...] = ()  # the shown lines
        # A box under the mouse would otherwise get the mouse moves
        # instead of the plot, hide, and come back.
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def lines(self) -> tuple[Line, ...]:
        """Return the lines in the box; empty while it is hidden."""
        return self._lines

    def room_for(self) -> int:
        """Return how many lines a box in the plot has room for."""
        return max(2, (self._room().height() - 2 * _PAD + 4) // _LINE)

    def fits(self, lines: Sequence[Line], anchor: QPointF) -> bool:
        """Return whether a box with these lines has a place in the plot where it does not cover a point."""
        _, covers_anchor = self._place(self._size_for(lines), anchor, obstacles=None)
        return not covers_anchor

    def say(
        self,
        lines: Sequence[Line],
        anchor: QPointF,
        obstacles: Pixels | None = None,
        dispensable: bool = False,
    ) -> None:
        """Show the box beside a point, where it hides least.

        Parameters
        ----------
        lines : sequence of Line
            Lines of the box; without lines the box is hidden.
        anchor : QPointF
            The point, in the plot's pixels.
        obstacles : pair of ndarray, optional
            Pixels of points that should stay visible, x and y.
        dispensable : bool
            Whether to hide the box where, in a small plot, it could
            only cover the point.
        """
        self._lines = tuple(lines)
        if not lines:
            self.hide()
            return
        self.resize(self._size_for(lines))
        # the upper left corner of the box
        spot, covers_anchor = self._place(self.size(), anchor, obstacles)
        if covers_anchor and dispensable:
            self.hide_readout()
            return
        self.move(spot)
        self.update()
        self.show()
        self.raise_()

    def hide_readout(self) -> None:
        """Hide the box."""
        self._lines = ()
        self.hide()

    def _size_for(self, lines: Sequence[Line]) -> QSize:
        """Return the size of a box with these lines, at most as wide as the plot."""
        swatch_width = _SWATCH if any(line.color is not None for line in lines) else 0
        widths = []
        for line in lines:
            # the swatch, the text, and the value after a gap
            metrics = QFontMetrics(font(SMALL, line.bold))
            value_width = (
                _GAP + metrics.horizontalAdvance(line.value) if line.value else 0
            )
            text_width = metrics.horizontalAdvance(line.text)
            widths.append(
                text_width + value_width + (swatch_width if line.color else 0)
            )
        # `_room` is the part of the plot in which the box may be
        width = min(max(widths) + 2 * _PAD + 2, max(1, self._room().width()))
        # 4 pixels less, as lines have some air of their own above and below
        return QSize(width, len(lines) * _LINE + 2 * _PAD - 4)

    def shown_text(self, line: Line) -> str:
        """Return the text of a line as it is drawn: cut where the box has no room for text and value."""
        metrics = QFontMetrics(font(SMALL, line.bold))
        value_width = _GAP + metrics.horizontalAdvance(line.value) if line.value else 0
        text_width = (
            self.width()
            - 2 * _PAD
            - value_width
            - (_SWATCH if line.color is not None else 0)
        )
        return metrics.elidedText(line.text, Qt.TextElideMode.ElideRight, text_width)

    def _room(self) -> QRect:
        return self._plot.rect().adjusted(2, _TITLE, -2, -2)

    def _place(
        self, size: QSize, anchor: QPointF, obstacles: Pixels | None
    ) -> tuple[QPoint, bool]:
        """Return the best spot for the box's upper left corner, and whether the box covers its anchor.

        ``size`` is that of the box; ``anchor`` is the point to which
        the box belongs, and ``obstacles`` are pixels to leave visible
        (x and y). A spot is better if the box leaves the anchor
        visible, then if it hides fewer obstacles, then if it comes
        earlier in the list. All spots are moved inside the plot, below
        its title.
        """
        room = self._room()
        point = anchor.toPoint()
        x = point.x()
        y = point.y()
        w = size.width()
        h = size.height()
        # Right and left of the anchor, some pixels away: below it,
        # above it, beside it, and near the plot's bottom and top.
        tops = (y + 12, y - 12 - h, y - h // 2, room.bottom() - h - 44, room.top() + 6)
        corners = [
            (left_edge, top) for left_edge in (x + 14, x - 14 - w) for top in tops
        ]
        # Centered below and above the anchor; then a little higher
        # above the plot's bottom.
        corners += [(x - w // 2, y + 14), (x - w // 2, y - 14 - h)]
        corners += [
            (left_edge, room.bottom() - h - 60) for left_edge in (x + 14, x - 14 - w)
        ]
        spots = [
            QPoint(
                max(room.left(), min(left_edge, room.right() + 1 - w)),
                max(room.top(), min(top, room.bottom() + 1 - h)),
            )
            for left_edge, top in corners
        ]

        # A box larger than the plot counts as one that covers the
        # anchor; 6 pixels around the anchor stay visible, too.
        def covers(spot: QPoint) -> bool:
            box = QRect(spot, size)
            return not room.contains(box) or box.adjusted(-6, -6, 6, 6).contains(point)

        # What is least for the best spot: the earlier numbers count first.
        def cost(spot: QPoint) -> tuple[bool, int, int]:
            n_hidden = (
                0 if obstacles is None else _count_inside(QRect(spot, size), *obstacles)
            )
            return covers(spot), n_hidden, spots.index(spot)

        best = min(spots, key=cost)
        return best, covers(best)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the card, almost opaque and with round corners, and its lines of text."""
        colors = self._theme.colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colors.q("line_hover"), 1.0))
        painter.setBrush(colors.q("panel", 0.97))
        painter.drawRoundedRect(
            QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 7, 7
        )
        for i, line in enumerate(self._lines):
            self._draw_line(
                painter,
                line,
                QRect(_PAD, _PAD - 2 + i * _LINE, self.width() - 2 * _PAD, _LINE),
            )

    def _draw_line(self, painter: QPainter, line: Line, box: QRect) -> None:
        """Draw one line of the box: its swatch, its text at the left and its value at the right."""
        colors = self._theme.colors
        painter.setFont(font(SMALL, line.bold))
        if line.color is not None:
            # a piece of the curve's line, 12 pixels long
            swatch = QPen(line.color, 2.5 if line.bold else 2.0)
            swatch.setCapStyle(Qt.PenCapStyle.FlatCap)
            if line.dash:
                swatch.setDashPattern(list(line.dash))
            painter.setPen(swatch)
            painter.drawLine(
                box.left(), box.center().y() + 1, box.left() + 12, box.center().y() + 1
            )
            box = box.adjusted(_SWATCH, 0, 0, 0)  # the text begins after the swatch
        is_heading = line.bold or not line.value
        painter.setPen(colors.q("text" if is_heading else "muted"))
        painter.drawText(box, LEFT, self.shown_text(line))
        painter.setPen(colors.q("text"))
        painter.drawText(box, RIGHT, line.value)


def _count_inside(box: QRect, xs: Floats, ys: Floats) -> int:
    """Return how many points lie in a box; ``xs`` and ``ys`` are their pixels."""
    inside = (
        (xs >= box.left())
        & (xs <= box.right())
        & (ys >= box.top())
        & (ys <= box.bottom())
    )
    return int(np.count_nonzero(inside))
