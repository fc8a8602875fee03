"""A report in the part of HTML that Qt's text documents know, for the preview and the PDF."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

from rankstudio.engine.analysis.report.document import ReportFigure
from rankstudio.engine.support.templates import rendered
from rankstudio.ui.style.fonts import family

if TYPE_CHECKING:
    from rankstudio.engine.analysis.report.document import Report

BREAK = "\u200b"
"""Where a word may be broken."""

_LONG_WORD = re.compile(r"[0-9A-Za-z:]{24}(?=[0-9A-Za-z:]{8})")  # no entity is so long, nor any tag of ours


def rich_text(
    report: Report, *, breaks: bool = False, points: bool = False
) -> tuple[str, list[ReportFigure]]:
    """Return a report as HTML for a text document, and its figures, which it names by `figure_name`.

    Parameters
    ----------
    report : Report
    breaks : bool
        Whether long words, such as checksums, may be broken anywhere: by `BREAK`, which nobody sees.
    points : bool
        Whether sizes of letters are in points, as printing wants them, rather than in pixels.
    """
    figures = [b for section in report.sections for b in section.blocks if isinstance(b, ReportFigure)]
    html = rendered(
        "rich_text.html",
        report=report,
        points=points,
        family=family() or "sans-serif",
        name_of=lambda figure: figure_name(figures.index(figure)),
    )
    return _LONG_WORD.sub(lambda word: word[0] + BREAK, html) if breaks else html, figures


def figure_name(number: int) -> str:
    """Return what a figure is called in the text, by its number from 0."""
    return f"figure:{number}"


def picture(figure: ReportFigure, width: float, ratio: float) -> QImage:
    """Return a figure as wide as so many logical pixels, for a screen of a pixel ratio."""
    smooth = Qt.TransformationMode.SmoothTransformation
    image = QImage.fromData(figure.png).scaledToWidth(round(width * ratio), smooth)
    image.setDevicePixelRatio(ratio)
    return image
