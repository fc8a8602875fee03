"""Training data as every method sees them: shards of whole queries, and sums over the shards.

Data are a sequence of shards in a fixed order. Small data are one shard
in memory, and so are preferences and sparse matrices of any size.
Larger data have several shards, in memory or mapped from the disk,
whose ends depend only on the sizes of the queries. A method accesses
documents in one way: a work, or a function, gets a message from this
process and returns the summands of each shard, which are added up in
the order of the shards. The result depends neither on where the data
are, nor on which process works on the shards. A method that needs all
documents at once calls :meth:`TrainingData.whole`, which raises an
error if these are larger than the memory limit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.shared import SharedResults
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData
from rankstudio.engine.arrays import Floats, Ints, unwritable
from rankstudio.engine.data import store
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.language import tr
from rankstudio.engine.methods.shards.scratch import Room, Scratch
from rankstudio.engine.methods.shards.work import ShardState, ShardWork, TreeSum
from rankstudio.engine.support import threads
from rankstudio.engine.support.file_pages import empty_in_file, in_file, release
from rankstudio.engine.support.grades import Grading
from rankstudio.engine.support.memory import budget, size
from rankstudio.engine.support.number_format import count_text
from rankstudio.engine.support.shard import DOCUMENTS, Shard, shards_of
from rankstudio.engine.support.sparse_rows import Features, SparseRows
from rankstudio.engine.support.work import Waiting, WorkProgress

# States of one shard of up to this size are allocated without asking
# how much memory is free, which takes longer than a short path.
_UNCHECKED_BYTES = 1e8
# Entries of sparse columns that are processed between two progress events.
_ENTRIES_AT_ONCE = 1 << 22
# The same for dense columns: processing them takes some tenths of a second.
_VALUES_AT_ONCE = 1_000_000


Sums = tuple[Floats, ...]

_PROGRESS_TEXT = "reading the data by shards"


class ShardSession(Protocol):
    """A work that has been started on all shards of some data, and returns sums over the shards."""

    def sum(self, message: Any, activity: str = _PROGRESS_TEXT) -> Waiting[Sums]:
        """Send a message to all shards, and return the sums of their results, added in a fixed tree.

        Yields a progress event per shard if there are several;
        ``activity`` describes the work. A shard is a part of the data
        with whole queries.
        """


class ShardExecutor(Protocol):
    """Executor of works on shards: this process, several processes, or a cluster."""

    def session(
        self, data: TrainingData, work: ShardWork
    ) -> AbstractContextManager[ShardSession]:
        """Provide a session in which a work runs on all shards of some data."""


class InProcess:
    """Executor in this process: each thread works on one shard, a part of the data, at a time.

    A single shard is processed in the calling thread, and may
    distribute its work over other threads.

    Parameters
    ----------
    room : callable, optional
        Returns the limit in bytes for the states of a session; by
        default half of the memory limit. States beyond this limit are
        mapped from files.
    max_threads : int, optional
        Maximum number of threads, each of which works on one shard.
    """

    def __init__(
        self,
        room: Callable[[], float] = lambda: budget() / 2,
        max_threads: int | None = None,
    ) -> None:
        self._room = room
        self._max_threads = max_threads

    @contextmanager
    def session(self, data: TrainingData, work: ShardWork) -> Iterator[ShardSession]:
        """Provide a session, which sends messages to all shards and sums their answers.

        ``work`` makes a state for each shard, which computes the
        answers. The states are discarded at the end of the ``with``
        block. Several shards are processed on threads. ``data`` are the
        training documents. A shard is a part of the data with whole
        queries.
        """
        with threads.pool(data.several, self._max_threads) as (executor, workers):
            session = _Session(data, work, self._shared_room(data), executor, workers)
            try:
                yield session
            finally:
                session.close()

    def _shared_room(self, data: TrainingData) -> Room:
        """Return an object that counts the memory of the states of all shards, up to a limit.

        A single shard may use some bytes without a check of the free
        memory. ``data`` are the training documents. A shard is a part
        of the data with whole queries.
        """
        # The function `_room` returns the limit in bytes. A single
        # shard calls it only beyond these bytes, because reading the
        # free memory takes time.
        if not data.several:
            return Room(self._room, unchecked_bytes=_UNCHECKED_BYTES)
        # The memory limit is set per thread, so it is read here and not
        # in the threads that work on shards.
        n_bytes = self._room()
        return Room(lambda: n_bytes)


IN_PROCESS = InProcess()
"""Default executor of sharded data."""


@dataclass
class _AnswerTimes:
    """Seconds of processor for the last answers of all shards, by the classes of work and message.

    The seconds are kept for all sessions of the same data: another λ
    finds what the first one has computed, and its messages take a
    hundredth of the time. A shard is a part of the data with whole
    queries.
    """

    seconds: dict[tuple[type, type], float] = field(default_factory=dict)


class _Session:
    """Session in this process: keeps the state of each shard, and adds up the shards' results."""

    def __init__(
        self,
        data: TrainingData,
        work: ShardWork,
        room: Room,
        executor: Executor | None,
        workers: int,
    ) -> None:
        """Start without states: ``work`` makes that of a shard for its first message.

        ``room`` limits the memory of all states. ``executor`` has
        ``workers`` threads, or is None. ``data`` are the training
        documents. A shard is a part of the data with whole queries.
        """
        self._data = data
        self._work = work
        self._executor = executor
        self._workers = workers
        # For each shard: where its arrays are allocated, and its state.
        self._scratch = [Scratch(room) for _ in data.shards]
        self._states: list[ShardState | None] = [None] * len(data.shards)
        # How long the last answers took, by the kind of message. They
        # say whether threads are worthwhile.
        self._last_seconds = data.shared.of(_AnswerTimes).seconds

    def sum(self, message: Any, activity: str = _PROGRESS_TEXT) -> Waiting[Sums]:
        """Send a message to all shards, and return the sums of their answers, with a progress event per shard.

        ``activity`` describes the work in these events. A single shard
        has none. A shard is a part of the data with whole queries. The
        generator yields progress events, and then returns the result.
        """
        if not self._data.several:  # a single shard, number 0
            return self._answer(0, message)
        count = len(self._states)
        total = TreeSum()
        for index, summands in enumerate(self._answers(message)):
            total.add(summands)
            yield WorkProgress(activity, (index + 1) / count)
        return total.result()

    def close(self) -> None:
        """Discard the states, and release their memory."""
        self._states.clear()
        for scratch in self._scratch:
            scratch.close()

    def _answers(self, message: Any) -> Iterator[Sums]:
        """Yield the answer of each shard to a message, in the order of the shards.

        One shard more than there are threads is submitted at a time, so
        that few results are in memory. The seconds of processor that
        the answers take are recorded for the next such message. A shard
        is a part of the data with whole queries.
        """
        indices = range(len(self._states))
        kind = type(self._work), type(message)
        last_seconds = self._last_seconds.get(kind, math.inf)
        self._last_seconds[kind] = 0.0
        # One shard after the other without threads, or if the last
        # answers to such a message took less time than threads need to
        # begin.
        if self._executor is None or not threads.worthwhile(1e9 * last_seconds):
            yield from (self._step(index, message) for index in indices)
            return
        waiting = [
            self._executor.submit(self._step, i, message)
            for i in indices[: self._workers + 1]
        ]
        try:
            for index in indices:
                # The next shard is submitted when the first one of
                # those waiting has its result.
                summands = waiting.pop(0).result()
                if index + self._workers + 1 < len(indices):
                    waiting.append(
                        self._executor.submit(
                            self._step, index + self._workers + 1, message
                        )
                    )
                yield summands
        finally:
            # After an error or an early end, shards that have not begun are left out.
            for future in waiting:
                future.cancel()

    def _step(self, index: int, message: Any) -> Sums:
        """Return the summands of one of several shards for a message, and release its memory pages afterwards.

        ``index`` is the number of the shard. A shard is a part of the
        data with whole queries.
        """
        # Shards are processed side by side, each on one thread. In
        # STEADY, BLAS has one thread, too.
        began = time.thread_time()
        with threads.STEADY, threads.at_most(1):
            summands = self._answer(index, message)
        # The seconds of all shards are added up. Two threads may lose a
        # summand here, which only changes whether there are threads for
        # the next message.
        kind = type(self._work), type(message)
        self._last_seconds[kind] += time.thread_time() - began
        self._scratch[index].release()
        self._data.release(index)
        return summands

    def _answer(self, index: int, message: Any) -> Sums:
        """Return the answer of the shard ``index`` to a message: arrays to be summed.

        The state of the shard, which computes the answer, is created on
        first use. A shard is a part of the data with whole queries.
        """
        data = self._data.shard(index)
        state = self._states[index]
        if state is None:
            state = self._work.begin(data, self._scratch[index])
            self._states[index] = state
        return state.step(data, message)


