"""What depends on the convention: how runs are ordered, and whether it was made for the data's labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import isnan

from rankstudio.engine.language import tr
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.metrics.names import measure


@dataclass(frozen=True)
class ConventionRow:
    """One run under every convention.

    Attributes
    ----------
    key : int
        The run's number.
    method : str
    means : Mapping of str to float
        Of the measure over the folds, by the convention's key.
    places : Mapping of str to int
        Among the runs by that convention, 1 for the best; equal means share the better place. A run whose
        mean is not defined has none.
    """

    key: int
    method: str
    means: Mapping[str, float]
    places: Mapping[str, int]


def convention_rows(
    methods: Mapping[int, str], means: Mapping[int, Mapping[str, float]], name: str
) -> tuple[ConventionRow, ...]:
    """Return a row for each run.

    Parameters
    ----------
    methods : Mapping of int to str
        Titles by the runs' numbers.
    means : Mapping of int to Mapping of str to float
        By the runs' numbers, then by convention.
    name : str
        Of the measure.
    """
    sign = 1.0 if measure(name).higher_is_better else -1.0
    rows = []
    for key, mine in means.items():
        places = {
            convention: 1 + sum(sign * other[convention] > sign * value for other in means.values())
            for convention, value in mine.items()
            if not isnan(value)
        }
        rows.append(ConventionRow(key, methods[key], mine, places))
    return tuple(rows)


def reversed_pairs(rows: tuple[ConventionRow, ...], one: str, other: str) -> tuple[int, int]:
    """Return how many pairs of runs two conventions put in opposite orders, and of how many pairs."""
    pairs = [
        (a.places[one] - b.places[one], a.places[other] - b.places[other])
        for a, b in combinations(rows, 2)
        if all(convention in row.places for row in (a, b) for convention in (one, other))
    ]
    return sum(first * second < 0 for first, second in pairs), len(pairs)


_THREE_GRADES = ("letor4", "letor3")
_MOST = 2.0  # the greatest label that LETOR 3.0 and 4.0 know


def convention_note(known: str | None, greatest: float, key: str) -> str:
    """Return in sentences that a convention takes more labels for relevant than another usual one; "" if not.

    Parameters
    ----------
    known : str or None
        Key of the known dataset that the data are; then their convention is that of its field.
    greatest : float
        The greatest relevance label.
    key : str
        Of the convention.
    """
    if known is not None or key not in _THREE_GRADES or greatest <= _MOST:
        return ""
    return tr(
        "Labels go up to {greatest:g}, but {used} assumes 0–2 (gain 2^l − 1, labels from 1 up "
        "are relevant). {other} treats labels from 2 up as relevant: choose the convention "
        "that fits your data."
    ).format(greatest=greatest, used=convention(key).label, other=convention("mslr").label)
