"""What the program needs no more is given back to the system when it has come to rest."""

from __future__ import annotations

import threading
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot

from rankstudio.engine.support.released_memory import release

_MILLISECONDS = 1000  # without work, after which the program is at rest


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
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_MILLISECONDS)
        self._timer.timeout.connect(self._release)

    @Slot()
    def wait_for_rest(self) -> None:
        """Begin to wait anew: something has been done."""
        self._timer.start()

    @Slot()
    def _release(self) -> None:
        if not self._busy():
            threading.Thread(target=release, name="idle-memory", daemon=True).start()
