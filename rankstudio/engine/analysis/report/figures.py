"""The figures of a report: curves with bands, intervals, bars and maps of ranks, in light colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isnan

from rankstudio.engine.analysis.report import svg
from rankstudio.engine.analysis.report.document import ReportFigure
from rankstudio.engine.analysis.report.texts import fixed

WIDTH = 720.0
"""Of all figures, in pixels."""

_ROW = 24.0
_LEFT, _RIGHT, _TOP = 64.0, 20.0, 14.0
_NAMES = 250.0  # pixels for names beside rows


@dataclass(frozen=True)
class FigureCurve:
    """A curve with a band.

    Attributes
    ----------
    number : int
        Of the run, which says the colour.
    label : str
    x, y : sequence of float
        Its points; those that are not finite are left out.
    half : sequence of float
        Half the height of the band at each point; NaN for none.
    """

    number: int
    label: str
    x: Sequence[float]
    y: Sequence[float]
    half: Sequence[float] = ()


@dataclass(frozen=True)
class FigureInterval:
    """A value with an interval around it; both NaN where there is only a name.

    Attributes
    ----------
    number : int
        Of the run, which says the colour.
    label : str
    value, low, high : float
    """

    number: int
    label: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class _Scale:
    """What a value is in pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def curves_figure(
    curves: Sequence[FigureCurve], x_title: str, y_title: str, title: str, caption: str
) -> ReportFigure:
    """Return curves over a common axis, with their names above."""
    legend, top = _legend([(c.number, c.label) for c in curves], _TOP)
    height = top + 330.0
    shown = [[(x, y) for x, y in zip(c.x, c.y, strict=True) if isfinite(x) and isfinite(y)] for c in curves]
    xs = [x for points in shown for x, _ in points]
    ys = [y for points in shown for _, y in points]
    ys += [
        y + sign * h
        for c in curves
        for y, h in zip(c.y, c.half, strict=False)
        for sign in (-1, 1)
        if isfinite(y + h)
    ]
    x_scale = _Scale(*_widened(min(xs), max(xs), 0.02), _LEFT, WIDTH - _RIGHT)
    y_scale = _Scale(*_widened(min(ys), max(ys), 0.05), height - 48.0, top + 6.0)
    parts = [*legend, *_grid(x_scale, y_scale, x_title, y_title)]
    for curve in curves:
        parts += _band(curve, x_scale, y_scale)
    for curve, points in zip(curves, shown, strict=True):
        color, dashes = svg.category(curve.number)
        at = [(x_scale(x), y_scale(y)) for x, y in points]
        parts.append(svg.polyline(at, color, 2.0, dashes) if len(at) > 1 else svg.circle(at[0], 4.5, color))
    best = [
        f"{c.label}: {fixed(min(ys_))} to {fixed(max(ys_))}"
        for c, p in zip(curves, shown, strict=True)
        if (ys_ := [y for _, y in p])
    ]
    return _figure(height, title, "; ".join(best), caption, parts)


def intervals_figure(rows: Sequence[FigureInterval], x_title: str, title: str, caption: str) -> ReportFigure:
    """Return a row for each run: a point with its interval, beside a line at 0."""
    known = [v for row in rows for v in (row.value, row.low, row.high) if isfinite(v)]
    height = _TOP + _ROW * len(rows) + 52.0
    bottom = height - 48.0
    scale = _Scale(*_widened(min(0.0, *known), max(0.0, *known), 0.06), _NAMES, WIDTH - _RIGHT)
    parts = _x_axis(scale, _TOP, bottom, x_title, 8)
    parts.append(svg.line((scale(0.0), _TOP), (scale(0.0), bottom), svg.MUTED))
    for at, row in enumerate(rows):
        y = _TOP + _ROW * (at + 0.5)
        color, _ = svg.category(row.number)
        parts.append(svg.text(_NAMES - 14, y + 4, svg.elided(row.label, _NAMES - 20), "end"))
        if isfinite(row.low):
            parts.append(svg.line((scale(row.low), y), (scale(row.high), y), color, 2.5))
        if isfinite(row.value):
            parts.append(svg.circle((scale(row.value), y), 4.5, color))
    said = "; ".join(f"{row.label}: {fixed(row.value, sign=True)}" for row in rows if not isnan(row.value))
    return _figure(height, title, said, caption, parts)


