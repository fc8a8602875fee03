"""Deviations of several estimators: a distribution each, a table, and what is seen in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Slot
from PySide6.QtGui import QFontMetricsF, QPainter, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.figures.values import FigureAxis, RowHistograms, RowSeries, RowsFigure
from rankstudio.engine.support.number_format import count_text, fixed, signed
from rankstudio.plugins.lab.window.estimators import EstimatorText, short_of, text_of
from rankstudio.plugins.lab.window.sentences import deviations_sentence, summary_of
from rankstudio.ui.language import tr
from rankstudio.ui.plots.axes import Axes
from rankstudio.ui.plots.base import CellValue, Numbers, Plot, floats
from rankstudio.ui.plots.layers import Frame, draw_marker, hairline, padded, pen
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import SMALL, font, scaled
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Dot, Panel, TableView
from rankstudio.ui.widgets.layout import fill, named

if TYPE_CHECKING:
    from rankstudio.plugins.lab.simulation.deviations import DeviationSummary

_GAP = 10.0
_MAX_NAMES_SHARE = 0.55  # of the width
APART = " · "  # before what a variant varies
_BIN_SHARE = 0.86  # of the height of a row, for its highest bin
_FOOT_SHARE = 0.06  # of the height of a row, below its distribution
_TAIL_SHARE = 0.001  # share of a distribution that may lie beyond an end of the axis
_MARKER = 3.8


@dataclass(frozen=True, eq=False)
class DeviationRow:
    """One estimator: a row of the table and a distribution of the plot.

    Attributes
    ----------
    label : str
    bias, error, sd : float
        Mean of the deviations, its standard error, and their standard deviation; NaN where there are none.
    count : int
        Repetitions.
    shares : ndarray of shape (B,)
        Of the values in each bin.
    category : int
        Its colour and marker.
    variant : bool
        Whether it is a variant of the row above: dashed, and not filled.
    brief : str
        The label where there is little room.
    about : str
        What the estimator does.
    unconditional : float
        Standard deviation over all models.
    """

    label: str
    bias: float
    error: float
    sd: float
    count: int
    shares: Floats
    category: int
    variant: bool
    brief: str
    about: str
    unconditional: float


_COLUMNS = (
    Column("dot", "", kind="dot", value=lambda row: Dot(row.category), width=30),
    Column("label", tr("estimator"), stretch=True, hint=lambda row: row.about, format=short_of),
    Column(
        "bias",
        tr("mean"),
        "right",
        format=partial(signed, decimals=4),
        tooltip=tr("Mean difference between estimate and truth: the bias"),
        width=76,
    ),
    Column(
        "error",
        tr("± s.e."),
        "right",
        format=fixed,
        tooltip=tr("Standard error of the mean deviation"),
        tone="muted",
        width=66,
    ),
    Column(
        "sd",
        tr("sd"),
        "right",
        format=fixed,
        tooltip=tr("Standard deviation of estimate minus truth of the same model (T 5.1)"),
        width=66,
    ),
    Column(
        "unconditional",
        tr("sd of all"),
        "right",
        format=fixed,
        tooltip=tr("Standard deviation of estimate minus mean truth over all models (T 5.2)"),
        tone="muted",
        width=72,
    ),
)
_SPARE_COLUMNS = ("error", "unconditional")  # columns that give way
_SPARE_WIDTH = 840  # pixels, from which they have room
_NAME_WIDTH = 198  # pixels of the column with the names
_NARROW_NAME_WIDTH = 158


class DeviationsPanel(Panel):
    """How far estimates are from the truth.

    Parameters
    ----------
    theme : Theme
    name : str
        Of the panel, for the program and its tests.
    texts : mapping of str to EstimatorText
        What is said of each estimator, by its name.
    x_label : str
        What the axis measures.
    placeholder : str
        What the empty plot says.
    paired : bool
        Whether every other estimator is a variant of the one before it, and looks like that.

    Attributes
    ----------
    texts : mapping of str to EstimatorText
        What is said of those that are shown next.
    """

    def __init__(
        self,
        theme: Theme,
        name: str,
        texts: Mapping[str, EstimatorText],
        x_label: str,
        placeholder: str,
        *,
        paired: bool = False,
    ) -> None:
        super().__init__(theme, tr("Deviations"), padding=0, name=name, keeps_title=True)
        self.texts = texts
        self._paired = paired
        self.plot = named(DeviationsPlot(theme, x_label), f"{name}-plot", tr("Deviations of the estimators"))
        self.plot.placeholder = placeholder
        self.table = TableView(
            theme,
            _COLUMNS,
            f"{name}-table",
            lambda row: row.label,
            accessible_name=tr("Deviations by estimator"),
            placeholder=tr("Mean and standard deviation of each estimator appear here."),
        )
        self.sentence = named(PlainLabel(wraps=True, selectable=True), f"{name}-sentence")
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.sentence.setContentsMargins(12, 4, 12, 8)
        room = fill(QVBoxLayout(), (self.plot, 1), margins=(12, 8, 8, 4))
        layout = fill(QHBoxLayout(), (room, 1), self.table, spacing=0)
        fill(self.body, (layout, 1), self.sentence, spacing=0)
        theme.restyled.connect(self._fit)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show fewer columns in a narrow panel."""
        super().resizeEvent(event)
        self._fit()

    @Slot()
    def _fit(self) -> None:
        """Give the table the room that its columns need, and the sentence that of two lines."""
        narrow = self.width() < scaled(_SPARE_WIDTH)
        visible = [column for column in _COLUMNS if not (narrow and column.key in _SPARE_COLUMNS)]
        for number, column in enumerate(_COLUMNS):
            self.table.setColumnHidden(number, column not in visible)
        names = _NARROW_NAME_WIDTH if narrow else _NAME_WIDTH
        self.table.setFixedWidth(scaled(names + sum(column.width for column in visible)))
        self.sentence.setMinimumHeight(2 * self.sentence.fontMetrics().lineSpacing() + 14)

    def show_summary(self, summary: DeviationSummary | None, caption: str = "") -> None:
        """Show the results so far; None shows nothing."""
        self.set_caption(caption)
        if summary is None:
            self.table.set_rows(())
            self.plot.set_rows((), self.plot.edges, "")
            self.sentence.setText("")
            return
        rows = [self._row(summary, index) for index in range(len(summary.estimators))]
        self.plot.set_rows(rows, summary.edges, summary_of(summary, self.texts))
        self.table.set_rows(rows)
        self.sentence.setText(deviations_sentence(summary, self.texts))

    def _row(self, summary: DeviationSummary, index: int) -> DeviationRow:
        """Return the table row of an estimator."""
        text = text_of(self.texts, summary.estimators[index])
        return DeviationRow(
            text.label,
            float(summary.bias[index]),
            float(summary.standard_error[index]),
            float(summary.sd[index]),
            int(summary.counts[index]),
            summary.shares[index],
            index // 2 if self._paired else index,
            self._paired and index % 2 == 1,
            text.short,
            text.about,
            float(summary.unconditional_sd[index]),
        )


