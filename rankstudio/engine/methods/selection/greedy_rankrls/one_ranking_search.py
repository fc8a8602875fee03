"""Greedy search on one global ranking: leave-one-out (greedy RLS) and leave-pair-out.

Both keep, for the selection S, the hat matrix H of regularised least squares on globally centred columns, as
far as they need it, with r = y^ - Hy^ and R = λ^-1 (I - H) X^ for all features. A feature j adds λc R_j R_j'
to H and takes λd R_j off r, c = 1 / (1 + x_j'R_j) and d = c R_j'y^ (Pahikkala et al. 2010, section 3, whose C
is R and whose G is λ^-1 (I - H)).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData, centre
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.errors import DatasetError, OutOfMemoryError
from rankstudio.engine.support import memory
from rankstudio.engine.support.threads import STEADY, pool, share, worthwhile

_AT_ONCE = 1 << 18  # numbers of candidates' columns that are worked on at a time, which fit into a cache
_PAIR = 4.0  # nanoseconds for a pair of documents and a candidate


class OneRankingSearch(ABC):
    """A growing selection by an error of left-out documents; see `search_steps.FloatingSearch`.

    Parameters
    ----------
    data : QueryData
        Its queries do not count.
    regularization : float
        λ > 0.

    Notes
    -----
    O(mn) for each feature selected, and O(mn) memory for two matrices.
    """

    least: int
    """Documents without which nothing is left to learn from."""

    def __init__(self, data: QueryData, regularization: float) -> None:
        m = len(data.y)
        if m < self.least:
            raise DatasetError(f"One ranking: expected at least {self.least} documents, found {m}.")
        self._check_memory(*data.X.shape)
        ptr = np.array([0, m])
        # Columns of features stand together: each candidate reads its own.
        self._X = np.asfortranarray(centre(data.X, ptr))
        self._y = centre(data.y[:, None], ptr)[:, 0]
        self._regularization = regularization
        self.selected: tuple[int, ...] = ()
        self._start()

    def _start(self) -> None:
        """Begin with nothing selected."""
        self._R = self._X / self._regularization
        self._residuals = self._y.copy()
        self._leverages = np.zeros(self._y.size)
        self.selected = ()

    @property
    def informative(self) -> Bools:
        """Mask of the features that vary, shape (n,)."""
        varies: Bools = (self._X != 0).any(axis=0)
        return varies

    @abstractmethod
    def criterion(self) -> float:
        """Return the error of the present selection."""

    @abstractmethod
    def costs(self, candidates: Ints) -> Floats:
        """Return the error with each candidate added, shape (c,)."""

    def select(self, feature: int) -> None:
        """Add a feature to the selection."""
        with STEADY:
            column = self._R[:, feature].copy()
            scale, drop = self._terms(feature)
            self._add(column, scale)
            self._residuals -= drop * column
            self._R -= np.outer(column, (scale / self._regularization) * (column @ self._X))
        self.selected = (*self.selected, feature)

    def _add(self, column: Floats, scale: float) -> None:
        """Add ``scale`` times the outer product of a column to what is kept of H: to its diagonal."""
        self._leverages += scale * column**2

    def _terms(self, feature: int) -> tuple[float, float]:
        """Return by how much R_j R_j' counts in H, and R_j in r."""
        column = self._R[:, feature]
        c = 1.0 / (1.0 + self._X[:, feature] @ column)
        return float(self._regularization * c), float(self._regularization * c * (column @ self._y))

    def removals(self) -> Floats:
        """Return the error without each of the t selected features, shape (t,): O(t² mn)."""
        selected = self.selected
        costs = np.empty(len(self.selected))
        for position in reversed(range(len(selected))):  # what stands before the position stays
            self.move_to(selected[:position] + selected[position + 1 :])
            costs[position] = self.criterion()
        self.move_to(selected)
        return costs

    def move_to(self, selected: tuple[int, ...]) -> None:
        """Make another selection the present one."""
        if selected[: len(self.selected)] != self.selected:
            self._start()
        for feature in selected[len(self.selected) :]:
            self.select(feature)

    def weights(self) -> Floats:
        """Return the weights of the present selection, shape (n,): w = X^_S' (y^ - Hy^) / λ."""
        coef = np.zeros(self._X.shape[1])
        index = list(self.selected)
        coef[index] = self._X[:, index].T @ self._residuals / self._regularization
        return coef

    @staticmethod
    def _check_memory(m: int, n: int, extra: float = 0.0) -> None:
        needed = 8.0 * (3.0 * m * n + extra)
        free = memory.available()
        if needed > free:
            raise OutOfMemoryError(
                f"Greedy RankRLS on one ranking of {m:,} documents with {n:,} features needs "
                f"{memory.size(needed)} of memory, and {memory.size(free)} are free. Use fewer documents, or "
                'pairs="pointwise".'
            )


