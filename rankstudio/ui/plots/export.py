"""Plots as files: PNG, SVG and PDF of the figure, CSV of the numbers behind it.

The figure is painted by us into Qt's own devices; pyqtgraph's exporters depend on the version of Qt. It is
drawn in the light colours whatever the window's theme, and needs no window: a plot that was never shown, on
the offscreen platform, gives the same file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QPoint, QRect, QSizeF
from PySide6.QtGui import QImage, QPageSize, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator

from rankstudio.engine.errors import OutputError
from rankstudio.engine.export import tables
from rankstudio.engine.support.files import write_bytes
from rankstudio.ui.language import tr
from rankstudio.ui.style.colors import LIGHT

if TYPE_CHECKING:
    from rankstudio.ui.plots.base import Numbers, Plot

FORMATS = (("PNG, 300 dpi", ".png"), ("SVG", ".svg"), ("PDF", ".pdf"), (tr("CSV, the numbers"), ".csv"))
"""In which a plot can be saved, with the ending that asks for each."""

SCREEN_DPI = 96.0
PRINT_DPI = 300.0
_PDF_DPI = 1200
_MARGIN = 12.0


def export_plot(plot: Plot, path: str | Path, dpi: float = PRINT_DPI, size: QSizeF | None = None) -> None:
    """Write a plot to a file; its suffix says how.

    Parameters
    ----------
    plot : Plot
    path : str or Path
        Ending in ``.png``, ``.svg``, ``.pdf`` or ``.csv``; replaced if it exists.
    dpi : float
        Of a PNG; 96 is a pixel a logical pixel.
    size : QSizeF, optional
        Of the figure in logical pixels (1/96 inch); the plot's on the screen if not given.

    Raises
    ------
    OutputError
        If the suffix is another one or the file cannot be written; nothing is left half-written.
    """
    suffix = Path(path).suffix.lower()
    figure = QSizeF(plot.size()) if size is None else size
    makers: dict[str, Callable[[], bytes]] = {
        ".png": lambda: png_bytes(plot, figure, dpi),
        ".svg": lambda: svg_bytes(plot, figure),
        ".pdf": lambda: pdf_bytes(plot, figure),
        ".csv": lambda: csv_text(plot.numbers()).encode(),
    }
    if suffix not in makers:
        found = f'"{suffix}"' if suffix else tr("no suffix")
        raise OutputError(
            tr("{path}: found {found}, expected a name ending in {makers}.").format(
                path=path, found=found, makers=", ".join(makers)
            )
        )
    write_bytes(path, makers[suffix]())


def csv_text(numbers: Numbers, separator: str = ",") -> str:
    """Return numbers as CSV with a header; each number with all its digits, NaN as an empty cell."""
    header, rows = numbers
    known = (["" if isinstance(cell, float) and math.isnan(cell) else cell for cell in row] for row in rows)
    return tables.csv_text(header, known, separator)


def image(plot: Plot, size: QSizeF, dpi: float = SCREEN_DPI) -> QImage:
    """Return the figure as a picture with its resolution noted in it."""
    scale = dpi / SCREEN_DPI
    whole = _with_margin(size)
    picture = QImage(
        math.ceil(whole.width() * scale), math.ceil(whole.height() * scale), QImage.Format.Format_ARGB32
    )
    picture.setDotsPerMeterX(round(dpi / 0.0254))
    picture.setDotsPerMeterY(round(dpi / 0.0254))
    picture.fill(LIGHT.q("panel"))
    _draw(QPainter(picture), plot, size, scale)
    return picture


def png_bytes(plot: Plot, size: QSizeF, dpi: float = PRINT_DPI) -> bytes:
    """Return the figure as PNG."""
    contents, buffer = _buffer()
    if not image(plot, size, dpi).save(buffer, "PNG"):  # type: ignore[call-overload]
        raise OutputError(tr("The picture could not be encoded as PNG."))
    return bytes(contents.data())


def svg_bytes(plot: Plot, size: QSizeF) -> bytes:
    """Return the figure as SVG; texts stay texts."""
    contents, buffer = _buffer()
    whole = QRect(QPoint(), _with_margin(size).toSize())
    device = QSvgGenerator()
    device.setOutputDevice(buffer)
    device.setResolution(int(SCREEN_DPI))
    device.setSize(whole.size())
    device.setViewBox(whole)
    device.setTitle(plot.axes.title)
    device.setDescription(tr("Made with RankStudio"))
    painter = QPainter(device)
    painter.fillRect(whole, LIGHT.q("panel"))
    _draw(painter, plot, size, 1.0)
    return bytes(contents.data())


def pdf_bytes(plot: Plot, size: QSizeF) -> bytes:
    """Return the figure as a PDF of one page of its own size, with the font embedded."""
    contents, buffer = _buffer()
    points = _with_margin(size) * (72.0 / SCREEN_DPI)
    page = QPageSize(points, QPageSize.Unit.Point, "figure", QPageSize.SizeMatchPolicy.ExactMatch)
    device = QPdfWriter(buffer)
    device.setResolution(_PDF_DPI)
    device.setPageSize(page)
    device.setPageMargins(QMarginsF(0, 0, 0, 0))
    device.setTitle(plot.axes.title)
    device.setCreator("RankStudio")
    _draw(QPainter(device), plot, size, _PDF_DPI / SCREEN_DPI)
    return bytes(contents.data())


def _buffer() -> tuple[QByteArray, QBuffer]:
    """Return an open device, and what is written to it."""
    contents = QByteArray()
    buffer = QBuffer(contents)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    return contents, buffer


def _with_margin(size: QSizeF) -> QSizeF:
    """Return the size of a figure with its margin."""
    return QSizeF(size.width() + 2 * _MARGIN, size.height() + 2 * _MARGIN)


def _draw(painter: QPainter, plot: Plot, size: QSizeF, scale: float) -> None:
    """Draw a plot in the light colours, ``scale`` device pixels to the logical one, and end the painting."""
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
    painter.scale(scale, scale)
    painter.translate(_MARGIN, _MARGIN)
    plot.draw(painter, size, LIGHT)
    painter.end()
