"""Series over two axes, painted."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import isfinite

from matplotlib.artist import Artist
from matplotlib.figure import Figure as Paper
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from rankstudio.engine.export.figures.page import FigurePage, Look, known_range, value_range
from rankstudio.engine.export.figures.palette import DASHES
from rankstudio.engine.export.figures.style import FigureStyle
from rankstudio.engine.export.figures.values import CurvesFigure, FigureAxis, Series

_MOST_NAMED = 7  # series of a family; of more the legend is a strip of colours with its two ends
_LOOKS = 7
_NEUTRAL = "#6b7280"
_LEVELS = ((0.5, 0.35), (0.16, 0.3), (1.0, 0.3))  # dashes of values to compare with, in sizes of the text
_LINE, _LEVEL, _RING = 0.17, 0.12, 0.13  # widths of lines, in sizes of the text


def curves_paper(figure: CurvesFigure, style: FigureStyle) -> Paper:
    """Return a figure of series on paper."""
    page = FigurePage(style)
    (x_low, x_high), (y_low, y_high) = axis_ranges(figure)
    page.show_x_axis(figure.x, x_low, x_high, known_range(figure.x, _x_values(figure)))
    page.show_y_axis(figure.y, y_low, y_high)
    page.show_line("left")
    page.show_grid("y")
    thin: Look = {"color": style.line, "linewidth": 0.09 * style.em}
    if y_low < 0 < y_high and not figure.y.logarithmic:
        page.area.axhline(0.0, **thin)
    if figure.square:
        page.area.axline((x_low, x_low), (x_high, x_high), linestyle=(0, (3.3, 3.3)), **thin)
    levels = _levels(page, figure)
    for at, one in enumerate(figure.series):
        bearer = _SeriesPainter(page, figure, one, at).paint()
        if one.label and _named(figure, one):
            page.entries.append((bearer, one.label))
    _name_family(page, figure)
    page.entries += zip(levels, (level.label for level in figure.levels), strict=True)
    _paint_marks(page, figure)
    if figure.bands:
        page.entries.append((Patch(color=style.text, alpha=0.18, linewidth=0), figure.bands))
    return page.finish(lambda wide: _height(figure, style, wide))


def _height(figure: CurvesFigure, style: FigureStyle, width: float) -> float:
    """Return how high the area is by how wide the figure is, in sizes of its text."""
    if figure.square:
        return min(width, 40 * style.em)
    wide = style.width / style.em
    return style.width * (0.56 if wide < 36 else 0.42 if wide < 50 else 0.34)


def axis_ranges(figure: CurvesFigure) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return what the axes show."""
    xs = _x_values(figure)
    ys = [v for one in figure.series for v in (*one.y, *one.low, *one.high)] + [m.y for m in figure.marks]
    ys += [level.value for level in figure.levels if not level.vertical]
    filled = any(one.kind in ("area", "bars") for one in figure.series) and not figure.y.logarithmic
    if filled:
        ys.append(0.0)
    if figure.square:
        both = value_range(figure.x, xs + ys, 0.03)
        return both, both
    bars = [one for one in figure.series if one.kind == "bars" and len(one.x) > 1]
    half = max((_bar_width(one) / 2 for one in bars), default=0.0)
    xs += [end + side * half for one in bars for end in (one.x[0], one.x[-1]) for side in (-1, 1)]
    y_low, y_high = value_range(figure.y, ys, 0.05)
    grounded = filled and min((v for v in ys if isfinite(v)), default=0.0) >= 0
    return value_range(figure.x, xs, 0.02), (0.0 if grounded else y_low, y_high)


def _x_values(figure: CurvesFigure) -> list[float]:
    xs = [v for one in figure.series for v in one.x] + [m.x for m in figure.marks]
    return xs + [level.value for level in figure.levels if level.vertical]


def _bar_width(one: Series) -> float:
    return min((b - a for a, b in itertools.pairwise(one.x)), default=1.0)


