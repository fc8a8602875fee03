"""Sentences on two models A and B, a query and its documents, for the panels of the Queries page."""

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

# relative rounding of a sum of contributions, which are added in
# another order than a score
_ROUNDING = 1e-9
# The n differences all have the same sign by chance with p = 2 / 2^n.
# Up to 5 queries, p exceeds 5 %.
_MIN_TESTABLE_QUERIES = 6

number = partial(significant, digits=3)


def decimals(values: Sequence[float]) -> int:
    """Return the number of decimals that show three significant digits of the range of some values.

    The number is at most 8, and 3 if all values are equal.
    """
    span = max(values, default=0.0) - min(values, default=0.0)
    return min(8, max(0, 2 - floor(log10(span)))) if span > 0 else 3


def comparison_sentence(comparison: QueryComparison) -> str:
    """Return the sentence on how two models compare over all queries.

    The sentence is "" without queries. Few queries are not tested;
    otherwise the difference is significant if its interval does not
    contain 0.
    """
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
    """Return the sentence on the relevant document whose rank differs most between A and B."""
    relevant = [d for d in ranked_query.documents if d.relevant]
    if not relevant:
        return tr("No document of this query is relevant.")

    # Of equal moves, that of the most relevant document.
    moved = max(relevant, key=lambda d: (abs(d.rank_b - d.rank_a), d.label))
    if moved.rank_a == moved.rank_b:
        return tr("A and B give the relevant documents of this query the same ranks.")
    n_above = sum(
        d.rank_b < moved.rank_b and not d.relevant for d in ranked_query.documents
    )
    template = trn(
        "{name} (label {label:g}) has rank {rank_b} in B, below {n} irrelevant document, and rank "
        "{rank_a} in A.",
        "{name} (label {label:g}) has rank {rank_b} in B, below {n} irrelevant documents, and rank "
        "{rank_a} in A.",
        n_above,
    )
    if not n_above:
        template = tr(
            "{name} (label {label:g}) has rank {rank_b} in B and rank {rank_a} in A."
        )
    return template.format(
        name=moved.name,
        label=moved.label,
        rank_b=moved.rank_b,
        n=n_above,
        rank_a=moved.rank_a,
    )


def pair_sentence(ranked_query: RankedQuery, first: int, second: int) -> str:
    """Return the sentences on the feature that decides between two documents in A, and on their ranks in B.

    Parameters
    ----------
    ranked_query : RankedQuery
    first, second : int
        Positions of the documents in A's order.
    """
    # position of the feature, its part of the lead, and the lead; None without one
    decisive = ranked_query.decisive_feature(first, second)
    better = ranked_query.documents[first]
    worse = ranked_query.documents[second]

    # the scores do not come from features
    if decisive is None and better.score_a != worse.score_a:
        return ""
    if decisive is None:
        return tr(
            "{name} and {name_2} have equal scores in A: the order of ties decides."
        ).format(name=better.name, name_2=worse.name)
    position, part, lead = decisive
    if lead < 0:  # the second document has the higher score
        better, worse = worse, better
        part = -part
        lead = -lead

    # Templates for a document at rank 1 of A, and for others. The
    # feature gives the whole lead, or less, or more than that.
    if abs(part - lead) <= _ROUNDING * max(1.0, lead):
        first_template = tr(
            "In A, {one} is first, {lead} ahead of {other}; {feature} gives all of the lead."
        )
        other_template = tr(
            "In A, {one} is {lead} ahead of {other}; {feature} gives all of the lead."
        )
    elif part < lead:
        first_template = tr(
            "In A, {one} is first, {lead} ahead of {other}; {feature} gives {part} of the lead, more "
            "than any other feature."
        )
        other_template = tr(
            "In A, {one} is {lead} ahead of {other}; {feature} gives {part} of the lead, more than any other "
            "feature."
        )
    else:
        first_template = tr(
            "In A, {one} is first, {lead} ahead of {other}; {feature} gives {part}, but other "
            "features reduce the lead."
        )
        other_template = tr(
            "In A, {one} is {lead} ahead of {other}; {feature} gives {part}, but other features reduce the "
            "lead."
        )
    template = first_template if better is ranked_query.documents[0] else other_template
    in_a = template.format(
        one=better.name,
        other=worse.name,
        feature=ranked_query.names[position],
        lead=number(lead),
        part=number(part),
    )
    return f"{in_a} {_ranks_in_b_sentence(better, worse)}"


def _ranks_in_b_sentence(first: RankedDocument, second: RankedDocument) -> str:
    """Return the sentence on the ranks of two documents in B."""
    text = tr("In B, {one} has rank {rank} and {other} has rank {rank_2}.")
    return text.format(
        one=first.name,
        rank=first.rank_b,
        other=second.name,
        rank_2=second.rank_b,
    )
