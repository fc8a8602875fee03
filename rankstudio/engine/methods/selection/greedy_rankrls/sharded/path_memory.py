"""What the greedy path over shards needs of memory, and which statistics it keeps."""

from __future__ import annotations

from rankstudio.engine.methods.memory_need import NUMBER, DataShape, MemoryNeed, shard_need

_MOST_STATISTICS = 2  # times the documents' numbers: Gram matrices may take that much
_MOST_FEATURES = 16  # times k: with more, the rows of k of them are computed sooner than whole Gram matrices


def kept_statistics(algorithm: str, shape: tuple[int, int, int], k: int) -> str:
    """Return "statistics" or "rows": what is asked for, else by the shape (m, n, Q) of the data alone."""
    m, n, Q = shape
    if algorithm != "auto":
        return algorithm
    small = Q * (n + 1) <= _MOST_STATISTICS * m and n <= _MOST_FEATURES * k
    return "statistics" if small else "rows"


def path_need(shape: DataShape, k: int, algorithm: str) -> MemoryNeed:
    """Return what a path of k features needs.

    Of each query 2n + 1 numbers last for all λ, and n² more by statistics; 4n + 1 + k(k + 1)/2 are for one λ,
    and kn more by rows: see :class:`rankstudio.engine.methods.selection.greedy_rankrls.sharded.GreedyState`.
    """
    n, Q = shape.n, shape.Q
    kept = kept_statistics(algorithm, (shape.m, n, Q), k)
    whole = kept == "statistics"
    lasting = NUMBER * Q * (2 * n + 1 + (n**2 if whole else 0))
    states = NUMBER * Q * (4 * n + 1 + k * (k + 1) / 2 + (0 if whole else k * n))
    need = shard_need(shape, 0.5, states, lasting)
    return MemoryNeed(need.least, states, lasting, by_shards=True, algorithm=kept)
