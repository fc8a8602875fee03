"""What a run tells while it works. The window, the terminal and the store consume the same stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.memory_estimate import MemoryEstimate
from rankstudio.engine.experiment.results.results import Baseline, FoldResult, PathResult, RunResult
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress


@dataclass(frozen=True, eq=False)
class RunStarted:
    """The data are there and the work is known: how many units, and of how many steps each at most.

    With what the run needs of memory, unless all of it is there already.
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
    """Work on one fold with one combination begins."""

    unit: Unit


@dataclass(frozen=True, eq=False)
class BaselineFound:
    """The single feature that ranks a fold's training documents best, and how well."""

    fold: int
    baseline: Baseline


@dataclass(frozen=True, eq=False)
class UnitProgress:
    """Progress between two steps that take long."""

    unit: Unit
    working: WorkProgress


@dataclass(frozen=True, eq=False)
class StepDone:
    """One more feature was selected, or one more iteration done, and measured on the validation part."""

    unit: Unit
    step: Step
    validation: Mapping[str, float]
    divisor: float
    step_kind: StepKind = StepKind.FEATURES

    @property
    def criterion(self) -> float:
        """The criterion, comparable between folds; see :class:`PathResult`."""
        return self.step.criterion / self.divisor

    @property
    def x_value(self) -> int:
        """Where it stands on the axis that curves are drawn over."""
        return len(self.step.selected) if self.step_kind is StepKind.FEATURES else self.step.number


@dataclass(frozen=True, eq=False)
class UnitFinished:
    """All steps of a unit are done; it took so many seconds where somebody else did it."""

    unit: Unit
    path: PathResult
    seconds: float | None = None


@dataclass(frozen=True, eq=False)
class FoldFinished:
    """All combinations of a fold are done, the model is chosen and tested."""

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
