"""Compiled inner loops for groups of features on the state of :mod:`_statistics_kernel`.

Beside that state, each pair of features of one group has two numbers in every held-out query, which follow
each selected feature: the entry of the Schur complement of T_q + λI, and the product of the residualised
held-out features. With them the criterion of a whole group is a system of the group's size.

The features of groups are listed group by group: those of group g are ``starts[g]`` … ``starts[g + 1] - 1``.
The pairs of a group begin at ``pairs[g]``, in the order (1, 0), (2, 0), (2, 1), ….
"""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import BLOCK, History, State
from rankstudio.engine.support.jit import fused, fused_inlined


@fused
def follow(
    t: int,
    places: Ints,
    starts: Ints,
    pairs: Ints,
    first: int,
    last: int,
    history: History,
    joint: Floats,
    products: Floats,
    work: Floats,
) -> None:
    """Let the pairs of blocks first … last - 1 follow the t-th selected feature (from 0).

    ``places`` says where each listed feature stands among those left, -1 for a selected one. ``work``
    (listed features, BLOCK) is space to work in.
    """
    rows, dots, cross, pivots = history
    for k in range(first, last):
        for m in range(places.shape[0]):
            if places[m] >= 0:  # v_m'u_t, before u_t was taken out of v_m
                for i in range(BLOCK):
                    work[m, i] = dots[k, places[m], t, i]
                for a in range(t):
                    for i in range(BLOCK):
                        work[m, i] -= cross[k, t, a, i] * rows[k, places[m], a, i]
        for g in range(starts.shape[0] - 1):
            pair = pairs[g]
            for m in range(starts[g], starts[g + 1]):
                for c in range(starts[g], m):
                    one, other = places[m], places[c]
                    if one >= 0 and other >= 0:
                        for i in range(BLOCK):
                            gamma, second = rows[k, one, t, i], rows[k, other, t, i]
                            joint[k, pair, i] -= gamma * second * pivots[k, t, i]
                            products[k, pair, i] -= (
                                gamma * work[c, i] + second * work[m, i] - gamma * second * cross[k, t, t, i]
                            )
                    pair += 1


@fused
def costs(
    wanted: Ints,
    places: Ints,
    starts: Ints,
    pairs: Ints,
    regularization: float,
    first: int,
    last: int,
    state: State,
    joint: Floats,
    products: Floats,
    factor: Floats,
    beta: Floats,
    partial: Floats,
) -> None:
    """Sum over each of blocks first … last - 1 what the criterion would be with each wanted group added.

    ``factor`` (s, s, BLOCK) and ``beta`` (s, BLOCK) are space to work in, for groups of at most s features.
    """
    for k in range(first, last):
        for position in range(wanted.shape[0]):
            g = wanted[position]
            group = places[starts[g] : starts[g + 1]]
            _learn(k, group, pairs[g], regularization, state, joint, factor, beta)
            partial[k, position] = _cost(k, group, pairs[g], state, products, beta)


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
    """Factorise the Schur complement of the features at some places, and solve for their weights."""
    pivot, right = state[0], state[1]
    size = group.shape[0]
    for a in range(size):
        for c in range(a):
            for i in range(BLOCK):
                factor[a, c, i] = joint[k, pair, i]
            for b in range(c):
                for i in range(BLOCK):
                    factor[a, c, i] -= factor[a, b, i] * factor[c, b, i]
            for i in range(BLOCK):
                factor[a, c, i] /= factor[c, c, i]
            pair += 1
        for i in range(BLOCK):
            factor[a, a, i] = pivot[k, group[a], i]
            beta[a, i] = right[k, group[a], i]
        for c in range(a):
            for i in range(BLOCK):
                factor[a, a, i] -= factor[a, c, i] * factor[a, c, i]
                beta[a, i] -= factor[a, c, i] * beta[c, i]
        for i in range(BLOCK):
            left = factor[a, a, i]  # never below λ but for rounding
            factor[a, a, i] = np.sqrt(regularization if regularization > left else left)
            beta[a, i] /= factor[a, a, i]
    for a in range(size - 1, -1, -1):
        for c in range(a + 1, size):
            for i in range(BLOCK):
                beta[a, i] -= factor[c, a, i] * beta[c, i]
        for i in range(BLOCK):
            beta[a, i] /= factor[a, a, i]


@fused_inlined
def _cost(k: int, group: Ints, pair: int, state: State, products: Floats, beta: Floats) -> float:
    """Sum over a block what the criterion would be with the weights of the features at some places."""
    ev, vv, ee = state[2], state[3], state[4]
    cost: float = 0.0
    for i in range(BLOCK):
        cost += ee[k, i]
    for a in range(group.shape[0]):
        for i in range(BLOCK):
            cost += beta[a, i] * (beta[a, i] * vv[k, group[a], i] - 2.0 * ev[k, group[a], i])
        for c in range(a):
            for i in range(BLOCK):
                cost += 2.0 * beta[a, i] * beta[c, i] * products[k, pair, i]
            pair += 1
    return cost
