"""Legends of plots: entries side by side on as many lines as they need, each a swatch and a name."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from rankstudio.ui.plots.layers import draw_marker, pen
from rankstudio.ui.style.fonts import LEFT
from rankstudio.ui.style.palettes import Category


def flow(widths: Iterable[float], room: float, apart: float) -> list[tuple[float, int]]:
    """Place the entries of a legend side by side, and return the pixel and the line where each begins.

    An entry that is wider than the room has a line of its own.

    Parameters
    ----------
    widths : iterable of float
        Widths of the entries, in pixels.
    room : float
        Width of the lines.
    apart : float
        Pixels between two entries of a line.

    Examples
    --------
    >>> flow([30.0, 40.0, 20.0], 100.0, 10.0)
    [(0.0, 0), (40.0, 0), (0.0, 1)]
    """
    spots: list[tuple[float, int]] = []
    x = 0.0
    line = 0
    for width in widths:
        if x > 0 and x + width > room:  # the next line
            x = 0.0
            line = line + 1
        spots.append((x, line))
        x += width + apart
    return spots


def draw_entry(
    painter: QPainter,
    box: QRectF,
    line_style: Category,
    text: str,
    color: QColor,
    *,
    swatch: float,
    gap: float = 6.0,
    width: float = 1.8,
    marker: float = 0.0,
) -> None:
    """Draw an entry: a line or a marker, and a name, which is cut in the middle where it has no room.

    Parameters
    ----------
    painter : QPainter
        With the font of the name.
    box : QRectF
        Box of the entry.
    line_style : Category
        Color, dash and marker.
    text : str
        The name.
    color : QColor
        Color of the name.
    swatch, gap : float
        Pixels that the line or marker takes, and pixels between it and the name.
    width : float
        Width of the line.
    marker : float
        Radius of the marker; 0 for a line.
    """
    middle = box.center().y()
    if marker:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(line_style.color)
        draw_marker(
            painter, line_style.marker, QPointF(box.left() + swatch / 2, middle), marker
        )
    else:
        painter.setPen(pen(line_style.color, width, line_style.dash))
        painter.drawLine(
            QPointF(box.left(), middle), QPointF(box.left() + swatch, middle)
        )
    painter.setPen(color)
    text_box = box.adjusted(swatch + gap, 0, 0, 0)
    cut = painter.fontMetrics().elidedText(
        text, Qt.TextElideMode.ElideMiddle, int(text_box.width()) + 1
    )
    painter.drawText(text_box, LEFT, cut)
