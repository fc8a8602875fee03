"""A run as a row of the Runs table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from statistics import stdev

from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.results.results import FoldResult
from rankstudio.engine.metrics.conventions import convention


@dataclass(frozen=True)
class RunRow:
    """One run.

    Attributes
    ----------
    key : int
        Its number; also what colour and marker it has in plots that compare runs.
    method, data : str
        "Greedy RankRLS" and "MQ2008 · 5 folds".
    state : str
        "queued", "running", "paused", "unfinished", "done", "cancelled" or "failed".
    progress : float
        Share of the work that is done, from 0 to 1.
    seconds_left : float or None
        How long it will take still; None where that is not known.
    message : str
        Why it failed, as a sentence, or what else there is to say about its state.
    parameters : mapping of str to str
        Label and value of each parameter, as the user would type them.
    select_by : str
        The measure that chose, or "criterion".
    means, deviations : mapping of str to float
        Of each measure over the folds that are done; a deviation only where there are two.
    over_single : mapping of str to float
        How much each mean is above that of the best single features.
    sizes : tuple of int
        Numbers of features of the chosen models.
    part : str
        What the means are over: "test", or "validation" for data without a test part.
    convention : str
        Label of the convention that the measures follow.
    can_go_on : bool
        Whether it was left unfinished and can go on.
    """

    key: int
    method: str
    data: str
    state: str = "queued"
    progress: float = 0.0
    seconds_left: float | None = None
    message: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    select_by: str = "MAP"
    means: Mapping[str, float] = field(default_factory=dict)
    deviations: Mapping[str, float] = field(default_factory=dict)
    over_single: Mapping[str, float] = field(default_factory=dict)
    sizes: tuple[int, ...] = ()
    part: str = "test"
    convention: str = ""
    can_go_on: bool = False


def run_row(
    key: int,
    plan: Plan,
    data_name: str,
    folds: Sequence[FoldResult],
    n_folds: int,
    state: str,
    progress: float = 0.0,
    seconds_left: float | None = None,
    message: str = "",
    can_go_on: bool = False,
) -> RunRow:
    """Return the row of a run.

    Parameters
    ----------
    key : int
    plan : Plan
    data_name : str
    folds : sequence of FoldResult
        Those that are done.
    n_folds : int
        How many the run has.
    state : str
        See `RunRow`.
    progress, seconds_left, message, can_go_on
        See `RunRow`.
    """
    columns = [fold.test or fold.validation for fold in folds]
    names = [name for name in plan.measures if all(name in column for column in columns)] if columns else []
    values = {name: _defined([column[name] for column in columns]) for name in names}
    singles = [fold.baseline.test or fold.baseline.validation for fold in folds]
    pairs = list(zip(columns, singles, strict=True))
    over = {name: _defined([column[name] - single[name] for column, single in pairs]) for name in names}
    return RunRow(
        key=key,
        method=plan.title,
        data=f"{data_name} · {_folds(plan, len(folds), n_folds, state)}",
        state=state,
        progress=progress,
        seconds_left=seconds_left,
        message=message,
        parameters=_parameters(plan),
        select_by=plan.select_by,
        means={name: sum(column) / len(column) for name, column in values.items() if column},
        deviations={name: stdev(column) for name, column in values.items() if len(column) > 1},
        over_single={name: sum(column) / len(column) for name, column in over.items() if column},
        sizes=tuple(len(fold.selected) for fold in folds),
        part="test" if all(fold.test for fold in folds) else "validation",
        convention=convention(plan.convention).label,
        can_go_on=can_go_on,
    )


def _defined(values: Sequence[float]) -> list[float]:
    """Leave out the folds in which a measure is not defined: in a test part of one query it may not be."""
    return [value for value in values if not isnan(value)]


def _parameters(plan: Plan) -> dict[str, str]:
    """Return label and value of each parameter that counts, the ranker's with its name before them."""
    ranker = plan.ranker_entry
    named = [(p.label, p, plan.parameters[p.name]) for p in plan.entry.parameters if not (ranker and p.ranks)]
    if ranker:
        named += [(f"{ranker.label} {p.label}", p, plan.ranker_parameters[p.name]) for p in ranker.parameters]
    values = {label: p.format(value) or p.none_label or "none" for label, p, value in named}
    return values | ({"rule": plan.rule} if plan.rule != "best" else {})


def _folds(plan: Plan, done: int, n_folds: int, state: str) -> str:
    if n_folds == 1:
        return f"fold {plan.folds[0]}" if plan.folds else "1 fold"
    stopped = state in ("unfinished", "cancelled", "failed") and done < n_folds
    return f"{done} of {n_folds} folds" if stopped else f"{n_folds} folds"


def size_text(sizes: Sequence[int]) -> str:
    """Return the range of the chosen sizes: "1–7", "46", "" for none."""
    if not sizes:
        return ""
    low, high = min(sizes), max(sizes)
    return str(low) if low == high else f"{low}–{high}"


def time_text(seconds: float | None) -> str:
    """Return a time as it is said of a run: "0:12 left", "1:02:03 left", "" where it is not known."""
    if seconds is None:
        return ""
    whole = max(0, round(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} left" if hours else f"{minutes}:{rest:02} left"


def differing(rows: Sequence[RunRow]) -> dict[int, str]:
    """Return for each run the parameters in which the runs of one method differ: "λ 1, 2 · features k 5".

    Parameters that are the same in all of them say nothing and are left out; so is the convention of the
    measures where all runs have the same.
    """
    texts: dict[int, str] = {}
    for row in rows:
        kin = [other for other in rows if other.method == row.method]
        parts = [
            f"{label} {value}"
            for label, value in row.parameters.items()
            if any(other.parameters.get(label) != value for other in kin)
        ]
        if len({other.select_by for other in kin}) > 1:
            chosen = "the criterion" if row.select_by == CRITERION else row.select_by
            parts.append(f"by {chosen}")
        if len({other.convention for other in rows}) > 1:
            parts.append(row.convention)
        texts[row.key] = " · ".join(parts)
    return texts
