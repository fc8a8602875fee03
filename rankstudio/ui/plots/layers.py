"""Tools that draw plots: where data lie on a drawing, and layers of the pyqtgraph scene.

A layer draws in the logical pixels of the drawing, not in data
coordinates, through the `Frame`. Line widths and fonts then come out
the same on a screen of any pixel ratio. Axes, curves and legends of
pyqtgraph would make a plot 8 to 20 times as slow to create (see
``benchmarks/plot_items.py``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from pyqtgraph.functions import arrayToQPolygonF
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.figures.ticks import EQUAL
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.theme import Theme

_SHORT = 100  # most points of a line that is drawn as a whole
_PIECE = 32  # segments of each piece of a longer line


@dataclass(frozen=True)
class Frame:
    """The affine map between data and the pixels of a drawing.

    Attributes
    ----------
    area : QRectF
        The plot area inside the drawing, in logical pixels; titles and
        tick labels lie around it.
    outer : QRectF
        The whole drawing.
    x_range, y_range : tuple of float
        Values at the left and right edge, and at the bottom and top edge.
    log_y : bool
        Whether equal heights are equal ratios; then ``y_range`` is above 0.
    log_x : bool
        Whether equal widths are equal ratios; then ``x_range`` is above
        0.
    """

    area: QRectF
    outer: QRectF
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    log_y: bool = False
    log_x: bool = False

    def x_px(self, x: float) -> float:
        """Return the horizontal pixel of a value."""
        # The other coordinate is 1, which has a logarithm.
        return float(self.pixels(np.array([x]), np.ones(1))[0][0])

    def y_px(self, y: float) -> float:
        """Return the vertical pixel of a value.

        ``y`` is the value. Pixels grow downwards, values upwards.
        """
        return float(self.pixels(np.ones(1), np.array([y]))[1][0])

    def point(self, x: float, y: float) -> QPointF:
        """Return the pixel of a point."""
        return QPointF(self.x_px(x), self.y_px(y))

    def pixels(self, xs: Floats, ys: Floats) -> tuple[Floats, Floats]:
        """Return the pixels of points, as two arrays of the inputs' shape.

        x grows to the right, y upwards, from the lower left corner of
        the plot area. On a logarithmic axis, the map is linear in the
        logarithms.
        """
        (x0, x1), (y0, y1) = self.x_range, self.y_range
        if self.log_y:  # what is not above 0 lies at the lower end
            ys = np.log10(np.maximum(ys, y0))
            y0 = np.log10(y0)
            y1 = np.log10(y1)
        if self.log_x:
            xs = np.log10(xs)
            x0 = np.log10(x0)
            x1 = np.log10(x1)
        px = self.area.left() + (xs - x0) * (self.area.width() / (x1 - x0))
        py = self.area.bottom() - (ys - y0) * (self.area.height() / (y1 - y0))
        return px, py

    def points(self, xs: Floats, ys: Floats) -> list[QPointF]:
        """Return the pixels of many points, in a tenth of the time that calls of :meth:`point` take."""
        px, py = self.pixels(xs, ys)
        return [QPointF(x, y) for x, y in zip(px.tolist(), py.tolist(), strict=True)]

    def nearest(
        self, curves: Iterable[tuple[Floats, Floats]], position: QPointF, reach: float
    ) -> tuple[int, int] | None:
        """Return the point that is nearest to a pixel, as the number of its curve and its index on the curve.

        A curve is a pair of arrays, the x and the y of its points. Of
        equally near points, that of the last curve is returned. Return
        None if every point is farther than `reach` pixels away. A point
        that is NaN is infinitely far.
        """
        nearest_point = None
        for number, (xs, ys) in enumerate(curves):
            px, py = self.pixels(xs, ys)
            distances = np.nan_to_num(
                np.hypot(px - position.x(), py - position.y()), nan=np.inf
            )
            point = int(distances.argmin()) if distances.size else 0
            if distances.size and distances[point] <= reach:
                nearest_point = (number, point)
                reach = float(distances[point])  # a later one has to be as near
        return nearest_point

    def x_at(self, px: float) -> float:
        """Return the value at a horizontal pixel."""
        low, high = np.log10(self.x_range) if self.log_x else self.x_range
        # A plot has no width before it is laid out.
        x = low + (px - self.area.left()) / max(self.area.width(), 1e-9) * (high - low)
        return float(10.0**x if self.log_x else x)


def padded(low: float, high: float, share: float = 0.06) -> tuple[float, float]:
    """Return a range widened by a share of it at both ends.

    ``low`` and ``high`` are the ends of the range. If both ends are
    equal, the range is widened by 5 % of their value, or by 0.5 if they
    are 0. Without finite ends, the range is from 0 to 1.
    """
    if not (np.isfinite(low) and np.isfinite(high)):
        return 0.0, 1.0
    # Ends that differ by rounding only count as equal.
    if high - low <= EQUAL * max(abs(low), abs(high)):
        air = max(abs(low), abs(high)) * 0.05 or 0.5
        return low - air, high + air
    air = (high - low) * share
    return low - air, high + air


def readable_range(values: Floats, keep: Floats) -> tuple[float, float]:
    """Return the y range that shows a family of curves well.

    The range is that of all values, unless a few extreme values (at
    most a twentieth at each end, say one λ at k = 1) would press all
    others into less than half of the picture; these values are then cut
    off.

    Parameters
    ----------
    values : ndarray
        All values of all curves; NaN is ignored.
    keep : ndarray
        Values that must lie inside, the chosen curve's; may be empty.

    Returns
    -------
    tuple of float
        Padded lower and upper end.
    """
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return 0.0, 1.0
    low = float(finite.min())
    high = float(finite.max())
    # The core is the range from the 5 % to the 95 % quantile. If the
    # values reach over more than twice the core, at most half the core
    # is added at each end of it.
    ordered = np.sort(finite)  # numpy's own quantiles import 40 ms of modules
    # positions of the quantiles among the ordered values, between two of them
    ranks = np.array([0.05, 0.95]) * (ordered.size - 1)
    core_low, core_high = np.interp(ranks, np.arange(ordered.size), ordered).tolist()
    core_size = core_high - core_low
    if core_size > 0 and high - low > 2.0 * core_size:
        required = keep[np.isfinite(keep)]
        low = max(low, core_low - 0.5 * core_size)
        high = min(high, core_high + 0.5 * core_size)
        if required.size:
            low = min(low, float(required.min()))
            high = max(high, float(required.max()))
    return padded(low, high)


SPILL = 6.0
"""How far markers may reach over the edge of the plot area, in pixels."""


Draw = Callable[[QPainter, Frame, Colors], None]
"""A function that draws a layer in logical pixels."""


class Layer(QGraphicsItem):
    """One layer of a plot, drawn by a function.

    Parameters
    ----------
    theme : Theme
    frame : callable
        Returns the present map between data and pixels.
    draw : callable
        Draws the layer.
    z : float
        Layers with greater z lie above.
    clipped : bool
        Whether nothing is drawn outside of the plot area.
    """

    def __init__(
        self,
        theme: Theme,
        frame: Callable[[], Frame],
        draw: Draw,
        z: float,
        clipped: bool,
    ) -> None:
        super().__init__()
        self._theme = theme
        self._frame = frame  # returns the current map from data to pixels
        self._draw = draw
        self._clipped = clipped  # whether the layer ends at the plot area
        self._bounds = QRectF()
        self._has_failed = False
        self.setZValue(z)  # a layer with a greater z lies above
        # The plot itself handles the mouse.
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def fit(self, outer: QRectF) -> None:
        """Give the layer the size of the whole drawing, in pixels."""
        if outer != self._bounds:
            self.prepareGeometryChange()
            self._bounds = QRectF(outer)

    def boundingRect(self) -> QRectF:
        """Return the rectangle of the whole drawing, in which the layer may draw."""
        return self._bounds

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,
        widget: QWidget | None = None,
    ) -> None:
        """Draw the layer on the screen with the painter that Qt passes.

        An exception that leaves a painting method ends the process
        without a message. An exception of the layer is therefore passed
        to ``sys.excepthook``, once, and the layer stays blank from then
        on.
        """
        # `option` and `widget` are arguments of Qt that are not needed.
        if self._has_failed:
            return
        try:
            self._render(painter, self._frame(), self._theme.colors)
        except Exception:
            self._has_failed = True
            sys.excepthook(*sys.exc_info())

    def _render(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the layer; a clipped one ends a few pixels outside of the plot area (`SPILL`)."""
        painter.save()
        try:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if self._clipped:
                painter.setClipRect(frame.area.adjusted(-SPILL, -SPILL, SPILL, SPILL))
            self._draw(painter, frame, colors)
        finally:
            painter.restore()


