"""Decimal text to the nearest double, inside numba.

The result is exactly the double that Python's ``float()`` returns.
There are three ways to it: exact arithmetic for short numbers (Clinger
1990), the 128-bit product of Lemire ("Number parsing at a gigabyte per
second", 2021, sections 5 to 9) for the up to 19 digits that ``repr``
writes, and for the few other numbers the status `HARD`, which asks the
caller to use ``float()`` itself.

Text is read by address, eight bytes at a time, so that one core parses
some hundred megabytes per second. The kernels pass addresses to each
other, not arrays: at every call that takes an array numba counts
references, with atomic operations. The same parser with indices into an
array, inlined everywhere, takes a third more time. The two loads are
written with the interface that numba and llvmlite document for
extensions. The caller keeps the text alive and ends it with newlines.
The order of bytes is little-endian, as on every machine that numba
compiles for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from rankstudio.engine.support.jit import inlined, subroutine

_U8 = np.uint64(8)
_ZERO_DIGITS = np.uint64(0x3030303030303030)
_OVER_NINE = np.uint64(0x7676767676767676)
_HIGH_BITS = np.uint64(0x8080808080808080)
_LOW_BITS = np.uint64(0x0101010101010101)
_NEWLINES = np.uint64(0x0A0A0A0A0A0A0A0A)
_PAIRS = np.uint64(0x000000FF000000FF)
_HUNDREDS_AND_MILLIONS = np.uint64(100 + (1_000_000 << 32))
_ONES_AND_TEN_THOUSANDS = np.uint64(1 + (10_000 << 32))


@intrinsic  # type: ignore[untyped-decorator]
def byte_at(typing_context: Any, address: Any) -> Any:
    """Load the byte at an address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Return the code of the instruction, for LLVM."""
        pointer = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
        return builder.zext(builder.load(pointer), ir.IntType(64))

    return types.int64(types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def word_at(typing_context: Any, address: Any) -> Any:
    """Load the eight bytes at an address, which need not be aligned."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Return the code of the instruction, for LLVM."""
        pointer = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        return builder.load(pointer, align=1)

    return types.uint64(types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _trailing_zeros(typing_context: Any, word: Any) -> Any:
    """Count the zero bits below the lowest one bit: 64 for zero."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Return the code of the instruction, for LLVM."""
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@inlined
def leading_digits(word: np.uint64) -> int:
    """Count the decimal digits that a word begins with: 0 to 8."""
    digits = word ^ _ZERO_DIGITS  # bytes of digits are 0 to 9 now
    # Adding 0x76 sets the high bit of a byte from 10 on; a carry
    # reaches only later bytes.
    non_digits = ((digits + _OVER_NINE) | digits) & _HIGH_BITS
    return int(_trailing_zeros(non_digits)) >> 3


@inlined
def digits_value(word: np.uint64, count: int) -> np.uint64:
    """Return the number that the first ``count`` bytes (1 to 8 digits) of a word spell.

    ``word`` has eight bytes of text, the first one in its lowest bits.
    """
    # Turn "0" … "9" into 0 … 9 (by ^) and shift out the bytes behind
    # the digits: the number is now of eight digits, with zeros in
    # front.
    digits = (word ^ _ZERO_DIGITS) << np.uint64(64 - 8 * count)
    # Every second byte becomes the value of two digits.
    pairs = digits * np.uint64(10) + (digits >> _U8)
    # Multiply the four pairs by 10^6, 10^4, 100 and 1, two at a time,
    # and add them in the upper half.
    upper = (pairs & _PAIRS) * _HUNDREDS_AND_MILLIONS
    lower = ((pairs >> np.uint64(16)) & _PAIRS) * _ONES_AND_TEN_THOUSANDS
    return (upper + lower) >> np.uint64(32)


@inlined
def next_newline(i: int) -> int:
    """Return the address of the first newline at or behind the address ``i``.

    The text is searched in words of eight bytes; it must contain a newline.
    """
    while True:
        # A byte of the word is now 0 where the text has a newline.
        word = word_at(i) ^ _NEWLINES
        # The high bit of the lowest zero byte of the word, that is, of
        # the first newline.
        newlines = (word - _LOW_BITS) & ~word & _HIGH_BITS
        if newlines != 0:
            return i + (int(_trailing_zeros(newlines)) >> 3)  # bits to bytes
        i += 8


@inlined
def read_six_decimals(i: int) -> int:
    """Return 10^6 times the number at an address if it is written like ``0.123456``, else -1."""
    word = word_at(i)
    if (word >> _U8) & np.uint64(0xFF) != 46:  # "."
        return -1
    # Make "0.123456" to "00123456", without the point (0x30 is "0").
    # Any first character other than a digit fails below.
    digits = (
        (word & ~np.uint64(0xFFFF))
        | ((word & np.uint64(0xFF)) << _U8)
        | np.uint64(0x30)
    )
    count = leading_digits(digits)
    if count < 8:
        return -1
    # ``count`` instead of 8, which it is here: numba would compile
    # another version for a literal number.
    return int(digits_value(digits, count))


OK = 0
NOT_A_NUMBER = 1
HARD = 2  # to be read by float()

_EXACT_POWER = 22  # 10^22 is the last power of ten that a double holds exactly
_POWER_OF_TEN = np.array([10.0**k for k in range(_EXACT_POWER + 1)])
_TENS = np.array([10**k for k in range(9)], dtype=np.uint64)
_LARGEST_EXACT = 1 << 53  # whole numbers up to it are exact in float64
_MOST_DIGITS = 19  # digits that always fit into 64 bits
_LEAST_POWER = -300
# with up to 19 digits this stays clear of subnormals and infinity
_GREATEST_POWER = 288


def _powers_of_five() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return a table of the powers of five with 128 bits, as (upper halves, lower halves).

    Row k is 5^q for q = `_LEAST_POWER` + k, cut to its 128 leading
    bits; the power of two by which the bits are shifted is not stored.
    """
    high = []
    low = []
    for q in range(_LEAST_POWER, _GREATEST_POWER + 1):
        power = 5 ** abs(q)
        bits = power.bit_length()
        if q >= 0:
            value = power << (128 - bits) if bits <= 128 else power >> (bits - 128)
        else:
            # The reciprocal; rounded up where 5^-q fits into 64 bits,
            # so that division by it stays exact.
            value = (1 << (bits + 127)) // power + (q >= -27)
        high.append(value >> 64)
        low.append(value & 0xFFFFFFFFFFFFFFFF)
    return np.array(high, dtype=np.uint64), np.array(low, dtype=np.uint64)


_FIVE_HIGH, _FIVE_LOW = _powers_of_five()

_U1 = np.uint64(1)
_U32 = np.uint64(32)
_LOW32 = np.uint64(0xFFFFFFFF)
_ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
_NINE_ONES = np.uint64(0x1FF)
_FRACTION = np.uint64((1 << 52) - 1)


@inlined
def _product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the 128 bits of the product a × b as (upper half, lower half).

    Both factors are cut into halves of 32 bits, whose products fit into
    64 bits.
    """
    a1 = a >> _U32
    a0 = a & _LOW32
    b1 = b >> _U32
    b0 = b & _LOW32
    low = a0 * b0
    # (a1 2^32 + a0) (b1 2^32 + b0) has two products times 2^32. Add
    # these one after the other, so that no sum overflows.
    middle = a1 * b0 + (low >> _U32)
    other = a0 * b1 + (middle & _LOW32)
    return a1 * b1 + (middle >> _U32) + (other >> _U32), (other << _U32) | (
        low & _LOW32
    )


@subroutine
def nearest_double(digits: np.uint64, power: int) -> tuple[float, int]:
    """Return (the double nearest to digits × 10^power, `OK`).

    `OK` and `HARD` are status codes. Return (0, `HARD`) if 128 bits do
    not decide which double is the nearest.

    The algorithm is that of Eisel and Lemire (2021, see the module's
    docstring): the leading bits of digits × 5^power, with a tabulated
    power of five, are rounded to the 53 bits of a double. ``digits`` is
    greater than 0.
    """
    if power < _LEAST_POWER or power > _GREATEST_POWER:
        return 0.0, HARD
    shift = np.uint64(0)
    # Normalise, so that the leading bit of the product below is one of
    # its two highest bits.
    while digits >> np.uint64(63) == 0:
        digits <<= _U1
        shift += _U1
    high, low = _product(digits, _FIVE_HIGH[power - _LEAST_POWER])
    # Nine ones at the end: a carry from the lower half of the power
    # could still change the bits that are rounded.
    if high & _NINE_ONES == _NINE_ONES:
        carry, _ = _product(digits, _FIVE_LOW[power - _LEAST_POWER])
        low += carry
        if low < carry:
            high += _U1
    # The tabulated powers of five are cut off; from 5^-27 to 5^55 they
    # are precise enough for all digits.
    if low == _ALL_ONES and (power < -27 or power > 55):
        return 0.0, HARD
    # 1 if the leading bit of the product is bit 127, 0 if it is bit
    # 126; then the number of low bits of ``high`` to drop.
    upper = high >> np.uint64(63)
    drop = upper + np.uint64(9)
    mantissa = high >> drop  # 54 bits: the 53 of a double and one to round with
    # Only for these powers can a number lie exactly half way between two doubles.
    if (
        low <= _U1
        and -4 <= power <= 23
        and mantissa & np.uint64(3) == _U1
        and mantissa << drop == high
    ):
        mantissa -= _U1  # exactly half way: to even
    mantissa = (mantissa + (mantissa & _U1)) >> _U1
    # (217706 power) >> 16 is floor(log2(10^power)) for these powers; 1086 is the bias 1023 plus 63 bits.
    exponent = ((217706 * power) >> 16) + 1086 + np.int64(upper) - np.int64(shift)
    if mantissa >> np.uint64(53) != 0:  # rounded up to 2^53
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
    """Read the exponent of a decimal number, whose sign or first digit is at the address ``i``.

    Return (exponent, address behind it); the address is -1 if there are
    no digits.
    """
    negative = byte_at(i) == 45  # "-"
    if negative or byte_at(i) == 43:  # "+"
        i += 1
    begin = i
    value = 0
    while True:
        digit = byte_at(i) - 48  # 48 is "0"
        if digit < 0 or digit > 9:
            break
        if value < 1_000_000:  # larger exponents give the same number, 0 or infinity
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
        The address where the number begins. At least eight bytes of
        text must follow the number, the first of which cannot continue
        it.

    Returns
    -------
    value : float
        The nearest double if status is `OK`.
    end : int
        The address behind the number.
    status : int
        `OK`, `NOT_A_NUMBER`, or `HARD`: a number, to be converted by
        ``float()``.
    """
    negative = byte_at(i) == 45  # "-"
    if negative or byte_at(i) == 43:  # "+"
        i += 1
    begin = i
    # Collect all digits, before and behind the point, as one whole
    # number, which is later multiplied by 10^power. It may overflow:
    # then ``count`` is too large, see below.
    digits = np.uint64(0)
    # Unsigned: more than 9 for any byte that is no digit (48 is "0").
    digit = np.uint64(byte_at(i)) - np.uint64(48)
    while digit <= np.uint64(9):
        digits = digits * np.uint64(10) + digit
        i += 1
        digit = np.uint64(byte_at(i)) - np.uint64(48)
    count = i - begin
    power = 0
    if byte_at(i) == 46:  # "."
        i += 1
        point = i
        # Up to eight decimals at a time; fewer than eight are the last ones.
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
    if byte_at(i) == 101 or byte_at(i) == 69:  # "e" or "E"
        exponent, i = read_exponent(i + 1)
        if i < 0:
            return 0.0, end, NOT_A_NUMBER
        power += exponent
    # Zeros in front do not count: 0.000… may have many digits and few significant ones.
    if count > _MOST_DIGITS and _significant(begin, end) > _MOST_DIGITS:
        return 0.0, i, HARD
    status = OK
    # Both factors are exact doubles, so that one multiplication or
    # division rounds correctly.
    if digits <= np.uint64(_LARGEST_EXACT) and -_EXACT_POWER <= power <= _EXACT_POWER:
        value = float(np.int64(digits))
        value = (
            value / _POWER_OF_TEN[-power] if power < 0 else value * _POWER_OF_TEN[power]
        )
    elif digits == np.uint64(0):
        value = 0.0
    else:
        value, status = nearest_double(digits, power)
    return (-value if negative else value), i, status
