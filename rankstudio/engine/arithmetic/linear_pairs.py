"""Pairs whose scores are linear in the features: what Newton steps need beyond their products."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arithmetic import _rows_kernel as kernels
from rankstudio.engine.arithmetic.linear_scores import Linear
from rankstudio.engine.arithmetic.pair_losses import Smooth
from rankstudio.engine.arithmetic.pairs import Pairs
from rankstudio.engine.arrays import Floats, Ints


class LinearPairs(Linear):
    """Pairs whose scores are linear in the features.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        Features, grouped by query.
    pairs : Pairs
    """

    def __init__(self, X: Floats, pairs: Pairs) -> None:
        super().__init__(X, pairs)
        self.pairs = pairs

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
