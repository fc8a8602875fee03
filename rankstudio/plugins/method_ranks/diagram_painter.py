"""The critical-difference diagram on paper, painted by matplotlib."""

from __future__ import annotations

from matplotlib.figure import Figure as Paper

from rankstudio.engine.export.figures.page import FigurePage, Look
from rankstudio.engine.export.figures.style import FigureStyle
from rankstudio.plugins.method_ranks.diagram_layout import (
    DrawnRanks,
    laid_out,
)

_MARGIN = 0.4  # that a page leaves at each edge, in sizes of the text
_WIDTHS = {"axis": 0.09, "stem": 0.09, "group": 0.32, "difference": 0.12}  # of lines


def diagram_paper(diagram: DrawnRanks, style: FigureStyle) -> Paper:
    """Return a page with a critical-difference diagram, in a style for print.

    The coordinates of the page are in sizes of the text, and y grows downwards.
    """
    # The size of the text; the diagram is at least 4 of it wide.
    em = style.em
    page = FigurePage(style)
    width = max(style.width / em - 2 * _MARGIN, 4.0)
    layout = laid_out(diagram, width, lambda text: page.width(text) / em)
    area = page.area
    area.set_xlim(0.0, layout.width)
    area.set_ylim(layout.height, 0.0)
    area.set_xticks([])
    area.set_yticks([])
    colors = {
        "axis": style.line,
        "stem": style.line,
        "group": style.category(0),
        "difference": style.text,
    }
    for stroke in layout.strokes:
        x, y = zip(*stroke.points, strict=True)
        area.plot(
            x,
            y,
            color=colors[stroke.kind],
            linewidth=_WIDTHS[stroke.kind] * em,
            zorder=3 if stroke.kind == "group" else 2,
            solid_joinstyle="miter",
            clip_on=False,
        )
    for text in layout.texts:
        written = page.elided(text.text, text.max_width * em)
        look: Look = {"ha": text.align, "va": "center_baseline", "color": style.text}
        area.text(text.x, text.y, written, **look)

    # The height follows from the diagram, not from the width of the page.
    return page.finish(lambda _: layout.height * em)
