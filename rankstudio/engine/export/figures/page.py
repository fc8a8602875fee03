"""A page with one plot area, whose size depends on the texts around it."""

from __future__ import annotations

import itertools
import math
import re
from bisect import bisect
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from typing import Any, Literal

from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure as Paper
from matplotlib.font_manager import FontProperties, fontManager, get_font
from matplotlib.legend import Legend
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.textpath import text_to_path

from rankstudio.engine.export.figures import ticks
from rankstudio.engine.export.figures.style import MARKERS, FigureStyle
from rankstudio.engine.export.figures.values import FigureAxis
from rankstudio.engine.support.escaping import one_line
from rankstudio.engine.support.resources import resource

Ticks = Sequence[tuple[float, str]]
Look = dict[str, Any]
"""Appearance as keywords of matplotlib: colors, line widths, markers."""

Range = tuple[float, float]

Entry = tuple[Artist | tuple[Artist, ...], str]
"""Artists of an entry of the legend, and their name."""

SAMPLE = 2.4
"""Length of a line in a legend, in sizes of the text."""

_MARKERS = {
    "circle": ("o", 1.0),
    "square": ("s", 0.85),
    "diamond": ("D", 0.85),
    "triangle": ("^", 1.0),
    "plus": ("P", 1.2),
    "cross": ("X", 1.1),
    "star": ("*", 1.3),
}
"""Markers of matplotlib, with the factors by which they look as large as a circle."""

# The following lengths are in sizes of the text.
_LEGEND_LINE_HEIGHT = 1.35  # from one line of the legend to the next
_STRIP_WIDTH = 8.0  # of the strip with the colors of an ordered family
_MARGIN = 0.4  # empty space at the edges of the page
_SERIES_ID = re.compile(r"series-(\d+)-")  # of what is painted for a series, in SVG
_MIN_TICK_GAP = 0.7  # least space between the texts of ticks next to each other

_INTER = str(resource("fonts", "Inter-Regular.ttf"))
_DPI = 288.0  # resolution at which texts are measured; nothing is painted with it
# Ticks, widths of numbers and the size of the area depend on each
# other, but settle in a few rounds.
_MAX_LAYOUT_ROUNDS = 4


