"""``rankstudio run --scores``: scores of other programs as runs of a study, compared like any other."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from wording import naming

from rankstudio.cli import main
from rankstudio.engine.data.synthetic import load_sample
from rankstudio.engine.experiment.plan.given_files import GivenRanking
from rankstudio.engine.experiment.plan.toml import load_plan


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """Scores of the sample's test parts: its second feature."""
    for fold in load_sample().folds:
        assert fold.test is not None
        (tmp_path / f"Fold{fold.number}").mkdir()
        np.savetxt(
            tmp_path / f"Fold{fold.number}" / "test.scores",
            fold.test.X[:, 1],
            fmt="%.17g",
        )
    return tmp_path


@pytest.mark.ability("report")
def test_each_is_a_run_of_the_study(scores: Path, tmp_path: Path, done, capsys) -> None:
    study, out = tmp_path / "s.rankstudio", tmp_path / "out"
    given = ["--scores", f"neural net={scores}", "--scores", f"other={scores}"]
    printed = done(
        ["run", "--sample", *given, "--study", str(study), "--out", str(out)]
    ).out
    assert (
        "neural net (given scores) on" in printed
        and "other (given scores) on" in printed
    )
    plan = load_plan(out / "neural-net" / "plan.toml")
    assert (
        plan.extension(GivenRanking).name == "neural net"
        and plan.extension(GivenRanking).files
    )
    assert json.loads((out / "other" / "results.json").read_text())["average"]
    # there is none to score other documents with
    assert not (out / "other" / "models").exists()
    assert (
        main(
            [
                "run",
                "--sample",
                "--method",
                "given-order",
                "--study",
                str(study),
                "--out",
                str(out),
            ]
        )
        == 0
    )
    assert "Given order on" in capsys.readouterr().out
    printed = done(["compare", str(study)]).out
    assert "neural net (given scores)" in printed and "Given order" in printed
    assert main(["report", str(study), "--out", str(tmp_path / "r.html")]) == 0
    assert "neural net (given scores)" in (tmp_path / "r.html").read_text(
        encoding="utf-8"
    )
    assert main(["run", str(out / "neural-net" / "plan.toml"), "--json"]) == 0


def test_models_are_runs_of_the_study(tmp_path: Path, done, capsys) -> None:
    learned, again = tmp_path / "learned", tmp_path / "again"
    fast = ["--method", "rankrls", "--lambda", "1", "--folds", "1,2"]
    assert main(["run", "--sample", *fast, "--out", str(learned)]) == 0
    models = learned / "models"
    study = tmp_path / "s.rankstudio"
    given = ["--models", f"own={models}", "--models", f"one={models / 'fold1.json'}"]
    told = done(["run", "--sample", *given, "--study", str(study), "--out", str(again)])
    assert naming("3 4 5 Sample").search(told.err)
    assert naming("Sample").search(told.out)
    assert naming("200 250").search(" ".join(told.out.split()))
    folds = [
        json.loads((place / "results.json").read_text())["folds"]
        for place in (learned, again / "own")
    ]
    assert [fold["test"] for fold in folds[0]] == [fold["test"] for fold in folds[1]]
    plan, third = again / "own" / "plan.toml", tmp_path / "third"
    assert main(["run", str(plan), "--out", str(third)]) == 0
    results = [
        json.loads((place / "results.json").read_text())
        for place in (again / "own", third)
    ]
    assert results[0]["folds"] == results[1]["folds"]
    assert main(["run", str(plan), "--refit", "--out", str(tmp_path / "fourth")]) != 0
    assert naming("--refit").search(capsys.readouterr().err)
    assert (
        main(
            [
                "compare",
                str(third / "study.rankstudio"),
                str(learned / "study.rankstudio"),
            ]
        )
        == 0
    )
    assert "own (model)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--scores", "x"], "--scores"),
        (["--scores", "a=b", "--scores", "a=c"], "name once"),
        (["--models", "x"], "--models"),
        (["--scores", "a=b", "--models", "a=c"], "--models"),
        (["--models", "a=b", "--refit"], "--refit"),
        (["--scores", "a=nowhere"], "nowhere"),
        (["--scores", "a=b", "--method", "ranksvm"], "--method"),
    ],
)
def test_what_is_wrong_is_said(
    options: list[str], sentence: str, capsys, tmp_path: Path
) -> None:
    assert main(["run", "--sample", *options, "--out", str(tmp_path / "out")]) != 0
    assert naming(sentence).search(capsys.readouterr().err)
