"""Paths whose steps compare random candidates."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.experiment.plan.combinations import ParameterCombination, Unit
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.methods.catalog.method import (
    CandidateScore,
    ScoreSource,
    StepKind,
)
from rankstudio.engine.steps import Step

UNIT = Unit(1, 0, ParameterCombination({}))
SCORE = CandidateScore("score", "")
DROP = CandidateScore("drop in error", "per document", ScoreSource.CRITERION)
WEIGHT = CandidateScore("absolute weight", "", ScoreSource.WEIGHT)


def growing(seed: int, n: int = 8, k: int = 5, low: float = 0.1) -> PathResult:
    """A path that takes the best of random scores, one feature a step."""
    rng = np.random.default_rng(seed)
    steps: list[Step] = []
    order: tuple[int, ...] = ()
    for number in range(1, k + 1):
        scores = rng.uniform(low, 1.0, n).round(2)
        scores[list(order)] = np.nan
        order = (*order, int(np.nanargmax(scores)))
        coef = np.zeros(n)
        coef[list(order)] = 1.0
        steps.append(Step(number, order, coef, 1.0, scores))
    return PathResult(UNIT, HeldSteps(steps), {}, 1.0)


def weights(
    seed: int, kind: StepKind = StepKind.ITERATIONS, n: int = 8, k: int = 30
) -> PathResult:
    rng = np.random.default_rng(seed)
    steps = []
    for number in range(1, k + 1):
        coef = rng.normal(size=n) * (rng.random(n) < 0.7)
        used = [j for j in np.argsort(-np.abs(coef)).tolist() if coef[j]]
        steps.append(Step(number, tuple(used), coef, 1.0, np.empty(0)))
    return PathResult(UNIT, HeldSteps(steps), {}, 1.0, kind)
