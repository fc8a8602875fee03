"""Parsing of LETOR text into rows, piece by piece in threads, and the errors of invalid text."""

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
from rankstudio.engine.errors import (
    FormatError,
    MissingValueError,
    NoQueriesError,
    ZeroIdError,
)
from rankstudio.engine.language import tr, translatable
from rankstudio.engine.support import memory, threads
from rankstudio.engine.support.sparse_rows import MOST_ID, worth_it

# bytes: a few milliseconds of parsing, so that cancellation takes effect at once
_PIECE = 1 << 20
_WINDOW = 1 << 12  # 4 KiB: most lines are shorter
_PEEK = 1 << 16  # 64 KiB, enough for some lines
# numbers of a piece that the kernel leaves to Python; grows if there are more
_FIRST_HARD_CAPACITY = 64
# A document after a carriage return, which is part of the comment of
# the document before.
_HIDDEN_DOCUMENT = re.compile(rb"\r[ \t]*[^\s:#]+[ \t]+qid:")
_OTHER_BYTES_PER_ROW = 41  # bytes of a row besides its features
_BYTES_OF_VALUE = 4  # of the shortest text, " 1:0"


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
    MISSING: translatable(
        "a value for every feature, because missing values are refused"
    ),
    BINARY: translatable("text"),
    OLD_LINE_END: translatable(
        "lines that end with a line feed; save the file with such line ends"
    ),
}


@dataclass(frozen=True)
class _LineRules:
    """Permitted contents of a line of LETOR text.

    The rules are the greatest feature id, whether missing values are
    refused, what is added to ids (1 if they begin at 0), and whether
    the line has a query id.
    """

    most_features: int = MOST_ID
    refuse: bool = False
    shift: int = 0
    with_query: bool = True

    @classmethod
    def of(cls, part: PartFiles) -> _LineRules:
        """Return the rules for the lines of the files of a part, by its format and options.

        ``shift`` is added to feature ids, so that they begin at 1.
        Lines of a format with a file of query sizes have no query id.
        """
        greatest_id = (
            MOST_ID if part.most_features is None else min(part.most_features, MOST_ID)
        )
        return cls(
            most_features=greatest_id,
            refuse=part.refuse,
            shift=1 - part.first_id,
            with_query=not part.form.sizes,
        )


@dataclass(frozen=True, eq=False)
class _Rows:
    """Arrays for parsed documents, to which the parser writes; there are as many rows as lines.

    If values are stored without zeros, ``X`` has no columns, and
    ``lengths`` has the number of values of each row; the values
    themselves are in the `_Outcome` of each piece of the text.
    Otherwise ``lengths`` is empty.
    """

    X: Floats
    y: Floats
    spans: Ints
    new_query: Bools
    lengths: Ints

    @classmethod
    def empty(cls, rows: int, width: int, *, sparse: bool = False) -> _Rows:
        """Return empty arrays for the documents of a number of lines with ``width`` features.

        If ``sparse`` is true, the values of features are stored
        elsewhere, without zeros: X has no columns.
        """
        return cls(
            X=np.zeros((rows, 0 if sparse else width)),
            y=np.empty(rows),
            # begin and end of the query id, begin and end of the comment
            spans=np.empty((rows, 4), np.int64),
            new_query=np.empty(rows, np.bool_),
            lengths=np.zeros(rows if sparse else 0, np.int64),
        )

    def selected(self, rows: Ints) -> _Rows:
        """Return some of the rows."""
        lengths = self.lengths[rows] if self.lengths.size else self.lengths
        return _Rows(
            self.X[rows], self.y[rows], self.spans[rows], self.new_query[rows], lengths
        )


@dataclass(frozen=True, eq=False)
class _ParsedLines:
    """The documents of some lines of LETOR text, in the order of the lines.

    Attributes
    ----------
    rows : _Rows
        Labels, and positions of query ids and comments.
    X : ndarray of shape (m, n), or Entries
        Features.
    missing : ndarray of shape (n,)
        Number of missing values of each feature.
    n_values : int
        Number of values in the lines.
    comments : TextComments
        Comment of each document.
    """

    rows: _Rows
    X: Floats | Entries
    missing: Ints
    n_values: int
    comments: TextComments


