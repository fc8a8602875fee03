"""Sentences on two models and their documents, made of the values that are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import floor, log10
from typing import TYPE_CHECKING

from rankstudio.engine.support.number_format import signed, significant
from rankstudio.ui.language import tr, trn

if TYPE_CHECKING:
    from rankstudio.plugins.queries.query_comparison import QueryComparison
    from rankstudio.plugins.queries.ranked_query import RankedDocument, RankedQuery

_ROUNDING = 1e-9  # a score is a sum of contributions, added up in another order
_MIN_TESTABLE_QUERIES = (
    6  # queries: n signs can all be equal by chance with p = 2 / 2^n, which is over 5 % up to 5
)

number = partial(significant, digits=3)


def decimals(values: Sequence[float]) -> int:
    """Return how many decimals tell values apart: three figures of the range that they span."""
    span = max(values, default=0.0) - min(values, default=0.0)
    return min(8, max(0, 2 - floor(log10(span)))) if span > 0 else 3


def comparison_sentence(comparison: QueryComparison) -> str:
    """Return how two models compare over all queries."""
    if not comparison.queries:
        return ""
    counts = comparison.counts
    mean, low, high = comparison.mean_difference
    if len(comparison.queries) < _MIN_TESTABLE_QUERIES:
        template = tr(
            "Equal in {ties:,} of {n_queries:,} queries. Mean B\xa0−\xa0A: {mean}. A test needs at least "
            "{testable} queries."
        )
    elif low <= 0 <= high:
        template = tr(
            "Equal in {ties:,} of {n_queries:,} queries. Mean B\xa0−\xa0A: {mean} (95\xa0% interval {low} "
            "to {high})."
        )
    else:
        template = tr(
            "Equal in {ties:,} of {n_queries:,} queries. Mean B\xa0−\xa0A: {mean} (95\xa0% interval {low} "
            "to {high}), significantly different from 0."
        )
    return template.format(
        ties=counts.ties,
        n_queries=len(comparison.queries),
        mean=signed(mean, 4),
        low=signed(low, 4),
        high=signed(high, 4),
        testable=_MIN_TESTABLE_QUERIES,
    )


def query_sentence(ranked_query: RankedQuery) -> str:
    """Describe the change of rank in B of the relevant document that it moves most."""
    relevant = [d for d in ranked_query.documents if d.relevant]
    if not relevant:
        return tr("No document of this query is relevant.")
    moved = max(relevant, key=lambda d: (abs(d.rank_b - d.rank_a), d.label))
    if moved.rank_a == moved.rank_b:
        return tr("A and B give the relevant documents of this query the same ranks.")
    above = sum(d.rank_b < moved.rank_b and not d.relevant for d in ranked_query.documents)
    template = trn(
        "{name} (label {label:g}) has rank {rank_b} in B, below {n} irrelevant document, and rank "
        "{rank_a} in A.",
        "{name} (label {label:g}) has rank {rank_b} in B, below {n} irrelevant documents, and rank "
        "{rank_a} in A.",
        above,
    )
    if not above:
        template = tr("{name} (label {label:g}) has rank {rank_b} in B and rank {rank_a} in A.")
    return template.format(
        name=moved.name, label=moved.label, rank_b=moved.rank_b, n=above, rank_a=moved.rank_a
    )


def pair_sentence(ranked_query: RankedQuery, first: int, second: int) -> str:
    """Return which feature decides between two documents, by their positions."""
    decisive = ranked_query.decisive_feature(first, second)
    better = ranked_query.documents[first]
    worse = ranked_query.documents[second]
    if decisive is None and better.score_a != worse.score_a:  # scores that no features made
        return ""
    if decisive is None:
        return tr("{name} and {name_2} have equal scores in A: the order of ties decides.").format(
            name=better.name, name_2=worse.name
        )
    position, part, lead = decisive
    if lead < 0:
        better, worse, part, lead = worse, better, -part, -lead
    if abs(part - lead) <= _ROUNDING * max(1.0, lead):
        on_top = tr("In A, {one} is first, {lead} ahead of {other}; {feature} gives all of the lead.")
        further = tr("In A, {one} is {lead} ahead of {other}; {feature} gives all of the lead.")
    elif part < lead:
        on_top = tr(
            "In A, {one} is first, {lead} ahead of {other}; {feature} gives {part} of the lead, more "
            "than any other feature."
        )
        further = tr(
            "In A, {one} is {lead} ahead of {other}; {feature} gives {part} of the lead, more than any other "
            "feature."
        )
    else:
        on_top = tr(
            "In A, {one} is first, {lead} ahead of {other}; {feature} gives {part}, but other "
            "features reduce the lead."
        )
        further = tr(
            "In A, {one} is {lead} ahead of {other}; {feature} gives {part}, but other features reduce the "
            "lead."
        )
    in_a = (on_top if better is ranked_query.documents[0] else further).format(
        one=better.name,
        other=worse.name,
        feature=ranked_query.names[position],
        lead=number(lead),
        part=number(part),
    )
    return f"{in_a} {_ranks_in_b_sentence(better, worse)}"


def _ranks_in_b_sentence(first: RankedDocument, second: RankedDocument) -> str:
    text = tr("In B, {one} has rank {rank} and {other} has rank {rank_2}.")
    return text.format(one=first.name, rank=first.rank_b, other=second.name, rank_2=second.rank_b)
