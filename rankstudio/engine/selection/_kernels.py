"""Compiled inner loops of greedy RankRLS on per-query statistics.

For each held-out query q the state of one greedy run is a partial Cholesky factorisation of T_q + λI
(T_q: statistics of the other queries), pivoted by the features selected so far, and the residualised
held-out features v_qj it implies. With b_a the a-th selected feature, everything a candidate's criterion
needs follows from three arrays that only ever grow by one row a step:

    rows[q, a, j]  = γ_j, the a-th pivot row over its pivot: v_qj -= γ_j v_qb when b = b_a came in
    dots[q, a, j]  = X^_q[:, j]' u_a, with u_a the held-out residual of b_a at the moment it came in
    cross[q, a, c] = u_a' u_c

so a step costs O(Q n t) multiplications at step t, reads what it needs once, and rewrites nothing.
"""

from __future__ import annotations

import numpy as np
from numba import njit

BLOCK = 32
"""Queries whose costs are summed together. Fixed, so that sums do not depend on the number of threads."""


@njit(cache=True, nogil=True, fastmath={"contract"})
def start(gram, total, regularization, first, last, pivot, right, ev, vv, ee):  # type: ignore[no-untyped-def]
    """Fill the state of queries first … last - 1 for the empty selection."""
    n = total.shape[0] - 1
    for q in range(first, last):
        ee[q] = gram[q, n, n]
        for j in range(n):
            pivot[q, j] = total[j, j] - gram[q, j, j] + regularization
            right[q, j] = total[j, n] - gram[q, j, n]
            ev[q, j] = gram[q, j, n]
            vv[q, j] = gram[q, j, j]


@njit(cache=True, nogil=True, fastmath={"contract"})
def costs(first, last, pivot, right, ev, vv, ee, out):  # type: ignore[no-untyped-def]
    """Sum over queries first … last - 1 what each candidate's criterion would be, into ``out`` (n,)."""
    n = pivot.shape[1]
    out[:] = 0.0
    for q in range(first, last):
        for j in range(n):
            beta = right[q, j] / pivot[q, j]
            out[j] += ee[q] + beta * (beta * vv[q, j] - 2.0 * ev[q, j])


@njit(cache=True, nogil=True, fastmath={"contract"})
def select(  # type: ignore[no-untyped-def]
    b, t, gram, total, regularization, first, last, pivot, right, ev, vv, ee, rows, dots, cross, pivots
):
    """Take feature b in as the t-th selected one (from 0), for queries first … last - 1."""
    n = pivot.shape[1]
    row = np.empty(n)
    moved = np.empty(n)
    for q in range(first, last):
        pivot_b = pivot[q, b]
        beta = right[q, b] / pivot_b
        right_b, ev_b, vv_b = right[q, b], ev[q, b], vv[q, b]
        # T_q[b, :] and X^_q[:, b]'X^_q, residualised by what was selected before.
        for j in range(n):
            moved[j] = gram[q, b, j]
            row[j] = total[b, j] - moved[j]
        for a in range(t):
            gamma = rows[q, a, b]
            weight = gamma * pivots[q, a]
            for j in range(n):
                row[j] -= weight * rows[q, a, j]
                moved[j] -= gamma * dots[q, a, j]
        for a in range(t):
            between = dots[q, a, b]
            for c in range(t):
                between -= rows[q, c, b] * cross[q, a, c]
            cross[q, a, t] = between
            cross[q, t, a] = between
        cross[q, t, t] = vv_b
        pivots[q, t] = pivot_b
        dots[q, t, :] = moved
        for a in range(t):
            between = cross[q, a, t]
            for j in range(n):
                moved[j] -= between * rows[q, a, j]
        ee[q] += beta * (beta * vv_b - 2.0 * ev_b)
        inverse = 1.0 / pivot_b
        for j in range(n):
            gamma = row[j] * inverse
            rows[q, t, j] = gamma
            ev[q, j] -= gamma * ev_b + beta * (moved[j] - gamma * vv_b)
            vv[q, j] += gamma * (gamma * vv_b - 2.0 * moved[j])
            # The Schur complement of a positive semidefinite matrix plus λI never falls below λ;
            # rounding may take it there, where a feature is a combination of those selected.
            pivot[q, j] = max(pivot[q, j] - gamma * row[j], regularization)
            right[q, j] -= gamma * right_b
