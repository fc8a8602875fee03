"""The critical-difference diagram: methods on an axis of mean ranks, with bars over those that do not differ.

The diagram is a value, which paper, window and TikZ draw in their own way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankstudio.engine.export.figures.style import FigureStyle
from rankstudio.engine.export.figures.values import OwnFigure, Table
from rankstudio.engine.language import tr
from rankstudio.engine.support.escaping import comment_text, latex_escaped
from rankstudio.plugins.method_ranks.diagram_layout import DiagramText, Stroke, laid_out
from rankstudio.plugins.method_ranks.mean_ranks import MethodRanking

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Paper

# A column of 240 pt has this width in letters of \footnotesize.
_TIKZ_WIDTH = 30.0
# Width of a letter in sizes of the text, large enough for names of
# capitals and small letters.
_TIKZ_LETTER = 0.6


@dataclass(frozen=True)
class RankDiagram(OwnFigure):
    """A critical-difference diagram as a figure: methods on an axis of mean ranks.

    Attributes
    ----------
    methods : tuple of str
        Names of the methods, the best mean rank first.
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
        """Return the diagram as a table: titles of columns, and a row per method with mean rank and groups.

        Groups of methods that do not differ are named by their numbers.
        """
        header = [tr("method"), tr("mean rank"), tr("groups")]
        groups = [
            " ".join(
                str(n)
                for n, group in enumerate(self.groups, start=1)
                if column in group
            )
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
    """Return the critical-difference diagram of a ranking.

    The diagram has no groups if there are too few datasets for tests.
    """
    tests = ranking.tests
    measure = ranking.table.measure
    names = ", ".join(dataset.name for dataset in ranking.table.datasets)
    text = tr(
        "Mean ranks of {k} methods by {measure} over {n} datasets ({names}); 1 is the best."
    )
    caption = text.format(
        k=len(ranking.methods), measure=measure, n=ranking.n_datasets, names=names
    )
    if tests is not None:
        text = tr(
            "Bars join methods whose mean ranks differ by less than the critical difference CD = {cd:.3f} of "
            "Nemenyi's test at {alpha:g}."
        )
        caption += " " + text.format(cd=tests.critical_difference, alpha=ranking.alpha)
    return RankDiagram(
        "critical-difference",  # the name of the file
        tr("Critical differences of {measure}").format(measure=measure),
        caption,
        ranking.methods,
        tuple(ranking.mean_ranks),
        tests.groups if tests is not None else (),
        tests.critical_difference if tests is not None else math.nan,
    )


_TIKZ_STYLES = {
    "axis": "",
    "stem": "",
    "group": "line width=0.25em",
    "difference": "",
}


def tikz_text(diagram: RankDiagram) -> str:
    """Return the diagram as a TikZ picture that is as wide as the column it is in.

    Names of methods are escaped for LaTeX. The document needs the
    package tikz only.
    """
    # LaTeX alone knows how wide the names are; names wider than estimated stick out.
    layout = laid_out(diagram, _TIKZ_WIDTH, lambda name: _TIKZ_LETTER * len(name))
    lines = [
        rf"% {comment_text(diagram.title, 'tex')}",
        rf"\noindent\begin{{tikzpicture}}[x=\linewidth/{_TIKZ_WIDTH:g},y=-0.8em,"
        r"line width=0.05em,inner sep=0pt,font=\footnotesize]",
        # The width of the column even if the names are narrower than estimated.
        rf"\path (0,0) -- ({_TIKZ_WIDTH:g},0);",
        *(_tikz_stroke(stroke) for stroke in layout.strokes),
        *(_tikz_node(text) for text in layout.texts),
        r"\end{tikzpicture}%",
    ]
    return "\n".join(lines) + "\n"


def _tikz_stroke(stroke: Stroke) -> str:
    """Return a command of TikZ that draws a stroke."""
    style = _TIKZ_STYLES[stroke.kind]
    path = " -- ".join(_tikz_point(point) for point in stroke.points)
    return rf"\draw{f'[{style}]' if style else ''} {path};"


def _tikz_point(point: Sequence[float]) -> str:
    """Return the coordinates of a point for TikZ."""
    x, y = point
    return f"({x:.3f},{y:.3f})"


_TIKZ_ANCHORS = {"left": "west", "center": "center", "right": "east"}


def _tikz_node(text: DiagramText) -> str:
    """Return a command of TikZ that places a text."""
    position = _tikz_point((text.x, text.y))
    return rf"\node[anchor={_TIKZ_ANCHORS[text.align]}] at {position} {{{latex_escaped(text.text)}}};"
