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
from rankstudio.engine.data.letor.text_pieces import TextPiece, count_lines, cut, line_end, skip_mark
from rankstudio.engine.errors import DatasetError, FormatError, shown_path
from rankstudio.engine.language import tr
from rankstudio.engine.support import memory

_PEEK = 1 << 16
_FEW_HARD = 64
_HIDDEN = re.compile(rb"\r[ \t]*[^\s:#]+[ \t]+qid:")  # a document in the comment of the one before it
_BESIDE = 41  # bytes of a row beside its features


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
class ParsedLines:
    """The documents of some lines of a text, in their order.

    Attributes
    ----------
    X : ndarray of shape (m, n)
        Features; NaN where a value is missing.
    y : ndarray of shape (m,)
        Labels.
    spans : ndarray of shape (m, 4)
        Where in the text the query id and the comment of each are.
    new_query : ndarray of shape (m,)
        False where a document has the query id of the one before it.
    missing : ndarray of shape (n,)
        Number of missing values of each feature.
    n_values : int
        How many values the lines give.
    """

    X: Floats
    y: Floats
    spans: Ints
    new_query: Bools
    missing: Ints
    n_values: int


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
    lines = parse_lines(
        path,
        text,
        pool,
        progress,
        n_features=n_features,
        refuse=refuse,
        first_id=first_id,
        with_query=sizes is None,
    )
    refuse_nothing(path, len(text) == PADDING, *lines.X.shape)
    return _assemble(path, text, lines, sizes)


def parse_lines(
    path: Path,
    text: Bytes,
    pool: Executor,
    progress: ReadProgress,
    *,
    n_features: int | None = None,
    refuse: bool = False,
    first_id: int = 1,
    with_query: bool = True,
    begins: bool = True,
    width: int = 0,
) -> ParsedLines:
    """Parse some lines of LETOR text, of which there may be none; see `parse_text`.

    Parameters
    ----------
    path, text, pool, progress, n_features, refuse, first_id
        As for `parse_text`, which says what is raised.
    with_query : bool
        Whether the lines say their query.
    begins : bool
        Whether these are the first lines of the file.
    width : int
        Least number of columns.
    """
    most_features = MOST_FEATURES if n_features is None else min(n_features, MOST_FEATURES)
    size = len(text) - PADDING
    pieces = cut(path, text, skip_mark(path, text) if begins else 0, size, pool, progress)
    how = _How(most_features, refuse, 1 - first_id, with_query)
    width = max(width, _peek_width(text, pieces, how))
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
    counts = [int(o.tally[kernels.ROWS]) for o in outcomes]
    if counts != [p.lines for p in pieces]:  # there were blank lines
        kept = [np.arange(p.row, p.row + n) for p, n in zip(pieces, counts, strict=True)]
        rows = rows.at(np.concatenate(kept))
    missing = sum((o.missing for o in outcomes), np.zeros(width, dtype=np.int64))
    n_values = sum(int(o.tally[kernels.VALUES]) for o in outcomes)
    return ParsedLines(rows.X, rows.y, rows.spans, rows.new_query, missing, n_values)


def refuse_nothing(path: Path, empty: bool, n_documents: int, n_features: int) -> None:
    """Raise `FormatError` for a file without documents, or without features."""
    if n_documents == 0:
        found = "an empty file" if empty else "no documents"
        raise FormatError(path, 0, 0, found, tr("at least one line such as: 2 qid:10 1:0.5 2:0.25"))
    if n_features == 0:
        raise FormatError(path, 0, 0, tr("no features"), tr("at least one feature:value in some line"))


def warm_up() -> None:
    """Compile the parser, which takes seconds once after an installation, or load it: a moment."""
    text = np.full(PADDING + 14, ord("\n"), dtype=np.uint8)
    text[:13] = np.frombuffer(b"1 qid:1 1:0.5", dtype=np.uint8)
    with ThreadPoolExecutor(1) as pool:
        parse_text(Path("warm-up"), text, pool, ReadProgress())


def _peek_width(text: Bytes, pieces: list[TextPiece], how: _How) -> int:
    """Return the greatest feature id in the first lines: the width, nearly always."""
    if not pieces:
        return 0
    first = pieces[0]
    end = line_end(text, min(first.begin + _PEEK, first.end) - 1, first.end)
    lines = count_lines(text[first.begin : end])[0] + 1
    outcome = _parse_piece(
        text, TextPiece(first.begin, end, 0, lines), _Rows.empty(lines, 0), replace(how, refuse=False)
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


def _parse_piece(text: Bytes, piece: TextPiece, rows: _Rows, how: _How) -> _Outcome:
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


def refuse_hidden(path: Path, text: Bytes, spans: Ints, comments: TextComments) -> None:
    """Raise `FormatError` where a comment has a document in it, behind a line end of old."""
    if not np.any(comments.content == ord("\r")):
        return
    begins = spans[:, kernels.COMMENT_BEGIN]
    for hidden in _HIDDEN.finditer(comments.content.data):
        row = int(np.searchsorted(comments.offsets, hidden.start(), side="right")) - 1
        if hidden.end() <= comments.offsets[row + 1]:  # the comments stand one behind the other
            at = begins[row] + hidden.start() - comments.offsets[row]
            raise format_error(path, text, int(at), OLD_LINE_END, 0)


def _assemble(path: Path, text: Bytes, lines: ParsedLines, sizes: Ints | None) -> Table:
    """Group the documents by query."""
    rows = _Rows(lines.X, lines.y, lines.spans, lines.new_query)
    if sizes is None:
        query_ptr, query_ids, order, scattered = group(text, rows.spans, rows.new_query)
    else:
        query_ptr, query_ids = group_by_size(shown_path(path), sizes, len(rows.y))
        order, scattered = np.zeros(0, dtype=np.int64), None
    if scattered is not None:
        rows = rows.at(order)
    comments = copy_comments(text, rows.spans)
    refuse_hidden(path, text, rows.spans, comments)
    return Table(
        X=rows.X,
        y=rows.y,
        query_ptr=query_ptr,
        query_ids=query_ids,
        comments=comments,
        missing=lines.missing,
        dense=lines.n_values == rows.X.size,
        file_rows=order,
        scattered=scattered,
    )
