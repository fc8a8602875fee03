"""Figures of several runs: curves over each other, the Pareto front, and differences with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan

from rankstudio.engine.analysis.figures.captions import values_label
from rankstudio.engine.analysis.pareto import ParetoFront
from rankstudio.engine.analysis.run_curves import By, RunCurve
from rankstudio.engine.analysis.significance import ComparedRun
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    FigureAxis,
    Kind,
    Mark,
    RowSeries,
    RowsFigure,
    Series,
)
from rankstudio.engine.language import tr

Named = tuple[int, str]
"""A run by its number and what it is called."""


def over(by: By) -> FigureAxis:
    """Return what curves of runs are drawn over."""
    if by == "size":
        return FigureAxis(tr("features of the model, k"), whole=True)
    return FigureAxis(tr("cost of the features")) if by == "cost" else FigureAxis(tr("run time"), "s")


def run_label(number: int, called: str) -> str:
    """Return how a figure calls a run."""
    return tr("run {number}, {called}").format(number=number, called=called)


def run_curves_figure(
    data: str,
    runs: Sequence[Named],
    found: Sequence[RunCurve | None],
    reference: int,
    name: str,
    by: By = "size",
) -> CurvesFigure | None:
    """Return the validation curves of runs over each other, with bands where they are paired.

    Parameters
    ----------
    data : str
        Name of the dataset.
    runs : sequence of (int, str)
    found : sequence of RunCurve or None
        One a run.
    reference : int
        Number of the run that the others are held against.
    name : str
        Of the measure.
    by : {"size", "cost", "seconds"}
    """
    series = []
    for (number, called), one in zip(runs, found, strict=True):
        if one is None:
            continue
        x, mean, half = (tuple(map(float, values)) for values in (one.x, one.mean, one.half))
        banded = any(map(isfinite, half))
        low = tuple(m - h for m, h in zip(mean, half, strict=True)) if banded else ()
        high = tuple(m + h for m, h in zip(mean, half, strict=True)) if banded else ()
        kind: Kind = "points" if by == "seconds" else "line"
        series.append(Series(run_label(number, called), x, mean, low, high, kind, number - 1))
    if not series:
        return None
    banded = any(one.low for one in series)
    bands = tr(
        "Bands: half the 95 % interval of the difference to run {number} in each direction, "
        "paired over queries."
    ).format(number=reference)
    said = tr(
        "{data}: {name} on the validation part by {over}, mean over folds, with the best "
        "parameters at each point."
    ).format(data=data, name=name, over=over(by).title)
    band = tr("band: paired 95 % interval to run {number}").format(number=reference)
    return CurvesFigure(
        "curves",
        tr("{data}: validation {name} of the runs").format(data=data, name=name),
        f"{said} {bands}" if banded else said,
        over(by),
        FigureAxis(tr("validation {name}").format(name=name)),
        tuple(series),
        bands=band if banded else "",
    )


def pareto_figure(
    data: str, runs: Sequence[tuple[int, str, Plan]], found: ParetoFront, name: str
) -> CurvesFigure:
    """Return sizes against a validation measure, with the models that no other beats.

    Parameters
    ----------
    data : str
        Name of the dataset.
    runs : sequence of (int, str, Plan)
        In the order in which the models count them.
    found : ParetoFront
    name : str
        Of the measure.
    """
    front = [found.models[i] for i in found.optimal]
    series = [
        Series(
            tr("models on the Pareto front"),
            tuple(model.size for model in front),
            tuple(model.mean for model in front),
            kind="steps",
            number=6,
        )
    ]
    for at, (number, called, _) in enumerate(runs):
        models = [model for model in found.models if model.run == at]
        if models:
            x, y = tuple(m.size for m in models), tuple(m.mean for m in models)
            series.append(Series(run_label(number, called), x, y, kind="points", number=number - 1))
    best, enough = found.models[found.best], found.models[found.suggested]

    def said(model_name: str, position: int) -> str:
        model = found.models[position]
        values = values_label(runs[model.run][2], model.values)
        return ", ".join(filter(None, [f"{model_name}: k = {model.size:g}", values]))

    marks = [Mark(said(tr("best"), found.best), best.size, best.mean)]
    rule = tr("not significantly worse than the best") if found.paired else tr("within one standard error")
    caption = tr(
        "{data}: number of features against mean {name} on the validation part, for the best "
        "combination of each size and run. The line joins the Pareto-optimal models. Marked: "
        "the best model and the smallest one that is {rule}."
    )
    if found.suggested != found.best:
        short = (
            tr("smallest not significantly worse")
            if found.paired
            else tr("smallest within one standard error")
        )
        marks.append(Mark(said(short, found.suggested), enough.size, enough.mean))
    return CurvesFigure(
        "front",
        tr("{data}: size against validation {name}").format(data=data, name=name),
        caption.format(data=data, name=name, rule=rule),
        over("size"),
        FigureAxis(tr("validation {name}").format(name=name)),
        tuple(series),
        marks=tuple(marks),
    )


def differences_figure(
    data: str, reference: Named, tested: Sequence[ComparedRun], called: dict[int, str], name: str, part: str
) -> RowsFigure | None:
    """Return the differences of runs to one of them, with their intervals; None without any."""
    rows = [
        (row.key, row.found)
        for row in tested
        if row.found is not None and not isnan(row.found.mean_difference)
    ]
    if not rows:
        return None
    difference = tr("difference in {name} to run {number}").format(name=name, number=reference[0])
    said = tr(
        "{data}: mean difference in {name} on the {part} part to {run}, with its 95 % interval over the "
        "queries."
    ).format(data=data, name=name, part=part, run=run_label(*reference))
    means, lows, highs = (
        tuple(float(getattr(t, what)) for _, t in rows) for what in ("mean_difference", "low", "high")
    )
    return RowsFigure(
        "differences",
        f"{data}: {difference}",
        said,
        FigureAxis(difference),
        tuple(run_label(key, called[key]) for key, _ in rows),
        (RowSeries("", means, lows, highs),),
        zero=True,
        row_title=tr("run"),
        numbers=tuple(key - 1 for key, _ in rows),
    )
