"""``-`` for the standard input and output, and what happens to files that are there or cannot be written."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from rankstudio.cli import main
from rankstudio.engine import load_letor
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fold in ``Made``, and two runs of it in ``out`` and in one study."""
    root = tmp_path_factory.mktemp("made")
    (root / "Made").mkdir()
    for name, part in make_ranking(n_queries=40, seed=3).folds[0].parts.items():
        save_letor(part, root / "Made" / f"{name}.txt")
    few = [
        "--data",
        str(root / "Made"),
        "--lambda",
        "1",
        "--study",
        str(root / "s.rankstudio"),
    ]
    assert main(["run", *few, "--features", "3", "--out", str(root / "out")]) == 0
    assert main(["run", *few, "--method", "rankrls", "--out", str(root / "other")]) == 0
    return root


@pytest.fixture(autouse=True)
def there(made: Path, monkeypatch) -> None:
    monkeypatch.chdir(made)


def give(monkeypatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


TEST, MODEL, STUDY = "Made/test.txt", "out/models/fold1.json", "s.rankstudio"

PRINTED = {
    "predict": ["predict", TEST, "--model", MODEL, "--out"],
    "report": ["report", STUDY, "--without-data", "--out"],
    "compare": ["compare", STUDY, "--format", "csv", "--out"],
    "table": ["compare", STUDY, "--measures", "MAP", "--to", "tsv", "--out"],
    "export": ["export", MODEL, "--to", "ranklib", "--no-proof", "--out"],
    "convert": ["convert", TEST],
    "plan": ["plan", STUDY, "--run", "1", "--to", "toml", "--out"],
}


@pytest.mark.parametrize("command", PRINTED)
def test_what_is_printed_is_what_is_written(
    command: str, tmp_path: Path, capfdbinary
) -> None:
    assert main([*PRINTED[command], str(tmp_path / "file")]) == 0
    capfdbinary.readouterr()
    assert main([*PRINTED[command], "-"]) == 0
    assert capfdbinary.readouterr().out == (tmp_path / "file").read_bytes()
    assert not Path("-").exists()


@pytest.mark.parametrize("command", PRINTED)
def test_a_file_that_is_there_is_replaced_by_force_alone(
    command: str, tmp_path: Path, capsys
) -> None:
    out = tmp_path / "file"
    out.write_text("mine")
    assert main([*PRINTED[command], str(out)]) == 1
    said = capsys.readouterr().err
    assert str(out) in said and "--force" in said and "Traceback" not in said
    assert out.read_text() == "mine"
    assert main([*PRINTED[command], str(out), "--force"]) == 0
    assert out.read_text() != "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("command", PRINTED)
def test_what_cannot_be_written_is_a_sentence_and_leaves_nothing(
    command: str, tmp_path: Path, monkeypatch, refused, capsys
) -> None:
    (tmp_path / "no folder").write_text("")
    assert main([*PRINTED[command], str(tmp_path / "no folder" / "file")]) == 1
    assert capsys.readouterr().err.count("no folder") == 1

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rankstudio.engine.support.files.Path.replace", full)
    refused([*PRINTED[command], str(tmp_path / "file")], "No space left on device")
    assert [path.name for path in tmp_path.iterdir()] == ["no folder"]


def test_data_scores_and_plans_come_from_the_standard_input(
    tmp_path, monkeypatch, refused, answer, done
) -> None:
    data = Path(TEST).read_bytes()
    scores = done(["predict", TEST, "--model", MODEL]).out
    give(monkeypatch, data)
    assert done(["predict", "-", "--model", MODEL]).out == scores
    (tmp_path / "scores").write_text(scores)
    measured = done(["evaluate", TEST, str(tmp_path / "scores"), "--json"]).out
    for command, content in (
        (["-", str(tmp_path / "scores")], data),
        ([TEST, "-"], scores.encode()),
    ):
        give(monkeypatch, content)
        assert done(["evaluate", *command, "--json"]).out == measured
    refused(["evaluate", "-", "-"], "DATA")
    give(monkeypatch, Path("out/plan.toml").read_bytes())
    assert answer(["run", "-", "--json"]) == json.loads(
        Path("out/results.json").read_text()
    )


def test_a_fault_of_the_standard_input_names_it(monkeypatch, capsys) -> None:
    """Catches the path of the temporary file, which is gone when it is read."""
    for command, content in (
        (["run", "-"], b'method = "gas"'),
        (["predict", "-", "--model", MODEL], b"1 qid:1 x"),
        (["evaluate", TEST, "-"], b"x"),
    ):
        give(monkeypatch, content)
        assert main(command) == 1
        assert capsys.readouterr().err.startswith("rankstudio: standard input"), command


def test_data_go_through_a_pipe_in_another_format(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "rankstudio", "convert", "-", "-"]
    table = subprocess.run(
        [*program, "--to", "csv"],
        input=Path(TEST).read_bytes(),
        capture_output=True,
        check=True,
    )
    assert table.stdout.startswith(b"qid,label,")
    again = subprocess.run(
        [*program, "--from", "csv"], input=table.stdout, capture_output=True, check=True
    )
    (tmp_path / "again.txt").write_bytes(again.stdout)
    assert (
        load_letor(tmp_path / "again.txt").X.tobytes()
        == load_letor(Path(TEST)).X.tobytes()
    )


def test_what_is_no_text_or_two_files_is_not_printed(
    monkeypatch, refused, capsys
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    refused(["convert", TEST, "-", "--to", "parquet"], "> FILE")
    for options in (["--to", "lightgbm"], ["--renumber"], ["--protocol", "5-fold"]):
        assert main(["convert", TEST, "-", *options]) == 1
        assert "OUT: expected a f" in capsys.readouterr().err
    refused(["report", STUDY, "--out", "-", "--json"], "--json")


def test_folders_of_figures_and_runs_are_not_written_over_a_file(
    tmp_path: Path, capsys
) -> None:
    (tmp_path / "file").write_text("mine")
    figures = [
        "figures",
        STUDY,
        "--without-data",
        "--to",
        "csv",
        "--only",
        "validation",
        "--out",
    ]
    run = ["run", "--data", "Made", "--lambda", "1", "--features", "2", "--out"]
    for command in (figures, run):
        assert main([*command, str(tmp_path / "file" / "folder")]) == 1
        assert str(tmp_path / "file") in capsys.readouterr().err
    assert main([*figures, str(tmp_path / "figures")]) == 0
    before = {path: path.read_bytes() for path in (tmp_path / "figures").iterdir()}
    assert before
    assert main([*figures, str(tmp_path / "figures")]) == 1
    assert "--force" in capsys.readouterr().err
    assert main([*figures, str(tmp_path / "figures"), "--force"]) == 0
    assert {
        path: path.read_bytes() for path in (tmp_path / "figures").iterdir()
    } == before
    assert (tmp_path / "file").read_text() == "mine"
