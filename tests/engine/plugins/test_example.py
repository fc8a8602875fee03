"""The example of a plug-in, examples/rankstudio-selectors, on the path as pip would install it."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "rankstudio-selectors"


def install(folder: Path) -> None:
    """Copy the package, and write what pip writes of its entry point."""
    shutil.copytree(
        EXAMPLE / "src",
        folder,
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    info = folder / "rankstudio_selectors-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: rankstudio-selectors\nVersion: 0.1.0\n"
    )
    (info / "entry_points.txt").write_text(
        "[rankstudio.plugins]\nselectors = rankstudio_selectors:PLUGIN\n",
        encoding="utf-8",
    )


def rankstudio(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(folder), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "rankstudio", *words],
        env={
            **os.environ,
            "PYTHONPATH": paths,
            "RANKSTUDIO_DATA_DIR": str(folder / "user"),
        },
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.thorough
def test_methods_of_the_example_run_in_the_terminal(tmp_path: Path) -> None:
    install(tmp_path)
    study = str(tmp_path / "study.rankstudio")
    for key, options in (
        ("mrmr", ["--scheme", "quotient", "--bins", "5"]),
        ("xgas", ["--share", "0.2"]),
    ):
        out = tmp_path / key
        command = (
            "run",
            "--sample",
            "--folds",
            "1",
            "--lambda",
            "1",
            "--features",
            "4",
            "--study",
            study,
        )
        ended = rankstudio(
            tmp_path, *command, "--out", str(out), "--method", key, *options
        )
        assert ended.returncode == 0, ended.stderr
        with (out / "metrics.csv").open(encoding="utf-8") as file:
            assert list(csv.reader(file))
    empty = tmp_path / "empty"
    empty.mkdir()
    compared = rankstudio(empty, "compare", study)  # without the package
    assert compared.returncode == 0, compared.stderr
    assert "mRMR" in compared.stdout and "XGAS" in compared.stdout
