"""``rankstudio drift``, as a user calls it."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest
from letor_folder import save_folds

from rankstudio.api import analyse
from rankstudio.cli.study_file_option import opened_run
from rankstudio.engine import open_dataset
from rankstudio.engine.analysis.catalog_analyses.analysis_code import (
    analysis_as_command,
)
from rankstudio.engine.analysis.measurements.measurement import sealed_data
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.methods.catalog.analysis import analysis
from rankstudio.engine.support.work import finish
from rankstudio.plugins.drift.feature_drift import feature_drift
from rankstudio.plugins.drift.transfer import transfer


def test_json_is_what_the_function_returns(folder: Path, answer, done) -> None:
    """Catches another fold, and parts that are swapped."""
    values = answer(
        ["drift", str(folder), "--fold", "2", "--parts", "vali,test", "--json"]
    )
    fold = open_dataset(folder).folds[1]
    found = finish(feature_drift(fold.vali, fold.test))
    assert [row["feature"] for row in values["features"]] == [
        one.feature for one in found
    ]
    assert [row["distance"] for row in values["features"]] == [
        one.distance for one in found
    ]
    taus = [
        [None if np.isnan(tau) else tau for tau in one.correlation] for one in found
    ]
    assert [row["correlation"] for row in values["features"]] == taus
    lines = done(["drift", str(folder)]).out.splitlines()
    assert (
        len(lines) == 5 + len(found)
        and lines[0].startswith("A:")
        and "train" in lines[0]
    )


def test_python_and_the_copied_command_have_the_same_table(
    folder: Path, answer
) -> None:
    data = open_dataset(folder)
    chosen = {"first": "vali", "second": "train", "fold": 2}
    (table,) = analyse("drift", data, **chosen)
    found = finish(feature_drift(data.folds[1].vali, data.folds[1].train))
    assert [row[1] for row in table.rows] == [one.distance for one in found]
    (other,) = analyse("drift", data, data, first="train", second="train")
    assert all(row[1] == 0 for row in other.rows)
    plan = Plan(str(folder))
    command = shlex.split(analysis_as_command(analysis("drift"), plan, chosen))
    values = answer([*command[1:], "--json"])
    assert [row["distance"] for row in values["features"]] == [
        row[1] for row in table.rows
    ]
    assert (
        analysis_as_command(analysis("drift"), plan.changed(protocol="2-fold"), chosen)
        == ""
    )
    with pytest.raises(ParameterError):
        analyse("drift", data, fold=9)
    with pytest.raises(ParameterError):
        analyse("drift", sealed_data(data))


def test_two_files_are_compared(folder: Path, answer) -> None:
    files = [str(folder / "Fold1" / name) for name in ("train.txt", "test.txt")]
    values = answer(["drift", *files, "--json"])
    assert values == answer(["drift", str(folder / "Fold1"), "--json"]) | {
        "parts": ["train", "train"]
    }


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--parts", "train"], "--parts train"),
        (["--parts", "train,x"], "--parts train,x"),
        (["--fold", "9"], "--fold 9"),
        (["nowhere.txt"], "nowhere.txt"),
        (["--run", "1"], "--study"),
        (["--study", "x.rankstudio", "--fold", "1"], "--fold"),
    ],
)
def test_what_cannot_be_compared_is_said(
    folder: Path, refused, more: list[str], said: str
) -> None:
    refused(["drift", str(folder), *more], said)


def test_a_selection_made_elsewhere_is_compared_with_one_made_here(
    folder: Path, tmp_path: Path, answer, done
) -> None:
    other, study = (
        save_folds(tmp_path / "Other", 2, n_queries=15, seed=9),
        tmp_path / "x.rankstudio",
    )
    done(
        [
            "run",
            "--data",
            str(folder / "Fold1"),
            "--method",
            "greedy-rankrls",
            "--features",
            "3",
            "--study",
            str(study),
        ]
    )
    values = answer(["drift", str(other), "--study", str(study), "--json"])
    opened = opened_run(study, None)
    found = transfer(opened.result, opened.dataset, str(other))
    test = found.compared("MAP")
    assert values["measures"]["MAP"]["p_randomisation"] == test.p_randomisation
    told = values["measures"]["MAP"]
    assert told["given"] - told["own"] == pytest.approx(test.mean_difference)
    assert (values["from"], values["to"]) == ("Made Fold1", "Other")
    assert [row["feature"] for row in values["features"] if row["model"]] == list(
        found.features
    )
    lines = done(["drift", str(other), "--study", str(study)]).out.splitlines()
    assert lines[0].startswith("A:") and any(line.startswith("MAP") for line in lines)
