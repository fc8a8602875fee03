"""What RankRLS needs of memory where it looks at all documents at once."""

from __future__ import annotations

from dataclasses import replace

from rankstudio.engine.methods.memory_need import NUMBER, DataShape, MemoryNeed, whole_need


def statistics_bytes(Q: int, n: int) -> float:
    """Return the bytes of the Gram matrices of all queries, with the labels."""
    return NUMBER * Q * (n + 1) ** 2


def residuals_bytes(m: int, n: int) -> float:
    """Return the bytes that the errors of left-out queries need without Gram matrices."""
    return NUMBER * (3 * n**2 + 4 * m * n)


def rankrls_need(shape: DataShape, most: float) -> MemoryNeed:
    """Return what RankRLS needs: the statistics of the queries, of so many bytes at most, else less."""
    whole = whole_need(shape)
    statistics, without = statistics_bytes(shape.Q, shape.n), residuals_bytes(shape.m, shape.n)
    fits = statistics <= min(most, shape.free - whole.least)
    taken = statistics if fits else without
    return replace(whole.plus(min(statistics, without)), usual=whole.least + taken)
