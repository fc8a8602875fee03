"""RankRLS along a given order: retraining on pairs, and greedy RankRLS told to take that order."""

import numpy as np
from hypothesis import given
from oracles import leave_query_out_error, rankrls_on_pairs
from strategies import Problem, problems

from rankstudio.engine import GreedyRankRLS
from rankstudio.engine.arithmetic.nested_rankrls import (
    _clamped_cholesky,
    left_out_errors,
    nested_factor,
)
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.arrays import Floats, Ints


def nested_models(
    data: QueryData, order: Ints, regularization: float
) -> tuple[Floats, Floats]:
    """Return the weights of the models along an order (k, n), and their leave-query-out errors (k,)."""
    total = data.statistics.total
    coefs, factor, along = nested_factor(
        total[:-1, :-1], total[:-1, -1], order, regularization
    )
    return coefs, left_out_errors(data, order, factor, along, regularization)


@given(problems())
def test_every_size_is_rankrls_retrained(problem: Problem) -> None:
    X, y, qid, regularization = problem
    order = np.random.default_rng(X.shape[0]).permutation(X.shape[1])
    coefs, errors = nested_models(group(X, y, qid), order, regularization)
    condition = 1.0 + np.sum(X**2) / regularization
    eps = 256 * np.finfo(float).eps * condition
    for t in range(order.size):
        selected = order[: t + 1].tolist()
        expected = np.zeros(X.shape[1])
        expected[selected] = rankrls_on_pairs(X[:, selected], y, qid, regularization)
        atol = eps * float(y @ y)
        np.testing.assert_allclose(
            coefs[t], expected, rtol=eps, atol=atol / min(1.0, regularization)
        )
        error = leave_query_out_error(X, y, qid, selected, regularization)
        np.testing.assert_allclose(errors[t], error, rtol=eps, atol=atol)


def test_queries_longer_than_the_path_are_compressed() -> None:
    rng = np.random.default_rng(4)
    X, qid = rng.random((90, 3)), np.repeat([0, 1, 2, 3], [40, 2, 1, 47])
    y = np.round(3 * X[:, 1] + rng.random(90))
    _, errors = nested_models(group(X, y, qid), np.array([2, 1, 0]), 0.25)
    for t in range(3):
        expected = leave_query_out_error(X, y, qid, [2, 1, 0][: t + 1], 0.25)
        np.testing.assert_allclose(errors[t], expected, rtol=1e-12)


def test_greedy_rankrls_that_is_told_the_order_has_the_same_criterion() -> None:
    rng = np.random.default_rng(6)
    X, qid = rng.random((400, 30)), np.sort(rng.integers(0, 40, 400))
    y = np.round(X @ rng.normal(size=30))
    order = rng.permutation(30)
    greedy = GreedyRankRLS(regularization=2.0**-6, pinned=tuple(order.tolist())).fit(
        X, y, qid=qid
    )
    coefs, errors = nested_models(group(X, y, qid), order, 2.0**-6)
    np.testing.assert_allclose(errors, greedy.criterion_path_, rtol=1e-10)
    np.testing.assert_allclose(coefs, greedy.coef_path_, atol=1e-9)


def test_some_of_the_columns_in_any_order() -> None:
    rng = np.random.default_rng(0)
    X, y, qid = (
        rng.random((60, 8)),
        rng.integers(0, 3, 60).astype(float),
        np.repeat(np.arange(6), 10),
    )
    coefs, _ = nested_models(group(X, y, qid), np.array([6, 1]), 0.5)
    assert coefs.shape == (2, 8)
    assert np.flatnonzero(coefs[0]).tolist() == [6]
    assert np.flatnonzero(coefs[1]).tolist() == [1, 6]


def test_pivots_that_rounding_takes_below_zero_count_as_lambda() -> None:
    column = np.random.default_rng(1).random(4)
    left = np.outer(column, column)
    factor = _clamped_cholesky(left + 1e-30 * np.eye(4), 1e-30)
    assert (np.diag(factor) > 0).all()
    np.testing.assert_allclose(factor @ factor.T, left, atol=1e-14)
    X = np.repeat(column[:, None], 3, axis=1)
    coefs, errors = nested_models(group(X, np.arange(4.0)), np.array([0, 1, 2]), 1e-30)
    assert np.isfinite(coefs).all()
    assert np.isfinite(errors).all()
