"""What the filters of this package share: relevance and similarity of features, and orders of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rankstudio.api import (
    DataShape,
    MemoryNeed,
    Ordering,
    PathSelector,
    TrainingData,
    Waiting,
    best_first,
    feature_similarities,
    informative_columns,
    single_feature_gains,
    sums_need,
    whole_need,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(eq=False, repr=False)
class RelevanceSelector(PathSelector):
    """Base class of filters by the relevance of single features and the similarity of pairs.

    The relevance of a feature is the measure of ranking the training documents by it alone, in its better
    direction. Features that are constant within every query come last, in column order.

    Attributes
    ----------
    relevance_ : ndarray of shape (n,)
        Relevance of each feature, from 0 up.
    similarity_ : ndarray of shape (n, n)
        Similarity of each pair of features, from 0 to 1.
    """

    relevance_: Floats = field(init=False)
    similarity_: Floats = field(init=False)

    measure: str = "NDCG@10"
    similarity: str = "kendall"
    convention: str = "standard"
    regularization: float = 1.0

    def memory_need(self, shape: DataShape) -> MemoryNeed:
        """Return the memory for ranks of the documents, or for copies of them."""
        if self.similarity == "kendall" and shape.sharded:
            return sums_need(shape, per_document=8.0 * shape.n)
        return (
            sums_need(shape)
            if self.similarity == "pearson"
            else whole_need(shape, copies=3.0)
        )

    def order_features(self, data: TrainingData, k: int) -> Waiting[Ordering]:
        """Find the first k features, with progress events."""
        relevance = yield from single_feature_gains(data, self.measure, self.convention)
        kind = self.checked("similarity")
        if kind == "spearman":
            similarity = spearman(data.whole(self.entry.label).X)
        else:
            similarity = yield from feature_similarities(data, kind)
        varies = yield from informative_columns(data)
        columns = np.flatnonzero(varies)
        inner = self.ordered(relevance[columns], similarity[np.ix_(columns, columns)])
        order = np.concatenate([columns[inner.features], np.flatnonzero(~varies)])[:k]
        compared = np.full((order.size, varies.size), np.nan)
        size = min(k, columns.size)
        compared[np.ix_(np.arange(size), columns)] = inner.candidates[:size]
        attributes = {"relevance_": relevance, "similarity_": similarity}
        return Ordering(order.astype(np.int64), compared, attributes)

    def ordered(self, relevance: Floats, similarity: Floats) -> Ordering:
        """Order all of n features, which vary, with the scores of the candidates at each step (n, n)."""
        raise NotImplementedError


def spearman(X: Floats) -> Floats:
    """Return the absolute rank correlation of each pair of features over all documents, shape (n, n).

    A feature without variation has similarity 0 with all others. O(nm log m + n²m).
    """
    ranks = np.empty((X.shape[1], X.shape[0]))
    for row, column in zip(ranks, X.T, strict=True):
        _, number, counts = np.unique(column, return_inverse=True, return_counts=True)
        last = np.cumsum(counts)
        # Equal values share the mean of their ranks; these are halves, whose products are summed exactly.
        row[:] = (last - 0.5 * (counts - 1))[number] - 0.5 * (column.size + 1)
    products = ranks @ ranks.T
    norms = np.sqrt(np.diag(products))
    scale = np.where(norms > 0, norms, 1.0)
    similarity: Floats = np.minimum(np.abs(products / np.outer(scale, scale)), 1.0)
    np.fill_diagonal(similarity, 1.0)
    return similarity


def positions_of(scores: Floats) -> Ints:
    """Return the place of each feature by its score, 0 for the best; equal ones have it by column."""
    positions = np.empty(scores.size, dtype=np.int64)
    positions[best_first(scores, scores.size)] = np.arange(scores.size)
    return positions


def best(scores: Floats, candidates: Bools) -> int:
    """Return the candidate with the largest score; ties go to the lowest column."""
    return int(best_first(np.where(candidates, scores, -np.inf), 1)[0])
