"""Pairs of documents with sparse features: the products for pairwise losses, from the entries alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.pair_losses import LinearPairs, LossAtScores
from rankstudio.engine.arithmetic.pairs import Pairs
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.sparse_rows import SparseRows


class SparseLinearPairs(LinearPairs):
    """Pairs whose scores are linear in sparse features, each product in O(entries).

    Parameters
    ----------
    data : SparseQueryData
        Sparse features of the documents. Columns are shifted within
        queries, which changes no difference: a constant column is
        exactly 0.
    pairs : Pairs
        The pairs of these documents.
    """

    def __init__(self, data: SparseQueryData, pairs: Pairs) -> None:
        self.X: Any = SparseRows(data.shifted)
        self.queries = self.pairs = pairs
        self._rows = data.shifted.tocsr()
        self._first = data.ptr[:-1]
        self._sizes = np.diff(data.ptr)

    def scores(self, w: Floats) -> Floats:  # noqa: D102 - inherited
        scores: Floats = self._rows @ w
        return scores - np.repeat(scores[self._first], self._sizes)

    def weigh(self, weights: Floats) -> Floats:  # noqa: D102 - inherited
        relative = weights.copy()
        relative[self._first] -= np.add.reduceat(weights, self._first)
        product: Floats = self._rows.T @ relative
        return product

    def curvature(self, loss: LossAtScores, v: Floats) -> Floats:
        """Return the Hessian of a loss in the weights, times v (n,), shape (n,).

        The product is X'HXv with H the Hessian in the scores, which
        ``loss`` has.
        """
        # Xv, then H times it, written by threads for some queries at a time.
        values = self.scores(v)
        curved = np.empty(self._rows.shape[0])
        self.pairs.spread(
            lambda _, first, last: loss.curvature_of(values, first, last, curved)
        )
        return self.weigh(curved)

    def centred(self, rows: Ints) -> Floats:  # noqa: D102 - inherited
        query = np.searchsorted(self.pairs.ptr, rows, side="right") - 1
        means = SparseRows(self._by_query(np.ones(len(self.X))) / self._sizes[:, None])
        centred: Floats = self.X[rows].dense() - means[query].dense()
        return centred

    def centred_squares(self, weights: Floats) -> Floats:
        """Return the weighted sum of squares of each feature, centred in queries, (n,).

        ``weights`` (m,) has the weight of each document. With the mean
        x̄ of a query, Σ w (x - x̄)² = Σ w x² - 2 x̄ Σ w x + x̄² Σ w.
        """
        # x̄ and Σ w x, sparse matrices (Q, n); then Σ w of each query.
        means = (
            self._by_query(np.ones(len(self.X)))
            .multiply(1.0 / self._sizes[:, None])
            .tocsr()
        )
        mixed = means.multiply(self._by_query(weights)).sum(axis=0)
        totals = np.add.reduceat(weights, self._first)
        squares: Floats = (
            self._rows.power(2).T @ weights - 2.0 * mixed + means.power(2).T @ totals
        )
        return np.maximum(squares, 0.0)  # rounding may make them negative

    def _by_query(self, weights: Floats) -> Any:
        """Return the weighted sum of the features of the documents of each query.

        ``weights`` has shape (m,); the result is a sparse matrix (Q, n).
        """
        from scipy.sparse import csr_array  # noqa: PLC0415 - where it is needed

        # Row q of the left matrix has the weights of its documents.
        # ``_first`` has the first row of each query.
        m = weights.size
        return (
            csr_array(
                (weights, np.arange(m), self.pairs.ptr), shape=(self._first.size, m)
            )
            @ self._rows
        )
