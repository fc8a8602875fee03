"""What `CurvesPlot` draws: band, curves, the choice, and what follows the mouse."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np
from pyqtgraph.functions import arrayToQPath, arrayToQPolygonF
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPaintEngine, QPainter

from rankstudio.engine.arrays import Bools, Floats
from rankstudio.ui.plots.curves.curve_set import Band, Curve
from rankstudio.ui.plots.curves.curve_values import REFERENCE_DASH
from rankstudio.ui.plots.frame import Frame
from rankstudio.ui.plots.layers import pen
from rankstudio.ui.style.colors import Colors, mix
from rankstudio.ui.style.fonts import SMALL, font

if TYPE_CHECKING:
    from rankstudio.ui.plots.curves.curves_plot import CurvesPlot

# One pixel wide and opaque is Qt's fast lane: a twentieth of the time of a wider or translucent line. So
# the curves that step back are mixed with the ground, not made translucent.
_CHOSEN, _PLAIN, _FADED = 2.6, 1.5, 1.0
_FADE = 0.38
# Points this far apart, in pixels, are drawn as points; closer ones would only thicken the line.
_APART = 13.0
_LONE = 3.4  # radius of a curve's only point, of which there is no line
_CROWDED = 4  # points to a pixel column, from which on it is drawn by its extremes


def draw_curves(plot: CurvesPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw the curves as they are, straight between points and open at NaN; the chosen one on top."""
    chosen = plot.chosen_key()
    strokes = plot.family.strokes(colors)
    for key, curve in plot.family.curves.items():
        if key != chosen:
            color, dash = strokes[key]
            if chosen is not None and not curve.beside:
                color = QColor(mix(color.name(), colors.panel, _FADE))
            plain = chosen is None or curve.beside
            draw_curve(painter, frame, curve, color, _PLAIN if plain else _FADED, dash)
    if chosen is not None and chosen in strokes:
        color, dash = strokes[chosen]
        draw_curve(painter, frame, plot.family[chosen], color, _CHOSEN, dash)


