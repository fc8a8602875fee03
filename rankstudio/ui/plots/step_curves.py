"""Curves over the steps of a path: some with names and colours, the rest behind them in grey."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QResizeEvent

from rankstudio.engine.arrays import Bools, Floats
from rankstudio.engine.export.figures.values import CurvesFigure, FigureAxis, Level, Series
from rankstudio.ui.plots.axes import Axes
from rankstudio.ui.plots.base import NAME, NEUTRAL, Numbers, Plot, describe, floats
from rankstudio.ui.plots.layers import Frame, draw_line, draw_marker, pen
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import LEFT, TINY, font, scaled
from rankstudio.ui.style.theme import Theme

BEHIND = -1
"""Number of a curve that has no colour of its own."""

_LEAST_HEIGHT = 62  # pixels: three panels stand below each other in the smallest window
_LOW = 130  # pixels of a plot that has no room for the text of its x axis
_REACH = 18.0  # pixels from a point in which the mouse means it
_NAMES = 0.34  # of the width, that names take at most
_GAP = 6.0
_POINT = 4.0
_AIR = 0.03
_LINE = 15  # pixels from one name to the next
Point = tuple[int, int]  # position of a curve, and of a point on it


@dataclass(frozen=True, eq=False)
class StepCurve:
    """One curve.

    Attributes
    ----------
    key : int
        Told when it is picked.
    label : str
        At its right end, unless it lies behind.
    x, y : ndarray of shape (K,)
    number : int
        Its colour and dash, from 0; `BEHIND` for grey.
    filled : ndarray of shape (K,), optional
        Of a curve that is drawn as points: which are filled.
    """

    key: int
    label: str
    x: Floats
    y: Floats
    number: int = BEHIND
    filled: Bools | None = None


class StepCurvesPlot(Plot):
    """Curves over steps, with a level and the chosen step; a click picks a curve.

    Parameters
    ----------
    theme : Theme
    title, x_label : str
    limits : tuple of float, optional
        Of the y axis; else what the curves ask for.

    Attributes
    ----------
    picked : Signal(int, int)
        Key of the curve and step that were clicked.
    feature_at : callable
        Of the key of a curve and a step: the id of the feature that the point is of, 0 for none.
    """

    picked = Signal(int, int)

    def __init__(
        self, theme: Theme, title: str, x_label: str, limits: tuple[float, float] | None = None
    ) -> None:
        self.curves: tuple[StepCurve, ...] = ()
        self.level: Level | None = None
        self.step_shown: int | None = None
        self.decimals = 4
        self.feature_at: Callable[[int, int], int] = lambda key, step: 0
        self._limits = limits
        self._x_label = x_label
        self._marked: int | None = None
        super().__init__(theme, Axes(title, x_label, integer_x=True, x_air=_AIR))
        self.setMinimumHeight(_LEAST_HEIGHT)
        self.add_layer(self._draw_marks, -1.0)
        self.add_layer(self._draw_curves, 0.0)
        self.add_layer(self._draw_names, 1.0, clipped=False)

    def set_curves(
        self, curves: Sequence[StepCurve], level: Level | None = None, step: int | None = None
    ) -> None:
        """Show other curves, those behind first.

        Parameters
        ----------
        curves : sequence of StepCurve
        level : Level, optional
        step : int, optional
            Where a line stands.
        """
        self.curves = tuple(sorted(curves, key=lambda curve: curve.number != BEHIND))
        self.level = level
        self.step_shown = step
        self.show_anew()

    def mark(self, key: int | None) -> None:
        """Let a curve stand out."""
        if key != self._marked:
            self._marked = key
            self.mark_dirty()

    # Plot

    def is_empty(self) -> bool:
        """Return whether there are no curves."""
        return not self.curves

    def spans(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the range of the steps, and of the values."""
        last = max(2.0, *(float(curve.x[-1]) for curve in self.curves))
        air = (last - 1) * _AIR
        if self._limits is not None:
            low, high = self._limits
            return (1 - air, last + air), (low, high + (high - low) * 0.03)
        values = np.concatenate([curve.y[np.isfinite(curve.y)] for curve in self.curves])
        low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
        room = 0.08 * (high - low) or abs(low) * 0.05 or 0.5
        return (1 - air, last + air), (low - room, high + room)

    def frame_for(self, size: QSizeF) -> Frame:
        """Leave room for the names at the right."""
        names = self._names_width(size.width())
        frame = self.axes.frame(QSizeF(size.width() - names, size.height()), *self.ranges())
        return replace(frame, outer=QRectF(QPointF(0, 0), size))

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Leave the text of the x axis out of a low plot, for the sake of the curves."""
        super().resizeEvent(event)
        label = self._x_label if self.height() >= scaled(_LOW) else ""
        if event is not None and label != self.axes.x_label:  # there is none while the plot is built
            self.set_axes(replace(self.axes, x_label=label))

    def _names_width(self, width: float) -> float:
        metrics = QFontMetricsF(font(TINY, bold=True))
        names = [curve.label for curve in self.curves if curve.number != BEHIND and curve.label]
        widest = max((metrics.horizontalAdvance(name) for name in names), default=0.0)
        return min(widest + _GAP, width * _NAMES) if widest else 0.0

    def numbers(self) -> Numbers:
        """Return a row for each point."""
        return self.figure().table()

    def figure(self) -> CurvesFigure:
        """Return the curves; those behind have no names."""
        x = FigureAxis(self._x_label, whole=True)
        low, high = self._limits or (None, None)
        series = tuple(
            Series(
                "" if curve.number == BEHIND else curve.label,
                floats(curve.x),
                floats(curve.y),
                kind="line" if curve.filled is None else "points",
                number=NEUTRAL if curve.number == BEHIND else curve.number,
                note=curve.label,
            )
            for curve in self.curves
        )
        levels = (self.level,) if self.level is not None else ()
        y = FigureAxis(self.axes.title, low=low, high=high)
        return CurvesFigure(NAME, self.axes.title, "", x, y, series, levels)

    def summary(self) -> str:
        """Return where each named curve ends."""
        sentences = [
            f"{curve.label}: {curve.y[-1]:.{self.decimals}f}"
            for curve in self.curves
            if curve.number != BEHIND and curve.y.size
        ]
        return describe([self.axes.title, *sentences])

    def hit_test(self, point: QPointF) -> Point | None:
        """Return the nearest point in reach; of equally near ones that of a named curve."""
        return self.frame().nearest([(curve.x, curve.y) for curve in self.curves], point, _REACH)

    def readout(self, target: Point) -> list[Line]:
        """Return curve, step and value."""
        curve = self.curves[target[0]]
        value = f"{curve.y[target[1]]:.{self.decimals}f}"
        color = None if curve.number == BEHIND else self._look(curve, self.theme.colors).color
        label = f"{curve.label or self.axes.title} · k = {curve.x[target[1]]:.0f}"
        return [Line(label, value, color, bold=True)]  # a low plot has no room for more

    def feature_of(self, target: Point) -> int:
        """Return the feature of a point."""
        curve = self.curves[target[0]]
        return self.feature_at(curve.key, int(curve.x[target[1]]))

    def pick(self, target: Point) -> None:
        """Pick a curve."""
        curve = self.curves[target[0]]
        self.picked.emit(curve.key, int(curve.x[target[1]]))

    def step(self, right: int, down: int) -> bool:
        """Move along a named curve, or to the next one."""
        named = [number for number, curve in enumerate(self.curves) if curve.number != BEHIND]
        if not named:
            return False
        number, index = self.under_mouse if self.under_mouse in self._points() else (named[0], 0)
        if down and number in named:
            number = named[(named.index(number) + down) % len(named)]
        index = min(max(index + right, 0), self.curves[number].x.size - 1)
        self.under_mouse = (number, index)
        curve = self.curves[number]
        position = self.frame().point(float(curve.x[index]), float(curve.y[index]))
        self.say((number, index), position)
        self.redraw()
        return True

    def _points(self) -> set[Point]:
        return {(number, index) for number, curve in enumerate(self.curves) for index in range(curve.x.size)}

    # Drawing

    @staticmethod
    def _look(curve: StepCurve, colors: Colors) -> palettes.Category:
        return palettes.category(colors, curve.number)

    def _draw_marks(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the level and the chosen step."""
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

    def _draw_curves(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the curves, those behind first."""
        for number, curve in enumerate(self.curves):
            stands_out = curve.key == self._marked or (self.under_mouse or (-1, 0))[0] == number
            if curve.number == BEHIND:
                painter.setPen(
                    pen(colors.q("muted" if stands_out else "line_hover"), 1.4 if stands_out else 0.9)
                )
                painter.setBrush(Qt.BrushStyle.NoBrush)
                draw_line(painter, *frame.pixels(curve.x, curve.y))
                continue
            look = self._look(curve, colors)
            if curve.filled is None:
                painter.setPen(pen(look.color, 2.6 if stands_out else 1.8, look.dash))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                draw_line(painter, *frame.pixels(curve.x, curve.y))
                continue
            painter.setPen(pen(look.color, 1.5))
            for x, y, full in zip(curve.x.tolist(), curve.y.tolist(), curve.filled.tolist(), strict=True):
                painter.setBrush(look.color if full else colors.q("panel"))
                painter.drawEllipse(frame.point(x, y), _POINT + 0.5, _POINT + 0.5)
        if self.under_mouse is not None and self.under_mouse[0] < len(self.curves):
            curve = self.curves[self.under_mouse[0]]
            center = frame.point(float(curve.x[self.under_mouse[1]]), float(curve.y[self.under_mouse[1]]))
            color = colors.q("muted") if curve.number == BEHIND else self._look(curve, colors).color
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            draw_marker(painter, "circle", center, _POINT)

    def _draw_names(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Write the names at the ends of their curves, none over another one."""
        named = [curve for curve in self.curves if curve.number != BEHIND and curve.label and curve.y.size]
        room = frame.outer.right() - frame.area.right() - _GAP
        if not named or room < scaled(24):
            return
        height = float(scaled(_LINE))
        ends = sorted(named, key=lambda curve: frame.y_px(float(curve.y[-1])))
        heights = [frame.y_px(float(curve.y[-1])) for curve in ends]
        places = apart(heights, height, frame.area.top() + height / 2, frame.outer.bottom() - height / 2)
        for curve, y in zip(ends, places, strict=True):
            painter.setFont(font(TINY, bold=curve.key == self._marked))
            painter.setPen(self._look(curve, colors).color)
            box = QRectF(frame.area.right() + _GAP, y - height / 2, room, height)
            text = painter.fontMetrics().elidedText(curve.label, Qt.TextElideMode.ElideRight, int(room))
            painter.drawText(box, LEFT, text)


def apart(targets: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return places in the given order as near to the wanted ones as a gap between them allows.

    Examples
    --------
    >>> apart([10.0, 11.0, 40.0], 15.0, 0.0, 100.0)
    [10.0, 25.0, 40.0]
    """
    places: list[float] = []
    for target in targets:
        places.append(max(target, places[-1] + gap if places else low))
    if places and places[-1] > high:
        places[-1] = high
        for index in range(len(places) - 2, -1, -1):
            places[index] = min(places[index], places[index + 1] - gap)
    return places
