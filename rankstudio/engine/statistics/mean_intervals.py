"""Student's interval and test of mean differences over queries, for many pairs of models at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.statistics._checks import checked_level

LEAST_PAIRS = 6
"""Minimum number of pairs for a test of models: with fewer, hardly any difference is significant, so that
"not significantly worse" means nothing."""


class MeanIntervals(NamedTuple):
    """Means of the differences of K pairs of models and their intervals, each of shape (K,).

    Attributes
    ----------
    mean : ndarray
        Mean over the folds of each fold's mean difference over its
        queries; NaN without a query.
    half : ndarray
        Half the length of the interval; NaN with fewer than two queries.
    """

    mean: Floats
    half: Floats

    @property
    def low(self) -> Floats:
        """Lower ends."""
        return self.mean - self.half

    @property
    def high(self) -> Floats:
        """Upper ends."""
        return self.mean + self.half


def mean_intervals(differences: Sequence[Floats], level: float = 0.95) -> MeanIntervals:
    """Return the mean of paired differences and Student's interval of it.

    The mean is taken over the queries of each fold, then over the
    folds. Query q of a fold with Q_f queries has the weight w_q = 1 /
    (F Q_f), and the standard error of the mean is √(n / (n - 1) · Σ
    w_q² (d_q - mean)²) over all n queries. For equally large folds this
    is s / √n, and the interval is that of the paired t (Student 1908),
    with n - 1 degrees of freedom.

    Parameters
    ----------
    differences : sequence of F ndarrays of shape (K, Q_f)
        Differences of K pairs of models in the queries of each fold.
        NaN marks a query without a difference; folds without any are
        left out.
    level : float, default 0.95
        Confidence, between 0 and 1.

    Returns
    -------
    MeanIntervals
        Means and half widths of their intervals, each of shape (K,);
        NaN where there are too few queries.

    Raises
    ------
    ParameterError
        For no folds, unequal numbers of pairs, infinite values, or a
        level out of range.

    Notes
    -----
    O(K n).
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - scipy, where it is needed

    level = checked_level(level)
    mean, error, n = _means(differences)
    # The quantile needs at least 1. One query has no interval.
    freedom = np.maximum(n - 1, 1).astype(np.float64)
    half = np.where(n > 1, stdtrit(freedom, (1.0 + level) / 2.0) * error, np.nan)
    return MeanIntervals(mean, half)


def mean_p_values(differences: Sequence[Floats]) -> Floats:
    """Return the two-sided p value of each mean difference by Student's paired t test.

    p is below 1 - level exactly if 0 is outside Student's confidence
    interval of the mean at that level.

    Parameters
    ----------
    differences : sequence of F ndarrays of shape (K, Q_f)
        Differences of K pairs of models in the queries of each fold,
        NaN for a query without one.

    Returns
    -------
    ndarray of shape (K,)
        1 if the models are equal in every query, and 0 if they differ
        by the same amount in every query. NaN with fewer than two
        queries.

    Raises
    ------
    ParameterError
        For no folds, unequal numbers of pairs, or infinite values.

    Notes
    -----
    O(K n).
    """
    from scipy.special import stdtr  # noqa: PLC0415 - scipy, where it is needed

    mean, error, n = _means(differences)
    # Without spread, t is 0 for a mean of 0, and infinite otherwise.
    has_spread = error > 0.0
    t = np.divide(
        np.abs(mean), error, out=np.where(mean == 0.0, 0.0, np.inf), where=has_spread
    )
    p = 2.0 * stdtr(np.maximum(n - 1, 1).astype(np.float64), -t)
    return np.where(n > 1, p, np.nan)


def _means(differences: Sequence[Floats]) -> tuple[Floats, Floats, Ints]:
    """Return (means, standard errors, numbers of queries) of paired differences, each of shape (K,).

    Folds count equally in the mean, and so do the queries of each fold.

    Parameters
    ----------
    differences : sequence of F ndarrays of shape (K, Q_f)
        For each fold, the differences of K pairs of models in its Q_f
        queries; NaN where there is no difference.

    Raises
    ------
    ParameterError
        For other shapes, or infinite values.
    """
    shapes = [np.shape(fold_differences) for fold_differences in differences]
    if not shapes or any(
        len(shape) != 2 or shape[0] != shapes[0][0] for shape in shapes
    ):
        raise ParameterError(
            "differences", shapes, "an array of shape (K, Q) for each fold"
        )
    values = np.concatenate(list(differences), axis=1)
    if np.isinf(values).any():
        raise ParameterError(
            "differences", float("inf"), "finite numbers, or NaN where there is none"
        )
    has_value = ~np.isnan(values)
    # Queries with a value, of shape (F, K); then the number of folds with any, (K,).
    sizes = np.stack(
        [
            np.count_nonzero(~np.isnan(fold_differences), axis=1)
            for fold_differences in differences
        ]
    )
    folds = np.count_nonzero(sizes, axis=0)
    # w_q = 1 / (F Q_f), for the folds and queries with values of each pair.
    share = np.divide(1.0, sizes * folds, out=np.zeros(sizes.shape), where=sizes > 0)
    weights = np.repeat(share.T, [shape[1] for shape in shapes], axis=1) * has_value
    mean = np.where(
        folds > 0, (weights * np.where(has_value, values, 0.0)).sum(axis=1), np.nan
    )
    n = sizes.sum(axis=0)
    deviations = np.where(has_value, values - mean[:, None], 0.0)
    error = np.sqrt(
        n / np.maximum(n - 1, 1) * np.square(weights * deviations).sum(axis=1)
    )
    return mean, error, n
