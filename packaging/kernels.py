"""Has the bundled program compile what a first session needs, and puts the kernels into the program's folder.

Kernels that the source tree has by now are taken along, and the program compiles only what is not among them.
They serve the processor that this computer has; on others the program compiles its own, once, as ever::

    python packaging/kernels.py dist/rankstudio
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from window_session import program, run_sample

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = (
    ("run", "--sample", "--out", "all", "--folds", "1"),
    (
        "run",
        "--sample",
        "--out",
        "some",
        "--workers",
        "2",
        "--folds",
        "1",
        "--features",
        "3",
    ),
)
"""What is done once in the terminal; what it compiles is there from then on."""


def main(folder: Path) -> None:
    """Compile, and keep what was compiled in ``rankstudio/resources/kernels``, a folder for each package."""
    package = next(folder.rglob("rankstudio/__main__.py")).parent
    shutil.rmtree(package / "resources" / "kernels", ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        own = {
            "NUMBA_CACHE_DIR": str(Path(scratch, "numba")),
            "RANKSTUDIO_CACHE_DIR": str(Path(scratch, "cache")),
            "RANKSTUDIO_DATA_DIR": str(Path(scratch, "data")),
        }
        folders = {path.parent for path in package.rglob("*.py")}
        kept = {
            folder: Path(scratch, "numba", folder_of_numba(folder))
            for folder in folders
        }
        for source, place in kept.items():
            for file in (
                ROOT / source.relative_to(package.parent) / "__pycache__"
            ).glob("*.nb[ci]"):
                place.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, place)
        environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"} | own
        for words in COMMANDS:
            command = [program(folder, "rankstudio"), *words]
            subprocess.run(
                command,
                cwd=scratch,
                env=environment,
                stdout=subprocess.DEVNULL,
                check=True,
            )
        # data that are read anew, and not from the cache, are arrays of another type to a kernel
        apart = {
            name: f"{own[name]}-of-window"
            for name in ("RANKSTUDIO_CACHE_DIR", "RANKSTUDIO_DATA_DIR")
        }
        run_sample(
            folder,
            Path(apart["RANKSTUDIO_DATA_DIR"]),
            Path(own["NUMBA_CACHE_DIR"]),
            environment | apart,
        )
        for source, place in kept.items():
            if place.is_dir():
                name = ".".join(source.relative_to(package.parent).parts)
                shutil.copytree(
                    place, package / "resources" / "kernels" / name, dirs_exist_ok=True
                )
    print(
        sum(1 for _ in (package / "resources" / "kernels").rglob("*.nbc")),
        "compiled kernels are in",
        folder,
    )


def folder_of_numba(source: Path) -> str:
    """Return how numba calls the folder for the kernels of the modules in a folder."""
    return f"{source.name}_{hashlib.sha1(str(source).encode()).hexdigest()}"


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
