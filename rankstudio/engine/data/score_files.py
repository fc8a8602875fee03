"""Read a file of scores: one a line, in the order of the documents in the data file."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.letor import file_access as files
from rankstudio.engine.data.letor.compression import decompress
from rankstudio.engine.data.letor.progress import ReadProgress
from rankstudio.engine.errors import FormatError
from rankstudio.engine.language import tr, translatable

_EXPECTED = translatable("one score, a number, on each line")


def read_scores(path: str | os.PathLike[str]) -> Floats:
    """Read the scores that some program gave to documents.

    Parameters
    ----------
    path : str or path-like
        One number a line, as SVM-rank, LETOR's tools and most others write them; may be compressed.
        ``inf`` is a number, ``nan`` is none. Empty lines may follow the last score.

    Returns
    -------
    ndarray of shape (m,)
        In the order of the file.

    Raises
    ------
    FileAccessError
        If the file cannot be read.
    FormatError
        At the first line that is not a number.
    """
    path = Path(path)
    progress = ReadProgress()
    content = decompress(path, files.read_file(path, progress), progress)
    text = content[: -files.PADDING].tobytes().decode("utf-8-sig", errors="replace").rstrip()
    lines = text.splitlines() if "\r" in text else text.split("\n")
    scores = np.empty(len(lines))
    for row, line in enumerate(lines):
        score = _number(line)
        if score is None:
            raise FormatError(path, row + 1, 0, _shown(line), tr(_EXPECTED))
        scores[row] = score
    return scores


def _number(line: str) -> float | None:
    """Return the number on a line, or None; Python's own digits apart by ``_`` are no number here."""
    try:
        score = float(line)
    except ValueError:
        return None
    return None if score != score or "_" in line else score  # noqa: PLR0124 - only NaN differs from itself


def _shown(line: str) -> str:
    if not line.strip():
        return "nothing"
    return repr(line if len(line) <= 40 else line[:40] + "…")
