"""Work of the window's thread spread over turns of its event loop: one piece a turn, and what it has drawn.

Timers that are due together are called in one turn of the event loop, and what they change is painted in the
next, all at once: a handful of plots, tables and bars of a few milliseconds each make a window that stands
still for fifty. What is asked for here is called in a turn of its own, after which Qt paints what it changed
and hands over keys and clicks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Slot
from shiboken6 import isValid

_NAME = "turns"


class Turns(QObject):
    """Calls functions in the order in which they were asked for, one in a turn of the event loop.

    Parameters
    ----------
    parent : QObject, optional
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(_NAME)
        self._waiting: deque[Callable[[], object]] = deque()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._turn)

    @property
    def waiting(self) -> bool:
        """Whether something has not been called yet."""
        return bool(self._waiting)

    def ask(self, *functions: Callable[[], object]) -> None:
        """Have functions called in coming turns; one that waits already is called once.

        Those of a QObject that is deleted meanwhile are not called.
        """
        for function in functions:
            if function not in self._waiting:
                self._waiting.append(function)
        if self._waiting and not self._timer.isActive():
            self._timer.start()

    def drop(self, *functions: Callable[[], object]) -> None:
        """Call functions no more that wait."""
        for function in functions:
            if function in self._waiting:
                self._waiting.remove(function)

    @Slot()
    def _turn(self) -> None:
        while self._waiting:
            function = self._waiting.popleft()
            owner = getattr(function, "__self__", None)
            if isinstance(owner, QObject) and not isValid(owner):
                continue
            if self._waiting:
                self._timer.start()
            function()
            return


def turns() -> Turns:
    """Return the turns of the application, of which there is one event loop."""
    app = QCoreApplication.instance()
    found = app.findChild(Turns, _NAME) if app is not None else None
    return found if found is not None else Turns(app)


def settling(parent: QObject, milliseconds: int, slot: Callable[[], object]) -> QTimer:
    """Return a timer that calls a slot once, so long after it was started last."""
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(milliseconds)
    timer.timeout.connect(slot)
    return timer