class LeaveOneOutSearch(OneRankingSearch):
    """Greedy RLS (Pahikkala et al. 2010c): the squared errors of documents by models learned without them.

    The models have a bias that is not regularised, so the error of document i is r_i / (1 - H_ii - 1/m).

    Notes
    -----
    O(kmn) for k features, the bound of the paper: O(m) for each candidate.
    """

    least = 2

    def criterion(self) -> float:
        """Return the sum of the squared errors."""
        errors = self._residuals / self._left(self._leverages)
        return float(errors @ errors)

    def costs(self, candidates: Ints) -> Floats:
        """Return the sum of the squared errors with each candidate added, shape (c,)."""
        m = self._y.size
        costs = np.empty(candidates.size)
        size = max(1, _AT_ONCE // m)
        with STEADY, pool(worthwhile(3.0 * m * candidates.size)) as (executor, workers):

            def work(first: int) -> None:
                part = candidates[first : first + size]
                R = self._R[:, part]
                c = self._regularization / (1.0 + np.einsum("mi,mi->i", self._X[:, part], R))
                drop = c * (self._y @ R)
                errors = self._residuals[:, None] - drop * R
                errors /= self._left(self._leverages[:, None] + c * R**2)
                costs[first : first + size] = np.einsum("mi,mi->i", errors, errors)

            share(executor, workers, work, range(0, candidates.size, size))
        return costs

    def _left(self, leverages: Floats) -> Floats:
        """Return 1 - H_ii - 1/m."""
        return (1.0 - 1.0 / self._y.size) - leverages


class LeavePairOutSearch(OneRankingSearch):
    """The squared errors of differences by models learned without the two documents, for all pairs.

    See :class:`rankstudio.engine.methods.holdout.HeldOutPredictor`, whose ``pair_error`` this is.

    Notes
    -----
    O(m²) for each candidate, so O(knm²) for k features, and O(m²) memory: no shorter way is known for one
    ranking (Pahikkala et al. 2010, section 2).
    """

    least = 3

    def _start(self) -> None:
        super()._start()
        self._hat = np.zeros((self._y.size, self._y.size))

    def _add(self, column: Floats, scale: float) -> None:
        super()._add(column, scale)
        self._hat += np.outer(scale * column, column)

    def criterion(self) -> float:
        """Return the sum of the squared errors, divided by m."""
        return self._error(np.zeros(self._y.size), 0.0, self._residuals)

    def costs(self, candidates: Ints) -> Floats:
        """Return the criterion with each candidate added, shape (c,)."""
        m = self._y.size
        costs = np.empty(candidates.size)
        with STEADY, pool(worthwhile(_PAIR * m * m / 2 * candidates.size)) as (executor, workers):

            def work(index: int) -> None:
                feature = int(candidates[index])
                column = np.ascontiguousarray(self._R[:, feature])
                scale, drop = self._terms(feature)
                costs[index] = self._error(column, scale, self._residuals - drop * column)

            share(executor, workers, work, range(candidates.size))
        return costs

    def _error(self, column: Floats, scale: float, residuals: Floats) -> float:
        from rankstudio.engine.methods import _pair_holdout_kernel as kernel  # noqa: PLC0415 - numba, where it is needed

        m = self._y.size
        losses = np.empty(m)
        kernel.pair_losses(
            self._hat, self._leverages, residuals, column, scale, 1.0 / (m - 2), 0.0, 0, losses
        )
        return float(losses.sum()) / m

    @staticmethod
    def _check_memory(m: int, n: int, extra: float = 0.0) -> None:
        OneRankingSearch._check_memory(m, n, extra + 2.0 * m * m)
