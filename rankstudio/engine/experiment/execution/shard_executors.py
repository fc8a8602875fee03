"""Workers in other processes, or on a cluster, for the shards of one path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable
from uuid import uuid4

import numpy as np

from rankstudio.engine.data import shared_parts, store
from rankstudio.engine.data.comments import RankedIds
from rankstudio.engine.data.dataset import RankingDataset, default_names
from rankstudio.engine.errors import WorkerError
from rankstudio.engine.experiment.execution.shard_calls import (
    PartFile,
    ShardCall,
    answer,
    forget,
)
from rankstudio.engine.experiment.results.memory_estimate import (
    ALONE,
    MemoryEstimate,
    WorkersHere,
)
from rankstudio.engine.methods.shards.training_data import (
    IN_PROCESS,
    InProcess,
    ShardExecutor,
    ShardSession,
    Sums,
    TrainingData,
)
from rankstudio.engine.methods.shards.work import ShardWork, TreeSum
from rankstudio.engine.support import threads
from rankstudio.engine.support.work import Waiting, WorkProgress

# calls submitted at a time for each worker, whose answers are added in
# order of the shards
_CALLS_AHEAD = 4
_MAX_LOSSES = 4  # workers, one after the other, that may be lost with the same shard
_POLL_SECONDS = 0.1  # seconds within which a stop is noticed

Answer = Future[Sums | None]


@runtime_checkable
class ProvidesShardExecutor(Protocol):
    """An executor of units whose workers can also share the shards of one path."""

    def shard_executor(self) -> ShardExecutor:
        """Return the workers for shards."""


class ShardWorkers(Protocol):
    """Workers in other processes that compute the shards of a session.

    A shard is a range of the training queries. A session is one
    computation on all shards; a worker keeps a state of each of its
    shards.

    Attributes
    ----------
    lost : tuple of exception types
        Exceptions that report a lost worker.
    """

    lost: tuple[type[BaseException], ...]

    @property
    def count(self) -> int:
        """Approximate number of parallel workers."""

    def room(self) -> float | None:
        """Return the memory limit, in bytes, for the states of shards in each worker.

        A shard is a range of the training queries. The result is None
        if each worker has its own limit.
        """

    def give(self, part: PartFile) -> None:
        """Make a part available to every worker."""

    def ask(self, call: ShardCall) -> Answer:
        """Submit a call to the worker with its shard, if it still exists."""

    def stranded(self, pending_answer: Answer) -> bool:
        """Return whether a call waits for a lost worker."""

    def forget(self, session: str) -> None:
        """Discard the states of a session on all workers."""


def shard_executor(
    executor: Executor | None, estimate: MemoryEstimate | None = None
) -> ShardExecutor:
    """Return the workers that share the shards of a path, the models of one combination.

    A combination is one value of each parameter; a shard is a range of
    the training queries. `executor` executes the units of the run.
    Without one, or if it has no workers in other processes, the shards
    are computed by threads of this process.

    `estimate` is the memory that the run needs. It limits the number of
    the threads, and by its `room` the bytes of the shards' states.
    """
    if isinstance(executor, ProvidesShardExecutor):
        workers = executor.shard_executor()
        if isinstance(workers, Elsewhere):
            workers.room = None if estimate is None else estimate.room
        return workers
    if estimate is None:
        return IN_PROCESS
    # `IN_PROCESS` is the one object with the default limits: all
    # threads, and half of the memory limit. It is shared by all runs.
    has_default_limits = (
        estimate.threads >= threads.available() and estimate.room >= estimate.budget / 2
    )
    if has_default_limits:
        return IN_PROCESS
    # The first argument is a function: the default limit may change
    # during a run.
    return InProcess(lambda: estimate.room, estimate.threads)


def workers_here(executor: Executor | None) -> WorkersHere:
    """Return the number of an executor's workers on this machine, and if they share shards.

    A shard is a range of the training queries. The workers use the
    memory of this machine. An executor that does not say how many
    workers it has counts as one worker, as does None.
    """
    shares_shards = isinstance(executor, ProvidesShardExecutor)
    return (
        # An executor of another library need not say how many workers
        # it has: count one.
        WorkersHere(getattr(executor, "count", 1), shares_shards)
        if executor is not None
        else ALONE
    )


class Elsewhere:
    """Distributes shards, ranges of the training queries, to workers in other processes.

    Parameters
    ----------
    workers : ShardWorkers
        Workers that keep a state of each of their shards.

    Attributes
    ----------
    room : float or None
        Memory limit for states of all workers of this machine in bytes;
        None for no further limit.
    """

    def __init__(self, workers: ShardWorkers) -> None:
        """Distribute shards to these workers."""
        self.room: float | None = None
        self._workers = workers

    @contextmanager
    def session(self, data: TrainingData, work: ShardWork) -> Iterator[ShardSession]:
        """Provide a session, in which the workers keep a state for each shard.

        `data` are the training data, of which each shard is a range of
        queries, and `work` is the computation on each shard. After the
        block, the workers discard the states.

        Raises
        ------
        OutputError
            If the data cannot be written for the workers.
        """
        # The file from which the workers read the data.
        part = write_part(data)
        self._workers.give(part)
        session = _Session(self._workers, part, work, len(data.shards))
        if self.room is not None:
            # `room` is an estimate of the memory, in bytes, that all
            # workers may use for states of shards.
            session.limit(self.room)
        try:
            yield session
        finally:
            self._workers.forget(session.name)


class _Session:
    """One computation on all shards, ranges of the training queries, by remote workers.

    It sends messages to all shards, and sums their answers in the order
    of the shards. Each worker keeps a state of each of its shards,
    which the messages change.
    """

    def __init__(
        self, workers: ShardWorkers, part: PartFile, work: ShardWork, count: int
    ) -> None:
        """Start a session of `count` shards of a part on workers, with `work` to do on each."""
        self.name = uuid4().hex
        self._workers = workers
        self._part = part
        self._work = work
        self._count = count
        self._room = workers.room()  # bytes of each worker's states
        self._messages: list[Any] = []
        # Workers lost one after another with the shard whose answer is awaited.
        self._losses = 0

    def limit(self, room: float) -> None:
        """Limit the bytes of the states of shards on all workers together.

        The limit of each worker is its share of `room`. Workers that
        have limits of their own stay as they are.
        """
        if self._room is not None:
            self._room = min(self._room, room / self._workers.count)

    def sum(self, message: Any, activity: str = "summing over shards") -> Waiting[Sums]:
        """Send a message to every shard; yield progress, and return the sum of the answers.

        A shard is a range of the training queries, and its answer are
        its summands. The progress events are named by `activity`.
        WorkerError is raised if several workers in a row are lost.
        """
        # Messages are kept only if a new worker must repeat them.
        self._messages.append(message)
        # Without replay, a message needs no earlier one.
        if not self._work.replayed:
            del self._messages[:-1]

        # Ask for the answers of some shards ahead, so that no worker waits.
        total = TreeSum()
        pending_answers: dict[int, Answer] = {}
        try:
            for index in range(self._count):
                end_of_asked = min(
                    self._count, index + _CALLS_AHEAD * self._workers.count
                )
                for asked_index in range(index, end_of_asked):
                    if asked_index not in pending_answers:
                        pending_answers[asked_index] = self._ask(asked_index)
                # Add in the order of the shards: the sum must have the same bits.
                while (
                    summands := self._settled_answer(index, pending_answers)
                ) is None:
                    yield WorkProgress(activity, index / self._count)
                del pending_answers[index]
                self._losses = 0
                total.add(summands)
                yield WorkProgress(activity, (index + 1) / self._count)
        finally:
            # After an error or a stop, the answers are not needed.
            for future in pending_answers.values():
                future.cancel()
        return total.result()

    def _settled_answer(
        self, index: int, pending_answers: dict[int, Answer]
    ) -> Sums | None:
        """Return the answer of a shard, or None if the answer is still pending.

        `index` is the number of the shard, and `pending_answers` has
        the pending answers by this number. If a worker is lost, the
        shard is asked again, and its entry there replaced. WorkerError
        is raised if several workers in a row are lost.
        """
        # A pending call is stranded if it waits for a lost worker: it is made again.
        future = pending_answers[index]
        if not wait([future], timeout=_POLL_SECONDS).done:
            if self._workers.stranded(future):
                future.cancel()
                pending_answers[index] = self._ask(index, anew=True)
            return None

        # After too many losses in a row the work itself is probably the cause.
        lost: tuple[type[BaseException], ...] = (*self._workers.lost, CancelledError)
        try:
            summands = future.result()
        except lost as error:
            self._losses += 1
            if self._losses > _MAX_LOSSES:
                raise WorkerError(
                    f"{self._losses} workers in a row ended during the same work: they were killed, "
                    "possibly for lack of memory, or cannot be reached. Completed units are kept; run again "
                    "to resume."
                ) from error
            summands = None
        if summands is None:  # the worker was lost, or has no state of this shard
            pending_answers[index] = self._ask(index, anew=True)
        return summands

    def _ask(self, index: int, anew: bool = False) -> Answer:
        """Send the last message to the shard with an index, and return its pending answer.

        With ``anew``, all messages of the session are sent, because the
        worker may have no state of the shard.
        """
        heard = 0 if anew or not self._work.replayed else len(self._messages) - 1
        messages = tuple(self._messages[heard:])
        return self._workers.ask(
            ShardCall(
                session=self.name,
                part=self._part,
                work=self._work,
                index=index,
                heard=heard,
                messages=messages,
                room=self._room,
            )
        )


class ProcessWorkers:
    """Processes of this machine, each with shards of its own.

    A shard is a range of the training queries. A process that is lost
    is started again.

    Parameters
    ----------
    start : callable
        Starts an executor of one process.
    count : int
        Number of processes.
    room : callable
        Returns the memory limit for the states of shards in all
        processes, in bytes.
    """

    lost: tuple[type[BaseException], ...] = (BrokenExecutor,)

    def __init__(
        self, start: Callable[[], Executor], count: int, room: Callable[[], float]
    ) -> None:
        """Start `count` processes."""
        self._start = start  # also starts a process in place of a lost one
        self.count = count
        self._room = room
        self._processes = [start() for _ in range(count)]

    def room(self) -> float | None:
        """Return an equal share of the total limit."""
        return self._room() / self.count

    def give(self, part: PartFile) -> None:
        """Do nothing: the processes read the files on this machine's disk."""

    def ask(self, call: ShardCall) -> Answer:
        """Submit a call for a shard to the process of the shard; return the pending answer.

        A process that has ended is replaced by a new one, which has no
        states of shards.
        """
        # The same process always has the same shards, because it stores their states.
        process_index = call.index % self.count
        try:
            return self._processes[process_index].submit(answer, call)
        except BrokenExecutor:
            self._processes[process_index] = self._start()
            return self._processes[process_index].submit(answer, call)

    def stranded(self, pending_answer: Answer) -> bool:
        """Return False: a call to a process that ends fails."""
        return False

    def forget(self, session: str) -> None:
        """Discard the states of a session on all processes."""
        for process in self._processes:
            try:
                # `forget` is the function of the module `shard_calls`,
                # not this method.
                process.submit(forget, session)
            except (
                BrokenExecutor,
                RuntimeError,
            ):  # the process has ended, and its states with it
                continue


