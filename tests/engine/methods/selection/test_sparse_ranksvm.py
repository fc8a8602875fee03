"""Sparse RankSVM against a general optimiser on a list of all pairs, and the conditions of the optimum."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ordering import check_conventions, ranking_problem
from scipy.optimize import minimize

from rankstudio.engine import SparseRankSVM
from rankstudio.engine.arithmetic.optimisers.concave_penalties import ConcavePenalty
from rankstudio.engine.arithmetic.optimisers.sparse_weights import (
    ScaledPairs,
    SparseProblem,
)
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.shards.pair_losses import pairs_of
from rankstudio.engine.methods.shards.training_data import training_data
from rankstudio.engine.support.work import finish

NAMES = ["l1", "mcp", "log", "lp"]
TOL = 1e-7


def differences(X: np.ndarray, y: np.ndarray, qid: np.ndarray) -> np.ndarray:
    """Return x_i - x_j of all pairs of one query with y_i > y_j."""
    pairs = [
        (i, j)
        for i in range(len(y))
        for j in range(len(y))
        if qid[i] == qid[j] and y[i] > y[j]
    ]
    first, second = np.array(pairs).T
    return np.asarray(X[first] - X[second])


def loss_and_gradient(D: np.ndarray, w: np.ndarray) -> tuple[float, np.ndarray]:
    hinges = np.maximum(0.0, 1.0 - D @ w)
    return float(np.mean(hinges**2)), -2.0 * D.T @ hinges / len(D)


def minimum(D: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Return the minimum of the loss plus costs'|w|, by L-BFGS-B on w = u - v with u, v >= 0."""
    n = costs.size

    def both(uv: np.ndarray) -> tuple[float, np.ndarray]:
        loss, gradient = loss_and_gradient(D, uv[:n] - uv[n:])
        slopes = np.concatenate((gradient + costs, costs - gradient))
        return loss + float(costs @ (uv[:n] + uv[n:])), slopes

    optimum = minimize(
        both,
        np.zeros(2 * n),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * (2 * n),
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000},
    )
    return np.asarray(optimum.x[:n] - optimum.x[n:])


def problem_of(data: tuple[np.ndarray, ...], pairs: object) -> SparseProblem:
    return SparseProblem(ScaledPairs(pairs, np.ones(data[0].shape[1])), TOL, 20_000)


@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("seed", range(3))
def test_the_weighted_l1_minimum_is_that_of_a_general_optimiser(
    share: float, seed: int
) -> None:
    data = ranking_problem(seed)
    D = differences(*data)
    largest = np.abs(loss_and_gradient(D, np.zeros(6))[1]).max()
    costs = share * largest * np.random.default_rng(seed).uniform(0.5, 1.5, 6)
    with pairs_of(training_data(group(*data))) as pairs:
        problem = problem_of(data, pairs)
        np.testing.assert_allclose(
            np.abs(finish(problem.gradient_at_zero())).max(), largest, rtol=1e-12
        )
        fitted = finish(problem.minimise_weighted_l1(costs, np.zeros(6)))
    loss, gradient = loss_and_gradient(D, fitted.w)
    np.testing.assert_allclose(
        fitted.objective, loss + costs @ abs(fitted.w), rtol=1e-12
    )
    # The conditions of the optimum, up to the tolerance and the rounding of sums over pairs.
    limit = TOL * costs.max() + 1e-12
    active = fitted.w != 0
    np.testing.assert_allclose(
        gradient[active], -costs[active] * np.sign(fitted.w[active]), atol=limit
    )
    assert (np.abs(gradient[~active]) <= costs[~active] + limit).all()
    # F is convex: it exceeds its minimum by at most the violation times the distance.
    w = minimum(D, costs)
    expected = loss_and_gradient(D, w)[0] + float(costs @ np.abs(w))
    assert fitted.objective <= expected + limit * np.abs(fitted.w - w).sum() + 1e-12
    # F exceeds that minimum, too, by what L-BFGS-B leaves: its gradient of 1e-10.
    assert expected <= fitted.objective + 1e-6


@pytest.mark.parametrize("name", ["mcp", "log", "lp"])
@pytest.mark.parametrize("seed", range(3))
def test_reweighting_never_increases_the_objective(name: str, seed: int) -> None:
    data = ranking_problem(seed)
    D = differences(*data)
    penalty = ConcavePenalty(name)
    with pairs_of(training_data(group(*data))) as pairs:
        problem = problem_of(data, pairs)
        lam = 0.1 * float(np.abs(finish(problem.gradient_at_zero())).max())
        fitted = finish(problem.minimise(penalty, lam, np.zeros(6)))
    assert len(fitted.rounds) > 2
    for value, next_value in pairwise(fitted.rounds):
        assert next_value <= value + 1e-12
    assert fitted.rounds[-1] < fitted.rounds[0]
    first = loss_and_gradient(D, fitted.l1_minimum)[0]
    np.testing.assert_allclose(
        fitted.rounds[0], first + penalty.value(fitted.l1_minimum, lam), rtol=1e-12
    )
    last = loss_and_gradient(D, fitted.w)[0] + penalty.value(fitted.w, lam)
    np.testing.assert_allclose(fitted.objective, last, rtol=1e-12)
    assert np.count_nonzero(fitted.w) <= np.count_nonzero(fitted.l1_minimum)


