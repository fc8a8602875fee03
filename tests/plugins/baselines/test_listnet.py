"""ListNet: its objective from the definition, its gradient by differences, its minimum by scipy."""

import numpy as np
import pytest
from hypothesis import given
from ordering import ranking_problem
from scipy.optimize import approx_fprime, minimize
from strategies import Problem, problems

from rankstudio.engine import ListNet
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.shards.training_data import training_data
from rankstudio.engine.support.work import finish
from rankstudio.plugins.baselines.listnet import top_one_cross_entropy


def slow_objective(w: np.ndarray, problem: Problem) -> float:
    X, y, qid, regularization = problem
    total = regularization / 2 * w @ w
    for query in set(qid.tolist()):
        labels, scores = y[qid == query], X[qid == query] @ w
        for label, score in zip(labels, scores, strict=True):
            total -= (
                np.exp(label)
                / np.exp(labels).sum()
                * np.log(np.exp(score) / np.exp(scores).sum())
            )
    return float(total)


@given(problems())
def test_objective_and_gradient(problem: Problem) -> None:
    w = np.random.default_rng(0).normal(size=problem.X.shape[1])
    data = group(problem.X, problem.y, problem.qid)

    def objective(at: Floats) -> tuple[float, Floats]:
        with top_one_cross_entropy(training_data(data), problem.regularization) as work:
            return finish(work(at))

    value, gradient = objective(w)
    assert value == pytest.approx(slow_objective(w, problem), rel=1e-10)
    numeric = approx_fprime(w, lambda v: objective(v)[0], 1e-7)
    np.testing.assert_allclose(
        gradient, numeric, rtol=1e-4, atol=1e-4 * (1 + problem.regularization)
    )


@given(problems())
def test_the_minimum_is_scipys(problem: Problem) -> None:
    X, y, qid, regularization = problem
    found = ListNet(regularization=regularization, tol=1e-9, max_iter=5000).fit(
        X, y, qid=qid
    )
    with top_one_cross_entropy(training_data(group(X, y, qid)), regularization) as work:
        reference = minimize(
            lambda w: finish(work(w)),
            np.zeros(X.shape[1]),
            jac=True,
            method="BFGS",
            options={"gtol": 1e-9},
        )
    assert found.objective_ <= reference.fun + 1e-6 * max(1.0, abs(reference.fun))
    assert found.objective_ == pytest.approx(
        slow_objective(found.coef_, problem), rel=1e-9
    )


def test_steps_descend_and_large_scores_do_not_overflow() -> None:
    X, y, qid = ranking_problem()
    X[:, 3] *= 1e4
    steps = list(ListNet(regularization=1e-6).steps(X, 100 * y, qid=qid))
    criteria = np.array([s.criterion for s in steps])
    assert (np.diff(criteria) < 0).all()
    assert np.isfinite(steps[-1].coef).all()


def test_labels_that_say_nothing() -> None:
    X, _, qid = ranking_problem()
    steps = list(ListNet().steps(X[:1], [1.0], qid=[7]))
    assert [s.number for s in steps] == [1]
    assert (steps[0].coef == 0).all()
    alike = ListNet(tol=1e-9).fit(X, np.ones(120), qid=qid)
    np.testing.assert_allclose(alike.coef_, 0, atol=1e-12)


def test_the_attributes_of_a_fit() -> None:
    X, y, qid = ranking_problem()
    method = ListNet(regularization=0.01).fit(X, y, qid=qid)
    assert method.gradient_norm_ <= 1e-6
    assert 1 <= method.n_iter_ <= method.n_steps(6)
    assert method.coef_.argmax() == 4
