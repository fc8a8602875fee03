"""The style of figures: width, size of the text, and colors for screens or print."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from rankstudio.engine.errors import ParameterError

CATEGORIES = (
    "#0b438a",
    "#b8891d",
    "#8e2400",
    "#993cd5",
    "#097967",
    "#3c99cd",
    "#1b2330",
)
"""Blue, amber, vermilion, purple, green, sky blue and the color of text.

They are the hues of Okabe and Ito, darker, so that each has a contrast
of 3:1 to a light background. Any two are distinct with any color
vision.
"""

DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (4.0, 2.2),
    (1.2, 1.8),
    (5.0, 2.0, 1.2, 2.0),
    (8.0, 2.5),
    (2.4, 1.4),
    (5.0, 1.6, 1.2, 1.6, 1.2, 1.6),
)
"""Dashes and gaps of each category in widths of the line; empty for a solid one."""

MARKERS = ("circle", "square", "diamond", "triangle", "plus", "cross", "star")
"""The marker of each category."""

VIRIDIS = (
    "440154", "481769", "472c7a", "423f85", "3b518b", "33628d", "2c718e", "26818e", "21908c",
    "1f9f88", "27ad80", "3dbc73", "5cc862", "81d34c", "aadc31", "d5e219", "fde725",
)  # fmt: skip
"""Viridis at 0, 1/16, …, 1 (van der Walt and Smith, CC0).

