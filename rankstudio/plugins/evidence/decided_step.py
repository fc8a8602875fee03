"""A step of a path with the queries that decide it."""

from __future__ import annotations

from dataclasses import dataclass

MOST_REFITS = 200
"""Maximum number of times that a method is trained again for deciding queries, in total over all steps."""


@dataclass(frozen=True)
class DecidedStep:
    """A step of a path, and the queries that decide it.

    Attributes
    ----------
    feature : int
        0-based column that the step selects.
    queries : tuple of int
        Positions of the queries, in order of first document, without which the
        step selects another feature; the most decisive first. Empty if no such
        queries were found.
    instead : int or None
        Column selected without them.
    exact : bool
        Whether the step was computed again without them; otherwise they are
        estimated by margins.
    """

    feature: int
    queries: tuple[int, ...]
    instead: int | None
    exact: bool = True
