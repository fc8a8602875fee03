"""Rank tests of several methods on several datasets: numbers from a table with one value per cell.

Each dataset ranks the methods; rank 1 is the best, and equal values
share the mean of their ranks. Friedman's test asks whether the mean
ranks differ at all, Nemenyi's and Wilcoxon's tests ask which ones
differ, and the Bayesian signed-rank test gives the probability that one
method is better, or that the two are practically equivalent.

SciPy has the distributions. ``baycomp`` and ``scikit-posthocs`` compute
the same numbers, but are no dependencies: the first has not changed
since 2023, and the second needs statsmodels and seaborn. Wilcoxon's
test is that of
:mod:`rankstudio.engine.statistics.paired`: datasets without a difference are
removed, and p is exact for up to 50 datasets, with or without ties.

References
----------
Demšar, J. (2006). Statistical comparisons of classifiers over multiple data
sets. Journal of Machine Learning Research 7, 1-30. Iman, R. L. and Davenport,
J. M. (1980). Approximations of the critical region of the Friedman statistic.
Communications in Statistics A9, 571-595. Benavoli, A., Corani, G., Demšar, J.
and Zaffalon, M. (2017). Time for a change: a tutorial for comparing multiple
classifiers through Bayesian analysis. Journal of Machine Learning Research 18
(77), 1-36.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import ParameterError, between
from rankstudio.engine.statistics._checks import EPS, ROUNDINGS, checked_level

ROPE = 0.01
"""Default region of practical equivalence: half its width, in units of the measure."""

PRIOR_STRENGTH = 0.5
"""Weight of the pseudo-observation without a difference, relative to that of a dataset."""

N_SAMPLES = 50_000
"""Default number of samples of the posterior distribution."""

_WEIGHTS_AT_ONCE = 1 << 16  # of samples, which then stay in the cache


class FriedmanTest(NamedTuple):
    """Friedman's test of equal mean ranks, by its chi-square and by Iman and Davenport's F.

    Attributes
    ----------
    chi_square, p_chi_square : float
        Friedman's statistic and its p, as Demšar prints them: without a
        correction for ties.
    chi_square_ties, p_ties : float
        The same with the correction for ties; NaN if all values of each
        dataset are equal.
    f, p_f : float
        Iman and Davenport's statistic and its p, from the chi-square
        without the correction. If all datasets rank the methods
        equally, F is infinite and p is the chance of that, (1 / k!)^(N
        - 1).
    """

    chi_square: float
    p_chi_square: float
    chi_square_ties: float
    p_ties: float
    f: float
    p_f: float


@dataclass(frozen=True)
class MethodPair:
    """Tests of two methods over the datasets.

    Attributes
    ----------
    first, second : int
        Columns of the two methods.
    rank_difference : float
        Mean rank of the first minus that of the second: negative if the
        first is better.
    p_nemenyi : float
        p of Nemenyi's test, which corrects for all pairs.
    p_wilcoxon, p_holm : float
        p of Wilcoxon's signed ranks, and the same with Holm's correction for all pairs.
    n_differences : int
        Number of datasets on which the two methods differ; the others
        are removed from Wilcoxon's test.
    """

    first: int
    second: int
    rank_difference: float
    p_nemenyi: float
    p_wilcoxon: float
    p_holm: float
    n_differences: int


class PosteriorProbabilities(NamedTuple):
    """Probabilities that the first method is better, that both are equivalent, that the second is better."""

    first: float
    equivalent: float
    second: float


def ranks_by_dataset(values: ArrayLike, *, higher_is_better: bool = True) -> Floats:
    """Rank the methods on each dataset, from 1 for the best; equal values share the mean of their ranks.

    Parameters
    ----------
    values : array-like of shape (N, k)
        Value of each of k methods on each of N datasets.
    higher_is_better : bool, default True
        Whether the best method has the greatest value.

    Returns
    -------
    ndarray of shape (N, k)
        Ranks; values that differ by no more than rounding are equal.

    Raises
    ------
    ParameterError
        For another shape, no dataset or method, or values that are not finite.

    Notes
    -----
    O(N k log k).
    """
    from rankstudio.engine.statistics.paired import doubled_ranks  # noqa: PLC0415 - numba

    table = _checked_table(values)
    sign = -1.0 if higher_is_better else 1.0

    # Mean ranks of equal values are multiples of 1/2, so that doubled ones are whole.
    rows = [
        doubled_ranks(sign * row, ROUNDINGS * EPS * float(np.abs(row).max())) / 2
        for row in table
    ]
    return np.array(rows)


def _checked_table(values: ArrayLike) -> Floats:
    """Return values as a matrix; ParameterError unless it is one of finite numbers."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise ParameterError(
            "values",
            table.shape,
            "a table with a row per dataset and a column per method",
        )
    infinite = table[~np.isfinite(table)]
    if infinite.size:
        raise ParameterError("values", float(infinite[0]), "finite numbers")
    return table


