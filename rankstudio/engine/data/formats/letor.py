"""LETOR text: chunks of it in pieces, the pieces in threads, the rows in place; where it is none, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rankstudio.engine.arrays import Bools, Bytes, Floats, Int32s, Ints
from rankstudio.engine.data.comments import TextComments
from rankstudio.engine.data.file_access import PADDING
from rankstudio.engine.data.formats import _line_kernel as kernels
from rankstudio.engine.data.formats._line_kernel import (
    BAD_FEATURE,
    BAD_LABEL,
    BAD_VALUE,
    BINARY,
    EMPTY_QID,
    ID_REPEATED,
    ID_TOO_LARGE,
    ID_ZERO,
    MISSING,
    NO_QID,
    OLD_LINE_END,
    OVERFLOW,
)
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.source_file import SourceFile, text_chunks, utf_16_error
from rankstudio.engine.data.sparse_values import Entries, sorted_rows
from rankstudio.engine.data.table_builder import (
    DocumentPiece,
    PartFiles,
    TableBuilder,
    TableFacts,
    one_run,
    too_large,
)
from rankstudio.engine.errors import FormatError, MissingValueError, NoQueriesError, ZeroIdError
from rankstudio.engine.language import tr, translatable
from rankstudio.engine.support import memory, threads
from rankstudio.engine.support.sparse_rows import MOST_ID, worth_it

_PIECE = 1 << 20  # bytes: a few milliseconds of parsing, so that Cancel is felt at once
_WINDOW = 1 << 12  # 4 KiB: most lines are shorter
_PEEK = 1 << 16  # 64 KiB, enough for some lines
_FIRST_HARD_CAPACITY = 64  # numbers that the fast path leaves to Python; room grows where there are more
# a document in the comment of the one before it
_HIDDEN_DOCUMENT = re.compile(rb"\r[ \t]*[^\s:#]+[ \t]+qid:")
_OTHER_BYTES_PER_ROW = 41  # bytes of a row beside its features
_BYTES_OF_VALUE = 4  # of text, at least: " 1:0"


_EXCERPT_LENGTH = 40
_SEARCHED_BYTES = 1 << 24  # 16 MiB: newlines are counted without a copy of the text
_UTF8_MARK = b"\xef\xbb\xbf"

_EXPECTED = {
    BAD_LABEL: translatable("a finite number as the relevance label"),
    NO_QID: translatable(
        'the query as "qid:" and its id, such as qid:10 (data without queries: option no-queries)'
    ),
    EMPTY_QID: translatable('the id of the query after "qid:"'),
    BAD_FEATURE: translatable("feature:value, such as 12:0.5"),
    BAD_VALUE: translatable("a number as the value of feature {feature}"),
    ID_ZERO: translatable("a feature id of at least 1"),
    ID_TOO_LARGE: translatable("a feature id of at most {most}"),
    ID_REPEATED: translatable("every feature at most once in a line"),
    OVERFLOW: translatable("a number from -1.8e308 to 1.8e308"),
    MISSING: translatable("a value for every feature, because missing values are refused"),
    BINARY: translatable("text"),
    OLD_LINE_END: translatable("lines that end with a line feed; save the file with such line ends"),
}


@dataclass(frozen=True)
class _How:
    """Permitted contents of a line: greatest id, missing values, ids from 0 (a shift of 1), a query."""

    most_features: int = MOST_ID
    refuse: bool = False
    shift: int = 0
    with_query: bool = True

    @classmethod
    def of(cls, part: PartFiles) -> _How:
        greatest_id = MOST_ID if part.most_features is None else min(part.most_features, MOST_ID)
        return cls(greatest_id, part.refuse, 1 - part.first_id, not part.form.sizes)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The arrays that the kernel writes to; as many rows as there are lines.

    Rows of mostly zeros have no columns, but lengths: what they hold comes with the outcome of each piece.
    """

    X: Floats
    y: Floats
    spans: Ints
    new_query: Bools
    lengths: Ints

    @classmethod
    def empty(cls, rows: int, width: int, *, sparse: bool = False) -> _Rows:
        return cls(
            np.zeros((rows, 0 if sparse else width)),
            np.empty(rows),
            np.empty((rows, 4), np.int64),
            np.empty(rows, np.bool_),
            np.zeros(rows if sparse else 0, np.int64),
        )

    def at(self, rows: Ints) -> _Rows:
        lengths = self.lengths[rows] if self.lengths.size else self.lengths
        return _Rows(self.X[rows], self.y[rows], self.spans[rows], self.new_query[rows], lengths)


