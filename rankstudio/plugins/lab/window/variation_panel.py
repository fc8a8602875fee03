"""The panel of the estimators' bias and standard deviation over the values of a varied quantity."""

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
from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    FigureAxis,
    Level,
    Series,
)
from rankstudio.engine.support.number_format import fixed, signed
from rankstudio.plugins.lab.window.estimators import EstimatorText, text_of
from rankstudio.plugins.lab.window.sentences import (
    QUANTITIES,
    value_text,
    variation_sentence,
)
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

# standard errors on both sides of a bias that its interval covers
_N_STANDARD_ERRORS = 2.0
# ratio of the greatest to the smallest value from which the axis is logarithmic
_LOGARITHMIC_RATIO = 8.0
_MIN_TICK_DISTANCE = 26.0  # pixels between two ticks
_MARKER = 3.4  # pixels: radius of a point
_DASH = (3.0, 2.0)  # dashes of the curves of variants
_EMPTY: Floats = np.zeros(0)


class VariationPanel(Panel):
    """Two plots with the bias and the standard deviation of each estimator, and a sentence below them.

    Parameters
    ----------
    theme : Theme
    name : str
        Beginning of the object names of its parts.
    texts : mapping of str to EstimatorText
        Texts on each estimator, by its name.
    paired : bool
        Whether every other estimator is a variant of the one before it,
        and drawn as such.

    Attributes
    ----------
    texts : mapping of str to EstimatorText
        Texts on the estimators that are shown next.
    """

    def __init__(
        self,
        theme: Theme,
        name: str,
        texts: Mapping[str, EstimatorText],
        *,
        paired: bool = False,
    ) -> None:
        """Make the panel: two plots side by side, and the sentence below.

        ``texts`` are by estimator.
        """
        super().__init__(
            theme,
            tr("Effect of a parameter"),
            padding=0,
            name=f"{name}-variation",
            keeps_title=True,
        )
        self.texts = texts
        self._paired = paired
        self.bias = self._plot(
            theme, f"{name}-bias-plot", tr("mean deviation"), zero=True
        )
        self.bias.placeholder = tr(
            "After the distributions, the parameter is varied and the bias drawn here."
        )
        self.sd = self._plot(
            theme, f"{name}-sd-plot", tr("standard deviation"), zero=False
        )
        self.sd.placeholder = tr(
            "The standard deviations of the estimates appear here."
        )
        self.sentence = named(WrappedLabel(keeps=False), f"{name}-variation-sentence")
        self.sentence.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
        )
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
        plots = fill(
            QHBoxLayout(),
            (self.bias, 1),
            (self.sd, 1),
            margins=(12, 8, 8, 4),
            spacing=16,
        )
        below = fill(QVBoxLayout(), self.sentence, margins=(12, 4, 12, 8))
        fill(self.body, fill(QVBoxLayout(), (plots, 1), below, spacing=0), spacing=0)

    def set_figure_caption(self, caption: str) -> None:
        """Set the caption of the figures of both plots."""
        self.bias.caption = self.sd.caption = caption

    def show_values(self, varied: VariedDeviations | None, caption: str = "") -> None:
        """Show curves of bias and standard deviation so far, over the values of the varied quantity.

        If ``varied`` is None, the plots are empty. ``caption`` is that
        of the panel.
        """
        self.set_caption(caption)
        if varied is None or not varied.summaries:
            for plot in (self.bias, self.sd):
                plot.show_values("", (), str, ())
            self.sentence.setText("")
            return
        labels = [
            text_of(self.texts, name).label for name in varied.summaries[0].estimators
        ]
        written = partial(value_text, varied.quantity)
        bias = varied.bias
        half = _N_STANDARD_ERRORS * varied.standard_error
        sd = varied.sd
        bias_curves = [
            (label, bias[:, index], half[:, index])
            for index, label in enumerate(labels)
        ]
        self.bias.show_values(
            QUANTITIES[varied.quantity], varied.all_values, written, bias_curves
        )

        # standard deviations have no intervals
        sd_curves = [
            (label, sd[:, index], np.zeros(0)) for index, label in enumerate(labels)
        ]
        self.sd.show_values(
            QUANTITIES[varied.quantity], varied.all_values, written, sd_curves
        )
        self.sentence.setText(variation_sentence(varied, self.texts))

    def _plot(
        self, theme: Theme, name: str, title: str, *, zero: bool
    ) -> VariationPlot:
        """Return an empty plot in which the user can choose a point by a click."""
        plot = named(VariationPlot(theme, title, zero=zero, paired=self._paired), name)
        plot.picked.connect(lambda curve, point: plot.select((curve, point)))
        return plot


