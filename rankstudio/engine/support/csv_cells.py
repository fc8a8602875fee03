"""Cells of CSV files that no spreadsheet computes: a name such as ``=cmd|…`` stays a name.

A spreadsheet takes what begins with one of ``= + - @``, a tab or a line's end for a formula, and splits at
semicolons in some countries. Such a text gets the apostrophe that spreadsheets have for it.
"""

from __future__ import annotations

import csv
import re

_BEGINS = r"(?:^|(?<=[;,\t\r\n]))"
_FORMULA = r"(?='*[=+\-@\t\r\n＝＋－＠])"
_GUARDED = re.compile(f"{_BEGINS}'{_FORMULA}")
_UNGUARDED = re.compile(f"{_BEGINS}{_FORMULA}")


def guarded(cell: object) -> object:
    """Return a cell as it is written: texts that would be formulas with an apostrophe, all else as it is."""
    if not isinstance(cell, str) or _is_number(cell):
        return cell
    return _UNGUARDED.sub("'", cell)


def unguarded(text: str) -> str:
    """Return the text that :func:`guarded` wrote."""
    return _GUARDED.sub("", text)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def cells(line: str) -> list[str]:
    """Return the cells of a line, read for itself: a quote without its other one ends with the line."""
    try:
        return next(csv.reader([line]), [])
    except csv.Error:  # a cell of more than 131,072 characters
        return []
