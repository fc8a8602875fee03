"""The panel of the deviations of several estimators: their distributions, a table, and a sentence."""

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
from rankstudio.engine.export.figures.values import (
    FigureAxis,
    RowHistograms,
    RowSeries,
    RowsFigure,
)
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

_GAP = 10.0  # pixels beside a name
_MAX_NAMES_SHARE = 0.55  # maximum share of the plot's width for the names
APART = " · "
"""Separates the name of a variant into that of the estimator and what the variant differs in."""
_BIN_SHARE = 0.86  # height of the highest bin, as a share of the row
_FOOT_SHARE = 0.06  # space below the distribution, as a share of the row
_TAIL_SHARE = 0.001  # share of a distribution that may lie beyond an end of the axis
_MARKER = 3.8  # pixels: radius of a marker


@dataclass(frozen=True, eq=False)
class DeviationRow:
    """One estimator: a row of the table and a distribution of the plot.

    Attributes
    ----------
    label : str
    bias, error, sd : float
        Mean of the deviations, its standard error, and their standard
        deviation; NaN without values.
    count : int
        Number of repetitions with a value.
    shares : ndarray of shape (B,)
        Share of the values in each bin.
    category : int
        Number of the color and marker.
    variant : bool
        Whether the estimator is a variant of that of the row above,
        drawn dashed and with a lighter area.
    brief : str
        Shorter name of the estimator.
    about : str
        Sentence on what the estimator does.
    unconditional : float
        Standard deviation of estimate minus mean truth, over all models.
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
    Column(
        "dot",
        "",
        kind="dot",
        value=lambda row: Dot(row.category),
        width=30,
    ),
    Column(
        "label",
        tr("estimator"),
        stretch=True,
        hint=lambda row: row.about,
        format=short_of,
    ),
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
        tooltip=tr(
            "Standard deviation of estimate minus truth of the same model (T 5.1)"
        ),
        width=66,
    ),
    Column(
        "unconditional",
        tr("sd of all"),
        "right",
        format=fixed,
        tooltip=tr(
            "Standard deviation of estimate minus mean truth over all models (T 5.2)"
        ),
        tone="muted",
        width=72,
    ),
)
_SPARE_COLUMNS = ("error", "unconditional")  # columns that a narrow panel hides
_SPARE_WIDTH = 840  # pixels of a panel from which these columns are shown
_NAME_WIDTH = 198  # pixels of the column of names
_NARROW_NAME_WIDTH = 158  # the same in a narrow panel


class DeviationsPanel(Panel):
    """Shows how far estimates are from the truth: a plot of distributions, a table and a sentence.

    Parameters
    ----------
    theme : Theme
    name : str
        Object name of the panel.
    texts : mapping of str to EstimatorText
        Texts on each estimator, by its name.
    x_label : str
        Label of the axis of deviations.
    placeholder : str
        Text of the empty plot.
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
        x_label: str,
        placeholder: str,
        *,
        paired: bool = False,
    ) -> None:
        """Make the panel: the plot beside the table, and the sentence below.

        ``texts`` are by estimator.
        """
        super().__init__(
            theme,
            tr("Deviations"),
            padding=0,
            name=name,
            keeps_title=True,
        )

        # Texts for the user by the name of the estimator; and whether
        # every second estimator is a variant of the one before.
        self.texts = texts
        self._paired = paired
        self.plot = named(
            DeviationsPlot(theme, x_label),
            f"{name}-plot",
            tr("Deviations of the estimators"),
        )
        self.plot.placeholder = placeholder
        self.table = TableView(
            theme,
            _COLUMNS,
            f"{name}-table",
            lambda row: row.label,
            accessible_name=tr("Deviations by estimator"),
            placeholder=tr(
                "Mean and standard deviation of each estimator appear here."
            ),
        )
        self.sentence = named(
            PlainLabel(wraps=True, selectable=True), f"{name}-sentence"
        )
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.sentence.setContentsMargins(12, 4, 12, 8)

        # The plot and the table beside each other, and the sentence below.
        plot_box = fill(QVBoxLayout(), (self.plot, 1), margins=(12, 8, 8, 4))
        layout = fill(QHBoxLayout(), (plot_box, 1), self.table, spacing=0)
        fill(self.body, (layout, 1), self.sentence, spacing=0)
        theme.restyled.connect(self._fit)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show fewer columns in a narrow panel."""
        super().resizeEvent(event)
        self._fit()

    @Slot()
    def _fit(self) -> None:
        """Fit the table to the width of its visible columns, and the sentence to at least two lines.

        In a narrow panel, some columns are hidden.
        """
        is_narrow = self.width() < scaled(_SPARE_WIDTH)
        visible = [
            column
            for column in _COLUMNS
            if not (is_narrow and column.key in _SPARE_COLUMNS)
        ]
        for number, column in enumerate(_COLUMNS):
            self.table.setColumnHidden(number, column not in visible)
        name_width = _NARROW_NAME_WIDTH if is_narrow else _NAME_WIDTH
        self.table.setFixedWidth(
            scaled(name_width + sum(column.width for column in visible))
        )

        # two lines, and 14 pixels for the margins
        self.sentence.setMinimumHeight(
            2 * self.sentence.fontMetrics().lineSpacing() + 14
        )

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
        """Return the table row of an estimator, by its position in the summary.

        Estimators may be pairs of two variants that share a color.
        """
        text = text_of(self.texts, summary.estimators[index])
        return DeviationRow(
            label=text.label,
            bias=float(summary.bias[index]),
            error=float(summary.standard_error[index]),
            sd=float(summary.sd[index]),
            count=int(summary.counts[index]),
            shares=summary.shares[index],
            category=index // 2 if self._paired else index,  # a pair shares a color
            variant=self._paired and index % 2 == 1,
            brief=text.short,
            about=text.about,
            unconditional=float(summary.unconditional_sd[index]),
        )


class DeviationsPlot(Plot):
    """A plot with the histogram of each estimator's deviations in a row of its own.

    A marker below each histogram shows the mean, and a bar one standard
    deviation on both sides of it. All histograms are drawn to the same
    height.

    Parameters
    ----------
    theme : Theme
    x_label : str
        Label of the axis of deviations.
    """

    def __init__(self, theme: Theme, x_label: str) -> None:
        """Begin without rows; ``x_label`` is the label of the axis."""
        self.rows: tuple[DeviationRow, ...] = ()  # one for each estimator
        self.edges: Floats = np.zeros(0)  # of the bins of all histograms
        self.description = ""  # for a screen reader
        self.caption = ""  # of the figure
        super().__init__(theme, Axes("", x_label, show_y=False))

        # Layers with higher numbers are drawn above those with lower ones.
        self.add_layer(self._draw_ground, -1.0)
        self.add_layer(self._draw_rows, 0.0)
        self.add_layer(self._draw_names, 1.0, clipped=False)

    def set_x_label(self, x_label: str) -> None:
        """Set the label of the axis."""
        self.set_axes(replace(self.axes, x_label=x_label))

    def set_rows(
        self, rows: Sequence[DeviationRow], edges: Floats, description: str
    ) -> None:
        """Show distributions of deviations, one for each estimator.

        Parameters
        ----------
        rows : sequence of DeviationRow
            Rows from top to bottom.
        edges : ndarray of shape (B + 1,)
            Edges of the bins.
        description : str
            Description of all rows for screen readers.
        """
        self.rows = tuple(rows)
        self.edges = edges
        self.description = description
        self.mark_dirty()

    # Plot

    def is_empty(self) -> bool:
        """Return whether nothing was simulated."""
        return not any(row.count for row in self.rows)

    def summary(self) -> str:
        """Return the description with mean and standard deviation of each row."""
        return self.description

    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the range of nearly all deviations and zero, and a y range of one unit per row."""
        if self.is_empty():
            return (-1.0, 1.0), (0.0, 1.0)
        return padded(*self._range(), 0.02), (0.0, float(len(self.rows)))

    def _range(self) -> tuple[float, float]:
        """Return the range of edges that contains zero and nearly all values of all rows."""
        ends = [self._ends(row) for row in self.rows if row.count]
        return min(0.0, *(low for low, _ in ends)), max(
            0.0, *(high for _, high in ends)
        )

    def frame_for(self, size: QSizeF) -> Frame:
        """Return the frame of the plot, with room for the names of the rows at the left."""
        frame = super().frame_for(size)
        if self.is_empty():
            return frame
        metrics = QFontMetricsF(font(SMALL))

        # The widest name with its marker, and the gaps on both sides.
        needed_width = (
            max(map(metrics.horizontalAdvance, self._names(size.width())))
            + 2 * _MARKER
            + _GAP
        )
        margin = round(min(needed_width + _GAP, _MAX_NAMES_SHARE * size.width()))
        return replace(
            frame, area=frame.area.adjusted(margin - frame.area.left(), 0, 0, 0)
        )

    def numbers(self) -> Numbers:
        """Return the titles of the columns of exported numbers, and their rows.

        There is a row for each bin of each estimator. Rows with means
        and their standard errors, and with standard deviations and
        numbers of repetitions, follow.
        """
        # Four columns in every row. Rows of means and standard
        # deviations have a word instead of a bin's lower edge, and then
        # their two numbers.
        cells: list[list[CellValue]] = []
        for row in self.rows:
            bins = zip(self.edges[:-1], self.edges[1:], row.shares, strict=True)
            cells += [
                [row.label, float(low), float(high), float(share)]
                for low, high, share in bins
            ]
        cells += [[row.label, "mean", row.bias, row.error] for row in self.rows]
        cells += [[row.label, "sd", row.sd, row.count] for row in self.rows]
        return ["estimator", "from", "to", "share"], cells

    def figure(self) -> RowsFigure:
        """Return a figure to export: a histogram per row, with mean and standard deviation."""
        low, high = self._range()

        # Edges and the ends of the range are multiples of the bins'
        # width, up to rounding.
        in_range = (self.edges[:-1] >= low - 1e-12) & (self.edges[1:] <= high + 1e-12)
        first = int(np.flatnonzero(in_range)[0])
        edges = floats(self.edges[first : first + int(in_range.sum()) + 1])
        means = tuple(row.bias for row in self.rows)
        lows = tuple(row.bias - row.sd for row in self.rows)
        highs = tuple(row.bias + row.sd for row in self.rows)
        return RowsFigure(
            "figure",  # its file's name
            title=self.accessibleName(),
            caption=self.caption,
            axis=FigureAxis(self.axes.x_label),
            rows=tuple(row.label for row in self.rows),
            series=(RowSeries(tr("mean ± sd"), means, lows, highs),),
            zero=True,
            row_title=tr("estimator"),
            numbers=tuple(row.category for row in self.rows),
            histograms=RowHistograms(
                edges, tuple(floats(row.shares[in_range]) for row in self.rows)
            ),
        )

    def hit_test(self, point: QPointF) -> int | None:
        """Return the number of the row at a pixel.

        ``point`` is the position of the pixel. The result is None
        outside the rows.
        """
        frame = self.frame()
        is_inside = frame.area.top() <= point.y() < frame.area.bottom()
        if self.is_empty() or not is_inside:
            return None
        return min(
            int((point.y() - frame.area.top()) / self._row_height(frame)),
            len(self.rows) - 1,
        )

    def readout(self, number: int) -> list[Line]:
        """Return lines with the mean of a row, its standard error, and the standard deviation."""
        row = self.rows[number]

        # color, dash and marker of the estimator
        look = palettes.category(self.theme.colors, self.rows[number].category)
        return [
            Line(row.label, signed(row.bias, 4), look.color, look.dash, bold=True),
            Line(tr("standard error"), fixed(row.error, 4)),
            Line(tr("sd"), fixed(row.sd, 4)),
            Line(tr("repetitions"), count_text(row.count)),
        ]

    def step(self, right: int, down: int) -> bool:
        """Show the readout of the next or the preceding row, after an arrow key.

        ``right`` and ``down`` are -1, 0 or 1. Return whether the key
        has an effect: only up and down do.
        """
        if right or self.is_empty():
            return False

        # Without a row under the mouse, the first row is the next one.
        current = self.under_mouse if self.under_mouse is not None else -1
        number = max(0, min(len(self.rows) - 1, current + down))
        frame = self.frame()

        # As if the mouse were in the middle of the row.
        middle = frame.area.top() + (number + 0.5) * self._row_height(frame)
        self.hover(QPointF(frame.area.center().x(), middle))
        return True

    # Drawing

    def _row_height(self, frame: Frame) -> float:
        """Return the height of a row in pixels."""
        return frame.area.height() / max(len(self.rows), 1)

    def _ends(self, row: DeviationRow) -> tuple[float, float]:
        """Return the two edges of bins between which a distribution lies, except for thin tails."""
        cumulative = np.cumsum(row.shares)
        first = int(np.searchsorted(cumulative, _TAIL_SHARE))
        last = min(
            int(np.searchsorted(cumulative, 1.0 - _TAIL_SHARE)), row.shares.size - 1
        )
        return float(self.edges[first]), float(self.edges[last + 1])

    def _draw_ground(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the row under the mouse, a grid at the ticks, and the line at zero."""
        if self.is_empty():
            return
        area = frame.area
        if self.under_mouse is not None:
            row_height = self._row_height(frame)
            top = area.top() + self.under_mouse * row_height
            painter.fillRect(
                QRectF(area.left(), top, area.width(), row_height), colors.q("inset")
            )
        for value, _ in self.axes.x_ticks(frame.x_range, area.width()):
            x = round(frame.x_px(value))
            hairline(
                painter,
                colors.q("line_soft"),
                QPointF(x, area.top()),
                QPointF(x, area.bottom()),
            )

        # in the middle of a pixel, so that the line is sharp
        zero = round(frame.x_px(0.0)) + 0.5
        painter.setPen(pen(colors.q("text"), 1.2))
        painter.drawLine(QPointF(zero, area.top()), QPointF(zero, area.bottom()))

    def _draw_rows(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw each histogram as an area of steps, its mean, and one standard deviation on both sides.

        ``frame`` converts values to pixels. All histograms are equally tall.
        """
        height = self._row_height(frame)

        # at each edge, the outline goes from one bin's height to the next
        edges = np.repeat(self.edges, 2)
        x_pixels, _ = frame.pixels(edges, np.zeros(edges.size))
        xs = x_pixels.tolist()
        for index, row in enumerate(self.rows):
            if not row.count:
                continue
            look = palettes.category(colors, row.category)

            # The outline: from the foot of the row up by the share of
            # each bin, so that the tallest bin fills `_BIN_SHARE` of
            # the row.
            tallest = float(row.shares.max(initial=0.0)) or 1.0
            foot = frame.area.top() + (index + 1 - _FOOT_SHARE) * height
            share_height = _BIN_SHARE * height / tallest
            ys = (
                foot
                - np.concatenate([[0.0], np.repeat(row.shares, 2), [0.0]])
                * share_height
            )
            outline = QPolygonF(
                [QPointF(x, y) for x, y in zip(xs, ys.tolist(), strict=True)]
            )

            # Variants are paler (of less opacity) and dashed.
            area_color = palettes.category(colors, row.category).color
            area_color.setAlphaF(0.08 if row.variant else 0.26)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(area_color)
            painter.drawPolygon(outline)
            painter.setPen(pen(look.color, 1.3, (3.0, 2.0) if row.variant else ()))
            painter.drawPolyline(outline)

            # A line of one standard deviation on both sides, with the
            # mean as a marker; lengths and widths are in pixels.
            mean = frame.x_px(row.bias)
            spread = frame.x_px(row.bias + row.sd) - frame.x_px(row.bias)
            painter.setPen(pen(look.color, 2.6))
            painter.drawLine(QPointF(mean - spread, foot), QPointF(mean + spread, foot))
            painter.setPen(pen(colors.q("panel"), 1.2))
            painter.setBrush(look.color)
            draw_marker(painter, look.marker, QPointF(mean, foot), _MARKER + 1)

    def _names(self, width: float) -> list[str]:
        """Return the names of the estimators beside the rows, cut for a width in pixels.

        If there is little room, the name of a variant is only what it differs in.
        """
        # `APART` is between an estimator and its variant.
        names = [row.brief for row in self.rows]
        metrics = QFontMetricsF(font(SMALL))
        needed_width = max(map(metrics.horizontalAdvance, names)) + 2 * (_MARKER + _GAP)
        if needed_width <= _MAX_NAMES_SHARE * width:
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
        height = self._row_height(frame)

        # Pixels for a name: the margin at the left without marker and gap.
        name_width = frame.area.left() - 3 * _MARKER - _GAP
        names = self._names(frame.outer.width())
        for index, row in enumerate(self.rows):
            look = palettes.category(colors, row.category)
            middle = frame.area.top() + (index + 0.5) * height
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(look.color)
            draw_marker(painter, look.marker, QPointF(_MARKER + 1, middle), _MARKER)
            painter.setPen(colors.q("text"))
            text = painter.fontMetrics().elidedText(
                names[index], Qt.TextElideMode.ElideRight, int(name_width)
            )

            # beside the marker, and high enough for a line of text
            box = QRectF(3 * _MARKER + 1, middle - 10, name_width, 20)
            painter.drawText(
                box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text
            )
