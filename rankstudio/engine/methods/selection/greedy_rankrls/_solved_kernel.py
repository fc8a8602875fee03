"""Compiled inner loops of greedy RankRLS on one shard if few features are selected: by linear systems.

Each step could keep two numbers for each query and each remaining
feature. Instead, these follow from the rows of the queries' Gram
matrices G_q that belong to the selected features, A. With b the next
feature to be selected, for each query q

(1) z = (T_q[A, A] + λI)^-1 T_q[A, b], so that u_b = X^_q[:, b] -
X^_q[:, A] z is the residual of b (2) c = (T_q[A, A] + λI)^-1 X^_q[:,
A]'u_b (3) T_q[b, j] - z'T_q[A, j] is the pivot row (4) X^_q[:, j]'u_b =
G_q[b, j] - z'G_q[A, j] (5) v_j'u_b = X^_q[:, j]'u_b
- c'T_q[A, j] with v_j the residual of j.

For each query, only a triangle is kept: with T_q[A, A] + λI = LDL'

(6) the next row of L^-1 is (-z', 1), and the next pivot of D is the pivot of b,

so that both systems are solved by products, O(t²) at step t; (3) to (5)
take O(t) for each feature. The rows are read from Gram matrices that
all λ share: most of the time of a path is memory traffic. The last axis
of arrays is the queries of a block, as in
:mod:`_statistics_kernel`. Indices are read before the innermost loop, because it would
not use vector registers otherwise.
"""

from __future__ import annotations

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import (
    BLOCK,
    State,
    begin,
    cost,
    enter,
    update,
)
from rankstudio.engine.support.jit import fused, fused_inlined

TILE = 16
"""Features that are updated together.

Their numbers are adjacent in each row of a Gram matrix.
"""

Factor = tuple[Floats, Floats]
"""-L^-1 below its diagonal, row by row (blocks, k (k - 1) / 2, BLOCK), and D (blocks, k, BLOCK)."""


@fused
def start(
    products: tuple[Floats, Floats, Floats],
    total: Floats,
    regularization: float,
    state: State,
) -> None:
    """Fill the ``state`` of all blocks for the empty selection.

    ``products`` has the squares of the features and their products with
    the labels in each query, both (blocks, n, BLOCK), and the squares
    of the labels (blocks, BLOCK). ``total`` (2, n) are the first two,
    summed over the queries of all shards. ``regularization`` is λ.
    Queries are in blocks of ``BLOCK``. A shard is a part of the data
    with whole queries.
    """
    squares, rights, labels = products
    for k in range(squares.shape[0]):
        begin(k, squares, rights, labels, total, regularization, state)


@fused
def compare(remaining: Ints, state: State, partial: Floats) -> None:
    """Write each block's sum of the criterion with each remaining feature added to ``partial`` (blocks, n).

    ``remaining`` are the columns that are not selected, and ``state``
    has their numbers in each query. The criterion is the
    leave-query-out error. A block has ``BLOCK`` queries. In each query,
    the numbers of a feature are its pivot and right-hand side over the
    other queries, and the products of its held-out residual with itself
    and with that of the labels. Other queries are all but the one left
    out.
    """
    for k in range(partial.shape[0]):
        for index in range(remaining.shape[0]):
            j = remaining[index]
            partial[k, j] = cost(k, j, state)