@dataclass(frozen=True, eq=False)
class _Outcome:
    """Results of parsing one piece of a LETOR text, besides the rows.

    Attributes
    ----------
    tally : ndarray of shape (TALLY_SIZE,)
        Counts of the parser, at the positions that `_line_kernel` defines.
    missing : ndarray of shape (n,)
        Number of missing values of each feature.
    ids, values : ndarray of shape (N,)
        Feature id and value of each entry; empty if zeros are stored.
    problems : list of (int, int)
        Position in the text and code of each problem.
    """

    tally: Ints
    missing: Ints
    ids: Int32s
    values: Floats
    problems: list[tuple[int, int]]  # position and code, in any order


def read_letor(
    part: PartFiles,
    files: Iterable[SourceFile],
    builder: TableBuilder,
    progress: ReadProgress,
) -> TableFacts:
    """Read the LETOR text of a part of a dataset and pass its documents to a builder.

    Return facts about the whole part, such as its number of features.

    Raises
    ------
    FormatError
        For a zero byte in a file; otherwise for the first violation of
        LETOR text; otherwise for a document in a comment.
    MissingValueError
        At the first missing value, if missing values are refused.
    DatasetError
        If the features do not fit into memory.

    Notes
    -----
    Time O(b / p) for b bytes on p processors, doubled for text whose
    first lines do not show its width; memory O(m n) for m documents and
    n features of a chunk of text, O(b) if nearly all values are 0.
    """
    with ThreadPoolExecutor(threads.available(), thread_name_prefix="letor") as pool:
        reading = _LetorText(part, builder, pool, progress)
        for number, file in enumerate(files):
            reading.read(file, number)
    # Errors about all files name the first one.
    path = part.paths[0]
    width = reading.width
    if not builder.n_documents:
        problem = "an empty file" if reading.empty else "no documents"
        raise FormatError(
            path, 0, 0, problem, tr("at least one line such as: 2 qid:10 1:0.5 2:0.25")
        )
    if not width:
        raise FormatError(
            path, 0, 0, tr("no features"), tr("at least one feature:value in some line")
        )
    # Ids from 0 (first_id) are named, because positions of features count from
    # 1. Text is dense if each document has a value of every feature.
    names = () if part.first_id else tuple(f"id {i}" for i in range(width))
    is_dense = reading.n_values == builder.n_documents * width
    return TableFacts(width, dense=is_dense, feature_names=names)


