"""A family of curves over k = 1 … n: live, with a choice, a crosshair and exact values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import isnan

import numpy as np
from PySide6.QtCore import QPointF, QSizeF, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QMenu

from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    FigureAxis,
    Level,
    Mark,
    Series,
)
from rankstudio.ui.language import tr
from rankstudio.ui.plots.axes import Axes
from rankstudio.ui.plots.base import DEFAULT_FILE_NAME, NEUTRAL, Numbers, Plot, floats
from rankstudio.ui.plots.curves.curve_layers import (
    draw_band,
    draw_beside_key,
    draw_choice,
    draw_cursor,
    draw_curves,
    draw_inspection,
    draw_reference,
    draw_reference_key,
    draw_smallest,
    readable_pixels,
)
from rankstudio.ui.plots.curves.curve_set import (
    MOST_LINES,
    Band,
    CurveSet,
    SmallestMark,
    fitting_ranges,
    lines_beside,
    neighbour,
    numbers,
    spoken,
    value_lines,
    whole,
)
from rankstudio.ui.plots.curves.zoom import Zoom
from rankstudio.ui.plots.layers import Frame
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.number_format import power
from rankstudio.ui.style.theme import Theme

DrawFamily = Callable[[CurveSet, QPainter, Frame, Colors], None]
# times the least value: from there on most of a linear axis shows flat lines
_MIN_LOGARITHMIC_SPREAD = 100.0
# lines in the box, so that it leaves a small plot's cursor uncovered
_LINE_LIMITS = (MOST_LINES, 8, 5, 3)


class CurvesPlot(Plot):
    """A plot of a family of curves over k, such as one of the measure for each λ; k counts features or rounds.

    Plots one below the other share the x axis, whose text stands below
    the last of them.

    A click or arrow keys pick a point of a curve; the owner of the plot
    then calls `inspect`. A double click or Enter confirms the point;
    the owner then calls `select`.

    Parameters
    ----------
    theme : Theme
    title : str
        What y measures: "validation MAP".

    Attributes
    ----------
    picked : Signal(object, object)
        Key and x of the point that was clicked or reached by the keys.
    zoomed : Signal(object)
        The x range the user zoomed into, None for everything; for
        `follow_zoom` of a linked plot.
    hovered : Signal(object)
        The x under the mouse, None when it leaves; for `set_cursor` of
        a linked plot.
    """

    picked = Signal(object, object)
    zoomed = Signal(object)
    hovered = Signal(object)

    def __init__(self, theme: Theme, title: str) -> None:
        # The curves by key, with the marks among them: the band of a
        # mean, the reference level, the chosen point, and the inspected
        # point, which the user examines before choosing it.
        self.family = CurveSet()
        # The plot above or below, whose area begins at the same
        # horizontal pixel; and the pixel at which the area of this plot
        # would begin without it.
        self.aligned: CurvesPlot | None = None
        self._left = 0.0
        # the x under the mouse, here or on a linked plot
        self.cursor: float | None = None
        self._mouse: QPointF | None = None  # its position on this plot
        self.x_name = "k"  # as it is written in the box with values
        # Lines of the box while the mouse is not on the plot: those of
        # the inspected point if there is one, otherwise those of the
        # chosen point.
        self._note: tuple[str, ...] = ()
        self._inspected_note: tuple[str, ...] = ()
        # the x range that the owner has set, before there are points
        self._fixed_x: tuple[float, float] | None = None
        # x and y range that fit the data, for a plot that is not zoomed
        self._data_ranges = ((0.0, 1.0), (0.0, 1.0))
        self.may_be_logarithmic = False  # whether the y axis may be
        self.best_is_least = False  # whether the best value is the least one
        self._zoomed = False  # whether the user has zoomed in
        self._show_all = False  # whether extreme points must be in sight, too
        # Whether the user wants a logarithmic y axis; None lets the values decide.
        self._wants_log: bool | None = None
        self.zoom = Zoom()
        super().__init__(theme, Axes(title, integer_x=True))
        self.addItem(self.zoom)
        self.zoom.style(theme.colors)
        self.zoom.sigRangeChangedManually.connect(self._on_zoom)
        # Layers with a higher number cover those with a lower one. A
        # layer of curves is drawn by a function that gets `family`; any
        # other layer by a method.
        self._add_curve_layer(draw_band, 0.0)
        self._add_curve_layer(draw_reference, 0.5)
        self._add_curve_layer(draw_curves, 1.0)
        self.add_layer(self._draw_cursor, 2.0)
        self._add_curve_layer(draw_smallest, 2.9)
        self._add_curve_layer(draw_choice, 3.0)
        self._add_curve_layer(draw_inspection, 3.1)
        self.add_layer(self._draw_reference_key, 4.5, clipped=False)
        self._add_curve_layer(draw_beside_key, 4.5)

    def _add_curve_layer(self, draw: DrawFamily, z: float) -> None:
        """Add a layer that draws something of the curves.

        ``draw`` gets the present family of curves, followed by the
        arguments of all layers: painter, frame and colors. Layers with
        a greater ``z`` lie above.
        """
        self.add_layer(lambda *how: draw(self.family, *how), z)

    def _draw_cursor(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        draw_cursor(self.family, painter, frame, colors, self.cursor, self.under_mouse)

    def _draw_reference_key(
        self, painter: QPainter, frame: Frame, colors: Colors
    ) -> None:
        draw_reference_key(self.family, painter, frame, colors, self.axes.title)

    # Data

    def set_family(
        self,
        keys: Sequence[Hashable],
        labels: Sequence[str],
        x_range: tuple[float, float] | None = None,
    ) -> None:
        """Start a new family of curves, without points.

        Parameters
        ----------
        keys : sequence of hashable
            A key for each curve, in the order of their colors.
        labels : sequence of str
            The label of each curve, such as "λ = 2⁶".
        x_range : tuple of float, optional
            The first and the last k that the curves will have, so that
            the axis stays as it is while they grow.
        """
        self.family = CurveSet(keys, labels)
        self._fixed_x = x_range
        self._wants_log = None
        self._zoomed = self._show_all = False
        self.clear()

    def append(self, key: Hashable, x: float, y: float) -> None:
        """Add one point to a curve."""
        curve = self.family[key]
        curve.xs.append(x)
        curve.ys.append(y)
        self.mark_dirty()

    def set_curve(
        self, key: Hashable, xs: Iterable[float], ys: Iterable[float]
    ) -> None:
        """Replace a curve's points; NaN leaves a gap."""
        curve = self.family[key]
        curve.xs = [float(x) for x in xs]
        curve.ys = [float(y) for y in ys]
        self.mark_dirty()

    def remove_curve(self, key: Hashable) -> None:
        """Remove a curve, and the chosen and the inspected point if they are on it."""
        self.family.curves.pop(key, None)
        if self.family.chosen_key == key:
            self.select(None)
        if self.family.inspection is not None and self.family.inspection[0] == key:
            self.family.inspection = None
        self.mark_dirty()

    def set_band(
        self,
        xs: Iterable[float],
        mean: Iterable[float],
        low: Iterable[float],
        high: Iterable[float],
    ) -> None:
        """Show a mean with an interval around it as a band; all arguments have one value for each x."""
        self.family.band = Band(
            *(np.array(list(part), float) for part in (xs, mean, low, high))
        )
        self.mark_dirty()

    def set_reference(self, y: float | None, label: str = "") -> None:
        """Draw a level to compare the curves with, and its name; None or NaN removes the level."""
        self.family.reference = None if y is None or isnan(y) else (y, label)
        self.mark_dirty()

    def clear(self) -> None:
        """Remove all points, the band and the choice; the family of curves, now empty, stays."""
        self.family.clear()
        self.cursor = self._mouse = None
        self._note = ()
        self.show_anew()

    # The choice

    def select(
        self, key: Hashable | None, x: float = 0.0, note: Sequence[str] = ()
    ) -> None:
        """Mark a point as chosen.

        Parameters
        ----------
        key : hashable or None
            Key of the curve of the point; None removes the mark.
        x : float
            The x of the point, such as its k.
        note : sequence of str
            Lines that are shown beside the point while the mouse is
            elsewhere; the first one is bold.
        """
        self.family.choice = _point_or_none(key, x)
        self._note = tuple(note)
        self.mark_dirty()

    def inspect(
        self, key: Hashable | None, x: float = 0.0, note: Sequence[str] = ()
    ) -> None:
        """Mark another point as inspected, by the key of its curve and its x; None removes the mark.

        ``note`` has lines of text, which are shown in place of the
        chosen point's note.
        """
        self.family.inspection = _point_or_none(key, x)
        self._inspected_note = tuple(note) if key is not None else ()
        self.mark_dirty()

    def set_smallest(self, mark: SmallestMark | None) -> None:
        """Mark the smallest model that is not significantly worse than the best; None removes the mark."""
        self.family.smallest = mark
        self.mark_dirty()

    def summary(self) -> str:
        """Return in words where the curves are best, and what is chosen."""
        return spoken(
            self.family, self.x_name, self.axes.title, least=self.best_is_least
        )

    def x_said(self, x: float) -> str:
        """Return an x in words, such as "k = 4" or "λ = 2⁵"; values of a parameter are written as powers."""
        return f"{self.x_name} = {power(x) if self.axes.grid else f'{x:g}'}"

    def set_cursor(self, x: float | None) -> None:
        """Show the line at the x under the mouse of a linked plot, with a value at it; None hides it."""
        self.under_mouse = None
        self.cursor = x
        self._mouse = None
        self._say()
        self.redraw()

    # Plot

    def is_empty(self) -> bool:
        """Return whether no curve and no band has a point."""
        return self.family.is_empty()

    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the shown ranges: all of the data, or those that the user zoomed into."""
        return self.zoom.shown_ranges() if self._zoomed else self._data_ranges

    def refresh(self) -> None:
        """Fit the ranges to the data, unless the user has zoomed, and the plot area to its tick labels.

        If the labels now need another width, the aligned plot is
        redrawn, too, as its area begins at the same pixel.
        """
        self.zoom.log_x = self.axes.log_x
        self._choose_scale()  # of the y axis
        self._data_ranges = fitting_ranges(
            self.family, self._fixed_x, all_points=self._show_all, log_y=self.axes.log_y
        )
        if not self._zoomed:
            self.zoom.show_ranges(*self._data_ranges)
        self.zoom.fit(self.frame().area)
        self._say()  # the box of values moves with the curves
        # where the plot area would begin without the aligned plot
        left_edge = Plot.frame_for(self, QSizeF(self.size())).area.left()
        if left_edge != self._left and self.aligned is not None:
            self.aligned.zoom.fit(self.aligned.frame().area)
            self.aligned.redraw()
        self._left = left_edge

    def figure(self) -> CurvesFigure:
        """Return the plot as a figure for print: its curves, the band, the level and the chosen point.

        The colors follow the order of the curves. The curves beside the
        chosen one, which show another measure, and the band have a
        neutral style.
        """
        family = self.family
        axes = self.axes
        band = self.family.band
        # `order` of a curve goes from 0 for the first one to 1 for the last one.
        keys = [key for key, curve in family.curves.items() if not curve.beside]
        last = max(len(keys) - 1, 1)
        series = []
        neutral = []
        for key, curve in family.curves.items():
            if not curve.xs:
                continue
            xs = floats(curve.xs)
            ys = floats(curve.ys)
            if curve.beside:
                neutral.append(Series(curve.label, xs, ys, number=NEUTRAL))
            else:
                number = keys.index(key)
                bold = (
                    family.choice is not None
                    and family.choice[0] == key
                    and len(keys) > 1
                )
                series.append(
                    Series(
                        curve.label,
                        xs,
                        ys,
                        number=number,
                        order=number / last,
                        bold=bold,
                    )
                )
        if band is not None:
            xs, mean, low, high = map(floats, (band.xs, band.mean, band.low, band.high))
            neutral.append(Series(band.name, xs, mean, low, high, number=NEUTRAL))
        steps = tr("features selected, k") if self.x_name == "k" else self.x_name
        return CurvesFigure(
            name=DEFAULT_FILE_NAME,
            title=axes.title,
            caption="",
            x=FigureAxis(steps, whole=axes.integer_x, logarithmic=axes.log_x),
            y=FigureAxis(axes.title, logarithmic=axes.log_y),
            series=(*series, *neutral),
            # the level of the family is a pair of its value and its name
            levels=()
            if family.reference is None
            else (Level(family.reference[1], family.reference[0]),),
            marks=tuple(self._marks()),
        )

    def _marks(self) -> Iterator[Mark]:
        """Yield the chosen point and the smallest model as marks of a figure, where there are such points."""
        family = self.family
        smallest = self.family.smallest
        if family.choice is not None and family.choice[0] in family:
            curve = family[family.choice[0]]
            x = family.choice[1]
            # such as "λ = 2⁶, k = 4"
            label = ", ".join(part for part in (curve.label, self.x_said(x)) if part)
            if not isnan(y := curve.value_at(x)):
                yield Mark(
                    tr("chosen: {label}").format(label=label), float(x), float(y)
                )
        if smallest is not None and not isnan(y := family.smallest_value()):
            yield Mark(smallest.in_words(self.x_name), float(smallest.x), float(y))

    def numbers(self) -> Numbers:
        """Return the points as a table: a row for each x, a column for each curve, and those of the band."""
        return numbers(self.family, self.x_name)

    def frame_for(self, size: QSizeF) -> Frame:
        """Lay out a drawing; leave at least as much room for the labels of y as the aligned plot needs."""
        frame = super().frame_for(size)
        if self.aligned is None or self.aligned.isHidden() or self.aligned.is_empty():
            return frame
        # how much farther to the right the aligned plot would begin by itself
        extra = (
            Plot.frame_for(self.aligned, QSizeF(self.aligned.size())).area.left()
            - frame.area.left()
        )
        return replace(frame, area=frame.area.adjusted(max(0.0, extra), 0, 0, 0))

    @Slot()
    def toggle_scale(self) -> None:
        """Make the y axis logarithmic, or linear again; with values that are not above 0 it stays linear."""
        self._wants_log = not self.axes.log_y
        self.mark_dirty()

    def add_actions(self, menu: QMenu) -> None:
        """Add to the menu of the plot: to show everything, and a logarithmic y axis."""
        menu.addSeparator()
        menu.addAction(tr("Show all")).triggered.connect(self.reset_zoom)
        scale = menu.addAction(tr("Logarithmic axis\tL"))
        scale.setCheckable(True)
        scale.setChecked(self.axes.log_y)
        scale.triggered.connect(self.toggle_scale)

    @Slot(object)
    def follow_zoom(self, x_range: tuple[float, float] | None) -> None:
        """Show the x range that a linked plot was zoomed into, None for everything; emits no signal."""
        if x_range is None:
            self._zoomed = False
            self.flush()  # which shows all data
        elif not self.is_empty():
            # the y range stays
            self.zoom.show_ranges(x_range, self.ranges()[1])
            self._zoomed = True
            self.zoom.fit(self.frame().area)
            self.redraw()

    @Slot()
    def reset_zoom(self) -> None:
        """End the zoom: show the range without extreme points or, if it is shown already, all points."""
        self._show_all = not self._zoomed and not self._show_all
        self._zoomed = False
        self.flush()
        self.zoomed.emit(None)

    @Slot()
    def restyle(self) -> None:
        """Draw the plot, and the rectangle of the zoom, in the present colors of the theme."""
        self.zoom.style(self.theme.colors)
        super().restyle()
        self._say()

    def hit_test(self, point: QPointF) -> tuple[Hashable, float] | None:
        """Return the key of the curve and the x of the point that a click at a pixel means.

        The nearest point is meant, however far it is. Return None for a
        pixel beside the plot area.
        """
        frame = self.frame()
        if not frame.area.adjusted(-8, -8, 8, 8).contains(point):
            return None
        return self.family.pointed(frame, point.x(), point.y())

    def hover(self, point: QPointF | None) -> None:
        """Show the values at the mouse's x, first that of the curve which a click would choose.

        Linked plots show their values at the same x; the signal
        `hovered` has it.
        """
        target = None if point is None else self.hit_test(point)
        if point is None or target is None:
            if self.cursor is not None:
                self.cursor = self.under_mouse = self._mouse = None
                self._say()
                self.redraw()
                self.hovered.emit(None)
            return
        before = self.cursor  # an x
        self._mouse = point
        self.under_mouse, self.cursor = target  # key of a curve, and x
        self._say()
        self.redraw()
        if self.cursor != before:
            self.hovered.emit(self.cursor)

    def pick(self, target: tuple[Hashable, float]) -> None:
        """Emit `picked` for a point, given as the key of its curve and its x."""
        self.picked.emit(target[0], whole(target[1]))

    # Qt

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to an end of the curve; "0" shows all, "+" and "-" zoom, "l" changes the scale."""
        if event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End) and not self.is_empty():
            # As many steps as there are points lead to the first one,
            # and more steps than any curve has points to the last one.
            self.step(
                -len(self.family.all_xs()) if event.key() == Qt.Key.Key_Home else 10**6,
                0,
            )
        elif event.text() == "l":
            self.toggle_scale()
        elif event.text() == "0":
            self.reset_zoom()
        elif event.text() in ("+", "-"):
            self.zoom.scaleBy((0.8, 0.8) if event.text() == "+" else (1.25, 1.25))
            self._on_zoom()
        else:
            super().keyPressEvent(event)
            return
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Choose the point, in a plot of models; beside the plot area, undo the zoom."""
        if self.confirms and self.hit_test(event.position()) is not None:
            super().mouseDoubleClickEvent(event)
            return
        self._pressed = None  # so that the second release is no further click
        self.reset_zoom()
        event.accept()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Fit the zoomable area to the new size."""
        super().resizeEvent(event)
        if hasattr(self, "axes"):  # the constructor of the view resizes it, too
            self.zoom.fit(self.frame().area)
            self._say()

    # Inside

    def _choose_scale(self) -> None:
        """Use the scale that the user chose; else a logarithmic one if curves would be flat lines.

        Another scale ends the zoom.
        """
        # The spread is the ratio of the greatest value to the least, 0
        # if one is not above 0: then there is no logarithmic scale.
        spans_decades = (
            self.may_be_logarithmic and self.family.spread() >= _MIN_LOGARITHMIC_SPREAD
        )
        wants_log = spans_decades if self._wants_log is None else self._wants_log
        log = wants_log and self.family.spread() > 0
        if log != self.axes.log_y:
            self.axes = replace(self.axes, log_y=log)
            self.zoom.log_y = log
            self._zoomed = False

    def _on_zoom(self, *_: object) -> None:
        """Follow the ranges that the user zoomed into, but not beyond the data.

        Emit `zoomed` with the x range, or None if everything is shown.
        """
        # Nearly the whole x range of the data is no zoom.
        (x0, x1), _y = self.zoom.shown_ranges()
        (low, high), y_range = self._data_ranges
        if x1 - x0 >= (high - low) * 0.999:
            self._zoomed = False
            self.zoom.show_ranges((low, high), y_range)
        else:
            self._zoomed = True
            self.zoom.limit_x(low, high)
        self.zoom.fit(self.frame().area)
        self._say()
        self.redraw()
        self.zoomed.emit(self.ranges()[0] if self._zoomed else None)

    def _value_lines(self, x: float, max_lines: int = MOST_LINES) -> list[Line]:
        """Return the lines of the box at an x: those of the curves, then those of band and level.

        ``max_lines`` limits the lines of curves, as does the height of
        the plot.
        """
        colors = self.theme.colors
        beside_lines = lines_beside(self.family, x, colors)
        # `room_for` is the number of lines that the box has room for;
        # one of them says how many curves have no line.
        max_lines = max(1, min(max_lines, self.box.room_for() - len(beside_lines) - 1))
        return (
            value_lines(
                self.family, x, colors, self.under_mouse, self.x_said(x), max_lines
            )
            + beside_lines
        )

    def _say(self) -> None:
        """Show in the box the values at the cursor, which is on this plot or a linked one; else the note."""
        # Three cases: no cursor; the mouse on this plot, with a box of
        # as many lines as leave its point uncovered; or the cursor of a
        # linked plot, with one line. A `dispensable` box is hidden
        # where it could only cover the point.
        x = self.cursor
        position = self._mouse
        if x is None:
            self._say_note()
        elif position is not None:
            candidates = (self._value_lines(x, n_lines) for n_lines in _LINE_LIMITS)
            lines = next(
                (lines for lines in candidates if self.box.fits(lines, position)),
                self._value_lines(x, 1),
            )
            chosen = self.family.points(self.family.chosen_key, one_curve=True)
            self.box.say(lines, position, self.frame().pixels(*chosen))
        # A line without a value only says what x is.
        elif (line := self._value_lines(x)[0]).value:
            position = QPointF(self.frame().x_px(x), self.frame().area.top() + 8)
            self.box.say(
                [line],
                position,
                readable_pixels(self.family, self.frame()),
                dispensable=True,
            )
        else:  # no curve has a value at the cursor of the linked plot
            self._say_note()

    def _say_note(self) -> None:
        """Show the note about the inspected point, else about the chosen one, or nothing."""
        # After zooming, the point may be out of sight; then it has no
        # note. Eight pixels beside the plot area still count as in
        # sight. A `dispensable` box is hidden where it could only cover
        # the point.
        family = self.family
        frame = self.frame()
        point = family.inspection or family.choice
        note = self._inspected_note if family.inspection is not None else self._note
        if point is None or not note:
            self.box.hide_readout()
            return
        key, x = point
        y = family[key].value_at(x) if key in family else float("nan")
        if not np.isfinite(y) or not frame.area.adjusted(-8, -8, 8, 8).contains(
            frame.point(x, y)
        ):
            self.box.hide_readout()
            return
        lines = [Line(text, bold=i == 0) for i, text in enumerate(note)]
        self.box.say(
            lines, frame.point(x, y), readable_pixels(family, frame), dispensable=True
        )

    def step(self, right: int, down: int) -> bool:
        """Move along a curve by an arrow key; up leads to the next curve, down to the previous one.

        ``right`` and ``down`` are 1, 0 or -1. Emit `picked` with the
        new point. Return whether there is a point.
        """
        target = neighbour(self.family, right, -down)
        if target is not None:
            self.picked.emit(target[0], whole(target[1]))
        return target is not None


def _point_or_none(key: Hashable | None, x: float) -> tuple[Hashable, float] | None:
    return None if key is None else (key, x)
