"""FSMRank and what begins with it, by shards: importance, similarity and minimum of the whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
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

from rankstudio.engine.arithmetic.pair_losses import LossName
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.selection.fsmrank import (
    FSMSVM,
    FSMRank,
    FSMRankTop,
    comparing_features,
    weighing_features,
)
from rankstudio.engine.methods.shards.training_data import training_data
from rankstudio.engine.support import threads
from rankstudio.engine.support.work import finish

METHODS: list[LinearRanker] = [
    FSMRank(max_iter=12),
    FSMRank(lambda1=0.0, importance="map", max_iter=8),
    FSMRank(loss="logistic", max_iter=8),
    FSMRank(loss="least_squares", max_iter=8),
    FSMRank(solver="subgradient", similarity="kendall", max_iter=10),
    FSMRankTop(3, max_iter=12),
    FSMSVM(2, max_iter=12),
]
EVERY_METHOD = pytest.mark.parametrize(
    "method",
    [
        pytest.param(
            m,
            marks=()
            if m in (METHODS[0], METHODS[2], METHODS[-1])
            else pytest.mark.thorough,
        )
        for m in METHODS
    ],
    ids=str,
)


@settings(max_examples=6)
@given(st.integers(1, 90), st.integers(0, 5))
def test_importance_and_similarity_are_those_of_the_whole(
    documents: int, seed: int
) -> None:
    data = problem(seed=seed)
    X = data.X.copy()
    X[:, 0] += 1e4
    data = replace(data, X=X)
    # A mean of m values is off by m eps of the largest, beside the deviation that values are divided by; then
    # there are products of two such values, in either order.
    deviations = data.X.std(axis=0)
    relative = float(
        (np.abs(data.X).max(axis=0) / np.maximum(deviations, 1e-9))[
            deviations > 1e-9
        ].max()
    )
    off = 4 * data.y.size * EPS * relative
    parts = training_data(data), cut(data, documents)
    for kind in ("pearson", "ndcg", "map", "none"):
        whole, sharded = (finish(weighing_features(of, kind)) for of in parts)
        np.testing.assert_allclose(sharded, whole, rtol=0, atol=off)
        assert np.array_equal(sharded == 0, whole == 0)
    for kind in ("pearson", "kendall", "none"):
        whole, sharded = (finish(comparing_features(of, kind)) for of in parts)
        np.testing.assert_allclose(sharded, whole, rtol=0, atol=off)


@settings(max_examples=6)
@given(
    st.integers(1, 90),
    st.integers(0, 3),
    st.sampled_from(["squared_hinge", "logistic", "least_squares"]),
)
def test_iterations_are_those_of_the_whole(
    documents: int, seed: int, loss: LossName
) -> None:
    data = problem(seed=seed)
    method = FSMRank(lambda1=0.5, lambda2=1e-3, loss=loss, max_iter=25)
    with threads.at_most(1):
        whole, sharded = steps(method, data), steps(method, cut(data, documents))
    for one, other in zip(whole, sharded, strict=True):
        # The same gradient steps, rounded another way 25 times; the line search halves them where it did.
        np.testing.assert_allclose(other.criterion, one.criterion, rtol=1e-9)
        np.testing.assert_allclose(other.coef, one.coef, rtol=0, atol=1e-8)


@settings(max_examples=3)
@given(st.integers(1, 90))
def test_the_path_is_that_of_the_whole(documents: int) -> None:
    data = problem(seed=1)
    for method in (FSMRankTop(3, max_iter=25), FSMSVM(3, max_iter=25)):
        with threads.at_most(1):
            whole, sharded = steps(method, data), steps(method, cut(data, documents))
        assert [step.selected for step in sharded] == [step.selected for step in whole]
        for one, other in zip(whole, sharded, strict=True):
            # RankSVM's gap is at most 1e-6 of its objective P, which is 1-strongly convex: both are within
            # sqrt(2 gap) of the minimum. FSMRank's weights are closer than that.
            gap = 1e-6 * one.criterion
            assert abs(other.criterion - one.criterion) <= gap
            assert float(np.linalg.norm(other.coef - one.coef)) <= 2.0 * np.sqrt(
                2.0 * gap
            )


@EVERY_METHOD
def test_the_same_bits_everywhere(method: LinearRanker, tmp_path: Path) -> None:
    assert_same_everywhere(method, problem(60), tmp_path)
    assert_one_shard_is_whole(method, problem())
