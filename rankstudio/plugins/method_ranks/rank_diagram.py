"""The critical-difference diagram: methods on an axis of mean ranks, with bars over those that do not differ.

The diagram is a value. :func:`laid_out` places its lines and texts once, in sizes of the text, and paper,
window and TikZ draw what it returns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rankstudio.engine.export.figures.style import FigureStyle
from rankstudio.engine.export.figures.values import OwnFigure, Table
from rankstudio.engine.language import tr
from rankstudio.engine.support.escaping import comment_text, latex_escaped, one_line
from rankstudio.plugins.method_ranks.method_ranking import MethodRanking

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Paper

Point = tuple[float, float]

MAX_NAME_SHARE = 0.34
"""Share of the width that the names of one side may have."""

_NAME_GAP = 0.5  # between a line and the name at its end
_ROW = 1.45  # height of a name
_LEVEL = 0.6  # from one bar of a group to the next
_OVERHANG = 0.25  # of a bar beyond its first and last method
_MIN_TICK_GAP = 2.6  # from one rank to the next with a number
_TIKZ_WIDTH = 24.0  # of the axis


@dataclass(frozen=True)
class Stroke:
    """A line of the diagram.

    Attributes
    ----------
    points : tuple of (float, float)
        From left and top, in sizes of the text.
    kind : {"axis", "stem", "group", "difference"}
        Axis with its ticks, line from the axis to a name, bar of a group, or length of the critical
        difference.
    """

    points: tuple[Point, ...]
    kind: Literal["axis", "stem", "group", "difference"]


@dataclass(frozen=True)
class DiagramText:
    """A text of the diagram.

    Attributes
    ----------
    text : str
    x, y : float
        Middle of its height; `x` is its end at the side of `align`, or its middle.
    align : {"left", "center", "right"}
    """

    text: str
    x: float
    y: float
    align: Literal["left", "center", "right"]


@dataclass(frozen=True)
class DiagramLayout:
    """Lines and texts of a diagram, in sizes of the text.

    Attributes
    ----------
    width, height : float
    strokes : tuple of Stroke
    texts : tuple of DiagramText
    """

    width: float
    height: float
    strokes: tuple[Stroke, ...]
    texts: tuple[DiagramText, ...]


@dataclass(frozen=True)
class RankDiagram(OwnFigure):
    """A critical-difference diagram.

    Attributes
    ----------
    methods : tuple of str
        Names, the best mean rank first.
    ranks : tuple of float
        Mean ranks, ascending.
    groups : tuple of tuple of int
        Methods that do not differ, each group by rank.
    difference : float
        Critical difference; NaN without tests.
    """

    methods: tuple[str, ...] = ()
    ranks: tuple[float, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()
    difference: float = math.nan

    @property
    def empty(self) -> bool:
        """Whether there is no method."""
        return not self.methods

    def table(self) -> Table:
        """Return the methods with their mean ranks and the numbers of their groups."""
        header = [tr("method"), tr("mean rank"), tr("groups")]
        groups = [
            " ".join(str(n) for n, group in enumerate(self.groups, start=1) if column in group)
            for column in range(len(self.methods))
        ]
        rows = zip(self.methods, self.ranks, groups, strict=True)
        return header, [list(row) for row in rows]

    def paper(self, style: FigureStyle) -> Paper:
        """Return the diagram on paper."""
        from rankstudio.plugins.method_ranks.diagram_painter import (  # noqa: PLC0415 - brings matplotlib
            diagram_paper,
        )

        return diagram_paper(self, style)


def rank_diagram(ranking: MethodRanking) -> RankDiagram:
    """Return the critical-difference diagram of a ranking."""
    tests = ranking.tests
    measure = ranking.table.measure
    names = ", ".join(data.name for data in ranking.table.datasets)
    text = tr("Mean ranks of {k} methods by {measure} over {n} datasets ({names}); 1 is the best.")
    caption = text.format(k=len(ranking.methods), measure=measure, n=ranking.n_datasets, names=names)
    if tests is not None:
        text = tr(
            "Bars join methods whose mean ranks differ by less than the critical difference CD = {cd:.3f} of "
            "Nemenyi's test at {alpha:g}."
        )
        caption += " " + text.format(cd=tests.critical_difference, alpha=ranking.alpha)
    return RankDiagram(
        "critical-difference",
        tr("Critical differences of {measure}").format(measure=measure),
        caption,
        ranking.methods,
        tuple(ranking.mean_ranks),
        tests.groups if tests is not None else (),
        tests.critical_difference if tests is not None else math.nan,
    )


def laid_out(diagram: RankDiagram, width: float, text_width: Callable[[str], float]) -> DiagramLayout:
    """Place the lines and texts of a diagram.

    Parameters
    ----------
    diagram : RankDiagram
    width : float
        In sizes of the text.
    text_width : callable
        Returns the width of a text, in sizes of the text. Names have at most a third of the diagram:
        whoever draws a wider one shortens it.

    Returns
    -------
    DiagramLayout
        The better half of the methods is named at the left, the other half at the right.
    """
    n_left = (len(diagram.methods) + 1) // 2
    limit = MAX_NAME_SHARE * width
    sides = (diagram.methods[:n_left], diagram.methods[n_left:])
    left, right = (
        min(max((text_width(one_line(name)) for name in names), default=0.0), limit) + 1.0 for names in sides
    )
    axis = _RankAxis(left, max(width - right, left + 1.0), max(2, len(diagram.methods)))
    strokes: list[Stroke] = []
    texts: list[DiagramText] = []
    top = _place_difference(diagram, axis, strokes, texts)
    axis_y = top + 1.5
    _place_axis(axis, axis_y, strokes, texts)
    below = _place_groups(diagram, axis, axis_y + 0.8, strokes)
    for column, (name, rank) in enumerate(zip(diagram.methods, diagram.ranks, strict=True)):
        is_left = column < n_left
        row = column if is_left else len(diagram.methods) - 1 - column
        y = below + 0.6 + row * _ROW
        end = left - _NAME_GAP if is_left else axis.right + _NAME_GAP
        x = axis.place(rank)
        strokes.append(Stroke(((x, axis_y), (x, y), (end, y)), "stem"))
        name_x = end - 0.3 if is_left else end + 0.3
        texts.append(DiagramText(one_line(name), name_x, y, "right" if is_left else "left"))
    return DiagramLayout(width, below + 0.6 + n_left * _ROW, tuple(strokes), tuple(texts))


@dataclass(frozen=True)
class _RankAxis:
    """The axis of ranks from 1 to the number of methods, between two places."""

    left: float
    right: float
    n: int

    def place(self, rank: float) -> float:
        """Return where a rank is."""
        return self.left + (rank - 1.0) / (self.n - 1) * (self.right - self.left)


def _place_difference(
    diagram: RankDiagram, axis: _RankAxis, strokes: list[Stroke], texts: list[DiagramText]
) -> float:
    """Place the length of the critical difference above the axis; return where the room below begins."""
    if math.isnan(diagram.difference):
        return 0.0
    end = min(axis.place(1.0 + diagram.difference), axis.right)
    strokes.append(Stroke(((axis.left, 1.7), (end, 1.7)), "difference"))
    strokes.append(Stroke(((axis.left, 1.4), (axis.left, 2.0)), "difference"))
    if 1.0 + diagram.difference <= axis.n:  # a longer one has an open end
        strokes.append(Stroke(((end, 1.4), (end, 2.0)), "difference"))
    texts.append(DiagramText(f"CD = {diagram.difference:.2f}", axis.left, 0.7, "left"))
    return 2.2


def _place_axis(axis: _RankAxis, y: float, strokes: list[Stroke], texts: list[DiagramText]) -> None:
    """Place the axis with numbered ticks above it, as many as have room."""
    strokes.append(Stroke(((axis.left, y), (axis.right, y)), "axis"))
    step = max(1, math.ceil(_MIN_TICK_GAP / ((axis.right - axis.left) / (axis.n - 1))))
    for rank in range(1, axis.n + 1):
        is_numbered = (rank - 1) % step == 0
        if is_numbered or step == 1:
            strokes.append(Stroke(((axis.place(rank), y - 0.35), (axis.place(rank), y)), "axis"))
            texts.append(DiagramText(str(rank), axis.place(rank), y - 0.95, "center"))


def _place_groups(diagram: RankDiagram, axis: _RankAxis, y: float, strokes: list[Stroke]) -> float:
    """Place a bar for each group, those that overlap below each other; return where the room below begins."""
    ends: list[float] = []  # of the last bar of each level
    for group in diagram.groups:
        start = axis.place(diagram.ranks[group[0]]) - _OVERHANG
        end = axis.place(diagram.ranks[group[-1]]) + _OVERHANG
        level = next((n for n, last in enumerate(ends) if last + _OVERHANG < start), len(ends))
        ends[level : level + 1] = [end]
        strokes.append(Stroke(((start, y + level * _LEVEL), (end, y + level * _LEVEL)), "group"))
    return y + len(ends) * _LEVEL


_TIKZ_STYLES = {
    "axis": "",
    "stem": "",
    "group": "line width=0.25em",
    "difference": "",
}


def tikz_text(diagram: RankDiagram) -> str:
    """Return the diagram as a TikZ picture; lengths are in em of the document.

    Names are escaped. The document needs the package tikz only.
    """
    layout = laid_out(diagram, _TIKZ_WIDTH + 2.0, lambda _: 0.0)
    lines = [
        rf"% {comment_text(diagram.title, 'tex')}",
        r"\begin{tikzpicture}[x=1em,y=-1em,line width=0.05em,inner sep=0pt]",
        *(_tikz_stroke(stroke) for stroke in layout.strokes),
        *(_tikz_node(text) for text in layout.texts),
        r"\end{tikzpicture}",
    ]
    return "\n".join(lines) + "\n"


def _tikz_stroke(stroke: Stroke) -> str:
    style = _TIKZ_STYLES[stroke.kind]
    path = " -- ".join(_tikz_point(point) for point in stroke.points)
    return rf"\draw{f'[{style}]' if style else ''} {path};"


def _tikz_point(point: Sequence[float]) -> str:
    x, y = point
    return f"({x:.3f},{y:.3f})"


_TIKZ_ANCHORS = {"left": "west", "center": "center", "right": "east"}


def _tikz_node(text: DiagramText) -> str:
    place = _tikz_point((text.x, text.y))
    return rf"\node[anchor={_TIKZ_ANCHORS[text.align]}] at {place} {{{latex_escaped(text.text)}}};"
