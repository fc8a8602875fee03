"""Calls to workers elsewhere for a sum over shards.

The workers keep the states of their shards between calls.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from rankstudio.engine.data import store
from rankstudio.engine.data.shared_parts import KeptPart
from rankstudio.engine.methods.shards.scratch import Room, Scratch
from rankstudio.engine.methods.shards.training_data import Sums, TrainingData
from rankstudio.engine.methods.shards.work import ShardState, ShardWork
from rankstudio.engine.support import threads
from rankstudio.engine.support.memory import budget

_MAX_KEPT_PARTS = 1  # parts whose statistics a worker keeps
# sessions that a worker keeps: a session that its owner never ended becomes the oldest
_MAX_SESSIONS = 4


@dataclass(frozen=True)
class PartFile:
    """Training data of a fold in a file on the disk, which every worker can open.

    Attributes
    ----------
    folder : str
        Folder in which the file was written, or in which this machine
        stores such files.
    name : str
        Name of the file.
    documents : int
        Maximum number of documents per shard, a range of queries.
    columns : tuple of int or None
        Columns of the features to use; all by default.
    """

    folder: str
    name: str
    documents: int
    columns: tuple[int, ...] | None = None

    @property
    def path(self) -> Path:
        """Location on the calling machine."""
        path = Path(self.folder) / self.name
        return path if store.is_there(path) else store.scratch_folder() / self.name

    def open(self) -> TrainingData:
        """Return the training data of the part, its arrays mapped into memory.

        Nothing is verified yet: each shard, a range of queries, is
        verified when it is first used.

        Raises
        ------
        FileAccessError
            If the part is not on this machine, or is damaged.
        """
        part = KeptPart(self.path).dataset()
        return TrainingData(
            part.X,
            part.y,
            part.query_ptr,
            documents=self.documents,
            # The grades and ranks of the ids are those of the whole part.
            part_of=part.grading,
        )


@dataclass(frozen=True, eq=False)
class ShardCall:
    """Messages for one shard, a range of the training queries, to be sent to a worker.

    A session is one computation on all shards, in which each shard has
    a state that messages change.

    Attributes
    ----------
    session : str
        Unique key of the session.
    part : PartFile
        File with the training data.
    work : ShardWork
        Computation on each shard.
    index : int
        Index of the shard.
    heard : int
        Number of earlier messages to the shard.
    messages : tuple
        The last message, or all messages that the worker's state lacks.
    room : float or None
        Limit of the worker's memory for states in bytes; None for its own limit.
    """

    session: str
    part: PartFile
    work: ShardWork
    index: int
    heard: int
    messages: tuple[Any, ...]
    room: float | None


def answer(call: ShardCall) -> Sums | None:
    """Return a shard's summands for the last message of a call.

    A shard is a range of the training queries; the summands of all
    shards give a sum. The result is None if this worker has lost the
    state of the shard, so that the caller must send the earlier
    messages again.
    """
    with threads.STEADY, threads.at_most(1):
        return _WORKER_STATE.session(call).answer(call)


def forget(session: str) -> None:
    """Discard the states of a session on this worker."""
    _WORKER_STATE.forget(session)


class _StoredState(NamedTuple):
    """The state of a shard, a range of the training queries, between two calls.

    With it are stored its scratch memory, and the number `heard` of the
    messages that it has received.
    """

    state: ShardState
    scratch: Scratch
    heard: int


class _Session:
    """One session on this worker, with the states of its shards."""

    def __init__(self, call: ShardCall, data: TrainingData) -> None:
        """Start the session of a call, without states of shards; `data` are those of the call.

        `_states` has the state of each shard by the index of the shard.
        `_locks` has a lock for each shard, so that one call at a time
        changes its state.
        """
        self._data = data
        self._part = KeptPart(call.part.path)
        # Bytes for the states of the shards: without a limit of the
        # caller, this process's share of half of the memory.
        n_bytes = (
            budget() / 2 / threads.processors() if call.room is None else call.room
        )
        self._room = Room(lambda: n_bytes)
        self._states: dict[int, _StoredState] = {}
        self._locks: defaultdict[int, threading.Lock] = defaultdict(threading.Lock)

    def answer(self, call: ShardCall) -> Sums | None:
        """Pass the messages of a call to its shard, and return the answer to the last one.

        An answer is a shard's summands of a sum over all shards. The
        call's `heard` must be the number of messages that the state of
        the shard has received.

        The result is None if the state of the shard is lost: the caller
        must send all messages again.
        """
        with self._locks[call.index]:  # a call that was given up may still be at work
            if call.index not in self._states:
                # Verify the rows of the shard on their first use.
                self._part.check(self._data.shards[call.index].rows)
            # Work is "replayed" if a state depends on all earlier
            # messages: a new worker must hear them again. For other
            # work, a message needs no earlier one. A stored state is
            # used if it has heard the same messages as the caller
            # assumes.
            data = self._data.shard(call.index)
            stored_state = self._states.pop(call.index, None)
            if (
                stored_state is not None
                and call.work.replayed
                and stored_state.heard != call.heard
            ):
                # it has heard fewer or more messages than the caller expects
                stored_state.scratch.close()
                stored_state = None
            # Without a state, begin anew; the caller must then send all messages.
            if stored_state is None:
                if call.work.replayed and call.heard:
                    return None
                scratch = Scratch(self._room)
                stored_state = _StoredState(
                    call.work.begin(data, scratch), scratch, heard=0
                )
            # Pass the messages one after another; the last answer is returned.
            state, scratch, _ = stored_state
            for message in call.messages:
                summands = state.step(data, message)
                scratch.release()
                self._data.release(call.index)
            self._states[call.index] = _StoredState(
                state, scratch, call.heard + len(call.messages)
            )
            return summands


class _WorkerState:
    """The sessions of this worker, and the data of its latest parts."""

    def __init__(self) -> None:
        """Start without sessions, data and a subset of columns."""
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._data: OrderedDict[PartFile, TrainingData] = OrderedDict()
        self._column_subset: tuple[PartFile, TrainingData] | None = None

    def session(self, call: ShardCall) -> _Session:
        """Return the session to which a call belongs; the first call begins a new session.

        A session has the states of the shards in this worker. Beyond a
        fixed number, the oldest sessions are discarded.
        """
        with self._lock:
            if call.session not in self._sessions:
                self._sessions[call.session] = _Session(call, self._data_of(call.part))
            self._sessions.move_to_end(call.session)
            while len(self._sessions) > _MAX_SESSIONS:
                self._sessions.popitem(last=False)
            return self._sessions[call.session]

    def _data_of(self, part: PartFile) -> TrainingData:
        """Return the training data in the file of a part, mapped into memory.

        The data stay open, with what was computed from them, because
        the next computation is often on the same part, for example with
        another parameter value.
        """
        # The latest subset of columns is made from the data of all
        # columns, and stored too.
        if part.columns is not None:
            if self._column_subset is None or self._column_subset[0] != part:
                data_of_all_columns = self._data_of(replace(part, columns=None))
                self._column_subset = part, data_of_all_columns.narrowed(part.columns)
            _, data = self._column_subset
            return data
        if part not in self._data:
            self._data[part] = part.open()
        self._data.move_to_end(part)
        while len(self._data) > _MAX_KEPT_PARTS:
            self._data.popitem(last=False)
        return self._data[part]

    def forget(self, session: str) -> None:
        """Discard the states of a session."""
        with self._lock:
            self._sessions.pop(session, None)


_WORKER_STATE = _WorkerState()
