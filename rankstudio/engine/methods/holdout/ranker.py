"""What a ranker by least squares can say of documents of one global ranking that were held out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arithmetic.sparse_query_data import dense
from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.holdout.decomposition import KernelDecomposition
from rankstudio.engine.methods.holdout.predictor import HeldOutPredictor


class HoldOutRanker(LinearRanker):
    """Base of rankers by least squares, whose parameters include ``regularization``."""

    def leave_pair_out(self, X: ArrayLike, y: ArrayLike, *, pairs: ArrayLike | None = None) -> Floats:
        """Predict pairs of documents of one global ranking with the model learned from all others.

        Parameters
        ----------
        X : array-like of shape (m, n)
        y : array-like of shape (m,)
        pairs : array-like of int, shape (p, 2), optional
            Rows of the documents of each pair; all pairs where it is not given.

        Returns
        -------
        ndarray of shape (p, 2), or (m, m)
            Scores w'(x - x̄) with the mean x̄ of all documents. Of all pairs, entry (i, j) is the score of
            document i by the model without i and j, NaN on the diagonal.

        Notes
        -----
        O(m²r) once for rank r of the centred X, then constant time a pair (Pahikkala et al. 2009, section
        3.4). :func:`rankstudio.engine.statistics.auc.pair_auc` measures all pairs.
        """
        left_out = self._held_out(X, y)
        return left_out.all_pairs() if pairs is None else left_out.pairs(pairs)

    def leave_sets_out(self, X: ArrayLike, y: ArrayLike, sets: Iterable[ArrayLike]) -> list[Floats]:
        """Predict sets of documents of one global ranking, each with the model learned without the set.

        Parameters
        ----------
        X : array-like of shape (m, n)
        y : array-like of shape (m,)
        sets : iterable of array-like of int
            Rows of the documents of each set.

        Returns
        -------
        list of ndarray of shape (u,)
            Scores as of :meth:`leave_pair_out`.
        """
        return self._held_out(X, y).sets(sets)

    def _held_out(self, X: ArrayLike, y: ArrayLike) -> HeldOutPredictor:
        data = dense(self._group(X, y, np.zeros(np.shape(y)[:1], dtype=np.int64)))
        regularization, (loss, weighting) = self.checked("regularization"), self.held_out_loss()
        return HeldOutPredictor(KernelDecomposition.of(data.X), data.y, regularization, loss, weighting)

    def held_out_loss(self) -> tuple[str, str]:
        """Return the loss and the weighting of :class:`HeldOutPredictor` that the ranker has."""
        return "differences", "size"
