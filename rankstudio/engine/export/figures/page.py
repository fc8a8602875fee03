"""A page with one area on it, whose size follows from what is written around it."""

from __future__ import annotations

import itertools
import math
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
"""Appearance as keywords of matplotlib: colours, line widths, markers."""

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
}  # of matplotlib, and how large they are to look as large as a circle
_LEGEND_LINE_HEIGHT = 1.35  # from one line of the legend to the next
_STRIP_WIDTH = 8.0  # that of the colours of an ordered family
_INTER = str(resource("fonts", "Inter-Regular.ttf"))
_MARGIN = 0.4  # what stays free at the edges of the page
_MIN_TICK_GAP = 0.7  # least room between the texts of ticks beside each other
_DPI = 288.0  # of what is measured; nothing is painted there
_MAX_LAYOUT_ROUNDS = (
    4  # at most: ticks, widths of numbers and size of the area depend on each other, and settle
)


class FigurePage:
    """A matplotlib page with one plot area, a legend above it, and axis titles.

    Parameters
    ----------
    style : FigureStyle

    Attributes
    ----------
    paper : matplotlib.figure.Figure
    area : matplotlib.axes.Axes
        Without lines, ticks or labels, until they are requested.
    entries : list of Entry
        Entries of the legend, in order.
    fitters : list of callable
        Called with width and height of the area whenever these change, to write labels that fit.
    """

    def __init__(self, style: FigureStyle) -> None:
        self.style = style
        self.paper = Paper(figsize=(style.width / 72, style.width / 144), dpi=_DPI)
        self.area = self.paper.add_axes((0.2, 0.2, 0.6, 0.6))
        self.entries: list[Entry] = []
        self.fitters: list[Callable[[float, float], None]] = []
        self._font = self._other_font = self._font_of_file(_INTER)
        self._widths: dict[str, float] = {}
        self.area.spines[:].set_visible(False)
        self.area.set_axisbelow(True)
        self.area.tick_params(length=0, pad=0.5 * style.em, labelcolor=style.muted)

    def width(self, text: str) -> float:
        """Return the width of a text."""
        if text not in self._widths:
            size = text_to_path.get_text_width_height_descent(text, self._font_of(text), ismath=False)
            self._widths[text] = float(size[0])
        return self._widths[text]

    def elided(self, text: str, width: float) -> str:
        """Return a text as one line, cut to a maximum width."""
        text = one_line(text)
        if self.width(text) <= width:
            return text
        cut = [f"{text[:end].rstrip()}…" for end in range(len(text))]
        return cut[max(bisect(cut, width, key=self.width) - 1, 0)]

    def wrapped(self, text: str, width: float) -> str:
        """Return a text as one line, or as two of similar length if it is too long; cut if necessary."""
        words = one_line(text).split()
        if len(words) < 2 or self.width(" ".join(words)) <= width:
            return self.elided(text, width)
        breaks = [(" ".join(words[:n]), " ".join(words[n:])) for n in range(1, len(words))]
        best = min(breaks, key=lambda two: max(map(self.width, two)))
        return "\n".join(self.elided(part, width) for part in best)

    def marker(self, number: int, color: str, size: float) -> Look:
        """Return the marker of a style, and its size relative to the text."""
        name, factor = _MARKERS[MARKERS[number % len(MARKERS)]]
        look: Look = {"marker": name, "markersize": factor * size * self.style.em, "markerfacecolor": color}
        return look | {"markeredgecolor": "#ffffff", "markeredgewidth": 0.06 * self.style.em}

    def show_line(self, side: str) -> None:
        """Draw the axis line at a side."""
        spine = self.area.spines[side]
        spine.set(visible=True, color=self.style.line, linewidth=0.09 * self.style.em)

    def show_grid(self, axis: Literal["x", "y"]) -> None:
        """Draw grid lines at the ticks of an axis."""
        self.area.grid(visible=True, axis=axis, color=self.style.faint, linewidth=0.08 * self.style.em)

    def show_x_axis(self, axis: FigureAxis, low: float, high: float, tick_range: Range) -> None:
        """Add an axis below, between two values, with its line, ticks and title.

        Ticks of counts stay within ``tick_range``: there is none at k = −1, left of k = 1.
        """
        em = self.style.em
        if axis.logarithmic:
            self.area.set_xscale("log", nonpositive="mask")
        self.area.set_xlim(low, high)
        self.show_line("bottom")
        look: Look = {"length": 0.35 * em, "width": 0.09 * em, "color": self.style.line}
        self.area.tick_params(axis="x", pad=0.25 * em, **look)
        self.fitters.append(lambda wide, _: self._set_ticks(axis, low, high, wide, tick_range))
        self.name_columns(axis.text)

    def show_y_axis(self, axis: FigureAxis, low: float, high: float) -> None:
        """Add an axis at the left, between two values, with its ticks and title."""
        if axis.logarithmic:
            self.area.set_yscale("log", nonpositive="mask")
        self.area.set_ylim(low, high)
        self.fitters.append(lambda _, high_: self._set_ticks(axis, low, high, high_))
        self.name_rows(axis.text)

    def name_columns(self, title: str) -> None:
        """Add a title below, on two lines if it is long."""
        look: Look = {"color": self.style.text, "labelpad": 0.2 * self.style.em}

        def fit(wide: float, _: float) -> None:
            box = self.area.get_position()
            middle = self.style.width * (box.x0 + box.x1) / 2
            room = 2 * min(middle, self.style.width - middle) - 2 * _MARGIN * self.style.em
            self.area.set_xlabel(self.wrapped(title, max(room, wide)), **look)

        self.fitters.append(fit)

    def name_rows(self, title: str) -> None:
        """Add a vertical title at the left, on two lines if it is long."""
        look: Look = {"color": self.style.text, "labelpad": 0.5 * self.style.em}

        def fit(_: float, high: float) -> None:
            self.area.set_ylabel(self.wrapped(title, high), **look)

        self.fitters.append(fit)

    def finish(self, height: Callable[[float], float], widest: float = math.inf) -> Paper:
        """Return the page with its required height.

        Parameters
        ----------
        height : callable
            Returns the aspect ratio of the area, unless the style sets the height of the page.
        widest : float
            Maximum width of the area.
        """
        em = self.style.em
        style = self.style
        renderer = RendererAgg(8, 8, _DPI)  # type: ignore[no-untyped-call]
        edge = _MARGIN * em
        wide = 0.7 * style.width
        high = 0.3 * style.width
        is_fitted = not self._find_other_font(wide, high)
        legends = self._legends()
        legends_height = _LEGEND_LINE_HEIGHT * em * len(legends) + (0.35 * em if legends else 0.0)
        sizes: tuple[float, ...] = ()
        for _ in range(_MAX_LAYOUT_ROUNDS):
            if not is_fitted:
                self._fit(wide, high)
            is_fitted = False
            for text in self.paper.findobj(Text):
                text.set_fontproperties(self._font_of(text.get_text()))
            inner = self.area.get_window_extent(renderer)
            outer = self.area.get_tightbbox(renderer)
            assert outer is not None  # an area that is visible has one
            left = (inner.x0 - outer.x0) * 72 / _DPI
            below = (inner.y0 - outer.y0) * 72 / _DPI
            right = (outer.x1 - inner.x1) * 72 / _DPI
            above = (outer.y1 - inner.y1) * 72 / _DPI
            around = legends_height + above + below + 2 * edge
            wide = min(max(style.width - left - right - 2 * edge, 2 * em), widest)
            high = max(style.height - around, 2 * em) if style.height else height(wide)
            tall = style.height or high + around
            self.paper.set_size_inches(style.width / 72, tall / 72)
            corner = (left + edge) / style.width, (below + edge) / tall
            self.area.set_position((*corner, wide / style.width, high / tall))
            for row, legend in enumerate(legends):
                legend.set_bbox_to_anchor(
                    (edge / style.width, 1 - (edge + row * _LEGEND_LINE_HEIGHT * em) / tall)
                )
            before = sizes
            sizes = (*corner, wide, high, tall)
            if sizes == before:  # what is written now was fitted to these
                break
        return self.paper

    def _fit(self, wide: float, high: float) -> None:
        """Write labels that fit an area."""
        for fit in self.fitters:
            fit(wide, high)

    def _find_other_font(self, wide: float, high: float) -> bool:
        """Have another font for texts that Inter cannot set, where one has more of their characters.

        Labels are written for the area first; return whether they are to be written anew.
        """
        self._fit(wide, high)
        texts = [text.get_text() for text in self.paper.findobj(Text) if isinstance(text, Text)]
        texts += [one_line(label) for _, label in self.entries] + [one_line(self.style.heading)]
        missing_characters = frozenset("".join(texts)) - _font_characters(_INTER) - {"\n"}
        if missing_characters:
            self._other_font = self._font_of_file(_font_with(missing_characters))
            self._widths.clear()
        return bool(missing_characters)

    def _font_of(self, text: str) -> FontProperties:
        return self._font if _font_characters(_INTER).issuperset(text.replace("\n", "")) else self._other_font

    def _font_of_file(self, path: str) -> FontProperties:
        return FontProperties(family=["Inter", "sans-serif"], size=self.style.em, fname=path)

    def _legends(self) -> list[Legend]:
        """Return names in as many rows as they need: a legend of matplotlib has columns of equal width."""
        em = self.style.em
        style = self.style
        strip = any(isinstance(bearer, tuple) and len(bearer) > 2 for bearer, _ in self.entries)
        sample = _STRIP_WIDTH if strip else SAMPLE
        room = style.width - 2 * _MARGIN * em
        rows: list[list[tuple[Any, str]]] = []
        x = math.inf
        for bearer, name in self.entries:
            label = self.elided(name, room - (sample + 0.6) * em)
            wide = (sample + 0.6) * em + self.width(label)
            if x + wide > room:
                rows.append([])
                x = 0.0
            rows[-1].append((bearer, label))
            x += wide + 1.4 * em
        if style.heading:
            rows.insert(0, [(None, self.elided(style.heading, room))])
        return [
            self.paper.legend(
                [bearer or Line2D([], []) for bearer, _ in row],
                [label for _, label in row],
                loc="upper left",
                ncols=len(row),
                frameon=False,
                borderpad=0.0,
                borderaxespad=0.0,
                handlelength=sample if row[0][0] is not None else 0.0,
                handletextpad=0.6 if row[0][0] is not None else 0.0,
                columnspacing=1.4,
                labelcolor=style.text,
                prop=self._font,
                handler_map={tuple: HandlerTuple(ndivide=None, pad=0.0)} if strip else None,
            )
            for row in rows
        ]

    def _set_ticks(
        self, axis: FigureAxis, low: float, high: float, room: float, of_columns: Range | None = None
    ) -> None:
        """Write as many ticks as stand clear of each other: at the left, or below in a range."""
        labelled: Ticks = []
        across = of_columns is not None
        ends = of_columns if of_columns is not None and axis.whole else (low, high)
        for max_ticks in range(max(2, int(room / (self.style.em * (2.6 if across else 2.2)))), 0, -1):
            labelled = _ticks(axis, *ends, max_ticks)
            places = [self._place(axis, low, high, value) * room for value, _ in labelled]
            if self._clear(places, [text for _, text in labelled], across=across):
                break
        drawn_axis = self.area.xaxis if across else self.area.yaxis
        drawn_axis.set_ticks([value for value, _ in labelled], [text for _, text in labelled])
        drawn_axis.set_ticks([], minor=True)

    @staticmethod
    def _place(axis: FigureAxis, low: float, high: float, value: float) -> float:
        """Return at which share of an axis a value is."""
        if axis.logarithmic:
            return math.log(value / low) / math.log(high / low)
        return (value - low) / (high - low)

    def _clear(self, places: Sequence[float], texts: Sequence[str], *, across: bool) -> bool:
        """Return whether texts in the middle of places stand clear of each other."""
        em = self.style.em
        half = [(self.width(text) if across else em) / 2 for text in texts]
        least = (_MIN_TICK_GAP if across else 0.2) * em
        gaps = (b - a for a, b in itertools.pairwise(places))
        return all(gap >= a + b + least for gap, (a, b) in zip(gaps, itertools.pairwise(half), strict=True))


