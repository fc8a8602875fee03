"""The pass over LETOR text, in numba: from blanks, ids and values, each read from an address, to rows.

Every function here expects a text that goes on with newlines for some
bytes behind its end (`PADDING`), which is why no loop checks for the
end of the text: each of them stops at a newline at the latest.
"""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Bools, Bytes, Floats, Int32s, Ints
from rankstudio.engine.data.formats._decimal import (
    HARD,
    NOT_A_NUMBER,
    OK,
    byte_at,
    next_newline,
    read_number,
    read_six_decimals,
    word_at,
)
from rankstudio.engine.support.jit import inlined, kernel, subroutine

FINE = 0
(
    BAD_LABEL,
    NO_QID,
    EMPTY_QID,
    BAD_FEATURE,
    BAD_VALUE,
    ID_ZERO,
    ID_TOO_LARGE,
    ID_REPEATED,
) = range(1, 9)
OVERFLOW, MISSING, BINARY, OLD_LINE_END = range(9, 13)
"""Codes of the problems of a line; the last four are found outside of the kernels."""

ABSENT = 3  # a missing value: one more status beside OK, NOT_A_NUMBER and HARD
NEWLINE = 10
HASH = 35
_TAB = 9
_RETURN = 13
_SPACE = 32
_COLON = 58
_MOST_ID_DIGITS = 18  # they fit into an int64


@inlined
def is_blank(byte: int) -> bool:
    """Return whether a byte is a blank."""
    return byte == _SPACE or byte == _TAB or byte == _RETURN  # noqa: PLR1714 - numba compares, never hashes


@inlined
def ends_token(byte: int) -> bool:
    """Return whether a byte ends a token."""
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
    """Return the address behind the word ``null`` or ``nan`` at the address ``i``; -1 without it.

    The case of the letters does not matter. A byte ``| 32`` is in lower
    case: 110, 97, 117 and 108 are n, a, u and l. Only ``nan`` may have
    a sign.
    """
    signed = byte_at(i) == 43 or byte_at(i) == 45  # "+" or "-"
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
    """Read the value of a feature at an address: return (value, address behind it, status).

    The status is `OK`, `ABSENT` for a missing value (NaN),
    `NOT_A_NUMBER`, or `HARD` for a number that is left to ``float()``.
    """
    # Try "0.123456" first: nearly all values in LETOR's files are written like this.
    millionths = read_six_decimals(i)
    if millionths >= 0 and ends_token(byte_at(i + 8)):
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
    """Read a feature id and its colon at an address: return (id, address behind them).

    Return (0, -1) if there is no id with a colon.
    """
    begin = i
    number = 0
    digit = byte_at(i) - 48  # 48 is "0"
    while 0 <= digit <= 9 and i - begin < _MOST_ID_DIGITS:
        number = number * 10 + digit
        i += 1
        digit = byte_at(i) - 48
    if i == begin or byte_at(i) != _COLON:
        return 0, -1
    return number, i + 1


@inlined
def next_document(i: int, stop: int) -> int:
    """Return the address of the next document's first character, from ``i`` on.

    Lines that are blank or only a comment are skipped. Return ``stop``,
    the address of the end of the lines, if no document follows.
    """
    while i < stop:
        i = skip_blanks(i)
        if byte_at(i) == HASH:
            i = next_newline(i)
        if byte_at(i) != NEWLINE:
            return i
        i += 1
    return stop


# Columns of the span table: where in the text a row's query id and comment are.
QID_BEGIN, QID_END, COMMENT_BEGIN, COMMENT_END = range(4)

# Entries of the tally that parse() fills.
ROWS, VALUES, GREATEST_ID, ERROR, ERROR_AT, FIRST_MISSING, HARD_TOKENS = range(7)
TALLY_SIZE = 7

FAILED = -1  # returned instead of the address behind a token that could not be read
_QID = np.uint64(int.from_bytes(b"qid:", "little"))
_LOW_HALF = np.uint64(0xFFFFFFFF)


