"""Series over two axes, laid out: legend above, axes with their titles, nothing over anything's name."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from math import isfinite

from rankstudio.engine.export.figures.font import inter
from rankstudio.engine.export.figures.scales import (
    LINE,
    SAMPLE,
    LegendEntry,
    Scale,
    below_height,
    beside,
    legend,
    marker,
    tick_texts,
    value_range,
    x_axis,
)
from rankstudio.engine.export.figures.shapes import (
    DiskShape,
    Drawing,
    PathShape,
    Point,
    Shape,
    Stroke,
    TextShape,
    line,
    rectangle,
    wrapped,
)
from rankstudio.engine.export.figures.style import FigureStyle
from rankstudio.engine.export.figures.values import CurvesFigure, Series

_MOST_NAMED = 7  # series of a family; of more the legend is a strip of colours with its two ends
_LOOKS = 7
_NEUTRAL = "#6b7280"


def curves_drawing(figure: CurvesFigure, style: FigureStyle) -> Drawing:
    """Return a figure of series as a drawing."""
    em = style.em
    top = 0.4 * em
    above, top = _legend(figure, style, top)
    left, right, bottom_room = margins(figure, style)
    height = style.height or top + area_height(figure, style, right - left) + bottom_room
    bottom = max(height - bottom_room, top + 2 * em)
    x_range, y_range = axis_ranges(figure)
    x = Scale(*x_range, left, right, figure.x.logarithmic)
    y = Scale(*y_range, bottom, top, figure.y.logarithmic)
    shapes = [*_y_axis(figure, y, x, style), *_grid_frame(figure, x, y, style)]
    shapes += _levels(figure, x, y, style)
    for one in figure.series:
        shapes += _interval(one, x, y, style)
    for at, one in enumerate(figure.series):
        shapes += _series(figure, one, at, x, y, style)
    shapes += _marks(figure, x, y, style)
    shapes += x_axis(figure.x, x, bottom, style)
    shapes += beside(figure.y.text, 0.95 * em, top, bottom, style)
    return Drawing(style.width, height, (*shapes, *above), style.unit, figure.title, figure.caption)


def area_height(figure: CurvesFigure, style: FigureStyle, width: float) -> float:
    """Return how high the area is by how wide the figure is, in sizes of its text."""
    if figure.square:
        return min(width, 40 * style.em)
    wide = style.width / style.em
    return style.width * (0.56 if wide < 36 else 0.42 if wide < 50 else 0.34)


def margins(figure: CurvesFigure, style: FigureStyle) -> tuple[float, float, float]:
    """Return where the area begins and ends, and the room below it."""
    em = style.em
    trial = Scale(
        *axis_ranges(figure)[1], area_height(figure, style, style.width * 0.8), 0.0, figure.y.logarithmic
    )
    texts = tick_texts(figure.y, trial, em, across=False)
    widest = max((inter().width(text, em) for _, text in texts), default=0.0)
    title = len(wrapped(figure.y.text, trial.start, em)) * LINE * em
    left = title + widest + 0.9 * em
    x = Scale(*axis_ranges(figure)[0], left, style.width - em, figure.x.logarithmic)
    last = [(place, text) for place, text in tick_texts(figure.x, x, em, across=True)][-1:]
    beyond = max((x(v) + inter().width(text, em) / 2 - x.end for v, text in last), default=0.0)
    right = style.width - max(0.6 * em, beyond + 0.3 * em)
    return left, right, below_height(figure.x.text, left, right, style)


def axis_ranges(figure: CurvesFigure) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return what the axes show."""
    xs = [v for one in figure.series for v in one.x] + [m.x for m in figure.marks]
    ys = [v for one in figure.series for v in (*one.y, *one.low, *one.high)] + [m.y for m in figure.marks]
    xs += [level.value for level in figure.levels if level.vertical]
    ys += [level.value for level in figure.levels if not level.vertical]
    if any(one.kind in ("area", "bars") for one in figure.series):
        ys.append(0.0)
    if figure.square:
        both = value_range(figure.x, xs + ys, 0.03)
        return both, both
    bars = [one for one in figure.series if one.kind == "bars" and len(one.x) > 1]
    half = max((_bar_width(one) / 2 for one in bars), default=0.0)
    xs += [end + side * half for one in bars for end in (one.x[0], one.x[-1]) for side in (-1, 1)]
    x_low, x_high = value_range(figure.x, xs, 0.02)
    y_low, y_high = value_range(figure.y, ys, 0.05)
    known = [v for v in ys if isfinite(v)]
    grounded = any(one.kind in ("area", "bars") for one in figure.series) and min(known, default=0.0) >= 0
    return (x_low, x_high), (0.0 if grounded else y_low, y_high)


def _bar_width(one: Series) -> float:
    return min((b - a for a, b in zip(one.x, one.x[1:], strict=False)), default=1.0)


def _y_axis(figure: CurvesFigure, y: Scale, x: Scale, style: FigureStyle) -> Iterator[Shape]:
    """Yield the lines at the ticks of y, and their texts."""
    em = style.em
    for value, text in tick_texts(figure.y, y, em, across=False):
        yield line((x.start, y(value)), (x.end, y(value)), Stroke(style.faint, 0.08 * em))
        yield TextShape(x.start - 0.5 * em, y(value) + 0.36 * em, text, em, style.muted, "end")


