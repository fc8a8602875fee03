"""Paired comparison of two runs by their values of a measure in each query.

Fisher's randomisation test sums under many assignments of signs, eight
signs at a time. Wilcoxon's signed-rank test leaves zeros out and
averages ties.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arrays import Bytes, Floats, Ints
from rankstudio.engine.errors import ParameterError, between
from rankstudio.engine.statistics._checks import (
    EPS,
    ROUNDINGS,
    checked_level,
    checked_row,
    paired_rows,
)

_DRAWS_AT_ONCE = 1 << 21  # 16 MB of float64


class PairedT(NamedTuple):
    """Student's t of the differences, and its two-sided p."""

    t: float
    p: float


class WinTieLoss(NamedTuple):
    """Number of queries in which the first run is better, equal and worse."""

    wins: int
    ties: int
    losses: int


@dataclass(frozen=True)
class PairedComparison:
    """Paired comparison of two runs over queries.

    Attributes
    ----------
    mean_difference : float
        First minus second run, regardless of the direction of the measure.
    t, p_t : float
        t and p value of the paired t test.
    p_randomisation : float
        p value of the randomisation test.
    p_wilcoxon : float
        p value of Wilcoxon's signed-rank test.
    low, high : float
        Bootstrap interval of the mean difference.
    wins, ties, losses : int
        Numbers of queries in which the first run is better, equal and worse.
    n : int
        Queries in which both runs have a value. Without any, all floats
        are NaN.
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
    """Compare two runs query by query: paired tests, an interval, and counts of wins, ties and losses.

    Parameters
    ----------
    a, b : array-like of shape (Q,)
        Values of one measure in the same queries, in the same order.
        Queries with NaN in either run (such as the disagreement error
        of a query without a pair) are left out.
    level : float, default 0.95
        Confidence of the interval, between 0 and 1.
    n_assignments : int, default 100000
        Number of sign assignments in the randomisation test, 1 or more.
    n_resamples : int, default 10000
        Number of samples of the bootstrap, 1 or more.
    seed : int, default 0
        Seed of the drawn assignments and of the bootstrap, 0 or more.
        Equal seeds give equal results.
    tolerance : float, default 1e-12
        Maximum difference of two values that count as a tie.
    higher_is_better : bool, default True
        Whether the larger value of a query wins.

    Returns
    -------
    PairedComparison

    Raises
    ------
    ParameterError
        For rows of different lengths, infinite values, or a parameter
        out of range.

    Notes
    -----
    O((R / 8 + B) Q) for R assignments and B samples.
    """
    left, right = paired_rows(a, b)
    t, p_t = paired_t(left, right)
    p_randomisation = randomisation(left, right, n_assignments, seed)
    p_wilcoxon = signed_ranks(left, right).p
    low, high = bootstrap_interval(left, right, level, n_resamples, seed)
    wins, ties, losses = win_tie_loss(
        left, right, tolerance, higher_is_better=higher_is_better
    )
    return PairedComparison(
        mean_difference=float(np.mean(left - right)) if left.size else np.nan,
        t=t,
        p_t=p_t,
        p_randomisation=p_randomisation,
        p_wilcoxon=p_wilcoxon,
        low=low,
        high=high,
        wins=wins,
        ties=ties,
        losses=losses,
        n=left.size,
    )


def paired_t(a: ArrayLike, b: ArrayLike) -> PairedT:
    """Test with Student's paired t, two-sided, whether the mean difference over all queries is 0.

    t = mean(d) / (s / √Q) for differences d with standard deviation s
    (Q - 1 in its denominator), against Student's distribution with Q -
    1 degrees of freedom (Student 1908).

    ``a`` and ``b`` have shape (Q,): the values of two runs in the same
    queries. A query with NaN in either is left out.

    Returns
    -------
    PairedT
        p in [0, 1]; 0 only if it underflows. If the differences vary
        only by rounding, or there is a single query, there is no
        standard error: t = 0 and p = 1, even if the runs differ by a
        constant. NaN without a query.
    """
    from scipy.special import stdtr  # noqa: PLC0415 - scipy, where it is needed; scipy.stats takes a second

    left, right = paired_rows(a, b)
    if left.size == 0:
        return PairedT(np.nan, np.nan)
    difference = left - right
    # Differences that vary only by the rounding of the values have no standard error.
    spread = float(np.ptp(difference))
    if spread <= ROUNDINGS * EPS * float(np.maximum(np.abs(left), np.abs(right)).max()):
        return PairedT(0.0, 1.0)
    # Scaling by a power of two keeps all digits, and keeps squares of
    # tiny numbers from underflowing.
    _, exponent = np.frexp(np.abs(difference).max())
    difference = np.ldexp(difference, -int(exponent))
    t = float(np.mean(difference) / np.sqrt(np.var(difference, ddof=1) / left.size))
    return PairedT(t, float(2.0 * stdtr(left.size - 1, -abs(t))))


def bootstrap_interval(
    a: ArrayLike, b: ArrayLike, level: float = 0.95, n: int = 10_000, seed: int = 0
) -> tuple[float, float]:
    """Return a confidence interval of the mean difference: the percentile bootstrap over queries.

    Queries are drawn with replacement, as many as there are; the
    interval contains the middle part of the mean differences of the
    samples (Efron 1979; Efron & Tibshirani 1993, chapter 13).

    Parameters
    ----------
    a, b : array-like of shape (Q,)
        Values of two runs in the same queries. Queries with NaN in
        either are left out.
    level : float
        Confidence, between 0 and 1.
    n : int
        Number of samples.
    seed : int
        Seed of the draw, 0 or more.

    Returns
    -------
    low, high : float
        NaN without a query.

    Notes
    -----
    O(nQ). With few queries the interval is slightly too narrow, because
    the sample's standard deviation, with denominator Q, replaces the
    population's.
    """
    level = checked_level(level)
    n = between("n", n, 1)
    seed = between("seed", seed, 0)
    left, right = paired_rows(a, b)
    if left.size == 0:
        return np.nan, np.nan
    difference = left - right
    rng = np.random.default_rng(seed)
    # Samples at a time, to save memory; each row of ``drawn`` is one.
    at_once = max(1, _DRAWS_AT_ONCE // difference.size)
    means = np.empty(n)
    for first in range(0, n, at_once):
        batch = means[first : first + at_once]
        drawn = rng.integers(
            0, difference.size, (batch.size, difference.size), dtype=np.int32
        )
        batch[:] = difference[drawn].mean(axis=1)
    low, high = np.quantile(means, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(low), float(high)


def mean_difference(a: ArrayLike, b: ArrayLike) -> tuple[float, float, float]:
    """Return the mean difference of two runs, first minus second, with its bootstrap interval.

    ``a`` and ``b`` have shape (Q,): the values of the two runs in the
    same queries. The result is (mean, lower limit, upper limit) with
    the interval of 95 %. All are NaN without a query with values of
    both runs.
    """
    left, right = paired_rows(a, b)
    mean = float(np.mean(left - right)) if left.size else np.nan
    return (mean, *bootstrap_interval(left, right))


def win_tie_loss(
    a: ArrayLike,
    b: ArrayLike,
    tolerance: float = 1e-12,
    *,
    higher_is_better: bool = True,
) -> WinTieLoss:
    """Count the queries in which the first run is better, equal and worse.

    Parameters
    ----------
    a, b : array-like of shape (Q,)
        Values of two runs in the same queries. Queries with NaN in
        either are left out.
    tolerance : float
        Values that differ by at most this count as equal.
    higher_is_better : bool
        Whether larger values are better.
    """
    if not 0 <= tolerance < np.inf:
        raise ParameterError("tolerance", tolerance, "a finite number from 0 up")
    left, right = paired_rows(a, b)
    gain = left - right if higher_is_better else right - left
    wins = int(np.sum(gain > tolerance))
    losses = int(np.sum(gain < -tolerance))
    return WinTieLoss(wins, gain.size - wins - losses, losses)


def holm(p_values: ArrayLike) -> Floats:
    """Adjust the p values of several tests so that their familywise error is at most the level.

    The level is the one with which the adjusted values are compared.
    With p_(j) the jth smallest of m values, the ith smallest becomes
    the maximum over j <= i of min(1, (m - j + 1) p_(j)) (Holm 1979).
    The adjustment is valid for any dependence between the tests.

    Parameters
    ----------
    p_values : array-like of shape (c,)
        p value of each test, in [0, 1]. NaN means no test: it stays NaN
        and does not count.

    Returns
    -------
    ndarray of shape (c,)
        Adjusted p values in the order of the input, never below those
        of the input.

    Raises
    ------
    ParameterError
        For a value outside of [0, 1].
    """
    p = checked_row("p_values", p_values)
    tested = np.flatnonzero(~np.isnan(p))
    if np.any((p[tested] < 0) | (p[tested] > 1)):
        raise ParameterError("p_values", p.tolist(), "numbers from 0 to 1, or NaN")
    # Positions by ascending p; the smallest of m is multiplied by m, the next by m - 1.
    order = tested[np.argsort(p[tested], kind="stable")]
    adjusted = np.full(p.size, np.nan)
    factors = np.arange(order.size, 0, -1)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, factors * p[order]))
    return adjusted


# Together, these keep the memory of a test below 50 MB.
_BYTES_AT_ONCE = 1 << 24
# assignments of signs at a time, so that memory does not grow with 2^n
_ASSIGNMENTS_AT_ONCE = 1 << 20
# The signs of eight differences for each byte, shape (256, 8): -1 for a
# bit that is set.
_SIGNS = 1.0 - 2.0 * np.unpackbits(
    np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little"
)


def randomisation(a: ArrayLike, b: ArrayLike, n: int = 100_000, seed: int = 0) -> float:
    """Test with Fisher's randomisation, two-sided, whether the two runs are exchangeable in every query.

    If the runs are exchangeable, each difference could have had the
    opposite sign. The p value is the share of sign assignments whose
    mean is at least as far from 0 as the observed one.

    Parameters
    ----------
    a, b : array-like of shape (Q,)
        Values of two runs in the same queries. Queries with NaN in
        either are left out.
    n : int, default 100000
        Number of assignments of signs drawn, 1 or more. If only n or
        fewer assignments exist (2^Q), all are counted and p is exact.
        Queries with difference 0 do not count in Q, because their sign
        has no effect.
    seed : int, default 0
        Seed of the draw, 0 or more.

    Returns
    -------
    float
        The p value. It is (count + 1) / (n + 1) if assignments are
        drawn, because the observed one is among the possible ones;
        never 0. 1 if all differences are 0. NaN without a query.

    Notes
    -----
    O(nQ / 8): sums of eight differences at a time come from a table of
    their 256 sign combinations. Means that differ by no more than
    rounding count as equal; ties are common, because measures such as
    P@10 take few values.

    References
    ----------
    Fisher (1935), The Design of Experiments, section 21. Smucker, Allan
    & Carterette (2007), A comparison of statistical significance tests
    for information retrieval evaluation, CIKM.
    """
    n = between("n", n, 1)
    seed = between("seed", seed, 0)
    left, right = paired_rows(a, b)
    if left.size == 0:
        return np.nan
    difference = left - right
    # An assignment counts if its sum is at least as far from 0 as the
    # observed one, up to rounding.
    rounding = (
        (left.size + ROUNDINGS) * EPS * float(np.sum(np.abs(left) + np.abs(right)))
    )
    least_sum = abs(float(difference.sum())) - rounding
    difference = difference[difference != 0.0]
    is_exact = difference.size < n.bit_length()  # 2^Q <= n, without the power
    # Each block of draws has a byte of eight signs per table and assignment.
    tables = _tables_of_eight(difference)
    draws = (
        _all_signs(difference.size) if is_exact else _random_signs(n, len(tables), seed)
    )
    count = sum(
        int(np.count_nonzero(np.abs(_signed_sums(tables, codes)) >= least_sum))
        for codes in draws
    )
    return count / 2**difference.size if is_exact else (count + 1) / (n + 1)


def _tables_of_eight(difference: Floats) -> Floats:
    """Return the sum of each eight differences under each of 256 assignments of signs, shape (Q / 8, 256)."""
    padded = np.zeros(-(-difference.size // 8) * 8)
    padded[: difference.size] = difference
    tables: Floats = padded.reshape(-1, 8) @ _SIGNS.T
    return tables


def _signed_sums(tables: Floats, codes: Bytes) -> Floats:
    """Return the sum of all differences under each assignment of signs.

    ``tables`` has, for each eight differences, their sums with each of
    the 256 combinations of signs. ``codes`` has shape (tables,
    assignments): the byte that says which combination of a table an
    assignment uses.
    """
    sums = np.zeros(codes.shape[1])
    for table, code in zip(tables, codes, strict=True):
        sums += table[code]
    return sums


def _all_signs(n_differences: int) -> Iterator[Bytes]:
    """Yield every assignment of signs to Q differences once, in blocks.

    A block has shape (Q / 8, assignments): each byte has the signs of
    eight differences. ``n_differences`` is Q.
    """
    n_tables = -(-n_differences // 8)  # rounded up
    for first in range(0, 2**n_differences, _ASSIGNMENTS_AT_ONCE):
        last = min(first + _ASSIGNMENTS_AT_ONCE, 2**n_differences)
        # little-endian: byte i has the signs for table i
        numbers = np.arange(first, last, dtype="<u8")
        yield numbers.view(np.uint8).reshape(-1, 8)[:, :n_tables].T


def _random_signs(n: int, n_tables: int, seed: int) -> Iterator[Bytes]:
    """Yield n random assignments of signs to differences, in blocks.

    A block has shape (``n_tables``, assignments): each byte has the
    signs of eight differences. Equal seeds give equal assignments.
    """
    rng = np.random.default_rng(seed)
    at_once = max(1, min(_ASSIGNMENTS_AT_ONCE, _BYTES_AT_ONCE // n_tables))
    for first in range(0, n, at_once):
        yield rng.integers(0, 256, (n_tables, min(at_once, n - first)), dtype=np.uint8)


# number of differences up to which every assignment of signs is counted
_MAX_EXACT_SIZE = 50


class SignedRanks(NamedTuple):
    """The sum of the ranks of positive differences, its two-sided p, and the number of ranked differences."""

    positive: float
    p: float
    n: int


def signed_ranks(a: ArrayLike, b: ArrayLike) -> SignedRanks:
    """Test with Wilcoxon's signed ranks, two-sided, whether differences are symmetric about 0.

    The absolute differences are ranked, and each rank has the sign of
    its difference. Queries without a difference are removed first, as
    in Wilcoxon, and equal absolute differences share the mean of their
    ranks. Differences within rounding count as equal, and as 0.

    ``a`` and ``b`` have shape (Q,): the values of two runs in the same
    queries, of which those with NaN in either are left out.

    Returns
    -------
    SignedRanks
        The sum of the ranks of positive differences, p, and the number
        of ranked differences. For up to 50 differences p is the share
        of all 2^n sign assignments whose sum of positive ranks is at
        least as far from its mean n(n + 1) / 4 as the observed sum,
        with or without ties; for more it is that of the normal
        distribution with the same variance, a quarter of the sum of
        squared ranks. p is 1 if all differences are 0, and NaN without
        a query.

    Notes
    -----
    O(n log n), plus O(n³) integer operations for up to 50 differences.

    SciPy's ``wilcoxon`` counts sign assignments as if there were no
    ties, which are frequent in measures, and treats rounding errors as
    differences.

    References
    ----------
    Wilcoxon (1945), Individual comparisons by ranking methods,
    Biometrics Bulletin 1. Pratt & Gibbons (1981), Concepts of
    Nonparametric Theory, chapter 3.
    """
    left, right = paired_rows(a, b)
    if left.size == 0:
        return SignedRanks(np.nan, np.nan, 0)
    difference = left - right
    rounding = ROUNDINGS * EPS * float(np.maximum(np.abs(left), np.abs(right)).max())
    difference = difference[np.abs(difference) > rounding]
    # Twice the ranks are whole numbers, also for ties.
    doubled = doubled_ranks(np.abs(difference), rounding)
    positive = int(doubled[difference > 0].sum())
    p = (
        _exact_p(doubled, positive)
        if difference.size <= _MAX_EXACT_SIZE
        else _normal_p(doubled, positive)
    )
    return SignedRanks(positive / 2, p, difference.size)


def doubled_ranks(sizes: Floats, rounding: float) -> Ints:
    """Return twice the rank, from 1, of each of n numbers from 0 up.

    Numbers that differ by no more than ``rounding`` from the next one
    share the mean of their ranks. Twice that is a whole number.
    """
    order = np.argsort(sizes, kind="stable")
    begins_group = np.diff(sizes[order], prepend=-np.inf) > rounding
    group = np.cumsum(begins_group) - 1
    # The last rank of a group is the number of numbers up to its end.
    # Without numbers there is no group, and the array of groups is
    # empty, too.
    last_ranks = np.cumsum(np.bincount(group)) if sizes.size else group
    first_ranks = np.concatenate(([0], last_ranks))[: last_ranks.size] + 1
    ranks = np.empty(sizes.size, dtype=np.int64)
    # The first rank of a group plus the last one is twice their mean.
    ranks[order] = (last_ranks + first_ranks)[group]
    return ranks


def _exact_p(doubled: Ints, positive: int) -> float:
    """Return the exact p of Wilcoxon's test.

    The p is the share of all assignments of signs to the ranks whose
    sum of positive ranks is at least as far from its mean as the
    observed sum.

    Parameters
    ----------
    doubled : ndarray of shape (n,)
        Twice the rank of each of n differences.
    positive : int
        Twice the sum of the ranks of positive differences.
    """
    total = int(doubled.sum())
    # The number of assignments of the ranks so far, at most 2^50, by
    # the sum of the positive ranks.
    counts = np.zeros(total + 1, dtype=np.int64)
    counts[0] = 1
    # The next rank is negative, which keeps the sum, or positive, which adds to it.
    for rank in doubled.tolist():
        counts[rank:] += counts[: total + 1 - rank].copy()
    # Twice the distance of each sum from the mean, half of the total.
    is_far = np.abs(2 * np.arange(total + 1) - total) >= abs(2 * positive - total)
    return int(counts[is_far].sum()) / (1 << doubled.size)


def _normal_p(doubled: Ints, positive: int) -> float:
    """Return the two-sided p of Wilcoxon's test by the normal distribution.

    The distribution has the mean and variance that the sum of positive
    ranks has under random signs. ``doubled`` has twice the rank of each
    difference, and ``positive`` is twice the sum of the ranks of
    positive differences.
    """
    from scipy.special import ndtr  # noqa: PLC0415 - scipy, where it is needed

    distance = abs(2.0 * positive - float(doubled.sum()))
    spread = float(np.sqrt(np.sum(doubled.astype(np.float64) ** 2)))
    return min(1.0, 2.0 * float(ndtr(-distance / spread)))
