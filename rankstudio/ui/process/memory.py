"""How much memory the program takes, for the status bar; and what work has left behind, given back."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Slot

from rankstudio.engine.support.memory import release_unused

_MILLISECONDS = 1000  # without work, after which the program is at rest


def resident_bytes() -> int:
    """Return the memory the process holds now, in bytes; its peak where only that is known, else 0."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return _peak_bytes()


def _peak_bytes() -> int:
    try:
        import resource  # noqa: PLC0415 - Unix only
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024


def in_words(size: int) -> str:
    """Return a size as "412 MB", "" for 0."""
    return f"{size / 1e6:,.0f} MB" if size else ""


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
            threading.Thread(target=release_unused, name="idle-memory", daemon=True).start()
