"""Running the code of others: what it prints goes to standard error, and its faults become one line."""

from __future__ import annotations

import sys
import threading
import traceback
from typing import Any

from rankstudio.engine.errors import one_line

_MOST_TEXT = 300


class _Printed:
    """Sends what is printed to standard error, for as long as any thread is inside.

    Standard output may be the result of a command. Threads come and go, so they are counted.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._stdout: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._stdout = sys.stdout
                sys.stdout = sys.stderr
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                sys.stdout = self._stdout


PRINTED_AS_NOTES = _Printed()
"""To be entered while somebody else's code runs."""


def failure(error: BaseException) -> str:
    """Return what went wrong in somebody else's code, with the place in its file."""
    frames = traceback.extract_tb(error.__traceback__)
    place = frames[-1] if frames else None
    own = [frame for frame in frames if "rankstudio" not in frame.filename.replace("\\", "/").split("/")]
    place = own[-1] if own else place
    text = one_line(f"{type(error).__name__}: {error}".rstrip(": "))[:_MOST_TEXT]
    return text if place is None else f"{text} ({one_line(place.filename)}, line {place.lineno})"
