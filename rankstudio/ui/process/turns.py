"""Work of the window's thread spread over turns of its event loop: one piece a turn, and what it has drawn.

Timers that are due together are called in one turn of the event loop, and what they change is painted in the
next, all at once: a handful of plots, tables and bars of a few milliseconds each make a window that stands
still for fifty. What is asked for here is called in a turn of its own, after which Qt paints what it changed
and hands over keys and clicks.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Slot
from shiboken6 import isValid

_NAME = "turns"


def single_shot(milliseconds: int, call: Callable[[], object], parent: QObject) -> QTimer:
    """Return a timer that calls something once, so long after it was started last."""
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(milliseconds)
    timer.timeout.connect(call)
    return timer


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
        self._timer = single_shot(0, self._turn, self)

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
            # Python may still hold a widget that Qt has deleted since it asked for its turn.
            if isinstance(owner, QObject) and not isValid(owner):
                continue
            if self._waiting:
                self._timer.start()
            function()
            return


def turns() -> Turns:
    """Return the turns of the application, of which there is one event loop."""
    app = QCoreApplication.instance()
    existing = app.findChild(Turns, _NAME) if app is not None else None
    return existing if existing is not None else Turns(app)


_REFRESH_MILLISECONDS = 120  # for tables and bars; the curves grow with every delivery of the worker
_REST = 3  # times as long as the parts took nothing is drawn: they take a quarter of the time at most
_LONGEST_REST = 1000  # milliseconds, after parts that took very long


class RefreshTimer(QObject):
    """Has the parts of the window brought up to date a while after it was asked to, one in a turn.

    What takes long is asked for less often: a table of thousands of rows does not slow a run.

    Parameters
    ----------
    parts : callables
        Each brings a part up to date.
    parent : QObject
    """

    def __init__(self, *parts: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self.setObjectName("refresh-timer")
        self._parts = *parts, self._end
        self._began = 0.0
        self._timer = single_shot(_REFRESH_MILLISECONDS, self._begin, self)

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
        self._began = time.thread_time()
        turns().ask(*self._parts)

    @Slot()
    def _end(self) -> None:
        pause = round(_REST * 1000 * (time.thread_time() - self._began))
        self._timer.setInterval(min(max(_REFRESH_MILLISECONDS, pause), _LONGEST_REST))
