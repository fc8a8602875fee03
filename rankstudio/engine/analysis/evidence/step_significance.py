"""The significance of each step of a path, and where to stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.analysis.evidence.partial_result import PartialResult
from rankstudio.engine.analysis.evidence.subset_paths import SubsetPaths, enough_queries
from rankstudio.engine.analysis.permutation.label_permutation import permuted_rows, targets_of
from rankstudio.engine.arithmetic.query_data import QueryData, centre, group
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import ParameterError, between
from rankstudio.engine.methods.base import MOST_SEED, LinearRanker
from rankstudio.engine.methods.selection.base import TIE
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import BLOCK
from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS
from rankstudio.engine.methods.selection.greedy_rankrls.search_steps import prefer
from rankstudio.engine.methods.shards.scratch import Room, Scratch
from rankstudio.engine.methods.shards.training_data import GivenData, TrainingData, training_data
from rankstudio.engine.statistics._checks import confidence
from rankstudio.engine.support.memory import budget
from rankstudio.engine.support.shard import Shard
from rankstudio.engine.support.threads import STEADY, pool, share
from rankstudio.engine.support.work import Waiting, finish

_WHAT = "permuting residuals"
_MOST = 10_000_000  # permutations: the least p is 1 / (1 + permutations), of no use below 1e-7
_ROUNDING = 1e-12  # of the empty model's error, as in the test of a whole path
_AT_ONCE = 16  # permutations between two partial results, and those whose steps share what has no labels
_UNASKED = 1e8  # bytes of scores: to ask what is free takes longer
_SHARE = 64  # bytes of the memory limit for one of them, and what is made of it
_MOST_PRODUCTS = 2e7  # of features with labels, of all queries and permutations at a time


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
        Reduction by the best feature with permuted residuals.
    empty : float
        Error of the empty model.
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

        It is the largest number of first steps for which the mean of -log(1 - p) is at most the level. If the
        p values are independent, the expected share of useless steps among them is at most the level.

        Parameters
        ----------
        level : float, default 0.1
            α, between 0 and 1.
        """
        return forward_stop(self.p_values, level)


def forward_stop(p_values: ArrayLike, level: float) -> int:
    """Return the number of first hypotheses that ForwardStop rejects (G'Sell et al. 2016).

    Examples
    --------
    >>> forward_stop([0.01, 0.01, 0.4, 0.9], 0.2), forward_stop([0.9, 0.01], 0.2)
    (3, 0)
    """
    confidence(level)
    p = np.asarray(p_values, dtype=np.float64)
    with np.errstate(divide="ignore"):
        means = np.cumsum(-np.log1p(-p)) / np.arange(1, p.size + 1)
    within = np.flatnonzero(means <= level)
    return int(within[-1]) + 1 if within.size else 0


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
    y : array-like of shape (m,)
    qid : array-like of shape (m,)
    n_permutations : int, default 99
        Number of permutations per step, N.
    seed : int, default 0

    Returns
    -------
    StepSignificance

    Notes
    -----
    The residuals of the model with the features so far are permuted within their queries (Freedman and Lane
    1983) and added to its predictions, and all remaining features are compared again. Residuals of a query
    are only approximately exchangeable, so p is approximate from step 2 on. At step 1 it equals that of
    :func:`rankstudio.engine.analysis.permutation.label_permutation.permutation_test`.

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
    known: StepSignificance | None = None,
) -> Waiting[StepSignificance]:
    """Yield progress with the results so far, and return the whole of :func:`step_significance`.

    Parameters
    ----------
    estimator, n_permutations, seed
        As in :func:`step_significance`.
    data : QueryData or TrainingData
    known : StepSignificance, optional
        Result of an interrupted run with the same arguments.

    Yields
    ------
    PartialResult
        :class:`StepSignificance` with fewer permutations.
    """
    count = between("n_permutations", n_permutations, 1, _MOST)
    start = between("seed", seed, 0, MOST_SEED)
    rows = training_data(data)
    enough_queries(rows.ptr.size - 1, 2, "The significance of steps")
    with STEADY:
        test = _ResidualTest(estimator, rows, start)
    found = test.nothing if known is None else known
    # Several shards have threads of their own.
    with pool(not rows.several) as (executor, workers):
        for first in range(found.permuted.shape[0], count, test.at_once):
            numbers = range(first, min(first + test.at_once, count))
            drops = np.empty((len(numbers), found.drops.size))
            orders = [test.order(number) for number in numbers]

            def learn(step: int, drops: Floats = drops, orders: list[Ints] = orders) -> None:
                drops[:, step] = test.drops(orders, step)

            with STEADY:
                share(executor, workers, learn, range(found.drops.size))
            permuted = np.vstack((found.permuted, drops))
            found = StepSignificance(found.selected, found.drops, permuted, found.empty)
            yield PartialResult(_WHAT, numbers.stop / count, found)
    return found


def _scores(data: TrainingData, coefs: Sequence[Floats]) -> Floats:
    """Return the scores of the centred documents by no model, and by each of some, (k + 1, m)."""
    limit = budget() / 2
    out = Scratch(Room(lambda: limit, unasked=_UNASKED)).empty(len(coefs) + 1, data.y.size)
    out[0] = 0.0

    def score(index: int, shard: Shard, rows: QueryData) -> None:
        X = rows.centred[0]
        for row, coef in zip(out[1:], coefs, strict=True):
            row[shard.rows] = X @ coef

    for _ in data.visited(score, _WHAT):
        pass
    return out


