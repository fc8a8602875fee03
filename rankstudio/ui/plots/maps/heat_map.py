"""A value over two grids as colours, validation measure by λ and k, with a bar that says which is which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QPainter

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.export.figures.values import (
    FigureAxis,
    MapFigure,
)
from rankstudio.engine.support.number_format import fixed
from rankstudio.ui.language import tr
from rankstudio.ui.plots.axes import AIR, Axes
from rankstudio.ui.plots.base import (
    DEFAULT_FILE_NAME,
    CellValue,
    Numbers,
    Plot,
    describe,
    floats,
)
from rankstudio.ui.plots.layers import INSPECTED, Frame, pen
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import BELOW, LEFT, RIGHT, TINY, font
from rankstudio.ui.style.palettes import viridis
from rankstudio.ui.style.theme import Theme

BAR_WIDTH = 10.0
"""Width of the bar alone, in pixels."""

_N_STOPS = 17
_NUMBER_GAP = 5.0  # pixels between the bar and its numbers
_NUMBER_HEIGHT = 16.0  # pixels of a number's height


@dataclass(frozen=True)
class ColorBar:
    """A bar of colors beside a map: its box, its numbers and its title.

    Attributes
    ----------
    box : QRectF
        Box of the bar, without its numbers.
    ticks : sequence of (float, str)
        Shares of the height, from 0 at the bottom, and the texts beside them.
    title : str
        Name of the values, above the bar; "" if it stands elsewhere.
    """

    box: QRectF
    ticks: Sequence[tuple[float, str]]
    title: str = ""


def color_bar_width(texts: Sequence[str]) -> float:
    """Return the width of a bar of colors with some numbers beside it, in pixels."""
    metrics = QFontMetricsF(font(TINY))
    return (
        BAR_WIDTH
        + _NUMBER_GAP
        + max((metrics.horizontalAdvance(text) for text in texts), default=0.0)
    )


def draw_color_bar(painter: QPainter, bar: ColorBar, colors: Colors) -> None:
    """Draw the bar of colors, from dark at the bottom to bright, with its numbers at the right.

    Numbers without room are left out.
    """
    # The gradient is made of 17 shades, from the color of the least
    # value at the bottom.
    rect = bar.box
    gradient = QLinearGradient(rect.bottomLeft(), rect.topLeft())
    for share, shade in zip(
        np.linspace(0, 1, _N_STOPS), viridis(np.linspace(0, 1, _N_STOPS)), strict=True
    ):
        gradient.setColorAt(float(share), QColor(*map(int, shade)))
    painter.setPen(pen(colors.q("line"), 1.0))
    painter.setBrush(gradient)
    painter.drawRect(rect)
    painter.setFont(font(TINY))
    painter.setPen(colors.q("muted"))
    # A tick is a share of the bar's height, and the text of a number.
    # An inner number is written if it is a line's height away from both
    # ends. Each text has a box 120 pixels wide.
    n_lines = rect.height() / _NUMBER_HEIGHT
    for share, text in bar.ticks:
        if share in (0.0, 1.0) or min(share, 1.0 - share) * n_lines >= 1.0:
            y = rect.bottom() - share * rect.height()
            painter.drawText(
                QRectF(
                    rect.right() + _NUMBER_GAP,
                    y - _NUMBER_HEIGHT / 2,
                    120,
                    _NUMBER_HEIGHT,
                ),
                LEFT,
                text,
            )
    painter.drawText(
        QRectF(rect.left() - 2, rect.top() - 24, 120, _NUMBER_HEIGHT), LEFT, bar.title
    )


_MIN_CELLS_WIDTH = 44.0  # pixels for the cells, for which long labels are cut
_MIN_LABEL_WIDTH = 48.0  # pixels with which a label that is cut still says something
LEAST_WITH_GAP = 6
"""Pixels of a cell, from which on there is one between it and the next."""
NAME_WIDTH = 15.0
"""Pixels that the name of the rows takes, beside their labels."""
_SHADES = 64
_TITLE_HEIGHT = 18
_MIN_TURNED_LETTERS = 3  # letters of what the rows are: a symbol is read upright
_RING = 5.0  # pixels, radius of the mark of the best cell
_BRIGHT = 0.62  # of viridis: from here on dark letters are read better than light ones


class HeatMapPlot(Plot):
    """A map of values in colors: rows from bottom to top (such as λ), columns from left to right (such as k).

    The colours reach no farther beyond the 10th and the 90th percentile
    than the two percentiles are apart, so that one bad column does not
    leave the rest in a single shade; the bar of colours beside the map
    says by "≤" and "≥" where values lie beyond its ends. A cell without
    a value shows the ground.

    Parameters
    ----------
    theme : Theme
    title : str
        What the colours measure: "validation MAP".
    x_label : str
        Name of the quantity of the columns.
    names : pair of str
        Names of row and column in the box of values: ("λ", "k").
    decimals : int
        Number of decimals of the values in the box and in the cells.
    limits : pair of float, optional
        Fixed values at the two ends of the colours; by default the
        values of the map decide.
    written : bool
        Whether cells with enough room bear their value.

    Attributes
    ----------
    note : str
        Sentence for a screen reader on what the map shows. If it is
        empty, the greatest value of the map is said instead.
    picked : Signal(int, int)
        Row and column of the cell that was clicked, counted from 0.
    """

    picked = Signal(int, int)

    def __init__(
        self,
        theme: Theme,
        title: str = "",
        x_label: str = "",
        names: tuple[str, str] = ("λ", "k"),
        decimals: int = 4,
        limits: tuple[float, float] | None = None,
        written: bool = False,
    ) -> None:
        self.written = written  # whether values are written into their cells
        self.note = ""  # what the map says to a screen reader
        # values at both ends of the colors; None for those of the map's values
        self._limits = limits
        self.values: Floats = np.empty((0, 0))
        self.row_labels: tuple[str, ...] = ()
        self.column_labels: tuple[str, ...] = ()
        # Cells are pairs of row and column, rows from the bottom.
        self.chosen: tuple[int, int] | None = None
        self.inspected_cell: tuple[int, int] | None = None
        self.best: tuple[int, int] | None = None
        self._names = names  # of the rows and of the columns
        self._decimals = decimals
        super().__init__(theme, Axes(title, x_label, show_x=False, show_y=False))
        self.add_layer(self.draw_map, 0.0, clipped=False)

    def set_names(self, row: str, column: str) -> None:
        """Set the names of rows and columns, such as "λ" and "k"; "" if the labels of rows say enough."""
        self._names = (row, column)

    def row_name(self) -> str:
        """Return the name of the rows, as it is written beside their labels; "" if the labels say enough."""
        return self._names[0] if any(self.row_labels) else ""

    def set_values(
        self, values: ArrayLike, rows: Sequence[str], columns: Sequence[str]
    ) -> None:
        """Show other values; no cell is the best one until `best` is set.

        Parameters
        ----------
        values : array of shape (R, C)
            The value of each cell, NaN where there is none yet.
        rows, columns : sequence of str
            R and C labels; rows from bottom to top.
        """
        array = np.array(values, dtype=np.float64)
        if array.shape != (len(rows), len(columns)):
            raise ValueError(
                f"values of shape {array.shape} do not fit {len(rows)} rows and {len(columns)} columns"
            )
        self.values = array
        self.row_labels, self.column_labels = tuple(rows), tuple(columns)
        self.best = None
        self.under_mouse = None
        self.mark_dirty()

    def select(self, row: int | None, column: int = 0) -> None:
        """Outline the chosen cell, its row counted from the bottom; None removes the outline."""
        self.chosen = None if row is None else (row, column)
        self.mark_dirty()

    def inspect(self, row: int | None, column: int = 0) -> None:
        """Outline the inspected cell with dashes, its row counted from the bottom; None removes the outline."""
        self.inspected_cell = None if row is None else (row, column)
        self.mark_dirty()

    def mark_best(self, cell: tuple[int, int] | None) -> None:
        """Mark the best cell, given as row (from the bottom) and column; None marks no cell."""
        self.best = cell
        self.mark_dirty()

    def color_range(self) -> tuple[float, float]:
        """Return the values at the two ends of the colors.

        A map without fixed limits begins at the least value and ends at
        the greatest. But no end is farther beyond the 10 % or the 90 %
        quantile than these two quantiles are apart, as an outlier would
        leave all other cells in a single shade.
        """
        if self._limits is not None:
            return self._limits
        finite = self.values[np.isfinite(self.values)]
        if finite.size == 0:
            return 0.0, 1.0
        low = float(finite.min())
        high = float(finite.max())
        first, last = (float(v) for v in np.quantile(finite, (0.1, 0.9)))
        # 2 * first - last is as far below the first quantile as the last is above.
        if last > first:
            low = max(low, 2 * first - last)
            high = min(high, 2 * last - first)
        return (low, high) if high > low else (low - 0.5, low + 0.5)

    def bar_texts(self) -> tuple[str, ...]:
        """Return the three texts beside the bar of colors, from its lower end up; () for a map without one.

        A map whose values are written into its cells needs no bar. "≤"
        or "≥" at an end says that there are values beyond it. If all
        values are equal, only the middle has a number.
        """
        finite = self.values[np.isfinite(self.values)]
        if self.written or finite.size == 0:
            return ()
        low, high = self.color_range()
        if self._limits is None and finite.min() == finite.max():
            # no number at the ends, as no cell has another color
            return "", fixed(float(finite[0]), self._decimals), ""
        below = "≤ " if finite.min() < low else ""
        above = "≥ " if finite.max() > high else ""
        ends = fixed(low, self._decimals), fixed(high, self._decimals)
        return below + ends[0], fixed((low + high) / 2, self._decimals), above + ends[1]

    def color_bar(self, frame: Frame) -> ColorBar | None:
        """Return the bar of colors beside the map; None for a map without one.

        The bar has three texts: at the bottom, in the middle and at the top.
        """
        texts = self.bar_texts()
        area = frame.area
        if not texts:
            return None
        rect = QRectF(area.right() + AIR, area.top(), BAR_WIDTH, area.height())
        # a text at each share of the bar's height
        return ColorBar(rect, list(zip((0.0, 0.5, 1.0), texts, strict=True)))

    def edges(self, frame: Frame) -> tuple[Ints, Ints]:
        """Return the pixels between the cells of a map of R rows and C columns, whole and ascending.

        The first array has C + 1 horizontal pixels, the second R + 1
        vertical pixels, from the top.
        """
        n_rows, n_columns = self.values.shape
        area = frame.area
        xs = np.rint(np.linspace(area.left(), area.right(), n_columns + 1)).astype(
            np.int64
        )
        ys = np.rint(np.linspace(area.top(), area.bottom(), n_rows + 1)).astype(
            np.int64
        )
        return xs, ys

    def text_of(self, row: int, column: int) -> str:
        """Return the value of a cell as a text with the decimals of the map."""
        value = self.values[row, column]
        return "" if np.isnan(value) else fixed(float(value), self._decimals)

    def cell_rect(self, frame: Frame, row: int, column: int) -> QRectF:
        """Return the rectangle of a cell in pixels; rows are counted from the bottom."""
        xs, ys = self.edges(frame)
        top = self.values.shape[0] - 1 - row  # rows are counted from the bottom
        return QRectF(
            QPointF(xs[column], ys[top]), QPointF(xs[column + 1], ys[top + 1])
        )

    def draw_map(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw cells, labels, and the outlines of the chosen cell and of the one under the mouse.

        Cells with their values written in them (`written`) need no bar
        of colours.
        """
        if self.is_empty():
            return
        draw_cells(self, painter, frame)
        _draw_labels(self, painter, frame, colors)
        bar = self.color_bar(frame)
        if bar is not None:
            draw_color_bar(painter, bar, colors)
        if self.written:
            draw_values(self, painter, frame)
        if self.under_mouse is not None:
            outline(self, painter, frame, self.under_mouse, colors.q("muted"), 1.0)
        if self.best is not None:
            _draw_best(self, painter, frame, self.best)
        # A dark outline inside a light one is seen on every shade.
        # After other values were set, a cell may be beyond the map.
        for cell, dash in ((self.chosen, ()), (self.inspected_cell, INSPECTED)):
            if cell is not None and all(np.less(cell, self.values.shape)):
                outline(self, painter, frame, cell, QColor("#ffffff"), 4.0)
                outline(self, painter, frame, cell, QColor("#11151c"), 2.0, dash)

    # Plot

    def frame_for(self, size: QSizeF) -> Frame:
        """Lay out a drawing, with row labels and their name at the left, and the bar of colors at the right."""
        plain = super().frame_for(size)
        if self.is_empty():  # the text of an empty map has all the room
            return plain
        metrics = QFontMetricsF(font(TINY))
        area = plain.area
        texts = self.bar_texts()
        if texts:
            area.setRight(round(plain.outer.right() - 2 * AIR - color_bar_width(texts)))
        left_edge = (
            max(
                (metrics.horizontalAdvance(text) for text in self.row_labels),
                default=0.0,
            )
            + AIR
        )
        left_edge += NAME_WIDTH if self.row_name() else 0.0
        # Labels that leave too little width to the cells are cut at
        # half the width. If that is too little to be read, they are
        # left out.
        if left_edge > _MIN_LABEL_WIDTH and area.right() - left_edge < _MIN_CELLS_WIDTH:
            left_edge = (
                area.right() / 2 if area.right() / 2 >= _MIN_LABEL_WIDTH else AIR
            )
        area.setLeft(round(left_edge))
        return Frame(area, plain.outer, plain.x_range, plain.y_range)

    def is_empty(self) -> bool:
        """Return whether no cell has a value."""
        return not bool(np.isfinite(self.values).any())

    def figure(self) -> MapFigure:
        """Return the map as a figure for print, its rows from the top, with the chosen and the best cell marked.

        If all values are equal, the bar of colors has one number, in
        the middle.
        """
        # `texts` are those at the lower end, in the middle and at the
        # upper end of the bar; the outer ones are "" if all values are
        # equal.
        low, high = self.color_range()
        n = len(self.row_labels)
        texts = self.bar_texts()
        # The cells of the map have their rows from the bottom, those of
        # a figure from the top.
        cells = {tr("chosen"): self.chosen, tr("best"): self.best}
        marks = {
            label: (n - 1 - cell[0], cell[1])
            for label, cell in cells.items()
            if cell is not None
        }
        return MapFigure(
            name=DEFAULT_FILE_NAME,
            title=self.axes.title,
            caption="",
            rows=self.row_labels[::-1],
            columns=self.column_labels,
            values=tuple(floats(row) for row in self.values[::-1]),
            row_title=self.row_name(),
            column_title=self.axes.x_label or self._names[1],
            color=FigureAxis(self.axes.title, low=low, high=high),
            decimals=self._decimals,
            written=self.written,
            marked=tuple(dict.fromkeys(marks.values())),
            mark_label=", ".join(marks),
            ends=(((low + high) / 2, texts[1]),) if texts and not texts[0] else (),
        )

    def numbers(self) -> Numbers:
        """Return one row per row of the map, from its first to its last, and one column per column."""
        header = [
            self._names[0] or "combination",
            *(f"{self._names[1]} = {label}" for label in self.column_labels),
        ]
        rows: list[list[CellValue]] = [
            [label, *map(float, row)]
            for label, row in zip(self.row_labels, self.values, strict=True)
        ]
        return header, rows

    def readout(self, cell: tuple[int, int]) -> list[Line]:
        """Return the lines of the box on a cell: where it is, its value, and what the values measure."""
        text = self.text_of(*cell) or tr("no value")
        return [
            Line(self._where(*cell), text, bold=True),
            Line(self.axes.title or tr("value")),
        ]

    def pick(self, cell: tuple[int, int]) -> None:
        """Emit `picked` with the row and column of a cell, if it has a value."""
        if np.isfinite(self.values[cell]):
            self.picked.emit(*cell)

    def hit_test(self, point: QPointF) -> tuple[int, int] | None:
        """Return row and column of the cell at a pixel, rows from the bottom; None beside the map."""
        # `edges` has the pixels between rows from the top.
        frame = self.frame()
        if self.values.size == 0 or not frame.area.contains(point):
            return None
        # The cell begins at the last edge that is not to the right of
        # the point, or below it.
        xs, ys = self.edges(frame)
        column = int(
            np.clip(
                np.searchsorted(xs, point.x(), "right") - 1, 0, self.values.shape[1] - 1
            )
        )
        top = int(
            np.clip(
                np.searchsorted(ys, point.y(), "right") - 1, 0, self.values.shape[0] - 1
            )
        )
        return self.values.shape[0] - 1 - top, column

    def step(self, right: int, down: int) -> bool:
        """Pick the next cell in a direction from the inspected or the chosen one; return whether there is a map.

        ``right`` and ``down`` are 1, 0 or -1, by the arrow key. Without
        an inspected or a chosen cell, the lower left one is picked.
        """
        if self.is_empty():
            return False
        rows, columns = self.values.shape
        # (down, -right) is the cell from which this step leads to the lower left one.
        row, column = self.inspected_cell or self.chosen or (down, -right)
        self.pick(
            (
                min(max(row - down, 0), rows - 1),
                min(max(column + right, 0), columns - 1),
            )
        )
        return True

    def _where(self, row: int, column: int) -> str:
        """Return the row and column of a cell in words."""
        named = f"{self._names[0]} = " if self._names[0] else ""
        return f"{self._names[1]} = {self.column_labels[column]} · {named}{self.row_labels[row]}"

    def summary(self) -> str:
        """Return in words where the best or the greatest value is, and the chosen and the inspected cell.

        The note of the map, if it has one, replaces the sentence on the
        best or greatest value.
        """
        cell = self.best or np.unravel_index(
            int(np.nanargmax(self.values)), self.values.shape
        )
        text = tr("{title}, best {row}") if self.best else tr("{title}, largest {row}")
        greatest = text.format(
            title=self.axes.title, row=self._said(int(cell[0]), int(cell[1]))
        )
        sentences = [self.note or greatest]
        # After a change of the values, a cell may be beyond the map.
        if self.chosen is not None and all(np.less(self.chosen, self.values.shape)):
            sentences.append(
                tr("chosen: {chosen}").format(chosen=self._said(*self.chosen))
            )
        if self.inspected_cell is not None and all(
            np.less(self.inspected_cell, self.values.shape)
        ):
            sentences.append(
                tr("inspected: {cell}").format(cell=self._said(*self.inspected_cell))
            )
        return describe(sentences)

    def _said(self, row: int, column: int) -> str:
        """Return the value of a cell, and its row and column, in words."""
        return tr("{text_of} at {row}").format(
            text_of=self.text_of(row, column) or tr("no value"),
            row=self._where(row, column),
        )


