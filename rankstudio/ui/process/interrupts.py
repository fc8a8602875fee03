"""Ctrl+C in the terminal, and a request to terminate, close the window as its user would."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable

from PySide6.QtCore import QObject, QSocketNotifier, Slot


class Interrupts(QObject):
    """Calls something on the GUI thread, between two events, when the process is asked to end.

    Python's own way, an exception wherever the interpreter happens to be, would be thrown into the middle of
    a paint event, which Qt does not survive.

    Parameters
    ----------
    call : callable
        Called at every such request.
    """

    def __init__(self, call: Callable[[], object], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._call = call
        self._read, self._write = socket.socketpair()
        for end in (self._read, self._write):
            end.setblocking(False)
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_signal)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)  # the number arrives through the socket
        signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)

    @Slot()
    def _on_signal(self) -> None:
        numbers = self._read.recv(64)
        if signal.SIGINT in numbers or signal.SIGTERM in numbers:
            self._call()
