"""Curves of several runs over each other, each with a band that says where it differs from the reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isnan

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPolygonF

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    FigureAxis,
    Series,
)
from rankstudio.engine.support.number_format import signed
from rankstudio.ui.language import tr
from rankstudio.ui.plots.axes import Axes
from rankstudio.ui.plots.base import NAME, Numbers, Plot, describe, floats
from rankstudio.ui.plots.layers import (
    INSPECTED,
    Frame,
    between_axes,
    draw_line,
    draw_marker,
    padded,
    pen,
    readable_range,
)
from rankstudio.ui.plots.legend import draw_entry, flow
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import LEFT, SMALL, font
from rankstudio.ui.style.number_format import plain
from rankstudio.ui.style.theme import Theme

_REACH = 22.0  # pixels from a point in which the mouse means it
Point = tuple[int, int]  # position of a curve, and of a point on it
_ROW = 18.0  # of names, in pixels
_SWATCH, _GAP, _APART = 22.0, 6.0, 18.0
_TITLE = 22.0
_POINT, _RING = 4.0, 6.5
_MOST_ROWS = 3
_AIR = 0.02  # of the range of k, at each end: room for markers


@dataclass(frozen=True, eq=False)
class OverlaidCurve:
    """The curve of one run.

    Attributes
    ----------
    key : int
        The run's number: its colour, dash and marker.
    label : str
    x, y : ndarray of shape (K,)
    notes : tuple of str
        What is said of each point besides its values: "k = 4 · λ = 2⁶".
    difference, half : ndarray of shape (K,)
        To the reference, and half the length of the interval; NaN where there is none.
    dash : tuple of float, optional
        Of the line, where it is not that of its look.
    """

    key: int
    label: str
    x: Floats
    y: Floats
    notes: tuple[str, ...]
    difference: Floats
    half: Floats
    reference: bool = field(default=False)
    dash: tuple[float, ...] | None = None

    def look(self, colors: Colors) -> palettes.Category:
        """Return how it is drawn."""
        found = palettes.category(colors, self.key - 1)
        return found if self.dash is None else found._replace(dash=self.dash)


class OverlayPlot(Plot):
    """Curves in the colours and dashes of their runs; a band is as wide as the interval of the difference.

    A click picks the nearest point; arrow keys move along a curve and to the next one.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    picked : Signal(int, int)
        Positions of the curve and of the point on it.
    least_height : float
        In pixels, that the names leave to the curves; else they are not drawn.
    """

    picked = Signal(int, int)
    least_height = 90.0

    def __init__(self, theme: Theme) -> None:
        self.curves: tuple[OverlaidCurve, ...] = ()
        self.chosen: Point | None = None
        self.inspected: Point | None = None
        super().__init__(
            theme, Axes(tr("validation measure"), tr("features of the model, k"), integer_x=True, x_air=_AIR)
        )
        self.add_layer(partial(draw_intervals, self), 0.0)
        self.add_layer(partial(draw_overlaid, self), 1.0)
        self.add_layer(partial(draw_point, self), 2.0)
        self.add_layer(partial(draw_names, self), 3.0, clipped=False)

    def set_curves(self, curves: Sequence[OverlaidCurve]) -> None:
        """Show other curves."""
        self.curves = tuple(curves)
        self.chosen = self.inspected = None
        self.show_anew()

    def select(self, point: Point | None) -> None:
        """Ring the current choice; None takes the ring away."""
        if point != self.chosen:
            self.chosen = point
            self.mark_dirty()

    def inspect(self, point: Point | None) -> None:
        """Ring another point with dashes, as inspected; None takes the ring away."""
        if point != self.inspected:
            self.inspected = point
            self.mark_dirty()

    # Plot

    def frame_for(self, size: QSizeF) -> Frame:
        """Leave room above for the names."""
        return below_names(self, size, *self.ranges())

    def is_empty(self) -> bool:
        """Return whether there is no curve."""
        return not self.curves

    def spans(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the range of all curves, and that in which their better part is seen well."""
        x = np.concatenate([curve.x for curve in self.curves])
        y = np.concatenate([curve.y for curve in self.curves])
        x_range = (float(x.min()), float(x.max())) if x.min() < x.max() else padded(float(x[0]), float(x[0]))
        return padded(*x_range, _AIR), readable_range(y, np.empty(0))

    def figure(self) -> CurvesFigure:
        """Return curves of runs over each other, with their bands."""
        series = []
        for one in self.curves:
            y, half = floats(one.y), floats(one.half)
            banded = not all(map(isnan, half))
            low = tuple(a - h for a, h in zip(y, half, strict=True)) if banded else ()
            high = tuple(a + h for a, h in zip(y, half, strict=True)) if banded else ()
            kind = "line" if len(y) > 1 else "points"
            series.append(Series(one.label, floats(one.x), y, low, high, kind, one.key - 1))  # type: ignore[arg-type]
        x = FigureAxis(self.axes.x_label, whole=self.axes.integer_x)
        reference = next((one.key for one in self.curves if one.reference), None)
        banded = reference is not None and any(one.low for one in series)
        text = tr("band: 95 % interval of the paired difference to run {number}").format(number=reference)
        bands = text if banded else ""
        return CurvesFigure(
            NAME, self.axes.title, "", x, FigureAxis(self.axes.title), tuple(series), bands=bands
        )

    def numbers(self) -> Numbers:
        """Return one row a point."""
        header = ["run", self.axes.x_label, self.axes.title, "difference to the reference", "low", "high"]
        rows: list[list[str | float | int]] = [
            [
                curve.label,
                *map(float, (curve.x[i], curve.y[i], curve.difference[i])),
                float(curve.difference[i] - curve.half[i]),
                float(curve.difference[i] + curve.half[i]),
            ]
            for curve in self.curves
            for i in range(curve.x.size)
        ]
        return header, rows

    def readout(self, found: Point) -> list[Line]:
        """Return what a point is."""
        curve, i = self.curves[found[0]], found[1]
        color, dash, _ = curve.look(self.theme.colors)
        lines = [
            Line(curve.label, f"{curve.y[i]:.4f}", color, dash, bold=True),
            Line(curve.notes[i]),
        ]
        if curve.reference:
            lines.append(Line(tr("the reference")))
        elif np.isfinite(curve.half[i]):
            ends = [signed(float(curve.difference[i] + s * curve.half[i]), 4) for s in (-1, 1)]
            lines.append(Line(tr("to the reference"), signed(float(curve.difference[i]), 4)))
            lines.append(Line(tr("95 % interval (paired)"), " … ".join(ends)))
        return lines

    def hit_test(self, at: QPointF) -> Point | None:
        """Return the point nearest to a pixel; None far from any."""
        return self.frame().nearest([(curve.x, curve.y) for curve in self.curves], at, _REACH)

    def pick(self, point: Point) -> None:
        """Pick a point."""
        self.picked.emit(*point)

    def step(self, right: int, down: int) -> bool:
        """Move along a curve, or to the next one."""
        if not self.curves:
            return False
        number, i = self.inspected or self.chosen or (0, -1 if right > 0 else 0)
        x = self.curves[number].x[max(i, 0)]
        number = max(0, min(len(self.curves) - 1, number + down))
        curve = self.curves[number]
        i = int(np.abs(curve.x - x).argmin()) if down else max(0, min(curve.x.size - 1, i + right))
        self.picked.emit(number, i)
        return True

    def summary(self) -> str:
        """Return in words where each curve is best, and what is chosen."""
        said = []
        for curve in self.curves:
            i = int(np.nanargmax(curve.y))
            said.append(
                tr("{label}: best {y:.4f} at {x}").format(
                    label=curve.label, y=curve.y[i], x=plain(float(curve.x[i]))
                )
            )
        if self.chosen is not None:
            curve, i = self.curves[self.chosen[0]], self.chosen[1]
            said.append(
                tr("chosen: {label}, {notes}, {y:.4f}").format(
                    label=curve.label, notes=curve.notes[i], y=curve.y[i]
                )
            )
        if self.inspected is not None:
            curve, i = self.curves[self.inspected[0]], self.inspected[1]
            said.append(
                tr("inspected: {label}, {notes}, {y:.4f}").format(
                    label=curve.label, notes=curve.notes[i], y=curve.y[i]
                )
            )
        return describe(said)


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
    with between_axes(painter, frame):
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
            upper = frame.points(curve.x[there], high[there])
            lower = frame.points(curve.x[there], low[there])
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
        draw_line(painter, *frame.pixels(curve.x[there], curve.y[there]))


