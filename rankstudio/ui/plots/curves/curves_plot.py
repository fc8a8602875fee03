"""A family of curves over k = 1 … n: live, with a choice, a crosshair and exact values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from PySide6.QtCore import QPointF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QApplication

from rankstudio.ui.language import tr
from rankstudio.ui.plots.axes import Axes
from rankstudio.ui.plots.base import Numbers, Plot
from rankstudio.ui.plots.curves import curve_layers
from rankstudio.ui.plots.curves.curve_set import Band, CurveKind, CurveSet
from rankstudio.ui.plots.curves.curve_values import (
    MOST_LINES,
    band_lines,
    fitting_ranges,
    neighbour,
    numbers,
    reference_lines,
    spoken,
    value_lines,
    whole,
)
from rankstudio.ui.plots.curves.legend import draw_beside_key, draw_key, draw_reference_key, readable_pixels
from rankstudio.ui.plots.figure_values import curves_figure
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.plots.zoom import Zoom
from rankstudio.ui.style.theme import Theme

_REACH = 26.0
_DECADES = 100.0  # times the least value: from there on most of a linear axis shows flat lines
_FEWER = (MOST_LINES, 8, 5, 3)  # lines in the box, so that it leaves a small plot's cursor uncovered
_KEYS: dict[int, tuple[int, int]] = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, 1),
    Qt.Key.Key_Down: (0, -1),
}


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
        self.add_layer(partial(curve_layers.draw_band, self), 0.0)
        self.add_layer(partial(curve_layers.draw_reference, self), 0.5)
        self.add_layer(partial(curve_layers.draw_curves, self), 1.0)
        self.add_layer(partial(curve_layers.draw_cursor, self), 2.0, on_paper=False)
        self.add_layer(partial(curve_layers.draw_choice, self), 3.0)
        self.add_layer(partial(draw_key, self), 4.0, clipped=False, on_screen=False)
        self.add_layer(partial(curve_layers.draw_reference_name, self), 4.5, on_screen=False)
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
        self.band = self.choice = self.cursor = self.under_mouse = self._mouse = None
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

    def summary(self) -> str:
        """Say where the curves are best, and what is chosen."""
        return spoken(self.family, self.choice, self.x_name, self.axes.title, self.best_is_least, self.band)

    def chosen_key(self) -> Hashable | None:
        """Return the key of the chosen curve."""
        return self.choice[0] if self.choice else None

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

    def hover(self, at: QPointF | None) -> None:
        """Show the values at the mouse's k and tell linked plots."""
        frame = self.frame()
        xs = self.family.all_xs()
        if at is None or xs.size == 0 or not frame.area.adjusted(-8, -8, 8, 8).contains(at):
            if self.cursor is not None:
                self.cursor = self.under_mouse = self._mouse = None
                self._say()
                self.redraw()
                self.hovered.emit(None)
            return
        before, self._mouse = self.cursor, at
        self.cursor = float(xs[np.argmin(np.abs(xs - frame.x_at(at.x())))])
        near = self.family.nearest(frame, at.x(), at.y(), self.chosen_key())
        self.under_mouse = near[0] if near is not None and near[2] <= _REACH else None
        self._say()
        self.redraw()
        if self.cursor != before:
            self.hovered.emit(self.cursor)

    def click(self, at: QPointF) -> None:
        """Pick the nearest point, wherever in the plot area the click was."""
        frame = self.frame()
        if not frame.area.adjusted(-8, -8, 8, 8).contains(at):
            return
        near = self.family.nearest(frame, at.x(), at.y(), self.chosen_key())
        if near is None:
            return
        self._clicked = near[0], whole(near[1])
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
            self.zoom.setLimits(xMin=low, xMax=high, minXRange=min(2.0, high - low))
        self.zoom.fit(self.frame().area)
        self._say()
        self.redraw()
        self.zoomed.emit(self.ranges()[0] if self._zoomed else None)

    def _value_lines(self, x: float, most: int = MOST_LINES) -> list[Line]:
        """Return the box for a k."""
        colors, chosen = self.theme.colors, self.chosen_key()
        band = band_lines(self.band, x, colors)
        most = max(1, min(most, self.box.room_for() - len(band) - 2 - bool(self.reference)))
        return [
            Line(f"{self.x_name} = {x:g}", bold=True),
            *value_lines(self.family, x, colors, chosen, self.under_mouse, most),
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
        elif len(lines := self._value_lines(x)[:2]) == 2:
            at = QPointF(self.frame().x_px(x), self.frame().area.top() + 8)
            self.box.say(lines, at, readable_pixels(self), dispensable=True)
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
