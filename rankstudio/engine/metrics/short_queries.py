"""Queries that count 0 in a measure for any ranking, as they are short: a rule of LETOR's conventions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from rankstudio.engine.arrays import Ints
from rankstudio.engine.language import tr, trn
from rankstudio.engine.metrics.conventions import convention


class ShortQueries(NamedTuple):
    """Queries that count 0 in measures because they have few documents.

    Attributes
    ----------
    n_short, n_queries : int
        Number of queries that count 0, and of all queries.
    measures : tuple of str
    cut : int
        Queries with fewer documents count 0.
    """

    n_short: int
    n_queries: int
    measures: tuple[str, ...]
    cut: int

    @property
    def note(self) -> str:
        """Sentence for users with the number of short queries, the measures and the cut-off."""
        text = trn(
            "{n:,} of {total:,} queries counts 0 in {measures} (fewer than {cut} documents).",
            "{n:,} of {total:,} queries count 0 in {measures} (fewer than {cut} documents).",
            self.n_short,
        )
        measures = ", ".join(self.measures)
        return text.format(
            n=self.n_short, total=self.n_queries, measures=measures, cut=self.cut
        )


def short_queries(
    query_sizes: Ints, key: str, names: Iterable[str]
) -> ShortQueries | None:
    """Count the queries that count 0 in measures because they have few documents; None if there are none.

    Parameters
    ----------
    query_sizes : ndarray of shape (Q,)
        Number of documents of each query.
    key : str
        Key of the convention.
    names : iterable of str
        Names of the measures; of several cut-offs the largest is reported.
    """
    # Number of documents below which a query counts 0, by measure; 0 if
    # it always counts.
    cuts = {name: convention(key).min_documents(name) for name in names}
    cut = max(cuts.values(), default=0)
    n_short = int(np.count_nonzero(query_sizes < cut))
    if not n_short:
        return None
    measures = tuple(name for name, least in cuts.items() if least == cut)
    return ShortQueries(n_short, query_sizes.size, measures, cut)


def short_query_note(query_sizes: Ints, key: str, names: Iterable[str]) -> str:
    """Return the sentence on queries that count 0 because they have few documents.

    ``query_sizes`` (Q,) are the numbers of documents of the queries,
    ``key`` is that of the convention, and ``names`` are those of the
    measures. Return "" if no query counts 0.
    """
    short = short_queries(query_sizes, key, names)
    return short.note if short is not None else ""


def zero_measure_note(key: str, name: str) -> str:
    """Return why a measure may be 0 for all models, and what to do, as sentences.

    ``key`` is that of the convention, and ``name`` that of the measure.
    Return "" if the convention has no rule by which short queries count
    0 in the measure.
    """
    rules = convention(key)
    cut = rules.min_documents(name)
    if not cut:
        return ""
    text = tr(
        "All models have {measure} = 0, so it cannot choose one. Queries with fewer than {cut} documents "
        "count 0 by the {label} convention. Choose another convention or criterion."
    )
    return text.format(measure=name, cut=cut, label=rules.label)
