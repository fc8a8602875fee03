"""How far a run is: a bar with time left on a terminal, a plain line a fold where output goes to a file."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self, TextIO

from rankstudio.engine.experiment.events import (
    Event,
    FoldFinished,
    RunStarted,
    StepDone,
    UnitFinished,
    UnitWorking,
)
from rankstudio.engine.experiment.plan import Axis, Unit

_WIDTH = 24
_REDRAW = 0.1  # seconds


class Progress:
    """Follows the events of a run and shows how far it is, on the error stream so that results stay clean."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._live = self._stream.isatty()
        self._began = self._drawn = time.monotonic()
        self._done = 0.0
        self._units = 0
        self._total = 1
        self._steps = 1
        self._folds: tuple[int, ...] = ()
        self._axes: tuple[Axis, ...] = ()

    def __enter__(self) -> Self:
        if self._live:
            print(
                "Preparing; the first run after installation compiles for some seconds.",
                end="",
                file=self._stream,
                flush=True,
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clear()

    def show(self, event: Event) -> None:
        """Take one event in."""
        match event:
            case RunStarted():
                self._began = time.monotonic()
                self._total, self._steps, self._folds = len(event.units), event.steps_per_unit, event.folds
                self._axes = event.plan.axes
            case StepDone():
                self._done = self._units + event.step.number / self._steps
                self._draw(event.unit)
            case UnitWorking():
                self._draw(event.unit, event.working.what)
            case UnitFinished():
                self._units += 1
                self._done = self._units
            case FoldFinished() if not self._live:
                print(
                    f"Fold {event.result.fold} of {self._folds[-1]} is done.", file=self._stream, flush=True
                )

    def _draw(self, unit: Unit, doing: str = "") -> None:
        now = time.monotonic()
        if not self._live or now - self._drawn < _REDRAW:
            return
        self._drawn = now
        share = self._done / self._total
        filled = round(share * _WIDTH)
        left = f"  {_clock((now - self._began) * (1 - share) / share)} left" if share > 0 else ""
        values = zip(self._axes, unit.values, strict=True)
        setting = ", ".join(f"{axis.label} {axis.format(value)}" for axis, value in values)
        bar = "█" * filled + "░" * (_WIDTH - filled)
        text = f"fold {unit.fold} of {self._folds[-1]}  {setting:<12} {bar} {share:4.0%}{left}"
        text += f"  {doing}" if doing else ""
        print(f"\r\x1b[K{text}", end="", file=self._stream, flush=True)

    def _clear(self) -> None:
        if self._live:
            print("\r\x1b[K", end="", file=self._stream, flush=True)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
