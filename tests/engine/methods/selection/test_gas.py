"""GAS and Kendall's τ: scipy's τ-b query by query, and the algorithm's loop in plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ordering import check_conventions, ranking_problem
from scipy.stats import kendalltau
from strategies import Problem, problems

from rankstudio.engine import GAS, evaluate
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.methods.selection.kendall import (
    comparing_rankings,
    kendall_similarity,
)
from rankstudio.engine.methods.shards.training_data import training_data
from rankstudio.engine.support.work import finish


def similarities(
    X: np.ndarray, qid: np.ndarray, feature: int, others: list[int]
) -> np.ndarray:
    with kendall_similarity(training_data(group(X, X[:, 0], qid))) as between:
        return finish(between(feature, np.array(others)))


def slow_similarity(a: np.ndarray, b: np.ndarray, qid: np.ndarray) -> float:
    taus = []
    for query in dict.fromkeys(qid.tolist()):
        x, z = a[qid == query], b[qid == query]
        if np.ptp(x) > 0 and np.ptp(z) > 0:
            taus.append(abs(kendalltau(x, z, variant="b").statistic))
    return float(np.mean(taus)) if taus else 0.0


@given(problems())
def test_similarity_is_scipys_in_each_query(problem: Problem) -> None:
    X, y, qid, _ = problem
    matrix = finish(comparing_rankings(training_data(group(X, y, qid))))
    for i in range(X.shape[1]):
        for j in range(X.shape[1]):
            assert matrix[i, j] == pytest.approx(
                slow_similarity(X[:, i], X[:, j], qid), abs=1e-12
            )


@given(st.integers(0, 2**32 - 1), st.integers(2, 400), st.integers(1, 400))
def test_long_queries_with_many_ties(seed: int, documents: int, values: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, (documents, 3)).astype(float)
    X[:, 1] = np.maximum(X[:, 0], X[:, 1])
    qid = np.zeros(documents)
    found = similarities(X, qid, 0, [2, 1])
    for similarity, j in zip(found, (2, 1), strict=True):
        assert similarity == pytest.approx(
            slow_similarity(X[:, 0], X[:, j], qid), abs=1e-12
        )


def importance(
    y: np.ndarray, scores: np.ndarray, qid: np.ndarray, measure: str
) -> float:
    if measure != "LOSS":
        return evaluate(y, scores, qid, measures=[measure])[measure]
    correct = []
    for query in dict.fromkeys(qid.tolist()):
        own, s = y[qid == query], scores[qid == query]
        pairs = [
            (i, j) for i in range(own.size) for j in range(own.size) if own[i] > own[j]
        ]
        if pairs:
            correct.append(
                np.mean([0.5 * (1 + np.sign(s[i] - s[j])) for i, j in pairs])
            )
    return float(np.mean(correct))


def slow_gas(
    X: np.ndarray, y: np.ndarray, qid: np.ndarray, measure: str, c: float
) -> list[int]:
    w = [max(importance(y, d * x, qid, measure) for d in (1, -1)) for x in X.T]
    order: list[int] = []
    left = list(range(X.shape[1]))
    while left:
        best = max(left, key=lambda j: (w[j], -j))
        left.remove(best)
        order.append(best)
        for j in left:
            w[j] -= 2 * c * slow_similarity(X[:, best], X[:, j], qid)
    return order


@pytest.mark.parametrize("c", [0.0, 0.05, 3.0])
@pytest.mark.parametrize("importance", ["map", "ndcg@10", "loss"])
def test_the_path_is_that_of_the_algorithm(importance: str, c: float) -> None:
    for seed in range(2):
        X, y, qid = ranking_problem(seed)
        X[:, 3] = -2 * X[:, 4] + 0.2 * X[:, 0]
        found = GAS(importance=importance, c=c).fit(X, y, qid=qid)
        assert found.selection_order_.tolist() == slow_gas(
            X, y, qid, importance.upper(), c
        )


def test_a_copy_of_the_best_feature_comes_last() -> None:
    X, y, qid = ranking_problem()
    X[:, 0] = -X[:, 4]
    found = GAS(c=1.0).fit(X, y, qid=qid)
    assert found.selection_order_[0] == 0  # as good as 4, and before it
    assert found.selection_order_[-1] == 4
    assert found.directions_[0] == -1.0
    assert found.importance_[0] == found.importance_[4]
    assert found.scores_[4] < found.importance_[4] - 2.0 + 1e-9


def test_features_that_cannot_rank_come_last() -> None:
    X, y, qid = ranking_problem()
    order = np.lexsort((-y, qid))  # a file in the best order already
    X, y = X[order], y[order]
    X[:, 1] = qid
    found = GAS(c=0.5).fit(X, y, qid=qid)
    assert found.importance_[1] == 1.0
    assert found.selection_order_[-1] == 1


def test_conventions() -> None:
    check_conventions(GAS(n_features_to_select=2))
