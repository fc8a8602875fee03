"""Inter, bundled: one face for the whole window, with figures of equal width."""

from __future__ import annotations

from functools import cache

from PySide6.QtGui import QFont, QFontDatabase

from rankstudio.engine.support.resources import resource

BASE = 13
"""Size of ordinary text, in logical pixels."""

SMALL = 12
"""Captions, keys, table headers."""

TINY = 11
"""Tick labels."""

_FILES = ("Inter-Regular.otf", "Inter-SemiBold.otf")


@cache
def family() -> str:
    """Return the family to use: Inter, the system's or ours; "" (the system's default) where neither loads.

    Needs a running QGuiApplication. The answer cannot change while a program runs, hence the cache.
    """
    if "Inter" in QFontDatabase.families():
        return "Inter"
    loaded = [QFontDatabase.addApplicationFont(str(resource("fonts", name))) for name in _FILES]
    names = [f for handle in loaded if handle >= 0 for f in QFontDatabase.applicationFontFamilies(handle)]
    return names[0] if names else ""


def font(size: int = BASE, bold: bool = False) -> QFont:
    """Return the window's font with tabular figures.

    Parameters
    ----------
    size : int
        In logical pixels.
    bold : bool
        Semi-bold, the one other weight that is bundled.
    """
    made = QFont()
    if family():
        made.setFamily(family())
    made.setPixelSize(size)
    made.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    made.setFeature(QFont.Tag("tnum"), 1)
    return made