@subroutine
def _note_hard(
    hard: Ints, tally: Ints, row: int, column: int, begin: int, end: int
) -> None:
    """Add a number to the table ``hard`` of those left to ``float()``.

    Parameters
    ----------
    hard : int64 array of shape (capacity, 4)
        Row and column of each number, begin and end of its text. If the
        table is full, the number is only counted, so that the caller
        can make it larger.
    tally : int64 array
        Counts, such as that of the entries, and the first problem of the lines.
    row, column, begin, end : int
        The new entry of the table.
    """
    count = tally[HARD_TOKENS]
    if count < hard.shape[0]:
        hard[count, 0] = row
        hard[count, 1] = column
        hard[count, 2] = begin
        hard[count, 3] = end
    tally[HARD_TOKENS] = count + 1


@inlined
def _read_label(
    i: int, base: int, row: int, n: int, y: Floats, hard: Ints, tally: Ints
) -> int:
    """Read the label of a row into ``y``; return the address behind it, or `FAILED`.

    Parameters
    ----------
    i : int
        Address of the label.
    base : int
        Address of the whole text, from which positions count.
    row : int
        Row of the document.
    n : int
        Number of features.
    y : float64 array of shape (rows,)
        Receives the label.
    hard : int64 array of shape (capacity, 4)
        Table of the numbers left to ``float()``; the label counts as column n.
    tally : int64 array
        Receives counts, and the first problem of the lines.
    """
    value, end, status = read_number(i)
    if status == NOT_A_NUMBER or not ends_token(byte_at(end)):
        tally[ERROR] = BAD_LABEL
        tally[ERROR_AT] = i - base
        return FAILED
    y[row] = value
    if status == HARD:
        _note_hard(hard, tally, row, n, i - base, end - base)
    return end


@inlined
def _read_query(i: int, base: int, row: int, spans: Ints, tally: Ints) -> int:
    """Find the query id of a row; return the address behind it, or `FAILED`.

    Parameters
    ----------
    i : int
        Address behind the label.
    base : int
        Address of the whole text, from which positions count.
    row : int
        Row of the document.
    spans : int64 array of shape (rows, 4)
        Receives the positions in the text where the id begins and ends.
    tally : int64 array
        Receives the first problem of the lines.
    """
    i = skip_blanks(i)
    # The lower half of a word is four bytes: compare them with "qid:".
    if word_at(i) & _LOW_HALF != _QID:
        tally[ERROR] = NO_QID
        tally[ERROR_AT] = i - base
        return FAILED
    begin = i + 4
    i = skip_token(begin)
    if i == begin:
        tally[ERROR] = EMPTY_QID
        tally[ERROR_AT] = begin - base
        return FAILED
    spans[row, QID_BEGIN] = begin - base
    spans[row, QID_END] = i - base
    return i


@inlined
def _same_query(base: int, row: int, spans: Ints) -> bool:
    """Return whether a row has the query id of the row before it, byte by byte.

    ``base`` is the address of the text; ``spans`` has the positions in
    it where the id of each row begins and ends.
    """
    length = spans[row, QID_END] - spans[row, QID_BEGIN]
    if spans[row - 1, QID_END] - spans[row - 1, QID_BEGIN] != length:
        return False
    previous = base + spans[row - 1, QID_BEGIN]
    current = base + spans[row, QID_BEGIN]
    for k in range(length):  # noqa: SIM110 - numba has no all()
        if byte_at(previous + k) != byte_at(current + k):
            return False
    return True


@subroutine
def _mark_ids(begin: int, end: int, shift: int, row_of_id: Ints, row: int) -> None:
    """Note that the feature ids in a text between two addresses occur in a row.

    If ids do not ascend, a repeated id is found in this way. The text
    is known to be valid.

    Parameters
    ----------
    begin, end : int
        Addresses where the text begins and ends.
    shift : int
        Added to the ids, so that they begin at 1.
    row_of_id : int64 array of shape (n + 1,)
        Receives the row for these ids: it has the row in which each id
        occurred last. Ids above n are ignored.
    row : int
        Row of the document.
    """
    i = skip_blanks(begin)
    while i < end:
        number, _ = read_id(i)
        number += shift
        if number < row_of_id.shape[0]:
            row_of_id[number] = row
        i = skip_blanks(skip_token(i))


