"""Decimal text to the nearest double, inside numba.

The result is the very double that Python's ``float()`` gives. Three roads lead there: exact arithmetic for
short numbers (Clinger 1990), the 128-bit product of Lemire ("Number parsing at a gigabyte per second", 2021,
sections 5 to 9) for the up to 19 digits that ``repr`` writes, and for the few others the status `HARD`, which
asks the caller to use ``float()`` itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.data.formats._words import byte_at, digits_value, leading_digits, word_at
from rankstudio.engine.support.jit import inlined, subroutine

OK, NOT_A_NUMBER, HARD = 0, 1, 2

_EXACT_POWER = 22  # 10^22 is the last power of ten that a double holds exactly
_POWER_OF_TEN = np.array([10.0**k for k in range(_EXACT_POWER + 1)])
_TENS = np.array([10**k for k in range(9)], dtype=np.uint64)
_LARGEST_EXACT = 1 << 53
_MOST_DIGITS = 19  # what always fits into 64 bits
_LEAST_POWER, _GREATEST_POWER = -300, 288  # with up to 19 digits this stays clear of subnormals and infinity


def _powers_of_five() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return 5^q for every q in range, as the two halves of 128 bits with the leading bit set."""
    high, low = [], []
    for q in range(_LEAST_POWER, _GREATEST_POWER + 1):
        power = 5 ** abs(q)
        bits = power.bit_length()
        if q >= 0:
            value = power << (128 - bits) if bits <= 128 else power >> (bits - 128)
        else:  # the reciprocal; rounded up where 5^-q fits into 64 bits, so that division by it stays exact
            value = (1 << (bits + 127)) // power + (q >= -27)
        high.append(value >> 64)
        low.append(value & 0xFFFFFFFFFFFFFFFF)
    return np.array(high, dtype=np.uint64), np.array(low, dtype=np.uint64)


_FIVE_HIGH, _FIVE_LOW = _powers_of_five()

_U1 = np.uint64(1)
_U32 = np.uint64(32)
_LOW32 = np.uint64(0xFFFFFFFF)
_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
_NINE_ONES = np.uint64(0x1FF)
_FRACTION = np.uint64((1 << 52) - 1)


@inlined
def _product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the 128 bits of a × b as (high, low)."""
    a1, a0 = a >> _U32, a & _LOW32
    b1, b0 = b >> _U32, b & _LOW32
    low = a0 * b0
    middle = a1 * b0 + (low >> _U32)
    other = a0 * b1 + (middle & _LOW32)
    return a1 * b1 + (middle >> _U32) + (other >> _U32), (other << _U32) | (low & _LOW32)


@subroutine
def nearest_double(digits: np.uint64, power: int) -> tuple[float, int]:
    """Return (digits × 10^power, status), digits being a uint64 greater than 0."""
    if power < _LEAST_POWER or power > _GREATEST_POWER:
        return 0.0, HARD
    shift = np.uint64(0)
    while digits >> np.uint64(63) == 0:
        digits <<= _U1
        shift += _U1
    high, low = _product(digits, _FIVE_HIGH[power - _LEAST_POWER])
    if high & _NINE_ONES == _NINE_ONES:  # the lower half of the power can still decide
        carry, _ = _product(digits, _FIVE_LOW[power - _LEAST_POWER])
        low += carry
        if low < carry:
            high += _U1
    if low == _ONES and (power < -27 or power > 55):
        return 0.0, HARD
    upper = high >> np.uint64(63)
    drop = upper + np.uint64(9)
    mantissa = high >> drop  # 54 bits: the 53 of a double and one to round with
    if low <= _U1 and -4 <= power <= 23 and mantissa & np.uint64(3) == _U1 and mantissa << drop == high:
        mantissa -= _U1  # exactly half way: to even
    mantissa = (mantissa + (mantissa & _U1)) >> _U1
    exponent = ((217706 * power) >> 16) + 1086 + np.int64(upper) - np.int64(shift)
    if mantissa >> np.uint64(53) != 0:
        mantissa >>= _U1
        exponent += 1
    bits = (mantissa & _FRACTION) | (np.uint64(exponent) << np.uint64(52))
    return np.uint64(bits).view(np.float64), OK


@subroutine
def _significant(begin: int, end: int) -> int:
    """Count the digits between two addresses that are not leading zeros."""
    count = 0
    for i in range(begin, end):
        if byte_at(i) != 46 and (count > 0 or byte_at(i) != 48):  # "." and "0"
            count += 1
    return count


@subroutine
def read_exponent(i: int) -> tuple[int, int]:
    """Read what follows an ``e``: return (exponent, address behind it), the address -1 if there is none."""
    negative = byte_at(i) == 45
    if negative or byte_at(i) == 43:
        i += 1
    begin = i
    value = 0
    while True:
        digit = byte_at(i) - 48
        if digit < 0 or digit > 9:
            break
        if value < 1_000_000:  # beyond that every exponent means the same
            value = value * 10 + digit
        i += 1
    if i == begin:
        return 0, -1
    return (-value if negative else value), i


@subroutine
def read_number(i: int) -> tuple[float, int, int]:
    """Read a decimal number.

    Parameters
    ----------
    i : int
        The address where it begins. The text must go on for eight bytes behind the number, the first of
        them no part of a number.

    Returns
    -------
    value : float
        The nearest double where status is `OK`.
    end : int
        The address behind the number.
    status : int
        `OK`, `NOT_A_NUMBER`, or `HARD`: a number, to be converted by ``float()``.
    """
    negative = byte_at(i) == 45
    if negative or byte_at(i) == 43:
        i += 1
    begin = i
    digits = np.uint64(0)
    digit = np.uint64(byte_at(i)) - np.uint64(48)  # wraps around to something large for what is no digit
    while digit <= np.uint64(9):
        digits = digits * np.uint64(10) + digit
        i += 1
        digit = np.uint64(byte_at(i)) - np.uint64(48)
    count = i - begin
    power = 0
    if byte_at(i) == 46:
        i += 1
        point = i
        width = 8
        while width == 8:
            word = word_at(i)
            width = leading_digits(word)
            if width > 0:
                digits = digits * _TENS[width] + digits_value(word, width)
                i += width
        power = point - i
        count += i - point
    if count == 0:
        return 0.0, i, NOT_A_NUMBER
    end = i
    if byte_at(i) == 101 or byte_at(i) == 69:
        exponent, i = read_exponent(i + 1)
        if i < 0:
            return 0.0, end, NOT_A_NUMBER
        power += exponent
    if count > _MOST_DIGITS and _significant(begin, end) > _MOST_DIGITS:
        return 0.0, i, HARD
    status = OK
    if digits <= np.uint64(_LARGEST_EXACT) and -_EXACT_POWER <= power <= _EXACT_POWER:
        value = float(np.int64(digits))
        value = value / _POWER_OF_TEN[-power] if power < 0 else value * _POWER_OF_TEN[power]
    elif digits == np.uint64(0):
        value = 0.0
    else:
        value, status = nearest_double(digits, power)
    return (-value if negative else value), i, status