class FigurePage:
    """A matplotlib page with one plot area, a legend above it, and axis titles.

    Parameters
    ----------
    style : FigureStyle
        Width, size of the text and colors.

    Attributes
    ----------
    paper : matplotlib.figure.Figure
        The page as a figure of matplotlib.
    area : matplotlib.axes.Axes
        The plot area, without lines, ticks or labels, until methods add them.
    entries : list of Entry
        Entries of the legend, in order.
    fitters : list of callable
        Functions that are called with width and height of the area, in
        points, whenever these change, and write labels that fit.
    """

    def __init__(self, style: FigureStyle) -> None:
        """Make an empty page, with one plot area without a frame.

        `entries` will have the entries of the legend, and `fitters`
        functions that adapt labels to the width and height of the area,
        in points.
        """
        self.style = style
        # Inches, of 72 points: the page is half as high as wide. The
        # sizes of page and area are only a first guess: `finish` sets
        # them.
        self.paper = Paper(figsize=(style.width / 72, style.width / 144), dpi=_DPI)
        self.area = self.paper.add_axes((0.2, 0.2, 0.6, 0.6))
        self.entries: list[Entry] = []
        self.fitters: list[Callable[[float, float], None]] = []
        # The second font is for texts with characters that Inter does not have.
        self._font = self._other_font = self._font_of_file(_INTER)
        self._widths: dict[str, float] = {}  # width of each text, in points
        self.area.spines[:].set_visible(False)
        self.area.set_axisbelow(True)
        # All lengths are in points; `em` is the size of the text.
        self.area.tick_params(length=0, pad=0.5 * style.em, labelcolor=style.muted)

    def width(self, text: str) -> float:
        """Return the width of a text on one line, in points."""
        if text not in self._widths:
            # Matplotlib also returns the height and the part below the line.
            width, _, _ = text_to_path.get_text_width_height_descent(
                text, self._font_of(text), ismath=False
            )
            self._widths[text] = float(width)
        return self._widths[text]

    def elided(self, text: str, width: float) -> str:
        """Return a text as one line, cut to a maximum width."""
        text = one_line(text)
        if self.width(text) <= width:
            return text
        beginnings = [f"{text[:end].rstrip()}…" for end in range(len(text))]
        return beginnings[max(bisect(beginnings, width, key=self.width) - 1, 0)]

    def wrapped(self, text: str, width: float) -> str:
        """Return a text as one line, or as two of similar length if it is wider than `width`.

        The width is in points. A text that does not fit on two lines is cut.
        """
        words = one_line(text).split()
        if len(words) < 2 or self.width(" ".join(words)) <= width:
            return self.elided(text, width)
        breaks = [
            (" ".join(words[:n]), " ".join(words[n:])) for n in range(1, len(words))
        ]
        best_lines = min(breaks, key=lambda lines: max(map(self.width, lines)))
        return "\n".join(self.elided(line, width) for line in best_lines)

    def marker(self, number: int, color: str, size: float) -> Look:
        """Return the shape, color and size of a numbered marker, for matplotlib.

        `number` chooses the shape of the marker; `size` is relative to
        the size of the text.
        """
        # `MARKERS` has the names of the shapes, and `_MARKERS` for each
        # name that of matplotlib, and the factor that makes the shapes
        # look equally large.
        name, factor = _MARKERS[MARKERS[number % len(MARKERS)]]
        look: Look = {
            "marker": name,
            "markersize": factor * size * self.style.em,
            "markerfacecolor": color,
        }
        return look | {
            "markeredgecolor": "#ffffff",
            "markeredgewidth": 0.06 * self.style.em,
        }

    def show_line(self, side: str) -> None:
        """Draw the axis line at a side."""
        spine = self.area.spines[side]
        spine.set(visible=True, color=self.style.line, linewidth=0.09 * self.style.em)

    def show_grid(self, axis: Literal["x", "y"]) -> None:
        """Draw grid lines at the ticks of an axis."""
        self.area.grid(
            visible=True,
            axis=axis,
            color=self.style.faint,
            linewidth=0.08 * self.style.em,
        )

    def show_x_axis(
        self, axis: FigureAxis, low: float, high: float, tick_range: Range
    ) -> None:
        """Add the x axis, from `low` to `high`, below the plot area: line, ticks and title.

        Ticks of counts stay within ``tick_range``, a pair of values: an
        axis of counts k from 1 has no tick at
        -1, even if it begins there.
        """
        em = self.style.em
        if axis.logarithmic:
            self.area.set_xscale("log", nonpositive="mask")
        self.area.set_xlim(low, high)
        self.show_line("bottom")
        look: Look = {"length": 0.35 * em, "width": 0.09 * em, "color": self.style.line}
        self.area.tick_params(axis="x", pad=0.25 * em, **look)
        # Ticks are chosen when the width of the area is known: the
        # function is called with its width and height.
        self.fitters.append(
            lambda width, _: self._set_ticks(axis, low, high, width, tick_range)
        )
        self.name_columns(axis.text)

    def show_y_axis(self, axis: FigureAxis, low: float, high: float) -> None:
        """Add the y axis at the left, from `low` to `high`, with its ticks and title."""
        if axis.logarithmic:
            self.area.set_yscale("log", nonpositive="mask")
        self.area.set_ylim(low, high)
        self.fitters.append(lambda _, height: self._set_ticks(axis, low, high, height))
        self.name_rows(axis.text)

    def name_columns(self, title: str) -> None:
        """Add a title below the plot area, on two lines if it is long."""
        look: Look = {"color": self.style.text, "labelpad": 0.2 * self.style.em}

        def fit(width: float, _: float) -> None:
            """Write the title of the x axis, in one or two lines, for this width of the area.

            The width is in points. `title` and `look`, the properties
            of the text, are variables of the enclosing method.
            """
            # A title in the middle of the area may be wider than the
            # area, up to the nearer edge of the page.
            box = self.area.get_position()
            middle = self.style.width * (box.x0 + box.x1) / 2
            page_room = (
                2 * min(middle, self.style.width - middle) - 2 * _MARGIN * self.style.em
            )
            self.area.set_xlabel(self.wrapped(title, max(page_room, width)), **look)

        self.fitters.append(fit)  # called whenever the size of the area changes

    def name_rows(self, title: str) -> None:
        """Add a vertical title at the left, on two lines if it is long."""
        look: Look = {"color": self.style.text, "labelpad": 0.5 * self.style.em}

        def fit(_: float, height: float) -> None:
            """Write the title of the y axis, in one or two lines, for this height of the area.

            The height is in points. `title` and `look`, the properties
            of the text, are variables of the enclosing method.
            """
            self.area.set_ylabel(self.wrapped(title, height), **look)

        self.fitters.append(fit)  # called whenever the size of the area changes

    def finish(
        self, height: Callable[[float], float], widest: float = math.inf
    ) -> Paper:
        """Lay out the page, and return it with the height that it requires.

        Parameters
        ----------
        height : callable
            Returns the height of the plot area, in points, by its
            width, unless the style sets the height of the page.
        widest : float
            Maximum width of the area in points.
        """
        em = self.style.em
        style = self.style
        renderer = RendererAgg(8, 8, _DPI)  # type: ignore[no-untyped-call]
        edge = _MARGIN * em
        # A first guess of the size of the area, for which the labels are written.
        area_width = 0.7 * style.width
        area_height = 0.3 * style.width
        # This writes the labels once, and again only if a font has changed.
        is_fitted = not self._find_other_font(area_width, area_height)

        # Height of the legends above the area.
        legends = self._legends()
        legends_height = _LEGEND_LINE_HEIGHT * em * len(legends) + (
            0.35 * em if legends else 0.0
        )

        # Labels and area depend on each other's size: repeat until both agree.
        sizes: tuple[float, ...] = ()
        for _ in range(_MAX_LAYOUT_ROUNDS):
            # Write the labels for the present size of the area.
            if not is_fitted:
                self._fit(area_width, area_height)
            is_fitted = False
            for text in self.paper.findobj(Text):
                text.set_fontproperties(self._font_of(text.get_text()))
            # Space that the labels take around the area, in points:
            # from the area alone to the area with its labels, both in
            # dots.
            inner = self.area.get_window_extent(renderer)
            outer = self.area.get_tightbbox(renderer)
            assert outer is not None  # an area that is visible has one
            left_space = (inner.x0 - outer.x0) * 72 / _DPI
            space_below = (inner.y0 - outer.y0) * 72 / _DPI
            right_space = (outer.x1 - inner.x1) * 72 / _DPI
            space_above = (outer.y1 - inner.y1) * 72 / _DPI
            # Size of the area: what the labels leave.
            outer_height = legends_height + space_above + space_below + 2 * edge
            area_width = min(
                max(style.width - left_space - right_space - 2 * edge, 2 * em), widest
            )
            area_height = (
                max(style.height - outer_height, 2 * em)
                if style.height
                else height(area_width)
            )
            page_height = style.height or area_height + outer_height
            self.paper.set_size_inches(style.width / 72, page_height / 72)
            # Place the area and the legends, in shares of the page.
            corner = (
                (left_space + edge) / style.width,
                (space_below + edge) / page_height,
            )
            self.area.set_position(
                (*corner, area_width / style.width, area_height / page_height)
            )
            for row, legend in enumerate(legends):
                top = edge + row * _LEGEND_LINE_HEIGHT * em
                legend.set_bbox_to_anchor((edge / style.width, 1 - top / page_height))
            earlier_sizes = sizes
            sizes = (*corner, area_width, area_height, page_height)
            if sizes == earlier_sizes:  # the labels were written for these sizes
                break
        return self.paper

    def _fit(self, width: float, height: float) -> None:
        """Call the functions in `fitters` for an area of this width and height, in points.

        The functions write the labels that depend on the size of the area.
        """
        for fit in self.fitters:
            fit(width, height)

    def _find_other_font(self, width: float, height: float) -> bool:
        """Choose another font for texts with characters that Inter does not have.

        Inter is the font of all other texts. First write the labels for
        an area of this width and height, to know their characters.
        Return whether they must be written again, because Inter lacks
        some: the font of these texts has changed, unless no font of
        this computer has more of the characters.
        """
        # All texts of the page, also those of the legend, which is not yet there.
        self._fit(width, height)
        texts = [
            text.get_text()
            for text in self.paper.findobj(Text)
            if isinstance(text, Text)
        ]
        texts += [one_line(label) for _, label in self.entries] + [
            one_line(self.style.heading)
        ]
        missing_characters = (
            frozenset("".join(texts)) - _font_characters(_INTER) - {"\n"}
        )
        if missing_characters:
            self._other_font = self._font_of_file(_font_with(missing_characters))
            # Widths in another font are different.
            self._widths.clear()
        return bool(missing_characters)

    def _font_of(self, text: str) -> FontProperties:
        """Return the font for a text: Inter, or another one if Inter lacks a character."""
        return (
            self._font
            if _font_characters(_INTER).issuperset(text.replace("\n", ""))
            else self._other_font
        )

    def _font_of_file(self, path: str) -> FontProperties:
        """Return the font of a file in the size of the text."""
        return FontProperties(
            family=["Inter", "sans-serif"], size=self.style.em, fname=path
        )

    def _legends(self) -> list[Legend]:
        """Add the legends of the page above the plot area, one per row, and return them.

        A single legend would have columns of equal width. Each entry of
        a legend has a sample, drawn by an "artist" of matplotlib, and a
        name.
        """
        # A tuple of more than two artists is a strip of colors; a tuple
        # of two is a line with its band. The width of a sample is in
        # sizes of the text, the room for a row in points.
        em = self.style.em
        style = self.style
        has_strip = any(
            isinstance(artist, tuple) and len(artist) > 2 for artist, _ in self.entries
        )
        sample_width = _STRIP_WIDTH if has_strip else SAMPLE
        room = style.width - 2 * _MARGIN * em

        # Fill rows with entries; an entry that has no room begins
        # another row. Between sample and name are 0.6, between entries
        # 1.4 sizes of the text.
        rows: list[list[tuple[Any, str]]] = []
        x = math.inf  # so that the first entry begins a row
        for artist, name in self.entries:
            label = self.elided(name, room - (sample_width + 0.6) * em)
            entry_width = (sample_width + 0.6) * em + self.width(label)
            if x + entry_width > room:
                rows.append([])
                x = 0.0
            rows[-1].append((artist, label))
            x += entry_width + 1.4 * em

        # The heading is a row of its own, without a sample.
        if style.heading:
            rows.insert(0, [(None, self.elided(style.heading, room))])
        legends = [
            self.paper.legend(
                [artist or Line2D([], []) for artist, _ in row],
                [label for _, label in row],
                loc="upper left",
                ncols=len(row),
                frameon=False,
                borderpad=0.0,
                borderaxespad=0.0,
                # a heading has no artist
                handlelength=sample_width if row[0][0] is not None else 0.0,
                handletextpad=0.6 if row[0][0] is not None else 0.0,
                columnspacing=1.4,
                labelcolor=style.text,
                prop=self._font,
                handler_map={tuple: HandlerTuple(ndivide=None, pad=0.0)}
                if has_strip
                else None,
            )
            for row in rows
        ]
        # In an SVG, the name of a series has an id with the number of
        # the series, which `_name_id` finds by the artist.
        for legend, row in zip(legends, rows, strict=True):
            for text, (artist, _) in zip(legend.get_texts(), row, strict=True):
                text.set_gid(_name_id(artist))
        return legends

    def _set_ticks(
        self,
        axis: FigureAxis,
        low: float,
        high: float,
        room: float,
        tick_range: Range | None = None,
    ) -> None:
        """Write as many ticks on an axis as fit without touching each other.

        The axis goes from `low` to `high`, and `room` is its length in
        points. It is the x axis if there is a `tick_range`, in which
        ticks of counts stay; otherwise the y axis.
        """
        labelled: Ticks = []
        is_x_axis = tick_range is not None
        # `whole` says that the axis shows counts.
        ends = tick_range if tick_range is not None and axis.whole else (low, high)
        # In points: labels of the x axis are beside each other, and
        # need more room than labels of the y axis, which are above each
        # other.
        least_distance = self.style.em * (2.6 if is_x_axis else 2.2)
        # Begin with as many ticks as may fit at this distance, then try fewer.
        for max_ticks in range(max(2, int(room / least_distance)), 0, -1):
            labelled = _ticks(axis, *ends, max_ticks)
            positions = [
                self._share_of_axis(axis, low, high, value) * room
                for value, _ in labelled
            ]
            if self._are_clear(
                positions, [text for _, text in labelled], is_x_axis=is_x_axis
            ):
                break
        drawn_axis = self.area.xaxis if is_x_axis else self.area.yaxis
        drawn_axis.set_ticks(
            [value for value, _ in labelled], [text for _, text in labelled]
        )
        # Matplotlib would add small ticks to a logarithmic axis.
        drawn_axis.set_ticks([], minor=True)

    @staticmethod
    def _share_of_axis(
        axis: FigureAxis, low: float, high: float, value: float
    ) -> float:
        """Return the position of a value on an axis from `low` to `high`, as a share from 0 to 1."""
        if axis.logarithmic:
            return math.log(value / low) / math.log(high / low)
        return (value - low) / (high - low)

    def _are_clear(
        self, positions: Sequence[float], texts: Sequence[str], *, is_x_axis: bool
    ) -> bool:
        """Return whether texts centered at positions on an axis do not touch.

        The positions are in points from the begin of the axis.
        """
        em = self.style.em
        # Half of the length of each text along the axis: of its width or height.
        half_sizes = [(self.width(text) if is_x_axis else em) / 2 for text in texts]
        least_gap = (_MIN_TICK_GAP if is_x_axis else 0.2) * em
        distances = (b - a for a, b in itertools.pairwise(positions))
        return all(
            distance >= a + b + least_gap
            for distance, (a, b) in zip(
                distances, itertools.pairwise(half_sizes), strict=True
            )
        )


