"""Training data by shards: in memory, or mapped from the disk and read a shard at a time."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.shards.session import IN_PROCESS, ShardExecutor, ShardSession
from rankstudio.engine.methods.shards.work import ShardWork
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.shard import DOCUMENTS, Shard, shards_of


@dataclass(frozen=True, eq=False)
class ShardedQueryData:
    """Training data in which the documents of each query stand together, cut into shards of whole queries.

    Attributes
    ----------
    X : ndarray of shape (m, n), C order
        In memory, or mapped from a file.
    y : ndarray of shape (m,)
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    executor : ShardExecutor
        Who works on the shards; the numbers do not depend on it.
    documents : int
        How many a shard has at most; the numbers depend on it in their last bits.
    n_settings : int
        As of :class:`QueryData`.
    remembered : dict
        As of :class:`QueryData`.
    """

    X: Floats
    y: Floats
    ptr: Ints
    executor: ShardExecutor = IN_PROCESS
    documents: int = DOCUMENTS
    n_settings: int = 1
    remembered: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def shards(self) -> tuple[Shard, ...]:
        """The shards, in the order of their rows."""
        return shards_of(self.ptr, self.documents)

    def shard(self, index: int) -> QueryData:
        """Return the documents of a shard; its arrays are views."""
        shard = self.shards[index]
        ptr = self.ptr[shard.first_query : shard.end_query + 1] - shard.first_row
        return QueryData(self.X[shard.rows], self.y[shard.rows], ptr, n_settings=self.n_settings)

    def release(self, index: int) -> None:
        """Let the mapped pages of a shard go."""
        release(self.X[self.shards[index].rows])

    def session(self, work: ShardWork) -> AbstractContextManager[ShardSession]:
        """Have all shards begin a work, and provide what asks them for sums."""
        return self.executor.session(self, work)
