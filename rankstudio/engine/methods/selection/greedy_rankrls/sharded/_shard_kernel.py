"""Compiled inner loops of greedy RankRLS on one shard: the steps of `_statistics_kernel` without a history.

What `_statistics_kernel` keeps for each query and each feature left, two numbers a step, follows from the
rows of the queries' Gram matrices that belong to the selected features, A. With b the next one, for each q

    z = (T_q[A, A] + λI)^-1 T_q[A, b]       so that u_b = X^_q[:, b] - X^_q[:, A] z is what is new of it
    c = (T_q[A, A] + λI)^-1 X^_q[:, A]'u_b

    T_q[b, j] - z'T_q[A, j]                 is the pivot row,
    X^_q[:, j]'u_b = G_q[b, j] - z'G_q[A, j]
    v_j'u_b = X^_q[:, j]'u_b - c'T_q[A, j]  with v_j the residual of j.

What is kept for a query is a triangle of k rows, L of T_q[A, A] + λI = LDL'. The rows are read from Gram
matrices that every λ shares. Arrays have the queries of a block side by side, as there.
"""

from __future__ import annotations

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import BLOCK
from rankstudio.engine.support.jit import fused, fused_inlined

State = tuple[Floats, Floats, Floats, Floats, Floats]
"""Pivot, right-hand side, e'v and v'v (blocks, n, BLOCK) of features by their column, e'e (blocks, BLOCK)."""

Factor = tuple[Floats, Floats]
"""L (blocks, k (k - 1) / 2, BLOCK) by rows, without its diagonal of ones, and D (blocks, k, BLOCK)."""


@fused
def start(known: tuple[Floats, Floats, Floats], total: Floats, regularization: float, state: State) -> None:
    """Fill the state for the empty selection.

    ``known``: the squares of the features and their products with the labels (blocks, n, BLOCK) and those of
    the labels with themselves; ``total`` (2, n): the first two, summed over the queries of all shards.
    """
    squares, rights, labels = known
    pivot, right, ev, vv, ee = state
    for k in range(squares.shape[0]):
        for i in range(BLOCK):
            ee[k, i] = labels[k, i]
        for j in range(total.shape[1]):
            for i in range(BLOCK):
                pivot[k, j, i] = total[0, j] - squares[k, j, i] + regularization
                right[k, j, i] = total[1, j] - rights[k, j, i]
                ev[k, j, i] = rights[k, j, i]
                vv[k, j, i] = squares[k, j, i]


@fused
def compare(left: Ints, state: State, partial: Floats) -> None:
    """Sum over each block what the criterion would be with each of the features left added: (blocks, n)."""
    pivot, right, ev, vv, ee = state
    for k in range(pivot.shape[0]):
        for place in range(left.shape[0]):
            j = left[place]
            cost: float = 0.0
            for i in range(BLOCK):
                beta = right[k, j, i] / pivot[k, j, i]
                cost += ee[k, i] + beta * (beta * vv[k, j, i] - 2.0 * ev[k, j, i])
            partial[k, j] = cost


@fused
def select(
    selected: Ints,
    places: Ints,
    left: Ints,
    gram: Floats,
    total: Floats,
    regularization: float,
    state: State,
    factor: Factor,
    work: Floats,
) -> None:
    """Take the last of ``selected`` (t + 1,) in, in all blocks.

    ``gram[:, places[a]]`` are the products of the a-th selected feature with all features in each query, and
    ``total`` (t + 1, n) those over all queries of all shards. ``left`` are the columns that are not selected.
    ``work`` (3 t + 8, BLOCK) is space to work in.
    """
    pivot, right, ev, vv, ee = state
    t, b = selected.shape[0] - 1, selected[-1]
    at = places[t]
    taken = work[:5]  # of b: 1 / pivot, right-hand side, weight β, ev and vv
    row, moved, seen = work[5], work[6], work[7]
    z, c, gammas = work[8 : 8 + t], work[8 + t : 8 + 2 * t], work[8 + 2 * t : 8 + 3 * t]
    for k in range(gram.shape[0]):
        _relate(k, t, selected, places, gram, total, factor, z, c, gammas)
        for i in range(BLOCK):
            factor[1][k, t, i] = pivot[k, b, i]
            taken[0, i] = 1.0 / pivot[k, b, i]
            taken[1, i] = right[k, b, i]
            taken[2, i] = right[k, b, i] / pivot[k, b, i]
            taken[3, i] = ev[k, b, i]
            taken[4, i] = vv[k, b, i]
            ee[k, i] += taken[2, i] * (taken[2, i] * taken[4, i] - 2.0 * taken[3, i])
        for place in range(left.shape[0]):
            j = left[place]
            for i in range(BLOCK):
                moved[i] = gram[k, at, j, i]
                row[i] = total[t, j] - gram[k, at, j, i]
                seen[i] = 0.0
            for a in range(t):
                whole, inner = total[a, j], gram[k, places[a], j]
                for i in range(BLOCK):
                    outside = whole - inner[i]
                    row[i] -= z[a, i] * outside
                    moved[i] -= z[a, i] * inner[i]
                    seen[i] += c[a, i] * outside
            for i in range(BLOCK):
                product = moved[i] - seen[i]
                gamma = row[i] * taken[0, i]
                ev[k, j, i] -= gamma * taken[3, i] + taken[2, i] * (product - gamma * taken[4, i])
                vv[k, j, i] += gamma * (gamma * taken[4, i] - 2.0 * product)
                # Not below λ, where rounding may take it: see _statistics_kernel.
                rest = pivot[k, j, i] - gamma * row[i]
                pivot[k, j, i] = regularization if regularization > rest else rest
                right[k, j, i] -= gamma * taken[1, i]


