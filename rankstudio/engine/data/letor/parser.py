"""From LETOR text in memory to a `Table`: the text in pieces, the pieces in threads, the rows in place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rankstudio.engine.arrays import Bools, Bytes, Floats, Ints
from rankstudio.engine.data.comments import TextComments
from rankstudio.engine.data.letor import _line_kernel as kernels
from rankstudio.engine.data.letor.file_access import PADDING
from rankstudio.engine.data.letor.format_errors import (
    BINARY,
    MISSING,
    MOST_FEATURES,
    OLD_LINE_END,
    OVERFLOW,
    format_error,
)
from rankstudio.engine.data.letor.parsed_table import Table
from rankstudio.engine.data.letor.progress import ReadProgress
from rankstudio.engine.data.letor.query_grouping import copy_comments, group
from rankstudio.engine.data.letor.query_groups import group_by_size
from rankstudio.engine.errors import DatasetError, FormatError, shown_path
from rankstudio.engine.language import tr
from rankstudio.engine.support import memory

_PIECE = 1 << 20  # bytes: a few milliseconds of parsing, so that Cancel is felt at once
_PEEK = 1 << 16
_WINDOW = 1 << 12
_FEW_HARD = 64
_HIDDEN = re.compile(rb"\r[ \t]*[^\s:#]+[ \t]+qid:")  # a document in the comment of the one before it
_BESIDE = 41  # bytes of a row beside its features


@dataclass(frozen=True)
class _Piece:
    """Whole lines of the text, and the row that the first document of them gets."""

    begin: int
    end: int
    row: int
    lines: int


@dataclass(frozen=True)
class _How:
    """What may stand on a line."""

    most_features: int
    refuse: bool
    shift: int
    with_query: bool


@dataclass(frozen=True, eq=False)
class _Rows:
    """The arrays that the kernel writes to; as many rows as there are lines."""

    X: Floats
    y: Floats
    spans: Ints
    new_query: Bools

    @classmethod
    def empty(cls, rows: int, width: int) -> _Rows:
        return cls(
            np.zeros((rows, width)), np.empty(rows), np.empty((rows, 4), np.int64), np.empty(rows, np.bool_)
        )

    def at(self, rows: Ints) -> _Rows:
        return _Rows(self.X[rows], self.y[rows], self.spans[rows], self.new_query[rows])


@dataclass(frozen=True, eq=False)
class _Outcome:
    """What came of one piece."""

    tally: Ints
    missing: Ints
    problems: list[tuple[int, int]]  # position and code, in no order


def parse_text(
    path: Path,
    text: Bytes,
    pool: Executor,
    progress: ReadProgress,
    *,
    n_features: int | None = None,
    refuse: bool = False,
    first_id: int = 1,
    sizes: Ints | None = None,
) -> Table:
    """Parse LETOR text.

    Parameters
    ----------
    path : Path
        The file, for the texts of errors.
    text : uint8 array
        Its text, with `PADDING` newlines behind it.
    pool : Executor
        Threads.
    progress : ReadProgress
        Told of half of the bytes of the text, as they are parsed.
    n_features : int, optional
        A larger feature id is an error.
    refuse : bool
        Whether a missing value is an error.
    first_id : int
        With what the ids of features begin in the text: 1, or 0, which becomes 1.
    sizes : int64 array of shape (Q,), optional
        How many documents each query has, where the lines do not say their query.

    Raises
    ------
    FormatError
        At the first place that is not LETOR text.
    MissingValueError
        At the first missing value, if ``refuse`` is set.
    DatasetError
        If the features do not fit into memory, or there are not as many documents as the queries have.

    Notes
    -----
    Time O(b / p) for b bytes on p processors, twice that for sparse text whose width a look at its beginning
    did not tell; memory O(m n) for m documents and n features.
    """
    most_features = MOST_FEATURES if n_features is None else min(n_features, MOST_FEATURES)
    size = len(text) - PADDING
    pieces = _cut(path, text, size, pool, progress)
    how = _How(most_features, refuse, 1 - first_id, sizes is None)
    width = _peek_width(text, pieces, how)
    while True:
        rows = _allocate(path, sum(p.lines for p in pieces), width)
        futures = [pool.submit(_parse_piece, text, p, rows, how) for p in pieces]
        outcomes: list[_Outcome] = []
        try:
            for piece, outcome in zip(pieces, progress.in_order(futures), strict=True):
                progress.advance((piece.end - piece.begin) / 2)
                outcomes.append(outcome)
                if outcome.problems:
                    break
        finally:
            for future in futures:
                future.cancel()
        greatest = max((int(o.tally[kernels.GREATEST_ID]) for o in outcomes), default=0)
        if greatest <= width:
            break
        width = greatest
    for outcome in outcomes:
        if outcome.problems:
            raise format_error(path, text, *min(outcome.problems), most_features)
    return _assemble(path, text, pieces, rows, outcomes, sizes)


def warm_up() -> None:
    """Compile the parser, which takes seconds once after an installation, or load it: a moment."""
    text = np.full(PADDING + 14, ord("\n"), dtype=np.uint8)
    text[:13] = np.frombuffer(b"1 qid:1 1:0.5", dtype=np.uint8)
    with ThreadPoolExecutor(1) as pool:
        parse_text(Path("warm-up"), text, pool, ReadProgress())


def _cut(path: Path, text: Bytes, size: int, pool: Executor, progress: ReadProgress) -> list[_Piece]:
    """Cut the text at ends of lines, and count the lines of the pieces."""
    begin = _skip_mark(path, text)
    ends: list[int] = []
    at = begin
    while at < size:
        at = _line_end(text, min(at + _PIECE, size) - 1, size)
        ends.append(at)
    begins = [begin, *ends][: len(ends)]
    counts = [pool.submit(_count_lines, text[b:e]) for b, e in zip(begins, ends, strict=True)]
    pieces: list[_Piece] = []
    row = 0
    for b, e, (newlines, zero) in zip(begins, ends, progress.in_order(counts), strict=True):
        if zero:
            raise format_error(path, text, _find(text, b"\0", b, e), BINARY, 0)
        lines = newlines + int(text[e - 1] != ord("\n"))  # the last line of a file may lack its end
        pieces.append(_Piece(b, e, row, lines))
        row += lines
    return pieces


def _skip_mark(path: Path, text: Bytes) -> int:
    """Return where the text begins, which is behind UTF-8's byte order mark."""
    head = text[:3].tobytes()
    if head == b"\xef\xbb\xbf":
        return 3
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FormatError(
            path, 1, 1, tr("text in UTF-16"), tr("text in UTF-8 or ASCII; please save the file so")
        )
    return 0


