"""Any figure as a drawing."""

from __future__ import annotations

from rankstudio.engine.export.figures.curve_layout import curves_drawing
from rankstudio.engine.export.figures.map_layout import map_drawing
from rankstudio.engine.export.figures.row_layout import rows_drawing
from rankstudio.engine.export.figures.shapes import Drawing
from rankstudio.engine.export.figures.style import FigureStyle
from rankstudio.engine.export.figures.values import CurvesFigure, Figure, MapFigure


def drawing_of(figure: Figure, style: FigureStyle) -> Drawing:
    """Return a figure as a drawing in a style."""
    if isinstance(figure, CurvesFigure):
        return curves_drawing(figure, style)
    return map_drawing(figure, style) if isinstance(figure, MapFigure) else rows_drawing(figure, style)
