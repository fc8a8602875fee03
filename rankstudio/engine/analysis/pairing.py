"""Which finished runs can be compared query by query, and how they compare."""

from __future__ import annotations

from collections.abc import Sequence

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import GIVEN, LEAVE_QUERY_OUT
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.statistics.paired import PairedComparison, compare_paired

_UNDRAWN = {GIVEN: "those of the files"}
_FEW = 10  # folds, of which the numbers are told


def why_unpaired(run: RunResult, reference: RunResult, name: str) -> str:
    """Return why two runs cannot be compared query by query: "on MQ2007, not on MQ2008".

    Parameters
    ----------
    run, reference : RunResult
    name : str
        Of the measure.

    Returns
    -------
    str
        Half a sentence about the first run; "" where its values stand in the same queries as the other's.
    """
    plan, other = run.plan, reference.plan
    if run.data_name != reference.data_name:
        return f"on {run.data_name}, not on {reference.data_name}"
    if plan.convention != other.convention:
        return f"measured by {convention(plan.convention).label}, not by {convention(other.convention).label}"
    if not run.folds or any(name not in fold.per_query for fold in run.folds):
        return f"not measured by {name}"
    if _dealt(plan) != _dealt(other):
        return f"folds made otherwise: {_dealt(plan)}, not {_dealt(other)}"
    if _numbers(run) != _numbers(reference):
        return f"on {_listed(_numbers(run))}, not on {_listed(_numbers(reference))}"
    counts = [
        (fold.fold, fold.per_query[name].size, beside.per_query[name].size)
        for fold, beside in zip(run.folds, reference.folds, strict=True)
        if name in beside.per_query
    ]
    for number, own, others in counts:
        if own != others:
            return f"fold {number} has {own} queries, not {others}"
    return ""


def compare_with(run: RunResult, reference: RunResult, name: str, seed: int = 0) -> PairedComparison:
    """Compare two runs that can be paired by all their queries.

    Parameters
    ----------
    run, reference : RunResult
    name : str
        Of the measure.
    seed : int, default 0
        Of the randomisation and of the bootstrap.
    """
    better = measure(name).higher_is_better
    return compare_paired(run.per_query(name), reference.per_query(name), seed=seed, higher_is_better=better)


def best_run(runs: Sequence[RunResult], name: str) -> RunResult | None:
    """Return the run with the best average of a measure, the first of equal ones; None without any."""
    measured = [run for run in runs if name in run.average]
    sign = 1.0 if measure(name).higher_is_better else -1.0
    return max(measured, key=lambda run: sign * run.average[name], default=None)


def _dealt(plan: Plan) -> str:
    """Return how the folds came about."""
    drawn = plan.protocol not in (GIVEN, LEAVE_QUERY_OUT)
    return f"{plan.protocol}, seed {plan.seed}" if drawn else _UNDRAWN.get(plan.protocol, plan.protocol)


def _numbers(run: RunResult) -> tuple[int, ...]:
    return tuple(fold.fold for fold in run.folds)


def _listed(numbers: Sequence[int]) -> str:
    if len(numbers) > _FEW:
        return f"{len(numbers)} folds"
    return ("fold " if len(numbers) == 1 else "folds ") + ", ".join(map(str, numbers))
