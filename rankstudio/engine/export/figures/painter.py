"""Figures as PDF, SVG and PNG, painted by matplotlib: curves, rows and maps.

Nothing of the clock, the machine, the user's settings or the version of a library is in a file: the same
figure is the same bytes. Texts are texts: a PDF embeds the part of the font that it needs as TrueType, as
many journals refuse Type 3, and an SVG names the font, so that labels can be searched, edited and read
aloud. Outlines in their place would look the same on every screen, but say nothing.
"""

from __future__ import annotations

import io
import itertools
import math
import re
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import isfinite, nan

import numpy as np
from matplotlib import style as looks
from matplotlib.artist import Artist
from matplotlib.collections import PolyCollection
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure as Paper
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.transforms import Bbox, ScaledTranslation

from rankstudio.engine.errors import OutputError
from rankstudio.engine.export.figures import ticks
from rankstudio.engine.export.figures.page import FigurePage, Look, Ticks, known_range, value_range
from rankstudio.engine.export.figures.style import DASHES, FigureStyle, on_ground
from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    Figure,
    FigureAxis,
    MapFigure,
    OwnFigure,
    RowHistograms,
    RowSeries,
    RowsFigure,
    Series,
)
from rankstudio.engine.language import tr
from rankstudio.engine.support.escaping import clean_text
from rankstudio.engine.support.number_format import fixed

_SETTINGS = {
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "rankstudio",
    "font.sans-serif": ["Helvetica", "Arial"],  # which an SVG asks for where there is no Inter
    "text.hinting": "no_hinting",
    "text.parse_math": False,  # a $ in a name is a $
    "path.simplify": False,  # what can be magnified has every point
    "lines.solid_capstyle": "butt",
    "axes.unicode_minus": False,
}
_CREATOR = {"Creator": "RankStudio"}
_MOST_PIXELS = 2**16  # wide or high, which is what matplotlib can count
_one_at_a_time = threading.Lock()


def painted(figure: Figure, style: FigureStyle, format_name: str, dpi: float = 300.0) -> bytes:
    """Return a figure as a file.

    Parameters
    ----------
    figure : Figure
    style : FigureStyle
    format_name : {"pdf", "svg", "png"}
    dpi : float
        Resolution of a PNG in dots per inch.

    Returns
    -------
    bytes
        With title and caption as metadata.

    Raises
    ------
    OutputError
        For a picture that is too large.
    """
    title = clean_text(figure.title)
    caption = clean_text(figure.caption)
    metadata: dict[str, dict[str, str | None]] = {
        "pdf": {"Title": title, "Subject": caption, **_CREATOR, "Producer": None, "CreationDate": None},
        "svg": {"Title": title, "Description": caption, **_CREATOR, "Date": None},
        "png": {"Title": title, "Description": caption, "Software": None},
    }
    file = io.BytesIO()
    with painting():
        paper = paper_of(figure, style)
        wide, high = (round(side * dpi) for side in paper.get_size_inches())
        try:
            if format_name == "png" and max(wide, high) > _MOST_PIXELS:
                raise MemoryError
            see_through = format_name != "png"  # a vector graphic lies on whatever it is put on
            paper.savefig(
                file, format=format_name, dpi=dpi, transparent=see_through, metadata=metadata[format_name]
            )
        except MemoryError as error:
            raise OutputError(
                tr("Not enough memory for an image of {wide} × {high} pixels.").format(wide=wide, high=high)
            ) from error
    return file.getvalue()


@contextmanager
def painting() -> Iterator[None]:
    """Apply the settings of figures; one thread at a time, because matplotlib's settings are global."""
    with _one_at_a_time, looks.context(["default", _SETTINGS]), warnings.catch_warnings():
        # A character that the font has not is a box on paper, and itself in a PDF's text and in an SVG.
        warnings.filterwarnings("ignore", r"Glyph \d+")
        yield


