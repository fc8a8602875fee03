"""The queries of documents that come in one behind the other, and are not kept."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable

import numpy as np

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.letor.parsed_table import Scattered


class QueryRuns:
    """Numbers queries in the order in which they first appear; a run is of documents of one query.

    Parameters
    ----------
    unit : str
        What a place is counted in: "line" or "row".
    """

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._numbers: dict[str, int] = {}
        self._back: dict[int, int] = {}  # of the queries that come back, the first with its place
        self._runs, self._lengths = array("q"), array("q")

    def add(self, runs: Iterable[tuple[str, int]], place_of: Callable[[int], int]) -> None:
        """Take in the id of the query and the number of documents of each run.

        Parameters
        ----------
        runs : iterable of (str, int)
        place_of : callable
            From the position of a run among these to where its first document is; asked once at most.
        """
        for position, (query_id, length) in enumerate(runs):
            known = query_id in self._numbers
            query = self._numbers.setdefault(query_id, len(self._numbers))
            if self._runs and self._runs[-1] == query:
                self._lengths[-1] += length
                continue
            if known and query not in self._back:
                self._back[query] = 0 if self._back else place_of(position)
            self._runs.append(query)
            self._lengths.append(length)

    @property
    def query_ids(self) -> tuple[str, ...]:
        """The ids of the queries."""
        return tuple(self._numbers)

    def query_ptr(self) -> Ints:
        """Return the first row of each query once the rows are in order, and their number."""
        sizes = np.zeros(len(self._numbers) + 1, dtype=np.int64)
        np.add.at(sizes, np.frombuffer(self._runs, np.int64) + 1, np.frombuffer(self._lengths, np.int64))
        return np.cumsum(sizes)

    def scattered(self) -> Scattered | None:
        """Return which queries have documents that do not stand together."""
        if not self._back:
            return None
        query, place = next(iter(self._back.items()))
        return Scattered(len(self._back), self.query_ids[query], place, self._unit)

    def order(self) -> Ints:
        """Return the rows query by query. O(m log m) for m documents."""
        runs, lengths = (np.frombuffer(a, np.int64) for a in (self._runs, self._lengths))
        return np.argsort(np.repeat(runs, lengths), kind="stable")
