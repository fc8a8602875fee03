"""Which curve is which: on figures that are written to files, and of the dotted line on the screen too."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from rankstudio.ui.language import tr
from rankstudio.ui.plots.curves.curve_layers import reference_pixel
from rankstudio.ui.plots.curves.curve_values import REFERENCE_DASH
from rankstudio.ui.plots.frame import Frame
from rankstudio.ui.plots.layers import pen
from rankstudio.ui.plots.readout import Pixels
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import TINY, font

if TYPE_CHECKING:
    from rankstudio.ui.plots.curves.curves_plot import CurvesPlot

_SWATCH = 16.0
_HEIGHTS = 7  # at which there is looked for room
_OWN = 5  # times as bad it is to hide the curve that is named
_BESIDE_SWATCH = 24.0  # of a curve whose dashes are long
_GAP = 6.0
_GRAIN = 4.0  # pixels between those of a ground that count as taken
_STEP = 9.0
_MIDDLE = 9.0
# A family this large is shown as a strip from its first to its last colour.
_STRIP_FROM = 5
_LEAST_NAME = 70.0  # pixels

KeyEntry = tuple[str, QColor, tuple[float, ...]]


def draw_key(plot: CurvesPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw which curve is which: a strip of colours for a large ordered family, else a line for each."""
    family = plot.family
    strokes = family.strokes(colors)
    drawn = [key for key in family.given if family[key].xs]
    entries: list[KeyEntry] = [(family[key].label, *strokes[key]) for key in drawn]
    if len(entries) < 2:
        return
    painter.setFont(font(TINY))
    if family.kind == "ordered" and len(entries) >= _STRIP_FROM:
        _draw_strip(plot, painter, frame, colors, entries)
    else:
        _draw_entries(plot, painter, frame, colors, entries)


def draw_reference_key(plot: CurvesPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Write beside the title what the dotted line is: without its name where there is no room for that.

    The box beside the mouse has it in full.
    """
    if plot.reference is None or reference_pixel(plot, frame) is None:
        return
    painter.setFont(font(TINY))
    title = QFontMetricsF(font()).horizontalAdvance(plot.axes.title)
    room = frame.outer.width() - title - _SWATCH - 4 * _GAP
    if room < _LEAST_NAME:
        return
    metrics, text = painter.fontMetrics(), plot.reference[1]
    if metrics.horizontalAdvance(text) > room:
        text = text.partition(":")[0]
    text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(room))
    left = _write(painter, colors, text, frame.outer.right()) - _GAP
    painter.setPen(pen(colors.q("muted"), 1.2, REFERENCE_DASH))
    painter.drawLine(QPointF(left - _SWATCH, _MIDDLE), QPointF(left, _MIDDLE))


def draw_beside_key(plot: CurvesPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Write at an edge what the curve beside the chosen one is, in two lines at most."""
    found = _beside_key(plot, frame)
    if found is None:
        return
    key, lines, ground = found
    color, dash = plot.family.strokes(colors)[key]
    painter.setFont(font(TINY))
    height = ground.height() / len(lines)
    painter.fillRect(ground, colors.q("panel", 0.82))
    painter.setPen(pen(color, 1.5, dash))
    left, middle = ground.left() + _GAP, ground.top() + height / 2
    painter.drawLine(QPointF(left, middle), QPointF(left + _BESIDE_SWATCH, middle))
    painter.setPen(colors.q("muted"))
    for at, line in enumerate(lines):
        box = QRectF(left + _BESIDE_SWATCH + _GAP, ground.top() + at * height, ground.width(), height)
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, line)


def readable_pixels(plot: CurvesPlot) -> Pixels:
    """Return the pixels that the note about the choice had better not hide: all points, and that writing.

    The chosen curve counts five times.
    """
    frame = plot.frame()
    points = frame.pixels(*plot.family.points(plot.chosen_key(), alone=False))
    found = _beside_key(plot, frame)
    if found is None:
        return points
    ground = found[2]
    spans = (ground.left(), ground.right(), _GRAIN), (ground.top(), ground.bottom(), _GRAIN)
    x, y = np.meshgrid(*(np.arange(*span) for span in spans))
    return np.append(points[0], x), np.append(points[1], y)


