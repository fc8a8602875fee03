"""Losses over pairs by shards: the minimum of the whole, within what the optimisers' tolerance allows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sharded_problems import assert_one_shard_is_whole, assert_same_everywhere, cut, problem, steps

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.rankers.base import ConvergingRanker
from rankstudio.engine.methods.rankers.listnet import ListNet
from rankstudio.engine.methods.rankers.ranksvm import RankSVM
from rankstudio.engine.methods.rankers.svm_map import SVMMAP
from rankstudio.engine.methods.shards.pair_losses import pairs_of
from rankstudio.engine.querywise.pair_losses import PairLoss, SmoothedHinge, SquaredHinge
from rankstudio.engine.steps import Iteration, finish
from rankstudio.engine.support import threads

RANKERS: list[ConvergingRanker] = [
    RankSVM(C=0.5, tol=1e-9),
    RankSVM(C=1e-3, loss="hinge", tol=1e-6),
    RankSVM(C=0.5, loss="hinge", solver="newton", tol=1e-6),
    RankSVM(C=0.1, loss="hinge", solver="bundle", tol=1e-4),
    SVMMAP(C=5.0),
]


@given(
    st.sampled_from([SquaredHinge(), SmoothedHinge(0.3)]),
    st.integers(1, 90),
    st.integers(0, 5),
    st.sampled_from([(0, 1, 2, 3, 4), (3, 0)]),
)
def test_sums_are_those_of_the_whole(
    loss: PairLoss, documents: int, seed: int, columns: tuple[int, ...]
) -> None:
    data = problem(seed=seed)
    rng = np.random.default_rng(seed)
    w, v = rng.standard_normal((2, len(columns)))
    found = []
    for of in (data, cut(data, documents)):
        with pairs_of(of) as every:
            pairs = every.narrowed(columns)
            at = finish(pairs.smooth(loss, pairs.scores(w)))
            d = pairs.scores(v)
            tangent = finish(pairs.tangent(pairs.scores(w)))
            found.append(
                (
                    finish(pairs.count()),
                    at.loss,
                    at.n_curved,
                    at.hinges,
                    at.largest,
                    at.slope(d),
                    finish(pairs.bending(at, d)),
                    pairs.weigh(at.slopes),
                    finish(pairs.curvature(at, v)),
                    tangent.loss,
                    tangent.offset,
                    pairs.weigh(tangent.slopes),
                )
            )
    for one, other in zip(*found, strict=True):
        scale = np.abs(one).max()
        # Sums over at most 30 * 11²/2 pairs, each rounded relative to scores times features below 1e3.
        np.testing.assert_allclose(other, one, rtol=1e-11, atol=1e-10 * max(1.0, scale))


@pytest.mark.parametrize("method", RANKERS, ids=str)
@settings(max_examples=6)
@given(documents=st.integers(1, 90), seed=st.integers(0, 3))
def test_the_minimum_is_that_of_the_whole(method: ConvergingRanker, documents: int, seed: int) -> None:
    data = problem(seed=seed)
    with threads.at_most(1):
        whole, sharded = steps(method, data)[-1], steps(method, cut(data, documents))[-1]
    assert isinstance(whole, Iteration)
    assert isinstance(sharded, Iteration)
    assert whole.converged
    assert sharded.converged
    # P is 1-strongly convex: ½||w - w*||² <= P(w) - P(w*) <= gap, for both.
    distance = float(np.linalg.norm(sharded.coef - whole.coef))
    assert distance <= np.sqrt(2.0 * whole.gap) + np.sqrt(2.0 * sharded.gap) + 1e-9
    assert abs(sharded.criterion - whole.criterion) <= whole.gap + sharded.gap + 1e-9


@pytest.mark.parametrize("method", RANKERS, ids=str)
def test_the_same_bits_everywhere(method: ConvergingRanker, tmp_path: Path) -> None:
    assert_same_everywhere(method, problem(60), tmp_path)
    assert_one_shard_is_whole(method, problem())


def test_another_kernel_needs_the_documents_together() -> None:
    with pytest.raises(ParameterError, match="linear, for data of several shards"):
        steps(RankSVM(kernel="rbf"), cut(problem(), 20))


@settings(max_examples=10)
@given(st.integers(1, 90), st.integers(0, 5))
def test_listnet_comes_to_the_minimum_of_the_whole(documents: int, seed: int) -> None:
    data, method = problem(seed=seed), ListNet(regularization=0.5, tol=1e-9)
    with threads.at_most(1):
        whole, sharded = steps(method, data)[-1], steps(method, cut(data, documents))[-1]
    # The objective is λ-strongly convex: ||w - w*|| <= ||gradient|| / λ, the gradient being 1e-9 of its
    # length at 0, which is some hundred times the features' spread of 30.
    np.testing.assert_allclose(sharded.coef, whole.coef, rtol=0, atol=2 * 1e-9 * 1e4 / 0.5)


def test_listnet_has_the_same_bits_everywhere(tmp_path: Path) -> None:
    assert_same_everywhere(ListNet(), problem(60), tmp_path)
    assert_one_shard_is_whole(ListNet(), problem())
