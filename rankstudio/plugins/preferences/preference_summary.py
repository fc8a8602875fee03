"""Counts preferences, contradictions and cycles, which show how far preferences can agree with any ranking.

See Airola (2011), section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.preferences import Preferences


@dataclass(frozen=True)
class PreferenceSummary:
    """Counts of preferences between documents, and of their contradictions and cycles.

    Attributes
    ----------
    n_preferences : int
    n_pairs : int
        Distinct pairs of compared documents, in either direction.
    n_documents, n_queries : int
        Documents and queries that occur in preferences.
    n_contradictions : int
        Pairs with preferences in both directions.
    n_cycles : int
        Preference cycles: strongly connected components of more than
        one document. A contradiction is a cycle of two documents. No
        ranking satisfies all preferences within such a group, and some
        ranking satisfies all others.
    n_in_cycles, largest : int
        Number of documents in these components, and in the largest one.
    n_cyclic : int
        Number of preferences within these components.
    """

    n_preferences: int
    n_pairs: int
    n_documents: int
    n_queries: int
    n_contradictions: int
    n_cycles: int
    n_in_cycles: int
    largest: int
    n_cyclic: int

    def __add__(self, other: PreferenceSummary) -> PreferenceSummary:
        """Return the summary of the preferences of both, which must have no query in common."""
        values = {
            f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)
        }

        # All counts are added, except the size of the largest cycle.
        return PreferenceSummary(
            **{**values, "largest": max(self.largest, other.largest)}
        )


NO_PREFERENCES = PreferenceSummary(0, 0, 0, 0, 0, 0, 0, 0, 0)


def summarise_preferences(preferences: Preferences, query: Ints) -> PreferenceSummary:
    """Count the pairs, contradictions and cycles among preferences.

    Parameters
    ----------
    preferences : Preferences
        Preferences of documents over others.
    query : ndarray of shape (m,)
        Query number of each document, such as ``data.query_index``.

    Returns
    -------
    PreferenceSummary
        Counts of the preferences.

    Notes
    -----
    O(m + l log l) for l preferences.
    """
    from scipy.sparse import coo_array  # noqa: PLC0415 - where it is needed
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - as above

    winner = preferences.winner
    loser = preferences.loser
    m = query.size
    directed_pairs = np.unique(winner * m + loser)  # each pair of rows as one number
    winner_row, loser_row = np.divmod(directed_pairs, m)

    # Pairs in both directions become one pair here, so that the
    # difference is the number of contradictions.
    pairs = np.unique(
        np.minimum(winner_row, loser_row) * m + np.maximum(winner_row, loser_row)
    )

    # Documents of one strongly connected component are in cycles with each other.
    graph = coo_array((np.ones(winner.size), (winner, loser)), shape=(m, m))

    # `component` has the number of each document's component, (m,).
    _, component = connected_components(graph, connection="strong")
    sizes = np.bincount(component)
    cycles = sizes[sizes > 1]

    # Preferences within a component are those that a ranking cannot satisfy together.
    inside = (
        (component[winner] == component[loser])
        if winner.size
        else np.zeros(0, dtype=bool)
    )
    taking_part = np.unique(np.append(winner, loser))
    return PreferenceSummary(
        n_preferences=len(preferences),
        n_pairs=pairs.size,
        n_documents=taking_part.size,
        n_queries=np.unique(query[taking_part]).size,
        n_contradictions=directed_pairs.size - pairs.size,
        n_cycles=cycles.size,
        n_in_cycles=int(cycles.sum()),
        largest=int(cycles.max(initial=0)),
        n_cyclic=int(inside.sum()),
    )
