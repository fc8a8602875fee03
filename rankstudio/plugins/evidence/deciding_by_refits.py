"""Groups of queries without which a selector selects another feature, found by training it again."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.analysis.features.set_checks import enough_queries
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import between
from rankstudio.engine.methods.selection.base import Selector
from rankstudio.engine.methods.selection.query_parts import grams_by_query
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    TrainingData,
    training_data,
)
from rankstudio.engine.steps import steps_of
from rankstudio.engine.support.work import Waiting, WorkProgress, without_notes
from rankstudio.plugins.evidence.decided_step import MOST_REFITS, DecidedStep
from rankstudio.plugins.evidence.stability_selection import Path, path_of_steps

_MAX_REFITS = 1_000_000  # a greater number is taken for a typing error
_PROGRESS_TEXT = "selecting without some queries"


def refit_steps(
    estimator: Selector,
    data: GivenData,
    n_features: int | None = None,
    n_refits: int = MOST_REFITS,
) -> Waiting[tuple[DecidedStep, ...]]:
    """Find for each selected feature a small group of queries without which it is not selected as early.

    Parameters
    ----------
    estimator : Selector
        Any selector; it is not fitted here.
    data : QueryData or TrainingData
        Grouped documents from which the estimator selects.
    n_features : int, optional
        Number of features that are examined; by default those that the
        estimator selects.
    n_refits : int
        Maximum number of times that the estimator is trained again.

    Returns
    -------
    tuple of DecidedStep
        One per feature. Once the maximum number of trainings is
        reached, later features have no queries.

    Notes
    -----
    The t-th feature is decided by queries without which it is not among
    the first t features. Queries are ordered by how much better a model
    of this feature alone fits their labels than a model of the next
    feature alone. The first 1, 2, 4, … of them are removed until the
    selection changes. Bisection then finds how many can be put back: c
    deciding queries take about 2 log2 c trainings. A smaller group of
    other queries may exist.
    """
    rows = training_data(data)
    enough_queries(rows.ptr.size - 1, 3, "Deciding queries")
    search = _RefitSearch(
        estimator, rows, between("n_refits", n_refits, 0, _MAX_REFITS)
    )

    # The path without any query removed; its last step has all features
    # in order.
    path = yield from search.path(np.empty(0, dtype=np.int64))
    order = path[-1] if n_features is None else path[-1][:n_features]
    decided: list[DecidedStep] = []

    for position in range(len(order)):
        yield WorkProgress(_PROGRESS_TEXT, position / len(order))
        decided.append((yield from search.decided(path, position)))

    return tuple(decided)


class _RefitSearch:
    """A search for deciding queries that trains a method again, up to a maximum number of trainings."""

    def __init__(self, estimator: Selector, data: TrainingData, n_refits: int) -> None:
        self._estimator = estimator
        self._data = data
        self._remaining_refits = n_refits

    def path(self, removed: Ints) -> Waiting[Path]:
        """Train without some queries, and return the features after each step.

        ``removed`` has the positions of the removed queries. The result
        is from a generator of progress. It has, for each step, all
        features selected up to this step.
        """
        queries = np.setdiff1d(np.arange(self._data.ptr.size - 1), removed)
        rest = self._data.taken(queries) if removed.size else self._data
        fresh = type(self._estimator)(**self._estimator.get_params(deep=False))
        steps = yield from without_notes(steps_of(fresh.work(rest)))
        return path_of_steps(fresh, steps)

    def decided(self, path: Path, position: int) -> Waiting[DecidedStep]:
        """Return the smallest group of deciding queries found for a feature of a path.

        ``path`` has the features after each step, and ``position``,
        from 0, is that of the feature in the order of selection. The
        step has no queries if the trainings are used up before the
        selection changes, or if it never changes.
        """
        order = path[-1]
        winner = order[position]
        earlier_features = set(order[:position])
        undecided = DecidedStep(winner, (), None)
        next_feature = order[position + 1] if position + 1 < len(order) else None
        lead = yield from self._lead_by_query(winner, earlier_features, next_feature)
        queries: Ints = np.argsort(-lead, kind="stable")
        lower = 0  # the feature is still selected without the first `lower` queries
        count = 1
        limit = queries.size - 2  # two queries remain to learn from
        instead: int | None = None

        # Remove 1, 2, 4, ... queries until the feature is no longer
        # selected as early.
        while True:
            if self._remaining_refits == 0:
                return undecided
            stays, instead = yield from self._stays_without(
                queries[:count], position, winner, earlier_features
            )
            if not stays:
                break
            if count >= limit:
                return undecided
            lower = count
            count = min(2 * count, limit)

        # Bisect: `count` removed queries change the selection, `lower` do not.
        while count - lower > 1 and self._remaining_refits:
            middle = (lower + count) // 2
            stays, replacement = yield from self._stays_without(
                queries[:middle], position, winner, earlier_features
            )
            if stays:
                lower = middle
            else:
                count = middle
                instead = replacement

        return DecidedStep(winner, tuple(queries[:count].tolist()), instead)

    def _stays_without(
        self, removed: Ints, position: int, winner: int, earlier_features: set[int]
    ) -> Waiting[tuple[bool, int | None]]:
        """Train without the queries ``removed``; tell if ``winner`` is still selected as early.

        ``position``, from 0, is that of the winner on the path of all
        queries, and ``earlier_features`` are the features selected
        before the winner. The second result is the feature that
        replaces the winner: the first other feature up to the position
        that is not an earlier one, or None. Both are the result of a
        generator of progress.
        """
        self._remaining_refits -= 1
        path = yield from self.path(removed)

        # features up to the position; the path may be shorter without
        # the queries
        chosen = path[min(position, len(path) - 1)]
        instead = next(
            (
                column
                for column in chosen
                if column not in earlier_features and column != winner
            ),
            None,
        )
        return winner in chosen, instead

    def _lead_by_query(
        self, winner: int, earlier_features: set[int], rival: int | None
    ) -> Waiting[Floats]:
        """Return by how much a feature alone fits each query's labels better than a rival.

        The result of the generator has the shape (Q,), for Q queries.
        The feature is the column ``winner``. If ``rival`` is None, the
        rival is the feature that fits the labels best alone, other than
        the winner and the ``earlier_features``.
        """
        if rival is None:
            outside = [
                column
                for column in range(self._data.X.shape[1])
                if column != winner and column not in earlier_features
            ]
            if not outside:
                # No feature can be a rival: compare with no feature at all.
                return (yield from self._fits([winner]))[:, 0]
            fits = yield from self._fits(outside)
            rival = outside[int(np.argmax(fits.sum(axis=0)))]
        pair_fits = yield from self._fits([winner, rival])
        return pair_fits[:, 0] - pair_fits[:, 1]

    def _fits(self, columns: list[int]) -> Waiting[Floats]:
        """Return by how much each feature alone lowers the squared error of each query.

        The result of the generator has the shape (Q, c), for Q queries
        and the c columns. A feature's weight is that of least squares
        over all queries.
        """
        # shape (Q, c + 1, c + 1)
        grams = yield from grams_by_query(self._data, columns)

        # The last row and column of each Gram matrix belong to the labels.
        squares = np.diagonal(grams, axis1=1, axis2=2)[:, :-1]
        products = grams[:, -1, :-1]
        total = squares.sum(axis=0)
        weights = np.divide(
            products.sum(axis=0), total, out=np.zeros_like(total), where=total > 0
        )

        # |y|^2 - |y - w x|^2
        explained: Floats = weights * (2.0 * products - weights * squares)
        return explained
