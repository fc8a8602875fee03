"""A family of curves over k = 1 … n: live, with a choice, a crosshair and exact values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from math import isnan

import numpy as np
from pyqtgraph.functions import arrayToQPath, arrayToQPolygonF
from PySide6.QtCore import QPointF, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPaintEngine, QPainter, QResizeEvent
from PySide6.QtWidgets import QApplication

from rankstudio.engine.arrays import Bools, Floats
from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    FigureAxis,
    Level,
    Mark,
    Series,
)
from rankstudio.ui.language import tr
from rankstudio.ui.plots.axes import Axes
from rankstudio.ui.plots.base import Numbers, Plot
from rankstudio.ui.plots.curves.curve_set import Band, Curve, CurveKind, CurveSet
from rankstudio.ui.plots.curves.curve_values import (
    MOST_LINES,
    REFERENCE_DASH,
    band_lines,
    fitting_ranges,
    neighbour,
    numbers,
    reference_lines,
    spoken,
    value_lines,
    whole,
)
from rankstudio.ui.plots.curves.smallest_mark import SmallestMark
from rankstudio.ui.plots.figure_values import NAME, NEUTRAL, floats
from rankstudio.ui.plots.frame import Frame
from rankstudio.ui.plots.layers import pen
from rankstudio.ui.plots.readout import Line, Pixels
from rankstudio.ui.plots.zoom import Zoom
from rankstudio.ui.style.colors import Colors, mix
from rankstudio.ui.style.fonts import SMALL, TINY, font
from rankstudio.ui.style.number_format import power
from rankstudio.ui.style.theme import Theme

_DECADES = 100.0  # times the least value: from there on most of a linear axis shows flat lines
_FEWER = (MOST_LINES, 8, 5, 3)  # lines in the box, so that it leaves a small plot's cursor uncovered
_KEYS: dict[int, tuple[int, int]] = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, 1),
    Qt.Key.Key_Down: (0, -1),
}
# One pixel wide and opaque is Qt's fast lane: a twentieth of the time of a wider or translucent line. So
# the curves that step back are mixed with the ground, not made translucent.
_CHOSEN, _PLAIN, _FADED = 2.6, 1.5, 1.0
_FADE = 0.38
# Points this far apart, in pixels, are drawn as points; closer ones would only thicken the line.
_APART = 13.0
_LONE = 3.4  # radius of a curve's only point, of which there is no line
_CROWDED = 4  # points to a pixel column, from which on it is drawn by its extremes
_SWATCH = 16.0
_HEIGHTS = 7  # at which there is looked for room
_OWN = 5  # times as bad it is to hide the curve that is named
_BESIDE_SWATCH = 24.0  # of a curve whose dashes are long
_GAP = 6.0
_GRAIN = 4.0  # pixels between those of a ground that count as taken
_STEP = 9.0
_MIDDLE = 9.0
# A family this large is shown as a strip from its first to its last colour.
_STRIP_FROM = 5
_LEAST_NAME = 70.0  # pixels
KeyEntry = tuple[str, QColor, tuple[float, ...]]


def curves_figure(plot: CurvesPlot) -> CurvesFigure:
    """Return a family of curves with band, reference and choice."""
    family, axes = plot.family, plot.axes
    keys = [key for key in family.keys if family[key].xs]
    every = [key for key in family.keys if not family[key].beside]
    last = max(len(every) - 1, 1)
    series = [
        Series(
            family[key].label,
            floats(family[key].xs),
            floats(family[key].ys),
            number=every.index(key),
            order=every.index(key) / last if family.kind == "ordered" else None,
        )
        for key in keys
        if key in every
    ]
    series += [
        Series(family[key].label, floats(family[key].xs), floats(family[key].ys), number=NEUTRAL)
        for key in keys
        if key not in every
    ]
    if plot.band is not None:
        band = plot.band
        ends = floats(band.low), floats(band.high)
        series.append(Series(band.name, floats(band.xs), floats(band.mean), *ends, number=NEUTRAL))
    levels = () if plot.reference is None else (Level(plot.reference[1], plot.reference[0]),)
    return CurvesFigure(
        NAME,
        axes.title,
        "",
        FigureAxis(axes.x_label or _step_title(plot.x_name), whole=axes.integer_x, logarithmic=axes.log_x),
        FigureAxis(axes.title, logarithmic=axes.log_y),
        tuple(series),
        levels,
        (*_choice(plot), *(plot.smallest.on_paper(family, plot.x_name) if plot.smallest else ())),
    )


def _step_title(name: str) -> str:
    """Return what steps are, from what they are called in the box with values."""
    return tr("features selected, k") if name == "k" else name


def _choice(plot: CurvesPlot) -> tuple[Mark, ...]:
    if plot.choice is None or plot.choice[0] not in plot.family:
        return ()
    key, x = plot.choice
    curve = plot.family[key]
    y = curve.value_at(x)
    label = ", ".join(part for part in (curve.label, plot.x_said(x)) if part)
    return () if isnan(y) else (Mark(tr("chosen: {label}").format(label=label), float(x), float(y)),)


class CurvesPlot(Plot):
    """Curves over an integer k, one per key.

    A click or arrow keys pick a point of a curve; whoever owns the plot answers with `select`.

    Parameters
    ----------
    theme : Theme
    title : str
        What y measures: "validation MAP".
    x_label : str
        What x measures; empty to leave it to a plot beside this one.

    Attributes
    ----------
    picked : Signal(object, object)
        Key and x of the point that was clicked or reached by the keys.
    zoomed : Signal(object)
        The x range the user zoomed into, None for everything; for `follow_zoom` of a linked plot.
    hovered : Signal(object)
        The x under the mouse, None when it leaves; for `set_cursor` of a linked plot.
    """

    picked = Signal(object, object)
    zoomed = Signal(object)
    hovered = Signal(object)

    def __init__(self, theme: Theme, title: str, x_label: str = tr("features selected, k")) -> None:
        self.family = CurveSet()
        self.band: Band | None = None
        self.choice: tuple[Hashable, float] | None = None
        self.smallest: SmallestMark | None = None
        self.reference: tuple[float, str] | None = None
        self.cursor: float | None = None
        self._mouse: QPointF | None = None  # where it is on this plot
        self.x_name = "k"  # as it is written in the box with values
        self._note: tuple[str, ...] = ()
        self._fixed_x: tuple[float, float] | None = None
        self._auto = ((0.0, 1.0), (0.0, 1.0))
        self.may_be_logarithmic = self.best_is_least = self._zoomed = self._show_all = False
        self._scale: bool | None = None  # logarithmic or not; None lets the values decide
        self.zoom = Zoom()
        super().__init__(theme, Axes(title, x_label, integer_x=True))
        self._clicked: tuple[Hashable, float] | None = None
        self._second = QTimer(self, singleShot=True)
        self._second.timeout.connect(self._pick_clicked)
        self.addItem(self.zoom)
        self.zoom.style(theme.colors)
        self.zoom.sigRangeChangedManually.connect(self._on_zoom)
        self.add_layer(partial(draw_band, self), 0.0)
        self.add_layer(partial(draw_reference, self), 0.5)
        self.add_layer(partial(draw_curves, self), 1.0)
        self.add_layer(partial(draw_cursor, self), 2.0, on_paper=False)
        self.add_layer(partial(draw_smallest, self), 2.9)
        self.add_layer(partial(draw_choice, self), 3.0)
        self.add_layer(partial(draw_key, self), 4.0, clipped=False, on_screen=False)
        self.add_layer(partial(draw_reference_name, self), 4.5, on_screen=False)
        self.add_layer(partial(draw_reference_key, self), 4.5, clipped=False, on_paper=False)
        self.add_layer(partial(draw_beside_key, self), 4.5)

    # Data

    def set_family(
        self,
        keys: Sequence[Hashable],
        labels: Sequence[str],
        x_range: tuple[float, float] | None = None,
        kind: CurveKind = "ordered",
    ) -> None:
        """Start a new family of curves, without points.

        Parameters
        ----------
        keys : sequence of hashable
            One a curve, in order: indices of λ, folds, runs.
        labels : sequence of str
            As long as ``keys``: "λ = 2⁶".
        x_range : tuple of float, optional
            First and last k to come, so that the axis stands still while the curves grow.
        kind : {"ordered", "category"}
            Viridis for an order (λ), Okabe-Ito with dashes for categories (runs, folds).
        """
        self.family = CurveSet(keys, labels, kind)
        self._fixed_x, self._scale = x_range, None
        self._zoomed = self._show_all = False
        self.clear()

    def append(self, key: Hashable, x: float, y: float) -> None:
        """Add one point to a curve."""
        curve = self.family[key]
        curve.xs.append(x)
        curve.ys.append(y)
        self.mark_dirty()

    def set_curve(self, key: Hashable, xs: Iterable[float], ys: Iterable[float]) -> None:
        """Replace a curve's points; NaN leaves a gap."""
        curve = self.family[key]
        curve.xs = [float(x) for x in xs]
        curve.ys = [float(y) for y in ys]
        self.mark_dirty()

    def remove_curve(self, key: Hashable) -> None:
        """Take a curve away, and the choice where that is on it."""
        self.family.curves.pop(key, None)
        if self.chosen_key() == key:
            self.select(None)
        self.mark_dirty()

    def set_band(
        self, xs: Iterable[float], mean: Iterable[float], low: Iterable[float], high: Iterable[float]
    ) -> None:
        """Show a mean with an interval around it. All of one length."""
        self.band = Band.of(xs, mean, low, high)
        self.mark_dirty()

    def set_reference(self, y: float | None, label: str = "") -> None:
        """Draw a level to compare the curves with, named; None takes it away."""
        self.reference = None if y is None else (y, label)
        self.mark_dirty()

    def clear(self) -> None:
        """Take points, band and choice away; the family stays."""
        self.family.clear()
        self.band = self.choice = self.smallest = self.cursor = self.under_mouse = self._mouse = None
        self._note = ()
        self.box.silence()
        self.mark_dirty()

    # The choice

    def select(self, key: Hashable | None, x: float = 0.0, note: Sequence[str] = ()) -> None:
        """Mark a point as chosen.

        Parameters
        ----------
        key : hashable or None
            Its curve; None takes the choice away.
        x : float
            Its k.
        note : sequence of str
            Shown beside it while the mouse is elsewhere, the first line bold.
        """
        self.choice = None if key is None else (key, x)
        self._note = tuple(note)
        self.mark_dirty()

    def set_smallest(self, mark: SmallestMark | None) -> None:
        """Mark the smallest model that is not significantly worse than the best; None takes the mark away."""
        self.smallest = mark
        self.mark_dirty()

    def summary(self) -> str:
        """Say where the curves are best, and what is chosen."""
        marked = [self.smallest.in_words(self.x_name)] if self.smallest else []
        about = self.x_name, self.axes.title, self.best_is_least, self.band
        return spoken(self.family, self.choice, *about, marked)

    def chosen_key(self) -> Hashable | None:
        """Return the key of the chosen curve."""
        return self.choice[0] if self.choice else None

    def x_said(self, x: float) -> str:
        """Return in words where something is: "k = 4", "λ = 2⁵"."""
        return f"{self.x_name} = {power(x) if self.axes.grid else f'{x:g}'}"

    def set_cursor(self, x: float | None) -> None:
        """Show the crosshair of a linked plot here, with the chosen curve's value."""
        self.under_mouse, self.cursor, self._mouse = None, x, None
        self._say()
        self.redraw()

    # Plot

    def is_empty(self) -> bool:
        """Tell whether no curve and no band has a point."""
        return self.family.is_empty() and self.band is None

    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return what is shown: all of it, or what the user zoomed into."""
        return self.zoom.shown_ranges() if self._zoomed else self._auto

    def refresh(self) -> None:
        """Fit the ranges to the data."""
        level = self.reference[0] if self.reference else None
        self.zoom.log_x = self.axes.log_x
        self._choose_scale()
        self._auto = fitting_ranges(
            self.family, self.band, self._fixed_x, self.chosen_key(), self._show_all, level, self.axes.log_y
        )
        if not self._zoomed:
            self.zoom.show_ranges(*self._auto)
        self.zoom.fit(self.frame().area)
        self._say()

    figure = curves_figure

    def numbers(self) -> Numbers:
        """Return one row per k and one column per curve; the band's three at the end."""
        return numbers(self.family, self.band, self.x_name)

    @Slot()
    def toggle_scale(self) -> None:
        """Go from a linear axis to a logarithmic one, or back; values that are not above 0 stay linear."""
        self._scale = not self.axes.log_y
        self.mark_dirty()

    @Slot(object)
    def follow_zoom(self, x_range: tuple[float, float] | None) -> None:
        """Show the x range that a linked plot was zoomed into; tells nobody."""
        if x_range is None:
            self._zoomed = False
            self.flush()
        elif not self.is_empty():
            self.zoom.show_ranges(x_range, self.ranges()[1])
            self._zoomed = True
            self.zoom.fit(self.frame().area)
            self.redraw()

    @Slot()
    def reset_zoom(self) -> None:
        """Show the readable range again; from there, all points, extremes included."""
        self._show_all = not self._zoomed and not self._show_all
        self._zoomed = False
        self.flush()
        self.zoomed.emit(None)

    @Slot()
    def restyle(self) -> None:
        """Take on the theme's colours."""
        self.zoom.style(self.theme.colors)
        super().restyle()
        self._say()

    def hit_test(self, at: QPointF) -> tuple[Hashable, float] | None:
        """Return key and x of the point that the mouse means, wherever in the plot area it is."""
        frame = self.frame()
        if not frame.area.adjusted(-8, -8, 8, 8).contains(at):
            return None
        return self.family.pointed(frame, at.x(), at.y(), self.chosen_key())

    def hover(self, at: QPointF | None) -> None:
        """Show the values at the mouse's k, first what a click would choose, and tell linked plots."""
        found = None if at is None else self.hit_test(at)
        if at is None or found is None:
            if self.cursor is not None:
                self.cursor = self.under_mouse = self._mouse = None
                self._say()
                self.redraw()
                self.hovered.emit(None)
            return
        before, self._mouse = self.cursor, at
        self.under_mouse, self.cursor = found
        self._say()
        self.redraw()
        if self.cursor != before:
            self.hovered.emit(self.cursor)

    def click(self, at: QPointF) -> None:
        """Pick the point that the box names."""
        found = self.hit_test(at)
        if found is None:
            return
        self._clicked = found[0], whole(found[1])
        if self._zoomed:  # a second click would show all again, and is not to change the model before
            self._second.start(QApplication.doubleClickInterval())
        else:
            self._pick_clicked()

    @Slot()
    def _pick_clicked(self) -> None:
        if self._clicked is not None:
            self.picked.emit(*self._clicked)

    # Qt

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the choice by the arrow keys; "0" shows all, "+" and "-" zoom, "l" changes the scale."""
        move = _KEYS.get(event.key())
        if move is not None and not self.family.is_empty():
            self._step(*move)
        elif event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End) and not self.family.is_empty():
            self._step(-len(self.family.all_xs()) if event.key() == Qt.Key.Key_Home else 10**6, 0)
        elif event.text() == "l":
            self.toggle_scale()
        elif event.text() == "0":
            self.reset_zoom()
        elif event.text() in ("+", "-"):
            self.zoom.scaleBy((0.8, 0.8) if event.text() == "+" else (1.25, 1.25))
            self._on_zoom()
        else:
            event.ignore()
            return
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Undo the zoom."""
        self._pressed = None
        self._second.stop()
        self.reset_zoom()
        event.accept()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Fit the zoomable area to the new size."""
        super().resizeEvent(event)
        if hasattr(self, "axes"):
            self.zoom.fit(self.frame().area)
            self._say()

    # Inside

    def _choose_scale(self) -> None:
        """Take the scale that the user chose, else a logarithmic one where curves would be flat lines."""
        wide = self.may_be_logarithmic and self.family.spread() >= _DECADES
        log = (wide if self._scale is None else self._scale) and self.family.spread() > 0
        if log != self.axes.log_y:
            self.axes, self.zoom.log_y, self._zoomed = replace(self.axes, log_y=log), log, False

    def _on_zoom(self, *_: object) -> None:
        """Keep what the user zoomed into, no further out than the data reach."""
        (x0, x1), _y = self.zoom.shown_ranges()
        (low, high), auto_y = self._auto
        if x1 - x0 >= (high - low) * 0.999:
            self._zoomed = False
            self.zoom.show_ranges((low, high), auto_y)
        else:
            self._zoomed = True
            self.zoom.limit_x(low, high)
        self.zoom.fit(self.frame().area)
        self._say()
        self.redraw()
        self.zoomed.emit(self.ranges()[0] if self._zoomed else None)

    def _value_lines(self, x: float, most: int = MOST_LINES) -> list[Line]:
        """Return the box for a k."""
        colors, chosen = self.theme.colors, self.chosen_key()
        band = band_lines(self.band, x, colors) + (self.smallest.lines_at(x) if self.smallest else [])
        most = max(1, min(most, self.box.room_for() - len(band) - 1 - bool(self.reference)))
        return [
            *value_lines(self.family, x, colors, self.under_mouse, chosen, self.x_said(x), most),
            *band,
            *reference_lines(self.reference, colors),
        ]

    def _say(self) -> None:
        """Say in the box what the cursor is at by now, here or on a linked plot; else the note."""
        x, at = self.cursor, self._mouse
        if x is None:
            self._say_note()
        elif at is not None:
            told = (self._value_lines(x, most) for most in _FEWER)
            lines = next((lines for lines in told if self.box.fits(lines, at)), self._value_lines(x, 1))
            chosen = self.family.points(self.chosen_key(), alone=True)
            self.box.say(lines, at, self.frame().pixels(*chosen))
        elif (line := self._value_lines(x)[0]).value:
            at = QPointF(self.frame().x_px(x), self.frame().area.top() + 8)
            self.box.say([line], at, readable_pixels(self), dispensable=True)
        else:
            self._say_note()

    def _say_note(self) -> None:
        """Show the note about the choice, or nothing."""
        if self.choice is None or not self._note:
            self.box.silence()
            return
        key, x = self.choice
        y = self.family[key].value_at(x) if key in self.family else float("nan")
        frame = self.frame()
        if not np.isfinite(y) or not frame.area.adjusted(-8, -8, 8, 8).contains(frame.point(x, y)):
            self.box.silence()
            return
        lines = [Line(text, bold=i == 0) for i, text in enumerate(self._note)]
        self.box.say(lines, frame.point(x, y), readable_pixels(self), dispensable=True)

    def _step(self, dx: int, dy: int) -> None:
        """Move the choice along its curve, or to the next curve."""
        to = neighbour(self.family, self.choice, dx, dy)
        if to is not None:
            self.picked.emit(to[0], whole(to[1]))


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


def draw_smallest(plot: CurvesPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw the mark of the smallest model not significantly worse, with its name unless it is chosen."""
    mark = plot.smallest
    if mark is not None:
        mark.draw(plot.family, painter, frame, colors)
        if plot.choice != (mark.key, mark.x):
            mark.draw_name(plot.family, painter, frame, colors)


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


