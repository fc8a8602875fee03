"""Labels or preferences permuted within their queries: what a method finds where features say nothing.

Labels change places among all documents of their query. Of preferences it is the documents that do, those of
a query that have a part in some preference: see
:mod:`rankstudio.engine.analysis.permutation.permuted_preferences`.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.analysis.permutation.permuted_paths import PermutedPaths, labelled_paths
from rankstudio.engine.analysis.permutation.permuted_preferences import compared_rows, preferred_paths
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.data.preferences.preferences import Preferences
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.base import MOST_SEED, LinearRanker, between
from rankstudio.engine.methods.pair_learners import PreferenceLearner, labels_or_zeros, preferring
from rankstudio.engine.methods.shards.training_data import GivenData, TrainingData, training_data
from rankstudio.engine.support.threads import STEADY
from rankstudio.engine.support.work import finish

_MOST = 10_000_000
_ROUNDING = 1e-12  # of a criterion: labels that are permuted among equal ones give the same, but for rounding
_BLOCK = 64  # permutations of a step


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """A criterion beside those of permuted labels.

    Attributes
    ----------
    observed : ndarray of shape (k,)
        The criterion of each step with the labels as they are.
    permuted : ndarray of shape (N, k)
        With labels or preferences permuted within their queries, the whole selection repeated. A path that
        ended before has its last criterion to the end.
    """

    observed: Floats
    permuted: Floats

    @property
    def p_values(self) -> Floats:
        """(1 + how many of the N are at most the observed one) / (N + 1), shape (k,)."""
        count = (self.permuted <= self.observed * (1.0 + _ROUNDING)).sum(axis=0)
        p: Floats = (count + 1) / (self.permuted.shape[0] + 1)
        return p

    def band(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return between which values that share of the permuted criteria lies, each of shape (k,)."""
        if not 0 < level < 1:
            raise ParameterError("level", level, "a number between 0 and 1 (exclusive)")
        low, high = np.quantile(self.permuted, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return low, high


def permutation_test(
    estimator: LinearRanker,
    X: ArrayLike,
    y: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    n_permutations: int = 999,
    seed: int = 0,
    preferences: Preferences | None = None,
) -> PermutationTest:
    """Repeat a whole selection with labels or preferences permuted within their queries.

    Parameters
    ----------
    estimator : LinearRanker
        Not fitted here; its criterion is the less the better.
    X : array-like of shape (m, n)
    y : array-like of shape (m,), optional
    qid : array-like of shape (m,), optional
        Without it all documents are one query.
    n_permutations : int, default 999
        N.
    seed : int, default 0
        Equal seeds give equal bits, whatever the number of threads.
    preferences : Preferences, optional
        Between rows of X of one query each, in place of y. Documents that have a part in some change places.

    Returns
    -------
    PermutationTest

    Notes
    -----
    What depends on X alone is computed once. For greedy RankRLS that is all but O(mn + Qnk²) of a path of k
    of n features over Q queries; for RankRLS the permuted labels are outputs of one factorisation (Airola
    2011, Paper I, section 4.1). Any other method learns anew. With preferences the two learn anew as well, of
    rows that are made without the list of preferences.

    Examples
    --------
    >>> from rankstudio.engine import GreedyRankRLS
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.random((60, 5)), np.repeat(np.arange(10), 6)
    >>> y = np.round(2 * X[:, 3] + 0.1 * rng.random(60))
    >>> permutation_test(GreedyRankRLS(n_features_to_select=1), X, y, qid, n_permutations=99).p_values
    array([0.01])
    """
    data = preferring(group(X, labels_or_zeros(X, y, preferences), qid), preferences)
    return finish(permutation_steps(estimator, data, n_permutations, seed))


def permutation_steps(
    estimator: LinearRanker, data: GivenData, n_permutations: int = 999, seed: int = 0, block: int = _BLOCK
) -> Generator[PermutationTest, None, PermutationTest]:
    """Yield the test as it grows, a block of permutations a step, and return it whole.

    Parameters
    ----------
    estimator, n_permutations, seed
        As of :func:`permutation_test`.
    data : QueryData or TrainingData
    block : int, default 64
        So many a step; at multiples of 16 all have the same bits. Of several shards it is one: each learns
        anew, and takes its time.

    Yields
    ------
    PermutationTest
        With all permutations so far.
    """
    count = between("n_permutations", n_permutations, 1, _MOST)
    start = between("seed", seed, 0, MOST_SEED)
    data = training_data(data)
    block = 1 if data.several else block
    with ExitStack() as stack:
        with STEADY:
            shared, among = _paths(estimator, data)
            paths = stack.enter_context(shared)
            observed = paths([np.arange(data.y.size)])[0]
        if np.isnan(observed).any():
            raise ParameterError("estimator", type(estimator).__name__, "a method with a criterion")
        found = np.empty((count, observed.size))
        for first in range(0, count, block):
            numbers = range(first, min(first + block, count))
            orders = [permuted_rows(data.ptr, start, number, among) for number in numbers]
            with STEADY:
                for number, path in zip(numbers, paths(orders), strict=True):
                    found[number] = _of_length(path, observed.size)
            test = PermutationTest(observed, found[: numbers.stop])
            yield test
    return test


def _paths(
    estimator: LinearRanker, data: TrainingData
) -> tuple[AbstractContextManager[PermutedPaths], Bools | None]:
    """Return what provides the paths, and which rows change places (m,), None for all."""
    rows = None if data.several else data.whole("The permutation test")
    if rows is None or rows.preferences is None:
        return labelled_paths(estimator, data), None
    if not isinstance(estimator, PreferenceLearner):
        raise ParameterError("estimator", type(estimator).__name__, "a method that learns from preferences")
    return preferred_paths(estimator, rows), compared_rows(rows)


def permuted_rows(ptr: Ints, seed: int, number: int, among: Bools | None = None) -> Ints:
    """Return an order of rows that permutes them within their queries, the same for equal numbers.

    Parameters
    ----------
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    seed, number : int
    among : ndarray of shape (m,), optional
        Which rows change places; all without it.
    """
    keys = np.random.default_rng([seed, number]).random(int(ptr[-1]))
    query = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))
    order: Ints = np.arange(keys.size)
    rows = order if among is None else np.flatnonzero(among)
    order[rows] = rows[np.lexsort((keys[rows], query[rows]))]
    return order


def _of_length(path: Floats, size: int) -> Floats:
    """Return a path cut off, or continued by its last value."""
    return np.append(path, np.full(max(0, size - path.size), path[-1]))[:size]