def paper_of(figure: Figure, style: FigureStyle) -> Paper:
    """Return a laid-out figure, within :func:`painting`."""
    if isinstance(figure, OwnFigure):
        return figure.paper(style)
    if isinstance(figure, CurvesFigure):
        return curves_paper(figure, style)
    return map_paper(figure, style) if isinstance(figure, MapFigure) else rows_paper(figure, style)


_MAX_NAMED_SERIES = 7  # series of a family; of more the legend is a strip of colours with its two ends
_N_LOOKS = 7
_NEUTRAL = "#6b7280"
_BOLD_FACTOR = 1.6  # times as thick
# dashes of the lines of values to compare with, in sizes of the text
_LEVEL_DASHES = ((0.5, 0.35), (0.16, 0.3), (1.0, 0.3))
_LINE_WIDTH = 0.17  # widths of lines, in sizes of the text
_LEVEL_WIDTH = 0.12
_RING_WIDTH = 0.13


def curves_paper(figure: CurvesFigure, style: FigureStyle) -> Paper:
    """Return a page with a figure of series."""
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
    levels = _paint_levels(page, figure)
    for index, series in enumerate(figure.series):
        bearer = _SeriesPainter(page, figure, series, index).paint()
        if series.label and _has_legend_entry(figure, series):
            page.entries.append((bearer, series.label))
    _add_family_to_legend(page, figure)
    page.entries += zip(levels, (level.label for level in figure.levels), strict=True)
    _paint_marks(page, figure)
    if figure.bands:
        page.entries.append((Patch(color=style.text, alpha=0.18, linewidth=0), figure.bands))
    return page.finish(lambda wide: _curves_height(figure, style, wide))


def _curves_height(figure: CurvesFigure, style: FigureStyle, width: float) -> float:
    """Return the height of the area of curves, by the width of the area and that of the page."""
    if figure.square:
        return min(width, 40 * style.em)
    wide = style.width / style.em
    if wide < 36:
        return style.width * 0.56
    return style.width * (0.42 if wide < 50 else 0.34)


