"""Makes the report of the runs that the window lists, on the task worker, and writes it as HTML and PDF.

Modules of the engine that import compiled kernels are imported on the worker's thread.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMarginsF, Qt, QUrl
from PySide6.QtGui import (
    QFont,
    QImage,
    QPageLayout,
    QPageSize,
    QPdfWriter,
    QTextDocument,
)

from rankstudio.engine.errors import OutputError
from rankstudio.engine.support.files import temporary_folder, write_bytes, write_text
from rankstudio.engine.support.templates import rendered
from rankstudio.plugins.report.document import ReportFigure
from rankstudio.ui.language import tr
from rankstudio.ui.model.listed_runs import ReportRequest, source_of
from rankstudio.ui.style.fonts import family

if TYPE_CHECKING:
    from rankstudio.plugins.report.document import Report, ReportFigure

BREAK = "\u200b"
"""Invisible character at which a word may be broken."""

# longer than any entity or tag of the template
_LONG_WORD = re.compile(r"[0-9A-Za-z:]{24}(?=[0-9A-Za-z:]{8})")
# of figures in a PDF, in pixels of 1/96 inch: the width of A4 between its margins
_PDF_WIDTH = 640.0


def rich_text(
    report: Report, *, breaks: bool = False, points: bool = False
) -> tuple[str, list[ReportFigure]]:
    """Return a report as HTML for a text document of Qt, and the figures that the HTML names.

    Parameters
    ----------
    report : Report
        The report; its figures have the names that `figure_name` returns.
    breaks : bool
        Whether to insert `BREAK` into long words, such as checksums, so
        that lines can be broken there.
    points : bool
        Whether sizes of letters are in points, as needed for printing,
        rather than in pixels.
    """
    figures = [
        block
        for section in report.sections
        for block in section.blocks
        if isinstance(block, ReportFigure)
    ]
    html = rendered(
        "rich_text.html",
        report=report,
        points=points,
        family=family() or "sans-serif",
        name_of=lambda figure: figure_name(figures.index(figure)),
    )
    if breaks:
        html = _LONG_WORD.sub(lambda word: word[0] + BREAK, html)
    return html, figures


def figure_name(number: int) -> str:
    """Return the name of a figure in the text, by its number from 0."""
    return f"figure:{number}"


def picture(figure: ReportFigure, width: float, ratio: float) -> QImage:
    """Return a figure as an image with a width in logical pixels, for a screen with a pixel ratio."""
    smooth = Qt.TransformationMode.SmoothTransformation
    image = QImage.fromData(figure.png).scaledToWidth(round(width * ratio), smooth)
    image.setDevicePixelRatio(ratio)
    return image


def report_of(request: ReportRequest) -> Report:
    """Return the report with all its sections; the pictures of its figures are already painted."""
    from rankstudio.plugins.report.document import ReportFigure  # noqa: PLC0415 - on the worker only
    from rankstudio.plugins.report.report import make_report  # noqa: PLC0415 - on the worker only

    report = make_report(source_of(request))
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, ReportFigure):
                _ = block.png  # paints and caches the picture on this thread
    return report


def save_html(report: Report, path: Path) -> Path:
    """Write a report as an HTML file, and return the path.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    from rankstudio.plugins.report.document import html_page  # noqa: PLC0415 - on the worker only

    write_text(path, html_page(report))
    return path


def save_temporary(report: Report) -> Path:
    """Write a report into a folder that is removed when the program ends, and return the path."""
    try:
        folder = temporary_folder()
    except OSError as error:
        raise OutputError(
            tr("No folder for temporary files: {strerror}.").format(
                strerror=error.strerror
            )
        ) from error
    return save_html(report, folder / "report.html")


def save_pdf(report: Report, path: Path) -> Path:
    """Write a report as a PDF of A4 pages, and return the path.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    html, figures = rich_text(report, points=True)
    document = QTextDocument()

    # The default font, not the variant with digits of equal width,
    # whose glyphs could not be copied as text.
    document.setDefaultFont(QFont(family()))
    for number, figure in enumerate(figures):
        name = figure_name(number)

        # 2.5 pixels of the image for each unit of the document's width
        image = picture(figure, _PDF_WIDTH, 2.5)
        document.addResource(
            QTextDocument.ResourceType.ImageResource, QUrl(name), image
        )
    document.setHtml(html)
    folder = temporary_folder()
    writer = QPdfWriter(str(folder / "report.pdf"))
    writer.setTitle(report.title)
    writer.setCreator("RankStudio")
    size = QPageSize(QPageSize.PageSizeId.A4)

    # No margins here, because a printed document has its own margins of 2 cm.
    writer.setPageLayout(
        QPageLayout(size, QPageLayout.Orientation.Portrait, QMarginsF(0, 0, 0, 0))
    )
    document.print_(writer)
    del writer  # deleting the writer completes the file
    write_bytes(path, (folder / "report.pdf").read_bytes())
    return path


WRITERS: dict[str, Callable[[Report, Path], Path]] = {
    ".html": save_html,
    ".pdf": save_pdf,
}
"""Function that writes a report, by the ending of the file."""
