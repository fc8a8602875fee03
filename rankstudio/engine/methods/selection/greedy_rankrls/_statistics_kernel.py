"""Compiled inner loops of greedy RankRLS on per-query statistics, common to all ways of storing these.

For each held-out query q, the state of one greedy run is a partial
Cholesky factorisation of T_q + λI (T_q: statistics of the other
queries), pivoted by the features selected so far, and the residuals v_j
of the held-out features that follow from it. For each feature j, the
state has

(1) p_j, the pivot, and r_j, the right-hand side, which are T_q[j, j] +
λ and T_q[j, y] before any selection, (2) e'v_j and v_j'v_j, products of
the held-out rows, with e the held-out residual of the labels.

(3) β_j = r_j / p_j is the weight of j, and e'e - 2 β_j e'v_j + β_j² v_j'v_j the criterion with j.

When b is selected, feature j is updated with γ = S_bj / p_b, where S_bj
is its entry of the pivot row:

(4) e'v_j ← e'v_j - γ e'v_b - β_b (v_j'v_b - γ v_b'v_b) (5) v_j'v_j ←
v_j'v_j - 2 γ v_j'v_b + γ² v_b'v_b (6) p_j ← p_j - γ S_bj ≥ λ, and r_j ←
r_j - γ r_b.

(7) With T[S, S] + λI = LL', the weights w trained on all queries solve LL'w = T[S, y].

The last axis of every array is the queries of a block, so that each
innermost loop does the same for ``BLOCK`` queries in vector registers.
The last block is padded with queries without documents, whose Gram
matrix is 0, so that they add 0 to every sum.
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
    """Fill the ``state`` of block k for the empty selection: the numbers of each feature in each query.

    ``squares`` and ``rights`` (blocks, n, BLOCK) are the squares of the
    features and their products with the labels in each query, ``labels``
    (blocks, BLOCK) the squares of the labels, and ``total`` (2, n) the first
    two over all queries. ``regularization`` is λ. In each query, the numbers of
    a feature are its pivot and right-hand side over the other queries, and the
    products of its held-out residual with itself and with that of the labels.
    Other queries are all but the one left out. Queries are in blocks of
    ``BLOCK``.
    """
    # Over the other queries: the features' squares plus λ, and products
    # with the labels. In the held-out query: products of the residuals
    # e of the labels and v of a feature, and e'e. Without selected
    # features, the residuals are the labels and the feature themselves.
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
    """Return the criterion with feature j added, summed over the queries of block k.

    With the weight β of the feature, it is e'e - 2 β e'v
    + β² v'v in each held-out query, where e and v are the
    residuals of the labels and of the feature. ``state`` has these
    numbers for each feature and query.
    """
    # Over the other queries: the features' squares plus λ and products
    # with the labels; in the held-out query: products with the residual
    # e, squares, and e'e.
    pivot, right, ev, vv, ee = state
    value: float = 0.0
    for i in range(BLOCK):
        beta = right[k, j, i] / pivot[k, j, i]
        value += ee[k, i] + beta * (beta * vv[k, j, i] - 2.0 * ev[k, j, i])
    return value


@fused_inlined
def enter(k: int, b: int, state: State, terms: Floats) -> None:
    """Add feature b to the criterion of the queries of block k, and write its terms for later updates.

    ``terms`` (5, BLOCK) receives 1 / p, r, β = r / p, e'v and v'v: the
    pivot p, right-hand side r and weight β of b, and its residual v in
    the held-out query with that of the labels, e. The numbers of other
    features are updated by them later. In ``state``, only e'e is
    updated, the criterion. Queries are in blocks of ``BLOCK``.
    """
    # Over the other queries: the features' squares plus λ and products
    # with the labels; in the held-out query: products with the residual
    # e, squares, and e'e.
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
    """Update the state of feature j in query i of block k after the selection of feature b.

    The part of b in j is γ = S / p_b. ``row`` is S,
    their product over the other queries after the
    earlier features. ``product`` is v_j'v_b, that of
    their residuals in the held-out query. ``terms`` (5,
    BLOCK) has 1 / p_b, r_b, β_b, e'v_b and v_b'v_b of
    b: its pivot, right-hand side and weight, and
    products with the residual e of the labels and with
    itself. ``regularization`` is λ. Other queries are
    all but the one left out. Queries are in blocks of
    ``BLOCK``.
    """
    # Over the other queries: the features' squares plus λ and products
    # with the labels; in the held-out query: products with the
    # residual, and squares.
    pivot, right, ev, vv, _ = state
    gamma = row * terms[0, i]
    # v_j becomes v_j - γ v_b, and e becomes e - β_b v_b.
    ev[k, j, i] -= gamma * terms[3, i] + terms[2, i] * (product - gamma * terms[4, i])
    vv[k, j, i] += gamma * (gamma * terms[4, i] - 2.0 * product)
    # A pivot of a positive semidefinite matrix plus λI is never below
    # λ, except by rounding, if a feature is a linear combination of
    # selected features.
    new_pivot = pivot[k, j, i] - gamma * row
    pivot[k, j, i] = regularization if regularization > new_pivot else new_pivot
    right[k, j, i] -= gamma * terms[1, i]


@kernel
def extend(
    total: Floats,
    regularization: float,
    selected: Ints,
    factor: Floats,
    along: Floats,
    coef: Floats,
) -> None:
    """Update the weights trained on all queries after the last feature of ``selected`` was added: O(t²).

    T are the products of features and labels over all queries, and S
    the t selected features. ``total`` (n
    + 1,) is the row of this feature in T, with the
    labels' column last. ``factor`` (k, k) and ``along`` (k,) hold the
    factor of T[S, S] + λI and the solution of the forward substitution
    for the earlier features, and are extended by one row; ``coef`` (n,)
    receives the weights. ``regularization`` is λ.
    """
    # The weights w solve LL'w = T[S, y], with LL' = T[S, S] + λI: the
    # new row of L, then the forward and the backward substitution.
    t = selected.shape[0] - 1
    n = total.shape[0] - 1
    b = selected[t]
    diagonal = total[b] + regularization
    value = total[n]
    # Row t of the factor L, which is kept, and the next number of the
    # forward substitution.
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
    # All weights change, so the backward substitution is repeated for all.
    for i in range(t, -1, -1):
        value = along[i]
        for c in range(i + 1, t + 1):
            value -= factor[c, i] * coef[selected[c]]
        coef[selected[i]] = value / factor[i, i]


@fused
def products(
    X: Floats,
    values: Floats,
    column: int,
    ptr: Ints,
    first: int,
    last: int,
    sums: Floats,
    out: Floats,
) -> None:
    """Write the products of a column of ``values`` (m, …) with each column of X (m, n), query by query.

    ``column`` is the position of that column. ``ptr`` are the starts of
    queries. The last axis of ``out`` (blocks, 1, n, width) is the
    queries of a block, with 0 for those that pad the last block; blocks
    first … last - 1 are written. ``sums`` (n,) is work space, because a
    kernel that allocates an array takes long to compile. Four documents
    are processed at a time, so that the sums are read and written a
    fourth as often.
    """
    n = X.shape[1]
    width = out.shape[3]
    for k in range(first, last):
        for i in range(width):
            q = k * width + i
            # The sums of one query, four documents at a time, and then
            # the remaining ones.
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
                        sums[j] += (
                            v0 * X[d, j]
                            + v1 * X[d + 1, j]
                            + v2 * X[d + 2, j]
                            + v3 * X[d + 3, j]
                        )
                    d += 4
                while d < end:
                    v0 = values[d, column]
                    for j in range(n):
                        sums[j] += v0 * X[d, j]
                    d += 1
            for j in range(n):
                out[k, 0, j, i] = sums[j]
