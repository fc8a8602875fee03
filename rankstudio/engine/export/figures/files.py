"""Figures as files: the formats, and the bytes of a figure in each."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rankstudio.engine.errors import OutputError, ParameterError
from rankstudio.engine.export.figures.style import FigureStyle, style_of
from rankstudio.engine.export.figures.values import Figure
from rankstudio.engine.export.tables import csv_of_values
from rankstudio.engine.support.files import make_folder, write_bytes

FORMATS = ("pdf", "svg", "png", "csv")
"""Formats of figures, which are also the suffixes of their files."""


FigureFile = tuple[Path, bytes]
"""The path of a file, and its content."""


def formats_of(text: str) -> tuple[str, ...]:
    """Return the formats of figures in a text, separated by commas: "pdf,csv".

    Raises
    ------
    ParameterError
        For an unknown format.
    """
    names = tuple(
        dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip())
    )
    unknown_name = next((name for name in names if name not in FORMATS), None)
    if unknown_name is not None or not names:
        raise ParameterError(
            "format", unknown_name or text, f"one or more of {', '.join(FORMATS)}"
        )
    return names


def figure_bytes(
    figure: Figure, style: FigureStyle, format_name: str, dpi: float = 300.0
) -> bytes:
    """Return the contents of a file with a figure, in any format, such as "pdf" or "csv".

    `dpi` is the resolution of a PNG in dots per inch.

    Raises
    ------
    OutputError
        For a picture that is too large, or if there is no folder for
        temporary files.
    """
    if format_name == "csv":
        return csv_of_values(*figure.table()).encode()
    # Importing matplotlib makes folders, which may fail.
    try:
        with _without_font_warnings():
            from rankstudio.engine.export.figures.painter import painted  # noqa: PLC0415 - brings matplotlib
    except OSError as error:
        raise OutputError(f"Figures cannot be drawn: {error}") from error
    return painted(figure, style, format_name, dpi)


@contextmanager
def _without_font_warnings() -> Iterator[None]:
    """Suppress matplotlib's warnings, not its errors, inside the block.

    One of them says that matplotlib cannot store its list of fonts.
    """
    logger = logging.getLogger("matplotlib")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def caption_text(figure: Figure) -> str:
    """Return the text of a figure: its title and its caption."""
    return f"{figure.title}\n\n{figure.caption}\n"


def figure_files(
    figures: Sequence[Figure],
    folder: Path,
    formats: Sequence[str] = ("pdf", "csv"),
    style: FigureStyle | None = None,
    dpi: float = 300.0,
) -> list[FigureFile]:
    """Return the files of figures, with their captions as text files, for a folder.

    Each figure has a file of each of the `formats`. Nothing is written:
    each item is a path with the bytes to write. `style` is by default
    that of a figure as wide as a column of text. `dpi` is the
    resolution of a PNG in dots per inch.
    """
    style = style_of() if style is None else style
    files = []
    for figure in figures:
        files += [
            (folder / f"{figure.name}.{name}", figure_bytes(figure, style, name, dpi))
            for name in formats
        ]
        files.append(
            (
                folder / f"{figure.name}.txt",
                caption_text(figure).encode("utf-8", "replace"),
            )
        )
    return files


def write_figure_files(files: Iterable[FigureFile]) -> list[Path]:
    """Write files of figures, each completely or not at all, and return their paths.

    Raises
    ------
    OutputError
        If a file cannot be written.
    """
    paths = []
    for path, content in files:
        make_folder(path.parent)
        write_bytes(path, content)
        paths.append(path)
    return paths
