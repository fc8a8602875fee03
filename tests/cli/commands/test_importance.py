"""``rankstudio importance``, as a user calls it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from letor_folder import save_folds

from rankstudio.engine import open_dataset, permutation_importance
from rankstudio.engine.analysis.evidence.model_importance import step_importance
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.export.models import load_model
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.support.work import finish


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_folds(tmp_path_factory.mktemp("importance") / "Made", 2, n_queries=20, seed=3)


@pytest.mark.parametrize("method", ["ranksvm", "lambdamart"])
def test_json_is_what_the_function_returns(data: Path, method: str, tmp_path: Path, answer, done) -> None:
    """Catches another convention, seed, measure or number of permutations, and features of other columns."""
    few = ["--rounds", "20"] if method == "lambdamart" else ["--C", "1"]
    out = tmp_path / "out"
    done(["run", "--data", str(data), "--method", method, *few, "--folds", "1", "--out", str(out)])
    model = next((out / "models").glob("*.json"))
    options = ["--measure", "MAP", "--repeats", "3", "--seed", "5"]
    test = data / "Fold1" / "test.txt"
    printed = answer(["importance", str(test), "--model", str(model), *options, "--json"])
    part = open_dataset(data).folds[0].test
    found = permutation_importance(
        lambda X: load_model(model).predict(X, part.feature_ids),
        part.X,
        part.y,
        qid=part.qid,
        measure="MAP",
        n_repeats=3,
        seed=5,
    )
    assert (printed["measure"], printed["queries"]) == ("MAP", part.n_queries)
    losses = [row["loss"] for row in printed["features"]]
    assert losses == sorted(losses, reverse=True)
    at = {int(feature): column for column, feature in enumerate(part.feature_ids)}
    for row in printed["features"]:
        column = at[row["feature"]]
        told = row["loss"], row["loss_low"], row["loss_high"]
        np.testing.assert_allclose(told, [found.mean[column], found.low[column], found.high[column]])
    rest = set(at) - {row["feature"] for row in printed["features"]}
    assert all(found.mean[at[feature]] == 0 for feature in rest), "the model does not use them"
    lines = done(["importance", str(test), "--model", str(model), *options]).out.splitlines()
    assert "MAP lost" in lines[2] and len(lines) == 4 + len(losses)


def test_a_model_of_a_run_is_permuted_as_any_other(data: Path) -> None:
    part = open_dataset(data).folds[0]
    result = run_plan(Plan(str(data), "ranksvm", {"C": (1.0,)}, folds=(1,)))
    step = result.folds[0].chosen.step
    found = finish(step_importance(step, part.vali, measure("NDCG@5"), "letor4", 4, 2))
    expected = permutation_importance(
        lambda X: X @ step.coef,
        part.vali.X,
        part.vali.y,
        qid=part.vali.qid,
        measure="NDCG@5",
        n_repeats=4,
        seed=2,
    )
    used = [group[0] for group in found.groups]
    np.testing.assert_allclose(found.loss, expected.loss[used], atol=1e-12)
    assert used == sorted(step.selected)


def test_what_cannot_be_asked_is_refused(data: Path, tmp_path: Path, refused) -> None:
    test = str(data / "Fold1" / "test.txt")
    refused(["importance", test, "--model", str(tmp_path / "nowhere.json")], "nowhere")
    refused(["importance", test, "--model", test, "--measure", "beauty"], "beauty")
