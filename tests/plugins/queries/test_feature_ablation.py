"""Leaving a feature out equals training anew without it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from abilities import estimator_class
from experiment.small import dataset, ended, quick

from rankstudio.engine import FSBFS
from rankstudio.engine.arithmetic.query_data import centre
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import Chosen, RunResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.experiment.units.fold_context import group_training
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog import method
from rankstudio.engine.methods.rankers.rankrls import RankRLS
from rankstudio.engine.methods.rankers.ranksvm import RankSVM
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.metrics.evaluation import evaluate
from rankstudio.engine.support import memory
from rankstudio.plugins.queries.feature_ablation import (
    ablated_queries,
    feature_ablation,
    n_unchanged,
    relearned,
)
from rankstudio.plugins.queries.query_comparison import model_scores

LambdaMART = estimator_class("lambdamart")
RankBoost = estimator_class("rankboost")

DATA = dataset(2)


def result_of(plan: Plan) -> RunResult:
    return ended(run(plan, DATA))


def quickly(key: str) -> dict:
    return quick(method(key))


def plans() -> dict[str, tuple[Plan, object]]:
    return {
        "greedy": (
            Plan("small", parameters={"regularization": (4.0,)}),
            RankRLS(regularization=4.0),
        ),
        "pinned": (
            Plan(
                "small",
                parameters={"regularization": (4.0,), "pinned": (1, 4), "banned": (6,)},
            ),
            RankRLS(regularization=4.0),
        ),
        "gas, then RankSVM": (
            Plan(
                "small",
                "gas",
                {"n_features_to_select": 4},
                ranker="ranksvm",
                ranker_parameters={"C": (0.5,)},
            ),
            RankSVM(C=0.5),
        ),
        "gas, then RankRLS": (
            Plan(
                "small",
                "gas",
                {"n_features_to_select": 4},
                ranker="rankrls",
                ranker_parameters={"regularization": (2.0,)},
            ),
            RankRLS(regularization=2.0),
        ),
        "gas, then LambdaMART": (
            Plan(
                "small",
                "gas",
                ranker="lambdamart",
                ranker_parameters=quickly("lambdamart"),
            ),
            LambdaMART(n_rounds=5, min_data_in_leaf=5),
        ),
    }


@pytest.mark.parametrize("ranker", [RankSVM(C=0.5), RankBoost(n_rounds=4)], ids=str)
def test_of_a_sum_one_summand_is_left_out(ranker: LinearRanker) -> None:
    settings = {
        "subset_size": 2,
        "patience": 2,
        "max_iter": 3,
        "n_features_to_select": 3,
    }
    key, given = (
        ranker.entry.key,
        {"C": 0.5} if isinstance(ranker, RankSVM) else {"n_rounds": 4},
    )
    plan = Plan("small", "fs-bfs", settings, ranker=key, ranker_parameters=given)
    fold, train = result_of(plan).folds[0], DATA.folds[0].train
    step = fold.paths[0].steps[-1]
    chosen, column = Chosen(fold.paths[0].unit, step), step.selected[-1]
    found = relearned(
        plan, group_training(DATA.folds[0]), train.feature_ids, chosen, column
    )
    sums = FSBFS(**settings).fit(train.X, train.y, qid=train.qid).combinations_
    sums[:, column] = 0.0
    sums = sums[sums.any(axis=1)]
    new = (
        train.X
        @ (sums / centre(train.X @ sums.T, train.query_ptr).std(axis=0)[:, None]).T
    )
    expected = ranker.fit(new, train.y, qid=train.qid).predict(new)
    scores = found.scores(np.ascontiguousarray(train.X.T))
    assert found.selected == step.selected[:-1]
    np.testing.assert_allclose(
        scores - scores[0], expected - expected[0], rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize("name", plans())
def test_a_feature_left_out_equals_training_without_it(name: str) -> None:
    plan, ranker = plans()[name]
    for fold_result, fold in zip(result_of(plan).folds, DATA.folds, strict=True):
        chosen, train, test = fold_result.chosen, fold.train, fold.test
        ids = DATA.feature_ids
        for column in chosen.step.selected:
            kept = sorted(set(chosen.step.selected) - {column})
            again = relearned(plan, group_training(fold), ids, chosen, column)
            assert column not in again.selected
            assert again.coef[column] == 0
            if not kept:
                assert not model_scores(again, test).any()
                continue
            trained = ranker.fit(train.X[:, kept], train.y, qid=train.qid)
            wanted = trained.predict(test.X[:, kept])
            np.testing.assert_allclose(
                model_scores(again, test), wanted, rtol=1e-6, atol=1e-9
            )


@pytest.mark.parametrize(
    ("key", "ranker"), [("rankboost", RankBoost), ("lambdamart", LambdaMART)]
)
def test_boosting_goes_up_to_the_chosen_round(key: str, ranker: type) -> None:
    plan = Plan("small", key, quickly(key) | {"n_rounds": 20})
    path, fold = result_of(plan).folds[0].paths[0], DATA.folds[0]
    chosen = Chosen(path.unit, path.steps[-2])
    column = chosen.step.selected[0]
    kept = sorted(set(chosen.step.selected) - {column})
    again = relearned(plan, group_training(fold), DATA.feature_ids, chosen, column)
    parameters = dict(chosen.unit.parameters) | {"n_rounds": chosen.step.number}
    trained = ranker(**parameters).fit(
        fold.train.X[:, kept], fold.train.y, qid=fold.train.qid
    )
    np.testing.assert_allclose(
        model_scores(again, fold.test), trained.predict(fold.test.X[:, kept])
    )


def test_one_feature_of_a_group_can_be_left_out() -> None:
    plan = Plan(
        "small",
        parameters={"regularization": 1.0},
        groups={"late": (4, 6), "early": (1, 3)},
    )
    fold = result_of(plan).folds[0]
    chosen = Chosen(fold.chosen.unit, fold.paths[0].steps[-1])
    step = relearned(plan, group_training(DATA.folds[0]), DATA.feature_ids, chosen, 2)
    assert set(step.selected) == {0, 3, 4, 5}


def test_the_fall_is_that_of_the_measures_query_by_query() -> None:
    plan, ranker = plans()["greedy"]
    result = result_of(plan)
    column = result.folds[0].chosen.step.selected[0]
    having = [f for f in result.folds if column in f.chosen.step.selected]
    parts = []
    for f in having:
        fold = DATA.folds[f.fold - 1]
        again = relearned(
            plan, group_training(fold), DATA.feature_ids, f.chosen, column
        )
        parts.append(
            ablated_queries(
                fold, "test", column, (f.chosen.step, again), "MAP", "letor4"
            )
        )
    found = feature_ablation(parts, "MAP")
    whole, without = [], []
    for f in having:
        fold = DATA.folds[f.fold - 1]
        kept = sorted(set(f.chosen.step.selected) - {column})
        scores = ranker.fit(
            fold.train.X[:, kept], fold.train.y, qid=fold.train.qid
        ).predict(fold.test.X[:, kept])
        without.append(
            evaluate(fold.test.y, scores, fold.test.qid, measures=["MAP"]).per_query[
                "MAP"
            ]
        )
        whole.append(f.per_query["MAP"])
    difference = np.concatenate(whole) - np.concatenate(without)
    assert found.fall == pytest.approx(difference.mean())
    assert found.low <= found.fall <= found.high
    assert (found.n_worse, found.n_better) == (
        int((difference > 1e-12).sum()),
        int((difference < -1e-12).sum()),
    )
    assert found.n_worse + found.n_equal + found.n_better == difference.size
    assert found.folds == tuple(f.fold for f in having)
    assert n_unchanged(parts) == found.n_equal


@pytest.mark.parametrize(
    ("method", "ranker"),
    [("greedy-rankrls", ""), ("gas", "ranksvm"), ("gas", "rankrls"), ("rankboost", "")],
)
def test_data_of_several_shards_on_the_disk_need_memory_for_the_features_left_alone(
    method: str, ranker: str, tmp_path: Path
) -> None:
    plan = Plan(
        "small",
        method,
        quickly(method),
        ranker=ranker,
        ranker_parameters=quickly(ranker) if ranker else {},
    )
    train = DATA.folds[0].train
    np.save(tmp_path / "X.npy", train.X)
    shards = TrainingData(train.X, train.y, train.query_ptr, documents=30)
    mapped = replace(shards, X=np.load(tmp_path / "X.npy", mmap_mode="r"))
    chosen = result_of(plan).folds[0].chosen
    left = len(chosen.step.selected) - 1
    column = chosen.step.selected[0]
    expected = relearned(plan, shards, train.feature_ids, chosen, column)
    with memory.within(2.0 * 8 * left * train.n_documents):
        found = relearned(plan, mapped, train.feature_ids, chosen, column)
    assert np.array_equal(found.coef, expected.coef)
    whole = relearned(
        plan, group_training(DATA.folds[0]), train.feature_ids, chosen, column
    )
    np.testing.assert_allclose(found.coef, whole.coef, rtol=1e-4, atol=1e-9)
