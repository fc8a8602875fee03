"""What the tests in hostile environments share: small data, and the program loaded once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from letor_folder import save_folds
from program import STUDY, Program


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two folds of a few queries."""
    root = tmp_path_factory.mktemp("data") / "Small"
    return save_folds(
        root,
        2,
        n_queries=10,
        n_informative=2,
        n_redundant=1,
        n_noise=1,
        n_constant=0,
        documents=(3, 5),
    )


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Iterator[Program]:
    made = Program(tmp_path_factory.mktemp("program"), data)
    yield made
    made.close()


@pytest.fixture(scope="session")
def run(data: Path) -> list[str]:
    """The command line of a run of four units."""
    return ["run", "--data", str(data), "--lambda", "1 2", "--measures", "MAP"]


@pytest.fixture(scope="session")
def finished(
    tmp_path_factory: pytest.TempPathFactory, program: Program, run: list[str]
) -> Path:
    """What two runs write where nothing is amiss."""
    folder = tmp_path_factory.mktemp("finished")
    study = folder / STUDY
    assert program.run(*run, "--out", folder, folder=folder).status == 0
    assert (
        program.run(*run[:3], "--lambda", "4", "--study", study, folder=folder).status
        == 0
    )
    return folder
