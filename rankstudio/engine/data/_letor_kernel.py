"""From whole numbers to lines of LETOR text, in numba."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Bytes, Ints
from rankstudio.engine.support.jit import kernel, subroutine

LONGEST = 13  # characters of a number: ten digits, a point, a sign and a blank


@subroutine
def _write_digits(out: Bytes, at: int, number: int) -> int:
    """Write a whole number from 0 up; return the position behind it."""
    count = 1
    rest = number // 10
    while rest > 0:
        count += 1
        rest //= 10
    for k in range(at + count - 1, at - 1, -1):
        out[k] = 48 + number % 10
        number //= 10
    return at + count


@subroutine
def _write_decimal(out: Bytes, at: int, units: int, decimals: int) -> int:
    """Write ``units / 10^decimals`` without zeros at the end of its fraction; return the position behind."""
    power = 1
    for _ in range(decimals):
        power *= 10
    at = _write_digits(out, at, units // power)
    fraction = units % power
    if fraction == 0:
        return at
    out[at] = 46
    end = at + decimals
    for k in range(end, at, -1):
        out[k] = 48 + fraction % 10
        fraction //= 10
    while out[end] == 48:
        end -= 1
    return end + 1


@kernel
def format_lines(units: NDArray[np.int32], decimals: Ints, labels: Ints, query_ids: Ints, out: Bytes) -> int:
    """Write documents as lines of LETOR text, and return how many bytes that takes.

    Parameters
    ----------
    units : int32 array of shape (m, n)
        The features from 0 up, each times ten to the power of its number of decimals.
    decimals : int64 array of shape (n,)
    labels : int64 array of shape (m,)
        From 0 up.
    query_ids : int64 array of shape (m,)
        From 0 up.
    out : uint8 array
        With room for the lines.

    Notes
    -----
    O(mn).
    """
    at = 0
    for row in range(units.shape[0]):
        at = _write_digits(out, at, labels[row])
        out[at], out[at + 1], out[at + 2], out[at + 3], out[at + 4] = 32, 113, 105, 100, 58  # " qid:"
        at = _write_digits(out, at + 5, query_ids[row])
        for column in range(units.shape[1]):
            out[at] = 32
            at = _write_digits(out, at + 1, column + 1)
            out[at] = 58
            at = _write_decimal(out, at + 1, units[row, column], decimals[column])
        out[at] = 10
        at += 1
    return at
