"""What figures of several plots have in common."""

from __future__ import annotations

from collections.abc import Iterable

MOST_ROWS = 40
"""Names below each other in a figure."""

MOST_BARS = 20
NAME = "figure"  # of a file, unless another one is given
NEUTRAL = 6  # the look of what is no category


def floats(values: Iterable[float]) -> tuple[float, ...]:
    """Return numbers as plain ones."""
    return tuple(map(float, values))
