"""From whole numbers to lines of LETOR text, in numba."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Bytes, Ints
from rankstudio.engine.support.jit import kernel, subroutine

LONGEST = 13  # characters of a number: ten digits, a point, a sign and a blank


@subroutine
def _write_digits(out: Bytes, position: int, number: int) -> int:
    """Write a whole number from 0 up into ``out`` from ``position`` on.

    Return the position behind the last digit. The digits are ASCII: byte 48 is
    "0".
    """
    # Count the digits first, as they are written from the last one backwards.
    count = 1
    rest = number // 10
    while rest > 0:
        count += 1
        rest //= 10
    for k in range(position + count - 1, position - 1, -1):
        out[k] = 48 + number % 10
        number //= 10
    return position + count


@subroutine
def _write_decimal(out: Bytes, position: int, units: int, decimals: int) -> int:
    """Write the number ``units / 10^decimals`` into ``out`` from ``position`` on.

    Zeros at the end of the number's fraction are left out: 250 units
    with 2 decimals give "2.5". Return the position behind the number's
    last character.
    """
    power = 1
    for _ in range(decimals):
        power *= 10
    position = _write_digits(out, position, units // power)
    fraction = units % power
    if fraction == 0:
        return position
    out[position] = 46  # "."
    # Write all decimals from the last one backwards, then drop the zeros at the end.
    end = position + decimals
    for k in range(end, position, -1):
        out[k] = 48 + fraction % 10  # 48 is "0"
        fraction //= 10
    while out[end] == 48:  # "0"; ends at the latest at a digit other than 0
        end -= 1
    return end + 1


@kernel
def format_lines(
    units: NDArray[np.int32], decimals: Ints, labels: Ints, query_ids: Ints, out: Bytes
) -> int:
    """Write documents as lines of LETOR text, and return the number of bytes written.

    Line ``i`` is ``label qid:id 1:value … n:value``. The m documents
    have n features.

    Parameters
    ----------
    units : int32 array of shape (m, n)
        Values of the features, each times ten to the power of the
        feature's number of decimals, from 0 up.
    decimals : int64 array of shape (n,)
        Number of decimals of each feature.
    labels : int64 array of shape (m,)
        Label of each document, from 0 up.
    query_ids : int64 array of shape (m,)
        Query id of each document, from 0 up.
    out : uint8 array
        Buffer for the lines, long enough for all of them.

    Notes
    -----
    O(mn).
    """
    position = 0
    for row in range(units.shape[0]):
        position = _write_digits(out, position, labels[row])
        # " qid:"
        out[position] = 32
        out[position + 1] = 113
        out[position + 2] = 105
        out[position + 3] = 100
        out[position + 4] = 58
        position = _write_digits(out, position + 5, query_ids[row])
        for column in range(units.shape[1]):
            out[position] = 32  # " "
            position = _write_digits(out, position + 1, column + 1)
            out[position] = 58  # ":"
            position = _write_decimal(
                out, position + 1, units[row, column], decimals[column]
            )
        out[position] = 10  # end of the line
        position += 1
    return position
