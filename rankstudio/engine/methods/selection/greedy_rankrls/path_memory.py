"""What greedy paths need of memory, and which statistics they keep."""

from __future__ import annotations

from dataclasses import replace

from rankstudio.engine.methods.memory_need import NUMBER, DataShape, MemoryNeed, shard_need, whole_need

_DELAY = 16  # steps: with fewer the matrices are written more often, with more each step reads more
KEPT_ROWS = 1e9  # bytes of rows of Gram matrices that data of one shard keep for other λ
# Whole Gram matrices may take so many times the documents' numbers where there are so many times k features:
# with more, the rows of k features are computed sooner. By two measurements, of few and of many documents.
_WHOLE = (2, 16), (4, 3)


def kept_statistics(algorithm: str, shape: tuple[int, int, int], k: int) -> str:
    """Return "statistics" or "rows": what is asked for, else by the shape (m, n, Q) of the data alone."""
    m, n, Q = shape
    if algorithm != "auto":
        return algorithm
    whole = any(Q * (n + 1) <= most * m and n <= features * k for most, features in _WHOLE)
    return "statistics" if whole else "rows"


def delay(n: int, k: int, whole: bool) -> int:
    """Return how many steps shards keep as they are, as :class:`GreedyWork` has it.

    Systems read k²n / 2 - k³ / 3 + 2k³ / 3 numbers of a query in all; without them it is twice the first two,
    or k²n - 2k³ / 3, which is less from k = n / 2 on. Matrices make that less still.
    """
    if 2 * k < n:
        return 0
    return min(_DELAY, k) if whole else k


def path_need(shape: DataShape, k: int, algorithm: str) -> MemoryNeed:
    """Return what a path of k features needs.

    Of each query 2n + 1 numbers last for all λ, and n² more by statistics; 4n + 1 are for one λ, and what is
    kept of the selected features: see
    :mod:`rankstudio.engine.methods.selection.greedy_rankrls.selected_rows`.
    """
    m, n, Q = shape.m, shape.n, shape.Q
    kept = kept_statistics(algorithm, (m, n, Q), k)
    whole = kept == "statistics"
    lasting = NUMBER * Q * (2 * n + 1 + ((n + 1) ** 2 if whole else 0))
    states = NUMBER * Q * (4 * n + 1 + _selected(n, k, whole))
    made = NUMBER * Q * (n + 1) ** 2 if whole else min(KEPT_ROWS, NUMBER * Q * n * min(n, 2 * k))
    return replace(_need(shape, states, lasting, made), algorithm=kept)


def _need(shape: DataShape, states: float, lasting: float, made: float) -> MemoryNeed:
    """Return what is needed; one shard keeps centred documents and so many bytes that are made of them."""
    if shape.sharded:
        return shard_need(shape, 0.5, states, lasting)
    return replace(whole_need(shape).plus(made), states=states, lasting=lasting)


def on_demand_need(shape: DataShape, k: int) -> MemoryNeed:
    """Return what floating search, groups and back-fitting need to select k features at most.

    Of each query (n + 1)² numbers last for all λ, and 2k² + 4k + 1 are for one.
    """
    lasting = NUMBER * shape.Q * (shape.n + 1) ** 2
    states = NUMBER * shape.Q * (2 * k**2 + 4 * k + 1)
    return replace(_need(shape, states, lasting, lasting), algorithm="statistics")


def _selected(n: int, k: int, whole: bool) -> float:
    """Return how many numbers are kept of the selected features in a query."""
    steps = delay(n, k, whole)
    if steps == 0:
        return k * (k + 1) / 2 + (0 if whole else k * n)
    left = n - steps if k > steps else 0
    return 2 * n * steps + steps + left * (left - 1) + (0 if whole else n)
