"""The different rankings of each query, each kept and measured once however many models rank so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.metrics._distinct_kernel import Places, enter_again, enter_all, gather
from rankstudio.engine.metrics._ranking_kernel import Codes
from rankstudio.engine.metrics.evaluator import Evaluator

_LEAST_SLOTS = 1 << 12  # a power of two; it grows with the rankings


class DistinctRankings:
    """The different orders of labels into which models have put the documents of the queries of a part.

    The models of a path, and those of neighbouring λ, rank most queries alike: of 1,400 models of greedy
    RankRLS on MQ2008 one order in forty is another one. A measure is read off each of them once.

    Parameters
    ----------
    query_ptr : ndarray of shape (Q + 1,)
        First document of each query, and m.
    """

    def __init__(self, query_ptr: Ints) -> None:
        self._query_ptr = np.ascontiguousarray(query_ptr, dtype=np.int64)
        n_queries = self._query_ptr.size - 1
        self._counts = np.zeros(n_queries, dtype=np.int64)
        self._codes: Codes = np.empty((0, int(self._query_ptr[-1])), dtype=np.uint8)
        self._table = np.zeros(_LEAST_SLOTS, dtype=np.int64)
        self._evaluator: Evaluator | None = None
        self._measured = np.zeros(n_queries, dtype=np.int64)
        self._values: Floats = np.empty((0, 0, n_queries))
        self._given = 0

    @property
    def nbytes(self) -> int:
        """Bytes of memory, those of the places that were given out among them."""
        return self._codes.nbytes + self._table.nbytes + self._values.nbytes + self._given

    def enter(self, ranked: Codes) -> Places:
        """Enter the rankings of K models.

        Parameters
        ----------
        ranked : ndarray of shape (K, m)
            Of :func:`rankstudio.engine.metrics.evaluator.rank`, always of the same labels.

        Returns
        -------
        ndarray of shape (K, Q)
            Where they stand, for :meth:`per_query`.

        Notes
        -----
        O(K m).
        """
        self._make_room(ranked)
        places = np.empty((ranked.shape[0], self._counts.size), dtype=np.int32)
        enter_all(ranked, self._query_ptr, self._codes, self._counts, self._table, places)
        self._given += places.nbytes
        return places

    def per_query(self, entered: Sequence[Places], evaluator: Evaluator) -> dict[str, Floats]:
        """Return each measure of K models in each query, each of shape (K, Q).

        Parameters
        ----------
        entered : sequence of ndarray of shape (k, Q)
            What :meth:`enter` returned, of K models together.
        evaluator : Evaluator
            Of the same documents, by a convention with the reading order of the rankings.

        Notes
        -----
        O(K Q), besides what the evaluator takes for rankings that it has not measured yet. The values of the
        last evaluator are kept.
        """
        self._measure(evaluator)
        return {
            measure.name: self._gathered(values, entered)
            for measure, values in zip(evaluator.measures, self._values, strict=True)
        }

    def _gathered(self, values: Floats, entered: Sequence[Places]) -> Floats:
        """Return the value of each query's ranking by each model, shape (K, Q)."""
        gathered = np.empty((sum(len(places) for places in entered), self._counts.size))
        flat, start = values.ravel(), 0
        for places in entered:
            gather(flat, places, gathered[start : start + len(places)])
            start += len(places)
        return gathered

    def _measure(self, evaluator: Evaluator) -> None:
        """Measure those rankings that this evaluator has not."""
        shape = len(evaluator.measures), *(self._codes.shape[0], self._counts.size)
        if self._evaluator is not evaluator:
            self._evaluator, self._values = evaluator, np.empty(shape)
            self._measured[:] = 0
        elif self._values.shape != shape:
            values = np.empty(shape)
            values[:, : self._values.shape[1]] = self._values
            self._values = values
        if (self._measured < self._counts).any():
            evaluator.measure_rows(self._codes, self._measured, self._counts, self._values)
            self._measured[:] = self._counts

    def _make_room(self, ranked: Codes) -> None:
        """Have room for rankings all of which are new."""
        rows = int(self._counts.max()) + ranked.shape[0]
        if rows > self._codes.shape[0]:
            codes = np.empty((max(rows, 3 * self._codes.shape[0] // 2), ranked.shape[1]), dtype=ranked.dtype)
            codes[: self._codes.shape[0]] = self._codes
            self._codes = codes
        slots = self._table.size
        while slots < 2 * (int(self._counts.sum()) + ranked.shape[0] * self._counts.size):
            slots *= 2
        if slots > self._table.size:
            self._table = np.zeros(slots, dtype=np.int64)
            enter_again(self._codes, self._query_ptr, self._counts, self._table)
