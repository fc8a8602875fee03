"""When what a run has brought is drawn: some times a second, a part of the window in a turn."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot

from rankstudio.ui.process.turns import turns

_MILLISECONDS = 120  # for tables and bars; the curves grow with every delivery of the worker


class RefreshTimer(QObject):
    """Has the parts of the window brought up to date a while after it was asked to, one in a turn.

    Parameters
    ----------
    parts : callables
        Each brings a part up to date.
    parent : QObject
    """

    def __init__(self, *parts: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self.setObjectName("refresh-timer")
        self._parts = parts
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_MILLISECONDS)
        self._timer.timeout.connect(self._begin)

    @property
    def is_active(self) -> bool:
        """Whether something was asked for and is not drawn yet."""
        return self._timer.isActive() or turns().waiting

    @Slot()
    def ask(self) -> None:
        """Ask for it; many askings within the while cost one."""
        if not self._timer.isActive():
            self._timer.start()

    def stop(self) -> None:
        """Draw nothing any more of what was asked for."""
        self._timer.stop()
        turns().drop(*self._parts)

    @Slot()
    def _begin(self) -> None:
        turns().ask(*self._parts)
