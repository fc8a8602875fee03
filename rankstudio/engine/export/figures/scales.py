"""Axes on paper: what a value is as a length, which ticks there is room for, and legends."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rankstudio.engine.export.figures import ticks
from rankstudio.engine.export.figures.font import inter
from rankstudio.engine.export.figures.palette import MARKERS
from rankstudio.engine.export.figures.shapes import (
    DiskShape,
    PathShape,
    Point,
    Shape,
    Stroke,
    TextShape,
    elided,
    line,
    wrapped,
)
from rankstudio.engine.export.figures.style import FigureStyle
from rankstudio.engine.export.figures.values import FigureAxis

LINE = 1.3
"""From one line of text to the next, in sizes of the text."""

SAMPLE = 2.4
"""Length of a line in a legend, in sizes of the text."""

_APART = 0.7  # least room between the texts of ticks, in sizes of the text


@dataclass(frozen=True)
class Scale:
    """What a value is as a length, from start to end.

    Attributes
    ----------
    low, high, start, end : float
    logarithmic : bool
    """

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """Return where a value is."""
        if self.logarithmic:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def shows(self, value: float) -> bool:
        """Tell whether a value can be drawn."""
        return math.isfinite(value) and (value > 0 or not self.logarithmic)


def value_range(axis: FigureAxis, values: Iterable[float], room: float) -> tuple[float, float]:
    """Return what an axis shows: all values and what it shows at least, with room at both ends."""
    known = [v for v in values if math.isfinite(v) and (v > 0 or not axis.logarithmic)]
    known += [end for end in (axis.low, axis.high) if end is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if axis.logarithmic:
        ratio = max(high / low, 1.1) ** room
        return low / ratio, high * ratio
    span = (high - low) * room or abs(high) * room or 1.0
    below = 0.0 if axis.low == low else span
    above = 0.0 if axis.high == high and high > low else span
    return low - below, high + above


def tick_texts(axis: FigureAxis, scale: Scale, size: float, *, across: bool) -> list[tuple[float, str]]:
    """Return values and texts of as many ticks as stand clear of each other, along x or, else, up y."""
    room = abs(scale.end - scale.start)
    count = max(2, int(room / (size * (2.6 if across else 2.2))))
    found: list[tuple[float, str]] = []
    for most in range(count, 0, -1):
        found = _ticks(axis, scale, most)
        if not found or _clear(found, scale, size, across=across):
            return found
    return found[:1]


def _ticks(axis: FigureAxis, scale: Scale, count: int) -> list[tuple[float, str]]:
    low, high = scale.low, scale.high
    if axis.logarithmic:
        return [(v, ticks.power_label(v)) for v in ticks.log_ticks(low, high, count)]
    if axis.whole:
        values = ticks.integer_ticks(low, high, count)
        return [(v, f"{v:,.0f}".replace("-", "−")) for v in values]
    values = ticks.nice_ticks(low, high, count, ticks.DECIMAL_STEPS)
    return list(zip(values, ticks.tick_labels(values), strict=True))


def _clear(found: Sequence[tuple[float, str]], scale: Scale, size: float, *, across: bool) -> bool:
    """Tell whether texts at ticks stand clear of each other."""
    places = sorted((scale(value), text) for value, text in found)
    half = [(inter().width(text, size) if across else size) / 2 for _, text in places]
    return all(
        b - a >= half[i] + half[i + 1] + (_APART if across else 0.2) * size
        for i, ((a, _), (b, _)) in enumerate(itertools.pairwise(places))
    )


def x_axis(axis: FigureAxis, scale: Scale, bottom: float, style: FigureStyle) -> list[Shape]:
    """Return a line with ticks, their texts and the title below."""
    em, stroke = style.em, Stroke(style.line, 0.09 * style.em)
    shapes: list[Shape] = [line((scale.start, bottom), (scale.end, bottom), stroke)]
    for value, text in tick_texts(axis, scale, em, across=True):
        shapes.append(line((scale(value), bottom), (scale(value), bottom + 0.35 * em), stroke))
        shapes.append(TextShape(scale(value), bottom + 1.35 * em, text, em, style.muted, "middle"))
    return [*shapes, *below(axis.text, scale, bottom + 1.6 * em, style)]


def below(title: str, scale: Scale, top: float, style: FigureStyle) -> list[Shape]:
    """Return the title of an axis in the middle below it, in two lines where it is long."""
    em, middle = style.em, (scale.start + scale.end) / 2
    lines = wrapped(title, 2 * min(middle, style.width - middle), em)
    return [
        TextShape(middle, top + (at + 1) * LINE * em - 0.1 * em, text, em, style.text, "middle")
        for at, text in enumerate(lines)
    ]


def below_height(title: str, start: float, end: float, style: FigureStyle) -> float:
    """Return how much room texts of ticks and title of an x axis take."""
    middle = (start + end) / 2
    lines = len(wrapped(title, 2 * min(middle, style.width - middle), style.em))
    return (1.9 + LINE * lines) * style.em


def beside(title: str, x: float, low: float, high: float, style: FigureStyle) -> list[Shape]:
    """Return the title of an axis reading upwards, its first line's baseline at x."""
    em = style.em
    return [
        TextShape(x + at * LINE * em, (low + high) / 2, text, em, style.text, "middle", turned=True)
        for at, text in enumerate(wrapped(title, abs(high - low), em))
    ]


