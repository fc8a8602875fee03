"""Documents with three named features, the second of them constant."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.data.dataset import RankingDataset


def documents(sizes: tuple[int, ...], seed: int = 0, labels: int = 3) -> RankingDataset:
    """Return queries of these sizes, whose labels go round."""
    rng = np.random.default_rng(seed)
    ptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    m = int(ptr[-1])
    X = rng.normal(size=(m, 3))
    X[:, 1] = 5.0
    return RankingDataset(
        X=X,
        y=(np.arange(m) % labels).astype(np.float64),
        query_ptr=ptr,
        query_ids=tuple(f"q{i}" for i in range(len(sizes))),
        feature_ids=np.array([7, 8, 9]),
        feature_names=("BM25 of body", "IDF of body", "PageRank"),
        comments=tuple(f"#docid = D{i}" for i in range(m)),
    )
