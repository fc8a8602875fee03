"""Importances and similarities of fitted FSMRank and GAS against plain numpy and scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.stats import kendalltau, pearsonr
from sharded_problems import cut

from rankstudio.engine import FSMSVM, GAS, FSMRank, FSMRankTop, evaluate
from rankstudio.engine.analysis.features.feature_penalties import feature_penalties
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.arithmetic.sparse_query_data import group_sparse
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.experiment.units.fold_context import group_training
from rankstudio.engine.methods.selection import gas
from rankstudio.engine.methods.selection.fsmrank import IndefiniteSimilarityWarning
from rankstudio.engine.methods.shards.training_data import TrainingData, training_data
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.support.work import finish

Array = NDArray[np.float64]
FSM = [FSMRank, FSMRankTop, FSMSVM]
# A correlation of m documents is a sum of m products, each rounded; values are up to 1.
OFF = 4 * 200 * np.finfo(float).eps


def documents() -> tuple[Array, Array, Array]:
    """Twenty queries of ten documents with six features: two alike, one with ties, one constant."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 6))
    X[:, 1] = -X[:, 0] + 0.3 * X[:, 1]
    X[:, 2] = np.round(X[:, 2])
    X[:, 5] = 2.5
    y = np.clip(np.round(X[:, 0] + 0.5 * rng.normal(size=200) + 1), 0, 2)
    return X, y, np.repeat(np.arange(20), 10)


def absolute_tau(a: Array, b: Array, qid: Array) -> float:
    """The mean of |τ-b| over the queries in which both vary, 0 if there is none."""
    taus = [
        abs(kendalltau(a[qid == q], b[qid == q]).statistic)
        for q in np.unique(qid)
        if np.ptp(a[qid == q]) and np.ptp(b[qid == q])
    ]
    return float(np.mean(taus)) if taus else 0.0


def plain_similarity(X: Array, qid: Array, kind: str) -> Array:
    n = X.shape[1]
    matrix = np.eye(n)
    for i in range(n):
        for j in range(n):
            if i == j or kind == "none":
                continue
            if kind == "kendall":
                matrix[i, j] = absolute_tau(X[:, i], X[:, j], qid)
            elif np.ptp(X[:, i]) and np.ptp(X[:, j]):
                matrix[i, j] = abs(pearsonr(X[:, i], X[:, j]).statistic)
    return matrix


def plain_importance(X: Array, y: Array, qid: Array, kind: str, sign: float) -> Array:
    measures = {"ndcg": "NDCG@10", "map": "MAP"}
    rules = convention("letor4").objective
    values = []
    for x in X.T:
        if not np.ptp(x):
            values.append(0.0)
        elif kind == "none":
            values.append(1.0)
        elif kind == "pearson":
            values.append(abs(pearsonr(x, y).statistic))
        else:
            name = measures[kind]
            measured = evaluate(y, sign * x, qid, measures=[name], convention=rules)
            values.append(measured[name])
    return np.array(values)


@pytest.mark.parametrize("method", FSM)
@pytest.mark.parametrize(
    ("importance", "similarity"),
    [("pearson", "pearson"), ("ndcg", "kendall"), ("map", "none"), ("none", "none")],
)
def test_fsmranks_are_those_of_numpy_and_scipy(
    method: Any, importance: str, similarity: str
) -> None:
    X, y, qid = documents()
    fitted = method(importance=importance, similarity=similarity, max_iter=5)
    fitted.fit(X, y, qid=qid)
    for penalties, sign in (
        (fitted.importance_, 1),
        (fitted.importance_of_negative_, -1),
    ):
        expected = plain_importance(X, y, qid, importance, sign)
        np.testing.assert_allclose(penalties, expected, rtol=0, atol=OFF)
    np.testing.assert_allclose(
        fitted.similarity_, plain_similarity(X, qid, similarity), rtol=0, atol=OFF
    )


def plane() -> tuple[Array, Array, Array]:
    """Five directions of a plane, whose absolute correlations are not positive semidefinite."""
    angles = np.arange(5) * 2 * np.pi / 5
    points = np.random.default_rng(0).normal(size=(200, 2))
    X = points @ np.vstack((np.cos(angles), np.sin(angles)))
    return X, np.round(X[:, 0]), np.repeat(np.arange(20), 10)


