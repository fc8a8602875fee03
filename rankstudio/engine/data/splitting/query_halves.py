"""Repeated divisions of a dataset into two halves: of its queries, or of the documents of one ranking.

A fold trains on each half.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.splitting.part_of_whole import MatrixCache, PartOfWhole

LEAST_QUERIES = 4
"""Minimum number of queries that are divided into halves."""

LEAST_DOCUMENTS = 8
"""Minimum number of documents of one ranking that are divided into halves.

A half has four then: without a pair of them, a pair is left to learn from.
"""


def has_halves(data: RankingDataset) -> bool:
    """Return whether a dataset has enough queries, or documents of one ranking, for halves."""
    if data.n_queries == 1:
        return data.n_documents >= LEAST_DOCUMENTS
    return data.n_queries >= LEAST_QUERIES


def half_of(n_units: int, seed: int, number: int) -> Ints:
    """Return the positions of the queries or documents in one half of a random division, ascending.

    Parameters
    ----------
    n_units : int
        Number of queries, or of documents.
    seed : int
        Seed of the divisions.
    number : int
        Number of the half: 2b and 2b + 1 are the two halves of division b.
    """
    order = np.random.default_rng([seed, number // 2]).permutation(n_units)
    size = n_units // 2
    return np.sort(order[:size] if number % 2 == 0 else order[size : 2 * size])


def halved(data: RankingDataset, n_halves: int, seed: int) -> FoldedDataset:
    """Return a dataset of 2B folds, each of which trains on one half of the queries.

    The queries are divided at random B times; folds 1 and 2 are the
    first pair of halves. Folds have no other parts. Documents of a
    single query are one ranking: each fold trains on half of them.

    Parameters
    ----------
    data : RankingDataset
        Data to divide.
    n_halves : int
        Number B of divisions into two halves.
    seed : int
        Seed of the divisions.

    Notes
    -----
    O(B) memory besides the data; each half costs O(mn) on first use.
    """
    matrix_cache = MatrixCache()
    division = Halves(seed)
    folds = (
        Fold(number + 1, division.half(data, number, matrix_cache))
        for number in range(2 * n_halves)
    )
    return FoldedDataset("Data", None, tuple(folds))


@dataclass(frozen=True)
class Halves:
    """The division into halves by a seed; half h is fold h + 1."""

    seed: int

    def half(
        self, dataset: RankingDataset, number: int, matrix_cache: MatrixCache
    ) -> QueryHalf:
        """Return a half of the queries of a dataset, or of the documents if it is one ranking.

        ``number`` is the number of the half, from 0. ``matrix_cache``
        has the matrix of the half that was used last.
        """
        kind = DocumentHalf if dataset.n_queries == 1 else QueryHalf
        return kind(dataset, number, self, matrix_cache)

    def fold(self, dataset: RankingDataset, number: int) -> Fold:
        """Return the fold with a number, counted from 1; its training data is a half."""
        return Fold(number, self.half(dataset, number - 1, MatrixCache()))


class QueryHalf(PartOfWhole):
    """A half of the queries, mapped from a file if the whole dataset is."""

    division: Halves

    def __init__(
        self,
        dataset: RankingDataset,
        number: int,
        division: Halves,
        matrix_cache: MatrixCache,
    ) -> None:
        super().__init__(dataset, number, division, matrix_cache, first=number == 0)

    @property
    def queries(self) -> Ints:  # noqa: D102 - inherited
        return half_of(self.whole.n_queries, self.division.seed, self.number)

    @property
    def recorded_as(self) -> str:  # noqa: D102 - inherited
        return f"half {self.number} by seed {self.division.seed}"


class DocumentHalf(QueryHalf):
    """A half of the documents of one ranking, mapped from a file if the whole dataset is."""

    @property
    def queries(self) -> Ints:
        """The only query: a half of its documents is one ranking, too."""
        return np.zeros(1, dtype=np.int64)

    @property
    def query_ptr(self) -> Ints:  # noqa: D102 - inherited
        return np.array([0, self.n_documents], dtype=np.int64)

    @property
    def n_documents(self) -> int:  # noqa: D102 - inherited
        return self.whole.n_documents // 2

    @property
    def _rows(self) -> Ints:
        return half_of(self.whole.n_documents, self.division.seed, self.number)
