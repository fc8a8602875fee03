"""Spreads work of the window's thread over turns of its event loop: one function in each turn.

Qt calls timers that are due at the same time in one turn of the event
loop, and paints their changes together in the next. Several plots,
tables and bars that take a few milliseconds each then block the window
for 50 ms. The functions passed to `Turns` are called in a turn each;
after each turn, Qt paints the changes and handles keys and clicks.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Slot
from shiboken6 import isValid

_NAME = "turns"


def single_shot(
    milliseconds: int, call: Callable[[], object], parent: QObject
) -> QTimer:
    """Return a timer that calls a function once, some milliseconds after its last start."""
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(milliseconds)
    timer.timeout.connect(call)
    return timer


class Turns(QObject):
    """Calls the functions passed to :meth:`ask` in their order, one in each turn of the event loop.

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
        """Whether a function has not been called yet."""
        return bool(self._waiting)

    def ask(self, *functions: Callable[[], object]) -> None:
        """Have functions called in coming turns; a function that already waits is called only once.

        The functions are called without arguments. Methods of a QObject
        that is deleted meanwhile are not called.
        """
        for function in functions:
            if function not in self._waiting:
                self._waiting.append(function)
        if self._waiting and not self._timer.isActive():
            self._timer.start()

    def drop(self, *functions: Callable[[], object]) -> None:
        """Remove functions from those that wait."""
        for function in functions:
            if function in self._waiting:
                self._waiting.remove(function)

    @Slot()
    def _turn(self) -> None:
        """Call the first waiting function whose widget still exists; the others wait for the next turns."""
        while self._waiting:
            function = self._waiting.popleft()
            owner = getattr(function, "__self__", None)

            # Qt may have deleted the widget whose method waits,
            # although Python still has a reference.
            if isinstance(owner, QObject) and not isValid(owner):
                continue

            # The timer for the rest is started before the call, which may fail.
            if self._waiting:
                self._timer.start()
            function()
            return


def turns() -> Turns:
    """Return the one `Turns` object of the application; create it if necessary."""
    app = QCoreApplication.instance()
    existing = app.findChild(Turns, _NAME) if app is not None else None
    return existing if existing is not None else Turns(app)


# for tables and bars; the curves grow with every delivery of the worker
_REFRESH_MILLISECONDS = 120
# the pause is this many times the time of the update, which so takes a
# quarter of the time at most
_REST = 3
_LONGEST_REST = 1000  # milliseconds, the longest pause after slow updates


class RefreshTimer(QObject):
    """Updates parts of the window some time after a request, each part in its own turn of the event loop.

    The slower the updates are, the rarer they become, so that a table
    of thousands of rows does not slow a run.

    Parameters
    ----------
    parts : callables
        Functions without arguments, each of which updates one part.
    parent : QObject
    """

    def __init__(self, *parts: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self.setObjectName("refresh-timer")
        self._parts = *parts, self._end  # the last turn measures the time of the others
        self._began = 0.0
        self._timer = single_shot(_REFRESH_MILLISECONDS, self._begin, self)

    @property
    def is_active(self) -> bool:
        """Whether an update was requested and is not finished."""
        return self._timer.isActive() or turns().waiting

    @Slot()
    def ask(self) -> None:
        """Request an update; further requests before it begins are served by the same update."""
        if not self._timer.isActive():
            self._timer.start()

    def stop(self) -> None:
        """Cancel the requested update."""
        self._timer.stop()
        turns().drop(*self._parts)

    @Slot()
    def _begin(self) -> None:
        """Have the parts updated, one in each turn of the event loop."""
        self._began = time.thread_time()
        turns().ask(*self._parts)

    @Slot()
    def _end(self) -> None:
        """Set the pause before the next update by the time that this one took."""
        pause = round(_REST * 1000 * (time.thread_time() - self._began))
        self._timer.setInterval(min(max(_REFRESH_MILLISECONDS, pause), _LONGEST_REST))


# Faster updates do not wait: the pause would be longer than the update.
_UNNOTICED = 0.01  # seconds


class PacedUpdate(QObject):
    """Updates a part of the window at once, but rests after a slow update, for three times its duration.

    What is requested during the rest is served by one update at its
    end. So hundreds of requests within a second, one for each measured
    run, cost a few updates of a large table. A request on its own costs
    no delay, unlike one to `RefreshTimer`: a run that is brought back
    is listed at once.

    Parameters
    ----------
    update : callable
        Updates the part.
    parent : QObject
    """

    def __init__(self, update: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._update = update
        self._is_asked = False  # during the rest
        self._timer = single_shot(0, self._end_rest, self)

    @Slot()
    def ask(self) -> None:
        """Request an update."""
        if self._timer.isActive():
            self._is_asked = True
        else:
            self._run()

    def ask_later(self) -> None:
        """Request an update in a later turn of the event loop, as an update does that has left work undone."""
        self._is_asked = True
        if not self._timer.isActive():
            self._timer.start(0)

    def _run(self) -> None:
        """Carry out the update, and then rest if it took long."""
        began = time.thread_time()
        self._update()
        seconds = time.thread_time() - began
        if seconds > _UNNOTICED:
            self._timer.start(min(round(1000 * _REST * seconds), _LONGEST_REST))

    @Slot()
    def _end_rest(self) -> None:
        """Carry out the update that was requested during the rest, if any."""
        if self._is_asked:
            self._is_asked = False
            self._run()
