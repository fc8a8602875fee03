"""FS-BFS: the search against all subsets where those can be listed, and RankRLS on the new features."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from abilities import estimator_class
from experiment.small import dataset, ended
from hypothesis import given
from oracles import leave_query_out_error, rankrls_on_pairs
from ordering import ranking_problem
from strategies import Problem, problems

from rankstudio.engine import FSBFS, RankSVM, evaluate
from rankstudio.engine.arithmetic.query_data import centre
from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.errors import OutputError, PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.experiment.storage.codec import pack_path, unpack_path
from rankstudio.engine.export.formats.registry import model_formats
from rankstudio.engine.export.models import Model, Weight, load_model, save_model
from rankstudio.engine.export.proof import ranking_proof
from rankstudio.engine.export.score_function import score_function
from rankstudio.engine.methods.selection.fs_bfs import BestFirstSearch

KernelRankRLS = estimator_class("kernel-rankrls")

MODEL_FORMATS = model_formats()

LambdaMART = estimator_class("lambdamart")
RankBoost = estimator_class("rankboost")


@given(problems(most_features=5))
def test_subsets_partition_the_features_that_vary(problem: Problem) -> None:
    X, y, qid, regularization = problem
    y = np.clip(np.round(y), 0, 2)
    method = FSBFS(
        subset_size=2, measure="MAP", max_iter=3, regularization=regularization
    )
    steps = list(method.steps(X, y, qid=qid))
    method.fit(X, y, qid=qid)
    members = [j for subset in method.subsets_ for j in subset]
    varies = [
        j for j in range(X.shape[1]) if any(np.ptp(X[qid == q, j]) > 0 for q in qid)
    ]
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
    found = FSBFS(1, subset_size=2, measure="MAP", patience=100, tolerance=1e-9).fit(
        X, y, qid=qid
    )
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


def test_a_run_searches_once_for_all_regularizations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A path ends before the constant feature: the search is never asked for a subset that is not there."""
    searched = []
    best_subset = BestFirstSearch.best_subset

    def counted(search: BestFirstSearch, left: list[int], singles: Any) -> Any:
        searched.append(tuple(left))
        return best_subset(search, left, singles)

    monkeypatch.setattr(BestFirstSearch, "best_subset", counted)
    values = {
        "regularization": (0.5, 1.0, 2.0),
        "subset_size": (2,),
        "measure": ("MAP",),
    }
    (result,) = ended(
        run(Plan("small", "fs-bfs", parameters=values), dataset(folds=1))
    ).folds
    subsets = [[step.selected for step in path.steps] for path in result.paths]
    assert len(subsets) == 3 and subsets[0] == subsets[1] == subsets[2]
    assert len(searched) == len(subsets[0])


def test_the_seed_makes_the_subsets() -> None:
    X, y, qid = ranking_problem()
    first, again = (FSBFS(subset_size=3, seed=5).fit(X, y, qid=qid) for _ in range(2))
    assert first.subsets_ == again.subsets_
    assert (first.coef_ == again.coef_).all()


QUICK = {"subset_size": 2, "patience": 2, "max_iter": 3, "n_features_to_select": 3}


def path_of(**changes: object) -> PathResult:
    plan = Plan("small", "fs-bfs", parameters=QUICK, **changes)  # type: ignore[arg-type]
    (result,) = ended(run(plan, dataset(folds=1))).folds
    return result.paths[0]


def test_a_final_ranker_ranks_with_the_new_features() -> None:
    """RankRLS as final ranker is the method's own model; RankSVM is trained on the sums."""
    train = dataset(folds=1).folds[0].train
    own = path_of()
    given = {"regularization": own.unit.parameters["regularization"]}
    ranked = path_of(ranker="rankrls", ranker_parameters=given)
    fitted = FSBFS(**QUICK).fit(train.X, train.y, qid=train.qid)
    assert len(own.steps) == len(ranked.steps) > 1
    for step, same in zip(own.steps, ranked.steps, strict=True):
        assert step.selected == same.selected
        np.testing.assert_allclose(same.coef, step.coef, rtol=1e-7, atol=1e-9)
    by_margins = path_of(ranker="ranksvm", ranker_parameters={"C": 1.0})
    sums = centre(train.X @ fitted.combinations_.T, train.query_ptr)
    new = train.X @ fitted.combinations_.T / sums.std(axis=0)
    for number, step in enumerate(by_margins.steps, start=1):
        expected = RankSVM(C=1.0).fit(new[:, :number], train.y, qid=train.qid)
        scores = step.scores(np.ascontiguousarray(train.X.T))
        np.testing.assert_allclose(
            scores, new[:, :number] @ expected.coef_, rtol=1e-6, atol=1e-8
        )


