"""A step of a path with the queries that decide it."""

from __future__ import annotations

from dataclasses import dataclass

MOST_REFITS = 200
"""Maximum number of times that a method is trained again for deciding queries, in total over all steps."""


@dataclass(frozen=True)
class DecidedStep:
    """A step of a selection, and the queries that decide which feature it selects.

    Attributes
    ----------
    feature : int
        0-based column that the step selects.
    queries : tuple of int
        Positions of the queries, in order of first document, without
        which the step selects another feature; the most decisive first.
        Empty if no such queries were found.
    instead : int or None
        Column selected without these queries; None if it is unknown.
    exact : bool
        Whether the step was computed again without the queries;
        otherwise the queries are estimated by margins.
    """

    feature: int
    queries: tuple[int, ...]
    instead: int | None
    exact: bool = True
