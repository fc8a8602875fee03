"""The L1 path: the conditions of its optimum, coordinate descent, and the order in which features come in."""

import numpy as np
from hypothesis import given
from oracles import centred_by_loops
from ordering import check_conventions, ranking_problem
from sklearn.linear_model import Lasso
from strategies import Problem, problems

from rankstudio.engine import L1Path


@given(problems(most_features=9))
def test_every_knot_is_an_optimum(problem: Problem) -> None:
    X, y, qid, _ = problem
    found = L1Path(scaling="none").fit(X, y, qid=qid)
    Xc, yc = centred_by_loops(X, qid), centred_by_loops(y[:, None], qid)[:, 0]
    # Sums of m products of numbers centred by sums of m: correlations that are 0 are so but for this.
    rounding = (
        4.0
        * len(y) ** 2
        * np.finfo(float).eps
        * float(np.abs(X).max() * np.abs(y).max())
    )
    near = 1e-6 * float(np.abs(Xc.T @ yc).max()) + rounding
    for alpha, w in zip(found.lasso_alphas_, found.lasso_coefs_, strict=True):
        correlation = Xc.T @ (yc - Xc @ w)
        assert np.abs(correlation).max() <= alpha + near
        active = w != 0
        np.testing.assert_allclose(
            correlation[active], alpha * np.sign(w[active]), atol=near
        )
    assert sorted(found.selection_order_.tolist()) == list(range(X.shape[1]))


def test_weights_between_knots_are_those_of_coordinate_descent() -> None:
    X, y, qid = ranking_problem()
    found = L1Path(scaling="none").fit(X, y, qid=qid)
    Xc, yc = centred_by_loops(X, qid), centred_by_loops(y[:, None], qid)[:, 0]
    middle = (found.lasso_alphas_[2] + found.lasso_alphas_[3]) / 2
    lasso = Lasso(
        alpha=middle / 120, fit_intercept=False, tol=1e-12, max_iter=100_000
    ).fit(Xc, yc)
    expected = (found.lasso_coefs_[2] + found.lasso_coefs_[3]) / 2
    np.testing.assert_allclose(lasso.coef_, expected, atol=1e-7)


def test_features_come_in_the_order_of_the_falling_penalty() -> None:
    X, y, qid = ranking_problem()
    found = L1Path(scaling="none").fit(X, y, qid=qid)
    Xc, yc = centred_by_loops(X, qid), centred_by_loops(y[:, None], qid)[:, 0]
    first_seen = {}
    for alpha in np.geomspace(
        found.lasso_alphas_[0], found.lasso_alphas_[0] * 1e-3, 400
    ):
        lasso = Lasso(
            alpha=alpha / 120, fit_intercept=False, tol=1e-10, max_iter=100_000
        ).fit(Xc, yc)
        for j in np.flatnonzero(lasso.coef_):
            first_seen.setdefault(int(j), alpha)
    assert found.selection_order_.tolist()[: len(first_seen)] == list(first_seen)
    for j, alpha in first_seen.items():
        assert alpha <= found.alphas_[j] * (1 + 1e-6)
        assert alpha >= found.alphas_[j] * 0.97


def test_the_path_ends_after_k_features() -> None:
    X, y, qid = ranking_problem()
    full, short = L1Path().fit(X, y, qid=qid), L1Path(2).fit(X, y, qid=qid)
    assert short.selection_order_.tolist() == full.selection_order_.tolist()[:2]
    assert (short.lasso_alphas_ == full.lasso_alphas_[: short.lasso_alphas_.size]).all()
    assert np.isfinite(short.alphas_).sum() == 2


def test_unit_scaling_does_not_see_scales() -> None:
    X, y, qid = ranking_problem()
    scales = np.array([1, 100, 0.01, 1, 0.001, 10])
    plain, scaled = L1Path().fit(X, y, qid=qid), L1Path().fit(X * scales, y, qid=qid)
    assert plain.selection_order_.tolist() == scaled.selection_order_.tolist()
    np.testing.assert_allclose(
        scaled.lasso_coefs_ * scales, plain.lasso_coefs_, atol=1e-9
    )
    assert L1Path(scaling="none").fit(X * scales, y, qid=qid).selection_order_[0] == 1


def test_what_never_comes_in_comes_last() -> None:
    X, y, qid = ranking_problem()
    X[:, 0], X[:, 2] = 5.0, X[:, 4]
    found = L1Path().fit(X, y, qid=qid)
    assert np.flatnonzero(np.isnan(found.alphas_)).tolist() == [0, 4]
    assert found.selection_order_[-2:].tolist() == [0, 4]
    assert L1Path().fit(X, np.zeros(120), qid=qid).selection_order_.tolist() == list(
        range(6)
    )


def test_conventions() -> None:
    check_conventions(L1Path(n_features_to_select=2))
