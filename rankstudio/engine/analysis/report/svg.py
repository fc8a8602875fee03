"""Drawings as SVG text: shapes with presentation attributes alone, which every reader of SVG knows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from unicodedata import combining, east_asian_width

from rankstudio.engine.analysis.report.html_text import html_text

TEXT, MUTED, LINE, FAINT = "#1b2330", "#5b6577", "#c3cad5", "#e6e9ef"
FONT = "Inter, Helvetica, Arial, sans-serif"
SIZE = 12.0
"""Of text, in pixels."""

Point = tuple[float, float]

# Okabe-Ito without its yellow and black, which light ground and text take; as the window draws runs.
_CATEGORIES = ("#0072b2", "#e69f00", "#d55e00", "#a05195", "#009e73", "#56b4e9", "#1b2330")
_DASHES = ("", "7 4", "2 3", "8 3 2 3", "12 4", "4 2.5", "8 3 2 3 2 3")

# Viridis at 0, 1/8, …, 1 (van der Walt and Smith, CC0); its last part, which vanishes on white, is left out.
_VIRIDIS = ("440154", "472c7a", "3b518b", "2c718e", "21908c", "27ad80", "5cc862", "aadc31")


def category(number: int) -> tuple[str, str]:
    """Return colour and dashes of a run by its number, from 1; they repeat after seven."""
    at = (number - 1) % len(_CATEGORIES)
    return _CATEGORIES[at], _DASHES[at]


def viridis(share: float) -> str:
    """Return the colour of a share, from 0, dark, to 1, bright."""
    at = min(max(share, 0.0), 1.0) * (len(_VIRIDIS) - 1)
    low = min(int(at), len(_VIRIDIS) - 2)
    first, last = (bytes.fromhex(_VIRIDIS[i]) for i in (low, low + 1))
    mixed = (round(a + (b - a) * (at - low)) for a, b in zip(first, last, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def drawing(width: float, height: float, title: str, description: str, parts: Iterable[str]) -> str:
    """Return a whole drawing, with a title and a description for who cannot see it."""
    said = f"<title>{html_text(title)}</title>\n<desc>{html_text(description)}</desc>"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{n(width)}" height="{n(height)}" '
        f'viewBox="0 0 {n(width)} {n(height)}" font-family="{FONT}" font-size="{n(SIZE)}">\n{said}\n'
        + rect(0, 0, width, height, "#ffffff")
        + "\n"
        + "\n".join(parts)
        + "\n</svg>"
    )


def text(
    x: float,
    y: float,
    content: str,
    anchor: str = "start",
    color: str = TEXT,
    *,
    size: float = SIZE,
    turned: bool = False,
) -> str:
    """Return a text whose baseline's start, middle or end is at a point; turned, it reads upwards."""
    turn = f' transform="rotate(-90 {n(x)} {n(y)})"' if turned else ""
    return (
        f'<text x="{n(x)}" y="{n(y)}" text-anchor="{anchor}" font-size="{n(size)}" fill="{color}"{turn}>'
        f"{html_text(content)}</text>"
    )


def line(start: Point, end: Point, color: str = LINE, width: float = 1.0, dashes: str = "") -> str:
    """Return a line."""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    ends = f'x1="{n(start[0])}" y1="{n(start[1])}" x2="{n(end[0])}" y2="{n(end[1])}"'
    return f'<line {ends} stroke="{color}" stroke-width="{n(width)}"{dashed}/>'


def polyline(points: Sequence[Point], color: str, width: float = 2.0, dashes: str = "") -> str:
    """Return lines from point to point."""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<polyline points="{_points(points)}" fill="none" stroke="{color}" stroke-width="{n(width)}" '
        f'stroke-linejoin="round"{dashed}/>'
    )


def polygon(points: Sequence[Point], color: str, opacity: float) -> str:
    """Return a filled area."""
    return f'<polygon points="{_points(points)}" fill="{color}" fill-opacity="{n(opacity)}"/>'


def rect(x: float, y: float, width: float, height: float, color: str) -> str:
    """Return a filled rectangle."""
    return f'<rect x="{n(x)}" y="{n(y)}" width="{n(width)}" height="{n(height)}" fill="{color}"/>'


def circle(at: Point, radius: float, color: str, ring: str = "none") -> str:
    """Return a disk, with a ring around it where that has a colour."""
    return (
        f'<circle cx="{n(at[0])}" cy="{n(at[1])}" r="{n(radius)}" fill="{color}" stroke="{ring}" '
        'stroke-width="1.5"/>'
    )


def n(value: float) -> str:
    """Return a coordinate with two decimals at most."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def text_width(content: str, size: float = SIZE) -> float:
    """Return about how wide a text is: nobody knows with which font it will be drawn."""
    wide = sum(1.0 if east_asian_width(c) in "WF" else 0.0 if combining(c) else 0.56 for c in content)
    return wide * size


def elided(content: str, width: float, size: float = SIZE) -> str:
    """Return a text cut so that it is at most about so wide."""
    if text_width(content, size) <= width:
        return content
    kept = content
    while kept and text_width(kept, size) + size > width:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def ticks(low: float, high: float, most: int) -> list[float]:
    """Return round numbers from low to high, at most about so many."""
    span = high - low
    if not (span > 0 and math.isfinite(span)):
        return [low]
    raw = span / max(most, 1)
    scale = 10.0 ** math.floor(math.log10(raw))
    step = next(s * scale for s in (1, 2, 5, 10, 20) if s * scale >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def tick_texts(values: Sequence[float]) -> list[str]:
    """Return the texts of ticks, all with as many decimals as tell them apart."""
    step = values[1] - values[0] if len(values) > 1 else abs(values[0]) or 1.0
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return [f"{0.0 if abs(v) < step * 1e-6 else v:,.{decimals}f}".replace("-", "−") for v in values]


def _points(points: Sequence[Point]) -> str:
    return " ".join(f"{n(x)},{n(y)}" for x, y in points)
