"""Compiled inner loops of greedy RankRLS on per-query statistics.

For each held-out query q the state of one greedy run is a partial Cholesky factorisation of T_q + λI
(T_q: statistics of the other queries), pivoted by the features selected so far, and the residualised
held-out features v_qj it implies. With b_a the a-th selected feature, everything a candidate's criterion
needs follows from three arrays that only ever grow by one entry a step:

    rows[j, a]  = γ_j, the a-th pivot row over its pivot: v_qj -= γ_j v_qb when b = b_a came in
    dots[j, a]  = X^_q[:, j]' u_a, with u_a the held-out residual of b_a at the moment it came in
    cross[c, a] = u_c' u_a for a <= c

The axis j is the place of a feature among those not yet selected: ``order[place]`` is its column. A selected
feature's place is filled with the last one, so that step t reads n - t rows of t numbers: O(Q t (n - t)),
memory and multiplications alike.

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

History = tuple[Floats, Floats, Floats, Floats]

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
    value: float = 0.0
    for i in range(BLOCK):
        beta = right[k, j, i] / pivot[k, j, i]
        value += ee[k, i] + beta * (beta * vv[k, j, i] - 2.0 * ev[k, j, i])
    return value


@fused_inlined
def enter(k: int, b: int, state: State, taken: Floats) -> None:
    """Note what the others' update needs of the selected feature, and change the criterion."""
    pivot, right, ev, vv, ee = state
    for i in range(BLOCK):
        taken[0, i] = 1.0 / pivot[k, b, i]
        taken[1, i] = right[k, b, i]
        taken[2, i] = right[k, b, i] / pivot[k, b, i]
        taken[3, i] = ev[k, b, i]
        taken[4, i] = vv[k, b, i]
        ee[k, i] += taken[2, i] * (taken[2, i] * taken[4, i] - 2.0 * taken[3, i])


@fused_inlined
def update(
    k: int,
    j: int,
    i: int,
    row: float,
    product: float,
    taken: Floats,
    regularization: float,
    state: State,
) -> None:
    """Change a feature's numbers, given its entry of the pivot row and its product with the selected one."""
    pivot, right, ev, vv, _ = state
    gamma = row * taken[0, i]
    ev[k, j, i] -= gamma * taken[3, i] + taken[2, i] * (product - gamma * taken[4, i])
    vv[k, j, i] += gamma * (gamma * taken[4, i] - 2.0 * product)
    # The Schur complement of a positive semidefinite matrix plus λI never falls below λ; rounding may take it
    # there, where a feature is a combination of those selected.
    rest = pivot[k, j, i] - gamma * row
    pivot[k, j, i] = regularization if regularization > rest else rest
    right[k, j, i] -= gamma * taken[1, i]


@fused
def start(
    squares: Floats,
    rights: Floats,
    labels: Floats,
    total: Floats,
    regularization: float,
    first: int,
    last: int,
    state: State,
    partial: Floats,
) -> None:
    """Fill the state of blocks first … last - 1 for the empty selection, and sum the first costs.

    ``squares`` and ``rights`` (blocks, n, BLOCK) are the products of features with themselves and with the
    labels, ``total`` (2, n) their sums over all queries, ``labels`` (blocks, BLOCK) those of the labels.
    """
    for k in range(first, last):
        begin(k, squares, rights, labels, total, regularization, state)
        for j in range(total.shape[1]):
            partial[k, j] = cost(k, j, state)


@fused
def select(
    place: int,
    order: Ints,
    t: int,
    gram: Floats,
    at: int,
    total: Floats,
    regularization: float,
    first: int,
    last: int,
    state: State,
    history: History,
    partial: Floats,
    work: Floats,
) -> None:
    """Take the feature at a place in as the t-th selected one (from 0), for blocks first … last - 1.

    ``order`` still holds the places before the selection: n - t of them count. The feature's products with
    the others are ``gram[:, at]`` in each query, and ``total`` over all. ``work`` (2 t + 8, BLOCK) is space
    to work in: an array that is made here takes long to compile.
    """
    pivot, right, ev, vv, _ = state
    rows, dots, cross, pivots = history
    end = order.shape[0] - t - 1  # the last place, and how many are left
    taken = work[:5]  # of b: 1 / pivot, right-hand side, weight β, ev and vv
    row, moved, seen = work[5], work[6], work[7]
    gammas = work[8 : 8 + t]
    between = work[8 + t :]
    for k in range(first, last):
        for i in range(BLOCK):
            pivots[k, t, i] = pivot[k, place, i]
        enter(k, place, state, taken)
        for i in range(BLOCK):
            pivot[k, place, i] = pivot[k, end, i]
            right[k, place, i] = right[k, end, i]
            ev[k, place, i] = ev[k, end, i]
            vv[k, place, i] = vv[k, end, i]
            cross[k, t, t, i] = taken[4, i]
        for a in range(t):
            for i in range(BLOCK):
                gammas[a, i] = rows[k, place, a, i]
                between[a, i] = dots[k, place, a, i]
                rows[k, place, a, i] = rows[k, end, a, i]
                dots[k, place, a, i] = dots[k, end, a, i]
        _relate(t, k, gammas, between, cross)
        for j in range(end):
            column = order[end] if j == place else order[j]
            # T_q[b, j] and X^_q[:, b]'X^_q[:, j], residualised by what was selected before.
            for i in range(BLOCK):
                moved[i] = gram[k, at, column, i]
                row[i] = total[column] - gram[k, at, column, i]
                seen[i] = 0.0
            for a in range(t):
                for i in range(BLOCK):
                    gamma = rows[k, j, a, i]
                    row[i] -= gammas[a, i] * pivots[k, a, i] * gamma
                    moved[i] -= gammas[a, i] * dots[k, j, a, i]
                    seen[i] += between[a, i] * gamma
            for i in range(BLOCK):
                dots[k, j, t, i] = moved[i]
                product = moved[i] - seen[i]
                rows[k, j, t, i] = row[i] * taken[0, i]
                update(k, j, i, row[i], product, taken, regularization, state)
            partial[k, j] = cost(k, j, state)


@fused_inlined
def _relate(t: int, k: int, gammas: Floats, between: Floats, cross: Floats) -> None:
    """Turn X^_q[:, b]'u_a, given in ``between``, into u_t'u_a, and keep it: cross[c, a] for a <= c."""
    for a in range(t):
        for i in range(BLOCK):
            cross[k, t, a, i] = between[a, i]
    for c in range(t):
        for i in range(BLOCK):
            cross[k, t, c, i] -= gammas[c, i] * cross[k, c, c, i]
        for a in range(c):
            for i in range(BLOCK):
                value = cross[k, c, a, i]
                cross[k, t, a, i] -= gammas[c, i] * value
                cross[k, t, c, i] -= gammas[a, i] * value
    for a in range(t):
        for i in range(BLOCK):
            between[a, i] = cross[k, t, a, i]


@kernel
def extend(
    total: Floats, regularization: float, selected: Ints, factor: Floats, along: Floats, coef: Floats
) -> None:
    """Learn from all queries after one more feature: grow the Cholesky factor by a row, then substitute.

    ``total`` (n + 1,) is its row of T, with the labels' column last. ``factor`` (k, k) and ``along`` (k,)
    hold the factor of T[S, S] + λI and its forward substitution for all but the last feature of
    ``selected``; ``coef`` (n,) receives the weights. O(t²) at step t.
    """
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
