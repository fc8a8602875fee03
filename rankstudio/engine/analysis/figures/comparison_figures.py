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

OVER: dict[By, FigureAxis] = {
    "size": FigureAxis("features of the model, k", whole=True),
    "cost": FigureAxis("cost of the features"),
    "seconds": FigureAxis("time of the run", "s"),
}
"""What curves of runs are drawn over."""

Named = tuple[int, str]
"""A run by its number and what it is called."""


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
        series.append(Series(f"run {number}, {called}", x, mean, low, high, kind, number - 1))
    if not series:
        return None
    banded = any(one.low for one in series)
    bands = (
        f" Bands: half the 95 % interval of the difference to run {reference} up and down, paired over the "
        "queries."
    )
    said = OVER[by].title
    return CurvesFigure(
        "curves",
        f"{data}: validation {name} of the runs",
        f"{data}: {name} on the validation part by {said}, mean over the folds, with the parameters that are "
        f"best there.{bands if banded else ''}",
        OVER[by],
        FigureAxis(f"validation {name}"),
        tuple(series),
        bands=f"band: paired 95 % interval to run {reference}" if banded else "",
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
            "models that no other beats",
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
            series.append(Series(f"run {number}, {called}", x, y, kind="points", number=number - 1))
    best, enough = found.models[found.best], found.models[found.suggested]

    def said(model_name: str, position: int) -> str:
        model = found.models[position]
        values = values_label(runs[model.run][2], model.values)
        return ", ".join(filter(None, [f"{model_name}: k = {model.size:g}", values]))

    marks = [Mark(said("best", found.best), best.size, best.mean)]
    rule = "not told apart from the best by the queries" if found.paired else "within one standard error"
    if found.suggested != found.best:
        short = "smallest not told apart" if found.paired else "smallest within one standard error"
        marks.append(Mark(said(short, found.suggested), enough.size, enough.mean))
    return CurvesFigure(
        "front",
        f"{data}: size against validation {name}",
        f"{data}: number of features against mean {name} on the validation part, of the best combination of "
        f"every size of every run; the line joins the models that no other beats. Marked: the best one, and "
        f"the smallest one that is {rule}.",
        OVER["size"],
        FigureAxis(f"validation {name}"),
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
    against = f"run {reference[0]}, {reference[1]}"
    means, lows, highs = (
        tuple(float(getattr(t, what)) for _, t in rows) for what in ("mean_difference", "low", "high")
    )
    return RowsFigure(
        "differences",
        f"{data}: difference in {name} to run {reference[0]}",
        f"{data}: mean difference in {name} on the {part} part to {against}, with its 95 % interval over the "
        "queries.",
        FigureAxis(f"difference in {name} to run {reference[0]}"),
        tuple(f"run {key}, {called[key]}" for key, _ in rows),
        (RowSeries("", means, lows, highs),),
        zero=True,
        row_title="run",
        numbers=tuple(key - 1 for key, _ in rows),
    )
