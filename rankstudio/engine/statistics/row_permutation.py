"""Random orders of rows within their queries; equal numbers give equal orders."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Bools, Ints


def permuted_rows(
    ptr: Ints, seed: int, number: int, among: Bools | None = None
) -> Ints:
    """Return a random order of all rows that permutes rows within their queries.

    The result has shape (m,): the former row number at each new
    position. Equal seeds and numbers give equal orders.

    Parameters
    ----------
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    seed, number : int
        Seed of the random orders, and the number of the wanted one
        among the orders of this seed.
    among : ndarray of shape (m,), optional
        Whether each row is permuted; the others keep their positions.
        All are permuted by default.
    """
    keys = np.random.default_rng([seed, number]).random(int(ptr[-1]))
    query = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))
    order: Ints = np.arange(keys.size)
    rows = order if among is None else np.flatnonzero(among)
    # Sort by query, then by random key: each query keeps its rows, in a random order.
    order[rows] = rows[np.lexsort((keys[rows], query[rows]))]
    return order