def series_id(series: int, number: int) -> str:
    """Return the id of an artist of a series in an SVG, by the numbers of both from 0."""
    return f"series-{series}-{number}"


def _name_id(artist: Any) -> str | None:
    """Return the id of the name of a series in the legend of an SVG.

    `artist` is what matplotlib paints beside the name. The result is
    None if it does not belong to a series.
    """
    first_artist = artist[0] if isinstance(artist, tuple) else artist
    series = _SERIES_ID.match((first_artist and first_artist.get_gid()) or "")
    return f"name-{series[1]}" if series else None


@cache
def _font_characters(path: str) -> frozenset[str]:
    """Return the characters that a font has."""
    return frozenset(map(chr, get_font(path).get_charmap()))


@lru_cache(maxsize=16)
def _font_with(characters: frozenset[str]) -> str:
    """Return the path of the font file that has the most of some characters.

    The font is Inter, or a font of this computer that has more of them.
    DejaVu Sans, which comes with matplotlib, is tried first.
    """
    fonts = [
        font
        for font in fontManager.ttflist
        if font.style == "normal" and font.weight == 400
    ]
    best = _INTER
    best_count = len(characters & _font_characters(_INTER))
    # False comes before True.
    for font in sorted(fonts, key=lambda font: font.name != "DejaVu Sans"):
        charmap = get_font(font.fname).get_charmap()
        count = sum(ord(character) in charmap for character in characters)
        # The font Last Resort has every character, but only as a box.
        if count > best_count and not font.name.startswith("Last Resort"):
            best = font.fname
            best_count = count
        if best_count == len(characters):
            break
    return best


