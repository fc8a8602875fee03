"""RankRLS against least squares on explicit pairs, and its left-out predictions against retraining."""

import numpy as np
import pytest
from hypothesis import given
from oracles import centred_by_loops, leave_query_out_error, rankrls_on_pairs
from strategies import Problem, problems

from rankstudio.engine import RankRLS
from rankstudio.engine.errors import ParameterError


def bound(problem: Problem) -> float:
    """Relative error of solving with X^'X^ + λI, whose condition number is at most 1 + ||X^||² / λ."""
    return 256 * np.finfo(float).eps * (1.0 + float(np.sum(problem.X**2)) / problem.regularization)


@given(problems())
def test_the_weights_minimise_the_pairwise_loss(problem: Problem) -> None:
    X, y, qid, regularization = problem
    expected = rankrls_on_pairs(X, y, qid, regularization)
    scale = float(np.linalg.norm(y)) / min(1.0, regularization)
    fitted = RankRLS(regularization=regularization).fit(X, y, qid=qid)
    np.testing.assert_allclose(fitted.coef_, expected, rtol=0, atol=bound(problem) * scale)


@given(problems())
def test_the_criterion_is_the_error_of_retraining_without_each_query(problem: Problem) -> None:
    X, y, qid, regularization = problem
    expected = leave_query_out_error(X, y, qid, list(range(X.shape[1])), regularization)
    fitted = RankRLS(regularization=regularization).fit(X, y, qid=qid)
    eps = bound(problem)
    assert fitted.criterion_ == pytest.approx(expected, rel=eps, abs=eps * float(y @ y))


@given(problems(fewest_queries=2))
def test_left_out_predictions_add_up_to_the_criterion(problem: Problem) -> None:
    X, y, qid, regularization = problem
    method = RankRLS(regularization=regularization)
    residuals = centred_by_loops(y[:, None], qid)[:, 0] - method.leave_query_out(X, y, qid=qid)
    eps = bound(problem)
    expected = method.fit(X, y, qid=qid).criterion_
    assert float(residuals @ residuals) == pytest.approx(expected, rel=eps, abs=eps * float(y @ y))


def test_left_out_predictions_come_in_the_order_of_the_rows() -> None:
    rng = np.random.default_rng(2)
    X, y, qid = rng.random((30, 3)), rng.random(30), np.repeat(np.arange(6), 5)
    shuffled = rng.permutation(30)
    method = RankRLS(regularization=0.1)
    together = method.leave_query_out(X, y, qid=qid)
    scattered = method.leave_query_out(X[shuffled], y[shuffled], qid=qid[shuffled])
    np.testing.assert_allclose(scattered, together[shuffled], rtol=1e-9, atol=1e-12)


def test_large_problems_spread_over_threads_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    X, qid = rng.random((3000, 46)), np.repeat(np.arange(300), 10)
    y = np.round(X[:, 0] + rng.random(3000))
    monkeypatch.setenv("RANKSTUDIO_THREADS", "1")
    alone = RankRLS().fit(X, y, qid=qid).criterion_
    monkeypatch.setenv("RANKSTUDIO_THREADS", "2")
    assert RankRLS().fit(X, y, qid=qid).criterion_ == alone


def test_a_bad_regularization_is_named() -> None:
    with pytest.raises(
        ParameterError, match="regularization: expected a finite number greater than 0, got -1"
    ):
        RankRLS(regularization=-1).fit(np.eye(3), np.arange(3.0), qid=[1, 1, 2])
