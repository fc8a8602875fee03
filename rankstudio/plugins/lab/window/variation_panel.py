"""Bias and standard deviation of the estimators where one quantity is varied."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.figures.values import CurvesFigure, FigureAxis, Level, Series
from rankstudio.engine.support.number_format import fixed, signed
from rankstudio.plugins.lab.window.estimators import EstimatorText, text_of
from rankstudio.plugins.lab.window.sentences import QUANTITIES, value_text, variation_sentence
from rankstudio.ui.language import tr
from rankstudio.ui.plots.axes import Axes, Ticks
from rankstudio.ui.plots.base import CellValue, Numbers, floats
from rankstudio.ui.plots.curves.overlay_plot import OverlaidCurve, OverlayPlot
from rankstudio.ui.plots.layers import Frame, draw_marker, padded, pen
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import WrappedLabel

if TYPE_CHECKING:
    from rankstudio.plugins.lab.simulation.deviations import VariedDeviations

_N_STANDARD_ERRORS = 2.0  # standard errors to both sides
_LOGARITHMIC_RATIO = 8.0  # ratio of the greatest value to the least from which equal lengths are equal ratios
_MIN_TICK_DISTANCE = 26.0  # pixels between two ticks
_MARKER = 3.4
_DASH = (3.0, 2.0)  # of variants
_EMPTY: Floats = np.zeros(0)


class VariationPanel(Panel):
    """Two plots side by side, and a sentence.

    Parameters
    ----------
    theme : Theme
    name : str
        With which the names of its parts begin, for the program and its tests.
    texts : mapping of str to EstimatorText
        What is said of each estimator, by its name.
    paired : bool
        Whether every other estimator is a variant of the one before it, and looks like that.

    Attributes
    ----------
    texts : mapping of str to EstimatorText
        What is said of those that are shown next.
    """

    def __init__(
        self, theme: Theme, name: str, texts: Mapping[str, EstimatorText], *, paired: bool = False
    ) -> None:
        super().__init__(
            theme, tr("Effect of a parameter"), padding=0, name=f"{name}-variation", keeps_title=True
        )
        self.texts = texts
        self._paired = paired
        self.bias = self._plot(theme, f"{name}-bias-plot", tr("mean deviation"), zero=True)
        self.bias.placeholder = tr(
            "After the distributions, the parameter is varied and the bias drawn here."
        )
        self.sd = self._plot(theme, f"{name}-sd-plot", tr("standard deviation"), zero=False)
        self.sd.placeholder = tr("The standard deviations of the estimates appear here.")
        self.sentence = named(WrappedLabel(keeps=False), f"{name}-variation-sentence")
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
        plots = fill(QHBoxLayout(), (self.bias, 1), (self.sd, 1), margins=(12, 8, 8, 4), spacing=16)
        below = fill(QVBoxLayout(), self.sentence, margins=(12, 4, 12, 8))
        fill(self.body, fill(QVBoxLayout(), (plots, 1), below, spacing=0), spacing=0)

    def set_figure_caption(self, caption: str) -> None:
        """Set the caption of the plots as figures."""
        self.bias.caption = self.sd.caption = caption

    def show_values(self, varied: VariedDeviations | None, caption: str = "") -> None:
        """Show the results so far; None shows nothing."""
        self.set_caption(caption)
        if varied is None or not varied.summaries:
            for plot in (self.bias, self.sd):
                plot.show_values("", (), str, ())
            self.sentence.setText("")
            return
        labels = [text_of(self.texts, name).label for name in varied.summaries[0].estimators]
        written = partial(value_text, varied.quantity)
        bias = varied.bias
        half = _N_STANDARD_ERRORS * varied.standard_error
        sd = varied.sd
        curves = [(label, bias[:, index], half[:, index]) for index, label in enumerate(labels)]
        self.bias.show_values(QUANTITIES[varied.quantity], varied.asked, written, curves)
        bare = [(label, sd[:, index], np.zeros(0)) for index, label in enumerate(labels)]
        self.sd.show_values(QUANTITIES[varied.quantity], varied.asked, written, bare)
        self.sentence.setText(variation_sentence(varied, self.texts))

    def _plot(self, theme: Theme, name: str, title: str, *, zero: bool) -> VariationPlot:
        plot = named(VariationPlot(theme, title, zero=zero, paired=self._paired), name)
        plot.picked.connect(lambda curve, point: plot.select((curve, point)))
        return plot


@dataclass(frozen=True)
class ListedAxes(Axes):
    """Axes with ticks at given values.

    Attributes
    ----------
    listed : tuple of (float, str)
        Where they are, and what is written there.
    """

    listed: tuple[tuple[float, str], ...] = ()

    def y_ticks(self, y_range: tuple[float, float], height: float) -> Ticks:
        """Return positions and texts of ticks: at least two, however low the plot is."""
        ticks = super().y_ticks(y_range, height)
        for closer in (1.5, 2.0, 3.0):
            if len(ticks) > 1:
                break
            ticks = super().y_ticks(y_range, closer * height)
        return ticks

    def x_ticks(self, x_range: tuple[float, float], width: float) -> Ticks:
        """Return as many of the given ticks as have room, from the first on."""
        scale = width / (x_range[1] - x_range[0])
        ticks: Ticks = []
        for value, text in self.listed:
            if not ticks or (value - ticks[-1][0]) * scale >= _MIN_TICK_DISTANCE:
                ticks.append((value, text))
        return ticks


class VariationPlot(OverlayPlot):
    """One curve an estimator, with its points, over the values of a quantity.

    Parameters
    ----------
    theme : Theme
    title : str
        What y measures.
    zero : bool
        Whether y is a deviation, with a line at zero and its sign.
    paired : bool
        Whether every other curve is a variant of the one before it: in its colour, and dashed.
    """

    least_height = 200.0  # in less room the names of the distributions beside it do

    def __init__(self, theme: Theme, title: str, *, zero: bool, paired: bool = False) -> None:
        self._zero = zero
        self._paired = paired
        self._values: tuple[float, ...] = ()
        self._asked: tuple[float, ...] = ()
        self.quantity = ""
        self.caption = ""  # of the figure
        super().__init__(theme)
        self.set_axes(ListedAxes(title, ""))
        self.add_layer(partial(_draw_points, self), 1.5)
        self.add_layer(self._draw_zero, -0.5)

    def show_values(
        self,
        quantity: str,
        x_values: Sequence[float],
        written: Callable[[float], str],
        curves: Sequence[tuple[str, Floats, Floats]],
    ) -> None:
        """Show one curve an estimator.

        Parameters
        ----------
        quantity : str
            What x measures.
        x_values : sequence of float
            All its values, ascending, of which the curves have the first.
        written : callable
            Returns a value as it is written below the axis.
        curves : sequence of (str, ndarray, ndarray)
            Name, values and half the widths of intervals, empty for none.
        """
        chosen = self.chosen
        self._asked = tuple(x_values)
        self.quantity = quantity
        all_x = [self._x(value) for value in self._asked]
        n = len(curves[0][1]) if curves else 0
        self._values = self._asked[:n]
        notes = tuple(f"{quantity} = {written(value)}" for value in self._values)
        self.set_curves(
            [
                OverlaidCurve(
                    number // 2 + 1 if self._paired else number + 1,
                    label,
                    np.array(all_x[:n]),
                    ys,
                    notes,
                    np.full(n, np.nan),
                    half if half.size else np.full(n, np.nan),
                    dash=((), _DASH)[number % 2] if self._paired else None,
                )
                for number, (label, ys, half) in enumerate(curves if n else ())
            ]
        )
        listed = tuple(zip(all_x, map(written, self._asked), strict=True))
        self.set_axes(ListedAxes(self.axes.title, quantity, listed=listed))
        self.select(chosen if chosen is not None and n and chosen[1] < n else None)

    def is_empty(self) -> bool:
        """Return whether no value was simulated."""
        return not self._values

    def spans(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the range of all values that are asked for, and that of the curves, with zero."""
        x = [self._x(value) for value in self._asked]
        ends = [curve.y + side * np.nan_to_num(curve.half) for curve in self.curves for side in (-1, 1)]
        y = np.concatenate([[0.0], *ends])
        y = y[np.isfinite(y)]
        low, high = padded(float(y.min()), float(y.max()))
        return padded(min(x), max(x), 0.04), (low if self._zero else 0.0, high)

    def numbers(self) -> Numbers:
        """Return one row a point."""
        rows: list[list[CellValue]] = [
            [curve.label, float(value), float(curve.y[i]), float(curve.half[i])]
            for curve in self.curves
            for i, value in enumerate(self._values)
        ]
        return ["estimator", self.quantity, self.axes.title, tr("± 2 standard errors")], rows

    def figure(self) -> CurvesFigure:
        """Return the curves over the values themselves."""
        x = floats(self._values)
        series = []
        for curve in self.curves:
            y = curve.y
            half = curve.half
            ends = (floats(y - half), floats(y + half)) if np.isfinite(half).all() else ((), ())
            number = curve.key - 1
            dashes = curve.dash
            series.append(Series(curve.label, x, floats(y), *ends, number=number, dashes=dashes))
        levels = (Level(tr("the truth"), 0.0),) if self._zero else ()
        across = FigureAxis(self.quantity, logarithmic=self._logarithmic)
        title = self.axes.title
        return CurvesFigure("figure", title, self.caption, across, FigureAxis(title), tuple(series), levels)

    def readout(self, target: tuple[int, int]) -> list[Line]:
        """Describe a point."""
        curve = self.curves[target[0]]
        i = target[1]
        look = curve.look(self.theme.colors)
        lines = [
            Line(curve.label, self._number(float(curve.y[i])), look.color, look.dash, bold=True),
            Line(curve.notes[i]),
        ]
        if np.isfinite(curve.half[i]):
            lines.append(Line(tr("± 2 standard errors"), fixed(float(curve.half[i]), 4)))
        return lines

    def summary(self) -> str:
        """Return where each curve begins and ends."""
        sentences = [
            tr("{label}: {first} at {low}, {last} at {high}").format(
                label=curve.label,
                first=self._number(float(curve.y[0])),
                low=curve.notes[0],
                last=self._number(float(curve.y[-1])),
                high=curve.notes[-1],
            )
            for curve in self.curves
            if curve.x.size
        ]
        return ". ".join([self.axes.title, *sentences])

    @property
    def _logarithmic(self) -> bool:
        return min(self._asked, default=0.0) > 0 and max(self._asked) >= _LOGARITHMIC_RATIO * min(self._asked)

    def _x(self, value: float) -> float:
        return float(np.log2(value)) if self._logarithmic else float(value)

    def _number(self, value: float) -> str:
        return signed(value, 4) if self._zero else fixed(value, 4)

    def _draw_zero(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the line of an estimate that is right on average."""
        if self._zero and not self.is_empty():
            y = round(frame.y_px(0.0)) + 0.5
            painter.setPen(pen(colors.q("text"), 1.2))
            painter.drawLine(QPointF(frame.area.left(), y), QPointF(frame.area.right(), y))


def _draw_points(plot: VariationPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw the points: between them the curves say nothing."""
    painter.setPen(Qt.PenStyle.NoPen)
    for curve in plot.curves:
        look = curve.look(colors)
        painter.setBrush(look.color)
        px, py = frame.pixels(curve.x, curve.y)
        for x, y in zip(px.tolist(), py.tolist(), strict=True):
            if np.isfinite(y):
                draw_marker(painter, look.marker, QPointF(x, y), _MARKER)