class _LetorText:
    """Parses the lines of files one after the other, and passes their documents to a builder."""

    def __init__(
        self,
        part: PartFiles,
        builder: TableBuilder,
        pool: Executor,
        progress: ReadProgress,
    ) -> None:
        """Prepare to read the files of ``part`` with the threads of ``pool``.

        Documents go to ``builder``, the bytes done to ``progress``.
        While text is read, ``width`` becomes the greatest feature id,
        and ``n_values`` the number of values; ``empty`` is whether
        there was no text.
        """
        self._rules = _LineRules.of(part)
        self._one_ranking = part.user_columns.no_queries
        self._n_files = len(part.paths)
        self._builder = builder
        self._pool = pool
        self._progress = progress
        self.width = 0
        self.n_values = 0
        self.empty = True

    def read(self, file: SourceFile, position: int) -> None:
        """Read a file, the one at ``position`` (from 0) among the files of the part.

        Its documents go to the builder. After the first invalid line,
        the rest is only searched for a zero byte, which is reported
        first. Raise FormatError.
        """
        first_error: FormatError | None = None
        hidden_document_error: FormatError | None = None
        n_lines_before = 0
        # A file that is read in chunks reports its progress itself; one
        # that is read at once (``whole``) leaves half of it to the
        # parser.
        progress = self._progress if file.whole is not None else self._progress.silent()
        for number, text in enumerate(text_chunks(file)):
            self.empty = False
            # Parse the lines until one is invalid.
            if first_error is None:
                # About the share of all files that has been read.
                share = (position + file.done / max(file.size, 1)) / self._n_files
                try:
                    lines = self._parse(file.path, text, progress, begins=number == 0)
                    hidden_document_error = (
                        hidden_document_error
                        or _document_in_comment(file.path, text, lines, n_lines_before)
                    )
                    self._builder.add(self._piece(text, lines, n_lines_before), share)
                except FormatError as error:
                    first_error = _with_line_offset(error, n_lines_before)
                    # This chunk may have the zero byte itself: then the
                    # error is about it.
                    if text[: len(text) - PADDING].min() == 0:
                        raise first_error from None
            else:
                # After an invalid line, only a zero byte is searched for.
                progress.check()
                _refuse_zero_byte(file.path, text, n_lines_before)
            # A file in memory has only this chunk.
            if file.whole is None:
                n_lines_before += count_lines(text[: len(text) - PADDING])[0]
        # A document hidden in a comment is reported if all lines are valid.
        first_error = first_error or hidden_document_error
        if first_error is not None:
            raise first_error

    def _parse(
        self, path: Path, text: Bytes, progress: ReadProgress, *, begins: bool
    ) -> _ParsedLines:
        """Return the parsed lines of a chunk of text.

        Update the width and the number of values. ``begins`` is whether
        the chunk is the first one of the file.
        """
        lines = _parse_lines(
            path,
            text,
            self._pool,
            progress,
            self._rules,
            begins=begins,
            width=self.width,
            may_be_sparse=self._builder.takes_entries,
        )
        self.width = max(self.width, lines.X.shape[1])
        self.n_values += lines.n_values
        return lines

    def _piece(
        self, text: Bytes, lines: _ParsedLines, n_lines_before: int
    ) -> DocumentPiece:
        """Return the documents of a parsed chunk of text for the builder.

        The chunk has ``n_lines_before`` lines before it in its file.
        """
        rows = lines.rows
        # A single query cannot occur again, so that the line of its run
        # is never needed.
        if self._one_ranking:
            return DocumentPiece(
                X=lines.X,
                y=rows.y,
                comments=lines.comments,
                missing=lines.missing,
                runs=one_run(len(rows.y)),
                line_of_run=lambda _: n_lines_before,
            )
        # A run, successive documents of a query, begins where the query
        # id differs from the line before. ``spans`` has the positions
        # of the ids in the text.
        starts = np.flatnonzero(rows.new_query)
        query_spans = rows.spans[starts][:, [kernels.QID_BEGIN, kernels.QID_END]]
        lengths = np.diff(starts, append=len(rows.y)).tolist()
        ids = (
            text[begin:end].tobytes().decode("utf-8", errors="backslashreplace")
            for begin, end in query_spans.tolist()
        )
        # Without ids, a file of query sizes gives the queries later.
        return DocumentPiece(
            X=lines.X,
            y=rows.y,
            comments=lines.comments,
            missing=lines.missing,
            runs=zip(ids, lengths, strict=True) if self._rules.with_query else (),
            line_of_run=lambda run: (
                n_lines_before + line_of(text, int(query_spans[run, 0]))
            ),
        )


def _with_line_offset(error: FormatError, n_lines_before: int) -> FormatError:
    """Return an error in a chunk of a file with its line counted from the beginning of the file.

    ``n_lines_before`` is the number of lines of the file before the chunk.
    """
    line = error.line + n_lines_before if error.line else 0
    return type(error)(error.path, line, error.column, error.found, error.expected)


def _refuse_zero_byte(path: Path, text: Bytes, n_lines_before: int) -> None:
    """Raise FormatError for a zero byte in a chunk of text; the message has its line.

    ``n_lines_before`` is the number of lines of the file before the chunk.
    """
    size = len(text) - PADDING
    if text[:size].min() == 0:
        raise _with_line_offset(zero_byte_error(path, text, 0, size), n_lines_before)


