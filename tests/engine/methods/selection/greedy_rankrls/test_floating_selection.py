"""Floating search: never worse than greedy, the sets of a search by retraining, nothing left to improve."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import leave_query_out_error, rankrls_on_pairs
from strategies import Problem, problems, tolerance

from rankstudio.engine import GreedyRankRLS, open_dataset
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.selection.base import TIE
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress


def problem(seed: int, features: int = 7) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """25 queries of 4 documents; the first feature nearly sums up others, and is of no use beside them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, features))
    X[:, 0] = X[:, 2] + X[:, 3] + X[:, 4] + 0.6 * rng.normal(size=100)
    y = X[:, 2] + X[:, 3] + X[:, 4] + 0.5 * X[:, 1] + 0.2 * rng.normal(size=100)
    return X, y, np.repeat(np.arange(25), 4)


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
        if t > max(1, len(pinned)) and error(min(smaller, key=error)) < error(best[t - 1]) * (1 - 1e-12):
            best[t - 1] = min(smaller, key=error)
            t -= 1
            continue
        if t < k and error(grown(best[t])) < error(best[t + 1]) * (1 - 1e-12):
            best[t + 1] = grown(best[t])
        t += 1
    return [best[t] for t in range(1, k + 1)]


@pytest.mark.parametrize("algorithm", ["auto", "statistics", "columns"])
@given(given_problem=problems(fewest_queries=2))
def test_never_worse_than_greedy_and_every_criterion_is_that_of_retraining(
    algorithm: str, given_problem: Problem
) -> None:
    X, y, qid, regularization = given_problem
    rtol, atol = tolerance(given_problem)
    greedy, floating = (
        list(GreedyRankRLS(regularization=regularization, algorithm=algorithm, search=s).steps(X, y, qid=qid))
        for s in ("forward", "floating")
    )
    assert [step.number for step in floating] == [len(step.selected) for step in floating]
    before = before_any = floating[0].before
    for one, other in zip(greedy, floating, strict=True):
        # "auto" takes another search for each, whose criteria of the same set differ by what counts as a tie.
        assert other.criterion <= one.criterion + (TIE * before_any if algorithm == "auto" else 0.0)
        selected = list(other.selected)
        error = leave_query_out_error(X, y, qid, selected, regularization)
        assert other.criterion == pytest.approx(error, rel=rtol, abs=atol)
        expected = np.zeros(X.shape[1])
        expected[selected] = rankrls_on_pairs(X[:, selected], y, qid, regularization)
        np.testing.assert_allclose(other.coef, expected, rtol=rtol, atol=atol / min(1.0, regularization))
        assert other.before == before
        before = other.criterion


@given(st.integers(0, 2**32 - 1), st.integers(2, 40))
def test_never_worse_where_features_make_others_dispensable(seed: int, features: int) -> None:
    rng = np.random.default_rng(seed)
    hidden = rng.random((150, 3))
    X = hidden @ rng.normal(size=(3, features)) + 0.2 * rng.random((150, features))
    y, qid = hidden[:, 0] - 2 * hidden[:, 1] + 0.3 * rng.normal(size=150), np.sort(rng.integers(0, 30, 150))
    greedy, floating = (
        GreedyRankRLS(regularization=2.0**-4, algorithm="columns", search=s).fit(X, y, qid=qid)
        for s in ("forward", "floating")
    )
    assert (floating.criterion_path_ <= greedy.criterion_path_).all()


@pytest.mark.parametrize("pinned", [(), (0,), (6, 0)])
def test_the_sets_are_those_of_the_search_by_retraining(pinned: tuple[int, ...]) -> None:
    better = 0
    for seed in range(5):
        X, y, qid = problem(seed)
        greedy = list(GreedyRankRLS(pinned=pinned).steps(X, y, qid=qid))
        steps = list(GreedyRankRLS(search="floating", pinned=pinned).steps(X, y, qid=qid))
        slow = slow_floating(X, y, qid, 7, pinned)
        assert [sorted(step.selected) for step in steps] == [sorted(features) for features in slow]
        for step in steps:
            assert step.selected[: len(pinned)] == pinned[: step.number]
        better += sum(a.criterion < b.criterion for a, b in zip(steps, greedy, strict=True))
    assert pinned == (6, 0) or better > 0


def test_a_feature_that_later_ones_make_dispensable_is_taken_out() -> None:
    X, _, qid = problem(0)
    y = X[:, 2] + X[:, 3] + X[:, 4]
    greedy = GreedyRankRLS(4).fit(X, y, qid=qid)
    assert greedy.selection_order_[0] == 0
    floating = GreedyRankRLS(4, search="floating").fit(X, y, qid=qid)
    assert [np.flatnonzero(coef).tolist() for coef in floating.coef_path_[[0, 2]]] == [[0], [2, 3, 4]]
    assert floating.criterion_path_[2] < 0.5 * greedy.criterion_path_[2]
    assert floating.get_support(indices=True).tolist() == sorted(floating.selection_order_.tolist())


