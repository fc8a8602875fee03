"""Labels or preferences permuted within their queries: what a method finds where features say nothing.

Labels change places among all documents of their query. Of preferences it is the documents that do, those of
a query that have a part in some preference: see
:mod:`rankstudio.engine.analysis.permutation.label_permutation`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arithmetic.query_data import QueryData, centre, group
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.data.preferences.preferences import Preferences
from rankstudio.engine.errors import ParameterError, between
from rankstudio.engine.methods.base import MOST_SEED, LinearRanker
from rankstudio.engine.methods.pair_learners import labels_or_zeros, preferring
from rankstudio.engine.methods.shards.training_data import GivenData, TrainingData, training_data
from rankstudio.engine.statistics._checks import confidence
from rankstudio.engine.support.threads import STEADY, pool, share
from rankstudio.engine.support.work import finish

Paths = Callable[[Floats], list[Floats]]
"""From label vectors (b, m), in the order of the grouped rows, to the criteria of the steps of each."""

PermutedPaths = Callable[[Sequence[Ints]], list[Floats]]
"""From orders, in which each row has the part that another one had, to the criteria of the steps of each."""


@contextmanager
def labelled_paths(estimator: LinearRanker, data: TrainingData) -> Iterator[PermutedPaths]:
    """Return the function that trains on permuted labels.

    Parameters
    ----------
    estimator : LinearRanker
    data : TrainingData
    """
    with pool() as (executor, workers):
        paths = _paths_of_labels(estimator, data, executor, workers)
        yield lambda orders: paths(np.stack([data.y[order] for order in orders]))


def _paths_of_labels(
    estimator: LinearRanker, data: TrainingData, executor: Executor | None, workers: int
) -> Paths:
    """Return what learns from documents with other labels; of several shards each vector anew."""
    if data.several:
        return lambda labels: [learned_path(estimator, replace(data, y=row)) for row in labels]
    rows: QueryData = data.whole("The permutation test")
    shared = None if rows.sparse else estimator.paths_of_labels(rows)
    if shared is None:
        return lambda labels: [_learned(estimator, rows, row) for row in labels]
    on_threads = partial(share, executor, workers)
    return lambda labels: shared(labels, on_threads)


def _learned(estimator: LinearRanker, data: QueryData, labels: Floats) -> Floats:
    """Learn anew."""
    if data.sparse:
        return learned_path(estimator, replace(data, y=labels))
    relabelled = QueryData(data.X, labels, data.ptr, data.order)
    vars(relabelled)["centred"] = data.centred[0], centre(labels[:, None], data.ptr)[:, 0]
    return learned_path(estimator, relabelled)


def learned_path(estimator: LinearRanker, data: GivenData) -> Floats:
    """Train; if all steps have the same features, as for an optimiser, only the last one counts."""
    steps = list(type(estimator)(**estimator.get_params(deep=False)).learn(data))
    path = steps if any(step.selected != steps[-1].selected for step in steps) else steps[-1:]
    return np.array([step.criterion for step in path])


def compared_rows(data: QueryData) -> Bools:
    """Return which documents occur in a preference, shape (m,)."""
    assert data.preferences is not None
    compared = np.zeros(data.y.size, dtype=bool)
    compared[data.preferences.winner] = compared[data.preferences.loser] = True
    return compared


@contextmanager
def preferred_paths(estimator: LinearRanker, data: QueryData) -> Iterator[PermutedPaths]:
    """Return the function that trains on preferences with permuted documents.

    Parameters
    ----------
    estimator : LinearRanker
        Estimator that supports preferences.
    data : QueryData
        With preferences.
    """
    exchanged = estimator.exchanged_preferences(data)
    with pool() as (executor, workers):

        def paths(orders: Sequence[Ints]) -> list[Floats]:
            found: list[Floats] = [np.empty(0)] * len(orders)

            def learn(number: int) -> None:
                found[number] = learned_path(estimator, exchanged(orders[number]))

            share(executor, workers, learn, range(len(orders)))
            return found

        yield paths


_MOST = 10_000_000  # permutations: the least p is 1 / (1 + permutations), of no use below 1e-7
_ROUNDING = 1e-12  # of a criterion: labels that are permuted among equal ones give the same, but for rounding
_BLOCK = 64  # permutations of a step


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """A criterion compared with those of permuted labels.

    Attributes
    ----------
    observed : ndarray of shape (k,)
        Criterion of each step with the original labels.
    permuted : ndarray of shape (N, k)
        Criteria with labels or preferences permuted within their queries and the whole selection repeated. A
        path that ended earlier is extended by its last criterion.
    """

    observed: Floats
    permuted: Floats

    @property
    def p_values(self) -> Floats:
        """P values: (1 + number of the N criteria at most the observed one) / (N + 1), shape (k,)."""
        count = (self.permuted <= self.observed * (1.0 + _ROUNDING)).sum(axis=0)
        p: Floats = (count + 1) / (self.permuted.shape[0] + 1)
        return p

    def band(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the limits that contain a share of the permuted criteria, each of shape (k,)."""
        confidence(level)
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
        The estimator is not fitted here; smaller values of its criterion are better.
    X : array-like of shape (m, n)
    y : array-like of shape (m,), optional
    qid : array-like of shape (m,), optional
        Query of each document; by default all documents are one query.
    n_permutations : int, default 999
        N.
    seed : int, default 0
        Equal seeds give equal bits on any number of threads.
    preferences : Preferences, optional
        Preferences between rows of X of the same query, instead of y. Documents that occur in preferences are
        permuted.

    Returns
    -------
    PermutationTest

    Notes
    -----
    Computations that depend only on X are done once. For greedy RankRLS, a path of k of n features over Q
    queries then takes O(mn + Qnk²); for RankRLS the permuted labels are outputs of one factorisation (Airola
    2011, Paper I, section 4.1). Other methods are trained for each permutation. With preferences these two
    are also trained for each permutation, on rows built without the list of preferences.

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
    """Yield the test with a growing number of permutations, and return the complete test.

    Parameters
    ----------
    estimator, n_permutations, seed
        As in :func:`permutation_test`.
    data : QueryData or TrainingData
    block : int, default 64
        Permutations per block; multiples of 16 give the same bits. With several shards a block has one
        permutation, because each is trained separately.

    Yields
    ------
    PermutationTest
        Result of all permutations so far.
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
    if not estimator.entry.learns_preferences:
        raise ParameterError("estimator", type(estimator).__name__, "a method that learns from preferences")
    return preferred_paths(estimator, rows), compared_rows(rows)


def permuted_rows(ptr: Ints, seed: int, number: int, among: Bools | None = None) -> Ints:
    """Return an order that permutes rows within their queries; equal numbers give equal orders.

    Parameters
    ----------
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    seed, number : int
    among : ndarray of shape (m,), optional
        Rows to permute; all by default.
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