@dataclass(frozen=True, eq=False)
class _ParsedLines:
    """The documents of some lines, in their order, and how many values the lines give."""

    rows: _Rows
    X: Floats | Entries
    missing: Ints
    n_values: int
    comments: TextComments


@dataclass(frozen=True, eq=False)
class _Outcome:
    """Parsed lines of one piece, or its error."""

    tally: Ints
    missing: Ints
    ids: Int32s
    values: Floats
    problems: list[tuple[int, int]]  # position and code, in no order


def read_letor(
    part: PartFiles, files: Iterable[SourceFile], builder: TableBuilder, progress: ReadProgress
) -> TableFacts:
    """Read LETOR text; see `FormatReader`.

    Raises
    ------
    FormatError
        For each file: at a zero byte, then at the first violation of LETOR text, then at a document in a
        comment.
    MissingValueError
        At the first missing value, with the policy to refuse them.
    DatasetError
        If the features do not fit into memory.

    Notes
    -----
    Time O(b / p) for b bytes on p processors, doubled for text whose first lines do not show its width;
    memory O(m n) for m documents and n features of a chunk of text, O(b) where nearly all values are 0.
    """
    with ThreadPoolExecutor(threads.available(), thread_name_prefix="letor") as pool:
        reading = _LetorText(part, builder, pool, progress)
        for number, file in enumerate(files):
            reading.read(file, number)
    path = part.paths[0]
    width = reading.width
    if not builder.n_documents:
        problem = "an empty file" if reading.empty else "no documents"
        raise FormatError(path, 0, 0, problem, tr("at least one line such as: 2 qid:10 1:0.5 2:0.25"))
    if not width:
        raise FormatError(path, 0, 0, tr("no features"), tr("at least one feature:value in some line"))
    names = () if part.first_id else tuple(f"id {i}" for i in range(width))
    return TableFacts(width, reading.n_values == builder.n_documents * width, feature_names=names)


