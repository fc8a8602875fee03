"""What a method does on one shard, apart from where and by whom, and sums of that in one fixed order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.shards.scratch import Scratch


class ShardState(Protocol):
    """What a method knows of one shard while it learns: a function of the data, the work and the messages."""

    def step(self, data: QueryData, message: Any) -> tuple[Floats, ...]:
        """Hear a message that all shards hear, and return this shard's summands.

        Parameters
        ----------
        data : QueryData
            The documents of the shard, as when it began.
        message : Any
            Small: vectors of n floats and numbers. It can be pickled.

        Returns
        -------
        tuple of ndarray
            Of the same shapes for every shard. In place of an array there may be a
            :class:`rankstudio.engine.methods.shards.work.Greatest` of one, or, of any length, a
            :class:`rankstudio.engine.methods.shards.work.Joined`.
        """


class ShardWork(Protocol):
    """A method's part on a shard: a frozen value that can be sent to another machine.

    Attributes
    ----------
    replayed : bool
        Whether a state depends on the messages before the present one, so that a worker that takes a shard
        over has to hear them all again.
    """

    replayed: ClassVar[bool]

    def begin(self, data: QueryData, scratch: Scratch) -> ShardState:
        """Return the state of a shard before any message; its large arrays are scratch's."""


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