@cache
def _font_characters(path: str) -> frozenset[str]:
    return frozenset(map(chr, get_font(path).get_charmap()))


@lru_cache(maxsize=16)
def _font_with(characters: frozenset[str]) -> str:
    """Return the file of the font that has the most of some characters: ours, or one of the computer's."""
    fonts = [font for font in fontManager.ttflist if font.style == "normal" and font.weight == 400]
    best = _INTER
    best_count = len(characters & _font_characters(_INTER))
    for font in sorted(fonts, key=lambda font: font.name != "DejaVu Sans"):
        charmap = get_font(font.fname).get_charmap()
        count = sum(ord(character) in charmap for character in characters)
        if count > best_count and not font.name.startswith("Last Resort"):  # which has boxes alone
            best = font.fname
            best_count = count
        if best_count == len(characters):
            break
    return best


def _ticks(axis: FigureAxis, low: float, high: float, count: int) -> Ticks:
    if axis.logarithmic:
        return [(v, ticks.power_label(v)) for v in ticks.log_ticks(low, high, count)]
    if axis.whole:
        return [(v, ticks.grouped(v)) for v in ticks.integer_ticks(low, high, count)]
    values = ticks.nice_ticks(low, high, count, ticks.DECIMAL_STEPS)
    return list(zip(values, ticks.tick_labels(values), strict=True))


def known_range(axis: FigureAxis, values: Iterable[float]) -> Range:
    """Return the range of all values and of the minimum range of an axis."""
    plottable = [v for v in values if math.isfinite(v) and (v > 0 or not axis.logarithmic)]
    plottable += [end for end in (axis.low, axis.high) if end is not None]
    return min(plottable, default=1.0 if axis.logarithmic else 0.0), max(plottable, default=1.0)


def value_range(axis: FigureAxis, values: Iterable[float], room: float) -> tuple[float, float]:
    """Return the visible range of an axis: all values and the minimum range, padded at both ends."""
    low, high = known_range(axis, values)
    if axis.logarithmic:
        ratio = max(high / low, 1.1) ** room
        return low / ratio, high * ratio
    span = (high - low) * room
    if high - low <= ticks.EQUAL * max(abs(low), abs(high)):
        span = abs(high) * room or 1.0
    below = 0.0 if axis.low == low else span
    above = 0.0 if axis.high == high and high > low else span
    return low - below, high + above
