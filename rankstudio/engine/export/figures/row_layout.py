"""Names below each other with bars or points beside them, laid out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from math import isfinite

from rankstudio.engine.export.figures.font import inter
from rankstudio.engine.export.figures.scales import (
    SAMPLE,
    LegendEntry,
    Scale,
    below_height,
    legend,
    marker,
    tick_texts,
    value_range,
    x_axis,
)
from rankstudio.engine.export.figures.shapes import (
    Drawing,
    PathShape,
    Shape,
    Stroke,
    TextShape,
    elided,
    line,
    rectangle,
)
from rankstudio.engine.export.figures.style import FigureStyle
from rankstudio.engine.export.figures.values import RowsFigure

ROW = 1.55
"""Height of a row, in sizes of the text."""

_MOST_NAMES = 0.5  # of the width
_HILLY = 2.3  # times as high is a row with a histogram
_HILL, _FOOT = 0.86, 0.42  # of its height: the highest bin, and where it stands below the middle
_ID = re.compile(r" \(\d{1,9}\)$")


def names_width(names: tuple[str, ...], style: FigureStyle, spare: float = 0.0) -> float:
    """Return the width of names at the left of rows, with the space after them; more where it is to spare."""
    widest = max((inter().width(name, style.em) for name in names), default=0.0)
    return min(widest + 1.0 * style.em, max(_MOST_NAMES * style.width, spare))


def row_name(name: str, right: float, middle: float, style: FigureStyle) -> TextShape:
    """Return the name of a row, cut where it is longer than the room left of it; the id at its end stays."""
    em, room = style.em, right - 0.9 * style.em
    found = _ID.search(name)
    tail = found[0] if found and inter().width(name, em) > room else ""
    text = elided(name[: len(name) - len(tail)], room - inter().width(tail, em), em) + tail
    return TextShape(right - 0.6 * em, middle + 0.36 * em, text, em, style.text, "end")


def rows_drawing(figure: RowsFigure, style: FigureStyle) -> Drawing:
    """Return a figure of rows as a drawing."""
    em = style.em
    above, top = legend(_entries(figure, style), 0.4 * em, style.width - 0.4 * em, 0.4 * em, style)
    left, right = names_width(figure.rows, style), style.width - 1.4 * em
    room = below_height(figure.axis.text, left, right, style)
    tall = ROW * em * (_HILLY if figure.histograms is not None else 1.0)
    bottom = (style.height - room) if style.height else top + tall * len(figure.rows)
    step = (bottom - top) / max(1, len(figure.rows))
    ground = figure.bars or figure.zero
    x = Scale(*value_limits(figure), left, right, figure.axis.logarithmic)
    stroke = Stroke(style.faint, 0.08 * em)
    shapes: list[Shape] = [
        line((x(value), top), (x(value), bottom), stroke)
        for value, _ in tick_texts(figure.axis, x, em, across=True)
    ]
    if ground and x.low <= 0.0 <= x.high:
        shapes.append(line((x(0.0), top), (x(0.0), bottom), Stroke(style.line, 0.09 * em)))
    for at, name in enumerate(figure.rows):
        middle = top + step * (at + 0.5)
        shapes.append(row_name(name, left, middle, style))
        if figure.histograms is not None:
            shapes += _histogram(figure, at, middle, step, x, style)
            middle += _FOOT * step
        shapes += _row(figure, at, middle, x, style)
    shapes += x_axis(figure.axis, x, bottom, style)
    height = bottom + room
    return Drawing(style.width, height, (*shapes, *above), style.unit, figure.title, figure.caption)


def value_limits(figure: RowsFigure) -> tuple[float, float]:
    """Return what the axis of the values shows."""
    values = [v for one in figure.series for v in (*one.values, *one.low, *one.high)]
    values += figure.histograms.edges if figure.histograms is not None else ()
    low, high = value_range(figure.axis, values + ([0.0] if figure.bars or figure.zero else []), 0.04)
    below = any(isfinite(v) and v < 0 for v in values)
    return (0.0 if figure.bars and not below else low), high


def _row(figure: RowsFigure, at: int, middle: float, x: Scale, style: FigureStyle) -> Iterator[Shape]:
    em = style.em
    if not figure.bars:
        for one in figure.series:
            color = style.category(figure.numbers[at] if figure.numbers else one.number)
            if one.low and x.shows(one.low[at]) and x.shows(one.high[at]):
                ends = (x(one.low[at]), middle), (x(one.high[at]), middle)
                yield line(*ends, Stroke(color, 0.16 * em))
    for place, one in enumerate(figure.series):
        value = one.values[at]
        if not x.shows(value):
            continue
        number = figure.numbers[at] if figure.numbers else one.number
        if figure.bars:
            high = 1.05 * em / len(figure.series)
            start, end = sorted((x(0.0), x(value)))
            y = middle - 0.525 * em + place * high
            yield rectangle(start, y, max(end - start, 0.08 * em), high, _bar(figure, at, number, style))
        else:
            yield marker(number, (x(value), middle), 0.36 * em, style.category(number), style)
    if not figure.bars and at in figure.strong:
        yield rectangle(x.start, middle - 0.7 * em, x.end - x.start, 1.4 * em, style.category(0), 0.08)


def _histogram(
    figure: RowsFigure, at: int, middle: float, step: float, x: Scale, style: FigureStyle
) -> Iterator[Shape]:
    """Yield the histogram of a row: as high as the row where it is highest."""
    assert figure.histograms is not None  # the caller has looked
    shares, edges = figure.histograms.shares[at], figure.histograms.edges
    highest = max(shares, default=0.0)
    if not highest > 0:
        return
    foot, scale = middle + _FOOT * step, _HILL * step / highest
    points = [(x(edges[0]), foot)]
    for share, low, high in zip(shares, edges, edges[1:], strict=False):
        points += [(x(low), foot - scale * share), (x(high), foot - scale * share)]
    points.append((x(edges[-1]), foot))
    color = style.category(figure.numbers[at] if figure.numbers else at)
    yield PathShape(tuple(points), None, color, 0.2, closed=True)
    yield PathShape(tuple(points), Stroke(color, 0.08 * style.em))


def _bar(figure: RowsFigure, at: int, number: int, style: FigureStyle) -> str:
    if figure.strong and at not in figure.strong:
        return "#b4b4b4" if style.print else "#a9b6c9"
    return style.category(number)


def _entries(figure: RowsFigure, style: FigureStyle) -> list[LegendEntry]:
    found = []
    if len(figure.series) > 1:
        found = [LegendEntry(one.label, partial(_sample, figure, one.number, style)) for one in figure.series]
    if figure.strong and figure.strong_label:
        found.append(LegendEntry(figure.strong_label, partial(_strong_sample, figure, style)))
    return found


def _sample(figure: RowsFigure, number: int, style: FigureStyle, x: float, y: float) -> list[Shape]:
    em, color = style.em, style.category(number)
    if figure.bars:
        return [rectangle(x, y - 0.3 * em, SAMPLE * em, 0.6 * em, color)]
    return [marker(number, (x + SAMPLE * em / 2, y), 0.36 * em, color, style)]


def _strong_sample(figure: RowsFigure, style: FigureStyle, x: float, y: float) -> list[Shape]:
    em, color = style.em, style.category(figure.series[0].number if figure.bars else 0)
    return [rectangle(x, y - 0.35 * em, SAMPLE * em, 0.7 * em, color, 1.0 if figure.bars else 0.12)]
