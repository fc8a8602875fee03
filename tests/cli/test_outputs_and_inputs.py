"""No command replaces what it reads, not even by ``--force``, whatever the file is called."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from letor_folder import save_folds

from rankstudio.cli import command_line, known_commands, main

READS = {
    *(
        "cascade",
        "completion",
        "drift",
        "evaluate",
        "judges",
        "lab",
        "methods",
        "permute",
        "plugins",
        "studies",
    ),
    "thresholds",
    "transfer",
    "validity",
}
"""Commands that write no file."""

MAKES = {"benchmark", "evidence", "generate", "figures", "importance", "reproduce"}
"""Commands whose files have names of their own, or that read published data only."""


@dataclass(frozen=True)
class Case:
    """A command with its output left open, and the inputs that must not be it."""

    words: tuple[str, ...]
    inputs: tuple[str, ...]
    suffix: str = ""


CASES: dict[str, Case] = {
    "compare": Case(
        ("compare", "s.rankstudio", "--format", "csv", "--out"),
        ("s.rankstudio", "Made/Fold1/test.txt"),
    ),
    "compare, a table": Case(
        ("compare", "s.rankstudio", "--to", "latex", "--out"),
        ("s.rankstudio", "Made/Fold1/train.txt"),
    ),
    "plan": Case(
        ("plan", "s.rankstudio", "--run", "1", "--to", "toml", "--out"),
        ("s.rankstudio",),
    ),
    "plan of a plan": Case(
        ("plan", "out/plan.toml", "--to", "python", "--out"), ("out/plan.toml",)
    ),
    "predict": Case(
        ("predict", "Made/Fold1/test.txt", "--model", "out/models/fold1.json", "--out"),
        ("Made/Fold1/test.txt", "out/models/fold1.json"),
    ),
    "export": Case(
        ("export", "out/models/fold1.json", "--to", "c", "--out"),
        ("out/models/fold1.json", "Made/Fold1/test.txt", "Made/Fold2/train.txt"),
    ),
    "convert": Case(
        ("convert", "Made/Fold1/test.txt", "--to", "csv"), ("Made/Fold1/test.txt",)
    ),
}
if "rank-methods" in known_commands():
    CASES["rank-methods"] = Case(
        ("rank-methods", "s.rankstudio", "--csv"), ("s.rankstudio",)
    )
if "cite" in known_commands():
    CASES["cite"] = Case(
        ("cite", "s.rankstudio", "--out"), ("s.rankstudio", "Made/Fold1/test.txt")
    )
if "risk" in known_commands():
    CASES["risk"] = Case(
        ("risk", "s.rankstudio", "--csv"), ("s.rankstudio", "Made/Fold1/test.txt")
    )
if "report" in known_commands():  # its folder may be absent
    CASES["report"] = Case(
        ("report", "s.rankstudio", "--out"), ("s.rankstudio", "Made/Fold1/test.txt")
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study, data, results and models."""
    root = tmp_path_factory.mktemp("made")
    save_folds(root / "Made", 2, n_queries=30, seed=3)
    words = [
        "--method",
        "rankrls",
        "--lambda",
        "1",
        "--study",
        str(root / "s.rankstudio"),
    ]
    assert (
        main(["run", "--data", str(root / "Made"), *words, "--out", str(root / "out")])
        == 0
    )
    return root


@pytest.fixture
def place(made: Path, tmp_path: Path, monkeypatch) -> Path:
    """The same at its place, with a copy to compare with afterwards."""
    shutil.copytree(made, tmp_path / "copy")
    monkeypatch.chdir(made)
    return tmp_path / "copy"


def by_symbolic_link(path: Path, folder: Path) -> Path:
    (folder / "link").symlink_to(path.absolute())
    return folder / "link"


def by_hard_link(path: Path, folder: Path) -> Path:
    (folder / "hard").hardlink_to(path)
    return folder / "hard"


def by_another_path(path: Path, folder: Path) -> Path:
    return path.parent / ".." / path.parent.absolute().name / path.name


def itself(path: Path, folder: Path) -> Path:
    return path


ALIASES = [by_another_path, by_symbolic_link, by_hard_link]


@pytest.mark.parametrize(
    ("case", "alias"),
    [*((case, itself) for case in CASES), *(("convert", alias) for alias in ALIASES)],
)
def test_an_output_is_never_an_input(
    case: str,
    alias: Callable[[Path, Path], Path],
    place: Path,
    made: Path,
    tmp_path: Path,
    capsys,
) -> None:
    for number, name in enumerate(CASES[case].inputs):
        folder = tmp_path / str(number)
        folder.mkdir()
        out = alias(Path(name), folder)
        assert main([*CASES[case].words, str(out), "--force"]) == 1
        said = capsys.readouterr().err
        assert str(out) in said and "overwrite the input" in said
    for path in (p for p in place.rglob("*") if p.is_file()):
        assert (made / path.relative_to(place)).read_bytes() == path.read_bytes(), path


def test_a_run_replaces_neither_its_data_nor_its_models(
    place: Path, made: Path, capsys
) -> None:
    models = [
        "--models",
        "former=out/models",
        "--data",
        "Made",
        "--out",
        "out",
        "--force",
    ]
    assert main(["run", *models]) == 1
    assert "out/models/fold1.json" in capsys.readouterr().err
    shutil.copy(made / "Made" / "Fold1" / "train.txt", place / "metrics.csv")
    command = [
        "run",
        "--data",
        str(place / "metrics.csv"),
        "--method",
        "rankrls",
        "--out",
        str(place),
    ]
    before = (place / "metrics.csv").read_bytes()
    assert main([*command, "--force"]) == 1
    assert (place / "metrics.csv").read_bytes() == before
    assert (
        main(
            [
                "run",
                "--data",
                "Made",
                "--study",
                str(place / "results.json"),
                "--out",
                str(place),
            ]
        )
        == 1
    )


def test_results_may_lie_in_the_folder_of_the_data_and_are_replaced_there(
    place: Path,
) -> None:
    data = place / "Made"
    command = [
        "run",
        "--data",
        str(data),
        "--method",
        "rankrls",
        "--out",
        str(data / "results"),
        "--lambda",
    ]
    assert main([*command, "1"]) == 0
    assert main([*command, "2", "--force"]) == 0
    assert main(["convert", str(data), str(data / "csv"), "--to", "csv"]) == 0
    assert (
        main(["convert", str(data), str(data / "csv"), "--to", "csv", "--force"]) == 0
    )


def test_every_command_that_writes_is_tried() -> None:
    parser = command_line(tuple(known_commands()))
    (commands,) = (
        action
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    tried = {case.words[0] for case in CASES.values()} | {"run"}
    assert set(commands.choices) <= tried | READS | MAKES
    for name in READS & set(commands.choices):  # the folder of an ability may be absent
        assert "out" not in {
            action.dest for action in commands.choices[name]._actions
        }, name
