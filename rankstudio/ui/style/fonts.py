"""Inter, bundled: one face for the whole window, with figures of equal width."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication

from rankstudio.engine.support.resources import resource

BASE = 13
"""Size of ordinary text, in logical pixels, unless the user wants it larger or smaller."""

SIZES = range(11, 19)
"""Sizes that the user can choose in place of `BASE`."""

SMALL = 12
"""Captions, keys, table headers."""

TINY = 11
"""Tick labels."""

# Flags are combined once: Python takes a microsecond each time, and a table has hundreds of cells.
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
"""Where a text stands in a box: at half its height."""
BELOW = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop
"""Where a text stands in a box that hangs below something."""

_FONT_FILES = ("Inter-Regular.otf", "Inter-SemiBold.otf")


@cache
def family() -> str:
    """Return the family to use: Inter, the system's or ours; "" (the system's default) where neither loads.

    Needs a running QGuiApplication. The answer cannot change while a program runs, hence the cache.
    """
    if "Inter" in QFontDatabase.families():
        return "Inter"
    loaded = [QFontDatabase.addApplicationFont(str(resource("fonts", name))) for name in _FONT_FILES]
    names = [f for handle in loaded if handle >= 0 for f in QFontDatabase.applicationFontFamilies(handle)]
    return names[0] if names else ""


def scaled(pixels: int) -> int:
    """Return a length that grows with the text: that of the application's font stands for `BASE`."""
    present = QGuiApplication.font().pixelSize()
    return pixels if present <= 0 else round(pixels * present / BASE)


def font(size: int = BASE, bold: bool = False) -> QFont:
    """Return the window's font with tabular figures.

    Parameters
    ----------
    size : int
        In logical pixels where ordinary text has `BASE`; it grows with that.
    bold : bool
        Semi-bold, the one other weight that is bundled.
    """
    return QFont(_font_of_size(scaled(size), bold))


@cache
def _font_of_size(pixels: int, bold: bool) -> QFont:
    """Return a font of a size; one is asked for at every text that is drawn, and takes long to set up."""
    new_font = QFont()
    if family():
        new_font.setFamily(family())
    new_font.setPixelSize(pixels)
    new_font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    new_font.setFeature(QFont.Tag("tnum"), 1)
    return new_font
