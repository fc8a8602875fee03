"""What the tests in hostile environments share: small data, and the program loaded once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from program import STUDY, Program

from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two folds of a few queries."""
    root = tmp_path_factory.mktemp("data") / "Small"
    made = make_ranking(
        n_queries=10, n_informative=2, n_redundant=1, n_noise=1, n_constant=0, documents=(3, 5)
    )
    for fold in made.folds[:2]:
        folder = root / f"Fold{fold.number}"
        folder.mkdir(parents=True)
        for name, part in fold.parts.items():
            save_letor(part, folder / f"{name}.txt")
    return root


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
def finished(tmp_path_factory: pytest.TempPathFactory, program: Program, run: list[str]) -> Path:
    """What two runs write where nothing is amiss."""
    folder = tmp_path_factory.mktemp("finished")
    study = folder / STUDY
    assert program.run(*run, "--out", folder, folder=folder).status == 0
    assert program.run(*run[:3], "--lambda", "4", "--study", study, folder=folder).status == 0
    return folder
