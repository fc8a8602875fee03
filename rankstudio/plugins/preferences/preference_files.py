"""Reads files of preferences, with a line ``qid,winner,loser[,magnitude[,weight]]`` for each preference."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Bytes, Floats, Ints
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.file_access import read_beginning, without_ending
from rankstudio.engine.data.preferences import GREATEST, LEAST, Preferences
from rankstudio.engine.data.source_file import (
    TextLines,
    checksum_of,
    line_error,
    number,
    quoted,
    read_text,
)
from rankstudio.engine.errors import DatasetError, FormatError, RankStudioError
from rankstudio.engine.language import tr
from rankstudio.engine.support.escaping import unguarded
from rankstudio.plugins.preferences.clicks import (
    ClickRule,
    PositionBias,
    click_pairs,
    is_click_header,
    read_clicks,
)

# the header is looked for in this many bytes at the beginning of a file
_HEADER_BYTES = 1 << 12
_NOT_IN_DATA = -1
"""In place of the number of a query that no part of the data has."""
_IN_OTHER_PART = -2
"""In place of the number of a query that another part of the data has."""


@dataclass(frozen=True)
class ClickFacts:
    """Facts on the clicks of a log, and how the clicks became preferences.

    Attributes
    ----------
    rule : ClickRule
    bias : PositionBias or None
        Power law of the propensities by position; None if the log has
        propensities.
    n_clicks, n_lists, n_pairs : int
        Numbers of clicks, result lists and distinct pairs.
    """

    rule: ClickRule
    bias: PositionBias | None
    n_clicks: int
    n_lists: int
    n_pairs: int

    @property
    def sentence(self) -> str:
        """Sentence on the preferences that the clicks gave."""
        # η is given by propensities, by the user, or estimated from the clicks.
        bias = self.bias
        if bias is None:
            text = tr(
                "Clicks, not judgments: {clicks:,} clicks in {lists:,} result lists give {pairs:,} pairs, "
                "weighted by the inverse of the given propensities."
            )
        elif not bias.n_documents:
            text = tr(
                "Clicks, not judgments: {clicks:,} clicks in {lists:,} result lists give {pairs:,} pairs, "
                "weighted by position^{eta:g} as given."
            )
        else:
            text = tr(
                "Clicks, not judgments: {clicks:,} clicks in {lists:,} result lists give {pairs:,} pairs, "
                "weighted by position^η. η = {eta:.3f} ± {error:.3f} is estimated from {n:,} documents shown "
                "at several positions."
            )
        eta, error, n = (
            (0.0, 0.0, 0) if bias is None else (bias.eta, bias.error, bias.n_documents)
        )
        counts = {"clicks": self.n_clicks, "lists": self.n_lists, "pairs": self.n_pairs}
        return text.format(**counts, eta=eta, error=error, n=n)


@dataclass(frozen=True, eq=False)
class PreferenceFile:
    """Contents of a preference file.

    Attributes
    ----------
    path : Path
    checksum : str
        SHA-256 of its bytes.
    queries : frozenset of str
        Ids of its queries.
    clicks : ClickFacts or None
        Facts on the clicks from which the preferences were made; None
        for preferences that are no clicks.
    """

    path: Path
    checksum: str
    queries: frozenset[str]
    _columns: PreferenceColumns
    clicks: ClickFacts | None = None

    def of_part(
        self, data: RankingDataset, elsewhere: Container[str] = frozenset()
    ) -> Preferences:
        """Return the preferences between documents of some data.

        Parameters
        ----------
        data : RankingDataset
            The documents, such as a part of a dataset.
        elsewhere : container of str
            Queries of other parts of the dataset, whose preferences are skipped.

        Raises
        ------
        FormatError
            At the first line with an unknown query or document, or the
            same document twice.
        DatasetError
            If no preference belongs to these data.

        Notes
        -----
        O(m + l log m) for m documents and l preferences, vectorized except for one step per distinct name.
        """
        # The number of each preference's query in the data, or a mark why it has none.
        columns = self._columns
        numbers = {query: q for q, query in enumerate(data.query_ids)}
        query_indices = [
            numbers.get(query, _IN_OTHER_PART if query in elsewhere else _NOT_IN_DATA)
            for query in columns.queries
        ]
        query = np.array(query_indices, dtype=np.int64)[columns.query]

        # Preferences of queries in other parts are left out.
        in_part = np.flatnonzero(query != _IN_OTHER_PART)
        if not in_part.size:
            raise DatasetError(
                f"{self.path}: found no preference between documents of the data; expected at least one."
            )
        query = query[in_part]

        # The rows of the documents; a negative number says that no
        # single row was found.
        documents = DocumentRows.of(data, columns.documents)
        winner, loser = (
            documents.find(query, names[in_part])
            for names in (columns.winner, columns.loser)
        )

        # The first wrong preference is the one in the error.
        wrong = np.flatnonzero(
            (query == _NOT_IN_DATA) | (winner < 0) | (loser < 0) | (winner == loser)
        )
        if wrong.size:
            index = int(wrong[0])
            raise self._error(
                data,
                preference=int(in_part[index]),
                q=int(query[index]),
                winner=int(winner[index]),
                loser=int(loser[index]),
            )
        return Preferences(
            winner, loser, columns.magnitude[in_part], columns.weight[in_part]
        )

    def _error(
        self, data: RankingDataset, preference: int, q: int, winner: int, loser: int
    ) -> FormatError:
        """Return the error that says why a preference does not fit the data.

        ``preference`` is its position in the file, ``q`` the number of
        its query in the data, ``winner`` and ``loser`` are the rows of
        its documents; negative numbers say why there is no such row.
        """
        # The document that was not found; if the winner was, it is the loser.
        columns = self._columns
        query = columns.queries[int(columns.query[preference])]
        row, names = (winner, columns.winner) if winner < 0 else (loser, columns.loser)
        name = columns.documents[int(names[preference])]

        # The expected text depends on what was wrong: the query, or one
        # of its documents.
        if q == _NOT_IN_DATA:
            name = query
            expected = f"a query of the data, such as {quoted(data.query_ids[0])}"
        elif row == SEVERAL:
            expected = "an id that is unique within the query"
        elif row == NO_DOCUMENT:
            size = int(data.query_ptr[q + 1] - data.query_ptr[q])
            expected = f"a document of query {quoted(query)}: its id, or a number from 1 to {size}"
        else:
            expected = "a document other than the winner"
        return line_error(self.path, int(columns.line[preference]), name, expected)


def holds_preferences(path: Path) -> bool:
    """Return whether a file is a table of preferences or clicks, by its header.

    The result is True only for CSV and TSV files, and False for a file
    that cannot be read.
    """
    if Path(without_ending(path.name)).suffix.lower() not in (".csv", ".tsv"):
        return False
    try:
        cells = _header_cells(read_beginning(path, _HEADER_BYTES))
    except RankStudioError:
        return False  # opening the file raises the error again
    return tuple(cells[:3]) == COLUMNS[:3] or is_click_header(cells)


def _header_cells(beginning: bytes) -> list[str]:
    """Return the cells of the first line that is not empty, in lower case."""
    lines = beginning.decode("utf-8-sig", errors="replace").splitlines()
    header = next((line for line in lines if line.strip()), "")
    return [
        cell.strip() for cell in re.split("[,;\t]", header.lower().replace('"', ""))
    ]


def read_preference_file(
    path: str | os.PathLike[str], rule: ClickRule | None = None
) -> PreferenceFile:
    """Read a preference file, or a log of clicks with positions, without its data.

    Parameters
    ----------
    path : str or path-like
        Lines of three to five cells,
        ``qid,winner,loser[,magnitude[,weight]]``, with or without a
        header of these names, separated by commas, semicolons or tabs.
        May be compressed; empty lines are ignored. A click log has a
        header with the columns qid, docid, position and click, and
        optionally session and propensity; see
        `rankstudio.plugins.preferences.clicks`.
    rule : ClickRule, optional
        How clicks become preferences. By default, each clicked document
        is preferred to the unclicked documents of its list, weighted by
        the propensities in the log or, without these, by a power law
        whose η is estimated.

    Returns
    -------
    PreferenceFile

    Raises
    ------
    FileAccessError
        If the file cannot be read.
    FormatError
        At the first invalid line.
    DatasetError
        If the file has no preferences, η cannot be estimated, or the
        rule is for clicks and there are none.
    """
    path = Path(path)
    if is_click_header(_header_cells(read_beginning(path, _HEADER_BYTES))):
        return _preferences_of_clicks(path, checksum_of(path), rule)
    if rule is not None:
        raise DatasetError(
            tr(
                "{path}: found preferences, expected clicks with columns qid, docid, position and click."
            ).format(path=path)
        )
    file = read_text(path)
    return _parsed_file(file.path, file.checksum)


@lru_cache(maxsize=2)
def _parsed_file(path: Path, checksum: str) -> PreferenceFile:
    """Return the contents of a preference file whose bytes have a checksum.

    The contents are cached, as every fold of a run reads the file.
    """
    file = read_text(path)
    columns = columns_of_bytes(file.content) or columns_of_lines(file.in_lines())
    return PreferenceFile(path, checksum, frozenset(columns.queries), columns)


@lru_cache(maxsize=2)
def _preferences_of_clicks(
    path: Path, checksum: str, rule: ClickRule | None
) -> PreferenceFile:
    """Return the preferences of a click log, weighted by a rule for clicks.

    The preferences of the last file are cached: ``checksum`` is that of
    the file's bytes, so that a changed file is read again. Without a
    rule, the usual one is used.
    """
    # Errors in the clicks name the file.
    log = read_clicks(path, rule or ClickRule())
    try:
        bias = log.bias()
        pairs = click_pairs(log, bias)
    except DatasetError as error:
        raise type(error)(f"{path}: {error}") from None

    # Pairs of clicks are preferences of magnitude 1.
    columns = PreferenceColumns(
        line=pairs.line,
        query=pairs.query,
        winner=pairs.winner,
        loser=pairs.loser,
        magnitude=np.ones(pairs.weight.size),
        weight=pairs.weight,
        queries=log.queries,
        documents=log.documents,
    )
    facts = ClickFacts(
        log.rule,
        bias,
        n_clicks=log.n_clicks,
        n_lists=log.n_lists,
        n_pairs=pairs.weight.size,
    )
    return PreferenceFile(path, checksum, frozenset(log.queries), columns, facts)


def read_preferences(path: str | os.PathLike[str], data: RankingDataset) -> Preferences:
    """Read preferences between the documents of a dataset.

    Parameters
    ----------
    path : str or path-like
        File with lines of query, winner and loser, or log of clicks; see
        :func:`read_preference_file`. A document is identified by its id if the query
        contains that id (``docid = …`` in comments), otherwise by its
        number among the query's documents in the order of the data,
        from 1.
    data : RankingDataset
        The documents.

    Returns
    -------
    Preferences
        The preferences, by documents of the data.

    Raises
    ------
    FileAccessError
        If the file cannot be read.
    FormatError
        At the first invalid line, or one with an unknown query or document.
    DatasetError
        If no preference belongs to these data.
    """
    return read_preference_file(path).of_part(data)


NO_DOCUMENT = -1
"""In place of a row, if no document of the query has the name."""
SEVERAL = -2
"""In place of a row, if several documents of the query have the name as their id."""

_MAX_DIGITS = 9  # whole numbers of this length fit into an int32
# ids that are looked up in one expression, so that other threads can run in between
_IDS_PER_BATCH = 1 << 14


@dataclass(frozen=True, eq=False)
class DocumentRows:
    """Finds the rows of documents by their query and name.

    Attributes
    ----------
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    numbers : ndarray of shape (N,)
        For each name, the number that the name stands for; 0 if it is
        not a number.
    keys : ndarray of shape (D,), in ascending order
        ``q * N + n`` for each document of query q whose id is the nth name.
    rows : ndarray of shape (D,)
        For each key, the row of the document, or `SEVERAL`.
    """

    ptr: Ints
    numbers: Ints
    keys: Ints
    rows: Ints

    @classmethod
    def of(cls, data: RankingDataset, names: tuple[str, ...]) -> DocumentRows:
        """Return the rows of the documents of some data whose ids are among some names.

        A name may also be a number: the position of a document within
        its query, from 1.
        """
        numbers = np.array([_number_of_id(name) for name in names], dtype=np.int64)

        # For each document, the position of its id in `names`; -1 if it
        # is none. Ids are from comments.
        name = _positions_of_ids(data.document_ids if data.comments else (), names)
        rows = np.flatnonzero(name >= 0)

        # Query and name as one number, of which the first row and the number of rows.
        keys, first, count = np.unique(
            data.query_index[rows] * len(names) + name[rows],
            return_index=True,
            return_counts=True,
        )
        return cls(
            data.query_ptr, numbers, keys, np.where(count > 1, SEVERAL, rows[first])
        )

    def find(self, query: Ints, name: Ints) -> Ints:
        """Return the row of each document that is given by its query and name.

        Parameters
        ----------
        query : ndarray of shape (l,)
            For each document, the number of its query; negative for none.
        name : ndarray of shape (l,)
            For each document, the position of its name.

        Returns
        -------
        ndarray of shape (l,)

        Notes
        -----
        O(l log D).
        """
        # Any query will do for documents without one, whose rows are
        # replaced in the end.
        q = np.maximum(query, 0)
        first = self.ptr[q]
        size = self.ptr[q + 1] - first
        number = self.numbers[name]
        rows = np.where(
            (number >= 1) & (number <= size), first + number - 1, NO_DOCUMENT
        )

        # An id takes precedence over a number. Query and name make one
        # number, as in `keys`; -1 is no key, for positions behind the
        # last key.
        key = q * self.numbers.size + name
        position = np.searchsorted(self.keys, key)
        has_id = np.flatnonzero(np.append(self.keys, -1)[position] == key)
        rows[has_id] = self.rows[position[has_id]]
        rows[query < 0] = NO_DOCUMENT
        return rows


def _positions_of_ids(ids: tuple[str, ...], names: tuple[str, ...]) -> Ints:
    """Return the position of each id among the names, -1 for another id.

    The result has the shape of ``ids``. Some ids are looked up at a
    time, so that other threads can run in between.
    """
    position_of_name = {name: position for position, name in enumerate(names)}
    positions = np.empty(len(ids), dtype=np.int64)
    for begin in range(0, len(ids), _IDS_PER_BATCH):
        batch = ids[begin : begin + _IDS_PER_BATCH]
        positions[begin : begin + len(batch)] = [
            position_of_name.get(name, -1) for name in batch
        ]
    return positions


def _number_of_id(name: str) -> int:
    """Return the number that a name is; 0 for a name that is not a whole number."""
    is_number = name.isascii() and name.isdigit() and len(name) <= _MAX_DIGITS
    return int(name) if is_number else 0


COLUMNS = "qid", "winner", "loser", "magnitude", "weight"
DELIMITERS = ",;\t"
_MIN_CELLS = 3
_MAX_CELLS = len(COLUMNS)
_EXPECTED_COLUMNS = "qid,winner,loser and optionally magnitude,weight"
_HEADERS = {COLUMNS[:n] for n in range(_MIN_CELLS, _MAX_CELLS + 1)}
# characters; in a shorter line, no cell exceeds the limit of module csv
_MAX_UNCHECKED_LENGTH = 1 << 16
_QUOTING = re.compile('["\r\n\0]')

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLANKS = b" \t\r\n"
_TAB = 9
_NEWLINE = 10
_RETURN = 13
_SPACE = 32
_DELETE = 127
# characters; every cell of a column takes as much memory as the longest one
_MAX_CELL_WIDTH = 128


@dataclass(frozen=True, eq=False)
class PreferenceColumns:
    """The l preferences of a file, with names as in the file.

    Attributes
    ----------
    line : ndarray of shape (l,)
        Line number of each preference, from 1.
    query : ndarray of shape (l,)
        Position in ``queries``.
    winner, loser : ndarray of shape (l,)
        Positions in ``documents``.
    magnitude, weight : ndarray of shape (l,)
    queries, documents : tuple of str
        Distinct names.
    """

    line: Ints
    query: Ints
    winner: Ints
    loser: Ints
    magnitude: Floats
    weight: Floats
    queries: tuple[str, ...]
    documents: tuple[str, ...]


def columns_of_lines(text: TextLines) -> PreferenceColumns:
    """Read the preferences in the text of a file, line by line.

    Raises
    ------
    FormatError
        At the first invalid line.
    DatasetError
        If the file has no preferences.
    """
    # The first line that is not blank says the delimiter; it is skipped
    # if it is a header.
    filled = [
        (line_number, line)
        for line_number, line in enumerate(text.lines, start=1)
        if line.strip()
    ]
    delimiter = _delimiter_of_line(filled[0][1]) if filled else ","
    if filled and _is_header(_cells_of_line(text, *filled[0], delimiter)):
        filled = filled[1:]
    if not filled:
        raise DatasetError(
            f"{text.path}: found no preference; expected on each line {_EXPECTED_COLUMNS}."
        )

    # Queries and documents are numbered in the order of their first line.
    queries: dict[str, int] = {}
    documents: dict[str, int] = {}
    indices = []
    sizes = []
    for line_number, line in filled:
        # query, winner and loser of a preference; its magnitude and weight
        (query, *pair), numbers = _names_and_sizes(text, line_number, line, delimiter)
        numbered = (documents.setdefault(name, len(documents)) for name in pair)
        indices.append(
            (line_number, queries.setdefault(query, len(queries)), *numbered)
        )
        sizes.append(numbers)

    # The lists of rows become one array for each column.
    line_numbers, query, winner, loser = np.array(indices, dtype=np.int64).T.copy()
    magnitude, weight = np.array(sizes).T.copy()
    return PreferenceColumns(
        line_numbers,
        query,
        winner,
        loser,
        magnitude,
        weight,
        tuple(queries),
        tuple(documents),
    )


def columns_of_bytes(content: Bytes) -> PreferenceColumns | None:
    """Read preferences from plain ASCII text without quoted cells, by NumPy.

    Unlike a loop over lines, this is fast and does not block other
    threads. ``content`` are the bytes of the file.

    Returns
    -------
    PreferenceColumns or None
        None for other files, which have to be read line by line.
    """
    raw = content.tobytes().removeprefix(_BYTE_ORDER_MARK).rstrip(_BLANKS)
    text = np.frombuffer(raw, dtype=np.uint8)
    if not raw or not _is_simple_ascii(text):
        return None

    # Where each line begins and ends; a file with a very long line is
    # read line by line.
    ends = np.append(np.flatnonzero(text == _NEWLINE), text.size)
    starts = np.append(0, ends[:-1] + 1)
    if int((ends - starts).max()) >= _MAX_UNCHECKED_LENGTH:
        return None

    # The first line that is not empty says the delimiter; it is skipped
    # if it is a header.
    n_leading_blanks = len(raw) - len(raw.lstrip(_BLANKS))
    first = int(np.searchsorted(ends, n_leading_blanks))
    line = raw[starts[first] : ends[first]].decode()
    delimiter = _delimiter_of_line(line)
    first += _is_header([cell.strip() for cell in line.split(delimiter)])

    # The number of delimiters in each line says whether the line can have a preference.
    delimiter_positions = np.flatnonzero(text == ord(delimiter))
    before = np.searchsorted(delimiter_positions, starts)
    count = np.searchsorted(delimiter_positions, ends) - before
    has_preference = (count >= _MIN_CELLS - 1) & (count < _MAX_CELLS)
    has_preference[:first] = False

    # All other lines must be blank.
    other_lines = np.flatnonzero(~has_preference)
    other_lines = other_lines[other_lines >= first]
    if not has_preference.any() or any(
        raw[starts[i] : ends[i]].strip() for i in other_lines
    ):
        return None

    # The positions of all cells, without blanks around their texts.
    # Lines are counted from 1.
    lines = np.flatnonzero(has_preference)
    begin, end = _cell_bounds(
        delimiter_positions, before[lines], count[lines], starts[lines], ends[lines]
    )
    return _columns(text, lines + 1, *_stripped_bounds(text, begin, end))


def _columns(
    text: Bytes, line: Ints, begin: Ints, end: Ints
) -> PreferenceColumns | None:
    """Return the preferences in the cells of l lines.

    ``line`` (l,) are the numbers of the lines; ``begin`` and ``end``
    (l, 5) are the bounds of their cells in ``text``. Return None if a
    cell is missing, too long or not a number.
    """
    # The cells are query, winner, loser, magnitude and weight; the
    # first three must not be empty.
    width = end - begin
    if int(width.max()) > _MAX_CELL_WIDTH or (width[:, :_MIN_CELLS] == 0).any():
        return None
    queries, query = _distinct_words(text, begin[:, 0], end[:, 0])
    documents, document = _distinct_words(
        text, begin[:, 1:_MIN_CELLS].ravel(), end[:, 1:_MIN_CELLS].ravel()
    )
    magnitude, weight = (
        _parsed_sizes(text, begin[:, column], end[:, column])
        for column in range(_MIN_CELLS, _MAX_CELLS)
    )
    if magnitude is None or weight is None:
        return None
    winner = document[::2].copy()  # the words of winners and losers alternate
    loser = document[1::2].copy()
    return PreferenceColumns(
        line, query, winner, loser, magnitude, weight, queries, documents
    )


def _parsed_sizes(text: Bytes, begin: Ints, end: Ints) -> Floats | None:
    """Return the magnitudes or weights in cells; None if one of them is invalid."""
    words, index = _distinct_words(text, begin, end)
    numbers = [_parsed_size(word) for word in words]
    return None if None in numbers else np.array(numbers, dtype=np.float64)[index]


def _is_simple_ascii(text: Bytes) -> bool:
    """Return whether a text is printable ASCII without quotation marks.

    Blanks, tabs and the ends of lines, LF or CR LF, are allowed, too.
    """
    if int(text.max()) >= _DELETE or ((text == ord('"')) | (text == ord("'"))).any():
        return False

    # Each return must be followed by a new line; the text does not end with one.
    returns = np.flatnonzero(text == _RETURN)
    n_blanks = sum(int(np.count_nonzero(text == blank)) for blank in (_TAB, _NEWLINE))
    has_other_controls = int(np.count_nonzero(text < _SPACE)) != returns.size + n_blanks
    return not has_other_controls and bool((text[returns + 1] == _NEWLINE).all())


def _cell_bounds(
    delimiter_positions: Ints, before: Ints, count: Ints, start: Ints, end: Ints
) -> tuple[Ints, Ints]:
    """Return the begin and the end of each cell of lines, two arrays of shape (l, 5).

    Cells that a line does not have begin and end at the end of the line.

    Parameters
    ----------
    delimiter_positions : ndarray
        Positions of all delimiters in the text.
    before, count : ndarray of shape (l,)
        Numbers of delimiters before each line, and in it.
    start, end : ndarray of shape (l,)
        Begin and end of each line.
    """
    nth = np.arange(_MAX_CELLS - 1)
    exists = nth < count[:, None]

    # The number in the text of each line's nth delimiter; 0, which is
    # not used, where there is none.
    number_in_text = np.where(exists, before[:, None] + nth, 0)
    separators = np.where(exists, delimiter_positions[number_in_text], end[:, None])
    begin = np.column_stack((start, np.where(exists, separators + 1, end[:, None])))
    return begin, np.column_stack((separators, end))


def _stripped_bounds(text: Bytes, begin: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Return the begins and ends of cells in a text, without the blanks around them.

    The arrays have the same shape. All cells move by one character at a time.
    """
    begin = begin.copy()
    end = end.copy()

    # `shift` is where the outermost character is: at `begin`, or one before `end`.
    for edge, step, shift in ((begin, 1, 0), (end, -1, -1)):
        flat = edge.ravel()
        low = begin.ravel()
        high = end.ravel()

        # Cells whose outermost character is a blank move inwards, until
        # none does; an empty cell stops.
        unstripped = np.flatnonzero(low < high)
        while unstripped.size:
            unstripped = unstripped[text[flat[unstripped] + shift] <= _SPACE]
            flat[unstripped] += step
            unstripped = unstripped[low[unstripped] < high[unstripped]]
    return begin, end


