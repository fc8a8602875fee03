"""Events of a run; the window, the terminal and the store get the same ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.memory_estimate import MemoryEstimate
from rankstudio.engine.experiment.results.results import (
    Baseline,
    FoldResult,
    PathResult,
    RunResult,
)
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress


@dataclass(frozen=True, eq=False)
class RunStarted:
    """The event that a run starts.

    The data are open. The event has the plan, the numbers of the folds,
    the units (combinations of parameters' values on folds), and the
    greatest number of steps of a unit.

    It also has the memory estimate, unless all units are already finished.
    """

    plan: Plan
    folds: tuple[int, ...]
    units: tuple[Unit, ...]
    steps_per_unit: int
    feature_ids: np.ndarray
    feature_names: tuple[str, ...]
    memory: MemoryEstimate | None = None


@dataclass(frozen=True, eq=False)
class UnitStarted:
    """A unit of work, one fold with one combination, starts."""

    unit: Unit


@dataclass(frozen=True, eq=False)
class BaselineFound:
    """The best single feature on a fold's training documents, with its measures."""

    fold: int
    baseline: Baseline


@dataclass(frozen=True, eq=False)
class UnitProgress:
    """Progress between two slow steps."""

    unit: Unit
    working: WorkProgress


@dataclass(frozen=True, eq=False)
class StepDone:
    """The event that a step of a unit is finished, and measured on the validation part.

    A unit trains one combination of parameters' values on a fold. A
    step makes a model: with one more feature, or after one more
    iteration.
    """

    unit: Unit
    step: Step
    validation: Mapping[str, float]
    divisor: float
    step_kind: StepKind = StepKind.FEATURES

    @property
    def criterion(self) -> float:
        """Criterion, comparable between folds; see :class:`PathResult`."""
        return self.step.criterion / self.divisor

    @property
    def x_value(self) -> int:
        """Position on the x axis of the curves."""
        return (
            len(self.step.selected)
            if self.step_kind is StepKind.FEATURES
            else self.step.number
        )


@dataclass(frozen=True, eq=False)
class UnitFinished:
    """The event that all steps of a unit are done.

    A unit trains one combination of parameters' values on a fold. The
    duration in seconds is known if a worker computed the unit.
    """

    unit: Unit
    path: PathResult
    seconds: float | None = None


@dataclass(frozen=True, eq=False)
class FoldFinished:
    """All combinations of a fold are done, and the model is selected and tested."""

    result: FoldResult


@dataclass(frozen=True, eq=False)
class RunFinished:
    """All folds are done."""

    result: RunResult


Event = (
    RunStarted
    | BaselineFound
    | UnitStarted
    | UnitProgress
    | StepDone
    | UnitFinished
    | FoldFinished
    | RunFinished
)
