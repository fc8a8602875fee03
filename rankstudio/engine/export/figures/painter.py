"""Figures as PDF, SVG and PNG, painted by matplotlib: curves, rows and maps.

A file contains neither the time, the machine, the user's settings nor
versions of libraries, so that the same figure always has the same
bytes.

Texts are stored as texts, not as outlines, so that labels can be
searched, edited and read aloud. A PDF embeds the part of the font that
it needs, as TrueType, because many journals refuse Type 3. An SVG only
names the font.
"""

from __future__ import annotations

import io
import itertools
import math
import re
import threading
import warnings
from collections.abc import Container, Iterator, Sequence
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
from rankstudio.engine.export.figures.page import (
    FigurePage,
    Look,
    Ticks,
    known_range,
    series_id,
    value_range,
)
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
    # named in an SVG for computers without Inter
    "font.sans-serif": ["Helvetica", "Arial"],
    "text.hinting": "no_hinting",
    "text.parse_math": False,  # a $ in a name is a $
    "path.simplify": False,  # a vector graphic can be magnified, so it has every point
    "lines.solid_capstyle": "butt",
    "axes.unicode_minus": False,
}
_CREATOR = {"Creator": "RankStudio"}
_MOST_PIXELS = 2**16  # greatest width or height that matplotlib supports
_one_at_a_time = threading.Lock()  # held while a figure is painted


def painted(
    figure: Figure, style: FigureStyle, format_name: str, dpi: float = 300.0
) -> bytes:
    """Return a figure as the contents of a PDF, SVG or PNG file.

    Parameters
    ----------
    figure : Figure
        Values and texts to paint.
    style : FigureStyle
        Width, size of the text and colors.
    format_name : {"pdf", "svg", "png"}
        Format of the file.
    dpi : float
        Resolution of a PNG in dots per inch.

    Returns
    -------
    bytes
        Content of the file, with title and caption as metadata.

    Raises
    ------
    OutputError
        For a picture that is too large.
    """
    # No dates in the file, so that equal figures give equal files.
    title = clean_text(figure.title)
    caption = clean_text(figure.caption)
    # None removes a field that matplotlib would write.
    metadata: dict[str, dict[str, str | None]] = {
        "pdf": {
            "Title": title,
            "Subject": caption,
            **_CREATOR,
            "Producer": None,
            "CreationDate": None,
        },
        "svg": {"Title": title, "Description": caption, **_CREATOR, "Date": None},
        "png": {"Title": title, "Description": caption, "Software": None},
    }
    file = io.BytesIO()
    with painting():
        paper = paper_of(figure, style)
        width, height = (round(side * dpi) for side in paper.get_size_inches())
        # Refuse images that are too large before memory runs out.
        try:
            if format_name == "png" and max(width, height) > _MOST_PIXELS:
                raise MemoryError
            # a vector graphic shows the background of its document
            is_transparent = format_name != "png"
            paper.savefig(
                file,
                format=format_name,
                dpi=dpi,
                transparent=is_transparent,
                metadata=metadata[format_name],
            )
        except MemoryError as error:
            text = tr("Not enough memory for an image of {wide} × {high} pixels.")
            raise OutputError(text.format(wide=width, high=height)) from error
    return file.getvalue()


@contextmanager
def painting() -> Iterator[None]:
    """Apply the settings of figures to matplotlib inside the block.

    One thread at a time may be in such a block, because matplotlib's
    settings are global.
    """
    # `looks` is matplotlib's module of styles.
    with (
        _one_at_a_time,
        looks.context(["default", _SETTINGS]),
        warnings.catch_warnings(),
    ):
        # A character that the font lacks is painted as a box, but is
        # part of the text of a PDF or SVG.
        warnings.filterwarnings("ignore", r"Glyph \d+")
        yield


def paper_of(figure: Figure, style: FigureStyle) -> Paper:
    """Return a figure as a page of matplotlib with its final layout.

    Call it inside the block of :func:`painting`, which sets up matplotlib.
    """
    # The figure of a plug-in, which paints itself.
    if isinstance(figure, OwnFigure):
        return figure.paper(style)
    if isinstance(figure, CurvesFigure):
        return curves_paper(figure, style)
    return (
        map_paper(figure, style)
        if isinstance(figure, MapFigure)
        else rows_paper(figure, style)
    )


# ordered series with names in the legend; more have a strip of colors with two names
_MAX_NAMED_SERIES = 7
_N_LOOKS = 7  # categories, each with a color, dashes and a marker
_NEUTRAL = "#6b7280"  # the color of reference lines on the screen
_BOLD_FACTOR = 1.6  # thickness of a bold line relative to other lines
# Dashes and gaps of the reference lines, in sizes of the text.
_LEVEL_DASHES = ((0.5, 0.35), (0.16, 0.3), (1.0, 0.3))
_LINE_WIDTH = 0.17  # widths of lines, in sizes of the text
_LEVEL_WIDTH = 0.12
_RING_WIDTH = 0.13


