"""Compiled inner loops of RankBoost, which never list the pairs of documents.

A pair (x0, x1) are two documents of one query with labels y(x0) <
y(x1). With H the scores so far (Freund et al. 2003, section 3.2,
extended to any number of labels):

(1) D(x0, x1) = exp(H(x0) - H(x1)) is the weight of a pair, the product
of a term of x0 and a term of x1. (2) π(x) = Σ D(x0, x) - Σ D(x, x1),
over pairs (x0, x) and (x, x1). Because of (1), the first sum only needs
the
    sum of terms over all documents with lower labels, and the second
    one over all with higher labels.
(3) r(θ) = Σ π(x) over documents whose feature is above θ. The best weak ranker has the greatest |r(θ)|.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import kernel

Bins = NDArray[np.uint16]


@kernel
def potential(H: Floats, y: Floats, by_label: Ints, ptr: Ints, out: Floats) -> float:
    """Write the potential π of each document to ``out`` (m,), and return the total weight of all pairs. O(m).

    Two documents of a query with different labels are a pair. Its
    weight is exp(lower - higher), with the score of the document with
    the lower and with the higher label. π of a document is the weight
    of the pairs in which it has the higher label, minus the weight of
    those in which it has the lower one.

    ``H`` (m,) are the scores and ``y`` (m,) the labels. Query q has the
    documents ptr[q] to ptr[q + 1] - 1. ``by_label`` (m,) has the
    documents of each query by ascending label.
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

        # subtracted from the scores, so that exponentials do not overflow
        middle = 0.5 * (least + greatest)

        # Upwards by label: the pairs in which a document has the higher
        # label. A group start … stop - 1 of `by_label` has the
        # documents of one label.
        below = 0.0  # sum of exp(H - middle) over documents with lower labels
        start = begin
        while start < end:
            stop = start
            of_label = 0.0  # sum of exp(H - middle) over documents with this label

            # Documents of one label make no pairs with each other.
            while stop < end and y[by_label[stop]] == y[by_label[start]]:
                i = by_label[stop]
                out[i] = np.exp(middle - H[i]) * below
                total += out[i]
                of_label += np.exp(H[i] - middle)
                stop += 1
            below += of_label
            start = stop

        # Downwards by label: the pairs in which a document has the lower label.
        above = 0.0  # sum of exp(middle - H) over documents with higher labels
        stop = end
        while stop > begin:
            start = stop
            of_label = 0.0  # sum of exp(middle - H) over documents with this label
            while start > begin and y[by_label[start - 1]] == y[by_label[stop - 1]]:
                start -= 1
                i = by_label[start]
                out[i] -= np.exp(H[i] - middle) * above
                of_label += np.exp(middle - H[i])
            above += of_label
            stop = start
    return total


@kernel
def add_to_bins(
    bins: Bins, starts: Ints, weights: Floats, first: int, last: int, out: Floats
) -> None:
    """Add the weights (m,) of documents to the sums of their bins, for features first … last - 1. O(m) each.

    ``bins`` (n, m) has the bin of each document by feature. The sum of
    bin b of feature j is ``out[starts[j] + j + b]``: feature j has
    ``starts[j + 1] - starts[j]`` thresholds, and one bin more.
    """
    for j in range(first, last):
        begin = starts[j] + j
        for i in range(bins.shape[1]):
            out[begin + bins[j, i]] += weights[i]


@kernel
def best_thresholds(
    in_bins: Floats, starts: Ints, gains: Floats, indices: Ints
) -> None:
    """Find the threshold θ of each feature with the greatest |r(θ)|. O(bins).

    r(θ) is the sum of the potentials π of the documents with values
    above θ. It says how well the threshold orders the weighted pairs.

    ``starts`` (n + 1,) are the positions of the features' first
    thresholds among all thresholds. t thresholds divide the values of a
    feature into t + 1 bins. ``in_bins`` are the sums of π by bin,
    feature by feature, so that the bins of feature j begin at starts[j]
    + j. ``gains`` (n,) receives r(θ), and ``indices`` (n,) the index of
    θ among the thresholds of the feature. Of thresholds with equal
    |r(θ)|, the greatest one is taken. A feature without thresholds gets
    a gain of 0 and the index -1.
    """
    for j in range(indices.shape[0]):
        gains[j] = 0.0
        indices[j] = -1
        above = 0.0
        begin = starts[j] + j
        for b in range(starts[j + 1] - starts[j], 0, -1):
            # The documents in bin b and higher ones are those above threshold b - 1.
            above += in_bins[begin + b]
            if indices[j] < 0 or abs(above) > abs(gains[j]):
                gains[j] = above
                indices[j] = b - 1
