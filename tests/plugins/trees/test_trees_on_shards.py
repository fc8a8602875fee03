"""LambdaMART and XGBoost on shards: the trees of all documents at once, from data binned piece by piece."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sharded_problems import cut, elsewhere, problem, steps

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.memory_need import DataShape, Reading
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support.work import WorkProgress
from rankstudio.plugins.trees.converted_trees import XGBoostTrees
from rankstudio.plugins.trees.lambdamart import _SAMPLED_DOCUMENTS, LambdaMART, TreeStep
from rankstudio.plugins.trees.lambdamart_top import LambdaMARTTop

QUICK = LambdaMART(n_rounds=6, num_leaves=5, min_data_in_leaf=3, feature_fraction=0.7)
XGBOOST = XGBoostTrees(n_rounds=6, max_depth=3, feature_fraction=0.7)
BOTH = pytest.mark.parametrize("quick", [QUICK, XGBOOST], ids=["LightGBM", "XGBoost"])


def learned(
    method: LinearRanker, data: QueryData | TrainingData
) -> tuple[str, list[float]]:
    """Return the trees, and the criterion of each round."""
    if isinstance(method, XGBoostTrees):
        pytest.importorskip("xgboost", reason="needs the extra xgboost")
    found = [step for step in steps(method, data) if isinstance(step, TreeStep)]
    return found[-1].model_text().split("parameters:")[0], [
        step.criterion for step in found
    ]


@BOTH
@pytest.mark.parametrize("documents", [1, 7, 40, 150])
def test_trees_are_those_of_all_documents(quick: LinearRanker, documents: int) -> None:
    data = problem(60)
    assert learned(quick, cut(data, documents)) == learned(quick, data)


@BOTH
def test_the_same_trees_everywhere(quick: LinearRanker, tmp_path: Path) -> None:
    data = problem(60)
    expected = learned(quick, data)
    for other in elsewhere(data, 40, tmp_path):
        assert learned(quick, other) == expected
    assert isinstance(next(iter(quick.work(cut(data, 40)))), WorkProgress)
    shape = DataShape(10**6, 30, 10**4, 65_536, on_disk=True)
    assert quick.memory_need(shape).reading is Reading.IN_TURN


@pytest.mark.parametrize(
    "method",
    [LambdaMART(n_rounds=2, seed=12_345_678), XGBoostTrees(n_rounds=2)],
    ids=["LightGBM", "XGBoost"],
)
def test_bins_are_those_of_all_documents(method: LinearRanker) -> None:
    rng = np.random.default_rng(0)
    m = _SAMPLED_DOCUMENTS + 10_000
    X = np.where(rng.random((m, 3)) < 0.4, 0.0, rng.standard_normal((m, 3)))
    y = np.clip(np.round(X[:, 0] + rng.standard_normal(m)), 0, 2)
    data = QueryData(X, y, np.arange(0, m + 1, 100))
    expected = learned(method, data)
    assert learned(method, cut(data, 30_000)) == expected
    assert learned(method, cut(data, m)) == expected  # one shard, and so all at once


def test_the_data_go_when_the_run_ends() -> None:
    data, columns = problem(60), np.ascontiguousarray(problem(60).X.T)
    during, scores = [], []
    for told in QUICK.work(cut(data, 40)):
        if isinstance(told, TreeStep):
            during.append((told.booster, told.model_text()))
            scores.append(told.scores(columns))
    last = [step for step in steps(QUICK, cut(data, 40)) if isinstance(step, TreeStep)]
    assert hasattr(during[0][0], "train_set")
    assert not hasattr(last[-1].booster, "train_set")
    for step, (_, text), before in zip(last, during, scores, strict=True):
        assert step.model_text() == text
        assert np.array_equal(step.scores(columns), before)


def test_the_first_features_are_those_of_all_documents(tmp_path: Path) -> None:
    data, columns = problem(60), np.ascontiguousarray(problem(60).X.T)
    method = LambdaMARTTop(3, n_rounds=4, num_leaves=4, min_data_in_leaf=3)
    whole = steps(method, data)
    for other in elsewhere(data, 40, tmp_path):
        found = steps(method, other)
        assert [step.selected for step in found] == [step.selected for step in whole]
        for one, step in zip(whole, found, strict=True):
            assert np.array_equal(step.scores(columns), one.scores(columns))
            assert np.array_equal(step.coef, one.coef)
            assert step.criterion == one.criterion
