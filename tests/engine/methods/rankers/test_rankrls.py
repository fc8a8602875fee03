"""RankRLS against least squares on explicit pairs, and its left-out predictions against retraining."""

import numpy as np
import pytest
from hypothesis import given
from oracles import centred_by_loops, leave_query_out_error, rankrls_on_pairs
from strategies import Problem, problems
from wording import naming

from rankstudio.engine import RankRLS
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.errors import OutOfMemoryError, ParameterError
from rankstudio.engine.methods.memory_need import NUMBER, DataShape
from rankstudio.engine.methods.rankers import rankrls_shards


def bound(problem: Problem) -> float:
    """Relative error of solving with X^'X^ + λI, whose condition number is at most 1 + ||X^||² / λ."""
    return (
        256
        * np.finfo(float).eps
        * (1.0 + float(np.sum(problem.X**2)) / problem.regularization)
    )


@given(problems())
def test_the_weights_minimise_the_pairwise_loss(problem: Problem) -> None:
    X, y, qid, regularization = problem
    expected = rankrls_on_pairs(X, y, qid, regularization)
    scale = float(np.linalg.norm(y)) / min(1.0, regularization)
    fitted = RankRLS(regularization=regularization).fit(X, y, qid=qid)
    np.testing.assert_allclose(
        fitted.coef_, expected, rtol=0, atol=bound(problem) * scale
    )


@given(problems(fewest_queries=2))
def test_the_criterion_is_the_error_of_retraining_without_each_query(
    problem: Problem,
) -> None:
    X, y, qid, regularization = problem
    expected = leave_query_out_error(X, y, qid, list(range(X.shape[1])), regularization)
    fitted = RankRLS(regularization=regularization).fit(X, y, qid=qid)
    eps = bound(problem)
    assert fitted.criterion_ == pytest.approx(expected, rel=eps, abs=eps * float(y @ y))


@given(problems(fewest_queries=2))
def test_left_out_predictions_add_up_to_the_criterion(problem: Problem) -> None:
    X, y, qid, regularization = problem
    method = RankRLS(regularization=regularization)
    residuals = centred_by_loops(y[:, None], qid)[:, 0] - method.leave_query_out(
        X, y, qid=qid
    )
    eps = bound(problem)
    expected = method.fit(X, y, qid=qid).criterion_
    assert float(residuals @ residuals) == pytest.approx(
        expected, rel=eps, abs=eps * float(y @ y)
    )


@given(problems(fewest_queries=2))
def test_without_statistics_it_predicts_the_same(problem: Problem) -> None:
    X, y, qid, regularization = problem
    eps, method = bound(problem), RankRLS(regularization=regularization)
    predicted = method.leave_query_out(X, y, qid=qid)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rankrls_shards, "_FEW", 0)
        patch.setattr(rankrls_shards, "_TIMES", 0)
        patch.setattr(
            QueryData, "statistics", property(lambda _: pytest.fail("needs statistics"))
        )
        found = method.leave_query_out(X, y, qid=qid)
    scale = (
        float(np.linalg.norm(y))
        / min(1.0, regularization)
        * (1.0 + float(np.abs(X).sum()))
    )
    np.testing.assert_allclose(found, predicted, rtol=0, atol=eps * scale)


@pytest.mark.parametrize("n", [3, 8, 90, 400])
def test_both_ways_of_leaving_queries_out_are_retraining(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(9), [1, 2, 3, 4, 7, 8, 9, 70, 95])
    X, y = (
        rng.standard_normal((qid.size, n)),
        rng.integers(0, 3, qid.size).astype(float),
    )
    error = leave_query_out_error(X, y, qid, list(range(n)), 0.5)
    coef = rankrls_on_pairs(X, y, qid, 0.5)
    for most in (0, 4, 1000):
        monkeypatch.setattr(rankrls_shards, "_MOST_COMPILED", most)
        fitted = RankRLS(regularization=0.5).fit(X, y, qid=qid)
        assert fitted.criterion_ == pytest.approx(error, rel=1e-9)
        np.testing.assert_allclose(fitted.coef_, coef, rtol=0, atol=1e-9)


def test_twice_as_many_features_as_documents_need_no_products(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Catches minutes and n² numbers for a few documents with thousands of features."""
    rng = np.random.default_rng(1)
    X, y, qid = rng.random((30, 60)), rng.random(30), np.arange(30) // 5
    monkeypatch.setattr(
        rankrls_shards, "sums_of_products", lambda *_: pytest.fail("makes products")
    )
    assert RankRLS().fit(X, y, qid=qid).criterion_ > 0
    shape = DataShape(m=30, n=60, Q=6, s=30)
    assert RankRLS().memory_need(shape).least < NUMBER * (2 * 30 * 60 + 3 * 60 * 60)


def test_what_fits_in_no_memory_is_refused_with_what_would(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    X, y, qid = rng.random((200, 300)), rng.random(200), np.arange(200) // 4
    monkeypatch.setattr(rankrls_shards, "_LARGE", 0.0)
    monkeypatch.setattr("rankstudio.engine.support.memory.available", lambda: 1e6)
    with pytest.raises(OutOfMemoryError) as refused:
        RankRLS().fit(X, y, qid=qid)
    assert naming("RankRLS 200 300 2.2 MB 1.0 MB 204 features").search(
        str(refused.value)
    )
    assert RankRLS().fit(X[:, :204], y, qid=qid).criterion_ > 0


def test_left_out_predictions_come_in_the_order_of_the_rows() -> None:
    rng = np.random.default_rng(2)
    X, y, qid = rng.random((30, 3)), rng.random(30), np.repeat(np.arange(6), 5)
    shuffled = rng.permutation(30)
    method = RankRLS(regularization=0.1)
    together = method.leave_query_out(X, y, qid=qid)
    scattered = method.leave_query_out(X[shuffled], y[shuffled], qid=qid[shuffled])
    np.testing.assert_allclose(scattered, together[shuffled], rtol=1e-9, atol=1e-12)


def test_large_problems_spread_over_threads_give_the_same_bits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(3)
    X, qid = rng.random((3000, 46)), np.repeat(np.arange(300), 10)
    y = np.round(X[:, 0] + rng.random(3000))
    monkeypatch.setenv("RANKSTUDIO_THREADS", "1")
    alone = RankRLS().fit(X, y, qid=qid).criterion_
    monkeypatch.setenv("RANKSTUDIO_THREADS", "2")
    assert RankRLS().fit(X, y, qid=qid).criterion_ == alone


def test_a_bad_regularization_is_named() -> None:
    with pytest.raises(
        ParameterError,
        match="regularization: expected a finite number greater than 0, got -1",
    ):
        RankRLS(regularization=-1).fit(np.eye(3), np.arange(3.0), qid=[1, 1, 2])


@given(problems(fewest_queries=2))
def test_left_out_predictions_of_a_grid_are_those_of_each_value(
    problem: Problem,
) -> None:
    X, y, qid, regularization = problem
    grid = [2.0**-15, regularization, 2.0**15]
    for labels in (y, np.column_stack((y, -y))):
        together = RankRLS().leave_query_out(X, labels, qid=qid, regularization=grid)
        alone = [
            RankRLS(regularization=value).leave_query_out(X, labels, qid=qid)
            for value in grid
        ]
        np.testing.assert_array_equal(together, alone)
    with pytest.raises(
        ParameterError, match="regularization: expected a finite number greater than 0"
    ):
        RankRLS().leave_query_out(X, y, qid=qid, regularization=[1.0, 0.0])
