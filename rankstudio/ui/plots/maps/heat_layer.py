"""What `HeatMapPlot` draws: cells, labels, values and outlines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from rankstudio.ui.plots.axes import AIR, Axes
from rankstudio.ui.plots.color_bar import draw_color_bar
from rankstudio.ui.plots.frame import Frame
from rankstudio.ui.plots.layers import pen
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import TINY, font
from rankstudio.ui.style.palettes import viridis

if TYPE_CHECKING:
    from rankstudio.ui.plots.maps.heat_map import HeatMapPlot

LEAST_WITH_GAP = 6
"""Pixels of a cell, from which on there is one between it and the next."""

NAME_WIDTH = 15.0
"""Pixels that the name of the rows takes, beside their labels."""

_SHADES = 64
_TITLE_HEIGHT = 18
_LEAST_TURNED = 3  # letters of what the rows are: a symbol is read upright
_RING = 5.0  # pixels, radius of the mark of the best cell
_BRIGHT = 0.62  # of viridis: from here on dark letters are read better than light ones


def draw_map(plot: HeatMapPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw cells, labels, and the outlines of the chosen cell and of the one under the mouse."""
    if plot.is_empty():
        return
    draw_cells(plot, painter, frame)
    _draw_labels(plot, painter, frame, colors)
    bar = plot.color_bar(frame)
    if bar is not None:
        draw_color_bar(painter, bar, colors)
    if plot.written:
        draw_values(plot, painter, frame)
    if plot.under_mouse is not None:
        outline(plot, painter, frame, plot.under_mouse, colors.q("muted"), 1.0)
    if plot.best is not None:
        _draw_best(plot, painter, frame, plot.best)
    chosen, shape = plot.chosen, plot.values.shape
    if chosen is not None and chosen[0] < shape[0] and chosen[1] < shape[1]:
        # Dark in light is seen on every shade of the map.
        outline(plot, painter, frame, chosen, QColor("#ffffff"), 4.0)
        outline(plot, painter, frame, chosen, QColor("#11151c"), 2.0)


def _draw_best(plot: HeatMapPlot, painter: QPainter, frame: Frame, cell: tuple[int, int]) -> None:
    """Draw a ring in the best cell, dark in light, which is seen on every shade."""
    rect = plot.cell_rect(frame, *cell)
    radius = min(_RING, rect.width() / 2 - 1, rect.height() / 2 - 1)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for color, width in (("#ffffff", 3.6), ("#11151c", 1.6)):
        painter.setPen(pen(QColor(color), width))
        painter.drawEllipse(rect.center(), radius, radius)


def draw_cells(plot: HeatMapPlot, painter: QPainter, frame: Frame) -> None:
    """Fill the cells, those of one shade together."""
    values = plot.values
    low, high = plot.color_range()
    shades = np.clip((values - low) / (high - low), 0, 1)
    numbers = np.where(np.isfinite(values), np.rint(np.nan_to_num(shades) * (_SHADES - 1)), -1)
    palette = viridis(np.linspace(0, 1, _SHADES))
    xs, ys = plot.edges(frame)
    gap = 1 if min(np.diff(xs).min(), np.diff(ys).min()) >= LEAST_WITH_GAP else 0
    # Of thousands of columns most have no pixel of their own.
    columns, rows = np.flatnonzero(np.diff(xs)), np.flatnonzero(np.diff(ys))
    numbers = numbers[::-1][np.ix_(rows, columns)]
    lefts, widths = xs[columns].tolist(), np.diff(xs)[columns].tolist()
    tops, heights = ys[rows].tolist(), np.diff(ys)[rows].tolist()
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
    room = QFontMetricsF(font(TINY)).horizontalAdvance(plot.text_of(0, 0)) + 6
    for row, column in np.ndindex(*plot.values.shape):
        cell = plot.cell_rect(frame, row, column)
        if cell.width() < room or cell.height() < 14:
            return
        bright = (plot.values[row, column] - low) / (high - low) > _BRIGHT
        painter.setPen(QColor("#11151c" if bright else "#ffffff"))
        painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, plot.text_of(row, column))


def _draw_labels(plot: HeatMapPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Write what the rows are, and as many row and column labels as have room."""
    painter.setFont(font(TINY))
    painter.setPen(colors.q("muted"))
    painter.save()
    painter.translate(NAME_WIDTH / 2, frame.area.center().y())
    painter.rotate(0 if len(plot.row_name()) < _LEAST_TURNED else -90)
    metrics, middle = QFontMetricsF(font(TINY)), frame.area.center().y()
    height = 2 * min(middle - _TITLE_HEIGHT, frame.outer.height() - middle)  # the symbol at its end is kept
    name = metrics.elidedText(plot.row_name(), Qt.TextElideMode.ElideLeft, height)
    painter.drawText(QRectF(-height / 2, -9, height, 18), Qt.AlignmentFlag.AlignCenter, name)
    painter.restore()
    xs, ys = plot.edges(frame)
    n_rows, n_columns = plot.values.shape
    every = max(1, int(np.ceil(15.0 * n_rows / max(1.0, frame.area.height()))))
    start = NAME_WIDTH if plot.row_name() else 0.0
    for row in range(0, n_rows, every):
        top = n_rows - 1 - row
        box = QRectF(start, (ys[top] + ys[top + 1]) / 2 - 9, frame.area.left() - AIR + 1 - start, 18)
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        text = metrics.elidedText(plot.row_labels[row], Qt.TextElideMode.ElideMiddle, box.width())
        if box.width() > 1:
            painter.drawText(box, flags, text)
    ticks = Axes(integer_x=True).x_ticks((1, n_columns), frame.area.width())
    for column in (int(value) - 1 for value, _ in ticks):
        middle = (xs[column] + xs[column + 1]) / 2
        box = QRectF(middle - 30, frame.area.bottom() + 4, 60, 16)
        flags = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop
        painter.drawText(box, flags, plot.column_labels[column])


def outline(
    plot: HeatMapPlot, painter: QPainter, frame: Frame, cell: tuple[int, int], color: QColor, width: float
) -> None:
    """Draw a frame around a cell."""
    painter.setPen(pen(color, width))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(plot.cell_rect(frame, *cell).adjusted(-0.5, -0.5, -0.5, -0.5))