INSPECTED = 1.6, 1.6
"""Dash and gap, in line widths, of the frame around a model that is inspected but not chosen."""


def pen(color: QColor, width: float, dash: tuple[float, ...] = ()) -> QPen:
    """Return a pen whose width is in logical pixels on every screen.

    Parameters
    ----------
    color : QColor
    width : float
    dash : tuple of float
        Dash and gap lengths in line widths.
    """
    line_pen = QPen(color, width)
    # The joins of a thin line are invisible, and round ones take twice the time.
    thin = width < 2.0
    line_pen.setJoinStyle(
        Qt.PenJoinStyle.BevelJoin if thin else Qt.PenJoinStyle.RoundJoin
    )
    line_pen.setCapStyle(
        Qt.PenCapStyle.FlatCap if dash or thin else Qt.PenCapStyle.RoundCap
    )
    if dash:
        line_pen.setDashPattern(list(dash))
    return line_pen


def draw_line(painter: QPainter, px: Floats, py: Floats) -> None:
    """Draw a line through points with the painter's pen.

    A point with NaN leaves a gap.

    A long and wide solid line is drawn in pieces: Qt outlines and fills
    a line as a whole, which takes four times as long for two thousand
    points. Each piece begins with the last segment of the piece before,
    so that the two join. Dashed and translucent lines are drawn as a
    whole: dashes would start again in each piece, and a translucent
    line would be darker where pieces overlap.
    """
    # Positions of the gaps, and whether the line is one that may be
    # drawn in pieces: m11 is the number of device pixels to a logical
    # one.
    line = painter.pen()
    gaps = np.flatnonzero(~np.isfinite(px + py)).tolist()
    solid = line.style() == Qt.PenStyle.SolidLine and line.color().alpha() == 255
    is_wide = line.widthF() * painter.deviceTransform().m11() > 1
    # Both ends of the line count as gaps.
    for gap_before, gap_after in pairwise([-1, *gaps, px.size]):
        xs = px[gap_before + 1 : gap_after]
        ys = py[gap_before + 1 : gap_after]
        # points of a piece: all of them if the line is drawn as a whole
        step = _PIECE if solid and is_wide and xs.size > _SHORT else max(1, xs.size)
        for first in range(0, xs.size - 1, step):
            piece = slice(max(0, first - 1), first + step + 1)
            painter.drawPolyline(arrayToQPolygonF(xs[piece], ys[piece]))


