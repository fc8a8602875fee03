"""Figures as files in every format, with their captions beside them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from PySide6.QtGui import QGuiApplication

from rankstudio.engine.export.figures.files import caption_text, figure_bytes, figure_path, formats_for
from rankstudio.engine.export.figures.layout import drawing_of
from rankstudio.engine.export.figures.style import FigureStyle
from rankstudio.engine.export.figures.values import Figure
from rankstudio.engine.support.files import make_folder, write_bytes
from rankstudio.ui.plots.figure_image import png_bytes

FigureFile = tuple[Path, bytes]
"""A path, and what goes there."""

_started: list[QGuiApplication] = []  # which is gone with the last reference to it


def bytes_of(figure: Figure, style: FigureStyle, format_name: str, dpi: float) -> bytes:
    """Return a figure as a file; in the terminal and in the window the same bytes.

    Raises
    ------
    OutputError
        For a figure that has no such format.
    """
    if format_name != "png":
        return figure_bytes(figure, style, format_name)
    _start_application()
    return png_bytes(drawing_of(figure, style), dpi)


def figure_files(
    figures: Sequence[Figure], formats: Sequence[str], style: FigureStyle, dpi: float, folder: Path
) -> list[FigureFile]:
    """Return the files of figures in a folder, in the formats that each has, and their captions."""
    found = []
    for figure in figures:
        there = [name for name in formats if name in formats_for(figure)]
        found += [(figure_path(folder, figure, name), bytes_of(figure, style, name, dpi)) for name in there]
        if there:
            found.append((folder / f"{figure.name}.txt", caption_text(figure).encode("utf-8", "replace")))
    return found


def write_figure_files(files: Iterable[FigureFile]) -> list[Path]:
    """Write files, each whole or not at all, and return where they are.

    Raises
    ------
    OutputError
        Where one cannot be written.
    """
    written = []
    for path, content in files:
        make_folder(path.parent)
        write_bytes(path, content)
        written.append(path)
    return written


def _start_application() -> None:
    """Have an application that fonts can be asked of; one that needs no display where there is none."""
    if QGuiApplication.instance() is None:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        _started.append(QGuiApplication([]))
