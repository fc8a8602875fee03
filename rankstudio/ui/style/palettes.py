"""Colours of data: categories (runs, relevance classes) and ordered families (one curve per λ).

Categories take the hues of Okabe and Ito, made so light or dark that each has a contrast of 3:1 to the panel
and that any two are told apart with normal colour vision, with protanopia and with deuteranopia, and a dash
and a marker as second cue. Ordered families take the part of viridis that has that contrast; its lightness
grows with the value, so that the order survives without hue.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from PySide6.QtGui import QColor

from rankstudio.engine.arrays import Bytes, Floats
from rankstudio.ui.style.colors import Colors


class Category(NamedTuple):
    """How one category is drawn.

    Attributes
    ----------
    color : QColor
    dash : tuple of float
        Dash and gap lengths in line widths; empty for a solid line.
    marker : str
        One of ``circle square diamond triangle plus cross star``.
    """

    color: QColor
    dash: tuple[float, ...]
    marker: str


# Blue, amber, vermilion, purple, green, sky blue (yellow on the dark ground), and the colour of text.
_ON_LIGHT = ("#0b438a", "#b8891d", "#8e2400", "#993cd5", "#097967", "#3c99cd", "#1b2330")
_ON_DARK = ("#86bdfd", "#e6b433", "#d75b05", "#a95bde", "#14af95", "#effa60", "#e7eaf0")
_DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (4.0, 2.2),
    (1.2, 1.8),
    (5.0, 2.0, 1.2, 2.0),
    (8.0, 2.5),
    (2.4, 1.4),
    (5.0, 1.6, 1.2, 1.6, 1.2, 1.6),
)
_MARKERS = ("circle", "square", "diamond", "triangle", "plus", "cross", "star")

# Viridis at 0, 1/16, …, 1 (van der Walt and Smith, CC0); between them the map is linear to the eye.
_VIRIDIS = (
    "#440154 #481769 #472c7a #423f85 #3b518b #33628d #2c718e #26818e #21908c "
    "#1f9f88 #27ad80 #3dbc73 #5cc862 #81d34c #aadc31 #d5e219 #fde725"
)
_ANCHORS = np.array([list(bytes.fromhex(c[1:])) for c in _VIRIDIS.split()], dtype=np.float64)


def category(colors: Colors, index: int) -> Category:
    """Return colour, dash and marker of category ``index``, counted from 0; they repeat after seven."""
    palette = _ON_DARK if colors.dark else _ON_LIGHT
    i = index % len(palette)
    return Category(QColor(palette[i]), _DASHES[i], _MARKERS[i])


def viridis(values: Floats) -> Bytes:
    """Map values in [0, 1] to RGB.

    Parameters
    ----------
    values : ndarray of any shape
        Clipped to [0, 1]; NaN maps to the lowest colour.

    Returns
    -------
    ndarray of shape values.shape + (3,), uint8
    """
    at = np.clip(np.nan_to_num(values), 0.0, 1.0) * (len(_ANCHORS) - 1)
    positions = np.arange(len(_ANCHORS))
    channels = [np.interp(at, positions, _ANCHORS[:, c]) for c in range(3)]
    return np.rint(np.stack(channels, axis=-1)).astype(np.uint8)


def sequential(colors: Colors, n: int) -> list[QColor]:
    """Return n ordered colours, dark to bright, each with a contrast of 3:1 to the theme's panel.

    The end of the map that comes close to the ground is left out: yellow on white, dark violet on black.
    """
    low, high = (0.38, 1.0) if colors.dark else (0.0, 0.6)
    spots = np.linspace(low, high, n) if n != 1 else np.array([(low + high) / 2])
    return [QColor(int(r), int(g), int(b)) for r, g, b in viridis(spots)]
