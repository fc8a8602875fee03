"""The box with exact values beside the mouse or beside the chosen point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from rankstudio.ui.fonts import SMALL, font
from rankstudio.ui.theme import Theme

Pixels = tuple[NDArray[np.float64], NDArray[np.float64]]

_LINE = 17
_TITLE = 20
_PAD = 9
_SWATCH = 18
_GAP = 14


@dataclass(frozen=True)
class Line:
    """One line of the box: a swatch, a name and a value.

    Attributes
    ----------
    text : str
    value : str
        Right-aligned; may be empty.
    color : QColor or None
        Of the swatch; None for a line without one.
    dash : tuple of float
        Of the swatch's line.
    bold : bool
    """

    text: str
    value: str = ""
    color: QColor | None = None
    dash: tuple[float, ...] = ()
    bold: bool = False


class ValueBox(QWidget):
    """A small card over a plot, which the mouse passes through.

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
        self._lines: tuple[Line, ...] = ()
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def lines(self) -> tuple[Line, ...]:
        """Return what the box says; empty while it is hidden."""
        return self._lines

    def say(self, lines: Sequence[Line], anchor: QPointF, obstacles: Pixels | None = None) -> None:
        """Show lines beside a point, where they hide least.

        Parameters
        ----------
        lines : sequence of Line
            Nothing hides the box.
        anchor : QPointF
            The point, in the plot's pixels.
        obstacles : pair of ndarray, optional
            Pixels of points that had better stay visible, x and y.
        """
        self._lines = tuple(lines)
        if not lines:
            self.hide()
            return
        self.resize(self._wanted())
        self.move(self._place(anchor, obstacles))
        self.update()
        self.show()
        self.raise_()

    def silence(self) -> None:
        """Hide the box."""
        self._lines = ()
        self.hide()

    def _wanted(self) -> QSize:
        """Return the size the lines need."""
        swatch = _SWATCH if any(line.color is not None for line in self._lines) else 0
        widths = []
        for line in self._lines:
            metrics = QFontMetrics(font(SMALL, line.bold))
            value = _GAP + metrics.horizontalAdvance(line.value) if line.value else 0
            widths.append(metrics.horizontalAdvance(line.text) + value + (swatch if line.color else 0))
        return QSize(max(widths) + 2 * _PAD + 2, len(self._lines) * _LINE + 2 * _PAD - 4)

    def _place(self, anchor: QPointF, obstacles: Pixels | None) -> QPoint:
        """Return the corner of the spot around the anchor that covers the fewest obstacles."""
        room = self._plot.rect().adjusted(2, _TITLE, -2, -2)
        x, y, w, h = round(anchor.x()), round(anchor.y()), self.width(), self.height()
        spots = [
            QPoint(x + dx, y + dy)
            for dx in (14, -14 - w)
            for dy in (12, -12 - h, -h // 2, room.bottom() - y - h - 44, -y + 26)
        ]

        def cost(spot: QPoint) -> tuple[int, int]:
            box = QRect(spot, self.size())
            hidden = 0 if obstacles is None else _count_inside(box, *obstacles)
            return hidden + 100_000 * (not room.contains(box)), spots.index(spot)

        best = min(spots, key=cost)
        return QPoint(
            max(0, min(best.x(), room.right() - w)),
            max(0, min(best.y(), room.bottom() - h)),
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the card and its lines."""
        colors = self._theme.colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colors.q("line_hover"), 1.0))
        painter.setBrush(colors.q("panel", 0.97))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)
        for i, line in enumerate(self._lines):
            self._draw_line(painter, line, QRect(_PAD, _PAD - 2 + i * _LINE, self.width() - 2 * _PAD, _LINE))

    def _draw_line(self, painter: QPainter, line: Line, box: QRect) -> None:
        """Draw one line of the box."""
        colors = self._theme.colors
        painter.setFont(font(SMALL, line.bold))
        if line.color is not None:
            swatch = QPen(line.color, 2.5 if line.bold else 2.0)
            swatch.setCapStyle(Qt.PenCapStyle.FlatCap)
            if line.dash:
                swatch.setDashPattern(list(line.dash))
            painter.setPen(swatch)
            painter.drawLine(box.left(), box.center().y() + 1, box.left() + 12, box.center().y() + 1)
            box = box.adjusted(_SWATCH, 0, 0, 0)
        middle = Qt.AlignmentFlag.AlignVCenter
        plain = line.bold or not line.value
        painter.setPen(colors.q("text" if plain else "muted"))
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | middle, line.text)
        painter.setPen(colors.q("text"))
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | middle, line.value)


def _count_inside(box: QRect, xs: NDArray[np.float64], ys: NDArray[np.float64]) -> int:
    """Return how many points lie in a box."""
    inside = (xs >= box.left()) & (xs <= box.right()) & (ys >= box.top()) & (ys <= box.bottom())
    return int(np.count_nonzero(inside))