def _line_end(text: Bytes, position: int, size: int) -> int:
    """Return the position behind the line that a position is on."""
    return min(_find(text, b"\n", position, size) + 1, size)


def _find(text: Bytes, byte: bytes, begin: int, end: int) -> int:
    """Return the first position of a byte from ``begin`` on, ``end`` where there is none before that."""
    for window in range(begin, end, _WINDOW):
        found = text[window : window + _WINDOW].tobytes().find(byte)
        if found >= 0:
            return min(window + found, end)
    return end


def _count_lines(text: Bytes) -> tuple[int, bool]:
    """Return the number of newlines, and whether there is a zero byte."""
    newlines, zero = 0, False
    for begin in range(0, len(text), _PIECE):  # a line may be as long as the file
        piece = text[begin : begin + _PIECE]
        newlines += int(np.count_nonzero(piece == ord("\n")))
        zero = zero or bool(piece.min() == 0)
    return newlines, zero


def _peek_width(text: Bytes, pieces: list[_Piece], how: _How) -> int:
    """Return the greatest feature id in the first lines: the width, nearly always."""
    if not pieces:
        return 0
    first = pieces[0]
    end = _line_end(text, min(first.begin + _PEEK, first.end) - 1, first.end)
    lines = _count_lines(text[first.begin : end])[0] + 1
    outcome = _parse_piece(
        text, _Piece(first.begin, end, 0, lines), _Rows.empty(lines, 0), replace(how, refuse=False)
    )
    return int(outcome.tally[kernels.GREATEST_ID])


def _allocate(path: Path, rows: int, width: int) -> _Rows:
    """Return arrays for the rows, or say that they do not fit."""
    needed = rows * (8 * width + _BESIDE)
    try:
        free = memory.available()
        if needed > free:
            raise MemoryError
        return _Rows.empty(rows, width)
    except MemoryError:
        raise DatasetError(
            tr(
                "{path}: {rows} documents with {width} features need {needed:.1f} GB of memory, and "
                "{size} are free. Every feature becomes a column, so leave out unused ones or number "
                "them anew."
            ).format(path=path, rows=rows, width=width, needed=needed / 1e9, size=memory.size(free))
        ) from None


