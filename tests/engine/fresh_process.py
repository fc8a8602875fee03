"""Programs and notebooks that were written, run in fresh processes, which know nothing of the tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_RUN_NOTEBOOK = """
import sys, nbclient, nbformat
found = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(found, timeout=200, kernel_name="python3").execute()
nbformat.write(found, sys.argv[1])
"""


def in_a_fresh_process(*words: str, folder: Path) -> str:
    """Run a command in a folder and return what it prints."""
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=230, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def run_notebook(path: Path) -> None:
    """Run a notebook in its folder; it keeps what its cells show."""
    in_a_fresh_process(
        sys.executable, "-c", _RUN_NOTEBOOK, str(path), folder=path.parent
    )