def _parse_lines(
    path: Path,
    text: Bytes,
    pool: Executor,
    progress: ReadProgress,
    rules: _LineRules,
    *,
    begins: bool,
    width: int = 0,
    may_be_sparse: bool = False,
) -> _ParsedLines:
    """Parse a chunk of lines of a LETOR file, which may be empty, and return its documents.

    Raise FormatError at the first invalid line, MissingValueError, or
    DatasetError if the features do not fit into memory.

    Parameters
    ----------
    path : Path
        The file, for messages.
    text : uint8 array
        Lines of the file, followed by `PADDING` newlines.
    pool : Executor
        Threads that parse pieces of the text.
    progress : ReadProgress
        Receives half of the bytes of the text, as they are parsed.
    rules : _LineRules
        Permitted contents of a line, and the shift that is added to its ids.
    begins : bool
        Whether these are the first lines of the file.
    width : int
        Least number of columns.
    may_be_sparse : bool
        Whether values may be stored without zeros, if most values are
        0.
    """
    # Cut the text into pieces, which threads parse at the same time. A
    # byte order mark at the beginning of the file is skipped.
    begin = skip_mark(path, text) if begins else 0
    pieces = cut(path, text, begin, len(text) - PADDING, pool, progress)
    n_lines = sum(p.lines for p in pieces)
    # The first lines tell the width and roughly the number of values.
    first = _first_tally(text, pieces, rules)
    width = max(width, int(first[kernels.GREATEST_ID]))
    n_first_lines = max(1, int(first[kernels.ROWS]))
    n_values = int(first[kernels.VALUES]) * n_lines // n_first_lines  # an estimate
    # Parse once, or again with more columns if a later line has a
    # greater id than the first lines.
    while True:
        # Without zeros, values are stored apart, so that the width is no limit.
        sparse = may_be_sparse and worth_it(n_lines, width, n_values)
        rows = (
            _Rows.empty(n_lines, 0, sparse=True)
            if sparse
            else _allocate(path, n_lines, width)
        )
        outcomes = _parse_pieces(text, pieces, rows, rules, pool, progress)
        greatest = max((int(o.tally[kernels.GREATEST_ID]) for o in outcomes), default=0)
        n_values = sum(int(o.tally[kernels.VALUES]) for o in outcomes)
        if sparse or greatest <= width:
            break
        width = greatest
    # The first problem of the text is reported.
    problems = next((o.problems for o in outcomes if o.problems), None)
    if problems:
        # Problems of a piece are in no order: report the earliest. In
        # the message, the greatest id is that of the file.
        position, problem = min(problems)
        raise format_error(
            path, text, position, problem, rules.most_features - rules.shift
        )
    # Blank lines have no row.
    rows = _without_blank_lines(
        rows, pieces, [int(o.tally[kernels.ROWS]) for o in outcomes]
    )
    comments = _copied_comments(text, rows.spans)
    if sparse:
        X = _sorted_entries(path, text, rows, outcomes, rules, max(width, greatest))
        return _ParsedLines(rows, X, np.zeros(0, dtype=np.int64), n_values, comments)
    missing = sum((o.missing for o in outcomes), np.zeros(width, dtype=np.int64))
    return _ParsedLines(rows, rows.X, missing, n_values, comments)


def _without_blank_lines(
    rows: _Rows, pieces: list[TextPiece], counts: list[int]
) -> _Rows:
    """Return the rows with documents: ``counts`` of them at the beginning of the rows of each piece."""
    if counts == [p.lines for p in pieces]:
        return rows
    ranges = [np.arange(p.row, p.row + n) for p, n in zip(pieces, counts, strict=True)]
    return rows.selected(np.concatenate(ranges))