@subroutine
def _is_repeated(number: int, row_of_id: Ints, row: int) -> bool:
    """Return whether the feature id ``number`` occurred in this row before, and store the row.

    ``row_of_id`` has, for each id, the row in which it occurred last.
    Return False for a greater id than it has.
    """
    if number >= row_of_id.shape[0]:
        return False
    before = bool(row_of_id[number] == row)
    row_of_id[number] = row
    return before


@inlined
def _id_problem(number: int, end: int, most_features: int) -> int:
    """Return the code of the problem of a feature id, or FINE.

    ``number`` is the id, and ``end`` the address behind it, or -1 if
    the text has no id there.
    """
    if end < 0:
        return BAD_FEATURE
    if number == 0:
        return ID_ZERO
    return ID_TOO_LARGE if number > most_features else FINE


@inlined
def _read_features(
    i: int,
    base: int,
    row: int,
    most_features: int,
    shift: int,
    X: Floats,
    missing: Ints,
    row_of_id: Ints,
    ids: Int32s,
    values: Floats,
    lengths: Ints,
    hard: Ints,
    tally: Ints,
) -> int:
    """Read the features of a row from the address ``i`` on; see `parse` for the arrays.

    Return the address behind the features, where a comment or a newline
    begins; or `FAILED` after a problem, which is stored in ``tally``.
    """
    n = X.shape[1]
    first = i
    previous = 0
    greatest = 0
    count = 0
    ascending = True
    problem = FINE
    problem_address = 0
    while True:
        i = skip_blanks(i)
        # A row ends with a newline, or with a comment.
        if byte_at(i) == NEWLINE or byte_at(i) == HASH:
            break
        # Read the id; the shift gives the first feature the number 1.
        number, begin = read_id(i)
        number += shift
        problem = _id_problem(number, begin, most_features)
        problem_address = i
        if problem != FINE:
            break
        # While ids ascend, none can be repeated. From the first one
        # that does not, each is compared with all ids before it in the
        # row.
        if number <= previous and ascending:
            ascending = False
            _mark_ids(first, i, shift, row_of_id, row)
        if not ascending and _is_repeated(number, row_of_id, row):
            problem = ID_REPEATED
            break
        # Read the value, which begins behind the id.
        previous = number
        value, i, status = read_value(begin)
        if status == NOT_A_NUMBER:
            problem = BAD_VALUE
            problem_address = begin
            break
        greatest = number if number > greatest else greatest
        count += 1
        if status == ABSENT and tally[FIRST_MISSING] < 0:
            tally[FIRST_MISSING] = begin - base
        # If zeros are not stored, X has no columns: collect ids and values.
        if number > n:
            if ids.shape[0]:
                slot = tally[VALUES] + count - 1
                ids[slot] = number
                values[slot] = value
                if status == HARD:
                    _note_hard(hard, tally, row, n + 1 + slot, begin - base, i - base)
            continue
        # Hard numbers are noted, to be parsed later.
        X[row, number - 1] = value
        if status == ABSENT:
            missing[number - 1] += 1
        elif status == HARD:
            _note_hard(hard, tally, row, number - 1, begin - base, i - base)
    # Sum up the row, also if it is invalid.
    tally[VALUES] += count
    if lengths.shape[0]:
        lengths[row] = count
    tally[GREATEST_ID] = (
        greatest if greatest > tally[GREATEST_ID] else tally[GREATEST_ID]
    )
    if problem != FINE:
        tally[ERROR] = problem
        tally[ERROR_AT] = problem_address - base
        return FAILED
    return i


@inlined
def _read_comment(i: int, base: int, row: int, spans: Ints) -> int:
    """Find the comment of a row, if there is one; return the address of the next line.

    Parameters
    ----------
    i : int
        Address behind the features.
    base : int
        Address of the whole text, from which positions count.
    row : int
        Row of the document.
    spans : int64 array of shape (rows, 4)
        Receives the positions in the text where the comment begins and
        ends. The comment between them has neither "#" nor blanks at its
        end; without a comment, both positions are equal.
    """
    # A comment begins behind its "#", and ends with the line.
    begin = i
    if byte_at(i) == HASH:
        begin += 1
        i = next_newline(i)
    end = i
    while end > begin and is_blank(byte_at(end - 1)):
        end -= 1
    spans[row, COMMENT_BEGIN] = begin - base
    spans[row, COMMENT_END] = end - base
    return i + 1