def draw_key(plot: CurvesPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw which curve is which: a strip of colours for a large ordered family, else a line for each."""
    family = plot.family
    strokes = family.strokes(colors)
    drawn = [key for key in family.given if family[key].xs]
    entries: list[KeyEntry] = [(family[key].label, *strokes[key]) for key in drawn]
    if len(entries) < 2:
        return
    painter.setFont(font(TINY))
    if family.kind == "ordered" and len(entries) >= _STRIP_FROM:
        _draw_strip(plot, painter, frame, colors, entries)
    else:
        _draw_entries(plot, painter, frame, colors, entries)


def draw_reference_key(plot: CurvesPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Write beside the title what the dotted line is: without its name where there is no room for that.

    The box beside the mouse has it in full.
    """
    if plot.reference is None or reference_pixel(plot, frame) is None:
        return
    painter.setFont(font(TINY))
    title = QFontMetricsF(font()).horizontalAdvance(plot.axes.title)
    room = frame.outer.width() - title - _SWATCH - 4 * _GAP
    if room < _LEAST_NAME:
        return
    metrics, text = painter.fontMetrics(), plot.reference[1]
    if metrics.horizontalAdvance(text) > room:
        text = text.partition(":")[0]
    text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(room))
    left = _write(painter, colors, text, frame.outer.right()) - _GAP
    painter.setPen(pen(colors.q("muted"), 1.2, REFERENCE_DASH))
    painter.drawLine(QPointF(left - _SWATCH, _MIDDLE), QPointF(left, _MIDDLE))


