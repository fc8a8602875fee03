"""Wilcoxon's signed-rank test: ranks of differences, with zeros left out and ties averaged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.statistics._checks import EPS, ROUNDINGS, paired_rows

_EXACT = 50  # differences up to which every assignment of signs is counted


class SignedRanks(NamedTuple):
    """The sum of the ranks of positive differences, its two-sided p, and how many differences have a rank."""

    positive: float
    p: float
    n: int


def signed_ranks(a: ArrayLike, b: ArrayLike) -> SignedRanks:
    """Test by Wilcoxon's signed ranks, two-sided, that differences are symmetric about 0.

    The absolute differences are ranked, and each rank bears the sign of its difference. Queries without a
    difference are left out before that, as Wilcoxon has it, and equal absolute differences share the mean of
    their ranks. Differences that rounding can explain count as equal, and as 0.

    Rows and errors are those of :func:`rankstudio.engine.statistics.paired.compare_paired`.

    Returns
    -------
    SignedRanks
        For up to 50 differences p is the share of all 2^n assignments of signs whose sum of positive ranks
        is at least as far from its mean n(n + 1) / 4, ties or not; for more it is that of the normal
        distribution with the same variance, a quarter of the sum of squared ranks. 1 where all differences
        are 0. NaN without a query.

    Notes
    -----
    O(n log n), and O(n³) operations on whole numbers for up to 50 differences.

    SciPy's ``wilcoxon`` counts the assignments of signs as if there were no ties, which measures have by the
    dozen, and takes differences that are rounding for differences.

    References
    ----------
    Wilcoxon (1945), Individual comparisons by ranking methods, Biometrics Bulletin 1. Pratt & Gibbons
    (1981), Concepts of Nonparametric Theory, chapter 3.
    """
    left, right = paired_rows(a, b)
    if left.size == 0:
        return SignedRanks(np.nan, np.nan, 0)
    difference = left - right
    rounding = ROUNDINGS * EPS * float(np.maximum(np.abs(left), np.abs(right)).max())
    difference = difference[np.abs(difference) > rounding]
    doubled = _doubled_ranks(np.abs(difference), rounding)
    positive = int(doubled[difference > 0].sum())
    p = _exact_p(doubled, positive) if difference.size <= _EXACT else _normal_p(doubled, positive)
    return SignedRanks(positive / 2, p, difference.size)


def _doubled_ranks(sizes: Floats, rounding: float) -> Ints:
    """Return twice the rank of each number, where those closer than rounding share the mean of theirs."""
    order = np.argsort(sizes, kind="stable")
    apart = np.diff(sizes[order], prepend=-np.inf) > rounding
    group = np.cumsum(apart) - 1
    last = np.cumsum(np.bincount(group)) if sizes.size else group
    ranks = np.empty(sizes.size, dtype=np.int64)
    ranks[order] = (last + np.concatenate(([0], last))[: last.size] + 1)[group]
    return ranks


def _exact_p(doubled: Ints, positive: int) -> float:
    """Return the share of the assignments of signs with a sum at least as far from the mean."""
    total = int(doubled.sum())
    counts = np.zeros(total + 1, dtype=np.int64)  # of the assignments so far, by their sum: below 2^50
    counts[0] = 1
    for rank in doubled.tolist():
        counts[rank:] += counts[: total + 1 - rank].copy()
    far = np.abs(2 * np.arange(total + 1) - total) >= abs(2 * positive - total)
    return int(counts[far].sum()) / (1 << doubled.size)


def _normal_p(doubled: Ints, positive: int) -> float:
    from scipy.special import ndtr  # noqa: PLC0415 - scipy, where it is needed

    away = abs(2.0 * positive - float(doubled.sum()))
    spread = float(np.sqrt(np.sum(doubled.astype(np.float64) ** 2)))
    return min(1.0, 2.0 * float(ndtr(-away / spread)))
