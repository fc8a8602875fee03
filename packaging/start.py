"""Where the bundled program starts: the command line, or one of the processes that the program starts itself.

Such a process is asked for as Python would be: ``-m MODULE``, or ``-I -S SCRIPT``. In a bundle the program is
its own Python, and understands the two for what is its own.
"""

from __future__ import annotations

import multiprocessing
import runpy
import sys
from pathlib import Path

from rankstudio.__main__ import main


def start() -> int:
    """Carry out what the arguments ask for, and return the exit status."""
    multiprocessing.freeze_support()
    words = sys.argv[1:]
    if words[:1] == ["-m"] and words[1].startswith("rankstudio."):
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__")
        return 0
    if words[:2] == ["-I", "-S"] and _own(Path(words[2])):
        sys.argv = words[2:]
        runpy.run_path(words[2], run_name="__main__")
        return 0
    return main()


def _own(script: Path) -> bool:
    """Tell whether a script came with the bundle."""
    return script.resolve().is_relative_to(Path(sys._MEIPASS).resolve())  # type: ignore[attr-defined]


if __name__ == "__main__":
    raise SystemExit(start())
