"""How far preferences agree with any ranking at all: contradictions and cycles (Airola 2011, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.preferences.preferences import Preferences


@dataclass(frozen=True)
class PreferenceSummary:
    """What is counted of preferences.

    Attributes
    ----------
    n_preferences : int
    n_pairs : int
        Pairs of documents that are compared, however often and whichever way.
    n_documents, n_queries : int
        That have a part in some preference.
    n_contradictions : int
        Pairs that are preferred both ways.
    n_cycles : int
        Groups of documents in which each is, by way of others, preferred to each: the strongly connected
        components of more than one document. A contradiction is one of two. No ranking agrees with all
        preferences of such a group, and some ranking agrees with all others.
    n_in_cycles, largest : int
        Documents in these groups, and in the largest of them.
    n_cyclic : int
        Preferences inside these groups.
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
        """Return the summary of the preferences of both, where they have no query in common."""
        values = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return PreferenceSummary(**{**values, "largest": max(self.largest, other.largest)})


NO_PREFERENCES = PreferenceSummary(0, 0, 0, 0, 0, 0, 0, 0, 0)


def summarise_preferences(preferences: Preferences, query: Ints) -> PreferenceSummary:
    """Count pairs, contradictions and cycles.

    Parameters
    ----------
    preferences : Preferences
    query : ndarray of shape (m,)
        Number of the query of each document, such as ``data.query_index``.

    Returns
    -------
    PreferenceSummary

    Notes
    -----
    O(m + l log l) for l preferences.
    """
    from scipy.sparse import coo_array  # noqa: PLC0415 - where it is needed
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - as above

    winner, loser, m = preferences.winner, preferences.loser, query.size
    ways = np.unique(winner * m + loser)
    one, other = np.divmod(ways, m)
    pairs = np.unique(np.minimum(one, other) * m + np.maximum(one, other))
    graph = coo_array((np.ones(winner.size), (winner, loser)), shape=(m, m))
    _, component = connected_components(graph, connection="strong")
    sizes = np.bincount(component)
    cycles = sizes[sizes > 1]
    inside = (component[winner] == component[loser]) if winner.size else np.zeros(0, dtype=bool)
    taking_part = np.unique(np.append(winner, loser))
    return PreferenceSummary(
        n_preferences=len(preferences),
        n_pairs=pairs.size,
        n_documents=taking_part.size,
        n_queries=np.unique(query[taking_part]).size,
        n_contradictions=ways.size - pairs.size,
        n_cycles=cycles.size,
        n_in_cycles=int(cycles.sum()),
        largest=int(cycles.max(initial=0)),
        n_cyclic=int(inside.sum()),
    )
