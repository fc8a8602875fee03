"""Compiled inner loops of RankBoost, without a list of pairs.

With H the scores so far, the weight of a pair is D(x0, x1) ∝ exp(H(x0) - H(x1)) for labels y(x0) < y(x1) of
one query: a product, whose sums over all lower or all higher labels of the query need no pair (Freund et
al. 2003, section 3.2, for any number of labels).
"""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Bytes, Floats, Ints
from rankstudio.engine.support.jit import kernel


@kernel
def potential(H: Floats, y: Floats, by_label: Ints, ptr: Ints, out: Floats) -> float:
    """Write to ``out`` (m,) the weight of the pairs a document should win less that of those it should lose.

    ``by_label`` has the documents of each query by ascending label. Returns the sum of exp(H(x0) - H(x1))
    over pairs. O(m).
    """
    total = 0.0
    for q in range(ptr.shape[0] - 1):
        begin, end = ptr[q], ptr[q + 1]
        least, greatest = H[begin], H[begin]
        for i in range(begin, end):
            least, greatest = min(least, H[i]), max(greatest, H[i])
        middle = 0.5 * (least + greatest)  # of both exponentials neither is larger than it must be
        below, start = 0.0, begin
        while start < end:
            stop, of_label = start, 0.0
            while stop < end and y[by_label[stop]] == y[by_label[start]]:
                i = by_label[stop]
                out[i] = np.exp(middle - H[i]) * below
                total += out[i]
                of_label += np.exp(H[i] - middle)
                stop += 1
            below += of_label
            start = stop
        above, stop = 0.0, end
        while stop > begin:
            start, of_label = stop, 0.0
            while start > begin and y[by_label[start - 1]] == y[by_label[stop - 1]]:
                start -= 1
                i = by_label[start]
                out[i] -= np.exp(H[i] - middle) * above
                of_label += np.exp(middle - H[i])
            above += of_label
            stop = start
    return total


@kernel
def best_thresholds(
    columns: Floats, order: Ints, weights: Floats, first: int, last: int, gains: Floats, places: Ints
) -> None:
    """Find the threshold θ of features first … last - 1 with the greatest |r|, r = sum of weights above θ.

    ``columns`` (n, m), ``order`` (n, m) by ascending value. ``places`` gets the rank of the document whose
    value is θ, -1 where the feature is constant. O(m) a feature.
    """
    m = order.shape[1]
    for j in range(first, last):
        gains[j], places[j] = 0.0, -1
        above = 0.0
        for rank in range(m - 1, 0, -1):
            above += weights[order[j, rank]]
            if columns[j, order[j, rank]] > columns[j, order[j, rank - 1]] and (
                places[j] < 0 or abs(above) > abs(gains[j])
            ):
                gains[j], places[j] = above, rank - 1


@kernel
def add_to_bins(bins: Bytes, weights: Floats, out: Floats) -> None:
    """Add the weights (m,) of the documents in each bin of each feature to ``out`` (n, 256): O(nm).

    ``bins`` (n, m).
    """
    for j in range(bins.shape[0]):
        for i in range(bins.shape[1]):
            out[j, bins[j, i]] += weights[i]
