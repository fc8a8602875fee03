"""Distributions: where a feature's values lie, by relevance class, and how often whole numbers occur."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan

import numpy as np
from numpy.typing import ArrayLike
from pyqtgraph.functions import arrayToQPolygonF
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    FigureAxis,
    Series,
)
from rankstudio.engine.support.number_format import count_text
from rankstudio.ui.language import tr
from rankstudio.ui.plots.axes import Axes
from rankstudio.ui.plots.base import DEFAULT_FILE_NAME, CellValue, Numbers, Plot, floats
from rankstudio.ui.plots.layers import Frame, draw_line, hairline, pen
from rankstudio.ui.plots.legend import draw_entry, flow
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import BELOW, SMALL, TINY, font
from rankstudio.ui.style.theme import Theme

_LINE_HEIGHT = 16.0
_SWATCH_WIDTH = 16.0
_ENTRY_GAP = 12.0
_NARROW_SWATCH_AND_GAP = (
    10.0,
    8.0,
)  # swatch and gap where the legend would take too many lines
_AIR = 6.0
_MAX_LEGEND_SHARE = 0.4  # of the height of a plot
_ZERO_BAR = 34.0  # pixels of a class's bar of zeros, with its share above
_MOST_ZEROS = 0.5  # share of the plot's width that these bars may take
_OVER_ZEROS = float("-inf")  # the target of `hit_test` over these bars


@dataclass(frozen=True, eq=False)
class Density:
    """The density of a feature's values in one relevance class.

    Attributes
    ----------
    label : str
        Name of the relevance class: "not relevant".
    xs, ys : ndarray of shape (N,)
        Values, ascending, and the densities at these values.
    zeros : float
        Share of the class whose value is 0, if the densities leave
        these documents out; NaN if not.
    """

    label: str
    xs: Floats
    ys: Floats
    zeros: float = float("nan")


class DensityPlot(Plot):
    """The densities of a feature in each relevance class, in different colors and dashes, with a legend.

    Where many values are 0, bars at the left show the shares of zeros,
    and the densities leave the zeros out.

    Parameters
    ----------
    theme : Theme
    x_label : str
        Name of the feature's values, the quantity of the x axis.
    """

    def __init__(
        self, theme: Theme, x_label: str = tr("value (height: density)")
    ) -> None:
        self.densities: list[Density] = []
        self.subject = ""  # name of the feature, for the title of an exported figure
        super().__init__(theme, Axes("", x_label, show_y=False))
        # The numbers order the layers: a greater one lies above.
        self.add_layer(self._draw, 0.0)
        self.add_layer(self._draw_zeros, 0.0, clipped=False)
        self.add_layer(self._draw_legend, 2.0, clipped=False)
        self.add_layer(self._draw_cursor, 1.0)

    def set_densities(self, densities: Sequence[Density]) -> None:
        """Show other densities, in the order of their classes."""
        self.densities = list(densities)
        self.under_mouse = None
        self.mark_dirty()

    def spans(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the range of the values, and from zero to a little over the highest density."""
        # The values `xs` of a density are in ascending order. A single
        # value gets a range around it. Above the highest density are 6
        # % of air.
        filled = [d for d in self.densities if d.xs.size]
        low = min(float(d.xs[0]) for d in filled)
        high = max(float(d.xs[-1]) for d in filled)
        top = max(float(np.nanmax(d.ys)) for d in filled)
        x_range = (low, high) if high > low else (low - 0.5, low + 0.5)
        return x_range, (0.0, top * 1.06 or 1.0)

    def frame_for(self, size: QSizeF) -> Frame:
        """Lay out a drawing, with the legend above the curves and the bars of zeros at their left."""
        frame = super().frame_for(size)
        if self.is_empty():
            return frame
        left_edge = round(self._zeros_width(size.width()))
        top = round(self._legend_height(size))
        return replace(frame, area=frame.area.adjusted(left_edge, top, 0, 0))

    def _legend_height(self, size: QSizeF) -> float:
        """Return the height of the legend in pixels, in a drawing of ``size``.

        Return 0 if the legend would leave the curves too little height;
        the legend is not drawn then.
        """
        area = super().frame_for(size).area
        _, _, n_lines = self.legend_spots(area.size())
        height = n_lines * _LINE_HEIGHT + _AIR
        return height if height <= _MAX_LEGEND_SHARE * area.height() else 0.0

    def legend_spots(self, room: QSizeF) -> tuple[float, list[tuple[float, int]], int]:
        """Lay out the legend, with narrow swatches and gaps where it would take too many lines.

        A swatch is the piece of line before a label. `room` is the size
        of the plot area without the legend. Return the width of a
        swatch, the position of each entry (pixel and line), and the
        number of lines.
        """
        metrics = QFontMetricsF(font(SMALL))
        # Widths of a swatch and of the gap between entries, in pixels:
        # first the usual ones; the narrow ones if the legend takes too
        # much of the height. Between a swatch and its label are 6
        # pixels.
        layout: tuple[float, list[tuple[float, int]], int] = _SWATCH_WIDTH, [], 1
        for swatch, gap in ((_SWATCH_WIDTH, _ENTRY_GAP), _NARROW_SWATCH_AND_GAP):
            widths = [
                swatch + 6 + metrics.horizontalAdvance(density.label)
                for density in self.densities
            ]
            spots = flow(widths, room.width(), gap)
            n_lines = spots[-1][1] + 1 if spots else 1
            layout = swatch, spots, n_lines
            if n_lines * _LINE_HEIGHT + _AIR <= _MAX_LEGEND_SHARE * room.height():
                break
        return layout

    def _with_zeros(self) -> list[Density]:
        return [d for d in self.densities if not np.isnan(d.zeros)]

    def _zeros_width(self, width: float) -> float:
        """Return the width that the bars of zeros take at the left of a plot of ``width`` pixels.

        Return 0 if no class has such a bar.
        """
        n = len(self._with_zeros())
        return min(n * _ZERO_BAR + _ENTRY_GAP, _MOST_ZEROS * width) if n else 0.0

    def is_empty(self) -> bool:
        """Return whether there is no density."""
        return not any(d.xs.size for d in self.densities)

    def summary(self) -> str:
        """Return in words where each relevance class has most of its values, and which share of them is 0.

        The share of zeros is said of classes whose zeros have a bar of
        their own.
        """
        drawn = [d for d in self.densities if d.xs.size]
        peaks = [
            tr("{label} most often near {xs:.3g}").format(
                label=d.label, xs=d.xs[int(np.argmax(d.ys))]
            )
            for d in drawn
        ]
        return ", ".join(
            peaks
            + [
                tr("{zeros} of {label} are 0").format(
                    zeros=percent(d.zeros), label=d.label
                )
                for d in self._with_zeros()
            ]
        )

    def figure(self) -> CurvesFigure:
        """Return the density of each relevance class as an area of a figure for print.

        The label includes the share of zeros, if the density leaves
        them out. The title is the feature's name.
        """
        series = []
        for number, density in enumerate(self.densities):
            label = density.label
            if not isnan(density.zeros):  # NaN if the density includes the zeros
                label = tr("{label} ({zeros:.0f} % are 0)").format(
                    label=label, zeros=100 * density.zeros
                )
            series.append(
                Series(
                    label,
                    floats(density.xs),
                    floats(density.ys),
                    kind="area",
                    number=number,
                )
            )
        title = self.subject or self.accessibleName()
        x = FigureAxis(
            tr("value of {feature}").format(feature=self.subject)
            if self.subject
            else tr("value")
        )
        return CurvesFigure(
            name=DEFAULT_FILE_NAME,
            title=title,
            caption="",
            x=x,
            y=FigureAxis(tr("density")),
            series=tuple(series),
        )

    def numbers(self) -> Numbers:
        """Return class, value and density, one row per point, and a row with the share of zeros."""
        rows: list[list[CellValue]] = [
            [d.label, float(x), float(y)]
            for d in self.densities
            for x, y in zip(d.xs, d.ys, strict=True)
        ]
        rows += [
            [d.label, tr("share of zeros"), float(d.zeros)] for d in self._with_zeros()
        ]
        return ["class", "value", "density"], rows

    def hit_test(self, point: QPointF) -> float | None:
        """Return the value at a pixel; minus infinity over the bars of zeros, None beside curves and bars."""
        frame = self.frame()
        if self.is_empty():
            return None
        # The bars of zeros stand in a strip at the left of the curves.
        strip = self._zeros_width(frame.outer.width())
        curves_and_bars = frame.area.adjusted(-strip, 0, 0, 0)
        if strip and curves_and_bars.contains(point) and point.x() < frame.area.left():
            return _OVER_ZEROS
        return frame.x_at(point.x()) if frame.area.contains(point) else None

    def readout(self, x: float) -> list[Line]:
        """Return the density of each class at a value, or the shares of zeros over their bars.

        `x` is what :meth:`hit_test` returns: a value, or minus infinity
        over these bars.
        """
        # A share that is NaN is unknown, as the density includes the zeros.
        if x == _OVER_ZEROS:
            line_styles = [
                palettes.category(self.theme.colors, i)
                for i in range(len(self.densities))
            ]
            shares = [
                Line(
                    d.label,
                    "–" if np.isnan(d.zeros) else percent(d.zeros),
                    line_style.color,
                    line_style.dash,
                )
                for d, line_style in zip(self.densities, line_styles, strict=True)
            ]
            return [Line(tr("value 0"), bold=True), *shares]
        lines = [Line(f"{x:.3g}", bold=True)]
        for i, density in enumerate(self.densities):
            line_style = palettes.category(self.theme.colors, i)
            y = (
                float(np.interp(x, density.xs, density.ys))
                if density.xs.size
                else float("nan")
            )
            lines.append(
                Line(density.label, f"{y:.3g}", line_style.color, line_style.dash)
            )
        return lines

    def _draw(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw all fills, then all lines, so that no line is covered."""
        drawn = [(i, d) for i, d in enumerate(self.densities) if d.xs.size]
        painter.setPen(Qt.PenStyle.NoPen)
        for i, density in drawn:
            # a light filling of the class's color
            color = palettes.category(colors, i).color
            color.setAlphaF(0.18 if colors.dark else 0.15)
            painter.setBrush(color)
            # The polygon under the curve begins and ends on the x axis.
            xs = np.concatenate([density.xs[:1], density.xs, density.xs[-1:]])
            ys = np.concatenate([[0.0], density.ys, [0.0]])
            painter.drawPolygon(arrayToQPolygonF(*frame.pixels(xs, ys)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for i, density in drawn:
            line_style = palettes.category(colors, i)
            painter.setPen(pen(line_style.color, 1.8, line_style.dash))
            draw_line(painter, *frame.pixels(density.xs, density.ys))

    def _draw_zeros(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the share of zeros of each relevance class as a bar, for classes whose curve leaves zeros out.

        The full height stands for the whole class.
        """
        # A share that is NaN has no bar.
        drawn = [(i, d) for i, d in enumerate(self.densities) if not np.isnan(d.zeros)]
        if not drawn:
            return
        # The bars stand in a strip at the left of the curves.
        strip = self._zeros_width(frame.outer.width())
        area = frame.area
        bar_width = (strip - _ENTRY_GAP) / len(drawn)
        left_edge = area.left() - strip
        painter.setFont(font(TINY))
        for position, (i, density) in enumerate(drawn):
            line_style = palettes.category(colors, i)
            # above the bar, a line has room for the text of its share;
            # 4 pixels are between two bars
            height = density.zeros * (area.height() - _LINE_HEIGHT)
            bar = QRectF(
                left_edge + position * bar_width + 2,
                area.bottom() - height,
                bar_width - 4,
                height,
            )
            filling = QColor(line_style.color)
            filling.setAlphaF(0.35)
            painter.setBrush(filling)
            painter.setPen(pen(line_style.color, 1.4, line_style.dash))
            painter.drawRect(bar)
            text = percent(density.zeros)
            if painter.fontMetrics().horizontalAdvance(text) <= bar_width:
                # centered above the bar, in a box 60 pixels wide
                painter.setPen(colors.q("text"))
                above = QRectF(
                    bar.center().x() - 30, bar.top() - _LINE_HEIGHT, 60, _LINE_HEIGHT
                )
                painter.drawText(above, Qt.AlignmentFlag.AlignCenter, text)
        hairline(
            painter,
            colors.q("line"),
            QPointF(left_edge, area.bottom()),
            QPointF(left_edge + strip - _ENTRY_GAP, area.bottom()),
        )
        # the title of the strip, below the line on which the bars
        # stand, in a box that is 10 pixels wider at each side
        painter.setPen(colors.q("muted"))
        below = QRectF(left_edge - 10, area.bottom() + 4, strip - _ENTRY_GAP + 20, 16)
        painter.drawText(below, BELOW, tr("zeros"))

    def _draw_legend(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the legend above the curves: the swatch and the label of each class."""
        if self.is_empty() or not self._legend_height(frame.outer.size()):
            return
        # The legend begins above the bars of zeros, which stand in a
        # strip at the left of the curves. It has room in the plot area
        # of a plot without legend and bars.
        strip = self._zeros_width(frame.outer.width())
        swatch, spots, rows = self.legend_spots(
            super().frame_for(frame.outer.size()).area.size()
        )
        painter.setFont(font(SMALL))
        for i, (density, (x, row)) in enumerate(
            zip(self.densities, spots, strict=True)
        ):
            # `y` is the middle of the line, whose box is 18 pixels
            # high; the last line is the one above the curves
            left_edge = frame.area.left() - strip + x
            y = frame.area.top() - _AIR - (rows - row - 0.5) * _LINE_HEIGHT
            box = QRectF(left_edge, y - 9, frame.outer.right() - left_edge, 18)
            line_style = palettes.category(colors, i)
            draw_entry(
                painter, box, line_style, density.label, colors.q("text"), swatch=swatch
            )

    def _draw_cursor(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw a line at the mouse's value, unless the mouse is over the bars of zeros."""
        if self.under_mouse is not None and self.under_mouse != _OVER_ZEROS:
            # the middle of a pixel, so that the line is sharp
            x = round(frame.x_px(self.under_mouse)) + 0.5
            painter.setPen(pen(colors.q("muted", 0.75), 1.0))
            painter.drawLine(
                QPointF(x, frame.area.top()), QPointF(x, frame.area.bottom())
            )


def percent(share: float) -> str:
    """Format a share in percent: "62 %", "under 1 %"."""
    if 0 < share < 0.005:
        return tr("under 1 %")
    return f"{100 * share:.0f} %"


MOST_BINS = 40


class HistogramPlot(Plot):
    """A histogram of whole numbers, with bins of equal width.

    Parameters
    ----------
    theme : Theme
    title : str
        What is counted: "queries".
    x_label : str
        What the numbers are: "documents in the query".
    """

    def __init__(self, theme: Theme, title: str, x_label: str) -> None:
        self.starts: Ints = np.zeros(0, dtype=np.int64)
        self.counts: Ints = np.zeros(0, dtype=np.int64)
        self.width_of_bins = 1
        super().__init__(theme, Axes(title, x_label, integer_x=True))
        self.add_layer(self._draw, 0.0)

    def set_numbers(self, numbers: ArrayLike) -> None:
        """Show how often numbers occur, in at most `MOST_BINS` bins.

        Parameters
        ----------
        numbers : array of int, shape (N,)
            The numbers, in any order.
        """
        values = np.asarray(numbers, dtype=np.int64)
        if values.size == 0:
            self.starts = self.counts = np.zeros(0, dtype=np.int64)
        else:
            # Bins begin at multiples of their width.
            low = int(values.min())
            high = int(values.max())
            # -(-a // b) is a / b rounded up.
            self.width_of_bins = width = -(-(high - low + 1) // MOST_BINS)
            first = low // width * width
            self.counts = np.bincount((values - first) // width)
            self.starts = first + width * np.arange(self.counts.size)
        self.under_mouse = None
        self.mark_dirty()

    def summary(self) -> str:
        """Describe how many numbers there are, and which bin has most of them ("3", or "30 to 39")."""
        fullest = int(self.counts.argmax())
        bin_width = self.width_of_bins
        first = int(self.starts[fullest])
        bin_text = (
            f"{first}"
            if bin_width == 1
            else tr("{first} to {first_2}").format(
                first=first, first_2=first + bin_width - 1
            )
        )
        total = tr("{title}: {sum} in all").format(
            title=self.axes.title, sum=int(self.counts.sum())
        )
        return tr("{said}, most often {where} {x_label} ({counts})").format(
            said=total,
            where=bin_text,
            x_label=self.axes.x_label,
            counts=int(self.counts[fullest]),
        )

    def is_empty(self) -> bool:
        """Return whether there are no numbers."""
        return self.starts.size == 0

    def spans(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the range of the bins, and from zero to a little over the longest bar."""
        # A bin of the single number 7 is drawn from 6.5 to 7.5; a bin
        # of 0 to 9 is drawn from 0 to 10.
        shift = 0.5 if self.width_of_bins == 1 else 0.0
        low = float(self.starts[0]) - shift
        x_range = low, low + self.width_of_bins * self.starts.size
        return x_range, (0.0, float(self.counts.max()) * 1.05)

    def figure(self) -> CurvesFigure:
        """Return the histogram as a figure for print, with a bar in the middle of each bin."""
        # from the first number of a bin to its middle
        half = (self.width_of_bins - 1) / 2
        x = tuple(float(start) + half for start in self.starts)
        y = floats(self.counts)
        return CurvesFigure(
            name=DEFAULT_FILE_NAME,
            title=self.axes.title,
            caption="",
            x=FigureAxis(self.axes.x_label, whole=True),
            y=FigureAxis(self.axes.title, whole=True, low=0.0),
            series=(Series("", x, y, kind="bars"),),
        )

    def numbers(self) -> Numbers:
        """Return the bins as a table: the first and last number of each bin, and its count."""
        last = self.starts + self.width_of_bins - 1
        rows = zip(
            self.starts.tolist(), last.tolist(), self.counts.tolist(), strict=True
        )
        return ["from", "to", self.axes.title], [list(row) for row in rows]

    def bars(self, frame: Frame) -> list[QRectF]:
        """Return the rectangles of the bins, with a gap between them; a count is at least 1.5 pixels high."""
        (x0, _), _y = self.ranges()  # x at the left edge of the first bin
        rects = []
        for i, count in enumerate(self.counts.tolist()):
            left = frame.x_px(x0 + i * self.width_of_bins)
            right = frame.x_px(x0 + (i + 1) * self.width_of_bins)
            top = (
                min(frame.y_px(count), frame.area.bottom() - 1.5)
                if count
                else frame.area.bottom()
            )
            # 1 pixel of gap at each side; the bar is at least 1 pixel wide
            rects.append(
                QRectF(
                    QPointF(left + 1, top),
                    QPointF(max(left + 2, right - 1), frame.area.bottom()),
                )
            )
        return rects

    def hit_test(self, point: QPointF) -> int | None:
        """Return the position of the bin at a pixel; None beside the bins."""
        if self.is_empty() or not self.frame().area.contains(point):
            return None
        (x0, _), _y = self.ranges()
        number = int((self.frame().x_at(point.x()) - x0) // self.width_of_bins)
        return min(number, self.counts.size - 1)

    def readout(self, number: int) -> list[Line]:
        """Return the lines of the box on a bin: its first and last number, and its count."""
        first = int(self.starts[number])
        last = first + self.width_of_bins - 1
        span = str(first) if first == last else f"{first} – {last}"
        return [
            Line(span, count_text(int(self.counts[number])), bold=True),
            Line(self.axes.title),
        ]

    def _draw(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the bars, the one under the mouse in the accent's hover colour."""
        painter.setPen(Qt.PenStyle.NoPen)
        for i, rect in enumerate(self.bars(frame)):
            painter.setBrush(
                colors.q("accent_hover" if i == self.under_mouse else "accent")
            )
            if rect.height() > 0:
                painter.drawRect(rect)