def _distinct_words(
    text: Bytes, begin: Ints, end: Ints
) -> tuple[tuple[str, ...], Ints]:
    """Return the distinct words in some cells of a text, and the index of the word of each cell.

    ``begin`` and ``end`` (l,) are the bounds of the cells in ``text``.
    """
    width = int((end - begin).max())
    if not width:
        return ("",), np.zeros(begin.size, dtype=np.int64)

    # A row of letters for each cell, filled up with zeros to a multiple of 8.
    eights = -(-width // 8)  # width / 8, rounded up
    letters = np.zeros((begin.size, 8 * eights), dtype=np.uint8)
    for column in range(width):
        inside = np.flatnonzero(begin + column < end)
        letters[inside, column] = text[begin[inside] + column]

    # Words of at most eight letters are compared as numbers, which
    # sorts several times as fast.
    words: NDArray[np.generic] = letters.view(
        ">u8" if eights == 1 else f"S{8 * eights}"
    ).ravel()
    if eights == 1:
        words = words.astype(np.uint64)
    _, first, index = np.unique(words, return_index=True, return_inverse=True)
    distinct_words = [
        bytes(letters[row]).rstrip(b"\0").decode() for row in first.tolist()
    ]
    return tuple(distinct_words), index.astype(np.int64)


def _delimiter_of_line(line: str) -> str:
    """Return the delimiter that the first line contains most often."""
    return max(DELIMITERS, key=line.count)


def _is_header(cells: Sequence[str]) -> bool:
    return tuple(cell.lower() for cell in cells) in _HEADERS


def _cells_of_line(
    text: TextLines, line_number: int, line: str, delimiter: str
) -> list[str]:
    """Return the cells of a line, without the blanks around them.

    ``line`` is the line, and ``line_number`` and ``text`` are for the
    error. Lines with quotes, or very long ones, need Python's reader of
    CSV. Raise FormatError if this reader refuses the line.
    """
    if len(line) < _MAX_UNCHECKED_LENGTH and not _QUOTING.search(line):
        return [unguarded(cell.strip()).strip() for cell in line.split(delimiter)]
    try:
        rows = list(csv.reader([line], delimiter=delimiter, strict=True))
    except csv.Error:
        raise text.error(line_number, line, _EXPECTED_COLUMNS) from None
    if len(rows) != 1:
        raise text.error(line_number, line, _EXPECTED_COLUMNS)
    return [unguarded(cell.strip()).strip() for cell in rows[0]]


def _names_and_sizes(
    text: TextLines, line_number: int, line: str, delimiter: str
) -> tuple[list[str], list[float]]:
    """Return the names of a line (query, winner, loser), and its magnitude and weight.

    Magnitude and weight are 1 by default. Raise FormatError for an
    invalid line.
    """
    cells = _cells_of_line(text, line_number, line, delimiter)
    if not _MIN_CELLS <= len(cells) <= _MAX_CELLS or not all(cells[:_MIN_CELLS]):
        raise text.error(line_number, line, _EXPECTED_COLUMNS)
    sizes = [1.0, 1.0]
    for index, cell in enumerate(cells[_MIN_CELLS:]):
        value = _parsed_size(cell)
        if value is None:
            expected = f"a {COLUMNS[_MIN_CELLS + index]} greater than 0, from {LEAST:g} to {GREATEST:g}"
            raise text.error(line_number, cell, expected)
        sizes[index] = value
    return cells[:_MIN_CELLS], sizes


def _parsed_size(cell: str) -> float | None:
    """Return the magnitude or weight of a preference from the text of a cell.

    Return 1 for an empty cell, and None for an invalid one.
    """
    value = number(cell) if cell else 1.0
    return value if value is not None and LEAST <= value <= GREATEST else None