@fused
def select(
    selected: Ints,
    ascending: Ints,
    places: Ints,
    remaining: Ints,
    gram: Floats,
    total: Floats,
    regularization: float,
    state: State,
    factor: Factor,
    work: Floats,
) -> None:
    """Select the last feature of ``selected`` (t + 1,) in all blocks of queries: update ``state`` and ``factor``.

    In every query, two systems of the t earlier features give the
    residual of the new one. Its products with the residuals of the
    remaining features update their numbers in ``state``. ``ascending``
    (t,) are the positions of the earlier features by column, the order
    of memory. ``gram[:, places[a]]`` are the products of the a-th
    selected feature with all features in each query, and ``total`` (t +
    1, n) these products over all queries of all shards. ``remaining``
    are the columns that are not selected. ``work`` (3 t + 6 + 3 TILE,
    BLOCK) is work space. ``regularization`` is λ. In each query, the
    numbers of a feature are its pivot and right-hand side over the
    other queries, and the products of its held-out residual with itself
    and with that of the labels. Other queries are all but the one left
    out. Queries are in blocks of ``BLOCK``. A shard is a part of the
    data with whole queries.
    """
    # What is left of each feature's square over the other queries, plus λ.
    pivot = state[0]
    t = selected.shape[0] - 1
    b = selected[-1]
    gram_row = places[t]
    terms_of_b = work[:5]  # of b: 1 / pivot, right-hand side, weight β, ev and vv
    row = work[5 : 5 + TILE]
    moved = work[5 + TILE : 5 + 2 * TILE]
    correction = work[5 + 2 * TILE : 5 + 3 * TILE]
    end = 5 + 3 * TILE
    z = work[end : end + t]
    c = work[end + t : end + 2 * t]
    space = work[end + 2 * t :]
    for k in range(gram.shape[0]):
        # The systems of the t other features in each query, which give z and c.
        _relate(k, t, selected, ascending, places, gram, total, factor, z, c, space)
        for i in range(BLOCK):
            factor[1][k, t, i] = pivot[k, b, i]
        enter(k, b, state, terms_of_b)
        # Of each feature j: `row` is its product with b's residual over
        # the other queries, `moved` that in the held-out query; `moved`
        # minus `correction` is that of j's residual.
        for first in range(0, remaining.shape[0], TILE):
            tile = remaining[first : first + TILE]
            for index in range(tile.shape[0]):
                j = tile[index]
                total_j = total[t, j]
                for i in range(BLOCK):
                    inner = gram[k, gram_row, j, i]
                    moved[index, i] = inner
                    row[index, i] = total_j - inner
                    correction[index, i] = 0.0
            # Two of the earlier features at a time are subtracted; an
            # odd last one is subtracted below.
            for a in range(0, t - 1, 2):
                _follow(k, a, places, tile, gram, total, z, c, row, moved, correction)
            if t % 2:
                odd = places[t - 1]
                for index in range(tile.shape[0]):
                    j = tile[index]
                    total_j = total[t - 1, j]
                    for i in range(BLOCK):
                        inner = gram[k, odd, j, i]
                        outer = total_j - inner
                        row[index, i] -= z[t - 1, i] * outer
                        moved[index, i] -= z[t - 1, i] * inner
                        correction[index, i] += c[t - 1, i] * outer
            # The row and the product of each feature of the tile are
            # complete, so that it can be updated.
            for index in range(tile.shape[0]):
                j = tile[index]
                for i in range(BLOCK):
                    product = moved[index, i] - correction[index, i]
                    update(
                        k,
                        j,
                        i,
                        row[index, i],
                        product,
                        terms_of_b,
                        regularization,
                        state,
                    )


@fused_inlined
def _follow(
    k: int,
    a: int,
    places: Ints,
    tile: Ints,
    gram: Floats,
    total: Floats,
    z: Floats,
    c: Floats,
    row: Floats,
    moved: Floats,
    correction: Floats,
) -> None:
    """Subtract the terms of the selected features a and a + 1 for the features of a ``tile``, in block k.

    z and c (t, BLOCK) are the solutions of the two systems of the
    selected features. ``gram[:, places[a]]`` are the products of the
    a-th selected feature with all features in each query, and
    ``total[a]`` these products over all queries. Three arrays (TILE,
    BLOCK) collect sums over the selected features:

    - ``row``: minus z times their products over the other queries;
    - ``moved``: minus z times their products in this query;
    - ``correction``: c times their products over the other queries.

    Other queries are all but the one left out. Queries are in blocks of
    ``BLOCK``.
    """
    first = places[a]
    second = places[a + 1]
    for index in range(tile.shape[0]):
        j = tile[index]
        total_a = total[a, j]
        total_next = total[a + 1, j]
        for i in range(BLOCK):
            inner_a = gram[k, first, j, i]
            inner_next = gram[k, second, j, i]
            outer_a = total_a - inner_a
            outer_next = total_next - inner_next
            row[index, i] -= z[a, i] * outer_a + z[a + 1, i] * outer_next
            moved[index, i] -= z[a, i] * inner_a + z[a + 1, i] * inner_next
            correction[index, i] += c[a, i] * outer_a + c[a + 1, i] * outer_next


