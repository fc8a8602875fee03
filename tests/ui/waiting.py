"""Letting the event loop turn until something has happened."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtWidgets import QApplication


def wait_until(happened: Callable[[], object], seconds: float = 120.0) -> None:
    """Turn the event loop until a condition holds; fail where it never does.

    A busy machine that compiles a kernel meanwhile takes more than half a minute.
    """
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "what was waited for did not happen"
        QApplication.processEvents()
        time.sleep(0.001)


def turn(seconds: float = 0.1) -> None:
    """Turn the event loop for a while: long enough for what must not happen."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        QApplication.processEvents()
        time.sleep(0.001)
