"""The tokens of LETOR text: blanks, ids, values, each read from an address. In numba."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.data.formats._decimal import NOT_A_NUMBER, OK, read_number
from rankstudio.engine.data.formats._words import byte_at, next_newline, read_six_decimals
from rankstudio.engine.support.jit import inlined, subroutine

ABSENT = 3  # a missing value: one more status beside OK, NOT_A_NUMBER and HARD
NEWLINE, HASH = 10, 35
_TAB, _RETURN, _SPACE, _COLON = 9, 13, 32, 58
_MOST_ID_DIGITS = 18


@inlined
def is_blank(byte: int) -> bool:
    """Tell whether a byte is a blank."""
    return byte == _SPACE or byte == _TAB or byte == _RETURN  # noqa: PLR1714 - numba compares, never hashes


@inlined
def ends_token(byte: int) -> bool:
    """Tell whether a byte ends a token."""
    return is_blank(byte) or byte == NEWLINE or byte == HASH  # noqa: PLR1714


@inlined
def skip_blanks(i: int) -> int:
    """Return the address of the first byte that is no blank."""
    while is_blank(byte_at(i)):
        i += 1
    return i


@inlined
def skip_token(i: int) -> int:
    """Return the address behind the token that begins here."""
    while not ends_token(byte_at(i)):
        i += 1
    return i


@subroutine
def _skip_missing(i: int) -> int:
    """Return the address behind a ``null`` or ``nan`` of any case, or -1 where there is none."""
    signed = byte_at(i) == 43 or byte_at(i) == 45
    if signed:
        i += 1
    if byte_at(i) | 32 != 110:
        return -1
    if byte_at(i + 1) | 32 == 97 and byte_at(i + 2) | 32 == 110:
        return i + 3
    if (
        byte_at(i + 1) | 32 == 117
        and byte_at(i + 2) | 32 == 108
        and byte_at(i + 3) | 32 == 108
        and not signed
    ):
        return i + 4
    return -1


@inlined
def read_value(i: int) -> tuple[float, int, int]:
    """Read the value of a feature: return (value, address behind it, status)."""
    millionths = read_six_decimals(i)
    if millionths >= 0 and ends_token(byte_at(i + 8)):  # how LETOR's files write nearly everything
        return millionths / 1e6, i + 8, OK
    value, end, status = read_number(i)
    if status != NOT_A_NUMBER and ends_token(byte_at(end)):
        return value, end, status
    end = _skip_missing(i)
    if end > 0 and ends_token(byte_at(end)):
        return np.nan, end, ABSENT
    return 0.0, i, NOT_A_NUMBER


@inlined
def read_id(i: int) -> tuple[int, int]:
    """Read a feature id and its colon: return (id, address behind them), -1 if they are not there."""
    begin = i
    number = 0
    digit = byte_at(i) - 48
    while 0 <= digit <= 9 and i - begin < _MOST_ID_DIGITS:
        number = number * 10 + digit
        i += 1
        digit = byte_at(i) - 48
    if i == begin or byte_at(i) != _COLON:
        return 0, -1
    return number, i + 1


@inlined
def next_document(i: int, stop: int) -> int:
    """Return the address of the next line that is neither blank nor only a comment, or ``stop``."""
    while i < stop:
        i = skip_blanks(i)
        if byte_at(i) == HASH:
            i = next_newline(i)
        if byte_at(i) != NEWLINE:
            return i
        i += 1
    return stop
