"""Greedy RankRLS against retraining, its algorithms against each other, pins and bans."""

import numpy as np
import pytest
from hypothesis import given
from oracles import leave_query_out_error, rankrls_on_pairs
from strategies import Problem, problems, tolerance

from rankstudio.engine import GreedyRankRLS
from rankstudio.engine.errors import ParameterError

ALGORITHMS = ("statistics", "rows", "algorithm1", "columns")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(problem=problems(fewest_queries=2))
def test_criteria_of_candidates_and_weights_are_those_of_retraining(
    algorithm: str, problem: Problem
) -> None:
    X, y, qid, regularization = problem
    method = GreedyRankRLS(regularization=regularization, algorithm=algorithm)
    rtol, atol = tolerance(problem)
    before: list[int] = []
    varies = [
        any(np.ptp(X[qid == q, j]) > 0 for q in np.unique(qid))
        for j in range(X.shape[1])
    ]
    error = sum(np.sum((y[qid == q] - y[qid == q].mean()) ** 2) for q in np.unique(qid))
    for step in method.steps(X, y, qid=qid):
        for j in range(X.shape[1]):
            rest = [i for i in range(X.shape[1]) if i not in before]
            if j in before or (not varies[j] and any(varies[i] for i in rest)):
                assert np.isnan(step.candidates[j])
            else:
                expected = leave_query_out_error(
                    X, y, qid, [*before, j], regularization
                )
                assert step.candidates[j] == pytest.approx(expected, rel=rtol, abs=atol)
        assert step.criterion == pytest.approx(
            step.candidates[step.selected[-1]], rel=rtol, abs=atol
        )
        assert step.before == pytest.approx(error, rel=rtol, abs=atol)
        error, before = step.criterion, list(step.selected)
        weights = np.zeros(X.shape[1])
        weights[before] = rankrls_on_pairs(X[:, before], y, qid, regularization)
        np.testing.assert_allclose(
            step.coef, weights, rtol=rtol, atol=atol / min(1.0, regularization)
        )


@given(problems(most_features=8, fewest_queries=2))
def test_informative_features_come_first_and_ties_go_to_the_lowest_index(
    problem: Problem,
) -> None:
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


def problem_with_a_clear_winner() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    X, qid = rng.random((120, 6)), np.repeat(np.arange(20), 6)
    return X, 3 * X[:, 4] + X[:, 1] + 0.01 * rng.random(120), qid


def test_pinned_features_come_first_and_banned_ones_never() -> None:
    X, y, qid = problem_with_a_clear_winner()
    free = GreedyRankRLS(n_features_to_select=2).fit(X, y, qid=qid)
    assert free.selection_order_.tolist() == [4, 1]
    pinned = GreedyRankRLS(n_features_to_select=3, pinned=(5, 0), banned=(4,)).fit(
        X, y, qid=qid
    )
    assert pinned.selection_order_.tolist() == [5, 0, 1]
    steps = list(GreedyRankRLS(banned=(4,)).steps(X, y, qid=qid))
    assert len(steps) == 5
    assert all(np.isnan(step.candidates[4]) for step in steps)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"n_features_to_select": 1, "pinned": (1, 2)},
            "n_features_to_select: .* from 2 to 6, got 1",
        ),
        ({"pinned": (6,)}, "pinned: expected different columns from 0 to 5"),
        ({"banned": (1, 1)}, "banned: expected different columns from 0 to 5"),
        (
            {"pinned": (1,), "banned": (1,)},
            r"banned: expected features that are not pinned \(1 is\)",
        ),
        ({"banned": (0, 1, 2, 3, 4, 5)}, "banned: expected at least one feature left"),
    ],
)
def test_pins_and_bans_that_do_not_fit_are_refused(
    parameters: dict, message: str
) -> None:
    X, y, qid = problem_with_a_clear_winner()
    with pytest.raises(ParameterError, match=message):
        GreedyRankRLS(**parameters).fit(X, y, qid=qid)