@dataclass
class _ShardCaches:
    """Caches of the shards of some data, shared by all :class:`TrainingData` made from the same documents.

    The key is the maximum number of documents per shard, and the
    shard's index. A shard is a part of the data with whole queries.
    """

    by_shard: dict[tuple[int, int], SharedResults] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Training data with the documents of each query in consecutive rows, as shards of whole queries.

    Attributes
    ----------
    X : ndarray of shape (m, n), C order
        Features in memory, or mapped from a file; or SparseRows.
    y : ndarray of shape (m,)
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    executor : ShardExecutor
        Executor for several shards; the results do not depend on it.
    documents : int
        Maximum number of documents per shard; the last bits of the
        results depend on it.
    validation : ndarray of shape (V, n) or None
        As in :class:`QueryData`.
    source : TrainingData or None
        Data with all features, if these data have some of the features; see
        :meth:`narrowed`.
    columns : tuple of int
        Columns of ``source`` that these data have.
    part_of : Grading or None
        As in :class:`QueryData`.
    given : QueryData or SparseQueryData or None
        Original object of a single shard, if the data were made from one.
    shared : SharedResults
        As in :class:`QueryData`; the cache is that of the original object.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import QueryData, training_data
    >>> X = np.array([[0.0, 3.0], [1.0, 2.0], [2.0, 1.0], [4.0, 0.0]])
    >>> data = training_data(QueryData(X, np.array([0.0, 1.0, 0.0, 2.0]), np.array([0, 2, 4])))
    >>> data.X.shape, data.ptr.tolist(), data.several
    ((4, 2), [0, 2, 4], False)
    """

    X: Features
    y: Floats
    ptr: Ints
    executor: ShardExecutor = IN_PROCESS
    documents: int = DOCUMENTS
    validation: Floats | None = None
    source: TrainingData | None = None
    columns: tuple[int, ...] = ()
    part_of: Grading | None = None
    given: QueryData | SparseQueryData | None = None
    sharing: InitVar[SharedResults | None] = None
    shared: SharedResults = field(init=False, repr=False)
    _copied_shards: set[int] = field(default_factory=set, init=False, repr=False)

    def __post_init__(self, sharing: SharedResults | None) -> None:
        """Replace the arrays by read-only views, and set the cache of shared results.

        Data that wrap a QueryData or another object, ``given``, have
        arrays that are read-only already.
        """
        # The class is frozen, so that attributes are set in this way.
        object.__setattr__(
            self, "shared", SharedResults() if sharing is None else sharing
        )
        if self.given is None:
            # Data with some columns of a ``source`` copy them to X on
            # first use, so that X stays writable.
            names = ("X", "y", "ptr") if self.source is None else ("y", "ptr")
            for name in names:
                object.__setattr__(self, name, unwritable(getattr(self, name)))

    @cached_property
    def grading(self) -> Grading:
        """Information that measures need in addition to labels.

        The information describes all data, also in a shard, which is a
        part of the data.
        """
        return self.part_of or Grading.of(self.y)

    @cached_property
    def shards(self) -> tuple[Shard, ...]:
        """The shards, in row order."""
        # Data that wrap another object, `given`, are one shard. Other
        # data are divided into shards of at most `documents` documents.
        if self.given is not None:
            return (
                Shard(
                    first_query=0,
                    end_query=self.ptr.size - 1,
                    first_row=0,
                    end_row=int(self.ptr[-1]),
                ),
            )
        return shards_of(self.ptr, self.documents)

    @property
    def preferring(self) -> bool:
        """Whether methods learn from preferences instead of labels."""
        return self.given is not None and self.given.preferences is not None

    @property
    def one_ranking(self) -> bool:
        """Whether all documents belong to one query with labels, so that no query can be left out."""
        return self.ptr.size == 2 and not self.preferring

    @property
    def sparse(self) -> bool:
        """Whether X is sparse, which means that only values other than 0 are stored."""
        return isinstance(self.X, SparseRows)

    @property
    def several(self) -> bool:
        """Whether there are several shards, which are processed and released one by one."""
        return len(self.shards) > 1

    def shard(self, index: int) -> Any:
        """Return the documents of a shard as views, with the cache of results of this shard.

        ``index`` is the number of the shard. A shard is a part of the
        data with whole queries.
        """
        if not self.several:  # a single shard
            return self._all_documents
        shard = self.shards[index]
        # Starts of the shard's queries, from its first row.
        ptr = self.ptr[shard.first_query : shard.end_query + 1] - shard.first_row
        # The shard is a part of all documents. Measures derive grades
        # from the labels of all, which `grading` has.
        grading = self.grading.taken(shard.rows)
        # The division into shards depends on `documents`, the most
        # documents of a shard.
        caches = self.shared.of(_ShardCaches).by_shard
        return QueryData(
            self._rows(index),
            self.y[shard.rows],
            ptr,
            part_of=grading,
            sharing=caches.setdefault((self.documents, index), SharedResults()),
        )

    @cached_property
    def _all_documents(self) -> Any:
        """All documents at once: the object that these data wrap, or a QueryData."""
        if self.given is not None:
            return self.given
        for index in range(len(self.shards)):
            self._rows(index)  # copies the columns of narrowed data
        return QueryData(
            self.X,
            self.y,
            self.ptr,
            validation=self.validation,
            part_of=self.part_of,
            sharing=self.shared,
        )

    def whole(self, method: str) -> Any:
        """Return all documents at once, as a QueryData or the object that the data were made from.

        A shard is a part of the data with whole queries.

        Parameters
        ----------
        method : str
            Name of the method, for the error message.

        Raises
        ------
        OutOfMemoryError
            If there are several shards on the disk, and the documents
            with a centred copy exceed the memory limit.
        """
        on_disk = self.several and in_file(self.X)
        if not on_disk:
            return self._all_documents
        # The documents are needed twice: as they are, and centred.
        needed = 2.0 * self.X.nbytes
        free = budget()
        if needed > free:
            text = tr(
                "{what} needs all documents at once: {m} documents with {n} features take "
                "at least {needed} of memory, and the limit is {budget}. Raise the limit "
                "or use fewer documents."
            )
            problem = text.format(
                what=method,
                m=count_text(self.X.shape[0]),
                n=count_text(self.X.shape[1]),
                needed=size(needed),
                budget=size(free),
            )
            raise OutOfMemoryError(problem)
        return self._all_documents

    def for_method(self, accepts_sparse: bool) -> TrainingData:
        """Return the data; sparse data are converted to dense form for a method that does not accept them.

        Raises
        ------
        OutOfMemoryError
            If the dense data do not fit into memory.
        """
        if accepts_sparse or not self.sparse:
            return self
        cache = self.shared.of(_AsArray)
        if cache.data is None:
            # Narrowed data are dense, here with all columns.
            cache.data = self.narrowed(range(self.X.shape[1]))
        return cache.data

    def narrowed(self, columns: Sequence[int]) -> TrainingData:
        """Return the same documents with some of their features, the columns in this order.

        Of several shards, each is copied when it is first used: into
        memory, or into an unnamed file if the features are mapped from
        a file. Validation documents are left out. A shard is a part of
        the data with whole queries.

        Raises
        ------
        OSError
            If the disk is full.
        """
        if not self.several:  # a single shard
            return training_data(self._all_documents.narrowed(columns))
        # From the data with all features, so that no copy is made of a copy.
        if self.source is not None:
            return self.source.narrowed([self.columns[column] for column in columns])
        shape = len(self.X), len(columns)
        X = (
            empty_in_file(shape, store.scratch_folder())
            if in_file(self.X)
            else np.empty(shape)
        )
        shared_results = SharedResults(self.shared, tuple(columns))
        return replace(
            self,
            X=X,
            validation=None,
            source=self,
            columns=shared_results.columns,
            sharing=shared_results,
        )

    def taken(self, queries: Ints) -> TrainingData:
        """Return a copy of the documents of some queries; ``queries`` are their positions, ascending.

        Several shards are copied shard by shard: into memory, or into
        an unnamed file if they are mapped from one.

        Raises
        ------
        OSError
            If the disk is full.
        """
        # In memory, the documents are copied at once.
        if not self.several:
            return training_data(self._all_documents.taken(queries))
        # The queries of the copy.
        sizes = np.diff(self.ptr)[queries]
        ptr = np.append(0, np.cumsum(sizes)).astype(np.int64)
        # Row of each document of the copy in these data.
        rows = np.repeat(self.ptr[queries] - ptr[:-1], sizes) + np.arange(ptr[-1])
        shape = rows.size, self.X.shape[1]
        X = (
            empty_in_file(shape, store.scratch_folder())
            if in_file(self.X)
            else np.empty(shape)
        )
        # The rows of the copy that come from each shard are adjacent,
        # because rows ascends.
        for index, shard in enumerate(self.shards):
            first, last = np.searchsorted(rows, (shard.rows.start, shard.rows.stop))
            X[first:last] = self._rows(index)[rows[first:last] - shard.rows.start]
            # Pages of mapped files leave the memory after their use.
            self.release(index)
            release(X[first:last])
        return TrainingData(
            X,
            self.y[rows],
            ptr,
            executor=self.executor,
            documents=self.documents,
            validation=self.validation,
            part_of=self.grading.taken(rows),
        )

    def taken_documents(self, rows: Ints) -> TrainingData:
        """Return a copy of some documents of one ranking; ``rows`` are their rows, ascending.

        The documents of the copy are one ranking, too. A single query
        is never divided into several shards, so that the copy is in
        memory.
        """
        documents = self._all_documents
        some_documents = type(documents)(
            documents.X[rows],
            documents.y[rows],
            np.array([0, rows.size], dtype=np.int64),
            validation=documents.validation,
            part_of=documents.grading.taken(rows),
        )
        return training_data(some_documents)

    def portions(self) -> Iterator[slice]:
        """Yield slices of columns, for work that is done column by column and shows progress after each slice.

        With several shards, all columns are one slice: each shard gives
        a progress event anyway, and would be read again for every
        slice. A shard is a part of the data with whole queries.
        """
        columns = slice(0, self.X.shape[1])
        if self.sparse:
            portions: Iterator[slice] = self.X.portions(_ENTRIES_AT_ONCE)
            return portions
        return (
            iter((columns,)) if self.several else column_portions(len(self.X), columns)
        )

    def _rows(self, index: int) -> Floats:
        """Return the features (d, n) of a shard's d documents.

        Narrowed data, with some columns of a ``source``, copy them on
        first use. ``index`` is the number of the shard. A shard is a
        part of the data with whole queries.
        """
        rows = self.X[self.shards[index].rows]
        if self.source is not None and index not in self._copied_shards:
            # Without a lock: threads that need the same shard at the
            # same time copy the same numbers. In the mode "clip", take
            # writes to ``out`` directly; in the default mode it would
            # make another copy.
            np.take(
                self.source._rows(index), self.columns, axis=1, out=rows, mode="clip"
            )
            self.source.release(index)
            self._copied_shards.add(index)
        return unwritable(rows)

    def visited(
        self, function: Callable[[int, Shard, Any], None], activity: str
    ) -> Waiting[None]:
        """Call a function with each shard, in this process.

        The function gets the number of the shard, the shard's limits of
        rows and queries, and its documents. Several shards are visited
        on threads, in any order. ``activity`` describes the work in
        progress events. The generator yields progress events while the
        shards are visited. A shard is a part of the data with whole
        queries.
        """

        def visit(index: int) -> None:
            """Call the function with a shard, on one thread, and release the shard's memory."""
            with threads.STEADY, threads.at_most(1):
                function(index, self.shards[index], self.shard(index))
            self.release(index)

        count = len(self.shards)
        with threads.pool(self.several) as (executor, workers):
            for first in range(0, count, workers):
                threads.share(
                    executor, workers, visit, range(first, min(first + workers, count))
                )
                yield WorkProgress(activity, min(first + workers, count) / count)

    def release(self, index: int) -> None:
        """Release the memory pages of one of several shards, if its features are mapped from a file.

        ``index`` is the number of the shard. A shard is a part of the
        data with whole queries.
        """
        if self.several:
            release(self.X[self.shards[index].rows])

    def session(self, work: ShardWork) -> AbstractContextManager[ShardSession]:
        """Start a work on all shards, and provide the session for its sums.

        A single shard is processed here on all threads, without
        transfer. A shard is a part of the data with whole queries.
        """
        return (self.executor if self.several else IN_PROCESS).session(self, work)


