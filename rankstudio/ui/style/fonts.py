"""The font of the whole window: the bundled Inter, with digits of equal width."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication

from rankstudio.engine.support.resources import resource

BASE = 13
"""Default size of ordinary text in logical pixels."""

SIZES = range(11, 19)
"""Sizes of ordinary text that the user can choose."""

SMALL = 12
"""Size of captions, keys and table headers."""

TINY = 11
"""Size of tick labels."""

# Flags are combined once: Python takes a microsecond each time, and a
# table has hundreds of cells.
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
"""Alignment of a text in a box: at the left or right, centered vertically."""
BELOW = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop
"""Alignment of a text in a box that lies below the object to which the text belongs."""

_FONT_FILES = ("Inter-Regular.otf", "Inter-SemiBold.otf")


@cache
def family() -> str:
    """Return the font family of the window: Inter, of the system or bundled; "" for the default font.

    The function needs a running QGuiApplication. The result is cached,
    as it cannot change while a program runs.
    """
    if "Inter" in QFontDatabase.families():
        return "Inter"
    font_ids = [
        QFontDatabase.addApplicationFont(str(resource("fonts", name)))
        for name in _FONT_FILES
    ]

    # The id of a font that could not be loaded is -1.
    loaded_ids = [font_id for font_id in font_ids if font_id >= 0]
    families = [
        name
        for font_id in loaded_ids
        for name in QFontDatabase.applicationFontFamilies(font_id)
    ]
    return families[0] if families else ""


def scaled(pixels: int) -> int:
    """Return a length for the present text size, given the length for text of the size `BASE`."""
    text_size = QGuiApplication.font().pixelSize()
    return pixels if text_size <= 0 else round(pixels * text_size / BASE)


def font(size: int = BASE, bold: bool = False) -> QFont:
    """Return the window's font, with digits of equal width.

    Parameters
    ----------
    size : int
        Size in logical pixels, if ordinary text has the size `BASE`;
        scaled with the present text size.
    bold : bool
        Whether the font is semi-bold, the other bundled weight.
    """
    return QFont(_font_of_size(scaled(size), bold))


@cache
def _font_of_size(pixels: int, bold: bool) -> QFont:
    """Return a font of a size in logical pixels, whose digits have equal widths.

    Fonts are cached, as each drawn text needs one and making one takes long.
    """
    new_font = QFont()
    if family():
        new_font.setFamily(family())
    new_font.setPixelSize(pixels)
    new_font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)

    # The OpenType feature of digits of equal width, so that numbers align in columns.
    new_font.setFeature(QFont.Tag("tnum"), 1)
    return new_font
