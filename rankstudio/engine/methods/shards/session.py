"""Sums over shards that one work goes through, message by message, and who carries them out."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.shards.scratch import Room, Scratch
from rankstudio.engine.methods.shards.summation import TreeSum
from rankstudio.engine.methods.shards.work import ShardState, ShardWork
from rankstudio.engine.steps import WorkProgress
from rankstudio.engine.support import threads
from rankstudio.engine.support.memory import budget

if TYPE_CHECKING:
    from rankstudio.engine.methods.shards.training_data import TrainingData

Sums = tuple[Floats, ...]

_READING = "reading the data by shards"


class ShardSession(Protocol):
    """One work on all shards of some data."""

    def sum(self, message: Any, what: str = _READING) -> Generator[WorkProgress, None, Sums]:
        """Tell all shards a message, and return the sums of what they answer, added in one fixed tree.

        Signs of life in between, one for each of several shards; ``what`` is what they say is being done.
        """


class ShardExecutor(Protocol):
    """Who works on shards: this process, others, or a cluster."""

    def session(self, data: TrainingData, work: ShardWork) -> AbstractContextManager[ShardSession]:
        """Have all shards of some data begin a work."""


class InProcess:
    """Works on shards in this process, on as many threads as it may use: each has one of several shards.

    A single shard has this thread, and may spread its work over as many others.

    Parameters
    ----------
    room : callable, optional
        Returns how many bytes of states a session may keep in memory; half of the memory budget by default.
        The others are mapped from files.
    most : int, optional
        How many threads at most, each of which holds a shard.
    """

    def __init__(self, room: Callable[[], float] = lambda: budget() / 2, most: int | None = None) -> None:
        self._room = room
        self._most = most

    @contextmanager
    def session(self, data: TrainingData, work: ShardWork) -> Iterator[ShardSession]:
        """Provide a session; its states are gone afterwards."""
        with threads.pool(data.several, self._most) as (executor, workers):
            own = _Session(data, work, self._shared_room(data), executor, workers)
            try:
                yield own
            finally:
                own.close()

    def _shared_room(self, data: TrainingData) -> Room:
        if not data.several:
            return Room(self._room)
        # The budget is one of this thread, and those that work on shards would ask for another.
        n_bytes = self._room()
        return Room(lambda: n_bytes)


IN_PROCESS = InProcess()
"""What sharded data are worked on by, unless somebody says otherwise."""


class _Session:
    def __init__(
        self, data: TrainingData, work: ShardWork, room: Room, executor: Executor | None, workers: int
    ) -> None:
        self._data, self._work, self._executor, self._workers = data, work, executor, workers
        self._scratch = [Scratch(room) for _ in data.shards]
        self._states: list[ShardState | None] = [None] * len(data.shards)

    def sum(self, message: Any, what: str = _READING) -> Generator[WorkProgress, None, Sums]:
        if not self._data.several:
            return self._answer(0, message)
        count, total = len(self._states), TreeSum()
        for done, summands in enumerate(self._answers(message)):
            total.add(summands)
            yield WorkProgress(what, (done + 1) / count)
        return total.result()

    def close(self) -> None:
        self._states.clear()
        for scratch in self._scratch:
            scratch.close()

    def _answers(self, message: Any) -> Iterator[Sums]:
        """Yield the answers in the order of the shards; only as many are under way as there are threads."""
        indices = range(len(self._states))
        if self._executor is None:
            yield from (self._step(index, message) for index in indices)
            return
        waiting = [self._executor.submit(self._step, i, message) for i in indices[: self._workers + 1]]
        try:
            for index in indices:
                summands = waiting.pop(0).result()
                if index + self._workers + 1 < len(indices):
                    waiting.append(self._executor.submit(self._step, index + self._workers + 1, message))
                yield summands
        finally:
            for future in waiting:
                future.cancel()

    def _step(self, index: int, message: Any) -> Sums:
        with threads.STEADY, threads.at_most(1):
            summands = self._answer(index, message)
        self._scratch[index].release()
        self._data.release(index)
        return summands

    def _answer(self, index: int, message: Any) -> Sums:
        data, state = self._data.shard(index), self._states[index]
        if state is None:
            state = self._work.begin(data, self._scratch[index])
            self._states[index] = state
        return state.step(data, message)