@dataclass
class _AsArray:
    """Cache of the dense form of sparse data, for all methods that need it."""

    data: TrainingData | None = None


def column_portions(m: int, columns: slice) -> Iterator[slice]:
    """Yield slices of some columns of m documents, whose values take a few megabytes each.

    Examples
    --------
    >>> from rankstudio.api import column_portions
    >>> [(part.start, part.stop) for part in column_portions(1000, slice(0, 3))]
    [(0, 3)]
    """
    step = max(1, _VALUES_AT_ONCE // m)
    for first in range(columns.start, columns.stop, step):
        yield slice(first, min(columns.stop, first + step))


GivenData = TrainingData | QueryData | SparseQueryData
"""Training documents with dense or sparse features, or training data of any size."""


def training_data(data: GivenData) -> TrainingData:
    """Return data as training data; large dense data are divided into shards.

    The division depends only on the sizes of the queries. So results
    are the same for data in memory and on disk, whoever calls.
    Preferences and sparse data are not divided. The result shares the
    cache of ``data``. A shard is a part of the data with whole queries.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import QueryData
    >>> data = QueryData(np.eye(3), np.array([0.0, 1.0, 2.0]), np.array([0, 2, 3]))
    >>> training_data(data).whole("my method") is data
    True
    """
    if isinstance(data, TrainingData):
        return data
    # Sparse and other data of their own class remain one shard.
    if type(data) is not QueryData:
        return TrainingData(
            data.X,
            data.y,
            data.ptr,
            given=data,
            part_of=data.part_of,
            sharing=data.shared,
        )
    is_one_shard = data.preferences is not None or len(shards_of(data.ptr)) == 1
    return TrainingData(
        data.X,
        data.y,
        data.ptr,
        validation=data.validation,
        part_of=data.part_of,
        given=data if is_one_shard else None,
        sharing=data.shared,
    )
