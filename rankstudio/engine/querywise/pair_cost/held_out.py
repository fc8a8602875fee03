"""Models that were learned without each query, and their losses on the pairs of that query."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.querywise.pair_cost.cost import PairCost
from rankstudio.engine.querywise.pair_cost.pair_rows import PairRows
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.support.blocks import solve_lower


def held_out_residuals(data: QueryData, regularization: float) -> tuple[Floats, Floats]:
    """Learn from all queries, and find what the model without each query leaves of its labels.

    Parameters
    ----------
    data : QueryData
        Training data.
    regularization : float
        λ > 0.

    Returns
    -------
    weights : ndarray of shape (n,)
        Learned from all queries.
    residuals : ndarray of shape (m,)
        y^_q - X^_q w_q, with w_q learned from all queries but q.

    Notes
    -----
    With LL' = T + λI and V = X^ L'^-1, they are (I - V_q V_q')^-1 (y^_q - X^_q w): O(n³ + mn²) time and
    O(n² + mn) memory, and |q|³ for each query. It takes no Gram matrix of a query.
    """
    from scipy.linalg import cho_solve, solve  # noqa: PLC0415 - where it is needed

    from rankstudio.engine.querywise.nested_rankrls import factorise  # noqa: PLC0415 - as above

    X, y = data.centred
    gram, right = data.gram
    left = gram.copy()
    left[np.diag_indices_from(left)] += regularization
    factor = factorise(left, regularization)
    coef: Floats = cho_solve((factor, True), right, check_finite=False)
    V = solve_lower(factor, X.T).T
    residuals = y - X @ coef
    for first, last in pairwise(data.ptr.tolist()):
        rows = V[first:last]
        seen = np.eye(last - first) - rows @ rows.T
        residuals[first:last] = solve(seen, residuals[first:last], assume_a="sym")
    return coef, residuals


def held_out_weights(data: QueryData, regularization: float, coef: Floats, residuals: Floats) -> Floats:
    """Return the weights learned without each query, shape (Q, n), in O(mn + n² + Qn) memory.

    Parameters
    ----------
    data : QueryData
        Training data.
    regularization : float
        λ > 0.
    coef : ndarray of shape (n,)
        The weights learned from all queries, w.
    residuals : ndarray of shape (m,)
        The held-out residuals e of the centred rows.

    Notes
    -----
    With A = X^'X^ + λI, w_q = w - A^-1 X^_q'e_q: taking a query's rows out of both sides,
    (A - X^_q'X^_q) w_q = X^'y^ - X^_q'y^_q, leaves A w_q = X^'y^ - X^_q'(y^_q - X^_q w_q). O(mn + n³ + Qn²).
    """
    from scipy.linalg import cho_solve  # noqa: PLC0415 - where it is needed

    from rankstudio.engine.querywise.nested_rankrls import factorise  # noqa: PLC0415 - as above

    X, _ = data.centred
    left = data.gram[0].copy()
    left[np.diag_indices_from(left)] += regularization
    ends = pairwise(data.ptr.tolist())
    pulls = np.column_stack([X[first:last].T @ residuals[first:last] for first, last in ends])
    taken: Floats = cho_solve((factorise(left, regularization), True), pulls, check_finite=False)
    return coef - taken.T


def losses_inside(data: QueryData, cost: PairCost, models: Floats) -> Floats:
    """Return the loss of model q, of (Q, n), on the pairs inside query q, for each query: O(Qn²)."""
    gram = PairRows.of(data, cost).statistics.gram
    models = np.column_stack((models, np.full(len(models), -1.0)))
    along = np.matmul(gram, models[:, :, None])[:, :, 0]
    losses: Floats = np.maximum(np.einsum("qi,qi->q", models, along), 0.0)
    return losses
