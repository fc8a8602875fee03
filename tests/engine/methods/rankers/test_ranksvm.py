"""RankSVM against scipy's general optimisers on the explicit pairs, and its gap against the truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ordering import ranking
from pair_oracles import (
    differences,
    hinge_objective,
    least_hinge,
    least_squared_hinge,
    pair_weights,
    squared_hinge_objective,
)
from strategies import Problem, problems

from rankstudio.engine import RankSVM
from rankstudio.engine.errors import ParameterError

EXPONENTS = st.integers(-8, 6)


@given(problems(), EXPONENTS)
def test_squared_hinge_reaches_the_minimum_on_explicit_pairs(
    problem: Problem, exponent: int
) -> None:
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
        dual = (
            float(alpha.sum())
            - 0.5 * float(weights @ weights)
            - float(alpha @ alpha) / (4.0 * C)
        )
        assert step.gap == pytest.approx(
            step.criterion - dual, rel=1e-6, abs=1e-9 * step.criterion
        )
        steps.append(step)
    assert steps[0].gap > 1e-4 * steps[0].criterion, "more than rounding"


@given(
    problems(),
    EXPONENTS,
    st.sampled_from(["none", "size", "pairs"]),
    st.sampled_from(
        ["squared_hinge auto", "hinge auto", "hinge newton", "hinge bundle"]
    ),
)
def test_both_losses_of_weighted_pairs_reach_the_minimum_on_explicit_pairs(
    problem: Problem, exponent: int, weighting: str, way: str
) -> None:
    loss, solver = way.split()
    X, y, qid, _ = problem
    D, C = differences(X, y, qid), 2.0**exponent * pair_weights(y, qid, weighting)
    objective, oracle, tol = {
        "squared_hinge": (squared_hinge_objective, least_squared_hinge, 1e-10),
        "hinge": (hinge_objective, least_hinge, 1e-7),
    }[loss]
    method = RankSVM(
        C=2.0**exponent, loss=loss, weighting=weighting, solver=solver, tol=tol
    )
    fitted = method.fit(X, y, qid=qid)
    reached, least = objective(D, C, fitted.coef_), oracle(D, C)
    assert fitted.objective_ == pytest.approx(reached, rel=1e-9, abs=1e-12)
    assert reached <= least * (1 + 1e-6) + 1e-12
    # The oracle's minimum is from above, and less accurate than the gap.
    assert least <= reached * (1 + 1e-4) + 1e-9
    assert fitted.objective_ - fitted.gap_ <= least * (1 + 1e-7) + 1e-12


def test_a_weighted_query_counts_as_much_as_another_however_long_it_is() -> None:
    X, y, qid = ranking(200, 4, 5)
    # each document of a query twice
    long = np.concatenate([np.arange(200), np.flatnonzero(qid == 0)])
    again, expected = (
        RankSVM(weighting="pairs", tol=1e-12).fit(X[rows], y[rows], qid=qid[rows]).coef_
        for rows in (long, np.arange(200))
    )
    # C multiplies the total weight, which is the number of pairs: four times those of the first query.
    of_query = differences(X[qid == 0], y[qid == 0], qid[qid == 0]).shape[0]
    p = differences(X, y, qid).shape[0]
    scaled = (
        RankSVM(C=(p + 3 * of_query) / p, weighting="pairs", tol=1e-12)
        .fit(X, y, qid=qid)
        .coef_
    )
    assert again == pytest.approx(scaled, abs=1e-6)
    assert again != pytest.approx(expected, abs=1e-6)


def test_preferences_have_their_own_weights() -> None:
    X, _, qid = ranking(20, 3, 2)
    with pytest.raises(ParameterError, match="preferences"):
        RankSVM(weighting="size").fit(X, preferences=[(0, 1)], qid=qid)


@pytest.mark.parametrize("C", [1e-6, 1e-3, 1.0, 100.0])
def test_both_hinge_solvers_agree_on_more_data(C: float) -> None:
    X, y, qid = ranking(600, 8, 30)
    newton = RankSVM(C=C, loss="hinge", solver="newton", tol=1e-6).fit(X, y, qid=qid)
    bundle = RankSVM(C=C, loss="hinge", solver="bundle", tol=1e-6).fit(X, y, qid=qid)
    both = RankSVM(C=C, loss="hinge", tol=1e-6).fit(X, y, qid=qid)
    for fitted in (newton, bundle, both):
        assert fitted.objective_ == pytest.approx(newton.objective_, rel=3e-6)
        assert fitted.gap_ <= 1e-6 * fitted.objective_


@pytest.mark.parametrize(
    "parameters", [{}, {"loss": "hinge"}, {"loss": "hinge", "solver": "bundle"}]
)
def test_data_without_a_pair_gives_a_model_of_zeros(parameters: dict) -> None:
    fitted = RankSVM(**parameters).fit(
        np.eye(4), np.ones(4), qid=np.array([1, 1, 2, 2])
    )
    assert (fitted.coef_ == 0).all()
    assert (fitted.objective_, fitted.gap_) == (0.0, 0.0)


def test_the_bundle_solver_is_for_the_hinge_loss() -> None:
    message = (
        "solver: expected auto or newton, with the loss squared_hinge, got 'bundle'"
    )
    with pytest.raises(ParameterError, match=message):
        RankSVM(solver="bundle").fit(np.eye(3), np.arange(3.0), qid=[1, 1, 2])