def _beside_key(plot: CurvesPlot, frame: Frame) -> tuple[Hashable, list[str], QRectF] | None:
    """Return the curve beside the chosen one, the lines that name it, and where there is room for them."""
    found = [(key, curve) for key, curve in plot.family.curves.items() if curve.beside and curve.xs]
    metrics = QFontMetricsF(font(TINY))
    room = frame.area.width() - _BESIDE_SWATCH - 4 * _GAP
    if not found or room < _LEAST_NAME:
        return None
    key, curve = found[0]
    lines = [curve.label] if metrics.horizontalAdvance(curve.label) <= room else curve.label.split(", ", 1)
    lines = [metrics.elidedText(line, Qt.TextElideMode.ElideRight, int(room)) for line in lines]
    width = max(map(metrics.horizontalAdvance, lines)) + _BESIDE_SWATCH + 3 * _GAP
    return key, lines, _free_room(plot, frame, width, metrics.height() * len(lines))


def _free_room(plot: CurvesPlot, frame: Frame, width: float, height: float) -> QRectF:
    """Return a place at an edge that hides least of the curves, the lowest at the right where several do."""
    area = frame.area
    tops = np.linspace(area.bottom() - 4 - height, area.top() + 4, _HEIGHTS).tolist()
    rooms = [QRectF(x, y, width, height) for y in tops for x in (area.right() - width, area.left() + 4)]
    hidden = [0] * len(rooms)
    for curve in plot.family.curves.values():
        values = curve.arrays()
        seen = np.isfinite(values[1])
        if not seen.any():
            continue
        px, py = frame.pixels(values[0][seen], values[1][seen])
        for at, room in enumerate(rooms):
            columns = np.arange(max(room.left(), px.min()), min(room.right(), px.max()) + 1)
            drawn = np.interp(columns, px, py)
            inside = (drawn > room.top() - 3) & (drawn < room.bottom() + 3)
            hidden[at] += int(inside.sum()) * (_OWN if curve.beside else 1)
    return rooms[hidden.index(min(hidden))]


def _draw_strip(
    plot: CurvesPlot, painter: QPainter, frame: Frame, colors: Colors, entries: list[KeyEntry]
) -> None:
    """Draw the colours in their order, between the names of the first and the last."""
    chosen = plot.chosen_key()
    note = tr("thick: {label}").format(label=plot.family[chosen].label) if chosen is not None else ""
    right = frame.outer.right()
    if note:
        right = _write(painter, colors, note, right) - 2 * _GAP
    right = _write(painter, colors, entries[-1][0], right) - _GAP
    left = right - _STEP * len(entries)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for i, (_, color, _dash) in enumerate(entries):
        painter.fillRect(QRectF(left + i * _STEP, _MIDDLE - 4, _STEP, 8), color)
    painter.restore()
    _write(painter, colors, entries[0][0], left - _GAP)


def _draw_entries(
    plot: CurvesPlot, painter: QPainter, frame: Frame, colors: Colors, entries: list[KeyEntry]
) -> None:
    """Draw a line and a name for each curve, from right to left, as many as the title leaves room for."""
    title = QFontMetricsF(font()).horizontalAdvance(plot.axes.title)
    right = frame.outer.right()
    for label, color, dash in reversed(entries):
        width = QFontMetricsF(font(TINY)).horizontalAdvance(label) + _SWATCH + _GAP
        if right - width < title + 2 * _GAP:
            return
        left = _write(painter, colors, label, right) - _GAP
        painter.setPen(pen(color, 2.0, dash))
        painter.drawLine(QPointF(left - _SWATCH, _MIDDLE), QPointF(left, _MIDDLE))
        right = left - _SWATCH - 2 * _GAP


def _write(painter: QPainter, colors: Colors, text: str, right: float) -> float:
    """Write a text that ends at a pixel; return where it begins."""
    left = right - painter.fontMetrics().horizontalAdvance(text) - 1
    painter.setPen(colors.q("muted"))
    flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    painter.drawText(QRectF(left, 0, right - left + 1, 2 * _MIDDLE), flags, text)
    return left