@fused_inlined
def _relate(
    k: int,
    t: int,
    selected: Ints,
    ascending: Ints,
    places: Ints,
    gram: Floats,
    total: Floats,
    factor: Factor,
    z: Floats,
    c: Floats,
    space: Floats,
) -> None:
    """Solve the two systems of the t earlier features that give the residual of the t-th one, in block k.

    z (t, BLOCK) predicts the new feature from the earlier ones over the
    other queries. c (t, BLOCK) solves the same system for the products
    of the earlier features with the residual of this prediction in the
    held-out query. z is also the next row of -L^-1 in ``factor``, where
    LDL' is the matrix of the system. ``selected`` has the columns of
    the features, ``ascending`` their positions in the order of columns.
    ``gram[:, places[a]]`` are the products of the a-th one with all
    features in each query, and ``total[a]`` these over all queries.
    ``space`` (> t, BLOCK) is work space. Other queries are all but the
    one left out. Queries are in blocks of ``BLOCK``.
    """
    b = selected[t]
    end = t * (t - 1) // 2  # entries of the earlier rows below the diagonal
    right = space[:t]
    value = space[t]
    # The first right-hand side: products with b over the other queries.
    for a in range(t):
        total_a = total[a, b]
        gram_row = places[a]
        for i in range(BLOCK):
            right[a, i] = total_a - gram[k, gram_row, b, i]
    _solve(k, t, factor, right, z, value)
    # The second one: products with the residual of b in the held-out query.
    for a in range(t):
        gram_row = places[a]
        for i in range(BLOCK):
            factor[0][k, end + a, i] = z[a, i]
            right[a, i] = gram[k, gram_row, b, i]
        for index in range(t):  # in the order of memory, which is faster
            e = ascending[index]
            j = selected[e]
            for i in range(BLOCK):
                right[a, i] -= z[e, i] * gram[k, gram_row, j, i]
    _solve(k, t, factor, right, c, value)


@fused_inlined
def _solve(
    k: int, t: int, factor: Factor, right: Floats, out: Floats, value: Floats
) -> None:
    """Solve LDL'x = r in the queries of block k, by x = L'^-1 D^-1 L^-1 r.

    ``right`` and ``out`` (t, BLOCK) are r and x, ``factor`` has -L^-1
    and D, and ``value`` (BLOCK,) is work space. Each row of L^-1 is
    read once, for its product with r and for its part in the product
    with L'^-1. Queries are in blocks of ``BLOCK``.
    """
    rows, pivots = factor  # rows are those of -L^-1
    for a in range(t):
        start = a * (a - 1) // 2
        for i in range(BLOCK):
            value[i] = right[a, i]
        # Four terms at a time: `value` is read and written a fourth as often.
        for e in range(0, a - 3, 4):
            r = start + e
            for i in range(BLOCK):
                two_terms = (
                    rows[k, r, i] * right[e, i] + rows[k, r + 1, i] * right[e + 1, i]
                )
                value[i] -= (
                    two_terms
                    + rows[k, r + 2, i] * right[e + 2, i]
                    + rows[k, r + 3, i] * right[e + 3, i]
                )
        for e in range(a - a % 4, a):
            for i in range(BLOCK):
                value[i] -= rows[k, start + e, i] * right[e, i]
        # Number a of D^-1 L^-1 r. Times row a of L^-1, it is a term of
        # all earlier numbers of x.
        for i in range(BLOCK):
            value[i] /= pivots[k, a, i]
            out[a, i] = value[i]
        for e in range(a):
            for i in range(BLOCK):
                out[e, i] -= rows[k, start + e, i] * value[i]


@fused
def side_by_side(grams: Floats, out: Floats) -> None:
    """Copy the Gram matrices of a block's queries so that the queries are the last axis.

    ``grams`` has shape (queries, n, n), and ``out`` (n, n, BLOCK). If
    the block has fewer than BLOCK queries, it is padded with zeros.
    """
    queries = grams.shape[0]
    n = out.shape[0]
    for a in range(n):
        for j in range(n):
            for i in range(queries):
                out[a, j, i] = grams[i, a, j]
            for i in range(queries, BLOCK):
                out[a, j, i] = 0.0
