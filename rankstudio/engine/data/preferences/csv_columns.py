"""The lines of a file of preferences as columns, and the names in them by number."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Bytes, Floats, Ints
from rankstudio.engine.data.preferences.preferences import GREATEST, LEAST
from rankstudio.engine.data.text_lines import TextLines, number
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.support.csv_cells import unguarded

COLUMNS = "qid", "winner", "loser", "magnitude", "weight"
DELIMITERS = ",;\t"
_FEWEST, _MOST = 3, len(COLUMNS)
_EXPECTED = "qid,winner,loser, and magnitude and weight where they are not 1"
_HEADERS = {COLUMNS[:n] for n in range(_FEWEST, _MOST + 1)}
_SHORT = 1 << 16  # characters of a line, no cell of which is too long for csv
_QUOTING = re.compile('["\r\n\0]')

_MARK, _BLANKS = b"\xef\xbb\xbf", b" \t\r\n"
_TAB, _NEWLINE, _RETURN, _SPACE, _DELETE = 9, 10, 13, 32, 127
_WIDEST = 128  # characters of a cell, as every other one of its column takes as much memory


@dataclass(frozen=True, eq=False)
class PreferenceColumns:
    """The l preferences of a file, with names as the file has them.

    Attributes
    ----------
    line : ndarray of shape (l,)
        Where each stands, from 1.
    query : ndarray of shape (l,)
        Place in ``queries``.
    winner, loser : ndarray of shape (l,)
        Places in ``documents``.
    magnitude, weight : ndarray of shape (l,)
    queries, documents : tuple of str
        The names, each once.
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
    """Read any file, line by line.

    Raises
    ------
    FormatError
        At the first line that is no preference.
    DatasetError
        Where there is none.
    """
    filled = [(place, line) for place, line in enumerate(text.lines, start=1) if line.strip()]
    delimiter = _delimiter(filled[0][1]) if filled else ","
    if filled and _is_header(_cells(text, *filled[0], delimiter)):
        filled = filled[1:]
    if not filled:
        raise DatasetError(f"{text.path}: found no preference, expected {_EXPECTED}, on each line.")
    queries: dict[str, int] = {}
    documents: dict[str, int] = {}
    names, sizes = [], []
    for place, line in filled:
        (query, *pair), numbers = _line(text, place, line, delimiter)
        numbered = (documents.setdefault(name, len(documents)) for name in pair)
        names.append((place, queries.setdefault(query, len(queries)), *numbered))
        sizes.append(numbers)
    at, query, winner, loser = np.array(names, dtype=np.int64).T.copy()
    magnitude, weight = np.array(sizes).T.copy()
    return PreferenceColumns(at, query, winner, loser, magnitude, weight, tuple(queries), tuple(documents))


def columns_of_bytes(content: Bytes) -> PreferenceColumns | None:
    """Read a file of plain characters, no cell of which is quoted, by whole arrays.

    Other threads go on meanwhile, as they do not beside a loop over lines.

    Returns
    -------
    PreferenceColumns or None
        None for a file with anything else in it, of which :func:`columns_of_lines` knows what it is.
    """
    raw = content.tobytes().removeprefix(_MARK).rstrip(_BLANKS)
    text = np.frombuffer(raw, dtype=np.uint8)
    if not raw or not _is_plain(text):
        return None
    ends = np.append(np.flatnonzero(text == _NEWLINE), text.size)
    starts = np.append(0, ends[:-1] + 1)
    if int((ends - starts).max()) >= _SHORT:
        return None
    first = int(np.searchsorted(ends, len(raw) - len(raw.lstrip(_BLANKS))))
    line = raw[starts[first] : ends[first]].decode()
    delimiter = _delimiter(line)
    first += _is_header([cell.strip() for cell in line.split(delimiter)])
    places = np.flatnonzero(text == ord(delimiter))
    before = np.searchsorted(places, starts)
    count = np.searchsorted(places, ends) - before
    filled = (count >= _FEWEST - 1) & (count < _MOST)
    filled[:first] = False
    rest = np.flatnonzero(~filled)
    if not filled.any() or any(raw[starts[i] : ends[i]].strip() for i in rest[rest >= first]):
        return None
    lines = np.flatnonzero(filled)
    cells = _stripped(text, *_bounds(places, before[lines], count[lines], starts[lines], ends[lines]))
    return _columns(text, lines + 1, *cells)


