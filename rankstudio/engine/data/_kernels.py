"""The passes over LETOR text, in numba.

Every function here expects a text that goes on with newlines for some bytes behind its end (see files.py),
which is why no loop looks at the end of the text: each of them stops at a newline at the latest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.data._decimal import HARD, NOT_A_NUMBER, OK, read_number
from rankstudio.engine.data._jit import inlined, kernel
from rankstudio.engine.data._words import byte_at, next_newline, read_six_decimals
from rankstudio.engine.data.diagnosis import (
    BAD_FEATURE,
    BAD_LABEL,
    BAD_VALUE,
    EMPTY_QID,
    ID_REPEATED,
    ID_TOO_LARGE,
    ID_ZERO,
    NO_QID,
)

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FINE = 0  # and otherwise one of the problems of diagnosis.py

# Columns of the span table: where in the text a row's query id and comment are.
QID_BEGIN, QID_END, COMMENT_BEGIN, COMMENT_END = range(4)

# Entries of the tally that parse() fills.
ROWS, VALUES, GREATEST_ID, ERROR, ERROR_AT, FIRST_MISSING, HARD_TOKENS = range(7)
TALLY_SIZE = 7

LABEL = -1  # stands for the column of a label in the table of hard tokens

_MISSING = 3  # one more status beside OK, NOT_A_NUMBER and HARD
_TAB, _NEWLINE, _RETURN, _SPACE, _HASH, _COLON = 9, 10, 13, 32, 35, 58
_MOST_ID_DIGITS = 18


@inlined
def _is_blank(byte: int) -> bool:
    return byte == _SPACE or byte == _TAB or byte == _RETURN  # noqa: PLR1714 - numba compares, never hashes


@inlined
def _ends_token(byte: int) -> bool:
    return _is_blank(byte) or byte == _NEWLINE or byte == _HASH  # noqa: PLR1714


@inlined
def _skip_blanks(i: int) -> int:
    while _is_blank(byte_at(i)):
        i += 1
    return i


@inlined
def _skip_token(i: int) -> int:
    while not _ends_token(byte_at(i)):
        i += 1
    return i


@kernel
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
def _read_value(i: int) -> tuple[float, int, int]:
    """Read the value of a feature: return (value, address behind it, status)."""
    millionths = read_six_decimals(i)
    if millionths >= 0 and _ends_token(byte_at(i + 8)):  # how LETOR's files write nearly everything
        return millionths / 1e6, i + 8, OK
    value, end, status = read_number(i)
    if status != NOT_A_NUMBER and _ends_token(byte_at(end)):
        return value, end, status
    end = _skip_missing(i)
    if end > 0 and _ends_token(byte_at(end)):
        return np.nan, end, _MISSING
    return 0.0, i, NOT_A_NUMBER


@inlined
def _read_id(i: int) -> tuple[int, int]:
    """Read a feature id and its colon: return (id, address behind them), the address -1 if they are not there."""
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
def _is_qid(i: int) -> bool:
    return byte_at(i) == 113 and byte_at(i + 1) == 105 and byte_at(i + 2) == 100 and byte_at(i + 3) == _COLON


@kernel
def _same(a: int, b: int, length: int) -> bool:
    for k in range(length):  # noqa: SIM110 - numba has no all()
        if byte_at(a + k) != byte_at(b + k):
            return False
    return True


@kernel
def _mark_ids(begin: int, end: int, seen: Ints, row: int) -> None:
    """Note which ids there are between two addresses; parse() has been over them."""
    i = _skip_blanks(begin)
    while i < end:
        number, _ = _read_id(i)
        if number < seen.shape[0]:
            seen[number] = row
        i = _skip_blanks(_skip_token(i))


@kernel
def parse(
    text: Bytes,
    begin: int,
    end: int,
    row: int,
    most_features: int,
    X: Floats,
    y: Floats,
    spans: Ints,
    new_query: NDArray[np.bool_],
    missing: Ints,
    seen: Ints,
    hard: Ints,
    tally: Ints,
) -> None:
    """Parse the lines of ``text[begin:end]`` into the rows from ``row`` on, up to the first error.

    Parameters
    ----------
    text : uint8 array
        LETOR text, padded.
    begin, end : int
        Beginnings of lines.
    row : int
        Where the first document of these lines goes.
    most_features : int
        A larger feature id is an error.
    X : float64 array of shape (rows, n)
        Zeros. A feature with an id over n (and not over ``most_features``) is not stored, but shows in the
        tally; NaN stands for a missing value.
    y : float64 array of shape (rows,)
        Labels.
    spans : int64 array of shape (rows, 4)
        Where the query id and the comment of each row are.
    new_query : bool array of shape (rows,)
        Whether a row's query id differs from that of the row before it; true for the first row here.
    missing : int64 array of shape (n,)
        Number of missing values, added to.
    seen : int64 array of shape (n + 1,)
        Filled with -1; in which row an id was last seen, where ids do not ascend.
    hard : int64 array of shape (capacity, 4)
        Filled with the tokens left to ``float()``: row, column (`LABEL` for the label), begin, end.
    tally : int64 array of shape (TALLY_SIZE,)
        Zeros; filled with what was counted and with the first error. ``HARD_TOKENS`` may exceed the
        capacity: then the caller must come again with a larger table.

    Notes
    -----
    O(end - begin).
    """
    base = text.ctypes.data
    n = X.shape[1]
    first_row = row
    last_qid, last_length = 0, -1
    values, greatest, n_hard, first_missing = 0, 0, 0, -1
    error = FINE
    i = base + begin
    stop = base + end
    while i < stop:
        i = _skip_blanks(i)
        if byte_at(i) == _HASH:
            i = next_newline(i)
        if byte_at(i) == _NEWLINE:
            i += 1
            continue

        token = i
        value, i, status = read_number(i)
        if status == NOT_A_NUMBER or not _ends_token(byte_at(i)):
            error = BAD_LABEL
            break
        y[row] = value
        if status == HARD:
            if n_hard < hard.shape[0]:
                hard[n_hard] = (row, LABEL, token - base, i - base)
            n_hard += 1

        token = _skip_blanks(i)
        if not _is_qid(token):
            error = NO_QID
            break
        qid = token + 4
        i = _skip_token(qid)
        if i == qid:
            error = EMPTY_QID
            break
        spans[row, QID_BEGIN] = qid - base
        spans[row, QID_END] = i - base
        new_query[row] = i - qid != last_length or not _same(last_qid, qid, last_length)
        last_qid, last_length = qid, i - qid

        features = i
        previous = 0
        ascending = True
        while True:
            token = _skip_blanks(i)
            if byte_at(token) == _NEWLINE or byte_at(token) == _HASH:
                break
            number, i = _read_id(token)
            if i < 0:
                error = BAD_FEATURE
                break
            if number == 0:
                error = ID_ZERO
                break
            if number > most_features:
                error = ID_TOO_LARGE
                break
            if number <= previous and ascending:
                ascending = False
                _mark_ids(features, token, seen, row)
            if not ascending and number <= n:
                if seen[number] == row:
                    error = ID_REPEATED
                    break
                seen[number] = row
            previous = number
            greatest = max(greatest, number)

            begin_value = i
            value, i, status = _read_value(begin_value)
            if number <= n:
                X[row, number - 1] = value
            values += 1
            if status == OK:
                continue
            if status == NOT_A_NUMBER:
                token = begin_value
                error = BAD_VALUE
                break
            if status == _MISSING:
                if first_missing < 0:
                    first_missing = begin_value - base
                if number <= n:
                    missing[number - 1] += 1
            elif number <= n:
                if n_hard < hard.shape[0]:
                    hard[n_hard] = (row, number - 1, begin_value - base, i - base)
                n_hard += 1
        if error != FINE:
            break

        comment = token
        i = token
        if byte_at(i) == _HASH:
            comment += 1
            i = next_newline(i)
        finish = i
        while finish > comment and _is_blank(byte_at(finish - 1)):
            finish -= 1
        spans[row, COMMENT_BEGIN] = comment - base
        spans[row, COMMENT_END] = finish - base
        i += 1
        row += 1
    tally[ROWS] = row - first_row
    tally[VALUES] = values
    tally[GREATEST_ID] = greatest
    tally[FIRST_MISSING] = first_missing
    tally[HARD_TOKENS] = n_hard
    if error != FINE:
        tally[ERROR] = error
        tally[ERROR_AT] = token - base


@kernel
def gather(text: Bytes, begin: Ints, end: Ints, offsets: Ints, out: Bytes) -> None:
    """Copy the spans ``text[begin[r]:end[r]]`` to ``out[offsets[r]:offsets[r + 1]]``."""
    for r in range(begin.shape[0]):
        shift = offsets[r] - begin[r]
        for i in range(begin[r], end[r]):
            out[i + shift] = text[i]
