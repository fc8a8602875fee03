"""What finished runs say beside each other: which can be paired, what tells them apart, and who is better."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankstudio.engine.catalog import Kind, Parameter
from rankstudio.engine.experiment.plan import CRITERION, Plan
from rankstudio.engine.experiment.protocol import GIVEN, LEAVE_QUERY_OUT
from rankstudio.engine.experiment.results import RunResult
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.statistics.paired import PairedComparison, compare_paired

Names = Mapping[int, str]

PINS = ("pinned", "banned")
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


def differences(plan: Plan, reference: Plan, names: Names | None = None) -> tuple[str, ...]:
    """Return in what a plan differs from another: "λ 1, 2", "pinned BM25 of anchor", "another method".

    Parameters
    ----------
    plan, reference : Plan
    names : Mapping of int to str, optional
        Of the features, by id.

    Returns
    -------
    tuple of str
        Values of the first plan. Of another method no parameter is told: none is the same thing there.
    """
    if plan.method != reference.method:
        return ("another method",)
    own = [p for p in plan.entry.parameters if not (p.ranks and plan.judge)]
    found = _changed(own, plan.parameters, reference.parameters, names or {})
    judge = plan.judge_entry
    if plan.judge != reference.judge:
        found.append(f"ranked by {judge.label}" if judge else "ranked by its own model")
    elif judge:
        judged = _changed(judge.parameters, plan.judge_parameters, reference.judge_parameters, {})
        found += [f"{judge.label} {text}" for text in judged]
    return (*found, *_protocol(plan, reference))


def only_pins_differ(plan: Plan, reference: Plan) -> bool:
    """Tell whether two plans differ in pinned or banned features alone: what lies between is their effect."""
    if plan.method != reference.method or not set(PINS) & set(plan.parameters):
        return False
    same = {name: reference.parameters[name] for name in PINS if name in plan.parameters}
    bare = plan.changed(parameters={**plan.parameters, **same})
    return plan.parameters != reference.parameters and not differences(bare, reference)


def _changed(
    parameters: Sequence[Parameter], values: Mapping[str, Any], others: Mapping[str, Any], names: Names
) -> list[str]:
    """Return each parameter whose values differ, with the first one."""
    differing = [p for p in parameters if values[p.name] != others[p.name]]
    return [_said(p, values[p.name], others[p.name], names) for p in differing]


def _said(parameter: Parameter, value: Any, other: Any, names: Names) -> str:
    """Return a parameter with its value; of features those that come and those that go, by their names."""
    if parameter.kind is not Kind.FEATURES or parameter.several(value) or parameter.several(other):
        return f"{parameter.label} {parameter.format(value) or parameter.none_label or 'none'}"
    more, less = _missing_from(other, value), _missing_from(value, other)
    parts = [f"{parameter.label} {_named(more, names)}"] if more else []
    parts += [f"not {parameter.label} {_named(less, names)}"] if less else []
    return ", ".join(parts) or f"{parameter.label} in another order"


def _missing_from(some: Iterable[int], all_of_them: Iterable[int]) -> tuple[int, ...]:
    return tuple(i for i in all_of_them if i not in some)


def _named(ids: Iterable[int], names: Names) -> str:
    return ", ".join(names.get(i, f"feature {i}") for i in ids)


def _protocol(plan: Plan, reference: Plan) -> tuple[str, ...]:
    """Return what differs besides method and parameters."""
    by = "the criterion" if plan.select_by == CRITERION else plan.select_by
    scaled = "not scaled" if plan.normalize == "none" else "scaled"
    told = {
        "select_by": f"chosen by {by}",
        "rule": f"take {plan.rule}",
        "normalize": scaled,
        "missing": f"missing values: {plan.missing}",
        "seed": f"seed {plan.seed}",
    }
    return tuple(text for name, text in told.items() if getattr(plan, name) != getattr(reference, name))


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
