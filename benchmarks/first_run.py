"""What the first run after installation costs: the sample's study with empty caches, kernel by kernel.

    python benchmarks/first_run.py [--times 3] [--package FOLDER] [--json FILE] [--window]

Every run is a process of its own with a copy of the package without compiled files, and with caches that are
empty; the best of some counts, in seconds of processor (user + system), which other work on the computer
disturbs less than seconds on the clock. A run with the caches that it left follows. Of numba's own library
(checks of slices, text, allocation) only what was compiled is counted, under one line a module.

``--package`` takes the package from another checkout, to compare; ``--window`` opens the window instead,
presses Run as soon as the sample is there, and prints the seconds on the clock until the first curve.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from record import Record, parser

ROOT = Path(__file__).parent.parent
MOST_SECONDS, MOST_TO_CURVE = 10.0, 5.0


class Compilations:
    """Counts what numba compiles: how often, and seconds of its thread with and without what it calls."""

    def __init__(self) -> None:
        self.table: dict[str, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
        self._open = threading.local()

    def notify(self, event: Any) -> None:
        """Take the beginning or the end of a compilation in; numba calls this."""
        stack = self._open.__dict__.setdefault("stack", [])
        if event.is_start:
            stack.append([time.thread_time(), 0.0])
            return
        began, inside = stack.pop()
        whole = time.thread_time() - began
        if stack:
            stack[-1][1] += whole
        function = event.data["dispatcher"].py_func
        own = function.__module__.startswith("rankstudio")
        name = (
            f"{function.__module__}.{function.__name__}" if own else function.__module__
        )
        row = self.table[name]
        row[0] += 1
        row[1] += whole - inside
        row[2] += whole


def run_once(out: str) -> dict[str, Any]:
    """Run the sample's study in this process; return its seconds of processor and its compilations."""
    from numba.core import event

    from rankstudio.cli import main

    counted = Compilations()
    event.Listener.register(Compilations)
    event.register("numba:compile", counted)
    main(["run", "--sample", "--out", out])
    usage = [
        resource.getrusage(who)
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    return {
        "seconds": sum(u.ru_utime + u.ru_stime for u in usage),
        "compiled": counted.table,
    }


def open_once() -> dict[str, Any]:
    """Open the sample in the window, press Run, and return the seconds until the first point of a curve."""
    from PySide6.QtCore import QEventLoop, QTimer

    from rankstudio.engine.experiment.plan.plan import SAMPLE
    from rankstudio.ui import app as starting
    from rankstudio.ui.main_window import MainWindow
    from rankstudio.ui.process.settings import Settings
    from rankstudio.ui.style.theme import Theme

    starting.leave_room_for_the_window()
    app = starting.application()
    theme = Theme("light")
    theme.apply(app)
    began = time.perf_counter()
    window = MainWindow(theme, Settings())
    window.show()
    seen: list[float] = []
    said: list[str] = []
    window.runs.eventNoted.connect(
        lambda _, event: (
            seen.append(time.perf_counter()) if hasattr(event, "step") else 0
        )
    )
    window.models.preparing.connect(said.append)
    window.open_path(SAMPLE)
    window.models.warm_up()
    loop, clock = QEventLoop(), QTimer()
    clock.start(10)
    longest, last, pressed = 0.0, time.perf_counter(), 0.0
    while not seen:
        loop.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
        if not pressed and window.session.dataset is not None:
            pressed = now
            window.commands["run"].trigger()
    result = {
        "to_curve": seen[0] - pressed,
        "since_window": seen[0] - began,
        "longest_gap": longest,
        "said": said,
    }
    clock.stop()
    window.close()
    return result


def in_a_process(package: Path, caches: Path, window: bool) -> dict[str, Any]:
    """Do it in a process whose caches are in a folder."""
    command = [sys.executable, __file__, "--inside", str(caches)] + [
        "--window"
    ] * window
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(caches / "numba"),
        "XDG_CACHE_HOME": str(caches / "cache"),
        "XDG_CONFIG_HOME": str(caches / "config"),
        "XDG_DATA_HOME": str(caches / "data"),
        "PYTHONPATH": str(package),
        "QT_QPA_PLATFORM": "offscreen",
    }
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(source: Path, window: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the figures of a first run and of a second one."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("rankstudio", "resources"):
            shutil.copytree(
                source / name,
                place / name,
                ignore=shutil.ignore_patterns("__pycache__"),
            )
        return in_a_process(place, place, window), in_a_process(place, place, window)


def main() -> int:
    """Measure, print, and return 0 where the first run is as fast as is promised."""
    arguments = parser(__doc__)
    arguments.add_argument("--times", type=int, default=3)
    arguments.add_argument(
        "--package", type=Path, default=ROOT, help="a checkout to take the package from"
    )
    arguments.add_argument("--window", action="store_true")
    arguments.add_argument("--inside", help=argparse.SUPPRESS)
    args = arguments.parse_args()
    if args.inside:
        print(
            json.dumps(open_once() if args.window else run_once(f"{args.inside}/out"))
        )
        return 0
    key, most = (
        ("to_curve", MOST_TO_CURVE) if args.window else ("seconds", MOST_SECONDS)
    )
    pairs = [measure(args.package, args.window) for _ in range(args.times)]
    first, second = min(pairs, key=lambda pair: float(pair[0][key]))
    record = Record(args.json)
    for what, figures in (("empty caches", first), ("warm", second)):
        seconds = {
            name: value for name, value in figures.items() if value.__class__ is float
        }
        print(
            what, "  ".join(f"{name} {value:.2f} s" for name, value in seconds.items())
        )
        record.add("first run", what, **seconds)
    rows = sorted(first.get("compiled", {}).items(), key=lambda row: -row[1][1])
    for name, (times, own, whole) in rows:
        print(f"{own:7.3f} {whole:7.3f} {times:4.0f}  {name}")
        record.add("compilations", name, own_s=own, whole_s=whole, times=times)
    record.save()
    print(f"load {os.getloadavg()[0]:.1f}")
    return int(first[key] > most)


if __name__ == "__main__":
    raise SystemExit(main())
