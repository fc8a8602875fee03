"""Greedy search on one global ranking: leave-one-out (greedy RLS) and leave-pair-out.

For the selection S, let H be the hat matrix of regularised least squares on globally
centred columns. Both searches keep r = y^ - Hy^ and R = λ^-1 (I - H) X^ for all
features; leave-one-out also keeps the diagonal of H, and leave-pair-out all of H.
Selecting feature j adds λc R_j R_j' to H and subtracts λd R_j from r, with c = 1 / (1 +
x_j'R_j) and d = c R_j'y^ (Pahikkala et al. 2010, section 3, where C is R and G is λ^-1
(I - H)).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData, centre
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.errors import DatasetError, OutOfMemoryError
from rankstudio.engine.support import memory
from rankstudio.engine.support.threads import STEADY, pool, share, worthwhile

# Numbers in the candidates' columns that are processed at a time: they
# fit into a cache.
_AT_ONCE = 1 << 18
_PAIR = 4.0  # nanoseconds for a pair of documents and a candidate


class OneRankingSearch(ABC):
    """A growing selection of features by an error of left-out documents, for data of one ranking.

    Parameters
    ----------
    data : QueryData
        All documents are one ranking; queries are ignored.
    regularization : float
        λ > 0.

    Notes
    -----
    O(mn) for each feature selected, and O(mn) memory for two matrices.
    """

    least: int
    """Minimum number of documents: with fewer, none remain for training."""

    def __init__(self, data: QueryData, regularization: float) -> None:
        """Start without selected features, with all documents as one ranking; ``regularization`` is λ.

        Raises a DatasetError for too few documents, or an
        OutOfMemoryError. ``data`` has the documents.
        """
        # `least` is the smallest number of documents for this error.
        m = len(data.y)
        if m < self.least:
            raise DatasetError(
                f"One ranking: expected at least {self.least} documents, found {m}."
            )
        self._check_memory(*data.X.shape)
        ptr = np.array([0, m])  # a single query with all documents
        # In Fortran order, because each candidate reads one column.
        self._X = np.asfortranarray(centre(data.X, ptr))
        self._y = centre(data.y[:, None], ptr)[:, 0]
        self._regularization = regularization
        self.selected: tuple[int, ...] = ()
        self._start()

    def _start(self) -> None:
        """Reset the state to the empty selection."""
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
        """Add a feature to the selection, and update the residuals and the products of all candidates.

        The hat matrix H maps labels to predictions. The stored entries
        of H are updated, too.
        """
        # STEADY: BLAS has one thread, because with several its sums
        # differ in their last bits.
        with STEADY:
            # What the selected features do not explain of the feature, over λ.
            column = self._R[:, feature].copy()
            # H gains the first factor times the outer product of the
            # column with itself; the residuals lose the second one
            # times the column.
            hat_scale, residual_scale = self._update_scales(feature)
            self._add(column, hat_scale)
            self._residuals -= residual_scale * column
            self._R -= np.outer(
                column, (hat_scale / self._regularization) * (column @ self._X)
            )
        self.selected = (*self.selected, feature)

    def _add(self, column: Floats, scale: float) -> None:
        """Add ``scale`` times the outer product of a column (m,) with itself to the stored entries of H.

        The hat matrix H (m, m) maps labels to predictions; here, only
        its diagonal is stored.
        """
        self._leverages += scale * column**2  # the diagonal of H

    def _update_scales(self, feature: int) -> tuple[float, float]:
        """Return by which factors the hat matrix and the residuals change if a feature is added.

        With R_j, what the selected features do not explain of the
        feature, over λ: the hat matrix gains the first factor times R_j
        R_j', and the residuals lose the second one times R_j.
        """
        column = self._R[:, feature]
        c = 1.0 / (1.0 + self._X[:, feature] @ column)
        return float(self._regularization * c), float(
            self._regularization * c * (column @ self._y)
        )

    def removals(self) -> Floats:
        """Return the error without each of the t selected features, shape (t,): O(t² mn)."""
        selected = self.selected
        costs = np.empty(len(self.selected))
        # From the last feature to the first, so that few features are selected again.
        for position in reversed(range(len(selected))):
            self.move_to(selected[:position] + selected[position + 1 :])
            costs[position] = self.criterion()
        self.move_to(selected)
        return costs

    def move_to(self, selected: tuple[int, ...]) -> None:
        """Change to another selection.

        If it does not begin with the present selection, all of its
        features are selected anew.
        """
        if selected[: len(self.selected)] != self.selected:
            self._start()
        for feature in selected[len(self.selected) :]:
            self.select(feature)

    def weights(self) -> Floats:
        """Return the weights of the present selection S, shape (n,): w_S = X^_S' r / λ, with the residuals r."""
        coef = np.zeros(self._X.shape[1])
        index = list(self.selected)
        coef[index] = self._X[:, index].T @ self._residuals / self._regularization
        return coef

    @staticmethod
    def _check_memory(m: int, n: int, extra: float = 0.0) -> None:
        """Raise an OutOfMemoryError if three (m, n) matrices and ``extra`` numbers do not fit into memory."""
        needed = 8.0 * (3.0 * m * n + extra)  # bytes
        free = memory.available()
        if needed > free:
            raise OutOfMemoryError(
                f"Greedy RankRLS on one ranking of {m:,} documents with {n:,} features needs "
                f"{memory.size(needed)} of memory, and {memory.size(free)} are free. Use fewer documents, or "
                'pairs="pointwise".'
            )


