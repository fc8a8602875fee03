"""Sentences on two models and their documents, made of the values that are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from typing import TYPE_CHECKING

from rankstudio.ui.language import tr
from rankstudio.ui.style.number_format import MINUS, signed

if TYPE_CHECKING:
    from rankstudio.engine.analysis.queries.query_comparison import QueryComparison
    from rankstudio.engine.analysis.queries.ranked_query import RankedDocument, RankedQuery

_ROUNDING = 1e-9
_WORDS = (
    *(tr("no"), tr("one"), tr("two"), tr("three"), tr("four"), tr("five")),
    *(tr("six"), tr("seven"), tr("eight"), tr("nine"), tr("ten")),
)


def number(value: float) -> str:
    """Return a number with three significant figures and a true minus."""
    return f"{value:.3g}".replace("-", MINUS)


def decimals(values: Sequence[float]) -> int:
    """Return how many decimals tell values apart: three figures of the range that they span."""
    span = max(values, default=0.0) - min(values, default=0.0)
    return min(8, max(0, 2 - floor(log10(span)))) if span > 0 else 3


def counted(n: int, one: str, several: str) -> str:
    """Return "one document", "four documents", "12 documents"."""
    word = _WORDS[n] if n < len(_WORDS) else f"{n:,}"
    return f"{word} {one if n == 1 else several}"


def comparison_sentence(found: QueryComparison) -> str:
    """Say how two models compare over all queries."""
    if not found.queries:
        return ""
    counts = found.counts
    mean, low, high = found.mean_difference
    sure = "" if low <= 0 <= high else ", which is told apart from 0"
    return (
        f"Equal in {counts.ties:,} of {len(found.queries):,} queries. "
        f"Mean B\u00a0−\u00a0A: {signed(mean, 4)} "
        f"(95\u00a0% interval {signed(low, 4)} to {signed(high, 4)}){sure}."
    )


def query_sentence(found: RankedQuery) -> str:
    """Say what B does to the relevant document that it moves most."""
    relevant = [d for d in found.documents if d.relevant]
    if not relevant:
        return "No document of this query is relevant."
    most = max(relevant, key=lambda d: (abs(d.rank_b - d.rank_a), d.label))
    if most.rank_a == most.rank_b:
        return "A and B put all relevant documents of this query at the same places."
    above = [d for d in found.documents if d.rank_b < most.rank_b and not d.relevant]
    others = "document that is not relevant", "documents that are not relevant"
    below = f", below {counted(len(above), *others)}" if above else ""
    return (
        f"B puts {most.name} (label {most.label:g}) at place {most.rank_b}{below}; "
        f"in A it is at place {most.rank_a}."
    )


def pair_sentence(found: RankedQuery, first: int, second: int) -> str:
    """Say which feature decides between two documents, by their positions."""
    decisive = found.decisive_feature(first, second)
    one, other = found.documents[first], found.documents[second]
    if decisive is None:
        return f"In A {one.name} and {other.name} have the same score: the order of ties decides."
    position, part, lead = decisive
    if lead < 0:
        one, other, part, lead = other, one, -part, -lead
    name = found.names[position]
    if abs(part - lead) <= _ROUNDING * max(1.0, lead):
        gives = f"all of it is {name}"
    elif part < lead:
        gives = f"{name} gives {number(part)} of it, more than any other feature"
    else:
        gives = f"{name} alone gives {number(part)}, and other features take some of it back"
    if one is found.documents[0]:
        ahead = f"{one.name} is first, {number(lead)} ahead of {other.name}"
    else:
        ahead = f"{one.name} leads {other.name} by {number(lead)}"
    return f"In A {ahead}: {gives}. {_in_b(one, other)}"


def _in_b(one: RankedDocument, other: RankedDocument) -> str:
    if one.rank_b < other.rank_b:
        return f"In B it leads too, at place {one.rank_b} against {other.rank_b}."
    return f"In B it is behind, at place {one.rank_b} against {other.rank_b}."
