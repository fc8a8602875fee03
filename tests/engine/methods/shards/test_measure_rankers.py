"""Methods that raise a measure, by shards: the rounds of the whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from abilities import estimator_class
from hypothesis import given, settings
from hypothesis import strategies as st
from sharded_problems import (
    EPS,
    assert_one_shard_is_whole,
    assert_same_everywhere,
    cut,
    problem,
    steps,
)

from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.selection.fs_bfs import FSBFS
from rankstudio.engine.support import threads

AdaRank = estimator_class("adarank")
CoordinateAscent = estimator_class("coordinate-ascent")

RANKERS: list[LinearRanker] = [
    # a tie of both directions is decided by rounding
    AdaRank(n_rounds=6, direction="descending"),
    CoordinateAscent(measure="MAP", n_restarts=2, max_iter=2),
    CoordinateAscent(measure="Disagreement", n_restarts=1, max_iter=2),
    AdaRank(measure="MAP", n_rounds=8, repeats=True, direction="descending"),
    FSBFS(2, subset_size=2, measure="MAP", patience=2, max_iter=2),
]


@pytest.mark.parametrize("method", RANKERS, ids=str)
@settings(max_examples=6)
@given(documents=st.integers(1, 90), seed=st.integers(0, 5))
def test_rounds_are_those_of_the_whole(
    method: LinearRanker, documents: int, seed: int
) -> None:
    data = problem(seed=seed, rounded=False)
    m, Q = data.y.size, data.ptr.size - 1
    with threads.at_most(1):
        whole, sharded = steps(method, data), steps(method, cut(data, documents))
    assert [step.selected for step in sharded] == [step.selected for step in whole]
    for one, other in zip(whole, sharded, strict=True):
        # A mean r of Q values is off by Q eps, AdaRank's weight atanh r by c = cosh² of it times as much, and
        # by c times what the queries' weights are off by: twice what all rounds before were off by.
        c = (
            float(np.cosh(np.abs(one.coef).max())) ** 2
            if isinstance(method, AdaRank)
            else 0.0
        )
        off = 2 * Q * EPS * max(1.0, c) * (1.0 + 2.0 * c) ** one.number
        # least squares with λ = 1 of two sums of m values of variance 1
        if isinstance(method, FSBFS):
            off += 2 * m * EPS * (1.0 + 2.0 * m)
        np.testing.assert_allclose(other.coef, one.coef, rtol=0, atol=off)
        np.testing.assert_allclose(other.criterion, one.criterion, rtol=0, atol=off)


@pytest.mark.parametrize("method", RANKERS, ids=str)
def test_the_same_bits_everywhere(method: LinearRanker, tmp_path: Path) -> None:
    assert_same_everywhere(method, problem(60), tmp_path)
    assert_one_shard_is_whole(method, problem())