def curves_paper(figure: CurvesFigure, style: FigureStyle) -> Paper:
    """Return a page with a figure of curves, in its final layout."""
    # Axes and grid.
    page = FigurePage(style)
    (x_low, x_high), (y_low, y_high) = axis_ranges(figure)
    page.show_x_axis(figure.x, x_low, x_high, known_range(figure.x, _x_values(figure)))
    page.show_y_axis(figure.y, y_low, y_high)
    page.show_line("left")
    page.show_grid("y")

    # Lines for zero, and, in a square figure, for equal values on both axes.
    thin_line: Look = {"color": style.line, "linewidth": 0.09 * style.em}
    if y_low < 0 < y_high and not figure.y.logarithmic:
        page.area.axhline(0.0, **thin_line)
    if figure.square:
        page.area.axline(
            (x_low, x_low), (x_high, x_high), linestyle=(0, (3.3, 3.3)), **thin_line
        )

    # Series with their entries in the legend. An artist is matplotlib's
    # name for anything painted.
    levels = _paint_levels(page, figure)
    for index, series in enumerate(figure.series):
        painted_before = set(page.area.get_children())
        artists = _SeriesPainter(page, figure, series, index).paint()
        # In an SVG, all that was painted for a series has an id with
        # its number.
        _number_artists(page, painted_before, artists, index)
        # Many ordered series share a strip of colors in the legend,
        # which is added below.
        if series.label and _has_legend_entry(figure, series):
            page.entries.append((artists, series.label))
    _add_family_to_legend(page, figure)

    # The legend then has the levels, the marked points and the bands.
    # `bands` of the figure is the text that explains the bands.
    page.entries += zip(levels, (level.label for level in figure.levels), strict=True)
    _paint_marks(page, figure)
    if figure.bands:
        page.entries.append(
            (Patch(color=style.text, alpha=0.18, linewidth=0), figure.bands)
        )
    return page.finish(lambda width: _curves_height(figure, style, width))


def _number_artists(
    page: FigurePage,
    painted_before: Container[Artist],
    artists: Artist | tuple[Artist, ...],
    index: int,
) -> None:
    """Give the parts of a series of a figure ids for SVG, such as "series-3-0".

    Web pages find all parts of a series by these ids.

    Parameters
    ----------
    page : FigurePage
        Page of the figure.
    painted_before : container of Artist
        Everything that the plot area had before the series was painted.
    artists : Artist or tuple of Artist
        Artists that show the series in the legend.
    index : int
        Number of the series in the figure, from 0.
    """
    new_artists = [a for a in page.area.get_children() if a not in painted_before]
    legend_artists = artists if isinstance(artists, tuple) else (artists,)
    numbered = dict.fromkeys((*new_artists, *legend_artists))
    for number, artist in enumerate(numbered):
        artist.set_gid(series_id(index, number))


def _curves_height(
    figure: CurvesFigure, style: FigureStyle, area_width: float
) -> float:
    """Return the height of the plot area of a figure of curves, in points.

    `area_width` is the width of the area in points. A wider page has a
    relatively lower area. A figure whose two axes share one range has a
    square area.
    """
    if figure.square:
        return min(area_width, 40 * style.em)
    page_width = style.width / style.em  # in sizes of the text
    # The factors are shares of the width of the page.
    if page_width < 36:
        return style.width * 0.56
    return style.width * (0.42 if page_width < 50 else 0.34)


