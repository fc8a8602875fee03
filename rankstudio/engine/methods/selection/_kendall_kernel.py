"""Compiled inner loops of Kendall's τ-b between the features of many queries.

Of P = n (n - 1) / 2 pairs of documents, T_a are tied in one feature,
T_b in the other and T_ab in both, and D are discordant:

(1) τ-b = (P - T_a - T_b + T_ab - 2 D) / √((P - T_a) (P - T_b)).

(2) D is the number of exchanges of neighbours that sort the documents
by the other feature (Knight 1966), if they start in the order of the
one feature, and its ties in the order of the other. O(n log n).
"""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats, Int32s, Ints
from rankstudio.engine.support.jit import kernel

_RUN = 12  # up to this length insertion is faster than merging


@kernel
def sort_and_count(values: Int32s, spare: Int32s, begin: int, end: int) -> int:
    """Sort ``values[begin:end]`` in place by merge sort, with ``spare`` as work space.

    The result is the number of pairs that were in the wrong order. Both
    arrays have the same length.
    """
    swaps = 0
    # Insertion sort of short runs, which is faster than merging them.
    # Each value moves past one larger value at a time.
    for start in range(begin, end, _RUN):
        for i in range(start + 1, min(start + _RUN, end)):
            value = values[i]
            j = i - 1
            while j >= start and values[j] > value:
                values[j + 1] = values[j]
                j -= 1
            values[j + 1] = value
            swaps += i - 1 - j
    # Merge neighbouring runs.
    width = _RUN
    while width < end - begin:
        for start in range(begin, end - width, 2 * width):
            middle = start + width
            stop = min(start + 2 * width, end)
            if values[middle - 1] <= values[middle]:  # in order already
                continue
            # The merged run is written to `values` from the left, so
            # the left run is copied first. What remains of the right
            # run at the end is in place already.
            for i in range(start, middle):
                spare[i] = values[i]
            left = start
            right = middle
            out = start
            while left < middle and right < stop:
                if spare[left] <= values[right]:  # equal values are no exchange
                    values[out] = spare[left]
                    left += 1
                else:
                    values[out] = values[right]
                    right += 1
                    # the value passes all remaining values of the left run
                    swaps += middle - left
                out += 1
            while left < middle:
                values[out] = spare[left]
                left += 1
                out += 1
        width *= 2
    return swaps


@kernel
def tied_pairs(ranks: Int32s, order: Int32s, ptr: Ints, out: Floats) -> None:
    """Write to ``out`` (Q,) how many pairs of documents of each query have the same rank.

    ``ranks`` (m,) are the ranks of the documents by one feature.
    ``order`` (m,) lists the documents of each query by rank: those of
    query q are at the positions ptr[q] to ptr[q + 1] - 1.
    """
    for q in range(ptr.shape[0] - 1):
        tied = 0
        # Length of the run of equal ranks so far: each document makes a
        # pair with all earlier ones of its run.
        run = 1
        for i in range(ptr[q] + 1, ptr[q + 1]):
            run = run + 1 if ranks[order[i]] == ranks[order[i - 1]] else 1
            tied += run - 1
        out[q] = tied


@kernel
def similarities(
    chosen: int,
    other_features: Ints,
    ranks: Int32s,
    order: Int32s,
    tied: Floats,
    ptr: Ints,
    out: Floats,
) -> None:
    """Write to ``out`` (2, others) the sums over queries of |τ-b| between a feature and some others.

    τ-b is Kendall's correlation of two rankings with
    ties. The second row is the number of queries that
    define τ-b, because neither feature is constant
    there. ``chosen`` is the column of the feature,
    ``other_features`` (others,) those of the others.
    For n features, m documents and Q queries, ``ranks``
    (n, m) are the documents' ranks by each feature,
    ``order`` (n, m) lists the documents of each query
    by rank, and ``tied`` (n, Q) are the numbers of
    pairs with equal ranks. O(m log |q|) for each of the
    others. Query q has the documents ptr[q] to ptr[q +
    1] - 1.
    """
    m = ranks.shape[1]
    values = np.empty(m, dtype=np.int32)
    spare = np.empty(m, dtype=np.int32)
    for index in range(other_features.shape[0]):
        other = other_features[index]
        total = 0.0
        defined = 0
        for q in range(ptr.shape[0] - 1):
            begin = ptr[q]
            end = ptr[q + 1]
            pairs = 0.5 * float(end - begin) * float(end - begin - 1)
            spread = (pairs - tied[chosen, q]) * (pairs - tied[other, q])
            if spread <= 0.0:  # one of the two is constant in the query: no τ
                continue
            # The other feature's ranks, in the order of the chosen one.
            # A pair in the wrong order here is discordant; sorting
            # counts these.
            for i in range(begin, end):
                values[i] = ranks[other, order[chosen, i]]
            # Sort the documents that the chosen feature ties by the
            # other one, and count ties in both.
            tied_in_both = 0
            start = begin
            while start < end:
                stop = start + 1
                while (
                    stop < end
                    and ranks[chosen, order[chosen, stop]]
                    == ranks[chosen, order[chosen, start]]
                ):
                    stop += 1
                if stop > start + 1:
                    sort_and_count(values, spare, start, stop)
                    # Length of the run of documents that the other feature ties, too.
                    run = 1
                    for i in range(start + 1, stop):
                        run = run + 1 if values[i] == values[i - 1] else 1
                        tied_in_both += run - 1
                start = stop
            discordant = sort_and_count(values, spare, begin, end)
            # The numerator of τ-b: concordant minus discordant pairs.
            # Pairs tied in both were subtracted twice, so they are
            # added once.
            balance = (
                pairs
                - tied[chosen, q]
                - tied[other, q]
                + tied_in_both
                - 2.0 * discordant
            )
            # Rounding of the root could give 1 + 2e-16.
            total += min(abs(balance) / np.sqrt(spread), 1.0)
            defined += 1
        out[0, index] = total
        out[1, index] = defined