def _grid_frame(figure: CurvesFigure, x: Scale, y: Scale, style: FigureStyle) -> Iterator[Shape]:
    """Yield the axis at the left, the line of zero where values lie on both sides, and the diagonal."""
    stroke = Stroke(style.line, 0.09 * style.em)
    yield line((x.start, y.start), (x.start, y.end), stroke)
    if y.low < 0 < y.high and not y.logarithmic:
        yield line((x.start, y(0.0)), (x.end, y(0.0)), stroke)
    if figure.square:
        low, high = max(x.low, y.low), min(x.high, y.high)
        dashes = (0.3 * style.em, 0.3 * style.em)
        yield line((x(low), y(low)), (x(high), y(high)), Stroke(style.line, stroke.width, dashes))


def series_color(one: Series, style: FigureStyle) -> str:
    """Return the colour of a series."""
    if one.kind == "steps":
        return style.line
    return style.category(one.number) if one.order is None else style.ordered(one.order)


def _stroke(figure: CurvesFigure, one: Series, at: int, style: FigureStyle) -> Stroke:
    """Return the line of a series; those of an order have dashes only where they are few."""
    width = 0.17 * style.em
    if one.dashes is not None:
        return Stroke(series_color(one, style), width, tuple(width * length for length in one.dashes))
    if one.order is None:
        dashes = () if one.kind == "steps" else style.dashes(one.number, width)
        return Stroke(series_color(one, style), width, dashes)
    few = len(figure.series) <= (_LOOKS if style.print else 4)
    dashes = style.dashes(at, width) if few else ()
    return Stroke(series_color(one, style), width if few else 0.8 * width, dashes)


def _series(
    figure: CurvesFigure, one: Series, at: int, x: Scale, y: Scale, style: FigureStyle
) -> Iterator[Shape]:
    """Yield the shapes of a series."""
    color, stroke = series_color(one, style), _stroke(figure, one, at, style)
    runs = _connected(one, x, y)
    if one.kind == "bars":
        wide = _bar_width(one)
        for value, height in (point for run in runs for point in run):
            left, right = x(value - 0.46 * wide), x(value + 0.46 * wide)
            low, high = sorted((y(max(0.0, y.low)), y(height)))
            yield rectangle(left, low, right - left, high - low, color)
        return
    for run in runs:
        points = [(x(a), y(b)) for a, b in run]
        if one.kind == "area":
            ground = y(max(0.0, y.low))
            around = ((points[0][0], ground), *points, (points[-1][0], ground))
            yield PathShape(around, None, color, 0.15, closed=True)
        if one.kind == "steps":
            points = [p for a, b in itertools.pairwise(points) for p in (a, (b[0], a[1]))] + points[-1:]
        if one.kind != "points" and len(points) > 1:
            yield PathShape(tuple(points), stroke)
    yield from _markers(figure, one, at, runs, x, y, style)


def _markers(
    figure: CurvesFigure,
    one: Series,
    at: int,
    runs: list[list[Point]],
    x: Scale,
    y: Scale,
    style: FigureStyle,
) -> Iterator[Shape]:
    """Yield the markers of a series: all of points and of lone ones; of a line in print, some."""
    number = one.number if one.order is None else at
    color, radius = series_color(one, style), 0.32 * style.em
    last = float("-inf")
    in_print = style.print and one.kind == "line" and (one.order is None or len(figure.series) <= _LOOKS)
    for run in runs:
        for a, b in run:
            here = x(a) - (0.5 * style.em * (at % _LOOKS))  # those of other series elsewhere
            spaced = in_print and here - last >= 2.6 * style.em
            if one.kind == "points" or (len(run) == 1 and one.kind == "line") or spaced:
                last = here
                yield marker(number, (x(a), y(b)), radius, color, style)


def _connected(one: Series, x: Scale, y: Scale) -> list[list[Point]]:
    """Return the points that can be drawn, in runs without a gap."""
    runs: list[list[Point]] = [[]]
    for a, b in zip(one.x, one.y, strict=True):
        if x.shows(a) and y.shows(b):
            runs[-1].append((a, b))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _interval(one: Series, x: Scale, y: Scale, style: FigureStyle) -> Iterator[Shape]:
    """Yield the intervals of a series: a band around a line, whiskers around points and lone ones."""
    known = [
        (x(a), y(low), y(high))
        for a, low, high in zip(one.x, one.low, one.high, strict=False)
        if x.shows(a) and y.shows(low) and y.shows(high)
    ]
    color = style.category(one.number) if one.order is None else style.ordered(one.order)
    if one.kind == "points" or len(known) == 1:
        for a, low, high in known:
            yield line((a, low), (a, high), Stroke(color, 0.12 * style.em))
    elif known:
        around = [(a, high) for a, _, high in known] + [(a, low) for a, low, _ in reversed(known)]
        yield PathShape(tuple(around), None, color, 0.14, closed=True)


