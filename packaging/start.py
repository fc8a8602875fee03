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
    match sys.argv[1:]:
        case ["-m", module, *_] if module.startswith("rankstudio."):
            sys.argv = sys.argv[2:]
            runpy.run_module(module, run_name="__main__")
            return 0
        case ["-I", "-S", script, *_] if _own(Path(script)):
            sys.argv = sys.argv[3:]
            runpy.run_path(script, run_name="__main__")
            return 0
    return main()


def _own(script: Path) -> bool:
    """Tell whether a script came with the bundle."""
    return script.resolve().is_relative_to(Path(sys._MEIPASS).resolve())  # type: ignore[attr-defined]


if __name__ == "__main__":
    raise SystemExit(start())
