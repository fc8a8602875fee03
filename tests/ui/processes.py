"""Programs with a window, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def started(
    program: str, folder: Path, *arguments: str, **surroundings: str
) -> tuple[str, str]:
    """Run a program that keeps settings and studies in a folder; return what it printed and complained of."""
    own = {"RANKSTUDIO_CONFIG_DIR": str(folder), "RANKSTUDIO_DATA_DIR": str(folder)}
    environment = {**os.environ, **own, "QT_QPA_PLATFORM": "offscreen", **surroundings}
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr
