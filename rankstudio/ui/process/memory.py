"""Gives memory back that work has left behind; and Python's search for garbage.

Python searches on whichever thread happens to make one object too many, and deletes there what it finds:
timers, actions and models of Qt, which none but their own thread may delete. A search in the middle of Qt's
own work may delete what Qt is about to use. So it is made on the window's thread alone.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Slot

from rankstudio.engine.support.memory import release_unused
from rankstudio.ui.process.turns import single_shot

_REST_MILLISECONDS = 1000  # without work, after which the program is at rest


class IdleMemory(QObject):
    """Gives memory back a second after work has ended, on a thread of its own.

    Parameters
    ----------
    busy : callable
        Whether there is work: then its end is waited for.
    parent : QObject
    """

    def __init__(self, busy: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self.setObjectName("idle-memory")
        self._busy = busy
        self._timer = single_shot(_REST_MILLISECONDS, self._release, self)

    @Slot()
    def wait_for_rest(self) -> None:
        """Begin to wait anew: something has been done."""
        self._timer.start()

    @Slot()
    def _release(self) -> None:
        if not self._busy():
            threading.Thread(target=release_unused, name="idle-memory", daemon=True).start()


_SEARCH_MILLISECONDS = 1000  # between two checks of what is due, which cost nothing
_OLDEST = 2  # of Python's generations
_REST = 100.0  # times as long as the last search of it took

HOLD = threading.Lock()
"""While it is locked, no search for garbage begins."""


@dataclass(frozen=True)
class GarbageSearch:
    """When the oldest generation was searched last.

    Attributes
    ----------
    ended : float
        In seconds, by the clock that :func:`collect_due` was given.
    took : float
        Seconds.
    """

    ended: float = 0.0
    took: float = 0.0


NEVER = GarbageSearch()


class GarbageCollection(QObject):
    """Has garbage searched for by a timer of the thread that makes this, and in no other way.

    Until :meth:`begin` it is not searched for at all.

    Parameters
    ----------
    parent : QObject
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.setObjectName("garbage-collection")
        gc.disable()
        self._last = NEVER
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._collect)

    def begin(self) -> None:
        """Begin to search: the window is there. What it is made of stays, and is searched no more."""
        gc.freeze()
        self._timer.start(_SEARCH_MILLISECONDS)

    @Slot()
    def _collect(self) -> None:
        self._last = collect_due(self._last)


def collect_due(last: GarbageSearch = NEVER, clock: Callable[[], float] = time.monotonic) -> GarbageSearch:
    """Search the oldest of Python's generations that is due by its threshold, and the younger ones.

    The oldest of all rests for a hundred times as long as its last search took, so that the window stands
    still for a hundredth of the time at most: going through the steps of ten runs takes a tenth of a second.
    Objects are not counted for this. Python counts them only by listing them, and a list made while other
    threads work also holds tuples that are being filled, which then cannot be resized (SystemError).

    Parameters
    ----------
    last : GarbageSearch
        What this returned last.
    clock : callable
        Returns seconds.
    """
    limits = zip(gc.get_count(), gc.get_threshold(), strict=True)
    due = [generation for generation, (count, threshold) in enumerate(limits) if count > threshold]
    begin = clock()
    if _OLDEST in due and begin - last.ended < _REST * last.took:
        due.remove(_OLDEST)
    if not due or not HOLD.acquire(blocking=False):
        return last
    try:
        gc.collect(due[-1])
        end = clock()
        return GarbageSearch(end, end - begin) if due[-1] == _OLDEST else last
    finally:
        HOLD.release()
