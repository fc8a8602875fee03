"""What a method notes of its results stands with them in the terminal, and not in the files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

SENTENCE = (
    "Note: The pearson similarities of the features are not positive semidefinite"
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five directions of a plane: their absolute correlations have a negative eigenvalue."""
    angles = np.arange(5) * 2 * np.pi / 5
    plane = np.random.default_rng(0).normal(size=(200, 2))
    X = plane @ np.vstack((np.cos(angles), np.sin(angles)))
    lines = [
        " ".join(
            [
                str(int(x[0] > 0)),
                f"qid:{row // 10 + 1}",
                *(f"{j}:{v!r}" for j, v in enumerate(map(float, x), 1)),
            ]
        )
        for row, x in enumerate(X)
    ]
    path = tmp_path_factory.mktemp("data") / "plane.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    "workers", [[], pytest.param(["--workers", "1"], marks=pytest.mark.thorough)]
)
def test_a_note_stands_once_under_the_results(
    file: Path, tmp_path: Path, done, workers: list[str]
) -> None:
    method = ["--method", "fsmrank", "--lambda1", "0.1", "--lambda2", "0.01"]
    command = ["run", "--data", str(file), *method, "--protocol", "3-fold", *workers]
    printed = done([*command, "--out", str(tmp_path)])
    assert printed.out.count(SENTENCE) == printed.err.count(SENTENCE) == 1
    assert "similarities" not in (tmp_path / "results.json").read_text()
    printed = done([*command, "--json"])
    assert printed.err.count(SENTENCE) == 1
    assert json.loads(printed.out)["complete"] is True


def test_without_cause_there_is_none(file: Path, done) -> None:
    command = ["run", "--data", str(file), "--method", "fsmrank", "--project", "yes"]
    printed = done(command)
    assert "similarities of the features" not in printed.out + printed.err
