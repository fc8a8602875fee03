"""How often which whole number occurs: documents per query."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from rankstudio.engine.arrays import Ints
from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    FigureAxis,
    Series,
)
from rankstudio.ui.language import tr
from rankstudio.ui.plots.axes import Axes
from rankstudio.ui.plots.base import Numbers, Plot
from rankstudio.ui.plots.figure_values import NAME, floats
from rankstudio.ui.plots.frame import Frame
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.theme import Theme

MOST_BINS = 40


def histogram_figure(plot: HistogramPlot) -> CurvesFigure:
    """Return how often numbers occur, a bar a bin."""
    half = (plot.width_of_bins - 1) / 2
    x, y = tuple(float(start) + half for start in plot.starts), floats(plot.counts)
    axes = FigureAxis(plot.axes.x_label, whole=True), FigureAxis(plot.axes.title, whole=True, low=0.0)
    return CurvesFigure(NAME, plot.axes.title, "", *axes, (Series("", x, y, kind="bars"),))


class HistogramPlot(Plot):
    """Bars over bins of whole numbers, all of one width.

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
        """Show how often numbers occur.

        Parameters
        ----------
        numbers : array of int, shape (N,)
        """
        values = np.asarray(numbers, dtype=np.int64)
        if values.size == 0:
            self.starts = self.counts = np.zeros(0, dtype=np.int64)
        else:
            low, high = int(values.min()), int(values.max())
            self.width_of_bins = width = -(-(high - low + 1) // MOST_BINS)
            first = low // width * width
            self.counts = np.bincount((values - first) // width)
            self.starts = first + width * np.arange(self.counts.size)
        self.under_mouse = None
        self.mark_dirty()

    def summary(self) -> str:
        """Say how many numbers there are, and between which most of them lie."""
        most, wide = int(self.counts.argmax()), self.width_of_bins
        first = int(self.starts[most])
        where = (
            f"{first}"
            if wide == 1
            else tr("{first} to {first_2}").format(first=first, first_2=first + wide - 1)
        )
        said = tr("{title}: {sum} in all").format(title=self.axes.title, sum=int(self.counts.sum()))
        return tr("{said}, most often {where} {x_label} ({counts})").format(
            said=said, where=where, x_label=self.axes.x_label, counts=int(self.counts[most])
        )

    def is_empty(self) -> bool:
        """Tell whether there are no numbers."""
        return self.starts.size == 0

    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the range of the bins, and from zero to a little over the longest bar."""
        if self.is_empty():
            return (0.0, 1.0), (0.0, 1.0)
        # A bin of the one number 7 lies around 7; a bin of 0 to 9 begins at 0.
        shift = 0.5 if self.width_of_bins == 1 else 0.0
        low = float(self.starts[0]) - shift
        return (low, low + self.width_of_bins * self.starts.size), (0.0, float(self.counts.max()) * 1.05)

    figure = histogram_figure

    def numbers(self) -> Numbers:
        """Return first and last number of each bin, and how often they occur."""
        last = self.starts + self.width_of_bins - 1
        rows = zip(self.starts.tolist(), last.tolist(), self.counts.tolist(), strict=True)
        return ["from", "to", self.axes.title], [list(row) for row in rows]

    def bars(self, frame: Frame) -> list[QRectF]:
        """Return the rectangles of the bins."""
        (x0, _), _y = self.ranges()
        rects = []
        for i, count in enumerate(self.counts.tolist()):
            left = frame.x_px(x0 + i * self.width_of_bins)
            right = frame.x_px(x0 + (i + 1) * self.width_of_bins)
            top = min(frame.y_px(count), frame.area.bottom() - 1.5) if count else frame.area.bottom()
            rects.append(
                QRectF(QPointF(left + 1, top), QPointF(max(left + 2, right - 1), frame.area.bottom()))
            )
        return rects

    def hit_test(self, at: QPointF) -> int | None:
        """Return the number of the bin at a pixel."""
        if self.is_empty() or not self.frame().area.contains(at):
            return None
        (x0, _), _y = self.ranges()
        number = int((self.frame().x_at(at.x()) - x0) // self.width_of_bins)
        return min(number, self.counts.size - 1)

    def readout(self, number: int) -> list[Line]:
        """Say the count of a bin."""
        first, last = int(self.starts[number]), int(self.starts[number]) + self.width_of_bins - 1
        span = str(first) if first == last else f"{first} – {last}"
        return [Line(span, f"{int(self.counts[number]):,}", bold=True), Line(self.axes.title)]

    def _draw(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the bars, the one under the mouse in the accent's hover colour."""
        painter.setPen(Qt.PenStyle.NoPen)
        for i, rect in enumerate(self.bars(frame)):
            painter.setBrush(colors.q("accent_hover" if i == self.under_mouse else "accent"))
            if rect.height() > 0:
                painter.drawRect(rect)
