"""A session in the window of a bundled program: the sample is opened and run, and the window closed.

Run it to see whether a bundle works::

    python packaging/window_session.py build/bundle/rankstudio
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

LONGEST = (
    # seconds until the run must have ended: a computer that compiles and does other things as well
    300.0
)
COMPILING = "Compiling for this computer"  # what the log says of each kernel
QUIET = 10.0  # seconds without another kernel, after which the window has all it needs


class SessionError(Exception):
    """A window that ended by itself, or did not do what it was started for."""


def run_sample(
    folder: Path, data: Path, kernels: Path, environment: Mapping[str, str]
) -> None:
    """Open the sample in the window, and close it when its run has ended and all kernels are there.

    Parameters
    ----------
    folder : Path
        The bundled program's folder.
    data : Path
        Where the window keeps its studies.
    kernels : Path
        Where kernels are put that were not there before.
    environment : Mapping of str to str
        What the window is started with.
    """
    command = [program(folder, "rankstudio-window"), "--sample", "--run"]
    with subprocess.Popen(command, env=environment) as window:
        try:
            _wait(window, lambda: finished(data))
            _wait_for_quiet(window, data, kernels)
        finally:
            window.terminate()
    # Windows ends it at once, and says so
    if os.name != "nt" and window.returncode != 0:
        raise SessionError(f"the window ended with status {window.returncode}")


def program(folder: Path, name: str) -> Path:
    """Return where a program of a bundle is."""
    return folder / (f"{name}.exe" if os.name == "nt" else name)


def finished(data: Path) -> bool:
    """Tell whether the run of a study that the window keeps has ended.

    The window has its study for itself: a copy is asked, made with the log in which the newest rows are.
    """
    with tempfile.TemporaryDirectory() as scratch:
        try:
            for file in data.glob("studies/*.rankstudio*"):
                shutil.copy(file, scratch)
            for copy in Path(scratch).glob("*.rankstudio"):
                with closing(sqlite3.connect(copy)) as study:
                    if study.execute(
                        "SELECT count(*) FROM run WHERE finished IS NOT NULL"
                    ).fetchone()[0]:
                        return True
        except (sqlite3.Error, FileNotFoundError):  # copied while it was written
            return False
    return False


def _wait(window: subprocess.Popen[bytes], happened: Callable[[], bool]) -> None:
    """Wait until something has happened, as long as the window is there."""
    deadline = time.monotonic() + LONGEST
    while not happened():
        if window.poll() is not None:
            raise SessionError(
                f"the window ended by itself, with status {window.returncode}"
            )
        if time.monotonic() > deadline:
            raise SessionError(
                f"the window has not run the sample within {LONGEST:.0f} seconds"
            )
        time.sleep(1)


def _wait_for_quiet(window: subprocess.Popen[bytes], data: Path, kernels: Path) -> None:
    """Wait until no kernel has come for a while: pages compute more when a run has ended.

    On a busy machine, a single kernel may take longer than this while. So the while is
    six times as long as long as more kernels were announced in the log than have come.
    """
    n_before = _n_kernels(kernels)
    last_counts = (-1, -1)
    since = time.monotonic()

    def quiet() -> bool:
        nonlocal last_counts, since
        n_announced = sum(
            log.read_text(encoding="utf-8", errors="replace").count(COMPILING)
            for log in data.glob("*.log")
        )
        counts = (_n_kernels(kernels) - n_before, n_announced)
        if counts != last_counts:
            last_counts = counts
            since = time.monotonic()
        is_awaited = counts[0] < n_announced
        return time.monotonic() - since > (6 * QUIET if is_awaited else QUIET)

    _wait(window, quiet)


def _n_kernels(folder: Path) -> int:
    """Return the number of compiled kernels in a folder."""
    return sum(1 for _ in folder.rglob("*.nbc"))


if __name__ == "__main__":
    bundle = Path(sys.argv[1]).resolve()
    run_sample(bundle, Path(os.environ["RANKSTUDIO_DATA_DIR"]), bundle, os.environ)
