"""Calls of foreign code, isolated so that the code can neither end the program nor write into its output."""

from __future__ import annotations

import queue
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from rankstudio.engine.errors import one_line
from rankstudio.engine.language import tr

T = TypeVar("T")

_MAX_TEXT_LENGTH = 300
_POLL_SECONDS = 0.05  # seconds between two checks for a request to stop


class _Printed:
    """A context in which prints go to standard error instead of standard output.

    Several threads may be inside at a time: the last one to leave
    restores standard output.

    Standard output may be the result of a command.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0
        self._stdout: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._stdout = sys.stdout
                sys.stdout = sys.stderr
            self._n_inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                sys.stdout = self._stdout


PRINTED_TO_STDERR = _Printed()
"""Context in which foreign code runs."""


def failure(error: BaseException) -> str:
    """Describe an error that foreign code (of a plug-in) raised in one line, with file and line.

    File and line are the last place in the traceback outside of this
    program, if there is any.
    """
    frames = traceback.extract_tb(error.__traceback__)
    foreign_frames = [
        frame
        for frame in frames
        if "rankstudio" not in frame.filename.replace("\\", "/").split("/")
    ]
    last_frame = next(reversed(foreign_frames or frames), None)
    # An error without a text has no colon.
    text = one_line(f"{type(error).__name__}: {error}".rstrip(": "))[:_MAX_TEXT_LENGTH]
    if last_frame is None:
        return text
    return f"{text} ({one_line(last_frame.filename)}, line {last_frame.lineno})"


def called(
    function: Callable[[], T],
    seconds: float | None = None,
    check: Callable[[], object] = int,
) -> T:
    """Call a function of foreign code (of a plug-in), and return its value.

    The code runs on a thread of its own, which is left behind if the
    code hangs.

    Parameters
    ----------
    function : callable
        Function without parameters.
    seconds : float, optional
        Time limit; none by default.
    check : callable
        Called at short intervals meanwhile; it may raise an error to
        stop waiting. The default, `int`, does nothing.

    Raises
    ------
    RuntimeError
        If the code raises an error or ends the program, with the reason
        as a sentence.
    TimeoutError
        If the code takes too long.
    """
    (result,) = yielded(lambda: [function()], seconds, check)
    return result


def yielded(
    function: Callable[[], Iterable[T]],
    seconds: float | None = None,
    check: Callable[[], object] = int,
) -> Iterator[T]:
    """Yield the values of a generator of foreign code, which runs on its own thread.

    ``function`` returns the generator. The thread is left behind if the
    code hangs. ``seconds`` is the limit of the time spent waiting in
    all, None for no limit; ``check`` is called meanwhile, and may raise
    an error to stop (``int`` does nothing). Raise RuntimeError if the
    code raises an error or ends the program, TimeoutError if it takes
    too long.
    """
    # Of one element: the code computes at most one value in advance.
    results: queue.Queue[tuple[str, Any]] = queue.Queue(1)
    ended = threading.Event()

    def work() -> None:
        """Put each value of the foreign generator into the queue, then its end or error; runs in a thread.

        Calls ``function`` of the enclosing function, and uses its queue
        and event.
        """
        try:
            for item in function():
                _put_while_awaited(results, ("item", item), ended)
                if ended.is_set():
                    return
            _put_while_awaited(results, ("end", None), ended)
        # Foreign code may raise anything, SystemExit included.
        except BaseException as error:
            _put_while_awaited(results, ("error", error), ended)

    # Foreign code may print: its prints must not mix with the result of a command.
    waited = 0.0
    with PRINTED_TO_STDERR:
        threading.Thread(target=work, name="rankstudio-plugin", daemon=True).start()
        try:
            while True:
                check()
                try:
                    kind, value = results.get(timeout=_POLL_SECONDS)
                except queue.Empty:
                    waited += _POLL_SECONDS
                    if seconds is not None and waited >= seconds:
                        text = tr("it takes more than {seconds:g} seconds")
                        raise TimeoutError(text.format(seconds=seconds)) from None
                    continue
                if kind == "end":
                    return
                if kind == "error":
                    if isinstance(value, MemoryError):
                        raise value
                    raise RuntimeError(failure(value)) from value
                yield value
        finally:
            ended.set()  # the thread stops at its next value


def _put_while_awaited(
    results: queue.Queue[tuple[str, Any]],
    result: tuple[str, Any],
    ended: threading.Event,
) -> None:
    """Put a result into the queue, unless its receiver has stopped waiting.

    The receiver sets ``ended`` when it stops waiting. While the queue
    is full, wait.
    """
    while not ended.is_set():
        try:
            results.put(result, timeout=_POLL_SECONDS)
            return
        except queue.Full:
            continue
