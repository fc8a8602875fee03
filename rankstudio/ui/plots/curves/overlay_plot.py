"""Curves of several runs over each other, each with a band that says where it differs from the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from PySide6.QtCore import QPointF, QSizeF, Qt, Signal
from PySide6.QtGui import QKeyEvent

from rankstudio.engine.arrays import Floats
from rankstudio.ui.language import tr
from rankstudio.ui.plots.axes import Axes
from rankstudio.ui.plots.base import Numbers, Plot, describe
from rankstudio.ui.plots.curves import overlay_layers as layers
from rankstudio.ui.plots.figure_values import overlay_figure
from rankstudio.ui.plots.frame import Frame, padded, readable_range
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.number_format import plain, signed
from rankstudio.ui.style.theme import Theme

_REACH = 22.0  # pixels from a point in which the mouse means it
_MOVES = {
    int(Qt.Key.Key_Left): (-1, 0),
    int(Qt.Key.Key_Right): (1, 0),
    int(Qt.Key.Key_Up): (0, -1),
    int(Qt.Key.Key_Down): (0, 1),
}

Point = tuple[int, int]  # position of a curve, and of a point on it


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
        super().__init__(
            theme, Axes(tr("validation measure"), tr("features of the model, k"), integer_x=True)
        )
        self.add_layer(partial(layers.draw_intervals, self), 0.0)
        self.add_layer(partial(layers.draw_overlaid, self), 1.0)
        self.add_layer(partial(layers.draw_point, self), 2.0)
        self.add_layer(partial(layers.draw_names, self), 3.0, clipped=False)

    def set_curves(self, curves: Sequence[OverlaidCurve]) -> None:
        """Show other curves."""
        self.curves = tuple(curves)
        self.chosen = self.under_mouse = None
        self.box.silence()
        self.mark_dirty()

    def select(self, point: Point | None) -> None:
        """Ring the current choice; None takes the ring away."""
        if point != self.chosen:
            self.chosen = point
            self.mark_dirty()

    # Plot

    def frame_for(self, size: QSizeF) -> Frame:
        """Leave room above for the names."""
        return layers.below_names(self, size, *self.ranges())

    def is_empty(self) -> bool:
        """Tell whether there is no curve."""
        return not self.curves

    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the range of all curves, and that in which their better part is seen well."""
        if not self.curves:
            return (0.0, 1.0), (0.0, 1.0)
        x = np.concatenate([curve.x for curve in self.curves])
        y = np.concatenate([curve.y for curve in self.curves])
        x_range = (float(x.min()), float(x.max())) if x.min() < x.max() else padded(float(x[0]), float(x[0]))
        return padded(*x_range, 0.02), readable_range(y, np.empty(0))

    figure = overlay_figure

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
        """Say what a point is."""
        curve, i = self.curves[found[0]], found[1]
        color, dash, _ = curve.look(self.theme.colors)
        lines = [
            Line(curve.label, color=color, dash=dash, bold=True),
            Line(curve.notes[i]),
            Line(self.axes.title, f"{curve.y[i]:.4f}"),
        ]
        if curve.reference:
            lines.append(Line(tr("the reference")))
        elif np.isfinite(curve.half[i]):
            ends = [signed(float(curve.difference[i] + s * curve.half[i]), 4) for s in (-1, 1)]
            lines.append(Line(tr("to the reference"), signed(float(curve.difference[i]), 4)))
            lines.append(Line(tr("95 % paired"), " … ".join(ends)))
        return lines

    def hit_test(self, at: QPointF) -> Point | None:
        """Return the point nearest to a pixel; None far from any."""
        best, least = None, _REACH
        frame = self.frame()
        for number, curve in enumerate(self.curves):
            px, py = frame.pixels(curve.x, curve.y)
            far = np.hypot(px - at.x(), py - at.y())
            i = int(far.argmin())
            if far[i] < least:
                best, least = (number, i), float(far[i])
        return best

    def click(self, at: QPointF) -> None:
        """Pick the point under the mouse."""
        found = self.hit_test(at)
        if found is not None:
            self.picked.emit(*found)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move along a curve, or to the next one, with the arrow keys."""
        move = _MOVES.get(event.key())
        if move is None or not self.curves:
            event.ignore()
            return
        number, i = self.chosen or (0, -1 if move[0] > 0 else 0)
        x = self.curves[number].x[max(i, 0)]
        number = max(0, min(len(self.curves) - 1, number + move[1]))
        curve = self.curves[number]
        i = int(np.abs(curve.x - x).argmin()) if move[1] else max(0, min(curve.x.size - 1, i + move[0]))
        self.picked.emit(number, i)
        event.accept()

    def summary(self) -> str:
        """Say where each curve is best, and what is chosen."""
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
        return describe(said)
