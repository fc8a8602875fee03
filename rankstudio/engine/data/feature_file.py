"""The text of a file about features: names, groups."""

from __future__ import annotations

from pathlib import Path

from rankstudio.engine.errors import DatasetError, FileAccessError
from rankstudio.engine.language import tr
from rankstudio.engine.support.files import read_text

MOST_BYTES = 16 << 20
"""No file about features is larger."""


def read_feature_file(path: Path, expected: str) -> str:
    """Read the text of a file about features.

    Parameters
    ----------
    path : Path
    expected : str
        What it should be, for the sentence.

    Raises
    ------
    DatasetError
        If it is larger than such files are.
    FileAccessError
        If it cannot be read.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise DatasetError(
                tr("{path}: found a file of more than 16 MB, expected {expected}.").format(
                    path=path, expected=expected
                )
            )
        return read_text(path, encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise FileAccessError(
            path, tr("the file could not be read: {strerror}.").format(strerror=error.strerror)
        ) from None
