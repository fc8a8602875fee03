"""RankSVM against scipy's general optimisers on the explicit pairs, and its gap against the truth."""

import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_oracles import (
    differences,
    hinge_objective,
    least_hinge,
    least_squared_hinge,
    pair_weights,
    squared_hinge_objective,
)
from sklearn.exceptions import ConvergenceWarning
from strategies import Problem, problems

from rankstudio.engine import RankSVM
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.steps import Iteration

EXPONENTS = st.integers(-8, 6)


@given(problems(), EXPONENTS)
def test_squared_hinge_reaches_the_minimum_on_explicit_pairs(problem: Problem, exponent: int) -> None:
    X, y, qid, _ = problem
    C, D = 2.0**exponent, differences(X, y, qid)
    fitted = RankSVM(C=C, tol=1e-10).fit(X, y, qid=qid)
    reached = squared_hinge_objective(D, C, fitted.coef_)
    assert fitted.objective_ == pytest.approx(reached, rel=1e-9, abs=1e-12)
    least = least_squared_hinge(D, C)
    assert reached == pytest.approx(least, rel=1e-6, abs=1e-12)
    assert fitted.objective_ - fitted.gap_ <= least * (1 + 1e-9) + 1e-12


def test_the_gap_of_a_step_is_that_to_the_value_of_the_dual() -> None:
    rng = np.random.default_rng(4)
    X, qid, C = rng.normal(size=(60, 5)), np.arange(60) // 10, 3.0
    y, steps = rng.integers(0, 3, 60).astype(float), []
    D = differences(X, y, qid)
    for step in RankSVM(C=C, tol=1e-9).steps(X, y, qid=qid):
        alpha = 2.0 * C * np.maximum(0.0, 1.0 - D @ step.coef)  # feasible for the dual
        weights = D.T @ alpha
        dual = float(alpha.sum()) - 0.5 * float(weights @ weights) - float(alpha @ alpha) / (4.0 * C)
        assert step.gap == pytest.approx(step.criterion - dual, rel=1e-6, abs=1e-9 * step.criterion)
        steps.append(step)
    assert steps[0].gap > 1e-4 * steps[0].criterion, "more than rounding"


@given(problems(), EXPONENTS, st.sampled_from(["auto", "newton", "bundle"]))
def test_hinge_reaches_the_minimum_on_explicit_pairs(problem: Problem, exponent: int, solver: str) -> None:
    X, y, qid, _ = problem
    C, D = 2.0**exponent, differences(X, y, qid)
    fitted = RankSVM(C=C, loss="hinge", solver=solver, tol=1e-7).fit(X, y, qid=qid)
    reached = hinge_objective(D, C, fitted.coef_)
    least = least_hinge(D, C)
    assert fitted.objective_ == pytest.approx(reached, rel=1e-9, abs=1e-12)
    assert reached <= least * (1 + 1e-6) + 1e-12
    # The oracle's minimum is from above, and less accurate than the gap.
    assert least <= reached * (1 + 1e-4) + 1e-9
    assert fitted.objective_ - fitted.gap_ <= least * (1 + 1e-7) + 1e-12


@given(problems(), EXPONENTS, st.sampled_from(["size", "pairs"]), st.sampled_from(["squared_hinge", "hinge"]))
def test_weighted_losses_reach_the_minimum_on_explicit_pairs(
    problem: Problem, exponent: int, weighting: str, loss: str
) -> None:
    X, y, qid, _ = problem
    D, C = differences(X, y, qid), 2.0**exponent * pair_weights(y, qid, weighting)
    objective, oracle, tol = {
        "squared_hinge": (squared_hinge_objective, least_squared_hinge, 1e-10),
        "hinge": (hinge_objective, least_hinge, 1e-7),
    }[loss]
    fitted = RankSVM(C=2.0**exponent, loss=loss, weighting=weighting, tol=tol).fit(X, y, qid=qid)
    reached, least = objective(D, C, fitted.coef_), oracle(D, C)
    assert fitted.objective_ == pytest.approx(reached, rel=1e-9, abs=1e-12)
    assert reached <= least * (1 + 1e-6) + 1e-12
    # The oracle's minimum is from above, and less accurate than the gap.
    assert least <= reached * (1 + 1e-4) + 1e-9
    assert fitted.objective_ - fitted.gap_ <= least * (1 + 1e-7) + 1e-12


def test_a_weighted_query_counts_as_much_as_another_however_long_it_is() -> None:
    X, y, qid = ranking(200, 4, 5)
    long = np.concatenate([np.arange(200), np.flatnonzero(qid == 0)])  # each document of a query twice
    again, expected = (
        RankSVM(weighting="pairs", tol=1e-12).fit(X[rows], y[rows], qid=qid[rows]).coef_
        for rows in (long, np.arange(200))
    )
    # C multiplies the total weight, which is the number of pairs: four times those of the first query.
    of_query = differences(X[qid == 0], y[qid == 0], qid[qid == 0]).shape[0]
    p = differences(X, y, qid).shape[0]
    scaled = RankSVM(C=(p + 3 * of_query) / p, weighting="pairs", tol=1e-12).fit(X, y, qid=qid).coef_
    assert again == pytest.approx(scaled, abs=1e-6)
    assert again != pytest.approx(expected, abs=1e-6)


