"""Recursive elimination against a loop that retrains on pairs."""

import numpy as np
import pytest
from oracles import rankrls_on_pairs
from ordering import check_conventions, ranking_problem

from rankstudio.engine import RankSVM, RecursiveElimination


def slow_elimination(
    X: np.ndarray, y: np.ndarray, qid: np.ndarray, regularization: float, scaled: bool
) -> list[int]:
    left, dropped = list(range(X.shape[1])), []
    inside = np.sqrt(
        np.mean([X[qid == q].var(axis=0) for q in dict.fromkeys(qid.tolist())], axis=0)
    )
    while left:
        w = np.abs(rankrls_on_pairs(X[:, left], y, qid, regularization))
        worst = left[int(np.argmin(w * inside[left] if scaled else w))]
        left.remove(worst)
        dropped.insert(0, worst)
    return dropped


@pytest.mark.parametrize("importance", ["weight", "scaled"])
@pytest.mark.parametrize("regularization", [2.0**-6, 1.0, 2.0**6])
def test_the_path_is_that_of_retraining(importance: str, regularization: float) -> None:
    for seed in range(4):
        X, y, qid = ranking_problem(seed)
        X *= [1, 30, 1, 0.1, 1, 1]
        found = RecursiveElimination(
            importance=importance, regularization=regularization
        ).fit(X, y, qid=qid)
        expected = slow_elimination(X, y, qid, regularization, importance == "scaled")
        assert found.selection_order_.tolist() == expected
        assert found.ranking_[expected].tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("importance", ["weight", "scaled"])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_with_ranksvm_s_weights_too(importance: str, C: float) -> None:
    for seed in range(4):
        X, y, qid = ranking_problem(seed)
        inside = np.sqrt(np.mean((X - _means(X, qid)) ** 2, axis=0))
        left, expected = list(range(6)), []
        while left:
            w = np.abs(RankSVM(C=C, tol=1e-10).fit(X[:, left], y, qid=qid).coef_)
            worst = left[
                int(np.argmin(w * inside[left] if importance == "scaled" else w))
            ]
            left.remove(worst)
            expected.insert(0, worst)
        method = RecursiveElimination(importance=importance, ranker="ranksvm", C=C)
        assert method.fit(X, y, qid=qid).selection_order_.tolist() == expected


def _means(X: np.ndarray, qid: np.ndarray) -> np.ndarray:
    return np.array([X[qid == q].mean(axis=0) for q in qid])


def test_constant_features_and_ties_go_first_the_later_columns_before() -> None:
    X, y, qid = ranking_problem()
    X[:, 2] = qid
    X[:, 0] = 1.0
    X[:, 5] = X[:, 1]
    found = RecursiveElimination().fit(X, y, qid=qid)
    assert found.selection_order_[-2:].tolist() == [0, 2]
    assert found.ranking_[1] < found.ranking_[5]
    constant = RecursiveElimination().fit(
        np.ones((4, 2)), np.arange(4.0), qid=np.ones(4)
    )
    assert constant.selection_order_.tolist() == [0, 1]


def test_conventions() -> None:
    check_conventions(RecursiveElimination(n_features_to_select=2))
