"""Validity and completeness of a set of features: how far it alone explains the rankings of a model.

Both compare the ranking of each query by a model with the ranking by
the same model when some features have a base value in all documents.
They need no labels.

References
----------
Singh, J., Khosla, M., Wang, Z. and Anand, A. (2021). Extracting per
query valid explanations for blackbox learning-to-rank models. ICTIR,
203-210.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.language import tr
from rankstudio.engine.metrics.conventions import DEFAULT
from rankstudio.engine.metrics.evaluation import check_scores, group_by_query
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.statistics.mean_intervals import MeanIntervals, mean_intervals
from rankstudio.engine.support.query_ids import check_none_missing
from rankstudio.engine.support.shard import shards_of
from rankstudio.engine.support.work import Waiting, WorkProgress, finish
from rankstudio.plugins.evidence.permutation_importance import score_of

VALUES_PER_BLOCK = 4_000_000
"""Values of the documents that are scored at a time."""

_TAU = "Tau"

Rows = slice | Ints
Read = Callable[[Rows], Floats]
"""Returns the features of some documents as a new array."""

Score = Callable[[Floats], ArrayLike]
"""Scores documents by these features."""


@dataclass(frozen=True, eq=False)
class RankingValidity:
    """Validity and completeness of S sets of features in Q queries.

    Attributes
    ----------
    sets : tuple of tuple of int
        0-based columns of each set.
    validity, completeness : ndarray of shape (S, Q)
        From -1 to 1, see :func:`ranking_validity`; NaN for queries
        whose documents the model does not tell apart.
    """

    sets: tuple[tuple[int, ...], ...]
    validity: Floats
    completeness: Floats

    @property
    def n_undefined(self) -> int:
        """Number of queries whose documents the model does not tell apart."""
        return int(np.isnan(self.validity[:1]).sum())

    @property
    def validity_means(self) -> MeanIntervals:
        """Mean validity of each set over the queries, with Student's 95 % interval."""
        return mean_intervals([self.validity])

    @property
    def completeness_means(self) -> MeanIntervals:
        """Mean completeness of each set over the queries, with Student's 95 % interval."""
        return mean_intervals([self.completeness])


def ranking_validity(
    model: Any,
    X: ArrayLike,
    *,
    qid: ArrayLike,
    feature_sets: Sequence[Sequence[int]],
    base: ArrayLike = 0.0,
) -> RankingValidity:
    r"""Return how far sets of features explain the rankings of a model: validity and completeness.

    Parameters
    ----------
    model : object with ``predict``, or callable
        A fitted ranker, a model file or trees; or a function from
        features (m, n) to scores (m,). The score of a document must
        depend only on its own features.
    X : array-like of shape (m, n)
        Features of the documents. Arrays mapped from a file are read in parts.
    qid : array-like of shape (m,)
        Query of each document.
    feature_sets : sequence of sequence of int
        0-based columns of each set; a set may be empty.
    base : float or array-like of shape (n,), default 0
        Value of each feature where it is masked, for instance its mean
        over the training documents.

    Returns
    -------
    RankingValidity
        Both numbers of each set in each query.

    Raises
    ------
    ParameterError
        For columns that X does not have, or base values that are not finite.

    Notes
    -----
    Let :math:`\pi_q` be the ranking of query :math:`q` by the model, and
    :math:`\pi_q(S)` that by the same model when all features outside of :math:`S` have
    their base value in all documents. Of the :math:`n` features :math:`F`:

    .. math::
        \mathrm{validity}_q(S) = \tau(\pi_q, \pi_q(S)), \qquad
        \mathrm{completeness}_q(S) = -\tau(\pi_q, \pi_q(F \setminus S))

    Validity is 1 if the set alone ranks as all features do.
    Completeness is high if nothing of the ranking is left without the
    set: 0 if the other features do not order the documents, positive if
    they reverse the order, and
    -1 if they rank as all features do.

    :math:`\tau` is Kendall's :math:`\tau_b` of the scores. If a masked model
    gives all documents of a query the same score, :math:`\tau` is 0, as
    no pair is in the right or in the wrong order. If the model itself
    does so, both are undefined. O(S) predictions of all documents, and
    O(S m log m) for
    :math:`\tau`.

    Examples
    --------
    >>> X = np.array([[3.0, 1.0], [2.0, 0.0], [1.0, 5.0]])
    >>> result = ranking_validity(lambda X: X @ [1, 0.1], X, qid=[1, 1, 1], feature_sets=[[0], [1]])
    >>> result.validity[:, 0].round(2).tolist(), result.completeness[:, 0].round(2).tolist()
    ([1.0, -0.33], [0.33, -1.0])
    """
    check_none_missing(qid)
    features = np.asarray(X)
    if features.ndim != 2:
        raise ParameterError("X", features.shape, "a row per document")
    rows, ptr, _ = group_by_query(np.asarray(qid), len(features))
    n = features.shape[1]

    def read(part: Rows) -> Floats:
        """Return the features of documents at positions in the order of the queries."""
        # `rows` is a slice if the documents are already in this order
        positions = part if isinstance(rows, slice) else rows[part]
        return np.array(features[positions], dtype=np.float64)

    base_values = np.broadcast_to(np.asarray(base, dtype=np.float64), (n,))
    sets = [tuple(int(column) for column in columns) for columns in feature_sets]
    return finish(validity_steps(score_of(model), read, ptr, sets, base_values))


