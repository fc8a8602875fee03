"""Algorithm 1 exactly as in the greedy RankRLS paper: the reference, and the choice for n >> m/Q.

It keeps the matrices C = G X^' and U = Q G X^' of shape (m, n), so it
costs O(kmn) time and O(mn) memory for k features selected out of n over
m documents.
"""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Bools, Floats, Ints


class Algorithm1Search:
    """Search that computes the leave-query-out error with every feature (Pahikkala et al. 2010, section 3).

    The attributes have the paper's names; X is transposed relative to
    the paper (rows are documents).

    Parameters
    ----------
    data : QueryData
        Training data.
    regularization : float
        λ > 0.
    """

    def __init__(self, data: QueryData, regularization: float) -> None:
        """Start without selected features; ``regularization`` is λ. Matrices have the documents as rows."""
        self._X, self._y = data.centred  # within each query
        self._ptr = data.ptr
        self._query = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
        # G is the inverse of the paper's system, and Q the blocks of it
        # by query, inverted. No feature is selected yet: G is I / λ,
        # and Q G is I. X^ and y^ are the centred X and y.
        self._a = self._y / regularization  # a = G y^
        self._C = self._X / regularization  # C = G X^
        self._U = self._X.copy()  # U = Q G X^
        self._p = self._y.copy()  # p = Q G y^, the left-out residuals
        self.selected: tuple[int, ...] = ()

    @property
    def informative(self) -> Bools:
        """Features that vary within some query, shape (n,)."""
        varies: Bools = (self._X != 0).any(axis=0)
        return varies

    def _per_query(self, values: Floats) -> Floats:
        """Return the sums of the rows ``values`` (m, …) of each query, (Q, …)."""
        sums: Floats = np.add.reduceat(values, self._ptr[:-1], axis=0)
        return sums

    def criterion(self) -> float:
        """Return the leave-query-out error of the current selection: eq. (7) of the paper."""
        return float(self._p @ self._p)

    def costs(self, candidates: Ints) -> Floats:
        """Return the leave-query-out error with each candidate added, shape (c,): lines 9 to 16.

        ``candidates`` (c,) are columns. Lines are those of algorithm 1
        in the paper of Pahikkala et al. (2010). Let X^ and y^ be the
        features and labels centred within queries, G the inverse of the
        matrix of the selected features' scalar products of documents
        plus λI, and Q the inverses of its diagonal blocks, one per
        query. The code has C = G X^, U
        = Q G X^, a = G y^ and p = Q G y^, the left-out residuals. The error is
        computed for all features, because the matrices contain them anyway.
        """
        X = self._X
        C = self._C
        U = self._U
        a = self._a
        p = self._p
        c = 1.0 / (1.0 + np.einsum("mi,mi->i", X, C))
        d = c * (self._y @ C)
        gamma = 1.0 / (-1.0 / c + self._per_query(C * U))
        # p~ = p - d U - γ U (U'(a - d C)) = p - U (d + γ U'(a
        # - d C)), for all candidates at once. `_per_query`
        # sums the documents of each query, shape (Q, n). For this, rows
        # of a query are adjacent.
        step = d + gamma * (
            self._per_query(U * a[:, None]) - d * self._per_query(U * C)
        )
        squares = self._per_query(U * U)
        products = self._per_query(U * p[:, None])
        costs: Floats = self.criterion() + (
            step * (step * squares - 2.0 * products)
        ).sum(axis=0)
        return costs[candidates]

    def select(self, feature: int) -> None:
        """Add a feature to the selection, as lines 20 to 29 of the paper's algorithm 1.

        X^ and y^ are the features and labels centred within queries. G
        is the inverse of the selected features' scalar products of
        documents plus λI, and Q has the inverses of its diagonal
        blocks, one per query. The new feature changes G and Q by a rank
        of one each. With them, C = G X^, U = Q G X^, a = G y^ and the
        left-out residuals p = Q G y^ are updated.
        """
        b = feature
        X = self._X
        C = self._C
        U = self._U
        a = self._a
        # The rank-one update of G by the new feature, as the factors d
        # of y^ and t of each feature.
        c = 1.0 / (1.0 + X[:, b] @ C[:, b])
        d = c * (C[:, b] @ self._y)
        t = c * (X[:, b] @ C)
        C_b = C[:, b].copy()
        U_b = U[:, b].copy()
        # The update of Q in each query, by its entries of the columns of b.
        gamma = 1.0 / (-1.0 / c + self._per_query(C_b * U_b))
        of_a = gamma * self._per_query(U_b * (a - d * C_b))
        of_C = gamma[:, None] * self._per_query(U_b[:, None] * (C - C_b[:, None] * t))
        # The new p, U, a and C, from the old ones.
        self._p = self._p - U_b * (d + of_a[self._query])
        self._U = U - U_b[:, None] * (t + of_C[self._query])
        self._a = a - d * C_b
        self._C = C - C_b[:, None] * t
        self.selected = (*self.selected, b)

    def weights(self) -> Floats:
        """Return the weights of the current selection, 0 for other features, (n,): line 30 of the paper."""
        coef = np.zeros(self._X.shape[1])
        index = list(self.selected)
        coef[index] = self._X[:, index].T @ self._a
        return coef
