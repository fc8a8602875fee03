"""Works that keep nothing of a shard: a function of its documents and a message, summed over shards."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, ClassVar

from rankstudio.engine.methods.shards.scratch import Scratch
from rankstudio.engine.methods.shards.sharded_data import ShardedQueryData
from rankstudio.engine.methods.shards.summation import Greatest
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.steps import WorkProgress

Function = Callable[..., tuple[Any, ...]]


@dataclass(frozen=True)
class FunctionWork:
    """The work of a function ``f(data, *message)`` on every shard.

    Attributes
    ----------
    function : callable
        It can be pickled: a function of a module, or a ``functools.partial`` of one.
    """

    replayed: ClassVar[bool] = False

    function: Function

    def begin(self, data: QueryData, scratch: Scratch) -> FunctionWork:
        """Return what answers messages; it knows nothing of the shard."""
        return self

    def step(self, data: QueryData, message: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the function's values on a shard."""
        return self.function(data, *message)


def summed(
    data: ShardedQueryData, what: str, function: Function, *message: Any
) -> Generator[WorkProgress, None, tuple[Any, ...]]:
    """Return the sums over shards of what a function returns of each, with signs of life.

    Parameters
    ----------
    data : ShardedQueryData
    what : str
        What the signs of life say is being done.
    function : callable
        As of :class:`FunctionWork`.
    message : tuple
        Small.

    Returns
    -------
    tuple of ndarray
        Where the function returned a :class:`Greatest`, the greatest values.
    """
    with data.session(FunctionWork(function)) as session:
        sums = yield from session.sum(message, what)
    return tuple(value.values if isinstance(value, Greatest) else value for value in sums)
