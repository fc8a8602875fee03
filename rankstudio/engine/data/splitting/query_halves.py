"""Repeated divisions of the queries of a dataset into two halves.

A fold trains on each half.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.splitting.part_of_whole import Kept, PartOfWhole


def half_of_queries(n_queries: int, seed: int, number: int) -> Ints:
    """Return the queries of a half, ascending.

    Numbers 2b and 2b + 1 are the two halves of division b.
    """
    order = np.random.default_rng([seed, number // 2]).permutation(n_queries)
    size = n_queries // 2
    return np.sort(order[:size] if number % 2 == 0 else order[size : 2 * size])


def halved(data: RankingDataset, n_halves: int, seed: int) -> FoldedDataset:
    """Return a dataset of 2B folds, each of which trains on one half of the queries.

    Parameters
    ----------
    data : RankingDataset
    n_halves : int
        Number B of divisions of the queries into two halves.
    seed : int

    Notes
    -----
    O(B) memory besides the data; each half costs O(mn) on first use.
    """
    matrix_cache = Kept()
    division = Halves(seed)
    folds = (
        Fold(number + 1, QueryHalf(data, number, division, matrix_cache))
        for number in range(2 * n_halves)
    )
    return FoldedDataset("Data", None, tuple(folds))


@dataclass(frozen=True)
class Halves:
    """The division into halves by a seed; half h is fold h + 1."""

    seed: int

    def fold(self, dataset: RankingDataset, number: int) -> Fold:
        """Return a fold by its number."""
        return Fold(number, QueryHalf(dataset, number - 1, self, Kept()))


class QueryHalf(PartOfWhole):
    """A half of the queries, mapped from a file if the whole dataset is."""

    division: Halves

    def __init__(
        self, dataset: RankingDataset, number: int, division: Halves, matrix_cache: Kept
    ) -> None:
        super().__init__(dataset, number, division, matrix_cache, first=number == 0)

    @property
    def queries(self) -> Ints:  # noqa: D102 - inherited
        return half_of_queries(self.whole.n_queries, self.division.seed, self.number)

    @property
    def told_as(self) -> str:  # noqa: D102 - inherited
        return f"half {self.number} by seed {self.division.seed}"
