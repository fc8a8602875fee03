"""Runs side by side as papers print them: a row a fold, a column a run, one measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import mean, stdev

from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.metrics.names import measure
from rankstudio.ui.results.fold_rows import of_defined
from rankstudio.ui.widgets import Column


@dataclass(frozen=True)
class SideRow:
    """One fold, or what all have in common.

    Attributes
    ----------
    label : str
        "1", or "mean" and "sd" below the folds.
    fold : int or None
        Its number; None for mean and deviation.
    values : Mapping of int to float
        The measure by the number of the run.
    best : float or None
        The best of them, where they are several and not all equal; None for the deviation.
    """

    label: str
    fold: int | None
    values: Mapping[int, float]
    best: float | None


def side_rows(runs: Mapping[int, RunResult], name: str) -> list[SideRow]:
    """Return a row for each fold of runs on the same folds, then mean and deviation.

    Parameters
    ----------
    runs : Mapping of int to RunResult
        By their numbers.
    name : str
        Of a measure that all of them have.
    """
    if not runs:
        return []
    columns = {key: [(fold.test or fold.validation)[name] for fold in run.folds] for key, run in runs.items()}
    best = max if measure(name).higher_is_better else min
    rows = []
    for place, fold in enumerate(next(iter(runs.values())).folds):
        values = {key: column[place] for key, column in columns.items()}
        rows.append(SideRow(str(fold.fold), fold.fold, values, _best(values, best)))
    if len(rows) < 2:
        return rows
    means = {key: of_defined(mean, column) for key, column in columns.items()}
    spreads = {key: of_defined(stdev, column) for key, column in columns.items()}
    return [*rows, SideRow("mean", None, means, _best(means, best)), SideRow("sd", None, spreads, None)]


def side_columns(runs: Mapping[int, RunResult], name: str) -> list[Column]:
    """Return the columns: the fold, and one for each run."""
    columns = [Column("label", "fold", sort=lambda row: row.fold, bold=_is_mean, width=64)]
    for key, run in runs.items():
        columns.append(
            Column(
                f"run-{key}",
                f"{key} {run.plan.title}",
                "right",
                ".4f",
                value=_value_of(key),
                sort=_order_of(key),
                tooltip=f"{name} of run {key}, {run.plan.title}; bold: the best of a row",
                tone=lambda row: "muted" if row.label == "sd" else "text",
                bold=_is_best(key),
            )
        )
    columns.append(Column("rest", "", value=lambda row: "", stretch=True, kind="dot"))
    return columns


def _best(values: Mapping[int, float], best: Callable[..., float]) -> float | None:
    there = [value for value in values.values() if value == value]  # noqa: PLR0124 - not NaN
    return best(there) if len(set(there)) > 1 else None


def _value_of(key: int) -> Callable[[SideRow], float]:
    return lambda row: row.values[key]


def _order_of(key: int) -> Callable[[SideRow], float | None]:
    return lambda row: row.values[key] if row.fold else None


def _is_best(key: int) -> Callable[[SideRow], bool]:
    return lambda row: row.values[key] == row.best


def _is_mean(row: SideRow) -> bool:
    return row.label == "mean"