@kernel
def parse(
    text: Bytes,
    begin: int,
    end: int,
    row: int,
    most_features: int,
    shift: int,
    with_query: bool,
    X: Floats,
    y: Floats,
    spans: Ints,
    new_query: Bools,
    missing: Ints,
    row_of_id: Ints,
    ids: Int32s,
    values: Floats,
    lengths: Ints,
    hard: Ints,
    tally: Ints,
) -> None:
    """Parse the lines of ``text[begin:end]`` into the rows from ``row`` on, up to the first error.

    Parameters
    ----------
    text : uint8 array
        LETOR text, followed by newlines (padding).
    begin, end : int
        Positions of the first line, and of the line after the last.
    row : int
        Row of the first document of these lines.
    most_features : int
        A larger feature id is an error.
    shift : int
        Added to the ids: 1 if they begin at 0.
    with_query : bool
        Whether the query id follows the label; if not, all spans of
        query ids are empty.
    X : float64 array of shape (rows, n)
        Zeros; receives the features. A feature with an id over n (and
        not over ``most_features``) is not stored here, but shows in the
        tally; NaN stands for a missing value.
    y : float64 array of shape (rows,)
        Receives the labels.
    spans : int64 array of shape (rows, 4)
        Positions in ``text`` of each row: begin and end of the query
        id, begin and end of the comment.
    new_query : bool array of shape (rows,)
        Whether a row's query id differs from that of the row before it;
        true for the first row here.
    missing : int64 array of shape (n,)
        Number of missing values of each feature, to which those of
        these lines are added.
    row_of_id : int64 array of shape (n + 1,)
        Filled with -1 by the caller; here, the row in which an id
        occurred last, used for rows whose ids do not ascend.
    ids, values : int32 and float64 arrays of shape (values of these lines,), or (0,)
        Receive the ids over n and their values, one after the other;
        with n = 0, all features.
    lengths : int64 array of shape (rows,), or (0,)
        Receives the number of features of each row.
    hard : int64 array of shape (capacity, 4)
        Filled with the tokens left to ``float()``: row, column (n for
        the label, n + 1 + i for number i of ``values``), begin, end.
    tally : int64 array of shape (TALLY_SIZE,)
        Zeros; filled with counts and the first error. ``HARD_TOKENS``
        may exceed the capacity of ``hard``: then the caller must call
        again with a larger table.

    Notes
    -----
    O(end - begin).
    """
    base = text.ctypes.data
    stop = base + end
    first_row = row
    tally[FIRST_MISSING] = -1
    i = next_document(base + begin, stop)
    # Each line has a label, a query id, features and perhaps a comment.
    while i < stop:
        i = _read_label(i, base, row, X.shape[1], y, hard, tally)
        if i == FAILED:
            break
        if with_query:
            i = _read_query(i, base, row, spans, tally)
            if i == FAILED:
                break
        else:
            # Empty ids make all documents belong to the same query.
            spans[row, QID_BEGIN] = spans[row, QID_END] = i - base
        new_query[row] = row == first_row or not _same_query(base, row, spans)
        i = _read_features(
            i,
            base,
            row,
            most_features,
            shift,
            X,
            missing,
            row_of_id,
            ids,
            values,
            lengths,
            hard,
            tally,
        )
        if i == FAILED:
            break
        i = next_document(_read_comment(i, base, row, spans), stop)
        row += 1
    tally[ROWS] = row - first_row


@kernel
def gather(text: Bytes, begin: Ints, end: Ints, offsets: Ints, out: Bytes) -> None:
    """Copy the spans ``text[begin[r]:end[r]]`` to ``out[offsets[r]:offsets[r + 1]]``."""
    for r in range(begin.shape[0]):
        for offset in range(end[r] - begin[r]):
            out[offsets[r] + offset] = text[begin[r] + offset]
