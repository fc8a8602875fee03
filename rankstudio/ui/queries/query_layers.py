"""What `QueryPlot` draws: points or bars in the colours of loss and gain, the chosen one, a drag's line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from rankstudio.engine.arrays import Bools
from rankstudio.ui.language import tr
from rankstudio.ui.plots.frame import Frame
from rankstudio.ui.plots.layers import hairline, pen
from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import SMALL, font

if TYPE_CHECKING:
    from rankstudio.ui.queries.query_plot import QueryPlot

_SIZE = 6.0
_RING = 7.0
_FADED, _SEEN = 0.12, 0.55


def loss_and_gain(colors: Colors) -> tuple[QColor, QColor]:
    """Return the two ends of the pair of colours: where B is worse, and where it is better."""
    return palettes.category(colors, 2).color, palettes.category(colors, 0).color


def _shares(plot: QueryPlot, colors: Colors) -> list[tuple[Bools, QColor]]:
    """Return which queries are drawn in which colour, the faded ones first."""
    assert plot.comparison is not None
    gain = plot.comparison.gain
    loss, win = loss_and_gain(colors)
    kinds = ((gain < 0, loss), (gain > 0, win), (gain == 0, colors.q("muted")))
    shares = []
    for kept, alpha in ((~plot.kept, _FADED), (plot.kept, _SEEN)):
        for which, color in kinds:
            seen = QColor(color)
            seen.setAlphaF(alpha)
            shares.append((which & kept, seen))
    return shares


def draw_points(plot: QueryPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw the line on which both models are equal, and a point a query."""
    if plot.comparison is None or plot.is_empty() or plot.mode != "scatter":
        return
    low, high = frame.x_range
    painter.setPen(pen(colors.q("muted", 0.7), 1.0, (3.0, 3.0)))
    painter.drawLine(frame.point(low, low), frame.point(high, high))
    px, py = frame.pixels(*plot.points)
    for which, color in _shares(plot, colors):
        painter.setPen(
            QPen(color, _SIZE, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
        )
        at = np.flatnonzero(which)
        painter.drawPoints(QPolygonF([QPointF(x, y) for x, y in zip(px[at], py[at], strict=True)]))


def draw_differences(plot: QueryPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw the differences as bars from zero, side by side."""
    if plot.comparison is None or plot.is_empty() or plot.mode != "sorted":
        return
    xs, ys = plot.points
    px, py = frame.pixels(xs, ys)
    zero = frame.y_px(0.0)
    room = frame.area.width() / max(1, xs.size)
    width = max(1.0, room * (0.85 if room > 4 else 1.05))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, width > 2)
    for which, color in _shares(plot, colors):
        color.setAlphaF(min(1.0, color.alphaF() * 1.6))
        bar = QPen(color, width)
        bar.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(bar)
        at = np.flatnonzero(which & (ys != 0))
        painter.drawLines([QLineF(x, zero, x, y) for x, y in zip(px[at], py[at], strict=True)])
    hairline(painter, colors.q("muted"), QPointF(frame.area.left(), zero), QPointF(frame.area.right(), zero))


def draw_mark(plot: QueryPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Ring the chosen query, and write its id where there is room."""
    if plot.comparison is None or plot.chosen is None:
        return
    xs, ys = plot.points
    if np.isnan(ys[plot.chosen]):
        return
    at = frame.point(xs[plot.chosen], ys[plot.chosen])
    painter.setPen(pen(colors.q("accent"), 2.2))
    painter.setBrush(colors.q("panel"))
    painter.drawEllipse(at, _RING, _RING)
    text = tr("query {query_id}").format(query_id=plot.comparison.queries[plot.chosen].query_id)
    width = QFontMetricsF(font(SMALL)).horizontalAdvance(text) + 8
    right = at.x() + _RING + 4 + width <= frame.area.right()
    left = at.x() + _RING + 4 if right else at.x() - _RING - 4 - width
    top = min(max(at.y() - 9, frame.area.top()), frame.area.bottom() - 18)
    box = QRectF(left, top, width, 18)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colors.q("panel", 0.85))
    painter.drawRoundedRect(box, 4, 4)
    painter.setFont(font(SMALL))
    painter.setPen(colors.q("text"))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def draw_outline(plot: QueryPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw the line of the drag, closed."""
    if plot.outline is not None:
        painter.setPen(pen(colors.q("accent"), 1.0))
        painter.setBrush(colors.q("accent", 0.12))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.drawPolygon(plot.outline)
