"""What the window holds of memory: alone, with data open, after a run, and when every page has been seen.

    python benchmarks/memory.py --data MQ2008

starts the real window, has it come to rest after each step, as a user who waits for a second does, and prints
what is resident (VmRSS, in MB of 10^6 bytes, as the window's status bar says it), how much of it is the
process's own, how much of it pages of files, and the most that ever was. The run is greedy RankRLS as the
form gives it, over all folds; the seconds until its first step are those from the press on Run. Linux alone
says all this.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from record import Record, parser

if not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

# without work, twice as long as the window waits before it gives memory back
_REST_SECONDS = 2.0
_KINDS = {
    "VmRSS": "resident_mb",
    "RssAnon": "own_mb",
    "RssFile": "files_mb",
    "VmHWM": "most_mb",
}
_IMPORTS = """
import re
from pathlib import Path
def resident():
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmRSS:\\s+(\\d+)", status)[1]) * 1024 / 1e6
def show(name):
    global before
    now = resident()
    print(name, now - before)
    before = now
before = resident()
import numpy
show("numpy")
import numba
show("numba")
numba.njit(lambda x: x + 1)(1)
show("numba's-compiler")
import matplotlib.figure, matplotlib.backends.backend_agg
show("matplotlib")
import scipy.stats
show("scipy.stats")
import pandas
show("pandas")
"""


class Window:
    """The real window, and its event loop turned from here."""

    def __init__(self) -> None:
        from rankstudio.ui import app as starting
        from rankstudio.ui.main_window import MainWindow
        from rankstudio.ui.process.memory import GarbageCollection
        from rankstudio.ui.process.settings import Settings
        from rankstudio.ui.style.theme import Theme

        starting.leave_room_for_the_window()
        self.app = starting.application()
        garbage = GarbageCollection(self.app)
        self.theme = Theme("light")
        self.theme.apply(self.app)
        with self.theme.building():
            self.window = MainWindow(self.theme, Settings())
        self.window._asks = False
        self.window.resize(1500, 950)
        self.window.show()
        garbage.begin()
        garbage.begin()
        self.steps: list[float] = []
        self.window.runs.eventNoted.connect(
            lambda _, event: (
                self.steps.append(time.perf_counter())
                if hasattr(event, "step")
                else None
            )
        )

    def rest(self, act: Callable[[], object]) -> None:
        """Act, and turn the loop until nothing has been done for a while."""
        from PySide6.QtCore import QEventLoop, QTimer

        act()
        loop, clock, last = QEventLoop(), QTimer(), time.perf_counter()
        clock.start(10)
        while time.perf_counter() - last < _REST_SECONDS:
            loop.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
            if self.window.models.n_busy or self.window.models.loader.busy:
                last = time.perf_counter()

    def run(self) -> float:
        """Press Run, come to rest, and return the seconds until the first step."""
        self.steps.clear()
        began = time.perf_counter()
        self.rest(self.window.commands["run"].trigger)
        return self.steps[0] - began


def resident() -> dict[str, float]:
    """Return what the system says of this process, in MB."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    found = dict(re.findall(r"^(\w+):\s+(\d+) kB$", text, re.M))
    return {name: 1024e-6 * int(found[kind]) for kind, name in _KINDS.items()}


def library_sizes() -> dict[str, float]:
    """Return what importing each large library adds to a new process, one after the other, in MB.

    numba's compiler is loaded by the first compilation.
    """
    run = subprocess.run(
        [sys.executable, "-c", _IMPORTS], check=True, capture_output=True, text=True
    )
    return {
        name: float(megabytes)
        for name, megabytes in map(str.split, run.stdout.splitlines())
    }


def main() -> int:
    """Measure."""
    arguments = parser(__doc__ or "")
    arguments.add_argument(
        "--data", type=Path, required=True, help="a LETOR file or a folder of folds"
    )
    args = arguments.parse_args()
    record = Record(args.json)
    for library, megabytes in library_sizes().items():
        print(f"{library:<28}adds {megabytes:4.0f} MB when it is imported")
        record.add("libraries", library, added_mb=megabytes)

    def report(what: str, **others: float) -> None:
        found = resident()
        print(
            f"{what:<28}"
            + "  ".join(f"{name[:-3]} {value:4.0f} MB" for name, value in found.items())
        )
        record.add("memory", what, **found, **others)

    with tempfile.TemporaryDirectory() as folder:
        os.environ["RANKSTUDIO_CONFIG_DIR"] = os.environ["RANKSTUDIO_DATA_DIR"] = folder
        made = Window()
        pages = made.window.workspace
        made.rest(lambda: None)
        report("the window")
        made.rest(made.window.models.warm_up)
        report("at rest")
        made.rest(lambda: made.window.open_path(str(args.data)))
        report(f"{args.data.name} open")
        first = made.run()
        report("after a run", first_step_s=first)
        made.rest(lambda: pages.show_page("data"))
        report("its page left")
        again = made.run()
        report("after the run again", first_step_s=again)
        for key in (
            "select",
            "features",
            "compare",
            "evidence",
            "queries",
            "report",
            "lab",
            "data",
        ):
            made.rest(lambda k=key: pages.show_page(k))
        report("every page seen")
        print(f"first step after {first:.2f} s, in the second run after {again:.2f} s")
        made.rest(made.window.close)
    record.save()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
