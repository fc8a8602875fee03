"""Compiled search for the ranking that SVM-MAP's weights excuse least (Yue et al. 2007, Algorithm 2)."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import inlined, kernel

_SHORT = 80  # documents up to which insertion beats quicksort, all the more as the order is nearly right


@inlined
def _sort_down(scores: Floats, order: Ints, values: Floats) -> None:
    """Put the documents of ``order`` in descending order of score, and their scores in ``values``."""
    if order.size > _SHORT:
        order[:] = order[np.argsort(-scores[order])]
    for k in range(order.size):
        row = order[k]
        score = scores[row]
        place = k
        while place > 0 and values[place - 1] < score:
            values[place] = values[place - 1]
            order[place] = order[place - 1]
            place -= 1
        values[place] = score
        order[place] = row


@inlined
def _interleave(relevant: Floats, others: Floats, harmonic: Floats, sums: Floats, above: Ints) -> None:
    """Find how many relevant documents stand above each other one in the most violated ranking.

    Of H(y) = 1 - AP(y) + w'Ψ(y), the j-th other document (from 1) with k relevant ones above it has the share

        sum_{i=k+1..R} (1/R) (j / (i + j) - (j - 1) / (i + j - 1)) - 2 (s_i - s_j) / (RN)

    (the paper's δ_j), whatever the places of the rest. With harmonic numbers and sums of the scores this is,
    times R and but for what does not depend on k, the value below: O(1). Each of the terms falls with j, so
    the best k never does, and the best k of every other j bounds those between: O((R + N) log N) altogether,
    where the paper tries every pair. ``above[j]`` is for the j-th, ``above[0]`` for none.
    """
    R, N = relevant.size, others.size
    sums[0] = 0.0
    for i in range(R):
        sums[i + 1] = sums[i] + relevant[i]
    above[0] = 0
    step = 1
    while 2 * step <= N:
        step *= 2
    while step > 0:
        for j in range(step, N + 1, 2 * step):
            score = others[j - 1]
            high = above[j + step] if j + step <= N else R
            most = -np.inf
            for k in range(above[j - step], high + 1):
                value = 2.0 / N * (sums[k] - k * score) - harmonic[k + j - 1] - j / (k + j)
                if value > most:
                    most = value
                    above[j] = k
        step //= 2


@kernel
def most_violated(
    scores: Floats,
    ptr: Ints,
    n_relevant: Ints,
    harmonic: Floats,
    first: int,
    last: int,
    order: Ints,
    losses: Floats,
    slopes: Floats,
) -> None:
    """Find the most violated ranking y of queries first … last - 1.

    Parameters
    ----------
    scores : ndarray of shape (m,)
    ptr : ndarray of shape (Q + 1,)
    n_relevant : ndarray of shape (Q,)
    harmonic : ndarray of shape (longest query + 1,)
        1 + 1/2 + … + 1/k at k.
    first, last : int
    order : ndarray of shape (m,)
        The documents of each query, the relevant ones first; sorted by score here, each part by itself.
    losses : ndarray of shape (Q,)
        Receives 1 - AP(y); 0 where all documents of a query are relevant or none is.
    slopes : ndarray of shape (m,)
        Receives the derivatives of w'Ψ(y) - w'Ψ(y*) in the scores, y* being any perfect ranking.
    """
    longest = np.diff(ptr[first : last + 1]).max()
    values, sums = np.empty(longest), np.empty(longest + 1)
    places = np.empty(longest + 1, dtype=np.int64)
    for q in range(first, last):
        begin, end = ptr[q], ptr[q + 1]
        middle = begin + n_relevant[q]
        R, N = middle - begin, end - middle
        losses[q] = 0.0
        if R == 0 or N == 0:
            slopes[begin:end] = 0.0
            continue
        _sort_down(scores, order[begin:middle], values[:R])
        _sort_down(scores, order[middle:end], values[R : R + N])
        _interleave(values[:R], values[R : R + N], harmonic, sums, places)
        pair = 2.0 / (R * N)
        for j in range(N):
            slopes[order[middle + j]] = pair * (R - places[j + 1])
        higher = 0
        for i in range(R):
            while higher < N and places[higher + 1] <= i:
                higher += 1
            slopes[order[begin + i]] = -pair * higher
            losses[q] += higher / (R * (i + 1.0 + higher))
