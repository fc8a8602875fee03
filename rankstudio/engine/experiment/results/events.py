"""What a run tells while it works. The window, the terminal and the store consume the same stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.settings import Unit
from rankstudio.engine.experiment.results.results import Baseline, FoldResult, PathResult, RunResult
from rankstudio.engine.methods.catalog.method import Along
from rankstudio.engine.steps import Step, Working


@dataclass(frozen=True, eq=False)
class RunStarted:
    """The data are there and the work is known: how many units, and of how many steps each at most."""

    plan: Plan
    folds: tuple[int, ...]
    units: tuple[Unit, ...]
    steps_per_unit: int
    feature_ids: np.ndarray
    feature_names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class UnitStarted:
    """Work on one fold with one setting begins."""

    unit: Unit


@dataclass(frozen=True, eq=False)
class BaselineFound:
    """The single feature that ranks a fold's training documents best, and how well."""

    fold: int
    baseline: Baseline


@dataclass(frozen=True, eq=False)
class UnitWorking:
    """A sign of life between two steps that take long."""

    unit: Unit
    working: Working


@dataclass(frozen=True, eq=False)
class StepDone:
    """One more feature was selected, or one more iteration done, and measured on the validation part."""

    unit: Unit
    step: Step
    validation: Mapping[str, float]
    divisor: float
    along: Along = Along.FEATURES

    @property
    def criterion(self) -> float:
        """The criterion, comparable between folds; see :class:`PathResult`."""
        return self.step.criterion / self.divisor

    @property
    def place(self) -> int:
        """Where it stands on the axis that curves are drawn over."""
        return len(self.step.selected) if self.along is Along.FEATURES else self.step.number


@dataclass(frozen=True, eq=False)
class UnitFinished:
    """All steps of a unit are done; it took so many seconds where somebody else did it."""

    unit: Unit
    path: PathResult
    seconds: float | None = None


@dataclass(frozen=True, eq=False)
class FoldFinished:
    """All settings of a fold are done, the model is chosen and tested."""

    result: FoldResult


@dataclass(frozen=True, eq=False)
class RunFinished:
    """All folds are done."""

    result: RunResult


Event = (
    RunStarted
    | BaselineFound
    | UnitStarted
    | UnitWorking
    | StepDone
    | UnitFinished
    | FoldFinished
    | RunFinished
)
