"""Random candidates, costs with a budget, and the size penalty: against loops over retrained models."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import leave_query_out_error
from strategies import Problem, problems

from rankstudio.engine import GreedyRankRLS
from rankstudio.engine.errors import ParameterError

ALGORITHMS = ("statistics", "rows", "algorithm1", "columns")


def problem(seed: int, features: int = 8) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """40 queries of 5 documents; every feature tells something, some of it what others tell too."""
    rng = np.random.default_rng(seed)
    hidden = rng.random((200, 4))
    X = hidden @ rng.random((4, features)) + 0.3 * rng.random((200, features))
    y = np.round(
        3 * hidden[:, 0] + 2 * hidden[:, 1] - hidden[:, 2] + 0.5 * rng.normal(size=200)
    )
    return X, y, np.repeat(np.arange(40), 5)


def same(first: GreedyRankRLS, second: GreedyRankRLS) -> bool:
    """Whether two paths are equal to the last bit."""
    return (
        first.selection_order_.tolist() == second.selection_order_.tolist()
        and (first.criterion_path_ == second.criterion_path_).all()
        and (first.coef_path_ == second.coef_path_).all()
    )


@given(problems(fewest_queries=2), st.integers(0, 5))
def test_neutral_parameters_give_the_plain_path(
    given_problem: Problem, more: int
) -> None:
    X, y, qid, regularization = given_problem
    plain = GreedyRankRLS(regularization=regularization).fit(X, y, qid=qid)
    n = X.shape[1]
    for parameters in (
        {"n_candidates": n + more, "seed": 3},
        {"costs": np.full(n, 0.3)},
        {"costs": np.full(n, 0.3), "budget": 0.3 * n},
        {"costs": np.full(n, 7.0), "budget": np.inf},
        {"size_penalty": 0.0},
    ):
        assert same(
            GreedyRankRLS(regularization=regularization, **parameters).fit(
                X, y, qid=qid
            ),
            plain,
        )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_random_candidates_are_the_only_ones_compared(algorithm: str) -> None:
    X, y, qid = problem(0, 12)
    method = GreedyRankRLS(
        n_candidates=3, seed=5, algorithm=algorithm, pinned=(7,), banned=(1,)
    )
    steps = list(method.steps(X, y, qid=qid))
    drawn = [np.flatnonzero(~np.isnan(step.candidates)) for step in steps]
    assert [len(set(d) - {7}) for d in drawn[1:]] == [3] * 8 + [2, 1]
    assert steps[0].selected == (7,)
    before: tuple[int, ...] = ()
    for step, candidates in zip(steps, drawn, strict=True):
        costs = {
            j: leave_query_out_error(X, y, qid, [*before, j], 1.0)
            for j in candidates.tolist()
        }
        for j, cost in costs.items():
            assert step.candidates[j] == pytest.approx(cost, rel=1e-10)
        if before:
            assert step.selected[-1] == min(costs, key=costs.__getitem__)
        before = step.selected
    assert len({tuple(d) for d in drawn}) > 5


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 40),
    st.integers(-10, 10),
    st.none() | st.integers(1, 11),
)
def test_equal_seeds_give_equal_paths_whatever_the_algorithm(
    seed: int, queries: int, exponent: int, n_candidates: int | None
) -> None:
    rng = np.random.default_rng(seed)
    qid, X = np.sort(rng.integers(0, queries, 200)), rng.random((200, 12))
    y = np.round(X @ rng.normal(size=12) + rng.normal(size=200))
    parameters = {
        "regularization": 2.0**exponent,
        "n_candidates": n_candidates,
        "seed": seed,
    }
    fitted = [
        GreedyRankRLS(algorithm=algorithm, **parameters).fit(X, y, qid=qid)
        for algorithm in (*ALGORITHMS, "auto", "auto")
    ]
    assert same(fitted[-2], fitted[-1])
    for other in fitted[1:]:
        assert other.selection_order_.tolist() == fitted[0].selection_order_.tolist()
        np.testing.assert_allclose(
            other.criterion_path_, fitted[0].criterion_path_, rtol=1e-9
        )
        np.testing.assert_allclose(
            other.coef_path_, fitted[0].coef_path_, rtol=1e-6, atol=1e-9
        )


def test_another_seed_gives_another_path() -> None:
    X, y, qid = problem(1, 12)
    orders = {
        tuple(GreedyRankRLS(n_candidates=3, seed=s).fit(X, y, qid=qid).selection_order_)
        for s in range(5)
    }
    assert len(orders) == 5


def test_of_equal_random_candidates_the_lowest_column_wins() -> None:
    X, y, qid = problem(3, 1)
    for seed in range(4):
        (step,) = GreedyRankRLS(1, n_candidates=4, seed=seed).steps(
            np.repeat(X, 9, axis=1), y, qid=qid
        )
        assert step.selected[0] == np.flatnonzero(~np.isnan(step.candidates))[0]


def test_what_cannot_rank_is_no_candidate_while_something_else_is_left() -> None:
    X, y, qid = problem(2, 6)
    X[:, [0, 3]] = qid[:, None]
    order = (
        GreedyRankRLS(n_candidates=1, seed=1)
        .fit(X, y, qid=qid)
        .selection_order_.tolist()
    )
    assert set(order[-2:]) == {0, 3}


def slow_path_by_cost(
    X: np.ndarray, y: np.ndarray, qid: np.ndarray, costs: np.ndarray, budget: float
) -> list[int]:
    """The greatest gain per cost of what still fits; a loss times the cost, where all lose."""
    selected: list[int] = []
    before = leave_query_out_error(X, y, qid, [], 1.0)
    while True:
        spent = sum(costs[j] for j in selected)
        left = [
            j
            for j in range(X.shape[1])
            if j not in selected and spent + costs[j] <= budget
        ]
        if not left:
            return selected
        gains = {
            j: before - leave_query_out_error(X, y, qid, [*selected, j], 1.0)
            for j in left
        }
        best = max(
            left,
            key=lambda j: gains[j] / costs[j] if gains[j] > 0 else gains[j] * costs[j],
        )
        selected.append(best)
        before -= gains[best]


def test_the_greatest_gain_per_cost_that_fits_into_the_budget() -> None:
    losses = 0
    for seed in range(2):
        X, y, qid = problem(seed)
        costs = 2.0 ** np.random.default_rng(seed).integers(-2, 3, 8)
        for budget in (costs.min(), 2.0, 6.0, np.inf):
            found = GreedyRankRLS(costs=costs, budget=budget).fit(X, y, qid=qid)
            assert found.selection_order_.tolist() == slow_path_by_cost(
                X, y, qid, costs, budget
            )
            assert costs[found.selection_order_].sum() <= budget
            losses += int((np.diff(found.criterion_path_) > 0).sum())
    assert losses > 0, "no step of these problems raises the criterion"


def test_a_dear_feature_waits_for_cheap_ones() -> None:
    X, y, qid = problem(3)
    best = GreedyRankRLS(1).fit(X, y, qid=qid).selection_order_[0]
    costs = np.ones(8)
    costs[best] = 1e6
    order = GreedyRankRLS(costs=costs).fit(X, y, qid=qid).selection_order_.tolist()
    assert order[0] != best
    assert (
        best
        not in GreedyRankRLS(costs=costs, budget=9).fit(X, y, qid=qid).selection_order_
    )


def test_decimals_that_add_up_to_the_budget_fit() -> None:
    X, y, qid = problem(4)
    found = GreedyRankRLS(costs=np.full(8, 0.1), budget=0.3).fit(X, y, qid=qid)
    assert found.selection_order_.size == 3


def test_pinned_features_are_paid_first() -> None:
    X, y, qid = problem(5)
    found = GreedyRankRLS(costs=np.arange(1.0, 9.0), budget=10, pinned=(7,)).fit(
        X, y, qid=qid
    )
    assert found.selection_order_[0] == 7
    assert found.selection_order_[1:].tolist() in ([0], [1])


@given(st.integers(0, 2**32 - 1), st.floats(1e-6, 0.5))
def test_the_penalised_path_is_the_plain_one_up_to_the_last_gain_that_is_worth_it(
    seed: int, penalty: float
) -> None:
    X, y, qid = problem(seed)
    plain = GreedyRankRLS().fit(X, y, qid=qid)
    path = [
        leave_query_out_error(X, y, qid, plain.selection_order_[:t].tolist(), 1.0)
        for t in range(9)
    ]
    worth = [path[t] - path[t + 1] > penalty * path[0] for t in range(8)]
    size = worth.index(False) if False in worth else 8
    found = GreedyRankRLS(size_penalty=penalty).fit(X, y, qid=qid)
    assert found.selection_order_.tolist() == plain.selection_order_[:size].tolist()
    assert (found.criterion_path_[:size] == plain.criterion_path_[:size]).all()


def test_where_no_feature_is_worth_its_place_the_model_is_empty() -> None:
    X, y, qid = problem(6)
    found = GreedyRankRLS(size_penalty=1.0).fit(X, y, qid=qid)
    assert found.selection_order_.size == 0
    assert not found.coef_.any()
    assert found.criterion_path_ == pytest.approx(
        [leave_query_out_error(X, y, qid, [], 1.0)]
    )
    pinned = GreedyRankRLS(size_penalty=1.0, pinned=(2,)).fit(X, y, qid=qid)
    assert pinned.selection_order_.tolist() == [2]
    constant = GreedyRankRLS(size_penalty=0.1).fit(X, np.ones(200), qid=qid)
    assert constant.selection_order_.size == 0


def test_penalty_and_costs_together() -> None:
    X, y, qid = problem(7)
    costs = np.linspace(1, 3, 8)
    free, penalised = (
        GreedyRankRLS(costs=costs, size_penalty=penalty).fit(X, y, qid=qid)
        for penalty in (0.0, 0.02)
    )
    falls = -np.diff(
        np.append(leave_query_out_error(X, y, qid, [], 1.0), penalised.criterion_path_)
    )
    assert (falls > 0.02 * (falls[0] + penalised.criterion_path_[0])).all()
    assert penalised.selection_order_.size < free.selection_order_.size


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"costs": [1, 2]},
            r"costs: expected an array of shape \(8,\), one number per feature, got \(2,\)",
        ),
        ({"costs": [0] * 8}, "costs: expected finite numbers greater than 0, got 0.0"),
        (
            {"costs": [np.nan] * 8},
            "costs: expected finite numbers greater than 0, got nan",
        ),
        ({"budget": 3}, "budget: expected None when the features have no costs, got 3"),
        (
            {"costs": [2] * 8, "budget": 0},
            "budget: expected a number greater than 0, got 0",
        ),
        (
            {"costs": [2] * 8, "budget": 1},
            "budget: expected at least 2, the cost of the cheapest feature",
        ),
        (
            {"costs": [2] * 8, "budget": 3, "pinned": (0, 1)},
            "budget: .* 4, the cost of the pinned features",
        ),
    ],
)
def test_costs_and_budgets_that_do_not_fit_are_refused(
    parameters: dict, message: str
) -> None:
    X, y, qid = problem(0)
    with pytest.raises(ParameterError, match=message):
        GreedyRankRLS(**parameters).fit(X, y, qid=qid)
