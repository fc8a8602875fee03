"""The distinct rankings of each query: each is stored and measured once for all models with this ranking.

The search for a known ranking is compiled; see ``_kernels`` for the letters.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.metrics._kernels import Codes
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.support.jit import kernel, subroutine

Places = NDArray[np.int32]
"""Position of the ranking of each query by each model among the distinct rankings: row · Q + query."""


@kernel
def enter_all(
    ranked: Codes,
    query_ptr: Ints,
    codes: Codes,
    counts: Ints,
    table: Ints,
    places: Places,
) -> None:
    """Write the position of each query's ranking by each model, and register new rankings.

    Each different ranking of a query is stored once, in a row of
    ``codes``. The position of a ranking is row · Q + query. A hash
    table, which stores positions plus 1, says whether a ranking is
    registered already.

    Parameters
    ----------
    ranked : ndarray of shape (K, m)
        Rankings of K models: the labels of each query's documents from
        the best score down, as codes.
    query_ptr : ndarray of shape (Q + 1,)
        First document of each query, followed by m.
    codes : ndarray of shape (R, m)
        Distinct rankings of each query, stacked, with space for K more.
    counts : ndarray of shape (Q,)
        Number of rankings per query.
    table : ndarray of shape (T,)
        Hash table of positions plus 1, 0 for empty; T is a power of
        two, larger than their number will be.
    places : ndarray of shape (K, Q)
        Receives row · Q + query.

    Notes
    -----
    O(K m).
    """
    n_queries = query_ptr.shape[0] - 1
    mask = table.shape[0] - 1
    for model in range(ranked.shape[0]):
        for q in range(n_queries):
            first = query_ptr[q]
            stop = query_ptr[q + 1]
            if model and _equal(ranked, model, ranked, model - 1, first, stop):
                # Neighbours on a path rank most queries alike: no hash
                # is needed for these.
                places[model, q] = places[model - 1, q]
                continue
            # The slot of this ranking, or the empty slot where it belongs.
            slot = _hash(ranked, model, first, stop, q) & mask
            while table[slot]:
                row, query = divmod(table[slot] - 1, n_queries)
                if query == q and _equal(ranked, model, codes, row, first, stop):
                    break
                # linear probing: T is large enough for short runs
                slot = (slot + 1) & mask
            if not table[slot]:
                for i in range(first, stop):
                    codes[counts[q], i] = ranked[model, i]
                table[slot] = counts[q] * n_queries + q + 1
                counts[q] += 1
            places[model, q] = table[slot] - 1


@kernel
def enter_again(codes: Codes, query_ptr: Ints, counts: Ints, table: Ints) -> None:
    """Write the positions of all registered rankings into an empty hash table.

    Query q has counts[q] rankings, the first rows of
    ``codes`` (R, m). ``table`` (T,) is zeros, with T a power
    of two. The table receives the position r · Q + q of row
    r of query q, plus 1, so that 0 means an empty slot.
    Query q has the documents query_ptr[q] to query_ptr[q +
    1] - 1.
    """
    n_queries = query_ptr.shape[0] - 1
    mask = table.shape[0] - 1
    for q in range(n_queries):
        for row in range(counts[q]):
            # The first empty slot, from the ranking's hash on.
            slot = _hash(codes, row, query_ptr[q], query_ptr[q + 1], q) & mask
            while table[slot]:
                slot = (slot + 1) & mask
            table[slot] = row * n_queries + q + 1


@kernel
def gather(values: Floats, places: Places, out: Floats) -> None:
    """Write to ``out`` (K, Q) the ``values`` at the positions ``places`` (K, Q), without blocking other threads."""
    for model in range(places.shape[0]):
        for q in range(places.shape[1]):
            out[model, q] = values[places[model, q]]


@subroutine
def _hash(ranked: Codes, model: int, first: int, stop: int, q: int) -> int:
    """Return Fowler, Noll and Vo's hash (FNV-1a, 64 bits) of a query's ranking, its high bits folded in.

    The codes of the ranking are the positions first … stop - 1 of row
    ``model`` of ``ranked``, and q is the number of the query.
    """
    digest = np.uint64(14695981039346656037) ^ np.uint64(q)
    for i in range(first, stop):
        digest = (digest ^ np.uint64(ranked[model, i])) * np.uint64(1099511628211)
    return int((digest ^ (digest >> np.uint64(32))) & np.uint64(0x7FFFFFFFFFFFFFFF))


@subroutine
def _equal(
    ranked: Codes, model: int, codes: Codes, row: int, first: int, stop: int
) -> bool:
    """Return whether two rankings of a query are equal, as different rankings may have equal hashes.

    The rankings are the positions first … stop - 1 of a row of
    ``ranked`` and a row of ``codes``.
    """
    i = first
    while i < stop and ranked[model, i] == codes[row, i]:
        i += 1
    return bool(i == stop)


_MIN_SLOTS = 1 << 12  # a power of two; it grows with the rankings


class DistinctRankings:
    """Distinct orders of labels in each query of some documents, over all models.

    Models of a path, and models of similar λ, rank most queries
    identically: of 1,400 models of greedy RankRLS on MQ2008, one order
    in forty is new. Each distinct order is measured once.

    Parameters
    ----------
    query_ptr : ndarray of shape (Q + 1,)
        First document of each query, followed by m.
    """

    def __init__(self, query_ptr: Ints) -> None:
        """Start without rankings; query q has the documents query_ptr[q] to query_ptr[q + 1] - 1."""
        self._query_ptr = np.ascontiguousarray(query_ptr, dtype=np.int64)
        n_queries = self._query_ptr.size - 1
        # The number of different rankings of each query, the rankings,
        # and the hash table of their positions.
        self._counts = np.zeros(n_queries, dtype=np.int64)
        self._codes: Codes = np.empty((0, int(self._query_ptr[-1])), dtype=np.uint8)
        self._table = np.zeros(_MIN_SLOTS, dtype=np.int64)
        # The evaluator with the last values, and how many rankings of
        # each query it has measured.
        self._evaluator: Evaluator | None = None
        self._n_measured = np.zeros(n_queries, dtype=np.int64)
        self._values: Floats = np.empty((0, 0, n_queries))  # by measure, row and query
        self._bytes_returned = 0

    @property
    def nbytes(self) -> int:
        """Memory in bytes, including all arrays of positions that were returned to callers."""
        return (
            self._codes.nbytes
            + self._table.nbytes
            + self._values.nbytes
            + self._bytes_returned
        )

    def enter(self, ranked: Codes) -> Places:
        """Register the rankings of K models.

        Parameters
        ----------
        ranked : ndarray of shape (K, m)
            Labels in ranked order, with marks of ties, as
            :func:`rankstudio.engine.metrics.evaluator.rank` returns them. All calls
            have to be about the same documents.

        Returns
        -------
        ndarray of shape (K, Q)
            Positions for :meth:`per_query`.

        Notes
        -----
        O(K m).
        """
        self._make_room(ranked)
        places = np.empty((ranked.shape[0], self._counts.size), dtype=np.int32)
        enter_all(
            ranked, self._query_ptr, self._codes, self._counts, self._table, places
        )
        self._bytes_returned += places.nbytes
        return places

    def per_query(
        self, entered: Sequence[Places], evaluator: Evaluator
    ) -> dict[str, Floats]:
        """Return each measure of K models in each query, each of shape (K, Q).

        Parameters
        ----------
        entered : sequence of ndarray of shape (k, Q)
            Results of :meth:`enter` for K models in total.
        evaluator : Evaluator
            Evaluator of the same documents, with a convention that has
            the reading order of the rankings.

        Notes
        -----
        O(K Q), plus the evaluator's time for new rankings. The values
        of the last evaluator are cached.
        """
        self._measure(evaluator)
        return {
            measure.name: self._gathered(values, entered)
            for measure, values in zip(evaluator.measures, self._values, strict=True)
        }

    def _gathered(self, values: Floats, entered: Sequence[Places]) -> Floats:
        """Return the value of each query's ranking by each of K models, shape (K, Q).

        ``values`` (R, Q) are those of the distinct rankings of each
        query. ``entered`` are arrays (k, Q) of positions in ``values``,
        each for k of the K models.
        """
        gathered = np.empty((sum(len(places) for places in entered), self._counts.size))
        flat = values.ravel()
        start = 0
        for places in entered:
            gather(flat, places, gathered[start : start + len(places)])
            start += len(places)
        return gathered

    def _measure(self, evaluator: Evaluator) -> None:
        """Measure the rankings that this evaluator has not measured yet, and store the values for later calls.

        The values have shape (M, R, Q): M measures, up to R different
        rankings of a query, and Q queries.
        """
        shape = (len(evaluator.measures), self._codes.shape[0], self._counts.size)
        # Another evaluator has other measures; the same one may need
        # more rows of rankings than there were.
        if self._evaluator is not evaluator:
            self._evaluator = evaluator
            self._values = np.empty(shape)
            self._n_measured[:] = 0
        elif self._values.shape != shape:
            values = np.empty(shape)
            values[:, : self._values.shape[1]] = self._values
            self._values = values
        # Of each query, the rankings from the number that is measured
        # to the number that there are.
        if (self._n_measured < self._counts).any():
            evaluator.measure_rows(
                self._codes, self._n_measured, self._counts, self._values
            )
            self._n_measured[:] = self._counts

    def _make_room(self, ranked: Codes) -> None:
        """Enlarge the arrays for the rankings (K, m) of K models, which may all be new.

        The hash table stays at most half full.
        """
        rows = int(self._counts.max()) + ranked.shape[0]
        if rows > self._codes.shape[0]:
            # Add at least half of the present rows, so that rows are seldom copied.
            n_rows = max(rows, 3 * self._codes.shape[0] // 2)
            codes = np.empty((n_rows, ranked.shape[1]), dtype=ranked.dtype)
            codes[: self._codes.shape[0]] = self._codes
            self._codes = codes
        # Double the table until at most half of it can be in use.
        slots = self._table.size
        while slots < 2 * (
            int(self._counts.sum()) + ranked.shape[0] * self._counts.size
        ):
            slots *= 2
        if slots > self._table.size:
            self._table = np.zeros(slots, dtype=np.int64)
            enter_again(self._codes, self._query_ptr, self._counts, self._table)
