"""LambdaMART on shards: the trees of all documents at once, from data that are binned piece by piece."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sharded_problems import cut, elsewhere, problem, steps

from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.rankers.lambdamart import LambdaMART, TreeStep
from rankstudio.engine.methods.rankers.lambdamart_shards import _SAMPLE
from rankstudio.engine.methods.shards.sharded_data import ShardedQueryData
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.steps import WorkProgress
from rankstudio.engine.support import memory

pytest.importorskip("lightgbm")

QUICK = LambdaMART(n_rounds=6, num_leaves=5, min_data_in_leaf=3, feature_fraction=0.7)


def learned(method: LinearRanker, data: QueryData | ShardedQueryData) -> tuple[str, list[float]]:
    """Return the trees, and the criterion of each round."""
    found = [step for step in steps(method, data) if isinstance(step, TreeStep)]
    return found[-1].model_text().split("parameters:")[0], [step.criterion for step in found]


@pytest.mark.parametrize("documents", [1, 7, 40, 150])
def test_trees_are_those_of_all_documents(documents: int) -> None:
    data = problem(60)
    assert learned(QUICK, cut(data, documents)) == learned(QUICK, data)


def test_the_same_trees_everywhere(tmp_path: Path) -> None:
    data = problem(60)
    expected = learned(QUICK, data)
    for other in elsewhere(data, 40, tmp_path):
        assert learned(QUICK, other) == expected
    assert isinstance(next(iter(QUICK.work(cut(data, 40)))), WorkProgress)


@pytest.mark.parametrize("seed", [0, 12_345_678])
def test_bins_are_found_from_the_same_sample(seed: int) -> None:
    rng = np.random.default_rng(0)
    m = _SAMPLE + 10_000
    X = np.where(rng.random((m, 3)) < 0.4, 0.0, rng.standard_normal((m, 3)))
    y = np.clip(np.round(X[:, 0] + rng.standard_normal(m)), 0, 2)
    data = QueryData(X, y, np.arange(0, m + 1, 100))
    method = LambdaMART(n_rounds=2, seed=seed)
    assert learned(method, data) == learned(method, cut(data, 30_000))
    assert learned(method, data) == learned(method, cut(data, m))  # one shard, and so all at once


def test_what_is_too_large_even_in_bins_is_refused(tmp_path: Path) -> None:
    X = np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", dtype=np.float64, shape=(100_000, 4))
    data = ShardedQueryData(X, np.zeros(100_000), np.arange(0, 100_001, 100))
    with memory.within(5e6), pytest.raises(OutOfMemoryError, match=r"LambdaMART looks at all .* 14\.8 MB"):
        steps(QUICK, data)
    with memory.within(20e6):
        steps(QUICK, data)
