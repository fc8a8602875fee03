"""A bar beside a map that says which colour is which value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QPainter

from rankstudio.ui.plots.layers import pen
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import TINY, font
from rankstudio.ui.style.palettes import viridis

BAR = 10.0
"""Width of the bar alone, in pixels."""

_STOPS = 17
_BESIDE = 5.0  # pixels between the bar and its numbers


def color_bar_width(texts: Sequence[str]) -> float:
    """Return the width of a bar with these numbers, in pixels."""
    metrics = QFontMetricsF(font(TINY))
    return BAR + _BESIDE + max((metrics.horizontalAdvance(text) for text in texts), default=0.0)


def draw_color_bar(
    painter: QPainter, at: QRectF, colors: Colors, ticks: Sequence[tuple[float, str]], title: str
) -> None:
    """Draw viridis from bottom to top, with numbers at the right and what they measure above.

    Parameters
    ----------
    painter : QPainter
    at : QRectF
        Of the bar, its numbers not counted.
    colors : Colors
    ticks : sequence of (float, str)
        Shares of the height, from 0 at the bottom, and what is written there.
    title : str
    """
    gradient = QLinearGradient(at.bottomLeft(), at.topLeft())
    for share, shade in zip(np.linspace(0, 1, _STOPS), viridis(np.linspace(0, 1, _STOPS)), strict=True):
        gradient.setColorAt(float(share), QColor(*map(int, shade)))
    painter.setPen(pen(colors.q("line"), 1.0))
    painter.setBrush(gradient)
    painter.drawRect(at)
    painter.setFont(font(TINY))
    painter.setPen(colors.q("muted"))
    for share, text in ticks:
        y = at.bottom() - share * at.height()
        box = QRectF(at.right() + _BESIDE, y - 8, 80, 16)
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
    above = QRectF(at.left() - 2, at.top() - 24, 80, 16)
    painter.drawText(above, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, title)
