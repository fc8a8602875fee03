"""Where a search that keeps nothing of its candidates has their products with the selected features from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls import _column_products_kernel as column_kernels
from rankstudio.engine.methods.selection.greedy_rankrls import _column_search_kernel as kernels

Comparison = Callable[[Ints], Floats]


class Products(Protocol):
    """The products X^_q[:, i]'X^_q[:, j] of features in each query q, and those with the labels."""

    n_queries: int
    informative: Bools
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

    def comparison(self, factor: Floats, regularization: float, state: kernels.State) -> Comparison:
        """Return the function from candidates (c,) to how the criterion changes with each, shape (c,).

        Parameters
        ----------
        factor : ndarray of shape (t, t)
            L with LL' = T[A, A] + λI for the t selected features A.
        regularization : float
            λ.
        state : tuple of ndarray
            What is known of the queries.
        """


class GramProducts:
    """Products that are looked up in the Gram matrices of the queries.

    Parameters
    ----------
    gram : ndarray of shape (blocks, n + 1, n + 1, BLOCK)
        ``[X^_q y^_q]'[X^_q y^_q]`` for each query, side by side.
    total : ndarray of shape (n + 1, n + 1)
        The sum over all queries, of which these may be some.
    n_queries : int
        How many these are.
    """

    def __init__(self, gram: Floats, total: Floats, n_queries: int) -> None:
        n = total.shape[0] - 1
        self.n_queries = n_queries
        self.informative: Bools = np.diagonal(total)[:-1] > 0
        self.labels: Floats = gram[:, n, n].reshape(-1)[:n_queries]
        self.total = total
        self.gram = gram
        self._index = np.full(n + 1, n)  # the labels' column, then those of the selected features

    def keep(self, feature: int, t: int) -> tuple[Floats, Floats]:  # noqa: D102 - of the protocol
        rows = np.append(feature, self._index[: t + 1])
        self._index[t + 1] = feature
        return np.ascontiguousarray(self.gram[:, rows, feature]), self.total[rows, feature]

    def comparison(  # noqa: D102 - of the protocol
        self, factor: Floats, regularization: float, state: kernels.State
    ) -> Comparison:
        index = self._index[: factor.shape[0] + 1]

        def changes(candidates: Ints) -> Floats:
            out, totals = np.empty(candidates.size), np.empty((candidates.size, index.size + 1))
            totals[:, 0] = self.total[candidates, candidates]
            totals[:, 1:] = self.total[np.ix_(candidates, index)]
            kernels.changes_by_statistics(index, candidates, self.gram, totals, regularization, state, out)
            return out

        return changes


class ColumnProducts:
    """Products that are summed over the entries of sparse columns, each time they are needed.

    Parameters
    ----------
    data : SparseQueryData
        Training data.
    """

    def __init__(self, data: SparseQueryData) -> None:
        y = data.centred_labels
        self.n_queries = data.ptr.size - 1
        self.informative = data.informative
        self.labels: Floats = np.add.reduceat(y * y, data.ptr[:-1])
        self._data = data
        self._basis = y[:, None].copy()  # y^, then the columns of X^ that are selected, then room for more

    @property
    def columns(self) -> column_kernels.Columns:
        """The columns and what belongs to their products, as the kernels take them."""
        data, X = self._data, self._data.shifted
        return X.data, X.indices, X.indptr, data.squares, self._basis, data.query, data.ptr

    def keep(self, feature: int, t: int) -> tuple[Floats, Floats]:  # noqa: D102 - of the protocol
        own = np.zeros((-(-self.n_queries // kernels.BLOCK), t + 2, kernels.BLOCK))
        totals = np.empty((1, t + 2))
        column_kernels.products_by_query(self.columns, t, feature, own)
        column_kernels.products_of_columns(self.columns, t, np.array([feature]), totals)
        if t + 1 == self._basis.shape[1]:
            self._basis = np.pad(self._basis, ((0, 0), (0, t + 1)))
        self._basis[:, t + 1] = self._data.centred_column(feature)
        return own, totals[0]

    def comparison(  # noqa: D102 - of the protocol
        self, factor: Floats, regularization: float, state: kernels.State
    ) -> Comparison:
        t, columns = factor.shape[0], self.columns
        S, H, a, b = _in_whitened_coordinates(factor, state, self.n_queries)
        low, high = np.tril_indices(t)
        twice = np.where(low == high, 1.0, 2.0)[:, None]
        S_pairs, H_pairs = (twice * matrix[:, low, high].T for matrix in (S, H))
        from scipy.linalg import solve_triangular  # noqa: PLC0415 - where it is needed

        inverse = solve_triangular(factor, np.eye(t), lower=True, check_finite=False)

        def changes(candidates: Ints) -> Floats:
            totals = np.empty((candidates.size, t + 2))
            column_kernels.products_of_columns(columns, t, candidates, totals)
            p = totals[:, 2:] @ inverse.T
            pairs = p[:, low] * p[:, high]
            out, lengths = pairs @ S_pairs, pairs @ H_pairs
            column_kernels.changes_where_absent(totals, regularization, out, lengths, p @ a.T, p @ b.T)
            column_kernels.changes_where_present(
                columns, candidates, totals, p, regularization, inverse, S, H, a, b, out
            )
            summed: Floats = out.sum(axis=1)
            return summed

        return changes


def _in_whitened_coordinates(
    factor: Floats, state: kernels.State, n_queries: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return for each query S_q = R'R, H_q = R'U'U R, a_q = R'along and b_q = R'left with R = L_q^-1 L.

    In the coordinates in which T[A, A] + λI is the identity, a candidate's products with the selected
    features over all queries are p = L^-1 T[A, j], and where it is 0 throughout query q, its pivot there is
    s = T[j, j] + λ - p'S_q p, its weight β = (T[j, y] - p'a_q) / s, and the error changes by
    β² p'H_q p + 2 β p'b_q. Quadratic forms in p for many candidates and queries are one matrix product.
    """
    t, rows = factor.shape[0], state[0].shape[0] * kernels.BLOCK
    inverse, inner, along, _, left, _ = (np.moveaxis(array, -1, 1) for array in state)
    K, U = (array[:, :, :t, :t].reshape(rows, t, t)[:n_queries] for array in (inverse, inner))
    z, e = (array[:, :, :t].reshape(rows, t, 1)[:n_queries] for array in (along, left))
    R = K @ factor
    turned = R.transpose(0, 2, 1)
    H = turned @ (U + np.tril(U, -1).transpose(0, 2, 1)) @ R
    return turned @ R, H, (turned @ z)[:, :, 0], (turned @ e)[:, :, 0]
