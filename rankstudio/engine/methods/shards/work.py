"""What a method does on one shard, apart from where and by whom it is done."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

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
            :class:`rankstudio.engine.methods.shards.summation.Greatest` of one, or, of any length, a
            :class:`rankstudio.engine.methods.shards.summation.Joined`.
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
