"""The file of query sizes beside data whose lines do not contain their query."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.file_access import without_ending
from rankstudio.engine.data.table import SIZES_ENDINGS
from rankstudio.engine.errors import DatasetError, FileAccessError, FormatError
from rankstudio.engine.support.files import read_text

_EXPECTED = "the number of documents of the next query, a whole number from 0 up"
_MOST_DIGITS = 9  # a query of a billion documents is no query


def sizes_file(path: Path) -> Path | None:
    """Return the file with the sizes of queries next to a data file, or None if there is none.

    The file has the number of documents of each query, for XGBoost or
    LightGBM, and is called train.txt.group, train.group or
    rank.train.query, for example.

    Parameters
    ----------
    path : Path
        Path of the data.
    """
    name = without_ending(path.name)
    # The whole name, then without .gz, then without its last ending,
    # too; equal ones once.
    stems = dict.fromkeys((path.name, name, Path(name).stem))
    candidates = (
        path.with_name(stem + ending) for stem in stems for ending in SIZES_ENDINGS
    )
    return next(
        (
            candidate
            for candidate in candidates
            if candidate != path and candidate.is_file()
        ),
        None,
    )


def read_sizes(path: Path) -> Ints:
    """Read the number of documents of each of Q queries, as an array of shape (Q,).

    Parameters
    ----------
    path : Path
        File with one number per line, or several separated by blanks.

    Raises
    ------
    FileAccessError, FormatError
        If the file cannot be read, or contains something other than
        such numbers.
    DatasetError
        If the file is empty.
    """
    try:
        text = read_text(path, encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise FileAccessError(
            path, f"the file could not be read: {error.strerror}."
        ) from None
    sizes: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        for word in line.split():
            if not (word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS):
                # A long word is cut short in the message.
                excerpt = word if len(word) <= 40 else word[:40] + "…"
                raise FormatError(path, number, 0, repr(excerpt), _EXPECTED)
            sizes.append(int(word))
    if not sum(sizes):
        raise DatasetError(
            f"{path}: found no query sizes; expected on each line {_EXPECTED}."
        )
    return np.array(sizes, dtype=np.int64)


def format_sizes(sizes: Ints) -> str:
    """Return the text of a file of query sizes."""
    return "".join(f"{size}\n" for size in sizes.tolist())