def _sorted_entries(
    path: Path,
    text: Bytes,
    rows: _Rows,
    outcomes: list[_Outcome],
    rules: _LineRules,
    width: int,
) -> Entries:
    """Return the values of parsed LETOR rows, without zeros, by ascending ids in each row.

    ``outcomes`` has the values of each piece of the text, ``rows``
    their number in each row, ``width`` is the greatest id. Raise
    FormatError if a row has a feature twice.
    """
    # The empty arrays give the type if there is no piece.
    ids = np.concatenate([np.zeros(0, dtype=np.int32), *(o.ids for o in outcomes)])
    values = np.concatenate([np.zeros(0), *(o.values for o in outcomes)])
    entries, row_with_repeated_id = sorted_rows(
        Entries(ids, values, rows.lengths, width)
    )
    if row_with_repeated_id < 0:
        return entries
    # Find the position of the repeated feature in the text, between the
    # row's query and its comment, for the message.
    earlier_ids: set[int] = set()
    begin, end = rows.spans[
        row_with_repeated_id, [kernels.QID_END, kernels.COMMENT_BEGIN]
    ].tolist()
    # A token is "id:value".
    for token in re.finditer(rb"(\d+):\S*", text[begin:end].tobytes()):
        if int(token[1]) in earlier_ids:
            break
        earlier_ids.add(int(token[1]))
    raise format_error(
        path, text, begin + token.start(), ID_REPEATED, rules.most_features
    )


def _parse_pieces(
    text: Bytes,
    pieces: list[TextPiece],
    rows: _Rows,
    rules: _LineRules,
    pool: Executor,
    progress: ReadProgress,
) -> list[_Outcome]:
    """Parse the pieces of a LETOR text into their rows, in threads.

    Return the outcomes in the order of the pieces, up to the first one
    with a problem.

    Parameters
    ----------
    text : uint8 array
        The whole text.
    pieces : list of TextPiece
        Beginning, end and first row of each piece.
    rows : _Rows
        Arrays of all rows, to which the parser writes.
    rules : _LineRules
        Permitted contents of a line.
    pool : Executor
        Threads that parse the pieces.
    progress : ReadProgress
        Receives half of the bytes, as they are parsed.
    """
    futures = [pool.submit(_parse_piece, text, piece, rows, rules) for piece in pieces]
    outcomes: list[_Outcome] = []
    try:
        for piece, outcome in zip(pieces, progress.in_order(futures), strict=True):
            # The other half of the bytes is reported by their checksum.
            progress.advance((piece.end - piece.begin) / 2)
            outcomes.append(outcome)
            if outcome.problems:
                break
    finally:
        # After a problem or an error, pieces that wait are not parsed.
        for future in futures:
            future.cancel()
    return outcomes


def warm_up() -> None:
    """Compile the parser of LETOR text, or load the compiled parser from the cache.

    Compilation takes seconds, once after an installation.
    """
    # A line of 13 characters and its end, then the newlines behind every text.
    text = np.full(PADDING + 14, ord("\n"), dtype=np.uint8)
    text[:13] = np.frombuffer(b"1 qid:1 1:0.5", dtype=np.uint8)
    with ThreadPoolExecutor(1) as pool:
        _parse_lines(
            Path("warm-up"), text, pool, ReadProgress(), _LineRules(), begins=True
        )


def _first_tally(text: Bytes, pieces: list[TextPiece], rules: _LineRules) -> Ints:
    """Parse only the first lines of a LETOR text, and return the parser's counts for these lines.

    The greatest feature id of the first lines is nearly always the
    final number of columns. ``pieces`` are the pieces of the text,
    ``rules`` are the permitted contents of a line.
    """
    if not pieces:
        return np.zeros(kernels.TALLY_SIZE, dtype=np.int64)
    first = pieces[0]
    end = line_end(text, min(first.begin + _PEEK, first.end) - 1, first.end)
    # The last line may lack its newline, hence one more.
    n_newlines, _ = count_lines(text[first.begin : end])
    lines = n_newlines + 1
    piece = TextPiece(first.begin, end, row=0, lines=lines)
    # Without columns, values are only counted; problems are found later.
    return _parse_piece(
        text, piece, _Rows.empty(lines, 0), replace(rules, refuse=False)
    ).tally


def _allocate(path: Path, rows: int, width: int) -> _Rows:
    """Return empty arrays for the documents of a number of lines with ``width`` features.

    Raise DatasetError, which names ``path``, if the arrays do not fit
    into memory.
    """
    needed = rows * (8 * width + _OTHER_BYTES_PER_ROW)
    # An error of NumPy, and one raised here, have the same message for users.
    try:
        free = memory.available()
        if needed > free:
            raise MemoryError
        return _Rows.empty(rows, width)
    except MemoryError:
        raise too_large(path, rows, width, needed, free) from None


