"""Memory requirements of methods, which follow from the shape of the data before any work is done."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

NUMBER = 8.0
"""Bytes of a float64."""
PAIRS = 256
"""Bytes per document for the pairs within queries, and for a loss at some scores."""


@dataclass(frozen=True)
class DataShape:
    """Shape of training data, which determines the memory requirements of a method.

    A shard is a part of the data with whole queries.

    Attributes
    ----------
    m, n, Q : int
        Number of documents, features and queries.
    s : int
        Number of documents of the largest shard; m for a single shard.
    T : int
        Number of threads that work on shards.
    on_disk : bool
        Whether the documents are read from disk on demand, so that
        documents in use take additional memory.
    free : float
        Memory limit in bytes, for methods that adapt to it.

    Examples
    --------
    >>> from rankstudio.api import DataShape
    >>> DataShape(m=1000, n=46, Q=20, s=1000).sharded
    False
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
        """Size of the features of all documents in bytes."""
        return NUMBER * self.m * self.n

    @property
    def read(self) -> float:
        """Bytes that must be read if all documents are needed at once: 0 if they are in memory already."""
        return self.documents if self.on_disk else 0.0


class Reading(Enum):
    """How a method processes its documents.

    With a single shard, all methods process all documents at once. A
    shard is a part of the data with whole queries.
    """

    WHOLE = "all at once"
    IN_TURN = "shard by shard, none of them by other workers"
    SHARED = "by sums over shards, which workers share"


@dataclass(frozen=True)
class MemoryNeed:
    """Memory requirements of a method, in addition to the data that are already in memory.

    Attributes
    ----------
    least : float
        Minimum memory in bytes.
    states : float
        Bytes of the states of shards for one setting, in memory as far
        as the limit allows, otherwise in files.
    lasting : float
        Bytes of the results of shards that all settings share, stored in the same way.
    reading : Reading
        How the method processes the documents.
    algorithm : str
        Name of the algorithm, if the method has several; otherwise "".
    usual : float
        Bytes that the method uses if available, at least ``least``; 0
        if it uses ``least``.
    kept : float
        Part of ``least`` in bytes that grows with the number of
        documents despite shards, at most the limit.
    fits : str
        Value of a parameter with which the method would fit into
        memory, such as "n_basis=500"; "" for none.

    Examples
    --------
    >>> from rankstudio.api import MemoryNeed
    >>> MemoryNeed(least=1e6).least
    1000000.0
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
        """Return the requirements increased by a number of bytes, both the least and the usual memory."""
        usual = self.usual + n_bytes if self.usual else 0.0
        return replace(self, least=self.least + n_bytes, usual=usual)

    def times(self, count: int) -> MemoryNeed:
        """Return the requirements of ``count`` parallel workers, each of which needs as much as this.

        All fields in bytes are multiplied; the others, such as the name
        of the algorithm, are the same.
        """
        return replace(
            self,
            least=count * self.least,
            usual=count * self.usual,
            kept=count * self.kept,
            states=count * self.states,
            lasting=count * self.lasting,
        )

    def room(self, budget: float) -> float:
        """Return the size in bytes of the space in memory for states, within a limit of ``budget`` bytes.

        States and lasting results have separate spaces of this size,
        and lasting results use at most three quarters of theirs. States
        are those of shards, the parts of the data, for one setting;
        lasting results are shared by all settings.
        """
        # A kind of results that the method does not have needs no space.
        n_spaces = bool(self.states) + 0.75 * bool(self.lasting)
        spare = max(0.0, budget - max(self.least, self.usual))
        return min(budget / 2, spare / max(n_spaces, 1.0))

    def resident(self, room: float) -> float:
        """Return the maximum number of bytes in memory, with ``room`` bytes of space for states.

        Lasting results have as much space, and use at most three
        quarters of it. States are those of shards, the parts of the
        data, for one setting; lasting results are shared by all
        settings.
        """
        return (
            max(self.least, self.usual)
            + min(self.lasting, 0.75 * room)
            + min(self.states, room)
        )

    def in_files(self, room: float) -> float:
        """Return the bytes of states and lasting results that are in files, beyond ``room`` bytes in memory for each.

        Lasting results use at most three quarters of this room. States
        are those of shards, the parts of the data, for one setting;
        lasting results are shared by all settings.
        """
        return max(0.0, self.lasting - 0.75 * room) + max(0.0, self.states - room)


def whole_need(
    shape: DataShape, copies: float = 1.0, per_document: float = 0.0
) -> MemoryNeed:
    """Return the requirements of processing all documents at once.

    Parameters
    ----------
    shape : DataShape
        Numbers of documents, features and queries of the data.
    copies : float
        Number of matrices of shape (m, n): centred features, or transposed ones.
    per_document : float
        Additional bytes per document.

    Examples
    --------
    >>> from rankstudio.api import DataShape, whole_need
    >>> shape = DataShape(m=1000, n=46, Q=20, s=1000)
    >>> whole_need(shape, copies=2.0).least >= 2 * 8 * 1000 * 46
    True
    """
    return MemoryNeed(shape.read + copies * shape.documents + per_document * shape.m)


def shard_need(
    shape: DataShape,
    copies: float = 1.0,
    states: float = 0.0,
    lasting: float = 0.0,
    per_document: float = 0.0,
) -> MemoryNeed:
    """Return the requirements of processing shard by shard: T shards and their matrices at a time.

    A shard is a part of the data with whole queries; T threads each
    work on one.

    Parameters
    ----------
    shape : DataShape
        Numbers of documents, features and queries of the data.
    copies : float
        Number of matrices with the shape of a shard.
    states, lasting : float
        Bytes of the states of shards for one setting, and of the
        results of shards that all settings share; both may be in files.
    per_document : float
        Bytes per document that are kept for all shards.

    Examples
    --------
    >>> from rankstudio.api import DataShape, shard_need, whole_need
    >>> shape = DataShape(m=100_000, n=46, Q=2000, s=10_000)
    >>> shard_need(shape).least < whole_need(shape).least
    True
    """
    shard_bytes = NUMBER * shape.s * shape.n  # of at most s documents
    # A shard that is read from disk takes as much as one more matrix.
    bytes_in_use = shape.T * shard_bytes * (copies + shape.on_disk)
    return MemoryNeed(
        least=bytes_in_use + per_document * shape.m,
        states=states,
        lasting=lasting,
        reading=Reading.SHARED,
    )


def sums_need(shape: DataShape, per_document: float = 0.0) -> MemoryNeed:
    """Return the requirements of a method that only needs sums over shards.

    A single shard is processed as a whole. A shard is a part of the
    data with whole queries.

    Parameters
    ----------
    shape : DataShape
        Numbers of documents, features and queries of the data.
    per_document : float
        Bytes per document that shards keep, if memory allows.

    Examples
    --------
    >>> from rankstudio.api import DataShape, sums_need
    >>> sums_need(DataShape(m=100_000, n=46, Q=2000, s=50_000)).least < 1e9
    True
    """
    return (
        shard_need(shape, states=per_document * shape.m)
        if shape.sharded
        else whole_need(shape)
    )
