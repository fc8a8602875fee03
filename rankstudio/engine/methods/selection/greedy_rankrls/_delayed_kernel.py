"""Compiled inner loops of greedy RankRLS on one shard if many features are selected: without linear systems.

With many selected features, the systems of :mod:`_solved_kernel` would
take most of the time, and the rows of Gram matrices most of the memory
traffic. Let γ_a be the pivot row of the a-th selected feature divided
by its pivot p_a, u_a the residual of this feature before it is
selected, v_j the residual of feature j, and w_a = u_a'u_a. Each step
changes the Schur complement S of the other queries' matrix, and the
products V of the residuals in this query, for all features j and l, by

(1) S[j, l] -= p_a γ_a[j] γ_a[l] (2) V[j, l] -= γ_a[j] d_a[l] + d_a[j] γ_a[l] (3) d_a[j]
= v_j'u_a - ½ γ_a[j] w_a,

A step reads only one row of S and V. So the γ and d of some steps are
kept, and S - T and V, of which only the entries below the diagonals are
stored, are brought up to date with all kept steps at once. With h
delayed steps, the next step takes O(h) for each feature, and bringing
the matrices up to date O(h) for each pair.
"""

from __future__ import annotations

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import (
    BLOCK,
    State,
    enter,
    update,
)
from rankstudio.engine.support.jit import fused, fused_inlined

Delayed = tuple[Floats, Floats, Floats]
"""γ and d (blocks, n, steps, BLOCK) of features by their place, and the pivots (blocks, steps, BLOCK).

The place of a feature is its position among the features that remained
when the matrices were last updated.
"""

Matrices = tuple[Floats, Floats]
"""S - T and V (blocks, places (places - 1) / 2, BLOCK): the entries below their diagonals, row by row."""


@fused
def select(
    b: int,
    remaining: Ints,
    selected_position: int,
    places: Ints,
    h: int,
    gram: Floats,
    at_gram: int,
    total: Floats,
    regularization: float,
    state: State,
    delayed: Delayed,
    matrices: Matrices,
    work: Floats,
) -> None:
    """Select column ``b`` in all blocks, and store how the remaining features change by it in each query.

    For each pair of features, the ``matrices`` have the products of
    their residuals, which the selection changes. To update them at
    every step would take long. So only two numbers of each feature j
    are stored in ``delayed``, as step ``h`` since the last update. γ_j
    is the weight of b's residual in j, learned from the other queries.
    d_j = v_j'u - ½ γ_j u'u, with the residuals v_j of j and u of b in
    the held-out query.

    ``selected_position`` is the position of b in the matrices, and
    ``places`` are those of the columns ``remaining``. If ``at_gram`` is
    not negative, there are no matrices yet, and ``gram[:, at_gram]``
    are the products of b with all features. ``total`` (n,) are the
    products of b over all queries of all shards. ``state`` has the
    numbers of each single feature, which are updated. ``work`` (3 h +
    7, BLOCK) is work space. ``regularization`` is λ. In each query, the
    numbers of a feature are its pivot and right-hand side over the
    other queries, and the products of its held-out residual with itself
    and with that of the labels. Other queries are all but the one left
    out. Queries are in blocks of ``BLOCK``. A shard is a part of the
    data with whole queries.
    """
    # What is left of each feature's square over the other queries, plus
    # λ; and γ, d and the pivots of the delayed steps.
    pivot = state[0]
    gammas, d, pivots = delayed
    # Of b: 1 / pivot, right-hand side, weight, e'u and u'u, with the
    # residual e of the labels.
    terms_of_b = work[:5]
    row = work[5]
    product = work[6]
    space = work[7:]
    for k in range(pivot.shape[0]):
        # The delayed steps' γ and d at b, and the terms of b itself,
        # which the other columns need.
        _coefficients(k, selected_position, h, delayed, space)
        for i in range(BLOCK):
            pivots[k, h, i] = pivot[k, b, i]
        enter(k, b, state, terms_of_b)
        for order in range(remaining.shape[0]):
            j = remaining[order]
            position = places[order]
            # The row and the product of column j, as they were at the
            # last update of the matrices. These have an entry for each
            # pair of features; `_pair_position` is its position.
            if at_gram >= 0:
                _begin_entry(k, at_gram, j, gram, row, product)
            else:
                _read_entry(
                    k,
                    _pair_position(selected_position, position),
                    matrices,
                    row,
                    product,
                )
            # The delayed steps that the matrices do not contain yet.
            _subtract(k, position, h, delayed, space, row, product)
            total_j = total[j]
            for i in range(BLOCK):
                other = total_j + row[i]
                gamma = other * terms_of_b[0, i]
                gammas[k, position, h, i] = gamma
                d[k, position, h, i] = product[i] - 0.5 * gamma * terms_of_b[4, i]
                update(k, j, i, other, product[i], terms_of_b, regularization, state)


