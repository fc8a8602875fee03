"""How cells of the Queries page are drawn: differences, intervals, labels, stacked contributions."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from rankstudio.ui.plots.layers import hairline, pen
from rankstudio.ui.queries.query_plot import loss_and_gain
from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import TINY, font

BAR = 8.0
N_COLORS = 6
"""Features that have a colour of their own; the others share one."""
_LEAST_WITH_GAP = 3.0  # pixels of a part


def paint_difference(
    painter: QPainter, room: QRect, colors: Colors, value: float, largest: float, better: bool
) -> None:
    """Draw a bar from zero, which is the middle, in the colour of loss or gain.

    Parameters
    ----------
    room : QRect
        Half of it is ``largest`` long.
    value, largest : float
    better : bool
        Whether it is a gain.
    """
    middle, top = room.center().x() + 0.5, room.center().y() - BAR / 2 + 1
    hairline(painter, colors.q("line"), QPointF(middle, top - 3), QPointF(middle, top + BAR + 3))
    if not value or not largest:
        return
    length = max(2.0, room.width() / 2 * min(1.0, abs(value) / largest))
    loss, gain = loss_and_gain(colors)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(gain if better else loss)
    painter.drawRoundedRect(QRectF(middle if value > 0 else middle - length, top, length, BAR), 2, 2)


def paint_interval(
    painter: QPainter, room: QRect, colors: Colors, low: float, high: float, largest: float
) -> None:
    """Draw an interval over the bar of its value, on the same scale."""
    if not largest or isnan(low) or isnan(high):
        return
    middle, y = room.center().x() + 0.5, room.center().y() + 1.0
    unit = room.width() / 2 / largest
    ends = [min(max(middle + value * unit, room.left()), room.right()) for value in (low, high)]
    painter.setPen(pen(colors.q("text"), 1.2))
    painter.drawLine(QPointF(ends[0], y), QPointF(ends[1], y))
    for x in ends:
        painter.drawLine(QPointF(x, y - 3), QPointF(x, y + 3))


def paint_label(painter: QPainter, room: QRect, colors: Colors, label: float, relevant: bool) -> None:
    """Draw a relevance label as a chip; that of a relevant document in the colour of its class."""
    color = palettes.category(colors, min(max(0, int(label)), 6)).color if relevant else colors.q("bar")
    chip = QRectF(room.left(), room.center().y() - 8, 24, 17)
    painter.setPen(pen(color, 1.3))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(chip, 8, 8)
    painter.setFont(font(TINY, bold=relevant))
    painter.setPen(colors.q("text" if relevant else "muted"))
    painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, f"{label:g}")


def paint_move(painter: QPainter, room: QRect, colors: Colors, rank: int, moved: int, good: bool) -> None:
    """Draw a rank and an arrow: how a document moves from A to B, upwards where ``moved`` is positive."""
    color = colors.q("muted" if not moved else "ok" if good else "error")
    painter.setPen(color)
    text = room.adjusted(0, 0, -16, 0)
    painter.drawText(text, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(rank))
    x, y = room.right() - 5.0, room.center().y() + 1.0
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    if not moved:
        painter.drawEllipse(QPointF(x, y), 1.4, 1.4)
        return
    tip = -4.0 if moved > 0 else 4.0
    base = y - tip * 0.8
    painter.drawPolygon([QPointF(x - 4.5, base), QPointF(x + 4.5, base), QPointF(x, y + tip)])


def feature_color(colors: Colors, place: int) -> QColor:
    """Return the colour of a feature, of its place among those that tell the documents apart most."""
    return palettes.category(colors, place).color if place < N_COLORS else colors.q("bar")


def paint_stack(
    painter: QPainter, room: QRect, colors: Colors, parts: Sequence[float], largest: float
) -> None:
    """Draw parts, none negative, one behind the other with a gap; ``largest`` is as long as the room."""
    if not largest:
        return
    x, top = float(room.left()), room.center().y() - BAR / 2 + 1
    painter.setPen(Qt.PenStyle.NoPen)
    for place, part in enumerate(parts):
        width = room.width() * part / largest
        painter.setBrush(feature_color(colors, place))
        painter.drawRect(QRectF(x, top, width - 1 if width > _LEAST_WITH_GAP else width, BAR))
        x += width
