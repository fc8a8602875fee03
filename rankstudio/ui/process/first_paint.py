"""The moment at which a window has been painted for the first time: what takes long begins after it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

_MOST_MILLISECONDS = 1000  # after which a window that nobody sees, being minimised, is not waited for


class FirstPaint(QObject):
    """Calls a function once, when a window has been painted.

    Parameters
    ----------
    window : QWidget
    then : callable
    """

    def __init__(self, window: QWidget, then: Callable[[], object]) -> None:
        super().__init__(window)
        self._window = window
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(then)
        self._timer.start(_MOST_MILLISECONDS)
        window.installEventFilter(self)

    def eventFilter(self, target: QObject, event: QEvent) -> bool:
        """Go on when this paint, and that of the widgets in the window, is done."""
        if event.type() == QEvent.Type.Paint:
            self._window.removeEventFilter(self)
            if self._timer.isActive():
                self._timer.start(0)
        return False
