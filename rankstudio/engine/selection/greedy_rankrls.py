"""Greedy RankRLS: forward selection by exact leave-query-out error (Pahikkala et al. 2010)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.estimator import between, positive
from rankstudio.engine.querywise import Grouped
from rankstudio.engine.selection.algorithm1 import Algorithm1Search
from rankstudio.engine.selection.selector import Selector
from rankstudio.engine.steps import Step
from rankstudio.engine.threads import pool

Floats = NDArray[np.float64]

_MOST_BYTES = 4e9  # of per-query statistics, before Algorithm 1 is taken instead
# Multiplications in a path, below which handing each step to threads costs more than it gains: measured with
# 471 queries, 46 features, k = 46 (5e7, 20 % lost with two threads) and twice as many queries (30 % gained).
_WORTH_THREADS = 8e7


class Search(Protocol):
    """A growing selection that knows the criterion of every feature that could be added."""

    selected: tuple[int, ...]

    @property
    def informative(self) -> NDArray[np.bool_]:
        """Which features vary inside some query, shape (n,)."""

    def costs(self) -> Floats:
        """Return the criterion with each feature added, shape (n,)."""

    def criterion(self) -> float:
        """Return the criterion of the present selection."""

    def select(self, feature: int) -> None:
        """Add a feature."""

    def weights(self) -> Floats:
        """Return the weights of the present selection, shape (n,)."""


class GreedyRankRLS(Selector):
    """Select features one at a time by the leave-query-out error of RankRLS.

    In each step the feature is added with which RankRLS, trained without each query in turn, predicts the
    left-out queries with the least squared error

        sum_q || y^_q - X^_q[:, S] w_q ||²     (Pahikkala et al. 2010, eq. (7)),

    where ^ is centring inside each query and w_q are the weights learned from all other queries. The
    errors are exact; no model is trained for them. Ties, up to the rounding of that sum, go to the feature
    that comes first. Features that are constant inside every query come after all others.

    Parameters
    ----------
    n_features_to_select : int, optional
        How many features to select, k; all that are not banned where it is not given.
    regularization : float, default 1.0
        λ > 0, the weight of ||w||² against the sum over queries of the squared errors (eq. (3)).
    pinned : sequence of int, default ()
        0-based columns to select first, in this order, whatever their error.
    banned : sequence of int, default ()
        0-based columns never to select.
    algorithm : {"auto", "statistics", "algorithm1"}, default "auto"
        "statistics" works on one Gram matrix a query: O(mn²) once for all λ, then O(Qnk²) time and
        O(Qn(n + k)) memory for each λ. "algorithm1" is the paper's, O(kmn) for each λ, better where there
        are far more features than documents in a query. Both give the same path; "auto" takes the cheaper.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        Weights of the model with all selected features, 0 for the others.
    support_ : ndarray of shape (n,), bool
        Which features are selected.
    selection_order_ : ndarray of shape (k,)
        Their 0-based columns in the order of selection.
    criterion_path_ : ndarray of shape (k,)
        The leave-query-out error, summed over documents, after each step.
    coef_path_ : ndarray of shape (k, n)
        The model after each step.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.random((60, 5)), np.repeat(np.arange(10), 6)
    >>> y = np.round(2 * X[:, 3] + 0.1 * rng.random(60))
    >>> GreedyRankRLS(n_features_to_select=1).fit(X, y, qid=qid).selection_order_
    array([3])
    """

    def __init__(
        self,
        n_features_to_select: int | None = None,
        regularization: float = 1.0,
        pinned: Sequence[int] = (),
        banned: Sequence[int] = (),
        algorithm: str = "auto",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.regularization = regularization
        self.pinned = pinned
        self.banned = banned
        self.algorithm = algorithm

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        free = n_features - len(self.banned)
        return free if self.n_features_to_select is None else min(self.n_features_to_select, free)

    def learn(self, data: Grouped) -> Iterator[Step]:
        """Yield one step a selected feature: its criterion, the weights, and every candidate's criterion."""
        n = data.X.shape[1]
        regularization = positive("regularization", self.regularization)
        pinned, banned = _columns("pinned", self.pinned, n), _columns("banned", self.banned, n)
        if set(pinned) & set(banned):
            both = sorted(set(pinned) & set(banned))
            raise ParameterError("banned", list(banned), f"no feature that is pinned, such as {both[0]}")
        free = n - len(banned)
        if free == 0:
            raise ParameterError("banned", list(banned), "at least one feature left to select")
        wanted = free if self.n_features_to_select is None else self.n_features_to_select
        k = between("n_features_to_select", wanted, max(1, len(pinned)), free)
        with ExitStack() as stack:
            search = self._search(data, regularization, k, stack)
            allowed = np.ones(n, dtype=bool)
            allowed[list(banned)] = False
            yield from _forward(search, k, pinned, allowed)

    def _search(self, data: Grouped, regularization: float, k: int, stack: ExitStack) -> Search:
        m, n = data.X.shape
        Q = data.ptr.size - 1
        if self.algorithm not in ("auto", "statistics", "algorithm1"):
            raise ParameterError("algorithm", self.algorithm, "auto, statistics or algorithm1")
        if self.algorithm == "algorithm1" or (self.algorithm == "auto" and _prefer_algorithm1(m, n, Q, k)):
            return Algorithm1Search(data, regularization)
        # numba is imported where it is needed: reading the catalog must not wait for it.
        from rankstudio.engine.selection.lqo_path import LeaveQueryOutSearch  # noqa: PLC0415

        executor, workers = stack.enter_context(pool(Q * n * k * k > _WORTH_THREADS))
        return LeaveQueryOutSearch(data.statistics, regularization, k, executor, workers)


def _forward(search: Search, k: int, pinned: tuple[int, ...], allowed: NDArray[np.bool_]) -> Iterator[Step]:
    """Select pinned features, then the best ones, until there are k."""
    # Every term of the criterion is at most this sum, so two criteria that differ by its rounding tie.
    before = search.criterion()
    tie = 64 * np.finfo(np.float64).eps * before
    for number in range(1, k + 1):
        costs = search.costs()
        candidates = np.flatnonzero(allowed & search.informative)
        if candidates.size == 0:
            candidates = np.flatnonzero(allowed)
        if number <= len(pinned):
            best = pinned[number - 1]
        else:
            within = costs[candidates] <= costs[candidates].min() + tie
            best = int(candidates[within][0])
        scores = np.full(costs.size, np.nan)
        scores[candidates] = costs[candidates]
        scores[best] = costs[best]
        search.select(best)
        allowed[best] = False
        after = search.criterion()
        yield Step(number, search.selected, search.weights(), after, scores, before=before)
        before = after


def _prefer_algorithm1(m: int, n: int, Q: int, k: int) -> bool:
    """Tell which algorithm multiplies less; per-query statistics also have to fit in memory."""
    if 8.0 * Q * ((n + 1) ** 2 + 2 * n * k) > _MOST_BYTES:
        return True
    return m * n**2 + 2 * Q * n * k**2 > 12 * k * m * n


def _columns(name: str, columns: Sequence[int], n: int) -> tuple[int, ...]:
    chosen = tuple(int(c) for c in columns)
    if any(not 0 <= c < n for c in chosen) or len(set(chosen)) != len(chosen):
        raise ParameterError(name, list(chosen), f"different columns from 0 to {n - 1}")
    return chosen