def test_at_the_end_no_single_change_helps() -> None:
    for seed in range(10, 15):
        X, y, qid = problem(seed, 9)
        steps = list(GreedyRankRLS(6, search="floating").steps(X, y, qid=qid))
        for smaller, larger in pairwise(steps):
            for j in set(range(9)) - set(smaller.selected):
                error = leave_query_out_error(X, y, qid, [*smaller.selected, j], 1.0)
                assert larger.criterion <= error * (1 + 1e-10)
                assert larger.candidates[j] == pytest.approx(error, rel=1e-10)
            assert np.isnan(larger.candidates[list(smaller.selected)]).all()
            for i in larger.selected:
                rest = [j for j in larger.selected if j != i]
                assert smaller.criterion <= leave_query_out_error(X, y, qid, rest, 1.0) * (1 + 1e-10)


def test_banned_features_stay_out() -> None:
    X, y, qid = problem(1)
    steps = list(GreedyRankRLS(search="floating", banned=(2, 5)).steps(X, y, qid=qid))
    assert sorted(steps[-1].selected) == [0, 1, 3, 4, 6]


def test_features_that_cannot_rank_come_last() -> None:
    X, y, qid = problem(2)
    X[:, [1, 4]] = qid[:, None]
    steps = list(GreedyRankRLS(search="floating").steps(X, y, qid=qid))
    assert [sorted({1, 4} & set(step.selected)) for step in steps[4:]] == [[], [1], [1, 4]]
    pinned = list(GreedyRankRLS(search="floating", pinned=(4,)).steps(X, y, qid=qid))
    assert [sorted({1, 4} & set(step.selected)) for step in pinned] == [[4]] * 6 + [[1, 4]]


def test_signs_of_life_come_before_the_steps() -> None:
    X, y, qid = problem(0)
    told = list(GreedyRankRLS(search="floating").work(group(X, y, qid)))
    signs = [sign for sign in told if isinstance(sign, WorkProgress)]
    assert [isinstance(sign, Step) for sign in told] == [False] * len(signs) + [True] * 7
    assert [sign.what for sign in signs[:7]] == ["greedy search"] * 7
    shares = [sign.share for sign in signs[7:]]
    assert {sign.what for sign in signs[7:]} == {"floating search"}
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_size_penalty_ends_the_path_at_the_least_penalised_size() -> None:
    X, y, qid = problem(0)
    full = GreedyRankRLS(search="floating").fit(X, y, qid=qid)
    empty = leave_query_out_error(X, y, qid, [], 1.0)
    for penalty in (1e-4, 0.01, 0.2, 2.0):
        penalised = np.append(empty, full.criterion_path_) + penalty * empty * np.arange(8)
        found = GreedyRankRLS(search="floating", size_penalty=penalty).fit(X, y, qid=qid)
        assert found.selection_order_.size == penalised.argmin()
    assert found.criterion_path_ == pytest.approx([empty])
    pinned = GreedyRankRLS(search="floating", size_penalty=2.0, pinned=(5, 6)).fit(X, y, qid=qid)
    assert pinned.selection_order_.tolist() == [5, 6]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"search": "backward"}, "search: expected forward, floating, swap or best, got 'backward'"),
        ({"n_candidates": 3}, "search: expected forward where n_candidates is given"),
        ({"costs": [1] * 7}, "search: expected forward where features have costs"),
        ({"fitting": "back"}, "search: expected forward where fitting is back"),
        ({"algorithm": "algorithm1"}, "algorithm: expected auto, statistics or columns with floating search"),
        ({"algorithm": "rows"}, "algorithm: expected auto, statistics or columns with floating search"),
    ],
)
def test_what_makes_no_sense_together_is_refused(parameters: dict, message: str) -> None:
    X, y, qid = problem(0)
    with pytest.raises(ParameterError, match=message):
        GreedyRankRLS(**{"search": "floating", **parameters}).fit(X, y, qid=qid)


@pytest.mark.realdata
@pytest.mark.thorough
def test_never_worse_on_mq2008(letor_dir: Path) -> None:
    train = open_dataset(letor_dir / "MQ2008").folds[0].train
    qid = np.repeat(np.arange(train.query_ptr.size - 1), np.diff(train.query_ptr))
    greedy, floating = (
        GreedyRankRLS(regularization=4.0, search=s).fit(train.X, train.y, qid=qid)
        for s in ("forward", "floating")
    )
    assert (floating.criterion_path_ <= greedy.criterion_path_).all()
    assert (floating.criterion_path_ < greedy.criterion_path_).any()
