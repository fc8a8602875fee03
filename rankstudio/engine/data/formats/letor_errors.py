"""From a code and a position in the text to a sentence: where, what was found, what was expected."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rankstudio.engine.arrays import Bytes
from rankstudio.engine.data.table import MOST_FEATURES
from rankstudio.engine.errors import FormatError, MissingValueError, ZeroIdError
from rankstudio.engine.language import tr, translatable

BAD_LABEL, NO_QID, EMPTY_QID, BAD_FEATURE, BAD_VALUE, ID_ZERO, ID_TOO_LARGE, ID_REPEATED = range(1, 9)
OVERFLOW, MISSING, BINARY, OLD_LINE_END = range(9, 13)

_SHOWN = 40
_PIECE = 1 << 24  # 16 MiB: newlines are counted without a copy of the text
_UTF8_MARK = b"\xef\xbb\xbf"

_EXPECTED = {
    BAD_LABEL: translatable("a finite number as the relevance label"),
    NO_QID: translatable('the query as "qid:" and its id, such as qid:10'),
    EMPTY_QID: translatable('the id of the query after "qid:"'),
    BAD_FEATURE: translatable("feature:value, such as 12:0.5"),
    BAD_VALUE: translatable("a number as the value of feature {feature}"),
    ID_ZERO: translatable("a feature id of at least 1"),
    ID_TOO_LARGE: translatable("a feature id of at most {most}"),
    ID_REPEATED: translatable("every feature at most once in a line"),
    OVERFLOW: translatable("a number between -1.8e308 and 1.8e308"),
    MISSING: translatable("a value for every feature, because missing values are set to be refused"),
    BINARY: translatable("text"),
    OLD_LINE_END: translatable("lines that end with a line feed; save the file with such line ends"),
}


def line_of(text: Bytes, position: int) -> int:
    """Return the number of the line, from 1, that a position is on. O(position)."""
    newlines = 0
    for begin in range(0, position, _PIECE):
        newlines += int(np.count_nonzero(text[begin : min(begin + _PIECE, position)] == ord("\n")))
    return newlines + 1


def token_at(text: Bytes, position: int) -> str:
    """Return the token that begins at a position; "" where a blank or the end of the line is."""
    token = text[position : position + 4 * _SHOWN].tobytes()
    for blank in (b"\n", b" ", b"\t", b"\r", b"#"):
        token = token.partition(blank)[0]
    return token.decode("utf-8", errors="backslashreplace")


def format_error(path: Path, text: Bytes, position: int, problem: int, most_features: int) -> FormatError:
    """Make the error for a problem at a position of the text.

    Parameters
    ----------
    path : Path
        The file.
    text : uint8 array
        Its text.
    position : int
        Of the token that is wrong.
    problem : int
        One of the codes of this module.
    most_features : int
        The largest feature id allowed.
    """
    line_begin = _line_begin(text, position)
    before = text[line_begin:position].tobytes().removeprefix(_UTF8_MARK if line_begin == 0 else b"")
    token = token_at(text, position)
    feature = before.decode("utf-8", errors="replace").rpartition(" ")[2].rpartition("\t")[2].rstrip(":")
    expected = tr(_EXPECTED[problem]).format(feature=feature, most=most_features)
    if problem == ID_TOO_LARGE and most_features == MOST_FEATURES:
        expected = tr("{expected} (every feature becomes a column in memory)").format(expected=expected)
    kind = {MISSING: MissingValueError, ID_ZERO: ZeroIdError}.get(problem, FormatError)
    return kind(
        path,
        line_of(text, position),
        len(before.decode("utf-8", errors="replace")) + 1,
        _found(problem, token),
        expected,
    )


def _found(problem: int, token: str) -> str:
    if problem == EMPTY_QID:
        return tr("nothing")
    if problem == BINARY:
        return tr("binary data (a zero byte)")
    if problem == OLD_LINE_END:
        return tr("a document after a carriage return in a comment")
    if not token:
        return tr("the end of the line") if problem == NO_QID else tr("nothing")
    shown = token if len(token) <= _SHOWN else token[:_SHOWN] + "…"
    quoted = '"' + "".join(c if c.isprintable() else repr(c)[1:-1] for c in shown) + '"'
    if problem == ID_REPEATED:
        if ":" not in token:
            return tr("{token} a second time").format(token=quoted)
        return tr("feature {feature} again").format(feature=token.partition(":")[0])
    return quoted


def _line_begin(text: Bytes, position: int) -> int:
    for end in range(position, 0, -_PIECE):
        begin = max(end - _PIECE, 0)
        found = text[begin:end].tobytes().rfind(b"\n")
        if found >= 0:
            return begin + found + 1
    return 0
