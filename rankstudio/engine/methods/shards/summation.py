"""Sums over shards in one fixed order: the same bits however many workers there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Floats


@dataclass(frozen=True, eq=False)
class Greatest:
    """A summand of which the greatest of all shards counts, number by number, in place of the sum.

    Attributes
    ----------
    values : ndarray
    """

    values: Floats

    def __add__(self, other: Greatest) -> Greatest:
        return Greatest(np.maximum(self.values, other.values))


@dataclass(frozen=True, eq=False)
class Joined:
    """A summand that stands beside those of the other shards, in their order, in place of being added.

    Attributes
    ----------
    values : ndarray of shape (…, d)
        Of d queries or documents of a shard.
    """

    values: Floats

    def __add__(self, other: Joined) -> Joined:
        return Joined(np.concatenate((self.values, other.values), axis=-1))


class TreeSum:
    """A sum of tuples of arrays in the tree of a binary counter: neighbours first, then pairs of neighbours.

    Notes
    -----
    The order of additions depends on the number of summands alone. It keeps O(log S) partial sums of S
    summands, and rounding errors grow with log S instead of S.

    Examples
    --------
    >>> import numpy as np
    >>> total = TreeSum()
    >>> for value in (1.0, 2.0, 3.0):
    ...     total.add((np.array([value]),))
    >>> total.result()
    (array([6.]),)
    """

    def __init__(self) -> None:
        self._partial: list[tuple[int, tuple[Floats, ...]]] = []

    def add(self, summands: Sequence[Floats]) -> None:
        """Add the arrays of the next shard; they are not kept for anybody else to change."""
        level, arrays = 0, tuple(summands)
        while self._partial and self._partial[-1][0] == level:
            _, before = self._partial.pop()
            arrays = _added(before, arrays)
            level += 1
        self._partial.append((level, arrays))

    def result(self) -> tuple[Floats, ...]:
        """Return the sums; one summand at least was added."""
        partial = [arrays for _, arrays in self._partial]
        total = partial.pop()
        while partial:
            total = _added(partial.pop(), total)
        return total


def _added(left: tuple[Floats, ...], right: tuple[Floats, ...]) -> tuple[Floats, ...]:
    return tuple(a + b for a, b in zip(left, right, strict=True))