def _columns(text: Bytes, line: Ints, begin: Ints, end: Ints) -> PreferenceColumns | None:
    """Return the columns of cells (l, 5), or None where one is missing, too long or no number."""
    wide = end - begin
    if int(wide.max()) > _WIDEST or (wide[:, :_FEWEST] == 0).any():
        return None
    queries, query = _distinct(text, begin[:, 0], end[:, 0])
    documents, document = _distinct(text, begin[:, 1:_FEWEST].ravel(), end[:, 1:_FEWEST].ravel())
    magnitude, weight = (_sizes(text, begin[:, at], end[:, at]) for at in range(_FEWEST, _MOST))
    if magnitude is None or weight is None:
        return None
    winner, loser = document[::2].copy(), document[1::2].copy()
    return PreferenceColumns(line, query, winner, loser, magnitude, weight, queries, documents)


def _sizes(text: Bytes, begin: Ints, end: Ints) -> Floats | None:
    """Return the magnitudes or weights in cells, or None where one is none."""
    words, place = _distinct(text, begin, end)
    numbers = [_size(word) for word in words]
    return None if None in numbers else np.array(numbers, dtype=np.float64)[place]


def _is_plain(text: Bytes) -> bool:
    """Tell whether a text is of printable ASCII without quotation marks, in lines that end as usual."""
    returns = np.flatnonzero(text == _RETURN)
    blanks = sum(int(np.count_nonzero(text == blank)) for blank in (_TAB, _NEWLINE))
    return (
        int(text.max()) < _DELETE
        and not ((text == ord('"')) | (text == ord("'"))).any()
        and int(np.count_nonzero(text < _SPACE)) == returns.size + blanks
        and bool((text[returns + 1] == _NEWLINE).all())
    )


def _bounds(places: Ints, before: Ints, count: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Return where the cells of lines begin and end (l, 5), at the line's end those that it has not.

    Parameters
    ----------
    places : ndarray
        Of all delimiters.
    before, count : ndarray of shape (l,)
        How many of them stand before each line, and in it.
    start, end : ndarray of shape (l,)
        Of the line.
    """
    nth = np.arange(_MOST - 1)
    there = nth < count[:, None]
    at = np.where(there, places[np.where(there, before[:, None] + nth, 0)], end[:, None])
    begin = np.column_stack((start, np.where(there, at + 1, end[:, None])))
    return begin, np.column_stack((at, end))


def _stripped(text: Bytes, begin: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Return where cells begin and end without the blanks around them."""
    begin, end = begin.copy(), end.copy()
    for edge, step, shift in ((begin, 1, 0), (end, -1, -1)):
        flat, low, high = edge.ravel(), begin.ravel(), end.ravel()
        some = np.flatnonzero(low < high)
        while some.size:
            some = some[text[flat[some] + shift] <= _SPACE]
            flat[some] += step
            some = some[low[some] < high[some]]
    return begin, end


def _distinct(text: Bytes, begin: Ints, end: Ints) -> tuple[tuple[str, ...], Ints]:
    """Return the words of cells, each once, and which of them each cell is."""
    width = int((end - begin).max())
    if not width:
        return ("",), np.zeros(begin.size, dtype=np.int64)
    eights = -(-width // 8)
    letters = np.zeros((begin.size, 8 * eights), dtype=np.uint8)
    for column in range(width):
        inside = np.flatnonzero(begin + column < end)
        letters[inside, column] = text[begin[inside] + column]
    # As numbers where eight letters are enough: these are sorted several times as fast as words.
    words: NDArray[np.generic] = letters.view(">u8" if eights == 1 else f"S{8 * eights}").ravel()
    if eights == 1:
        words = words.astype(np.uint64)
    _, first, place = np.unique(words, return_index=True, return_inverse=True)
    kept = [bytes(letters[row]).rstrip(b"\0").decode() for row in first.tolist()]
    return tuple(kept), place.astype(np.int64)


def _delimiter(line: str) -> str:
    """Return by what the cells of the first line are apart."""
    return max(DELIMITERS, key=line.count)


def _is_header(cells: Sequence[str]) -> bool:
    return tuple(cell.lower() for cell in cells) in _HEADERS


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


def _line(text: TextLines, place: int, line: str, delimiter: str) -> tuple[list[str], list[float]]:
    """Return the names and the numbers of a line."""
    cells = _cells(text, place, line, delimiter)
    if not _FEWEST <= len(cells) <= _MOST or not all(cells[:_FEWEST]):
        raise text.error(place, line, _EXPECTED)
    sizes = [1.0, 1.0]
    for at, cell in enumerate(cells[_FEWEST:]):
        value = _size(cell)
        if value is None:
            expected = f"a {COLUMNS[_FEWEST + at]} greater than 0, from {LEAST:g} to {GREATEST:g}"
            raise text.error(place, cell, expected)
        sizes[at] = value
    return cells[:_FEWEST], sizes


def _size(cell: str) -> float | None:
    """Return the magnitude or weight in a cell, 1 for an empty one, or None for what is none."""
    value = number(cell) if cell else 1.0
    return value if value is not None and LEAST <= value <= GREATEST else None