@pytest.mark.parametrize(
    ("ranker", "parameters", "by_hand", "kind"),
    [
        ("rankboost", {"n_rounds": 9}, RankBoost(n_rounds=9), "sums"),
        (
            "lambdamart",
            {"n_rounds": 4, "num_leaves": 4},
            LambdaMART(n_rounds=4, num_leaves=4),
            "sums",
        ),
        (
            "kernel-rankrls",
            {"gamma": 0.5, "regularization": 1.0},
            KernelRankRLS(regularization=1.0, gamma=0.5),
            "kernel",
        ),
    ],
)
def test_trees_and_kernels_rank_with_the_new_features_from_training_to_file(
    ranker: str, parameters: dict[str, Any], by_hand: Any, kind: str, tmp_path: Path
) -> None:
    """Every way to score gives the scores of a model that was trained on the sums, bit by bit."""
    train = dataset(folds=1).folds[0].train
    ids, columns = train.feature_ids, np.ascontiguousarray(train.X.T)
    fitted = FSBFS(**QUICK).fit(train.X, train.y, qid=train.qid)
    plain = train.X @ fitted.combinations_.T
    scaled = fitted.combinations_ / centre(plain, train.query_ptr).std(axis=0)[:, None]
    new = linear_scores(columns, scaled).T
    path = path_of(ranker=ranker, ranker_parameters=parameters)
    assert len(path.steps) == len(fitted.subsets_) > 1
    for number, step in enumerate(path.steps, start=1):
        assert step.selected == tuple(
            f for subset in fitted.subsets_[:number] for f in subset
        )
        assert set(np.flatnonzero(step.coef)) <= set(step.selected)
        expected = by_hand.fit(new[:, :number], train.y, qid=train.qid).predict(
            new[:, :number]
        )
        scores = step.scores(columns)
        np.testing.assert_allclose(scores, expected, rtol=1e-6, atol=1e-9)
        weights = tuple(
            Weight(int(ids[c]), "", float(step.coef[c])) for c in step.selected
        )
        model = Model(weights, "fs-bfs", {}, {}, step.beyond_weights(ids.tolist()))
        save_model(tmp_path / f"{number}.json", model)
        np.testing.assert_array_equal(
            load_model(tmp_path / f"{number}.json").predict(train.X, ids), scores
        )
        stored = unpack_path(
            pack_path(path, step, ids.tolist()), path.unit, ids.tolist()
        )
        np.testing.assert_array_equal(stored.steps[number - 1].scores(columns), scores)
        assert stored.steps[number - 1].kind == step.kind == kind
    refused = [
        form
        for form in MODEL_FORMATS.values()
        if form.refusal(linear=False, scaled=False, kind=kind)
    ]
    n_able = sum(form.sums for form in MODEL_FORMATS.values()) if kind == "sums" else 0
    assert len(refused) == len(MODEL_FORMATS) - n_able and n_able <= 1
    if kind == "kernel":
        with pytest.raises(OutputError, match="kernel functions"):
            score_function(model)
        return
    function = score_function(model)
    for form in refused:
        with pytest.raises(OutputError, match="sums of features"):
            form.files(function)
    python = MODEL_FORMATS.get("python")
    if python is None:  # without the plug-in of exports
        return
    part = dataset(folds=1).folds[0].train
    found = ranking_proof(model, function, python, python.files(function), [part])
    assert found.identical == found.n_queries > 0


def test_new_features_have_no_left_out_measure() -> None:
    with pytest.raises(PlanError, match="leave-query-out"):
        path_of(ranker="rankrls", select_by="leave-query-out MAP")