def friedman(ranks: ArrayLike) -> FriedmanTest:
    """Test whether the mean ranks of the methods differ.

    Parameters
    ----------
    ranks : array-like of shape (N, k)
        Rank of each of k methods on each of N datasets; equal values
        share the mean of their ranks.

    Returns
    -------
    FriedmanTest
        All NaN for fewer than two datasets or methods.

    Notes
    -----
    With mean ranks R_j, chi² = 12 N / (k (k + 1)) (Σ R_j² - k (k + 1)²
    / 4) with k - 1 degrees of freedom, and F = (N - 1) chi² / (N (k -
    1) - chi²) with k - 1 and (k - 1)(N - 1) (Demšar 2006, section
    3.2.2). The chi-square distribution is an approximation for N > 10
    and k > 5.
    """
    from scipy.special import chdtrc, fdtrc  # noqa: PLC0415 - scipy, where it is needed

    table = _checked_table(ranks)
    n, k = table.shape
    if n < 2 or k < 2:
        return FriedmanTest(*[math.nan] * 6)

    # The functions chdtrc and fdtrc return the probability of a greater
    # value. The result has chi-square, chi-square corrected for ties,
    # and F, each with its p.
    means = table.mean(axis=0)
    spread = float(np.sum((means - (k + 1) / 2) ** 2))
    chi_square = 12.0 * n / (k * (k + 1)) * spread
    p_chi_square = float(chdtrc(k - 1, chi_square))

    # Ties reduce the variance of ranks; without ties it is k (k + 1) / 12.
    variance = float(np.sum((table - (k + 1) / 2) ** 2)) / (n * (k - 1))
    chi_square_ties = n * spread / variance if variance > 0 else math.nan
    p_ties = float(chdtrc(k - 1, chi_square_ties)) if variance > 0 else math.nan
    denominator = n * (k - 1) - chi_square
    if denominator <= ROUNDINGS * EPS * n * k:  # all datasets agree in all ranks
        # F is infinite: the chance of N equal orders of k methods is k!^-(N - 1).
        p_all_agree = math.exp(-(n - 1) * math.lgamma(k + 1))
        return FriedmanTest(
            chi_square, p_chi_square, chi_square_ties, p_ties, math.inf, p_all_agree
        )
    f = (n - 1) * chi_square / denominator
    p_f = float(fdtrc(k - 1, (k - 1) * (n - 1), f))
    return FriedmanTest(chi_square, p_chi_square, chi_square_ties, p_ties, f, p_f)


