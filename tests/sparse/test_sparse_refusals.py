"""What cannot be done with sparse rows is refused with a sentence before work begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sparse_draws import REFUSED_RUNS

from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.errors import ParameterError, PlanError
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
    sparse = {
        name: one.changed(X=SparseRows.of_array(np.array(one.X)))
        for name, one in parts.items()
    }
    return FoldedDataset("x", None, (Fold(1, **parts),)), FoldedDataset(
        "x", None, (Fold(1, **sparse),)
    )


REFUSED: dict[str, dict[str, Any]] = {
    "pairs": {"parameters": {"pairs": ("all",), "regularization": (1.0,)}},
    "cost": {"parameters": {"cost": ("magnitude", "unit")}},
    "ties": {"parameters": {"ties": (False,)}},
    "weighting": {"parameters": {"weighting": ("pairs",)}},
    "search": {"parameters": {"search": ("best",), "n_features_to_select": 3}},
    "algorithm": {"parameters": {"algorithm": ("statistics",)}},
    "criterion": {"select_by": "criterion"},
}


@pytest.mark.parametrize(
    ("method", "what"),
    [
        (method, what)
        for method, refused in REFUSED_RUNS.items()
        for what in sorted(refused)
    ],
)
def test_what_is_not_learned_is_refused_before_work(method: str, what: str) -> None:
    dense, sparse = both()
    plan = Plan("x", method, **REFUSED[what])
    check(plan, dense)
    with pytest.raises((PlanError, ParameterError), match=rf"^{what}: .*sparse"):
        check(plan, sparse)


@pytest.mark.ability("preferences")
@pytest.mark.parametrize("method", sorted(REFUSED_RUNS))
def test_preferences_are_learned_with_any_cost(method: str, tmp_path: Path) -> None:
    rows = [f"{query},2,1" for query in range(10)]
    (tmp_path / "pairs.csv").write_text("\n".join(["qid,winner,loser", *rows]) + "\n")
    _, sparse = both()
    plan = Plan("x", method, parameters={"cost": ("unit",)}, select_by="MAP")
    with pytest.raises(ParameterError):
        check(plan, sparse)
    check(plan.changed(preferences={"path": str(tmp_path / "pairs.csv")}), sparse)


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
    "X",
    [
        np.array([[0.0, 2.0], [3.0, 0.0]]),
        np.array([[2.0, 3.0]]),
        np.zeros((2, 2)),
        -np.eye(2),
    ],
)
def test_the_range_of_values_is_that_of_the_array(X: np.ndarray) -> None:
    assert value_range(SparseRows.of_array(X)) == value_range(X) == (X.min(), X.max())
