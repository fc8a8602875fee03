"""Shares of the left-out gain that do not depend on the order of selection: Shapley values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.analysis.features.set_checks import columns_of, exact_exchange
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.capabilities import ExactExchange
from rankstudio.engine.methods.selection.greedy_rankrls.search_steps import (
    FloatingSearch,
)
from rankstudio.engine.methods.selection.greedy_rankrls.summed_rows import summed_rows
from rankstudio.engine.methods.selection.greedy_rankrls.swaps import on_demand_search
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    TrainingData,
    training_data,
)
from rankstudio.engine.support.threads import STEADY
from rankstudio.engine.support.work import Waiting, WorkProgress, finish

_PROGRESS_TEXT = "learning from all subsets"
MOST_FEATURES = 15
"""Most features whose subsets can all be computed."""


@dataclass(frozen=True, eq=False)
class ShapleyShares:
    """Share of each feature of a model in its left-out gain.

    Attributes
    ----------
    features : tuple of int
        0-based columns of the model, k of them.
    values : ndarray of shape (k,)
        Shapley value of each feature: its mean gain over all orders of
        the features.
    in_order : ndarray of shape (k,)
        Gain of each feature in the given order.
    gain : float
        Left-out gain of the model over a model without features: the
        sum of ``values``, and of ``in_order``.
    """

    features: tuple[int, ...]
    values: Floats
    in_order: Floats
    gain: float

    @property
    def shares(self) -> Floats:
        """The Shapley values over the gain, shape (k,); NaN where nothing is gained."""
        return (
            self.values / self.gain
            if self.gain > 0
            else np.full_like(self.values, np.nan)
        )


def shapley_shares(
    estimator: LinearRanker,
    X: ArrayLike,
    y: ArrayLike,
    *,
    qid: ArrayLike | None,
    features: Sequence[int] | None = None,
) -> ShapleyShares:
    """Divide the left-out gain of RankRLS among the features of a model, independent of their order.

    Parameters
    ----------
    estimator : GreedyRankRLS, RankRLS or another method with exact left-out errors
        Its λ and loss are used; it is not fitted here.
    X : array-like of shape (m, n)
        Features; a row is a document.
    y : array-like of shape (m,)
        Labels of the documents.
    qid : array-like of shape (m,)
        Query of each document.
    features : sequence of int, optional
        0-based columns of the model, at most 15; by default those that
        greedy RankRLS selects.

    Returns
    -------
    ShapleyShares
        Share of each feature.

    Notes
    -----
    The leave-query-out errors of all 2^k subsets are exact, and no
    model is trained: O(2^k k² Q) from the Gram matrices of Q queries.

    Examples
    --------
    >>> from rankstudio.engine import RankRLS
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.random((60, 3)), np.repeat(np.arange(10), 6)
    >>> X[:, 1] = X[:, 0]  # twins share
    >>> found = shapley_shares(RankRLS(), X, X[:, 0] + 0.1 * X[:, 2], qid=qid, features=(0, 1))
    >>> found.shares.round(2)
    array([0.5, 0.5])
    """
    return finish(shapley_steps(estimator, group(X, y, qid), features))


def shapley_steps(
    estimator: LinearRanker, data: GivenData, features: Sequence[int] | None = None
) -> Waiting[ShapleyShares]:
    """Divide the left-out gain of a set fairly among its features; yield progress.

    ``features`` are the 0-based columns of the set, by default those
    that the estimator selects. The gain is that over a model without
    features.
    """
    rows = training_data(data)

    # The judge has λ and loss of RankRLS, whose left-out error is exact
    # for any set of features. An error is raised if the estimator has
    # no such errors.
    judge = exact_exchange(estimator, rows, "Shapley shares")
    return (
        yield from exchanged_shares(
            judge, rows, _columns_of_subset(estimator, rows, features)
        )
    )


def exchanged_shares(
    judge: ExactExchange, data: TrainingData, columns: tuple[int, ...]
) -> Waiting[ShapleyShares]:
    """Divide the left-out gain of a set of columns fairly among them; yield progress.

    The gain is the decrease of RankRLS's left-out error, with the λ and
    loss of ``judge``, from that of a model without features.
    """
    with STEADY:
        narrow = summed_rows(data, judge.cost, columns)
        search = on_demand_search(narrow, judge.regularization, len(columns))

    # one error per subset; the bits of its index are its columns
    errors = yield from _errors_of_subsets(search, len(columns))
    gains = errors[0] - errors

    # The index 2^i - 1 has the bits of the first i columns.
    gains_of_prefixes = gains[(1 << np.arange(len(columns) + 1)) - 1]
    return ShapleyShares(
        features=columns,
        values=shapley_values(gains),
        in_order=np.diff(gains_of_prefixes),
        gain=float(gains[-1]),
    )


def _columns_of_subset(
    estimator: LinearRanker, data: TrainingData, features: Sequence[int] | None
) -> tuple[int, ...]:
    """Return the columns of a set as a tuple; raise ParameterError unless the columns are valid.

    ``features`` are the columns. If ``features`` is None, the estimator
    selects the columns.
    """
    n = data.X.shape[1]
    if features is None and not estimator.entry.selects:
        raise ParameterError("features", None, "columns, as RankRLS selects none")
    if features is None:
        *_, last = estimator.learn(data)
        features = last.selected
    return columns_of(features, n, least=1, most=MOST_FEATURES)


def _errors_of_subsets(search: FloatingSearch, k: int) -> Waiting[Floats]:
    """Return the leave-query-out error of each subset of k columns, shape (2^k,).

    The bits of a subset's index are its columns. ``search`` can move to
    a subset, and then gives the error of the subset, and the error with
    each further column.
    """
    errors = np.empty(1 << k)
    errors[0] = search.criterion()

    # The subsets are visited depth first, so that successive subsets
    # have the most features in common. Each visit computes the errors
    # with one later column added, so subsets with the last column need
    # no visit.
    waiting: list[tuple[int, ...]] = [()]

    while waiting:
        subset = waiting.pop()
        later_columns = np.arange(subset[-1] + 1 if subset else 0, k)
        with STEADY:
            search.move_to(subset)
            costs = search.costs(later_columns)
        subset_index = sum(1 << column for column in subset)
        errors[subset_index + (1 << later_columns)] = costs
        waiting += [(*subset, column) for column in later_columns[:-1].tolist()]
        if len(subset) <= 2:
            # a rough share
            yield WorkProgress(_PROGRESS_TEXT, 1.0 - len(waiting) / k**2)

    return errors


def shapley_values(gains: Floats) -> Floats:
    """Return the Shapley value of each of k players, from the gain of each coalition.

    Parameters
    ----------
    gains : ndarray of shape (2^k,)
        Gain of each coalition; the bits of its index are the players.

    Examples
    --------
    >>> shapley_values(np.array([0.0, 1.0, 2.0, 4.0]))
    array([1.5, 2.5])
    """
    coalitions = np.arange(gains.size)
    k = int(gains.size).bit_length() - 1
    sizes = np.array([int(coalition).bit_count() for coalition in coalitions])

    # The weight of a size is the share of all orders of the players in
    # which exactly one given coalition of that size comes before one
    # given player. No player can join the coalition of all k players:
    # the weight of size k is not used.
    weights = np.array(
        [1.0 / (k * comb(k - 1, size)) if size < k else 0.0 for size in range(k + 1)]
    )
    values = np.empty(k)

    for player in range(k):
        lacking_player = coalitions[(coalitions >> player) & 1 == 0]
        joined = lacking_player + (1 << player)
        values[player] = weights[sizes[lacking_player]] @ (
            gains[joined] - gains[lacking_player]
        )

    return values
