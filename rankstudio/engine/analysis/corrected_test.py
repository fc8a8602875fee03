"""Paired tests corrected by Holm: which of them are one family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankstudio.engine.statistics.paired import PairedComparison, holm

_CORRECTED = "p_randomisation", "p_t", "p_wilcoxon"


@dataclass(frozen=True)
class CorrectedTest:
    """What the queries say of one run against another.

    Attributes
    ----------
    test : PairedComparison
        The run minus the other.
    p_holm, p_t_holm, p_wilcoxon_holm : float
        The p of the randomisation test, of Student's t and of Wilcoxon's signed ranks, each corrected by
        Holm for the family.
    """

    test: PairedComparison
    p_holm: float
    p_t_holm: float
    p_wilcoxon_holm: float


def family(found: Sequence[PairedComparison]) -> list[CorrectedTest]:
    """Correct each test's p of all comparisons by Holm, as one family.

    A family is all that one table tests together by one measure: every run that can be paired with the
    reference, each once. Every pair of a table of pins is one family as well. Of runs that repeat another
    one, see `rankstudio.engine.analysis.repeated_runs`, only the first counts, and none
    that repeats the reference: :func:`distinct_family`.
    """
    corrected = [holm([getattr(one, name) for one in found]).tolist() for name in _CORRECTED]
    return [CorrectedTest(*those) for those in zip(found, *corrected, strict=True)]


def distinct_family(
    found: Sequence[PairedComparison], pairs: Sequence[tuple[int, int]]
) -> list[CorrectedTest]:
    """Correct comparisons as one family in which equal pairs of runs count once.

    Parameters
    ----------
    found : sequence of PairedComparison
    pairs : sequence of pairs of int
        Of each comparison, which runs it is of; of those that repeat another one, the other.

    Returns
    -------
    list of CorrectedTest
        One for each comparison; where both runs are the same there is nothing to correct.
    """
    places = {pair: place for place, pair in reversed(list(enumerate(pairs))) if pair[0] != pair[1]}
    corrected = dict(zip(places, family([found[place] for place in places.values()]), strict=True))
    return [
        corrected.get(pair) or CorrectedTest(test, *(getattr(test, name) for name in _CORRECTED))
        for pair, test in zip(pairs, found, strict=True)
    ]
