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
from rankstudio.ui.plots.base import DEFAULT_FILE_NAME, Numbers, Plot, describe, floats
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
from rankstudio.ui.plots.readout import Line, Pixels
from rankstudio.ui.plots.step_curves import apart
from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import LEFT, RIGHT, SMALL, font, scaled
from rankstudio.ui.style.number_format import plain
from rankstudio.ui.style.theme import Theme

_HIT_DISTANCE = 22.0  # pixels from a point in which the mouse means it
Point = tuple[int, int]  # position of a curve, and of a point on it
_NAME_ROW_HEIGHT = 18.0  # of names, in pixels
_SWATCH_WIDTH = 22.0
_GAP = 6.0
_NAME_SPACING = 18.0
_TITLE_HEIGHT = 22.0
_POINT_RADIUS = 4.0
_RING_RADIUS = 6.5
_MAX_NAME_ROWS = 3
_MODEL_RADIUS = 4.0
_LONE_MODEL_RADIUS = 8.0  # the ring of a run that has one model
# of the width, that names at the ends of curves take at most
_MAX_END_NAMES_SHARE = 0.3
_END_NAME_HEIGHT = 16  # pixels from one of them to the next
_NARROW_BAND_OPACITY = 0.16  # how opaque a narrow band is, and one that fills the plot
_LARGE_BAND_OPACITY = 0.06
_EDGE_OPACITY = 0.4
_X_MARGIN_SHARE = 0.02  # of the range of k, at each end: room for markers


@dataclass(frozen=True, eq=False)
class OverlaidCurve:
    """The curve of one run.

    Attributes
    ----------
    key : int
        Number of the run, which decides its color, dash and marker.
    label : str
    x, y : ndarray of shape (K,)
        Coordinates of the K points of the curve.
    notes : tuple of str
        A text on each point besides its values: "k = 4 · λ = 2⁶".
    difference, half : ndarray of shape (K,)
        Difference of each point to the reference, and half the length
        of its interval; NaN without one.
    dash : tuple of float, optional
        Dash of the line, in place of that of the run's number.
    name : str
        Name at the end of the curve; "" for the label.
    model : int or None
        Position of the point that stands for the run in tables.
    own_half : ndarray of shape (K,) or None
        For the reference: half the length of the interval of each
        point's difference to the reference's own model; None for any
        other run.
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
    name: str = ""
    model: int | None = None
    own_half: Floats | None = None

    @property
    def is_point(self) -> bool:
        """Whether the curve is a single point, as its run has one model."""
        return self.x.size == 1

    @property
    def band(self) -> Floats:
        """Half the height of the curve's band at each point, in units of y; NaN without a band."""
        return self.half if self.own_half is None else self.own_half

    def look(self, colors: Colors) -> palettes.Category:
        """Return the color, dash and marker of the curve, by the number of its run."""
        category = palettes.category(colors, self.key - 1)
        return category if self.dash is None else category._replace(dash=self.dash)


