"""Shards, the pieces of large data: consecutive whole queries with about the same number of documents."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rankstudio.engine.arrays import Ints

DOCUMENTS = 1 << 16
"""Maximum number of documents of a shard, unless a single query has more."""


@dataclass(frozen=True)
class Shard:
    """Consecutive queries, and the rows of their documents.

    Attributes
    ----------
    first_query, end_query : int
        The queries ``first_query`` to ``end_query - 1``.
    first_row, end_row : int
        The rows ``first_row`` to ``end_row - 1``.

    Examples
    --------
    >>> from rankstudio.api import Shard
    >>> shard = Shard(first_query=2, end_query=5, first_row=20, end_row=50)
    >>> shard.rows, shard.n_queries
    (slice(20, 50, None), 3)
    """

    first_query: int
    end_query: int
    first_row: int
    end_row: int

    @property
    def rows(self) -> slice:
        """Rows of the shard's documents."""
        return slice(self.first_row, self.end_row)

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return self.end_row - self.first_row

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.end_query - self.first_query


def shards_of(query_ptr: Ints, documents: int = DOCUMENTS) -> tuple[Shard, ...]:
    """Divide queries into shards, groups of consecutive queries of limited size.

    A new shard starts if the next query would make the current shard
    too large. The division depends only on the sizes of the queries,
    not on workers or memory.

    Parameters
    ----------
    query_ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``query_ptr[q]:query_ptr[q + 1]``.
    documents : int
        Maximum number of documents per shard, unless a single query has more.

    Notes
    -----
    O(S log Q) for S shards.

    Examples
    --------
    >>> [shard.n_queries for shard in shards_of(np.array([0, 3, 5, 9, 10]), documents=5)]
    [2, 2]
    """
    cuts = [0]  # the first query of each shard, then Q
    while cuts[-1] < query_ptr.size - 1:
        # The shard ends behind the last query that fits, and has at least one.
        row_limit = int(query_ptr[cuts[-1]]) + documents
        end = int(np.searchsorted(query_ptr, row_limit, side="right")) - 1
        cuts.append(max(end, cuts[-1] + 1))
    return tuple(
        Shard(first, end, int(query_ptr[first]), int(query_ptr[end]))
        for first, end in pairwise(cuts)
    )
