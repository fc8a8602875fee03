"""Finding a query's ranking among those that are known of it, compiled; see ``_kernels`` for the letters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.metrics._ranking_kernel import Codes
from rankstudio.engine.support.jit import kernel, subroutine

Places = NDArray[np.int32]
"""Where the ranking of each query by each model stands: row · Q + query."""


@kernel
def enter_all(
    ranked: Codes, query_ptr: Ints, codes: Codes, counts: Ints, table: Ints, places: Places
) -> None:
    """Write where each query's ranking by each model stands, and enter those that are new.

    Parameters
    ----------
    ranked : ndarray of shape (K, m)
        Of ``rank_all``.
    query_ptr : ndarray of shape (Q + 1,)
    codes : ndarray of shape (R, m)
        The different rankings of each query, one below the other, with room for K more.
    counts : ndarray of shape (Q,)
        How many of them there are.
    table : ndarray of shape (T,)
        1 more than the place of each, by its hash, else 0; T a power of two, greater than they will be.
    places : ndarray of shape (K, Q)
        Receives row · Q + query.

    Notes
    -----
    O(K m).
    """
    n_queries, mask = query_ptr.shape[0] - 1, table.shape[0] - 1
    for model in range(ranked.shape[0]):
        for q in range(n_queries):
            first, stop = query_ptr[q], query_ptr[q + 1]
            if model and _equal(ranked, model, ranked, model - 1, first, stop):
                # Neighbours on a path rank most queries alike: no hash is needed for these.
                places[model, q] = places[model - 1, q]
                continue
            slot = _hash(ranked, model, first, stop, q) & mask
            while table[slot]:
                row, query = divmod(table[slot] - 1, n_queries)
                if query == q and _equal(ranked, model, codes, row, first, stop):
                    break
                slot = (slot + 1) & mask  # linear probing: T is so great that runs stay short
            if not table[slot]:
                for i in range(first, stop):
                    codes[counts[q], i] = ranked[model, i]
                table[slot] = counts[q] * n_queries + q + 1
                counts[q] += 1
            places[model, q] = table[slot] - 1


@kernel
def enter_again(codes: Codes, query_ptr: Ints, counts: Ints, table: Ints) -> None:
    """Write the places of all known rankings into an empty table."""
    n_queries, mask = query_ptr.shape[0] - 1, table.shape[0] - 1
    for q in range(n_queries):
        for row in range(counts[q]):
            slot = _hash(codes, row, query_ptr[q], query_ptr[q + 1], q) & mask
            while table[slot]:
                slot = (slot + 1) & mask
            table[slot] = row * n_queries + q + 1


@kernel
def gather(values: Floats, places: Places, out: Floats) -> None:
    """Write the values that stand at these places, shape (K, Q): O(K Q), while others may work."""
    for model in range(places.shape[0]):
        for q in range(places.shape[1]):
            out[model, q] = values[places[model, q]]


@subroutine
def _hash(ranked: Codes, model: int, first: int, stop: int, q: int) -> int:
    """Return Fowler, Noll and Vo's hash (FNV-1a, 64 bits) of a query's ranking, its high bits folded in."""
    found = np.uint64(14695981039346656037) ^ np.uint64(q)
    for i in range(first, stop):
        found = (found ^ np.uint64(ranked[model, i])) * np.uint64(1099511628211)
    return int((found ^ (found >> np.uint64(32))) & np.uint64(0x7FFFFFFFFFFFFFFF))


@subroutine
def _equal(ranked: Codes, model: int, codes: Codes, row: int, first: int, stop: int) -> bool:
    i = first
    while i < stop and ranked[model, i] == codes[row, i]:
        i += 1
    return bool(i == stop)
