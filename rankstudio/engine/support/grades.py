"""Facts of a whole dataset that measures need: its greatest grade, and the order of equal scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Floats, Ints

STANDARD = "standard"
"""Key of the convention of measures for data that are not those of a known public dataset."""


def _no_ranks() -> None:
    """Return None: no ranks."""


@dataclass(frozen=True, eq=False)
class Grading:
    """Information that measures need besides labels, for any part of a dataset.

    Attributes
    ----------
    greatest_grade : float
        Largest label of the whole dataset, all folds and parts; 0 or
        more. ERR uses it.
    find_ranks : callable
        Function without arguments that returns the attribute
        ``id_ranks``: an array or None. It is called when the ranks are
        first used.
    """

    greatest_grade: float
    find_ranks: Callable[[], Ints | None] = _no_ranks

    @classmethod
    def of(cls, labels: Floats) -> Grading:
        """Return the grading of documents that are a whole dataset without ids."""
        return cls(greatest(labels))

    @cached_property
    def id_ranks(self) -> Ints | None:
        """Rank of each document's id within its query, shape (m,); None without ids.

        Documents with equal scores are ordered by descending rank. A
        query with a document without id uses the positions of its
        documents, so that the order within a query never depends on
        other queries.
        """
        return self.find_ranks()

    @property
    def found_ranks(self) -> Ints | None:
        """The ranks if already computed: only then they are sent to other processes."""
        ranks: Ints | None = vars(self).get("id_ranks")
        return ranks

    def find_now(self, *, by_id: bool) -> None:
        """Compute the ranks of the document ids now if a convention of measures uses them (``by_id``).

        Otherwise each process that the grading is sent to would compute them.
        """
        if by_id:
            _ = self.id_ranks

    def taken(self, rows: slice | Ints) -> Grading:
        """Return the grading of some of the documents, as whole queries."""
        return Grading(self.greatest_grade, partial(_ranks_of_rows, self, rows))


def joined(gradings: Sequence[Grading], rows: Sequence[Ints]) -> Grading:
    """Return the grading of the concatenated documents of several parts of a dataset.

    Parameters
    ----------
    gradings : sequence of Grading
        Grading of each part.
    rows : sequence of ndarray
        For each part, the row numbers of its documents. In a part
        without document ids they serve as ranks, so that the last
        document of a query comes first.
    """
    return Grading(
        max(grading.greatest_grade for grading in gradings),
        partial(_joined_ranks, gradings, rows),
    )


def greatest(labels: Floats) -> float:
    """Return the largest label, 0 if none is positive."""
    return float(np.max(labels, initial=0.0))


def ranks_of_ids(ids: Iterable[str], query_ptr: Ints) -> Ints | None:
    """Return the rank of each document's id among the ids of its query, shape (m,).

    Return None if every query has a document without an id.

    Parameters
    ----------
    ids : iterable of m str
        In the order of the documents; "" for a missing id.
    query_ptr : ndarray of shape (Q + 1,)
        First row of each query, followed by m.

    Notes
    -----
    O(m log n) for queries of n documents. Ids are compared as text, as in trec_eval.
    """
    remaining_ids = iter(ids)
    has_ids = False
    ranks = np.empty(int(query_ptr[-1]), dtype=np.int64)
    for first, last in pairwise(query_ptr.tolist()):
        document_ids = [next(remaining_ids, "") for _ in range(first, last)]
        # A query in which an id is missing is ranked by row.
        if all(document_ids):
            distinct_ids = sorted(set(document_ids))
            rank_of_id = {
                document_id: rank for rank, document_id in enumerate(distinct_ids)
            }
            ranks[first:last] = [
                rank_of_id[document_id] for document_id in document_ids
            ]
            has_ids = True
        else:
            ranks[first:last] = np.arange(last - first)
    return ranks if has_ids else None


def order_of_ranks(query_ptr: Ints, ranks: Ints | None) -> Ints:
    """Return the row numbers of all documents: query by query, each in descending rank.

    Query q has the rows ``query_ptr[q]:query_ptr[q + 1]``, and
    ``ranks`` has a rank for each row. Without ranks (None), the last
    document of a query comes first.
    """
    n_documents = int(query_ptr[-1])
    ranks = np.arange(n_documents) if ranks is None else ranks
    query = np.repeat(np.arange(query_ptr.size - 1), np.diff(query_ptr))
    order: NDArray[np.int64] = np.lexsort((-ranks, query))
    return order


def _joined_ranks(gradings: Sequence[Grading], rows: Sequence[Ints]) -> Ints | None:
    """Return the ranks of document ids of several parts, one after the other.

    ``rows`` has an array for each part: the ranks of its documents by
    row, which are used if the part has no ids. Return None if no part
    has ids.
    """
    ranks = [grading.id_ranks for grading in gradings]
    if all(part_ranks is None for part_ranks in ranks):
        return None
    return np.concatenate(
        [
            part_rows if part_ranks is None else part_ranks
            for part_ranks, part_rows in zip(ranks, rows, strict=True)
        ]
    )


def _ranks_of_rows(grading: Grading, rows: slice | Ints) -> Ints | None:
    """Return the ranks of ids of some rows; None without ids."""
    ranks = grading.id_ranks
    return None if ranks is None else ranks[rows]