def draw_beside_key(plot: CurvesPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Write at an edge what the curve beside the chosen one is, in two lines at most."""
    found = _beside_key(plot, frame)
    if found is None:
        return
    key, lines, ground = found
    color, dash = plot.family.strokes(colors)[key]
    painter.setFont(font(TINY))
    height = ground.height() / len(lines)
    painter.fillRect(ground, colors.q("panel", 0.82))
    painter.setPen(pen(color, 1.5, dash))
    left, middle = ground.left() + _GAP, ground.top() + height / 2
    painter.drawLine(QPointF(left, middle), QPointF(left + _BESIDE_SWATCH, middle))
    painter.setPen(colors.q("muted"))
    for at, line in enumerate(lines):
        box = QRectF(left + _BESIDE_SWATCH + _GAP, ground.top() + at * height, ground.width(), height)
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, line)


def readable_pixels(plot: CurvesPlot) -> Pixels:
    """Return the pixels that the note about the choice had better not hide: all points, and that writing.

    The chosen curve counts five times.
    """
    frame = plot.frame()
    points = frame.pixels(*plot.family.points(plot.chosen_key(), alone=False))
    found = _beside_key(plot, frame)
    grounds = [found[2]] if found is not None else []
    room = plot.smallest.room(plot.family, frame) if plot.smallest is not None else None
    for ground in (*grounds, *filter(None, (room,))):
        spans = (ground.left(), ground.right(), _GRAIN), (ground.top(), ground.bottom(), _GRAIN)
        x, y = np.meshgrid(*(np.arange(*span) for span in spans))
        points = np.append(points[0], x), np.append(points[1], y)
    return points


def _beside_key(plot: CurvesPlot, frame: Frame) -> tuple[Hashable, list[str], QRectF] | None:
    """Return the curve beside the chosen one, the lines that name it, and where there is room for them."""
    found = [(key, curve) for key, curve in plot.family.curves.items() if curve.beside and curve.xs]
    metrics = QFontMetricsF(font(TINY))
    room = frame.area.width() - _BESIDE_SWATCH - 4 * _GAP
    if not found or room < _LEAST_NAME:
        return None
    key, curve = found[0]
    lines = [curve.label] if metrics.horizontalAdvance(curve.label) <= room else curve.label.split(", ", 1)
    lines = [metrics.elidedText(line, Qt.TextElideMode.ElideRight, int(room)) for line in lines]
    width = max(map(metrics.horizontalAdvance, lines)) + _BESIDE_SWATCH + 3 * _GAP
    return key, lines, _free_room(plot, frame, width, metrics.height() * len(lines))


def _free_room(plot: CurvesPlot, frame: Frame, width: float, height: float) -> QRectF:
    """Return a place at an edge that hides least of the curves, the lowest at the right where several do."""
    area = frame.area
    tops = np.linspace(area.bottom() - 4 - height, area.top() + 4, _HEIGHTS).tolist()
    rooms = [QRectF(x, y, width, height) for y in tops for x in (area.right() - width, area.left() + 4)]
    hidden = [0] * len(rooms)
    for curve in plot.family.curves.values():
        values = curve.arrays()
        seen = np.isfinite(values[1])
        if not seen.any():
            continue
        px, py = frame.pixels(values[0][seen], values[1][seen])
        for at, room in enumerate(rooms):
            columns = np.arange(max(room.left(), px.min()), min(room.right(), px.max()) + 1)
            drawn = np.interp(columns, px, py)
            inside = (drawn > room.top() - 3) & (drawn < room.bottom() + 3)
            hidden[at] += int(inside.sum()) * (_OWN if curve.beside else 1)
    return rooms[hidden.index(min(hidden))]


def _draw_strip(
    plot: CurvesPlot, painter: QPainter, frame: Frame, colors: Colors, entries: list[KeyEntry]
) -> None:
    """Draw the colours in their order, between the names of the first and the last."""
    chosen = plot.chosen_key()
    note = tr("thick: {label}").format(label=plot.family[chosen].label) if chosen is not None else ""
    right = frame.outer.right()
    if note:
        right = _write(painter, colors, note, right) - 2 * _GAP
    right = _write(painter, colors, entries[-1][0], right) - _GAP
    left = right - _STEP * len(entries)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for i, (_, color, _dash) in enumerate(entries):
        painter.fillRect(QRectF(left + i * _STEP, _MIDDLE - 4, _STEP, 8), color)
    painter.restore()
    _write(painter, colors, entries[0][0], left - _GAP)


def _draw_entries(
    plot: CurvesPlot, painter: QPainter, frame: Frame, colors: Colors, entries: list[KeyEntry]
) -> None:
    """Draw a line and a name for each curve, from right to left, as many as the title leaves room for."""
    title = QFontMetricsF(font()).horizontalAdvance(plot.axes.title)
    right = frame.outer.right()
    for label, color, dash in reversed(entries):
        width = QFontMetricsF(font(TINY)).horizontalAdvance(label) + _SWATCH + _GAP
        if right - width < title + 2 * _GAP:
            return
        left = _write(painter, colors, label, right) - _GAP
        painter.setPen(pen(color, 2.0, dash))
        painter.drawLine(QPointF(left - _SWATCH, _MIDDLE), QPointF(left, _MIDDLE))
        right = left - _SWATCH - 2 * _GAP


def _write(painter: QPainter, colors: Colors, text: str, right: float) -> float:
    """Write a text that ends at a pixel; return where it begins."""
    left = right - painter.fontMetrics().horizontalAdvance(text) - 1
    painter.setPen(colors.q("muted"))
    flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    painter.drawText(QRectF(left, 0, right - left + 1, 2 * _MIDDLE), flags, text)
    return left
