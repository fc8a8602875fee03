"""Runs that several commands read, made once."""

from __future__ import annotations

from pathlib import Path

import pytest
from letor_folder import save_folds

from rankstudio.cli import main


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, and with the results of a run on them."""
    root = tmp_path_factory.mktemp("exports", numbered=False)
    save_folds(root / "data", n_queries=30, seed=5)
    run = ["run", "--data", str(root / "data"), "--lambda", "2^0..2^3", "--out", str(root / "out"), "--refit"]
    assert main(run) == 0
    return root


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of three runs on files."""
    root = tmp_path_factory.mktemp("studies")
    save_folds(root / "Made", 2, n_queries=40, seed=3)
    path = root / "first.rankstudio"
    greedy = ["greedy-rankrls", "--lambda", "2^0..2^2", "--features", "4"]
    for options in (greedy, ["rankrls", "--lambda", "1"], ["single-feature", "--features", "2"]):
        assert main(["run", "--data", str(root / "Made"), "--method", *options, "--study", str(path)]) == 0
    return path
