"""The logistic loss and least squares of pairs against the explicit list of pairs."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pair_oracles import pair_weights, pairs_of
from scipy.optimize import approx_fprime
from scipy.special import expit
from strategies import Problem, problems

from rankstudio.engine.arithmetic.pair_losses import (
    LinearPairs,
    LossAtScores,
    LossName,
    pair_loss,
)
from rankstudio.engine.arithmetic.pairs import Pairs, PairWeighting
from rankstudio.engine.arithmetic.query_data import group

Array = NDArray[np.float64]
EPS = float(np.finfo(float).eps)


class PlainLoss(NamedTuple):
    """A loss of a difference of scores, with its first and second derivative."""

    value: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    bend: Callable[[Array], Array]


PLAIN: dict[LossName, PlainLoss] = {
    "logistic": PlainLoss(
        lambda d: np.logaddexp(0.0, -d),
        lambda d: -expit(-d),
        lambda d: expit(d) * expit(-d),
    ),
    "least_squares": PlainLoss(
        lambda d: (1.0 - d) ** 2,
        lambda d: -2.0 * (1.0 - d),
        lambda d: np.full_like(d, 2.0),
    ),
}
NAMES: list[LossName] = ["logistic", "least_squares"]
WEIGHTINGS = st.sampled_from(["none", "size", "pairs"])


def weighted_pairs(problem: Problem, kind: str) -> tuple[Pairs, Array, Array, Array]:
    """Return the pairs, a list of them (p, 2), their weights (p,) and the labels in grouped order."""
    data = group(problem.X, problem.y, problem.qid)
    qid = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
    weighting: PairWeighting | None = None
    if kind != "none":
        chosen: Literal["size", "pairs"] = "size" if kind == "size" else "pairs"
        weighting = PairWeighting.over(chosen, data.y, data.ptr)
    pairs = Pairs(data.y, data.ptr, weighting=weighting)
    return pairs, pairs_of(data.y, qid), pair_weights(data.y, qid, kind), data.X


def product(loss_at_scores: LossAtScores, pairs: Pairs, values: Array) -> Array:
    """Return the Hessian in the scores times values."""
    out = np.full_like(values, np.nan)
    loss_at_scores.curvature_of(values, 0, pairs.ptr.size - 1, out)
    return out


@given(
    problems(),
    st.integers(0, 99),
    st.sampled_from([0.0, 0.3, 2.0, 40.0]),
    st.sampled_from(NAMES),
    WEIGHTINGS,
)
def test_loss_gradient_and_hessian_are_those_of_the_listed_pairs(
    problem: Problem, seed: int, scale: float, name: LossName, kind: str
) -> None:
    pairs, listed, weights, _ = weighted_pairs(problem, kind)
    rng = np.random.default_rng(seed)
    s = scale * rng.normal(size=problem.y.size)
    v = rng.normal(size=s.size)
    i, j = listed.T
    d = s[i] - s[j]
    plain = PLAIN[name]
    loss_at_scores = pair_loss(name)(pairs, s)
    # A sum of p terms, each with some roundings of numbers as large as the squared scores.
    largest = (1.0 + 2.0 * float(np.abs(s).max())) ** 2
    off = 8 * EPS * largest * (1.0 + len(listed)) * max(1.0, weights.max(initial=1.0))
    assert loss_at_scores.loss == pytest.approx(
        (weights * plain.value(d)).sum(), rel=0, abs=off
    )
    slopes = weights * plain.slope(d)
    gradient = np.bincount(i, slopes, s.size) - np.bincount(j, slopes, s.size)
    np.testing.assert_allclose(loss_at_scores.slopes, gradient, rtol=0, atol=off)
    bends = weights * plain.bend(d) * (v[i] - v[j])
    hessian = np.bincount(i, bends, s.size) - np.bincount(j, bends, s.size)
    off *= 1.0 + 2.0 * float(np.abs(v).max())
    np.testing.assert_allclose(
        product(loss_at_scores, pairs, v), hessian, rtol=0, atol=off
    )
    along = float((weights * plain.bend(d) * (v[i] - v[j]) ** 2).sum())
    assert loss_at_scores.bending(v) == pytest.approx(
        along, rel=0, abs=s.size * off * 4
    )
    assert loss_at_scores.slope(v) == pytest.approx(
        float(gradient @ v), rel=0, abs=s.size * off
    )
    # No pair curves more than the bound on which the steps of FSMRank are based.
    greatest = loss_at_scores.bend * float((weights * (v[i] - v[j]) ** 2).sum())
    assert loss_at_scores.bending(v) <= greatest * (1.0 + 1e-9) + off
    assert loss_at_scores.n_curved == int(pairs.n_pairs)
    assert loss_at_scores.hinges == (0.0, 0.0)
    assert loss_at_scores.largest == np.abs(s).max()


@pytest.mark.parametrize("name", NAMES)
def test_the_gradient_is_that_of_finite_differences(name: LossName) -> None:
    rng = np.random.default_rng(1)
    y, ptr = rng.integers(0, 4, 30).astype(float), np.array([0, 4, 5, 18, 30])
    pairs, s = Pairs(y, ptr), rng.normal(size=30)

    def value(scores: Array) -> float:
        return pair_loss(name)(pairs, scores).loss

    # The loss is off by eps times its size, and each difference by bend/2 step per pair.
    step = 1e-6
    off = 4 * EPS * value(s) / step + 2.0 * step * 30
    found = pair_loss(name)(pairs, s).slopes
    np.testing.assert_allclose(found, approx_fprime(s, value, step), rtol=0, atol=off)
    assert off < 1e-3 * np.abs(found).max()


@given(problems(), st.integers(0, 99), st.sampled_from(NAMES))
def test_the_curvature_of_weights_is_that_of_explicit_differences(
    problem: Problem, seed: int, name: LossName
) -> None:
    pairs, listed, _, X = weighted_pairs(problem, "none")
    rng = np.random.default_rng(seed)
    w, v = rng.normal(size=(2, X.shape[1]))
    D = X[listed[:, 0]] - X[listed[:, 1]]
    linear = LinearPairs(X, pairs)
    loss_at_scores = pair_loss(name)(pairs, linear.scores(w))
    expected = D.T @ (PLAIN[name].bend(D @ w) * (D @ v))
    off = 64 * EPS * (1 + len(D)) * problem.y.size * X.shape[1] * (1 + np.abs(v).max())
    np.testing.assert_allclose(
        linear.curvature(loss_at_scores, v), expected, rtol=0, atol=off
    )


@pytest.mark.parametrize("name", NAMES)
def test_labels_without_pairs_have_no_loss(name: LossName) -> None:
    for y in (np.ones(5), np.zeros(1), np.array([2.0, 2.0, 1.0])):
        ptr = np.arange(y.size + 1)  # queries of one document
        pairs = Pairs(y, ptr)
        loss_at_scores = pair_loss(name)(pairs, np.arange(float(y.size)))
        assert loss_at_scores.loss == 0.0
        np.testing.assert_array_equal(loss_at_scores.slopes, np.zeros(y.size))
        np.testing.assert_array_equal(
            product(loss_at_scores, pairs, np.ones(y.size)), 0.0
        )
    one_label = Pairs(np.ones(5), np.array([0, 5]))
    assert pair_loss(name)(one_label, np.arange(5.0)).loss == 0.0


def test_the_logistic_loss_does_not_overflow() -> None:
    pairs = Pairs(np.array([0.0, 1.0, 2.0]), np.array([0, 3]))
    # Pairs (1, 0), (2, 0) and (2, 1): all in the wrong order, by 1e5, 2e5 and 1e5.
    loss_at_scores = pair_loss("logistic")(pairs, np.array([2e5, 1e5, 0.0]))
    assert loss_at_scores.loss == pytest.approx(4e5, rel=4 * EPS)
    np.testing.assert_allclose(loss_at_scores.slopes, [2.0, 0.0, -2.0], rtol=4 * EPS)
    # In the right order, the loss ends where a double ends.
    loss_at_scores = pair_loss("logistic")(pairs, np.array([-2e5, 0.0, 2e5]))
    assert loss_at_scores.loss == 0.0
    np.testing.assert_array_equal(loss_at_scores.slopes, np.zeros(3))
    # Of 40 to 80 apart, it is exp(-d), which does not vanish beside 1.
    loss_at_scores = pair_loss("logistic")(pairs, np.array([0.0, 40.0, 80.0]))
    assert loss_at_scores.loss == pytest.approx(
        2 * np.exp(-40.0) + np.exp(-80.0), rel=8 * EPS
    )


@pytest.mark.parametrize("name", NAMES)
def test_threads_do_not_change_a_bit(name: LossName) -> None:
    rng = np.random.default_rng(0)
    ptr = np.concatenate([[0], np.cumsum(rng.integers(1, 80, 900))])
    y = rng.integers(0, 3, ptr[-1]).astype(float)
    s, v = rng.normal(size=(2, y.size))
    with ThreadPoolExecutor(3) as executor:
        alone, shared = Pairs(y, ptr), Pairs(y, ptr, executor, 4)
        one, other = (pair_loss(name)(pairs, s) for pairs in (alone, shared))
        assert len(alone.blocks) > 1
        assert one.loss == other.loss
        np.testing.assert_array_equal(one.slopes, other.slopes)
        assert one.bending(v) == other.bending(v)


@pytest.mark.parametrize("name", ["squared_hinge", *NAMES])
def test_losses_travel_to_other_processes(name: LossName) -> None:
    loss = pair_loss(name)
    assert pickle.loads(pickle.dumps(loss)) == loss
    assert hash(loss) == hash(pickle.loads(pickle.dumps(loss)))
