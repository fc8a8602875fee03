"""Sums over given preferences: what the hinge losses need of pairs that no labels tell."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankstudio.engine.arithmetic._rows_kernel import dot
from rankstudio.engine.arithmetic.linear_scores import Queries
from rankstudio.engine.arithmetic.pairs import Hinge, Pairs, Violations
from rankstudio.engine.arrays import Floats, Ints

if TYPE_CHECKING:
    from rankstudio.engine.data.preferences.preferences import Preferences


class PreferencePairs(Pairs):
    """The pairs of preferences, each with its weight, as :class:`Pairs` are those of labels.

    Parameters
    ----------
    preferences : Preferences
        Between rows of one query each.
    ptr, executor, workers
        As for :class:`Queries`.

    Attributes
    ----------
    winner, loser : ndarray of shape (l,)
        Ordered by query.
    weight : ndarray of shape (l,)
    begins : ndarray of shape (Q + 1,)
        Query q has the preferences ``begins[q]:begins[q + 1]``.
    lower, higher : ndarray of shape (m,)
        What the preferences weigh in which each document wins and loses.

    Notes
    -----
    O(m + l) for every sum: one pass through the sparse incidence matrix of the graph.
    """

    def __init__(
        self, preferences: Preferences, ptr: Ints, executor: Executor | None = None, workers: int = 1
    ) -> None:
        Queries.__init__(self, ptr, executor, workers)
        query = np.searchsorted(ptr, preferences.winner, side="right") - 1
        order = np.argsort(query, kind="stable")
        self.winner, self.loser = preferences.winner[order], preferences.loser[order]
        self.weight = preferences.weight[order]
        self.begins = np.searchsorted(query[order], np.arange(ptr.size))
        m = int(ptr[-1])
        self.lower = _summed(self.winner, self.weight, m)
        self.higher = _summed(self.loser, self.weight, m)

    @cached_property
    def n_pairs(self) -> float:
        """What all preferences weigh."""
        return float(self.weight.sum())

    def at(self, scores: Floats, margin: float = 1.0) -> Violations:
        """Find the preferences with s_i - s_j < margin; see :meth:`Pairs.at`. O(m + l)."""
        violated = np.flatnonzero(scores[self.winner] - scores[self.loser] < margin)
        winner, loser, weight = self.winner[violated], self.loser[violated], self.weight[violated]
        m = scores.size
        counts = np.stack([_summed(winner, weight, m), _summed(loser, weight, m)])
        sums = np.stack(
            [_summed(winner, weight * scores[loser], m), _summed(loser, weight * scores[winner], m)]
        )
        none = np.empty(0, dtype=np.int64)
        return PreferenceViolations(self, scores, margin, violated, none, none, counts, sums)

    def hinge(self, scores: Floats) -> Hinge:
        """Return the hinge at some scores; see :meth:`Pairs.hinge`. O(m + l)."""
        found = self.at(scores)
        slopes = found.counts[1] - found.counts[0]
        offset = float(found.counts[0].sum())
        return Hinge(offset + dot(slopes, scores), offset, slopes)


@dataclass(frozen=True, eq=False)
class PreferenceViolations(Violations):
    """The violated preferences at some scores, as weighted sums per document.

    ``order`` has the positions of those preferences, ascending; ``start`` and ``stop`` are empty.
    """

    def laplacian_of(self, values: Floats, first: int, last: int, out: Floats) -> None:
        """Compute :meth:`laplacian` for the documents of queries first … last - 1 alone."""
        of = self.pairs
        assert isinstance(of, PreferencePairs)
        ends = np.searchsorted(self.order, of.begins[[first, last]])
        mine = self.order[ends[0] : ends[1]]
        begin, end = int(of.ptr[first]), int(of.ptr[last])
        winner, loser = of.winner[mine], of.loser[mine]
        pull = of.weight[mine] * (values[winner] - values[loser])
        size = end - begin
        out[begin:end] = _summed(winner - begin, pull, size) - _summed(loser - begin, pull, size)


def _summed(rows: Ints, values: Floats, size: int) -> Floats:
    """Return the sum of the values of each row, shape (size,)."""
    return np.bincount(rows, values, size).astype(np.float64, copy=False)
