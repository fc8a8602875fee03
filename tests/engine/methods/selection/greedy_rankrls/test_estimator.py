"""Greedy RankRLS against retraining, its algorithms against each other, pins and bans."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import leave_query_out_error, rankrls_on_pairs
from strategies import Problem, problems, tolerance

from rankstudio.engine import GreedyRankRLS
from rankstudio.engine.errors import ParameterError

ALGORITHMS = ("statistics", "rows", "algorithm1", "columns")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(problem=problems(fewest_queries=2))
def test_every_candidates_criterion_is_that_of_retraining(algorithm: str, problem: Problem) -> None:
    X, y, qid, regularization = problem
    method = GreedyRankRLS(regularization=regularization, algorithm=algorithm)
    rtol, atol = tolerance(problem)
    before: list[int] = []
    varies = [any(np.ptp(X[qid == q, j]) > 0 for q in np.unique(qid)) for j in range(X.shape[1])]
    error = sum(np.sum((y[qid == q] - y[qid == q].mean()) ** 2) for q in np.unique(qid))
    for step in method.steps(X, y, qid=qid):
        for j in range(X.shape[1]):
            rest = [i for i in range(X.shape[1]) if i not in before]
            if j in before or (not varies[j] and any(varies[i] for i in rest)):
                assert np.isnan(step.candidates[j])
            else:
                expected = leave_query_out_error(X, y, qid, [*before, j], regularization)
                assert step.candidates[j] == pytest.approx(expected, rel=rtol, abs=atol)
        assert step.criterion == pytest.approx(step.candidates[step.selected[-1]], rel=rtol, abs=atol)
        assert step.before == pytest.approx(error, rel=rtol, abs=atol)
        error = step.criterion
        before = list(step.selected)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(problem=problems(fewest_queries=2))
def test_weights_are_rankrls_on_pairs_of_the_selected_features(algorithm: str, problem: Problem) -> None:
    X, y, qid, regularization = problem
    rtol, atol = tolerance(problem)
    for step in GreedyRankRLS(regularization=regularization, algorithm=algorithm).steps(X, y, qid=qid):
        selected = list(step.selected)
        expected = np.zeros(X.shape[1])
        expected[selected] = rankrls_on_pairs(X[:, selected], y, qid, regularization)
        np.testing.assert_allclose(step.coef, expected, rtol=rtol, atol=atol / min(1.0, regularization))


@given(problems(most_features=8, fewest_queries=2))
def test_informative_features_come_first_and_ties_go_to_the_lowest_index(problem: Problem) -> None:
    X, y, qid, regularization = problem
    steps = list(GreedyRankRLS(regularization=regularization).steps(X, y, qid=qid))
    order = steps[-1].selected
    assert sorted(order) == list(range(X.shape[1]))
    constant = [j for j in order if all(np.ptp(X[qid == q, j]) == 0 for q in qid)]
    assert list(order[len(order) - len(constant) :]) == sorted(constant)
    for i in range(X.shape[1]):
        for j in range(i):
            if (X[:, i] == X[:, j]).all():
                assert order.index(j) < order.index(i)


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(-10, 10))
def test_all_algorithms_take_the_same_path(seed: int, queries: int, exponent: int) -> None:
    rng = np.random.default_rng(seed)
    qid = np.sort(rng.integers(0, queries, 200))
    X = rng.random((200, 12))
    y = np.round(X @ rng.normal(size=12) + rng.normal(size=200))
    first, *others = (
        GreedyRankRLS(regularization=2.0**exponent, algorithm=a).fit(X, y, qid=qid) for a in ALGORITHMS
    )
    for other in others:
        assert first.selection_order_.tolist() == other.selection_order_.tolist()
        np.testing.assert_allclose(first.criterion_path_, other.criterion_path_, rtol=1e-9)
        np.testing.assert_allclose(first.coef_path_, other.coef_path_, rtol=1e-6, atol=1e-9)


def problem_with_a_clear_winner() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    X, qid = rng.random((120, 6)), np.repeat(np.arange(20), 6)
    return X, 3 * X[:, 4] + X[:, 1] + 0.01 * rng.random(120), qid


def test_pinned_features_come_first_and_banned_ones_never() -> None:
    X, y, qid = problem_with_a_clear_winner()
    free = GreedyRankRLS(n_features_to_select=2).fit(X, y, qid=qid)
    assert free.selection_order_.tolist() == [4, 1]
    pinned = GreedyRankRLS(n_features_to_select=3, pinned=(5, 0), banned=(4,)).fit(X, y, qid=qid)
    assert pinned.selection_order_.tolist() == [5, 0, 1]
    steps = list(GreedyRankRLS(banned=(4,)).steps(X, y, qid=qid))
    assert len(steps) == 5
    assert all(np.isnan(step.candidates[4]) for step in steps)


def test_a_generator_may_be_left_at_any_step() -> None:
    X, y, qid = problem_with_a_clear_winner()
    walk = GreedyRankRLS().steps(X, y, qid=qid)
    assert next(walk).selected == (4,)
    assert next(walk).selected == (4, 1)
    walk.close()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_features_to_select": 1, "pinned": (1, 2)}, "n_features_to_select: .* from 2 to 6, got 1"),
        ({"pinned": (6,)}, "pinned: expected different columns from 0 to 5"),
        ({"banned": (1, 1)}, "banned: expected different columns from 0 to 5"),
        ({"pinned": (1,), "banned": (1,)}, r"banned: expected features that are not pinned \(1 is\)"),
        ({"banned": (0, 1, 2, 3, 4, 5)}, "banned: expected at least one feature left"),
    ],
)
def test_pins_and_bans_that_do_not_fit_are_refused(parameters: dict, message: str) -> None:
    X, y, qid = problem_with_a_clear_winner()
    with pytest.raises(ParameterError, match=message):
        GreedyRankRLS(**parameters).fit(X, y, qid=qid)
