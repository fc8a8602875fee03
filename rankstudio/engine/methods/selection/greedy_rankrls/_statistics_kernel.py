"""Compiled inner loops of greedy RankRLS on per-query statistics: what all ways to keep them share.

For each held-out query q the state of one greedy run is a partial Cholesky factorisation of T_q + λI
(T_q: statistics of the other queries), pivoted by the features selected so far, and the residualised
held-out features v_qj it implies. Of each feature j it has

(1) p_j = T_q[j, j] + λ, the pivot, and r_j = T_q[j, y], the right-hand side, so far as they are left,
(2) e'v_j and v_j'v_j, products of the held-out rows, with e the held-out residual of the labels.

(3) β_j = r_j / p_j is the weight of j, and e'e - 2 β_j e'v_j + β_j² v_j'v_j the criterion with j.

Feature j follows the selected one, b, by γ = S_bj / p_b, with S_bj the entry of the pivot row:

(4) e'v_j ← e'v_j - γ e'v_b - β_b (v_j'v_b - γ v_b'v_b)
(5) v_j'v_j ← v_j'v_j - 2 γ v_j'v_b + γ² v_b'v_b
(6) p_j ← p_j - γ S_bj ≥ λ, and r_j ← r_j - γ r_b.

(7) With T[S, S] + λI = LL', all queries together learn w from LL'w = T[S, y].

Every array has the queries of a block side by side on its last axis, so that each innermost loop does the
same for ``BLOCK`` queries in vector registers. The last block is filled up with queries of no documents,
whose Gram matrix and so whose part in every sum is 0.
"""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import fused, fused_inlined, kernel

State = tuple[Floats, Floats, Floats, Floats, Floats]
"""Pivot, right-hand side, e'v and v'v (blocks, n, BLOCK) of features, e'e (blocks, BLOCK)."""

BLOCK = 32
"""Queries in a block. Costs are summed block by block, so they do not depend on the number of threads."""


@fused_inlined
def begin(
    k: int,
    squares: Floats,
    rights: Floats,
    labels: Floats,
    total: Floats,
    regularization: float,
    state: State,
) -> None:
    """Fill the state of a block for the empty selection."""
    # (1) and (2), with v_j = X_q[:, j] and e = y_q.
    pivot, right, ev, vv, ee = state
    for i in range(BLOCK):
        ee[k, i] = labels[k, i]
    for j in range(total.shape[1]):
        for i in range(BLOCK):
            pivot[k, j, i] = total[0, j] - squares[k, j, i] + regularization
            right[k, j, i] = total[1, j] - rights[k, j, i]
            ev[k, j, i] = rights[k, j, i]
            vv[k, j, i] = squares[k, j, i]


@fused_inlined
def cost(k: int, j: int, state: State) -> float:
    """Sum over a block what the criterion would be with a feature added."""
    pivot, right, ev, vv, ee = state
    value: float = 0.0  # (3)
    for i in range(BLOCK):
        beta = right[k, j, i] / pivot[k, j, i]
        value += ee[k, i] + beta * (beta * vv[k, j, i] - 2.0 * ev[k, j, i])
    return value


@fused_inlined
def enter(k: int, b: int, state: State, terms: Floats) -> None:
    """Write the terms of the selected feature for the updates of the others, and change the criterion."""
    pivot, right, ev, vv, ee = state
    for i in range(BLOCK):
        terms[0, i] = 1.0 / pivot[k, b, i]
        terms[1, i] = right[k, b, i]
        terms[2, i] = right[k, b, i] / pivot[k, b, i]
        terms[3, i] = ev[k, b, i]
        terms[4, i] = vv[k, b, i]
        ee[k, i] += terms[2, i] * (terms[2, i] * terms[4, i] - 2.0 * terms[3, i])


@fused_inlined
def update(
    k: int,
    j: int,
    i: int,
    row: float,
    product: float,
    terms: Floats,
    regularization: float,
    state: State,
) -> None:
    """Change a feature's numbers, given its entry of the pivot row and its product with the selected one."""
    pivot, right, ev, vv, _ = state
    gamma = row * terms[0, i]
    # (4)
    ev[k, j, i] -= gamma * terms[3, i] + terms[2, i] * (product - gamma * terms[4, i])
    # (5)
    vv[k, j, i] += gamma * (gamma * terms[4, i] - 2.0 * product)
    # (6): the Schur complement of a positive semidefinite matrix plus λI never falls below λ; rounding may
    # take it there, where a feature is a combination of those selected.
    rest = pivot[k, j, i] - gamma * row
    pivot[k, j, i] = regularization if regularization > rest else rest
    right[k, j, i] -= gamma * terms[1, i]


@kernel
def extend(
    total: Floats, regularization: float, selected: Ints, factor: Floats, along: Floats, coef: Floats
) -> None:
    """Learn from all queries after one more feature: grow the Cholesky factor by a row, then substitute.

    ``total`` (n + 1,) is its row of T, with the labels' column last. ``factor`` (k, k) and ``along`` (k,)
    hold the factor of T[S, S] + λI and its forward substitution for all but the last feature of
    ``selected``; ``coef`` (n,) receives the weights. O(t²) at step t.
    """
    # (7): a row of L, then both substitutions.
    t = selected.shape[0] - 1
    n = total.shape[0] - 1
    b = selected[t]
    diagonal = total[b] + regularization
    value = total[n]
    for i in range(t):
        entry = total[selected[i]]
        for c in range(i):
            entry -= factor[t, c] * factor[i, c]
        entry /= factor[i, i]
        factor[t, i] = entry
        diagonal -= entry * entry
        value -= entry * along[i]
    factor[t, t] = np.sqrt(regularization if regularization > diagonal else diagonal)
    along[t] = value / factor[t, t]
    for i in range(t, -1, -1):
        value = along[i]
        for c in range(i + 1, t + 1):
            value -= factor[c, i] * coef[selected[c]]
        coef[selected[i]] = value / factor[i, i]


@fused
def products(
    X: Floats, values: Floats, column: int, ptr: Ints, first: int, last: int, sums: Floats, out: Floats
) -> None:
    """Write the products of a column of ``values`` (m, …) with each of X (m, n), query by query.

    ``ptr`` says where queries start. ``out`` (blocks, 1, n, width) has those of a block side by side on its
    last axis, 0 where there is none; blocks first … last - 1 are written. ``sums`` (n,) is space to work in:
    an array that is made here takes long to compile. Four documents at a time: what is summed is then read
    and written a fourth as often.
    """
    n = X.shape[1]
    width = out.shape[3]
    for k in range(first, last):
        for i in range(width):
            q = k * width + i
            for j in range(n):
                sums[j] = 0.0
            if q + 1 < ptr.shape[0]:
                d = ptr[q]
                end = ptr[q + 1]
                while d + 4 <= end:
                    v0 = values[d, column]
                    v1 = values[d + 1, column]
                    v2 = values[d + 2, column]
                    v3 = values[d + 3, column]
                    for j in range(n):
                        sums[j] += v0 * X[d, j] + v1 * X[d + 1, j] + v2 * X[d + 2, j] + v3 * X[d + 3, j]
                    d += 4
                while d < end:
                    v0 = values[d, column]
                    for j in range(n):
                        sums[j] += v0 * X[d, j]
                    d += 1
            for j in range(n):
                out[k, 0, j, i] = sums[j]
