"""Files of preferences: ``qid,winner,loser[,magnitude[,weight]]``, a line each."""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.letor.compression import read_beginning, without_ending
from rankstudio.engine.data.preferences.preferences import GREATEST, LEAST, Preferences
from rankstudio.engine.data.trec.lines import TextLines, number, quoted, read_lines
from rankstudio.engine.errors import DatasetError, RankStudioError
from rankstudio.engine.support.csv_cells import unguarded

COLUMNS = "qid", "winner", "loser", "magnitude", "weight"
_EXPECTED = "qid,winner,loser, and magnitude and weight where they are not 1"
_HEADERS = {COLUMNS[:n] for n in (3, 4, 5)}
_MOST_DIGITS = 9
_SHORT = 1 << 16  # characters of a line, no cell of which is too long for csv
_QUOTING = re.compile('["\r\n\0]')
_BEGINNING = 1 << 12  # bytes in which a header stands


@dataclass(frozen=True)
class _Line:
    """A preference as it stands in the file."""

    line: int
    query: str
    winner: str
    loser: str
    magnitude: float
    weight: float


@dataclass(frozen=True, eq=False)
class PreferenceFile:
    """What a file of preferences says.

    Attributes
    ----------
    path : Path
    checksum : str
        SHA-256 of its bytes.
    queries : frozenset of str
        The queries that it names.
    """

    path: Path
    checksum: str
    queries: frozenset[str]
    _text: TextLines
    _lines: tuple[_Line, ...]

    def of_part(self, data: RankingDataset, elsewhere: Container[str] = frozenset()) -> Preferences:
        """Return the preferences between documents of some data.

        Parameters
        ----------
        data : RankingDataset
        elsewhere : container of str
            Queries that other parts of the dataset have: preferences of theirs are passed over.

        Raises
        ------
        FormatError
            At the first line that names a query or a document that is not there, or a document twice.
        DatasetError
            Where none is of these data.
        """
        numbers = {query: q for q, query in enumerate(data.query_ids)}
        documents: dict[str, _Documents] = {}
        rows, sizes = [], []
        for line in self._lines:
            if line.query not in numbers:
                if line.query in elsewhere:
                    continue
                expected = f"a query of the data, such as {quoted(data.query_ids[0])}"
                raise self._text.error(line.line, line.query, expected)
            if line.query not in documents:
                documents[line.query] = _Documents.of(data, numbers[line.query])
            winner, loser = (self._row(line, name, documents) for name in (line.winner, line.loser))
            if winner == loser:
                raise self._text.error(line.line, line.loser, "another document than the winner")
            rows.append((winner, loser))
            sizes.append((line.magnitude, line.weight))
        if not rows:
            raise DatasetError(f"{self.path}: found no preference between documents of the data.")
        (winners, losers), (magnitudes, weights) = np.array(rows).T, np.array(sizes).T
        return Preferences(winners, losers, magnitudes, weights)

    def _row(self, line: _Line, name: str, documents: dict[str, _Documents]) -> int:
        """Return the row of a document; FormatError where the query has none, or several, of that name."""
        known = documents[line.query]
        row = known.row(name)
        if row is None:
            several = name in known.several
            expected = (
                "an id that one document of the query has"
                if several
                else f"a document of query {quoted(line.query)}: its id, or a number from 1 to {known.size}"
            )
            raise self._text.error(line.line, name, expected)
        return row


@dataclass(frozen=True)
class _Documents:
    """The documents of a query by name: rows by id, ids that several have, the first row, and how many."""

    ids: dict[str, int]
    several: frozenset[str]
    first: int
    size: int

    @classmethod
    def of(cls, data: RankingDataset, q: int) -> _Documents:
        first, last = data.query_ptr[q : q + 2].tolist()
        names = data.document_ids[first:last] if data.comments else ()
        counts = Counter(name for name in names if name)
        ids = {name: first + place for place, name in enumerate(names) if counts[name] == 1}
        several = frozenset(name for name, count in counts.items() if count > 1)
        return cls(ids, several, first, last - first)

    def row(self, name: str) -> int | None:
        """Return the row of a document that is named by its id, else by its number from 1."""
        if name in self.ids or name in self.several:
            return self.ids.get(name)
        plain = name.isascii() and name.isdigit() and len(name) <= _MOST_DIGITS
        place = int(name) if plain else 0
        return self.first + place - 1 if 1 <= place <= self.size else None