def _parse_piece(
    text: Bytes, piece: TextPiece, rows: _Rows, rules: _LineRules
) -> _Outcome:
    """Parse one piece of a LETOR text into its rows, in a thread of the pool.

    Return the counts, the values (if zeros are not stored) and the
    problems found. ``rules`` are the permitted contents of a line.
    """
    width = rows.X.shape[1]
    capacity = _FIRST_HARD_CAPACITY
    # The length of the piece limits the number of collected values.
    is_sparse = rows.lengths.size > 0
    max_values = (piece.end - piece.begin) // _BYTES_OF_VALUE + 1 if is_sparse else 0
    # Parse again if there is no room for all hard numbers, those that
    # the kernel leaves to float().
    while True:
        ids = np.empty(max_values, dtype=np.int32)
        values = np.empty(max_values)
        tally = np.zeros(kernels.TALLY_SIZE, dtype=np.int64)
        missing = np.zeros(width, dtype=np.int64)
        row_of_id = np.full(width + 1, -1, dtype=np.int64)
        # Row and column of each hard number, begin and end of its text.
        hard = np.empty((capacity, 4), dtype=np.int64)
        kernels.parse(
            text,
            piece.begin,
            piece.end,
            piece.row,
            rules.most_features,
            rules.shift,
            rules.with_query,
            rows.X,
            rows.y,
            rows.spans,
            rows.new_query,
            missing,
            row_of_id,
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
    # Keep the part of the arrays that was written; copies release the rest.
    n_values = int(tally[kernels.VALUES]) if is_sparse else 0
    ids = ids[:n_values].copy()
    values = values[:n_values].copy()
    # Problems are pairs of a position in the text and a code.
    problems = list(_convert_hard(text, hard[:n_hard], rows, values))
    if tally[kernels.ERROR] != kernels.FINE:
        problems.append((int(tally[kernels.ERROR_AT]), int(tally[kernels.ERROR])))
    if rules.refuse and tally[kernels.FIRST_MISSING] >= 0:
        problems.append((int(tally[kernels.FIRST_MISSING]), MISSING))
    return _Outcome(tally, missing, ids, values, problems)


def _convert_hard(
    text: Bytes, hard: Ints, rows: _Rows, values: Floats
) -> Iterator[tuple[int, int]]:
    """Convert the numbers that the parser of LETOR text left to ``float()``, and store them in ``rows``.

    ``hard`` has shape (h, 4), one row per number: row and column of the
    value, begin and end of its text. The column is a column of X, or
    the number of features for a label; larger columns count positions
    in ``values``. Yield (position, problem) for each number that is too
    large.
    """
    width = rows.X.shape[1]
    for row, column, begin, end in hard.tolist():
        value = float(text[begin:end].tobytes())
        if not np.isfinite(value):
            yield begin, OVERFLOW
        elif column == width:
            rows.y[row] = value
        elif column < width:
            rows.X[row, column] = value
        # Values of a line with an error are not counted, so that they
        # may be beyond the end.
        elif column - width - 1 < values.size:
            values[column - width - 1] = value


def _document_in_comment(
    path: Path, text: Bytes, lines: _ParsedLines, n_lines_before: int
) -> FormatError | None:
    """Return the error of the first comment that hides a document, or None.

    A carriage return does not end a line here: in a file that mixes
    line ends, the line behind it would be part of the comment.
    ``n_lines_before`` is the number of lines of the file before the
    text.
    """
    comments = lines.comments
    if not np.any(comments.content == ord("\r")):
        return None
    begins = lines.rows.spans[:, kernels.COMMENT_BEGIN]
    # The comments are searched as one text, the bytes of all of them;
    # offsets has where each begins in it.
    for hidden in _HIDDEN_DOCUMENT.finditer(comments.content.data):
        row = int(np.searchsorted(comments.offsets, hidden.start(), side="right")) - 1
        if hidden.end() <= comments.offsets[row + 1]:  # not across the end of a comment
            position = begins[row] + hidden.start() - comments.offsets[row]
            error = format_error(path, text, int(position), OLD_LINE_END, 0)
            return _with_line_offset(error, n_lines_before)
    return None


def _copied_comments(text: Bytes, spans: Ints) -> TextComments:
    """Copy the comments out of the text, so that the text can be released.

    ``spans``, of shape (m, 4), has in its last two columns the
    positions where each comment begins and ends. O(bytes of the
    comments).
    """
    begin = np.ascontiguousarray(spans[:, kernels.COMMENT_BEGIN])
    end = np.ascontiguousarray(spans[:, kernels.COMMENT_END])
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(end - begin)])
    content = np.empty(int(offsets[-1]), dtype=np.uint8)
    # Copy the bytes of each comment to its offset in the content.
    kernels.gather(text, begin, end, offsets, content)
    return TextComments(content, offsets)


