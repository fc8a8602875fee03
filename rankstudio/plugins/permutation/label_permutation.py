"""Repeats a selection with labels or preferences permuted within their queries, so that features are useless.

Labels are permuted among all documents of their query. For preferences,
the documents are permuted: those of a query that occur in some
preference.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arithmetic.query_data import QueryData, centre, group
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.data.preferences import Preferences
from rankstudio.engine.errors import ParameterError, between
from rankstudio.engine.methods.base import MOST_SEED, LinearRanker
from rankstudio.engine.methods.capabilities import LabelPaths, Share
from rankstudio.engine.methods.pair_learners import labels_or_zeros, preferring
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    TrainingData,
    training_data,
)
from rankstudio.engine.statistics._checks import checked_level
from rankstudio.engine.statistics.row_permutation import permuted_rows
from rankstudio.engine.steps import steps_of
from rankstudio.engine.support.threads import STEADY, pool, share, steadily
from rankstudio.engine.support.work import Waiting, WorkProgress, finish

Criteria = Waiting[list[Floats]]
"""Work that returns the criteria of the steps of each of several paths."""


@dataclass(frozen=True)
class PermutedPaths:
    """A way to train paths on permuted labels or preferences, for a permutation test.

    Attributes
    ----------
    of : callable
        Returns the criteria of the path for each of several orders. An
        order is a permutation of the rows: row i gets the label, or the
        place in preferences, of row ``order[i]``.
    refits : bool
        Whether each path is trained separately, so that there is a
        result after each path.
    """

    of: Callable[[Sequence[Ints]], Criteria]
    refits: bool = False


@contextmanager
def labelled_paths(
    estimator: LinearRanker, data: TrainingData
) -> Iterator[PermutedPaths]:
    """Provide a way to train paths on permuted labels, for the time of a ``with`` block.

    Parameters
    ----------
    estimator : LinearRanker
        Method whose path is trained; it is not fitted here.
    data : TrainingData
        Documents grouped by query.
    """
    # Shared computations need all documents in memory; otherwise each
    # path is trained on its own.
    if data.several:
        yield _refitting_paths(estimator, lambda order: replace(data, y=data.y[order]))
        return

    # The text begins the error if the documents do not fit into memory.
    rows: QueryData = data.whole("The permutation test")

    # A function that trains several paths at once, if the method has
    # one; none does so with sparse features.
    shared = None if rows.sparse else estimator.paths_of_labels(rows)
    if shared is None:
        yield _refitting_paths(
            estimator, lambda order: _with_labels(rows, data.y[order])
        )
        return
    with pool() as (executor, workers):
        yield PermutedPaths(
            _shared_learner(shared, data.y, partial(share, executor, workers))
        )


def _shared_learner(
    paths: LabelPaths, y: Floats, on_threads: Share
) -> Callable[[Sequence[Ints]], Criteria]:
    """Return a function that trains paths on several orders of labels, with shared computations.

    The function takes orders of the labels ``y`` (m,), and returns the
    criteria of each path at its steps. ``paths`` shares the
    computations, and ``on_threads`` distributes work to threads.
    """

    def learn(orders: Sequence[Ints]) -> Criteria:
        """Train a path for each order of the labels, with computations that the paths share."""
        yield from ()  # makes this a generator, as `Criteria` are
        return paths(np.stack([y[order] for order in orders]), on_threads)

    return learn


def _refitting_paths(
    estimator: LinearRanker, relabelled: Callable[[Ints], GivenData]
) -> PermutedPaths:
    """Return a way to train each path anew, on the data that ``relabelled`` returns for an order.

    An order has, for each document, the position of the document whose
    label it gets. ``estimator`` is the method that is trained.
    """

    def learn(orders: Sequence[Ints]) -> Criteria:
        """Train a path for each order of the labels, one after the other.

        Return the criteria of each path. ``estimator`` and
        ``relabelled``, which returns the data for an order, are those
        of the enclosing function.
        """
        criteria = []
        for order in orders:
            path_criteria = yield from learned_path(estimator, relabelled(order))
            criteria.append(path_criteria)
        return criteria

    # `refits` says that several orders at once save no time.
    return PermutedPaths(learn, refits=True)


def _with_labels(data: QueryData, labels: Floats) -> QueryData:
    """Return documents with other ``labels``, (m,); their centered features are not computed again."""
    if data.sparse:  # sparse features are not centered
        return replace(data, y=labels)
    relabelled = QueryData(data.X, labels, data.ptr, data.order)
    centred_X, _ = data.centred

    # `centred` is a cached property: its value is set, with the centered labels.
    vars(relabelled)["centred"] = centred_X, centre(labels[:, None], data.ptr)[:, 0]
    return relabelled


def learned_path(estimator: LinearRanker, data: GivenData) -> Waiting[Floats]:
    """Train a copy of an estimator; yield progress, and return the criterion of each step, shape (k,).

    If all steps have the same features, as the iterations of an
    optimizer, only the last step counts.
    """
    method = type(estimator)(**estimator.get_params(deep=False))

    # Progress of the training is passed on, without its own share and text.
    steps = yield from steps_of(
        method.work(data), lambda _: WorkProgress(_REFITTING_TEXT, 0.0)
    )
    are_iterations = all(step.selected == steps[-1].selected for step in steps)
    counted_steps = steps[-1:] if are_iterations else steps
    return np.array([step.criterion for step in counted_steps])


def compared_rows(data: QueryData) -> Bools:
    """Return a mask (m,) of the documents that occur in a preference."""
    assert data.preferences is not None
    compared = np.zeros(data.y.size, dtype=bool)
    compared[data.preferences.winner] = compared[data.preferences.loser] = True
    return compared


@contextmanager
def preferred_paths(
    estimator: LinearRanker, data: QueryData
) -> Iterator[PermutedPaths]:
    """Provide a way to train paths on preferences with permuted documents, for a ``with`` block.

    Parameters
    ----------
    estimator : LinearRanker
        Estimator that supports preferences.
    data : QueryData
        Documents with preferences.
    """
    # a function from an order (m,) to data in which documents have
    # exchanged places in the preferences
    exchanged = estimator.exchanged_preferences(data)
    with pool() as (executor, workers):

        def paths(orders: Sequence[Ints]) -> Criteria:
            """Train a path for each order of the documents, on several threads.

            Return the criteria of each path. ``exchanged``, the
            estimator and the pool of threads are those of the enclosing
            function.
            """
            criteria: list[Floats] = [np.empty(0)] * len(orders)

            def learn(number: int) -> None:
                """Train the path of the order with a number, and put its criteria into the list."""
                criteria[number] = finish(
                    learned_path(estimator, exchanged(orders[number]))
                )

            yield from ()  # makes this a generator, as `Criteria` are
            share(executor, workers, learn, range(len(orders)))
            return criteria

        yield PermutedPaths(paths)


# the least p-value is 1 / (1 + permutations); below 1e-7 it is of no use
_MAX_PERMUTATIONS = 10_000_000
# relative; permutations of equal labels give equal criteria, apart from rounding
_ROUNDING = 1e-12
_PERMUTATIONS_PER_STEP = 64
_REFITTING_TEXT = "training with permuted labels"


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """The criterion of a path at each step, compared with its criteria with permuted labels.

    Attributes
    ----------
    observed : ndarray of shape (k,)
        Criterion of each step with the original labels.
    permuted : ndarray of shape (N, k)
        Criteria of N repetitions of the whole selection with labels or
        preferences permuted within their queries. A path with fewer
        steps is extended by its last criterion.
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
        checked_level(level)
        low, high = np.quantile(
            self.permuted, [(1 - level) / 2, (1 + level) / 2], axis=0
        )
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
        N, the number of permutations.
    seed : int, default 0
        Seed of the permutations. Equal seeds give equal bits on any number of threads.
    preferences : Preferences, optional
        Preferences between rows of X of the same query, instead of y.
        Documents that occur in preferences are permuted.

    Returns
    -------
    PermutationTest

    Notes
    -----
    Computations that depend only on X are done once. For greedy
    RankRLS, a path of k of n features over Q queries then takes O(mn +
    Qnk²); for RankRLS the permuted labels are outputs of one
    factorization (Airola 2011, Paper I, section 4.1). Other methods are
    trained for each permutation. With preferences, RankRLS and greedy
    RankRLS are trained for each permutation, too, on rows built without
    the list of preferences.

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
    estimator: LinearRanker,
    data: GivenData,
    n_permutations: int = 999,
    seed: int = 0,
    block: int = _PERMUTATIONS_PER_STEP,
) -> Generator[PermutationTest | None, None, PermutationTest]:
    """Yield a permutation test with a growing number of permutations, and return the complete test.

    The whole path is trained again with labels permuted within each
    query, to compare its criterion at each step with that by chance.

    Parameters
    ----------
    estimator : LinearRanker
        Method with a criterion; it is not fitted here.
    data : QueryData or TrainingData
        Documents grouped by query, with labels or preferences.
    n_permutations : int, default 999
        Number of permutations.
    seed : int, default 0
        Equal seeds give equal permutations.
    block : int, default 64
        Permutations per block; multiples of 16 give the same bits. A
        block has one permutation where each is trained separately: with
        several shards, sparse features, or a method that shares no
        computations.

    Yields
    ------
    PermutationTest or None
        Result of all permutations so far; None between two steps of a path.
    """
    count = between("n_permutations", n_permutations, 1, _MAX_PERMUTATIONS)
    start = between("seed", seed, 0, MOST_SEED)
    data = training_data(data)
    with ExitStack() as stack:
        # Within `STEADY`, BLAS has one thread, so that equal seeds give equal bits.
        with STEADY:
            paths_context, permuted_mask = _permuted_paths(estimator, data)
            paths = stack.enter_context(paths_context)

        # The criterion of each step with the original labels.
        # `paths.of` trains a path for each order; `steadily` limits
        # BLAS to one thread meanwhile.
        original_order = np.arange(data.y.size)
        (observed,) = yield from _progress_then_criteria(
            steadily(paths.of([original_order]))
        )

        # A method without a criterion cannot be tested.
        if np.isnan(observed).any():
            raise ParameterError(
                "estimator", type(estimator).__name__, "a method with a criterion"
            )

        # One row for each permutation; rows after the last computed one
        # are not used yet.
        criteria = np.empty((count, observed.size))

        # A block of permutations is computed at once, unless each needs
        # a fit of its own.
        block = 1 if paths.refits else block
        for first in range(0, count, block):
            numbers = range(first, min(first + block, count))
            orders = [
                permuted_rows(data.ptr, start, number, permuted_mask)
                for number in numbers
            ]
            block_criteria = yield from _progress_then_criteria(
                steadily(paths.of(orders))
            )

            # A path may end early or late; all get the length of the observed one.
            for number, path_criteria in zip(numbers, block_criteria, strict=True):
                criteria[number] = _path_of_length(path_criteria, observed.size)
            test = PermutationTest(observed, criteria[: numbers.stop])
            yield test
    return test


def _progress_then_criteria(work: Criteria) -> Generator[None, None, list[Floats]]:
    """Yield None at each step of a computation, and return its criteria, one array per path."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            criteria: list[Floats] = end.value
            return criteria
        yield


def _permuted_paths(
    estimator: LinearRanker, data: TrainingData
) -> tuple[AbstractContextManager[PermutedPaths], Bools | None]:
    """Return the context that provides a way to train paths, and a mask (m,) of the rows to permute.

    The mask is None for all rows. Of data with preferences, only
    documents that some preference compares are permuted.
    """
    # All documents at once; the text begins the error if they do not
    # fit into memory. Data of several shards have no preferences.
    rows = None if data.several else data.whole("The permutation test")
    if rows is None or rows.preferences is None:
        return labelled_paths(estimator, data), None
    if not estimator.entry.learns_preferences:
        raise ParameterError(
            "estimator",
            type(estimator).__name__,
            "a method that learns from preferences",
        )
    return preferred_paths(estimator, rows), compared_rows(rows)


def _path_of_length(path: Floats, size: int) -> Floats:
    """Return the criteria of a path cut off at ``size``, or extended to it by the last criterion."""
    return np.append(path, np.full(max(0, size - path.size), path[-1]))[:size]