def _parse_piece(text: Bytes, piece: _Piece, rows: _Rows, how: _How) -> _Outcome:
    """Parse one piece into its rows; runs in a thread of the pool."""
    width = rows.X.shape[1]
    capacity = _FEW_HARD
    while True:
        tally = np.zeros(kernels.TALLY_SIZE, dtype=np.int64)
        missing = np.zeros(width, dtype=np.int64)
        hard = np.empty((capacity, 4), dtype=np.int64)
        kernels.parse(
            text,
            piece.begin,
            piece.end,
            piece.row,
            how.most_features,
            how.shift,
            how.with_query,
            rows.X,
            rows.y,
            rows.spans,
            rows.new_query,
            missing,
            np.full(width + 1, -1, dtype=np.int64),
            hard,
            tally,
        )
        n_hard = int(tally[kernels.HARD_TOKENS])
        if n_hard <= capacity:
            break
        capacity = n_hard
    problems = list(_convert_hard(text, hard[:n_hard], rows))
    if tally[kernels.ERROR] != kernels.FINE:
        problems.append((int(tally[kernels.ERROR_AT]), int(tally[kernels.ERROR])))
    if how.refuse and tally[kernels.FIRST_MISSING] >= 0:
        problems.append((int(tally[kernels.FIRST_MISSING]), MISSING))
    return _Outcome(tally, missing, problems)


def _convert_hard(text: Bytes, hard: Ints, rows: _Rows) -> Iterator[tuple[int, int]]:
    """Convert the numbers that the kernel left to ``float()``; yield where one is too large."""
    for row, column, begin, end in hard.tolist():
        value = float(text[begin:end].tobytes())
        if not np.isfinite(value):
            yield begin, OVERFLOW
        elif column == rows.X.shape[1]:
            rows.y[row] = value
        else:
            rows.X[row, column] = value


def _refuse_hidden(path: Path, text: Bytes, begins: Ints, comments: TextComments) -> None:
    """Raise `FormatError` where a comment has a document in it, behind a line end of old."""
    for hidden in _HIDDEN.finditer(comments.content.data):
        row = int(np.searchsorted(comments.offsets, hidden.start(), side="right")) - 1
        if hidden.end() <= comments.offsets[row + 1]:  # the comments stand one behind the other
            at = begins[row] + hidden.start() - comments.offsets[row]
            raise format_error(path, text, int(at), OLD_LINE_END, 0)


def _assemble(
    path: Path,
    text: Bytes,
    pieces: list[_Piece],
    rows: _Rows,
    outcomes: list[_Outcome],
    sizes: Ints | None,
) -> Table:
    """Put the rows of the pieces together and group them by query."""
    counts = [int(o.tally[kernels.ROWS]) for o in outcomes]
    if sum(counts) == 0:
        found = "an empty file" if len(text) == PADDING else "no documents"
        raise FormatError(path, 0, 0, found, tr("at least one line such as: 2 qid:10 1:0.5 2:0.25"))
    if rows.X.shape[1] == 0:
        raise FormatError(path, 0, 0, tr("no features"), tr("at least one feature:value in some line"))
    if counts != [p.lines for p in pieces]:  # there were blank lines
        kept = [np.arange(p.row, p.row + n) for p, n in zip(pieces, counts, strict=True)]
        rows = rows.at(np.concatenate(kept))
    if sizes is None:
        query_ptr, query_ids, order, scattered = group(text, rows.spans, rows.new_query)
    else:
        query_ptr, query_ids = group_by_size(shown_path(path), sizes, len(rows.y))
        order, scattered = np.zeros(0, dtype=np.int64), None
    if scattered is not None:
        rows = rows.at(order)
    comments = copy_comments(text, rows.spans)
    if np.any(comments.content == ord("\r")):
        _refuse_hidden(path, text, rows.spans[:, kernels.COMMENT_BEGIN], comments)
    n_values = sum(int(o.tally[kernels.VALUES]) for o in outcomes)
    return Table(
        X=rows.X,
        y=rows.y,
        query_ptr=query_ptr,
        query_ids=query_ids,
        comments=comments,
        missing=np.sum([o.missing for o in outcomes], axis=0),
        dense=n_values == rows.X.size,
        file_rows=order,
        scattered=scattered,
    )