Between these colors, the map looks linear.
"""


Colors = Literal["light", "print"]
COLORS: tuple[Colors, ...] = ("light", "print")

_MILLIMETRE = 72 / 25.4  # in points
# For print, the hues of the screen in an order in which neighbours also
# differ much in lightness, which is 0, 55, 30, 68, 40, 15 and 60 of
# 100.
_PRINT_PALETTE = (
    "#000000",
    "#d9730d",
    "#14508f",
    "#8fa3b0",
    "#7a2a6b",
    "#4d4d4d",
    "#2f9e6e",
)

_VIRIDIS = VIRIDIS[:-2:2]  # without its last part, which vanishes on white
_GREYS = ("1a1a1a", "e4e4e4")  # the darkest and the lightest grey of print


@dataclass(frozen=True)
class FigureStyle:
    """Style of a figure: its size, text and colors.

    Attributes
    ----------
    width : float
        Width in points.
    font : float
        Text size in points.
    colors : {"light", "print"}
        Colors for a light screen; or dark colors for print that also
        differ in grey, with dashes and markers.
    height : float, optional
        Height in points; by default suited to the figure.
    heading : str
        Line above a figure that has no caption with its subject; "" for none.
    """

    width: float = 85 * _MILLIMETRE
    font: float = 8.0
    colors: Colors = "light"
    height: float | None = None
    heading: str = ""

    @property
    def print(self) -> bool:
        """Whether it is for print."""
        return self.colors == "print"

    @property
    def text(self) -> str:
        """Color of names and titles."""
        return "#000000" if self.print else "#1b2330"

    @property
    def muted(self) -> str:
        """Color of the numbers at the axes."""
        return "#000000" if self.print else "#4d5666"

    @property
    def line(self) -> str:
        """Color of axes."""
        return "#000000" if self.print else "#8b94a3"

    @property
    def faint(self) -> str:
        """Color of grids, and of empty cells."""
        return "#dddddd" if self.print else "#e6e9ef"

    @property
    def em(self) -> float:
        """The unit of all distances: the text size."""
        return self.font

    def category(self, number: int) -> str:
        """Return the color of the series with a style number, from 0.

        The colors repeat after seven.
        """
        palette = _PRINT_PALETTE if self.print else CATEGORIES
        return palette[number % len(palette)]

    def ordered(self, share: float) -> str:
        """Return the color of a line at a share, from 0 to 1, of the way through an order.

        The order is that of the series of a figure, such as values of λ.

        The color is dark for 0 and light for 1; both are visible.
        """
        return (
            # The lightest colors of each scale cannot be seen on white.
            _mixed_color(_GREYS, share * 0.72)
            if self.print
            else _mixed_color(_VIRIDIS, share * 0.68)
        )

    def series(self, number: int, order: float | None) -> str:
        """Return the color of a series: that of its style number, or of its position in an order."""
        return self.category(number) if order is None else self.ordered(order)

    def heat(self, share: float, *, first_dark: bool = False) -> str:
        """Return the color of a cell of a map, at a share from 0 to 1 of the range of values.

        For print, larger values are darker, or smaller ones with `first_dark`.
        """
        if not self.print:
            return _mixed_color(_VIRIDIS, share)
        return _mixed_color(_GREYS, share if first_dark else 1 - share)


def on_ground(color: str) -> str:
    """Return a text color that is readable on a background."""
    red, green, blue = (part / 255 for part in bytes.fromhex(color[1:]))
    luminance = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
    return "#ffffff" if luminance < 0.3 else "#000000"


PRESETS: dict[str, tuple[float, float]] = {
    "column": (85.0, 8.0),
    "page": (178.0, 8.0),
    "slide": (254.0, 18.0),
    "poster": (400.0, 28.0),
}
"""Widths in millimetres and sizes of text in points, by the use of a figure."""

_WIDTH_RANGE = (20.0, 2000.0)
_FONT_RANGE = (4.0, 100.0)
_MILLIMETRES_BY_UNIT = {"mm": 1.0, "cm": 10.0, "in": 25.4, "pt": 25.4 / 72}


def style_of(
    width: str = "column",
    font: float | None = None,
    colors: str = "light",
    height: str | None = None,
) -> FigureStyle:
    """Return the style of figures that some options describe.

    Parameters
    ----------
    width : str
        A length, such as "85mm", "3.5in", "17.8 cm" or "252pt"; or
        "column", "page", "slide", "poster".
    font : float, optional
        Text size in points; by default suited to the width.
    colors : {"light", "print"}
        Colors for a light screen; or dark colors for print that also
        differ in grey.
    height : str, optional
        A length, as for `width`; by default what the figure needs.

    Raises
    ------
    ParameterError
        For an invalid option.
    """
    # A preset has a width in millimetres and a size of the text. The
    # width 0.0 means that the text is a length, with the usual size of
    # the text, 8.
    preset_width, preset_font = PRESETS.get(width.strip().lower(), (0.0, 8.0))
    millimetres = preset_width or _millimetres("width", width)
    size = preset_font if font is None else font
    if not _FONT_RANGE[0] <= size <= _FONT_RANGE[1]:
        raise ParameterError(
            "font", size, f"points from {_FONT_RANGE[0]:g} to {_FONT_RANGE[1]:g}"
        )
    # The equal entry of `COLORS`, which has the type of a scheme, not of any text.
    color_scheme = next((scheme for scheme in COLORS if scheme == colors), None)
    if color_scheme is None:
        raise ParameterError("colors", colors, " or ".join(COLORS))
    style = FigureStyle(millimetres * _MILLIMETRE, size, color_scheme)
    return (
        style
        if height is None
        else replace(style, height=_millimetres("height", height) * _MILLIMETRE)
    )


def _millimetres(name: str, text: str) -> float:
    """Return the millimetres of a length in a text with a unit, such as "3.5in".

    ParameterError is raised if the length is invalid; its message has
    `name`, the option.
    """
    match = re.fullmatch(r"\s*(\d{1,6}(?:\.\d{1,6})?)\s*(mm|cm|in|pt)\s*", text.lower())
    value = float(match[1]) * _MILLIMETRES_BY_UNIT[match[2]] if match else 0.0
    if not _WIDTH_RANGE[0] <= value <= _WIDTH_RANGE[1]:
        presets_text = f", or {', '.join(PRESETS)}" if name == "width" else ""
        raise ParameterError(
            name,
            text,
            f"a length from 20mm to 2000mm in mm, cm, in or pt{presets_text}",
        )
    return value


def _mixed_color(colors: tuple[str, ...], share: float) -> str:
    """Return the color at a share, from 0 to 1, of the way through some colors.

    `colors` are hexadecimal, without "#", at equal distances on the
    way. Between two of them, the color is a mixture.
    """
    position = min(max(share, 0.0), 1.0) * (len(colors) - 1)
    start = min(int(position), len(colors) - 2)
    first = bytes.fromhex(colors[start])
    last = bytes.fromhex(colors[start + 1])
    parts = (
        round(a + (b - a) * (position - start))
        for a, b in zip(first, last, strict=True)
    )
    return "#" + "".join(f"{part:02x}" for part in parts)