def axis_ranges(
    figure: CurvesFigure,
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the visible ranges of the x axis and of the y axis, each a pair (low, high)."""
    # All values that the axes must show.
    xs = _x_values(figure)
    ys = [v for series in figure.series for v in (*series.y, *series.low, *series.high)]
    ys += [mark.y for mark in figure.marks]
    ys += [level.value for level in figure.levels if not level.vertical]

    # Areas and bars begin at 0.
    is_filled = (
        any(series.kind in ("area", "bars") for series in figure.series)
        and not figure.y.logarithmic
    )
    if is_filled:
        ys.append(0.0)
    # Both axes of a square figure have one range.
    if figure.square:
        square_range = value_range(figure.x, xs + ys, 0.03)
        return square_range, square_range
    bars = [
        series
        for series in figure.series
        if series.kind == "bars" and len(series.x) > 1
    ]
    half_bar = max((_bar_width(series) / 2 for series in bars), default=0.0)
    for series in bars:  # the first and the last bar are visible in full
        for middle in (series.x[0], series.x[-1]):
            xs += [middle - half_bar, middle + half_bar]

    # Padding at both ends: 5 % of the range of y, 2 % of that of x.
    # Below filled series without negative values, the range begins
    # exactly at 0.
    y_low, y_high = value_range(figure.y, ys, 0.05)
    is_grounded = is_filled and min((v for v in ys if isfinite(v)), default=0.0) >= 0
    return value_range(figure.x, xs, 0.02), (0.0 if is_grounded else y_low, y_high)


def _x_values(figure: CurvesFigure) -> list[float]:
    """Return all values of a figure on the x axis."""
    xs = [v for series in figure.series for v in series.x] + [m.x for m in figure.marks]
    return xs + [level.value for level in figure.levels if level.vertical]


def _bar_width(series: Series) -> float:
    """Return the least distance between two points."""
    return min((b - a for a, b in itertools.pairwise(series.x)), default=1.0)


class _SeriesPainter:
    """Paints one series of a figure of curves on a page.

    Parameters
    ----------
    page : FigurePage
        Page of the figure.
    figure : CurvesFigure
        Figure with the series.
    series : Series
        Series to paint.
    index : int
        Number of the series in the figure, from 0.
    """

    def __init__(
        self, page: FigurePage, figure: CurvesFigure, series: Series, index: int
    ) -> None:
        """Choose the color and the style number of a series to be painted on a page.

        `index` is the position of the series in the figure.
        """
        self._page = page
        self._area = page.area
        self._style = page.style
        self._figure = figure
        self._series = series
        self._index = index
        # Ordered series have dashes only if there are few: up to 4, or
        # for print as many as there are different dashes, `_N_LOOKS`.
        self._is_one_of_few = len(figure.series) <= (
            _N_LOOKS if page.style.print else 4
        )
        # The number chooses marker and dashes. Ordered series, as of
        # the values of a grid, are numbered one after the other.
        self._number = series.number if series.order is None else index
        # Steps are an outline, in the color of other lines of the page.
        self._color = (
            page.style.line
            if series.kind == "steps"
            else page.style.series(series.number, series.order)
        )

    def paint(self) -> Artist | tuple[Artist, ...]:
        """Paint the series, and return the artists that show it in the legend.

        An artist is matplotlib's name for anything painted.
        """
        series = self._series
        # NaN where an axis cannot show a value: the line has a gap there.
        x = _with_gaps(series.x, self._figure.x)
        y = _with_gaps(series.y, self._figure.y)
        if series.kind == "bars":
            return self._bars(x, y)
        areas = [*self._interval(x), *self._filled_area(x, y)]
        line = self._line(x, y)
        # The legend shows one of the areas beside the line.
        return (*areas[:1], line) if areas else line

    def _bars(self, x: Sequence[float], y: Sequence[float]) -> Artist:
        """Paint bars at the values `x` with the heights `y`; return a sample for the legend."""
        width = 0.92 * _bar_width(self._series)
        self._area.bar(x, y, width, color=self._color, linewidth=0)
        return Patch(color=self._color, linewidth=0)

    def _interval(self, x: Sequence[float]) -> list[Artist]:
        """Paint the intervals of the series at its points, and return those for the legend.

        `x` has the coordinates of the points. A line has a band around
        it, which is returned for the legend. Points and single
        intervals have whiskers, vertical lines, which the legend does
        not show.
        """
        series = self._series
        low = _with_gaps(series.low, self._figure.y)
        high = _with_gaps(series.high, self._figure.y)
        color = self._style.series(series.number, series.order)
        # A series without intervals has no low and high ends.
        intervals = [
            point
            for point in zip(x, low, high, strict=False)
            if all(map(isfinite, point))
        ]
        # Whiskers.
        if series.kind == "points" or len(intervals) == 1:
            width = _LEVEL_WIDTH * self._style.em
            for x_value, low_end, high_end in intervals:
                self._area.plot(
                    [x_value, x_value],
                    [low_end, high_end],
                    color=color,
                    linewidth=width,
                )
            return []
        # A band, if there are intervals.
        if not intervals:
            return []
        x_values, low_ends, high_ends = zip(*intervals, strict=True)
        return [
            self._area.fill_between(
                x_values, low_ends, high_ends, color=color, alpha=0.14, linewidth=0
            )
        ]

    def _filled_area(self, x: Sequence[float], y: Sequence[float]) -> list[Artist]:
        """Fill the area below the line of a series of the kind "area"."""
        if self._series.kind != "area":
            return []
        return [
            self._area.fill_between(x, y, color=self._color, alpha=0.15, linewidth=0)
        ]

    def _line(self, x: Sequence[float], y: Sequence[float]) -> Line2D:
        """Paint the line, or the points, of the series, and return it for the legend.

        `x` and `y` have the coordinates of the points. Points without
        neighbours always have a marker, because they have no line. For
        print, a line has some markers at equal distances.
        """
        series = self._series
        em = self._style.em
        marker: Look = (
            {"marker": "None"} if series.kind in ("steps", "area") else self._marker()
        )
        if series.kind == "points":
            return self._area.plot(x, y, linestyle="None", **marker)[0]
        # Points whose neighbours are gaps.
        isolated = [
            index
            for index, y_value in enumerate(y)
            if isfinite(y_value)
            and not any(
                isfinite(y[i]) for i in (index - 1, index + 1) if 0 <= i < len(y)
            )
        ]
        if isolated and series.kind == "line":
            isolated_x = [x[index] for index in isolated]
            isolated_y = [y[index] for index in isolated]
            self._area.plot(isolated_x, isolated_y, linestyle="None", **marker)
        # In print, markers distinguish the lines. Many ordered series
        # have none, because the legend does not name each of them.
        is_named = series.order is None or len(self._figure.series) <= _N_LOOKS
        if not (self._style.print and is_named):
            marker = {"marker": "None"}

        # Distance between markers, and of the first marker from the
        # left, as shares of the width. Each series starts at another
        # place, so that markers of lines close to each other do not
        # cover each other.
        spacing = 2.6 * em / self._style.width
        first = 0.5 * em * (self._index % _N_LOOKS) / self._style.width
        thickness = 1.0 if series.order is None or self._is_one_of_few else 0.8
        if series.bold:
            thickness = _BOLD_FACTOR
        width = _LINE_WIDTH * em * thickness
        look: Look = {
            "color": self._color,
            "linewidth": width,
            "linestyle": (0, self._dashes() or None),
        }
        # Above other lines (2), and below rings and points (3).
        look |= {"zorder": 2.5} if series.bold else {}
        style = "steps-post" if series.kind == "steps" else "default"
        return self._area.plot(
            x, y, drawstyle=style, markevery=(first, spacing), **look, **marker
        )[0]

    def _marker(self) -> Look:
        """Return the look of the series' markers."""
        return self._page.marker(self._number, self._color, 0.64)

    def _dashes(self) -> tuple[float, ...]:
        """Return the lengths of strokes and gaps, in widths of the line; () for a full line.

        The series may set the lengths; otherwise the style number of
        the series chooses them. Steps, and ordered series in figures of
        many series, are full lines.
        """
        if self._series.dashes is not None:
            return self._series.dashes
        if self._series.kind == "steps" or (
            self._series.order is not None and not self._is_one_of_few
        ):
            return ()
        return DASHES[self._number % len(DASHES)]


def _with_gaps(values: Sequence[float], axis: FigureAxis) -> list[float]:
    """Return values with NaN, a gap, in place of each value that an axis cannot show."""
    least = 0.0 if axis.logarithmic else -math.inf
    return [v if isfinite(v) and v > least else nan for v in values]


def _paint_levels(page: FigurePage, figure: CurvesFigure) -> list[Artist]:
    """Paint a line for each level of a figure, a value to compare with.

    Return a sample of each line for the legend. A line is vertical or
    horizontal. A value that the axis cannot show has a sample only.
    """
    artists: list[Artist] = []
    for index, level in enumerate(figure.levels):
        # Matplotlib measures dashes in widths of the line.
        dashes = tuple(
            length / _LEVEL_WIDTH
            for length in _LEVEL_DASHES[index % len(_LEVEL_DASHES)]
        )
        color = page.style.text if page.style.print else _NEUTRAL
        look: Look = {
            "color": color,
            "linewidth": _LEVEL_WIDTH * page.style.em,
            "linestyle": (0, dashes),
        }
        axis = figure.x if level.vertical else figure.y
        if isfinite(level.value) and (level.value > 0 or not axis.logarithmic):
            draw_line = page.area.axvline if level.vertical else page.area.axhline
            draw_line(level.value, **look)
        artists.append(Line2D([], [], **look))
    return artists


def _paint_marks(page: FigurePage, figure: CurvesFigure) -> None:
    """Paint a ring around each marked point of a figure.

    The rings have different sizes, because points may coincide.
    """
    em = page.style.em
    look: Look = {"marker": "o", "linestyle": "None", "markerfacecolor": "None"}
    look |= {"markeredgecolor": page.style.text, "markeredgewidth": _RING_WIDTH * em}
    for index, mark in enumerate(figure.marks):
        page.area.plot(
            [mark.x], [mark.y], markersize=(1.1 + 0.5 * index) * em, zorder=3, **look
        )
        # Smaller rings for the legend, whose lines have one height: it
        # has two sizes, one for the first mark, the other for all
        # further marks.
        legend_ring = Line2D(
            [], [], markersize=(0.84 + 0.24 * min(index, 1)) * em, **look
        )
        page.entries.append((legend_ring, mark.label))


def _has_legend_entry(figure: CurvesFigure, series: Series) -> bool:
    """Return whether a series has an entry of its own in the legend."""
    n_ordered = sum(other.order is not None for other in figure.series)
    is_alone = len(figure.series) == 1 and not figure.levels and not figure.marks
    is_in_strip = series.order is not None and n_ordered > _MAX_NAMED_SERIES
    return not is_alone and not is_in_strip


def _add_family_to_legend(page: FigurePage, figure: CurvesFigure) -> None:
    """Add a strip of colors to the legend, if a figure has many ordered series.

    Such series have no entries of their own in the legend. Beside the
    strip are the names of the first and the last series, for example
    values of λ.
    """
    family = [series for series in figure.series if series.order is not None]
    if len(family) > _MAX_NAMED_SERIES:
        # `order` of a series is the position of its color in the scale,
        # from 0 to 1. The quantity that orders the series, such as λ,
        # is `family` of the figure.
        family.sort(key=lambda series: series.order or 0.0)
        colors = tuple(
            Patch(color=page.style.ordered(series.order or 0.0), linewidth=0)
            for series in family
        )
        label = f"{family[0].label} … {family[-1].label}"
        page.entries.append(
            (colors, f"{figure.family}: {label}" if figure.family else label)
        )


ROW = 1.55
"""Height of a row, in sizes of the text."""

_MAX_NAME_SHARE = 0.5  # share of the page's width for the names of rows
_HISTOGRAM_ROW_FACTOR = 2.3  # height of rows with histograms, relative to other rows
_HISTOGRAM_HEIGHT = 0.86  # height of the highest bin, as a share of the row
# distance of a histogram's foot from the middle of its row, as a share of the row
_HISTOGRAM_FOOT = 0.42
_BARS_HEIGHT = 1.05 / ROW  # height of all bars of a row, as a share of the row
_MARK_HEIGHT = 0.85  # height of a bar beside whose end is a mark, in sizes of the text
_ID = re.compile(r" \(\d{1,9}\)$")  # at the end of the name of a feature


def rows_paper(figure: RowsFigure, style: FigureStyle) -> Paper:
    """Return a page with a figure of named rows, with bars or points.

    The page has its final layout.
    """
    # Axes and names of the rows; row 0 is at the top. The middle of row
    # i is at y = i.
    page = FigurePage(style)
    n = len(figure.rows)
    low, high = _axis_limits(figure)
    page.show_x_axis(
        figure.axis, low, high, known_range(figure.axis, _axis_values(figure))
    )
    page.show_grid("x")
    page.area.set_ylim(max(1, n) - 0.5, -0.5)
    name_rows(page, figure.rows, range(n))

    # What the rows show.
    if (figure.bars or figure.zero) and low <= 0.0 <= high:
        page.area.axvline(0.0, color=style.line, linewidth=0.09 * style.em)
    if figure.histograms is not None:
        _paint_histograms(page, figure, figure.histograms)
    for index, series in enumerate(figure.series):
        if figure.bars:
            _paint_bars(page, figure, series, index)
        else:
            _paint_points(page, figure, series)

    # Strong rows: a band behind points. Bars are strong by their color.
    if not figure.bars:
        for row in figure.strong:
            page.area.axhspan(
                row - 0.45, row + 0.45, color=style.category(0), alpha=0.08, linewidth=0
            )

    # The legend explains the strong rows by a sample of their color.
    if figure.strong and figure.strong_label:
        if figure.bars:
            sample = Patch(
                color=style.category(figure.series[0].number), alpha=1.0, linewidth=0
            )
        else:
            sample = Patch(color=style.category(0), alpha=0.12, linewidth=0)
        page.entries.append((sample, figure.strong_label))
    row_height = _row_factor(figure) * ROW * style.em
    return page.finish(lambda _: row_height * max(1, n))


def _row_factor(figure: RowsFigure) -> float:
    """Return the height of the rows of a figure, relative to rows with a line of text.

    Rows with histograms are higher, and so are rows with several bars
    that have marks: each mark needs nearly a line.
    """
    if figure.histograms is not None:
        return _HISTOGRAM_ROW_FACTOR
    n_marked_bars = sum(any(series.marks) for series in figure.series)
    lines = _MARK_HEIGHT * len(figure.series) if n_marked_bars > 1 else 0.0
    return max(1.0, lines / (_BARS_HEIGHT * ROW))


def name_rows(
    page: FigurePage, names: tuple[str, ...], visible_rows: range, spare: float = 0.0
) -> None:
    """Write names at the left of the rows of a page.

    Names that are too long are cut, but keep the id at their end.

    Parameters
    ----------
    page : FigurePage
        Page with the rows.
    names : tuple of str
        Names of all rows, from the top.
    visible_rows : range
        Rows whose names are written.
    spare : float
        Width in points that nothing else on the page needs: the names
        may take it, if it is more than their usual share.
    """
    # Without the space between a name and its row.
    max_width = max(_MAX_NAME_SHARE * page.style.width, spare) - 0.9 * page.style.em
    page.area.set_yticks(
        visible_rows,
        [_elided_name(page, names[row], max_width) for row in visible_rows],
    )
    page.area.tick_params(axis="y", labelcolor=page.style.text)


def _elided_name(page: FigurePage, name: str, room: float) -> str:
    """Return the name of a row, cut to a width, but with the feature's id at its end.

    `room` is the width in points.
    """
    match = _ID.search(name)
    id_text = match[0] if match and page.width(name) > room else ""
    return (
        page.elided(name[: len(name) - len(id_text)], room - page.width(id_text))
        + id_text
    )


def _axis_limits(figure: RowsFigure) -> tuple[float, float]:
    """Return the range of the axis of the values of a figure of rows.

    The range is padded at both ends, but begins at 0 for bars without
    negative values.
    """
    values = _axis_values(figure)
    low, high = value_range(figure.axis, values, 0.04)
    is_grounded = figure.bars and not figure.axis.logarithmic
    has_negative = any(isfinite(v) and v < 0 for v in values)
    return (0.0 if is_grounded and not has_negative else low), high


def _axis_values(figure: RowsFigure) -> list[float]:
    """Return all values that the axis of a figure of rows must show.

    The values include 0 if the figure has bars, or a line at 0 (`zero`).
    """
    values = [
        v
        for series in figure.series
        for v in (*series.values, *series.low, *series.high)
    ]
    values += figure.histograms.edges if figure.histograms is not None else ()
    return values + ([0.0] if figure.bars or figure.zero else [])


def _paint_bars(
    page: FigurePage, figure: RowsFigure, series: RowSeries, index: int
) -> None:
    """Paint a bar in each row for one series of a figure of rows.

    `index` is the position of the series: the bars of all series share
    the height of a row. If some rows of the figure are highlighted
    (`strong`), the others are pale.
    """
    # The color of each row: that of its number, or of the series.
    style = page.style
    height = _BARS_HEIGHT / len(figure.series)
    pale_color = "#b4b4b4" if style.print else "#a9b6c9"
    colors = [
        pale_color
        if figure.strong and row not in figure.strong
        else style.category(number)
        for row, number in enumerate(
            figure.numbers or (series.number,) * len(figure.rows)
        )
    ]

    # The bars of a row are one below the other.
    middles = [
        row - _BARS_HEIGHT / 2 + (index + 0.5) * height
        for row in range(len(figure.rows))
    ]
    # A value that is not finite has no bar.
    lengths = [value if isfinite(value) else nan for value in series.values]
    page.area.barh(middles, lengths, height, color=colors, linewidth=0)
    # A series without marks has an empty tuple of them.
    for middle, length, mark in zip(middles, lengths, series.marks, strict=False):
        if mark and isfinite(length):
            look: Look = {"ha": "left", "va": "center", "color": style.text}
            page.area.annotate(f" {mark}", (length, middle), **look)
    if len(figure.series) > 1:
        page.entries.append(
            (Patch(color=style.category(series.number), linewidth=0), series.label)
        )


def _paint_points(page: FigurePage, figure: RowsFigure, series: RowSeries) -> None:
    """Paint the points of a series of a figure of rows, over lines for their intervals.

    The points are in the middle of a row, or at the foot of a histogram.
    """
    style = page.style
    foot = _HISTOGRAM_FOOT if figure.histograms is not None else 0.0
    # A row may have a style number of its own, which chooses color and marker.
    for row, value in enumerate(series.values):
        number = figure.numbers[row] if figure.numbers else series.number
        color = style.category(number)
        y = row + foot
        if series.low and isfinite(series.low[row]) and isfinite(series.high[row]):
            ends = [series.low[row], series.high[row]]
            page.area.plot(ends, [y, y], color=color, linewidth=0.16 * style.em)
        look = page.marker(number, color, 0.72)
        page.area.plot([value], [y], linestyle="None", clip_on=False, zorder=3, **look)
    if len(figure.series) > 1:
        look = page.marker(series.number, style.category(series.number), 0.72)
        page.entries.append((Line2D([], [], linestyle="None", **look), series.label))


def _paint_histograms(
    page: FigurePage, figure: RowsFigure, histograms: RowHistograms
) -> None:
    """Paint the histogram of each row of a figure.

    `histograms` has the share of each bin in each row. The highest bin
    of a row is almost as high as the row.
    """
    for row, shares in enumerate(histograms.shares):
        tallest = max(shares, default=0.0)
        if tallest > 0:
            color = page.style.category(figure.numbers[row] if figure.numbers else row)
            # Row 0 is at the top, so higher bins have smaller values.
            heights = [
                row + _HISTOGRAM_FOOT - _HISTOGRAM_HEIGHT * share / tallest
                for share in shares
            ]
            foot = row + _HISTOGRAM_FOOT
            look: Look = {"edges": histograms.edges, "baseline": foot}
            page.area.stairs(
                heights, **look, fill=True, color=color, alpha=0.2, linewidth=0
            )
            page.area.stairs(
                heights, **look, color=color, linewidth=0.08 * page.style.em
            )


_N_SHADES = 256  # colors of a map
_CELL_OVERLAP = 0.2  # as a share of a cell

# The following lengths are in sizes of the text.
_MIN_COLOR_BAR = 8.0
_MAX_COLOR_BAR = 22.0
_MAX_CELL_WIDTH = 9.0
_USUAL_CELL_WIDTH = 1.6
_MIN_ROW_HEIGHT = 1.2
_USUAL_MAP_HEIGHT = 62.0
_MAX_MAP_HEIGHT = 85.0  # the height of a page with texts of 8 points
_COLOR_BAR_ROOM = 4.8  # width of the bar of colors with its title, without its numbers


def map_paper(figure: MapFigure, style: FigureStyle) -> Paper:
    """Return a page with a map: cells in rows and columns with the colors of their values.

    The page has its final layout.
    """
    # Cells and what is in them. Rows have their short names if the full
    # ones would be too high.
    figure = _with_short_rows(figure, style)
    page = FigurePage(style)
    n_columns = len(figure.columns)
    cells = _paint_cells(page, figure)
    _paint_values(page, figure)
    _paint_marked(page, figure)
    _name_groups(page, figure)

    # Width that remains for the names of the rows beside cells of the
    # usual width, the color bar and its numbers.
    numbers_width = max(
        (page.width(text) for _, text in _color_bar_ticks(figure)), default=0.0
    )
    spare = (
        style.width
        - (_COLOR_BAR_ROOM + n_columns * _USUAL_CELL_WIDTH) * style.em
        - numbers_width
    )

    # Names are fitted to the final size of the cells.
    page.fitters.append(
        lambda _, height: name_rows(
            page, figure.rows, _labelled_rows(page, figure, height), spare
        )
    )
    page.fitters.append(
        lambda width, _: _name_columns(page, figure, width / max(1, n_columns))
    )
    page.name_columns(figure.column_title)
    page.name_rows(figure.row_title)
    _paint_color_bar(page, figure, cells)
    return page.finish(
        lambda _: _map_height(figure, style),
        _MAX_CELL_WIDTH * style.em * max(1, n_columns),
    )


def _with_short_rows(figure: MapFigure, style: FigureStyle) -> MapFigure:
    """Return a map with short names of rows, if there is no room for full ones.

    A row needs a least height for its name. The rows together have the
    height of the page, or else the greatest height of a map, less 4.2
    lines for the titles. A map without short names is returned as it
    is.
    """
    room = (style.height or _MAX_MAP_HEIGHT * style.em) - 4.2 * style.em
    if not figure.short_rows or len(figure.rows) * _MIN_ROW_HEIGHT * style.em <= room:
        return figure
    return replace(figure, rows=figure.short_rows, row_title=figure.short_title)


def _map_height(figure: MapFigure, style: FigureStyle) -> float:
    """Return the height of all rows of a map, in points.

    Usually each name has its full line. If the rows have a common
    title, their names are values on an axis, not all of which need to
    be written: the height is then at most
    0.62 of the page's width. Rows with full names that also
    have short ones are as high as the names, but not much more than a
    usual map.
    """
    n = max(1, len(figure.rows))
    # Rows with values in their cells have the height of two lines.
    usual_height = (2.0 if figure.written else ROW) * style.em
    if figure.short_rows and not figure.row_title:
        return n * max(
            min(usual_height, _USUAL_MAP_HEIGHT * style.em / n),
            _MIN_ROW_HEIGHT * style.em,
        )
    return n * (
        min(usual_height, 0.62 * style.width / n) if figure.row_title else usual_height
    )


def color_range(figure: MapFigure) -> tuple[float, float]:
    """Return the values of the first and the last color of a map.

    They are the ends that the figure sets, otherwise the least and the
    greatest value of its cells.
    """
    finite_values = [v for row in figure.values for v in row if isfinite(v)]
    low = (
        figure.color.low
        if figure.color.low is not None
        else min(finite_values, default=0.0)
    )
    high = (
        figure.color.high
        if figure.color.high is not None
        else max(finite_values, default=1.0)
    )
    # Equal values get the color in the middle.
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _paint_cells(page: FigurePage, figure: MapFigure) -> PolyCollection:
    """Paint the cells of a map, whose middles have whole numbers as coordinates.

    Cells with written values have white gaps. Other cells reach under
    their neighbours at the right and below, which are painted later:
    readers of PDF and SVG would show the background between areas that
    only touch.
    """
    # Colors by value; cells without a value have the color of the page or a pale one.
    style = page.style
    low, high = color_range(figure)
    shades = [
        style.heat(step / (_N_SHADES - 1), first_dark=figure.first_dark)
        for step in range(_N_SHADES)
    ]
    colors = ListedColormap(shades).with_extremes(
        bad="#ffffff" if style.print else "#f2f3f6"
    )

    # Corners of each cell; cells without text overlap, so that no seams are visible.
    n_rows = len(figure.rows)
    n_columns = len(figure.columns)
    end = 0.5 if figure.written else 0.5 + _CELL_OVERLAP
    # Coordinates x and y: of four corners relative to the middle, and
    # of the middles.
    corners = np.array([[-0.5, -0.5], [end, -0.5], [end, end], [-0.5, end]])
    middles = np.array(
        [(column, row) for row in range(n_rows) for column in range(n_columns)]
    ).reshape(-1, 2)
    # Shape (cells, 4, 2); no cell reaches beyond the edge of the map.
    outlines = np.minimum(
        middles[:, np.newaxis] + corners, [n_columns - 0.5, n_rows - 0.5]
    )

    # Values of the cells, NaN without a color.
    cells = PolyCollection(outlines, cmap=colors, linewidth=0.0)
    cells.set_array(np.ma.masked_invalid(np.array(figure.values, dtype=float).ravel()))
    cells.set_clim(low, high)
    if figure.written:
        cells.set(edgecolor="#ffffff", linewidth=0.12 * style.em)
    page.area.add_collection(cells)
    page.area.set(
        xlim=(-0.5, max(1, n_columns) - 0.5), ylim=(max(1, n_rows) - 0.5, -0.5)
    )
    if style.print:
        page.area.spines[:].set(
            visible=True, color=style.faint, linewidth=0.08 * style.em
        )
    return cells


def _paint_values(page: FigurePage, figure: MapFigure) -> None:
    """Write the values into the cells of a map, if there is room for all of them."""
    if not figure.written:
        return

    # Text in each cell with a value, light on dark cells and dark on light ones.
    style = page.style
    low, high = color_range(figure)
    cells = [
        (row_number, column, cell)
        for row_number, row in enumerate(figure.values)
        for column, cell in enumerate(row)
        if isfinite(cell)
    ]
    written_texts = []
    for row, column, value in cells:
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        color = on_ground(style.heat(share, first_dark=figure.first_dark))
        text = fixed(value, figure.decimals)
        look: Look = {"ha": "center", "va": "center_baseline", "color": color}
        written_texts.append(page.area.text(column, row, text, **look))

    # The texts are shown only if the widest one fits, which depends on the final size.
    widest = max(
        (page.width(fixed(value, figure.decimals)) for _, _, value in cells),
        default=0.0,
    )

    def fit(width: float, height: float) -> None:
        """Show the texts in the cells of a map if there is room for the widest, else hide them.

        `width` and `height` are those of the plot area, in points.
        """
        is_wide_enough = widest + 0.4 * style.em <= width / len(figure.columns)
        for text in written_texts:
            text.set_visible(
                is_wide_enough and height / len(figure.rows) >= 1.2 * style.em
            )

    page.fitters.append(fit)  # called whenever the size of the area changes


def _paint_marked(page: FigurePage, figure: MapFigure) -> None:
    """Paint outlines of the marked cells of a map."""
    # A black outline on a wider white one can be seen on every color.
    em = page.style.em
    outlines = []
    for row, column in figure.marked:
        for color, thickness in (("#ffffff", 0.4), ("#000000", 0.2)):
            outline = Rectangle(
                (column - 0.5, row - 0.5),
                1,
                1,
                fill=False,
                edgecolor=color,
                clip_on=False,
            )
            outlines.append((page.area.add_patch(outline), thickness))

    # Thinner outlines in narrow cells.
    def fit(width: float, _: float) -> None:
        """Set the widths of the outlines for this width of the area, in points."""
        has_narrow_cells = width / max(1, len(figure.columns)) < 1.2 * em
        factor = 0.6 if has_narrow_cells else 1.0
        for outline, thickness in outlines:
            outline.set_linewidth(thickness * factor * em)

    page.fitters.append(fit)  # called whenever the size of the area changes
    if figure.marked and figure.mark_label:
        sample = Rectangle(
            (0, 0), 1, 1, fill=False, edgecolor="#000000", linewidth=0.2 * em
        )
        page.entries.append((sample, figure.mark_label))


def _name_groups(page: FigurePage, figure: MapFigure) -> None:
    """Write the names of groups of columns of a map above lines that span the columns.

    `groups` of the figure has the name of each group and its number of
    columns, from left to right.
    """
    # Lines and names are a little above the top of the area, y = 1: by
    # a quarter of the size of the text, in inches of 72 points.
    em = page.style.em
    first = 0  # column
    transform = page.area.get_xaxis_transform() + ScaledTranslation(
        0, 0.25 * em / 72, page.paper.dpi_scale_trans
    )
    line: Look = {"color": page.style.line, "linewidth": 0.09 * em, "clip_on": False}
    look: Look = {"color": page.style.text, "ha": "center", "va": "bottom"}

    # A group of n columns spans from its first column to its last.
    written_texts = []
    for name, n in figure.groups:
        # The line ends a little before those of the neighbor groups.
        page.area.plot(
            [first - 0.44, first + n - 0.56], [1, 1], transform=transform, **line
        )
        written_texts.append(
            page.area.text(first + (n - 1) / 2, 1.0, name, transform=transform, **look)
        )
        first += n

    def fit(width: float, _: float) -> None:
        """Write the names of groups again, as short as this width of the area requires.

        The width is in points. `written_texts`, a text for each group,
        is a variable of the enclosing function.
        """
        for text, (name, n) in zip(written_texts, figure.groups, strict=True):
            text.set_text(page.elided(name, n * width / len(figure.columns) - 0.4 * em))

    page.fitters.append(fit)  # called whenever the size of the area changes


def _labelled_rows(page: FigurePage, figure: MapFigure, height: float) -> range:
    """Return the rows of a map whose names are written, by position from the top.

    `height` is that of the plot area in points. The result has all
    rows, or every i-th row if the rows are ordered and low.
    """
    n = len(figure.rows)
    step = (
        max(1, math.ceil(1.15 * page.style.em * n / height)) if figure.row_title else 1
    )
    return range(0, n, step)


def _name_columns(page: FigurePage, figure: MapFigure, cell: float) -> None:
    """Write the names of a map's columns; only every i-th if the columns are too narrow.

    `cell` is the width of a column in points. If the names are
    consecutive numbers, round numbers are written instead of every
    i-th.
    """
    widest = max(map(page.width, figure.columns), default=0.0) + 0.7 * page.style.em
    step = max(1, math.ceil(widest / cell))
    # The names as numbers; -1 stands for a name that is no number.
    numbers = [int(name) if name.isdecimal() else -1 for name in figure.columns]
    columns: Sequence[int] = range(0, len(numbers), step)
    if step > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        round_numbers = [
            int(v)
            for v in ticks.integer_ticks(numbers[0], numbers[-1], len(numbers) / step)
        ]
        first = round_numbers[0]
        last = round_numbers[-1]
        # The first and the last number are written in any case.
        inner = [v for v in round_numbers[1:-1] if min(v - first, last - v) >= step]
        columns = [v - numbers[0] for v in (first, *inner, last)]
    page.area.set_xticks(
        columns,
        [page.elided(figure.columns[column], cell * step) for column in columns],
    )


def _color_bar_ticks(figure: MapFigure) -> Ticks:
    """Return the values at the color bar of a map, and their texts.

    The values are those that the figure sets, if any, otherwise round
    ones. The text at an end has "≤" or "≥" if values of cells lie
    outside.
    """
    if figure.ends:
        return figure.ends

    # Whole numbers for counts and ranks, otherwise decimals with as few
    # digits as possible.
    low, high = color_range(figure)
    finite_values = [v for row in figure.values for v in row if isfinite(v)]
    if figure.color.whole:
        values = ticks.integer_ticks(low, high, 5)
        texts = [f"{v:,.0f}" for v in values]
    else:
        values = ticks.nice_ticks(low, high, 5, ticks.DECIMAL_STEPS)
        texts = ticks.tick_labels(values)

    # Values beyond the ends of the bar have the color of the end.
    bar_ticks = list(zip(values, texts, strict=True))
    if bar_ticks and min(finite_values, default=low) < low:
        _, text = bar_ticks[0]
        bar_ticks[0] = low, f"≤ {text}"
    if bar_ticks and max(finite_values, default=high) > high:
        _, text = bar_ticks[-1]
        bar_ticks[-1] = high, f"≥ {text}"
    return bar_ticks


def _paint_color_bar(
    page: FigurePage, figure: MapFigure, cells: PolyCollection
) -> None:
    """Paint the bar of colors beside a map, with its numbers and its title.

    `cells` are the painted cells of the map, whose colors the bar
    explains. If small values are dark, as for ranks, the least value is
    at the top.
    """
    # The colors of the cells, without a frame. `fit` below sets the
    # position of the bar.
    em = page.style.em
    style = page.style
    bar = page.area.inset_axes((0, 0, 1, 1))
    colors = page.paper.colorbar(cells, cax=bar)
    colors.outline.set_visible(False)
    assert colors.solids is not None  # only a map of lines has none

    # Vector graphics instead of an image, with edges that hide the
    # seams between the colors.
    colors.solids.set(rasterized=False, edgecolor="face", linewidth=0.05 * em)

    # Numbers beside the bar.
    bar_ticks = _color_bar_ticks(figure)
    bar.set_yticks([value for value, _ in bar_ticks], [text for _, text in bar_ticks])
    bar.tick_params(length=0, pad=0.4 * em, labelcolor=style.muted)
    if figure.first_dark:
        bar.invert_yaxis()

    def bounds(length: float) -> Bbox:
        """Return the position of the color bar on the page, in shares of the page.

        `length` is that of the bar in points. The bar is beside the
        plot area, as wide as the size of the text and at the same
        distance from the area, and begins at the top of the area.
        """
        area = page.area.get_position()
        page_width, page_height = 72 * page.paper.get_size_inches()
        return Bbox.from_bounds(
            area.x1 + em / page_width,
            area.y1 - length / page_height,
            em / page_width,
            length / page_height,
        )

    def fit(_: float, height: float) -> None:
        """Set the length and the title of the bar for this height of the area."""
        length = min(max(height, _MIN_COLOR_BAR * em), _MAX_COLOR_BAR * em)
        bar.set_axes_locator(lambda *_: bounds(length))
        title = page.wrapped(figure.color.text, length)
        bar.set_ylabel(title, color=style.text, labelpad=0.5 * em)

    page.fitters.append(fit)  # called whenever the size of the area changes
