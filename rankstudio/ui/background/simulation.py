"""Simulations on a worker: each task asks a generator for one step, so that other tasks come between."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.ui.background.worker import Job, Worker

Steps = Iterator[Any]

# a task that gets only None from the generator ends after this time
_MAX_SECONDS_WITHOUT_STEP = 0.1
_END = object()


class SimulationState(Enum):
    """State of a simulation."""

    NEW = "new"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    DONE = "done"


class BackgroundSimulation(QObject):
    """Runs a generator step by step on a worker's thread; it can be paused and stopped between two steps.

    Parameters
    ----------
    worker : Worker
        The worker, which may carry out other tasks between two steps.
    description : str
        Beginning of the sentence on a failure, such as "Simulating estimates".
    slot : str
        Slot of the simulation's tasks; see `Job`.

    Attributes
    ----------
    grew : Signal(object)
        A step is done (the value that the generator yielded).
    changed : Signal()
        The state has changed.
    failed : Signal(str)
        The generator has failed (a sentence).
    """

    grew = Signal(object)
    changed = Signal()
    failed = Signal(str)

    def __init__(
        self, worker: Worker, description: str, slot: str, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._worker = worker
        self._what = description
        self._slot = slot
        self._state = SimulationState.NEW
        self._generator: Steps | None = None  # None before the first and at the end
        self._job: Job | None = None  # takes a step of the generator now

    @property
    def state(self) -> SimulationState:
        """State of the simulation."""
        return self._state

    @property
    def busy(self) -> bool:
        """Whether the simulation is running or paused."""
        return self._state in (SimulationState.RUNNING, SimulationState.PAUSED)

    def start(self, make: Callable[[], Steps]) -> None:
        """Start another generator instead of the present one.

        Parameters
        ----------
        make : callable
            Returns the generator; called on the worker's thread. The
            generator may yield None without a new result, so that other
            tasks can come between.
        """
        self._drop()
        self._generator = _generator_made_on_first_use(make)
        self._change(SimulationState.RUNNING)
        self._take_step()

    @Slot()
    def toggle_pause(self) -> None:
        """Pause a running simulation, or continue a paused one.

        A step that has begun still delivers its result. Without a
        generator, nothing happens.
        """
        if self._state is SimulationState.RUNNING:
            self._change(SimulationState.PAUSED)
        elif self._state is SimulationState.PAUSED:
            self._change(SimulationState.RUNNING)

            # If a step that began before the pause is still at work,
            # its end asks for the next step.
            if self._job is None:
                self._take_step()

    @Slot()
    def stop(self) -> None:
        """Stop the simulation; its results so far stay."""
        if self.busy:
            self._drop()
            self._change(SimulationState.STOPPED)

    def _take_step(self) -> None:
        """Have the worker take the next step of the generator, whose result `_receive` gets."""
        assert self._generator is not None  # it was started
        self._job = self._worker.task(
            self._what,
            _next_step,
            self._generator,
            on_done=self._receive,
            on_error=self._fail,
            slot=self._slot,
        )

    def _receive(self, update: Any) -> None:
        """Emit the update of a step, and have the next step taken.

        ``update`` is None if the step has yielded nothing new, and
        ``_END`` after the last step.
        """
        self._job = None
        if update is _END:
            self._generator = None
            self._change(SimulationState.DONE)
            return
        if update is not None:
            self.grew.emit(update)

        # What listens may have paused, stopped or restarted the simulation.
        if self._state is SimulationState.RUNNING and self._job is None:
            self._take_step()

    def _fail(self, reason: str) -> None:
        """Stop the simulation, and report why its step failed."""
        self._drop()
        self._change(SimulationState.STOPPED)
        self.failed.emit(reason)

    def _drop(self) -> None:
        """Abandon the present step, and forget the generator."""
        if self._job is not None:
            self._job.abandon()
        self._job = self._generator = None

    def _change(self, state: SimulationState) -> None:
        """Change to another state, and emit `changed`."""
        self._state = state
        self.changed.emit()


def _generator_made_on_first_use(make: Callable[[], Steps]) -> Steps:
    """Make a generator on the thread that takes its first step, and yield its steps."""
    yield from make()


def _next_step(steps: Steps) -> Any:
    """Return the next step that is not None; `_END` at the end, None if no step comes in time."""
    # None from the generator means that it is still at work on a step.
    until = time.perf_counter() + _MAX_SECONDS_WITHOUT_STEP
    for step in steps:
        if step is not None or time.perf_counter() > until:
            return step
    return _END
