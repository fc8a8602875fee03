"""Triangular factors of the Laplacians of preferences, by elimination, for some queries at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class ScaledPreferences:
    """Preferences as squared errors: (target - scale (s_winner - s_loser))² of scores s.

    Attributes
    ----------
    query : ndarray of shape (l,)
        The number of the query of each.
    winner, loser : ndarray of shape (l,)
        Documents.
    scale, targets : ndarray of shape (l,)
    """

    query: Ints
    winner: Ints
    loser: Ints
    scale: Floats
    targets: Floats

    def at(self, which: Ints | slice) -> ScaledPreferences:
        """Return some of them."""
        return ScaledPreferences(
            self.query[which], self.winner[which], self.loser[which], self.scale[which], self.targets[which]
        )


@dataclass(frozen=True, eq=False)
class LaplacianFactor:
    """Rows of which the squared errors are the loss of the preferences of some queries.

    A query of c components of compared documents has |q| - c rows and one more, of zeros: its target is the
    root of the loss that no scores take away.

    Attributes
    ----------
    inside : slice
        The documents.
    targets : ndarray of shape (r,)
    counts : ndarray of shape (queries,)
        How many of the rows each query has.
    """

    inside: slice
    targets: Floats
    counts: Ints
    _ptr: Ints
    _starts: Ints
    _entries: Floats
    _place: Ints

    def times(self, X: Floats) -> Floats:
        """Return S X for X of shape (documents, n), where S'S is the Laplacian; exactly 0 for a constant.

        O(|q|² n) a query.
        """
        from rankstudio.engine.arithmetic.pair_cost import _laplacian_kernel  # noqa: PLC0415 - numba

        out = np.zeros((self.targets.size, X.shape[1]))
        ordered = np.ascontiguousarray(X, dtype=np.float64)
        _laplacian_kernel.multiply(ordered, self._ptr, self._starts, self._entries, self._place, out)
        return out


def laplacian_factors(
    ptr: Ints, preferences: ScaledPreferences, entries: int = 0
) -> Iterator[LaplacianFactor]:
    """Yield the factors of runs of queries.

    Parameters
    ----------
    ptr : ndarray of shape (Q + 1,)
        Query q has the documents ``ptr[q]:ptr[q + 1]``.
    preferences : ScaledPreferences
        Each between two documents of one query.
    entries : int
        How many entries a run of several queries may have; 0 for a run of each query.

    Notes
    -----
    O(l_q + |q|³ / 3) a query at most, |q| (|q| - 1) / 2 entries.
    """
    order = np.argsort(preferences.query, kind="stable")
    edges = np.append(0, np.cumsum(np.bincount(preferences.query, minlength=ptr.size - 1)))
    ordered = preferences.at(order)
    sizes = np.diff(ptr)
    ends = np.cumsum(sizes * (sizes - 1) // 2)
    first = 0
    while first < sizes.size:
        before = int(ends[first - 1]) if first else 0
        within = int(np.searchsorted(ends, before + entries, side="right")) if entries else 0
        last = max(first + 1, within)
        lines = slice(int(edges[first]), int(edges[last]))
        inside = slice(int(ptr[first]), int(ptr[last]))
        yield _factor(
            ptr[first : last + 1] - ptr[first],
            edges[first : last + 1] - lines.start,
            inside,
            ordered.at(lines),
        )
        first = last


def _factor(ptr: Ints, edges: Ints, inside: slice, preferences: ScaledPreferences) -> LaplacianFactor:
    """Return the factor of a run of queries; `ptr` and `edges` count what is the run's own from 0."""
    from rankstudio.engine.arithmetic.pair_cost import _laplacian_kernel  # noqa: PLC0415 - numba

    m, sizes = int(ptr[-1]), np.diff(ptr)
    later = np.repeat(ptr[1:], sizes) - np.arange(m) - 1
    starts = np.cumsum(later) - later
    entries, targets, scores = np.zeros(int(later.sum())), np.empty(m), np.empty(m)
    rest = np.empty(sizes.size)
    _laplacian_kernel.eliminate(
        ptr,
        edges,
        preferences.winner - inside.start,
        preferences.loser - inside.start,
        preferences.scale,
        preferences.targets,
        starts,
        entries,
        targets,
        scores,
        rest,
    )
    there = ~np.isnan(targets)
    counts = np.add.reduceat(there, ptr[:-1], dtype=np.int64) + 1
    ends = np.cumsum(counts)
    query = np.repeat(np.arange(sizes.size), sizes)
    place = np.where(there, np.cumsum(there) - 1 + query, -1)
    values = np.empty(int(ends[-1]))
    values[ends - 1] = rest
    values[place[there]] = targets[there]
    return LaplacianFactor(inside, values, counts, ptr, starts, entries, place)
