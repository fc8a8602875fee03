"""What `OverlayPlot` draws: bands, curves, the chosen point, and the names above."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPolygonF

from rankstudio.engine.arrays import Floats
from rankstudio.ui.language import tr
from rankstudio.ui.plots.frame import Frame
from rankstudio.ui.plots.layers import draw_marker, pen
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import SMALL, font

if TYPE_CHECKING:
    from rankstudio.ui.plots.curves.overlay_plot import OverlaidCurve, OverlayPlot

_ROW = 18.0  # of names, in pixels
_SWATCH, _GAP, _APART = 22.0, 6.0, 18.0
_TITLE = 22.0
_POINT, _RING = 4.0, 6.5
_MOST_ROWS = 3


def below_names(
    plot: OverlayPlot, size: QSizeF, x_range: tuple[float, float], y_range: tuple[float, float]
) -> Frame:
    """Lay out a drawing that has the names of its curves above the plot area."""
    room = _ROW * _rows(plot, size.width())
    if size.height() - room < plot.least_height:
        room = 0.0
    frame = plot.axes.frame(QSizeF(size.width(), size.height() - room), x_range, y_range)
    return replace(frame, area=frame.area.translated(0, room), outer=QRectF(QPointF(0, 0), size))


def draw_intervals(plot: OverlayPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw each curve's band: half the interval of its difference up and down."""
    for number, curve in enumerate(plot.curves):
        there = np.isfinite(curve.half)
        if not there.any():
            continue
        color = curve.look(colors).color
        color.setAlphaF(0.26 if _stands_out(plot, number) else 0.11)
        low, high = curve.y - curve.half, curve.y + curve.half
        if np.count_nonzero(there) == 1:
            painter.setPen(pen(color, 6.0))
            i = int(np.flatnonzero(there)[0])
            ends = (frame.point(float(curve.x[i]), float(y[i])) for y in (low, high))
            painter.drawLine(*ends)
            continue
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        # Nobody sees the steps at the edge of so light an area, and smooth ones take six times as long.
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        upper = _points(frame, curve.x[there], high[there])
        lower = _points(frame, curve.x[there], low[there])
        painter.drawPolygon(QPolygonF([*upper, *reversed(lower)]))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)


def draw_overlaid(plot: OverlayPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw the curves; a run that has one model is a marker."""
    for number, curve in enumerate(plot.curves):
        look = curve.look(colors)
        if curve.x.size == 1:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(look.color)
            draw_marker(painter, look.marker, frame.point(float(curve.x[0]), float(curve.y[0])), _POINT + 1)
            continue
        wide = curve.reference or _stands_out(plot, number)
        painter.setPen(pen(look.color, 2.4 if wide else 1.7, look.dash))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        there = np.isfinite(curve.y)
        painter.drawPolyline(QPolygonF(_points(frame, curve.x[there], curve.y[there])))


def draw_point(plot: OverlayPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw the point under the mouse, and a ring around the chosen one."""
    for point, ring in ((plot.under_mouse, False), (plot.chosen, True)):
        if point is None:
            continue
        curve = plot.curves[point[0]]
        look = curve.look(colors)
        at = frame.point(float(curve.x[point[1]]), float(curve.y[point[1]]))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.color)
        painter.drawEllipse(at, _POINT, _POINT)
        if ring:
            painter.setPen(pen(colors.q("text"), 1.6))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(at, _RING, _RING)


def draw_names(plot: OverlayPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw what each curve is, in rows above the plot area."""
    painter.setFont(font(SMALL))
    rows = _rows(plot, frame.outer.width())
    if frame.outer.height() - _ROW * rows < plot.least_height:
        return
    for curve, box in _boxes(plot, frame.outer.width()):
        look = curve.look(colors)
        middle = box.center().y()
        painter.setPen(pen(look.color, 2.4, look.dash))
        if curve.x.size == 1:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(look.color)
            draw_marker(painter, look.marker, QPointF(box.left() + _SWATCH / 2, middle), _POINT + 1)
        else:
            painter.drawLine(QPointF(box.left(), middle), QPointF(box.left() + _SWATCH, middle))
        painter.setPen(colors.q("text" if curve.reference else "muted"))
        room = box.adjusted(_SWATCH + _GAP, 0, 0, 0)
        text = painter.fontMetrics().elidedText(
            _name(curve), Qt.TextElideMode.ElideRight, int(room.width()) + 1
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)


def _stands_out(plot: OverlayPlot, number: int) -> bool:
    return plot.under_mouse is not None and plot.under_mouse[0] == number


def _name(curve: OverlaidCurve) -> str:
    return tr("{label} (reference)").format(label=curve.label) if curve.reference else curve.label


def _boxes(plot: OverlayPlot, width: float) -> Iterator[tuple[OverlaidCurve, QRectF]]:
    """Yield the room of each name, from left to right and row by row; as many as there is room for."""
    metrics = QFontMetricsF(font(SMALL))
    x, row = 0.0, 0
    for curve in plot.curves:
        wanted = min(width - 8, _SWATCH + _GAP + metrics.horizontalAdvance(_name(curve)) + 2)
        if x and x + wanted > width - 8:
            x, row = 0.0, row + 1
        if row == _MOST_ROWS:
            return
        yield curve, QRectF(x, _TITLE + row * _ROW, wanted, _ROW)
        x += wanted + _APART


def _rows(plot: OverlayPlot, width: float) -> int:
    tops = {box.top() for _, box in _boxes(plot, width)}
    return len(tops)


def _points(frame: Frame, x: Floats, y: Floats) -> list[QPointF]:
    px, py = frame.pixels(x, y)
    return [QPointF(a, b) for a, b in zip(px.tolist(), py.tolist(), strict=True)]
