"""Sums over preferences against those of labels and of listed pairs, and RankSVM on them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_oracles import hinge_objective, least_hinge, least_squared_hinge, squared_hinge_objective
from preference_oracles import preferred
from strategies import Problem

from rankstudio.engine import RankSVM
from rankstudio.engine.arithmetic.optimisers import truncated_newton
from rankstudio.engine.arithmetic.pair_losses import smoothed_hinge
from rankstudio.engine.arithmetic.pairs import Pairs, PreferencePairs
from rankstudio.engine.data.preferences.preferences import Preferences

Given = tuple[Problem, Preferences]


def test_all_pairs_of_labels_have_the_sums_of_the_labels() -> None:
    rng = np.random.default_rng(0)
    ptr = np.array([0, 5, 6, 14])
    query = np.repeat(np.arange(3), np.diff(ptr))
    y, scores, values = rng.integers(0, 3, 14).astype(float), rng.normal(size=14), rng.normal(size=14)
    i, j = np.nonzero((query[:, None] == query) & (y[:, None] > y))
    shuffled = rng.permutation(i.size)
    of_labels, listed = Pairs(y, ptr), PreferencePairs(Preferences(i[shuffled], j[shuffled]), ptr)
    assert listed.n_pairs == of_labels.n_pairs
    np.testing.assert_allclose(listed.degrees, of_labels.degrees)
    for margin in (1.0, 0.3, -0.5):
        ours, theirs = listed.at(scores, margin), of_labels.at(scores, margin)
        np.testing.assert_allclose(ours.counts, theirs.counts)
        np.testing.assert_allclose(ours.sums, theirs.sums, atol=1e-12)
        np.testing.assert_allclose(ours.laplacian(values), theirs.laplacian(values), atol=1e-12)
    assert listed.hinge(scores).loss == pytest.approx(of_labels.hinge(scores).loss)
    np.testing.assert_allclose(listed.hinge_at_zero.slopes, of_labels.hinge_at_zero.slopes)
    ours, theirs = smoothed_hinge(listed, scores, 0.1), smoothed_hinge(of_labels, scores, 0.1)
    assert ours.loss == pytest.approx(theirs.loss)
    assert ours.bending(values) == pytest.approx(theirs.bending(values))


def repeated(given_: Given) -> tuple[np.ndarray, np.ndarray, np.ndarray, Preferences]:
    """Return X, queries, differences as often as their weight says, and the preferences: of half weights."""
    problem, preferences = given_
    D = problem.X[preferences.winner] - problem.X[preferences.loser]
    return problem.X, problem.qid, np.repeat(D, np.round(2 * preferences.weight).astype(int), 0), preferences


@given(preferred(), st.integers(-6, 5))
def test_squared_hinge_reaches_the_minimum_on_the_preferences(given_: Given, exponent: int) -> None:
    X, qid, D, preferences = repeated(given_)
    C = 2.0**exponent
    fitted = RankSVM(C=2 * C, tol=1e-10).fit(X, qid=qid, preferences=preferences)
    reached = squared_hinge_objective(D, C, fitted.coef_)
    assert fitted.objective_ == pytest.approx(reached, rel=1e-9, abs=1e-12)
    assert reached == pytest.approx(least_squared_hinge(D, C), rel=1e-6, abs=1e-12)


@given(preferred(), st.integers(-6, 5), st.sampled_from(["auto", "newton", "bundle"]))
def test_hinge_reaches_the_minimum_on_the_preferences(given_: Given, exponent: int, solver: str) -> None:
    X, qid, D, preferences = repeated(given_)
    C = 2.0**exponent
    fitted = RankSVM(C=2 * C, loss="hinge", solver=solver, tol=1e-7)
    fitted.fit(X, qid=qid, preferences=preferences)
    reached = hinge_objective(D, C, fitted.coef_)
    least = least_hinge(D, C)
    assert fitted.objective_ == pytest.approx(reached, rel=1e-9, abs=1e-12)
    assert reached <= least * (1 + 1e-6) + 1e-12
    # The dual value divides sums of hinges, with their rounding, by the width of the smoothing.
    magnitude = C * len(D) * (1.0 + 2.0 * float(np.abs(X @ fitted.coef_).max()))
    rounding = np.finfo(float).eps * magnitude / truncated_newton._NARROWEST
    assert fitted.objective_ - fitted.gap_ <= least * (1 + 1e-12) + rounding
