"""Finished runs on the same queries side by side: paired tests, stable selections, the effect of pins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan import Plan, plan_as_dict
from rankstudio.engine.experiment.protocol import GIVEN
from rankstudio.engine.experiment.results import RunResult
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.statistics.paired import PairedComparison, compare_paired, holm
from rankstudio.engine.statistics.stability import Stability, stability

Floats = NDArray[np.float64]

_PINS = ("pinned", "banned")


@dataclass(frozen=True)
class Tested:
    """What the queries say of one run against another.

    Attributes
    ----------
    test : PairedComparison
        The run minus the other.
    p_holm : float
        The p of the randomisation test, corrected by Holm for all that are tested together.
    """

    test: PairedComparison
    p_holm: float


@dataclass(frozen=True, eq=False)
class RunComparison:
    """Runs on one dataset against one of them.

    Attributes
    ----------
    data : str
        The dataset's name.
    measure : str
        What they are compared by.
    runs : tuple of RunResult
    reference : int
        The place among the runs of the one that the others are held against.
    tests : tuple of Tested or None
        One a run; None for the reference.
    """

    data: str
    measure: str
    runs: tuple[RunResult, ...]
    reference: int
    tests: tuple[Tested | None, ...]

    @property
    def n_queries(self) -> int:
        """How many queries the tests are over."""
        return self.runs[0].per_query(self.measure).size


@dataclass(frozen=True, eq=False)
class PinEffect:
    """A run held against another one that differs in nothing but what is pinned and banned.

    Attributes
    ----------
    run, other : int
        Their places among the runs.
    tested : Tested
        The run minus the other.
    """

    run: int
    other: int
    tested: Tested


def by_dataset(runs: Sequence[RunResult]) -> dict[str, list[RunResult]]:
    """Return the runs by the name of their dataset, in the order in which these first occur."""
    found: dict[str, list[RunResult]] = {}
    for result in runs:
        found.setdefault(result.data_name, []).append(result)
    return found


def compare_runs(
    runs: Sequence[RunResult], name: str | None = None, against: int | str | None = None, seed: int = 0
) -> RunComparison:
    """Compare runs on one dataset with one of them, query by query.

    Parameters
    ----------
    runs : sequence of RunResult
        Complete ones, on the same data.
    name : str, optional
        The measure; by default what chose in the first run, or the first one reported.
    against : int or str, optional
        Number of the run to compare with, from 1, or its method's key, "gas", or that and its judge's,
        "gas/ranksvm". By default the one with the best average.
    seed : int, default 0
        Of the randomisation and the bootstrap.

    Raises
    ------
    PlanError
        Where there are fewer than two runs, their queries cannot be paired, their measures follow different
        conventions, one was not measured by this measure, or no run is the one named.
    """
    if len(runs) < 2:
        raise PlanError(f"There is nothing to compare: expected two finished runs, found {len(runs)}.")
    _check_pairs(runs)
    name = measure(name).name if name else _chooser(runs[0].plan)
    for number, result in enumerate(runs, start=1):
        if any(name not in fold.per_query for fold in result.folds):
            raise PlanError(f"measure: run {number}, {result.plan.title}, was not measured by {name}.")
    reference = _reference(runs, name, against)
    others = [place for place in range(len(runs)) if place != reference]
    tested = dict(zip(others, _test([(runs[o], runs[reference]) for o in others], name, seed), strict=True))
    return RunComparison(
        runs[0].data_name, name, tuple(runs), reference, tuple(tested.get(p) for p in range(len(runs)))
    )


def pin_effects(runs: Sequence[RunResult], name: str, seed: int = 0) -> tuple[PinEffect, ...]:
    """Hold every run with pinned or banned features against one without, else against an earlier one.

    Parameters
    ----------
    runs : sequence of RunResult
        Those that :func:`compare_runs` compared.
    name : str
        The measure.
    seed : int, default 0
        Of the randomisation and the bootstrap.

    Returns
    -------
    tuple of PinEffect
        One for each run that has such a partner; their p are corrected for as many.
    """
    kinds = [_without_pins(result.plan) for result in runs]
    pins = [tuple(result.plan.parameters.get(pin) or () for pin in _PINS) for result in runs]
    pairs = []
    for run, kind in enumerate(kinds):
        alike = [o for o, other in enumerate(kinds) if other == kind and pins[o] != pins[run]]
        partners = [o for o in alike if not any(pins[o])] or [o for o in alike if o < run]
        if any(pins[run]) and partners:
            pairs.append((run, partners[0]))
    tested = _test([(runs[a], runs[b]) for a, b in pairs], name, seed)
    return tuple(PinEffect(*pair, found) for pair, found in zip(pairs, tested, strict=True))


def selection_stability(result: RunResult) -> Stability | None:
    """Tell how much the features that the folds selected agree; None without two folds, or a selection."""
    if not result.plan.entry.selects or len(result.folds) < 2:
        return None
    columns = {int(i): column for column, i in enumerate(result.feature_ids)}
    return stability([[columns[i] for i in fold.selected] for fold in result.folds], len(columns))


def _test(pairs: Sequence[tuple[RunResult, RunResult]], name: str, seed: int) -> list[Tested]:
    """Test pairs of runs, as one family."""
    better = measure(name).higher_is_better
    found = [
        compare_paired(a.per_query(name), b.per_query(name), seed=seed, higher_is_better=better)
        for a, b in pairs
    ]
    adjusted = holm([test.p_randomisation for test in found])
    return [Tested(test, float(p)) for test, p in zip(found, adjusted, strict=True)]


def _check_pairs(runs: Sequence[RunResult]) -> None:
    if len({_folds(result) for result in runs}) > 1:
        raise PlanError("The runs are on different folds: their queries cannot be paired.")
    if len({result.plan.convention for result in runs}) > 1:
        raise PlanError("The runs are measured by different conventions: their values cannot be compared.")


def _folds(result: RunResult) -> tuple[object, ...]:
    """Return what has to be the same for the queries of two runs to stand in the same order."""
    plan = result.plan
    made = (plan.protocol, plan.seed) if plan.protocol != GIVEN else ()
    return (*made, *((fold.fold, len(next(iter(fold.per_query.values()), ()))) for fold in result.folds))


def _chooser(plan: Plan) -> str:
    return plan.select_by if plan.select_by in plan.evaluated else plan.measures[0]


def _reference(runs: Sequence[RunResult], name: str, against: int | str | None) -> int:
    """Return the place of the run that the others are held against."""
    if against is None:
        averages = [result.average[name] for result in runs]
        return averages.index((max if measure(name).higher_is_better else min)(averages))
    if isinstance(against, int):
        if not 1 <= against <= len(runs):
            raise PlanError(f"against: expected the number of a run, from 1 to {len(runs)}, got {against}.")
        return against - 1
    return named([result.plan for result in runs], against)


def named(plans: Sequence[Plan], name: str) -> int:
    """Return the place of the plan that a name such as "gas" or "gas/ranksvm" means.

    "gas" alone means GAS's own model where that is run, else the first one with a judge.

    Raises
    ------
    PlanError
        Where there is none.
    """
    meant = [place for place, plan in enumerate(plans) if is_named(plan, name)]
    if not meant:
        there = dict.fromkeys("/".join(filter(None, (plan.method, plan.judge))) for plan in plans)
        raise PlanError(f"against: expected one of {', '.join(there)}, got {name!r}.")
    return min(meant, key=lambda place: bool(plans[place].judge))


def is_named(plan: Plan, name: str) -> bool:
    """Tell whether a name means this plan, or may mean it; see :func:`named`."""
    key, _, judge = name.partition("/")
    return plan.method == key and judge in ("", plan.judge)


def _without_pins(plan: Plan) -> dict[str, Any]:
    """Return the plan as plain values, without pins and bans, and without where its data are."""
    values = plan_as_dict(plan)
    del values["data"]
    values["parameters"] = {k: v for k, v in values["parameters"].items() if k not in _PINS}
    return values
