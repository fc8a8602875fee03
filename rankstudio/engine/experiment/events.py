"""What a run tells while it works. The window, the terminal and the store consume the same stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.experiment.plan import Plan, Unit
from rankstudio.engine.experiment.results import FoldResult, PathResult, RunResult
from rankstudio.engine.steps import Step


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
class StepDone:
    """One more feature was selected, or one more iteration done, and measured on the validation part."""

    unit: Unit
    step: Step
    validation: Mapping[str, float]
    n_documents: int

    @property
    def criterion(self) -> float:
        """The criterion per training document."""
        return self.step.criterion / self.n_documents


@dataclass(frozen=True, eq=False)
class UnitFinished:
    """All steps of a unit are done."""

    unit: Unit
    path: PathResult


@dataclass(frozen=True, eq=False)
class FoldFinished:
    """All settings of a fold are done, the model is chosen and tested."""

    result: FoldResult


@dataclass(frozen=True, eq=False)
class RunFinished:
    """All folds are done."""

    result: RunResult


Event = RunStarted | UnitStarted | StepDone | UnitFinished | FoldFinished | RunFinished
