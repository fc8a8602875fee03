"""For the tests of what runs say beside each other: small finished runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankstudio.engine.experiment.plan.combinations import ParameterCombination, Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import (
    Baseline,
    Chosen,
    FoldResult,
    PathResult,
    RunResult,
)
from rankstudio.engine.steps import Step

NAMES = tuple("abcdef")


def path(
    fold: int, values: list[float], at: float = 1.0, position: int = 0
) -> PathResult:
    """Return a path of models with 1, 2, … features and these values of MAP on the validation part."""
    steps = tuple(
        Step(k, tuple(range(k)), np.zeros(len(NAMES)), 0.0, np.zeros(0))
        for k in range(1, len(values) + 1)
    )
    unit = Unit(fold, position, ParameterCombination(values=(at,)))
    return PathResult(unit, HeldSteps(steps), {"MAP": np.array(values)}, 1.0)


def fold(
    number: int,
    queries: list[float],
    selected: tuple[int, ...] = (1,),
    paths: tuple[PathResult, ...] | None = None,
) -> FoldResult:
    """Return a fold whose model has these features, and this MAP in each test query."""
    found = paths or (path(number, [0.5]),)
    test = {"MAP": float(np.nanmean(queries))}
    single = Baseline(1, "a", True, {"MAP": 0.1}, {"MAP": 0.1})
    chosen = Chosen(found[0].unit, found[0].steps[0])
    per_query = {"MAP": np.array(queries)}
    return FoldResult(
        number, chosen, selected, {"MAP": 0.5}, test, found, single, per_query
    )


def result(
    folds: list[FoldResult], /, data: str = "Small", **changes: Any
) -> RunResult:
    """Return a finished run."""
    plan = Plan(**{"data": "x", "measures": ("MAP",), **changes})
    ids = np.arange(1, len(NAMES) + 1)
    return RunResult(plan, data, ids, NAMES, tuple(folds), True, {}, 1.0)
