"""Returns unused memory to the system when work has ended, and controls Python's garbage collection.

By itself, Python collects garbage on any thread that creates objects,
and deletes there what it finds. But timers, actions and models of Qt
may only be deleted by their own thread, and a collection in the middle
of Qt's own work may delete objects that Qt is about to use. So garbage
is collected on the window's thread only, by a timer.
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

_REST_MILLISECONDS = 1000  # after this time without work, unused memory is returned


class IdleMemory(QObject):
    """Returns unused memory to the system a second after work has ended, on a thread of its own.

    Parameters
    ----------
    busy : callable
        Returns whether work is under way; then no memory is returned yet.
    parent : QObject
    """

    def __init__(self, busy: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self.setObjectName("idle-memory")
        self._busy = busy
        self._timer = single_shot(_REST_MILLISECONDS, self._release, self)

    @Slot()
    def wait_for_rest(self) -> None:
        """Restart the second to wait, as work has been done."""
        self._timer.start()

    @Slot()
    def _release(self) -> None:
        """Release unused memory on another thread, unless work is done."""
        if not self._busy():
            threading.Thread(
                target=release_unused, name="idle-memory", daemon=True
            ).start()


_SEARCH_MILLISECONDS = 1000  # between two checks whether a collection is due
_OLDEST = 2  # index of the oldest of Python's generations
# the oldest generation rests this many times the duration of its last collection
_REST = 100.0

HOLD = threading.Lock()
"""While this lock is held, no garbage collection begins."""


@dataclass(frozen=True)
class GarbageSearch:
    """The last garbage collection of the oldest generation.

    Attributes
    ----------
    ended : float
        Time when the collection ended in seconds, by the clock given to
        :func:`collect_due`.
    took : float
        Duration of the collection in seconds.
    """

    ended: float = 0.0
    took: float = 0.0


NEVER = GarbageSearch()


class GarbageCollection(QObject):
    """Collects garbage by a timer on the thread that creates this object; automatic collection is disabled.

    Before :meth:`begin`, no garbage is collected at all.

    Parameters
    ----------
    parent : QObject
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.setObjectName("garbage-collection")
        gc.disable()  # the automatic collection, on any thread
        self._last = NEVER  # when the oldest objects were searched, and how long
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._collect)

    def begin(self) -> None:
        """Begin to collect; called when the window is built, whose objects are exempt from collection."""
        gc.freeze()
        self._timer.start(_SEARCH_MILLISECONDS)

    @Slot()
    def _collect(self) -> None:
        """Collect garbage, if it is due."""
        self._last = collect_due(self._last)


def collect_due(
    last: GarbageSearch = NEVER, clock: Callable[[], float] = time.monotonic
) -> GarbageSearch:
    """Collect garbage of the oldest of Python's generations whose count exceeds its threshold.

    Younger generations are collected with it. Return when the oldest
    generation of all was collected last, and how long that took.

    The oldest generation rests for a hundred times the duration of its
    last collection, so that collections block the window for at most a
    hundredth of the time: collecting with the steps of ten runs takes
    0.1 seconds. The number of objects is not used for this. Python can
    count its objects only by listing them, and a list made while other
    threads work also holds tuples that are being filled, which then
    cannot be resized (SystemError).

    Parameters
    ----------
    last : GarbageSearch
        Return value of the previous call.
    clock : callable
        Returns the present time in seconds.
    """
    # Python has three generations of objects; generation 2 is the
    # oldest. Each has a count of what has happened since its last
    # collection.
    limits = zip(gc.get_count(), gc.get_threshold(), strict=True)
    due = [
        generation
        for generation, (count, threshold) in enumerate(limits)
        if count > threshold
    ]
    begin = clock()
    if _OLDEST in due and begin - last.ended < _REST * last.took:
        due.remove(_OLDEST)

    # Other code holds the lock `HOLD` while no collection may begin;
    # then a later call collects.
    if not due or not HOLD.acquire(blocking=False):
        return last
    try:
        gc.collect(due[-1])  # with all younger generations
        end = clock()
        return GarbageSearch(end, end - begin) if due[-1] == _OLDEST else last
    finally:
        HOLD.release()