class LeaveOneOutSearch(OneRankingSearch):
    """Greedy RLS (Pahikkala et al. 2010c): selection by the leave-one-out error of documents.

    Each document's squared error is that of the model trained on all
    others. The models have a bias that is not regularised, so the error
    of document i is r_i / (1 - H_ii - 1/m).

    Notes
    -----
    O(kmn) for k features, the bound of the paper: O(m) for each candidate.
    """

    least = 2

    def criterion(self) -> float:
        """Return the sum of the squared errors, each of the model without the document."""
        errors = self._residuals / self._denominators(self._leverages)
        return float(errors @ errors)

    def costs(self, candidates: Ints) -> Floats:
        """Return the sum of the documents' squared leave-one-out errors with each candidate added, shape (c,)."""
        m = self._y.size
        costs = np.empty(candidates.size)
        size = max(1, _AT_ONCE // m)  # candidates at a time, by their numbers
        # Threads if the errors, at about 3 ns each, take long enough.
        # In STEADY, BLAS has one thread, so that last bits do not
        # depend on the machine.
        with STEADY, pool(worthwhile(3.0 * m * candidates.size)) as (executor, workers):

            def work(first: int) -> None:
                """Write the criteria of ``size`` candidates from position ``first`` on to ``costs``.

                Uses ``size``, ``candidates`` and ``costs`` of the
                enclosing method. The criterion is the error of left-out
                documents with the candidate added.
                """
                part = candidates[first : first + size]
                R = self._R[:, part]
                # R is what the selected features do not explain of each
                # candidate, over λ. The outer product of a column of R
                # with itself, times c, is added to the hat matrix H,
                # and d times the column to the predictions. The
                # leverages are the diagonal of H.
                c = self._regularization / (
                    1.0 + np.einsum("mi,mi->i", self._X[:, part], R)
                )
                d = c * (self._y @ R)
                # The errors of the model of all documents, and then of
                # those without each. The latter are the former over 1
                # minus the leverage minus 1 / m.
                errors = self._residuals[:, None] - d * R
                errors /= self._denominators(self._leverages[:, None] + c * R**2)
                costs[first : first + size] = np.einsum("mi,mi->i", errors, errors)

            share(executor, workers, work, range(0, candidates.size, size))
        return costs

    def _denominators(self, leverages: Floats) -> Floats:
        """Return 1 - H_ii - 1/m for each document, by which its residual is divided."""
        return (1.0 - 1.0 / self._y.size) - leverages


class LeavePairOutSearch(OneRankingSearch):
    """Selection by the leave-pair-out error: squared errors of the differences of all pairs of documents.

    The difference of a pair is predicted by the model trained without
    the two documents. The criterion is ``pair_error`` of
    :class:`rankstudio.engine.methods.holdout.HeldOutPredictor`.

    Notes
    -----
    O(m²) for each candidate, so O(knm²) for k features, and O(m²)
    memory: no shorter way is known for one ranking (Pahikkala et al.
    2010, section 2).
    """

    least = 3

    def _start(self) -> None:
        """Start without features: the hat matrix H is 0, too."""
        super()._start()
        self._hat = np.zeros((self._y.size, self._y.size))

    def _add(self, column: Floats, scale: float) -> None:
        """Add ``scale`` times the outer product of a feature's column to H, too."""
        super()._add(column, scale)
        self._hat += np.outer(scale * column, column)

    def criterion(self) -> float:
        """Return the sum of the squared errors of all pairs, each by the model without it, divided by m."""
        return self._error(np.zeros(self._y.size), 0.0, self._residuals)

    def costs(self, candidates: Ints) -> Floats:
        """Return the leave-pair-out error with each candidate added, shape (c,)."""
        m = self._y.size
        costs = np.empty(candidates.size)
        # BLAS has one thread, so that sums do not depend on the
        # threads. Threads compare candidates if that takes long enough.
        with (
            STEADY,
            pool(worthwhile(_PAIR * m * m / 2 * candidates.size)) as (
                executor,
                workers,
            ),
        ):

            def work(index: int) -> None:
                """Write the criterion of the candidate at position ``index`` to the method's ``costs``."""
                feature = int(candidates[index])
                # What the selected features do not explain of the
                # feature, over λ. With the feature, the matrix that
                # maps labels to predictions gains the first factor
                # times the outer product of the column with itself; the
                # residuals lose the second one times the column.
                column = np.ascontiguousarray(self._R[:, feature])
                hat_scale, residual_scale = self._update_scales(feature)
                costs[index] = self._error(
                    column, hat_scale, self._residuals - residual_scale * column
                )

            share(executor, workers, work, range(candidates.size))
        return costs

    def _error(self, column: Floats, scale: float, residuals: Floats) -> float:
        """Return the leave-pair-out error if ``scale`` times the outer product of a column is added to H.

        H (m, m) maps labels to predictions, and is not changed.
        ``residuals`` (m,) are those with this addition, and ``column``
        has shape (m,).
        """
        from rankstudio.engine.methods import _pair_holdout_kernel as kernel  # noqa: PLC0415 - numba, where it is needed

        m = self._y.size
        losses = np.empty(m)
        # Without a pair, m - 2 documents are left for training; there
        # is no bias (0.0), and all rows of H are passed, from row 0 on.
        kernel.pair_losses(
            self._hat,
            self._leverages,
            residuals,
            column,
            scale,
            1.0 / (m - 2),
            0.0,
            0,
            losses,
        )
        return float(losses.sum()) / m

    @staticmethod
    def _check_memory(m: int, n: int, extra: float = 0.0) -> None:
        # H and a copy of it are (m, m).
        OneRankingSearch._check_memory(m, n, extra + 2.0 * m * m)