@fused
def bring_up(
    remaining: Ints,
    places: Ints,
    gram: Floats,
    delayed: Delayed,
    matrices: Matrices,
    work: Floats,
) -> None:
    """Apply all delayed steps to the matrices, and drop all columns but ``remaining`` from them.

    A delayed step is the selection of a feature by which the matrices
    were not updated yet, because updating all pairs at every step would
    take long.

    Each query has two matrices with an entry for every pair of features
    that are not selected. An entry of the first is the product of the
    two features over all other queries, less that over all queries; an
    entry of the second is their product in this query. In both, each
    feature is less its part that the selected features explain.

    Parameters
    ----------
    remaining : ndarray of shape (r,)
        Columns of the features that stay in the matrices.
    places : ndarray of shape (r,)
        Their positions in the matrices so far, ascending. The new ones are 0,
        1, 2, …
    gram : ndarray of shape (blocks, n, n, BLOCK)
        Products of all n features in each query; BLOCK queries are side
        by side. The matrices start from these products. Empty if the
        matrices exist.
    delayed : tuple of ndarray
        For each delayed step: two numbers of each feature,
        γ and d, both (blocks, places, steps, BLOCK), and
        the pivot of the selected feature, (blocks, steps,
        BLOCK).
    matrices : tuple of ndarray
        Both of shape (blocks, pairs, BLOCK): the entries below their
        diagonals, row by row. Overwritten.
    work : ndarray of shape (3 steps + 2, BLOCK)
        Work space.
    """
    outer, inner = matrices
    h = delayed[2].shape[1]  # the number of delayed steps
    row = work[0]
    product = work[1]
    space = work[2:]
    for k in range(outer.shape[0]):
        entry = 0
        for first in range(remaining.shape[0]):
            j = remaining[first]
            position = places[first]
            # Writes the numbers of feature j in all delayed steps to
            # `space`, for all its pairs.
            _coefficients(k, position, h, delayed, space)
            # For each pair with an earlier feature: `row` and `product`
            # receive the entries so far of both matrices, less their
            # changes by the delayed steps. `_pair_position` is the
            # position of a pair among the entries.
            for second in range(first):
                column = remaining[second]
                other = places[second]
                if gram.shape[0]:
                    _begin_entry(k, j, column, gram, row, product)
                else:
                    _read_entry(
                        k, _pair_position(position, other), matrices, row, product
                    )
                _subtract(k, other, h, delayed, space, row, product)
                # The new position of a pair is never after its former
                # one, so no unread entry is overwritten.
                for i in range(BLOCK):
                    outer[k, entry, i] = row[i]
                    inner[k, entry, i] = product[i]
                entry += 1


@fused_inlined
def _begin_entry(
    k: int, gram_row: int, j: int, gram: Floats, row: Floats, product: Floats
) -> None:
    """Write the entries of a pair of features in both matrices before the first step.

    ``product`` (BLOCK,) receives the products of the features in the
    queries of block k. ``row`` receives their negatives: the products
    over the other queries, less those over all queries. The entry of
    the features is ``gram[k, gram_row, j]``. Other queries are all but
    the one left out. Queries are in blocks of ``BLOCK``.
    """
    for i in range(BLOCK):
        product[i] = gram[k, gram_row, j, i]
        row[i] = -product[i]


