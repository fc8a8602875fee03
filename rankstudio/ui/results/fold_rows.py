"""The folds of a run as rows of a table, with their mean and deviation below, as papers print them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from statistics import mean, stdev
from typing import Any

from rankstudio.engine.experiment.results.results import FoldResult


@dataclass(frozen=True)
class FoldRow:
    """One fold, or what several have in common.

    Attributes
    ----------
    label : str
        "1", or "mean" and "sd" below the folds.
    fold : int or None
        Its number; None for mean and deviation.
    values : tuple
        What its model has on the plan's axes: λ; empty for mean and deviation.
    size : float
        Features of its model.
    test, validation : mapping of str to float
        The model's measures on either part, where the data have it.
    single : mapping of str to float
        The measures of the fold's best single feature, on the test part where there is one.
    """

    label: str
    fold: int | None
    values: tuple[Any, ...]
    size: float
    test: Mapping[str, float] = field(default_factory=dict)
    validation: Mapping[str, float] = field(default_factory=dict)
    single: Mapping[str, float] = field(default_factory=dict)


def fold_rows(folds: Sequence[FoldResult]) -> list[FoldRow]:
    """Return a row for each fold, then the mean, and the deviation where there are two folds."""
    rows = [
        FoldRow(
            str(fold.fold),
            fold.fold,
            fold.chosen.unit.values,
            len(fold.selected),
            fold.test,
            fold.validation,
            fold.baseline.test or fold.baseline.validation,
        )
        for fold in folds
    ]
    if len(rows) < 2:
        return rows
    return [*rows, _summary("mean", rows, mean), _summary("sd", rows, stdev)]


def _summary(label: str, rows: Sequence[FoldRow], of: Callable[[list[float]], float]) -> FoldRow:
    def column(get: Callable[[FoldRow], Mapping[str, float]]) -> dict[str, float]:
        names = [name for name in get(rows[0]) if all(name in get(row) for row in rows)]
        return {name: of_defined(of, [get(row)[name] for row in rows]) for name in names}

    sizes = of([float(row.size) for row in rows])
    parts = (column(lambda r: r.test), column(lambda r: r.validation), column(lambda r: r.single))
    return FoldRow(label, None, (), sizes, *parts)


def of_defined(of: Callable[[list[float]], float], values: Sequence[float]) -> float:
    """Return the mean or the deviation of the folds in which a measure is defined; NaN where too few are."""
    there = [value for value in values if not isnan(value)]
    return of(there) if len(there) > 1 else (there[0] if there and of is mean else float("nan"))
