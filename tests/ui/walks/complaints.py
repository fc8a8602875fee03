"""What nobody may see while a window is used: exceptions, warnings of Qt or Python, anything on stderr."""

from __future__ import annotations

import fcntl
import logging
import os
import re
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

from PySide6.QtCore import QtMsgType, qInstallMessageHandler

import rankstudio

# What the offscreen platform says of windows, which it cannot place.
_EXPECTED = ("This plugin does not support", "QStandardPaths: XDG_RUNTIME_DIR")
_OWN = Path(rankstudio.__file__).parent.parent
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?|0x[0-9a-f]+")


@dataclass(frozen=True)
class Fault:
    """Something that must not happen.

    Attributes
    ----------
    kind : str
        By which two faults are the same: where an exception was raised, or which two things do not belong
        together.
    text : str
        All that is known of it.
    """

    kind: str
    text: str


class Complaints:
    """Gathers faults, on whatever thread and by whatever way they come.

    Parameters
    ----------
    caught : file
        What is written to stderr, also by code that is not Python's.
    """

    def __init__(self, caught: IO[bytes]) -> None:
        self._caught = caught
        self._found: list[Fault] = []
        self._lock = threading.Lock()

    def take(self) -> list[Fault]:
        """Return what has come since the last time."""
        sys.stderr.flush()
        if os.fstat(self._caught.fileno()).st_size:
            self._caught.seek(0)
            self.note_said("stderr", self._caught.read().decode("utf-8", "replace"))
            self._caught.truncate(0)
            self._caught.seek(0)
        with self._lock:
            found, self._found = self._found, []
        return found

    def add(self, kind: str, text: str) -> None:
        """Note a fault."""
        with self._lock:
            self._found.append(Fault(kind, text))

    def note_error(
        self, error: BaseException, trace: TracebackType | None = None
    ) -> None:
        """Note an exception by the innermost line of ours."""
        frames = traceback.extract_tb(trace or error.__traceback__)
        own = [
            frame
            for frame in frames
            if Path(frame.filename).is_relative_to(_OWN / "rankstudio")
        ]
        at = own[-1] if own else (frames[-1] if frames else None)
        where = (
            f"{Path(at.filename).name}:{at.lineno} {at.name}"
            if at is not None
            else "nowhere"
        )
        text = "".join(
            traceback.format_exception(type(error), error, trace or error.__traceback__)
        )
        self.add(f"{type(error).__name__} at {where}", text)

    def note_said(self, by: str, text: str) -> None:
        """Note a line that somebody wrote; numbers in it make no other fault."""
        first = text.strip().splitlines()[0] if text.strip() else ""
        self.add(f"{by}: {_NUMBER.sub('#', first)[:160]}", text)


class _Handler(logging.Handler):
    """Takes what is logged of things that nobody expected."""

    def __init__(self, complaints: Complaints) -> None:
        super().__init__(logging.WARNING)
        self._complaints = complaints

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            self._complaints.note_error(record.exc_info[1])
        elif record.levelno >= logging.ERROR:
            self._complaints.note_said("log", record.getMessage())


@contextmanager
def listening() -> Iterator[Complaints]:
    """Listen to all that complains; what hears it otherwise is put back at the end."""
    with _stderr() as caught, warnings.catch_warnings():
        warnings.simplefilter("error")
        complaints = Complaints(caught)

        def from_qt(kind: QtMsgType, _context: object, text: str) -> None:
            if kind != QtMsgType.QtDebugMsg and not text.startswith(_EXPECTED):
                complaints.note_said("Qt", text)

        def from_python(
            _: object, error: BaseException, trace: TracebackType | None
        ) -> None:
            complaints.note_error(error, trace)

        def from_elsewhere(
            given: threading.ExceptHookArgs | sys.UnraisableHookArgs,
        ) -> None:
            if given.exc_value is not None:
                complaints.note_error(given.exc_value, given.exc_traceback)

        handler = _Handler(complaints)
        logging.getLogger().addHandler(handler)
        qt = qInstallMessageHandler(from_qt)
        hooks = sys.excepthook, threading.excepthook, sys.unraisablehook
        sys.excepthook, threading.excepthook, sys.unraisablehook = (
            from_python,
            from_elsewhere,
            from_elsewhere,
        )
        try:
            yield complaints
        finally:
            sys.excepthook, threading.excepthook, sys.unraisablehook = hooks
            qInstallMessageHandler(qt)
            logging.getLogger().removeHandler(handler)


@contextmanager
def _stderr() -> Iterator[IO[bytes]]:
    """Have everything that is written to stderr go to a file."""
    with tempfile.TemporaryFile("w+b", buffering=0) as caught:
        before, stream = os.dup(2), sys.stderr
        # In O_APPEND mode what was taken out leaves no hole.
        fcntl.fcntl(
            caught.fileno(),
            fcntl.F_SETFL,
            fcntl.fcntl(caught.fileno(), fcntl.F_GETFL) | os.O_APPEND,
        )
        os.dup2(caught.fileno(), 2)
        sys.stderr = os.fdopen(os.dup(2), "w", buffering=1, encoding="utf-8")
        try:
            yield caught
        finally:
            sys.stderr.close()
            sys.stderr = stream
            os.dup2(before, 2)
            os.close(before)
