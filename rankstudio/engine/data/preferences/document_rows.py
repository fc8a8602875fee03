"""Which row a document has that a file names by its id, or by its number among those of its query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.dataset import RankingDataset

NO_DOCUMENT, SEVERAL = -1, -2
"""In place of a row: no document of the query has the name, or several have it for their id."""

_MOST_DIGITS = 9
_AT_A_TIME = 1 << 14  # ids that are looked up before other threads may go on


@dataclass(frozen=True, eq=False)
class DocumentRows:
    """Rows of some data by query and name.

    Attributes
    ----------
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    numbers : ndarray of shape (N,)
        The numbers that names are, 0 for those that are none.
    keys : ndarray of shape (D,), in ascending order
        ``q * N + n`` where a document of query q has the nth name for its id.
    rows : ndarray of shape (D,)
        Of that document, or `SEVERAL`.
    """

    ptr: Ints
    numbers: Ints
    keys: Ints
    rows: Ints

    @classmethod
    def of(cls, data: RankingDataset, names: tuple[str, ...]) -> DocumentRows:
        """Look for names among the ids of documents."""
        numbers = np.array([_number(name) for name in names], dtype=np.int64)
        name = _places(data.document_ids if data.comments else (), names)
        rows = np.flatnonzero(name >= 0)
        keys, first, count = np.unique(
            data.query_index[rows] * len(names) + name[rows], return_index=True, return_counts=True
        )
        return cls(data.query_ptr, numbers, keys, np.where(count > 1, SEVERAL, rows[first]))

    def find(self, query: Ints, name: Ints) -> Ints:
        """Return the row of each document, `NO_DOCUMENT` or `SEVERAL`.

        Parameters
        ----------
        query : ndarray of shape (l,)
            Its query's number, less than 0 for none.
        name : ndarray of shape (l,)
            Place of its name.

        Returns
        -------
        ndarray of shape (l,)

        Notes
        -----
        O(l log D).
        """
        q = np.maximum(query, 0)
        first, number = self.ptr[q], self.numbers[name]
        rows = np.where((number >= 1) & (number <= self.ptr[q + 1] - first), first + number - 1, NO_DOCUMENT)
        key = q * self.numbers.size + name
        at = np.searchsorted(self.keys, key)
        named = np.flatnonzero(np.append(self.keys, -1)[at] == key)
        rows[named] = self.rows[at[named]]
        rows[query < 0] = NO_DOCUMENT
        return rows


def _places(ids: tuple[str, ...], names: tuple[str, ...]) -> Ints:
    """Return for each id its place among names, -1 where it is none of them."""
    places = {name: place for place, name in enumerate(names)}
    found = np.empty(len(ids), dtype=np.int64)
    for begin in range(0, len(ids), _AT_A_TIME):
        some = ids[begin : begin + _AT_A_TIME]
        found[begin : begin + len(some)] = [places.get(name, -1) for name in some]
    return found


def _number(name: str) -> int:
    """Return the number from 1 that a name is, or 0."""
    plain = name.isascii() and name.isdigit() and len(name) <= _MOST_DIGITS
    return int(name) if plain else 0
