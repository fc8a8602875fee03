"""Finds features by a typed id or name, where a dataset has too many features to search all their names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankstudio.engine.arrays import Ints

MOST_LISTED = 10_000
"""Number of features whose names are searched for a part; later ones are found by their whole id or name."""


def matches_of_text(ids: Ints, names: Sequence[str], typed: str) -> list[int]:
    """Return the columns beyond the first `MOST_LISTED` whose feature has exactly the typed id or name.

    A list shows at most `MOST_LISTED` features; these are searched
    elsewhere, by any part of their names.

    Parameters
    ----------
    ids : array of int, shape (d,)
        The id of the feature in each column.
    names : sequence of str
        The name of the feature in each column.
    typed : str
        What the user typed. Only if no feature has it as id is it compared with names.
    """
    words = typed.split()
    # Few features have no others beyond the first ones.
    if len(names) <= MOST_LISTED or not words:
        return []
    # The id may be the first word, as in "25 BM25", or the last, as in
    # "feature 25".
    numbers = {int(word) for word in (words[0], words[-1]) if word.isdecimal()}
    columns = [
        int(column)
        for number in sorted(numbers)
        for column in np.flatnonzero(ids == number)
    ]
    if not columns and typed in names:
        columns = [names.index(typed)]
    return [column for column in columns if column >= MOST_LISTED]
