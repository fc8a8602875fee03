"""Handling of Ctrl+C: the first one stops after the current unit, the second one stops at once."""

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
    """A request to stop a run, which decides after which event of the run the run stops.

    Parameters
    ----------
    then : callable
        Handler of Ctrl+C from the second one on; by default it
        interrupts the current work.

    Attributes
    ----------
    asked : bool
        Whether a stop was requested.
    """

    def __init__(
        self, then: Callable[[int, FrameType | None], Any] = signal.default_int_handler
    ) -> None:
        self.asked = False
        self._then = then
        self._n_combinations = self._n_folds_left = 1
        self._n_finished_units: Counter[int] = Counter()  # by fold

    def ask(self, number: int, frame: FrameType | None) -> None:
        """Handle the first Ctrl+C; the next one interrupts the current work."""
        self.asked = True
        signal.signal(signal.SIGINT, self._then)

        # Printing could fail: the handler may run while something is
        # printed, and streams are not reentrant.
        os.write(2, _STOP_MESSAGE)

    def follow(self, event: Event) -> bool:
        """Take notice of an event of the run, and return whether to stop after it.

        A run stops between two units; a unit is one fold with one
        combination of parameters. After the last unit of a fold, it
        stops only when the fold's model has been chosen and tested,
        which takes little time. After the last fold, the run ends
        without a stop.
        """
        match event:
            case RunStarted():
                self._n_combinations = len(event.plan.combinations)
                self._n_folds_left = len(event.folds)
                self._n_finished_units.clear()
            case UnitFinished():
                # The last unit of a fold is followed by the choice of its model.
                self._n_finished_units[event.unit.fold] += 1
                return (
                    self.asked
                    and self._n_finished_units[event.unit.fold] < self._n_combinations
                )
            case FoldFinished():
                self._n_folds_left -= 1
                return self.asked and self._n_folds_left > 0

        # A stop before the first step of a unit loses no work, either.
        # BaselineFound: the best single feature of a fold is known, and
        # none of its units has begun.
        return self.asked and isinstance(
            event, RunStarted | BaselineFound | UnitStarted
        )


@contextmanager
def stopping() -> Iterator[Stop]:
    """Provide the request to stop that Ctrl+C makes, in a ``with`` block.

    The former handler of Ctrl+C is restored at the end. Outside the
    main thread no handler can be set, and Ctrl+C has its usual effect.
    """
    # The second Ctrl+C calls the former handler. This may also be a
    # number, such as SIG_IGN; then the second Ctrl+C interrupts the
    # work.
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


def exit_status(stopped: bool, sentence: str) -> int:
    """Return the exit status of a command that prints its results so far after a stop.

    If the command was ``stopped``, print ``sentence``, which says so.
    """
    if stopped:
        tell(sentence, file=sys.stderr)
    return INTERRUPTED if stopped else 0


def say_how_to_go_on(args: Namespace, study: Path | None) -> None:
    """Print how to resume a stopped run.

    The same command resumes the run, if the file ``study`` keeps the
    finished part; None stands for no study. ``args.typed`` are the
    words of the command line.
    """
    if study is None:
        tell(
            "Nothing was saved. Use --study FILE to be able to resume a run.",
            file=sys.stderr,
        )
    else:
        command = shell_command(["rankstudio", *args.typed])
        tell(
            f"Completed units are saved in {study}. Resume with:",
            f"  {command}",
            file=sys.stderr,
        )
