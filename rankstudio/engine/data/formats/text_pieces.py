"""Text cut at the ends of its lines."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rankstudio.engine.arrays import Bytes
from rankstudio.engine.data.formats.letor_errors import BINARY, format_error
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.errors import FormatError
from rankstudio.engine.language import tr

_PIECE = 1 << 20  # bytes: a few milliseconds of parsing, so that Cancel is felt at once
_WINDOW = 1 << 12


@dataclass(frozen=True)
class TextPiece:
    """Whole lines of the text, and the row that the first document of them gets."""

    begin: int
    end: int
    row: int
    lines: int


def cut(
    path: Path, text: Bytes, begin: int, size: int, pool: Executor, progress: ReadProgress
) -> list[TextPiece]:
    """Cut the text at ends of lines, and count the lines of the pieces."""
    ends: list[int] = []
    at = begin
    while at < size:
        at = line_end(text, min(at + _PIECE, size) - 1, size)
        ends.append(at)
    begins = [begin, *ends][: len(ends)]
    counts = [pool.submit(count_lines, text[b:e]) for b, e in zip(begins, ends, strict=True)]
    pieces: list[TextPiece] = []
    row = 0
    for b, e, (newlines, zero) in zip(begins, ends, progress.in_order(counts), strict=True):
        if zero:
            raise zero_byte_error(path, text, b, e)
        lines = newlines + int(text[e - 1] != ord("\n"))  # the last line of a file may lack its end
        pieces.append(TextPiece(b, e, row, lines))
        row += lines
    return pieces


def zero_byte_error(path: Path, text: Bytes, begin: int, end: int) -> FormatError:
    """Return the error of the first zero byte from ``begin`` on, of which there is one."""
    return format_error(path, text, find_byte(text, b"\0", begin, end), BINARY, 0)


def skip_mark(path: Path, text: Bytes) -> int:
    """Return where the text begins, which is behind UTF-8's byte order mark."""
    head = text[:3].tobytes()
    if head == b"\xef\xbb\xbf":
        return 3
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FormatError(
            path, 1, 1, tr("text in UTF-16"), tr("text in UTF-8 or ASCII; please save the file so")
        )
    return 0


def line_end(text: Bytes, position: int, size: int) -> int:
    """Return the position behind the line that a position is on."""
    return min(find_byte(text, b"\n", position, size) + 1, size)


def find_byte(text: Bytes, byte: bytes, begin: int, end: int) -> int:
    """Return the first position of a byte from ``begin`` on, ``end`` where there is none before that."""
    for window in range(begin, end, _WINDOW):
        found = text[window : window + _WINDOW].tobytes().find(byte)
        if found >= 0:
            return min(window + found, end)
    return end


def count_lines(text: Bytes) -> tuple[int, bool]:
    """Return the number of newlines, and whether there is a zero byte."""
    newlines, zero = 0, False
    for begin in range(0, len(text), _PIECE):  # a line may be as long as the file
        piece = text[begin : begin + _PIECE]
        newlines += int(np.count_nonzero(piece == ord("\n")))
        zero = zero or bool(piece.min() == 0)
    return newlines, zero