class _ResidualTest:
    """What a step of a path would lower the error by with permuted residuals."""

    def __init__(self, estimator: LinearRanker, data: TrainingData, seed: int) -> None:
        self._paths = SubsetPaths(estimator, data)
        assert isinstance(estimator, GreedyRankRLS)  # the paths refuse others
        if not estimator.pair_cost().ties:
            raise ParameterError("ties", False, "True, as documents with equal labels count, too")
        self._data, self._seed = data, seed
        self._targets = targets_of(data.ptr, estimator.pair_cost())
        steps = self._paths.path(self._paths.statistics)
        self._selected = steps[-1].selected
        self._labels = centre(data.y[:, None], data.ptr)[:, 0]
        self._fitted = _scores(data, [step.coef for step in steps[: len(self._selected) - 1]])
        drops = np.array([step.before - step.criterion for step in steps[: len(self._selected)]])
        nothing = np.empty((0, drops.size))
        self.nothing = StepSignificance(self._selected, drops, nothing, steps[0].before)

    @property
    def at_once(self) -> int:
        """How many permutations are compared at a time."""
        products = self._paths.n_queries * self._data.X.shape[1] + self._data.y.size
        most = min(_MOST_PRODUCTS, budget() / _SHARE) if self._data.several else _MOST_PRODUCTS
        return int(min(_AT_ONCE, max(1, most // products)))

    def order(self, number: int) -> Ints:
        """Return the documents in the order of a permutation."""
        return permuted_rows(self._data.ptr, self._seed, number)

    def drops(self, orders: Sequence[Ints], step: int) -> Floats:
        """Return by how much a step, from 0, lowers the error with each permutation of the residuals."""
        fitted = self._fitted[step]
        rest = self._labels - fitted
        targets = self._targets(np.column_stack([fitted + rest[order] for order in orders]))
        rules = self._paths.rules
        if rules.costs is None and rules.n_candidates is None:
            return self._best_drops(targets, step)
        return np.array([self._drop(labels[:, None], step) for labels in targets.T])

    def _drop(self, targets: Floats, step: int) -> float:
        """Return by how much a step lowers the error, by a path of its own."""
        known = self._paths.labelled(np.ascontiguousarray(targets))
        last = self._paths.path(known, self._selected[:step])[-1]
        # A path may end before, where no feature is worth its penalty.
        return last.before - last.criterion if len(last.selected) > step else 0.0

    def _best_drops(self, targets: Floats, step: int) -> Floats:
        """Return by how much the best feature lowers the error with each of some targets (m, P), shape (P,).

        What does not depend on the targets is computed once for all of them.
        """
        paths, before = self._paths, list(self._selected[:step])
        changes = self._changes(paths.products(targets), before)
        rules, varies = paths.rules, np.diagonal(paths.statistics.total)[:-1] > 0
        left = rules.allowed.copy()
        left[before] = False
        candidates = prefer(np.flatnonzero(left), varies)
        if step < len(rules.pinned):
            return -changes[:, rules.pinned[step]]
        found: Floats = -changes[:, candidates].min(axis=1)
        if rules.size_penalty > 0:
            empty = (targets**2).sum(axis=0)
            found[found <= (rules.size_penalty + TIE) * empty] = 0.0
        return found

    def _changes(self, products: Floats, before: list[int]) -> Floats:
        """Return what each feature adds to the error with some others, (P, n).

        Parameters
        ----------
        products : ndarray of shape (Q, P, n)
            Of the features with each of P targets in each query.
        before : list of int
            The others.

        Notes
        -----
        Without query q the weights are w = A⁻¹ (t - r)_S for A = (T - G)_SS + λI, and those of feature j as a
        target of the others are b = A⁻¹ (T - G)_Sj. Feature j then has the weight

            ((t - r)_j - (T - G)_jS w) / ((T - G)_jj + λ - (T - G)_jS b)

        on what is left of it, x_j - X_S b. All of it follows from G and r, and b is the same for all targets.
        """
        paths = self._paths
        n, chosen = products.shape[2], np.array(before, dtype=np.int64)
        gram, whole = paths.statistics.gram, paths.statistics.total[:n, :n]
        ridge = paths.regularization * np.eye(chosen.size)
        total = products.sum(axis=0)
        changes: Floats = np.zeros_like(total)
        for block, first in zip(gram, range(0, paths.n_queries, BLOCK), strict=True):
            own = products[first : first + BLOCK]
            G = np.moveaxis(block, 2, 0)[: len(own), :n, :n]
            square, right, seen = np.diagonal(G, axis1=1, axis2=2), total - own, own
            pivot = np.diagonal(whole) - square + paths.regularization
            if before:
                rows = G[:, chosen]
                others = whole[chosen] - rows
                A = others[:, :, chosen] + ridge
                b = np.linalg.solve(A, others)
                missed = rows - rows[:, :, chosen] @ b
                square = square - (b * (rows + missed)).sum(axis=1)
                pivot -= (b * others).sum(axis=1)
                w = np.linalg.solve(A, right[:, :, chosen].transpose(0, 2, 1)).transpose(0, 2, 1)
                seen = own - own[:, :, chosen] @ b - w @ missed
                right = right - w @ others
            weight = right / pivot[:, None]
            changes += (weight * (weight * square[:, None] - 2.0 * seen)).sum(axis=0)
        return changes
