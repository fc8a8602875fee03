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
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._collect)
        self._timer.start(_MILLISECONDS)

    @Slot()
    def _collect(self) -> None:
        collect_due()


def collect_due() -> None:
    """Search the oldest of Python's generations that is due by its threshold, and the younger ones."""
    limits = zip(gc.get_count(), gc.get_threshold(), strict=True)
    due = [generation for generation, (count, most) in enumerate(limits) if count > most]
    if due and HOLD.acquire(blocking=False):
        try:
            gc.collect(due[-1])
        finally:
            HOLD.release()
