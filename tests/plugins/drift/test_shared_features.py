"""Models meet the columns of another table by name, whatever their order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from letor_folder import save_folds

from rankstudio.engine import Plan, refit, run_plan, save_model, transfer_matrix
from rankstudio.engine.errors import DatasetError, PlanError
from rankstudio.engine.experiment.runner import open_data
from rankstudio.engine.experiment.units.given_fold import plan_of_given
from rankstudio.plugins.drift.transfer import transfer

NAMES = ["price", "clicks", "age", "stock"]


def save_table(path: Path, seed: int, order: list[str]) -> str:
    """Write a table whose labels follow the price, with its features in an order."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(160, len(NAMES)))
    table = pd.DataFrame(X, columns=NAMES)[order]
    table["label"] = (X[:, 0] + 0.3 * rng.normal(size=160) > 0).astype(int)
    table["qid"] = np.repeat(np.arange(16), 10)
    table.to_csv(path, index=False)
    return str(path)


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Plan on the first table, divided into folds."""
    return Plan(
        save_table(tmp_path / "first.csv", 0, NAMES),
        "rankrls",
        parameters={"regularization": (1.0,)},
        protocol="4-fold",
    )


def test_a_table_with_other_order_is_measured_as_with_the_same(
    plan: Plan, tmp_path: Path
) -> None:
    """Without the names, the weight of the price would meet another column."""
    same = save_table(tmp_path / "same.csv", 1, NAMES)
    moved = save_table(tmp_path / "moved.csv", 1, NAMES[::-1])
    wider = tmp_path / "wider.csv"
    pd.read_csv(moved).assign(extra=1.0).to_csv(wider, index=False)
    expected = transfer_matrix(plan, [plan.data, same]).values
    assert expected[0, 1] > 0.8
    result = run_plan(plan)
    for place in (moved, str(wider)):
        np.testing.assert_allclose(
            transfer_matrix(plan, [plan.data, place]).values, expected, rtol=1e-12
        )
        transferred = transfer(result, open_data(plan), place)
        assert transferred.transferred_run.average["MAP"] == pytest.approx(
            expected[0, 1]
        )


def test_a_model_is_refused_where_a_divided_table_has_its_column_elsewhere(
    plan: Plan, tmp_path: Path
) -> None:
    model_path = tmp_path / "model.json"
    save_model(model_path, refit(run_plan(plan), open_data(plan)))
    moved_plan = plan.changed(data=save_table(tmp_path / "moved.csv", 1, NAMES[::-1]))
    with pytest.raises(
        DatasetError, match="found price as feature 4, expected it as feature 1"
    ):
        plan_of_given(
            "given-model", moved_plan, "model", model_path, open_data(moved_plan)
        )


def test_one_id_with_two_names_is_refused(tmp_path: Path) -> None:
    places = [save_folds(tmp_path / name, 1, n_queries=18) for name in "AB"]
    plan = Plan(str(places[0]), "rankrls", parameters={"regularization": (1.0,)})
    texts = [str(place) for place in places]
    names = open_data(plan).folds[0].train.feature_names
    (places[0] / "feature_names.txt").write_text(
        "".join(f"{i + 1} f{i}\n" for i in range(len(names)))
    )
    transfer_matrix(plan, texts)  # names beside numbered ones
    (places[1] / "feature_names.txt").write_text(
        "".join(f"{i + 1} g{i}\n" for i in range(len(names)))
    )
    with pytest.raises(
        PlanError, match="B: found feature 1 named g0, expected f0 as in A"
    ):
        transfer_matrix(plan, texts)
