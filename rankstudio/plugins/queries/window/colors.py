"""The two colours of the Queries page."""

from __future__ import annotations

from PySide6.QtGui import QColor

from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors


def loss_and_gain(colors: Colors) -> tuple[QColor, QColor]:
    """Return the two ends of the pair of colours: where B is worse, and where it is better."""
    return palettes.category(colors, 2).color, palettes.category(colors, 0).color