@dataclass(frozen=True)
class ListedAxes(Axes):
    """Axes with x ticks at given values.

    Attributes
    ----------
    listed : tuple of (float, str)
        Position and text of each tick.
    """

    listed: tuple[tuple[float, str], ...] = ()

    def y_ticks(self, y_range: tuple[float, float], height: float) -> Ticks:
        """Return positions and texts of ticks, closer than usual if a low plot would have fewer than two."""
        ticks = super().y_ticks(y_range, height)

        # A higher plot has more ticks: pretend that it is higher until there are two.
        for density in (1.5, 2.0, 3.0):
            if len(ticks) > 1:
                break
            ticks = super().y_ticks(y_range, density * height)
        return ticks

    def x_ticks(self, x_range: tuple[float, float], width: float) -> Ticks:
        """Return ticks at the listed values, without those too close to the preceding one.

        ``width`` is that of the axis in pixels.
        """
        scale = width / (x_range[1] - x_range[0])
        ticks: Ticks = []
        for value, text in self.listed:
            if not ticks or (value - ticks[-1][0]) * scale >= _MIN_TICK_DISTANCE:
                ticks.append((value, text))
        return ticks


class VariationPlot(OverlayPlot):
    """A plot with a curve for each estimator over the values of a quantity, with points at these values.

    Parameters
    ----------
    theme : Theme
    title : str
        Quantity on the y axis.
    zero : bool
        Whether y is a deviation, shown with its sign and a line at zero.
    paired : bool
        Whether every other curve is a variant of the one before it,
        drawn dashed in the same color.
    """

    # a lower plot has no names of curves: those of the distributions are enough
    least_height = 200.0

    def __init__(
        self, theme: Theme, title: str, *, zero: bool, paired: bool = False
    ) -> None:
        """Begin without curves; ``title`` is that of the y axis."""
        # Whether there is a line at zero; and whether every second
        # estimator is a variant of the one before.
        self._zero = zero
        self._paired = paired

        # The values of the quantity with results; and all of them, also
        # those that are not simulated yet.
        self._values: tuple[float, ...] = ()
        self._all_values: tuple[float, ...] = ()
        self.quantity = ""
        self.caption = ""  # of the figure
        super().__init__(theme)
        self.set_axes(ListedAxes(title, ""))

        # Layers with higher numbers are drawn above those with lower ones.
        self.add_layer(partial(_draw_points, self), 1.5)
        self.add_layer(self._draw_zero, -0.5)

    def show_values(
        self,
        quantity: str,
        x_values: Sequence[float],
        written: Callable[[float], str],
        curves: Sequence[tuple[str, Floats, Floats]],
    ) -> None:
        """Show a curve for each estimator over the values of a quantity.

        Parameters
        ----------
        quantity : str
            Quantity on the x axis.
        x_values : sequence of float
            All values of the quantity, ascending; the curves have the first ones.
        written : callable
            Returns the text of a value for the axis.
        curves : sequence of (str, ndarray, ndarray)
            Name, values, and half widths of intervals, which are empty
            without intervals.
        """
        chosen = self.chosen  # curve and point that the user has chosen, or None
        self._all_values = tuple(x_values)
        self.quantity = quantity

        # Positions on the x axis, which may be logarithms; n values have results.
        all_x = [self._x(value) for value in self._all_values]
        n = len(curves[0][1]) if curves else 0
        self._values = self._all_values[:n]
        notes = tuple(f"{quantity} = {written(value)}" for value in self._values)

        # The key of a curve determines its color: both curves of a pair
        # have the same one.
        self.set_curves(
            [
                OverlaidCurve(
                    key=number // 2 + 1 if self._paired else number + 1,
                    label=label,
                    x=np.array(all_x[:n]),
                    y=ys,
                    notes=notes,
                    difference=np.full(n, np.nan),  # curves are not compared
                    half=half if half.size else np.full(n, np.nan),
                    dash=((), _DASH)[number % 2] if self._paired else None,
                )
                for number, (label, ys, half) in enumerate(curves if n else ())
            ]
        )
        listed = tuple(zip(all_x, map(written, self._all_values), strict=True))
        self.set_axes(ListedAxes(self.axes.title, quantity, listed=listed))
        if chosen is not None:  # the chosen point stays chosen if it is shown
            _, point = chosen
            chosen = chosen if n and point < n else None
        self.select(chosen)

    def is_empty(self) -> bool:
        """Return whether no value was simulated."""
        return not self._values

    def spans(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the range of the x axis, with all values, and of the y axis, with zero.

        The y axis also has the ends of the intervals.
        """
        x = [self._x(value) for value in self._all_values]
        ends = [
            curve.y + side * np.nan_to_num(curve.half)
            for curve in self.curves
            for side in (-1, 1)
        ]
        y = np.concatenate([[0.0], *ends])
        y = y[np.isfinite(y)]
        low, high = padded(float(y.min()), float(y.max()))

        # The axis of standard deviations begins at 0. The x axis has a
        # margin of 4 % on both sides.
        return padded(min(x), max(x), 0.04), (low if self._zero else 0.0, high)

    def numbers(self) -> Numbers:
        """Return the titles of the columns of exported numbers, and a row per point of a curve.

        A row has the estimator, the value of the quantity, y, and half
        the width of the interval of y.
        """
        rows: list[list[CellValue]] = [
            [curve.label, float(value), float(curve.y[i]), float(curve.half[i])]
            for curve in self.curves
            for i, value in enumerate(self._values)
        ]
        return [
            "estimator",
            self.quantity,
            self.axes.title,
            tr("± 2 standard errors"),
        ], rows

    def figure(self) -> CurvesFigure:
        """Return a figure to export: the curves over the values of the quantity.

        The plot has logarithms of the values if they grow by a factor;
        the figure has an axis for that.
        """
        x = floats(self._values)
        series = []
        for curve in self.curves:
            y = curve.y
            half = curve.half

            # without intervals, the ends are empty
            ends = (
                (floats(y - half), floats(y + half))
                if np.isfinite(half).all()
                else ((), ())
            )
            number = curve.key - 1
            dashes = curve.dash
            series.append(
                Series(curve.label, x, floats(y), *ends, number=number, dashes=dashes)
            )
        levels = (Level(tr("the truth"), 0.0),) if self._zero else ()
        x_axis = FigureAxis(self.quantity, logarithmic=self._logarithmic)
        title = self.axes.title
        return CurvesFigure(
            "figure",  # its file's name
            title,
            self.caption,
            x_axis,
            FigureAxis(title),
            tuple(series),
            levels,
        )

    def readout(self, target: tuple[int, int]) -> list[Line]:
        """Return lines on a point, given by the number of its curve and its index."""
        curve_number, i = target
        curve = self.curves[curve_number]
        look = curve.look(self.theme.colors)
        lines = [
            Line(
                curve.label,
                self._number(float(curve.y[i])),
                look.color,
                look.dash,
                bold=True,
            ),
            Line(curve.notes[i]),  # the value of the quantity
        ]
        if np.isfinite(curve.half[i]):
            lines.append(
                Line(tr("± 2 standard errors"), fixed(float(curve.half[i]), 4))
            )
        return lines

    def summary(self) -> str:
        """Return a description with the first and the last value of each curve."""
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
        """Whether the x axis is logarithmic: for positive values with a large range."""
        lowest = min(self._all_values, default=0.0)
        return lowest > 0 and max(self._all_values) >= _LOGARITHMIC_RATIO * lowest

    def _x(self, value: float) -> float:
        """Return the x coordinate of a value: log2 of it on a logarithmic axis."""
        return float(np.log2(value)) if self._logarithmic else float(value)

    def _number(self, value: float) -> str:
        """Return a number of the y axis as a text; biases have a sign."""
        return signed(value, 4) if self._zero else fixed(value, 4)

    def _draw_zero(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the line at zero, the bias of an estimate that is right on average."""
        if self._zero and not self.is_empty():
            y = round(frame.y_px(0.0)) + 0.5  # the middle of a pixel, for a sharp line
            painter.setPen(pen(colors.q("text"), 1.2))  # width in pixels
            painter.drawLine(
                QPointF(frame.area.left(), y), QPointF(frame.area.right(), y)
            )


def _draw_points(
    plot: VariationPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw the simulated points, as the curves between them are only interpolated."""
    painter.setPen(Qt.PenStyle.NoPen)
    for curve in plot.curves:
        look = curve.look(colors)
        painter.setBrush(look.color)
        px, py = frame.pixels(curve.x, curve.y)
        for x, y in zip(px.tolist(), py.tolist(), strict=True):
            if np.isfinite(y):
                draw_marker(painter, look.marker, QPointF(x, y), _MARKER)
