"""Values of rows and columns as colours, laid out: names, cells, and a bar that says what colours mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from rankstudio.engine.export.figures import ticks
from rankstudio.engine.export.figures.font import inter
from rankstudio.engine.export.figures.row_layout import ROW, names_width, row_name
from rankstudio.engine.export.figures.scales import LINE, SAMPLE, LegendEntry, Scale, below, beside, legend
from rankstudio.engine.export.figures.shapes import (
    Drawing,
    PathShape,
    Shape,
    Stroke,
    TextShape,
    elided,
    line,
    rectangle,
    wrapped,
)
from rankstudio.engine.export.figures.style import FigureStyle, on_ground
from rankstudio.engine.export.figures.values import MapFigure

_BAR_STEPS = 48
_LEAST_BAR, _MOST_BAR = 8.0, 22.0  # sizes of the text
_LEAST_ROW, _USUAL_ROWS, _MOST_ROWS = 1.2, 62.0, 85.0  # of the text: a page of 8 points has 85


@dataclass(frozen=True)
class _Cells:
    """Where the cells are."""

    left: float
    top: float
    wide: float
    high: float
    n_rows: int
    n_columns: int

    @property
    def right(self) -> float:
        return self.left + self.wide * self.n_columns

    @property
    def bottom(self) -> float:
        return self.top + self.high * self.n_rows


def map_drawing(figure: MapFigure, style: FigureStyle) -> Drawing:
    """Return a map as a drawing."""
    em = style.em
    above, top = legend(_entries(figure, style), 0.4 * em, style.width - 0.4 * em, 0.4 * em, style)
    top += LINE * em if figure.groups else 0.0
    figure = _named_to_fit(figure, style, top)
    texts = _bar_texts(figure)
    bar_room = max((inter().width(text, em) for _, text in texts), default=0.0) + 3.1 * em
    title = LINE * em if figure.row_title else 0.0
    room = style.width - bar_room - _title_room(figure, style)
    spare = room - title - len(figure.columns) * 1.6 * em
    left = title + names_width(figure.rows, style, spare)
    wide = (room - left) / max(1, len(figure.columns))
    wide = max(min(wide, 9 * em), 0.2 * em)
    below_room = (1.6 + LINE * len(wrapped(figure.column_title, style.width - left, em))) * em
    cells = _Cells(
        left, top, wide, _row_height(figure, style, top, below_room), len(figure.rows), len(figure.columns)
    )
    shapes = [*_fields(figure, cells, style), *_names(figure, cells, style), *_groups(figure, cells, style)]
    across = Scale(0.0, 1.0, cells.left, cells.right)
    shapes += below(figure.column_title, across, cells.bottom + 1.4 * em, style)
    if figure.row_title:
        shapes += beside(figure.row_title, 0.95 * em, cells.top, cells.bottom, style)[:1]
    bar_bottom = cells.top + min(max(cells.bottom - cells.top, _LEAST_BAR * em), _MOST_BAR * em)
    shapes += _bar(figure, cells.right + em, cells.top, bar_bottom, texts, style)
    height = max(cells.bottom + below_room, bar_bottom + 0.6 * em, style.height or 0.0)
    return Drawing(style.width, height, (*shapes, *above), style.unit, figure.title, figure.caption)


def _named_to_fit(figure: MapFigure, style: FigureStyle, top: float) -> MapFigure:
    """Return a map whose rows have their names where there is room for each, else what stands for them."""
    room = (style.height or _MOST_ROWS * style.em) - top - (1.6 + LINE) * style.em
    if not figure.short_rows or len(figure.rows) * _LEAST_ROW * style.em <= room:
        return figure
    return replace(figure, rows=figure.short_rows, row_title=figure.short_title)


def _title_room(figure: MapFigure, style: FigureStyle) -> float:
    return LINE * style.em * len(wrapped(figure.color.text, _LEAST_BAR * style.em, style.em))


def _row_height(figure: MapFigure, style: FigureStyle, top: float, below_room: float) -> float:
    """Return how high a row is: as its name asks for, or less where rows have an order and are many."""
    n = max(1, len(figure.rows))
    if style.height:
        return max((style.height - top - below_room) / n, 0.2 * style.em)
    usual = (2.0 if figure.written else ROW) * style.em
    if figure.short_rows and not figure.row_title:
        return max(min(usual, _USUAL_ROWS * style.em / n), _LEAST_ROW * style.em)
    return min(usual, 0.62 * style.width / n) if figure.row_title else usual


def share_of(figure: MapFigure, value: float) -> float:
    """Return at which share of the colours a value is."""
    low, high = color_range(figure)
    return min(max((value - low) / (high - low), 0.0), 1.0)


def color_range(figure: MapFigure) -> tuple[float, float]:
    """Return the values of the first and of the last colour."""
    known = [v for row in figure.values for v in row if isfinite(v)]
    low = figure.color.low if figure.color.low is not None else min(known, default=0.0)
    high = figure.color.high if figure.color.high is not None else max(known, default=1.0)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _fields(figure: MapFigure, cells: _Cells, style: FigureStyle) -> Iterator[Shape]:
    """Yield the cells, their values where there is room, and the outlines of those that stand out."""
    em = style.em
    gap = 0.06 * em if figure.written and min(cells.wide, cells.high) > em else 0.0
    written = figure.written and _fits(figure, cells, style)
    frame = Stroke(style.faint, 0.08 * em)
    for row, values in enumerate(figure.values):
        for column, value in enumerate(values):
            x, y = cells.left + cells.wide * column, cells.top + cells.high * row
            inside = (x + gap, y + gap, cells.wide - 2 * gap, cells.high - 2 * gap)
            if not isfinite(value):
                if not style.print:
                    yield rectangle(*inside, "#f2f3f6")
                continue
            color = style.heat(share_of(figure, value), first_dark=figure.first_dark)
            yield rectangle(*inside, color)
            if written:
                middle = x + cells.wide / 2, y + cells.high / 2 + 0.36 * em
                yield TextShape(*middle, _value_text(figure, value), em, on_ground(color), "middle")
    if style.print:
        yield PathShape(_corners(cells, 0, 0, len(figure.rows), len(figure.columns)), frame, closed=True)
    for row, column in figure.marked:
        thin = 0.6 if cells.wide < 1.2 * em else 1.0
        outline = _corners(cells, row, column, 1, 1)
        yield PathShape(outline, Stroke("#ffffff", 0.4 * thin * em), closed=True)
        yield PathShape(outline, Stroke("#000000", 0.2 * thin * em), closed=True)


def _corners(
    cells: _Cells, row: int, column: int, rows: int, columns: int
) -> tuple[tuple[float, float], ...]:
    left, top = cells.left + cells.wide * column, cells.top + cells.high * row
    right, bottom = left + cells.wide * columns, top + cells.high * rows
    return (left, top), (right, top), (right, bottom), (left, bottom)


def _fits(figure: MapFigure, cells: _Cells, style: FigureStyle) -> bool:
    """Tell whether all values can be written in their cells."""
    texts = (_value_text(figure, v) for row in figure.values for v in row if isfinite(v))
    widest = max((inter().width(text, style.em) for text in texts), default=0.0)
    return widest + 0.4 * style.em <= cells.wide and cells.high >= 1.2 * style.em


def _value_text(figure: MapFigure, value: float) -> str:
    text = f"{value:.{figure.decimals}f}"
    return (text if text.strip("-0.") else text.lstrip("-")).replace("-", "−")


def _names(figure: MapFigure, cells: _Cells, style: FigureStyle) -> Iterator[Shape]:
    """Yield the names of rows and columns, every so many of those that have an order and stand close."""
    em = style.em
    every = max(1, -int(-1.15 * em // cells.high)) if figure.row_title else 1
    for at in range(0, cells.n_rows, every):
        yield row_name(figure.rows[at], cells.left, cells.top + cells.high * (at + 0.5), style)
    for at in _named_columns(figure, cells, em):
        x, y = cells.left + cells.wide * (at + 0.5), cells.bottom + 1.2 * em
        yield TextShape(x, y, figure.columns[at], em, style.muted, "middle")


def _named_columns(figure: MapFigure, cells: _Cells, em: float) -> list[int]:
    """Return the columns whose names are written: all, or round numbers or every so many of close ones."""
    widest = max((inter().width(name, em) for name in figure.columns), default=0.0) + 0.7 * em
    apart = max(1, -int(-widest // cells.wide))
    numbers = [int(name) if name.isdecimal() else -1 for name in figure.columns]
    if apart > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        found = [int(v) for v in ticks.integer_ticks(numbers[0], numbers[-1], len(numbers) / apart)]
        inner = [v for v in found[1:-1] if min(v - found[0], found[-1] - v) >= apart]
        return [v - numbers[0] for v in (found[0], *inner, found[-1])]
    return list(range(0, cells.n_columns, apart))


def _groups(figure: MapFigure, cells: _Cells, style: FigureStyle) -> Iterator[Shape]:
    """Yield the names of groups of columns over lines that hold them together."""
    em, first = style.em, 0
    for name, n in figure.groups:
        left, right = cells.left + cells.wide * first, cells.left + cells.wide * (first + n)
        y = cells.top - 0.25 * em
        yield line((left + 0.15 * em, y), (right - 0.15 * em, y), Stroke(style.line, 0.09 * em))
        text = elided(name, right - left - 0.4 * em, em)
        yield TextShape((left + right) / 2, y - 0.35 * em, text, em, style.text, "middle")
        first += n


def _bar_texts(figure: MapFigure) -> list[tuple[float, str]]:
    """Return shares of the bar and what stands beside them; its ends say where values lie beyond."""
    if figure.ends:
        return [(share_of(figure, value), text) for value, text in figure.ends]
    low, high = color_range(figure)
    known = [v for row in figure.values for v in row if isfinite(v)]
    if figure.color.whole:
        values = ticks.integer_ticks(low, high, 5)
        texts = [f"{v:,.0f}" for v in values]
    else:
        values = ticks.nice_ticks(low, high, 5, ticks.DECIMAL_STEPS)
        texts = ticks.tick_labels(values)
    said = list(zip(values, texts, strict=True))
    if said and min(known, default=low) < low:
        said[0] = low, f"≤ {said[0][1]}"
    if said and max(known, default=high) > high:
        said[-1] = high, f"≥ {said[-1][1]}"
    return [((value - low) / (high - low), text) for value, text in said]


def _bar(
    figure: MapFigure,
    x: float,
    top: float,
    bottom: float,
    texts: Sequence[tuple[float, str]],
    style: FigureStyle,
) -> Iterator[Shape]:
    """Yield the bar of colours with its numbers and what they measure; the first of ranks is at its top."""
    em = style.em
    down = figure.first_dark
    for at in range(_BAR_STEPS):
        share = (at + 0.5) / _BAR_STEPS
        y = top + (bottom - top) * at / _BAR_STEPS
        color = style.heat(share if down else 1 - share, first_dark=figure.first_dark)
        yield rectangle(x, y, em, (bottom - top) / _BAR_STEPS + 0.05 * em, color)
    widest = 0.0
    for share, text in texts:
        y = top + (bottom - top) * (share if down else 1 - share)
        y = min(max(y, top + 0.4 * em), bottom - 0.3 * em)
        yield TextShape(x + 1.4 * em, y + 0.36 * em, text, em, style.muted)
        widest = max(widest, inter().width(text, em))
    yield from beside(figure.color.text, x + 1.4 * em + widest + 1.3 * em, top, bottom, style)


def _entries(figure: MapFigure, style: FigureStyle) -> list[LegendEntry]:
    if not (figure.marked and figure.mark_label):
        return []

    def sample(x: float, y: float) -> list[Shape]:
        em = style.em
        left = x + (SAMPLE - 1.2) * em / 2
        outline = _corners(_Cells(left, y - 0.4 * em, 1.2 * em, 0.8 * em, 1, 1), 0, 0, 1, 1)
        return [PathShape(outline, Stroke("#000000", 0.2 * em), closed=True)]

    return [LegendEntry(figure.mark_label, sample)]