class _LetorText:
    """Parses the lines of files one after the other, and hands their documents to a builder."""

    def __init__(
        self, part: PartFiles, builder: TableBuilder, pool: Executor, progress: ReadProgress
    ) -> None:
        self._how = _How.of(part)
        self._one_ranking = part.told.no_queries
        self._n_files = len(part.paths)
        self._builder = builder
        self._pool = pool
        self._progress = progress
        self.width = 0
        self.n_values = 0
        self.empty = True

    def read(self, file: SourceFile, position: int) -> None:
        """Read a file, whose position among the files is given; see `read_letor` for what is raised."""
        wrong: FormatError | None = None
        hidden: FormatError | None = None
        before = 0
        progress = self._progress if file.whole is not None else self._progress.silent()
        for number, text in enumerate(text_chunks(file)):
            self.empty = False
            if wrong is None:
                share = (position + file.done / max(file.size, 1)) / self._n_files
                try:
                    lines = self._parse(file.path, text, progress, begins=number == 0)
                    hidden = hidden or _document_in_comment(file.path, text, lines, before)
                    self._builder.add(self._piece(text, lines, before), share)
                except FormatError as error:
                    wrong = _with_line_offset(error, before)
                    if text[: len(text) - PADDING].min() == 0:
                        raise wrong from None
            else:
                progress.check()
                _refuse_zero_byte(file.path, text, before)
            if file.whole is None:
                before += count_lines(text[: len(text) - PADDING])[0]
        if wrong or hidden:
            raise wrong or hidden  # type: ignore[misc]

    def _parse(self, path: Path, text: Bytes, progress: ReadProgress, *, begins: bool) -> _ParsedLines:
        lines = _parse_lines(
            path,
            text,
            self._pool,
            progress,
            self._how,
            begins=begins,
            width=self.width,
            may_be_sparse=self._builder.takes_entries,
        )
        self.width = max(self.width, lines.X.shape[1])
        self.n_values += lines.n_values
        return lines

    def _piece(self, text: Bytes, lines: _ParsedLines, before: int) -> DocumentPiece:
        """Return the documents of a chunk of text that has ``before`` lines before it."""
        rows = lines.rows
        if self._one_ranking:
            runs = one_run(len(rows.y))
            return DocumentPiece(lines.X, rows.y, lines.comments, lines.missing, runs, lambda _: before)
        starts = np.flatnonzero(rows.new_query)
        places = rows.spans[starts][:, [kernels.QID_BEGIN, kernels.QID_END]]
        lengths = np.diff(starts, append=len(rows.y)).tolist()
        ids = (
            text[begin:end].tobytes().decode("utf-8", errors="backslashreplace")
            for begin, end in places.tolist()
        )
        return DocumentPiece(
            lines.X,
            rows.y,
            lines.comments,
            lines.missing,
            zip(ids, lengths, strict=True) if self._how.with_query else (),
            lambda run: before + line_of(text, int(places[run, 0])),
        )


def _with_line_offset(error: FormatError, lines: int) -> FormatError:
    """Return an error with the number of its line increased by the lines before the text."""
    line = error.line + lines if error.line else 0
    return type(error)(error.path, line, error.column, error.found, error.expected)


def _refuse_zero_byte(path: Path, text: Bytes, before: int) -> None:
    size = len(text) - PADDING
    if text[:size].min() == 0:
        raise _with_line_offset(zero_byte_error(path, text, 0, size), before)


def _parse_lines(
    path: Path,
    text: Bytes,
    pool: Executor,
    progress: ReadProgress,
    how: _How,
    *,
    begins: bool,
    width: int = 0,
    may_be_sparse: bool = False,
) -> _ParsedLines:
    """Parse some lines of a file, of which there may be none; see `read_letor` for what is raised.

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
    how : _How
    begins : bool
        Whether these are the first lines of the file.
    width : int
        Least number of columns.
    may_be_sparse : bool
        Whether values may be stored without their zeros, where there are many.
    """
    begin = skip_mark(path, text) if begins else 0
    pieces = cut(path, text, begin, len(text) - PADDING, pool, progress)
    n_lines = sum(p.lines for p in pieces)
    first = _first_tally(text, pieces, how)
    width = max(width, int(first[kernels.GREATEST_ID]))
    n_values = int(first[kernels.VALUES]) * n_lines // max(1, int(first[kernels.ROWS]))
    while True:
        sparse = may_be_sparse and worth_it(n_lines, width, n_values)
        rows = _Rows.empty(n_lines, 0, sparse=True) if sparse else _allocate(path, n_lines, width)
        outcomes = _parse_pieces(text, pieces, rows, how, pool, progress)
        greatest = max((int(o.tally[kernels.GREATEST_ID]) for o in outcomes), default=0)
        n_values = sum(int(o.tally[kernels.VALUES]) for o in outcomes)
        if sparse or greatest <= width:
            break
        width = greatest
    problems = next((o.problems for o in outcomes if o.problems), None)
    if problems:
        raise format_error(path, text, *min(problems), how.most_features - how.shift)
    rows = _without_blank_lines(rows, pieces, [int(o.tally[kernels.ROWS]) for o in outcomes])
    comments = _copied_comments(text, rows.spans)
    if sparse:
        X = _sorted_entries(path, text, rows, outcomes, how, max(width, greatest))
        return _ParsedLines(rows, X, np.zeros(0, dtype=np.int64), n_values, comments)
    missing = sum((o.missing for o in outcomes), np.zeros(width, dtype=np.int64))
    return _ParsedLines(rows, rows.X, missing, n_values, comments)