def holds_preferences(path: Path) -> bool:
    """Tell whether a table's header is that of preferences, so that it is no table of documents."""
    if Path(without_ending(path.name)).suffix.lower() not in (".csv", ".tsv"):
        return False
    try:
        beginning = read_beginning(path, _BEGINNING).decode("utf-8-sig", errors="replace")
    except RankStudioError:
        return False  # whoever opens it says why
    header = next((line for line in beginning.splitlines() if line.strip()), "")
    cells = re.split("[,;\t]", header.lower().replace('"', ""))
    return tuple(cell.strip() for cell in cells[:3]) == COLUMNS[:3]


def read_preference_file(path: str | os.PathLike[str]) -> PreferenceFile:
    """Read a file of preferences, without the data that they are of.

    Parameters
    ----------
    path : str or path-like
        Lines of three to five cells, ``qid,winner,loser[,magnitude[,weight]]``, with a header of these names
        or without, apart by commas, semicolons or tabs. May be compressed; empty lines count for nothing.

    Returns
    -------
    PreferenceFile

    Raises
    ------
    FileAccessError
        If it cannot be read.
    FormatError
        At the first line that is not such a one.
    DatasetError
        Where it has no preference.
    """
    text = read_lines(Path(path))
    return _parsed(text.path, text.checksum)


@lru_cache(maxsize=2)
def _parsed(path: Path, checksum: str) -> PreferenceFile:
    """Read a file whose bytes have this checksum; every fold of a run asks for it."""
    text = read_lines(path)
    filled = [(place, line) for place, line in enumerate(text.lines, start=1) if line.strip()]
    delimiter = max(",;\t", key=filled[0][1].count) if filled else ","
    if filled and tuple(cell.lower() for cell in _cells(text, *filled[0], delimiter)) in _HEADERS:
        filled = filled[1:]
    if not filled:
        raise DatasetError(f"{text.path}: found no preference, expected {_EXPECTED}, on each line.")
    lines = tuple(_line(text, place, line, delimiter) for place, line in filled)
    queries = frozenset(line.query for line in lines)
    return PreferenceFile(text.path, text.checksum, queries, text, lines)


def read_preferences(path: str | os.PathLike[str], data: RankingDataset) -> Preferences:
    """Read the preferences between documents of some data.

    Parameters
    ----------
    path : str or path-like
        As :func:`read_preference_file` takes it. A document is named by its id where the data have one of
        that name in the query (``docid = …`` in comments), else by its number among the query's documents in
        the order of the data, from 1.
    data : RankingDataset

    Returns
    -------
    Preferences

    Raises
    ------
    FileAccessError, FormatError, DatasetError
        As :func:`read_preference_file` and :meth:`PreferenceFile.of_part`.
    """
    return read_preference_file(path).of_part(data)


def _cells(text: TextLines, place: int, line: str, delimiter: str) -> list[str]:
    """Return the cells of a line."""
    if len(line) < _SHORT and not _QUOTING.search(line):
        return [unguarded(cell.strip()).strip() for cell in line.split(delimiter)]
    try:
        rows = list(csv.reader([line], delimiter=delimiter, strict=True))
    except csv.Error:
        raise text.error(place, line, _EXPECTED) from None
    if len(rows) != 1:
        raise text.error(place, line, _EXPECTED)
    return [unguarded(cell.strip()).strip() for cell in rows[0]]


def _line(text: TextLines, place: int, line: str, delimiter: str) -> _Line:
    """Return the preference of a line."""
    cells = _cells(text, place, line, delimiter)
    if not 3 <= len(cells) <= len(COLUMNS) or not all(cells[:3]):
        raise text.error(place, line, _EXPECTED)
    sizes = [1.0, 1.0]
    for at, cell in enumerate(cells[3:]):
        value = number(cell) if cell else 1.0
        if value is None or not LEAST <= value <= GREATEST:
            expected = f"a {COLUMNS[3 + at]} greater than 0, from {LEAST:g} to {GREATEST:g}"
            raise text.error(place, cell, expected)
        sizes[at] = value
    return _Line(place, cells[0], cells[1], cells[2], *sizes)
