"""mRMR: minimum redundancy, maximum relevance (Peng et al. 2005)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rankstudio.api import (
    Ordering,
    PathSelector,
    QueryData,
    TrainingData,
    Waiting,
    WorkProgress,
    informative_columns,
    order_statistics,
    summed,
)
from rankstudio_selectors.comparing import Floats, Ints, best
from rankstudio_selectors.entries import MRMR as ENTRY

LEAST = 0.01 * float(np.log(2.0))
"""Added to the divisor of the quotient: 0.01 bits in nats, as in the program of the authors."""

_WHAT = "comparing features"


@dataclass(eq=False, repr=False)
class MRMR(PathSelector):
    """mRMR adds the feature with the best relevance minus, or divided by, redundancy (Peng et al. 2005).

    Relevance is the mutual information I(f; y) of a feature and the labels, redundancy the mean of I(f; s)
    over the features s selected so far. The first feature is the most relevant one.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features to select, k; all by default.
    scheme : {"difference", "quotient"}, default "difference"
        Relevance minus redundancy (MID), or relevance divided by redundancy + 0.01 bits (MIQ).
    n_bins : int, default 10
        Number of bins of a feature, 2 to 100. Equal values share a bin, so there may be fewer.
    regularization : float, default 1.0
        λ > 0 of the RankRLS that ranks with the selected features.

    Attributes
    ----------
    relevance_ : ndarray of shape (n,)
        Mutual information of each feature and the labels, in nats.

    Notes
    -----
    O(knm log b) for k of n features, m documents and b bins, with one pass over the data per step; data
    larger than memory are processed by sums over shards.

    How the paper is read: eq. (6) and (7) are the difference; the quotient is the second scheme of the same
    authors (Ding and Peng 2005), with the constant that their program adds to the divisor. Values are
    divided into bins with about equally many documents, as RankStudio's filter by mutual information does
    it; the paper uses data of few values. Ties go to the lowest column. Features that are constant within
    every query cannot change a ranking, and come last.
    """

    entry = ENTRY

    relevance_: Floats = field(init=False)

    scheme: str = "difference"
    n_bins: int = 10
    regularization: float = 1.0

    def order_features(self, data: TrainingData, k: int) -> Waiting[Ordering]:
        """Find the first k features, with progress events."""
        quotient = self.checked("scheme") == "quotient"
        n_bins = self.checked("n_bins")
        ranks = np.ceil((data.y.size - 1) * np.arange(1, n_bins) / n_bins).astype(
            np.int64
        )
        edges = yield from order_statistics(data, ranks, _WHAT)
        labels = np.unique(data.y)
        (counts,) = yield from summed(data, _WHAT, label_counts, edges, labels)
        relevance = np.array([information(joint) for joint in counts])
        varies = yield from informative_columns(data)
        order: Ints = np.empty(k, dtype=np.int64)
        compared = np.full((k, relevance.size), np.nan)
        remaining = np.ones(relevance.size, dtype=bool)
        total = np.zeros(relevance.size)
        for step in range(k):
            yield WorkProgress(_WHAT, step / k)
            candidates = remaining & varies if (remaining & varies).any() else remaining
            redundancy = total / max(step, 1)
            scores = (
                relevance / (redundancy + LEAST) if quotient else relevance - redundancy
            )
            scores = scores if step else relevance
            order[step] = best(scores, candidates)
            compared[step, candidates] = scores[candidates]
            remaining[order[step]] = False
            if step + 1 < k:
                (counts,) = yield from summed(
                    data, _WHAT, pair_counts, edges, int(order[step])
                )
                total += [information(joint) for joint in counts]
        return Ordering(order, compared, {"relevance_": relevance})


def binned(column: Floats, edges: Floats) -> Ints:
    """Return the bin of each document, from 0; edges are the largest values of all bins but the last."""
    return np.searchsorted(np.unique(edges), column, side="left")


def label_counts(data: QueryData, edges: Floats, labels: Floats) -> tuple[Floats]:
    """Count the documents of each bin and label, of each feature, shape (n, bins, labels)."""
    number = np.searchsorted(labels, data.y)
    return (_joint(data, edges, number, labels.size),)


def pair_counts(data: QueryData, edges: Floats, feature: int) -> tuple[Floats]:
    """Count the documents of each bin and each bin of one feature, of each feature, shape (n, bins, bins)."""
    number = binned(data.X[:, feature], edges[feature])
    return (_joint(data, edges, number, edges.shape[1] + 1),)


def _joint(data: QueryData, edges: Floats, number: Ints, size: int) -> Floats:
    counts = np.empty((len(edges), edges.shape[1] + 1, size))
    for joint, feature_edges, column in zip(counts, edges, data.X.T, strict=True):
        cells = binned(column, feature_edges) * size + number
        joint[:] = np.bincount(cells, minlength=joint.size).reshape(joint.shape)
    return counts


def information(counts: Floats) -> float:
    """Return the mutual information of rows and columns of a table of counts, in nats."""
    p = counts / counts.sum()
    independent = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    positive = p > 0
    return max(
        0.0, float(np.sum(p[positive] * np.log(p[positive] / independent[positive])))
    )
