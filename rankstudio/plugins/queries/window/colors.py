"""The two colours of the Queries page."""

from __future__ import annotations

from PySide6.QtGui import QColor

from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors


def loss_and_gain(colors: Colors) -> tuple[QColor, QColor]:
    """Return the colors of queries in which B is worse, and in which B is better."""
    return palettes.category(colors, 2).color, palettes.category(colors, 0).color
