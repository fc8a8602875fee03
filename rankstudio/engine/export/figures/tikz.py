"""Curves and bars as TikZ, for the package pgfplots: drawn by LaTeX in the fonts of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite, isnan

from rankstudio.engine.errors import OutputError
from rankstudio.engine.export.figures.style import FigureStyle
from rankstudio.engine.export.figures.values import CurvesFigure, Figure, FigureAxis, RowsFigure, Series
from rankstudio.engine.export.tables import latex_escaped

_DASHES = ("solid", "dashed", "dotted", "dashdotted", "loosely dashed", "densely dashed", "dashdotdotted")
_MARKS = ("*", "square*", "diamond*", "triangle*", "+", "x", "star")
_KINDS = {"points": "only marks", "steps": "const plot", "bars": "ybar", "line": "", "area": ""}


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
    said = [f"% {line}" for line in (figure.title, *figure.caption.splitlines())]
    needs = r"% In the preamble: \usepackage{pgfplots} \pgfplotsset{compat=1.16}"
    return "\n".join([*said, needs, r"\begin{tikzpicture}", *body, r"\end{tikzpicture}", ""])


def _options(figure: CurvesFigure | RowsFigure, style: FigureStyle, height: float) -> Iterator[str]:
    """Yield the options that all axes share."""
    yield "scale only axis=false"
    yield f"width={style.width / 72 * 25.4:.1f}mm"
    yield f"height={height / 72 * 25.4:.1f}mm"
    yield r"font=\small" if style.font < 9 else r"font=\normalsize"
    yield "axis lines=left, axis line style={-}"
    yield (
        "ymajorgrids, grid style={black!12}"
        if isinstance(figure, CurvesFigure)
        else "xmajorgrids, grid style={black!12}"
    )
    yield "legend style={at={(0.5,1.03)}, anchor=south, draw=none, legend columns=2, font=\\footnotesize}"
    yield "legend cell align=left"
    yield "tick align=outside"
    yield "scaled ticks=false"
    yield "yticklabel style={/pgf/number format/fixed}, xticklabel style={/pgf/number format/fixed}"


def _axis(name: str, axis: FigureAxis) -> Iterator[str]:
    yield f"{name}label={{{latex_escaped(axis.text)}}}"
    if axis.logarithmic:
        yield f"{name}mode=log"
    for end, value in (("min", axis.low), ("max", axis.high)):
        if value is not None:
            yield f"{name}{end}={value:.10g}"


def _curves(figure: CurvesFigure, style: FigureStyle) -> Iterator[str]:
    height = style.height or style.width * (1.0 if figure.square else 0.68)
    options = [*_options(figure, style, height), *_axis("x", figure.x), *_axis("y", figure.y)]
    if any(one.kind in ("bars", "area") for one in figure.series):
        options.append("ymin=0")
    yield _opened(options)
    for at, one in enumerate(figure.series):
        yield from _band(one, at, style)
        look = [
            f"color={{{_rgb(_color(one, style))}}}",
            "line width=0.8pt",
            *filter(None, [_KINDS[one.kind]]),
        ]
        if one.kind != "bars":
            number = one.number if one.order is None else at
            look.append(_DASHES[number % len(_DASHES)] if one.order is None else "solid")
            marked = one.kind == "points" or (style.print and one.kind == "line")
            look.append(
                f"mark={_MARKS[number % len(_MARKS)]}, mark size=1.6pt, mark options=solid"
                if marked
                else "mark=none"
            )
        else:
            color = _rgb(_color(one, style))
            look.append(f"fill={{{color}}}, draw=none, bar width={_spacing(one):.6g}, bar shift=0pt")
        if one.kind == "area":
            look.append("fill, fill opacity=0.15")
        if not one.label:
            look.append("forget plot")
        points = _points(zip(one.x, one.y, strict=True))
        yield f"\\addplot+[{', '.join(look)}] coordinates {{{points}}}{_closed(one)};"
        if one.label:
            yield f"\\addlegendentry{{{latex_escaped(one.label)}}}"
    for level in figure.levels:
        where = (
            f"\\draw[gray, dashed] ({{axis cs:{level.value:.10g},0}} |- {{rel axis cs:0,0}}) -- "
            f"({{axis cs:{level.value:.10g},0}} |- {{rel axis cs:0,1}});"
            if level.vertical
            else f"\\draw[gray, dashed] ({{rel axis cs:0,0}} |- {{axis cs:0,{level.value:.10g}}}) -- "
            f"({{rel axis cs:1,0}} |- {{axis cs:0,{level.value:.10g}}});"
        )
        yield where
        yield "\\addlegendimage{gray, dashed}"
        yield f"\\addlegendentry{{{latex_escaped(level.label)}}}"
    for mark in figure.marks:
        point = _points([(mark.x, mark.y)])
        yield f"\\addplot+[only marks, mark=o, mark size=3pt, black] coordinates {{{point}}};"
        yield f"\\addlegendentry{{{latex_escaped(mark.label)}}}"
    yield r"\end{axis}"


def _rows(figure: RowsFigure, style: FigureStyle) -> Iterator[str]:
    n = len(figure.rows)
    height = style.height or (1.5 * n + 6) * style.em
    names = ", ".join(f"{{{latex_escaped(name)}}}" for name in figure.rows)
    options = [
        *_options(figure, style, height),
        *_axis("x", figure.axis),
        f"ytick={{{','.join(str(at + 1) for at in range(n))}}}",
        f"yticklabels={{{names}}}",
        f"y dir=reverse, ymin=0.3, ymax={n + 0.7:g}",
    ]
    options += (
        ["xbar, xmin=0"] if figure.bars and not _below_zero(figure) else ["xbar"] if figure.bars else []
    )
    yield _opened(options)
    for one in figure.series:
        color = _rgb(style.category(one.number))
        points = _points((value, at + 1.0) for at, value in enumerate(one.values))
        kind = (
            f"fill={{{color}}}, draw=none"
            if figure.bars
            else f"only marks, mark={_MARKS[one.number % len(_MARKS)]}, color={{{color}}}"
        )
        if one.low:
            kind += ", error bars/.cd, x dir=both, x explicit"
            points = " ".join(
                f"({v:.10g},{at + 1}) += ({high - v:.10g},0) -= ({v - low:.10g},0)"
                for at, (v, low, high) in enumerate(zip(one.values, one.low, one.high, strict=True))
                if isfinite(v) and isfinite(low) and isfinite(high)
            )
        yield f"\\addplot+[{kind}] coordinates {{{points}}};"
        if len(figure.series) > 1:
            yield f"\\addlegendentry{{{latex_escaped(one.label)}}}"
    yield r"\end{axis}"


def _below_zero(figure: RowsFigure) -> bool:
    return any(value < 0 for one in figure.series for value in one.values if not isnan(value))


def _opened(options: Iterable[str]) -> str:
    return "\\begin{axis}[\n  " + ",\n  ".join(options) + "]"


def _band(one: Series, at: int, style: FigureStyle) -> Iterator[str]:
    known = [p for p in zip(one.x, one.low, one.high, strict=False) if all(map(isfinite, p))]
    if len(known) > 1 and one.kind != "points":
        around = [(x, high) for x, _, high in known] + [(x, low) for x, low, _ in reversed(known)]
        color = _rgb(_color(one, style))
        yield (
            f"\\addplot[forget plot, draw=none, fill={{{color}}}, fill opacity=0.14] coordinates "
            f"{{{_points(around)}}} -- cycle;"
        )


def _closed(one: Series) -> str:
    return " \\closedcycle" if one.kind == "area" else ""


def _color(one: Series, style: FigureStyle) -> str:
    return style.category(one.number) if one.order is None else style.ordered(one.order)


def _spacing(one: Series) -> float:
    return min((b - a for a, b in zip(one.x, one.x[1:], strict=False)), default=1.0) * 0.92


def _rgb(color: str) -> str:
    red, green, blue = bytes.fromhex(color[1:])
    return f"rgb,255:red,{red};green,{green};blue,{blue}"


def _points(points: Iterable[Sequence[float]]) -> str:
    """Return points as coordinates; a point that is not finite is a gap."""
    return " ".join(f"({x:.10g},{y:.10g})" for x, y in points if isfinite(x) and isfinite(y))
