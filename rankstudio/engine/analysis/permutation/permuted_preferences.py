"""The criteria of a method's steps where the documents of preferences are exchanged within their queries.

To turn each preference round for itself would be no such test: those of one query have a common cause, the
labels or a user, so that many agree by chance where one does, and p would be far too small. Documents that
change places leave it to the preferences how far they agree with each other, and preferences between all
pairs of labels are permuted as the labels are. Only documents that are compared change places: which ones
these are may well depend on the features.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from rankstudio.engine.analysis.permutation.permuted_paths import PermutedPaths, learned_path
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.pair_cost.preference_rows import (
    PreferenceBlock,
    preference_blocks,
    rows_of,
)
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.pair_learners import PairwiseLeastSquares
from rankstudio.engine.methods.rankers.rankrls import RankRLS
from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS
from rankstudio.engine.support.threads import pool, share

_MOST_ROOM = 1e9  # bytes; not what is free just now: rows that are made anew each time have other last bits


def compared_rows(data: QueryData) -> Bools:
    """Return which documents have a part in some preference, shape (m,)."""
    assert data.preferences is not None
    compared = np.zeros(data.y.size, dtype=bool)
    compared[data.preferences.winner] = compared[data.preferences.loser] = True
    return compared


@contextmanager
def preferred_paths(estimator: LinearRanker, data: QueryData) -> Iterator[PermutedPaths]:
    """Provide the function that learns from preferences of which the documents are exchanged.

    Parameters
    ----------
    estimator : LinearRanker
        That learns from preferences.
    data : QueryData
        With preferences.
    """
    assert data.preferences is not None
    preferences = data.preferences
    blocks = None
    if isinstance(estimator, PairwiseLeastSquares) and type(estimator) in (GreedyRankRLS, RankRLS):
        blocks = _blocks(estimator, data)

    def exchanged(order: Ints) -> QueryData:
        other = replace(data, preferences=preferences.in_order(order))
        if blocks is not None:
            assert isinstance(estimator, PairwiseLeastSquares)
            place = np.empty_like(order)
            place[order] = np.arange(order.size)
            # Who has the part of whom: what the preferences make of it is known.
            PairRows.keep(other, estimator.pair_cost(), rows_of(data.X[place], blocks))
        return other

    with pool() as (executor, workers):

        def paths(orders: Sequence[Ints]) -> list[Floats]:
            found: list[Floats] = [np.empty(0)] * len(orders)

            def learn(number: int) -> None:
                found[number] = learned_path(estimator, exchanged(orders[number]))

            share(executor, workers, learn, range(len(orders)))
            return found

        yield paths


def _blocks(estimator: PairwiseLeastSquares, data: QueryData) -> tuple[PreferenceBlock, ...] | None:
    """Return what makes rows of the documents; None where it takes much memory."""
    sizes = np.diff(data.ptr).astype(np.float64)
    if 8.0 * float(((sizes + 1) * sizes).sum()) > _MOST_ROOM:
        return None
    assert data.preferences is not None
    return tuple(preference_blocks(data.ptr, data.preferences, estimator.pair_cost()))
