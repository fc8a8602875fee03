"""FS-BFS: the search against all subsets where those can be listed, and RankRLS on the new features."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from experiment.small import dataset, ended
from hypothesis import given
from oracles import leave_query_out_error, rankrls_on_pairs
from ordering import ranking_problem
from strategies import Problem, problems

from rankstudio.engine import FSBFS, evaluate
from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.methods.selection.fs_bfs import BestFirstSearch


@given(problems(most_features=5))
def test_subsets_partition_the_features_that_vary(problem: Problem) -> None:
    X, y, qid, regularization = problem
    y = np.clip(np.round(y), 0, 2)
    method = FSBFS(subset_size=2, measure="MAP", max_iter=3, regularization=regularization)
    steps = list(method.steps(X, y, qid=qid))
    method.fit(X, y, qid=qid)
    members = [j for subset in method.subsets_ for j in subset]
    varies = [j for j in range(X.shape[1]) if any(np.ptp(X[qid == q, j]) > 0 for q in qid)]
    assert sorted(members) == (varies or [0])
    assert all(len(subset) <= 2 for subset in method.subsets_)
    assert members == list(steps[-1].selected) == method.selection_order_.tolist()
    assert np.flatnonzero(method.support_).tolist() == sorted(members)
    for subset, weights, score in zip(
        method.subsets_, method.combinations_, method.subset_scores_, strict=True
    ):
        assert set(np.flatnonzero(weights)) <= set(subset)
        scores = linear_scores(np.ascontiguousarray(X.T), weights[None, :])[0]
        if varies and y.max() > 0:
            assert score == evaluate(y, scores, qid, measures=["MAP"])["MAP"]


def test_steps_are_rankrls_on_the_new_features() -> None:
    X, y, qid = ranking_problem()
    method = FSBFS(subset_size=2, regularization=0.5).fit(X, y, qid=qid)
    new = method.transform(X)
    assert new.shape == (120, len(method.subsets_))
    centred = np.vstack([new[qid == q] - new[qid == q].mean(axis=0) for q in range(10)])
    scaled = new / np.sqrt((centred**2).mean(axis=0))
    for t, step in enumerate(method.steps(X, y, qid=qid), start=1):
        w = rankrls_on_pairs(scaled[:, :t], y, qid, 0.5)
        for q in range(10):
            difference = X[qid == q] @ step.coef - scaled[qid == q, :t] @ w
            np.testing.assert_allclose(difference, difference[0], atol=1e-9)
        expected = leave_query_out_error(scaled[:, :t], y, qid, list(range(t)), 0.5)
        assert step.criterion == pytest.approx(expected)
    assert method.n_steps(6) == 6


def test_no_pair_is_better_than_the_one_that_was_found() -> None:
    """With enough patience every pair is opened; the best found may not lose to a grid over all of them."""
    X, y, qid = ranking_problem(3)
    X = X[:, [0, 1, 4]]
    found = FSBFS(1, subset_size=2, measure="MAP", patience=100, tolerance=1e-9).fit(X, y, qid=qid)
    best = 0.0
    for i, j in combinations(range(3), 2):
        for angle in np.linspace(0, 2 * np.pi, 240, endpoint=False):
            scores = np.cos(angle) * X[:, i] + np.sin(angle) * X[:, j]
            best = max(best, evaluate(y, scores, qid, measures=["MAP"])["MAP"])
    assert set(found.subsets_[0]) == {1, 2}
    assert found.subset_scores_[0] >= best - 0.01
    single = max(evaluate(y, x, qid, measures=["MAP"])["MAP"] for x in X.T)
    assert found.subset_scores_[0] > single + 0.01


def test_size_one_orders_single_features() -> None:
    X, y, qid = ranking_problem()
    found = FSBFS(subset_size=1, measure="MAP").fit(X, y, qid=qid)
    assert all(len(subset) == 1 for subset in found.subsets_)
    assert found.subsets_[0] == (4,)
    assert (np.diff(found.subset_scores_) <= 0).all()


def test_a_run_searches_once_for_all_regularizations(monkeypatch: pytest.MonkeyPatch) -> None:
    """A path ends before the constant feature: the search is never asked for a subset that is not there."""
    searched = []
    best_subset = BestFirstSearch.best_subset

    def counted(search: BestFirstSearch, left: list[int], singles: Any) -> Any:
        searched.append(tuple(left))
        return best_subset(search, left, singles)

    monkeypatch.setattr(BestFirstSearch, "best_subset", counted)
    values = {"regularization": (0.5, 1.0, 2.0), "subset_size": (2,), "measure": ("MAP",)}
    (result,) = ended(run(Plan("small", "fs-bfs", parameters=values), dataset(folds=1))).folds
    subsets = [[step.selected for step in path.steps] for path in result.paths]
    assert len(subsets) == 3 and subsets[0] == subsets[1] == subsets[2]
    assert len(searched) == len(subsets[0])


def test_the_seed_makes_the_subsets() -> None:
    X, y, qid = ranking_problem()
    first, again = (FSBFS(subset_size=3, seed=5).fit(X, y, qid=qid) for _ in range(2))
    assert first.subsets_ == again.subsets_
    assert (first.coef_ == again.coef_).all()