class DeviationsPlot(Plot):
    """One histogram a row, each up to its highest bin, with its mean and one sd to both sides.

    Parameters
    ----------
    theme : Theme
    x_label : str
        What the axis measures.
    """

    def __init__(self, theme: Theme, x_label: str) -> None:
        self.rows: tuple[DeviationRow, ...] = ()
        self.edges: Floats = np.zeros(0)
        self.said = ""
        self.caption = ""  # of the figure
        super().__init__(theme, Axes("", x_label, show_y=False))
        self.add_layer(self._draw_ground, -1.0)
        self.add_layer(self._draw_rows, 0.0)
        self.add_layer(self._draw_names, 1.0, clipped=False)

    def set_x_label(self, x_label: str) -> None:
        """Set the label of the axis."""
        self.set_axes(replace(self.axes, x_label=x_label))

    def set_rows(self, rows: Sequence[DeviationRow], edges: Floats, description: str) -> None:
        """Show other distributions.

        Parameters
        ----------
        rows : sequence of DeviationRow
            From top to bottom.
        edges : ndarray of shape (B + 1,)
        description : str
            All of it in words.
        """
        self.rows = tuple(rows)
        self.edges = edges
        self.said = description
        self.mark_dirty()

    # Plot

    def is_empty(self) -> bool:
        """Return whether nothing was simulated."""
        return not any(row.count for row in self.rows)

    def summary(self) -> str:
        """Return mean and standard deviation of each."""
        return self.said

    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the values of nearly all repetitions with zero, and one unit a row."""
        if self.is_empty():
            return (-1.0, 1.0), (0.0, 1.0)
        return padded(*self._range(), 0.02), (0.0, float(len(self.rows)))

    def _range(self) -> tuple[float, float]:
        """Return the edges between which nearly all values of all rows are, and zero."""
        ends = [self._ends(row) for row in self.rows if row.count]
        return min(0.0, *(low for low, _ in ends)), max(0.0, *(high for _, high in ends))

    def frame_for(self, size: QSizeF) -> Frame:
        """Leave room for the names at the left."""
        frame = super().frame_for(size)
        if self.is_empty():
            return frame
        metrics = QFontMetricsF(font(SMALL))
        wide = max(map(metrics.horizontalAdvance, self._names(size.width()))) + 2 * _MARKER + _GAP
        margin = round(min(wide + _GAP, _MAX_NAMES_SHARE * size.width()))
        return replace(frame, area=frame.area.adjusted(margin - frame.area.left(), 0, 0, 0))

    def numbers(self) -> Numbers:
        """Return a row a bin of each estimator, and its mean and sd."""
        cells: list[list[CellValue]] = []
        for row in self.rows:
            bins = zip(self.edges[:-1], self.edges[1:], row.shares, strict=True)
            cells += [[row.label, float(low), float(high), float(share)] for low, high, share in bins]
        cells += [[row.label, "mean", row.bias, row.error] for row in self.rows]
        cells += [[row.label, "sd", row.sd, row.count] for row in self.rows]
        return ["estimator", "from", "to", "share"], cells

    def figure(self) -> RowsFigure:
        """Return the distributions below each other, with means and one sd to both sides."""
        low, high = self._range()
        # Edges and the ends of the range are multiples of one width, but for rounding.
        in_range = (self.edges[:-1] >= low - 1e-12) & (self.edges[1:] <= high + 1e-12)
        first = int(np.flatnonzero(in_range)[0])
        edges = floats(self.edges[first : first + int(in_range.sum()) + 1])
        means = tuple(row.bias for row in self.rows)
        lows = tuple(row.bias - row.sd for row in self.rows)
        highs = tuple(row.bias + row.sd for row in self.rows)
        return RowsFigure(
            "figure",
            self.accessibleName(),
            self.caption,
            FigureAxis(self.axes.x_label),
            tuple(row.label for row in self.rows),
            (RowSeries(tr("mean ± sd"), means, lows, highs),),
            zero=True,
            row_title=tr("estimator"),
            numbers=tuple(row.category for row in self.rows),
            histograms=RowHistograms(edges, tuple(floats(row.shares[in_range]) for row in self.rows)),
        )

    def hit_test(self, point: QPointF) -> int | None:
        """Return the number of the row at a pixel."""
        frame = self.frame()
        inside = frame.area.top() <= point.y() < frame.area.bottom()
        if self.is_empty() or not inside:
            return None
        return min(int((point.y() - frame.area.top()) / self._height(frame)), len(self.rows) - 1)

    def readout(self, number: int) -> list[Line]:
        """Return mean, its standard error and sd of a row."""
        row = self.rows[number]
        look = palettes.category(self.theme.colors, self.rows[number].category)
        return [
            Line(row.label, signed(row.bias, 4), look.color, look.dash, bold=True),
            Line(tr("standard error"), fixed(row.error, 4)),
            Line(tr("sd"), fixed(row.sd, 4)),
            Line(tr("repetitions"), count_text(row.count)),
        ]

    def step(self, right: int, down: int) -> bool:
        """Read the rows one by one."""
        if right or self.is_empty():
            return False
        before = self.under_mouse if self.under_mouse is not None else -1
        number = max(0, min(len(self.rows) - 1, before + down))
        frame = self.frame()
        middle = frame.area.top() + (number + 0.5) * self._height(frame)
        self.hover(QPointF(frame.area.center().x(), middle))
        return True

    # Drawing

    def _height(self, frame: Frame) -> float:
        return frame.area.height() / max(len(self.rows), 1)

    def _ends(self, row: DeviationRow) -> tuple[float, float]:
        """Return where a distribution begins and ends, but for a thin tail at each side."""
        risen = np.cumsum(row.shares)
        first = int(np.searchsorted(risen, _TAIL_SHARE))
        last = min(int(np.searchsorted(risen, 1.0 - _TAIL_SHARE)), row.shares.size - 1)
        return float(self.edges[first]), float(self.edges[last + 1])

    def _draw_ground(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the row under the mouse, a grid at the ticks, and the line at zero."""
        if self.is_empty():
            return
        area = frame.area
        if self.under_mouse is not None:
            top = area.top() + self.under_mouse * self._height(frame)
            painter.fillRect(QRectF(area.left(), top, area.width(), self._height(frame)), colors.q("inset"))
        for value, _ in self.axes.x_ticks(frame.x_range, area.width()):
            x = round(frame.x_px(value))
            hairline(painter, colors.q("line_soft"), QPointF(x, area.top()), QPointF(x, area.bottom()))
        zero = round(frame.x_px(0.0)) + 0.5
        painter.setPen(pen(colors.q("text"), 1.2))
        painter.drawLine(QPointF(zero, area.top()), QPointF(zero, area.bottom()))

    def _draw_rows(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw each histogram as an area of steps, its mean, and one sd to both sides."""
        height = self._height(frame)
        edges = np.repeat(self.edges, 2)
        xs = frame.pixels(edges, np.zeros(edges.size))[0].tolist()
        for index, row in enumerate(self.rows):
            if not row.count:
                continue
            look = palettes.category(colors, row.category)
            tallest = float(row.shares.max(initial=0.0)) or 1.0
            foot = frame.area.top() + (index + 1 - _FOOT_SHARE) * height
            ys = foot - np.concatenate([[0.0], np.repeat(row.shares, 2), [0.0]]) * (
                _BIN_SHARE * height / tallest
            )
            outline = QPolygonF([QPointF(x, y) for x, y in zip(xs, ys.tolist(), strict=True)])
            filling = palettes.category(colors, row.category).color
            filling.setAlphaF(0.08 if row.variant else 0.26)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(filling)
            painter.drawPolygon(outline)
            painter.setPen(pen(look.color, 1.3, (3.0, 2.0) if row.variant else ()))
            painter.drawPolyline(outline)
            mean = frame.x_px(row.bias)
            spread = frame.x_px(row.bias + row.sd) - frame.x_px(row.bias)
            painter.setPen(pen(look.color, 2.6))
            painter.drawLine(QPointF(mean - spread, foot), QPointF(mean + spread, foot))
            painter.setPen(pen(colors.q("panel"), 1.2))
            painter.setBrush(look.color)
            draw_marker(painter, look.marker, QPointF(mean, foot), _MARKER + 1)

    def _names(self, width: float) -> list[str]:
        """Return the names beside the rows.

        In little room, a variant has only its difference as a name.
        """
        names = [row.brief for row in self.rows]
        metrics = QFontMetricsF(font(SMALL))
        if max(map(metrics.horizontalAdvance, names)) + 2 * (_MARKER + _GAP) <= _MAX_NAMES_SHARE * width:
            return names
        return [
            name[name.rfind(APART) + 1 :] if row.variant and APART in name else name
            for row, name in zip(self.rows, names, strict=True)
        ]

    def _draw_names(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the names at the left, with the markers of their categories."""
        if self.is_empty():
            return
        painter.setFont(font(SMALL))
        height = self._height(frame)
        room = frame.area.left() - 3 * _MARKER - _GAP
        names = self._names(frame.outer.width())
        for index, row in enumerate(self.rows):
            look = palettes.category(colors, row.category)
            middle = frame.area.top() + (index + 0.5) * height
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(look.color)
            draw_marker(painter, look.marker, QPointF(_MARKER + 1, middle), _MARKER)
            painter.setPen(colors.q("text"))
            text = painter.fontMetrics().elidedText(names[index], Qt.TextElideMode.ElideRight, int(room))
            box = QRectF(3 * _MARKER + 1, middle - 10, room, 20)
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
