"""Ctrl+C: once asks to stop after the unit in flight, twice stops at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from rankstudio.cli.terminal import tell
from rankstudio.engine.experiment.results.events import (
    BaselineFound,
    Event,
    FoldFinished,
    RunStarted,
    UnitFinished,
    UnitStarted,
)
from rankstudio.engine.support.escaping import shell_command

INTERRUPTED = 130
"""Status of a process that was stopped."""

_STOP_MESSAGE = b"\nStopping after this unit. Press Ctrl+C again to stop immediately.\n"


class Stop:
    """Whether a stop was requested, and whether this is a good moment for stopping.

    Parameters
    ----------
    then : callable
        Handles Ctrl+C from the second one on, by an interruption of whatever goes on.

    Attributes
    ----------
    asked : bool
    """

    def __init__(self, then: Callable[[int, FrameType | None], Any] = signal.default_int_handler) -> None:
        self.asked = False
        self._then = then
        self._settings = self._folds = 1
        self._finished: Counter[int] = Counter()

    def ask(self, number: int, frame: FrameType | None) -> None:
        """Handle the first Ctrl+C; the next one interrupts the current work."""
        self.asked = True
        signal.signal(signal.SIGINT, self._then)
        # Not print: the signal may have come in the middle of one, and a stream is not entered twice.
        os.write(2, _STOP_MESSAGE)

    def follow(self, event: Event) -> bool:
        """Process an event; return whether to stop after it.

        That is where no unit is in flight, except that a fold whose units are all done has its model chosen
        and tested first, and a run whose folds are all done ends: it takes no time.
        """
        match event:
            case RunStarted():
                self._settings, self._folds = len(event.plan.combinations), len(event.folds)
                self._finished.clear()
            case UnitFinished():
                self._finished[event.unit.fold] += 1
                return self.asked and self._finished[event.unit.fold] < self._settings
            case FoldFinished():
                self._folds -= 1
                return self.asked and self._folds > 0
        return self.asked and isinstance(event, RunStarted | BaselineFound | UnitStarted)


@contextmanager
def stopping() -> Iterator[Stop]:
    """Listen to Ctrl+C; outside the main thread, where no handler can be set, it is as it was."""
    before = signal.getsignal(signal.SIGINT)
    stop = Stop(before) if callable(before) else Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    signal.signal(signal.SIGINT, stop.ask)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def status(stopped: bool, sentence: str) -> int:
    """Return the exit status of a command that prints its results so far, and report a stop."""
    if stopped:
        tell(sentence, file=sys.stderr)
    return INTERRUPTED if stopped else 0


def say_how_to_go_on(args: Namespace, study: Path | None) -> None:
    """Print how to continue a stopped run: by the same command, if a study keeps the finished part."""
    if study is None:
        tell("Nothing was saved. Use --study FILE to be able to resume a run.", file=sys.stderr)
    else:
        command = shell_command(["rankstudio", *args.typed])
        tell(f"Completed units are saved in {study}. Resume with:", f"  {command}", file=sys.stderr)