@dataclass(frozen=True)
class LegendEntry:
    """A name with a sample of what bears it.

    Attributes
    ----------
    label : str
    sample : callable
        Returns shapes for a box that begins at x and whose middle is at y.
    """

    label: str
    sample: Callable[[float, float], list[Shape]]


def legend(
    entries: Sequence[LegendEntry], left: float, right: float, top: float, style: FigureStyle
) -> tuple[list[Shape], float]:
    """Return names with their samples in as many rows as they need, and where these end."""
    em = style.em
    shapes: list[Shape] = []
    x, y = left, top
    for entry in entries:
        label = elided(entry.label, right - left - (SAMPLE + 0.6) * em, em)
        wide = (SAMPLE + 0.6) * em + inter().width(label, em)
        if x > left and x + wide > right:
            x, y = left, y + LINE * em
        shapes += entry.sample(x, y + 0.62 * em)
        shapes.append(TextShape(x + (SAMPLE + 0.6) * em, y + 0.97 * em, label, em, style.text))
        x += wide + 1.4 * em
    return shapes, y + LINE * em + 0.35 * em if entries else top


def marker(number: int, at: Point, radius: float, color: str, style: FigureStyle) -> Shape:
    """Return the marker of a look, in print each of another form."""
    x, y = at
    name = MARKERS[number % len(MARKERS)]
    ring = Stroke("#ffffff", 0.06 * style.em)
    if name == "circle":
        return DiskShape(x, y, radius, color, ring)
    if name in ("plus", "cross"):
        return _cross(x, y, radius, color, ring, turned=name == "cross")
    corners = {"square": 4, "diamond": 4, "triangle": 3, "star": 10}[name]
    first = math.pi / 4 if name == "square" else -math.pi / 2
    points = []
    for corner in range(corners):
        angle = first + 2 * math.pi * corner / corners
        far = radius * (0.5 if name == "star" and corner % 2 else 1.2)
        points.append((x + far * math.cos(angle), y + far * math.sin(angle)))
    return PathShape(tuple(points), ring, color, closed=True)


def _cross(x: float, y: float, radius: float, color: str, ring: Stroke, *, turned: bool) -> Shape:
    """Return a cross with arms as an area, upright or turned."""
    arm, half = 1.2 * radius, 0.36 * radius
    outline = [(-half, -arm), (half, -arm), (half, -half), (arm, -half), (arm, half), (half, half)]
    outline += [(-dx, -dy) for dx, dy in outline]
    turn = math.sqrt(0.5) if turned else 0.0
    keep = turn or 1.0
    points = tuple((x + keep * dx - turn * dy, y + turn * dx + keep * dy) for dx, dy in outline)
    return PathShape(points, ring, color, closed=True)
