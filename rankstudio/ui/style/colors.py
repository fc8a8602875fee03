"""The colours of the window, by role, in light and dark."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from PySide6.QtGui import QColor


@dataclass(frozen=True)
class Colors:
    """One theme's colours as ``#rrggbb``, named by what they are for.

    Attributes
    ----------
    dark : bool
        Whether the ground is darker than the text.
    ground, panel, inset : str
        Behind the panels, the panels, and fields or tracks let into a panel.
    line, line_hover, line_soft : str
        Hairlines; of a control under the mouse; inside a panel (grid, separators between rows).
    text, muted, faint : str
        What is read, what explains it, what is disabled.
    accent, accent_hover, on_accent, tint : str
        The current choice and the primary button; what is written on it; a chosen row.
    bar : str
        Neutral bars: candidates that did not win.
    warning, ok, error : str
        Text that warns, confirms or reports a failure; each readable on ``panel``.
    """

    dark: bool
    ground: str
    panel: str
    inset: str
    line: str
    line_hover: str
    line_soft: str
    text: str
    muted: str
    faint: str
    accent: str
    accent_hover: str
    on_accent: str
    tint: str
    bar: str
    warning: str
    ok: str
    error: str

    def role(self, name: str) -> str:
        """Return the colour of a role by its name; a ``#rrggbb`` passes through."""
        return name if name.startswith("#") else str(getattr(self, name))

    def q(self, name: str, alpha: float = 1.0) -> QColor:
        """Return a role's colour for a painter, with an opacity in [0, 1]."""
        color = QColor(self.role(name))
        color.setAlphaF(alpha)
        return color


@cache
def mix(first: str, second: str, share: float) -> str:
    """Return the colour that lies ``share`` of the way from the first to the second, in sRGB."""
    a = QColor(first)
    b = QColor(second)
    parts = (
        round(x + (y - x) * share)
        for x, y in ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    )
    return "#" + "".join(f"{part:02x}" for part in parts)


LIGHT = Colors(
    dark=False,
    ground="#f4f5f7",
    panel="#ffffff",
    inset="#f8f9fb",
    line="#dfe3ea",
    line_hover="#c3cad5",
    line_soft="#eceff3",
    text="#1b2330",
    muted="#5d677b",
    faint="#a3acba",
    accent="#2463d6",
    accent_hover="#1d54bb",
    on_accent="#ffffff",
    tint="#e8effc",
    bar="#88919f",
    warning="#9a5900",
    ok="#0b7a53",
    error="#c8321f",
)

DARK = Colors(
    dark=True,
    ground="#14171c",
    panel="#1b1f26",
    inset="#20252d",
    line="#2d343f",
    line_hover="#465060",
    line_soft="#262c35",
    text="#e7eaf0",
    muted="#9aa4b2",
    faint="#626c7a",
    accent="#6ea8ff",
    accent_hover="#8bbaff",
    on_accent="#0e1420",
    tint="#22304a",
    bar="#68717e",
    warning="#e5a13a",
    ok="#3ecf8e",
    error="#ff7b72",
)
