"""How many repetitions are done, in a line that changes, until all are or Ctrl+C asks to stop."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import TextIO, TypeVar

from rankstudio.cli.interrupts import stopping
from rankstudio.cli.progress_bar import preparation

State = TypeVar("State")

_REDRAW = 0.1  # seconds


def last_state(
    steps: Iterator[State | None], done: Callable[[State], int], asked: int, stream: TextIO | None = None
) -> tuple[State, bool]:
    """Ask for every step, or for the one in flight where Ctrl+C came, and return the last one.

    Parameters
    ----------
    steps : iterator
        Each step has everything so far; there is at least one. None is no step, but a moment to stop at
        once there was one.
    done : callable
        From a step to how many repetitions it has.
    asked : int
        How many there will be.
    stream : text stream, optional
        Where to count, if it is a terminal; the error stream by default.

    Returns
    -------
    state
        The last step.
    stopped : bool
        Whether it was asked to stop before the end.
    """
    stream = sys.stderr if stream is None else stream
    live, drawn = stream.isatty(), 0.0
    state: State | None = None
    with stopping() as stop, preparation(stream):
        for found in steps:
            state = state if found is None else found
            if state is None:
                continue
            if live and time.monotonic() - drawn > _REDRAW:
                drawn = time.monotonic()
                print(f"\r\x1b[K{done(state):,} of {asked:,}", end="", file=stream, flush=True)
            if stop.asked:
                break
        if live:
            print("\r\x1b[K", end="", file=stream, flush=True)
    assert state is not None  # there is at least one
    return state, done(state) < asked