@fused_inlined
def _relate(
    k: int,
    t: int,
    selected: Ints,
    places: Ints,
    gram: Floats,
    total: Floats,
    factor: Factor,
    z: Floats,
    c: Floats,
    gammas: Floats,
) -> None:
    """Solve for z and c, and keep the next row of L: O(t²) for each query."""
    lower, pivots = factor
    b, end = selected[t], t * (t - 1) // 2
    for a in range(t):
        for i in range(BLOCK):
            gammas[a, i] = total[a, b] - gram[k, places[a], b, i]
    _forward(k, t, lower, gammas)
    for a in range(t):
        for i in range(BLOCK):
            gammas[a, i] /= pivots[k, a, i]
            lower[k, end + a, i] = gammas[a, i]
            z[a, i] = gammas[a, i]
    _backward(k, t, lower, z)
    for a in range(t):
        for i in range(BLOCK):
            c[a, i] = gram[k, places[a], b, i]
        for e in range(t):
            for i in range(BLOCK):
                c[a, i] -= z[e, i] * gram[k, places[a], selected[e], i]
    _forward(k, t, lower, c)
    for a in range(t):
        for i in range(BLOCK):
            c[a, i] /= pivots[k, a, i]
    _backward(k, t, lower, c)


@fused_inlined
def _forward(k: int, t: int, lower: Floats, values: Floats) -> None:
    """Turn r into L^-1 r."""
    for a in range(1, t):
        row = a * (a - 1) // 2
        for e in range(a):
            for i in range(BLOCK):
                values[a, i] -= lower[k, row + e, i] * values[e, i]


@fused_inlined
def _backward(k: int, t: int, lower: Floats, values: Floats) -> None:
    """Turn r into L'^-1 r."""
    for a in range(t - 1, 0, -1):
        row = a * (a - 1) // 2
        for e in range(a):
            for i in range(BLOCK):
                values[e, i] -= lower[k, row + e, i] * values[a, i]


@fused
def side_by_side(grams: Floats, out: Floats) -> None:
    """Write the Gram matrices (queries, n + 1, n + 1) of a block beside each other, (n, n, BLOCK).

    Where there are fewer queries, the others are of no documents.
    """
    queries, n = grams.shape[0], out.shape[0]
    for a in range(n):
        for j in range(n):
            for i in range(queries):
                out[a, j, i] = grams[i, a, j]
            for i in range(queries, BLOCK):
                out[a, j, i] = 0.0


@fused
def products(X: Floats, column: int, ptr: Ints, shift: Floats, sums: Floats, out: Floats) -> None:
    """Write the products of a centred column with each one, query by query, from rows that are not centred.

    ``out`` (blocks, n, BLOCK). From each query its first row is subtracted, so that what is constant inside
    of it has products of exactly 0, and the column's own mean, which is enough: its values sum up to 0 then.
    ``shift`` and ``sums`` (n,) are space to work in.
    """
    n = X.shape[1]
    for q in range(out.shape[0] * BLOCK):
        k, i = q // BLOCK, q % BLOCK
        for j in range(n):
            sums[j] = 0.0
        if q + 1 < ptr.shape[0]:
            first, d, end = ptr[q], ptr[q], ptr[q + 1]
            mean: float = 0.0
            for e in range(first, end):
                mean += X[e, column] - X[first, column]
            mean = mean / (end - first) + X[first, column]
            for j in range(n):
                shift[j] = X[first, j]
            while d + 4 <= end:
                v0, v1 = X[d, column] - mean, X[d + 1, column] - mean
                v2, v3 = X[d + 2, column] - mean, X[d + 3, column] - mean
                for j in range(n):
                    s = shift[j]
                    near = v0 * (X[d, j] - s) + v1 * (X[d + 1, j] - s)
                    sums[j] += near + v2 * (X[d + 2, j] - s) + v3 * (X[d + 3, j] - s)
                d += 4
            while d < end:
                v0 = X[d, column] - mean
                for j in range(n):
                    sums[j] += v0 * (X[d, j] - shift[j])
                d += 1
        for j in range(n):
            out[k, j, i] = sums[j]
