"""Compiled inner loop of leave-query-out errors along a given order of features."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import fused


@fused
def nested_errors(V: Floats, y: Floats, ptr: Ints, along: Floats, least: Floats, errors: Floats) -> None:
    """Add to ``errors`` (k,) the left-out squared errors of the queries with 1, 2, … k features.

    With TS + λI = LL', the rows of V (m, k) are those of X^ L^-T, ``along`` is L^-1 T[S, y] and ``least[t]``
    is λ / L_tt². With H = V_q V_q' of the first t columns, the left-out residual of a query is
    e = (I - H)^-1 (y_q - V_q z), and both the inverse M and e follow each further column by an update of
    rank one. O(k |q|²) for a query.
    """
    for q in range(ptr.size - 1):
        begin = ptr[q]
        n = ptr[q + 1] - ptr[q]
        M = np.zeros((n, n))
        e = np.empty(n)
        p = np.empty(n)
        for i in range(n):
            M[i, i] = 1.0
            e[i] = y[begin + i]
        for t in range(along.shape[0]):
            s = 1.0
            dot = 0.0
            for i in range(n):
                value = 0.0
                for j in range(n):
                    value += M[i, j] * V[begin + j, t]
                p[i] = value
                s -= V[begin + i, t] * value
                dot += V[begin + i, t] * (e[i] - along[t] * value)
            # The pivot without the query over the one with it; but for rounding neither is below λ.
            s = max(s, least[t])
            step = dot / s - along[t]
            total = 0.0
            for i in range(n):
                factor = p[i] / s
                for j in range(n):
                    M[i, j] += factor * p[j]  # Sherman and Morrison: M + pp' / s, s = 1 - v'Mv
                e[i] += step * p[i]
                total += e[i] * e[i]
            errors[t] += total
