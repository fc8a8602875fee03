"""Curves and bars as TikZ, for the package pgfplots: drawn by LaTeX in the fonts of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite

from rankstudio.engine.errors import OutputError
from rankstudio.engine.export.figures.curve_layout import area_height, axis_ranges, margins, series_color
from rankstudio.engine.export.figures.font import inter
from rankstudio.engine.export.figures.row_layout import ROW, names_width, value_limits
from rankstudio.engine.export.figures.scales import Scale, tick_texts
from rankstudio.engine.export.figures.shapes import wrapped
from rankstudio.engine.export.figures.style import FigureStyle
from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    Figure,
    FigureAxis,
    RowSeries,
    RowsFigure,
    Series,
)
from rankstudio.engine.support.escaping import comment_text, latex_escaped

_DASHES = ("solid", "dashed", "dotted", "dashdotted", "loosely dashed", "densely dashed", "dashdotdotted")
_MARKS = ("*", "square*", "diamond*", "triangle*", "+", "x", "star")
_KINDS = {"points": ["only marks"], "steps": ["const plot"], "bars": ["ybar"], "line": [], "area": []}
_FEW = 7  # of a family, which markers tell apart


def tikz_text(figure: Figure, style: FigureStyle) -> str:
    r"""Return a figure as a ``tikzpicture`` that is put into a paper by ``\input``.

    Raises
    ------
    OutputError
        For a map, whose cells pgfplots would need a program of their own for.
    """
    if isinstance(figure, CurvesFigure):
        body = list(_curves(figure, style))
    elif isinstance(figure, RowsFigure):
        body = list(_rows(figure, style))
    else:
        raise OutputError(
            f"{figure.title}: TikZ is for curves, points and bars; expected SVG, PDF, PNG or CSV for a map."
        )
    said = [f"% {comment_text(line, 'tex')}" for line in f"{figure.title}\n{figure.caption}".splitlines()]
    needs = r"% In the preamble: \usepackage{pgfplots} \pgfplotsset{compat=1.16}"
    return "\n".join([*said, needs, r"\begin{tikzpicture}", *body, r"\end{tikzpicture}", ""])


def _options(style: FigureStyle, width: float, height: float, labels: Sequence[str]) -> Iterator[str]:
    """Yield the options that all axes share; what is measured is what the other formats have."""
    yield "scale only axis"
    yield f"width={width / 72 * 25.4:.1f}mm"
    yield f"height={height / 72 * 25.4:.1f}mm"
    yield r"font=\footnotesize" if style.font < 9 else r"font=\normalsize"
    yield "axis lines=left, axis line style={-}, tick align=outside, clip mode=individual, scaled ticks=false"
    widest = max((inter().width(label, style.em) for label in labels), default=0.0)
    columns = max(1, int(width // (widest + 3.4 * style.em)))
    yield f"legend style={{at={{(0,1.03)}}, anchor=south west, draw=none, legend columns={columns}}}"
    yield r"legend style={font=\scriptsize}, legend cell align=left, label style={align=center}"


def _axis(name: str, axis: FigureAxis, scale: Scale, style: FigureStyle) -> Iterator[str]:
    """Yield the options of an axis: its title, its range, and its ticks as they are written elsewhere."""
    lines = wrapped(axis.text, abs(scale.end - scale.start), style.em)
    title = r" \\ ".join(map(latex_escaped, lines))
    yield f"{name}label={{{title}}}"
    if axis.logarithmic:
        yield f"{name}mode=log"
    yield f"{name}min={scale.low:.10g}, {name}max={scale.high:.10g}"
    ticks = tick_texts(axis, scale, style.em, across=name == "x")
    yield f"{name}tick={{{', '.join(f'{value:.10g}' for value, _ in ticks)}}}"
    yield f"{name}ticklabels={{{', '.join(f'{{{latex_escaped(text)}}}' for _, text in ticks)}}}"


def _curves(figure: CurvesFigure, style: FigureStyle) -> Iterator[str]:
    left, right, _ = margins(figure, style)
    height = area_height(figure, style, right - left)
    x_range, y_range = axis_ranges(figure)
    x = Scale(*x_range, left, right, figure.x.logarithmic)
    y = Scale(*y_range, height, 0.0, figure.y.logarithmic)
    labels = [one.label for one in figure.series]
    labels += [
        *(level.label for level in figure.levels),
        *(mark.label for mark in figure.marks),
        figure.bands,
    ]
    yield _opened(
        [
            *_options(style, right - left, height, labels),
            "ymajorgrids, grid style={black!12}",
            *_axis("x", figure.x, x, style),
            *_axis("y", figure.y, y, style),
        ]
    )
    for at, one in enumerate(figure.series):
        yield from _band(one, style)
        look = ", ".join(_look(figure, one, at, style))
        points = _points(zip(one.x, one.y, strict=True))
        closed = " \\closedcycle" if one.kind == "area" else ""
        yield f"\\addplot+[{look}] coordinates {{{points}}}{closed};"
        yield from _entry(one.label)
    for level in figure.levels:
        value = f"{level.value:.10g}"
        ends = (
            f"({value},{y.low:.10g}) ({value},{y.high:.10g})"
            if level.vertical
            else f"({x.low:.10g},{value}) ({x.high:.10g},{value})"
        )
        yield f"\\addplot+[gray, dashed, mark=none] coordinates {{{ends}}};"
        yield from _entry(level.label)
    for mark in figure.marks:
        point = _points([(mark.x, mark.y)])
        yield f"\\addplot+[only marks, mark=o, mark size=3pt, black] coordinates {{{point}}};"
        yield from _entry(mark.label)
    if figure.bands:
        yield r"\addlegendimage{area legend, draw=none, fill=black!18}"
        yield from _entry(figure.bands)
    yield r"\end{axis}"


def _look(figure: CurvesFigure, one: Series, at: int, style: FigureStyle) -> Iterator[str]:
    """Yield how a series is drawn."""
    color = f"{{{_rgb(series_color(one, style))}}}"
    yield f"color={color}"
    yield from _KINDS[one.kind]
    if one.kind == "bars":
        yield f"fill={color}, draw=none, bar width={_bar_width(one):.6g}, bar shift=0pt"
    else:
        number = one.number if one.order is None else at
        few = one.order is None or len(figure.series) <= _FEW
        dashed = one.order is None and one.kind != "steps"
        yield f"{_DASHES[number % len(_DASHES)] if dashed else 'solid'}, line width=0.8pt"
        marked = one.kind == "points" or (style.print and few and one.kind == "line")
        mark = f"mark={_MARKS[number % len(_MARKS)]}, mark size=1.5pt"
        yield f"{mark}, mark options={{solid, fill={color}}}" if marked else "mark=none"
    if one.kind == "area":
        yield f"fill={color}, fill opacity=0.15"
    if not one.label:
        yield "forget plot"


def _entry(label: str) -> Iterator[str]:
    if label:
        yield f"\\addlegendentry{{{latex_escaped(label)}}}"


def _rows(figure: RowsFigure, style: FigureStyle) -> Iterator[str]:
    n = len(figure.rows)
    left = names_width(figure.rows, style)
    width, height = style.width - left - 1.4 * style.em, ROW * n * style.em
    x = Scale(*value_limits(figure), left, left + width, figure.axis.logarithmic)
    names = ", ".join(f"{{{latex_escaped(name)}}}" for name in figure.rows)
    yield _opened(
        [
            *_options(style, width, height, [one.label for one in figure.series]),
            "xmajorgrids, grid style={black!12}",
            *_axis("x", figure.axis, x, style),
            f"ytick={{{', '.join(str(at + 1) for at in range(n))}}}",
            f"yticklabels={{{names}}}",
            f"y dir=reverse, ymin=0.4, ymax={n + 0.6:g}",
            *(["xbar, bar shift=0pt"] if figure.bars and len(figure.series) == 1 else []),
            *(["xbar"] if figure.bars and len(figure.series) > 1 else []),
        ]
    )
    for one in figure.series:
        color = f"{{{_rgb(style.category(one.number))}}}"
        if not figure.bars:
            yield from _dots(one, color)
        elif figure.strong:
            plain = [at for at in range(n) if at not in figure.strong]
            yield _bars(one, plain, "black!30")
            yield _bars(one, sorted(figure.strong), color)
        else:
            yield _bars(one, range(n), color)
        if len(figure.series) > 1:
            yield from _entry(one.label)
    yield r"\end{axis}"


def _bars(one: RowSeries, rows: Iterable[int], color: str) -> str:
    points = _points((one.values[at], at + 1.0) for at in rows)
    return f"\\addplot+[fill={color}, draw=none, bar width=0.68] coordinates {{{points}}};"


def _dots(one: RowSeries, color: str) -> Iterator[str]:
    """Yield points, over the intervals that they have."""
    for at, (low, high) in enumerate(zip(one.low, one.high, strict=False), start=1):
        if isfinite(low) and isfinite(high):
            ends = f"({low:.10g},{at}) ({high:.10g},{at})"
            look = f"color={color}, solid, mark=none, line width=0.9pt, forget plot"
            yield f"\\addplot+[{look}] coordinates {{{ends}}};"
    points = _points((value, at) for at, value in enumerate(one.values, start=1))
    mark = f"mark={_MARKS[one.number % len(_MARKS)]}, mark size=1.7pt"
    look = f"only marks, {mark}, color={color}, mark options={{fill={color}}}"
    yield f"\\addplot+[{look}] coordinates {{{points}}};"


def _opened(options: Iterable[str]) -> str:
    return "\\begin{axis}[\n  " + ",\n  ".join(options) + "]"


def _band(one: Series, style: FigureStyle) -> Iterator[str]:
    known = [p for p in zip(one.x, one.low, one.high, strict=False) if all(map(isfinite, p))]
    color = _rgb(series_color(one, style))
    if len(known) > 1 and one.kind != "points":
        around = [(x, high) for x, _, high in known] + [(x, low) for x, low, _ in reversed(known)]
        look = f"forget plot, draw=none, fill={{{color}}}, fill opacity=0.14"
        yield f"\\addplot[{look}] coordinates {{{_points(around)}}} -- cycle;"


def _bar_width(one: Series) -> float:
    return min((b - a for a, b in zip(one.x, one.x[1:], strict=False)), default=1.0) * 0.92


def _rgb(color: str) -> str:
    red, green, blue = bytes.fromhex(color[1:])
    return f"rgb,255:red,{red};green,{green};blue,{blue}"


def _points(points: Iterable[Sequence[float]]) -> str:
    """Return points as coordinates; a point that is not finite is left out."""
    return " ".join(f"({x:.10g},{y:.10g})" for x, y in points if isfinite(x) and isfinite(y))
