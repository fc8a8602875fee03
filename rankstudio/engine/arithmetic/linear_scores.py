"""Linear scores of the documents of many queries, and the tangent planes of losses of these scores."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rankstudio.engine.arithmetic import _rows_kernel as kernels
from rankstudio.engine.arrays import Floats, Ints, unwritable
from rankstudio.engine.support.threads import share, worthwhile

_DOCUMENT = 30.0  # nanoseconds per document of a sweep over sorted documents
_ENTRY = 0.7  # nanoseconds per entry of X of a product with X
_BLOCK = 8_192  # documents that a thread takes at a time


class Queries:
    """Queries in blocks of about equal numbers of documents, which threads process one at a time.

    Parameters
    ----------
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    executor : Executor, optional
        Threads for the blocks; the results do not depend on it.
    workers : int, default 1
        Number of threads, including the calling one.

    Attributes
    ----------
    blocks : list of (int, int, int)
        Number, first query and query after the last of each block.
    """

    def __init__(
        self, ptr: Ints, executor: Executor | None = None, workers: int = 1
    ) -> None:
        """Cut the queries into blocks of about `_BLOCK` documents.

        ``ptr`` (Q + 1,) has the first row of each query, then the
        number of rows. A block is (its number, first query, query
        behind the last). ``workers`` is the number of threads of
        ``executor``; without an executor, this thread does all work.
        """
        self.ptr = unwritable(ptr)
        self._executor = executor
        self._workers = workers
        m = int(ptr[-1])
        # Equidistant documents, each moved to the next query. A long
        # query may contain several; unique leaves one.
        cuts = np.unique(
            np.searchsorted(ptr, np.linspace(0, m, m // _BLOCK + 2))
        ).tolist()
        self.blocks = [
            (number, first, last) for number, (first, last) in enumerate(pairwise(cuts))
        ]

    def spread(
        self, work: Callable[[int, int, int], None], heavy: bool = False
    ) -> None:
        """Call ``work(number, first query, query after the last)`` for each block, on all threads.

        A block is consecutive queries. Blocks, and therefore sums over
        blocks, do not depend on the number of threads. ``heavy`` work
        uses threads even for few documents.
        """
        uses_threads = heavy or worthwhile(_DOCUMENT * float(self.ptr[-1]))
        executor = self._executor if uses_threads else None
        share(executor, self._workers, lambda block: work(*block), self.blocks)


class Linear:
    """Scores that are linear in the features, s_i = (x_i - x_f)'w with f the first document of i's query.

    Within each query, these scores have the same differences as Xw.
    Sums of them round like those for a copy of X that is centred within
    each query, for any offset of the features of a query.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        Features, grouped by query.
    queries : Queries
        Queries of the m documents.
    """

    def __init__(self, X: Floats, queries: Queries) -> None:
        self.X = unwritable(X)
        self.queries = queries
        self._gains_from_threads = worthwhile(_ENTRY * X.size)

    def scores(self, w: Floats) -> Floats:
        """Return the scores of the documents with weights (n,), shape (m,).

        ``w`` are the weights. A score is relative to the score of the
        first document of the query. O(mn).
        """
        out = np.empty(self.X.shape[0])
        ptr = self.queries.ptr
        # Several threads work on blocks of queries if they gain time.
        self.queries.spread(
            lambda _, first, last: kernels.multiply(self.X, w, ptr, first, last, out),
            self._gains_from_threads,
        )
        return out

    def weigh(self, weights: Floats) -> Floats:
        """Return the sum of weight_i (x_i - x_f) over all documents, shape (n,). O(mn).

        ``weights`` has shape (m,), and x_f is the first document of the
        query of document i. The sum equals X'weights if the weights of
        each query sum to 0, as for the gradient of a loss that depends
        only on score differences within queries.
        """
        # A row for the sum of each block of queries, which threads
        # compute at the same time.
        parts = self._parts()
        ptr = self.queries.ptr
        self.queries.spread(
            lambda block, first, last: kernels.weigh(
                self.X, weights, ptr, first, last, parts[block]
            ),
            self._gains_from_threads,
        )
        total: Floats = parts.sum(axis=0)
        return total

    def _parts(self) -> Floats:
        """Return an empty array, of shape (blocks, n), for sums over documents.

        Each block of queries later writes its part of a sum to the row
        with its number.
        """
        return np.empty((len(self.queries.blocks), self.X.shape[1]))


@dataclass(frozen=True, eq=False)
class Tangent:
    """A convex loss at some scores, with its tangent plane, a lower bound everywhere.

    Attributes
    ----------
    loss : float
        Loss at these scores.
    offset : float
        Value of the plane at scores of 0.
    slopes : ndarray of shape (m,)
        Slope of the plane along each document's score, a subgradient of
        the loss: at scores s the plane is ``offset + slopes @ s``.
    """

    loss: float
    offset: float
    slopes: Floats
