"""The area under the ROC curve of predictions of documents that were held out (Airola 2011, section 5.4).

With labels of more than two values it is the share of pairs of
different labels that are in the right order; pairs of equal scores
count half.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.statistics._checks import checked_row


def pooled_auc(scores: ArrayLike, labels: ArrayLike) -> float:
    """Return the AUC over all pairs of documents, whichever models predicted their scores.

    The AUC is the share of pairs of documents with different labels in
    which the one with the higher label has the higher score; equal
    scores count half.

    Parameters
    ----------
    scores : array-like of shape (m,)
        Score of each document, by the model trained without its fold.
    labels : array-like of shape (m,)
        Label of each document.

    Returns
    -------
    float
        NaN if all labels are equal.

    Notes
    -----
    O(cm log m) for c distinct labels.
    """
    score_vector, truth = _score_and_label_vectors(scores, labels)
    n_right, n_pairs = _ordered_pairs(score_vector, truth)
    return n_right / n_pairs if n_pairs else float("nan")


def averaged_auc(scores: ArrayLike, labels: ArrayLike, folds: ArrayLike) -> float:
    """Return the AUC over all pairs of documents of the same fold.

    The AUC is the share of pairs of documents with different labels in
    which the one with the higher label has the higher score. Equal
    scores count half. Only pairs of documents of one fold are compared:
    their scores come from the same model.

    Parameters
    ----------
    scores, labels : array-like of shape (m,)
        Score and label of each document.
    folds : array-like of shape (m,)
        Fold of each document.

    Returns
    -------
    float
        Every pair within a fold counts once; folds with a single label
        do not count. NaN if no fold has two labels.
    """
    score_vector, truth = _score_and_label_vectors(scores, labels)
    groups = np.asarray(folds)
    if groups.shape != truth.shape:
        raise ParameterError(
            "folds", groups.shape, f"the fold of each of {truth.size} documents"
        )
    n_right = 0.0
    n_pairs = 0
    for group in np.unique(groups):
        is_in_fold = groups == group
        fold_right, fold_pairs = _ordered_pairs(
            score_vector[is_in_fold], truth[is_in_fold]
        )
        n_right += fold_right
        n_pairs += fold_pairs
    return n_right / n_pairs if n_pairs else float("nan")


def pair_auc(held_out: ArrayLike, labels: ArrayLike) -> float:
    """Return the AUC of leave-pair-out: a model trained without a pair ranks this pair.

    The AUC is the share of pairs of documents with different labels in
    which the document with the higher label has the higher score.

    Parameters
    ----------
    held_out : array-like of shape (m, m)
        Entry (i, j) is the score of document i by the model trained
        without the documents i and j.
    labels : array-like of shape (m,)
        Label of each document.

    Returns
    -------
    float
        NaN if all labels are equal.
    """
    truth = checked_row("labels", labels)
    scores = np.asarray(held_out, dtype=np.float64)
    if scores.shape != (truth.size, truth.size):
        raise ParameterError(
            "held_out", scores.shape, f"a matrix of {truth.size} rows and columns"
        )
    # Entry (i, j) is whether i has the higher label. The scores of i
    # and of j are entries (i, j) of the scores and of their transpose;
    # equal ones count half.
    higher = truth[:, None] > truth
    right = np.heaviside(scores[higher] - scores.T[higher], 0.5)
    return float(right.mean()) if right.size else float("nan")


def auc_interval(
    scores: ArrayLike, relevant: ArrayLike, level: float = 0.95
) -> tuple[float, float]:
    """Return a confidence interval of the AUC by the variance of DeLong, DeLong and Clarke-Pearson (1988).

    Parameters
    ----------
    scores : array-like of shape (m,)
        Scores of one model for documents it was not trained on.
    relevant : array-like of shape (m,), bool
        Whether each document is relevant.
    level : float, default 0.95
        Coverage, between 0 and 1.

    Returns
    -------
    low, high : float
        Within 0 … 1; NaN with fewer than two relevant or two other documents.

    Notes
    -----
    With V_i, the share of irrelevant documents below a relevant one,
    and W_j, the share of relevant documents above an irrelevant one,
    ties one half, the variance is s²(V) / m₊ + s²(W) / m₋: O(m log m).
    If all pairs are in the right order, the interval is a single point,
    even for few pairs.
    """
    return mean_auc_interval([(scores, relevant)], level)


def mean_auc_interval(
    rankings: Sequence[tuple[ArrayLike, ArrayLike]], level: float = 0.95
) -> tuple[float, float]:
    """Return a confidence interval of the mean AUC of models, each on documents of its own.

    Parameters
    ----------
    rankings : sequence of (array-like, array-like)
        For each model, the scores of its documents, and whether each of
        them is relevant.
    level : float, default 0.95
        Coverage, between 0 and 1.

    Returns
    -------
    low, high : float
        Within 0 … 1; NaN if a model has fewer than two relevant or two
        other documents.

    Notes
    -----
    The models are fixed: their documents differ, so the variance of the
    sum is the sum of the variances. The interval does not include how
    other training documents would change the models.
    """
    if not 0 < level < 1:
        raise ParameterError("level", level, "a number between 0 and 1")
    # A row (AUC, variance) for each model; shape (0, 2) without models.
    estimates = np.array(
        [_area_and_variance(*ranking) for ranking in rankings]
    ).reshape(-1, 2)
    if not len(estimates) or np.isnan(estimates).any():
        return float("nan"), float("nan")
    areas = estimates[:, 0]
    variances = estimates[:, 1]
    half_width = (
        NormalDist().inv_cdf((1 + level) / 2)
        * float(np.sqrt(variances.sum()))
        / len(estimates)
    )
    centre = float(areas.mean())
    return max(0.0, centre - half_width), min(1.0, centre + half_width)


def _area_and_variance(scores: ArrayLike, relevant: ArrayLike) -> tuple[float, float]:
    """Return (AUC, variance of it by DeLong's formula) of a ranking.

    ``scores`` and ``relevant`` (whether each document is relevant) have
    shape (m,). Return NaN with fewer than two relevant or two other
    documents.
    """
    truth = np.asarray(relevant, dtype=np.bool_)
    score_vector = checked_row("scores", scores, truth.size)
    higher = np.sort(score_vector[truth])
    lower = np.sort(score_vector[~truth])
    if min(higher.size, lower.size) < 2:
        return float("nan"), float("nan")
    # For each relevant document, the share of others with lower scores;
    # then, for each other document, the share of relevant ones with
    # higher scores. An equal score counts half.
    above = _counts_below(higher, lower) / lower.size
    below = 1.0 - _counts_below(lower, higher) / higher.size
    variance = above.var(ddof=1) / higher.size + below.var(ddof=1) / lower.size
    return float(above.mean()), float(variance)


def _counts_below(values: Floats, sorted_values: Floats) -> Floats:
    """Return the number of sorted values below each value; an equal value counts half."""
    twice = np.searchsorted(sorted_values, values, "left") + np.searchsorted(
        sorted_values, values, "right"
    )
    return np.asarray(twice / 2.0)


def _score_and_label_vectors(
    scores: ArrayLike, labels: ArrayLike
) -> tuple[Floats, Floats]:
    """Return scores and labels as arrays of equal length."""
    truth = checked_row("labels", labels)
    return checked_row("scores", scores, truth.size), truth


def _ordered_pairs(scores: Floats, labels: Floats) -> tuple[float, int]:
    """Return (number of pairs in the right order, number of pairs).

    A pair is two documents with different labels. Equal scores count
    half. ``scores`` and ``labels`` have a number for each document; the
    order is right if the document with the higher label has the higher
    score.
    """
    n_right = 0.0
    n_pairs = 0
    for label in np.unique(labels)[:-1]:
        below = np.sort(scores[labels == label])
        above = scores[labels > label]
        # The sum of both positions counts a lower score twice, an equal one once.
        doubled_counts = np.searchsorted(below, above, "left") + np.searchsorted(
            below, above, "right"
        )
        n_right += float(doubled_counts.sum()) / 2.0
        n_pairs += below.size * above.size
    return n_right, n_pairs
