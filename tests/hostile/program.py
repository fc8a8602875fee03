"""The program as tests in hostile environments start it: in a place of its own, where disks are small."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

RESULTS = ("metrics.csv", "plan.toml", "results.json", "selection_path.csv")
STUDY = "study.rankstudio"
_PRIVATE = (["unshare", "-m"], ["unshare", "-Urm"])


@dataclass(frozen=True)
class Outcome:
    """How a command ended, and what it printed."""

    status: int
    stdout: str
    stderr: str
    calls: str

    @property
    def told(self) -> list[str]:
        """Notes and errors, without progress."""
        return [
            line
            for line in self.stderr.splitlines()
            if line.startswith(("rankstudio: ", "Note: "))
        ]

    def check(self) -> Outcome:
        """Hold it against what is promised: done with at most one note, or one sentence says why not."""
        assert "Traceback" not in self.stderr, self
        assert "Exception ignored" not in self.stderr, self
        assert self.status in (0, 1), self
        assert len(self.told) <= 1 or self.status == 1, self
        assert (
            sum(line.startswith("rankstudio: ") for line in self.told) == self.status
        ), self
        assert all(line.endswith(".") for line in self.told), self
        return self


class Program:
    """The program, loaded once and copied for every command line.

    Parameters
    ----------
    scratch : Path
        For what is printed.
    data : Path
        To be loaded with.
    """

    def __init__(self, scratch: Path, data: Path) -> None:
        self._scratch = scratch
        self.private = next(
            (prefix for prefix in _PRIVATE if _works([*prefix, "true"])), None
        )
        script = str(Path(__file__).with_name("forked.py"))
        self._process = subprocess.Popen(
            [*(self.private or ()), sys.executable, script, str(scratch), str(data)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        )

    @property
    def address_space(self) -> int:
        """How many bytes of addresses it has as long as nothing is done."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return 1024 * int(status.partition("VmSize:")[2].split()[0])

    def run(self, *arguments: object, folder: Path, **place: Any) -> Outcome:
        """Carry a command line out in a folder; ``place`` is what `forked.py` makes of the copy."""
        order = {
            "arguments": list(map(str, arguments)),
            "folder": str(folder),
            "scratch": str(self._scratch),
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps({**order, **place}), file=self._process.stdin, flush=True)
        return Outcome(**json.loads(self._process.stdout.readline()))

    def seen(self, path: Path) -> Path:
        """Return a path as the program sees it, whose mounts are its own."""
        return Path(f"/proc/{self._process.pid}/root{path.absolute()}")

    def mount(self, *command: str) -> None:
        """Change what the program alone sees mounted; skip the test where nobody may."""
        if self.private is None or shutil.which("nsenter") is None:
            pytest.skip(
                "nothing can be mounted here without the rights of an administrator"
            )
        enter = ["nsenter", "-t", str(self._process.pid), "-m"]
        if self.private[1] != "-m":
            enter += ["-U", "--preserve-credentials"]
        subprocess.run([*enter, *command], check=True)

    @contextmanager
    def small_disk(self, folder: Path, size: str) -> Iterator[Path]:
        """Provide a disk of a size, seen by the program alone, in a folder that is made."""
        folder.mkdir()
        self.mount("mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder))
        try:
            yield folder
        finally:
            self.mount("umount", "--lazy", str(folder))

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def _works(command: list[str]) -> bool:
    found = shutil.which(command[0]) is not None
    return (
        found
        and subprocess.run(command, check=False, capture_output=True).returncode == 0
    )


def half_written(folder: Path, finished: Path) -> dict[str, str]:
    """Return what is in the folder of a run and is no whole result, no study, or somebody's leftover."""
    found = {
        str(path.relative_to(folder)): path
        for path in folder.rglob("*")
        if path.is_file()
    }
    there = {name for name in found if (finished / name).is_file() and name != STUDY}
    good = {name for name in there if same(found[name], finished / name)}
    return {
        name: "not whole" if name in there else "left over"
        for name in found
        if name not in {*good, STUDY}
    }


def same(one: Path, other: Path) -> bool:
    """Return whether two files have the same bytes."""
    return one.read_bytes() == other.read_bytes()