@dataclass(frozen=True)
class TextPiece:
    """A piece of a text: complete lines that one thread parses.

    Attributes
    ----------
    begin, end : int
        Position of the first byte, and the position after the last byte.
    row : int
        Row that the first line gets in the arrays of all lines.
    lines : int
        Number of lines.
    """

    begin: int
    end: int
    row: int
    lines: int


def cut(
    path: Path,
    text: Bytes,
    begin: int,
    size: int,
    pool: Executor,
    progress: ReadProgress,
) -> list[TextPiece]:
    """Split a text at line ends into pieces for threads, with the row of each.

    The text begins at ``begin`` and ends before ``size``. Rows are
    lines, counted from 0. ``pool`` counts the lines of the pieces.
    Raise FormatError, which names ``path``, for a zero byte.
    """
    # Find the ends of pieces of about equal length.
    ends: list[int] = []
    end = begin
    while end < size:
        end = line_end(text, min(end + _PIECE, size) - 1, size)
        ends.append(end)
    # Count the lines of all pieces at the same time.
    begins = [begin, *ends][: len(ends)]  # a piece begins where the last one ends
    counts = [
        pool.submit(count_lines, text[piece_begin:piece_end])
        for piece_begin, piece_end in zip(begins, ends, strict=True)
    ]
    # Each piece begins at the row behind the lines before it.
    pieces: list[TextPiece] = []
    row = 0
    for piece_begin, piece_end, (newlines, zero) in zip(
        begins, ends, progress.in_order(counts), strict=True
    ):
        if zero:
            raise zero_byte_error(path, text, piece_begin, piece_end)
        # the last line of a file may lack its end
        lines = newlines + int(text[piece_end - 1] != ord("\n"))
        pieces.append(TextPiece(piece_begin, piece_end, row, lines))
        row += lines
    return pieces


def zero_byte_error(path: Path, text: Bytes, begin: int, end: int) -> FormatError:
    """Return the error of the first zero byte among the bytes begin … end - 1; there must be one."""
    return format_error(path, text, find_byte(text, b"\0", begin, end), BINARY, 0)


def skip_mark(path: Path, text: Bytes) -> int:
    """Return the position behind UTF-8's byte order mark at the beginning of a text: 3, or 0 without one.

    Raise an error, which names ``path``, for a text in UTF-16.
    """
    head = text[:3].tobytes()
    if head == b"\xef\xbb\xbf":
        return 3
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise utf_16_error(path)
    return 0


def line_end(text: Bytes, position: int, size: int) -> int:
    """Return the position after the end of the line that contains ``position``.

    ``size`` is the number of bytes of the text.
    """
    return min(find_byte(text, b"\n", position, size) + 1, size)


def find_byte(text: Bytes, byte: bytes, begin: int, end: int) -> int:
    """Return the position of the first ``byte`` in a text from ``begin`` on.

    Return ``end`` if the byte does not occur before ``end``.
    """
    for window in range(begin, end, _WINDOW):
        offset = text[window : window + _WINDOW].tobytes().find(byte)
        if offset >= 0:
            return min(window + offset, end)
    return end


