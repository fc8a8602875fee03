"""Interfaces of a method's work on one shard, in any process, and sums of the results in a fixed order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.shards.scratch import Scratch


class ShardState(Protocol):
    """State of a method for one shard, a part of the queries.

    The state depends only on the data of the shard, the work and the messages.
    """

    def step(self, data: QueryData, message: Any) -> tuple[Floats, ...]:
        """Process a message that is sent to all shards, and return this shard's summands.

        A shard is a part of the data with whole queries.

        Parameters
        ----------
        data : QueryData
            Documents of the shard, the same in every call.
        message : Any
            Small message: vectors of n floats, and numbers. It must be picklable.

        Returns
        -------
        tuple of ndarray
            Summands with the same shapes for every shard. A summand may also be a
            :class:`rankstudio.engine.methods.shards.work.Greatest` with an array of the
            same shape, or a
            :class:`rankstudio.engine.methods.shards.work.Joined` of any length.
        """


class ShardWork(Protocol):
    """A method's work on a shard: an immutable object that can be sent to another machine."""

    @property
    def replayed(self) -> bool:
        """Whether a state depends on earlier messages, so that another process has to repeat these first."""

    def begin(self, data: QueryData, scratch: Scratch) -> ShardState:
        """Return the state of a shard before any message.

        ``scratch`` allocates its large arrays. ``data`` has the
        documents of the shard. A shard is a part of the data with whole
        queries.
        """


@dataclass(frozen=True)
class StateWork:
    """A :class:`ShardWork` whose states are made by a class or a function.

    A shard is a part of the data with whole queries.

    Attributes
    ----------
    state : callable
        Returns the state of a shard from its data, its scratch and the
        settings; it must be picklable.
    settings : tuple
        Further arguments of ``state``.
    replayed : bool
        Whether a state depends on earlier messages, so that another
        process has to repeat these first.
    """

    state: Callable[..., ShardState]
    settings: tuple[Any, ...] = ()
    replayed: bool = False

    def begin(self, data: QueryData, scratch: Scratch) -> ShardState:  # noqa: D102 - of the protocol
        return self.state(data, scratch, *self.settings)


@dataclass(frozen=True, eq=False)
class Greatest:
    """A summand that is combined by the elementwise maximum over all shards instead of the sum.

    A shard is a part of the data with whole queries.

    Attributes
    ----------
    values : ndarray
    """

    values: Floats

    def __add__(self, other: Greatest) -> Greatest:
        return Greatest(np.maximum(self.values, other.values))


@dataclass(frozen=True, eq=False)
class Joined:
    """A summand that is concatenated over the shards, in order, instead of being added.

    A shard is a part of the data with whole queries.

    Attributes
    ----------
    values : ndarray of shape (…, d)
        Values of d queries or documents of a shard.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import QueryData, Joined, finish, summed, training_data
    >>> X = np.array([[0.0, 3.0], [1.0, 2.0], [2.0, 1.0], [4.0, 0.0]])
    >>> data = training_data(QueryData(X, np.array([0.0, 1.0, 0.0, 2.0]), np.array([0, 2, 4])))
    >>> def lengths(part, *_):
    ...     return (Joined(np.diff(part.ptr).astype(float)),)
    >>> (joined,) = finish(summed(data, "counting", lengths))
    >>> joined.tolist()
    [2.0, 2.0]
    """

    values: Floats

    def __add__(self, other: Joined) -> Joined:
        return Joined(np.concatenate((self.values, other.values), axis=-1))


class TreeSum:
    """A sum of tuples of arrays, added in a binary tree: neighbours first, then sums of two neighbours.

    Notes
    -----
    The order of additions depends only on the number of summands. For S
    summands, O(log S) partial sums are kept, and rounding errors grow
    with log S instead of S.

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
        # Levels and sums; a partial sum of level l has 2^l summands,
        # and levels decrease.
        self._partial_sums: list[tuple[int, tuple[Floats, ...]]] = []

    def add(self, summands: Sequence[Floats]) -> None:
        """Add the arrays ``summands`` of the next shard to the sum.

        The arrays must not be changed afterwards. A shard is a part of
        the data with whole queries.
        """
        # The sums in the list are of 2^level shards, with levels that
        # descend. As in a binary counter, two sums of the same level
        # become one of the next level.
        level = 0
        arrays = tuple(summands)
        while self._partial_sums and self._partial_sums[-1][0] == level:
            _, earlier_arrays = self._partial_sums.pop()
            arrays = _elementwise_sums(earlier_arrays, arrays)
            level += 1
        self._partial_sums.append((level, arrays))

    def result(self) -> tuple[Floats, ...]:
        """Return the sums; there must be at least one summand."""
        partial_sums = [arrays for _, arrays in self._partial_sums]
        total = partial_sums.pop()
        while partial_sums:
            total = _elementwise_sums(partial_sums.pop(), total)
        return total


def _elementwise_sums(
    left: tuple[Floats, ...], right: tuple[Floats, ...]
) -> tuple[Floats, ...]:
    return tuple(a + b for a, b in zip(left, right, strict=True))
