"""The layers of `FrontPlot`: the front, the markers, and which ones to take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPolygonF

from rankstudio.ui import palettes
from rankstudio.ui.colors import Colors
from rankstudio.ui.fonts import SMALL, font
from rankstudio.ui.plots.frame import Frame
from rankstudio.ui.plots.layers import Layer, draw_marker, pen

if TYPE_CHECKING:
    from rankstudio.ui.plots.front import FrontPlot, Spot

_PLAIN, _FRONT, _RING = 2.6, 4.2, 8.0
_FADED = 0.4
_ROOM = 13.0  # pixels between a ring and what is written at it


class FrontLayer(Layer):
    """The front as steps, and the level that is one standard error below the best."""

    plot: FrontPlot

    def draw(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the level, then the steps: a size buys what the last smaller one on the front is worth."""
        marks, spots = self.plot.marks, self.plot.spots
        if marks is None:
            return
        y = frame.y_px(marks.enough)
        painter.setPen(pen(colors.q("muted"), 1.0, (2.0, 3.0)))
        painter.drawLine(QPointF(frame.area.left(), y), QPointF(frame.area.right(), y))
        painter.setFont(font(SMALL))
        box = QRectF(frame.area.left(), y - 18, frame.area.width() - 4, 16)
        painter.drawText(box, Qt.AlignmentFlag.AlignRight, "one standard error from the best")
        corners: list[QPointF] = []
        for i in marks.front:
            at = frame.point(spots[i].x, spots[i].y)
            corners += [QPointF(at.x(), corners[-1].y())] if corners else []
            corners.append(at)
        corners.append(QPointF(frame.area.right(), corners[-1].y()))
        painter.setPen(pen(colors.q("text", 0.55), 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(corners))


class SpotsLayer(Layer):
    """A marker a model in its run's colour; those on the front larger and on top."""

    plot: FrontPlot

    def draw(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the markers."""
        front = self.plot.marks.front if self.plot.marks else ()
        for i, spot in enumerate(self.plot.spots):
            if i not in front:
                self._draw(
                    painter, frame, colors, spot, _PLAIN, 1.0 if i == self.plot.under_mouse else _FADED
                )
        for i in front:
            self._draw(painter, frame, colors, self.plot.spots[i], _FRONT, 1.0)

    def _draw(
        self, painter: QPainter, frame: Frame, colors: Colors, spot: Spot, radius: float, opacity: float
    ) -> None:
        look = palettes.category(colors, spot.category)
        look.color.setAlphaF(opacity)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.color)
        draw_marker(painter, look.marker, frame.point(spot.x, spot.y), radius)


class MarksLayer(Layer):
    """Rings around the suggested model, the best one and the current choice, with their names."""

    plot: FrontPlot

    def draw(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the rings."""
        marks, spots = self.plot.marks, self.plot.spots
        if marks is None:
            return
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self.plot.chosen is not None:
            chosen = spots[self.plot.chosen]
            painter.setPen(pen(colors.q("text"), 1.4))
            painter.drawEllipse(frame.point(chosen.x, chosen.y), _RING - 2.5, _RING - 2.5)
        self._mark(painter, frame, colors, spots[marks.suggested], "accent")
        same = marks.best == marks.suggested
        if not same:
            self._mark(painter, frame, colors, spots[marks.best], "muted")
        taken = self._write(painter, frame, colors, spots[marks.suggested], self._text(same), None)
        if not same:
            self._write(painter, frame, colors, spots[marks.best], "best", taken)

    def _text(self, same: bool) -> str:
        return "best" if same else "one standard error"

    def _mark(self, painter: QPainter, frame: Frame, colors: Colors, spot: Spot, role: str) -> None:
        painter.setPen(pen(colors.q(role), 2.0 if role == "accent" else 1.4))
        painter.drawEllipse(frame.point(spot.x, spot.y), _RING, _RING)

    def _write(
        self, painter: QPainter, frame: Frame, colors: Colors, spot: Spot, text: str, taken: QRectF | None
    ) -> QRectF:
        """Write below a ring, inside the plot and beside what is written already; return where."""
        bold = taken is None
        painter.setFont(font(SMALL, bold))
        width = QFontMetricsF(font(SMALL, bold)).horizontalAdvance(text) + 4
        at = frame.point(spot.x, spot.y)
        left = max(frame.area.left(), min(frame.area.right() - width, at.x() - width / 2))
        below = at.y() + _ROOM + 16 < frame.area.bottom()
        box = QRectF(left, at.y() + _ROOM - 4 if below else at.y() - _ROOM - 14, width, 16)
        if taken is not None and box.intersects(taken):
            box.moveTop(taken.bottom() if below else taken.top() - 16)
        painter.fillRect(box, colors.q("panel", 0.8))
        painter.setPen(colors.q("accent" if bold else "muted"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        return box