@contextmanager
def between_axes(painter: QPainter, frame: Frame) -> Iterator[None]:
    """Cut off above and below the plot area what is drawn inside this context.

    At the sides of the plot area, markers may reach over the edge by a
    few pixels.
    """
    painter.save()
    painter.setClipRect(
        frame.area.adjusted(-SPILL, -1.0, SPILL, 1.0), Qt.ClipOperation.IntersectClip
    )
    try:
        yield
    finally:
        painter.restore()


def hairline(painter: QPainter, color: QColor, first: QPointF, second: QPointF) -> None:
    """Draw a horizontal or vertical line one logical pixel wide, aligned to the pixels."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    line = QPen(color, 1.0)
    line.setCapStyle(Qt.PenCapStyle.FlatCap)
    painter.setPen(line)
    painter.drawLine(first, second)
    painter.restore()


def draw_marker(painter: QPainter, shape: str, point: QPointF, radius: float) -> None:
    """Draw a marker, such as "square" or "plus", with the painter's pen and brush; a circle by default.

    Parameters
    ----------
    painter : QPainter
    shape : str
        The marker of a category (`rankstudio.ui.style.palettes.Category`).
    point : QPointF
        The middle of the marker.
    radius : float
        Radius of a circle that looks as large, in pixels.
    """
    x = point.x()
    y = point.y()
    r = radius
    # The factors make all shapes look equally large.
    if shape == "square":
        painter.drawRect(QRectF(x - r * 0.88, y - r * 0.88, 1.76 * r, 1.76 * r))
    elif shape == "diamond":
        s = r * 1.25
        painter.drawPolygon(
            QPolygonF(
                [
                    QPointF(x, y - s),
                    QPointF(x + s, y),
                    QPointF(x, y + s),
                    QPointF(x - s, y),
                ]
            )
        )
    elif shape == "triangle":
        painter.drawPolygon(
            QPolygonF(
                [
                    QPointF(x, y - 1.15 * r),
                    QPointF(x + 1.1 * r, y + 0.8 * r),
                    QPointF(x - 1.1 * r, y + 0.8 * r),
                ]
            )
        )
    elif shape in ("plus", "cross", "star"):
        _draw_strokes(painter, shape, point, radius)
    else:
        painter.drawEllipse(point, r, r)


def _draw_strokes(painter: QPainter, shape: str, point: QPointF, radius: float) -> None:
    """Draw a marker made of strokes, in the color of the brush, with which other markers are filled."""
    painter.save()
    color = (
        painter.brush().color()
        if painter.brush().style() != Qt.BrushStyle.NoBrush
        else painter.pen().color()
    )
    painter.setPen(pen(color, max(1.4, radius * 0.5)))
    x = point.x()
    y = point.y()
    r = radius
    d = radius * 0.72  # diagonal strokes about as long as the others
    if shape in ("plus", "star"):
        painter.drawLine(QPointF(x - r, y), QPointF(x + r, y))
        painter.drawLine(QPointF(x, y - r), QPointF(x, y + r))
    if shape in ("cross", "star"):
        painter.drawLine(QPointF(x - d, y - d), QPointF(x + d, y + d))
        painter.drawLine(QPointF(x - d, y + d), QPointF(x + d, y - d))
    painter.restore()
