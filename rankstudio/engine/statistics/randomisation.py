"""Fisher's randomisation test: sums under many assignments of signs, eight signs at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arrays import Bytes, Floats
from rankstudio.engine.statistics._checks import EPS, ROUNDINGS, paired_rows, whole

# What is in memory at a time stays below 50 MB.
_BYTES_AT_ONCE = 1 << 24
_ASSIGNMENTS_AT_ONCE = 1 << 20
_SIGNS = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")


def randomisation(a: ArrayLike, b: ArrayLike, n: int = 100_000, seed: int = 0) -> float:
    """Test by Fisher's randomisation, two-sided, that the two runs are interchangeable in every query.

    If they are, each difference could as well have the other sign. The p-value is the share of the
    assignments of signs whose mean is at least as far from 0 as the observed one.

    Parameters
    ----------
    a, b
        As for :func:`rankstudio.engine.statistics.paired.compare_paired`, and so are errors.
    n : int, default 100000
        How many assignments are drawn, 1 or more. Where there are no more than so many, 2^Q, all of them
        are counted and p is exact. A query with difference 0 does not count in this Q: its sign changes
        nothing.
    seed : int, default 0
        Of the drawing, 0 or more.

    Returns
    -------
    float
        (count + 1) / (n + 1) where assignments are drawn, because the observed one is among those that are
        possible; never 0. 1 where all differences are 0. NaN without a query.

    Notes
    -----
    O(nQ / 8): the sums of eight differences at a time come from a table of their 256 signs. Means that
    differ by less than rounding can explain count as equal; ties are common, because measures such as P@10
    take few values.

    References
    ----------
    Fisher (1935), The Design of Experiments, section 21. Smucker, Allan & Carterette (2007), A comparison of
    statistical significance tests for information retrieval evaluation, CIKM.
    """
    n, seed = whole("n", n, 1), whole("seed", seed, 0)
    left, right = paired_rows(a, b)
    if left.size == 0:
        return np.nan
    difference = left - right
    rounding = (left.size + ROUNDINGS) * EPS * float(np.sum(np.abs(left) + np.abs(right)))
    least = abs(float(difference.sum())) - rounding
    difference = difference[difference != 0.0]
    exact = difference.size < n.bit_length()  # 2^Q <= n, without the power
    tables = _tables_of_eight(difference)
    draws = _all_signs(difference.size) if exact else _random_signs(n, len(tables), seed)
    count = sum(int(np.count_nonzero(np.abs(_signed_sums(tables, codes)) >= least)) for codes in draws)
    return count / 2**difference.size if exact else (count + 1) / (n + 1)


def _tables_of_eight(difference: Floats) -> Floats:
    """Return, for each eight differences, their sum under each of 256 assignments of signs: (Q / 8, 256)."""
    padded = np.zeros(-(-difference.size // 8) * 8)
    padded[: difference.size] = difference
    tables: Floats = padded.reshape(-1, 8) @ _SIGNS.T
    return tables


def _signed_sums(tables: Floats, codes: Bytes) -> Floats:
    """Return the sum of all differences under each assignment: a byte of its signs for each table."""
    sums = np.zeros(codes.shape[1])
    for table, code in zip(tables, codes, strict=True):
        sums += table[code]
    return sums


def _all_signs(n_differences: int) -> Iterator[Bytes]:
    """Yield every assignment once, as rows of the tables: arrays of shape (Q / 8, some)."""
    n_tables = -(-n_differences // 8)
    for first in range(0, 2**n_differences, _ASSIGNMENTS_AT_ONCE):
        last = min(first + _ASSIGNMENTS_AT_ONCE, 2**n_differences)
        numbers = np.arange(first, last, dtype="<u8")
        yield numbers.view(np.uint8).reshape(-1, 8)[:, :n_tables].T


def _random_signs(n: int, n_tables: int, seed: int) -> Iterator[Bytes]:
    """Yield n random assignments, as :func:`_all_signs` does."""
    rng = np.random.default_rng(seed)
    at_once = max(1, min(_ASSIGNMENTS_AT_ONCE, _BYTES_AT_ONCE // n_tables))
    for first in range(0, n, at_once):
        yield rng.integers(0, 256, (n_tables, min(at_once, n - first)), dtype=np.uint8)
