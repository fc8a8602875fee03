"""Progress of work: on a terminal, a bar with the time left; in a file, a line for each fold."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self, TextIO, TypeVar

from rankstudio.cli.interrupts import stopping
from rankstudio.cli.terminal import tell, tell_in_place
from rankstudio.engine.experiment.plan.combinations import Axis, Unit
from rankstudio.engine.experiment.results.events import (
    Event,
    FoldFinished,
    RunStarted,
    StepDone,
    UnitFinished,
    UnitProgress,
)
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.support.compilation import announced
from rankstudio.engine.support.number_format import percentage
from rankstudio.engine.support.work import WorkProgress

_BAR_WIDTH = 24
_REDRAW_SECONDS = 0.1  # seconds
# longest time for a unit that a study has already, and that is not computed
_MAX_STORED_SECONDS = 0.005


class LiveLine:
    """A line of a terminal that changes in place; it is not shown if the output goes to a file.

    Attributes
    ----------
    stream : text stream
        Stream of the line; by default the error stream, so that the
        standard output has only results.
    live : bool
        Whether the stream is a terminal that can replace a line; a
        terminal of ``TERM=dumb`` cannot.
    """

    def __init__(self, stream: TextIO | None, drawn: float = float("-inf")) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.live = self.stream.isatty() and os.environ.get("TERM") != "dumb"
        self._last_drawn = drawn  # time.monotonic() when the line was last shown

    def show(self, text: str) -> None:
        """Replace the line by another text."""
        if self.live:
            tell_in_place(text, self.stream)

    def is_due(self) -> bool:
        """Return whether enough time has passed to show a text that changes all the time; if so, note it."""
        moment = time.monotonic()
        due = self.live and moment - self._last_drawn >= _REDRAW_SECONDS
        self._last_drawn = moment if due else self._last_drawn
        return due


@contextmanager
def preparation(stream: TextIO | None = None) -> Iterator[None]:
    """Print which code is being compiled during a ``with`` block, in a line that changes.

    If ``stream`` is no terminal, only the first sentence is printed. By
    default the line goes to the error stream.
    """
    line, was_announced = LiveLine(stream), False

    def announce(sentence: str) -> None:
        """Print a sentence on the code being compiled; called by the engine before it compiles a kernel.

        In a terminal, each sentence replaces the one before. In a file,
        only the first sentence is printed.
        """
        nonlocal was_announced
        line.show(sentence)
        if not line.live and not was_announced:
            tell(sentence, file=line.stream, flush=True)
        was_announced = True

    # In this block, the engine calls the function.
    try:
        with announced(announce):
            yield
    finally:
        if was_announced:
            line.show("")


class AllRuns:
    """The progress of several runs together, with an estimate of the time left.

    Parameters
    ----------
    total : int
        Number of runs.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self._n_ended = 0
        self._n_computed = 0  # ended runs of which not all results were in a study
        self._computed_seconds = 0.0

    def __str__(self) -> str:
        remaining = f", {clock(self.left())} left" if self._n_computed else ""
        return f"Run {self._n_ended + 1} of {self.total}{remaining}"

    def add(self, seconds: float, worked: bool) -> None:
        """Count a finished run, which has taken some seconds.

        ``worked`` says whether it was computed, not read from a study:
        only such runs count for the estimate of time.
        """
        self._n_ended += 1
        if worked:
            self._n_computed += 1
            self._computed_seconds += seconds

    def pass_over(self, runs: int) -> None:
        """Count runs that cannot be run."""
        self._n_ended += runs

    def left(self, seconds: float = 0.0, share: float = 0.0) -> float:
        """Return the seconds left, if the other runs take as long as the runs before them on average.

        Parameters
        ----------
        seconds, share : float
            Seconds that the current run has taken, and the share of
            that run that is done.
        """
        per_run = (self._computed_seconds + seconds) / (self._n_computed + share)
        return per_run * (self.total - self._n_ended - share)


