"""Compiled inner loops for groups of features that are compared as a whole.

In addition to the state of :mod:`_statistics_kernel`, each pair of
features j, c of one group has two numbers in every held-out query: the
entry S_jc of the Schur complement of T_q + λI, and the product V_jc of
the residualised held-out features. When feature b is selected, they are
updated with the γ, d and pivots p of :mod:`_delayed_kernel`:

(1) S_jc ← S_jc - γ_j γ_c p_b (2) V_jc ← V_jc - γ_j d_c - γ_c d_j.

The criterion with a whole group g added then takes a system of the
group's size, O(|g|³) for a query:

(3) S_gg β = r_g, solved by S_gg = LL', whose pivots are at least λ (4)
e'e - 2 β'(e'V_g) + β'V_gg β.

The features of groups are listed group by group: those of group g are
``members`` from ``starts[g]`` to ``starts[g + 1]``. The pairs of a
group begin at ``pairs[g]``, in the order (1, 0), (2, 0), (2, 1), ….
"""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls._delayed_kernel import Delayed
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import (
    BLOCK,
    State,
)
from rankstudio.engine.support.jit import fused, fused_inlined


@fused
def follow(
    h: int,
    remaining: Bools,
    members: Ints,
    starts: Ints,
    pairs: Ints,
    delayed: Delayed,
    joint: Floats,
    products: Floats,
) -> None:
    """Update the pairs of ``remaining`` features after the selection of a feature, the step ``h`` of ``delayed``.

    A pair are two features of one group. ``joint`` and ``products``
    (blocks, pairs, BLOCK) have the products of their residuals over the
    other queries and in each held-out query. The step has two numbers γ
    and d for each feature, by which these change. ``remaining`` (n,) is
    the mask of features that are not selected. ``members`` (n,) lists
    the features group by group, those of group g from ``starts[g]`` on;
    the pairs of group g begin at ``pairs[g]``. Other queries are all
    but the one left out. Queries are in blocks of ``BLOCK``.
    """
    # γ and d of each feature for the delayed steps, and the pivots of these steps.
    gammas, d, pivots = delayed
    for k in range(joint.shape[0]):
        for g in range(starts.shape[0] - 1):
            pair = pairs[g]
            for m in range(starts[g], starts[g + 1]):
                for c in range(starts[g], m):
                    feature = members[m]
                    other = members[c]
                    if remaining[feature] and remaining[other]:
                        # The step explains a part of both features: of
                        # their product γ γ' p over the other queries,
                        # and γ d' + γ' d in the held-out query.
                        for i in range(BLOCK):
                            gamma = gammas[k, feature, h, i]
                            other_gamma = gammas[k, other, h, i]
                            joint[k, pair, i] -= gamma * other_gamma * pivots[k, h, i]
                            products[k, pair, i] -= (
                                gamma * d[k, other, h, i]
                                + other_gamma * d[k, feature, h, i]
                            )
                    pair += 1


@fused
def costs(
    open_groups: Ints,
    members: Ints,
    starts: Ints,
    pairs: Ints,
    regularization: float,
    state: State,
    joint: Floats,
    products: Floats,
    factor: Floats,
    beta: Floats,
    partial: Floats,
) -> None:
    """Write to ``partial`` (blocks, groups) each block's sum of the criterion with each open group added.

    ``open_groups`` are the candidates; the columns of
    other groups in ``partial`` are not written.
    ``members`` (n,) lists the features group by group,
    those of group g from ``starts[g]`` on. ``joint``
    and ``products`` (blocks, pairs, BLOCK) have the
    products of two features of one group, over the
    other queries and in the held-out query; the pairs
    of group g begin at ``pairs[g]``. ``state`` has the
    numbers of single features. ``factor`` (s, s, BLOCK)
    and ``beta`` (s, BLOCK) are work space for groups of
    at most s features. ``regularization`` is λ. The
    criterion is the leave-query-out error. In each
    query, the numbers of a feature are its pivot and
    right-hand side over the other queries, and the
    products of its held-out residual with itself and
    with that of the labels. Other queries are all but
    the one left out. Queries are in blocks of
    ``BLOCK``.
    """
    for k in range(partial.shape[0]):
        for index in range(open_groups.shape[0]):
            g = open_groups[index]
            group = members[starts[g] : starts[g + 1]]
            _learn(k, group, pairs[g], regularization, state, joint, factor, beta)
            partial[k, g] = _cost(k, group, pairs[g], state, products, beta)


