"""Compiled inner loop of leave-query-out errors along a given order of features.

With T[S, S] + λI = LL', the rows of V (m, k) are those of X^ L^-T and z
= L^-1 T[S, y]. With the first t columns V_q of a query, the residuals e
of the model without the query, and the inverse M that gives them, are

(1) M = (I - V_q V_q')^-1

(2) e = M (y_q - V_q z).

A further column v, with its entry ζ of z, changes both by rank one
(Sherman and Morrison), with p = Mv:

(3) s = 1 - v'p, the pivot without the query over the one with it, so
that s ≥ λ / L_tt²

(4) M ← M + pp' / s

(5) e ← e + (v'(e - ζ p) / s - ζ) p.

M stays positive definite. O(|q|²) for a column, O(k |q|²) for a query.
"""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import fused


@fused
def nested_errors(
    V: Floats, y: Floats, ptr: Ints, along: Floats, least: Floats, errors: Floats
) -> None:
    """Add the leave-query-out squared errors of models with 1, 2, … k features to ``errors``.

    The error of a query is that of the RankRLS model trained without
    this query.

    Parameters
    ----------
    V : ndarray of shape (m, k)
        Features of the documents, centred in each query, in an order of
        the features, times the inverse of L', where LL' = X^'X^ + λI is
        the system of equations of all k features.
    y : ndarray of shape (m,)
        Labels, centred in each query.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    along : ndarray of shape (k,)
        z = L^-1 X^'y^, the solution of all queries in the coordinates of V.
    least : ndarray of shape (k,)
        λ / L_tt², the least pivot of each column t.
    errors : ndarray of shape (k,)
        Entry t is increased by the error of the model with the first t
        + 1 features.

    Notes
    -----
    For each query, M is the inverse of I - V_q V_q' with the first t
    columns, and e = M (y_q - V_q z) the errors. A further column v,
    with its entry ζ of z, changes both by rank one, with p = M v and
    the pivot s = 1 - v'p:

    - M grows by pp' / s,
    - e grows by (v'(e - ζ p) / s - ζ) p.
    """
    for q in range(ptr.size - 1):
        begin = ptr[q]
        n = ptr[q + 1] - ptr[q]
        M = np.zeros((n, n))
        e = np.empty(n)
        p = np.empty(n)
        # Without features, M is the identity and the errors are the labels.
        for i in range(n):
            M[i, i] = 1.0
            e[i] = y[begin + i]
        for t in range(along.shape[0]):
            # p = M v, and the pivot s of column t.
            s = 1.0
            dot = 0.0  # v'(e - ζ p)
            for i in range(n):
                value = 0.0
                for j in range(n):
                    value += M[i, j] * V[begin + j, t]
                p[i] = value
                s -= V[begin + i, t] * value
                dot += V[begin + i, t] * (e[i] - along[t] * value)
            # Rounding must not make the pivot smaller than it can be.
            s = max(s, least[t])
            step = dot / s - along[t]  # the factor of p in the change of e
            total = 0.0
            for i in range(n):
                factor = p[i] / s
                for j in range(n):
                    M[i, j] += factor * p[j]
                e[i] += step * p[i]
                total += e[i] * e[i]
            errors[t] += total
