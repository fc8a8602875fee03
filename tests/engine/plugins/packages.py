"""Packages with plug-ins, made for a test as pip would, and the command that finds them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent


def install(folder: Path, name: str, text: str, plugin: str | None = None) -> None:
    """Make a package with one plug-in as pip would."""
    module = f"{name}_plugin"
    (folder / f"{module}.py").write_text(dedent(text), encoding="utf-8")
    info = folder / f"rankstudio_{name}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: rankstudio-{name}\nVersion: 1.2\n"
    )
    points = f"[rankstudio.plugins]\n{plugin or name} = {module}:PLUGIN\n"
    (info / "entry_points.txt").write_text(points, encoding="utf-8")


def rankstudio(
    folder: Path, *words: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(
        [
            str(folder),
            *filter(None, [os.environ.get("PYTHONPATH", ""), str(Path.cwd())]),
        ]
    )
    return subprocess.run(
        [sys.executable, "-m", "rankstudio", *words],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
