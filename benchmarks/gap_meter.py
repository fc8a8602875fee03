"""A meter of the event loop: its longest gaps, what the window's thread did in them, and what blocked it.

A timer of 5 ms on the window's thread notes when it is called. Of the time between two calls the kernel says
how long the thread computed and how long it waited for a processor that somebody else had; the rest it slept,
which in a turn that is late means that it waited for the interpreter (or a disk). A second thread has the
stacks of all threads written down while a call is overdue. It keeps no frame: a painter would live on in it.
"""

from __future__ import annotations

import faulthandler
import re
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import Qt, QTimer

TICK_SECONDS = 0.005
_OVERDUE_SECONDS = 0.025
_LOOK_SECONDS = 0.004
_OWN = ("rankstudio", "benchmarks")
_THREAD = re.compile(r"(?:Current thread|Thread) 0x([0-9a-f]+)")
_FRAME = re.compile(r'File "(.*?)([^/"]+)\.py", line (\d+) in (.*)')


@dataclass
class Gap:
    """A time in which the event loop did not turn, in seconds.

    Attributes
    ----------
    length : float
    computed : float
        The window's thread had a processor.
    queued : float
        It was ready, and others had the processors: noise of the machine, or kernels of this process.
    stacks : Counter of str
        Where threads were, how often they were seen there.
    """

    length: float
    computed: float
    queued: float
    stacks: Counter[str] = field(default_factory=Counter)

    @property
    def slept(self) -> float:
        """It waited, for the interpreter as a rule."""
        return max(0.0, self.length - self.computed - self.queued)

    @property
    def cause(self) -> str:
        """The greatest of the three."""
        parts = {
            "own work": self.computed,
            "machine": self.queued,
            "interpreter": self.slept,
        }
        return max(parts, key=lambda name: parts[name])


class GapMeter:
    """Measures from its making until :meth:`stop`."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        native = threading.get_native_id()
        path = Path(f"/proc/self/task/{native}/schedstat")
        self._scheduled = path.open("rb", buffering=0) if path.exists() else None
        self._gaps: list[Gap] = []
        self._stacks: Counter[str] = Counter()
        self._last = time.perf_counter()
        self._spent = self._spend()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._note)
        self._timer.start(round(1000 * TICK_SECONDS))
        self._stopped = threading.Event()
        self._watcher = threading.Thread(
            target=self._watch, name="gap-watcher", daemon=True
        )
        self._watcher.start()

    def take(self) -> list[Gap]:
        """Return the gaps since the last time, the longest first."""
        self._note()
        gaps, self._gaps = self._gaps, []
        return sorted(gaps, key=lambda gap: -gap.length)

    def stop(self) -> None:
        """Stop measuring."""
        self._timer.stop()
        self._stopped.set()
        self._watcher.join()

    def _spend(self) -> tuple[float, float]:
        """Return seconds on a processor and seconds in the queue for one, of the window's thread."""
        if self._scheduled is None:
            return time.thread_time(), 0.0
        self._scheduled.seek(0)
        computed, queued, _ = self._scheduled.read(64).split()
        return int(computed) / 1e9, int(queued) / 1e9

    def _note(self) -> None:
        now, spent = time.perf_counter(), self._spend()
        stacks, self._stacks = self._stacks, Counter()
        gap = Gap(
            now - self._last,
            spent[0] - self._spent[0],
            spent[1] - self._spent[1],
            stacks,
        )
        self._gaps.append(gap)
        self._last, self._spent = now, spent

    def _watch(self) -> None:
        with tempfile.TemporaryFile("w+") as file:
            while not self._stopped.wait(_LOOK_SECONDS):
                if time.perf_counter() - self._last < _OVERDUE_SECONDS:
                    continue
                file.seek(0)
                file.truncate()
                faulthandler.dump_traceback(file, all_threads=True)
                file.seek(0)
                self._stacks.update(self._places(file.read()))

    def _places(self, dump: str) -> list[str]:
        """Return where each thread but the watcher is."""
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        found = []
        for text in dump.split("\n\n"):
            thread = _THREAD.search(text)
            ident = int(thread[1], 16) if thread else 0
            if ident != self._watcher.ident:
                name = "window" if ident == self._thread else names.get(ident, "thread")
                found.append(f"{name}: {_place(text)}")
        return found


def _place(dump: str) -> str:
    """Return the innermost place of a thread, and from which places of our own it was called."""
    frames = _FRAME.findall(dump)
    own = [
        i
        for i, (folder, *_) in enumerate(frames)
        if i == 0 or any(name in folder for name in _OWN)
    ]
    return " < ".join(
        f"{stem}.{name}:{line}" for _, stem, line, name in (frames[i] for i in own[:4])
    )
