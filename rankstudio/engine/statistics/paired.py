"""Paired comparison of two runs by their values of a measure in each query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.statistics._checks import EPS, ROUNDINGS, confidence, paired_rows, row, whole
from rankstudio.engine.statistics.randomisation import randomisation
from rankstudio.engine.statistics.signed_ranks import signed_ranks

_DRAWS_AT_ONCE = 1 << 21


class PairedT(NamedTuple):
    """Student's t of the differences, and its two-sided p."""

    t: float
    p: float


class WinTieLoss(NamedTuple):
    """In how many queries the first run is better, equal and worse."""

    wins: int
    ties: int
    losses: int


@dataclass(frozen=True)
class PairedComparison:
    """What the queries say about the difference of two runs.

    Attributes
    ----------
    mean_difference : float
        First minus second run, whichever direction of the measure is better.
    t, p_t : float
        Of :func:`paired_t`.
    p_randomisation : float
        Of :func:`rankstudio.engine.statistics.randomisation.randomisation`.
    p_wilcoxon : float
        Of :func:`rankstudio.engine.statistics.signed_ranks.signed_ranks`.
    low, high : float
        Of :func:`bootstrap_interval`.
    wins, ties, losses : int
        Of the first run.
    n : int
        Queries in which both runs have a value. With none, every float here is NaN.
    """

    mean_difference: float
    t: float
    p_t: float
    p_randomisation: float
    p_wilcoxon: float
    low: float
    high: float
    wins: int
    ties: int
    losses: int
    n: int


def compare_paired(
    a: ArrayLike,
    b: ArrayLike,
    *,
    level: float = 0.95,
    n_assignments: int = 100_000,
    n_resamples: int = 10_000,
    seed: int = 0,
    tolerance: float = 1e-12,
    higher_is_better: bool = True,
) -> PairedComparison:
    """Compare two runs query by query: paired tests, an interval, and in how many queries each is better.

    Parameters
    ----------
    a, b : array-like of shape (Q,)
        Values of one measure, in the same queries in the same order. A query in which either is NaN (the
        disagreement error of a query without a pair) is left out.
    level : float, default 0.95
        Confidence of the interval, between 0 and 1.
    n_assignments : int, default 100000
        Assignments of signs in the randomisation test, 1 or more.
    n_resamples : int, default 10000
        Samples of the bootstrap, 1 or more.
    seed : int, default 0
        Of both, 0 or more. Equal seeds give equal results.
    tolerance : float, default 1e-12
        Up to which difference a query is a tie.
    higher_is_better : bool, default True
        What a win is.

    Returns
    -------
    PairedComparison

    Raises
    ------
    ParameterError
        For rows of unequal length, infinite values, or a parameter outside its range.

    Notes
    -----
    O((R / 8 + B) Q) for R assignments and B samples.
    """
    left, right = paired_rows(a, b)
    return PairedComparison(
        float(np.mean(left - right)) if left.size else np.nan,
        *paired_t(left, right),
        randomisation(left, right, n_assignments, seed),
        signed_ranks(left, right).p,
        *bootstrap_interval(left, right, level, n_resamples, seed),
        *win_tie_loss(left, right, tolerance, higher_is_better=higher_is_better),
        left.size,
    )


