"""How much memory data and runs may take: half of what is free, or what the user says."""

from __future__ import annotations

import os

from PySide6.QtCore import QObject, Signal

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.support import memory
from rankstudio.ui.process.settings import Settings

_KEY = "run/memory"


class MemoryBudget(QObject):
    """Remembers it, and gives it to what this process opens and runs, on any thread, and to its workers.

    What the environment says of a start goes before what was remembered, until the user says otherwise.

    Parameters
    ----------
    settings : Settings
        Keeps it from one start to the next.
    """

    changed = Signal()

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._before = os.environ.get(memory.VARIABLE)
        if not self._before:
            self._give(_valid(settings.text(_KEY)))

    @property
    def asked(self) -> str:
        """The size that is in force, such as "4GB"; "" for half of what is free."""
        return _valid(os.environ.get(memory.VARIABLE, ""))

    def ask(self, size: str) -> None:
        """Take another size from now on; "" for half of what is free.

        Raises
        ------
        ParameterError
            Where it is no size.
        """
        if size:
            memory.n_bytes(size)
        self._settings.set(_KEY, size or None)
        self._give(size)
        self.changed.emit()

    def close(self) -> None:
        """Leave the environment as it was."""
        self._give(self._before or "")

    def _give(self, size: str) -> None:
        """Put it where threads and worker processes find it."""
        if size:
            os.environ[memory.VARIABLE] = size
        else:
            os.environ.pop(memory.VARIABLE, None)


def _valid(size: str) -> str:
    """Return a size, or "" for what is none."""
    try:
        memory.n_bytes(size)
    except ParameterError:
        return ""
    return size
