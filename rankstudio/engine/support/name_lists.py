"""Lists of names in one text: separated by commas; names with a comma are quoted."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

# maximum number of characters of a cell for Python's CSV reader
_MAX_CELL_LENGTH = 131_072


def split_names(text: str) -> list[str]:
    """Return the names in a comma-separated text; names with a comma are quoted.

    A text that is too long for a cell of CSV gives an empty list.

    Examples
    --------
    >>> split_names('tf, "a, b"')
    ['tf', 'a, b']
    """
    line = " ".join(text.splitlines())
    cells = (
        next(csv.reader([line], skipinitialspace=True), [])
        if len(line) < _MAX_CELL_LENGTH
        else []
    )
    return [name.strip() for name in cells if name.strip()]


def joined_names(names: Sequence[str]) -> str:
    """Return names as one text, which :func:`split_names` splits again.

    Examples
    --------
    >>> joined_names(["tf", "a, b"])
    'tf,"a, b"'
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(names)
    return out.getvalue()
