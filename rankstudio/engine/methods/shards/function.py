"""Works that keep nothing of a shard: a function of its documents and a message, summed over shards."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, ClassVar

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.methods.shards.scratch import Scratch
from rankstudio.engine.methods.shards.summation import Greatest, Joined, TreeSum
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support.blocks import group_blocks
from rankstudio.engine.support.work import WorkProgress

Function = Callable[..., tuple[Any, ...]]


@dataclass(frozen=True)
class FunctionWork:
    """The work of a function ``f(data, *message)`` on every shard.

    Attributes
    ----------
    function : callable
        It can be pickled: a function of a module, or a ``functools.partial`` of one.
    by_blocks : bool
        Whether it is called for some megabytes of whole queries at a time, and its values are added up, too.
        What it makes of the documents then takes as little room.
    """

    replayed: ClassVar[bool] = False

    function: Function
    by_blocks: bool = False

    def begin(self, data: QueryData, scratch: Scratch) -> FunctionWork:
        """Return what answers messages; it knows nothing of the shard."""
        return self

    def step(self, data: QueryData, message: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the function's values on a shard."""
        if not self.by_blocks:
            return self.function(data, *message)
        total = TreeSum()
        for first, last in group_blocks(data.ptr, data.X.shape[1]):
            total.add(self.function(data.queries(first, last), *message))
        return total.result()


def summed(
    data: TrainingData, what: str, function: Function, *message: Any, by_blocks: bool = False
) -> Generator[WorkProgress, None, tuple[Any, ...]]:
    """Return the sums over shards of what a function returns of each, with signs of life.

    Parameters
    ----------
    data : TrainingData
    what : str
        What the signs of life say is being done.
    function : callable
        As of :class:`FunctionWork`, as is ``by_blocks``.
    message : tuple
        Small.

    Returns
    -------
    tuple of ndarray
        Where the function returned a :class:`Greatest`, the greatest values; where a :class:`Joined`, those
        of all shards.
    """
    # A single shard is called for as a whole: it keeps what it was centred to.
    with data.session(FunctionWork(function, by_blocks and data.several)) as session:
        sums = yield from session.sum(message, what)
    return tuple(value.values if isinstance(value, Greatest | Joined) else value for value in sums)
