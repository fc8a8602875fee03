"""Text read by address, eight bytes at a time: what lets one core parse some hundred megabytes a second.

The kernels hand addresses to each other, not arrays: at every call that takes an array numba counts
references, with atomic operations that cost more than parsing a number does. Whoever calls them keeps the
text alive and ends it with newlines. The order of bytes is that of little-endian machines, as every machine
is that numba compiles for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rankstudio.engine.support.jit import inlined

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
        place = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
        return builder.zext(builder.load(place), ir.IntType(64))

    return types.int64(types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def word_at(typing_context: Any, address: Any) -> Any:
    """Load the eight bytes at an address, which need not be aligned."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        return builder.load(place, align=1)

    return types.uint64(types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def copy_bytes(typing_context: Any, source: Any, target: Any, length: Any) -> Any:
    """Copy bytes from one address to another; the two stretches must not overlap."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        places = [builder.inttoptr(address, ir.IntType(8).as_pointer()) for address in args[:2]]
        cgutils.raw_memcpy(builder, dst=places[1], src=places[0], count=args[2], itemsize=1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _trailing_zeros(typing_context: Any, word: Any) -> Any:
    """Count the zero bits below the lowest one bit: 64 for zero."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@inlined
def leading_digits(word: np.uint64) -> int:
    """Count the decimal digits that a word begins with: 0 to 8."""
    digits = word ^ _ZERO_DIGITS
    others = ((digits + _OVER_NINE) | digits) & _HIGH_BITS
    return int(_trailing_zeros(others)) >> 3


@inlined
def digits_value(word: np.uint64, count: int) -> np.uint64:
    """Return the number that the first ``count`` bytes (1 to 8 digits) of a word spell."""
    digits = (word ^ _ZERO_DIGITS) << np.uint64(64 - 8 * count)  # as if zeros stood before them
    pairs = digits * np.uint64(10) + (digits >> _U8)
    upper = (pairs & _PAIRS) * _HUNDREDS_AND_MILLIONS
    lower = ((pairs >> np.uint64(16)) & _PAIRS) * _ONES_AND_TEN_THOUSANDS
    return (upper + lower) >> np.uint64(32)


@inlined
def next_newline(i: int) -> int:
    """Return the address of the first newline at or behind an address."""
    while True:
        word = word_at(i) ^ _NEWLINES
        found = (word - _LOW_BITS) & ~word & _HIGH_BITS
        if found != 0:
            return i + (int(_trailing_zeros(found)) >> 3)
        i += 8


@inlined
def read_six_decimals(i: int) -> int:
    """Return 10^6 times the number at an address if it is written like ``0.123456``, else -1."""
    word = word_at(i)
    if (word >> _U8) & np.uint64(0xFF) != 46:
        return -1
    digits = (word & ~np.uint64(0xFFFF)) | ((word & np.uint64(0xFF)) << _U8) | np.uint64(0x30)  # "00123456"
    count = leading_digits(digits)
    if count < 8:
        return -1
    return int(digits_value(digits, count))  # not 8: a literal would be compiled for on its own
