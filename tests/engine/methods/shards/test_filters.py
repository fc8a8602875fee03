"""Filters by shards: the order, scores and models of the whole."""

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
    error_bound,
    problem,
    steps,
    weights_bound,
)

from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.selection.expected_divergence import ExpectedDivergence
from rankstudio.engine.methods.selection.gas import GAS
from rankstudio.engine.methods.selection.l1_path import L1Path
from rankstudio.engine.methods.selection.recursive_elimination import (
    RecursiveElimination,
)
from rankstudio.engine.methods.selection.single_feature import (
    MutualInformation,
    SingleFeatureRanking,
    measuring_features,
)
from rankstudio.engine.methods.shards.training_data import training_data
from rankstudio.engine.support.memory import within
from rankstudio.engine.support.work import finish

FILTERS: list[LinearRanker] = [
    SingleFeatureRanking(),
    SingleFeatureRanking(4, measure="Disagreement", regularization=0.25),
    SingleFeatureRanking(2, measure="MAP", direction="descending", groups=((0, 2),)),
    ExpectedDivergence(4),
    ExpectedDivergence(density="released"),
    ExpectedDivergence(3, kde="exact"),
    MutualInformation(2, n_bins=4),
    L1Path(3),
    RecursiveElimination(3),
    RecursiveElimination(2, ranker="ranksvm"),
    GAS(4),
    GAS(3, importance="ndcg@10", c=0.5),
]
# of a method that stands beside them
VARIANTS = [FILTERS[at] for at in (2, 4, 5, 8, 11)]


@pytest.mark.parametrize("method", FILTERS, ids=str)
@settings(max_examples=5)
@given(documents=st.integers(1, 90), seed=st.integers(0, 5))
def test_order_and_models_are_those_of_the_whole(
    method: LinearRanker, documents: int, seed: int
) -> None:
    data, regularization = (
        problem(seed=seed),
        method.get_params().get("regularization", 1.0),
    )
    whole, sharded = steps(method, data), steps(method, cut(data, documents))
    assert [step.selected for step in sharded] == [step.selected for step in whole]
    for one, other in zip(whole, sharded, strict=True):
        off = weights_bound(data.centred, regularization, one.coef)
        assert float(np.linalg.norm(other.coef - one.coef)) <= off
        assert abs(other.criterion - one.criterion) <= error_bound(
            data.centred, regularization, one.criterion
        )
        # Means of at most m values up to 1, or for the L1 path sums of products with residuals, both twice.
        size = np.linalg.norm(data.centred[0]) * np.linalg.norm(data.centred[1])
        largest = size if isinstance(method, L1Path) else 1.0
        within = 2 * data.y.size * EPS * largest
        np.testing.assert_allclose(
            other.candidates, one.candidates, rtol=0, atol=within
        )


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(m, marks=pytest.mark.thorough if m in VARIANTS else ())
        for m in FILTERS
    ],
    ids=str,
)
def test_the_same_bits_everywhere(method: LinearRanker, tmp_path: Path) -> None:
    assert_same_everywhere(method, problem(60), tmp_path)
    assert_one_shard_is_whole(method, problem())


@given(st.integers(1, 90))
def test_measures_of_single_features_are_means_over_all_queries(documents: int) -> None:
    data = problem(seed=3)
    values, directions = finish(measuring_features(cut(data, documents), "NDCG@10"))
    expected, towards = finish(measuring_features(training_data(data), "NDCG@10"))
    # A mean of 30 values from 0 to 1, each the same number.
    np.testing.assert_allclose(values, expected, rtol=30 * np.finfo(float).eps)
    assert np.array_equal(directions, towards)


@settings(max_examples=5)
@given(
    st.integers(1, 90), st.integers(0, 5), st.sampled_from(["normalised", "released"])
)
def test_densities_are_compared_at_the_validation_values(
    documents: int, seed: int, density: str
) -> None:
    data = problem(seed=seed, rounded=False)
    # Of the third feature all are far from all training values, the fourth is constant in grade 0.
    at = np.random.default_rng(seed).standard_normal((40, 5))
    at[:, 2] += 1e3
    X = data.X.copy()
    X[data.y == 0, 3] = 0.5
    data = replace(data, X=X, validation=at)
    method = ExpectedDivergence(density=density)
    whole, sharded = steps(method, data), steps(method, cut(data, documents))
    assert [step.selected for step in sharded] == [step.selected for step in whole]
    # sums of a measure
    np.testing.assert_allclose(sharded[0].candidates, whole[0].candidates, rtol=1e-12)


def test_features_are_compared_as_many_at_a_time_as_memory_allows() -> None:
    data = problem(seed=2, rounded=False)
    expected = steps(ExpectedDivergence(), data)
    with within(1.0):
        found = steps(ExpectedDivergence(), cut(data, 30))
    # sums of a measure
    np.testing.assert_allclose(found[0].candidates, expected[0].candidates, rtol=1e-12)


@given(st.integers(1, 90), st.integers(0, 5), st.booleans())
def test_mutual_information_has_the_bits_of_the_whole(
    documents: int, seed: int, rounded: bool
) -> None:
    data = problem(seed=seed, rounded=rounded)
    method = MutualInformation(n_bins=7)
    whole, sharded = steps(method, data)[0], steps(method, cut(data, documents))[0]
    assert np.array_equal(sharded.candidates, whole.candidates)
