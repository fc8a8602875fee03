"""Training data by shards: in memory, or mapped from the disk and read a shard at a time."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats, Ints, unwritable
from rankstudio.engine.data import store
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.language import tr
from rankstudio.engine.methods.shards.session import IN_PROCESS, ShardExecutor, ShardSession
from rankstudio.engine.methods.shards.work import ShardWork
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.support.file_pages import empty_in_file, in_file, release
from rankstudio.engine.support.grades import Grading
from rankstudio.engine.support.memory import budget, size
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
    validation : ndarray of shape (V, n) or None
        As of :class:`QueryData`.
    source : ShardedQueryData or None
        Whose features some of are these; see :meth:`narrowed`.
    columns : tuple of int
        Which of them.
    part_of : Grading or None
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
    validation: Floats | None = None
    source: ShardedQueryData | None = None
    columns: tuple[int, ...] = ()
    part_of: Grading | None = None
    remembered: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)
    _copied: set[int] = field(default_factory=set, init=False, repr=False)

    def __post_init__(self) -> None:
        """Keep documents and queries as views through which nothing is written; copies are still made."""
        for name in ("X", "y", "ptr") if self.source is None else ("y", "ptr"):
            object.__setattr__(self, name, unwritable(getattr(self, name)))

    @cached_property
    def grading(self) -> Grading:
        """What measures need of the documents besides labels: that of the whole, in every shard."""
        return self.part_of or Grading.of(self.y)

    @cached_property
    def shards(self) -> tuple[Shard, ...]:
        """The shards, in the order of their rows."""
        return shards_of(self.ptr, self.documents)

    def shard(self, index: int) -> QueryData:
        """Return the documents of a shard; its arrays are views, and what is remembered of it is kept."""
        shard = self.shards[index]
        ptr = self.ptr[shard.first_query : shard.end_query + 1] - shard.first_row
        grading = self.grading.taken(shard.rows)
        data = QueryData(
            self._rows(index), self.y[shard.rows], ptr, n_settings=self.n_settings, part_of=grading
        )
        vars(data)["remembered"] = self.remembered.setdefault(("shard", index), {})
        return data

    @cached_property
    def whole(self) -> QueryData:
        """All documents at once."""
        for index in range(len(self.shards)):
            self._rows(index)
        data = QueryData(
            self.X,
            self.y,
            self.ptr,
            n_settings=self.n_settings,
            validation=self.validation,
            part_of=self.part_of,
        )
        if self.source is not None:
            data.remembered["narrowed from"] = (self.source.remembered, self.columns)
        return data

    def narrowed(self, columns: Sequence[int]) -> ShardedQueryData:
        """Return the same documents with some of their features.

        They are copied shard by shard, when somebody first asks for a shard: into memory, or into a file
        without a name where these are mapped from one. Features of validation documents do not come along.

        Raises
        ------
        OSError
            Where the disk has no room.
        """
        if self.source is not None:
            return self.source.narrowed([self.columns[column] for column in columns])
        shape = len(self.X), len(columns)
        X = empty_in_file(shape, store.scratch_folder()) if in_file(self.X) else np.empty(shape)
        return replace(self, X=X, validation=None, source=self, columns=tuple(columns))

    def column(self, feature: int) -> Floats:
        """Return a feature of all documents, shape (m,), read shard by shard."""
        out = np.empty(self.X.shape[0])
        for index, shard in enumerate(self.shards):
            out[shard.rows] = self._rows(index)[:, feature]
            self.release(index)
        return out

    def _rows(self, index: int) -> Floats:
        """Return the features of a shard's documents."""
        rows = self.X[self.shards[index].rows]
        if self.source is not None and index not in self._copied:
            # Threads that ask for the same shard at once copy the same numbers.
            np.take(self.source._rows(index), self.columns, axis=1, out=rows, mode="clip")
            self.source.release(index)
            self._copied.add(index)
        return unwritable(rows)

    def release(self, index: int) -> None:
        """Let the mapped pages of a shard go."""
        release(self.X[self.shards[index].rows])

    def session(self, work: ShardWork) -> AbstractContextManager[ShardSession]:
        """Have all shards begin a work, and provide what asks them for sums."""
        return self.executor.session(self, work)


TrainingData = QueryData | ShardedQueryData
"""What a method that can learn by shards learns from."""


def by_shards(data: Any) -> Any:
    """Return dense data of several shards as :class:`ShardedQueryData`, those of one as :class:`QueryData`.

    The numbers then depend neither on where the data are nor on who gives them. Preferences are learned from
    as a whole, and so are sparse data. What is remembered of the data is remembered of what is returned.
    """
    if isinstance(data, ShardedQueryData):
        return data if len(data.shards) > 1 else data.whole
    if type(data) is not QueryData or data.preferences is not None or len(shards_of(data.ptr)) == 1:
        return data
    if "by shards" not in data.remembered:
        data.remembered["by shards"] = ShardedQueryData(
            data.X,
            data.y,
            data.ptr,
            n_settings=data.n_settings,
            validation=data.validation,
            part_of=data.part_of,
        )
    return data.remembered["by shards"]


def in_memory(data: Any, what: str) -> Any:
    """Return data as those methods take them that look at all documents at once.

    Parameters
    ----------
    data : ShardedQueryData or other
        Any but the first are returned as they are.
    what : str
        Who does so, for the text of the error.

    Raises
    ------
    OutOfMemoryError
        Where the documents, and a centred copy of them, are larger than the memory budget.
    """
    if not isinstance(data, ShardedQueryData):
        return data
    needed, free = 2.0 * data.X.nbytes, budget()
    if len(data.shards) > 1 and in_file(data.X) and needed > free:
        raise OutOfMemoryError(
            tr(
                "{what} looks at all documents at once here: {m} documents with {n} features need "
                "{needed} of memory or more, and the budget is {budget}; with a larger budget or fewer "
                "documents it runs."
            ).format(
                what=what,
                m=f"{data.X.shape[0]:,}",
                n=f"{data.X.shape[1]:,}",
                needed=size(needed),
                budget=size(free),
            )
        )
    return data.whole