def _level_stroke(at: int, style: FigureStyle) -> Stroke:
    dashes = ((0.5, 0.35), (0.16, 0.3), (1.0, 0.3))[at % 3]
    return Stroke(
        style.text if style.print else _NEUTRAL, 0.12 * style.em, tuple(d * style.em for d in dashes)
    )


def _levels(figure: CurvesFigure, x: Scale, y: Scale, style: FigureStyle) -> Iterator[Shape]:
    for at, level in enumerate(figure.levels):
        if not (x if level.vertical else y).shows(level.value):
            continue
        ends = (
            ((x(level.value), y.start), (x(level.value), y.end))
            if level.vertical
            else ((x.start, y(level.value)), (x.end, y(level.value)))
        )
        yield line(*ends, _level_stroke(at, style))


def _ring(at: int, place: Point, style: FigureStyle) -> Iterator[Shape]:
    """Yield the ring around a point that stands out, of another size for each."""
    x, y = place
    yield DiskShape(x, y, (0.55 + 0.25 * at) * style.em, "", Stroke(style.text, 0.13 * style.em))


def _marks(figure: CurvesFigure, x: Scale, y: Scale, style: FigureStyle) -> Iterator[Shape]:
    for at, mark in enumerate(figure.marks):
        if x.shows(mark.x) and y.shows(mark.y):
            yield from _ring(at, (x(mark.x), y(mark.y)), style)


def _legend(figure: CurvesFigure, style: FigureStyle, top: float) -> tuple[list[Shape], float]:
    """Return the names of all that is drawn, above the area, and where they end."""
    em, entries = style.em, []
    shapes: list[Shape] = []
    family = [one for one in figure.series if one.order is not None]
    if len(family) > _MOST_NAMED:
        shapes += _strip(figure, family, style, top)
        top += (LINE + 0.25) * em
    for at, one in enumerate(figure.series):
        named = one.label and (one.order is None or len(family) <= _MOST_NAMED)
        if named and (len(figure.series) > 1 or figure.levels or figure.marks):
            entries.append(LegendEntry(one.label, partial(_sample, figure, one, at, style)))
    for at, level in enumerate(figure.levels):
        entries.append(LegendEntry(level.label, partial(_level_sample, at, style)))
    for at, mark in enumerate(figure.marks):
        entries.append(LegendEntry(mark.label, partial(_mark_sample, at, style)))
    if figure.bands:
        entries.append(LegendEntry(figure.bands, partial(_band_sample, style)))
    found, top = legend(entries, 0.4 * em, style.width - 0.4 * em, top, style)
    return shapes + found, top


def _sample(
    figure: CurvesFigure, one: Series, at: int, style: FigureStyle, x: float, y: float
) -> list[Shape]:
    em, color = style.em, series_color(one, style)
    wide, number = SAMPLE * em, one.number if one.order is None else at
    if one.kind == "bars":
        return [rectangle(x, y - 0.3 * em, wide, 0.6 * em, color)]
    shapes: list[Shape] = []
    if one.kind == "area" or one.low:
        shapes.append(rectangle(x, y - 0.4 * em, wide, 0.8 * em, color, 0.15))
    if one.kind != "points":
        shapes.append(line((x, y), (x + wide, y), _stroke(figure, one, at, style)))
    if one.kind == "points" or (style.print and one.kind == "line"):
        shapes.append(marker(number, (x + wide / 2, y), 0.32 * em, color, style))
    return shapes


def _level_sample(at: int, style: FigureStyle, x: float, y: float) -> list[Shape]:
    return [line((x, y), (x + SAMPLE * style.em, y), _level_stroke(at, style))]


def _mark_sample(at: int, style: FigureStyle, x: float, y: float) -> list[Shape]:
    x += SAMPLE * style.em / 2
    small = 0.42 + 0.12 * min(at, 1)
    return [DiskShape(x, y, small * style.em, "", Stroke(style.text, 0.13 * style.em))]


def _band_sample(style: FigureStyle, x: float, y: float) -> list[Shape]:
    return [rectangle(x, y - 0.4 * style.em, SAMPLE * style.em, 0.8 * style.em, style.text, 0.18)]


def _strip(figure: CurvesFigure, family: list[Series], style: FigureStyle, top: float) -> Iterator[Shape]:
    """Yield the colours of an ordered family from its first name to its last."""
    em, size = style.em, inter().width
    ends = sorted(family, key=lambda one: one.order or 0.0)
    first, last = ends[0].label, ends[-1].label
    x, y = 0.4 * em, top + 0.62 * em
    if figure.family:
        yield TextShape(x, y + 0.36 * em, figure.family, em, style.text)
        x += size(figure.family, em) + em
    yield TextShape(x, y + 0.36 * em, first, em, style.text)
    x += size(first, em) + 0.6 * em
    wide = max(2 * em, min(14 * em, style.width - x - size(last, em) - em))
    for at, one in enumerate(ends):
        part = wide / len(ends)
        yield rectangle(x + at * part, y - 0.35 * em, part, 0.7 * em, style.ordered(one.order or 0.0))
    yield TextShape(x + wide + 0.6 * em, y + 0.36 * em, last, em, style.text)
