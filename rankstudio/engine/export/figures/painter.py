"""Figures as PDF, SVG and PNG, painted by matplotlib.

Nothing of the clock, the machine, the user's settings or the version of a library is in a file: the same
figure is the same bytes. Texts are texts: a PDF embeds the part of the font that it needs as TrueType, as
many journals refuse Type 3, and an SVG names the font, so that labels can be searched, edited and read
aloud. Outlines in their place would look the same on every screen, but say nothing.
"""

from __future__ import annotations

import io
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from matplotlib import style as looks
from matplotlib.figure import Figure as Paper

from rankstudio.engine.errors import OutputError
from rankstudio.engine.export.figures.curves import curves_paper
from rankstudio.engine.export.figures.maps import map_paper
from rankstudio.engine.export.figures.rows import rows_paper
from rankstudio.engine.export.figures.style import FigureStyle
from rankstudio.engine.export.figures.values import CurvesFigure, Figure, MapFigure
from rankstudio.engine.language import tr
from rankstudio.engine.support.escaping import clean_text

_SETTINGS = {
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "rankstudio",
    "font.sans-serif": ["Helvetica", "Arial"],  # which an SVG asks for where there is no Inter
    "text.hinting": "no_hinting",
    "text.parse_math": False,  # a $ in a name is a $
    "path.simplify": False,  # what can be magnified has every point
    "lines.solid_capstyle": "butt",
    "axes.unicode_minus": False,
}
_CREATOR = {"Creator": "RankStudio"}
_MOST_PIXELS = 2**16  # wide or high, which is what matplotlib can count
_one_at_a_time = threading.Lock()


def painted(figure: Figure, style: FigureStyle, format_name: str, dpi: float = 300.0) -> bytes:
    """Return a figure as a file.

    Parameters
    ----------
    figure : Figure
    style : FigureStyle
    format_name : {"pdf", "svg", "png"}
    dpi : float
        Dots an inch of a PNG.

    Returns
    -------
    bytes
        With title and caption as metadata.

    Raises
    ------
    OutputError
        For a picture that is too large.
    """
    title, caption = clean_text(figure.title), clean_text(figure.caption)
    metadata: dict[str, dict[str, str | None]] = {
        "pdf": {"Title": title, "Subject": caption, **_CREATOR, "Producer": None, "CreationDate": None},
        "svg": {"Title": title, "Description": caption, **_CREATOR, "Date": None},
        "png": {"Title": title, "Description": caption, "Software": None},
    }
    file = io.BytesIO()
    with painting():
        paper = paper_of(figure, style)
        wide, high = (round(side * dpi) for side in paper.get_size_inches())
        try:
            if format_name == "png" and max(wide, high) > _MOST_PIXELS:
                raise MemoryError
            see_through = format_name != "png"  # a vector graphic lies on whatever it is put on
            paper.savefig(
                file, format=format_name, dpi=dpi, transparent=see_through, metadata=metadata[format_name]
            )
        except MemoryError as error:
            raise OutputError(
                tr("Not enough memory for an image of {wide} × {high} pixels.").format(wide=wide, high=high)
            ) from error
    return file.getvalue()


@contextmanager
def painting() -> Iterator[None]:
    """Have the settings of figures, one thread at a time, as matplotlib's are those of the whole process."""
    with _one_at_a_time, looks.context(["default", _SETTINGS]), warnings.catch_warnings():
        # A character that the font has not is a box on paper, and itself in a PDF's text and in an SVG.
        warnings.filterwarnings("ignore", r"Glyph \d+")
        yield


def paper_of(figure: Figure, style: FigureStyle) -> Paper:
    """Return a figure laid out, within :func:`painting`."""
    if isinstance(figure, CurvesFigure):
        return curves_paper(figure, style)
    return map_paper(figure, style) if isinstance(figure, MapFigure) else rows_paper(figure, style)
