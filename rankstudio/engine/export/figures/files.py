"""Figures as files: which formats there are, and the bytes of each that need no window."""

from __future__ import annotations

from math import isnan
from pathlib import Path

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.export import tables
from rankstudio.engine.export.figures.layout import drawing_of
from rankstudio.engine.export.figures.pdf import pdf_bytes
from rankstudio.engine.export.figures.style import FigureStyle
from rankstudio.engine.export.figures.svg import svg_text
from rankstudio.engine.export.figures.tikz import tikz_text
from rankstudio.engine.export.figures.values import Figure, MapFigure

FORMATS = ("pdf", "svg", "png", "tikz", "csv")
"""What a figure can be written as; a PNG is painted by `rankstudio.ui.plots.figure_image`."""

SUFFIXES = {"pdf": ".pdf", "svg": ".svg", "png": ".png", "tikz": ".tex", "csv": ".csv"}
"""What files of each format end in."""


def formats_of(text: str) -> tuple[str, ...]:
    """Read formats, separated by commas: "pdf,csv".

    Raises
    ------
    ParameterError
        For one that is not there.
    """
    found = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    wrong = next((name for name in found if name not in FORMATS), None)
    if wrong is not None or not found:
        raise ParameterError("format", wrong or text, f"some of {', '.join(FORMATS)}")
    return found


def formats_for(figure: Figure) -> tuple[str, ...]:
    """Return the formats that a figure has: a map has no TikZ."""
    return tuple(name for name in FORMATS if name != "tikz" or not isinstance(figure, MapFigure))


def figure_csv(figure: Figure, separator: str = ",") -> str:
    """Return the values that a figure shows, each number with all its digits, NaN as an empty cell."""
    header, rows = figure.table()
    known = (["" if isinstance(cell, float) and isnan(cell) else cell for cell in row] for row in rows)
    return tables.csv_text(header, known, separator)


def figure_bytes(figure: Figure, style: FigureStyle, format_name: str) -> bytes:
    """Return a figure as a file of any format but PNG.

    Raises
    ------
    OutputError
        For a figure that has no such format.
    """
    if format_name == "csv":
        return figure_csv(figure).encode()
    if format_name == "tikz":
        return tikz_text(figure, style).encode()
    drawing = drawing_of(figure, style)
    return pdf_bytes(drawing) if format_name == "pdf" else svg_text(drawing).encode()


def figure_path(folder: Path, figure: Figure, format_name: str) -> Path:
    """Return where a figure goes in a folder."""
    return folder / f"{figure.name}{SUFFIXES[format_name]}"


def caption_text(figure: Figure) -> str:
    """Return what goes with a figure as text: its title and its caption."""
    return f"{figure.title}\n\n{figure.caption}\n"