def test_preferences_have_their_own_weights() -> None:
    X, _, qid = ranking(20, 3, 2)
    with pytest.raises(ParameterError, match="preferences"):
        RankSVM(weighting="size").fit(X, preferences=[(0, 1)], qid=qid)


def ranking(m: int, n: int, queries: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X, qid = rng.random((m, n)), np.sort(rng.integers(0, queries, m))
    return X, np.clip(np.round(2 * X[:, 0] + X[:, 1] + rng.normal(size=m) - 1), 0, 2), qid


@pytest.mark.parametrize("C", [1e-6, 1e-3, 1.0, 100.0])
def test_both_hinge_solvers_agree_on_more_data(C: float) -> None:
    X, y, qid = ranking(600, 8, 30)
    newton = RankSVM(C=C, loss="hinge", solver="newton", tol=1e-6).fit(X, y, qid=qid)
    bundle = RankSVM(C=C, loss="hinge", solver="bundle", tol=1e-6).fit(X, y, qid=qid)
    both = RankSVM(C=C, loss="hinge", tol=1e-6).fit(X, y, qid=qid)
    for fitted in (newton, bundle, both):
        assert fitted.objective_ == pytest.approx(newton.objective_, rel=3e-6)
        assert fitted.gap_ <= 1e-6 * fitted.objective_


@pytest.mark.parametrize("parameters", [{}, {"loss": "hinge"}, {"loss": "hinge", "solver": "bundle"}])
def test_steps_fall_and_the_last_one_is_the_model(parameters: dict) -> None:
    X, y, qid = ranking(400, 5, 20)
    method = RankSVM(C=0.01, **parameters)
    steps = list(method.steps(X, y, qid=qid))
    assert all(isinstance(step, Iteration) for step in steps)
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    criteria = [step.criterion for step in steps]
    assert all(b <= a * (1 + 1e-12) for a, b in pairwise(criteria))
    fitted = method.fit(X, y, qid=qid)
    assert (fitted.coef_ == steps[-1].coef).all()
    assert (fitted.objective_, fitted.gap_, fitted.n_iter_) == (criteria[-1], steps[-1].gap, len(steps))
    assert len(steps) <= method.n_steps(5)


def test_a_query_of_many_distinct_labels_takes_seconds_at_most() -> None:
    rng = np.random.default_rng(0)
    m = 20_000
    X = rng.random((m, 10))
    y = np.argsort(np.argsort(X @ rng.normal(size=10) + rng.normal(size=m))).astype(float)
    RankSVM(max_iter=1000).fit(X[:50], y[:50], qid=np.ones(50))  # compiles
    for loss in ("squared_hinge", "hinge"):
        began = time.process_time()
        fitted = RankSVM(C=1e-3, loss=loss, tol=1e-4).fit(X, y, qid=np.ones(m))
        assert time.process_time() - began < 10.0
        assert fitted.gap_ <= 1e-4 * fitted.objective_


@pytest.mark.parametrize("parameters", [{}, {"loss": "hinge"}, {"loss": "hinge", "solver": "bundle"}])
def test_data_without_a_pair_gives_a_model_of_zeros(parameters: dict) -> None:
    fitted = RankSVM(**parameters).fit(np.eye(4), np.ones(4), qid=np.array([1, 1, 2, 2]))
    assert (fitted.coef_ == 0).all()
    assert (fitted.objective_, fitted.gap_) == (0.0, 0.0)


def test_the_order_of_rows_and_an_offset_of_a_query_do_not_matter() -> None:
    X, y, qid = ranking(300, 4, 15)
    rng = np.random.default_rng(1)
    shuffled = rng.permutation(len(y))
    offset = rng.normal(size=(qid.max() + 1, 4))[qid]
    expected = RankSVM(C=0.1, tol=1e-10).fit(X, y, qid=qid).coef_
    other = RankSVM(C=0.1, tol=1e-10).fit((X + offset)[shuffled], y[shuffled], qid=qid[shuffled]).coef_
    np.testing.assert_allclose(other, expected, rtol=1e-4, atol=1e-5)


def test_stopping_early_warns_with_the_gap() -> None:
    X, y, qid = ranking(300, 4, 15)
    with pytest.warns(ConvergenceWarning, match="after 1 iterations with a duality gap .* max_iter, now 1"):
        fitted = RankSVM(loss="hinge", max_iter=1).fit(X, y, qid=qid)
    assert fitted.n_iter_ == 1


def test_the_bundle_solver_is_for_the_hinge_loss() -> None:
    message = "solver: expected auto or newton, with the loss squared_hinge, got 'bundle'"
    with pytest.raises(ParameterError, match=message):
        RankSVM(solver="bundle").fit(np.eye(3), np.arange(3.0), qid=[1, 1, 2])