@dataclass
class _Files:
    """The files with some data, by whether they contain the ranks of the document ids."""

    written: dict[bool, PartFile] = field(default_factory=dict)


def write_part(data: TrainingData) -> PartFile:
    """Write training data to a file for other processes, and return its description.

    The file is in the folder of temporary files. A file that was
    written earlier for the same data is used again.

    Raises
    ------
    OutputError
        If the data cannot be written.
    """
    # some columns of other data: the workers select them from the other file
    if data.source is not None:
        return replace(write_part(data.source), columns=data.columns)

    # A file that was written earlier is used again, while it exists in
    # the same folder. The ranks of the document ids decide ties; None
    # if not needed.
    ranks = data.grading.found_ranks
    # The files are remembered with the data, by whether they have these ranks.
    files = data.shared.of(_Files).written
    with_ids = ranks is not None
    earlier_file = files.get(with_ids)
    if earlier_file is not None:
        is_in_folder = Path(earlier_file.folder) == store.scratch_folder()
        if is_in_folder and store.is_whole(earlier_file.path):
            return earlier_file

    # The ids of the queries and the features in this file are never
    # read, so they are just counted.
    n = data.X.shape[1]
    ids = np.arange(1, n + 1, dtype=np.int64)
    queries = tuple(map(str, range(data.ptr.size - 1)))
    part = RankingDataset(
        X=data.X,
        y=data.y,
        query_ptr=data.ptr,
        query_ids=queries,
        feature_ids=ids,
        feature_names=default_names(ids),
        # Of the document ids only their order is needed, as ranks.
        comments=() if ranks is None else RankedIds(ranks),
        greatest_grade=data.grading.greatest_grade,
    )
    # Compute the ranks before writing, so that the file has them.
    part.grading.find_now(by_id=with_ids)
    part_file = PartFile(
        folder=str(store.scratch_folder()),
        name=shared_parts.keep([part])[0],
        documents=data.documents,
    )
    files[with_ids] = part_file
    return part_file
