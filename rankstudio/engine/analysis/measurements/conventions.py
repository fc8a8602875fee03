"""The order of runs under each convention, and conventions that do not fit data."""

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
    """One run, with a measure under every convention of measures.

    Attributes
    ----------
    key : int
        Number of the run.
    method : str
        Title of the run.
    means : Mapping of str to float
        Mean of the measure over the folds, by the key of the convention.
    ranks : Mapping of str to int
        Rank among the runs under each convention, 1 for the best; ties
        share the better rank. A run with an undefined mean has no rank.
    """

    key: int
    method: str
    means: Mapping[str, float]
    ranks: Mapping[str, int]


def convention_rows(
    methods: Mapping[int, str], means: Mapping[int, Mapping[str, float]], name: str
) -> tuple[ConventionRow, ...]:
    """Return a row for each run, with its mean and its rank under each convention.

    Parameters
    ----------
    methods : Mapping of int to str
        Titles of the runs, by run number.
    means : Mapping of int to Mapping of str to float
        Means of the measure by run number, then by key of the convention.
    name : str
        Name of the measure.
    """
    # With this sign, larger means are better.
    sign = 1.0 if measure(name).higher_is_better else -1.0
    rows = []
    for key, run_means in means.items():
        # Place 1 is the best; runs with equal means share a place.
        ranks = {
            convention: 1
            + sum(sign * other[convention] > sign * value for other in means.values())
            for convention, value in run_means.items()
            if not isnan(value)
        }
        rows.append(
            ConventionRow(key=key, method=methods[key], means=run_means, ranks=ranks)
        )
    return tuple(rows)


def reversed_pairs(
    rows: tuple[ConventionRow, ...], convention1: str, convention2: str
) -> tuple[int, int]:
    """Return how many pairs of runs are in another order under a second convention.

    `convention1` and `convention2` are keys. The second number is that
    of all pairs of runs that have a mean under both conventions.
    """
    # For each pair of runs: the difference of their places under each convention.
    pairs = [
        (
            a.ranks[convention1] - b.ranks[convention1],
            a.ranks[convention2] - b.ranks[convention2],
        )
        for a, b in combinations(rows, 2)
        if all(
            convention in row.ranks
            for row in (a, b)
            for convention in (convention1, convention2)
        )
    ]
    return sum(first * second < 0 for first, second in pairs), len(pairs)


_THREE_GRADES = ("letor4", "letor3")  # conventions for labels from 0 to 2
_MAX_LETOR_LABEL = 2.0  # the greatest label of LETOR 3.0 and 4.0


def convention_note(dataset_key: str | None, greatest: float, key: str) -> str:
    """Return a note if a convention is for labels up to 2, but the data have larger ones.

    Such a convention counts more labels as relevant than the convention
    "mslr". The note is "" otherwise.

    Parameters
    ----------
    dataset_key : str or None
        Key of the known dataset; None for other data. For a known
        dataset there is no note.
    greatest : float
        The greatest relevance label.
    key : str
        Key of the convention.
    """
    if (
        dataset_key is not None
        or key not in _THREE_GRADES
        or greatest <= _MAX_LETOR_LABEL
    ):
        return ""
    return tr(
        "Labels go up to {greatest:g}, but {used} assumes 0–2 (gain 2^l − 1, labels from 1 up "
        "are relevant). {other} treats labels from 2 up as relevant: choose the convention "
        "that fits your data."
    ).format(
        greatest=greatest, used=convention(key).label, other=convention("mslr").label
    )