def _ticks(axis: FigureAxis, low: float, high: float, count: int) -> Ticks:
    """Return about `count` ticks or fewer from `low` to `high` on an axis, with their texts."""
    if axis.logarithmic:
        return [(v, ticks.power_label(v)) for v in ticks.log_ticks(low, high, count)]
    if axis.whole:
        return [(v, ticks.grouped(v)) for v in ticks.integer_ticks(low, high, count)]
    values = ticks.nice_ticks(low, high, count, ticks.DECIMAL_STEPS)
    return list(zip(values, ticks.tick_labels(values), strict=True))


def known_range(axis: FigureAxis, values: Iterable[float]) -> Range:
    """Return the least and the greatest value to show on an axis.

    They are the extremes of `values` and of the ends that the axis
    sets. Values that are not finite, or not positive on a logarithmic
    axis, are left out.
    """
    plottable = [
        v for v in values if math.isfinite(v) and (v > 0 or not axis.logarithmic)
    ]
    # The axis may have ends that must be visible.
    plottable += [end for end in (axis.low, axis.high) if end is not None]
    return min(plottable, default=1.0 if axis.logarithmic else 0.0), max(
        plottable, default=1.0
    )


def value_range(
    axis: FigureAxis, values: Iterable[float], room: float
) -> tuple[float, float]:
    """Return the visible range of an axis, padded at both ends.

    The range contains all of `values`, and the ends that the axis sets.
    `room` is the padding at each end, as a share of the range.
    """
    low, high = known_range(axis, values)
    if axis.logarithmic:
        # On a logarithmic axis, the padding is a factor.
        ratio = max(high / low, 1.1) ** room
        return low / ratio, high * ratio
    padding = (high - low) * room
    # Equal values have no range of their own.
    if high - low <= ticks.EQUAL * max(abs(low), abs(high)):
        padding = abs(high) * room or 1.0
    # No padding at an end that the axis sets.
    below = 0.0 if axis.low == low else padding
    above = 0.0 if axis.high == high and high > low else padding
    return low - below, high + above
