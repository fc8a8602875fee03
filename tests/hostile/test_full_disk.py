"""A full disk, whenever it becomes so: a sentence, nothing half-written, and the same command goes on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from program import RESULTS, STUDY, Outcome, Program, half_written, same
from wording import naming

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="processes are not copied there"
)

FULL = (
    "No space left on device",
    "File too large",
    "the disk is full",
    "the disk failed or is full",
)


def done_or_full(outcome: Outcome) -> bool:
    """Hold an outcome against what is promised of a full disk; return whether the work is done."""
    outcome.check()
    assert outcome.status == 0 or any(words in outcome.told[-1] for words in FULL), (
        outcome
    )
    return outcome.status == 0


def test_a_run_may_find_it_full_in_any_call(
    program: Program, run: list[str], tmp_path: Path
) -> None:
    command, expected = [*run, "--folds", "1", "--out"], tmp_path / "expected"
    assert program.run(*command, expected, folder=tmp_path).status == 0
    failed = []
    for place, ended in each_call(program, [*command, "out"], tmp_path):
        assert half_written(place / "out", expected) == {}
        failed.append(ended.status)
        assert ended.status == 1 or all(
            same(place / "out" / name, expected / name) for name in RESULTS
        )
    assert sum(failed) > 10


def test_a_conversion_may_find_it_full_in_any_call(
    program: Program, data: Path, finished: Path, tmp_path: Path
) -> None:
    source = data / "Fold1" / "vali.txt"
    expected = program.run("convert", source, "expected.txt", folder=tmp_path)
    assert expected.status == 0
    cache = {"RANKSTUDIO_CACHE_DIR": "cache"}
    failed = []
    for place, ended in each_call(
        program, ["convert", str(source), "new.txt"], tmp_path, environment=cache
    ):
        failed.append(ended.status)
        assert (place / "new.txt").exists() == (ended.status == 0)
        assert ended.status == 1 or same(place / "new.txt", tmp_path / "expected.txt")
        assert {path.name for path in place.iterdir()} <= {"cache", "new.txt"}
        assert not list(place.rglob("new-*"))  # of the cache
    # a cache that cannot be written is no fault
    assert 2 <= sum(failed) < len(failed) - 5


def test_a_comparison_may_find_it_full_in_any_call(
    program: Program, finished: Path, tmp_path: Path
) -> None:
    for place, ended in each_call(
        program, ["compare", str(finished / STUDY), "--out", "a.tex"], tmp_path
    ):
        assert [path.name for path in place.iterdir()] == ["a.tex"] * (
            ended.status == 0
        )


def test_a_report_may_find_it_full_in_any_call(
    program: Program, finished: Path, tmp_path: Path
) -> None:
    # without pictures to paint
    brief = ["report", str(finished / STUDY), "--sections", "question,results"]
    command, expected = [*brief, "--out", "a.html"], tmp_path / "expected.html"
    assert program.run(*brief, "--out", expected, folder=tmp_path).status == 0
    failed = []
    for place, ended in each_call(program, command, tmp_path):
        failed.append(ended.status)
        assert [path.name for path in place.iterdir()] == ["a.html"] * (
            ended.status == 0
        )
        assert ended.status == 1 or same(place / "a.html", expected)
    assert sum(failed) >= 2


@pytest.mark.parametrize(
    ("command", "names"),
    [
        (["export", "--no-proof", "--to", "ranklib", "--out", "a.txt"], {"a.txt"}),
        (
            ["export", "--no-proof", "--to", "solr", "--out", "a.json"],
            {"a.json", "a-features.json"},
        ),
        (["predict", "--out", "a.scores"], {"a.scores"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_model_may_find_it_full_in_any_call(
    program: Program,
    data: Path,
    finished: Path,
    tmp_path: Path,
    command: list[str],
    names: set[str],
) -> None:
    model = str(finished / "models" / "fold1.json")
    given = (
        [str(data / "Fold1" / "vali.txt"), "--model", model]
        if "predict" in command
        else [model]
    )
    failed = []
    for place, ended in each_call(program, [*command, *given], tmp_path):
        failed.append(ended.status)
        assert {path.name for path in place.iterdir()} == (
            names if ended.status == 0 else set()
        )
    assert sum(failed) >= 2


@pytest.mark.parametrize("pages", [0, 1, 3])
def test_a_report_on_a_disk_that_is_too_small_leaves_the_one_that_was_there(
    pages: int, program: Program, finished: Path, tmp_path: Path
) -> None:
    with program.small_disk(tmp_path / "disk", f"{4 * (pages + 1)}k") as disk:
        (program.seen(disk) / "a.html").write_text("old")
        command = ["report", finished / STUDY, "--out", disk / "a.html", "--force"]
        assert not done_or_full(program.run(*command, folder=tmp_path))
        assert [path.name for path in program.seen(disk).iterdir()] == ["a.html"]
        assert (program.seen(disk) / "a.html").read_text() == "old"


def each_call(
    program: Program, command: list[str], folder: Path, **place: object
) -> Iterator[tuple[Path, Outcome]]:
    """Yield the folder and the outcome of a command for each of its calls that could find the disk full."""
    for number in count(1):
        here = folder / str(number)
        here.mkdir()
        outcome = program.run(*command, folder=here, fail_at=number, **place)
        done_or_full(outcome)
        if int(outcome.calls) < number:
            return
        yield here, outcome
        shutil.rmtree(here)


@pytest.mark.parametrize("pages", [0, 9, 10, 11, 12, 20, 23, 35, 36, 37, 38, 39])
def test_a_disk_of_any_size(
    pages: int, program: Program, run: list[str], finished: Path, tmp_path: Path
) -> None:
    command = [*run, "--out", tmp_path / "disk" / "out"]
    with program.small_disk(tmp_path / "disk", f"{4 * pages or 1}k") as disk:
        there = program.seen(disk) / "out"
        done_or_full(program.run(*command, folder=tmp_path))
        left = half_written(there, finished)
        assert set(left) <= {f"{STUDY}-wal"}  # commits that are not in the file yet
        program.mount("mount", "-o", "remount,size=1m", str(disk))
        assert program.run(*command, folder=tmp_path).check().status == 0
        assert half_written(there, finished) == {}
        assert all(same(there / name, finished / name) for name in RESULTS)


@pytest.mark.parametrize("pages", [1, 9, 10, 11, 13, 20])
def test_files_of_a_limited_size(
    pages: int, program: Program, run: list[str], finished: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    limits = {"FSIZE": 4096 * pages}
    done_or_full(program.run(*run, "--out", out, folder=tmp_path, limits=limits))
    assert set(half_written(out, finished)) <= {f"{STUDY}-wal"}
    if (out / STUDY).exists():
        resumed = program.run(
            "run", "--resume", out / STUDY, "--out", out, folder=tmp_path
        )
        outcome = (
            resumed
            if resumed.status == 0
            else program.run(*run, "--out", out, folder=tmp_path)
        )
        assert outcome.check().status == 0
        assert all(same(out / name, finished / name) for name in RESULTS)


def test_worker_processes_without_room_for_the_data_are_done_without(
    program: Program, run: list[str], finished: Path, tmp_path: Path
) -> None:
    with program.small_disk(tmp_path / "disk", "4k") as disk:
        (program.seen(disk) / "file").write_bytes(bytes(4096))
        place = {"RANKSTUDIO_CACHE_DIR": str(disk)}
        outcome = program.run(
            *run,
            "--workers",
            "2",
            "--out",
            tmp_path / "out",
            folder=tmp_path,
            environment=place,
        )
        assert outcome.check().status == 0
        assert naming("Threads").search(outcome.told[0])
        assert all(same(tmp_path / "out" / name, finished / name) for name in RESULTS)


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="nothing here is always full"
)
def test_an_output_that_takes_nothing(
    program: Program, run: list[str], finished: Path, tmp_path: Path
) -> None:
    for number, (stream, status) in enumerate((("stdout", 1), ("stderr", 0))):
        out = tmp_path / str(number)
        outcome = program.run(
            *run, "--out", out, folder=tmp_path, **{stream: "/dev/full"}
        ).check()
        assert outcome.status == status
        assert half_written(out, finished) == {}
        assert all(same(out / name, finished / name) for name in RESULTS)


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="nothing here is always full"
)
def test_a_report_is_whole_though_nobody_is_told_of_it(
    program: Program, finished: Path, tmp_path: Path
) -> None:
    command = ["report", finished / STUDY, "--out"]
    assert (
        program.run(*command, tmp_path / "whole", folder=tmp_path).check().status == 0
    )
    for stream, status, option in (
        ("stdout", 1, "--json"),
        ("stderr", 0, "--without-data"),
    ):
        outcome = program.run(
            *command,
            tmp_path / stream,
            option,
            folder=tmp_path,
            **{stream: "/dev/full"},
        )
        assert outcome.check().status == status
        assert (tmp_path / stream).read_text("utf-8").endswith("</html>\n")
    assert same(tmp_path / "stdout", tmp_path / "whole")