def ranks_figure(
    names: Sequence[str],
    columns: Sequence[str],
    ranks: Sequence[Sequence[float]],
    column_title: str,
    title: str,
    caption: str,
) -> ReportFigure:
    """Return a map of ranks: features below each other, folds beside each other, dark for the first.

    Parameters
    ----------
    names : sequence of str
        Of the rows.
    columns : sequence of str
    ranks : sequence of sequences of float
        Of each row in each column, from 1; NaN for none.
    column_title, title, caption : str
    """
    greatest = max((r for row in ranks for r in row if isfinite(r)), default=1.0)
    cell = min(56.0, (WIDTH - _NAMES - 96.0) / len(columns))
    top, row_height = 46.0, 22.0
    bottom = top + row_height * len(names)
    parts = [svg.text(_NAMES, 18, column_title, color=svg.MUTED)]
    every = max(1, -(-22 // int(max(cell, 1.0))))
    for at, name in enumerate(columns):
        if at % every == 0:
            parts.append(svg.text(_NAMES + cell * (at + 0.5), top - 8, name, "middle", svg.MUTED))
    for at, name in enumerate(names):
        y = top + row_height * at
        parts.append(svg.text(_NAMES - 10, y + 15, svg.elided(name, _NAMES - 16), "end"))
        for place, rank in enumerate(ranks[at]):
            x = _NAMES + cell * place
            share = (rank - 1) / (greatest - 1) if greatest > 1 else 0.0
            filled = isfinite(rank)
            gap = 1.0 if cell > 6 else 0.0
            color = svg.viridis(share) if filled else svg.FAINT
            parts.append(svg.rect(x + gap, y + 1, cell - 2 * gap, row_height - 2, color))
            if filled and cell >= 22:
                ink = "#ffffff" if share < 0.6 else svg.TEXT
                parts.append(svg.text(x + cell / 2, y + 15, f"{rank:g}", "middle", ink, size=11))
    right = _NAMES + cell * len(columns) + 28.0
    parts += _color_bar(right, top, min(max(bottom - top, 88.0), 220.0), greatest)
    often = [
        f"{name}: {sum(map(isfinite, row))} of {len(columns)}" for name, row in zip(names, ranks, strict=True)
    ]
    return _figure(max(bottom, top + 88.0) + 16.0, title, "; ".join(often), caption, parts)


def _figure(height: float, title: str, description: str, caption: str, parts: Sequence[str]) -> ReportFigure:
    return ReportFigure(caption, svg.drawing(WIDTH, height, title, description, parts), WIDTH, height)


def _grid(x: _Scale, y: _Scale, x_title: str, y_title: str) -> list[str]:
    """Return both axes with their titles, and lines at the ticks of the second."""
    values = svg.ticks(y.low, y.high, 6)
    parts = []
    for value, said in zip(values, svg.tick_texts(values), strict=True):
        parts.append(svg.line((x.start, y(value)), (x.end, y(value)), svg.FAINT))
        parts.append(svg.text(x.start - 8, y(value) + 4, said, "end", svg.MUTED))
    parts += _x_axis(x, y.end, y.start, x_title, 10, whole=True)
    parts.append(svg.text(16, (y.start + y.end) / 2, y_title, "middle", svg.MUTED, turned=True))
    return parts


def _x_axis(x: _Scale, top: float, bottom: float, title: str, most: int, *, whole: bool = False) -> list[str]:
    values = svg.ticks(x.low, x.high, most)
    if whole:
        values = [v for v in values if abs(v - round(v)) < 1e-9] or values
    parts = [svg.line((x.start, bottom), (x.end, bottom))]
    for value, said in zip(values, svg.tick_texts(values), strict=True):
        parts.append(svg.line((x(value), bottom), (x(value), bottom + 4)))
        parts.append(svg.text(x(value), bottom + 18, said, "middle", svg.MUTED))
    parts.append(svg.text((x.start + x.end) / 2, bottom + 38, title, "middle", svg.MUTED))
    return parts


def _band(curve: FigureCurve, x: _Scale, y: _Scale) -> list[str]:
    """Return the band of a curve; at a single point, a line."""
    known = [p for p in zip(curve.x, curve.y, curve.half, strict=False) if all(map(isfinite, p))]
    color, _ = svg.category(curve.number)
    if len(known) == 1:
        at, value, half = known[0]
        return [svg.line((x(at), y(value - half)), (x(at), y(value + half)), color, 2.0)]
    upper = [(x(at), y(value + half)) for at, value, half in known]
    lower = [(x(at), y(value - half)) for at, value, half in reversed(known)]
    return [svg.polygon([*upper, *lower], color, 0.13)] if known else []


def _legend(names: Sequence[tuple[int, str]], top: float) -> tuple[list[str], float]:
    """Return names with their lines, in rows, and where they end."""
    parts, x, y = [], _LEFT, top
    for number, label in names:
        said = svg.elided(label, 300.0)
        wide = 32.0 + svg.text_width(said) + 18.0
        if x > _LEFT and x + wide > WIDTH - _RIGHT:
            x, y = _LEFT, y + 20.0
        color, dashes = svg.category(number)
        parts.append(svg.line((x, y + 6), (x + 24, y + 6), color, 2.5, dashes))
        parts.append(svg.text(x + 32, y + 10, said))
        x += wide
    return parts, y + 26.0


def _color_bar(x: float, top: float, height: float, greatest: float) -> list[str]:
    """Return a bar from the first rank, at the top, to the greatest one."""
    n_steps, parts = 24, [svg.text(x, top - 8, "rank", color=svg.MUTED)]
    for at in range(n_steps):
        share = at / (n_steps - 1) if greatest > 1 else 0.0
        part = svg.rect(x, top + height * at / n_steps, 12, height / n_steps + 0.5, svg.viridis(share))
        parts.append(part)
    parts.append(svg.text(x + 18, top + 10, "1", color=svg.MUTED))
    if greatest > 1:
        parts.append(svg.text(x + 18, top + height - 1, f"{greatest:g}", color=svg.MUTED))
    return parts


def _widened(low: float, high: float, share: float) -> tuple[float, float]:
    """Return a range with room at both ends, and some where it has no length."""
    room = (high - low) * share or abs(high) * share or 1.0
    return low - room, high + room
