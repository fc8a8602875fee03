"""``rankstudio importance``, as a user calls it."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import numpy as np
import pytest
from wording import naming

from rankstudio.cli import main
from rankstudio.engine import evaluate, open_dataset, permutation_importance
from rankstudio.engine.analysis.reported_runs import read_study
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.export.models import load_model
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.support.work import finish
from rankstudio.plugins.evidence.evidence_codec import unpack_importance
from rankstudio.plugins.evidence.model_importance import (
    importance_place,
    model_place,
    step_importance,
)


@pytest.mark.parametrize("method", ["ranksvm", "lambdamart"])
def test_json_is_what_the_function_returns(
    folder: Path, method: str, tmp_path: Path, answer, done
) -> None:
    """Catches another convention, seed, measure or number of permutations, and features of other columns."""
    few = ["--rounds", "20"] if method == "lambdamart" else ["--C", "1"]
    out = tmp_path / "out"
    done(
        [
            "run",
            "--data",
            str(folder),
            "--method",
            method,
            *few,
            "--folds",
            "1",
            "--out",
            str(out),
        ]
    )
    model = next((out / "models").glob("*.json"))
    options = ["--measure", "MAP", "--repeats", "3", "--seed", "5"]
    test = folder / "Fold1" / "test.txt"
    printed = answer(
        ["importance", str(test), "--model", str(model), *options, "--json"]
    )
    part = open_dataset(folder).folds[0].test
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
    losses = [row["without"]["mean"] for row in printed["features"]]
    assert losses == sorted(losses, reverse=True)
    at = {int(feature): column for column, feature in enumerate(part.feature_ids)}
    for row in printed["features"]:
        column = at[row["feature"]]
        told = [row["permuted"][key] for key in ("mean", "low", "high")]
        np.testing.assert_allclose(
            told, [found.mean[column], found.low[column], found.high[column]]
        )
    rest = set(at) - {row["feature"] for row in printed["features"]}
    assert all(found.mean[at[feature]] == 0 for feature in rest), (
        "the model does not use them"
    )
    lines = done(
        ["importance", str(test), "--model", str(model), *options]
    ).out.splitlines()
    assert "MAP" in lines[0] and len(lines) == 4 + len(losses)


def test_a_model_of_a_run_is_permuted_as_any_other(folder: Path) -> None:
    part = open_dataset(folder).folds[0]
    result = run_plan(Plan(str(folder), "ranksvm", {"C": (1.0,)}, folds=(1,)))
    step = result.folds[0].chosen.step
    found = finish(
        step_importance(step, part.vali, measure("NDCG@5"), "standard", 4, 2)
    )
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


def test_what_cannot_be_asked_is_refused(folder: Path, tmp_path: Path, refused) -> None:
    test = str(folder / "Fold1" / "test.txt")
    refused(["importance", test, "--model", str(tmp_path / "nowhere.json")], "nowhere")
    refused(["importance", test, "--model", test], "--model")
    model = tmp_path / "model.json"
    model.write_text("{}", encoding="utf-8")
    refused(
        ["importance", test, "--model", str(model), "--measure", "beauty"], "beauty"
    )


@pytest.mark.ability("foreign_models")
def test_what_a_model_loses_without_each_feature(tmp_path: Path, answer, done) -> None:
    """By brute force: a weighted sum without a feature is the sum with the weight 0."""
    rng = np.random.default_rng(5)
    X, y, qid = (
        rng.random((40, 3)).round(3),
        rng.integers(0, 3, 40),
        np.repeat(np.arange(1, 9), 5),
    )
    lines = [
        f"{grade} qid:{q} "
        + " ".join(f"{i}:{value}" for i, value in enumerate(row, start=1))
        for grade, q, row in zip(y, qid, X, strict=True)
    ]
    data, model = tmp_path / "test.txt", tmp_path / "ranklib.txt"
    data.write_text("\n".join(lines) + "\n")
    model.write_text("## Coordinate Ascent\n\n1:0.5 3:-1.25\n")
    command = ["importance", str(data), "--model", str(model), "--measure", "NDCG@3"]
    found = answer([*command, "--json"])
    assert found["measure"] == "NDCG@3"
    weights = np.array([0.5, 0.0, -1.25])
    whole = evaluate(y, X @ weights, qid, measures=["NDCG@3"])["NDCG@3"]
    for row in found["features"]:
        less = weights * (np.arange(3) != row["feature"] - 1)
        expected = whole - evaluate(y, X @ less, qid, measures=["NDCG@3"])["NDCG@3"]
        assert row["without"]["mean"] == pytest.approx(expected, abs=1e-12)
        assert (
            row["permuted"]["low"] <= row["permuted"]["mean"] <= row["permuted"]["high"]
        )
    assert {row["feature"] for row in found["features"]} == {1, 3}
    assert naming("2 3 features NDCG@3 8 queries").search(done(command).out)


@pytest.mark.ability("report")
def test_a_study_keeps_the_importance_of_its_runs_for_the_report(
    folder: Path, tmp_path: Path, answer, done, monkeypatch
) -> None:
    """Catches another fold, part, seed or model, and what the window would not find again."""
    place = tmp_path / "made.rankstudio"
    done(
        [
            "run",
            "--data",
            str(folder),
            "--method",
            "ranksvm",
            "--C",
            "1,10",
            "--study",
            str(place),
        ]
    )
    command = [
        "importance",
        str(place),
        "--fold",
        "2",
        "--measure",
        "MAP",
        "--repeats",
        "3",
        "--seed",
        "4",
    ]
    printed = answer([*command, "--json"])
    with Study.open(place, reading=True) as study:
        source, (summary,) = read_study(study), study.runs()
        chosen = next(
            fold for fold in study.result(summary.key).folds if fold.fold == 2
        ).chosen
        step = chosen.step
        model = model_place(chosen.unit.position, step.selected)
        name = importance_place("validation", "MAP", "standard", model)
        assert study.evidence(summary.key, 2, name) is not None
    ((fold, content),) = source.runs[0].evidence
    kept = unpack_importance(content)
    assert (fold, kept.part, kept.convention) == (2, "validation", "standard")
    assert kept.n_features == step.n_selected
    part = open_dataset(folder).folds[1].vali
    found = finish(step_importance(step, part, measure("MAP"), "standard", 3, 4))
    np.testing.assert_array_equal(kept.found.loss, found.loss)
    permuted = {row["feature"]: row["permuted"]["mean"] for row in printed["features"]}
    ids = part.feature_ids
    assert permuted == {
        int(ids[group[0]]): mean
        for group, mean in zip(found.groups, found.mean, strict=True)
    }
    assert printed["queries"] == part.n_queries
    done(command)  # once more: it replaces what was kept
    # a study of somebody else: printed all the same
    with monkeypatch.context() as read_only:
        read_only.setattr(os, "access", lambda place, mode: mode != os.W_OK)
        told = done([*command, "--json"])
        assert json.loads(told.out) == printed and "not stored" in told.err
    with Study.open(place, reading=True) as study:
        assert len(read_study(study).runs[0].evidence) == 1
    out = tmp_path / "written"
    assert "Written" in done([*command, "--out", str(out)]).err
    (header, *lines) = csv.reader(
        (out / "importance.csv").read_text(encoding="utf-8").splitlines()
    )
    assert header == [
        "feature",
        "name",
        "without",
        "without_low",
        "without_high",
        *header[5:],
    ]
    assert {int(line[0]): float(line[5]) for line in lines} == permuted
    assert {path.suffix for path in out.glob("evidence-importance.*")} >= {
        ".pdf",
        ".csv",
    }
    assert main([*command, "--out", str(out)]) == 1
    assert main([*command, "--out", str(out), "--force"]) == 0
    done(["report", str(place), "--out", str(tmp_path / "report.html")])
    assert "permutation importance" in (tmp_path / "report.html").read_text(
        encoding="utf-8"
    )


def test_a_data_file_without_a_model_is_refused(folder: Path, refused) -> None:
    test = str(folder / "Fold1" / "test.txt")
    refused(["importance", test], "test.txt study")
    refused(["importance", test, "--model", "m.json", "--run", "1"], "--run")
    refused(["importance", test, "--model", "m.json", "--fold", "1"], "--fold")
