"""A bar beside a map that says which colour is which value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
_LINE = 16.0  # pixels of a number's height


@dataclass(frozen=True)
class ColorBar:
    """Where a bar is, and what is written at it.

    Attributes
    ----------
    at : QRectF
        Of the bar, its numbers not counted.
    ticks : sequence of (float, str)
        Shares of the height, from 0 at the bottom, and what is written there.
    title : str
        What the colours measure, above the bar; "" where that is said elsewhere.
    """

    at: QRectF
    ticks: Sequence[tuple[float, str]]
    title: str = ""


def color_bar_width(texts: Sequence[str]) -> float:
    """Return the width of a bar with these numbers, in pixels."""
    metrics = QFontMetricsF(font(TINY))
    return BAR + _BESIDE + max((metrics.horizontalAdvance(text) for text in texts), default=0.0)


def draw_color_bar(painter: QPainter, bar: ColorBar, colors: Colors) -> None:
    """Draw viridis from bottom to top, with its numbers at the right; those without room are left out."""
    at = bar.at
    gradient = QLinearGradient(at.bottomLeft(), at.topLeft())
    for share, shade in zip(np.linspace(0, 1, _STOPS), viridis(np.linspace(0, 1, _STOPS)), strict=True):
        gradient.setColorAt(float(share), QColor(*map(int, shade)))
    painter.setPen(pen(colors.q("line"), 1.0))
    painter.setBrush(gradient)
    painter.drawRect(at)
    painter.setFont(font(TINY))
    painter.setPen(colors.q("muted"))
    aligned = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    room = at.height() / _LINE
    for share, text in bar.ticks:
        if share in (0.0, 1.0) or min(share, 1.0 - share) * room >= 1.0:
            y = at.bottom() - share * at.height()
            painter.drawText(QRectF(at.right() + _BESIDE, y - _LINE / 2, 120, _LINE), aligned, text)
    painter.drawText(QRectF(at.left() - 2, at.top() - 24, 120, _LINE), aligned, bar.title)
