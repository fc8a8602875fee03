"""The folds of a run side by side.

There are tables of measures, and paths averaged over the folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from statistics import mean, stdev
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.experiment.plan.left_out_names import plain
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.experiment.results.results import (
    FoldResult,
    PathResult,
    RunResult,
    part_of,
)
from rankstudio.engine.metrics.names import measure

Statistic = Callable[[list[float]], float]
Measures = Mapping[str, float]


@dataclass(frozen=True)
class FoldRow:
    """A row of a table of folds: one fold of a run, or a summary of several.

    Attributes
    ----------
    label : str
        Text of the row's first cell: "1", or "mean" and "sd" below the folds.
    fold : int or None
        Number of the fold; None for mean and deviation.
    values : tuple
        Values, for the fold's selected model, of the parameters with
        several values in the plan, such as λ; empty for mean and
        deviation.
    size : float
        Number of features of the fold's model.
    test, validation : mapping of str to float
        Measures of the model on test and validation part, if the data
        have them.
    single : mapping of str to float
        Measures of the fold's best single feature, on the test part if
        there is one.
    left_out : mapping of str to float
        Measures of the model on left-out training queries, if such
        measures selected the model.
    """

    label: str
    fold: int | None
    values: tuple[Any, ...]
    size: float
    test: Measures
    validation: Measures
    single: Measures
    left_out: Measures = field(default_factory=dict)


@dataclass(frozen=True)
class MeasureRow:
    """A row of a table of folds with one measure of several runs, or its summary.

    Attributes
    ----------
    label, fold
        As in :class:`FoldRow`.
    values : mapping of int to float
        Values of the measure by run number.
    best : float or None
        Best value; see :func:`best_of_several`. None for the deviation.
    """

    label: str
    fold: int | None
    values: Mapping[int, float]
    best: float | None


@dataclass(frozen=True)
class MeasureSummary:
    """Summary of the finished folds of a run.

    Attributes
    ----------
    means, deviations : mapping of str to float
        Mean and standard deviation of each measure over the folds in
        which it is defined; a deviation needs two folds.
    over_single : mapping of str to float
        Difference of each mean from that of the best single features.
    sizes : tuple of int
        Numbers of features of the selected models.
    part : Part
        Part of the data on which the means are measured.
    chosen_on : mapping of str to float
        Mean of each measure on the validation part that chose the
        models: it is too high. Empty without such a part.
    """

    means: Measures = field(default_factory=dict)
    deviations: Measures = field(default_factory=dict)
    over_single: Measures = field(default_factory=dict)
    sizes: tuple[int, ...] = ()
    part: Part = Part.NONE
    chosen_on: Measures = field(default_factory=dict)


def fold_rows(folds: Sequence[FoldResult]) -> list[FoldRow]:
    """Return table rows: each fold with its model and measures, then two summary rows.

    The summary rows have the means and the standard deviations over the
    folds. A single fold has no summary rows.
    """
    rows = [
        FoldRow(
            label=str(fold.fold),
            fold=fold.fold,
            values=fold.chosen.unit.values,
            size=len(fold.selected),
            test=fold.test,
            validation=fold.validation,
            single=_single_feature_measures(fold),
            left_out=plain(fold.left_out),
        )
        for fold in folds
    ]
    if len(rows) < 2:
        return rows
    return [*rows, _summary_row("mean", rows, mean), _summary_row("sd", rows, stdev)]


def measure_rows(runs: Mapping[int, RunResult], name: str) -> list[MeasureRow]:
    """Return table rows: a measure of several runs in each fold, then two summary rows.

    The summary rows have the means and the standard deviations over the
    folds. The runs have the same folds; a single fold has no summary
    rows.

    Parameters
    ----------
    runs : Mapping of int to RunResult
        Runs by number.
    name : str
        Name of a measure that all runs have.
    """
    columns = {
        key: [fold.measured(run.part)[name] for fold in run.folds]
        for key, run in runs.items()
    }
    numbers = [fold.fold for fold in next(iter(runs.values())).folds] if runs else []
    rows = []
    # `best` is the value to mark in a row; the row of deviations has none.
    for index, fold in enumerate(numbers):
        values = {key: column[index] for key, column in columns.items()}
        best = best_of_several(values.values(), name)
        rows.append(MeasureRow(label=str(fold), fold=fold, values=values, best=best))
    if len(rows) < 2:
        return rows
    means = {key: _statistic_or_nan(mean, column) for key, column in columns.items()}
    spreads = {key: _statistic_or_nan(stdev, column) for key, column in columns.items()}
    average = MeasureRow(
        label="mean",
        fold=None,
        values=means,
        best=best_of_several(means.values(), name),
    )
    return [
        *rows,
        average,
        MeasureRow(label="sd", fold=None, values=spreads, best=None),
    ]


def measure_summary(plan: Plan, folds: Sequence[FoldResult]) -> MeasureSummary:
    """Return the means and deviations of the plan's measures over the finished folds.

    Also return the means of the differences from the best single
    feature, and the numbers of features. Only measures that all folds
    have are included.
    """
    # The best part of the data that all folds have measures on.
    part = part_of(folds)
    rows = [(fold.measured(part), _single_feature_measures(fold)) for fold in folds]
    names = [
        name
        for name in plan.measures
        if folds and all(name in measures for measures, _ in rows)
    ]
    values = {name: defined(measures[name] for measures, _ in rows) for name in names}
    # The model minus the best single feature, in each fold.
    over = {
        name: defined(measures[name] - single[name] for measures, single in rows)
        for name in names
    }
    return MeasureSummary(
        means={
            name: float(np.mean(column)) for name, column in values.items() if column
        },
        deviations={
            name: stdev(column) for name, column in values.items() if len(column) > 1
        },
        over_single={
            name: float(np.mean(column)) for name, column in over.items() if column
        },
        # A ranking of the user has no size.
        sizes=tuple(len(fold.selected) for fold in folds if fold.chosen.step.learned),
        part=part,
        chosen_on=_validation_measures(plan, folds),
    )


def _validation_measures(plan: Plan, folds: Sequence[FoldResult]) -> Measures:
    """Return the mean of each measure on the validation part, if all folds have it."""
    values = {
        name: [fold.validation.get(name, nan) for fold in folds]
        for name in plan.measures
    }
    return {
        name: mean(column)
        for name, column in values.items()
        if column and not any(map(isnan, column))
    }


def best_of_several(values: Iterable[float], name: str) -> float | None:
    """Return the best value of a measure; None without two different values."""
    different = set(defined(values))
    best = max if measure(name).higher_is_better else min
    return best(different) if len(different) > 1 else None


def _single_feature_measures(fold: FoldResult) -> Measures:
    """Return the measures of the best single feature."""
    return fold.baseline.test or fold.baseline.validation


def _summary_row(label: str, rows: Sequence[FoldRow], statistic: Statistic) -> FoldRow:
    """Return the row with a statistic, mean or deviation, over the rows of folds."""

    def summary(part: str) -> dict[str, float]:
        """Return the statistic of each measure in one attribute of the rows, such as "test".

        Only measures that all rows have are included. `rows` and
        `statistic` (mean or deviation) are variables of the enclosing
        function.
        """
        measures: list[Measures] = [getattr(row, part) for row in rows]
        names = [
            name
            for name in measures[0]
            if all(name in measured for measured in measures)
        ]
        return {
            name: _statistic_or_nan(
                statistic, [measured[name] for measured in measures]
            )
            for name in names
        }

    return FoldRow(
        label=label,
        fold=None,
        values=(),
        size=statistic([float(row.size) for row in rows]),
        test=summary("test"),
        validation=summary("validation"),
        single=summary("single"),
        left_out=summary("left_out"),
    )


def _statistic_or_nan(statistic: Statistic, values: Sequence[float]) -> float:
    """Return the mean or the deviation of a measure's values in several folds.

    `statistic` computes it; NaN values are left out. The result is NaN
    if too few folds define the measure.
    """
    numbers = defined(values)
    least = 2 if statistic is stdev else 1
    return statistic(numbers) if len(numbers) >= least else nan


def defined(values: Iterable[float]) -> list[float]:
    """Return the values of a measure that are not NaN.

    A measure is NaN where it is undefined, as may be in a test part
    with a single query.
    """
    return [value for value in values if not isnan(value)]


@dataclass(frozen=True, eq=False)
class FoldAverage:
    """A quantity at each of K steps of paths, averaged over several folds.

    Attributes
    ----------
    mean : ndarray of shape (K,)
        Mean over the folds.
    low, high : ndarray of shape (K,)
        One standard deviation over the folds below and above; the mean
        for a single fold.
    """

    mean: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class PathAverage:
    """The paths of one combination of parameters' values, averaged over several folds.

    Attributes
    ----------
    x_values : ndarray of shape (K,)
        Number of features, or round, of each step; K is the length of
        the shortest path.
    criterion : FoldAverage
        Criterion per training document.
    validation : dict of str to FoldAverage
        Average of each validation measure.
    """

    x_values: Ints
    criterion: FoldAverage
    validation: dict[str, FoldAverage]


def average_paths(paths: Sequence[PathResult]) -> PathAverage:
    """Return the means over the folds of one combination's paths, step by step.

    A combination is one value of each parameter; a path has its models
    on a fold. The means are those of the validation measures, and of
    the criterion that the method optimises.

    Parameters
    ----------
    paths : sequence of PathResult
        The path of each fold, at least one; the shortest one decides
        how many steps are averaged.
    """
    length = min(len(path.steps) for path in paths)
    names = [
        name
        for name in paths[0].validation
        if all(name in path.validation for path in paths)
    ]
    validation = {
        name: _fold_average([path.validation[name][:length] for path in paths])
        for name in names
    }
    return PathAverage(
        x_values=paths[0].x_values[:length],
        criterion=_fold_average([path.criterion[:length] for path in paths]),
        validation=validation,
    )


def _fold_average(rows: Sequence[Floats]) -> FoldAverage:
    """Return the mean of rows, one per fold, minus and plus the deviation."""
    values = np.array(rows)
    mean = values.mean(axis=0)
    spread = values.std(axis=0, ddof=1) if len(rows) > 1 else np.zeros_like(mean)
    return FoldAverage(mean, low=mean - spread, high=mean + spread)
