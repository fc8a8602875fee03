"""What `FeatureMapPlot` draws over and around its cells: outlines, labels and groups."""

from __future__ import annotations

from itertools import accumulate, pairwise
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from rankstudio.ui.plots.axes import AIR, LABEL_HEIGHT
from rankstudio.ui.plots.frame import Frame
from rankstudio.ui.plots.layers import pen
from rankstudio.ui.plots.maps.heat_layer import LEAST_WITH_GAP
from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import SMALL, TINY, font

if TYPE_CHECKING:
    from rankstudio.ui.plots.maps.feature_map import FeatureMapPlot

_SPACING = 13.0  # pixels between two row labels at least
_CROWDED = 0.75  # of the labels that have room: with more, many would stand far from their rows
_DOT = 3.5
_MOST_OUTLINED = 0.5  # of the rows: where more are selected, outlines would tell nothing

TICKS_HEIGHT = 16.0
"""Of the texts under the columns, in pixels."""


def draw_outlines(plot: FeatureMapPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw frames around the rows of the model's features, and around the row that is inspected."""
    if plot.shown is None or plot.is_empty():
        return
    xs, ys = plot.edges(frame)
    # In gaps between cells the text's colour is seen, and between empty cells; else white over dark ones.
    gaps = min(np.diff(xs).min(), np.diff(ys).min()) >= LEAST_WITH_GAP
    seen = colors.q("text") if gaps or not plot.shown.square else QColor("#ffffff")
    outline = pen(seen, 2.0 if gaps else 1.0)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    selected = [place for place, feature in enumerate(plot.features) if feature.rank]
    if len(selected) > _MOST_OUTLINED * len(plot.features):
        selected = []
    marked = [place for place, feature in enumerate(plot.features) if feature.feature_id == plot.marked]
    for places, look in ((selected, outline), (marked, pen(colors.q("accent"), 2.0))):
        painter.setPen(look)
        for place in places:
            corner = QPointF(xs[-1], ys[place + 1] - 1)
            painter.drawRect(QRectF(QPointF(xs[0] - 1, ys[place] - 1), corner))


def draw_margins(plot: FeatureMapPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw row labels, column texts and groups of columns."""
    shown = plot.shown
    if shown is None or plot.is_empty():
        return
    _draw_row_labels(plot, painter, frame, colors)
    _draw_ticks(plot, painter, frame, colors)
    _draw_groups(plot, painter, frame, colors)


def spread(wanted: list[float], low: float, high: float, spacing: float = _SPACING) -> list[float]:
    """Return places near the wanted ones, ascending, that keep their distance inside a range.

    Where there is no room for all, the last ones are left out.
    """
    fitting = wanted[: max(1, int((high - low) / spacing) + 1)]
    places: list[float] = []
    for value in fitting:
        places.append(max(value, places[-1] + spacing if places else low))
    for i in reversed(range(len(places))):
        most = high if i == len(places) - 1 else places[i + 1] - spacing
        places[i] = min(places[i], most)
    return places


def _draw_row_labels(plot: FeatureMapPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Write the labels of the model's features beside their rows, as far apart as they can be read."""
    _, ys = plot.edges(frame)
    painter.setFont(font(TINY))
    most = max(1, int(_CROWDED * frame.area.height() / _SPACING))
    marked = plot.marked
    rows = [
        (place, feature)
        for place, feature in enumerate(plot.features)
        if 0 < feature.rank <= most or (feature.rank and feature.feature_id == marked)
    ]
    middles = [float(ys[place] + ys[place + 1]) / 2 - 0.5 for place, _ in rows]
    places = spread(middles, frame.area.top() + 4, frame.area.bottom() - 4)
    edge = frame.area.left() - 2
    for (_, feature), middle, y in zip(rows, middles, places, strict=False):
        painter.setPen(pen(colors.q("faint"), 1.0))
        painter.drawLine(QPointF(edge - AIR + 3, y), QPointF(edge, middle))
        painter.setPen(colors.q("accent" if feature.feature_id == plot.marked else "text"))
        box = QRectF(0, y - 9, edge - AIR, 18)
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(box, flags, plot.label_of(feature))


def _draw_ticks(plot: FeatureMapPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Write what is under the columns, of each group the first and as many more as have room."""
    assert plot.shown is not None  # or nothing is drawn
    xs, _ = plot.edges(frame)
    painter.setFont(font(TINY))
    painter.setPen(colors.q("muted"))
    ticks, bottom = plot.shown.ticks, frame.area.bottom()
    if any(ticks):
        metrics = QFontMetricsF(font(TINY))
        widest = max(metrics.horizontalAdvance(text) for text in ticks)
        every = max(1, ceil((widest + 3) * len(ticks) / frame.area.width()))
        begins = list(accumulate((group.size for group in plot.shown.groups), initial=0))
        for begin, end in pairwise(begins if len(begins) > 1 else [0, len(ticks)]):
            for column in range(begin, end, every):
                middle = float(xs[column] + xs[column + 1]) / 2
                box = QRectF(middle - 30, bottom + 2, 60, 16)
                painter.drawText(
                    box, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop, ticks[column]
                )
        bottom += TICKS_HEIGHT
    box = QRectF(0, bottom + 2, 2 * frame.area.center().x(), LABEL_HEIGHT)
    painter.setFont(font(SMALL))
    painter.drawText(box, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop, plot.shown.x_label)


def _draw_groups(plot: FeatureMapPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Write above the columns which run they are of, in its colour, and part the groups by lines."""
    assert plot.shown is not None  # or nothing is drawn
    xs, _ = plot.edges(frame)
    metrics = QFontMetricsF(font(TINY))
    painter.setFont(font(TINY))
    begin = 0
    for group in plot.shown.groups:
        left, right = float(xs[begin]), float(xs[begin + group.size])
        color = palettes.category(colors, group.category).color
        painter.setPen(pen(color, 2.0))
        painter.drawLine(QPointF(left + 1, frame.area.top() - 3), QPointF(right - 3, frame.area.top() - 3))
        label = group.label
        room = right - left - 4
        if metrics.horizontalAdvance(label) > room:
            label = label.rpartition(" ")[2]
        if metrics.horizontalAdvance(label) <= room:
            painter.setPen(colors.q("text"))
            box = QRectF(left, frame.area.top() - 21, right - left, 16)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, label)
        begin += group.size
