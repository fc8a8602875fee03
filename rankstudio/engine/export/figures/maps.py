"""Values of rows and columns as colours, painted, with a bar that says what the colours mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from math import isfinite

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure as Paper
from matplotlib.patches import Rectangle
from matplotlib.transforms import Bbox, ScaledTranslation

from rankstudio.engine.export.figures import ticks
from rankstudio.engine.export.figures.page import FigurePage, Look, Ticks
from rankstudio.engine.export.figures.rows import ROW, name_rows
from rankstudio.engine.export.figures.style import FigureStyle, on_ground
from rankstudio.engine.export.figures.values import MapFigure

_SHADES = 256
_LEAST_BAR, _MOST_BAR = 8.0, 22.0  # sizes of the text
_WIDEST_CELL, _USUAL_CELL = 9.0, 1.6
_LEAST_ROW, _USUAL_ROWS, _MOST_ROWS = 1.2, 62.0, 85.0  # of the text: a page of 8 points has 85
_BESIDE = 4.8  # what the bar of colours takes, with its title and without its numbers
_OVERLAP = 0.2  # of a cell


def map_paper(figure: MapFigure, style: FigureStyle) -> Paper:
    """Return a map on paper."""
    figure = _named_to_fit(figure, style)
    page, n_columns = FigurePage(style), len(figure.columns)
    cells = _paint_cells(page, figure)
    _paint_values(page, figure)
    _paint_marked(page, figure)
    _name_groups(page, figure)
    numbers = max((page.width(text) for _, text in _bar_ticks(figure)), default=0.0)
    spare = style.width - (_BESIDE + n_columns * _USUAL_CELL) * style.em - numbers
    page.fitters.append(lambda _, high: name_rows(page, figure.rows, _named_rows(page, figure, high), spare))
    page.fitters.append(lambda wide, _: _name_columns(page, figure, wide / max(1, n_columns)))
    page.name_columns(figure.column_title)
    page.name_rows(figure.row_title)
    _paint_bar(page, figure, cells)
    return page.finish(lambda _: _height(figure, style), _WIDEST_CELL * style.em * max(1, n_columns))


def _named_to_fit(figure: MapFigure, style: FigureStyle) -> MapFigure:
    """Return a map whose rows have their names where there is room for each, else what stands for them."""
    room = (style.height or _MOST_ROWS * style.em) - 4.2 * style.em
    if not figure.short_rows or len(figure.rows) * _LEAST_ROW * style.em <= room:
        return figure
    return replace(figure, rows=figure.short_rows, row_title=figure.short_title)


def _height(figure: MapFigure, style: FigureStyle) -> float:
    """Return how high rows are: as their names ask for, or less where these have an order and are many."""
    n = max(1, len(figure.rows))
    usual = (2.0 if figure.written else ROW) * style.em
    if figure.short_rows and not figure.row_title:
        return n * max(min(usual, _USUAL_ROWS * style.em / n), _LEAST_ROW * style.em)
    return n * (min(usual, 0.62 * style.width / n) if figure.row_title else usual)


def color_range(figure: MapFigure) -> tuple[float, float]:
    """Return the values of the first and of the last colour."""
    known = [v for row in figure.values for v in row if isfinite(v)]
    low = figure.color.low if figure.color.low is not None else min(known, default=0.0)
    high = figure.color.high if figure.color.high is not None else max(known, default=1.0)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _paint_cells(page: FigurePage, figure: MapFigure) -> PolyCollection:
    """Paint the cells, their middles at whole numbers: with gaps where values are in them, else overlapping.

    Each reaches under its neighbours at the right and below, which are painted later: readers of PDF and SVG
    show the ground between areas that merely meet.
    """
    style, (low, high) = page.style, color_range(figure)
    shades = [style.heat(at / (_SHADES - 1), first_dark=figure.first_dark) for at in range(_SHADES)]
    colors = ListedColormap(shades).with_extremes(bad="#ffffff" if style.print else "#f2f3f6")
    n_rows, n_columns = len(figure.rows), len(figure.columns)
    over = 0.0 if figure.written else _OVERLAP
    corners = np.array([[-0.5, -0.5], [0.5 + over, -0.5], [0.5 + over, 0.5 + over], [-0.5, 0.5 + over]])
    middles = np.array([(column, row) for row in range(n_rows) for column in range(n_columns)])
    outlines = np.minimum(middles[:, np.newaxis] + corners, [n_columns - 0.5, n_rows - 0.5])
    cells = PolyCollection(outlines, cmap=colors, linewidth=0.0)
    cells.set_array(np.ma.masked_invalid(np.array(figure.values, dtype=float).ravel()))
    cells.set_clim(low, high)
    if figure.written:
        cells.set(edgecolor="#ffffff", linewidth=0.12 * style.em)
    page.area.add_collection(cells)
    page.area.set(xlim=(-0.5, n_columns - 0.5), ylim=(n_rows - 0.5, -0.5))
    if style.print:
        page.area.spines[:].set(visible=True, color=style.faint, linewidth=0.08 * style.em)
    return cells


def _paint_values(page: FigurePage, figure: MapFigure) -> None:
    """Write the values into the cells, where there is room for all of them."""
    if not figure.written:
        return
    style, (low, high) = page.style, color_range(figure)
    known = [(r, c, v) for r, row in enumerate(figure.values) for c, v in enumerate(row) if isfinite(v)]
    written = []
    for row, column, value in known:
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        color = on_ground(style.heat(share, first_dark=figure.first_dark))
        text = _value_text(figure, value)
        look: Look = {"ha": "center", "va": "center_baseline", "color": color}
        written.append(page.area.text(column, row, text, **look))
    widest = max((page.width(_value_text(figure, value)) for _, _, value in known), default=0.0)

    def fit(wide: float, high: float) -> None:
        broad = widest + 0.4 * style.em <= wide / len(figure.columns)
        for text in written:
            text.set_visible(broad and high / len(figure.rows) >= 1.2 * style.em)

    page.fitters.append(fit)


def _value_text(figure: MapFigure, value: float) -> str:
    text = f"{value:.{figure.decimals}f}"
    return (text if text.strip("-0.") else text.lstrip("-")).replace("-", "−")


def _paint_marked(page: FigurePage, figure: MapFigure) -> None:
    """Paint outlines of the cells that stand out."""
    em = page.style.em
    outlines = []
    for row, column in figure.marked:
        for color, thick in (("#ffffff", 0.4), ("#000000", 0.2)):
            around = Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=color, clip_on=False)
            outlines.append((page.area.add_patch(around), thick))

    def fit(wide: float, _: float) -> None:
        thin = 0.6 if wide / max(1, len(figure.columns)) < 1.2 * em else 1.0
        for around, thick in outlines:
            around.set_linewidth(thick * thin * em)

    page.fitters.append(fit)
    if figure.marked and figure.mark_label:
        sample = Rectangle((0, 0), 1, 1, fill=False, edgecolor="#000000", linewidth=0.2 * em)
        page.entries.append((sample, figure.mark_label))


def _name_groups(page: FigurePage, figure: MapFigure) -> None:
    """Write the names of groups of columns over lines that hold them together."""
    em, first = page.style.em, 0
    above = page.area.get_xaxis_transform() + ScaledTranslation(0, 0.25 * em / 72, page.paper.dpi_scale_trans)
    line: Look = {"color": page.style.line, "linewidth": 0.09 * em, "clip_on": False}
    look: Look = {"color": page.style.text, "ha": "center", "va": "bottom"}
    written = []
    for name, n in figure.groups:
        page.area.plot([first - 0.44, first + n - 0.56], [1, 1], transform=above, **line)
        written.append(page.area.text(first + (n - 1) / 2, 1.0, name, transform=above, **look))
        first += n

    def fit(wide: float, _: float) -> None:
        for text, (name, n) in zip(written, figure.groups, strict=True):
            text.set_text(page.elided(name, n * wide / len(figure.columns) - 0.4 * em))

    page.fitters.append(fit)


def _named_rows(page: FigurePage, figure: MapFigure, high: float) -> range:
    """Return the rows whose names are written: every so many of those that have an order and stand close."""
    n = len(figure.rows)
    every = max(1, math.ceil(1.15 * page.style.em * n / high)) if figure.row_title else 1
    return range(0, n, every)


def _name_columns(page: FigurePage, figure: MapFigure, cell: float) -> None:
    """Write the names of columns: all, or round numbers or every so many of close ones."""
    widest = max(map(page.width, figure.columns), default=0.0) + 0.7 * page.style.em
    apart = max(1, math.ceil(widest / cell))
    numbers = [int(name) if name.isdecimal() else -1 for name in figure.columns]
    shown: Sequence[int] = range(0, len(numbers), apart)
    if apart > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        found = [int(v) for v in ticks.integer_ticks(numbers[0], numbers[-1], len(numbers) / apart)]
        inner = [v for v in found[1:-1] if min(v - found[0], found[-1] - v) >= apart]
        shown = [v - numbers[0] for v in (found[0], *inner, found[-1])]
    page.area.set_xticks(shown, [page.elided(figure.columns[at], cell * apart) for at in shown])


def _bar_ticks(figure: MapFigure) -> Ticks:
    """Return values of the bar and what stands beside them; its ends say where values lie beyond."""
    if figure.ends:
        return figure.ends
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
    return said


def _paint_bar(page: FigurePage, figure: MapFigure, cells: PolyCollection) -> None:
    """Paint the bar of colours with its numbers and what they measure; the first of ranks is at its top."""
    em, style = page.style.em, page.style
    bar = page.area.inset_axes((0, 0, 1, 1))
    colors = page.paper.colorbar(cells, cax=bar)
    colors.outline.set_visible(False)
    assert colors.solids is not None  # there are none of a map of lines alone
    colors.solids.set(rasterized=False, edgecolor="face", linewidth=0.05 * em)  # no seams, and no picture
    said = _bar_ticks(figure)
    bar.set_yticks([value for value, _ in said], [text for _, text in said])
    bar.tick_params(length=0, pad=0.4 * em, labelcolor=style.muted)
    if figure.first_dark:
        bar.invert_yaxis()

    def place(length: float) -> Bbox:
        """Return where the bar is on the paper: beside the area, from its top."""
        area, (across, up) = page.area.get_position(), 72 * page.paper.get_size_inches()
        return Bbox.from_bounds(area.x1 + em / across, area.y1 - length / up, em / across, length / up)

    def fit(_: float, high: float) -> None:
        length = min(max(high, _LEAST_BAR * em), _MOST_BAR * em)
        bar.set_axes_locator(lambda *_: place(length))
        title = page.wrapped(figure.color.text, length)
        bar.set_ylabel(title, color=style.text, labelpad=0.5 * em)

    page.fitters.append(fit)
