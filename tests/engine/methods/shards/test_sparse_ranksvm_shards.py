"""Sparse RankSVM by shards: the order of the features is that of the whole."""

from __future__ import annotations

import pytest
from sharded_problems import cut, problem, steps

from rankstudio.engine import SparseRankSVM
from rankstudio.engine.support import threads


@pytest.mark.parametrize("documents", [90, 20])
def test_the_order_is_that_of_the_whole(documents: int) -> None:
    data = problem(seed=1)
    method = SparseRankSVM(n_penalties=8)
    with threads.at_most(1):
        whole = steps(method, data)
        sharded = steps(method, cut(data, documents))
    for one, other in zip(whole, sharded, strict=True):
        assert other.selected == one.selected
        # RankRLS ranks with the features: sums of 185 documents in another order, and
        # a system that λ = 1 keeps well conditioned.
        assert other.coef == pytest.approx(one.coef, rel=1e-9, abs=1e-12)
