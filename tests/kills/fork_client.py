"""The tests' end of the fork server, and the data and commands that its programs are given."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Self

from fork_server import Ended, Request
from letor_folder import save_folds

_HERE = Path(__file__).parent
_SECONDS = 60


class ForkServer:
    """A process that starts programs as copies of itself; a context manager that ends it.

    Parameters
    ----------
    modules : str
        What it loads besides engine and terminal.

    Attributes
    ----------
    can_follow : bool
        Whether programs can be killed at a system call.
    """

    def __init__(self, *modules: str) -> None:
        here = os.pathsep.join((str(_HERE), *(path for path in sys.path if path)))
        # A copy has one thread: libraries must not have started others before.
        single = {
            **{f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")},
            # pyarrow, which pandas loads
            "JE_ARROW_MALLOC_CONF": "background_thread:false",
        }
        self._process = subprocess.Popen(
            [sys.executable, str(_HERE / "fork_server.py"), *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                **single,
                "PYTHONPATH": here,
                "QT_QPA_PLATFORM": "offscreen",
                # of processes that are killed it is told that they leave semaphores, which have no names
                "PYTHONWARNINGS": "ignore::UserWarning:multiprocessing.resource_tracker",
            },
        )
        ready = json.loads(self._answer())
        assert ready["threads"] == 1, "a copy of it would not be whole"
        self.can_follow: bool = ready["followed"]

    def start(self, request: Request) -> Ended:
        """Have a program started, and killed at its moment; return how it ended."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asdict(request)) + "\n")
        self._process.stdin.flush()
        values = json.loads(self._answer())
        return Ended(
            **{key: tuple(v) if isinstance(v, list) else v for key, v in values.items()}
        )

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the server of copies ended"
        return line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=_SECONDS)


def write_small_folds(folder: Path) -> Path:
    """Write two folds so small that everything around a unit takes longer than the unit."""
    return save_folds(
        folder,
        2,
        n_queries=12,
        n_informative=2,
        n_redundant=1,
        n_noise=2,
        n_constant=1,
        documents=(3, 6),
    )


def has_ended(pid: int) -> bool:
    """Return whether a process is gone, or only waits for somebody to take note of its end."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def still_running(pids: tuple[int, ...]) -> set[int]:
    """Return which of some processes do not end, however long one waits."""
    left, until = set(pids), time.monotonic() + _SECONDS
    while left and time.monotonic() < until:
        left = {pid for pid in left if not has_ended(pid)}
        time.sleep(0.01)
    return left
