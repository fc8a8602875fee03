"""One run as the window knows it: its plan, its progress, and its results so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import (
    BaselineFound,
    Event,
    FoldFinished,
    RunFinished,
    RunStarted,
    StepDone,
    UnitFinished,
    UnitProgress,
    UnitStarted,
)
from rankstudio.engine.experiment.results.path_steps import HeldSteps, packed
from rankstudio.engine.experiment.results.results import (
    Baseline,
    FoldResult,
    PathResult,
    RunResult,
    notes_of,
)
from rankstudio.engine.experiment.storage.study_contents import RunLabel
from rankstudio.engine.support.work import Note, WorkProgress
from rankstudio.ui.language import tr
from rankstudio.ui.model.session import NOTHING_CHOSEN, Choice

if TYPE_CHECKING:
    from rankstudio.engine.experiment.storage.study import RecordedData, RunKey


class RunState(Enum):
    """State of a run between its submission and its end."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    UNFINISHED = "unfinished"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"

    @property
    def ended(self) -> bool:
        """Whether the run has ended: it neither waits, works nor is paused."""
        return self not in (RunState.QUEUED, RunState.RUNNING, RunState.PAUSED)


@dataclass(eq=False)
class Clock:
    """Stopwatch of the time that a run has worked, without its pauses."""

    now: Callable[[], float] = time.monotonic
    worked: float = 0.0
    _since: float | None = None

    def go(self) -> None:
        """Start counting, or go on."""
        if self._since is None:
            self._since = self.now()

    def stop(self) -> None:
        """Stop counting until :meth:`go`."""
        self.worked = self.seconds
        self._since = None

    @property
    def seconds(self) -> float:
        """Seconds counted so far."""
        return self.worked + (
            self.now() - self._since if self._since is not None else 0.0
        )


