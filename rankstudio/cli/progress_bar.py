"""How far work is: a bar with time left on a terminal, a plain line a fold where output goes to a file."""

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
_MAX_STORED_SECONDS = 0.005  # seconds in which nothing is computed, but a study tells of what it has


class LiveLine:
    """A line of a terminal that changes in place; nothing where output goes to a file.

    Attributes
    ----------
    stream : text stream
        The error stream by default, so that results stay clean.
    live : bool
        Whether it is a terminal that can write a line again; one of ``TERM=dumb`` cannot.
    """

    def __init__(self, stream: TextIO | None, drawn: float = float("-inf")) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.live = self.stream.isatty() and os.environ.get("TERM") != "dumb"
        self._drawn = drawn  # at which moment, for the last time

    def show(self, text: str) -> None:
        """Replace the line by another text."""
        if self.live:
            tell_in_place(text, self.stream)

    def is_due(self) -> bool:
        """Return whether a text that changes all the time is to be written again."""
        moment = time.monotonic()
        due = self.live and moment - self._drawn >= _REDRAW_SECONDS
        self._drawn = moment if due else self._drawn
        return due


@contextmanager
def preparation(stream: TextIO | None = None) -> Iterator[None]:
    """Print the code being compiled, in a line that changes; in a file, only the first."""
    line, was_announced = LiveLine(stream), False

    def announce(sentence: str) -> None:
        nonlocal was_announced
        line.show(sentence)
        if not line.live and not was_announced:
            tell(sentence, file=line.stream, flush=True)
        was_announced = True

    try:
        with announced(announce):
            yield
    finally:
        if was_announced:
            line.show("")


class Whole:
    """How far several runs together are, and how long what is left may take.

    Parameters
    ----------
    total : int
        How many runs there are.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self._over = 0
        self._worked = 0
        self._seconds = 0.0

    def __str__(self) -> str:
        remaining = f", {clock(self.left())} left" if self._worked else ""
        return f"Run {self._over + 1} of {self.total}{remaining}"

    def add(self, seconds: float, worked: bool) -> None:
        """Count a finished run; only runs that were computed count for the estimate of time."""
        self._over += 1
        if worked:
            self._worked += 1
            self._seconds += seconds

    def pass_over(self, runs: int) -> None:
        """Count runs that cannot be run."""
        self._over += runs

    def left(self, seconds: float = 0.0, share: float = 0.0) -> float:
        """Return the seconds left, if the others take as long as those before them.

        Parameters
        ----------
        seconds, share : float
            How long the run under way has worked, and which share of it is done.
        """
        per_run = (self._seconds + seconds) / (self._worked + share)
        return per_run * (self.total - self._over - share)


class ProgressBar:
    """Follows the events of a run and shows how far it is, on the error stream so that results stay clean."""

    def __init__(self, stream: TextIO | None = None, total_work: Whole | None = None) -> None:
        self._whole = Whole(1) if total_work is None else total_work
        self._began = self._heard = time.monotonic()
        self._line = LiveLine(stream, self._began)  # what is done at once has no bar
        self._done = 0.0
        self._units = self._known = 0
        self._computing = False
        self._total = 1
        self._steps = 1
        self._folds: tuple[int, ...] = ()
        self._axes: tuple[Axis, ...] = ()
        self._said: set[type[Warning]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._line.show("")
        if kind is None:
            self._whole.add(time.monotonic() - self._began, self._units > self._known)

    def show(self, event: Event) -> None:
        """Show the progress after an event."""
        before = self._heard
        self._heard = time.monotonic()
        match event:
            case RunStarted():
                self._began = self._heard
                self._total, self._steps, self._folds = len(event.units), event.steps_per_unit, event.folds
                self._axes = event.plan.axes
                if event.memory is not None and event.memory.large:
                    tell(event.memory.sentence, file=self._line.stream, flush=True)
            case StepDone():
                self._computing = True
                self._done = self._units + event.step.number / self._steps
                self._draw(event.unit)
            case UnitProgress():
                self._draw(event.unit, event.working.what)
            case UnitFinished():
                self._units += 1
                self._done = self._units
                is_loaded = event.seconds is None and not self._computing
                self._known += is_loaded and self._heard - before < _MAX_STORED_SECONDS
                self._computing = False
                self._say(event.path)
                self._draw(event.unit)
            case FoldFinished() if not self._line.live:
                text = f"Fold {event.result.fold} of {self._folds[-1]} is done."
                tell(text, file=self._line.stream, flush=True)

    def _say(self, path: PathResult) -> None:
        """Print a method's notes on a path, the first of each kind in a run."""
        for note in path.notes:
            if note.kind not in self._said:
                self._said.add(note.kind)
                self._line.show("")
                tell(f"Note: {note.what}", file=self._line.stream, flush=True)

    def _draw(self, unit: Unit, doing: str = "") -> None:
        """Draw the bar with fold, combination, share and time left, unless it was drawn just before."""
        if not self._line.is_due():
            return
        share = self._done / self._total
        filled = round(share * _BAR_WIDTH)
        computed = self._done - self._known
        rest = f"  {self._left(time.monotonic() - self._began, computed)}" if computed > 0 else ""
        values = zip(self._axes, unit.values, strict=True)
        combination = ", ".join(f"{axis.label} {axis.format(value)}" for axis, value in values)
        bar = "█" * filled + "░" * (_BAR_WIDTH - filled)
        text = f"fold {unit.fold} of {self._folds[-1]}  {combination:<12} {bar} {percentage(share):>5}{rest}"
        text += f"  {doing}" if doing else ""
        self._line.show(text[: shutil.get_terminal_size().columns - 1])  # a second line would not be cleared

    def _left(self, seconds: float, computed: float) -> str:
        """Return the time left for this run, and for all of them where there are several."""
        total = self._whole.left(seconds, computed / (self._total - self._known))
        in_all = f", {clock(total)} total" if self._whole.total > 1 else ""
        return f"{clock(seconds / computed * (self._total - self._done))} left{in_all}"


