"""Curves over the steps of a path: some with names and colors, the others behind them in gray."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from pyqtgraph.functions import arrayToQPolygonF
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QResizeEvent

from rankstudio.engine.arrays import Bools, Floats
from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    FigureAxis,
    Level,
    Series,
)
from rankstudio.ui.language import tr
from rankstudio.ui.plots.axes import Axes
from rankstudio.ui.plots.base import (
    DEFAULT_FILE_NAME,
    NEUTRAL,
    Numbers,
    Plot,
    describe,
    floats,
)
from rankstudio.ui.plots.layers import Frame, draw_line, draw_marker, pen
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import LEFT, TINY, font, scaled
from rankstudio.ui.style.theme import Theme

BEHIND = -1
"""Number of a curve that is drawn in gray behind the others."""

_LEAST_HEIGHT = 62  # pixels: three panels stand below each other in the smallest window
_LOW = 130  # a plot of fewer pixels has no room for the text of its x axis
_REACH = 18.0  # pixels from the mouse to a point that it hits
_MAX_NAMES_SHARE = 0.34  # most of the plot's width that names take
_GAP = 6.0  # pixels between the curves and their names
_POINT_RADIUS = 4.0  # radius of a point in pixels
_AIR = 0.03  # share of the x range that is added at each end
_NAME_HEIGHT = 15  # pixels from one name to the next
_BAND_OPACITY = 0.14
_BAND_OPACITY_DARK = 0.22
Point = tuple[int, int]  # position of a curve, and of a point on it


@dataclass(frozen=True, eq=False)
class StepCurve:
    """One curve of a step plot.

    Attributes
    ----------
    key : int
        Key of the curve, which is emitted when the curve is picked.
    label : str
        Name at the right end of the curve; a curve with the number
        `BEHIND` has no name there.
    x, y : ndarray of shape (K,)
        Coordinates of the K points of the curve.
    number : int
        Number of the color and dash, from 0; `BEHIND` for gray.
    filled : ndarray of shape (K,), optional
        Which points are filled, for a curve that is drawn as points;
        None for one drawn as a line.
    low, high : ndarray of shape (K,), optional
        Ends of an interval around each point, drawn as a band; None for none.
    """

    key: int
    label: str
    x: Floats
    y: Floats
    number: int = BEHIND
    filled: Bools | None = None
    low: Floats | None = None
    high: Floats | None = None

    @property
    def ends(self) -> Floats:
        """The values with the ends of their intervals, which may be NaN."""
        parts = [part for part in (self.y, self.low, self.high) if part is not None]
        return np.concatenate(parts)


class StepCurvesPlot(Plot):
    """A plot of curves over the steps of a path, with a level to compare and a line at the chosen step.

    A click picks a curve.

    Parameters
    ----------
    theme : Theme
    title, x_label : str
        Names of the quantities of the y axis and of the x axis.
    limits : tuple of float, optional
        Range of the y axis; by default that of the curves.

    Attributes
    ----------
    picked : Signal(int, int)
        Key of the curve and step that were clicked.
    feature_at : callable
        Returns the id of the feature at a point, given the key of its
        curve and its step; 0 for none.
    """

    picked = Signal(int, int)

    def __init__(
        self,
        theme: Theme,
        title: str,
        x_label: str,
        limits: tuple[float, float] | None = None,
    ) -> None:
        self.curves: tuple[StepCurve, ...] = ()
        self.level: Level | None = None  # a horizontal line of comparison
        self.step_shown: int | None = None  # the chosen step, where a line stands
        self.decimals = 4
        # Returns the id of the feature at a step of the curve with a
        # key; the owner of the plot sets it. 0 is no feature.
        self.feature_at: Callable[[int, int], int] = lambda key, step: 0
        self._limits = limits  # range of the y axis; None for that of the curves
        self._x_label = x_label
        self._marked_key: int | None = None  # of the highlighted curve
        super().__init__(theme, Axes(title, x_label, integer_x=True, x_air=_AIR))
        self.setMinimumHeight(_LEAST_HEIGHT)
        # The numbers order the layers: a greater one lies above.
        self.add_layer(self._draw_marks, -1.0)
        self.add_layer(self._draw_bands, -0.5)
        self.add_layer(self._draw_curves, 0.0)
        self.add_layer(self._draw_names, 1.0, clipped=False)

    def set_curves(
        self,
        curves: Sequence[StepCurve],
        level: Level | None = None,
        step: int | None = None,
    ) -> None:
        """Show other curves; gray ones are drawn first.

        Parameters
        ----------
        curves : sequence of StepCurve
            The new curves.
        level : Level, optional
            A level to compare the curves with, drawn as a horizontal line.
        step : int, optional
            The chosen step, drawn as a vertical line.
        """
        self.curves = tuple(sorted(curves, key=lambda curve: curve.number != BEHIND))
        self.level = level
        self.step_shown = step
        self.show_anew()

    def mark(self, key: int | None) -> None:
        """Highlight the curve of a key; None highlights none."""
        if key != self._marked_key:
            self._marked_key = key
            self.mark_dirty()

    # Plot

    def is_empty(self) -> bool:
        """Return whether there are no curves."""
        return not self.curves

    def spans(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the range of the steps, from 1 to the last one, and of the values, each with some air."""
        last = max(2.0, *(float(curve.x[-1]) for curve in self.curves))
        air = (last - 1) * _AIR
        if self._limits is not None:
            low, high = self._limits
            # 3 % of the range above, so that a curve at the limit is drawn whole
            return (1 - air, last + air), (low, high + (high - low) * 0.03)
        # `ends` are the values of a curve with the ends of their intervals.
        values = np.concatenate([curve.ends for curve in self.curves])
        values = values[np.isfinite(values)]
        low, high = (
            (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
        )
        # 8 % of the range; of equal values 5 % of the value; of zeros 0.5
        y_air = 0.08 * (high - low) or abs(low) * 0.05 or 0.5
        return (1 - air, last + air), (low - y_air, high + y_air)

    def frame_for(self, size: QSizeF) -> Frame:
        """Lay out a drawing of a size, with room for the names of curves at the right."""
        names_width = self._names_width(size.width())
        frame = self.axes.frame(
            QSizeF(size.width() - names_width, size.height()), *self.ranges()
        )
        return replace(frame, outer=QRectF(QPointF(0, 0), size))

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Show the text of the x axis, or leave it out of a low plot so that the curves have more room."""
        super().resizeEvent(event)
        label = self._x_label if self.height() >= scaled(_LOW) else ""
        # the constructor of the plot passes no event
        if event is not None and label != self.axes.x_label:
            self.set_axes(replace(self.axes, x_label=label))

    def _names_width(self, width: float) -> float:
        """Return the width that the names at the right take in a plot of some width.

        Return 0 without names; gray curves (``BEHIND``) have none.
        """
        metrics = QFontMetricsF(font(TINY, bold=True))
        names = [
            curve.label
            for curve in self.curves
            if curve.number != BEHIND and curve.label
        ]
        widest = max((metrics.horizontalAdvance(name) for name in names), default=0.0)
        return min(widest + _GAP, width * _MAX_NAMES_SHARE) if widest else 0.0

    def numbers(self) -> Numbers:
        """Return the points as a table: column names, and a row for each point."""
        return self.figure().table()

    def figure(self) -> CurvesFigure:
        """Return the plot as a figure for print; gray curves have names in its table, not in its legend."""
        x = FigureAxis(self._x_label, whole=True)
        low, high = self._limits or (None, None)
        series = tuple(
            Series(
                "" if curve.number == BEHIND else curve.label,
                floats(curve.x),
                floats(curve.y),
                # `filled` says which points are filled; None for a line
                kind="line" if curve.filled is None else "points",
                low=() if curve.low is None else floats(curve.low),
                high=() if curve.high is None else floats(curve.high),
                number=NEUTRAL if curve.number == BEHIND else curve.number,
                note=curve.label,
            )
            for curve in self.curves
        )
        levels = (self.level,) if self.level is not None else ()
        y = FigureAxis(self.axes.title, low=low, high=high)
        title = self.axes.title
        has_bands = any(curve.low is not None for curve in self.curves)
        return CurvesFigure(
            DEFAULT_FILE_NAME,
            title=title,
            caption="",
            x=x,
            y=y,
            series=series,
            levels=levels,
            bands=tr("95 % interval") if has_bands else "",
        )

    def summary(self) -> str:
        """Describe at which value each named curve ends, for a screen reader; gray curves have no names."""
        sentences = [
            f"{curve.label}: {curve.y[-1]:.{self.decimals}f}"
            for curve in self.curves
            if curve.number != BEHIND and curve.y.size
        ]
        return describe([self.axes.title, *sentences])

    def hit_test(self, point: QPointF) -> Point | None:
        """Return the nearest point to a pixel, a curve and a step; None if all points are too far away.

        Of equally near points, that of a named curve is preferred to
        that of a gray one.
        """
        return self.frame().nearest(
            [(curve.x, curve.y) for curve in self.curves], point, _REACH
        )

    def readout(self, target: Point) -> list[Line]:
        """Return a line with the curve, the step and the value of a point.

        The line has the color of the curve; a gray curve behind the
        others has none.
        """
        curve_index, point_index = target
        curve = self.curves[curve_index]
        value = f"{curve.y[point_index]:.{self.decimals}f}"
        if curve.low is not None and curve.high is not None:
            low, high = curve.low[point_index], curve.high[point_index]
            if np.isfinite(low) and np.isfinite(high):
                value = f"{value} ({low:.{self.decimals}f} … {high:.{self.decimals}f})"
        color = (
            None
            if curve.number == BEHIND
            else self._category_of(curve, self.theme.colors).color
        )
        label = f"{curve.label or self.axes.title} · k = {curve.x[point_index]:.0f}"
        return [Line(label, value, color, bold=True)]  # a low plot has no room for more

    def feature_of(self, target: Point) -> int:
        """Return the id of the feature at the step of a point; 0 for none."""
        curve_index, point_index = target
        curve = self.curves[curve_index]
        return self.feature_at(curve.key, int(curve.x[point_index]))

    def pick(self, target: Point) -> None:
        """Emit `picked` with the key of a point's curve and its step."""
        curve_index, point_index = target
        curve = self.curves[curve_index]
        self.picked.emit(curve.key, int(curve.x[point_index]))

    def step(self, right: int, down: int) -> bool:
        """Move along a curve by an arrow key, or to the next named curve; begin at the first named one.

        ``right`` and ``down`` are 1, 0 or -1. The new point is
        highlighted as if the mouse were on it. Gray curves have no
        names. Return whether there is a named curve.
        """
        named = [i for i, curve in enumerate(self.curves) if curve.number != BEHIND]
        if not named:
            return False
        # The plot has no choice of its own: it moves on from the point under the mouse.
        start = (named[0], 0)
        curve_index, point_index = (
            self.under_mouse if self.under_mouse in self._points() else start
        )
        if down and curve_index in named:
            curve_index = named[(named.index(curve_index) + down) % len(named)]
        curve = self.curves[curve_index]
        point_index = min(max(point_index + right, 0), curve.x.size - 1)
        self.under_mouse = (curve_index, point_index)
        position = self.frame().point(
            float(curve.x[point_index]), float(curve.y[point_index])
        )
        self.say((curve_index, point_index), position)
        self.redraw()
        return True

    def _points(self) -> set[Point]:
        return {
            (number, index)
            for number, curve in enumerate(self.curves)
            for index in range(curve.x.size)
        }

    # Drawing

    @staticmethod
    def _category_of(curve: StepCurve, colors: Colors) -> palettes.Category:
        return palettes.category(colors, curve.number)

    def _draw_marks(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the level to compare the curves with, horizontal, and the chosen step, vertical."""
        area = frame.area
        if self.is_empty():
            return
        if self.step_shown is not None:
            painter.setPen(pen(colors.q("accent", 0.7), 1.0, (3.0, 3.0)))
            x = frame.x_px(self.step_shown)
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        if self.level is not None:
            painter.setPen(pen(colors.q("error"), 1.2, (4.0, 3.0)))
            y = frame.y_px(self.level.value)
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))

    def _draw_bands(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the intervals of the curves as light areas."""
        painter.setPen(Qt.PenStyle.NoPen)
        for curve in self.curves:
            if curve.low is None or curve.high is None:
                continue
            xs = np.concatenate([curve.x, curve.x[::-1]])
            ys = np.concatenate([curve.low, curve.high[::-1]])
            is_finite = np.isfinite(ys)
            # pyqtgraph makes no polygon of no points
            if not is_finite.any():
                continue
            color = QColor(self._category_of(curve, colors).color)
            color.setAlphaF(_BAND_OPACITY_DARK if colors.dark else _BAND_OPACITY)
            painter.setBrush(color)
            px, py = frame.pixels(xs[is_finite], ys[is_finite])
            painter.drawPolygon(arrayToQPolygonF(px, py))

    def _draw_curves(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the curves, gray ones first, and the point under the mouse."""
        # positions of the curve under the mouse and of the point on it; -1: no curve
        hovered_curve, hovered_point = self.under_mouse or (-1, 0)
        for curve_index, curve in enumerate(self.curves):
            stands_out = curve.key == self._marked_key or hovered_curve == curve_index
            if curve.number == BEHIND:
                painter.setPen(
                    pen(
                        colors.q("muted" if stands_out else "line_hover"),
                        1.4 if stands_out else 0.9,
                    )
                )
                painter.setBrush(Qt.BrushStyle.NoBrush)
                draw_line(painter, *frame.pixels(curve.x, curve.y))
                continue
            # Without a mark of which points are filled, the curve is a line.
            line_style = self._category_of(curve, colors)
            if curve.filled is None:
                painter.setPen(
                    pen(line_style.color, 2.6 if stands_out else 1.8, line_style.dash)
                )
                painter.setBrush(Qt.BrushStyle.NoBrush)
                draw_line(painter, *frame.pixels(curve.x, curve.y))
                continue
            painter.setPen(pen(line_style.color, 1.5))
            for x, y, is_filled in zip(
                curve.x.tolist(), curve.y.tolist(), curve.filled.tolist(), strict=True
            ):
                painter.setBrush(line_style.color if is_filled else colors.q("panel"))
                painter.drawEllipse(
                    frame.point(x, y), _POINT_RADIUS + 0.5, _POINT_RADIUS + 0.5
                )
        if self.under_mouse is not None and hovered_curve < len(self.curves):
            curve = self.curves[hovered_curve]
            center = frame.point(
                float(curve.x[hovered_point]), float(curve.y[hovered_point])
            )
            color = (
                colors.q("muted")
                if curve.number == BEHIND
                else self._category_of(curve, colors).color
            )
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            draw_marker(painter, "circle", center, _POINT_RADIUS)

    def _draw_names(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Write the names at the ends of their curves, moved apart so that they do not overlap."""
        named = [
            curve
            for curve in self.curves
            if curve.number != BEHIND and curve.label and curve.y.size
        ]
        names_width = frame.outer.right() - frame.area.right() - _GAP
        if not named or names_width < scaled(24):  # too narrow to read a name
            return
        line_height = float(scaled(_NAME_HEIGHT))
        from_top = sorted(named, key=lambda curve: frame.y_px(float(curve.y[-1])))
        # The height of each curve's end, from the top as in `from_top`.
        end_pixels = [frame.y_px(float(curve.y[-1])) for curve in from_top]
        top = frame.area.top() + line_height / 2
        bottom = frame.outer.bottom() - line_height / 2
        for curve, y in zip(
            from_top, apart(end_pixels, line_height, top, bottom), strict=True
        ):
            painter.setFont(font(TINY, bold=curve.key == self._marked_key))
            painter.setPen(self._category_of(curve, colors).color)
            box = QRectF(
                frame.area.right() + _GAP, y - line_height / 2, names_width, line_height
            )
            text = painter.fontMetrics().elidedText(
                curve.label, Qt.TextElideMode.ElideRight, int(names_width)
            )
            painter.drawText(box, LEFT, text)


def apart(targets: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return positions near ascending targets on a line, any two of them at least `gap` apart.

    Targets are moved up by as little as it takes, the first to `low` at
    least; if the last position exceeds `high`, all are moved down
    again. The order of the targets stays. Without room for all, the
    first positions lie below `low`.

    Examples
    --------
    >>> apart([10.0, 11.0, 40.0], 15.0, 0.0, 100.0)
    [10.0, 25.0, 40.0]
    """
    positions: list[float] = []
    for target in targets:
        least = positions[-1] + gap if positions else low
        positions.append(max(target, least))
    if positions and positions[-1] > high:
        positions[-1] = high
        for index in range(len(positions) - 2, -1, -1):
            positions[index] = min(positions[index], positions[index + 1] - gap)
    return positions
