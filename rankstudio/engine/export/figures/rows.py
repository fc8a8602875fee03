"""Names below each other with bars or points beside them, painted."""

from __future__ import annotations

import re
from math import isfinite, nan

from matplotlib.figure import Figure as Paper
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from rankstudio.engine.export.figures.page import FigurePage, Look, known_range, value_range
from rankstudio.engine.export.figures.style import FigureStyle
from rankstudio.engine.export.figures.values import RowHistograms, RowSeries, RowsFigure

ROW = 1.55
"""Height of a row, in sizes of the text."""

_MOST_NAMES = 0.5  # of the width
_HILLY = 2.3  # times as high is a row with a histogram
_HILL, _FOOT = 0.86, 0.42  # of its height: the highest bin, and where it stands below the middle
_BAR = 1.05 / ROW  # height of the bars of a row
_ID = re.compile(r" \(\d{1,9}\)$")


def rows_paper(figure: RowsFigure, style: FigureStyle) -> Paper:
    """Return a figure of rows on paper."""
    page, n = FigurePage(style), len(figure.rows)
    low, high = _limits(figure)
    page.show_x_axis(figure.axis, low, high, known_range(figure.axis, _values(figure)))
    page.show_grid("x")
    page.area.set_ylim(max(1, n) - 0.5, -0.5)
    name_rows(page, figure.rows, range(n))
    if (figure.bars or figure.zero) and low <= 0.0 <= high:
        page.area.axvline(0.0, color=style.line, linewidth=0.09 * style.em)
    if figure.histograms is not None:
        _paint_histograms(page, figure, figure.histograms)
    for place, one in enumerate(figure.series):
        if figure.bars:
            _paint_bars(page, figure, one, place)
        else:
            _paint_points(page, figure, one)
    if not figure.bars:
        for at in figure.strong:
            page.area.axhspan(at - 0.45, at + 0.45, color=style.category(0), alpha=0.08, linewidth=0)
    if figure.strong and figure.strong_label:
        color, opacity = (figure.series[0].number, 1.0) if figure.bars else (0, 0.12)
        page.entries.append(
            (Patch(color=style.category(color), alpha=opacity, linewidth=0), figure.strong_label)
        )
    tall = ROW * style.em * (_HILLY if figure.histograms is not None else 1.0)
    return page.finish(lambda _: tall * max(1, n))


def name_rows(page: FigurePage, names: tuple[str, ...], shown: range, spare: float = 0.0) -> None:
    """Write names at the left of rows, cut where they are too long; the id at the end of one stays.

    Parameters
    ----------
    page : FigurePage
    names : tuple of str
    shown : range
        The rows that are named.
    spare : float
        Room that nothing else needs, where that is more than the usual.
    """
    most = max(_MOST_NAMES * page.style.width, spare) - 0.9 * page.style.em
    page.area.set_yticks(shown, [_cut(page, names[at], most) for at in shown])
    page.area.tick_params(axis="y", labelcolor=page.style.text)


def _cut(page: FigurePage, name: str, room: float) -> str:
    found = _ID.search(name)
    tail = found[0] if found and page.width(name) > room else ""
    return page.elided(name[: len(name) - len(tail)], room - page.width(tail)) + tail


def _limits(figure: RowsFigure) -> tuple[float, float]:
    """Return what the axis of the values shows."""
    values = _values(figure)
    low, high = value_range(figure.axis, values, 0.04)
    grounded = figure.bars and not figure.axis.logarithmic
    below = any(isfinite(v) and v < 0 for v in values)
    return (0.0 if grounded and not below else low), high


def _values(figure: RowsFigure) -> list[float]:
    values = [v for one in figure.series for v in (*one.values, *one.low, *one.high)]
    values += figure.histograms.edges if figure.histograms is not None else ()
    return values + ([0.0] if figure.bars or figure.zero else [])


def _paint_bars(page: FigurePage, figure: RowsFigure, one: RowSeries, place: int) -> None:
    """Paint the bars of a series, which share the height of a row with those of the others."""
    style, high = page.style, _BAR / len(figure.series)
    pale = "#b4b4b4" if style.print else "#a9b6c9"
    colors = [
        pale if figure.strong and at not in figure.strong else style.category(number)
        for at, number in enumerate(figure.numbers or (one.number,) * len(figure.rows))
    ]
    middles = [at - _BAR / 2 + (place + 0.5) * high for at in range(len(figure.rows))]
    lengths = [value if isfinite(value) else nan for value in one.values]
    page.area.barh(middles, lengths, high, color=colors, linewidth=0)
    if len(figure.series) > 1:
        page.entries.append((Patch(color=style.category(one.number), linewidth=0), one.label))


def _paint_points(page: FigurePage, figure: RowsFigure, one: RowSeries) -> None:
    """Paint the points of a series over their intervals, lower where a histogram is behind them."""
    style = page.style
    foot = _FOOT if figure.histograms is not None else 0.0
    for at, value in enumerate(one.values):
        number = figure.numbers[at] if figure.numbers else one.number
        color, middle = style.category(number), at + foot
        if one.low and isfinite(one.low[at]) and isfinite(one.high[at]):
            ends = [one.low[at], one.high[at]]
            page.area.plot(ends, [middle, middle], color=color, linewidth=0.16 * style.em)
        look = page.marker(number, color, 0.72)
        page.area.plot([value], [middle], linestyle="None", clip_on=False, zorder=3, **look)
    if len(figure.series) > 1:
        look = page.marker(one.number, style.category(one.number), 0.72)
        page.entries.append((Line2D([], [], linestyle="None", **look), one.label))


def _paint_histograms(page: FigurePage, figure: RowsFigure, histograms: RowHistograms) -> None:
    """Paint the histogram of each row, as high as the row where it is highest."""
    for at, shares in enumerate(histograms.shares):
        highest = max(shares, default=0.0)
        if highest > 0:
            color = page.style.category(figure.numbers[at] if figure.numbers else at)
            heights, foot = [at + _FOOT - _HILL * share / highest for share in shares], at + _FOOT
            look: Look = {"edges": histograms.edges, "baseline": foot}
            page.area.stairs(heights, **look, fill=True, color=color, alpha=0.2, linewidth=0)
            page.area.stairs(heights, **look, color=color, linewidth=0.08 * page.style.em)
