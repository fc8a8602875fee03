"""The colors of the window by their roles, for the light and the dark theme."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from PySide6.QtGui import QColor


@dataclass(frozen=True)
class Colors:
    """The colors of a theme as ``#rrggbb``, named by their roles.

    Attributes
    ----------
    dark : bool
        Whether the background is darker than the text.
    ground, panel, inset : str
        Background behind the panels, of panels, and of fields and tracks in a panel.
    line, line_hover, line_soft : str
        Thin lines: the usual ones, those of a control under the mouse,
        and those inside a panel (a grid).
    text, muted, faint : str
        Usual text, explanations, and disabled text.
    accent, accent_hover, on_accent, tint : str
        The current choice and the primary button, the same under the
        mouse, text on it, and a chosen row.
    bar : str
        Neutral bars, as of candidates that were not selected.
    warning, ok, error : str
        Text that warns, confirms or reports a failure; each is readable on ``panel``.
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
        """Return the color of a role, by its name.

        The result is ``#rrggbb``. A ``name`` that is a color
        ``#rrggbb`` itself is returned as it is.
        """
        return name if name.startswith("#") else str(getattr(self, name))

    def q(self, name: str, alpha: float = 1.0) -> QColor:
        """Return the color of a role for a painter, with an opacity in [0, 1].

        ``name`` is that of the role: a field of this class, such as "muted".
        """
        return QColor(_color(self.role(name), alpha))


@cache
def _color(code: str, alpha: float) -> QColor:
    """Return the color of a code ``#rrggbb`` with an opacity in [0, 1].

    Colors are cached, as each drawn cell needs several and reading a code takes long.
    """
    color = QColor(code)
    color.setAlphaF(alpha)
    return color


@cache
def mix(first: str, second: str, share: float) -> str:
    """Return the mixture of two colors in sRGB: `share` is that of the second color."""
    a = QColor(first)
    b = QColor(second)
    channels = ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    mixed = (round(x + (y - x) * share) for x, y in channels)
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


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
