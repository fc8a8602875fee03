"""What a run leaves behind: paths, the chosen model of each fold, averages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.experiment.plan import Plan, Unit
from rankstudio.engine.steps import Step

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PathResult:
    """All steps of one unit with what they measured.

    Attributes
    ----------
    unit : Unit
    steps : tuple of Step
        K of them.
    validation : Mapping of str to ndarray of shape (K,)
        Each measure on the validation part after each step; empty without a validation part.
    n_documents : int
        m of the training part: criteria per document can be compared between folds.
    """

    unit: Unit
    steps: tuple[Step, ...]
    validation: Mapping[str, Floats]
    n_documents: int

    @cached_property
    def criterion(self) -> Floats:
        """The criterion per training document after each step, shape (K,)."""
        return np.array([step.criterion for step in self.steps], dtype=np.float64) / self.n_documents

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many features each step's model uses, shape (K,)."""
        return np.array([len(step.selected) for step in self.steps], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Chosen:
    """The model that a fold's validation chose.

    Attributes
    ----------
    unit : Unit
        With which parameters.
    step : Step
        After which step.
    """

    unit: Unit
    step: Step


@dataclass(frozen=True, eq=False)
class FoldResult:
    """One fold, done.

    Attributes
    ----------
    fold : int
        Its number, from 1.
    chosen : Chosen
        The model.
    selected : tuple of int
        1-based ids of the chosen model's features, in order of selection.
    validation, test : Mapping of str to float
        The chosen model's measures; empty where the dataset has no such part.
    paths : tuple of PathResult
        Everything that was tried, in the order of the settings.
    """

    fold: int
    chosen: Chosen
    selected: tuple[int, ...]
    validation: Mapping[str, float]
    test: Mapping[str, float]
    paths: tuple[PathResult, ...]


@dataclass(frozen=True, eq=False)
class RunResult:
    """A run: its plan and its finished folds.

    Attributes
    ----------
    plan : Plan
    data_name : str
        As in titles and tables.
    feature_ids, feature_names
        Of the dataset's columns.
    folds : tuple of FoldResult
        The finished ones, in order.
    complete : bool
        Whether these are all folds of the plan.
    versions : Mapping of str to str
        Of RankStudio and of what it computed with.
    seconds : float
        How long it took.
    """

    plan: Plan
    data_name: str
    feature_ids: NDArray[np.int64]
    feature_names: tuple[str, ...]
    folds: tuple[FoldResult, ...]
    complete: bool
    versions: Mapping[str, str]
    seconds: float

    @property
    def average(self) -> dict[str, float]:
        """Mean over the folds of each measure on the test part, or on the validation part without one."""
        if not self.folds:
            return {}
        columns: list[Mapping[str, Any]] = [fold.test or fold.validation for fold in self.folds]
        return {name: float(np.mean([c[name] for c in columns])) for name in columns[0]}
