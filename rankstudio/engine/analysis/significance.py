"""Finished runs on the same queries side by side: paired tests, and the effect of pins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankstudio.engine.analysis.pairing import best_run, compare_with, why_unpaired
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.difference import only_pins_differ, pins_of
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.statistics.paired import PairedComparison, holm


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
        Number of the run to compare with, from 1, or its method's key, "gas", or that and its ranker's,
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
    name = measure(name).name if name else _chooser(runs[0].plan)
    for number, result in enumerate(runs, start=1):
        why = why_unpaired(result, runs[0], name)
        if why:
            fault = f"cannot be compared with run 1: {why}" if number > 1 else f"was {why}"
            raise PlanError(f"Run {number}, {result.plan.title}, {fault}.")
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
    plans = [result.plan for result in runs]
    pairs = []
    for run, plan in enumerate(plans):
        alike = [o for o, other in enumerate(plans) if only_pins_differ(plan, other)]
        partners = [o for o in alike if not pins_of(plans[o])] or [o for o in alike if o < run]
        if pins_of(plan) and partners:
            pairs.append((run, partners[0]))
    tested = _test([(runs[a], runs[b]) for a, b in pairs], name, seed)
    return tuple(PinEffect(*pair, found) for pair, found in zip(pairs, tested, strict=True))


def _test(pairs: Sequence[tuple[RunResult, RunResult]], name: str, seed: int) -> list[Tested]:
    """Test pairs of runs, as one family."""
    found = [compare_with(run, reference, name, seed) for run, reference in pairs]
    adjusted = holm([test.p_randomisation for test in found])
    return [Tested(test, float(p)) for test, p in zip(found, adjusted, strict=True)]


def _chooser(plan: Plan) -> str:
    return plan.select_by if plan.select_by in plan.evaluated else plan.measures[0]


def _reference(runs: Sequence[RunResult], name: str, against: int | str | None) -> int:
    """Return the place of the run that the others are held against."""
    if against is None:
        best = best_run(runs, name)
        return next(place for place, result in enumerate(runs) if result is best)
    if isinstance(against, int):
        if not 1 <= against <= len(runs):
            raise PlanError(f"against: expected the number of a run, from 1 to {len(runs)}, got {against}.")
        return against - 1
    return named([result.plan for result in runs], against)


def named(plans: Sequence[Plan], name: str) -> int:
    """Return the place of the plan that a name such as "gas" or "gas/ranksvm" means.

    "gas" alone means GAS's own model where that is run, else the first one with a ranker.

    Raises
    ------
    PlanError
        Where there is none.
    """
    meant = [place for place, plan in enumerate(plans) if is_named(plan, name)]
    if not meant:
        there = dict.fromkeys("/".join(filter(None, (plan.method, plan.ranker))) for plan in plans)
        raise PlanError(f"against: expected one of {', '.join(there)}, got {name!r}.")
    return min(meant, key=lambda place: bool(plans[place].ranker))


def is_named(plan: Plan, name: str) -> bool:
    """Tell whether a name means this plan, or may mean it; see :func:`named`."""
    key, _, ranker = name.partition("/")
    return plan.method == key and ranker in ("", plan.ranker)
