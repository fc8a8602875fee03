"""Files of preferences: ``qid,winner,loser[,magnitude[,weight]]``, a line each."""

from __future__ import annotations

import os
import re
from collections.abc import Container
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from rankstudio.engine.data.compression import read_beginning, without_ending
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.preferences.csv_columns import (
    COLUMNS,
    PreferenceColumns,
    columns_of_bytes,
    columns_of_lines,
)
from rankstudio.engine.data.preferences.document_rows import NO_DOCUMENT, SEVERAL, DocumentRows
from rankstudio.engine.data.preferences.preferences import Preferences
from rankstudio.engine.data.text_lines import line_error, quoted, read_text
from rankstudio.engine.errors import DatasetError, FormatError, RankStudioError

_BEGINNING = 1 << 12  # bytes in which a header stands
_NOWHERE, _ELSEWHERE = -1, -2
"""In place of the number of a query: no part has it, or another one."""


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
    _columns: PreferenceColumns

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

        Notes
        -----
        O(m + l log m) for m documents and l preferences, in whole arrays but for each name once.
        """
        columns = self._columns
        numbers = {query: q for q, query in enumerate(data.query_ids)}
        known = [
            numbers.get(query, _ELSEWHERE if query in elsewhere else _NOWHERE) for query in columns.queries
        ]
        query = np.array(known, dtype=np.int64)[columns.query]
        here = np.flatnonzero(query != _ELSEWHERE)
        if not here.size:
            raise DatasetError(f"{self.path}: found no preference between documents of the data.")
        query = query[here]
        documents = DocumentRows.of(data, columns.documents)
        winner, loser = (documents.find(query, names[here]) for names in (columns.winner, columns.loser))
        wrong = np.flatnonzero((query == _NOWHERE) | (winner < 0) | (loser < 0) | (winner == loser))
        if wrong.size:
            at = int(wrong[0])
            raise self._error(data, int(here[at]), int(query[at]), int(winner[at]), int(loser[at]))
        return Preferences(winner, loser, columns.magnitude[here], columns.weight[here])

    def _error(self, data: RankingDataset, place: int, q: int, winner: int, loser: int) -> FormatError:
        """Return what is wrong with a preference, of the rows that were found for it."""
        columns = self._columns
        query = columns.queries[int(columns.query[place])]
        row, names = (winner, columns.winner) if winner < 0 else (loser, columns.loser)
        name = columns.documents[int(names[place])]
        if q == _NOWHERE:
            name, expected = query, f"a query of the data, such as {quoted(data.query_ids[0])}"
        elif row == SEVERAL:
            expected = "an id that one document of the query has"
        elif row == NO_DOCUMENT:
            size = int(data.query_ptr[q + 1] - data.query_ptr[q])
            expected = f"a document of query {quoted(query)}: its id, or a number from 1 to {size}"
        else:
            expected = "another document than the winner"
        return line_error(self.path, int(columns.line[place]), name, expected)


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
    file = read_text(Path(path))
    return _parsed(file.path, file.checksum)


@lru_cache(maxsize=2)
def _parsed(path: Path, checksum: str) -> PreferenceFile:
    """Read a file whose bytes have this checksum; every fold of a run asks for it."""
    file = read_text(path)
    columns = columns_of_bytes(file.content) or columns_of_lines(file.in_lines())
    return PreferenceFile(path, file.checksum, frozenset(columns.queries), columns)


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