@fused_inlined
def _learn(
    k: int,
    group: Ints,
    pair: int,
    regularization: float,
    state: State,
    joint: Floats,
    factor: Floats,
    beta: Floats,
) -> None:
    """Write the weights of a group's features without each query of block k to ``beta`` (s, BLOCK).

    The features are added to the selected ones. The weights β of the
    group's features solve a system of these features' products over the
    other queries, without the parts that the selected features explain.
    The matrix of the system is factorised as LL', in ``factor`` (s, s,
    BLOCK). The products of a feature with itself and with the labels
    are in ``state``, those of pairs in ``joint``, from the position
    ``pair`` on. ``regularization`` is λ. Other queries are all but the
    one left out. Queries are in blocks of ``BLOCK``.
    """
    # What is left of the features' squares and of their products with
    # the labels, over the other queries, after the selected features.
    pivot = state[0]
    right = state[1]
    size = group.shape[0]
    for a in range(size):
        # Row a of the factor L, from the pairs (a, c) with c < a, which
        # are adjacent in `joint`.
        for c in range(a):
            for i in range(BLOCK):
                factor[a, c, i] = joint[k, pair, i]
            for b in range(c):
                for i in range(BLOCK):
                    factor[a, c, i] -= factor[a, b, i] * factor[c, b, i]
            for i in range(BLOCK):
                factor[a, c, i] /= factor[c, c, i]
            pair += 1
        # The diagonal entry, and the forward substitution.
        for i in range(BLOCK):
            factor[a, a, i] = pivot[k, group[a], i]
            beta[a, i] = right[k, group[a], i]
        for c in range(a):
            for i in range(BLOCK):
                factor[a, a, i] -= factor[a, c, i] * factor[a, c, i]
                beta[a, i] -= factor[a, c, i] * beta[c, i]
        for i in range(BLOCK):
            remainder = factor[a, a, i]  # below λ only by rounding
            factor[a, a, i] = np.sqrt(
                regularization if regularization > remainder else remainder
            )
            beta[a, i] /= factor[a, a, i]
    _substitute_backwards(size, factor, beta)


@fused_inlined
def _substitute_backwards(size: int, factor: Floats, beta: Floats) -> None:
    """Replace ``beta`` by the solution of L'x = beta for each query of a block.

    L is the factor of a group of ``size`` features, of shape (size,
    size, BLOCK) with all queries, and ``beta`` is (size, BLOCK).
    """
    for a in range(size - 1, -1, -1):
        for c in range(a + 1, size):
            for i in range(BLOCK):
                beta[a, i] -= factor[c, a, i] * beta[c, i]
        for i in range(BLOCK):
            beta[a, i] /= factor[a, a, i]


@fused_inlined
def _cost(
    k: int, group: Ints, pair: int, state: State, products: Floats, beta: Floats
) -> float:
    """Return the criterion with the group's weights β, summed over the queries of block k.

    The criterion of a query is e'e - 2 β'V'e + β'V'V β, with the
    held-out residuals e of the labels and V of the group's features.
    ``pair`` is the position of the group's first pair in ``products``.
    ``state`` has these numbers of single features, ``products`` those
    of pairs in V'V, and ``beta`` (s, BLOCK) the weights. Queries are in
    blocks of ``BLOCK``.
    """
    # In the held-out queries: the features' products with the residual
    # e of the labels and their squares, after the selected features;
    # and e'e.
    ev = state[2]
    vv = state[3]
    ee = state[4]
    # e'e, then the terms of the single features, then those of their pairs.
    cost: float = 0.0
    for i in range(BLOCK):
        cost += ee[k, i]
    for a in range(group.shape[0]):
        for i in range(BLOCK):
            cost += beta[a, i] * (
                beta[a, i] * vv[k, group[a], i] - 2.0 * ev[k, group[a], i]
            )
        for c in range(a):
            for i in range(BLOCK):
                cost += 2.0 * beta[a, i] * beta[c, i] * products[k, pair, i]
            pair += 1
    return cost
