"""Runs of methods with a kernel: what a study keeps, what files have, and who ranks a selection."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from experiment.small import plan_of_command, plan_of_program

from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.plan.as_code import as_command
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import load_plan, save_plan
from rankstudio.engine.experiment.reports import write_results
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.experiment.storage.codec import (
    StoredStep,
    pack_path,
    unpack_path,
)
from rankstudio.engine.export.models import load_model
from rankstudio.engine.methods.two_stage import Narrowed

SETTINGS = {"kernel": "rbf", "gamma": [0.25, 1.0], "n_basis": 20}
PLANS = {
    "alone": Plan(
        "small", "kernel-rankrls", {**SETTINGS, "regularization": [0.1, 1.0]}
    ),
    "sum": Plan(
        "small",
        "kernel-rankrls",
        {**SETTINGS, "kernel": "linear + 0.5*linear*rbf", "regularization": [0.1]},
    ),
    "ranksvm": Plan("small", "ranksvm", {**SETTINGS, "C": [0.1]}),
    "judge": Plan(
        "small",
        "gas",
        {"n_features_to_select": 3},
        ranker="kernel-rankrls",
        ranker_parameters={**SETTINGS, "regularization": [0.1]},
    ),
}


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.filterwarnings(
    "ignore::rankstudio.engine.methods.kernels.nystrom.DependentBasisWarning"
)
def test_a_run_keeps_and_writes_a_model_that_scores_to_the_same_bits(
    name: str, tmp_path: Path
) -> None:
    dataset = make_ranking(n_queries=24, seed=1)
    result = run_plan(PLANS[name], dataset)
    chosen, ids = result.folds[0].chosen, dataset.feature_ids.tolist()
    assert chosen.step.kind == "kernel"
    assert isinstance(chosen.step, Narrowed) == (name == "judge")
    test = dataset.folds[0].test
    assert test is not None
    scores = chosen.step.scores(np.ascontiguousarray(test.X.T))
    path = next(path for path in result.folds[0].paths if path.unit == chosen.unit)
    stored = unpack_path(pack_path(path, chosen.step, ids), chosen.unit, ids)
    (kept,) = [
        step for step in stored.steps if step.whole and isinstance(step, StoredStep)
    ]
    assert kept.kind == "kernel"
    np.testing.assert_array_equal(kept.scores(np.ascontiguousarray(test.X.T)), scores)
    write_results(result, tmp_path)
    model = load_model(tmp_path / "models" / "fold1.json")
    assert model.beyond["kind"] == "kernel"
    np.testing.assert_array_equal(model.predict(test.X), scores)
    assert model.needed == {ids[column] for column in chosen.step.selected}


def test_axes_are_those_that_the_kernel_has() -> None:
    linear = Plan("small", "ranksvm", {"C": [1.0]})
    assert [axis.name for axis in linear.axes] == ["C"]
    gaussian = Plan("small", "ranksvm", {"C": [1.0], "kernel": "rbf"})
    assert [axis.name for axis in gaussian.axes] == ["C", "gamma"]
    both = Plan("small", "ranksvm", {"C": [1.0], "kernel": "linear, poly+linear"})
    assert both.parameters["kernel"] == ("linear", "poly + linear")
    assert [axis.name for axis in both.axes] == ["C", "kernel", "gamma"]
    ranked = Plan(
        "small", "gas", ranker="kernel-rankrls", ranker_parameters={"kernel": "linear"}
    )
    assert [axis.name for axis in ranked.axes if axis.ranker] == [
        "ranker.regularization"
    ]


def test_sums_of_kernels_are_in_files_commands_and_programs_as_they_are_written(
    tmp_path: Path,
) -> None:
    sums = ["linear + 0.5 * rbf", "rbf", "linear * rbf"]
    plan = Plan("/data/x", "kernel-rankrls", {"kernel": sums, "regularization": [1.0]})
    assert plan.parameters["kernel"] == tuple(sums)
    save_plan(plan, tmp_path / "plan.toml")
    assert load_plan(tmp_path / "plan.toml") == plan
    assert "--kernel 'linear + 0.5 * rbf, rbf, linear * rbf'" in as_command(plan)
    assert plan_of_command(plan).parameters == plan.parameters
    assert plan_of_program(plan).parameters == plan.parameters
