"""A value over two grids as colours: validation measure by λ and k."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter
from PySide6.QtWidgets import QWidget

from rankstudio.ui.colors import Colors
from rankstudio.ui.fonts import TINY, font
from rankstudio.ui.palettes import viridis
from rankstudio.ui.plots.axes import AIR, Axes
from rankstudio.ui.plots.base import Cell, Numbers, Plot, describe
from rankstudio.ui.plots.frame import Frame
from rankstudio.ui.plots.layers import Layer, pen
from rankstudio.ui.plots.value_box import Line
from rankstudio.ui.theme import Theme

_SHADES = 64
_STEPS: dict[int, tuple[int, int]] = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (1, 0),
    Qt.Key.Key_Down: (-1, 0),
}


class HeatMapPlot(Plot):
    """Rows from bottom to top (λ ascending), columns from left to right (k), viridis for the value.

    The colours span the 2nd to the 98th percentile, so that one poor corner does not leave the rest in a
    single shade. A cell without a value shows the ground.

    Parameters
    ----------
    theme : Theme
    title : str
        What the colours measure: "validation MAP".
    x_label : str
    names : pair of str
        How row and column are called in the box with values: ("λ", "k").
    decimals : int
        Of the values in the box.
    parent : QWidget, optional

    Attributes
    ----------
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
        parent: QWidget | None = None,
    ) -> None:
        self.values: NDArray[np.float64] = np.empty((0, 0))
        self.row_labels: tuple[str, ...] = ()
        self.column_labels: tuple[str, ...] = ()
        self.chosen: tuple[int, int] | None = None
        self.under_mouse: tuple[int, int] | None = None
        self._names = names
        self._decimals = decimals
        super().__init__(theme, Axes(title, x_label, show_x=False, show_y=False), parent)
        self.add_layer(HeatLayer(self, 0.0))

    def set_names(self, row: str, column: str) -> None:
        """Call rows and columns otherwise; "" for rows whose labels say what they are."""
        self._names = (row, column)

    def set_values(self, values: ArrayLike, rows: Sequence[str], columns: Sequence[str]) -> None:
        """Show other values.

        Parameters
        ----------
        values : array of shape (R, C)
            NaN where there is none (yet).
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
        self.under_mouse = None
        self.mark_dirty()

    def choose(self, row: int | None, column: int = 0) -> None:
        """Outline a cell; None takes the outline away."""
        self.chosen = None if row is None else (row, column)
        self.setAccessibleDescription(self._spoken())
        self.mark_dirty()

    def color_range(self) -> tuple[float, float]:
        """Return the values at the two ends of the colours."""
        known = self.values[np.isfinite(self.values)]
        if known.size == 0:
            return 0.0, 1.0
        low, high = (float(v) for v in np.quantile(known, (0.02, 0.98)))
        return (low, high) if high > low else (low - 0.5, low + 0.5)

    def edges(self, frame: Frame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the pixel columns and rows between the cells: C + 1 and R + 1, whole and ascending."""
        n_rows, n_columns = self.values.shape
        area = frame.area
        xs = np.rint(np.linspace(area.left(), area.right(), n_columns + 1)).astype(np.int64)
        ys = np.rint(np.linspace(area.top(), area.bottom(), n_rows + 1)).astype(np.int64)
        return xs, ys

    def cell_rect(self, frame: Frame, row: int, column: int) -> QRectF:
        """Return the rectangle of a cell."""
        xs, ys = self.edges(frame)
        top = self.values.shape[0] - 1 - row
        return QRectF(QPointF(xs[column], ys[top]), QPointF(xs[column + 1], ys[top + 1]))

    # Plot

    def frame_for(self, size: QSizeF) -> Frame:
        """Leave room at the left for the row labels."""
        plain = super().frame_for(size)
        metrics = QFontMetricsF(font(TINY))
        left = max((metrics.horizontalAdvance(text) for text in self.row_labels), default=0.0) + AIR
        area = plain.area
        area.setLeft(round(left))
        return Frame(area, plain.outer, plain.x_range, plain.y_range)

    def is_empty(self) -> bool:
        """Tell whether no cell has a value."""
        return not bool(np.isfinite(self.values).any())

    def numbers(self) -> Numbers:
        """Return one row per row of the map, from its first to its last, and one column per column."""
        header = [
            self._names[0] or "setting",
            *(f"{self._names[1]} = {label}" for label in self.column_labels),
        ]
        rows: list[list[Cell]] = [
            [label, *map(float, row)] for label, row in zip(self.row_labels, self.values, strict=True)
        ]
        return header, rows

    def hover(self, at: QPointF | None) -> None:
        """Show the value of the cell under the mouse."""
        cell = None if at is None else self.cell_at(at)
        if cell != self.under_mouse:
            self.under_mouse = cell
            self.redraw()
        if cell is None or at is None:
            self.box.silence()
            return
        value = self.values[cell]
        text = "no value" if np.isnan(value) else f"{value:.{self._decimals}f}"
        self.box.say([Line(self._where(*cell), bold=True), Line(self.axes.title or "value", text)], at)

    def click(self, at: QPointF) -> None:
        """Pick the cell under the mouse, if it has a value."""
        cell = self.cell_at(at)
        if cell is not None and np.isfinite(self.values[cell]):
            self.picked.emit(*cell)

    def cell_at(self, at: QPointF) -> tuple[int, int] | None:
        """Return row and column of the cell at a pixel."""
        frame = self.frame()
        if self.values.size == 0 or not frame.area.contains(at):
            return None
        xs, ys = self.edges(frame)
        column = int(np.clip(np.searchsorted(xs, at.x(), "right") - 1, 0, self.values.shape[1] - 1))
        top = int(np.clip(np.searchsorted(ys, at.y(), "right") - 1, 0, self.values.shape[0] - 1))
        return self.values.shape[0] - 1 - top, column

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the chosen cell with the arrow keys."""
        step = _STEPS.get(event.key())
        if step is None or self.is_empty():
            event.ignore()
            return
        row, column = self.chosen or (0, 0)
        if self.chosen is not None:
            row = int(np.clip(row + step[0], 0, self.values.shape[0] - 1))
            column = int(np.clip(column + step[1], 0, self.values.shape[1] - 1))
        if np.isfinite(self.values[row, column]):
            self.picked.emit(row, column)
        event.accept()

    def _where(self, row: int, column: int) -> str:
        """Return a cell in words."""
        named = f"{self._names[0]} = " if self._names[0] else ""
        return f"{self._names[1]} = {self.column_labels[column]} · {named}{self.row_labels[row]}"

    def _spoken(self) -> str:
        """Return the chosen cell as a screen reader says it."""
        if self.chosen is None or self.values.size == 0:
            return ""
        row, column = self.chosen
        if not (row < self.values.shape[0] and column < self.values.shape[1]):
            return ""
        return describe(
            [self._where(row, column), f"{self.axes.title} {self.values[row, column]:.{self._decimals}f}"]
        )


class HeatLayer(Layer):
    """The cells, their labels, and the outlines of the chosen one and of the one under the mouse."""

    plot: HeatMapPlot

    def __init__(self, plot: HeatMapPlot, z: float) -> None:
        super().__init__(plot, z, clipped=False)

    def draw(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the map."""
        if self.plot.is_empty():
            return
        self._draw_cells(painter, frame, colors)
        self._draw_labels(painter, frame, colors)
        if self.plot.under_mouse is not None:
            self._outline(painter, frame, self.plot.under_mouse, colors.q("muted"), 1.0)
        chosen, shape = self.plot.chosen, self.plot.values.shape
        if chosen is not None and chosen[0] < shape[0] and chosen[1] < shape[1]:
            # Dark in light is seen on every shade of the map.
            self._outline(painter, frame, chosen, QColor("#ffffff"), 4.0)
            self._outline(painter, frame, chosen, QColor("#11151c"), 2.0)

    def _draw_cells(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Fill the cells, those of one shade together."""
        values = self.plot.values
        low, high = self.plot.color_range()
        shades = np.clip((values - low) / (high - low), 0, 1)
        numbers = np.where(np.isfinite(values), np.rint(np.nan_to_num(shades) * (_SHADES - 1)), -1)
        palette = viridis(np.linspace(0, 1, _SHADES))
        xs, ys = self.plot.edges(frame)
        gap = 1 if min(np.diff(xs).min(), np.diff(ys).min()) >= 6 else 0
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(Qt.PenStyle.NoPen)
        for shade in np.unique(numbers[numbers >= 0]).astype(int):
            cells = [
                QRectF(xs[c], ys[r], xs[c + 1] - xs[c] - gap, ys[r + 1] - ys[r] - gap)
                for r, c in zip(*np.nonzero(numbers[::-1] == shade), strict=True)
            ]
            painter.setBrush(QColor(*map(int, palette[shade])))
            painter.drawRects(cells)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)

    def _draw_labels(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Write as many row and column labels as have room."""
        painter.setFont(font(TINY))
        painter.setPen(colors.q("muted"))
        xs, ys = self.plot.edges(frame)
        n_rows, n_columns = self.plot.values.shape
        every = max(1, int(np.ceil(15.0 * n_rows / max(1.0, frame.area.height()))))
        for row in range(0, n_rows, every):
            top = n_rows - 1 - row
            box = QRectF(0, (ys[top] + ys[top + 1]) / 2 - 9, frame.area.left() - AIR + 1, 18)
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(box, flags, self.plot.row_labels[row])
        ticks = Axes(integer_x=True).x_ticks((1, n_columns), frame.area.width())
        for column in (int(value) - 1 for value, _ in ticks):
            middle = (xs[column] + xs[column + 1]) / 2
            box = QRectF(middle - 30, frame.area.bottom() + 4, 60, 16)
            flags = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop
            painter.drawText(box, flags, self.plot.column_labels[column])

    def _outline(
        self, painter: QPainter, frame: Frame, cell: tuple[int, int], color: QColor, width: float
    ) -> None:
        """Draw a frame around a cell."""
        painter.setPen(pen(color, width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(self.plot.cell_rect(frame, *cell).adjusted(-0.5, -0.5, -0.5, -0.5))
