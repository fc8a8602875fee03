"""Where a search that keeps nothing of its candidates has their products with the selected features from."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.querywise import QueryStatistics
from rankstudio.engine.selection import _on_demand_kernels as kernels
from rankstudio.engine.sparse import SparseGrouped

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Products(Protocol):
    """The products X^_q[:, i]'X^_q[:, j] of features in each query q, and those with the labels."""

    n_queries: int
    informative: NDArray[np.bool_]
    labels: Floats  # y^_q'y^_q, shape (Q,)

    def keep(self, feature: int, t: int) -> tuple[Floats, Floats]:
        """Select a feature as the t-th, from 0.

        Returns
        -------
        own : ndarray of shape (ceil(Q / BLOCK), t + 2, BLOCK)
            Its products in each query: with itself, the labels, and the t features selected before.
        total : ndarray of shape (t + 2,)
            Their sums over all queries.
        """

    def changes(self, candidates: Ints, t: int, regularization: float, state: kernels.State) -> Floats:
        """Return how the criterion changes with each candidate, shape (c,), after t features."""


class StatisticsProducts:
    """Products that are looked up in the Gram matrices of the queries.

    Parameters
    ----------
    statistics : QueryStatistics
        Of the training data.
    """

    def __init__(self, statistics: QueryStatistics) -> None:
        n = statistics.n_features
        self.n_queries = statistics.n_queries
        self.informative = statistics.informative
        self.labels: Floats = statistics.gram[:, n, n]
        self._total = statistics.total
        self._gram = statistics.in_blocks(kernels.BLOCK)
        self._index = np.full(n + 1, n)  # the labels' column, then those of the selected features

    def keep(self, feature: int, t: int) -> tuple[Floats, Floats]:  # noqa: D102 - of the protocol
        rows = np.append(feature, self._index[: t + 1])
        self._index[t + 1] = feature
        return np.ascontiguousarray(self._gram[:, rows, feature]), self._total[rows, feature]

    def changes(  # noqa: D102 - of the protocol
        self, candidates: Ints, t: int, regularization: float, state: kernels.State
    ) -> Floats:
        out, index = np.empty(candidates.size), self._index[: t + 1]
        totals = np.empty((candidates.size, t + 2))
        totals[:, 0] = self._total[candidates, candidates]
        totals[:, 1:] = self._total[np.ix_(candidates, index)]
        kernels.changes_by_statistics(t, index, candidates, self._gram, totals, regularization, state, out)
        return out


class ColumnProducts:
    """Products that are summed over the entries of sparse columns, each time they are needed.

    Parameters
    ----------
    data : SparseGrouped
        Training data.
    """

    def __init__(self, data: SparseGrouped) -> None:
        y = data.centred_labels
        self.n_queries = data.ptr.size - 1
        self.informative = data.informative
        self.labels: Floats = np.add.reduceat(y * y, data.ptr[:-1])
        self._data = data
        self._basis = y[:, None].copy()  # y^, then the columns of X^ that are selected, then room for more

    @property
    def columns(self) -> kernels.Columns:
        """The columns and what belongs to their products, as the kernels take them."""
        data, X = self._data, self._data.shifted
        return X.data, X.indices, X.indptr, data.squares, self._basis, data.query, data.ptr

    def keep(self, feature: int, t: int) -> tuple[Floats, Floats]:  # noqa: D102 - of the protocol
        own, total = np.empty((-(-self.n_queries // kernels.BLOCK), t + 2, kernels.BLOCK)), np.empty(t + 2)
        kernels.products_of_column(self.columns, t, feature, own, total)
        if t + 1 == self._basis.shape[1]:
            self._basis = np.pad(self._basis, ((0, 0), (0, t + 1)))
        self._basis[:, t + 1] = self._data.centred_column(feature)
        return own, total

    def changes(  # noqa: D102 - of the protocol
        self, candidates: Ints, t: int, regularization: float, state: kernels.State
    ) -> Floats:
        out = np.empty(candidates.size)
        kernels.changes_by_columns(t, candidates, self.columns, regularization, state, out)
        return out