def count_lines(text: Bytes) -> tuple[int, bool]:
    """Return the number of newlines, and whether there is a zero byte."""
    newlines = 0
    zero = False
    # In pieces, as the comparison makes an array as long as its text.
    for begin in range(0, len(text), _PIECE):
        piece = text[begin : begin + _PIECE]
        newlines += int(np.count_nonzero(piece == ord("\n")))
        zero = zero or bool(piece.min() == 0)
    return newlines, zero


def line_of(text: Bytes, position: int) -> int:
    """Return the number of the line at a position, from 1. O(position)."""
    newlines = 0
    for begin in range(0, position, _SEARCHED_BYTES):
        newlines += int(
            np.count_nonzero(
                text[begin : min(begin + _SEARCHED_BYTES, position)] == ord("\n")
            )
        )
    return newlines + 1


def token_at(text: Bytes, position: int) -> str:
    """Return the token that begins at a position; "" at a blank or the end of the line."""
    token = text[position : position + 4 * _EXCERPT_LENGTH].tobytes()
    for blank in (b"\n", b" ", b"\t", b"\r", b"#"):
        token = token.partition(blank)[0]
    return token.decode("utf-8", errors="backslashreplace")


def format_error(
    path: Path, text: Bytes, position: int, problem: int, most_features: int
) -> FormatError:
    """Return the error for a problem at a position of a LETOR text.

    Parameters
    ----------
    path : Path
        The file.
    text : uint8 array
        Text of the file.
    position : int
        Position of the invalid token.
    problem : int
        Code of the problem, from the parser.
    most_features : int
        The largest feature id allowed.
    """
    # The UTF-8 mark of a file does not count as a character of its first line.
    line_begin = _line_start(text, position)
    mark = _UTF8_MARK if line_begin == 0 else b""
    before = (
        text[line_begin:position]
        .tobytes()
        .removeprefix(mark)
        .decode("utf-8", errors="replace")
    )
    token = token_at(text, position)
    # Some messages name the feature of an invalid value: its id is the
    # text between a blank and a colon.
    feature = before.rpartition(" ")[2].rpartition("\t")[2].rstrip(":")
    expected = tr(_EXPECTED[problem]).format(feature=feature, most=most_features)
    kinds = {MISSING: MissingValueError, ID_ZERO: ZeroIdError, NO_QID: NoQueriesError}
    kind = kinds.get(problem, FormatError)
    return kind(
        path,
        line_of(text, position),
        len(before) + 1,
        _problem_text(problem, token),
        expected,
    )


def _problem_text(problem: int, token: str) -> str:
    """Describe the invalid text at a problem in LETOR text, for a message.

    The result is the invalid ``token`` in quotes, or a description of
    it. ``problem`` is a code of the parser.
    """
    if problem == EMPTY_QID:
        return tr("nothing")
    if problem == BINARY:
        return tr("binary data (a zero byte)")
    if problem == OLD_LINE_END:
        return tr("a document after a carriage return in a comment")
    if not token:
        return tr("the end of the line") if problem == NO_QID else tr("nothing")
    excerpt = token if len(token) <= _EXCERPT_LENGTH else token[:_EXCERPT_LENGTH] + "…"
    # Invisible characters are written as escapes, such as \t.
    quoted = (
        '"' + "".join(c if c.isprintable() else repr(c)[1:-1] for c in excerpt) + '"'
    )
    if problem == ID_REPEATED:
        if ":" not in token:
            return tr("{token} a second time").format(token=quoted)
        return tr("feature {feature} again").format(feature=token.partition(":")[0])
    return quoted


def _line_start(text: Bytes, position: int) -> int:
    """Return the position of the beginning of the line at a position."""
    for end in range(position, 0, -_SEARCHED_BYTES):
        begin = max(end - _SEARCHED_BYTES, 0)
        offset = text[begin:end].tobytes().rfind(b"\n")
        if offset >= 0:
            return begin + offset + 1
    return 0
