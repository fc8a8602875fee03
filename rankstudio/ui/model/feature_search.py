"""Which of very many features is asked for: to look through the names of a million is slow."""

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
    found = [int(at) for number in sorted(numbers) for at in np.flatnonzero(ids == number)]
    if not found and typed in names:
        found = [names.index(typed)]
    return [at for at in found if at >= MOST_LISTED]