def paired_t(a: ArrayLike, b: ArrayLike) -> PairedT:
    """Test by Student's paired t, two-sided, that the mean difference over all queries is 0.

    t = mean(d) / (s / √Q) for differences d with standard deviation s (Q - 1 in its denominator), against
    Student's distribution with Q - 1 degrees of freedom (Student 1908).

    Rows and errors are those of :func:`compare_paired`.

    Returns
    -------
    PairedT
        p in [0, 1]; it is 0 only where it is less than the least floating-point number. Where the
        differences do not vary beyond rounding, or there is one query only, there is no error to hold the
        mean against: t = 0 and p = 1, even if the runs differ by a constant. NaN without a query.
    """
    from scipy.stats import ttest_rel  # noqa: PLC0415 - scipy, where it is needed

    left, right = paired_rows(a, b)
    if left.size == 0:
        return PairedT(np.nan, np.nan)
    difference = left - right
    spread = float(np.ptp(difference))
    if spread <= ROUNDINGS * EPS * float(np.maximum(np.abs(left), np.abs(right)).max()):
        return PairedT(0.0, 1.0)
    # A power of two keeps the digits, and the squares of the smallest numbers from vanishing.
    exponent = -int(np.frexp(np.abs(difference).max())[1])
    found = ttest_rel(np.ldexp(left, exponent), np.ldexp(right, exponent))
    return PairedT(float(found.statistic), float(found.pvalue))


def bootstrap_interval(
    a: ArrayLike, b: ArrayLike, level: float = 0.95, n: int = 10_000, seed: int = 0
) -> tuple[float, float]:
    """Return a confidence interval of the mean difference: the percentile bootstrap over queries.

    Queries are drawn with replacement, as many as there are; the interval holds the middle part of the mean
    differences of the samples (Efron 1979; Efron & Tibshirani 1993, chapter 13).

    Rows, level, n samples, seed and errors are those of :func:`compare_paired`.

    Returns
    -------
    low, high : float
        NaN without a query.

    Notes
    -----
    O(nQ). With few queries the interval is a little too short: the sample's standard deviation, with Q in
    its denominator, takes the place of the population's.
    """
    level, n, seed = confidence(level), whole("n", n, 1), whole("seed", seed, 0)
    left, right = paired_rows(a, b)
    if left.size == 0:
        return np.nan, np.nan
    difference = left - right
    rng = np.random.default_rng(seed)
    at_once = max(1, _DRAWS_AT_ONCE // difference.size)
    means = np.empty(n)
    for first in range(0, n, at_once):
        some = means[first : first + at_once]
        drawn = rng.integers(0, difference.size, (some.size, difference.size), dtype=np.int32)
        some[:] = difference[drawn].mean(axis=1)
    low, high = np.quantile(means, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(low), float(high)


def win_tie_loss(
    a: ArrayLike, b: ArrayLike, tolerance: float = 1e-12, *, higher_is_better: bool = True
) -> WinTieLoss:
    """Count the queries in which the first run is better, equal and worse.

    Parameters and errors are those of :func:`compare_paired`.
    """
    if not 0 <= tolerance < np.inf:
        raise ParameterError("tolerance", tolerance, "a finite number from 0 up")
    left, right = paired_rows(a, b)
    gain = left - right if higher_is_better else right - left
    wins, losses = int(np.sum(gain > tolerance)), int(np.sum(gain < -tolerance))
    return WinTieLoss(wins, gain.size - wins - losses, losses)


def holm(p_values: ArrayLike) -> Floats:
    """Adjust the p-values of several tests, so that all of them together err with their level at most.

    The ith smallest of m becomes max over j <= i of min(1, (m - j + 1) p_(j)) (Holm 1979). It holds whatever
    the dependence of the tests.

    Parameters
    ----------
    p_values : array-like of shape (c,)
        In [0, 1]. A NaN is no test: it stays NaN and does not count.

    Returns
    -------
    ndarray of shape (c,)
        In the order of the input, never below it.

    Raises
    ------
    ParameterError
        For a value outside [0, 1].
    """
    p = row("p_values", p_values)
    there = np.flatnonzero(~np.isnan(p))
    if np.any((p[there] < 0) | (p[there] > 1)):
        raise ParameterError("p_values", p.tolist(), "numbers from 0 to 1, or NaN")
    order = there[np.argsort(p[there], kind="stable")]
    adjusted = np.full(p.size, np.nan)
    factors = np.arange(order.size, 0, -1)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, factors * p[order]))
    return adjusted