def _draw_best(
    plot: HeatMapPlot, painter: QPainter, frame: Frame, cell: tuple[int, int]
) -> None:
    """Draw a ring in the best cell: dark on a wider light one, which is seen on every shade."""
    rect = plot.cell_rect(frame, *cell)
    radius = min(_RING, rect.width() / 2 - 1, rect.height() / 2 - 1)  # inside the cell
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for color, width in (("#ffffff", 3.6), ("#11151c", 1.6)):
        painter.setPen(pen(QColor(color), width))
        painter.drawEllipse(rect.center(), radius, radius)


def draw_cells(plot: HeatMapPlot, painter: QPainter, frame: Frame) -> None:
    """Fill the cells with their colors; all cells of one shade are drawn at once, which is faster."""
    values = plot.values
    low, high = plot.color_range()
    # `values` has shape (R, C). The number of each cell's shade has the
    # same shape; it is -1 for a cell without a value.
    shades = np.clip((values - low) / (high - low), 0, 1)
    numbers = np.where(
        np.isfinite(values), np.rint(np.nan_to_num(shades) * (_SHADES - 1)), -1
    )
    palette = viridis(np.linspace(0, 1, _SHADES))
    xs, ys = plot.edges(frame)
    # Between large cells there is a gap of one pixel.
    gap = 1 if min(np.diff(xs).min(), np.diff(ys).min()) >= LEAST_WITH_GAP else 0
    # Of thousands of columns most have no pixel of their own, and are
    # left out. From here on, rows are counted from the top.
    columns = np.flatnonzero(np.diff(xs))
    rows = np.flatnonzero(np.diff(ys))
    numbers = numbers[::-1][np.ix_(rows, columns)]
    lefts = xs[columns].tolist()
    widths = np.diff(xs)[columns].tolist()
    tops = ys[rows].tolist()
    heights = np.diff(ys)[rows].tolist()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(Qt.PenStyle.NoPen)
    for shade in np.unique(numbers[numbers >= 0]).astype(int):
        cells = [
            QRectF(lefts[c], tops[r], widths[c] - gap, heights[r] - gap)
            for r, c in zip(*np.nonzero(numbers == shade), strict=True)
        ]
        painter.setBrush(QColor(*map(int, palette[shade])))
        painter.drawRects(cells)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)


