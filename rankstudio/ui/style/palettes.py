"""Colors of data: categories (runs, relevance classes) and ordered families (one curve per λ).

Categories have the hues of Okabe and Ito. Their lightness is adjusted
so that each has a contrast of 3:1 to the panel, and that any two can be
distinguished with normal color vision, protanopia and deuteranopia. A
dash and a marker distinguish them, too. Ordered families have the part
of viridis with this contrast. Its lightness grows with the value, so
that the order is visible without hue.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from PySide6.QtGui import QColor

from rankstudio.engine.arrays import Bytes, Floats
from rankstudio.engine.export.figures.style import CATEGORIES, DASHES, MARKERS, VIRIDIS
from rankstudio.ui.style.colors import Colors


class Category(NamedTuple):
    """Color, dash and marker by which plots tell a category, such as a run, from the others.

    Attributes
    ----------
    color : QColor
    dash : tuple of float
        Dash and gap lengths in line widths; empty for a solid line.
    marker : str
        One of ``circle square diamond triangle plus cross star``.
    repeats : bool
        Whether an earlier category has the same color, so that dash or
        marker have to distinguish the two.
    """

    color: QColor
    dash: tuple[float, ...]
    marker: str
    repeats: bool = False


# In the order of CATEGORIES, the colors on a light background; yellow
# replaces sky blue.
_ON_DARK = ("#86bdfd", "#e6b433", "#d75b05", "#a95bde", "#14af95", "#effa60", "#e7eaf0")
_ANCHORS = np.array([list(bytes.fromhex(color)) for color in VIRIDIS], dtype=np.float64)


def category(colors: Colors, index: int) -> Category:
    """Return color, dash and marker of category ``index``, counted from 0.

    Colors repeat after seven categories, with the next dash and marker,
    so that 49 categories differ.
    """
    palette = _ON_DARK if colors.dark else CATEGORIES
    n_rounds, color_index = divmod(index, len(palette))

    # Dashes and markers repeat after seven categories as well. In each
    # round of colors they are shifted by one, so that a color gets
    # other ones.
    style_index = (color_index + n_rounds) % len(palette)
    return Category(
        QColor(palette[color_index]),
        DASHES[style_index],
        MARKERS[style_index],
        repeats=n_rounds > 0,
    )


def viridis(values: Floats) -> Bytes:
    """Map values in [0, 1] to the RGB colors of the color map viridis.

    Parameters
    ----------
    values : ndarray of any shape
        Clipped to [0, 1]; NaN maps to the lowest color.

    Returns
    -------
    ndarray of shape values.shape + (3,), uint8
    """
    on_scale = np.clip(np.nan_to_num(values), 0.0, 1.0) * (len(_ANCHORS) - 1)
    positions = np.arange(len(_ANCHORS))
    channels = [np.interp(on_scale, positions, _ANCHORS[:, c]) for c in range(3)]
    return np.rint(np.stack(channels, axis=-1)).astype(np.uint8)


def sequential(colors: Colors, n: int) -> list[QColor]:
    """Return n ordered colors, dark to bright, each with a contrast of 3:1 to the theme's panel.

    The end of viridis that is similar to the background is left out:
    yellow on white, dark violet on black.
    """
    low, high = (0.38, 1.0) if colors.dark else (0.0, 0.6)
    values = np.linspace(low, high, n) if n != 1 else np.array([(low + high) / 2])
    return [QColor(int(r), int(g), int(b)) for r, g, b in viridis(values)]
