"""How few queries have to be gone for any selector to select another feature: by training it again."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.analysis.features.set_checks import enough_queries
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import between
from rankstudio.engine.methods.selection.base import Selector
from rankstudio.engine.methods.selection.query_parts import grams_by_query
from rankstudio.engine.methods.shards.training_data import GivenData, TrainingData, training_data
from rankstudio.engine.steps import steps_of
from rankstudio.engine.support.work import Waiting, WorkProgress, without_notes
from rankstudio.plugins.evidence.decided_step import MOST_REFITS, DecidedStep
from rankstudio.plugins.evidence.stability_selection import Path, path_of_steps

_MAX_REFITS = 1_000_000  # a greater number is taken for a slip
_PROGRESS_TEXT = "selecting without some queries"


def refit_steps(
    estimator: Selector, data: GivenData, n_features: int | None = None, n_refits: int = MOST_REFITS
) -> Waiting[tuple[DecidedStep, ...]]:
    """Find a small group of queries for each feature without which a selector does not select it so early.

    Parameters
    ----------
    estimator : Selector
        Any selector; it is not fitted here.
    data : QueryData or TrainingData
    n_features : int, optional
        Number of features that are examined; by default those that the estimator selects.
    n_refits : int
        Maximum number of times that the estimator is trained again.

    Returns
    -------
    tuple of DecidedStep
        One per feature. Later features have no queries once all trainings are used up.

    Notes
    -----
    The t-th feature counts as decided by queries without which it is not among the first t features. Queries
    are removed in the order in which a model of the feature alone fits their labels better than one of the
    next feature does, in numbers that double until the selection changes, and are then put back by bisection:
    2 log2 c trainings for c queries. A smaller group of other queries may exist.
    """
    rows = training_data(data)
    enough_queries(rows.ptr.size - 1, 3, "Deciding queries")
    search = _RefitSearch(estimator, rows, between("n_refits", n_refits, 0, _MAX_REFITS))
    path = yield from search.path(np.empty(0, dtype=np.int64))
    order = path[-1] if n_features is None else path[-1][:n_features]
    decided: list[DecidedStep] = []
    for position in range(len(order)):
        yield WorkProgress(_PROGRESS_TEXT, position / len(order))
        decided.append((yield from search.decided(path, position)))
    return tuple(decided)


class _RefitSearch:
    """The search for deciding queries, which counts how often a method is trained."""

    def __init__(self, estimator: Selector, data: TrainingData, n_refits: int) -> None:
        self._estimator = estimator
        self._data = data
        self._left = n_refits

    def path(self, removed: Ints) -> Waiting[Path]:
        """Train without some queries, and return the features after each step."""
        queries = np.setdiff1d(np.arange(self._data.ptr.size - 1), removed)
        rest = self._data.taken(queries) if removed.size else self._data
        fresh = type(self._estimator)(**self._estimator.get_params(deep=False))
        steps = yield from without_notes(steps_of(fresh.work(rest)))
        return path_of_steps(fresh, steps)

    def decided(self, path: Path, position: int) -> Waiting[DecidedStep]:
        """Return the fewest queries that were found for the feature at a place of the path, from 0."""
        order = path[-1]
        winner = order[position]
        before = set(order[:position])
        undecided = DecidedStep(winner, (), None)
        lead = yield from self._lead(
            winner, before, order[position + 1] if position + 1 < len(order) else None
        )
        queries: Ints = np.argsort(-lead, kind="stable")
        lower = 0  # without the first `lower` queries it stays
        count = 1
        limit = queries.size - 2
        instead: int | None = None
        while True:
            if self._left == 0:
                return undecided
            stays, instead = yield from self._stays(queries[:count], position, winner, before)
            if not stays:
                break
            if count >= limit:
                return undecided
            lower = count
            count = min(2 * count, limit)
        while count - lower > 1 and self._left:
            fewer = (lower + count) // 2
            stays, other = yield from self._stays(queries[:fewer], position, winner, before)
            if stays:
                lower = fewer
            else:
                count = fewer
                instead = other
        return DecidedStep(winner, tuple(queries[:count].tolist()), instead)

    def _stays(
        self, removed: Ints, position: int, winner: int, before: set[int]
    ) -> Waiting[tuple[bool, int | None]]:
        """Return whether a feature is selected as early without some queries, else the one that is."""
        self._left -= 1
        path = yield from self.path(removed)
        chosen = path[min(position, len(path) - 1)]
        instead = next((column for column in chosen if column not in before and column != winner), None)
        return winner in chosen, instead

    def _lead(self, winner: int, before: set[int], rival: int | None) -> Waiting[Floats]:
        """Return by how much a feature alone fits each query's labels better than a rival, (Q,)."""
        if rival is None:
            outside = [
                column for column in range(self._data.X.shape[1]) if column != winner and column not in before
            ]
            if not outside:
                return (yield from self._fits([winner]))[:, 0]
            fits = yield from self._fits(outside)
            rival = outside[int(np.argmax(fits.sum(axis=0)))]
        pair_fits = yield from self._fits([winner, rival])
        return pair_fits[:, 0] - pair_fits[:, 1]

    def _fits(self, columns: list[int]) -> Waiting[Floats]:
        """Return how much of each query's labels least squares of each single feature explain, (Q, c)."""
        grams = yield from grams_by_query(self._data, columns)
        squares = np.diagonal(grams, axis1=1, axis2=2)[:, :-1]
        products = grams[:, -1, :-1]
        total = squares.sum(axis=0)
        weights = np.divide(products.sum(axis=0), total, out=np.zeros_like(total), where=total > 0)
        explained: Floats = weights * (2.0 * products - weights * squares)
        return explained
