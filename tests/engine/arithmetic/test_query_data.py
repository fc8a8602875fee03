"""Grouping, centring and Gram statistics."""

import numpy as np
import pytest
from hypothesis import given
from oracles import centred_by_loops
from strategies import Problem, problems

from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.errors import DatasetError


@given(problems())
def test_centring_is_subtracting_each_querys_mean(problem: Problem) -> None:
    data = group(problem.X, problem.y, problem.qid)
    # Values are in [0, 1] and queries have at most 7 rows: a dozen roundings of at most eps / 2 each.
    np.testing.assert_allclose(data.centred[0], centred_by_loops(problem.X, problem.qid), atol=1e-14, rtol=0)


@given(problems())
def test_a_feature_constant_in_every_query_is_exactly_uninformative(problem: Problem) -> None:
    data = group(problem.X, problem.y, problem.qid)
    constant = [
        all(np.ptp(problem.X[problem.qid == q, j]) == 0 for q in problem.qid)
        for j in range(problem.X.shape[1])
    ]
    assert data.statistics.informative.tolist() == [not c for c in constant]


@given(problems())
def test_statistics_are_the_gram_matrices_of_the_queries(problem: Problem) -> None:
    data = group(problem.X, problem.y, problem.qid)
    Xc = centred_by_loops(np.column_stack((problem.X, problem.y)), problem.qid)
    for q, query in enumerate(dict.fromkeys(problem.qid.tolist())):
        rows = Xc[problem.qid == query]
        np.testing.assert_allclose(data.statistics.gram[q], rows.T @ rows, atol=1e-12)
    np.testing.assert_allclose(data.statistics.total, Xc.T @ Xc, atol=1e-11)


def test_scattered_queries_are_grouped_in_order_of_appearance_and_keep_their_order() -> None:
    X = np.arange(6.0)[:, None]
    data = group(X, X[:, 0], ["b", "a", "b", "c", "a", "b"])
    assert data.X[:, 0].tolist() == [0, 2, 5, 1, 4, 3]
    assert data.ptr.tolist() == [0, 3, 5, 6]
    assert data.in_original_order(data.X[:, 0]).tolist() == list(range(6))


def test_without_query_ids_all_rows_are_one_query() -> None:
    assert group(np.ones((4, 1)), np.ones(4)).ptr.tolist() == [0, 4]


@pytest.mark.parametrize(
    ("X", "y", "qid", "message"),
    [
        (
            np.zeros((0, 2)),
            np.zeros(0),
            [],
            r"X: expected a matrix with rows and columns, got shape \(0, 2\)",
        ),
        (np.zeros(3), np.zeros(3), None, "X: expected a matrix"),
        (np.zeros((3, 1)), np.zeros(2), None, "y: expected one label per row of X"),
        (np.zeros((3, 1)), np.zeros(3), [1, 2], "qid: expected one query id per row"),
        (np.array([[0.0], [np.nan]]), np.zeros(2), None, "X: expected finite numbers, row 1 has NaN"),
        (np.zeros((2, 1)), np.array([0.0, np.inf]), None, "y: expected finite numbers, row 1"),
    ],
)
def test_data_that_do_not_fit_are_refused_with_a_sentence(X, y, qid, message) -> None:
    with pytest.raises(DatasetError, match=message):
        group(X, y, qid)
