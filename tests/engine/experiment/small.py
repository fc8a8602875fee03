"""A small dataset of folds for the tests of experiments."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset


def part(seed: int, queries: int = 12, n: int = 6) -> RankingDataset:
    """Queries of 4 to 9 documents; features 3 and 5 count, feature 2 is constant."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 10, queries)
    m = int(sizes.sum())
    X = rng.random((m, n))
    X[:, 1] = 0.5
    y = np.clip(np.round(2 * X[:, 2] + X[:, 4] + 0.3 * rng.normal(size=m) - 0.5), 0, 2)
    ptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return RankingDataset(
        X,
        y,
        ptr,
        tuple(str(q) for q in range(queries)),
        np.arange(1, n + 1),
        tuple(f"feature {i}" for i in range(1, n + 1)),
    )


def dataset(folds: int = 2) -> FoldedDataset:
    """Folds with all three parts."""
    numbers = range(1, folds + 1)
    return FoldedDataset(
        "Small", None, tuple(Fold(f, part(3 * f), part(3 * f + 1), part(3 * f + 2)) for f in numbers)
    )