def draw_values(plot: HeatMapPlot, painter: QPainter, frame: Frame) -> None:
    """Write the values into their cells, light on dark shades and dark on bright ones."""
    painter.setFont(font(TINY))
    low, high = plot.color_range()
    # All texts have about the width of the first one. They have 6
    # pixels of margin, and a height of 14.
    text_width = QFontMetricsF(font(TINY)).horizontalAdvance(plot.text_of(0, 0)) + 6
    for row, column in np.ndindex(*plot.values.shape):
        cell = plot.cell_rect(frame, row, column)
        # All cells are about equally large: if one has no room, none has.
        if cell.width() < text_width or cell.height() < 14:
            return
        bright = (plot.values[row, column] - low) / (high - low) > _BRIGHT
        painter.setPen(QColor("#11151c" if bright else "#ffffff"))
        painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, plot.text_of(row, column))


def _draw_labels(
    plot: HeatMapPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Write the name of the rows, and as many row and column labels as have room."""
    painter.setFont(font(TINY))
    painter.setPen(colors.q("muted"))
    # The name of the rows stands upright if it is a symbol, else it
    # reads upwards. All labels of rows are 18 pixels high, 9 on each
    # side of their middle.
    painter.save()
    painter.translate(NAME_WIDTH / 2, frame.area.center().y())
    painter.rotate(0 if len(plot.row_name()) < _MIN_TURNED_LETTERS else -90)
    metrics = QFontMetricsF(font(TINY))
    middle = frame.area.center().y()
    # The pixels that the name has along the map, centered at its
    # middle. It is cut at the left, as a symbol stands at the end of
    # the name.
    length = 2 * min(middle - _TITLE_HEIGHT, frame.outer.height() - middle)
    name = metrics.elidedText(plot.row_name(), Qt.TextElideMode.ElideLeft, length)
    painter.drawText(
        QRectF(-length / 2, -9, length, 18), Qt.AlignmentFlag.AlignCenter, name
    )
    painter.restore()
    xs, ys = plot.edges(frame)
    n_rows, n_columns = plot.values.shape
    # Every stride-th row has a label, so that 15 pixels are between two.
    stride = max(1, int(np.ceil(15.0 * n_rows / max(1.0, frame.area.height()))))
    start = NAME_WIDTH if plot.row_name() else 0.0
    for row in range(0, n_rows, stride):
        # Row 0 is at the bottom, but `ys` begins at the top.
        top = n_rows - 1 - row
        box = QRectF(
            start,
            (ys[top] + ys[top + 1]) / 2 - 9,
            frame.area.left() - AIR + 1 - start,
            18,
        )
        text = metrics.elidedText(
            plot.row_labels[row], Qt.TextElideMode.ElideMiddle, box.width()
        )
        if box.width() > 1:
            painter.drawText(box, RIGHT, text)
    # Columns have as many labels as an axis that counts from 1 would have ticks.
    ticks = Axes(integer_x=True).x_ticks((1, n_columns), frame.area.width())
    for column in (int(value) - 1 for value, _ in ticks):
        # Room for the label, 60 pixels wide, below the middle of the column.
        middle = (xs[column] + xs[column + 1]) / 2
        box = QRectF(middle - 30, frame.area.bottom() + 4, 60, 16)
        painter.drawText(box, BELOW, plot.column_labels[column])


def outline(
    plot: HeatMapPlot,
    painter: QPainter,
    frame: Frame,
    cell: tuple[int, int],
    color: QColor,
    width: float,
    dash: tuple[float, ...] = (),
) -> None:
    """Draw a frame around a cell, given as row (from the bottom) and column, in a color and width."""
    painter.setPen(pen(color, width, dash))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(plot.cell_rect(frame, *cell).adjusted(-0.5, -0.5, -0.5, -0.5))