@pytest.mark.parametrize("method", FSM)
@pytest.mark.filterwarnings(
    "ignore::rankstudio.engine.methods.selection.fsmrank.IndefiniteSimilarityWarning"
)
def test_the_similarity_is_the_one_of_the_objective(method: Any) -> None:
    X, y, qid = plane()
    given = method(max_iter=5).fit(X, y, qid=qid).similarity_
    np.testing.assert_allclose(given, np.abs(np.corrcoef(X.T)), rtol=0, atol=OFF)
    projected = method(max_iter=5, project=True).fit(X, y, qid=qid).similarity_
    values, vectors = np.linalg.eigh(given)
    nearest = vectors @ np.diag(np.maximum(values, 0.0)) @ vectors.T
    np.testing.assert_allclose(projected, nearest, rtol=0, atol=OFF)
    assert values[0] < -0.01
    # Without its term, the similarity is not changed.
    free = method(max_iter=5, project=True, lambda1=0.0).fit(X, y, qid=qid)
    np.testing.assert_array_equal(free.similarity_, given)
    with pytest.raises(ValueError, match="read-only"):
        projected[0, 0] = 2.0


def test_the_warning_is_given_again_for_each_of_several_penalties() -> None:
    X, y, qid = plane()
    data = training_data(group(X, y, qid))
    for lambda1 in (0.1, 0.2):
        with pytest.warns(IndefiniteSimilarityWarning):
            list(FSMRank(lambda1=lambda1, max_iter=2).learn(data))


@pytest.mark.parametrize("method", [*FSM, GAS])
def test_own_values_are_kept(method: Any) -> None:
    X, y, qid = documents()
    s, A = np.arange(6.0) + 1, np.eye(6) + 0.25
    fitted = method(importance=s, similarity=A).fit(X, y, qid=qid)
    # FSMRank excludes constant features.
    expected = s if method is GAS else np.where(np.ptp(X, axis=0) > 0, s, 0.0)
    np.testing.assert_array_equal(fitted.importance_, expected)
    np.testing.assert_array_equal(fitted.similarity_, A)
    if method is not GAS:
        both = method(importance=np.append(s, 2 * s)).fit(X, y, qid=qid)
        np.testing.assert_array_equal(
            both.importance_of_negative_, 2 * both.importance_
        )


def test_gas_has_the_measure_in_the_better_direction_and_all_pairs_it_compared() -> (
    None
):
    X, y, qid = documents()
    fitted = GAS().fit(X, y, qid=qid)
    expected = [
        max(evaluate(y, sign * x, qid, measures=["MAP"])["MAP"] for sign in (1, -1))
        for x in X.T
    ]
    np.testing.assert_allclose(fitted.importance_, expected, rtol=0, atol=OFF)
    kendall = plain_similarity(X, qid, "kendall")
    np.testing.assert_allclose(fitted.similarity_, kendall, rtol=0, atol=OFF)
    pearson = GAS(2, similarity="pearson").fit(X, y, qid=qid).similarity_
    expected = plain_similarity(X, qid, "pearson")
    np.testing.assert_allclose(pearson, expected, rtol=0, atol=OFF)


def test_gas_does_not_know_pairs_that_it_did_not_compare() -> None:
    X, y, qid = documents()
    fitted = GAS(3).fit(X, y, qid=qid)
    first, second, third = fitted.selection_order_.tolist()
    is_known = np.eye(6, dtype=bool)
    # The last feature is selected without being compared with those that remain.
    for feature in (first, second):
        is_known[feature] = is_known[:, feature] = True
    np.testing.assert_array_equal(np.isnan(fitted.similarity_), ~is_known)
    expected = np.where(is_known, plain_similarity(X, qid, "kendall"), np.nan)
    np.testing.assert_allclose(fitted.similarity_, expected, rtol=0, atol=OFF)
    assert np.isnan(fitted.similarity_[third]).any()
    free = GAS(c=0.0).fit(X, y, qid=qid).similarity_
    np.testing.assert_array_equal(np.isnan(free), ~np.eye(6, dtype=bool))


