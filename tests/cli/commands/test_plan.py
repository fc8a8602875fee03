"""``rankstudio plan``: command, program and notebook are run in fresh processes, and give the same bits."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from fresh_process import in_a_fresh_process, run_notebook
from letor_folder import save_folds

from rankstudio.cli import main
from rankstudio.engine import load_plan
from rankstudio.engine.experiment.plan.as_code import PLAN_FORMATS


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of two runs, the first with results in files."""
    root = tmp_path_factory.mktemp("plans") / "with blanks & 'quotes'"
    save_folds(root / "Made", 2, n_queries=30, seed=3)
    study = ["--study", str(root / "made.rankstudio")]
    data = ["--data", str(root / "Made")]
    pins = ["--lambda", "2^0..2^2", "--features", "4", "--ban", "1"]
    assert main(["run", *data, *pins, "--out", str(root / "first"), *study]) == 0
    assert main(["run", *data, "--method", "ranksvm", *study]) == 0
    return root


def written(place: Path, tmp_path: Path, suffix: str, again: Path) -> Path:
    out = tmp_path / f"run{suffix}"
    words = [
        "plan",
        str(place / "made.rankstudio"),
        "--run",
        "1",
        "--results",
        str(again),
        "--out",
        str(out),
    ]
    assert main(words) == 0
    return out


def test_the_program_gives_the_same_bits_and_leaves_a_folder_alone(
    place: Path, tmp_path: Path
) -> None:
    out = written(place, tmp_path, ".py", tmp_path / "again")
    in_a_fresh_process(sys.executable, str(out), folder=tmp_path)
    found, expected = (
        folder / "results.json" for folder in (tmp_path / "again", place / "first")
    )
    assert found.read_bytes() == expected.read_bytes()
    stopped = subprocess.run(
        [sys.executable, str(out)],
        capture_output=True,
        text=True,
        timeout=230,
        check=False,
    )
    assert stopped.returncode != 0
    assert "FileExistsError" in stopped.stderr


@pytest.mark.thorough
def test_the_notebook_gives_the_same_bits_and_shows_them(
    place: Path, tmp_path: Path
) -> None:
    out = written(place, tmp_path, ".ipynb", tmp_path / "again")
    nbformat.validate(nbformat.read(out, 4))
    assert (
        out.read_bytes()
        == written(place, tmp_path / "..", ".ipynb", tmp_path / "again").read_bytes()
    )
    (tmp_path / ".." / "run.ipynb").unlink()
    run_notebook(out)
    found, expected = (
        folder / "results.json" for folder in (tmp_path / "again", place / "first")
    )
    assert found.read_bytes() == expected.read_bytes()
    shown = [
        kind
        for cell in nbformat.read(out, 4).cells
        for o in cell.get("outputs", ())
        for kind in o.get("data", ())
    ]
    assert shown.count("text/html") == 2
    assert "image/png" in shown


def test_the_command_gives_the_same_bits(place: Path, tmp_path: Path) -> None:
    out = written(place, tmp_path, ".sh", tmp_path / "again")
    assert main(shlex.split(out.read_text(encoding="utf-8"))[1:]) == 0
    found, expected = (
        folder / "results.json" for folder in (tmp_path / "again", place / "first")
    )
    assert found.read_bytes() == expected.read_bytes()


def test_toml_is_the_plan_and_a_plan_is_a_source_too(
    place: Path, tmp_path: Path, done
) -> None:
    out = tmp_path / "plan.toml"
    assert (
        main(["plan", str(place / "made.rankstudio"), "--run", "2", "--out", str(out)])
        == 0
    )
    plan = load_plan(out)
    assert (plan.method, plan.data) == ("ranksvm", str(place / "Made"))
    assert "--method ranksvm" in done(["plan", str(out), "--to", "command"]).out
    for form in PLAN_FORMATS:
        assert done(["plan", str(out), "--to", form.key]).out == form.text(plan, "", {})


def test_versions_are_told_where_they_are_known(place: Path, answer, capsys) -> None:
    assert (
        main(["plan", str(place / "made.rankstudio"), "--run", "1", "--to", "python"])
        == 0
    )
    assert capsys.readouterr().out.startswith(
        "# The same bits, on the same data, with rankstudio "
    )
    cells = answer(
        ["plan", str(place / "made.rankstudio"), "--run", "1", "--to", "notebook"]
    )["cells"]
    assert cells[0]["source"][0] == "# Greedy RankRLS\n"
    assert cells[0]["source"][2].startswith("The same bits")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--run 2"),
        (["--run", "3"], "--run 1 2 3"),
        (["--run", "1", "--out", "x.doc"], "--out toml"),
    ],
)
def test_what_cannot_be_written_is_told(
    place: Path, refused, options: list[str], message: str
) -> None:
    refused(["plan", str(place / "made.rankstudio"), *options], message)
