"""Compiled inner loops of RankBoost, without a list of pairs.

With H the scores so far, a pair is (x0, x1) with labels y(x0) < y(x1) of one query (Freund et al. 2003,
section 3.2, for any number of labels):

(1) D(x0, x1) = exp(H(x0) - H(x1)), the weight of a pair, is a product of terms of its documents
(2) π(x) = Σ D(x0, x) - Σ D(x, x1) therefore needs sums over all lower and all higher labels alone
(3) r(θ) = Σ π(x) over documents above a threshold; the weak ranker has the greatest |r|.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import kernel

Bins = NDArray[np.uint16]


@kernel
def potential(H: Floats, y: Floats, by_label: Ints, ptr: Ints, out: Floats) -> float:
    """Write π (2) to ``out`` (m,): the weight of the pairs a document should win less that of the others.

    ``by_label`` has the documents of each query by ascending label. Returns the sum of D over pairs. O(m).
    """
    total = 0.0
    for q in range(ptr.shape[0] - 1):
        begin = ptr[q]
        end = ptr[q + 1]
        least = H[begin]
        greatest = H[begin]
        for i in range(begin, end):
            least = min(least, H[i])
            greatest = max(greatest, H[i])
        middle = 0.5 * (least + greatest)  # of both exponentials neither is larger than it must be
        below = 0.0
        start = begin
        while start < end:
            stop = start
            of_label = 0.0
            while stop < end and y[by_label[stop]] == y[by_label[start]]:
                i = by_label[stop]
                out[i] = np.exp(middle - H[i]) * below
                total += out[i]
                of_label += np.exp(H[i] - middle)
                stop += 1
            below += of_label
            start = stop
        above = 0.0
        stop = end
        while stop > begin:
            start = stop
            of_label = 0.0
            while start > begin and y[by_label[start - 1]] == y[by_label[stop - 1]]:
                start -= 1
                i = by_label[start]
                out[i] -= np.exp(H[i] - middle) * above
                of_label += np.exp(middle - H[i])
            above += of_label
            stop = start
    return total


@kernel
def add_to_bins(bins: Bins, starts: Ints, weights: Floats, first: int, last: int, out: Floats) -> None:
    """Add the weights (m,) of the documents in each bin of features first … last - 1 to ``out``: O(m) each.

    ``bins`` (n, m). Bin b of feature j is ``out[starts[j] + j + b]``: a feature has one more than thresholds.
    """
    for j in range(first, last):
        begin = starts[j] + j
        for i in range(bins.shape[1]):
            out[begin + bins[j, i]] += weights[i]


@kernel
def best_thresholds(in_bins: Floats, starts: Ints, gains: Floats, places: Ints) -> None:
    """Find the threshold θ of each feature with the greatest |r(θ)| (3).

    ``in_bins`` as of :func:`add_to_bins`. ``places`` gets the number of the threshold among those of the
    feature, of equal ones the greatest θ, -1 where it has none. O(bins).
    """
    for j in range(places.shape[0]):
        gains[j] = 0.0
        places[j] = -1
        above = 0.0
        begin = starts[j] + j
        for b in range(starts[j + 1] - starts[j], 0, -1):
            above += in_bins[begin + b]
            if places[j] < 0 or abs(above) > abs(gains[j]):
                gains[j] = above
                places[j] = b - 1
