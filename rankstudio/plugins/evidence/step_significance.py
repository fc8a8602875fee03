"""The significance of each step of a path, and where to stop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.analysis.features.set_checks import enough_queries
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import ParameterError, between
from rankstudio.engine.methods.base import MOST_SEED, LinearRanker
from rankstudio.engine.methods.shards.training_data import GivenData, training_data
from rankstudio.engine.statistics._checks import checked_level
from rankstudio.engine.statistics.row_permutation import permuted_rows
from rankstudio.engine.support.threads import STEADY, pool, share
from rankstudio.engine.support.work import Waiting, finish
from rankstudio.plugins.evidence.partial_result import PartialResult

_PROGRESS_TEXT = "permuting residuals"
# the smallest p is 1 / (1 + permutations); below 1e-7 it is of no use
_MAX_PERMUTATIONS = 10_000_000
# tolerance as a share of the empty model's error, as in the test of a
# whole path
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class StepSignificance:
    """Reduction of the left-out error by each step, compared with chance.

    Attributes
    ----------
    selected : tuple of int
        0-based columns in the order of the path, one per step.
    drops : ndarray of shape (k,)
        Reduction of the leave-query-out error by each step.
    permuted : ndarray of shape (N, k)
        Reduction by the best feature at each step, with each of N
        permutations of the residuals.
    empty : float
        Leave-query-out error of the model without features.
    """

    selected: tuple[int, ...]
    drops: Floats
    permuted: Floats
    empty: float

    @property
    def p_values(self) -> Floats:
        """P values: (1 + number of reductions at least as large as the observed) / (N + 1), shape (k,)."""
        count = (self.permuted >= self.drops - _ROUNDING * self.empty).sum(axis=0)
        p: Floats = (count + 1) / (self.permuted.shape[0] + 1)
        return p

    def n_steps(self, level: float = 0.1) -> int:
        """Return the number of steps before the stop, by ForwardStop (G'Sell et al. 2016).

        The number is the largest number of first steps for which the mean of
        -log(1 - p) is at most the level, for their p values p. If the p values
        are independent, the expected share of useless steps among these
        steps is at most the level.

        Parameters
        ----------
        level : float, default 0.1
            α, between 0 and 1.
        """
        return forward_stop(self.p_values, level)


def forward_stop(p_values: ArrayLike, level: float) -> int:
    """Return the number of first hypotheses that ForwardStop rejects (G'Sell et al. 2016).

    ``p_values`` are those of the hypotheses, in order. The number is
    the largest k for which the mean of
    -log(1 - p_i) over i <= k is at most the level, or
    0.

    Examples
    --------
    >>> forward_stop([0.01, 0.01, 0.4, 0.9], 0.2), forward_stop([0.9, 0.01], 0.2)
    (3, 0)
    """
    checked_level(level)  # raises an error unless it is between 0 and 1
    p = np.asarray(p_values, dtype=np.float64)

    # p = 1 gives infinity, which no level allows.
    with np.errstate(divide="ignore"):
        means = np.cumsum(-np.log1p(-p)) / np.arange(1, p.size + 1)
    allowed_steps = np.flatnonzero(means <= level)
    return int(allowed_steps[-1]) + 1 if allowed_steps.size else 0


def step_significance(
    estimator: LinearRanker,
    X: ArrayLike,
    y: ArrayLike,
    *,
    qid: ArrayLike | None,
    n_permutations: int = 99,
    seed: int = 0,
) -> StepSignificance:
    """Test each step of greedy RankRLS, given the earlier steps, by permuted residuals.

    Parameters
    ----------
    estimator : GreedyRankRLS
        Estimator with forward search; it is not fitted here.
    X : array-like of shape (m, n)
        Features; a row is a document.
    y : array-like of shape (m,)
        Labels of the documents.
    qid : array-like of shape (m,)
        Query of each document.
    n_permutations : int, default 99
        Number of permutations per step, N.
    seed : int, default 0
        Seed of the permutations.

    Returns
    -------
    StepSignificance
        Reduction of the error by each step, with its p value.

    Notes
    -----
    The residuals of the model with the features so far are permuted within their queries (Freedman and Lane
    1983) and added to its predictions, and all remaining features are compared again. Residuals of a query
    are only approximately exchangeable, so p is approximate from step 2
    on. At step 1 it equals that of a permutation test of the whole
    path.

    Examples
    --------
    >>> from rankstudio.engine import GreedyRankRLS
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.random((120, 5)), np.repeat(np.arange(20), 6)
    >>> y = 2 * X[:, 3] + X[:, 1] + 0.5 * rng.random(120)
    >>> found = step_significance(GreedyRankRLS(n_features_to_select=4), X, y, qid=qid)
    >>> found.selected[:2], found.p_values[:2], found.n_steps(0.1)
    ((3, 1), array([0.01, 0.01]), 2)
    """
    return finish(significance_steps(estimator, group(X, y, qid), n_permutations, seed))


def significance_steps(
    estimator: LinearRanker,
    data: GivenData,
    n_permutations: int = 99,
    seed: int = 0,
    earlier: StepSignificance | None = None,
) -> Waiting[StepSignificance]:
    """Compare the reduction of the left-out error by each step with that by chance.

    Chance is the reduction by the best feature if the residuals of the
    step are permuted within each query.

    Parameters
    ----------
    estimator : LinearRanker
        Greedy RankRLS; it is not fitted here.
    data : QueryData or TrainingData
        Documents grouped by query.
    n_permutations : int, default 99
        Permutations of each step.
    seed : int, default 0
        Equal seeds give equal permutations.
    earlier : StepSignificance, optional
        Result of an interrupted run with the same arguments; its
        permutations are not repeated.

    Yields
    ------
    PartialResult
        :class:`StepSignificance` of the permutations so far.

    Returns
    -------
    StepSignificance
        Reductions of the path and of all permutations.
    """
    count = between("n_permutations", n_permutations, 1, _MAX_PERMUTATIONS)
    start = between("seed", seed, 0, MOST_SEED)  # the seed, if it is valid
    rows = training_data(data)
    enough_queries(rows.ptr.size - 1, 2, "The significance of steps")
    prepare = estimator.step_test(rows)
    if prepare is None:
        expected = "GreedyRankRLS with search forward, fitting pre, and without groups"
        raise ParameterError("estimator", type(estimator).__name__, expected)

    # The test has the error of the empty model, and for each step of
    # the path the drop: by how much the step reduces the left-out
    # error.
    with STEADY:
        test = prepare()
    no_drops = np.empty((0, test.drops.size))  # a row per permutation
    tests = (
        StepSignificance(test.selected, test.drops, no_drops, test.empty)
        if earlier is None
        else earlier
    )

    # Data in several shards use threads within each step.
    with pool(not rows.several) as (executor, workers):
        # `at_once` permutations are compared at a time.
        for first in range(tests.permuted.shape[0], count, test.at_once):
            numbers = range(first, min(first + test.at_once, count))
            drops = np.empty((len(numbers), tests.drops.size))
            orders = [permuted_rows(rows.ptr, start, number) for number in numbers]

            # The arrays are arguments, as each round has its own.
            def learn(
                step: int, drops: Floats = drops, orders: list[Ints] = orders
            ) -> None:
                """Compute a step's drop of the error by each permutation, into `drops`."""
                drops[:, step] = test.permuted(orders, step)

            # `learn` is called with each step, on all threads.
            with STEADY:
                share(executor, workers, learn, range(tests.drops.size))
            permuted = np.vstack((tests.permuted, drops))
            tests = StepSignificance(tests.selected, tests.drops, permuted, tests.empty)
            yield PartialResult(_PROGRESS_TEXT, numbers.stop / count, tests)

    return tests
