"""Little memory: what does not fit is said, and what fits has the numbers it always has."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from program import RESULTS, STUDY, Program, half_written, same

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="memory is limited otherwise elsewhere"
)

LEAST = 1 << 30  # bytes of addresses, below which nothing is begun
MEMORY = ("memory", "Memory")


@pytest.mark.parametrize(
    ("room", "workers"),
    [
        (0, "1"),
        (1 << 19, "1"),
        (1 << 20, "1"),
        (1 << 24, "1"),
        (0, "2"),
        (1 << 20, "2"),
    ],
)
def test_a_run_with_few_addresses_left(
    room: int,
    workers: str,
    program: Program,
    run: list[str],
    finished: Path,
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    limits = {"AS": max(program.address_space, LEAST) + room}
    filled = {"filled": max(LEAST - program.address_space, 0)}
    outcome = program.run(
        *run,
        "--workers",
        workers,
        "--out",
        out,
        folder=tmp_path,
        limits=limits,
        **filled,
    ).check()
    assert outcome.status == 0 or any(words in outcome.told[-1] for words in MEMORY), (
        outcome
    )
    assert half_written(out, finished) == {}
    assert outcome.status == 1 or all(
        same(out / name, finished / name) for name in RESULTS
    )


@pytest.mark.parametrize("command", ["convert", "compare", "resume"])
def test_other_commands_with_few_addresses_left(
    command: str, program: Program, data: Path, finished: Path, tmp_path: Path
) -> None:
    arguments = {
        "convert": ["convert", data, "new"],
        "compare": ["compare", finished / STUDY],
        "resume": ["run", "--resume", finished / STUDY],
    }
    limits = {"AS": max(program.address_space, LEAST)}
    filled = {"filled": max(LEAST - program.address_space, 0)}
    outcome = program.run(
        *arguments[command], folder=tmp_path, limits=limits, **filled
    ).check()
    assert outcome.status == 0 or any(words in outcome.told[-1] for words in MEMORY), (
        outcome
    )


@pytest.mark.parametrize("kilobytes", [60_000, 400_000])
def test_too_few_addresses_for_the_program_itself(kilobytes: int, data: Path) -> None:
    limited = (
        f"ulimit -v {kilobytes}; exec {sys.executable} -m rankstudio run --data {data}"
    )
    done = subprocess.run(
        ["bash", "-c", limited], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith(
        "rankstudio: The address space of the program is limited to "
    )
    assert "(ulimit -v); at least" in sentence


@pytest.fixture
def group() -> Iterator[Path]:
    """A control group of our own, in which memory can be limited."""
    root = Path("/sys/fs/cgroup")
    folder = root / "memory" if (root / "memory").is_dir() else root
    made = folder / f"rankstudio-{os.getpid()}"
    try:
        made.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        if not any(
            (made / name).exists() for name in ("memory.max", "memory.limit_in_bytes")
        ):
            pytest.skip("control groups limit no memory here")
        yield made
    finally:
        with suppress(OSError):
            made.rmdir()


def test_a_control_group_of_this_machine_limits_what_is_free(group: Path) -> None:
    most = next(
        p for p in (group / "memory.max", group / "memory.limit_in_bytes") if p.exists()
    )
    most.write_text(str(200 << 20))
    code = (
        f"import os, pathlib; pathlib.Path({str(group / 'cgroup.procs')!r}).write_text(str(os.getpid()))\n"
        "from rankstudio.engine.support import memory; print(memory.available())"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert 100 << 20 < float(said) <= 200 << 20