@fused_inlined
def _read_entry(
    k: int, entry: int, matrices: Matrices, row: Floats, product: Floats
) -> None:
    """Copy an entry of the first matrix to ``row`` and of the second one to ``product``, both (BLOCK,).

    The two entries are those at the position ``entry``, for the queries
    of block k, of the two ``matrices`` of pairs of features. Queries
    are in blocks of ``BLOCK``.
    """
    for i in range(BLOCK):
        row[i] = matrices[0][k, entry, i]
        product[i] = matrices[1][k, entry, i]


@fused_inlined
def _pair_position(first: int, second: int) -> int:
    """Return the position of an entry among those below the diagonal of a matrix, row by row.

    ``first`` and ``second`` are its row and column, in any order.
    """
    low = min(first, second)
    high = max(first, second)
    return high * (high - 1) // 2 + low


@fused_inlined
def _coefficients(
    k: int, position: int, h: int, delayed: Delayed, space: Floats
) -> None:
    """Write p γ, γ and d of a feature for each of h delayed steps to three consecutive rows of ``space``.

    A delayed step is the selection of a feature, with the pivot p, by which the
    matrices of the pairs of features were not updated yet. Such a step has two
    numbers γ and d for each feature. In the entry of a pair, it subtracts these
    numbers of one feature, multiplied by γ or d of the other. The numbers are
    those in the queries of block k. ``position`` is that of the feature in the
    matrices, and ``space`` has shape (≥ 3 h, BLOCK). Queries are in blocks of
    ``BLOCK``.
    """
    # γ and d of each feature for the delayed steps, and the pivots of these steps.
    gammas, d, pivots = delayed
    for a in range(h):
        offset = 3 * a
        for i in range(BLOCK):
            space[offset, i] = pivots[k, a, i] * gammas[k, position, a, i]
            space[offset + 1, i] = gammas[k, position, a, i]
            space[offset + 2, i] = d[k, position, a, i]


@fused_inlined
def _subtract(
    k: int,
    position: int,
    h: int,
    delayed: Delayed,
    space: Floats,
    row: Floats,
    product: Floats,
) -> None:
    """Subtract the changes of the h delayed steps from the entry of a pair of features in both matrices.

    A step is the selection of a feature with the pivot p. The step has
    two numbers γ and d for one feature of the pair, and γ' and d' for
    the other. The step subtracts p γ γ' from ``row`` (BLOCK,), the
    entry of the first matrix, and γ d' + d γ' from ``product``
    (BLOCK,), the entry of the second. The numbers are those in the
    queries of block k. ``position`` is that of one feature of the pair
    in the matrices. ``space`` has p γ, γ and d of the other one, three
    rows per step. Queries are in blocks of ``BLOCK``.
    """
    # γ and d of each feature for the delayed steps.
    gammas, d, _ = delayed
    # Two steps at a time, so that an entry is read and written half as often.
    for a in range(0, h - 1, 2):
        offset = 3 * a
        for i in range(BLOCK):
            gamma = gammas[k, position, a, i]
            next_gamma = gammas[k, position, a + 1, i]
            row[i] -= space[offset, i] * gamma + space[offset + 3, i] * next_gamma
            first = (
                space[offset + 2, i] * gamma
                + space[offset + 1, i] * d[k, position, a, i]
            )
            product[i] -= first + (
                space[offset + 5, i] * next_gamma
                + space[offset + 4, i] * d[k, position, a + 1, i]
            )
    if h % 2:
        a = h - 1
        offset = 3 * a
        for i in range(BLOCK):
            gamma = gammas[k, position, a, i]
            row[i] -= space[offset, i] * gamma
            product[i] -= (
                space[offset + 2, i] * gamma
                + space[offset + 1, i] * d[k, position, a, i]
            )