def draw_band(plot: CurvesPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw the interval over folds as a light area and the mean as a line, below the curves."""
    band = plot.band
    if band is None:
        return
    xs = np.concatenate([band.xs, band.xs[::-1]])
    ys = np.concatenate([band.low, band.high[::-1]])
    seen = np.isfinite(ys)
    px, py = frame.pixels(xs[seen], ys[seen])
    painter.setPen(Qt.PenStyle.NoPen)
    permuted = band.p_values is not None
    painter.setBrush(
        colors.q("muted", 0.28) if permuted else colors.q("accent", 0.16 if colors.dark else 0.11)
    )
    painter.drawPolygon(arrayToQPolygonF(px, py))
    if permuted:
        _outline_band(band, painter, frame, colors)
        return
    mean = Curve(band.name, list(band.xs), list(band.mean))
    draw_curve(painter, frame, mean, colors.q("accent", 0.85), 2.0, (5.0, 2.0))


def _outline_band(band: Band, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw the ends of a band, which may be narrower than a pixel, and write its name."""
    painter.setPen(pen(colors.q("muted"), 1.0))
    for ends in (band.low, band.high):
        painter.drawPath(arrayToQPath(*frame.pixels(band.xs, ends), connect="finite"))
    if band.xs.size == 1:  # no area: a bracket
        low, high = (frame.point(float(band.xs[0]), float(ends[0])) for ends in (band.low, band.high))
        painter.drawLine(low, high)
        for end in (low, high):
            painter.drawLine(end - QPointF(5, 0), end + QPointF(5, 0))
    _name_band(band, painter, frame, colors)


def _name_band(band: Band, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Write what a band is above its right end, or below it where there is no room."""
    painter.setFont(font(SMALL))
    metrics = painter.fontMetrics()
    name = band.name
    if metrics.horizontalAdvance(name) > frame.area.width() - 4:
        name = name.partition(",")[0]
    last = frame.point(float(band.xs[-1]), float(band.high[-1]))
    left = min(last.x(), frame.area.right()) - metrics.horizontalAdvance(name) - 2
    above = last.y() - metrics.descent() - 3
    below = frame.y_px(float(band.low[-1])) + metrics.ascent() + 3
    painter.setPen(colors.q("muted"))
    fits = above - metrics.ascent() >= frame.area.top()
    painter.drawText(QPointF(max(left, frame.area.left() + 2), above if fits else below), name)


def draw_reference(plot: CurvesPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw a level to compare the curves with as a dotted line, unless it is out of sight."""
    py = reference_pixel(plot, frame)
    if py is not None:
        painter.setPen(pen(colors.q("muted"), 1.2, REFERENCE_DASH))
        painter.drawLine(QPointF(frame.area.left(), py), QPointF(frame.area.right(), py))


def reference_pixel(plot: CurvesPlot, frame: Frame) -> float | None:
    """Return where that level is; None where it cannot be seen."""
    if plot.reference is None or plot.is_empty():
        return None
    py = round(frame.y_px(plot.reference[0])) + 0.5
    return py if frame.area.top() <= py <= frame.area.bottom() else None


def draw_reference_name(plot: CurvesPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Write the name of that level beside its line: in a file nobody can ask for it."""
    py = reference_pixel(plot, frame)
    if py is None or plot.reference is None:
        return
    label = plot.reference[1]
    painter.setFont(font(SMALL))
    metrics = painter.fontMetrics()
    text = metrics.elidedText(label, Qt.TextElideMode.ElideRight, int(frame.area.width()) - 8)
    x = frame.area.right() - metrics.horizontalAdvance(text) - 2
    below = py + metrics.ascent() + 3
    above = py - metrics.descent() - 2
    painter.setPen(colors.q("muted"))
    painter.drawText(QPointF(x, below if below < frame.area.bottom() else above), text)


def draw_choice(plot: CurvesPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw the chosen point: a dashed line through its k and an open circle on it."""
    choice = plot.choice
    if choice is None or plot.is_empty():
        return
    key, x = choice
    px = round(frame.x_px(x)) + 0.5
    if not frame.area.left() - 1 <= px <= frame.area.right() + 1:
        return
    if any(len(curve.xs) > 1 for curve in plot.family.curves.values()):
        # Else all points are at this x, and the line would only cover them.
        painter.setPen(pen(colors.q("accent"), 1.2, (3.0, 2.6)))
        painter.drawLine(QPointF(px, frame.area.top() - 4), QPointF(px, frame.area.bottom()))
    y = plot.family[key].value_at(x) if key in plot.family else float("nan")
    if np.isfinite(y):
        painter.setPen(pen(colors.q("accent"), 2.0))
        painter.setBrush(colors.q("panel"))
        painter.drawEllipse(QPointF(px, frame.y_px(y)), 4.5, 4.5)


def draw_cursor(plot: CurvesPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw the crosshair: a line at the mouse's k, and the curve under the mouse brought forward."""
    x, key = plot.cursor, plot.under_mouse
    if x is None:
        return
    px = round(frame.x_px(x)) + 0.5
    painter.setPen(pen(colors.q("muted", 0.75), 1.0))
    painter.drawLine(QPointF(px, frame.area.top()), QPointF(px, frame.area.bottom()))
    if key is None or key not in plot.family:
        return
    _bring_forward(plot, painter, frame, colors, key, x)


def _bring_forward(
    plot: CurvesPlot, painter: QPainter, frame: Frame, colors: Colors, key: Hashable, x: float
) -> None:
    """Draw one curve over the others, and a dot on its value at x."""
    curve = plot.family[key]
    color, dash = plot.family.strokes(colors)[key]
    if key != plot.chosen_key():
        draw_curve(painter, frame, curve, color, 2.0, dash)
    y = curve.value_at(x)
    if np.isfinite(y):
        painter.setPen(pen(colors.q("panel"), 1.5))
        painter.setBrush(color)
        painter.drawEllipse(frame.point(x, y), 4.0, 4.0)


def draw_curve(
    painter: QPainter, frame: Frame, curve: Curve, color: QColor, width: float, dash: tuple[float, ...] = ()
) -> None:
    """Draw a curve through its points, open at NaN, with the points themselves where there are few."""
    xs, ys = curve.arrays()
    if xs.size == 0:
        return
    px, py = frame.pixels(xs, ys)
    if painter.paintEngine().type() == QPaintEngine.Type.Raster:
        fewer = extremes(px, py, painter.transform().m11())
        if fewer is not None:
            (px, py), width = fewer, min(width, _FADED)  # or it takes twenty times as long
    painter.setPen(pen(color, width, dash))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if px.size > 1:
        painter.drawPath(arrayToQPath(px, py, connect="finite"))
    dots = _dots(px, py)
    if dots.any():
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        radius = 1.2 + 0.6 * width if px.size > 1 else _LONE
        for x, y in zip(px[dots], py[dots], strict=True):
            painter.drawEllipse(QPointF(x, y), radius, radius)


def extremes(px: Floats, py: Floats, scale: float) -> tuple[Floats, Floats] | None:
    """Return the first, the lowest, the highest and the last point of each pixel column, which look the same.

    None where points are that few already, come back, or are missing: then they are drawn as they are.

    Parameters
    ----------
    px, py : ndarray
        Points in logical pixels.
    scale : float
        Device pixels to a logical one.
    """
    columns = np.floor(px * scale)
    begins = np.flatnonzero(np.diff(columns, prepend=-np.inf))
    if px.size < _CROWDED * begins.size or not np.isfinite(py).all() or (np.diff(px) < 0).any():
        return None
    ends = np.append(begins[1:], px.size) - 1
    lowest, highest = np.minimum.reduceat(py, begins), np.maximum.reduceat(py, begins)
    ys = np.column_stack((py[begins], lowest, highest, py[ends]))
    xs = np.column_stack((px[begins], px[begins], px[ends], px[ends]))
    return xs.ravel(), ys.ravel()


def _dots(px: Floats, py: Floats) -> Bools:
    """Tell which points are drawn as points: all where they are few, else those without a neighbour."""
    seen = np.isfinite(py)
    if px.size < 2 or float(np.ptp(px)) / (px.size - 1) >= _APART:
        return seen
    before = np.concatenate([[False], seen[:-1]])
    after = np.concatenate([seen[1:], [False]])
    alone: Bools = seen & ~before & ~after
    return alone
