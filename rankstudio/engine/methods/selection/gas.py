"""GAS: greedy selection of important features that are dissimilar from each other (Geng et al. 2007)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.capabilities import Compared, FeaturePenalties
from rankstudio.engine.methods.catalog import selectors
from rankstudio.engine.methods.memory_need import (
    DataShape,
    MemoryNeed,
    shard_need,
    whole_need,
)
from rankstudio.engine.methods.own_values import (
    OwnValues,
    own_importance,
    own_similarity,
)
from rankstudio.engine.methods.selection.base import Ordering, PathSelector
from rankstudio.engine.methods.selection.fsmrank import (
    all_similarities,
    comparing_some_features,
)
from rankstudio.engine.methods.selection.kendall import (
    Between,
    kendall_similarity,
)
from rankstudio.engine.methods.selection.single_feature import (
    measured_alone,
    measuring_features,
)
from rankstudio.engine.methods.shards.sums import informative_columns
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.metrics.conventions import DEFAULT, objective
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.support.work import Waiting, WorkProgress, without_notes

MEASURES = {"map": "MAP", "ndcg@10": "NDCG@10", "loss": "Disagreement"}
"""Measure behind each choice of importance.

Disagreement is an error, so importance is 1 minus it.
"""

# Features up to which the matrix of the values of Kendall's τ takes at most 8 MB.
_MOST_KEPT = 1_000


@dataclass(eq=False, repr=False)
class GAS(PathSelector):
    """GAS greedily selects features that are important and dissimilar (Geng et al. 2007).

    The greedy solution of maximising sum_i w_i x_i - c sum_{i≠j} e_ij
    x_i x_j over x in {0, 1}^n with k ones (Geng et al. 2007, eq. (3)):
    after feature i is selected, w_j -= 2 c e_ij for the remaining ones.
    The importance w is the measure of ranking the training documents by
    the feature alone, in the better direction; the similarity e is
    |Kendall's τ-b| averaged over queries (see
    :class:`rankstudio.engine.methods.selection.kendall.KendallSimilarity`).

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features to select, k; all by default.
    importance : {"map", "ndcg@10", "loss"}, array-like or callable, default "map"
        Measure of importance: the paper's GAS-E with MAP or NDCG@10, or
        GAS-L with "loss": the share of pairs of different labels that
        the feature orders correctly, 1 minus the disagreement error. Or
        own numbers from 0 up, of shape (n,), or a function of X, y and
        the query of each document that returns them; the direction is
        then that of the better MAP.
    c : float, default 0.1
        Weight of similarity relative to importance, from 0 up; with 0
        the features are ordered by importance.
    convention : str, default "standard"
        Convention of the measure. A cut-off k is limited to the number
        of documents of a query.
    regularization : float, default 1.0
        λ > 0 of the RankRLS that ranks with the selected features.
    similarity : {"kendall", "pearson"}, array-like or callable, default "kendall"
        e: |Kendall's τ-b|; |Pearson's correlation| over all documents;
        or an own symmetric matrix of shape (n, n), or a function that
        returns it.

    Attributes
    ----------
    importance_ : ndarray of shape (n,)
        Initial w.
    similarity_ : ndarray of shape (n, n), or None
        e of each pair of features, read-only. Kendall's τ is only
        computed for pairs that were compared, of a selected feature and
        one that then remained: NaN for all other pairs, and None for
        more than 1,000 features.
    scores_ : ndarray of shape (n,)
        Value of w when the feature was selected, or at the end if it was not.
    directions_ : ndarray of shape (n,)
        1.0 if high values rank first, -1.0 for low values.

    Notes
    -----
    O(nm log m + knm log |q|) for m documents, n features and queries of
    |q| documents; 8nm bytes. Equally important features are selected in
    column order; features that are constant within every query have no
    similarity and come last. The attributes of the path are those of
    :class:`rankstudio.engine.methods.selection.base.PathSelector`.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> GAS(n_features_to_select=3).fit(train.X, train.y, qid=train.qid).selection_order_
    array([ 0,  1, 16])
    """

    entry = selectors.GAS

    importance_: Floats = field(init=False)
    similarity_: Floats | None = field(init=False)
    scores_: Floats = field(init=False)
    directions_: Floats = field(init=False)

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        if shape.sharded:
            # The states are the ranks and orders of Kendall's τ.
            return shard_need(shape, states=shape.documents)
        return whole_need(shape, 2.0)

    _: KW_ONLY
    importance: Literal["map", "ndcg@10", "loss"] | OwnValues = "map"
    c: float = 0.1
    convention: str = DEFAULT
    regularization: float = 1.0
    similarity: Literal["kendall", "pearson"] | OwnValues = "kendall"

    def weights(self, data: TrainingData) -> Waiting[tuple[Floats, Floats]]:
        """Return the importance of each feature and its better direction, each of shape (n,).

        The importance is a measure of the ranking by the feature alone
        in this direction, or the user's own number. Larger importance
        is better. The direction is 1 if larger values of the feature
        rank first, else -1. ``data`` are the training documents. The
        generator yields progress events, and then returns the result.
        """
        kind = self.checked("importance")
        # A user's own numbers have no direction: it is that of the better MAP.
        measure = MEASURES[kind] if isinstance(kind, str) else "MAP"
        importance, directions = yield from measuring_features(
            data, measure, objective(self.convention)
        )
        if not isinstance(kind, str):
            return own_importance(kind, data, with_negatives=False), directions
        # An error, of which less is better, is subtracted from 1.
        return (
            importance if find_measure(measure).higher_is_better else 1.0 - importance
        ), directions

    def similarities(self, data: TrainingData) -> Waiting[Floats]:
        """Return the similarity of each pair of features, shape (n, n), with progress events."""
        kind = self.checked("similarity")
        if not isinstance(kind, str):
            return own_similarity(kind, data)
        return (yield from all_similarities(data, kind))

    def order_features(self, data: TrainingData, k: int) -> Waiting[Ordering]:
        """Order features by importance and dissimilarity, and return the first k.

        A score starts as the importance of the feature. The feature
        with the largest score is selected, again and again. Each
        selection lowers the scores of the others by 2 c times their
        similarity to the selected feature. This is a generator, which
        yields progress events before it returns the Ordering.
        """
        c = self.checked("c")
        kind = self.checked("similarity")
        importance, directions = yield from self.weights(data)
        # The similarities of all features (n, n). Kendall's τ is only
        # computed for pairs with a selected feature, because all pairs
        # would take long.
        matrix = (
            None
            if isinstance(kind, str) and kind == "kendall"
            else (yield from self.similarities(data))
        )
        # For Kendall's τ, a matrix to be filled as far as it is
        # computed, or None for many features.
        similarity = _matrix_to_fill(importance.size) if matrix is None else matrix
        yield WorkProgress("ranking features", 0.0)
        scores = importance.copy()
        varies = yield from informative_columns(data)
        is_unranked = np.ones(scores.size, dtype=bool)
        order = np.empty(k, dtype=np.int64)
        candidate_scores = np.empty((k, scores.size))
        # `between` returns the similarities of a feature and some others.
        with (
            _lookup_in(matrix)
            if matrix is not None
            else _recorded_kendall(data, similarity) as between
        ):
            for t in range(k):
                yield WorkProgress("comparing features", t / k)
                # Features that are constant within all queries only
                # count when no other feature remains.
                varying_candidates = is_unranked & varies
                candidates = (
                    varying_candidates if varying_candidates.any() else is_unranked
                )
                candidate_scores[t] = np.where(candidates, scores, np.nan)
                order[t] = int(np.argmax(np.where(candidates, scores, -np.inf)))
                is_unranked[order[t]] = False
                # The scores of the similar features that remain are
                # lowered, except after the last selection.
                unranked = np.flatnonzero(is_unranked)
                if t + 1 < k and self.c > 0:
                    similarities = yield from between(int(order[t]), unranked)
                    scores[unranked] -= 2.0 * c * similarities
        # Read-only, because all methods that learn from the same data share the matrix.
        if similarity is not None:
            similarity = similarity.view()
            similarity.flags.writeable = False
        attributes = {
            "importance_": importance,
            "similarity_": similarity,
            "scores_": scores,
            "directions_": directions,
        }
        return Ordering(features=order, candidates=candidate_scores, found=attributes)

    def compared_by_query(self, data: TrainingData, n_features: int) -> Compared:
        """Yield, for the first ``n_features`` steps, the scores of all features and each query's part in them.

        A score is the mean over queries of a measure of the feature
        alone, minus its similarities to selected features. A query's
        part is its part of the mean. The similarities count as the same
        without a query. ``data`` are the training documents.
        """
        from rankstudio.engine.methods.selection.query_parts import compared_means  # noqa: PLC0415 - numba

        if isinstance(self.importance, str):
            values = measured_alone(
                data, MEASURES[self.importance], objective(self.convention)
            )
        else:  # own numbers do not depend on the queries
            values = _zeros_without_progress(data.X.shape[1], data.ptr.size - 1)
        return compared_means(self, data, n_features, values)

    def weighed_features(
        self, data: TrainingData, columns: Ints, other_columns: Ints
    ) -> Waiting[FeaturePenalties]:
        """Return the importances of ``columns`` (c,) and their similarities (c, o) to ``other_columns``.

        A feature and its negative have the same importance in GAS. The
        similarities may be the user's own matrix. ``data`` are the
        training documents. The generator yields progress events, and
        then returns the result.
        """
        importance, _ = yield from self.weights(data)
        if isinstance(self.similarity, str):
            similarity = yield from comparing_some_features(
                data, self.similarity, columns, other_columns
            )
        else:
            # The run has already shown the notes.
            matrix = yield from without_notes(self.similarities(data))
            similarity = np.asarray(matrix[np.ix_(columns, other_columns)])
        return FeaturePenalties(
            importance=importance[columns],
            of_negative=importance[columns],
            similarity=similarity,
        )


def _zeros_without_progress(n: int, n_queries: int) -> Waiting[Floats]:
    """Return zeros (n, Q) for ``n_queries`` = Q, as a generator without progress events."""
    yield from ()
    return np.zeros((n, n_queries))


def _matrix_to_fill(n: int) -> Floats | None:
    """Return similarities (n, n) of which only those of each feature with itself are known, 1.

    For many features, return None instead, because the matrix would take much memory.
    """
    if n > _MOST_KEPT:
        return None
    similarity = np.full((n, n), np.nan)
    np.fill_diagonal(similarity, 1.0)
    return similarity


@contextmanager
def _recorded_kendall(data: TrainingData, computed: Floats | None) -> Iterator[Between]:
    """Provide a function that returns |Kendall's τ| of a feature and some others, shape (others,).

    τ is Kendall's correlation of the rankings by two features, a mean
    over the queries of ``data``. The function also writes the values to
    ``computed`` (n, n), unless that is None.
    """
    with kendall_similarity(data) as compare:

        def between(feature: int, other_features: Ints) -> Waiting[Floats]:
            """Return the similarities of a feature to others (others,), and write them to ``computed``."""
            similarities = yield from compare(feature, other_features)
            if computed is not None:
                computed[feature, other_features] = similarities
                computed[other_features, feature] = similarities
            return similarities

        yield between


@contextmanager
def _lookup_in(matrix: Floats) -> Iterator[Between]:
    """Provide a function that reads the similarities of a feature and some others from a matrix (n, n)."""

    def between(feature: int, other_features: Ints) -> Waiting[Floats]:
        """Return the similarities of a feature to others (others,), from ``matrix``."""
        # A generator without events, as other functions yield progress.
        yield from ()
        return np.asarray(matrix[feature, other_features])

    yield between