class _SeriesPainter:
    """Paints one of the series of a figure.

    Parameters
    ----------
    page : FigurePage
    figure : CurvesFigure
    one : Series
    at : int
        Its number in the figure, from 0.
    """

    def __init__(self, page: FigurePage, figure: CurvesFigure, one: Series, at: int) -> None:
        self._page, self._area, self._style = page, page.area, page.style
        self._figure, self._one, self._at = figure, one, at
        self._of_few = len(figure.series) <= (_LOOKS if page.style.print else 4)
        self._number = one.number if one.order is None else at
        self._color = page.style.line if one.kind == "steps" else page.style.series(one.number, one.order)

    def paint(self) -> Artist | tuple[Artist, ...]:
        """Paint the series, and return what bears its name."""
        one = self._one
        x, y = _shown(one.x, self._figure.x), _shown(one.y, self._figure.y)
        if one.kind == "bars":
            return self._bars(x, y)
        areas = [*self._interval(x), *self._ground(x, y)]
        line = self._line(x, y)
        return (*areas[:1], line) if areas else line

    def _bars(self, x: Sequence[float], y: Sequence[float]) -> Artist:
        wide = 0.92 * _bar_width(self._one)
        self._area.bar(x, y, wide, color=self._color, linewidth=0)
        return Patch(color=self._color, linewidth=0)

    def _interval(self, x: Sequence[float]) -> list[Artist]:
        """Paint the intervals: a band around a line, whiskers around points and lone ones."""
        one = self._one
        low, high = _shown(one.low, self._figure.y), _shown(one.high, self._figure.y)
        color = self._style.series(one.number, one.order)
        known = [point for point in zip(x, low, high, strict=False) if all(map(isfinite, point))]
        if one.kind == "points" or len(known) == 1:
            for at, *around in known:
                self._area.plot([at, at], around, color=color, linewidth=_LEVEL * self._style.em)
            return []
        if not known:
            return []
        middle, below, above = zip(*known, strict=True)
        return [self._area.fill_between(middle, below, above, color=color, alpha=0.14, linewidth=0)]

    def _ground(self, x: Sequence[float], y: Sequence[float]) -> list[Artist]:
        """Paint what lies below an area."""
        if self._one.kind != "area":
            return []
        return [self._area.fill_between(x, y, color=self._color, alpha=0.15, linewidth=0)]

    def _line(self, x: Sequence[float], y: Sequence[float]) -> Line2D:
        """Paint the line with its markers: in print some, spaced; always those of points and of lone ones."""
        one, em = self._one, self._style.em
        dots: Look = {"marker": "None"} if one.kind in ("steps", "area") else self._marker()
        if one.kind == "points":
            return self._area.plot(x, y, linestyle="None", **dots)[0]
        lone = [
            at
            for at, here in enumerate(y)
            if isfinite(here) and not any(isfinite(y[i]) for i in (at - 1, at + 1) if 0 <= i < len(y))
        ]
        if lone and one.kind == "line":
            self._area.plot([x[at] for at in lone], [y[at] for at in lone], linestyle="None", **dots)
        named = one.order is None or len(self._figure.series) <= _LOOKS
        if not (self._style.print and named):
            dots = {"marker": "None"}
        apart, first = 2.6 * em / self._style.width, 0.5 * em * (self._at % _LOOKS) / self._style.width
        thick = _LINE * em * (1.0 if one.order is None or self._of_few else 0.8)
        look: Look = {"color": self._color, "linewidth": thick, "linestyle": (0, self._dashes() or None)}
        style = "steps-post" if one.kind == "steps" else "default"
        return self._area.plot(x, y, drawstyle=style, markevery=(first, apart), **look, **dots)[0]

    def _marker(self) -> Look:
        return self._page.marker(self._number, self._color, 0.64)

    def _dashes(self) -> tuple[float, ...]:
        """Return strokes and gaps; lines of an order have some only where they are few."""
        if self._one.dashes is not None:
            return self._one.dashes
        if self._one.kind == "steps" or (self._one.order is not None and not self._of_few):
            return ()
        return DASHES[self._number % len(DASHES)]


def _shown(values: Sequence[float], axis: FigureAxis) -> list[float]:
    """Return values with a gap for each that an axis cannot show."""
    return [v if isfinite(v) and (v > 0 or not axis.logarithmic) else float("nan") for v in values]


def _levels(page: FigurePage, figure: CurvesFigure) -> list[Artist]:
    """Paint values to compare with, and return what bears their names."""
    found: list[Artist] = []
    for at, level in enumerate(figure.levels):
        dashes = tuple(length / _LEVEL for length in _LEVELS[at % len(_LEVELS)])
        color = page.style.text if page.style.print else _NEUTRAL
        look: Look = {"color": color, "linewidth": _LEVEL * page.style.em, "linestyle": (0, dashes)}
        axis = figure.x if level.vertical else figure.y
        if isfinite(level.value) and (level.value > 0 or not axis.logarithmic):
            (page.area.axvline if level.vertical else page.area.axhline)(level.value, **look)
        found.append(Line2D([], [], **look))
    return found


def _paint_marks(page: FigurePage, figure: CurvesFigure) -> None:
    """Paint rings around points that stand out, each of another size."""
    em = page.style.em
    look: Look = {"marker": "o", "linestyle": "None", "markerfacecolor": "None"}
    look |= {"markeredgecolor": page.style.text, "markeredgewidth": _RING * em}
    for at, mark in enumerate(figure.marks):
        page.area.plot([mark.x], [mark.y], markersize=(1.1 + 0.5 * at) * em, zorder=3, **look)
        small = Line2D([], [], markersize=(0.84 + 0.24 * min(at, 1)) * em, **look)
        page.entries.append((small, mark.label))


def _named(figure: CurvesFigure, one: Series) -> bool:
    """Tell whether a series has an entry of its own in the legend."""
    family = sum(other.order is not None for other in figure.series)
    alone = len(figure.series) == 1 and not figure.levels and not figure.marks
    return not alone and (one.order is None or family <= _MOST_NAMED)


def _name_family(page: FigurePage, figure: CurvesFigure) -> None:
    """Have the colours of a large family in the legend, from its first name to its last."""
    family = [one for one in figure.series if one.order is not None]
    if len(family) > _MOST_NAMED:
        ends = sorted(family, key=lambda one: one.order or 0.0)
        colors = tuple(Patch(color=page.style.ordered(one.order or 0.0), linewidth=0) for one in ends)
        label = f"{ends[0].label} … {ends[-1].label}"
        page.entries.append((colors, f"{figure.family}: {label}" if figure.family else label))
