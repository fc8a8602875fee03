"""RankRLS on given preferences, against listed pairs and retraining without each query."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_list_oracles import bounds, solve
from preference_oracles import listed_preferences, preferred
from scipy.sparse import csr_array
from strategies import Problem

from rankstudio.engine import GreedyRankRLS, RankRLS
from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.pair_cost.pair_rows import query_factors
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.data.preferences import Preferences
from rankstudio.engine.errors import DatasetError, ParameterError

costs = st.sampled_from(["magnitude", "unit", "inverse"])
weightings = st.sampled_from(["size", "pairs", "none"])
Given = tuple[Problem, Preferences]


@given(preferred(), costs, weightings)
def test_the_weights_minimise_the_loss_of_the_preferences(
    given_: Given, cost: str, weighting: str
) -> None:
    problem, preferences = given_
    X, _, qid, regularization = problem
    M, N, _ = listed_preferences(preferences, qid, cost, weighting)
    eps, scale = bounds(problem, M, N)
    fitted = RankRLS(regularization, cost=cost, weighting=weighting).fit(
        X, qid=qid, preferences=preferences
    )
    np.testing.assert_allclose(
        fitted.coef_, solve(M, N, X, regularization), rtol=0, atol=eps * scale
    )


@given(preferred(fewest_queries=2), costs, weightings)
def test_left_out_predictions_are_those_of_retraining(
    given_: Given, cost: str, weighting: str
) -> None:
    problem, preferences = given_
    X, _, qid, regularization = problem
    M, N, owners = listed_preferences(preferences, qid, cost, weighting)
    eps, scale = bounds(problem, M, N)
    expected, criterion = np.zeros(qid.size), 0.0
    for query in np.unique(qid):
        out, mine = qid == query, owners == query
        coef = solve(M[~mine], N[~mine], X, regularization)
        expected[out] = X[out] @ coef - (X[out] @ coef).mean()
        criterion += float(np.sum((N[mine] - M[mine] @ X @ coef) ** 2))
    method = RankRLS(regularization, cost=cost, weighting=weighting)
    left_out = method.leave_query_out(X, qid=qid, preferences=preferences)
    scale *= 1.0 + float(np.abs(X).sum())
    np.testing.assert_allclose(left_out, expected, rtol=0, atol=eps * scale)
    found = method.fit(X, qid=qid, preferences=preferences).criterion_
    size = float(N @ N) + float(np.sum(M**2)) * scale**2
    assert found == pytest.approx(criterion, rel=1e-8, abs=eps * size)


@given(preferred(), costs, weightings)
def test_factors_of_queries_say_the_same_of_any_scores(
    given_: Given, cost: str, weighting: str
) -> None:
    problem, preferences = given_
    M, N, owners = listed_preferences(preferences, problem.qid, cost, weighting)
    grouped = group(problem.X, problem.y, problem.qid)
    data = QueryData(
        grouped.X,
        grouped.y,
        grouped.ptr,
        preferences=preferences.in_order(grouped.order),
    )
    order = np.arange(problem.qid.size) if grouped.order is None else grouped.order
    scores = problem.X[:, 0]
    for q, (factor, targets) in enumerate(
        query_factors(data, PairCost(cost, False, weighting))
    ):
        rows = order[grouped.ptr[q] : grouped.ptr[q + 1]]
        mine = owners == problem.qid[rows[0]]
        assert factor.shape[1] == rows.size
        assert factor.shape[0] == targets.size <= rows.size + 1
        expected = float(np.sum((N[mine] - M[mine] @ scores) ** 2))
        error = float(np.sum((targets - factor @ scores[rows]) ** 2))
        assert error == pytest.approx(
            expected, rel=1e-8, abs=1e-10 * (1.0 + float(N @ N))
        )


def test_preferences_of_all_pairs_of_labels_are_those_labels() -> None:
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(6), 7)
    X, y = rng.normal(size=(42, 3)), rng.integers(0, 4, 42).astype(float)
    i, j = np.nonzero((qid[:, None] == qid) & (y[:, None] > y))
    preferences = Preferences(i, j, y[i] - y[j])
    for cost in ("magnitude", "unit", "inverse"):
        for weighting in ("size", "pairs", "none"):
            method = RankRLS(0.5, cost=cost, ties=False, weighting=weighting)
            by_labels = method.fit(X, y, qid=qid).coef_
            by_pairs = method.fit(X, qid=qid, preferences=preferences).coef_
            np.testing.assert_allclose(by_pairs, by_labels, rtol=1e-10)


@given(
    preferred(fewest_queries=2),
    costs,
    st.sampled_from(["statistics", "rows", "algorithm1", "columns"]),
)
def test_greedy_selects_by_the_loss_of_left_out_preferences(
    given_: Given, cost: str, algorithm: str
) -> None:
    problem, preferences = given_
    X, _, qid, regularization = problem
    M, N, owners = listed_preferences(preferences, qid, cost, "size")
    eps, _ = bounds(problem, M, N)
    tolerance = eps * eps / np.finfo(float).eps * float(N @ N)
    for features in (X, csr_array(X)) if algorithm == "columns" else (X,):
        method = GreedyRankRLS(
            min(2, X.shape[1]), regularization, algorithm=algorithm, cost=cost
        )
        method.fit(features, qid=qid, preferences=preferences)
        for k, criterion in enumerate(method.criterion_path_, start=1):
            chosen = X[:, method.selection_order_[:k]]
            error = 0.0
            for query in np.unique(qid):
                mine = owners == query
                coef = solve(M[~mine], N[~mine], chosen, regularization)
                error += float(np.sum((N[mine] - M[mine] @ chosen @ coef) ** 2))
            assert criterion == pytest.approx(error, rel=1e-8, abs=tolerance)


def test_many_preferences_of_a_query_become_few_rows() -> None:
    rng = np.random.default_rng(2)
    winner = rng.integers(0, 10, 20_000)
    loser = (winner + rng.integers(1, 10, winner.size)) % 10
    preferences = Preferences(winner, loser, rng.random(winner.size) + 0.5)
    X, qid = rng.normal(size=(13, 3)), np.array([1] * 10 + [2] * 3)
    M, N, _ = listed_preferences(preferences, qid, "magnitude", "none")
    fitted = RankRLS(0.5, weighting="none").fit(X, qid=qid, preferences=preferences)
    np.testing.assert_allclose(fitted.coef_, solve(M, N, X, 0.5), rtol=1e-8)


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        (
            {"y": [0, 1, 0], "preferences": Preferences([0], [1])},
            ParameterError,
            "preferences: expected either preferences or labels y, got <Preferences: 1>.",
        ),
        (
            {"preferences": [(0, 1)]},
            ParameterError,
            "preferences: expected a value of Preferences, got [(0, 1)].",
        ),
        (
            {"preferences": Preferences([0], [3])},
            DatasetError,
            "preferences: expected rows of X, 0 to 2, found row 3.",
        ),
        (
            {"preferences": Preferences([0, 0], [1, 2])},
            DatasetError,
            "preferences: expected two documents of the same query, found rows 0 and 2 of different "
            "queries in preference 1.",
        ),
        (
            {"preferences": Preferences([], [])},
            DatasetError,
            "preferences: expected at least one, found none.",
        ),
    ],
)
def test_preferences_that_do_not_fit_are_refused(
    arguments: dict[str, object], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error) as refused:
        RankRLS().fit(np.eye(3), qid=[1, 1, 2], **arguments)
    assert str(refused.value) == sentence


def test_preferences_are_inside_queries() -> None:
    with pytest.raises(ParameterError, match="pairs: expected query with preferences"):
        RankRLS(pairs="all").fit(
            np.eye(3), qid=[1, 1, 2], preferences=Preferences([0], [1])
        )


def test_gradients_sparse_features_and_further_queries_end_in_the_same_weights() -> (
    None
):
    rng = np.random.default_rng(7)
    qid = np.repeat(np.arange(6), 5)
    X = rng.normal(size=(30, 3)) * (rng.random((30, 3)) < 0.6)
    i, j = np.nonzero(
        (qid[:, None] == qid) & (rng.random((30, 30)) < 0.5) & ~np.eye(30, dtype=bool)
    )
    preferences = Preferences(i, j, rng.random(i.size) + 0.5, rng.random(i.size) + 0.5)
    direct = RankRLS(0.5, cost="inverse").fit(X, qid=qid, preferences=preferences).coef_
    for features in (X, csr_array(X)):
        method = RankRLS(0.5, cost="inverse", solver="cg").fit(
            features, qid=qid, preferences=preferences
        )
        np.testing.assert_allclose(method.coef_, direct, rtol=1e-8)
    further = RankRLS(0.5, cost="inverse")
    for first, last in ((0, 10), (10, 30)):
        of_part = preferences.among(first, last)
        further.partial_fit(X[first:last], qid=qid[first:last], preferences=of_part)
    np.testing.assert_allclose(further.coef_, direct, rtol=1e-8)
