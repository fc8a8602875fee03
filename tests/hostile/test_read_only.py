"""What may not be written, and no home: the work is done without, or a sentence names them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from program import RESULTS, STUDY, Program, same

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="processes are not copied there"
)


@pytest.fixture
def disk(program: Program, finished: Path, tmp_path: Path) -> Iterator[Path]:
    """A folder with a study and results, on a disk that may only be read."""
    folder = tmp_path / "disk"
    shutil.copytree(finished, folder)
    program.mount("mount", "--bind", str(folder), str(folder))
    program.mount("mount", "-o", "remount,ro,bind", str(folder))
    yield folder
    program.mount("umount", "--lazy", str(folder))


def test_what_would_write_there_says_so(
    program: Program, run: list[str], data: Path, disk: Path
) -> None:
    before = {path: path.read_bytes() for path in disk.rglob("*") if path.is_file()}
    study, words = disk / STUDY, "no permission to write this file or its folder"
    model = disk / "models" / "fold1.json"
    scores = ["predict", data / "Fold1" / "vali.txt", "--model", model]
    commands: list[tuple[list[object], Path, str]] = [
        (
            [*run, "--out", disk / "new"],
            disk / "new",
            "could not be created: Read-only",
        ),
        ([*run, "--out", disk], study, words),
        (
            [*run, "--study", disk / "b.rankstudio"],
            disk / "b.rankstudio",
            "the study could not be written",
        ),
        (["run", "--resume", study], study, words),
        (
            ["convert", data, disk / "new"],
            disk / "new" / "Fold1",
            "could not be created: Read-only",
        ),
        (
            ["convert", data / "Fold1" / "vali.txt", disk / "a.txt"],
            disk / "a.txt",
            "could not be written",
        ),
        (
            ["export", model, "--to", "c", "--out", disk / "a.c"],
            disk / "a.c",
            "could not be written",
        ),
        (
            [*scores, "--out", disk / "a.score"],
            disk / "a.score",
            "could not be written: Read-only",
        ),
        (
            ["compare", study, "--out", disk / "a.tex"],
            disk / "a.tex",
            "could not be written: Read-only",
        ),
        (
            ["report", study, "--out", disk / "a.html"],
            disk / "a.html",
            "could not be written: Read-only",
        ),
        (["report", study, "--out", disk / "b" / "a.html"], disk / "b", "could not be"),
    ]
    for command, place, sentence in commands:
        outcome = program.run(*command, folder=disk).check()
        assert outcome.status == 1
        assert outcome.told[-1].startswith(f"rankstudio: {place}")
        assert sentence in outcome.told[-1]
    assert {
        path: path.read_bytes() for path in disk.rglob("*") if path.is_file()
    } == before


def test_a_study_there_is_listed_and_compared_where_no_temporary_file_can_be(
    program: Program, disk: Path
) -> None:
    for command in ("studies", "compare"):
        outcome = program.run(
            command, disk / STUDY, folder=disk, temporary=str(disk)
        ).check()
        assert (outcome.status, outcome.told) == (0, [])
        assert outcome.stdout.count("Greedy RankRLS") >= 2


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_run_where_nothing_at_all_can_be_written(
    workers: str, program: Program, run: list[str], disk: Path
) -> None:
    expected = program.run(*run, folder=disk)
    nowhere = {"HOME": str(disk), "RANKSTUDIO_CACHE_DIR": str(disk / "cache")}
    outcome = program.run(
        *run,
        "--workers",
        workers,
        folder=disk,
        environment=nowhere,
        temporary=str(disk),
    ).check()
    assert outcome.status == 0
    # all but the time
    assert outcome.stdout.splitlines()[:-1] == expected.stdout.splitlines()[:-1]
    assert len(outcome.told) == (workers == "2")


@pytest.mark.parametrize("home", ["unset", "missing", "no folder", "not writable"])
def test_no_home(
    home: str,
    program: Program,
    run: list[str],
    finished: Path,
    disk: Path,
    tmp_path: Path,
) -> None:
    homes = {"unset": None, "missing": str(tmp_path / "none"), "no folder": "/dev/null"}
    place = {
        **dict.fromkeys(("RANKSTUDIO_CACHE_DIR", "XDG_CACHE_HOME", "XDG_DATA_HOME")),
        "HOME": homes.get(home, str(disk)),
    }
    out = tmp_path / "out"
    outcome = program.run(
        *run, "--out", out, folder=tmp_path, environment=place
    ).check()
    assert (outcome.status, outcome.told) == (0, [])
    assert all(same(out / name, finished / name) for name in RESULTS)


def test_figures_without_a_home(
    program: Program, finished: Path, disk: Path, tmp_path: Path
) -> None:
    place = {
        **dict.fromkeys(("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "MPLCONFIGDIR")),
        "HOME": str(disk),
    }
    out = tmp_path / "out"
    command = ["figures", finished / STUDY, "--only", "criterion", "--out", out]
    outcome = program.run(*command, folder=tmp_path, environment=place).check()
    assert (outcome.status, outcome.told) == (0, [])
    assert list(out.glob("*.pdf"))