def test_gas_keeps_no_matrix_of_many_features(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, qid = documents()
    expected = GAS(3).fit(X, y, qid=qid)
    monkeypatch.setattr(gas, "_MOST_KEPT", 5)
    fitted = GAS(3).fit(X, y, qid=qid)
    assert fitted.similarity_ is None
    np.testing.assert_array_equal(fitted.scores_, expected.scores_)
    # Correlations are computed for all pairs anyway.
    assert GAS(similarity="pearson").fit(X, y, qid=qid).similarity_.shape == (6, 6)


def kept(method: Any, data: TrainingData) -> list[Any]:
    """Run a method, and return the values that it weighs features by."""
    fitted = type(method)(**method.get_params())
    list(fitted.learn(data))
    return [fitted.importance_, fitted.similarity_]


@pytest.mark.parametrize(
    "method",
    [
        FSMRank(max_iter=3),
        FSMRank(importance="ndcg", similarity="kendall", max_iter=3),
        FSMRankTop(2, max_iter=3),
        FSMSVM(2, max_iter=3),
        GAS(2),
        GAS(2, importance="loss", similarity="pearson"),
    ],
    ids=str,
)
def test_shards_and_sparse_documents_have_the_same(method: Any) -> None:
    X, y, qid = documents()
    data = group(X, y, qid)
    sparse = training_data(group_sparse(csr_array(X), y, qid)).for_method(
        accepts_sparse=False
    )
    expected = kept(method, training_data(data))
    for other in (cut(data, 30), sparse):
        for penalties, whole in zip(kept(method, other), expected, strict=True):
            np.testing.assert_allclose(penalties, whole, rtol=0, atol=OFF)


@pytest.mark.parametrize("key", ["fsmrank", "fsmrank-top", "fsmsvm", "gas"])
@pytest.mark.parametrize("similarity", ["pearson", "kendall"])
def test_the_penalties_of_a_run_are_those_of_the_fitted_method(
    key: str, similarity: str
) -> None:
    data = make_ranking(n_queries=20, n_noise=3, n_constant=1, seed=4)
    plan = Plan("made", key, {"similarity": similarity}, measures=("MAP",), folds=(1,))
    parameters = run_plan(plan, data).folds[0].chosen.unit.parameters
    train = data.folds[0].train
    method = plan.entry.load()()
    names = method.get_params().keys() & parameters.keys()
    fitted = type(method)(**{name: parameters[name] for name in names})
    fitted.fit(train.X, train.y, qid=train.qid)
    columns = range(len(data.feature_ids))
    penalties = feature_penalties(
        plan,
        parameters,
        group_training(data.folds[0]),
        data.feature_ids,
        columns,
        columns,
    )
    of_negative = getattr(fitted, "importance_of_negative_", fitted.importance_)
    np.testing.assert_array_equal(penalties.importance, fitted.importance_)
    np.testing.assert_array_equal(penalties.of_negative, of_negative)
    compared = ~np.isnan(fitted.similarity_)
    np.testing.assert_array_equal(
        penalties.similarity[compared], fitted.similarity_[compared]
    )
    # Most pairs are known, also of GAS with Kendall's τ.
    assert compared.mean() > 0.5


def test_documents_without_queries_or_relevance() -> None:
    X, y, _ = documents()
    fitted = FSMRank(max_iter=3).fit(X, np.zeros_like(y), qid=np.zeros(200))
    np.testing.assert_array_equal(fitted.importance_, np.zeros(6))
    first_method = GAS(importance="loss").fit(X, y, qid=np.zeros(200))
    np.testing.assert_allclose(
        first_method.similarity_,
        plain_similarity(X, np.zeros(200), "kendall"),
        atol=OFF,
    )


def test_equal_data_share_the_similarities() -> None:
    data = training_data(QueryData(*_grouped()))
    first_method, other = FSMRank(max_iter=2), GAS(2, similarity="pearson")
    for method in (first_method, other):
        list(method.learn(data))
    assert np.shares_memory(first_method.similarity_, other.similarity_)
    assert first_method.similarity_.base is not None
    assert finish(first_method.similarities(data)).flags.writeable


def _grouped() -> tuple[Array, Array, Any]:
    X, y, _ = documents()
    return X, y, np.arange(0, 201, 10)
