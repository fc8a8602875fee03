"""Commands carried out in this process, and runs that several of them read, made once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from _pytest.capture import CaptureResult
from letor_folder import save_folds
from wording import naming

from rankstudio.cli import main


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[[Sequence[str], str], None]:
    """Carry out a command that cannot be, and look for what the sentence that says why has to name."""

    def check(command: Sequence[str], said: str) -> None:
        capsys.readouterr()
        assert main(command) == 1
        assert naming(said).search(capsys.readouterr().err)

    return check


Carried = Callable[[Sequence[str]], CaptureResult[str]]


@pytest.fixture
def done(capsys: pytest.CaptureFixture[str]) -> Carried:
    """Carry out a command, and return what it printed."""

    def printed(command: Sequence[str]) -> CaptureResult[str]:
        capsys.readouterr()
        assert main(command) == 0
        return capsys.readouterr()

    return printed


@pytest.fixture
def answer(done: Carried) -> Callable[[Sequence[str]], Any]:
    """Carry out a command that prints JSON, and return its values."""
    return lambda command: json.loads(done(command).out)


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, and with the results of a run on them."""
    root = tmp_path_factory.mktemp("exports", numbered=False)
    save_folds(root / "data", n_queries=30, seed=5)
    run = [
        "run",
        "--data",
        str(root / "data"),
        "--lambda",
        "2^0..2^3",
        "--out",
        str(root / "out"),
        "--refit",
    ]
    assert main(run) == 0
    return root


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of three runs on files."""
    root = tmp_path_factory.mktemp("studies")
    save_folds(root / "Made", 2, n_queries=40, seed=3)
    path = root / "first.rankstudio"
    greedy = ["greedy-rankrls", "--lambda", "2^0..2^2", "--features", "4"]
    for options in (
        greedy,
        ["rankrls", "--lambda", "1"],
        ["single-feature", "--features", "2"],
    ):
        assert (
            main(
                [
                    "run",
                    "--data",
                    str(root / "Made"),
                    "--method",
                    *options,
                    "--study",
                    str(path),
                ]
            )
            == 0
        )
    return path


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two folds of LETOR text, called Made."""
    return save_folds(tmp_path_factory.mktemp("data") / "Made", 2, n_queries=40, seed=3)
