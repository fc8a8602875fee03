"""Compiled sums over all pairs of documents of each query, for losses to which every pair contributes.

A pair is (i, j) with y_i > y_j in one query, and d = s_i - s_j the
difference of its scores.

(1) A sum that is linear in the partners' values needs only the sums of
the values of each label, in O(m). (2) The logistic loss of a pair is
log(1 + exp(-d)), its derivative in d is -1 / (1 + exp(d)), and its
second
    derivative exp(-|d|) / (1 + exp(-|d|))². They do not separate into
    values of i and of j, so these kernels go through the pairs, in O(m
    + pairs), but do not list them.

The exponential of -|d| is at most 1, so that nothing overflows.
"""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import kernel


@kernel
def partner_sums(
    values: Floats,
    ptr: Ints,
    level: Ints,
    n_levels: Ints,
    first: int,
    last: int,
    sums: Floats,
) -> None:
    """Add up the values of each document's partners, for some queries.

    The partners of a document are the documents of its query with
    another label.

    Parameters
    ----------
    values : ndarray of shape (m,)
        Value of each document.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    level : ndarray of shape (m,)
        Number of a document's label in its query, from 0.
    n_levels : ndarray of shape (Q,)
        Number of labels of each query.
    first, last : int
        The queries are first … last - 1.
    sums : ndarray of shape (2, m)
        Row 0 receives the sums over the less relevant partners, row 1
        over the more relevant ones.
    """
    size = n_levels[first:last].max() + 1
    below = np.empty(size)
    above = np.empty(size)
    for q in range(first, last):
        begin = ptr[q]
        end = ptr[q + 1]
        n = n_levels[q]
        for number in range(n + 1):
            below[number] = above[number] = 0.0
        # The total of each label l, in below[l + 1] and in above[l].
        for row in range(begin, end):
            below[level[row] + 1] += values[row]
            above[level[row]] += values[row]
        # Cumulated: below[l] is the total of all labels lower than l,
        # above[l] that of l and all higher ones.
        for number in range(n):
            below[number + 1] += below[number]
            above[n - 1 - number] += above[n - number]
        for row in range(begin, end):
            sums[0, row] = below[level[row]]
            sums[1, row] = above[level[row] + 1]


@kernel
def logistic(
    scores: Floats,
    ptr: Ints,
    lower: Floats,
    order: Ints,
    first: int,
    last: int,
    losses: Floats,
    slopes: Floats,
) -> None:
    """Write the logistic loss of all pairs and its gradient, for some queries.

    The loss of a pair of documents of a query with labels y_i > y_j is
    log(1 + exp(s_j - s_i)).

    Parameters
    ----------
    scores : ndarray of shape (m,)
        Scores s of the documents.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    lower : ndarray of shape (m,)
        Number of documents of the query with a lower label.
    order : ndarray of shape (m,)
        Documents of each query by ascending label.
    first, last : int
        The queries are first … last - 1.
    losses : ndarray of shape (m,)
        Receives, for each document i, the sum of the losses of its
        pairs with less relevant documents j.
    slopes : ndarray of shape (m,)
        Receives the gradient of the summed loss in the scores.
    """
    for q in range(first, last):
        begin = ptr[q]
        for k in range(begin, ptr[q + 1]):
            row = order[k]
            loss = 0.0
            slope = 0.0
            # The less relevant documents are the first ones of the query's order.
            for position in range(begin, begin + int(lower[row])):
                partner = order[position]
                difference = scores[row] - scores[partner]
                # log(1 + exp(-difference)), without an overflow of exp().
                shrunk = np.exp(-abs(difference))
                loss += np.log1p(shrunk) + max(-difference, 0.0)
                # 1 / (1 + exp(difference)), minus the derivative in the difference.
                share = (shrunk if difference > 0.0 else 1.0) / (1.0 + shrunk)
                slope += share
                slopes[partner] += share
            losses[row] = loss
            # Until now, ``slope`` was that of the documents with lower
            # labels. Those with higher labels, which come later, add to
            # this slope.
            slopes[row] = -slope


@kernel
def logistic_laplacian(
    scores: Floats,
    values: Floats,
    ptr: Ints,
    lower: Floats,
    order: Ints,
    first: int,
    last: int,
    out: Floats,
) -> None:
    """Write the Hessian of the logistic loss times values, for some queries.

    The loss of a pair of documents of a query with labels y_i > y_j is
    log(1 + exp(s_j - s_i)), and the derivatives are those in the
    scores.

    Parameters
    ----------
    scores : ndarray of shape (m,)
        Scores s of the documents.
    values : ndarray of shape (m,)
        Vector that the Hessian is multiplied with.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    lower : ndarray of shape (m,)
        Number of documents of the query with a lower label.
    order : ndarray of shape (m,)
        Documents of each query by ascending label.
    first, last : int
        The queries are first … last - 1.
    out : ndarray of shape (m,)
        Receives the product for the documents of these queries.
    """
    for q in range(first, last):
        begin = ptr[q]
        for k in range(begin, ptr[q + 1]):
            row = order[k]
            total = 0.0
            for position in range(begin, begin + int(lower[row])):
                partner = order[position]
                # The second derivative of the pair's loss in the
                # difference of the scores is the same for both signs;
                # this one cannot overflow.
                shrunk = np.exp(-abs(scores[row] - scores[partner]))
                bend = shrunk / ((1.0 + shrunk) * (1.0 + shrunk))
                product = bend * (values[row] - values[partner])
                total += product
                out[partner] -= product
            # Documents with higher labels, which come later, change it again.
            out[row] = total
