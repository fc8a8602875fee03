"""Python's search for cyclic garbage, on the window's thread alone.

Python searches on whichever thread happens to make one object too many, and deletes there what it finds:
timers, actions and models of Qt, which none but their own thread may delete. A search in the middle of Qt's
own work may delete what Qt is about to use.
"""

from __future__ import annotations

import gc
import threading

from PySide6.QtCore import QObject, QTimer, Slot

_MILLISECONDS = 1000
_OLDEST = 2  # of Python's generations
_GROWTH = 1.25  # of the oldest generation, until which it is not searched again

HOLD = threading.Lock()
"""While somebody has it, nobody searches."""


class GarbageCollection(QObject):
    """Has garbage searched for by a timer of the thread that makes this, and by nobody else.

    Parameters
    ----------
    parent : QObject
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.setObjectName("garbage-collection")
        gc.disable()
        self._old = 0
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._collect)
        self._timer.start(_MILLISECONDS)

    @Slot()
    def _collect(self) -> None:
        self._old = collect_due(self._old)


def collect_due(old: int = 0) -> int:
    """Search the oldest of Python's generations that is due by its threshold, and the younger ones.

    The oldest of all is due only when it has grown by a quarter, as where Python itself decides: going
    through the steps of ten runs takes a tenth of a second, and the window stands still meanwhile.

    Parameters
    ----------
    old : int
        How many objects the oldest generation had after its last search.

    Returns
    -------
    int
        The same after this search.
    """
    limits = zip(gc.get_count(), gc.get_threshold(), strict=True)
    due = [generation for generation, (count, most) in enumerate(limits) if count > most]
    if _OLDEST in due and len(gc.get_objects(_OLDEST)) < _GROWTH * old:
        due.remove(_OLDEST)
    if not due or not HOLD.acquire(blocking=False):
        return old
    try:
        gc.collect(due[-1])
        return len(gc.get_objects(_OLDEST)) if due[-1] == _OLDEST else old
    finally:
        HOLD.release()