@given(
    st.sampled_from(NAMES),
    st.floats(0.01, 5.0),
    st.floats(0.0, 4.0),
    st.floats(0.0, 4.0),
    st.floats(0.05, 3.0),
    st.floats(0.1, 0.9),
)
def test_penalties_are_concave_with_these_slopes(
    name: str, lam: float, at: float, other: float, width: float, exponent: float
) -> None:
    penalty = ConcavePenalty(name, gamma=width, epsilon=width, exponent=exponent)
    slope = penalty.slopes(np.array([-at]), lam)[0]
    assert 0.0 <= slope <= lam
    assert penalty.slopes(np.zeros(1), lam)[0] == lam
    assert penalty.value(np.zeros(3), lam) == 0.0
    # The tangent lies above the penalty, which reweighting needs.
    value = penalty.value(np.array([at]), lam)
    rounding = 1e-12 * (1.0 + lam * (at + other))
    assert (
        penalty.value(np.array([-other]), lam)
        <= value + slope * (other - at) + rounding
    )
    # The slope is the derivative: between those of the chords on both sides.
    step = 1e-4
    after = (penalty.value(np.array([at + step]), lam) - value) / step
    assert after - 1e-8 * lam <= slope
    # g'' is at most λ/(γλ), λ/ε or λ (1 - p)/ε.
    assert slope - after <= step * max(1.0, lam) / width + 1e-8 * lam


@pytest.mark.parametrize("name", NAMES)
def test_features_come_by_the_largest_penalty_with_a_weight(name: str) -> None:
    X, y, qid = ranking_problem(3)
    X = X * [1, 30, 1, 0.1, 1, 1]
    fitted = SparseRankSVM(penalty=name, tol=1e-6).fit(X, y, qid=qid)
    weights = fitted.penalised_coefs_
    entered = np.where(
        (weights != 0).any(axis=0), np.argmax(weights != 0, axis=0), len(weights)
    )
    assert (np.diff(entered[fitted.selection_order_]) >= 0).all()
    for j in np.flatnonzero(entered < len(weights)):
        assert fitted.entry_penalties_[j] == fitted.penalties_[entered[j]]
    assert set(fitted.selection_order_[:2].tolist()) == {1, 4}
    # At each penalty, the conditions of the optimum of features with a deviation of 1.
    centred = X - np.array([X[qid == q].mean(axis=0) for q in qid])
    D = differences(X / np.sqrt(np.mean(centred**2, axis=0)), y, qid)
    scale = np.sqrt(np.mean(centred**2, axis=0))
    for lam, w in zip(fitted.penalties_, weights * scale, strict=True):
        gradient = loss_and_gradient(D, w)[1]
        if name == "l1":
            assert np.abs(gradient).max() <= lam * (1.0 + 1e-5)
        slopes = ConcavePenalty(name).slopes(w, lam)
        active = w != 0
        # Reweighting ends near, not at, a stationary point.
        np.testing.assert_allclose(
            gradient[active], -slopes[active] * np.sign(w[active]), atol=0.02 * lam
        )


def test_constant_features_and_labels() -> None:
    X, y, qid = ranking_problem()
    X[:, 4] = qid
    fitted = SparseRankSVM().fit(X, y, qid=qid)
    assert fitted.selection_order_[-1] == 4 and np.isnan(fitted.entry_penalties_[4])
    last = list(SparseRankSVM().steps(X, y, qid=qid))[-1]
    assert np.isnan(last.candidates).all()
    without = SparseRankSVM().fit(X, np.zeros(len(y)), qid=qid)
    assert without.selection_order_.tolist() == list(range(6))
    assert without.penalties_.size == 0


def test_wrong_parameters_are_refused() -> None:
    X, y, qid = ranking_problem()
    for wrong in (
        {"penalty": "l2"},
        {"gamma": 0.0},
        {"epsilon": 0.0},
        {"exponent": 1.0},
        {"n_penalties": 0},
        {"smallest_penalty": 1.0},
        {"tol": np.nan},
    ):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            SparseRankSVM(**wrong).fit(X, y, qid=qid)
    with pytest.warns(UserWarning, match="not at the minimum after 1 steps"):
        SparseRankSVM(max_iter=1).fit(X, y, qid=qid)


def test_conventions() -> None:
    check_conventions(SparseRankSVM(n_features_to_select=2))