class OverlayPlot(Plot):
    """A plot of one curve per run; a band is as high as the interval of its difference to the reference run.

    A click picks the nearest point; arrow keys move along a curve and
    to the next one.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    picked : Signal(int, int)
        Positions of the curve and of the point on it.
    least_height : float
        Height in pixels that the curves need; names that leave less are
        not drawn.
    one_band : bool
        Whether only the curve that stands out has a band; else all have.
    names_at_ends : bool
        Whether names stand at the ends of the curves where there is
        room; else above them.
    higher_is_better : bool or None
        Whether high values are good; None where no value is better
        than another.
    """

    picked = Signal(int, int)
    least_height = 90.0
    one_band = False
    names_at_ends = False

    def __init__(self, theme: Theme) -> None:
        self.curves: tuple[OverlaidCurve, ...] = ()
        # A point is the position of a curve, and a position on the curve.
        self.chosen: Point | None = None
        self.inspected: Point | None = None
        # whether high values are good; None if no value is better than another
        self.higher_is_better: bool | None = None
        self._emphasised: int | None = None  # number of the run that stands out
        super().__init__(
            theme,
            Axes(
                tr("validation measure"),
                tr("features of the model, k"),
                integer_x=True,
                x_air=_X_MARGIN_SHARE,
            ),
        )
        # The numbers order the layers: a greater one lies above.
        self.add_layer(partial(draw_intervals, self), 0.0)
        self.add_layer(partial(draw_overlaid, self), 1.0)
        self.add_layer(partial(draw_models, self), 1.8)
        self.add_layer(partial(draw_point, self), 2.0)
        self.add_layer(partial(draw_names, self), 3.0, clipped=False)

    def set_curves(self, curves: Sequence[OverlaidCurve]) -> None:
        """Show other curves."""
        self.curves = tuple(curves)
        self.chosen = self.inspected = None
        self.show_anew()

    def emphasise(self, key: int | None) -> None:
        """Let the curve of a run stand out while the mouse is over no curve; None for none."""
        if key != self._emphasised:
            self._emphasised = key
            self.mark_dirty()

    def outstanding(self) -> int | None:
        """Return the position of the curve that stands out: under the mouse, or of the emphasised run."""
        if self.under_mouse is not None:
            return int(self.under_mouse[0])
        keys = [curve.key for curve in self.curves]
        return keys.index(self._emphasised) if self._emphasised in keys else None

    def best_point(self) -> Point | None:
        """Return the point with the best value: the position of its curve, and its position on the curve.

        Return None if no value is better than another
        (``higher_is_better`` is None).
        """
        sign = -1.0 if self.higher_is_better is False else 1.0
        curves = () if self.higher_is_better is None else self.curves
        # pairs of a value, negated where less is better, and its point
        points = [
            (sign * float(curve.y[i]), (number, i))
            for number, curve in enumerate(curves)
            for i in np.flatnonzero(np.isfinite(curve.y)).tolist()
        ]
        return max(points, default=(0.0, None), key=lambda point: point[0])[1]

    def kept_in_sight(self, target: Point) -> Pixels | None:
        """Return the pixels of a point and of the best one, which the box of values should not hide."""
        points = [point for point in (target, self.best_point()) if point is not None]
        xs = np.array([self.curves[number].x[i] for number, i in points], float)
        ys = np.array([self.curves[number].y[i] for number, i in points], float)
        return self.frame().pixels(xs, ys)

    def select(self, point: Point | None) -> None:
        """Draw a ring around the chosen point; None removes the ring."""
        if point != self.chosen:
            self.chosen = point
            self.mark_dirty()

    def inspect(self, point: Point | None) -> None:
        """Draw a dashed ring around the inspected point; None removes the ring."""
        if point != self.inspected:
            self.inspected = point
            self.mark_dirty()

    # Plot

    def frame_for(self, size: QSizeF) -> Frame:
        """Lay out a drawing, with room for the names of the curves.

        The names are at the right if they stand at the ends of the
        curves, and else above the plot area.
        """
        width = ends_width(self, size)  # 0 if names do not stand at the ends
        if width:
            inner = QSizeF(size.width() - width, size.height())
            return replace(
                self.axes.frame(inner, *self.ranges()),
                outer=QRectF(QPointF(0, 0), size),
            )
        return below_names(self, size, *self.ranges())

    def is_empty(self) -> bool:
        """Return whether there is no curve."""
        return not self.curves

    def spans(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the x range of all curves, and a y range in which they are seen well.

        The best value of each curve is in sight, and of a single curve
        also its band. A few extreme values may be cut off.
        """
        x = np.concatenate([curve.x for curve in self.curves])
        y = np.concatenate([curve.y for curve in self.curves])
        x_range = (
            (float(x.min()), float(x.max()))
            if x.min() < x.max()
            else padded(float(x[0]), float(x[0]))
        )
        low, high = readable_range(y, self._best_values())
        if len(self.curves) == 1:  # a high band leaves other curves too little room
            band = self.curves[0].band
            ends = np.concatenate([[low, high], y - band, y + band])
            low = float(np.nanmin(ends))
            high = float(np.nanmax(ends))
        return padded(*x_range, _X_MARGIN_SHARE), (low, high)

    def _best_values(self) -> Floats:
        """Return the best value of each curve, which has to be in sight, shape (number of curves with values,).

        The array is empty where no value is better than another.
        """
        if self.higher_is_better is None:
            return np.empty(0)
        best = np.nanmax if self.higher_is_better else np.nanmin
        return np.array(
            [best(curve.y) for curve in self.curves if np.isfinite(curve.y).any()],
            float,
        )

    def figure(self) -> CurvesFigure:
        """Return the plot as a figure for print: a curve for each run, with its band."""
        series = []
        for curve in self.curves:
            y = floats(curve.y)
            # half the length of the interval, up and down from the curve
            half = floats(curve.half)
            has_band = not all(map(isnan, half))
            low: tuple[float, ...] = ()
            high: tuple[float, ...] = ()
            if has_band:
                low = tuple(a - h for a, h in zip(y, half, strict=True))
                high = tuple(a + h for a, h in zip(y, half, strict=True))
            series.append(
                Series(
                    curve.label,
                    x=floats(curve.x),
                    y=y,
                    low=low,
                    high=high,
                    kind="line" if len(y) > 1 else "points",
                    # Keys are numbers of runs, which count from 1.
                    number=curve.key - 1,
                )
            )
        x = FigureAxis(self.axes.x_label, whole=self.axes.integer_x)
        # Bands need an explanation only if there are any.
        reference = next(
            (overlaid.key for overlaid in self.curves if overlaid.reference), None
        )
        banded = reference is not None and any(drawn.low for drawn in series)
        text = tr(
            "band: 95 % interval of the paired difference to run {number}"
        ).format(number=reference)
        bands = text if banded else ""
        return CurvesFigure(
            name=DEFAULT_FILE_NAME,
            title=self.axes.title,
            caption="",
            x=x,
            y=FigureAxis(self.axes.title),
            series=tuple(series),
            bands=bands,
        )

    def numbers(self) -> Numbers:
        """Return a row for each point: its run, x, y, and the difference to the reference with its interval."""
        header = [
            "run",
            self.axes.x_label,
            self.axes.title,
            "difference to the reference",
            "low",
            "high",
        ]
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

    def readout(self, target: Point) -> list[Line]:
        """Return the lines of the box on a point: its value, its difference to the reference, the best point."""
        # The target is a curve's position and the position of a point on it.
        number, i = target
        curve = self.curves[number]
        size = self.frame().outer.size()
        line_style = curve.look(self.theme.colors)
        lines = [
            Line(
                curve.label,
                f"{curve.y[i]:.4f}",
                line_style.color,
                drawn_dash(self, line_style, size),
                bold=True,
            ),
            Line(curve.notes[i]),
        ]
        if curve.reference:
            lines.append(Line(tr("the reference")))
        elif np.isfinite(curve.half[i]):
            # the interval is the difference less and plus half its length
            ends = [
                signed(float(curve.difference[i] + s * curve.half[i]), 4)
                for s in (-1, 1)
            ]
            lines.append(
                Line(tr("to the reference"), signed(float(curve.difference[i]), 4))
            )
            lines.append(Line(tr("95 % interval (paired)"), " … ".join(ends)))
        best = self.best_point()
        if best is not None and best != target:
            number, i = best
            curve = self.curves[number]
            x = plain(float(curve.x[i]))
            label = tr("best: {name} at {x}").format(
                name=curve.name or curve.label, x=x
            )
            line_style = curve.look(self.theme.colors)
            lines.append(
                Line(
                    label,
                    f"{curve.y[i]:.4f}",
                    line_style.color,
                    drawn_dash(self, line_style, size),
                )
            )
        return lines

    def hit_test(self, point: QPointF) -> Point | None:
        """Return the point nearest to a pixel; None if all points are far away."""
        return self.frame().nearest(
            [(curve.x, curve.y) for curve in self.curves], point, _HIT_DISTANCE
        )

    def pick(self, point: Point) -> None:
        """Emit `picked` with the position of a curve, and of a point on it."""
        self.picked.emit(*point)

    def step(self, right: int, down: int) -> bool:
        """Move along a curve, or to the point of the next curve whose x is nearest.

        ``right`` and ``down`` are 1, 0 or -1, by the arrow key. The
        start is the inspected point, else the chosen one. Emit `picked`
        with the new point. Return whether there are curves.
        """
        if not self.curves:
            return False
        # Without a point to begin with, a step to the right leads to the first point.
        number, i = self.inspected or self.chosen or (0, -1 if right > 0 else 0)
        x = self.curves[number].x[max(i, 0)]
        number = max(0, min(len(self.curves) - 1, number + down))
        curve = self.curves[number]
        i = (
            int(np.abs(curve.x - x).argmin())
            if down
            else max(0, min(curve.x.size - 1, i + right))
        )
        self.picked.emit(number, i)
        return True

    def summary(self) -> str:
        """Return in words where each curve is greatest, and which point is chosen and which inspected."""
        sentences = []
        for curve in self.curves:
            i = int(np.nanargmax(curve.y))
            sentences.append(
                tr("{label}: best {y:.4f} at {x}").format(
                    label=curve.label, y=curve.y[i], x=plain(float(curve.x[i]))
                )
            )
        if self.chosen is not None:
            number, i = self.chosen
            curve = self.curves[number]
            sentences.append(
                tr("chosen: {label}, {notes}, {y:.4f}").format(
                    label=curve.label, notes=curve.notes[i], y=curve.y[i]
                )
            )
        if self.inspected is not None:
            number, i = self.inspected
            curve = self.curves[number]
            sentences.append(
                tr("inspected: {label}, {notes}, {y:.4f}").format(
                    label=curve.label, notes=curve.notes[i], y=curve.y[i]
                )
            )
        return describe(sentences)


def below_names(
    plot: OverlayPlot,
    size: QSizeF,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
) -> Frame:
    """Lay out a drawing that has the names of its curves above the plot area, if it is high enough.

    The result is the map from data, in the two ranges, to pixels of a
    drawing of ``size``.
    """
    names_height = _NAME_ROW_HEIGHT * _n_name_rows(plot, size.width())
    # In a low plot, the curves need the room of the names.
    if size.height() - names_height < plot.least_height:
        names_height = 0.0
    frame = plot.axes.frame(
        QSizeF(size.width(), size.height() - names_height), x_range, y_range
    )
    return replace(
        frame,
        area=frame.area.translated(0, names_height),
        outer=QRectF(QPointF(0, 0), size),
    )


def ends_width(plot: OverlayPlot, size: QSizeF) -> float:
    """Return the width of the names at the ends of the curves; 0 if names do not stand there.

    The width is in pixels, for a drawing of ``size``. Names do not
    stand at the ends if the plot has them elsewhere, or if they would
    be too wide or too many.
    """
    if not plot.names_at_ends or not plot.curves:
        return 0.0
    # Runs with one model have their names beside their points, inside the plot.
    metrics = QFontMetricsF(font(SMALL, bold=True))
    named = [curve for curve in plot.curves if not curve.is_point] or plot.curves
    width = (
        max(metrics.horizontalAdvance(_end_name(curve)) for curve in named) + 2 * _GAP
    )
    # The height of the plot area does not depend on the ranges.
    height = plot.axes.frame(size, (0.0, 1.0), (0.0, 1.0)).area.height()
    has_room = (
        width <= _MAX_END_NAMES_SHARE * size.width()
        and scaled(_END_NAME_HEIGHT) * len(plot.curves) <= height
    )
    return width if has_room else 0.0


def drawn_dash(
    plot: OverlayPlot, line_style: palettes.Category, size: QSizeF
) -> tuple[float, ...]:
    """Return the dash of a curve in a drawing of ``size``.

    A curve with its name at its end is solid, (), unless its color repeats.
    """
    return line_style.dash if line_style.repeats or not ends_width(plot, size) else ()


def _end_name(curve: OverlaidCurve) -> str:
    return curve.name or curve.label


def draw_end_names(
    plot: OverlayPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Write the names at the right, each at the height of its curve's end, none over another one.

    A curve without a value has its name at the bottom. Runs with a
    single point are left out.
    """
    lines = [number for number, curve in enumerate(plot.curves) if not curve.is_point]
    # The last finite value of each curve, as an array of one or no element.
    ends = {
        i: plot.curves[i].y[np.flatnonzero(np.isfinite(plot.curves[i].y))[-1:]]
        for i in lines
    }
    heights = {
        i: frame.y_px(float(y[0])) if y.size else frame.area.bottom()
        for i, y in ends.items()
    }
    order = sorted(heights, key=heights.__getitem__)
    row = float(scaled(_END_NAME_HEIGHT))
    low = frame.area.top() + row / 2
    high = frame.area.bottom() - row / 2
    # `apart` moves the heights so that the lines of text do not overlap
    middles = apart([min(max(heights[i], low), high) for i in order], row, low, high)
    # The curve under the mouse, or else the emphasised one, has a bold
    # name; `outstanding` is its position.
    left_edge = frame.area.right() + _GAP
    names_width = frame.outer.right() - left_edge
    for i, y in zip(order, middles, strict=True):
        curve = plot.curves[i]
        painter.setFont(font(SMALL, bold=i == plot.outstanding()))
        painter.setPen(curve.look(colors).color)
        text = painter.fontMetrics().elidedText(
            _end_name(curve), Qt.TextElideMode.ElideRight, int(names_width)
        )
        painter.drawText(QRectF(left_edge, y - row / 2, names_width, row), LEFT, text)


def draw_point_names(
    plot: OverlayPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Write the names of runs that have one model beside their markers, none over another one.

    Runs with more than one model have their names elsewhere.
    """
    numbers = [number for number, curve in enumerate(plot.curves) if curve.is_point]
    points = {
        i: frame.point(float(plot.curves[i].x[0]), float(plot.curves[i].y[0]))
        for i in numbers
    }
    order = sorted(
        (i for i in numbers if np.isfinite(plot.curves[i].y[0])),
        key=lambda i: points[i].y(),
    )
    row = float(scaled(_END_NAME_HEIGHT))
    low = frame.area.top() + row / 2
    high = frame.area.bottom() - row / 2
    # `apart` moves the heights so that the lines of text do not overlap
    middles = apart([min(max(points[i].y(), low), high) for i in order], row, low, high)
    # The names of the other runs, if there are any, are at the right of the plot area.
    has_end_names = len(numbers) < len(plot.curves)
    right_edge = frame.area.right() if has_end_names else frame.outer.right()
    for i, y in zip(order, middles, strict=True):
        curve = plot.curves[i]
        painter.setFont(font(SMALL, bold=True))
        text = _end_name(curve)
        width = painter.fontMetrics().horizontalAdvance(text) + 4.0
        # at the right of the marker, or at the left where there is no room
        left_edge = points[i].x() + _LONE_MODEL_RADIUS + 5
        if left_edge + width > right_edge:
            left_edge = max(
                frame.area.left(), points[i].x() - _LONE_MODEL_RADIUS - 5 - width
            )
        box = QRectF(left_edge, y - row / 2, width, row)
        ground = colors.q("panel")
        ground.setAlphaF(0.8)
        painter.fillRect(box, ground)  # curves run below
        painter.setPen(curve.look(colors).color)
        painter.drawText(box, LEFT, text)


def draw_models(
    plot: OverlayPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw a circle at the model that stands for its run in tables, on each curve with several points."""
    for curve in plot.curves:
        if (
            curve.model is not None
            and curve.x.size > 1
            and not np.isnan(curve.y[curve.model])
        ):
            painter.setPen(pen(curve.look(colors).color, 2.0))
            painter.setBrush(colors.q("panel"))
            point = frame.point(
                float(curve.x[curve.model]), float(curve.y[curve.model])
            )
            painter.drawEllipse(point, _MODEL_RADIUS, _MODEL_RADIUS)


def draw_hint(
    plot: OverlayPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Explain circles and band beside the title, if there is room.

    A circle is at the model that stands for its run in tables. A band
    is the interval of the difference to the reference. Around the
    reference itself, it is the interval of the difference to the
    reference's own circle.
    """
    parts = (
        [tr("○ model of the table")]
        if any(curve.model is not None for curve in plot.curves)
        else []
    )
    # position of the curve under the mouse, or else of the emphasised one
    outstanding = plot.outstanding()
    if plot.one_band and any(np.isfinite(curve.band).any() for curve in plot.curves):
        is_own = (
            outstanding is not None and plot.curves[outstanding].own_half is not None
        )
        text = tr("band: paired difference of the selected run")
        parts.append(
            tr("band: paired difference to its own ○ model") if is_own else text
        )
    painter.setFont(font(SMALL))
    metrics = painter.fontMetrics()
    # the pixels beside the title, less a gap of 40
    room = frame.outer.width() - metrics.horizontalAdvance(plot.axes.title) - 40
    while parts and metrics.horizontalAdvance(" · ".join(parts)) > room:
        parts.pop()  # first the explanation of the band
    painter.setPen(colors.q("muted"))
    box = QRectF(0, 0, frame.outer.width() - 4, 18)
    painter.drawText(box, RIGHT, " · ".join(parts))


def draw_intervals(
    plot: OverlayPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw the bands of the curves; if the plot has `one_band`, only that of the emphasised curve.

    A band goes from a curve up and down by half the interval of its
    difference to the reference.
    """
    with between_axes(painter, frame):
        for number, curve in enumerate(plot.curves):
            # `outstanding` is the position of the curve under the
            # mouse, or else of the emphasised one.
            is_finite = np.isfinite(curve.band)
            is_shown = not plot.one_band or number == plot.outstanding()
            if not is_finite.any() or not is_shown:
                continue
            color = curve.look(colors).color
            low = curve.y - curve.band
            high = curve.y + curve.band
            # A single band that fills much of the plot is lighter.
            color.setAlphaF(
                _band_opacity(
                    plot, number, _filled_share(frame, low[is_finite], high[is_finite])
                )
            )
            # A single point has no area, only a thick upright line.
            if np.count_nonzero(is_finite) == 1:
                painter.setPen(pen(color, 6.0))
                i = int(np.flatnonzero(is_finite)[0])
                ends = (
                    frame.point(float(curve.x[i]), float(y[i])) for y in (low, high)
                )
                painter.drawLine(*ends)
                continue
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            # Steps at the edge of so light an area are invisible, and
            # smooth ones take six times as long.
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            upper = frame.points(curve.x[is_finite], high[is_finite])
            lower = frame.points(curve.x[is_finite], low[is_finite])
            painter.drawPolygon(QPolygonF([*upper, *reversed(lower)]))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if plot.one_band:
                color.setAlphaF(_EDGE_OPACITY)
                painter.setPen(pen(color, 1.0))
                painter.drawPolyline(QPolygonF(upper))
                painter.drawPolyline(QPolygonF(lower))


def draw_overlaid(
    plot: OverlayPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw the curves of the runs; a run with a single model is a marker in a ring."""
    for number, curve in enumerate(plot.curves):
        line_style = curve.look(colors)
        if curve.is_point and not np.isnan(curve.y[0]):
            point = frame.point(float(curve.x[0]), float(curve.y[0]))
            painter.setPen(pen(line_style.color, 1.4))
            painter.setBrush(colors.q("panel"))
            painter.drawEllipse(point, _LONE_MODEL_RADIUS, _LONE_MODEL_RADIUS)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(line_style.color)
            draw_marker(painter, line_style.marker, point, _POINT_RADIUS + 1)
            continue
        # With names at the ends, the reference need not be bold, and
        # the other lines are thin.
        is_named = ends_width(plot, frame.outer.size()) > 0
        is_bold = _stands_out(plot, number) or (curve.reference and not is_named)
        width = 2.4 if is_bold else 1.7
        dash = drawn_dash(plot, line_style, frame.outer.size())
        painter.setPen(
            pen(line_style.color, width if not is_named or is_bold else 1.3, dash)
        )
        painter.setBrush(Qt.BrushStyle.NoBrush)
        is_finite = np.isfinite(curve.y)
        draw_line(painter, *frame.pixels(curve.x[is_finite], curve.y[is_finite]))


def draw_point(
    plot: OverlayPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw the point under the mouse, and rings around the chosen and the inspected one."""
    # Each point with the dash of its ring: None for no ring, () for a solid one.
    rings = (plot.under_mouse, None), (plot.chosen, ()), (plot.inspected, INSPECTED)
    for point, dash in rings:
        if point is None:
            continue
        number, i = point  # positions of the curve, and of the point on it
        curve = plot.curves[number]
        line_style = curve.look(colors)
        center = frame.point(float(curve.x[i]), float(curve.y[i]))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(line_style.color)
        painter.drawEllipse(center, _POINT_RADIUS, _POINT_RADIUS)
        if dash is not None:
            painter.setPen(pen(colors.q("text"), 1.6, dash))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(center, _RING_RADIUS, _RING_RADIUS)


def draw_names(
    plot: OverlayPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw the names of the curves: at their ends, else in rows above the plot area.

    After the last name in the rows follows how many names have no room.
    A plot of little height has no names above it.
    """
    if plot.names_at_ends:
        draw_hint(plot, painter, frame, colors)
    if ends_width(plot, frame.outer.size()):
        draw_end_names(plot, painter, frame, colors)
        draw_point_names(plot, painter, frame, colors)
        return
    painter.setFont(font(SMALL))
    width = frame.outer.width()
    if (
        frame.outer.height() - _NAME_ROW_HEIGHT * _n_name_rows(plot, width)
        < plot.least_height
    ):
        return
    # `rest_text` says how many names have no room, such as "and 3 more"
    boxes, rest_box, rest_text = shown_names(plot, width)
    painter.setPen(colors.q("muted"))
    painter.drawText(rest_box, LEFT, rest_text)
    for curve, box in boxes:
        color = colors.q("text" if curve.reference else "muted")
        marker = _POINT_RADIUS + 1 if curve.x.size == 1 else 0.0
        draw_entry(
            painter,
            box,
            curve.look(colors),
            _curve_name(curve),
            color,
            swatch=_SWATCH_WIDTH,
            gap=_GAP,
            width=2.4,
            marker=marker,
        )


def _stands_out(plot: OverlayPlot, number: int) -> bool:
    return number == plot.outstanding()


def _filled_share(frame: Frame, low: Floats, high: Floats) -> float:
    """Return the share of the height of the plot that a band fills, mean over its points, from 0 to 1.

    ``low`` and ``high`` are the ends of the band at each point.
    """
    area = frame.area
    tops = np.clip([frame.y_px(float(y)) for y in high], area.top(), area.bottom())
    bottoms = np.clip([frame.y_px(float(y)) for y in low], area.top(), area.bottom())
    return float(np.mean(bottoms - tops) / area.height()) if area.height() > 0 else 0.0


def _band_opacity(plot: OverlayPlot, number: int, filled: float) -> float:
    """Return the opacity of the band of a curve, from 0 to 1; ``number`` is the curve's position.

    If only one band is drawn, its opacity depends on ``filled``, the
    share of the plot's height that it fills: a large band is lighter.
    Of several bands, that of the curve that stands out is the most
    opaque.
    """
    if plot.one_band:
        return (
            _NARROW_BAND_OPACITY - (_NARROW_BAND_OPACITY - _LARGE_BAND_OPACITY) * filled
        )
    return 0.26 if _stands_out(plot, number) else 0.11


def _curve_name(curve: OverlaidCurve) -> str:
    return (
        tr("{label} (reference)").format(label=curve.label)
        if curve.reference
        else curve.label
    )


def _name_boxes(
    plot: OverlayPlot, width: float
) -> Iterator[tuple[OverlaidCurve, QRectF]]:
    """Yield each curve with the box of its name, from left to right and row by row, as many as fit."""
    metrics = QFontMetricsF(font(SMALL))
    room = width - 8  # the length of a row
    widths = [
        min(
            room,
            _SWATCH_WIDTH + _GAP + metrics.horizontalAdvance(_curve_name(curve)) + 2,
        )
        for curve in plot.curves
    ]
    # `flow` returns for each name its horizontal pixel and its row.
    for curve, name_width, (x, row) in zip(
        plot.curves, widths, flow(widths, room, _NAME_SPACING), strict=True
    ):
        if row < _MAX_NAME_ROWS:
            yield (
                curve,
                QRectF(
                    x,
                    _TITLE_HEIGHT + row * _NAME_ROW_HEIGHT,
                    name_width,
                    _NAME_ROW_HEIGHT,
                ),
            )


def shown_names(
    plot: OverlayPlot, width: float
) -> tuple[list[tuple[OverlaidCurve, QRectF]], QRectF, str]:
    """Return the curves that are named, each with its box, and a box and a text such as "and 3 more".

    The boxes lie in rows that are ``width`` pixels wide. Names are left
    out from the end until the text fits behind the last one. With all
    names shown, the text is "".
    """
    # The first boxes of names that have room in a few rows.
    boxes = list(_name_boxes(plot, width))
    text = ""
    while boxes and len(boxes) < len(plot.curves):
        text = tr("and {n} more").format(n=len(plot.curves) - len(boxes))
        text_width = QFontMetricsF(font(SMALL)).horizontalAdvance(text) + 2
        last_box = boxes[-1][1]
        # One name stays even if the text does not fit behind it. 8
        # pixels at the right stay free.
        ends_at = last_box.right() + _NAME_SPACING + text_width
        if ends_at <= width - 8 or len(boxes) == 1:
            return (
                boxes,
                QRectF(
                    last_box.right() + _NAME_SPACING,
                    last_box.top(),
                    text_width,
                    _NAME_ROW_HEIGHT,
                ),
                text,
            )
        boxes.pop()
    return boxes, QRectF(), text


def _n_name_rows(plot: OverlayPlot, width: float) -> int:
    tops = {box.top() for _, box in _name_boxes(plot, width)}
    return len(tops)
