"""Searches very many features for typed ids and names: to look through the names of a million is slow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankstudio.engine.arrays import Ints

MOST_LISTED = 10_000
"""Features that are looked through; others are found by their whole id or name."""


def asked_for(ids: Ints, names: Sequence[str], typed: str) -> list[int]:
    """Return the columns of features after the first 10,000 of which the whole id or name is typed."""
    words = typed.split()
    if len(names) <= MOST_LISTED or not words:
        return []
    numbers = {int(word) for word in (words[0], words[-1]) if word.isdecimal()}
    columns = [int(column) for number in sorted(numbers) for column in np.flatnonzero(ids == number)]
    if not columns and typed in names:
        columns = [names.index(typed)]
    return [column for column in columns if column >= MOST_LISTED]
