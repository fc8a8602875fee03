"""Figures as files in every format, with their captions beside them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

from rankstudio.engine.export.figures.files import caption_text, figure_bytes, figure_path, formats_for
from rankstudio.engine.export.figures.layout import drawing_of
from rankstudio.engine.export.figures.style import FigureStyle, style_of
from rankstudio.engine.export.figures.values import Figure
from rankstudio.engine.support.files import make_folder, write_bytes
from rankstudio.ui.plots.figure_image import png_bytes

if TYPE_CHECKING:
    from rankstudio.engine.experiment.results.results import RunResult

FigureFile = tuple[Path, bytes]
"""A path, and what goes there."""

_started: list[QApplication] = []  # which is gone with the last reference to it


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
    """Have an application that fonts can be asked of, and windows opened in; without a display if need be."""
    if QApplication.instance() is None:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        _started.append(QApplication([]))


def write_run_figures(result: RunResult, folder: Path) -> list[Path]:
    """Draw the criterion and the validation measures of a run by size as PNG files: a curve a combination.

    These are Figures 3 and 4 of the greedy RankRLS paper where that is what was run.

    Returns
    -------
    list of Path
        What was written; nothing for a method without steps to draw.

    Raises
    ------
    OutputError
        Where a file cannot be written.
    """
    from rankstudio.engine.analysis.figures.run_figures import path_figure  # noqa: PLC0415 - brings kernels

    figures = []
    for name in ("", *result.plan.evaluated):
        figure = path_figure(result, name)
        if figure is not None and not figure.empty:
            called = f"validation-{name.replace('@', '-at-')}" if name else "criterion"
            figures.append((folder / f"{called}.png", figure))
    style = style_of("page")
    return write_figure_files([(path, bytes_of(figure, style, "png", 300.0)) for path, figure in figures])