def validity_steps(
    score: Score,
    read: Read,
    ptr: Ints,
    feature_sets: Sequence[Sequence[int]],
    base: Floats,
) -> Waiting[RankingValidity]:
    """Measure how far sets of features alone explain the rankings of a model.

    Parameters
    ----------
    score : callable
        Returns the model's scores (m,) of documents from their features (m, n).
    read : callable
        Returns the features of documents by their positions, query by query.
    ptr : ndarray of shape (Q + 1,)
        Position of the first document of each query.
    feature_sets : sequence of sequence of int
        0-based columns of each set.
    base : ndarray of shape (n,)
        Value of each feature where it is masked.

    Yields
    ------
    WorkProgress
        One per set and block of queries.

    Returns
    -------
    RankingValidity
        Validity and completeness of each set in each query.
    """
    sets = _checked_sets(feature_sets, base)
    n_queries = ptr.size - 1
    validity = np.empty((len(sets), n_queries))
    completeness = np.empty((len(sets), n_queries))
    blocks = shards_of(ptr, max(1, VALUES_PER_BLOCK // max(1, base.size)))
    text = tr("masking features")

    for block in blocks:
        queries = slice(block.first_query, block.end_query)
        X = read(block.rows)
        local_ptr = ptr[block.first_query : block.end_query + 1] - block.rows.start

        # The ranking by all features, with which each other one is compared.
        scores = check_scores(score(X), len(X))

        # The labels are scores, which have no greatest grade.
        evaluator = Evaluator(scores, local_ptr, DEFAULT, [measure(_TAU)], grading=None)

        # NaN: the model gives all documents of the query the same score.
        is_ordered = ~np.isnan(evaluator.per_query(scores)[_TAU])
        for index, columns in enumerate(sets):
            # The set alone, then everything but the set.
            is_kept = np.zeros(base.size, dtype=bool)
            is_kept[list(columns)] = True
            kept_scores = check_scores(score(np.where(is_kept, X, base)), len(X))
            other_scores = check_scores(score(np.where(is_kept, base, X)), len(X))
            validity[index, queries] = _taus(evaluator, kept_scores, is_ordered)

            # a difference, as -τ would give -0.0
            completeness[index, queries] = 0.0 - _taus(
                evaluator, other_scores, is_ordered
            )
            share_of_block = (index + 1) / len(sets) * (block.end_query - queries.start)
            yield WorkProgress(text, (queries.start + share_of_block) / n_queries)

    return RankingValidity(sets, validity, completeness)


def _checked_sets(
    feature_sets: Sequence[Sequence[int]], base: Floats
) -> tuple[tuple[int, ...], ...]:
    """Return the sets of columns; raise ParameterError for unknown columns or infinite base values."""
    n = base.size
    sets = tuple(tuple(columns) for columns in feature_sets)
    if not sets or any(not 0 <= column < n for columns in sets for column in columns):
        expected = f"one list or more of columns from 0 to {n - 1}"
        raise ParameterError(
            "feature_sets", [list(columns) for columns in sets], expected
        )
    if not np.isfinite(base).all():
        raise ParameterError("base", base.tolist(), "finite numbers")
    return sets


def _taus(evaluator: Evaluator, scores: Floats, is_ordered: Bools) -> Floats:
    """Return τ_b of each query whose documents the model tells apart, NaN for the others.

    ``scores`` (m,) are those of the model with some features masked.
    ``is_ordered`` says of each query whether the whole model tells its
    documents apart. τ_b is 0 where all documents of a query have the
    same score.
    """
    taus = evaluator.per_query(scores)[_TAU]
    return np.where(is_ordered, np.nan_to_num(taus, nan=0.0), np.nan)
