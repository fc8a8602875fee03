"""Work of a method on one shard, wherever it runs, and its sums in one fixed order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.shards.scratch import Scratch


class ShardState(Protocol):
    """State of a method for one shard: a function of the data, the work and the messages."""

    def step(self, data: QueryData, message: Any) -> tuple[Floats, ...]:
        """Process a message that is sent to all shards, and return this shard's summands.

        Parameters
        ----------
        data : QueryData
            Documents of the shard, unchanged since the start.
        message : Any
            Small message: vectors of n floats, and numbers. It must be picklable.

        Returns
        -------
        tuple of ndarray
            Summands with the same shapes for every shard. Instead of an array there may be a
            :class:`rankstudio.engine.methods.shards.work.Greatest` of one, or a
            :class:`rankstudio.engine.methods.shards.work.Joined` of any length.
        """


class ShardWork(Protocol):
    """A method's work on a shard: a frozen value that can be sent to another machine."""

    @property
    def replayed(self) -> bool:
        """Whether a state depends on earlier messages: who takes a shard over processes them again."""

    def begin(self, data: QueryData, scratch: Scratch) -> ShardState:
        """Return the state of a shard before any message.

        Its large arrays come from scratch.
        """


@dataclass(frozen=True)
class StateWork:
    """The work of a class of states, as :class:`ShardWork` describes it.

    Attributes
    ----------
    state : callable
        Returns the state of a shard from its data, scratch and the settings; it must be picklable.
    settings : tuple
    replayed : bool
    """

    state: Callable[..., ShardState]
    settings: tuple[Any, ...] = ()
    replayed: bool = False

    def begin(self, data: QueryData, scratch: Scratch) -> ShardState:  # noqa: D102 - of the protocol
        return self.state(data, scratch, *self.settings)


@dataclass(frozen=True, eq=False)
class Greatest:
    """A summand that is combined by the elementwise maximum over all shards instead of the sum.

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
    """A sum of tuples of arrays in the tree of a binary counter: neighbours first, then pairs of neighbours.

    Notes
    -----
    The order of additions depends only on the number of summands. It keeps O(log S) partial sums of S
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
        """Add the arrays of the next shard; they must not be changed afterwards."""
        level = 0
        arrays = tuple(summands)
        while self._partial and self._partial[-1][0] == level:
            _, before = self._partial.pop()
            arrays = _elementwise_sums(before, arrays)
            level += 1
        self._partial.append((level, arrays))

    def result(self) -> tuple[Floats, ...]:
        """Return the sums; there must be at least one summand."""
        partial = [arrays for _, arrays in self._partial]
        total = partial.pop()
        while partial:
            total = _elementwise_sums(partial.pop(), total)
        return total


def _elementwise_sums(left: tuple[Floats, ...], right: tuple[Floats, ...]) -> tuple[Floats, ...]:
    return tuple(a + b for a, b in zip(left, right, strict=True))