@dataclass(eq=False)
class RunRecord:
    """A run of the window with its results so far, updated by the events of the run.

    Attributes
    ----------
    key : int
        Number of the run among the runs of this window, from 1.
    plan : Plan
    dataset : FoldedDataset
    state : RunState
        Whether the run waits, works, is done, failed and so on.
    failure : str
        Why the run failed, as a sentence.
    paths : dict
        The finished paths, by (fold, combination).
    growing : dict
        The steps of paths not finished yet, by (fold, combination).
    unfinished_paths : dict
        Steps of unfinished paths that are not being worked on, by (fold, combination).
    folds : dict
        The finished folds, by number.
    result : RunResult or None
        The result; None until the run is complete.
    unit : Unit or None
        The unit that the run works on now.
    working : WorkProgress or None
        The work before the next step, reported if it takes long.
    baselines : dict
        The best single feature of each fold begun, by number.
    came_whole : bool
        Whether the last path was finished earlier, so that it came at
        once and without its steps.
    stored : RunKey or None
        Key of the run in the open study; None if no study stores the run.
    recorded : RecordedData or None
        Record of the run's data in the study, while ``dataset`` has no documents.
    label : RunLabel
        The user's name for the run and remarks on it.
    origin : str
        When and by which version the run was computed, if it was read from a study.
    why_not_on : str
        Why the run cannot go on although it is not finished, as a sentence; else "".
    choice : Choice
        The model that the user chose last; it is restored when the run is shown again.
    stopping : bool
        Whether the run was asked to stop and still finishes its current step.
    background : bool
        Whether the user views another run or fold while this run works,
        rather than follow it.
    revision : int
        Grows whenever a result or the data are replaced: a run that
        goes on receives its earlier results again, as other objects.
    """

    key: int
    plan: Plan
    dataset: FoldedDataset
    state: RunState = RunState.QUEUED
    failure: str = ""
    paths: dict[tuple[int, int], PathResult] = field(default_factory=dict)
    growing: dict[tuple[int, int], list[StepDone]] = field(default_factory=dict)
    unfinished_paths: dict[tuple[int, int], PathResult] = field(default_factory=dict)
    folds: dict[int, FoldResult] = field(default_factory=dict)
    result: RunResult | None = None
    unit: Unit | None = None
    working: WorkProgress | None = None
    baselines: dict[int, Baseline] = field(default_factory=dict)
    came_whole: bool = False
    stored: RunKey | None = None
    recorded: RecordedData | None = None
    label: RunLabel = field(default_factory=RunLabel)
    origin: str = ""
    why_not_on: str = ""
    choice: Choice = NOTHING_CHOSEN
    stopping: bool = False
    background: bool = False
    revision: int = 0
    steps_per_unit: int = 0
    n_units: int = 0
    units_done: int = 0
    clock: Clock = field(default_factory=Clock)

    def handle(self, event: Event) -> None:
        """Update the record by an event of the run.

        A unit is one fold with one combination of parameters; its
        models, one per step, form a path.
        """
        # Measured copies of the results are out of date once the revision grows.
        if isinstance(event, (BaselineFound, UnitFinished, FoldFinished, RunFinished)):
            self.revision += 1
        match event:
            case RunStarted():
                self.n_units = len(event.units)
                self.steps_per_unit = event.steps_per_unit
            case BaselineFound():
                self.baselines[event.fold] = event.baseline
            case UnitStarted():
                self.unit = event.unit
            case UnitProgress():
                self.working = event.working
            case StepDone():
                self.working = None  # the work before this step is over
                # Steps are collected under (fold, combination) until
                # the path is finished.
                self.growing.setdefault(
                    (event.unit.fold, event.unit.position), []
                ).append(event)
            case UnitFinished():
                self.working = None
                unit_key = event.path.unit.fold, event.path.unit.position
                self.paths[unit_key] = event.path
                # A path that an earlier session finished arrives as a
                # whole, so no steps of it were collected.
                self.came_whole = not self.growing.pop(unit_key, None)
                self.units_done += 1
            case FoldFinished():
                self.folds[event.result.fold] = event.result
            case RunFinished():
                self.result = event.result

    def pack(self) -> None:
        """Store the steps of unfinished paths in less memory, after the run has ended."""
        for unit_key in self.growing:
            path = self.so_far(*unit_key)
            if path is not None:
                self.unfinished_paths[unit_key] = replace(
                    path, steps=packed(path.steps)
                )
        self.growing.clear()

    def so_far(self, fold: int, combination: int) -> PathResult | None:
        """Return the finished steps of an unfinished path, as a path; None before the first step.

        ``fold`` is the number of the fold, and ``combination`` the
        position of the combination of parameters in the plan.
        """
        events = self.growing.get((fold, combination))
        if not events:  # the run may have ended, and packed its unfinished paths
            return self.unfinished_paths.get((fold, combination))
        # An event has one step, with its value of each measure by name.
        names = events[0].validation
        values = {
            name: np.array([event.validation[name] for event in events])
            for name in names
        }
        steps = HeldSteps([event.step for event in events])
        return PathResult(
            events[0].unit, steps, values, events[0].divisor, events[0].step_kind
        )

    @property
    def title(self) -> str:
        """Name of the run: the user's, else the title of the plan."""
        return self.label.name or self.plan.title

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes of the method on the paths, the first note of each kind."""
        return notes_of(self.paths.values())

    @property
    def can_go_on(self) -> bool:
        """Whether the run can be resumed: unfinished, not at work, stored in a study, and nothing forbids it."""
        is_unfinished = self.state in (
            RunState.UNFINISHED,
            RunState.CANCELLED,
            RunState.FAILED,
        )
        return is_unfinished and self.stored is not None and not self.why_not_on

    @property
    def units_text(self) -> str:
        """How much of the run is done: "12 of 31 units"."""
        return tr("{units_done} of {n_units} fits").format(
            units_done=self.units_done, n_units=self.n_units
        )

    @property
    def interrupted_text(self) -> str:
        """At how many fits the run was interrupted, as a sentence."""
        return tr("{title} on {name}: interrupted at {units_text}.").format(
            title=self.title, name=self.dataset.name, units_text=self.units_text
        )

    @property
    def remark(self) -> str:
        """Remark on the state of the run: why it failed, how much of it is done, or its origin.

        The origin of a stored run is the time and the version of its computation.
        """
        if self.state is RunState.UNFINISHED:
            return " · ".join(
                part for part in (self.units_text, self.origin, self.why_not_on) if part
            )
        on_disk = tr("data read from disk") if self.dataset.from_disk else ""
        return self.failure or " · ".join(
            part for part in (self.origin, on_disk) if part
        )

    def wait_again(self) -> None:
        """Reset the progress before the run goes on.

        Units of the run that a study has stored are counted again from
        0, as the events of these units are sent once more.
        """
        self.state = RunState.QUEUED
        self.failure = ""
        self.unit = self.working = None
        self.units_done = 0
        self.growing.clear()
        self.unfinished_paths.clear()

    @property
    def n_folds(self) -> int:
        """How many folds the run has."""
        return len(self.plan.folds or self.dataset.folds)

    @property
    def progress(self) -> float:
        """Share of the work that is done, 0 to 1."""
        if self.state is RunState.DONE:
            return 1.0
        # The expected steps of all units; 0 until the run has announced its units.
        total = self.n_units * self.steps_per_unit
        # Steps of units that are not done: those at work (`growing`),
        # and those that were interrupted (`unfinished_paths`).
        n_begun = sum(map(len, self.growing.values())) + sum(
            len(path.steps) for path in self.unfinished_paths.values()
        )
        # A unit may have more steps than announced.
        return (
            min(1.0, (self.units_done * self.steps_per_unit + n_begun) / total)
            if total
            else 0.0
        )

    @property
    def seconds_left(self) -> float | None:
        """Estimate of the remaining seconds from the pace so far; None if less than 1 % is done."""
        fraction = self.progress
        if fraction < 0.01 or self.state.ended:
            return None
        return self.clock.seconds * (1.0 - fraction) / fraction

    @cached_property
    def combinations(self) -> tuple[tuple[Any, ...], ...]:
        """The values on the plan's axes in each combination; one empty tuple for a plan without an axis."""
        return tuple(combination.values for combination in self.plan.combinations)

    def combination_of(self, values: tuple[Any, ...]) -> int | None:
        """Return the position of the combination with these values, or None."""
        return self.combinations.index(values) if values in self.combinations else None