class ProgressBar:
    """A progress bar that follows the events of a run, on the error stream by default."""

    def __init__(
        self, stream: TextIO | None = None, total_work: AllRuns | None = None
    ) -> None:
        self._all_runs = AllRuns(1) if total_work is None else total_work
        self._began = self._last_event_time = time.monotonic()

        # The line counts as drawn now: so a run that ends at once shows no bar.
        self._line = LiveLine(stream, self._began)
        self._n_done = 0.0  # finished units, and the share of the current one

        # The finished units, and those of them that were in a study already.
        self._n_finished_units = self._n_stored_units = 0
        self._is_computing = False  # whether the current unit has made a step
        self._n_units = 1
        self._steps_per_unit = 1
        self._folds: tuple[int, ...] = ()
        self._axes: tuple[Axis, ...] = ()
        self._kinds_of_printed_notes: set[type[Warning]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Clear the bar; a run that ended without an error counts among all runs."""
        self._line.show("")
        if kind is None:
            was_computed = self._n_finished_units > self._n_stored_units
            self._all_runs.add(time.monotonic() - self._began, was_computed)

    def show(self, event: Event) -> None:
        """Show the progress after an event of the run, such as a step or a finished unit.

        A unit is one fold with one combination of parameters. In a
        file, a line for each finished fold is printed instead of the
        bar.
        """
        previous_event_time = self._last_event_time
        self._last_event_time = time.monotonic()
        match event:
            case RunStarted():
                # Numbers of the whole run, from which the share done is computed.
                self._began = self._last_event_time
                self._n_units = len(event.units)
                self._steps_per_unit = event.steps_per_unit
                self._folds = event.folds
                self._axes = event.plan.axes
                if event.memory is not None and event.memory.large:
                    tell(event.memory.sentence, file=self._line.stream, flush=True)
            case StepDone():
                # A step is a part of its unit.
                self._is_computing = True
                self._n_done = (
                    self._n_finished_units + event.step.number / self._steps_per_unit
                )
                self._draw(event.unit)
            case UnitProgress():
                self._draw(event.unit, event.working.what)
            case UnitFinished():
                self._n_finished_units += 1
                self._n_done = self._n_finished_units

                # A unit that arrives fast and without steps was in the study already.
                has_no_work = event.seconds is None and not self._is_computing
                is_fast = (
                    self._last_event_time - previous_event_time < _MAX_STORED_SECONDS
                )
                self._n_stored_units += has_no_work and is_fast
                self._is_computing = False
                self._print_notes(event.path)
                self._draw(event.unit)
            case FoldFinished() if (
                not self._line.live
            ):  # a file gets a line for each fold
                text = f"Fold {event.result.fold} of {self._folds[-1]} is done."
                tell(text, file=self._line.stream, flush=True)

    def _print_notes(self, path: PathResult) -> None:
        """Print a method's notes on a path, the first of each kind in a run."""
        for note in path.notes:
            if note.kind not in self._kinds_of_printed_notes:
                self._kinds_of_printed_notes.add(note.kind)
                self._line.show("")
                tell(f"Note: {note.what}", file=self._line.stream, flush=True)

    def _draw(self, unit: Unit, doing: str = "") -> None:
        """Draw the bar with fold, combination, share and time left, unless it was drawn just before.

        ``unit`` is the fold and the combination of parameters at work.
        ``doing`` is the work before the unit's next step, if that takes
        long.
        """
        if not self._line.is_due():
            return
        share = self._n_done / self._n_units
        filled = round(share * _BAR_WIDTH)

        # Stored units took no time, so they do not count for the remaining time.
        n_computed = self._n_done - self._n_stored_units
        remaining = ""
        if n_computed > 0:
            remaining = (
                f"  {self._remaining_text(time.monotonic() - self._began, n_computed)}"
            )

        # Combination, bar and texts on one line.
        values = zip(self._axes, unit.values, strict=True)
        combination = ", ".join(
            f"{axis.label} {axis.format(value)}" for axis, value in values
        )
        bar = "█" * filled + "░" * (_BAR_WIDTH - filled)

        # Folds are counted by the number of the last one.
        text = f"fold {unit.fold} of {self._folds[-1]}  {combination:<12} {bar} {percentage(share):>5}"
        text += remaining
        text += f"  {doing}" if doing else ""

        # The text is cut at the width of the terminal, as only one line can be cleared.
        self._line.show(text[: shutil.get_terminal_size().columns - 1])

    def _remaining_text(self, seconds: float, n_computed: float) -> str:
        """Return the time left for this run, and for all runs if there are several.

        Parameters
        ----------
        seconds : float
            Seconds that this run has taken.
        n_computed : float
            Number of units that this run has computed, with a part of
            the current unit. Units that were in a study already do not
            count.
        """
        # `left` adds up the rest of this run and the runs after it. The
        # second argument is the share of this run that is done.
        seconds_of_all = self._all_runs.left(
            seconds, n_computed / (self._n_units - self._n_stored_units)
        )

        # With one run, both times would be the same.
        in_all = f", {clock(seconds_of_all)} total" if self._all_runs.total > 1 else ""
        seconds_of_run = seconds / n_computed * (self._n_units - self._n_done)
        return f"{clock(seconds_of_run)} left{in_all}"


def clock(seconds: float) -> str:
    """Return a time as "0:07", "12:34" or "1:02:03"."""
    minutes, second = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{second:02d}" if hours else f"{minutes}:{second:02d}"


State = TypeVar("State")
Told = TypeVar("Told", bound=WorkProgress)


def last_state(
    steps: Iterator[State | None],
    n_repeats: Callable[[State], int],
    n_requested: int,
    stream: TextIO | None = None,
    describe: Callable[[State], str] | None = None,
) -> tuple[State, bool]:
    """Carry out a work to its end, or until Ctrl+C, show its progress, and return its last state.

    Parameters
    ----------
    steps : iterator
        States of the work, at least one; each has all results so far.
        None is not a state: it only lets the work stop there, after the
        first state.
    n_repeats : callable
        Returns the number of repetitions that a state has.
    n_requested : int
        Number of repetitions at the end.
    stream : text stream, optional
        Terminal on which progress is shown; the error stream by default.
    describe : callable, optional
        Returns the progress text of a state; the default text has the
        number of repetitions and the number requested.

    Returns
    -------
    state
        The last state.
    stopped : bool
        Whether the last state has fewer repetitions than requested, because of a stop.
    """
    # The first Ctrl+C is noted, and heeded after the next state.
    line = LiveLine(stream)
    state: State | None = None
    with stopping() as stop, preparation(stream):
        for step in steps:
            state = state if step is None else step
            if state is None:
                continue
            if line.is_due():
                line.show(
                    f"{n_repeats(state):,} of {n_requested:,}"
                    if describe is None
                    else describe(state)
                )
            if stop.asked:
                break
        line.show("")
    assert state is not None  # there is at least one state
    return state, n_repeats(state) < n_requested


def last_share(
    steps: Iterator[Told | None], describe: Callable[[Told], str] | None = None
) -> tuple[Told, bool]:
    """Carry out a work to its end, or until Ctrl+C, and show its progress.

    ``steps`` yields states, each with all results so far and the share
    of the work that is done, from 0 to 1; None only lets the work stop
    there. ``describe`` returns the progress text of a state, by default
    the percentage. Return the last state, and whether the work was
    stopped before its end.
    """
    # As a number of percents, of 100.
    return last_state(
        steps, lambda update: int(100 * update.share), 100, describe=describe
    )
