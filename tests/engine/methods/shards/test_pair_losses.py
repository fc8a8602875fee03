"""Losses over pairs by shards: the minimum of the whole, within what the optimisers' tolerance allows."""

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
from sklearn.base import clone

from rankstudio.engine.arithmetic.pair_losses import (
    PairLoss,
    SmoothedHinge,
    SquaredHinge,
)
from rankstudio.engine.methods.base import ConvergingRanker
from rankstudio.engine.methods.rankers.ranksvm import RankSVM
from rankstudio.engine.methods.shards.pair_losses import pairs_of
from rankstudio.engine.methods.shards.training_data import training_data
from rankstudio.engine.steps import Iteration
from rankstudio.engine.support import threads
from rankstudio.engine.support.work import finish

ListNet = estimator_class("listnet")
SVMMAP = estimator_class("svm-map")

RANKERS: list[ConvergingRanker] = [
    RankSVM(C=0.5, tol=1e-9),
    RankSVM(C=0.5, weighting="pairs", tol=1e-9),
    RankSVM(C=1e-3, loss="hinge", tol=1e-6),
    RankSVM(C=0.5, loss="hinge", weighting="size", tol=1e-6),
    RankSVM(C=0.5, loss="hinge", solver="newton", tol=1e-6),
    RankSVM(C=0.1, loss="hinge", solver="bundle", tol=1e-4),
    SVMMAP(C=5.0),
]
EVERY_RANKER = pytest.mark.parametrize(
    "method",
    [
        pytest.param(
            m,
            marks=()
            if m in (RANKERS[0], RANKERS[1], RANKERS[-1])
            else pytest.mark.thorough,
        )
        for m in RANKERS
    ],
    ids=str,
)


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
        with pairs_of(training_data(of)) as every:
            pairs = every.narrowed(columns)
            at = finish(pairs.smooth(loss, pairs.scores(w)))
            d = pairs.scores(v)
            tangent = finish(pairs.tangent(pairs.scores(w)))
            line = pairs.line(pairs.scores(w), d)
            on_line, there = finish(line.value(0.5)), finish(line.tangent(0.5))
            start = finish(line.value(0.0))
            known = (
                finish(pairs.count()),
                at.n_curved,
                at.largest,
                tangent.offset,
                there.offset,
            )
            sums = (
                (at.loss, "loss"),
                (at.hinges, "hinge"),
                (at.slope(d), "slope"),
                (finish(pairs.bending(at, d)), "bending"),
                (pairs.weigh(at.slopes), "gradient"),
                (finish(pairs.curvature(at, v)), "curvature"),
                (tangent.loss, "hinge"),
                (pairs.weigh(tangent.slopes), "plane"),
                (on_line.loss, "hinge"),
                (there.loss, "hinge"),
                (on_line.slope, "along"),
                (start.loss, "hinge"),
                (start.slope, "along"),
                (pairs.weigh(there.slopes), "plane"),
            )
            found.append((known, sums))
    (known, sums), (others, summed) = found
    assert others == known
    # Each is a sum over P pairs, m documents at most one after the other, of 2m roundings at most in either
    # order: of u, a margin and two scores, b, its second derivative, s, two scores along d, x, two features.
    P, m, b = known[0], data.y.size, max(2.0, loss.bend)
    reach = [
        2.0 * float(np.abs(data.centred[0][:, columns] @ of).max()) for of in (w, v)
    ]
    x = 2.0 * float(np.abs(data.centred[0]).max())
    u, s = 1.0 + 2.0 * (reach[0] + reach[1]), 2.0 * reach[1]
    terms = {
        "loss": b * u * u,
        "hinge": u * u,
        "slope": b * u * s,
        "bending": b * s * s,
        "gradient": b * u * x,
        "curvature": b * s * x,
        "plane": x,
        "along": s,
    }
    for (one, what), (other, _) in zip(sums, summed, strict=True):
        np.testing.assert_allclose(
            other, one, rtol=0, atol=2 * 2 * m * EPS * P * terms[what]
        )


@EVERY_RANKER
@settings(max_examples=4)
@given(documents=st.integers(1, 90), seed=st.integers(0, 3))
def test_the_minimum_is_that_of_the_whole(
    method: ConvergingRanker, documents: int, seed: int
) -> None:
    data = problem(seed=seed)
    with threads.at_most(1):
        whole, sharded = (
            steps(method, data)[-1],
            steps(method, cut(data, documents))[-1],
        )
    assert isinstance(whole, Iteration)
    assert isinstance(sharded, Iteration)
    assert whole.converged
    assert sharded.converged
    # P is 1-strongly convex: ½||w - w*||² <= P(w) - P(w*) <= gap, for both.
    distance = float(np.linalg.norm(sharded.coef - whole.coef))
    assert distance <= np.sqrt(2.0 * whole.gap) + np.sqrt(2.0 * sharded.gap) + 1e-9
    assert abs(sharded.criterion - whole.criterion) <= whole.gap + sharded.gap + 1e-9


@EVERY_RANKER
def test_the_same_bits_everywhere(method: ConvergingRanker, tmp_path: Path) -> None:
    # its bits are the same, wherever it ends
    early = clone(method).set_params(tol=1e-3)
    assert_same_everywhere(early, problem(60), tmp_path)
    assert_one_shard_is_whole(method, problem())


def test_another_kernel_looks_at_the_documents_together() -> None:
    method, data = RankSVM(C=0.1, kernel="rbf", n_basis=5, max_iter=3), problem()
    for one, other in zip(
        steps(method, cut(data, 40)), steps(method, data), strict=True
    ):
        assert one.coef.tobytes() == other.coef.tobytes()
        assert one.criterion == other.criterion


@settings(max_examples=5)
@given(st.integers(1, 90), st.integers(0, 5))
def test_listnet_comes_to_the_minimum_of_the_whole(documents: int, seed: int) -> None:
    data, method = problem(seed=seed), ListNet(regularization=0.5, tol=1e-9)
    with threads.at_most(1):
        whole, sharded = (
            steps(method, data)[-1],
            steps(method, cut(data, documents))[-1],
        )
    # The objective is λ-strongly convex, ||w - w*|| <= ||gradient|| / λ, for both; the gradient is tol times
    # that at 0, where each query adds a difference of two probability vectors times centred features.
    at_zero = (
        2.0 * (data.ptr.size - 1) * float(np.linalg.norm(data.centred[0], axis=1).max())
    )
    distance = float(np.linalg.norm(sharded.coef - whole.coef))
    assert distance <= 2.0 * method.tol * at_zero / method.regularization


def test_listnet_has_the_same_bits_everywhere(tmp_path: Path) -> None:
    assert_same_everywhere(ListNet(), problem(60), tmp_path)
    assert_one_shard_is_whole(ListNet(), problem())
