"""How much memory a method needs, by the shape of its data: each method says so once, before any work."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

NUMBER = 8.0
"""Bytes of a float64."""
PAIRS = 256
"""Bytes a document of pairs within queries, and of a loss at some scores."""


@dataclass(frozen=True)
class DataShape:
    """The shape of training data, from which follows what a method needs.

    Attributes
    ----------
    m, n, Q : int
        Documents, features and queries.
    s : int
        Documents of the largest shard; m where there is one.
    T : int
        Threads that work on shards at a time.
    on_disk : bool
        Whether the documents are read from the disk as they are needed: then what is read of them counts.
    free : float
        Bytes that may be taken, for methods that do something else where there are few.
    """

    m: int
    n: int
    Q: int
    s: int
    T: int = 1
    on_disk: bool = False
    free: float = float("inf")

    @property
    def sharded(self) -> bool:
        """Whether there are several shards."""
        return self.s < self.m

    @property
    def documents(self) -> float:
        """Bytes of the features of all documents."""
        return NUMBER * self.m * self.n

    @property
    def read(self) -> float:
        """Bytes of the documents that come into memory where all are looked at: those on the disk do."""
        return self.documents if self.on_disk else 0.0


class Reading(Enum):
    """How a method goes over its documents.

    Where there is one shard, all methods look at all documents at once.
    """

    WHOLE = "all at once"
    IN_TURN = "shard by shard, none of them by other workers"
    SHARED = "by sums over shards, which workers share"


@dataclass(frozen=True)
class MemoryNeed:
    """What a method needs besides the data that are in memory already.

    Attributes
    ----------
    least : float
        Bytes without which it does not run.
    states : float
        Bytes for shards that are in memory as far as the budget has room for them, else in files.
    lasting : float
        Of such bytes, those that all settings share.
    reading : Reading
        How it goes over the documents.
    algorithm : str
        By which of several algorithms, as a method calls it; "" where there is one.
    usual : float
        Bytes that it takes where they are there: no fewer than ``least``; 0 for ``least``.
    kept : float
        Of ``least``, bytes that grow with all documents though it goes by shards: no more than the budget.
    fits : str
        By what other parameter it would run, as "n_basis=500"; "" for none.
    """

    least: float
    states: float = 0.0
    lasting: float = 0.0
    reading: Reading = Reading.WHOLE
    algorithm: str = ""
    usual: float = 0.0
    kept: float = 0.0
    fits: str = ""

    def plus(self, n_bytes: float) -> MemoryNeed:
        """Return what is needed with so many bytes more."""
        return replace(self, least=self.least + n_bytes, usual=self.usual and self.usual + n_bytes)

    def times(self, count: int) -> MemoryNeed:
        """Return what so many that work at a time need."""
        return replace(
            self,
            least=count * self.least,
            usual=count * self.usual,
            kept=count * self.kept,
            states=count * self.states,
            lasting=count * self.lasting,
        )

    def room(self, budget: float) -> float:
        """Return how many bytes of states fit into memory, so that all together stays within a budget.

        States of a work and what lasts are kept side by side, the latter in three quarters of the room.
        """
        rooms = bool(self.states) + 0.75 * bool(self.lasting)
        spare = max(0.0, budget - max(self.least, self.usual))
        return min(budget / 2, spare / max(rooms, 1.0))

    def resident(self, room: float) -> float:
        """Return how many bytes are in memory at the most where states have so much room there.

        A quarter of the room is kept free of what lasts, as `Scratch.lasting` does.
        """
        return max(self.least, self.usual) + min(self.lasting, 0.75 * room) + min(self.states, room)

    def in_files(self, room: float) -> float:
        """Return how many bytes of states are in files then."""
        return max(0.0, self.lasting - 0.75 * room) + max(0.0, self.states - room)


def whole_need(shape: DataShape, copies: float = 1.0, per_document: float = 0.0) -> MemoryNeed:
    """Return what is needed to look at all documents at once.

    Parameters
    ----------
    shape : DataShape
    copies : float
        Matrices of shape (m, n) that are made: of centred features, or a row for each feature.
    per_document : float
        Bytes for each document besides.
    """
    return MemoryNeed(shape.read + copies * shape.documents + per_document * shape.m)


def shard_need(
    shape: DataShape,
    copies: float = 1.0,
    states: float = 0.0,
    lasting: float = 0.0,
    per_document: float = 0.0,
) -> MemoryNeed:
    """Return what is needed to go shard by shard: T shards, and what is made of them, at a time.

    Parameters
    ----------
    shape : DataShape
    copies : float
        Matrices of a shard's shape that are made of it.
    states, lasting : float
        As of :class:`MemoryNeed`.
    per_document : float
        Bytes for each document that are kept, of all shards.
    """
    shard = NUMBER * shape.s * shape.n
    at_work = shape.T * shard * (copies + shape.on_disk)
    return MemoryNeed(at_work + per_document * shape.m, states, lasting, Reading.SHARED)


def sums_need(shape: DataShape, per_document: float = 0.0) -> MemoryNeed:
    """Return what is needed to learn from sums over shards alone; a single shard is looked at as a whole.

    Parameters
    ----------
    shape : DataShape
    per_document : float
        Bytes that shards keep for each document, where there is room.
    """
    return shard_need(shape, states=per_document * shape.m) if shape.sharded else whole_need(shape)
