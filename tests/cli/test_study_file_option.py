"""``rankstudio run --study`` and ``--resume``: what was finished is not computed again, whatever happened."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from letor_folder import save_folds
from wording import naming

from rankstudio.cli import main
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.storage.study import Study


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four folds of LETOR text."""
    root = tmp_path_factory.mktemp("data") / "Made"
    return save_folds(root, 4, n_queries=60, seed=5)


GRID = " ".join(f"2^{e}" for e in range(-20, 21))


def killed_run(arguments: list[str], after: str) -> None:
    """Run a command and kill it, with no chance to say goodbye, after a line of its progress."""
    process = subprocess.Popen(
        [sys.executable, "-m", "rankstudio", "run", *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(after):
            process.send_signal(signal.SIGKILL)
            break
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL


def test_a_killed_run_goes_on_with_the_same_bits(
    folder: Path, tmp_path: Path, capsys
) -> None:
    options = ["--data", str(folder), "--lambda", GRID]
    assert main(["run", *options, "--out", str(tmp_path / "undisturbed")]) == 0
    killed_run([*options, "--out", str(tmp_path / "killed")], after="Fold 1")
    study = tmp_path / "killed" / "study.rankstudio"
    with Study.open(study) as there:
        (summary,) = there.runs()
        assert not summary.finished
        assert 41 <= summary.n_finished <= summary.n_units == 164
    assert (
        main(["run", "--resume", str(study), "--out", str(tmp_path / "resumed")]) == 0
    )
    expected = (tmp_path / "undisturbed" / "results.json").read_bytes()
    assert (tmp_path / "resumed" / "results.json").read_bytes() == expected
    with Study.open(study) as there:
        assert [bool(run.finished) for run in there.runs()] == [True]
    capsys.readouterr()


def test_the_same_command_again_computes_nothing_again(
    folder: Path, tmp_path: Path
) -> None:
    command = [
        "run",
        "--data",
        str(folder),
        "--lambda",
        "2^0..2^3",
        "--study",
        str(tmp_path / "a.rankstudio"),
    ]
    assert main([*command, "--out", str(tmp_path / "first")]) == 0
    assert main([*command, "--out", str(tmp_path / "second")]) == 0
    files = [
        (tmp_path / name / "results.json").read_bytes() for name in ("first", "second")
    ]
    assert files[0] == files[1]
    assert not (tmp_path / "first" / "study.rankstudio").exists()
    with Study.open(tmp_path / "a.rankstudio") as study:
        assert len(study.runs()) == 1


def test_a_comparison_keeps_its_runs_in_one_study(
    folder: Path, tmp_path: Path, done, capsys
) -> None:
    plan = tmp_path / "few.toml"
    plan.write_text('[[runs]]\nmethod = ["rankrls", "single-feature"]\n')
    out = tmp_path / "out"
    assert main(["run", str(plan), "--data", str(folder), "--out", str(out)]) == 0
    with Study.open(out / "study.rankstudio") as study:
        assert [run.key.plan.method for run in study.runs()] == [
            "rankrls",
            "single-feature",
        ]
    first = capsys.readouterr().out
    assert (
        done(["run", str(plan), "--data", str(folder), "--out", str(out)]).out == first
    )


def test_what_is_no_study_is_refused_and_left_as_it_is(
    folder: Path, tmp_path: Path, capsys
) -> None:
    path = tmp_path / "notes.rankstudio"
    path.write_text("not a RankStudio study")
    assert main(["run", "--data", str(folder), "--study", str(path)]) == 1
    assert str(path) in capsys.readouterr().err
    assert path.read_text() == "not a RankStudio study"
    assert main(["run", "--resume", str(tmp_path / "missing.rankstudio")]) == 1
    assert "missing.rankstudio" in capsys.readouterr().err


def test_results_as_json_come_from_a_study_too(
    folder: Path, tmp_path: Path, answer
) -> None:
    study = ["--study", str(tmp_path / "a.rankstudio")]
    main(["run", "--data", str(folder), "--method", "rankrls", *study])
    assert answer(["run", "--resume", study[1], "--json"])["complete"] is True


def test_studies_are_listed_run_by_run(
    folder: Path, tmp_path: Path, answer, done
) -> None:
    study = str(tmp_path / "a.rankstudio")
    main(["run", "--data", str(folder), "--method", "rankrls", "--study", study])
    (row,) = answer(["studies", study, "--json"])
    assert (row["run"], row["method"], row["data"], row["units_done"]) == (
        1,
        "RankRLS",
        "Made",
        44,
    )
    assert row["finished"]
    assert "RankRLS  Made  done" in done(["studies", study]).out


def test_what_is_damaged_is_named_listed_and_computed_again(
    tmp_path: Path, done, capsys
) -> None:
    data, study = str(tmp_path / "data.txt"), tmp_path / "study.rankstudio"
    save_letor(make_ranking(n_queries=12, seed=5).folds[0].train, data)
    plan = [
        "run",
        "--data",
        data,
        "--protocol",
        "3-fold",
        "--lambda",
        "1",
        "--select-by",
        "criterion",
    ]
    assert main([*plan, "--out", str(tmp_path / "a"), "--study", str(study)]) == 0
    assert main([*plan, "--seed", "1", "--study", str(study)]) == 0
    with closing(sqlite3.connect(study)) as db:
        db.execute(
            """UPDATE fold SET payload = replace(payload, '"MAP": 0.', '"MAP": 0.9') WHERE run = 1"""
        )
        db.execute("UPDATE run SET plan = '' WHERE id = 2")
        db.commit()
    capsys.readouterr()
    named = "run 1 is damaged (the results of fold 1, the results of fold 2, the results of fold 3)"
    shown = done(["studies", str(study)])
    assert "damaged" in shown.out
    assert named in shown.err
    assert naming(f"{study} 2").search(shown.err)
    assert (
        named in done(["run", "--resume", str(study), "--out", str(tmp_path / "b")]).err
    )
    for name in ("results.json", "metrics.csv", "selection_path.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (
            tmp_path / "b" / name
        ).read_bytes()


def test_a_study_without_runs_has_nothing_to_go_on_with(
    tmp_path: Path, refused
) -> None:
    Study.create(tmp_path / "empty.rankstudio").close()
    refused(
        ["run", "--resume", str(tmp_path / "empty.rankstudio"), "--json"],
        "empty.rankstudio",
    )