def critical_difference(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Return Nemenyi's critical difference: mean ranks that differ by at least as much differ significantly.

    CD = q √(k (k + 1) / (6 N)), where q is the quantile of the
    studentised range of k means, divided by √2.

    Parameters
    ----------
    n_methods, n_datasets : int
        Number of methods k, 2 or more, and of datasets N, 1 or more.
    alpha : float, default 0.05
        Probability of any false difference, between 0 and 1.

    Raises
    ------
    ParameterError
        For a number out of range.

    Examples
    --------
    >>> from rankstudio.plugins.method_ranks.rank_tests import critical_difference
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range  # noqa: PLC0415 - takes a second

    alpha = checked_level(alpha, "alpha")
    n_methods = between("n_methods", n_methods, 2)
    n_datasets = between("n_datasets", n_datasets, 1)
    quantile = float(studentized_range.isf(alpha, n_methods, np.inf))
    return quantile / math.sqrt(2.0) * _standard_error(n_methods, n_datasets)


def _standard_error(n_methods: int, n_datasets: int) -> float:
    """Return the standard error of the difference of two mean ranks."""
    return math.sqrt(n_methods * (n_methods + 1) / (6.0 * n_datasets))


def pair_tests(values: ArrayLike, ranks: ArrayLike) -> tuple[MethodPair, ...]:
    """Test all pairs of methods by Nemenyi's and by Wilcoxon's test.

    Parameters
    ----------
    values, ranks : array-like of shape (N, k)
        Values of the methods on the datasets, and their ranks.

    Returns
    -------
    tuple of MethodPair
        One per pair, in the order of the columns.

    Notes
    -----
    O(k² N³) for up to 50 datasets.
    """
    table = _checked_table(values)
    mean_ranks = _checked_table(ranks).mean(axis=0)
    n, k = table.shape
    pairs = list(combinations(range(k), 2))
    if not pairs:
        return ()
    differences = np.array(
        [mean_ranks[first] - mean_ranks[second] for first, second in pairs]
    )
    p_nemenyi = nemenyi_p(differences, k, n)  # (pairs,)
    from rankstudio.engine.statistics.paired import holm, signed_ranks  # noqa: PLC0415 - numba

    tests = [signed_ranks(table[:, first], table[:, second]) for first, second in pairs]
    corrected = holm([test.p for test in tests])

    # `test.n` is the number of datasets on which the two methods differ.
    return tuple(
        MethodPair(
            first, second, float(difference), float(p), test.p, float(p_holm), test.n
        )
        for (first, second), difference, p, test, p_holm in zip(
            pairs, differences, p_nemenyi, tests, corrected, strict=True
        )
    )


def nemenyi_p(differences: ArrayLike, n_methods: int, n_datasets: int) -> Floats:
    """Return the p of Nemenyi's test for differences of mean ranks.

    Parameters
    ----------
    differences : array-like of shape (c,)
        Differences of the mean ranks of pairs of methods.
    n_methods, n_datasets : int
        Number of methods that are compared, and of datasets.

    Returns
    -------
    ndarray of shape (c,)
        Two-sided p values, corrected for all pairs of methods.
    """
    from scipy.stats import studentized_range  # noqa: PLC0415 - takes a second

    # The function is slow: it is called once for each distinct
    # difference. Rounding makes differences equal that differ by
    # rounding errors.
    sizes = np.round(np.abs(np.asarray(differences, dtype=np.float64)), 12)
    distinct, indices = np.unique(sizes, return_inverse=True)
    ranges = distinct / _standard_error(n_methods, n_datasets) * math.sqrt(2.0)
    p = np.clip(
        np.atleast_1d(studentized_range.sf(ranges, n_methods, np.inf)), 0.0, 1.0
    )
    return np.asarray(p[indices], dtype=np.float64)


def indistinct_groups(
    mean_ranks: Sequence[float], difference: float
) -> tuple[tuple[int, ...], ...]:
    """Return the largest groups of methods whose mean ranks differ by less than the critical difference.

    Parameters
    ----------
    mean_ranks : sequence of float
        Mean rank of each method.
    difference : float
        Critical difference.

    Returns
    -------
    tuple of tuple of int
        Columns of the methods of each group, by rank. Groups have two
        members or more, follow each other by rank, may overlap, and
        none is part of another one.
    """
    # A difference that equals the critical one, apart from rounding
    # (1e-12), is significant.
    order = np.argsort(mean_ranks, kind="stable").tolist()
    groups: list[tuple[int, ...]] = []
    last_end = 0
    for start, first in enumerate(order):
        end = start
        while (
            end < len(order)
            and mean_ranks[order[end]] - mean_ranks[first] < difference - 1e-12
        ):
            end += 1

        # A group that ends no later than an earlier one is part of that one.
        if end > last_end and end - start > 1:
            groups.append(tuple(order[start:end]))
        last_end = max(last_end, end)
    return tuple(groups)


def win_counts(ranks: ArrayLike) -> Ints:
    """Count on how many datasets each method is better than each other one.

    Parameters
    ----------
    ranks : array-like of shape (N, k)

    Returns
    -------
    ndarray of shape (k, k)
        Wins of the method of the row over that of the column; losses
        are those of the transposed matrix, and the remaining datasets
        are ties.
    """
    table = _checked_table(ranks)
    return np.array(
        [np.sum(table[:, [method]] < table, axis=0) for method in range(table.shape[1])]
    )


def bayesian_signed_ranks(
    values: ArrayLike,
    pairs: Sequence[tuple[int, int]],
    rope: float = ROPE,
    *,
    n_samples: int = N_SAMPLES,
    seed: int = 0,
    higher_is_better: bool = True,
) -> tuple[PosteriorProbabilities, ...]:
    """Return the posterior probabilities of the Bayesian signed-rank test for pairs of methods.

    Parameters
    ----------
    values : array-like of shape (N, k)
        Value of each of k methods on each of N datasets.
    pairs : sequence of (int, int)
        Columns of the two methods of each pair.
    rope : float, default 0.01
        Half width of the region of practical equivalence, 0 or more, in
        units of the measure.
    n_samples : int, default 50000
        Number of Monte Carlo samples, 1 or more.
    seed : int, default 0
        Seed of the samples, 0 or more.
    higher_is_better : bool, default True

    Returns
    -------
    tuple of PosteriorProbabilities
        Shares of the samples in which each of the three outcomes has
        the largest probability; a sample with equal ones counts in
        equal parts for each. With a rope of 0 there is no equivalence.

    Raises
    ------
    ParameterError
        For values that are not finite, or a parameter out of range.

    Notes
    -----
    Differences z_1, …, z_N and a pseudo-observation z_0 = 0 have
    weights w from the Dirichlet distribution with parameters (1/2, 1,
    …, 1). In a sample, the probability that the first method is better
    is Σ w_i w_j [z_i + z_j > 2 r], that both are equivalent is Σ w_i
    w_j [|z_i + z_j| <= 2 r], and the rest is the probability that the
    second is better (Benavoli et al. 2017). All pairs share the samples
    of the weights. O(S N²) per pair for S samples.
    """
    rope = _checked_rope(rope)
    n_samples = between("n_samples", n_samples, 1)
    seed = between("seed", seed, 0)
    table = _checked_table(values) if higher_is_better else -_checked_table(values)

    # matrices [z_i + z_j > 2 r] and [z_i + z_j < -2 r] of each pair, (N + 1, N + 1)
    regions = [
        _better_regions(table[:, first] - table[:, second], rope)
        for first, second in pairs
    ]
    counts = np.zeros((len(regions), 3))
    for weights in _posterior_weights(len(table), n_samples, seed):
        for row, (first_region, second_region) in enumerate(regions):
            first = np.sum((weights @ first_region) * weights, axis=1)
            second = np.sum((weights @ second_region) * weights, axis=1)
            equivalent = (
                1.0 - first - second if rope > 0 else np.full(len(weights), -1.0)
            )

            # (3, samples): -1 never wins, as there is no equivalence with a rope of 0
            shares = np.stack([first, equivalent, second])
            is_largest = shares >= shares.max(axis=0) - 1e-12
            counts[row] += np.sum(is_largest / is_largest.sum(axis=0), axis=1)
    return tuple(PosteriorProbabilities(*row) for row in (counts / n_samples).tolist())


def _better_regions(differences: Floats, rope: float) -> tuple[Floats, Floats]:
    """Return which pairs of differences say that the first method is better, or that the second one is.

    Both matrices, (N + 1, N + 1), have 1 for such a pair, and else 0.
    The ``differences`` (N,) of two methods are those on N datasets; the
    pseudo-observation z_0 = 0 is put before them.
    """
    z = np.concatenate([[0.0], differences])
    sums = z[:, None] + z
    rounding = ROUNDINGS * EPS * max(1.0, float(np.abs(z).max()))
    is_first = (sums > 2 * rope + rounding).astype(np.float64)
    return is_first, (sums < -2 * rope - rounding).astype(np.float64)


def _posterior_weights(n_datasets: int, n_samples: int, seed: int) -> Iterator[Floats]:
    """Yield samples of the weights of the pseudo-observation and the datasets, some at a time.

    An array has a row for each of its samples, and ``n_datasets`` + 1 columns.
    """
    generator = np.random.default_rng(seed)
    strengths = np.concatenate([[PRIOR_STRENGTH], np.ones(n_datasets)])
    at_once = max(1, _WEIGHTS_AT_ONCE // strengths.size)
    for start in range(0, n_samples, at_once):
        yield generator.dirichlet(strengths, min(at_once, n_samples - start))


def _checked_rope(rope: float) -> float:
    """Return the half width of the region of practical equivalence; ParameterError unless it is possible."""
    if (
        isinstance(rope, int | float | np.number)
        and not isinstance(rope, bool)
        and 0 <= rope < math.inf
    ):
        return float(rope)
    raise ParameterError("rope", rope, "a finite number from 0 up")