def draw_point(plot: OverlayPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw the point under the mouse, and rings around the chosen and the inspected one."""
    rings = (plot.under_mouse, None), (plot.chosen, ()), (plot.inspected, INSPECTED)
    for point, dash in rings:
        if point is None:
            continue
        curve = plot.curves[point[0]]
        look = curve.look(colors)
        at = frame.point(float(curve.x[point[1]]), float(curve.y[point[1]]))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.color)
        painter.drawEllipse(at, _POINT, _POINT)
        if dash is not None:
            painter.setPen(pen(colors.q("text"), 1.6, dash))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(at, _RING, _RING)


def draw_names(plot: OverlayPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw what each curve is, in rows above the plot area, and how many have no room for their names."""
    painter.setFont(font(SMALL))
    width = frame.outer.width()
    if frame.outer.height() - _ROW * _rows(plot, width) < plot.least_height:
        return
    boxes, more, others = shown_names(plot, width)
    painter.setPen(colors.q("muted"))
    painter.drawText(more, LEFT, others)
    for curve, box in boxes:
        color = colors.q("text" if curve.reference else "muted")
        marker = _POINT + 1 if curve.x.size == 1 else 0.0
        given = painter, box, curve.look(colors), _name(curve), color
        draw_entry(*given, swatch=_SWATCH, gap=_GAP, width=2.4, marker=marker)


def _stands_out(plot: OverlayPlot, number: int) -> bool:
    return plot.under_mouse is not None and plot.under_mouse[0] == number


def _name(curve: OverlaidCurve) -> str:
    return tr("{label} (reference)").format(label=curve.label) if curve.reference else curve.label


def _boxes(plot: OverlayPlot, width: float) -> Iterator[tuple[OverlaidCurve, QRectF]]:
    """Yield the room of each name, from left to right and row by row; as many as there is room for."""
    metrics = QFontMetricsF(font(SMALL))
    room = width - 8
    wanted = [
        min(room, _SWATCH + _GAP + metrics.horizontalAdvance(_name(curve)) + 2) for curve in plot.curves
    ]
    for curve, wide, (x, row) in zip(plot.curves, wanted, flow(wanted, room, _APART), strict=True):
        if row < _MOST_ROWS:
            yield curve, QRectF(x, _TITLE + row * _ROW, wide, _ROW)


def shown_names(plot: OverlayPlot, width: float) -> tuple[list[tuple[OverlaidCurve, QRectF]], QRectF, str]:
    """Return the curves that are named with their rooms, and room and text for the number of the others."""
    boxes = list(_boxes(plot, width))
    text = ""
    while boxes and len(boxes) < len(plot.curves):
        text = tr("and {n} more").format(n=len(plot.curves) - len(boxes))
        wanted = QFontMetricsF(font(SMALL)).horizontalAdvance(text) + 2
        room = boxes[-1][1]
        if room.right() + _APART + wanted <= width - 8 or len(boxes) == 1:
            return boxes, QRectF(room.right() + _APART, room.top(), wanted, _ROW), text
        boxes.pop()
    return boxes, QRectF(), text


def _rows(plot: OverlayPlot, width: float) -> int:
    tops = {box.top() for _, box in _boxes(plot, width)}
    return len(tops)
