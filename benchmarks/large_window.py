"""Data larger than the memory budget in the real window: what every page of it takes.

    python benchmarks/large_window.py --data FOLDER --memory 2GB

opens the data, goes to every page, runs greedy RankRLS, goes to every page again, and stops a run under way.
For each it prints what `window_gaps.py` does, and how much memory was resident in the process at the most.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from pathlib import Path

from record import Record, parser
from window_gaps import Walk

_LOOK_SECONDS = 0.02
_PAGES = ("data", "select", "features", "queries", "compare", "report")


class Resident:
    """Knows how much memory was resident at the most, looking on a thread of its own."""

    def __init__(self) -> None:
        self.peak = self.anonymous = 0.0
        threading.Thread(target=self._watch, name="memory-watcher", daemon=True).start()

    def take(self) -> tuple[float, float]:
        """Return the most megabytes since the last time: of all, and without pages of files."""
        found = self.peak, self.anonymous
        self.peak = self.anonymous = 0.0
        return found

    def _watch(self) -> None:
        size = os.sysconf("SC_PAGE_SIZE") / 1e6
        while True:
            _, resident, shared, *_ = (
                Path("/proc/self/statm").read_text(encoding="ascii").split()
            )
            self.peak = max(self.peak, int(resident) * size)
            self.anonymous = max(self.anonymous, (int(resident) - int(shared)) * size)
            time.sleep(_LOOK_SECONDS)


class MemoryWalk(Walk):
    """A walk that reports memory too."""

    def __init__(self, record: Record) -> None:
        self.resident = Resident()
        super().__init__(record)

    def report(self, what: str, seconds: float, cpu: float) -> None:
        """Print the gaps, and what was resident."""
        super().report(what, seconds, cpu)
        peak, anonymous = self.resident.take()
        print(
            f"    resident {peak:.0f} MB at the most, {anonymous:.0f} MB without files",
            flush=True,
        )
        self.record.add("memory", what, peak_mb=peak, anonymous_mb=anonymous)


def look(walk: MemoryWalk, when: str) -> None:
    """Go to every page."""
    for page in _PAGES:
        walk.do(
            f"page {page}, {when}", lambda p=page: walk.window.workspace.show_page(p)
        )


def main() -> int:
    """Measure."""
    arguments = parser(__doc__ or "")
    arguments.add_argument(
        "--data", type=Path, required=True, help="a LETOR file or a folder of folds"
    )
    arguments.add_argument(
        "--memory", default="2GB", help="the budget (default %(default)s)"
    )
    arguments.add_argument(
        "--size",
        type=int,
        default=30,
        help="features of the path (default %(default)s)",
    )
    args = arguments.parse_args()
    os.environ["RANKSTUDIO_MEMORY"] = args.memory
    record = Record(args.json)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RANKSTUDIO_CONFIG_DIR"] = os.environ["RANKSTUDIO_DATA_DIR"] = folder
        walk = MemoryWalk(record)
        window = walk.window
        walk.do("warm up", window.models.warm_up)
        walk.open(args.data.name, args.data)
        look(walk, "before a run")
        walk.do("look at a feature", lambda: window.sections.features.inspect(5))
        window.workspace.show_page("select")
        walk.run(
            "greedy RankRLS",
            "greedy-rankrls",
            n_features_to_select=args.size,
            regularization=(1.0,),
        )
        look(walk, "after a run")
        window.workspace.show_page("features")
        walk.do(
            "look at a feature, after a run",
            lambda: window.sections.features.inspect(9),
        )
        window.workspace.show_page("select")
        runs = window.runs
        walk.do(
            "begin a run",
            window.sections.select.control.run,
            lambda: runs.current is not None and runs.current.growing,
        )
        walk.do("stop it", window.runs.stop)
        for seconds in (1.0, 4.0, 16.0):
            until = time.perf_counter() + seconds
            walk.do(
                f"run for {seconds:.0f} s",
                window.sections.select.control.run,
                lambda end=until: time.perf_counter() > end,
            )
            walk.do(f"stop after {seconds:.0f} s", window.runs.stop)
        walk.meter.stop()
        window.close()
    record.save()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
