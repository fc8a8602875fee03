"""Floating search, swaps and the best sets: by retraining, never worse than greedy, refused for too many."""

from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiment.small import dataset, plan_of_command, plan_of_program
from hypothesis import given
from oracles import leave_query_out_error, rankrls_on_pairs
from scipy.sparse import csr_array
from strategies import Problem, problems, tolerance

from rankstudio.engine import GreedyRankRLS, Plan
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.plan.toml import load_plan, save_plan
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.methods.selection.base import TIE
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets import (
    subset_problem,
)
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress

OTHERS = ["floating", "swap", "best"]
WAYS = [
    *(("floating", algorithm) for algorithm in ("auto", "statistics", "columns")),
    ("swap", "auto"),
    ("swap", "statistics"),
    ("swap", "columns"),
    ("best", "auto"),
    ("best", "statistics"),
]


def problem(seed: int, features: int = 8) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """25 queries of 4 documents; the first feature nearly sums up others, and is of no use beside them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, features))
    X[:, 0] = X[:, 2] + X[:, 3] + X[:, 4] + 0.6 * rng.normal(size=100)
    y = X[:, 2] + X[:, 3] + X[:, 4] + 0.5 * X[:, 1] + 0.2 * rng.normal(size=100)
    return X, y, np.repeat(np.arange(25), 4)


def by_swaps(
    X: np.ndarray, y: np.ndarray, qid: np.ndarray, selected: tuple[int, ...]
) -> list[int]:
    """The set that the best exchange leads to, again and again; every model is learned anew."""
    best, error = (
        sorted(selected),
        leave_query_out_error(X, y, qid, sorted(selected), 1.0),
    )
    while True:
        others = [
            sorted({*best, new} - {old})
            for old in best
            for new in range(X.shape[1])
            if new not in best
        ]
        errors = [leave_query_out_error(X, y, qid, other, 1.0) for other in others]
        if not others or min(errors) >= error * (1 - 1e-12):
            return best
        best, error = others[int(np.argmin(errors))], min(errors)


@pytest.mark.parametrize(("search", "algorithm"), WAYS)
@given(given_problem=problems(most_features=6, fewest_queries=2))
def test_criteria_are_those_of_retraining_and_none_is_worse_than_greedy(
    search: str, algorithm: str, given_problem: Problem
) -> None:
    X, y, qid, regularization = given_problem
    rtol, atol = tolerance(given_problem)
    greedy, found = (
        list(
            GreedyRankRLS(
                regularization=regularization, algorithm=algorithm, search=s
            ).steps(X, y, qid=qid)
        )
        for s in ("forward", search)
    )
    assert [step.number for step in found] == [len(step.selected) for step in found]
    before = found[0].before
    # "auto" takes another search for each, whose criteria of the same set differ by what counts as a tie.
    tie = 0.0 if search == "floating" and algorithm != "auto" else TIE * before
    for one, other in zip(greedy, found, strict=True):
        assert other.criterion <= one.criterion + tie
        selected = list(other.selected)
        error = leave_query_out_error(X, y, qid, selected, regularization)
        assert other.criterion == pytest.approx(error, rel=rtol, abs=atol)
        expected = np.zeros(X.shape[1])
        expected[selected] = rankrls_on_pairs(X[:, selected], y, qid, regularization)
        np.testing.assert_allclose(
            other.coef, expected, rtol=rtol, atol=atol / min(1.0, regularization)
        )
        assert other.before == before
        before = other.criterion


@given(problems(most_features=6, fewest_queries=2))
def test_best_is_the_least_of_all_sets_and_swap_lies_between(
    given_problem: Problem,
) -> None:
    X, y, qid, regularization = given_problem
    rtol, atol = tolerance(given_problem)
    paths = {
        search: list(
            GreedyRankRLS(regularization=regularization, search=search).steps(
                X, y, qid=qid
            )
        )
        for search in ("forward", "swap", "best")
    }
    tie = TIE * paths["best"][0].before
    for best, swap, greedy in zip(
        paths["best"], paths["swap"], paths["forward"], strict=True
    ):
        assert best.criterion <= swap.criterion + tie <= greedy.criterion + 2 * tie
        varying = [
            j
            for j in range(X.shape[1])
            if any(np.ptp(X[qid == q, j]) > 0 for q in np.unique(qid))
        ]
        if best.number > len(varying):
            continue
        every = [
            leave_query_out_error(X, y, qid, list(columns), regularization)
            for columns in combinations(varying, best.number)
        ]
        assert best.criterion == pytest.approx(min(every), rel=rtol, abs=atol)


def test_swaps_are_those_of_retraining() -> None:
    better = 0
    for seed in range(3):
        X, y, qid = problem(seed)
        greedy = list(GreedyRankRLS(5).steps(X, y, qid=qid))
        steps = list(GreedyRankRLS(5, search="swap").steps(X, y, qid=qid))
        for one, other in zip(greedy, steps, strict=True):
            assert sorted(other.selected) == by_swaps(X, y, qid, one.selected)
        better += sum(
            a.criterion < b.criterion for a, b in zip(steps, greedy, strict=True)
        )
    assert better > 0


@pytest.mark.parametrize("search", OTHERS)
def test_candidates_are_those_of_the_set_before(search: str) -> None:
    changed = 0
    for seed in range(10, 13):
        X, y, qid = problem(seed)
        steps = list(GreedyRankRLS(5, search=search).steps(X, y, qid=qid))
        for smaller, larger in pairwise(steps):
            changed += not set(smaller.selected) < set(larger.selected)
            for j in set(range(8)) - set(smaller.selected):
                error = leave_query_out_error(X, y, qid, [*smaller.selected, j], 1.0)
                assert larger.candidates[j] == pytest.approx(error, rel=1e-10)
            assert np.isnan(larger.candidates[list(smaller.selected)]).all()
    assert changed > 0  # sets that are not nested


@pytest.mark.parametrize("search", OTHERS)
def test_pinned_banned_and_useless_features(search: str) -> None:
    X, y, qid = problem(2)
    banned = list(GreedyRankRLS(search=search, banned=(2, 5)).steps(X, y, qid=qid))
    assert sorted(banned[-1].selected) == [0, 1, 3, 4, 6, 7]
    pinned = list(GreedyRankRLS(4, search=search, pinned=(6, 0)).steps(X, y, qid=qid))
    assert [step.selected[:2] for step in pinned] == [(6,), (6, 0), (6, 0), (6, 0)]
    least = min(
        leave_query_out_error(X, y, qid, [6, 0, *more], 1.0)
        for more in combinations((1, 2, 3, 4, 5, 7), 2)
    )
    assert search != "best" or pinned[3].criterion == pytest.approx(least)
    X[:, [1, 4]] = qid[:, None]
    steps = list(GreedyRankRLS(search=search).steps(X, y, qid=qid))
    assert [sorted({1, 4} & set(step.selected)) for step in steps[5:]] == [
        [],
        [1],
        [1, 4],
    ]
    pinned = list(GreedyRankRLS(search=search, pinned=(4,)).steps(X, y, qid=qid))
    assert [sorted({1, 4} & set(step.selected)) for step in pinned] == [[4]] * 7 + [
        [1, 4]
    ]


@pytest.mark.parametrize("search", OTHERS)
def test_groups_move_as_a_whole(search: str) -> None:
    groups = ((6, 1), (2, 3, 7))
    sizes = {
        size: list(combinations(((1, 6), (2, 3, 7), (0,), (4,), (5,)), size))
        for size in (1, 2, 3)
    }
    for seed in range(4):
        X, y, qid = problem(seed)
        greedy = list(GreedyRankRLS(3, groups=groups).steps(X, y, qid=qid))
        for one, other in zip(
            greedy,
            GreedyRankRLS(3, groups=groups, search=search).steps(X, y, qid=qid),
            strict=True,
        ):
            errors = {
                tuple(sorted(sum(chosen, ()))): leave_query_out_error(
                    X, y, qid, sum(chosen, ()), 1.0
                )
                for chosen in sizes[other.number]
            }
            assert other.criterion == pytest.approx(
                errors[tuple(sorted(other.selected))], rel=1e-10
            )
            assert other.criterion <= one.criterion * (1 + 1e-12)
            assert search != "best" or other.criterion == pytest.approx(
                min(errors.values()), rel=1e-10
            )


@pytest.mark.parametrize("search", OTHERS)
def test_progress_comes_before_the_steps(search: str) -> None:
    X, y, qid = problem(0)
    told = list(GreedyRankRLS(search=search).work(group(X, y, qid)))
    signs = [sign for sign in told if isinstance(sign, WorkProgress)]
    assert [isinstance(sign, Step) for sign in told] == [False] * len(signs) + [
        True
    ] * 8
    kinds = {
        "floating": ["greedy search", "floating search"],
        "swap": ["greedy search", "swap search"],
        "best": ["greedy search", "swap search", "best sets"],
    }[search]
    assert list(dict.fromkeys(sign.what for sign in signs)) == kinds
    for kind in kinds:
        shares = [sign.share for sign in signs if sign.what == kind]
        assert shares == sorted(shares)
        assert shares[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("search", OTHERS)
def test_a_size_penalty_ends_the_path_at_the_least_penalised_size(search: str) -> None:
    X, y, qid = problem(0)
    full = GreedyRankRLS(search=search).fit(X, y, qid=qid)
    empty = leave_query_out_error(X, y, qid, [], 1.0)
    for penalty in (1e-4, 0.01, 0.2, 2.0):
        penalised = np.append(
            empty, full.criterion_path_
        ) + penalty * empty * np.arange(9)
        found = GreedyRankRLS(search=search, size_penalty=penalty).fit(X, y, qid=qid)
        assert found.selection_order_.size == penalised.argmin()
    assert found.criterion_path_ == pytest.approx([empty])
    pinned = GreedyRankRLS(search=search, size_penalty=2.0, pinned=(5, 6)).fit(
        X, y, qid=qid
    )
    assert pinned.selection_order_.tolist() == [5, 6]


@pytest.mark.parametrize("search", OTHERS)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_candidates": 3}, "search: expected forward where n_candidates is given"),
        ({"costs": [1] * 8}, "search: expected forward where features have costs"),
        ({"fitting": "back"}, "search: expected forward where fitting is back"),
        ({"algorithm": "algorithm1"}, "algorithm: expected auto"),
        ({"algorithm": "rows"}, "algorithm: expected auto"),
    ],
)
def test_what_makes_no_sense_together_is_refused(
    search: str, parameters: dict[str, Any], message: str
) -> None:
    X, y, qid = problem(0)
    with pytest.raises(ParameterError, match=message):
        GreedyRankRLS(**{"search": search, **parameters}).fit(X, y, qid=qid)


def test_best_search_needs_matrices_of_the_queries() -> None:
    X, y, qid = problem(0)
    with pytest.raises(
        ParameterError, match="algorithm: expected auto or statistics with best search"
    ):
        GreedyRankRLS(3, search="best", algorithm="columns").fit(X, y, qid=qid)
    with pytest.raises(
        ParameterError,
        match="search: expected forward, floating or swap where X is sparse",
    ):
        GreedyRankRLS(3, search="best").fit(csr_array(X), y, qid=qid)


def test_too_many_sets_are_refused_before_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y, qid = problem(0)
    X[:, 7] = qid
    # seven features that vary, up to two of them
    monkeypatch.setattr(subset_problem, "MOST_SETS", 7 + 21)
    assert GreedyRankRLS(2, search="best").fit(X, y, qid=qid).selection_order_.size == 2
    told = []
    with pytest.raises(
        ParameterError, match="expected at most 2 with search best"
    ) as refused:
        told.extend(GreedyRankRLS(search="best").work(group(X, y, qid)))
    assert told == []
    assert (refused.value.name, refused.value.value) == ("n_features_to_select", 8)
    # five sets
    pinned = GreedyRankRLS(3, search="best", pinned=(2, 0)).fit(X, y, qid=qid)
    assert pinned.selection_order_[:2].tolist() == [2, 0]


def test_plans_keep_the_search_and_every_way_there_is_the_same(tmp_path: Path) -> None:
    searches = ("forward", "swap", "best")
    plan = Plan(
        str(tmp_path / "small"), parameters={"regularization": 0.5, "search": searches}
    )
    save_plan(plan, tmp_path / "plan.toml")
    assert (
        load_plan(tmp_path / "plan.toml")
        == plan
        == plan_of_command(plan)
        == plan_of_program(plan)
    )
    for fold in run_plan(plan, dataset()).folds:
        forward, swap, best = (path.criterion for path in fold.paths)
        assert (swap <= forward * (1 + 1e-12)).all()
        assert (best <= swap * (1 + 1e-12)).all()
        assert [
            path.unit.combination.parameters["search"] for path in fold.paths
        ] == list(searches)


def slow_floating(
    X: np.ndarray, y: np.ndarray, qid: np.ndarray, k: int, pinned: tuple[int, ...] = ()
) -> list[list[int]]:
    """The best sets of the sizes 1 … k, by an own loop in which every model is learned anew."""
    known: dict[tuple[int, ...], float] = {}

    def error(features: list[int]) -> float:
        key = tuple(sorted(features))
        if key not in known:
            known[key] = leave_query_out_error(X, y, qid, list(key), 1.0)
        return known[key]

    def grown(features: list[int]) -> list[int]:
        left = [j for j in range(X.shape[1]) if j not in features]
        return min(([*features, j] for j in left), key=error)

    best: dict[int, list[int]] = {t: list(pinned[:t]) for t in range(len(pinned) + 1)}
    for t in range(len(pinned), k):
        best[t + 1] = grown(best[t])
    t = max(1, len(pinned))
    while t <= k:
        smaller = [[j for j in best[t] if j != i] for i in best[t] if i not in pinned]
        if t > max(1, len(pinned)) and error(min(smaller, key=error)) < error(
            best[t - 1]
        ) * (1 - 1e-12):
            best[t - 1] = min(smaller, key=error)
            t -= 1
            continue
        if t < k and error(grown(best[t])) < error(best[t + 1]) * (1 - 1e-12):
            best[t + 1] = grown(best[t])
        t += 1
    return [best[t] for t in range(1, k + 1)]


@pytest.mark.parametrize("pinned", [(), (0,), (6, 0)])
def test_the_sets_are_those_of_the_search_by_retraining(
    pinned: tuple[int, ...],
) -> None:
    better = 0
    for seed in range(5):
        X, y, qid = problem(seed, 7)
        greedy = list(GreedyRankRLS(pinned=pinned).steps(X, y, qid=qid))
        steps = list(
            GreedyRankRLS(search="floating", pinned=pinned).steps(X, y, qid=qid)
        )
        slow = slow_floating(X, y, qid, 7, pinned)
        assert [sorted(step.selected) for step in steps] == [
            sorted(features) for features in slow
        ]
        for step in steps:
            assert step.selected[: len(pinned)] == pinned[: step.number]
        better += sum(
            a.criterion < b.criterion for a, b in zip(steps, greedy, strict=True)
        )
    assert pinned == (6, 0) or better > 0


def test_a_feature_that_later_ones_make_dispensable_is_taken_out() -> None:
    X, _, qid = problem(0, 7)
    y = X[:, 2] + X[:, 3] + X[:, 4]
    greedy = GreedyRankRLS(4).fit(X, y, qid=qid)
    assert greedy.selection_order_[0] == 0
    floating = GreedyRankRLS(4, search="floating").fit(X, y, qid=qid)
    assert [np.flatnonzero(coef).tolist() for coef in floating.coef_path_[[0, 2]]] == [
        [0],
        [2, 3, 4],
    ]
    assert floating.criterion_path_[2] < 0.5 * greedy.criterion_path_[2]
    assert floating.get_support(indices=True).tolist() == sorted(
        floating.selection_order_.tolist()
    )


def test_of_equal_copies_the_later_one_is_taken_out() -> None:
    X, _, qid = problem(1, 5)
    y = X[:, 1] + X[:, 2] + X[:, 3]
    X[:, 0] = X[:, 4] = y + 0.6 * np.random.default_rng(1).normal(size=100)
    greedy, found = (
        list(GreedyRankRLS(4, 30.0, search=search).steps(X, y, qid=qid))
        for search in ("forward", "floating")
    )
    # a copy halves the penalty, as long as there is nothing better
    assert greedy[2].selected == (0, 4, 3)
    assert [sorted(step.selected) for step in found] == [
        [0],
        [0, 4],
        [0, 2, 3],
        [0, 1, 2, 3],
    ]
