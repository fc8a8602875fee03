"""What cannot be done with sparse rows is refused with a sentence before work begins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.reports import chosen_model
from rankstudio.engine.experiment.runner import check, run_plan
from rankstudio.engine.support.sparse_rows import SparseRows, value_range


def part(seed: int) -> RankingDataset:
    rng = np.random.default_rng(seed)
    X = rng.random((60, 5)) * (rng.random((60, 5)) < 0.5)
    y = np.clip(np.round(3 * X[:, 1] + X[:, 3]), 0, 2)
    return RankingDataset.from_arrays(X, y, np.repeat(np.arange(10), 6) + 100 * seed)


def both() -> tuple[FoldedDataset, FoldedDataset]:
    parts = {name: part(seed) for seed, name in enumerate(("train", "vali", "test"))}
    sparse = {name: one.changed(X=SparseRows.of_array(np.array(one.X))) for name, one in parts.items()}
    return FoldedDataset("x", None, (Fold(1, **parts),)), FoldedDataset("x", None, (Fold(1, **sparse),))


@pytest.mark.parametrize(
    "values",
    [
        {"parameters": {"pairs": ("all",), "regularization": (1.0,)}},
        {"select_by": "criterion"},
    ],
)
def test_rankrls_refuses_before_work(values: dict[str, Any]) -> None:
    dense, sparse = both()
    plan = Plan("x", "rankrls", **values)
    check(plan, dense)
    with pytest.raises(PlanError):
        check(plan, sparse)


@pytest.mark.parametrize("method", ["rankboost", "expected-divergence"])
def test_models_of_arrays_are_those_of_dense_data(method: str) -> None:
    results = [run_plan(Plan("x", method), data) for data in both()]
    tests = [dict(result.folds[0].test) for result in results]
    assert tests[0] == pytest.approx(tests[1])
    scores = [
        chosen_model(result, result.folds[0]).predict(data.folds[0].train.X)
        for result, data in zip(results, both(), strict=True)
    ]
    np.testing.assert_allclose(scores[0], scores[1])


@pytest.mark.parametrize(
    "X", [np.array([[0.0, 2.0], [3.0, 0.0]]), np.array([[2.0, 3.0]]), np.zeros((2, 2)), -np.eye(2)]
)
def test_the_range_of_values_is_that_of_the_array(X: np.ndarray) -> None:
    assert value_range(SparseRows.of_array(X)) == value_range(X) == (X.min(), X.max())
