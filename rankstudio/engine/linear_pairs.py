"""Pairs whose scores are linear in the features: products with X, on the threads there are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine import _rows_kernel as kernels
from rankstudio.engine.pair_losses import Smooth
from rankstudio.engine.pairs import Pairs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_WORTH_THREADS = 10_000_000  # entries of X, from which on a product with them is work for several threads


class LinearPairs:
    """Pairs whose scores are linear in the features, s_i = (x_i - x_f)'w with f the first of i's query.

    The same pairs with the same differences of scores as Xw, and sums that round like those of a copy of X
    centred inside each query, whatever offset a query's features have.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        Features, grouped by query.
    pairs : Pairs
    """

    def __init__(self, X: Floats, pairs: Pairs) -> None:
        self.X = X
        self.pairs = pairs
        self._heavy = X.size > _WORTH_THREADS

    def scores(self, w: Floats) -> Floats:
        """Return the documents' scores, shape (m,). O(mn)."""
        out, ptr = np.empty(self.X.shape[0]), self.pairs.ptr
        self.pairs.spread(
            lambda _, first, last: kernels.multiply(self.X, w, ptr, first, last, out), self._heavy
        )
        return out

    def weigh(self, weights: Floats) -> Floats:
        """Return the sum of weight_i (x_i - x_f), shape (n,). O(mn).

        This is X'weights where each query's weights add up to 0, as the slopes of a loss of pairs do.
        """
        parts, ptr = self._parts(), self.pairs.ptr
        self.pairs.spread(
            lambda block, first, last: kernels.weigh(self.X, weights, ptr, first, last, parts[block]),
            self._heavy,
        )
        total: Floats = parts.sum(axis=0)
        return total

    def curvature(self, at: Smooth, v: Floats) -> Floats:
        """Return the Hessian in w of a loss times v, X'HXv with H the Hessian in the scores, shape (n,).

        O(mn + m log r) for r labels a query; the rows of X are read from memory once.
        """
        values, curved = np.empty(self.X.shape[0]), np.empty(self.X.shape[0])
        parts, ptr = self._parts(), self.pairs.ptr

        def work(block: int, first: int, last: int) -> None:
            kernels.multiply(self.X, v, ptr, first, last, values)
            at.curvature_of(values, first, last, curved)
            kernels.weigh(self.X, curved, ptr, first, last, parts[block])

        self.pairs.spread(work, self._heavy)
        total: Floats = parts.sum(axis=0)
        return total

    def centred(self, rows: Ints) -> Floats:
        """Return rows of X minus the mean of their whole query, shape (rows, n). O(mn)."""
        ptr = self.pairs.ptr
        means = np.empty((ptr.size - 1, self.X.shape[1]))
        self.pairs.spread(
            lambda _, first, last: kernels.average(self.X, ptr, first, last, means), self._heavy
        )
        of: Floats = self.X[rows] - means[np.searchsorted(ptr, rows, side="right") - 1]
        return of

    def _parts(self) -> Floats:
        return np.empty((len(self.pairs.blocks), self.X.shape[1]))
