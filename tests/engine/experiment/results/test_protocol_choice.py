"""The choice of a whole protocol: a plain loop over means of the folds gives the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.model_selection import select_model
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.protocol_choice import (
    choose_by_protocol,
    mean_path,
)
from rankstudio.engine.experiment.results.results import (
    Baseline,
    Chosen,
    FoldResult,
    PathResult,
)
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.steps import Step

GRID = (0.5, 2.0, 8.0)
RULES = ("best", "smallest", "one-se", "at most 3")


def path(
    plan: Plan, fold: int, position: int, sizes: Sequence[int], rng: np.random.Generator
) -> PathResult:
    """Return a path with random measures, criteria and p values."""
    unit = Unit(fold, position, plan.combinations[position])
    n = len(sizes)
    steps = HeldSteps(
        [
            Step(
                number,
                tuple(range(size)),
                np.zeros(9),
                float(rng.random()),
                np.empty(0),
            )
            for number, size in enumerate(sizes, start=1)
        ]
    )
    p_values = rng.random(n) * 0.1
    return PathResult(
        unit,
        steps,
        {"MAP": rng.random(n).round(1)},
        2.0,
        StepKind.FEATURES,
        standard_errors={"MAP": rng.random(n) * 0.1},
        p_values={"MAP": p_values},
    )


def folds_of(plan: Plan, sizes: Sequence[Sequence[int]], seed: int) -> list[FoldResult]:
    rng = np.random.default_rng(seed)
    folds = []
    for number, own in enumerate(sizes, start=1):
        paths = tuple(
            path(plan, number, position, own, rng)
            for position in range(len(plan.combinations))
        )
        chosen = Chosen(paths[0].unit, paths[0].steps[0])
        folds.append(
            FoldResult(
                number, chosen, (1,), {}, {}, paths, Baseline(1, "x", True, {}, {})
            )
        )
    return folds


def by_loop(plan: Plan, folds: Sequence[FoldResult]) -> tuple[tuple[float, ...], int]:
    """Return what a plain loop chooses; ties go to the earlier combination, then to fewer features."""
    table = []  # combination, size, mean, standard error, median p
    for position in range(len(plan.combinations)):
        paths = [fold.paths[position] for fold in folds]
        sizes = sorted({int(size) for own in paths for size in own.sizes})
        for size in sizes:
            values, tests = [], []
            for own in paths:
                within = [i for i, other in enumerate(own.sizes) if other <= size]
                if not within:
                    break
                largest = max(int(own.sizes[i]) for i in within)
                index = [i for i in within if own.sizes[i] == largest][-1]
                by = (
                    -own.criterion
                    if plan.select_by == "criterion"
                    else own.validation["MAP"]
                )
                values.append(float(by[index]))
                tests.append(float(own.p_values["MAP"][index]))
            if len(values) == len(paths):
                error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
                table.append(
                    (
                        position,
                        size,
                        float(np.mean(values)),
                        error,
                        float(np.median(tests)),
                    )
                )
    most = int(plan.rule.split()[-1]) if plan.rule.startswith("at most") else 99
    best = max((row for row in table if row[1] <= most), key=lambda row: row[2])
    enough = [best]
    if plan.select_by != "criterion" and plan.rule == "one-se":
        enough = [
            row for row in table if row[0] == best[0] and row[2] >= best[2] - best[3]
        ]
    if plan.select_by != "criterion" and plan.rule == "smallest":
        enough = [
            row
            for row in table
            if row[0] == best[0] and (row[2] >= best[2] or row[4] >= 0.05)
        ]
    row = min(enough, key=lambda row: row[1])
    return plan.combinations[row[0]].values, row[1]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("select_by", ["MAP", "criterion"])
@pytest.mark.parametrize(
    "sizes",
    [
        [(1, 2, 3, 4)] * 5,
        [(1, 2, 3, 4, 5), (1, 2, 4), (2, 3, 5)],
        [(1, 2, 3, 2, 3, 4), (1, 2, 3, 4)],
    ],
    ids=["equal", "different", "floating"],
)
def test_the_choice_is_that_of_a_plain_loop(
    rule: str, select_by: str, sizes: list[tuple[int, ...]]
) -> None:
    plan = Plan(
        "sample", parameters={"regularization": GRID}, select_by=select_by, rule=rule
    )
    for seed in range(25):
        folds = folds_of(plan, sizes, seed)
        choice = choose_by_protocol(plan, folds)
        assert (choice.values, choice.length) == by_loop(plan, folds)
        assert choice.folds == tuple(range(1, len(sizes) + 1))


@pytest.mark.parametrize("rule", RULES)
def test_one_fold_chooses_as_it_did(rule: str) -> None:
    plan = Plan("sample", parameters={"regularization": GRID}, rule=rule)
    for seed in range(25):
        (fold,) = folds_of(plan, [(1, 2, 3, 4)], seed)
        chosen = select_model(plan, fold.paths)
        choice = choose_by_protocol(plan, [fold])
        assert (choice.values, choice.length) == (
            chosen.unit.values,
            chosen.step.n_selected,
        )


def test_of_an_optimiser_the_means_are_those_of_the_last_iterations() -> None:
    plan = Plan("sample", "ranksvm", {"C": GRID})
    folds = []
    for fold in folds_of(plan, [(1, 1, 1), (1, 1)], 3):
        paths = tuple(replace(own, step_kind=StepKind.ITERATIONS) for own in fold.paths)
        folds.append(replace(fold, paths=paths))
    choice = choose_by_protocol(plan, folds)
    means = [
        np.mean([fold.paths[c].validation["MAP"][-1] for fold in folds])
        for c in range(len(GRID))
    ]
    assert choice.length is None and choice.values == (GRID[int(np.argmax(means))],)
    assert len(mean_path([fold.paths[0] for fold in folds]).steps) == 1
