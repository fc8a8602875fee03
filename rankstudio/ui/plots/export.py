"""Plots as files: the figure of what they show, in any format, and the numbers behind it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QImage

from rankstudio.engine.errors import OutputError
from rankstudio.engine.export.figures.files import figure_bytes
from rankstudio.engine.export.figures.style import FigureStyle
from rankstudio.engine.support.files import write_bytes
from rankstudio.ui.language import tr

if TYPE_CHECKING:
    from rankstudio.engine.export.figures.values import Figure

LABELS = {
    "pdf": "PDF",
    "svg": "SVG",
    "png": "PNG",
    "csv": tr("CSV, the numbers"),
}
"""What formats are called."""

FORMATS = tuple((LABELS[name], f".{name}") for name in ("png", "svg", "pdf", "csv"))
"""In which any plot can be saved, with the ending that asks for each."""

PRINT_DPI = 300.0
SCREEN_DPI = 96.0


def save_figure(figure: Figure, path: str | Path, style: FigureStyle, dpi: float = PRINT_DPI) -> None:
    """Write a figure to a file; its suffix says how.

    Raises
    ------
    OutputError
        If the suffix is another one or the file cannot be written; nothing is left half-written.
    """
    suffix = Path(path).suffix.lower()
    makers = {f".{name}": name for name in LABELS}
    if suffix not in makers:
        found = f'"{suffix}"' if suffix else tr("no suffix")
        raise OutputError(
            tr("{path}: found {found}, expected a name ending in {makers}.").format(
                path=path, found=found, makers=", ".join(makers)
            )
        )
    write_bytes(path, figure_bytes(figure, style, makers[suffix], dpi))


def figure_image(figure: Figure, style: FigureStyle, dpi: float) -> QImage:
    """Return a figure as a picture.

    Raises
    ------
    OutputError
        Where it is larger than memory.
    """
    return QImage.fromData(figure_bytes(figure, style, "png", dpi))