def clock(seconds: float) -> str:
    """Return a time as "0:07", "12:34" or "1:02:03"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


State = TypeVar("State")
Told = TypeVar("Told", bound=WorkProgress)


def last_state(
    steps: Iterator[State | None],
    n_repeats: Callable[[State], int],
    n_requested: int,
    stream: TextIO | None = None,
    describe: Callable[[State], str] | None = None,
) -> tuple[State, bool]:
    """Ask for every step, or for the one in flight where Ctrl+C came, and return the last one.

    Parameters
    ----------
    steps : iterator
        Each step has everything so far; there is at least one. None is no step, but a moment to stop at
        once there was one.
    n_repeats : callable
        From a step to how many repetitions it has.
    n_requested : int
        How many there will be.
    stream : text stream, optional
        Where to count, if it is a terminal; the error stream by default.
    describe : callable, optional
        From a step to what is shown of it; by default how many repetitions it has, of how many.

    Returns
    -------
    state
        The last step.
    stopped : bool
        Whether it was asked to stop before the end.
    """
    line = LiveLine(stream)
    state: State | None = None
    with stopping() as stop, preparation(stream):
        for step in steps:
            state = state if step is None else step
            if state is None:
                continue
            if line.is_due():
                line.show(f"{n_repeats(state):,} of {n_requested:,}" if describe is None else describe(state))
            if stop.asked:
                break
        line.show("")
    assert state is not None  # there is at least one
    return state, n_repeats(state) < n_requested


def last_share(
    steps: Iterator[Told | None], describe: Callable[[Told], str] | None = None
) -> tuple[Told, bool]:
    """Return the last step of a work that tells its share, and whether it was stopped, as `last_state`."""
    return last_state(steps, lambda update: int(100 * update.share), 100, describe=describe)
