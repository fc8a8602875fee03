"""``rankstudio transfer``, as a user calls it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from letor_folder import save_folds

from rankstudio.engine import Plan, transfer_matrix
from rankstudio.engine.errors import PlanError


@pytest.fixture
def places(tmp_path: Path) -> list[str]:
    """Two datasets with the same features."""
    return [
        str(save_folds(tmp_path / name, 1, n_queries=18, seed=seed))
        for seed, name in enumerate("AB")
    ]


def test_json_is_what_the_function_returns(places: list[str], answer) -> None:
    options = ["--method", "rankrls", "--lambda", "1,4", "--measures", "MAP,AUC"]
    values = answer(["transfer", *places, *options, "--measure", "AUC", "--json"])
    plan = Plan(
        places[0],
        "rankrls",
        parameters={"regularization": (1.0, 4.0)},
        measures=("MAP", "AUC"),
    )
    matrix = transfer_matrix(plan, places, "AUC")
    assert values["datasets"] == ["A", "B"] and values["measure"] == "AUC"
    np.testing.assert_array_equal(values["values"], matrix.values)
    assert values["ranks"] == [[None, 1.0], [1.0, None]]
    assert values["mean_ranks"] == [1.0, 1.0]


def test_the_table_has_a_row_for_each_dataset(places: list[str], done) -> None:
    lines = done(["transfer", *places, "--method", "rankrls"]).out.splitlines()
    assert [line.split()[0] for line in lines if line[:2] in ("A ", "B ")] == ["A", "B"]
    assert "in parentheses" in lines[-1].lower()


def test_data_that_do_not_fit_are_refused(
    places: list[str], tmp_path: Path, refused
) -> None:
    refused(["transfer", places[0]], "two datasets or more, got one")
    wide = save_folds(tmp_path / "wide", 1, n_queries=18, n_noise=12)
    refused(
        ["transfer", str(wide), places[0], "--method", "rankrls"],
        "model of wide does not fit A: features",
    )
    with pytest.raises(PlanError) as error:
        transfer_matrix(Plan(str(wide), "rankrls"), [str(wide), places[0]])
    assert "json" not in str(error.value)
    refused(["transfer", *places, "--measure", "AUC"], "measure")
    refused(["transfer", places[0], str(tmp_path / "absent")], "absent")