def _without_blank_lines(rows: _Rows, pieces: list[TextPiece], counts: list[int]) -> _Rows:
    """Return the rows of pieces, each of which has as many as were counted, without those of blank lines."""
    if counts == [p.lines for p in pieces]:
        return rows
    return rows.at(np.concatenate([np.arange(p.row, p.row + n) for p, n in zip(pieces, counts, strict=True)]))


def _sorted_entries(
    path: Path, text: Bytes, rows: _Rows, outcomes: list[_Outcome], how: _How, width: int
) -> Entries:
    """Return the nonzero values of rows; FormatError where one has a feature twice."""
    ids = np.concatenate([np.zeros(0, dtype=np.int32), *(o.ids for o in outcomes)])
    values = np.concatenate([np.zeros(0), *(o.values for o in outcomes)])
    entries, twice = sorted_rows(Entries(ids, values, rows.lengths, width))
    if twice < 0:
        return entries
    earlier_ids: set[int] = set()
    begin, end = rows.spans[twice, [kernels.QID_END, kernels.COMMENT_BEGIN]].tolist()
    for token in re.finditer(rb"(\d+):\S*", text[begin:end].tobytes()):
        if int(token[1]) in earlier_ids:
            break
        earlier_ids.add(int(token[1]))
    raise format_error(path, text, begin + token.start(), ID_REPEATED, how.most_features)


def _parse_pieces(
    text: Bytes, pieces: list[TextPiece], rows: _Rows, how: _How, pool: Executor, progress: ReadProgress
) -> list[_Outcome]:
    """Parse pieces into their rows, in threads, up to the first one with a problem."""
    futures = [pool.submit(_parse_piece, text, piece, rows, how) for piece in pieces]
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
    return outcomes


def warm_up() -> None:
    """Compile the parser, which takes seconds once after an installation, or load it from the cache."""
    text = np.full(PADDING + 14, ord("\n"), dtype=np.uint8)
    text[:13] = np.frombuffer(b"1 qid:1 1:0.5", dtype=np.uint8)
    with ThreadPoolExecutor(1) as pool:
        _parse_lines(Path("warm-up"), text, pool, ReadProgress(), _How(), begins=True)


def _first_tally(text: Bytes, pieces: list[TextPiece], how: _How) -> Ints:
    """Return the tally of the first lines, whose greatest feature id is nearly always the width."""
    if not pieces:
        return np.zeros(kernels.TALLY_SIZE, dtype=np.int64)
    first = pieces[0]
    end = line_end(text, min(first.begin + _PEEK, first.end) - 1, first.end)
    lines = count_lines(text[first.begin : end])[0] + 1
    outcome = _parse_piece(
        text, TextPiece(first.begin, end, 0, lines), _Rows.empty(lines, 0), replace(how, refuse=False)
    )
    return outcome.tally


def _allocate(path: Path, rows: int, width: int) -> _Rows:
    """Return arrays for the rows, or say that they do not fit."""
    needed = rows * (8 * width + _OTHER_BYTES_PER_ROW)
    try:
        free = memory.available()
        if needed > free:
            raise MemoryError
        return _Rows.empty(rows, width)
    except MemoryError:
        raise too_large(path, rows, width, needed, free) from None