def axis_ranges(figure: CurvesFigure) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the visible range of the axes."""
    xs = _x_values(figure)
    ys = [v for series in figure.series for v in (*series.y, *series.low, *series.high)] + [
        m.y for m in figure.marks
    ]
    ys += [level.value for level in figure.levels if not level.vertical]
    is_filled = any(series.kind in ("area", "bars") for series in figure.series) and not figure.y.logarithmic
    if is_filled:
        ys.append(0.0)
    if figure.square:
        square_range = value_range(figure.x, xs + ys, 0.03)
        return square_range, square_range
    bars = [series for series in figure.series if series.kind == "bars" and len(series.x) > 1]
    half = max((_bar_width(series) / 2 for series in bars), default=0.0)
    for series in bars:
        xs += [series.x[0] - half, series.x[0] + half, series.x[-1] - half, series.x[-1] + half]
    y_low, y_high = value_range(figure.y, ys, 0.05)
    is_grounded = is_filled and min((v for v in ys if isfinite(v)), default=0.0) >= 0
    return value_range(figure.x, xs, 0.02), (0.0 if is_grounded else y_low, y_high)


def _x_values(figure: CurvesFigure) -> list[float]:
    xs = [v for series in figure.series for v in series.x] + [m.x for m in figure.marks]
    return xs + [level.value for level in figure.levels if level.vertical]


def _bar_width(series: Series) -> float:
    return min((b - a for a, b in itertools.pairwise(series.x)), default=1.0)


class _SeriesPainter:
    """Paints one of the series of a figure.

    Parameters
    ----------
    page : FigurePage
    figure : CurvesFigure
    series : Series
    index : int
        Its number in the figure, from 0.
    """

    def __init__(self, page: FigurePage, figure: CurvesFigure, series: Series, index: int) -> None:
        self._page = page
        self._area = page.area
        self._style = page.style
        self._figure = figure
        self._series = series
        self._index = index
        self._of_few = len(figure.series) <= (_N_LOOKS if page.style.print else 4)
        self._number = series.number if series.order is None else index
        self._color = (
            page.style.line if series.kind == "steps" else page.style.series(series.number, series.order)
        )

    def paint(self) -> Artist | tuple[Artist, ...]:
        """Paint the series, and return what bears its name."""
        series = self._series
        x = _with_gaps(series.x, self._figure.x)
        y = _with_gaps(series.y, self._figure.y)
        if series.kind == "bars":
            return self._bars(x, y)
        areas = [*self._interval(x), *self._ground(x, y)]
        line = self._line(x, y)
        return (*areas[:1], line) if areas else line

    def _bars(self, x: Sequence[float], y: Sequence[float]) -> Artist:
        wide = 0.92 * _bar_width(self._series)
        self._area.bar(x, y, wide, color=self._color, linewidth=0)
        return Patch(color=self._color, linewidth=0)

    def _interval(self, x: Sequence[float]) -> list[Artist]:
        """Paint the intervals: a band around a line, whiskers around points and lone ones."""
        series = self._series
        low = _with_gaps(series.low, self._figure.y)
        high = _with_gaps(series.high, self._figure.y)
        color = self._style.series(series.number, series.order)
        intervals = [point for point in zip(x, low, high, strict=False) if all(map(isfinite, point))]
        if series.kind == "points" or len(intervals) == 1:
            for x_value, *around in intervals:
                self._area.plot(
                    [x_value, x_value], around, color=color, linewidth=_LEVEL_WIDTH * self._style.em
                )
            return []
        if not intervals:
            return []
        middle, below, above = zip(*intervals, strict=True)
        return [self._area.fill_between(middle, below, above, color=color, alpha=0.14, linewidth=0)]

    def _ground(self, x: Sequence[float], y: Sequence[float]) -> list[Artist]:
        """Paint the ground below an area."""
        if self._series.kind != "area":
            return []
        return [self._area.fill_between(x, y, color=self._color, alpha=0.15, linewidth=0)]

    def _line(self, x: Sequence[float], y: Sequence[float]) -> Line2D:
        """Paint the line with its markers: in print some, spaced; always those of points and of lone ones."""
        series = self._series
        em = self._style.em
        dots: Look = {"marker": "None"} if series.kind in ("steps", "area") else self._marker()
        if series.kind == "points":
            return self._area.plot(x, y, linestyle="None", **dots)[0]
        lone = [
            index
            for index, y_value in enumerate(y)
            if isfinite(y_value)
            and not any(isfinite(y[i]) for i in (index - 1, index + 1) if 0 <= i < len(y))
        ]
        if lone and series.kind == "line":
            self._area.plot(
                [x[index] for index in lone], [y[index] for index in lone], linestyle="None", **dots
            )
        is_named = series.order is None or len(self._figure.series) <= _N_LOOKS
        if not (self._style.print and is_named):
            dots = {"marker": "None"}
        spacing = 2.6 * em / self._style.width
        first = 0.5 * em * (self._index % _N_LOOKS) / self._style.width
        thickness = 1.0 if series.order is None or self._of_few else 0.8
        if series.bold:
            thickness = _BOLD_FACTOR
        width = _LINE_WIDTH * em * thickness
        look: Look = {"color": self._color, "linewidth": width, "linestyle": (0, self._dashes() or None)}
        look |= {"zorder": 2.5} if series.bold else {}
        style = "steps-post" if series.kind == "steps" else "default"
        return self._area.plot(x, y, drawstyle=style, markevery=(first, spacing), **look, **dots)[0]

    def _marker(self) -> Look:
        return self._page.marker(self._number, self._color, 0.64)

    def _dashes(self) -> tuple[float, ...]:
        """Return strokes and gaps; lines of an order have some only where they are few."""
        if self._series.dashes is not None:
            return self._series.dashes
        if self._series.kind == "steps" or (self._series.order is not None and not self._of_few):
            return ()
        return DASHES[self._number % len(DASHES)]


def _with_gaps(values: Sequence[float], axis: FigureAxis) -> list[float]:
    """Return values with NaN, a gap, in place of each value that an axis cannot show."""
    return [v if isfinite(v) and (v > 0 or not axis.logarithmic) else float("nan") for v in values]


def _paint_levels(page: FigurePage, figure: CurvesFigure) -> list[Artist]:
    """Paint the lines of values to compare with, and return an artist for each in the legend."""
    artists: list[Artist] = []
    for index, level in enumerate(figure.levels):
        dashes = tuple(length / _LEVEL_WIDTH for length in _LEVEL_DASHES[index % len(_LEVEL_DASHES)])
        color = page.style.text if page.style.print else _NEUTRAL
        look: Look = {"color": color, "linewidth": _LEVEL_WIDTH * page.style.em, "linestyle": (0, dashes)}
        axis = figure.x if level.vertical else figure.y
        if isfinite(level.value) and (level.value > 0 or not axis.logarithmic):
            (page.area.axvline if level.vertical else page.area.axhline)(level.value, **look)
        artists.append(Line2D([], [], **look))
    return artists


def _paint_marks(page: FigurePage, figure: CurvesFigure) -> None:
    """Paint rings around points that stand out, each of another size."""
    em = page.style.em
    look: Look = {"marker": "o", "linestyle": "None", "markerfacecolor": "None"}
    look |= {"markeredgecolor": page.style.text, "markeredgewidth": _RING_WIDTH * em}
    for index, mark in enumerate(figure.marks):
        page.area.plot([mark.x], [mark.y], markersize=(1.1 + 0.5 * index) * em, zorder=3, **look)
        small = Line2D([], [], markersize=(0.84 + 0.24 * min(index, 1)) * em, **look)
        page.entries.append((small, mark.label))


def _has_legend_entry(figure: CurvesFigure, series: Series) -> bool:
    """Return whether a series has an entry of its own in the legend."""
    family = sum(other.order is not None for other in figure.series)
    is_alone = len(figure.series) == 1 and not figure.levels and not figure.marks
    return not is_alone and (series.order is None or family <= _MAX_NAMED_SERIES)


def _add_family_to_legend(page: FigurePage, figure: CurvesFigure) -> None:
    """Add the strip of colours of a large family to the legend, with its first and its last name."""
    family = [series for series in figure.series if series.order is not None]
    if len(family) > _MAX_NAMED_SERIES:
        ends = sorted(family, key=lambda series: series.order or 0.0)
        colors = tuple(Patch(color=page.style.ordered(series.order or 0.0), linewidth=0) for series in ends)
        label = f"{ends[0].label} … {ends[-1].label}"
        page.entries.append((colors, f"{figure.family}: {label}" if figure.family else label))


ROW = 1.55
"""Height of a row, in sizes of the text."""

_MAX_NAME_SHARE = 0.5  # of the width
_HISTOGRAM_ROW_FACTOR = 2.3  # times as high is a row with a histogram
_HISTOGRAM_HEIGHT = 0.86  # of its height: the highest bin, and where it stands below the middle
_HISTOGRAM_FOOT = 0.42
_BARS_HEIGHT = 1.05 / ROW  # height of the bars of a row
_ID = re.compile(r" \(\d{1,9}\)$")


def rows_paper(figure: RowsFigure, style: FigureStyle) -> Paper:
    """Return a page with a figure of rows."""
    page = FigurePage(style)
    n = len(figure.rows)
    low, high = _axis_limits(figure)
    page.show_x_axis(figure.axis, low, high, known_range(figure.axis, _axis_values(figure)))
    page.show_grid("x")
    page.area.set_ylim(max(1, n) - 0.5, -0.5)
    name_rows(page, figure.rows, range(n))
    if (figure.bars or figure.zero) and low <= 0.0 <= high:
        page.area.axvline(0.0, color=style.line, linewidth=0.09 * style.em)
    if figure.histograms is not None:
        _paint_histograms(page, figure, figure.histograms)
    for index, series in enumerate(figure.series):
        if figure.bars:
            _paint_bars(page, figure, series, index)
        else:
            _paint_points(page, figure, series)
    if not figure.bars:
        for row in figure.strong:
            page.area.axhspan(row - 0.45, row + 0.45, color=style.category(0), alpha=0.08, linewidth=0)
    if figure.strong and figure.strong_label:
        color, opacity = (figure.series[0].number, 1.0) if figure.bars else (0, 0.12)
        page.entries.append(
            (Patch(color=style.category(color), alpha=opacity, linewidth=0), figure.strong_label)
        )
    tall = ROW * style.em * (_HISTOGRAM_ROW_FACTOR if figure.histograms is not None else 1.0)
    return page.finish(lambda _: tall * max(1, n))


def name_rows(page: FigurePage, names: tuple[str, ...], visible_rows: range, spare: float = 0.0) -> None:
    """Write names at the left of rows, cut if they are too long; the id at the end is kept.

    Parameters
    ----------
    page : FigurePage
    names : tuple of str
    visible_rows : range
        Rows with names.
    spare : float
        Space not needed by anything else, if larger than usual.
    """
    max_width = max(_MAX_NAME_SHARE * page.style.width, spare) - 0.9 * page.style.em
    page.area.set_yticks(visible_rows, [_elided_name(page, names[row], max_width) for row in visible_rows])
    page.area.tick_params(axis="y", labelcolor=page.style.text)


def _elided_name(page: FigurePage, name: str, room: float) -> str:
    match = _ID.search(name)
    tail = match[0] if match and page.width(name) > room else ""
    return page.elided(name[: len(name) - len(tail)], room - page.width(tail)) + tail


def _axis_limits(figure: RowsFigure) -> tuple[float, float]:
    """Return the range of the axis of the values."""
    values = _axis_values(figure)
    low, high = value_range(figure.axis, values, 0.04)
    is_grounded = figure.bars and not figure.axis.logarithmic
    has_negative = any(isfinite(v) and v < 0 for v in values)
    return (0.0 if is_grounded and not has_negative else low), high


def _axis_values(figure: RowsFigure) -> list[float]:
    values = [v for series in figure.series for v in (*series.values, *series.low, *series.high)]
    values += figure.histograms.edges if figure.histograms is not None else ()
    return values + ([0.0] if figure.bars or figure.zero else [])


def _paint_bars(page: FigurePage, figure: RowsFigure, series: RowSeries, index: int) -> None:
    """Paint the bars of a series, which share the height of a row with those of the others."""
    style = page.style
    high = _BARS_HEIGHT / len(figure.series)
    pale = "#b4b4b4" if style.print else "#a9b6c9"
    colors = [
        pale if figure.strong and row not in figure.strong else style.category(number)
        for row, number in enumerate(figure.numbers or (series.number,) * len(figure.rows))
    ]
    middles = [row - _BARS_HEIGHT / 2 + (index + 0.5) * high for row in range(len(figure.rows))]
    lengths = [value if isfinite(value) else nan for value in series.values]
    page.area.barh(middles, lengths, high, color=colors, linewidth=0)
    for middle, length, mark in zip(middles, lengths, series.marks, strict=False):
        if mark and isfinite(length):
            look: Look = {"ha": "left", "va": "center", "color": style.text}
            page.area.annotate(f" {mark}", (length, middle), **look)
    if len(figure.series) > 1:
        page.entries.append((Patch(color=style.category(series.number), linewidth=0), series.label))


def _paint_points(page: FigurePage, figure: RowsFigure, series: RowSeries) -> None:
    """Paint the points of a series over their intervals, lower where a histogram is behind them."""
    style = page.style
    foot = _HISTOGRAM_FOOT if figure.histograms is not None else 0.0
    for row, value in enumerate(series.values):
        number = figure.numbers[row] if figure.numbers else series.number
        color = style.category(number)
        middle = row + foot
        if series.low and isfinite(series.low[row]) and isfinite(series.high[row]):
            ends = [series.low[row], series.high[row]]
            page.area.plot(ends, [middle, middle], color=color, linewidth=0.16 * style.em)
        look = page.marker(number, color, 0.72)
        page.area.plot([value], [middle], linestyle="None", clip_on=False, zorder=3, **look)
    if len(figure.series) > 1:
        look = page.marker(series.number, style.category(series.number), 0.72)
        page.entries.append((Line2D([], [], linestyle="None", **look), series.label))


def _paint_histograms(page: FigurePage, figure: RowsFigure, histograms: RowHistograms) -> None:
    """Paint the histogram of each row, as high as the row where it is highest."""
    for row, shares in enumerate(histograms.shares):
        tallest = max(shares, default=0.0)
        if tallest > 0:
            color = page.style.category(figure.numbers[row] if figure.numbers else row)
            heights = [row + _HISTOGRAM_FOOT - _HISTOGRAM_HEIGHT * share / tallest for share in shares]
            foot = row + _HISTOGRAM_FOOT
            look: Look = {"edges": histograms.edges, "baseline": foot}
            page.area.stairs(heights, **look, fill=True, color=color, alpha=0.2, linewidth=0)
            page.area.stairs(heights, **look, color=color, linewidth=0.08 * page.style.em)


_N_SHADES = 256
_MIN_COLOR_BAR = 8.0  # sizes of the text
_MAX_COLOR_BAR = 22.0
_MAX_CELL_WIDTH = 9.0
_USUAL_CELL_WIDTH = 1.6
_MIN_ROW_HEIGHT = 1.2  # of the text: a page of 8 points has 85
_USUAL_MAP_HEIGHT = 62.0
_MAX_MAP_HEIGHT = 85.0
_COLOR_BAR_ROOM = 4.8  # what the bar of colours takes, with its title and without its numbers
_CELL_OVERLAP = 0.2  # of a cell


def map_paper(figure: MapFigure, style: FigureStyle) -> Paper:
    """Return a page with a map."""
    figure = _with_short_rows(figure, style)
    page = FigurePage(style)
    n_columns = len(figure.columns)
    cells = _paint_cells(page, figure)
    _paint_values(page, figure)
    _paint_marked(page, figure)
    _name_groups(page, figure)
    numbers = max((page.width(text) for _, text in _color_bar_ticks(figure)), default=0.0)
    spare = style.width - (_COLOR_BAR_ROOM + n_columns * _USUAL_CELL_WIDTH) * style.em - numbers
    page.fitters.append(
        lambda _, high: name_rows(page, figure.rows, _labelled_rows(page, figure, high), spare)
    )
    page.fitters.append(lambda wide, _: _name_columns(page, figure, wide / max(1, n_columns)))
    page.name_columns(figure.column_title)
    page.name_rows(figure.row_title)
    _paint_color_bar(page, figure, cells)
    return page.finish(lambda _: _map_height(figure, style), _MAX_CELL_WIDTH * style.em * max(1, n_columns))


def _with_short_rows(figure: MapFigure, style: FigureStyle) -> MapFigure:
    """Return a map whose rows have their short texts if there is no room for the name of each."""
    room = (style.height or _MAX_MAP_HEIGHT * style.em) - 4.2 * style.em
    if not figure.short_rows or len(figure.rows) * _MIN_ROW_HEIGHT * style.em <= room:
        return figure
    return replace(figure, rows=figure.short_rows, row_title=figure.short_title)


def _map_height(figure: MapFigure, style: FigureStyle) -> float:
    """Return the height of all rows: that of their names, or less if the rows are ordered and many."""
    n = max(1, len(figure.rows))
    usual = (2.0 if figure.written else ROW) * style.em
    if figure.short_rows and not figure.row_title:
        return n * max(min(usual, _USUAL_MAP_HEIGHT * style.em / n), _MIN_ROW_HEIGHT * style.em)
    return n * (min(usual, 0.62 * style.width / n) if figure.row_title else usual)


def color_range(figure: MapFigure) -> tuple[float, float]:
    """Return the values of the first and the last colour."""
    finite_values = [v for row in figure.values for v in row if isfinite(v)]
    low = figure.color.low if figure.color.low is not None else min(finite_values, default=0.0)
    high = figure.color.high if figure.color.high is not None else max(finite_values, default=1.0)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _paint_cells(page: FigurePage, figure: MapFigure) -> PolyCollection:
    """Paint the cells, their middles at whole numbers: with gaps where values are in them, else overlapping.

    Each reaches under its neighbours at the right and below, which are painted later: readers of PDF and SVG
    show the ground between areas that merely meet.
    """
    style = page.style
    low, high = color_range(figure)
    shades = [style.heat(step / (_N_SHADES - 1), first_dark=figure.first_dark) for step in range(_N_SHADES)]
    colors = ListedColormap(shades).with_extremes(bad="#ffffff" if style.print else "#f2f3f6")
    n_rows = len(figure.rows)
    n_columns = len(figure.columns)
    over = 0.0 if figure.written else _CELL_OVERLAP
    corners = np.array([[-0.5, -0.5], [0.5 + over, -0.5], [0.5 + over, 0.5 + over], [-0.5, 0.5 + over]])
    middles = np.array([(column, row) for row in range(n_rows) for column in range(n_columns)]).reshape(-1, 2)
    outlines = np.minimum(middles[:, np.newaxis] + corners, [n_columns - 0.5, n_rows - 0.5])
    cells = PolyCollection(outlines, cmap=colors, linewidth=0.0)
    cells.set_array(np.ma.masked_invalid(np.array(figure.values, dtype=float).ravel()))
    cells.set_clim(low, high)
    if figure.written:
        cells.set(edgecolor="#ffffff", linewidth=0.12 * style.em)
    page.area.add_collection(cells)
    page.area.set(xlim=(-0.5, max(1, n_columns) - 0.5), ylim=(max(1, n_rows) - 0.5, -0.5))
    if style.print:
        page.area.spines[:].set(visible=True, color=style.faint, linewidth=0.08 * style.em)
    return cells


def _paint_values(page: FigurePage, figure: MapFigure) -> None:
    """Write the values into the cells, where there is room for all of them."""
    if not figure.written:
        return
    style = page.style
    low, high = color_range(figure)
    cells = [(r, c, v) for r, row in enumerate(figure.values) for c, v in enumerate(row) if isfinite(v)]
    written_texts = []
    for row, column, value in cells:
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        color = on_ground(style.heat(share, first_dark=figure.first_dark))
        text = fixed(value, figure.decimals)
        look: Look = {"ha": "center", "va": "center_baseline", "color": color}
        written_texts.append(page.area.text(column, row, text, **look))
    widest = max((page.width(fixed(value, figure.decimals)) for _, _, value in cells), default=0.0)

    def fit(wide: float, high: float) -> None:
        broad = widest + 0.4 * style.em <= wide / len(figure.columns)
        for text in written_texts:
            text.set_visible(broad and high / len(figure.rows) >= 1.2 * style.em)

    page.fitters.append(fit)


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
    em = page.style.em
    first = 0
    transform = page.area.get_xaxis_transform() + ScaledTranslation(
        0, 0.25 * em / 72, page.paper.dpi_scale_trans
    )
    line: Look = {"color": page.style.line, "linewidth": 0.09 * em, "clip_on": False}
    look: Look = {"color": page.style.text, "ha": "center", "va": "bottom"}
    written_texts = []
    for name, n in figure.groups:
        page.area.plot([first - 0.44, first + n - 0.56], [1, 1], transform=transform, **line)
        written_texts.append(page.area.text(first + (n - 1) / 2, 1.0, name, transform=transform, **look))
        first += n

    def fit(wide: float, _: float) -> None:
        for text, (name, n) in zip(written_texts, figure.groups, strict=True):
            text.set_text(page.elided(name, n * wide / len(figure.columns) - 0.4 * em))

    page.fitters.append(fit)


def _labelled_rows(page: FigurePage, figure: MapFigure, high: float) -> range:
    """Return the rows whose names are written: at equal steps if they are ordered and close together."""
    n = len(figure.rows)
    step = max(1, math.ceil(1.15 * page.style.em * n / high)) if figure.row_title else 1
    return range(0, n, step)


def _name_columns(page: FigurePage, figure: MapFigure, cell: float) -> None:
    """Write the names of columns: all, or round numbers, or at equal steps if they stand close."""
    widest = max(map(page.width, figure.columns), default=0.0) + 0.7 * page.style.em
    apart = max(1, math.ceil(widest / cell))
    numbers = [int(name) if name.isdecimal() else -1 for name in figure.columns]
    columns: Sequence[int] = range(0, len(numbers), apart)
    if apart > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        round_numbers = [int(v) for v in ticks.integer_ticks(numbers[0], numbers[-1], len(numbers) / apart)]
        inner = [v for v in round_numbers[1:-1] if min(v - round_numbers[0], round_numbers[-1] - v) >= apart]
        columns = [v - numbers[0] for v in (round_numbers[0], *inner, round_numbers[-1])]
    page.area.set_xticks(columns, [page.elided(figure.columns[column], cell * apart) for column in columns])


def _color_bar_ticks(figure: MapFigure) -> Ticks:
    """Return the values of the colour bar and their texts.

    The ends say if values lie beyond them.
    """
    if figure.ends:
        return figure.ends
    low, high = color_range(figure)
    finite_values = [v for row in figure.values for v in row if isfinite(v)]
    if figure.color.whole:
        values = ticks.integer_ticks(low, high, 5)
        texts = [f"{v:,.0f}" for v in values]
    else:
        values = ticks.nice_ticks(low, high, 5, ticks.DECIMAL_STEPS)
        texts = ticks.tick_labels(values)
    bar_ticks = list(zip(values, texts, strict=True))
    if bar_ticks and min(finite_values, default=low) < low:
        bar_ticks[0] = low, f"≤ {bar_ticks[0][1]}"
    if bar_ticks and max(finite_values, default=high) > high:
        bar_ticks[-1] = high, f"≥ {bar_ticks[-1][1]}"
    return bar_ticks


def _paint_color_bar(page: FigurePage, figure: MapFigure, cells: PolyCollection) -> None:
    """Paint the bar of colours with its numbers and what they measure; the first of ranks is at its top."""
    em = page.style.em
    style = page.style
    bar = page.area.inset_axes((0, 0, 1, 1))
    colors = page.paper.colorbar(cells, cax=bar)
    colors.outline.set_visible(False)
    assert colors.solids is not None  # there are none of a map of lines alone
    colors.solids.set(rasterized=False, edgecolor="face", linewidth=0.05 * em)  # no seams, and no picture
    bar_ticks = _color_bar_ticks(figure)
    bar.set_yticks([value for value, _ in bar_ticks], [text for _, text in bar_ticks])
    bar.tick_params(length=0, pad=0.4 * em, labelcolor=style.muted)
    if figure.first_dark:
        bar.invert_yaxis()

    def place(length: float) -> Bbox:
        """Return where the bar is on the paper: beside the area, from its top."""
        area = page.area.get_position()
        across, up = 72 * page.paper.get_size_inches()
        return Bbox.from_bounds(area.x1 + em / across, area.y1 - length / up, em / across, length / up)

    def fit(_: float, high: float) -> None:
        length = min(max(high, _MIN_COLOR_BAR * em), _MAX_COLOR_BAR * em)
        bar.set_axes_locator(lambda *_: place(length))
        title = page.wrapped(figure.color.text, length)
        bar.set_ylabel(title, color=style.text, labelpad=0.5 * em)

    page.fitters.append(fit)
