"""What measures need of a whole dataset: its greatest grade, and which document comes first among equals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Floats, Ints


def _unknown() -> None:
    return None


@dataclass(frozen=True, eq=False)
class Grading:
    """What a measure of some documents needs besides their labels, whatever piece of a dataset they are.

    Attributes
    ----------
    greatest_grade : float
        The greatest label of the whole dataset, all folds and parts; 0 or more. ERR depends on it.
    find_ranks : callable
        Returns ``id_ranks``; called when somebody first asks for them.
    """

    greatest_grade: float
    find_ranks: Callable[[], Ints | None] = _unknown

    @classmethod
    def of(cls, labels: Floats) -> Grading:
        """Return the grading of documents that are a whole dataset, and have no ids."""
        return cls(greatest(labels))

    @cached_property
    def id_ranks(self) -> Ints | None:
        """The rank of each document's id among those of its query, shape (m,); None where there are none.

        Equal scores are put in order from the greatest rank down. A query with a document that has no id has
        the positions of its documents, so that the order within a query never depends on other queries.
        """
        return self.find_ranks()

    @property
    def found_ranks(self) -> Ints | None:
        """The ranks where somebody asked for them before: only then they go to other processes."""
        found: Ints | None = vars(self).get("id_ranks")
        return found

    def find_now(self, *, by_id: bool) -> None:
        """Find the ranks now, so that they go along to other processes, where documents go by their ids."""
        if by_id:
            _ = self.id_ranks

    def taken(self, rows: slice | Ints) -> Grading:
        """Return the grading of some of the documents: whole queries."""
        return Grading(self.greatest_grade, partial(_taken, self, rows))


def joined(gradings: Sequence[Grading], rows: Sequence[Ints]) -> Grading:
    """Return the grading of documents of several parts of a dataset, one part behind the other.

    Parameters
    ----------
    gradings : sequence of Grading
    rows : sequence of ndarray
        The rows of each in its part: where that has no ids, the last comes first.
    """
    return Grading(max(one.greatest_grade for one in gradings), partial(_joined, gradings, rows))


def greatest(labels: Floats) -> float:
    """Return the greatest label, 0 where none is positive."""
    return float(np.max(labels, initial=0.0))


def ranks_of_ids(ids: Iterable[str], query_ptr: Ints) -> Ints | None:
    """Return `Grading.id_ranks` of ids in the order of the documents, "" for a document without one.

    Notes
    -----
    O(m log n) for queries of n documents. Ids are compared as text, as trec_eval does.
    """
    every, any_id = iter(ids), False
    ranks = np.empty(int(query_ptr[-1]), dtype=np.int64)
    for first, last in pairwise(query_ptr.tolist()):
        own = [next(every, "") for _ in range(first, last)]
        if all(own):
            places = {name: place for place, name in enumerate(sorted(set(own)))}
            ranks[first:last] = [places[name] for name in own]
            any_id = True
        else:
            ranks[first:last] = np.arange(last - first)
    return ranks if any_id else None


def order_of_ranks(query_ptr: Ints, ranks: Ints | None) -> Ints:
    """Return the documents of each query from the greatest rank down; without ranks the last comes first."""
    n_documents = int(query_ptr[-1])
    ranks = np.arange(n_documents) if ranks is None else ranks
    query = np.repeat(np.arange(query_ptr.size - 1), np.diff(query_ptr))
    order: NDArray[np.int64] = np.lexsort((-ranks, query))
    return order


def _joined(gradings: Sequence[Grading], rows: Sequence[Ints]) -> Ints | None:
    ranks = [one.id_ranks for one in gradings]
    if all(one is None for one in ranks):
        return None
    return np.concatenate([own if one is None else one for one, own in zip(ranks, rows, strict=True)])


def _taken(whole: Grading, rows: slice | Ints) -> Ints | None:
    ranks = whole.id_ranks
    return None if ranks is None else ranks[rows]