def _parse_piece(text: Bytes, piece: TextPiece, rows: _Rows, how: _How) -> _Outcome:
    """Parse one piece into its rows; runs in a thread of the pool."""
    width = rows.X.shape[1]
    capacity = _FIRST_HARD_CAPACITY
    room = (piece.end - piece.begin) // _BYTES_OF_VALUE + 1 if rows.lengths.size else 0
    while True:
        ids = np.empty(room, dtype=np.int32)
        values = np.empty(room)
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
            ids,
            values,
            rows.lengths,
            hard,
            tally,
        )
        n_hard = int(tally[kernels.HARD_TOKENS])
        if n_hard <= capacity:
            break
        capacity = n_hard
    n_values = int(tally[kernels.VALUES]) if room else 0
    ids = ids[:n_values].copy()
    values = values[:n_values].copy()
    problems = list(_convert_hard(text, hard[:n_hard], rows, values))
    if tally[kernels.ERROR] != kernels.FINE:
        problems.append((int(tally[kernels.ERROR_AT]), int(tally[kernels.ERROR])))
    if how.refuse and tally[kernels.FIRST_MISSING] >= 0:
        problems.append((int(tally[kernels.FIRST_MISSING]), MISSING))
    return _Outcome(tally, missing, ids, values, problems)


def _convert_hard(text: Bytes, hard: Ints, rows: _Rows, values: Floats) -> Iterator[tuple[int, int]]:
    """Convert the numbers that the kernel left to ``float()``; yield where one is too large."""
    width = rows.X.shape[1]
    for row, column, begin, end in hard.tolist():
        value = float(text[begin:end].tobytes())
        if not np.isfinite(value):
            yield begin, OVERFLOW
        elif column == width:
            rows.y[row] = value
        elif column < width:
            rows.X[row, column] = value
        elif column - width - 1 < values.size:  # the rest of a line with an error
            values[column - width - 1] = value


def _document_in_comment(path: Path, text: Bytes, lines: _ParsedLines, before: int) -> FormatError | None:
    """Return the error of a comment with a document in it, behind a line end of old."""
    comments = lines.comments
    if not np.any(comments.content == ord("\r")):
        return None
    begins = lines.rows.spans[:, kernels.COMMENT_BEGIN]
    for hidden in _HIDDEN_DOCUMENT.finditer(comments.content.data):
        row = int(np.searchsorted(comments.offsets, hidden.start(), side="right")) - 1
        if hidden.end() <= comments.offsets[row + 1]:  # the comments stand one behind the other
            position = begins[row] + hidden.start() - comments.offsets[row]
            return _with_line_offset(format_error(path, text, int(position), OLD_LINE_END, 0), before)
    return None


def _copied_comments(text: Bytes, spans: Ints) -> TextComments:
    """Copy the comments out of the text, so that the text can go. O(their bytes)."""
    begin = np.ascontiguousarray(spans[:, kernels.COMMENT_BEGIN])
    end = np.ascontiguousarray(spans[:, kernels.COMMENT_END])
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(end - begin)])
    content = np.empty(int(offsets[-1]), dtype=np.uint8)
    kernels.gather(text, begin, end, offsets, content)
    return TextComments(content, offsets)


@dataclass(frozen=True)
class TextPiece:
    """Complete lines of the text, and the row of their first document."""

    begin: int
    end: int
    row: int
    lines: int


def cut(
    path: Path, text: Bytes, begin: int, size: int, pool: Executor, progress: ReadProgress
) -> list[TextPiece]:
    """Split the text at line ends, and count the lines of the pieces."""
    ends: list[int] = []
    end = begin
    while end < size:
        end = line_end(text, min(end + _PIECE, size) - 1, size)
        ends.append(end)
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
    """Return the error of the first zero byte from ``begin`` on; there must be one."""
    return format_error(path, text, find_byte(text, b"\0", begin, end), BINARY, 0)


def skip_mark(path: Path, text: Bytes) -> int:
    """Return the start of the text, after UTF-8's byte order mark."""
    head = text[:3].tobytes()
    if head == b"\xef\xbb\xbf":
        return 3
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise utf_16_error(path)
    return 0


