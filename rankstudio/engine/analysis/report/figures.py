"""The figures of a report: those of the study, as wide as its page, in light colours."""

from __future__ import annotations

from rankstudio.engine.analysis.report.document import ReportFigure
from rankstudio.engine.export.figures.layout import drawing_of
from rankstudio.engine.export.figures.style import FigureStyle
from rankstudio.engine.export.figures.svg import svg_text
from rankstudio.engine.export.figures.values import Figure

STYLE = FigureStyle(width=720.0, font=12.0, unit="px")
"""Of all of them."""


def report_figure(figure: Figure) -> ReportFigure:
    """Return a figure as a report has it."""
    drawing = drawing_of(figure, STYLE)
    return ReportFigure(figure.caption, svg_text(drawing), drawing.width, drawing.height)