def line_end(text: Bytes, position: int, size: int) -> int:
    """Return the position after the line at a position."""
    return min(find_byte(text, b"\n", position, size) + 1, size)


def find_byte(text: Bytes, byte: bytes, begin: int, end: int) -> int:
    """Return the first position of a byte from ``begin`` on, or ``end``."""
    for window in range(begin, end, _WINDOW):
        offset = text[window : window + _WINDOW].tobytes().find(byte)
        if offset >= 0:
            return min(window + offset, end)
    return end


def count_lines(text: Bytes) -> tuple[int, bool]:
    """Return the number of newlines, and whether there is a zero byte."""
    newlines = 0
    zero = False
    for begin in range(0, len(text), _PIECE):  # a line may be as long as the file
        piece = text[begin : begin + _PIECE]
        newlines += int(np.count_nonzero(piece == ord("\n")))
        zero = zero or bool(piece.min() == 0)
    return newlines, zero


def line_of(text: Bytes, position: int) -> int:
    """Return the number of the line at a position, from 1. O(position)."""
    newlines = 0
    for begin in range(0, position, _SEARCHED_BYTES):
        newlines += int(np.count_nonzero(text[begin : min(begin + _SEARCHED_BYTES, position)] == ord("\n")))
    return newlines + 1


def token_at(text: Bytes, position: int) -> str:
    """Return the token at a position; "" at a blank or the end of the line."""
    token = text[position : position + 4 * _EXCERPT_LENGTH].tobytes()
    for blank in (b"\n", b" ", b"\t", b"\r", b"#"):
        token = token.partition(blank)[0]
    return token.decode("utf-8", errors="backslashreplace")


def format_error(path: Path, text: Bytes, position: int, problem: int, most_features: int) -> FormatError:
    """Return the error of a problem at a position of the text.

    Parameters
    ----------
    path : Path
        The file.
    text : uint8 array
        Its text.
    position : int
        Position of the invalid token.
    problem : int
        Error code of the kernel.
    most_features : int
        The largest feature id allowed.
    """
    line_begin = _line_start(text, position)
    before = text[line_begin:position].tobytes().removeprefix(_UTF8_MARK if line_begin == 0 else b"")
    token = token_at(text, position)
    feature = before.decode("utf-8", errors="replace").rpartition(" ")[2].rpartition("\t")[2].rstrip(":")
    expected = tr(_EXPECTED[problem]).format(feature=feature, most=most_features)
    kinds = {MISSING: MissingValueError, ID_ZERO: ZeroIdError, NO_QID: NoQueriesError}
    kind = kinds.get(problem, FormatError)
    return kind(
        path,
        line_of(text, position),
        len(before.decode("utf-8", errors="replace")) + 1,
        _problem_text(problem, token),
        expected,
    )


def _problem_text(problem: int, token: str) -> str:
    if problem == EMPTY_QID:
        return tr("nothing")
    if problem == BINARY:
        return tr("binary data (a zero byte)")
    if problem == OLD_LINE_END:
        return tr("a document after a carriage return in a comment")
    if not token:
        return tr("the end of the line") if problem == NO_QID else tr("nothing")
    excerpt = token if len(token) <= _EXCERPT_LENGTH else token[:_EXCERPT_LENGTH] + "…"
    quoted = '"' + "".join(c if c.isprintable() else repr(c)[1:-1] for c in excerpt) + '"'
    if problem == ID_REPEATED:
        if ":" not in token:
            return tr("{token} a second time").format(token=quoted)
        return tr("feature {feature} again").format(feature=token.partition(":")[0])
    return quoted


def _line_start(text: Bytes, position: int) -> int:
    for end in range(position, 0, -_SEARCHED_BYTES):
        begin = max(end - _SEARCHED_BYTES, 0)
        offset = text[begin:end].tobytes().rfind(b"\n")
        if offset >= 0:
            return begin + offset + 1
    return 0
