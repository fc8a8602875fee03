"""Plots of the window as figures: the values that they show, with the names of all of it."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from typing import TYPE_CHECKING

from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    FigureAxis,
    Level,
    MapFigure,
    Mark,
    RowSeries,
    RowsFigure,
    Series,
)
from rankstudio.ui.language import tr

if TYPE_CHECKING:
    from rankstudio.ui.plots.bars import BarsPlot
    from rankstudio.ui.plots.curves.curves_plot import CurvesPlot
    from rankstudio.ui.plots.curves.overlay_plot import OverlayPlot
    from rankstudio.ui.plots.density import DensityPlot
    from rankstudio.ui.plots.histogram import HistogramPlot
    from rankstudio.ui.plots.maps.feature_map import FeatureMapPlot
    from rankstudio.ui.plots.maps.heat_map import HeatMapPlot
    from rankstudio.ui.plots.pareto import ParetoPlot

MOST_ROWS = 40
"""Names below each other in a figure."""

_MOST_BARS = 20
_NAME = "figure"  # of a file, unless another one is given
_NEUTRAL = 6  # the look of what is no category


def floats(values: Iterable[float]) -> tuple[float, ...]:
    """Return numbers as plain ones."""
    return tuple(map(float, values))


def curves_figure(plot: CurvesPlot) -> CurvesFigure:
    """Return a family of curves with band, reference and choice."""
    family, axes = plot.family, plot.axes
    keys = [key for key in family.keys if family[key].xs]
    every = [key for key in family.keys if not family[key].beside]
    last = max(len(every) - 1, 1)
    series = [
        Series(
            family[key].label,
            floats(family[key].xs),
            floats(family[key].ys),
            number=every.index(key),
            order=every.index(key) / last if family.kind == "ordered" else None,
        )
        for key in keys
        if key in every
    ]
    series += [
        Series(family[key].label, floats(family[key].xs), floats(family[key].ys), number=_NEUTRAL)
        for key in keys
        if key not in every
    ]
    if plot.band is not None:
        band = plot.band
        ends = floats(band.low), floats(band.high)
        series.append(Series(band.name, floats(band.xs), floats(band.mean), *ends, number=_NEUTRAL))
    levels = () if plot.reference is None else (Level(plot.reference[1], plot.reference[0]),)
    return CurvesFigure(
        _NAME,
        axes.title,
        "",
        FigureAxis(axes.x_label or _step_title(plot.x_name), whole=axes.integer_x),
        FigureAxis(axes.title, logarithmic=axes.log_y),
        tuple(series),
        levels,
        _choice(plot),
    )


def _step_title(name: str) -> str:
    """Return what steps are, from what they are called in the box with values."""
    return tr("features selected, k") if name == "k" else name


def _choice(plot: CurvesPlot) -> tuple[Mark, ...]:
    if plot.choice is None or plot.choice[0] not in plot.family:
        return ()
    key, x = plot.choice
    curve = plot.family[key]
    y = curve.value_at(x)
    label = ", ".join(part for part in (curve.label, f"{plot.x_name} = {x:g}") if part)
    return () if isnan(y) else (Mark(tr("chosen: {label}").format(label=label), float(x), float(y)),)


def overlay_figure(plot: OverlayPlot) -> CurvesFigure:
    """Return curves of runs over each other, with their bands."""
    series = []
    for one in plot.curves:
        y, half = floats(one.y), floats(one.half)
        banded = not all(map(isnan, half))
        low = tuple(a - h for a, h in zip(y, half, strict=True)) if banded else ()
        high = tuple(a + h for a, h in zip(y, half, strict=True)) if banded else ()
        kind = "line" if len(y) > 1 else "points"
        series.append(Series(one.label, floats(one.x), y, low, high, kind, one.key - 1))  # type: ignore[arg-type]
    x = FigureAxis(plot.axes.x_label, whole=plot.axes.integer_x)
    reference = next((one.key for one in plot.curves if one.reference), None)
    banded = reference is not None and any(one.low for one in series)
    bands = tr("band: paired 95 % interval to run {number}").format(number=reference) if banded else ""
    return CurvesFigure(
        _NAME, plot.axes.title, "", x, FigureAxis(plot.axes.title), tuple(series), bands=bands
    )


def bars_figure(plot: BarsPlot) -> RowsFigure:
    """Return the candidates of a step, the best first."""
    bars = plot.bars[:_MOST_BARS]
    more = tr(", the first {n} of {of}").format(n=len(bars), of=len(plot.bars))
    taken = frozenset(at for at, bar in enumerate(bars) if bar.id == plot.winner)
    return RowsFigure(
        _NAME,
        plot.axes.title + (more if len(plot.bars) > len(bars) else ""),
        "",
        FigureAxis(plot.axes.title),
        tuple(f"{bar.name} ({bar.id})" if str(bar.id) not in bar.name else bar.name for bar in bars),
        (RowSeries("", tuple(bar.value for bar in bars)),),
        bars=True,
        strong=taken,
        strong_label=tr("taken") if taken else "",
        row_title=tr("feature"),
    )


def heat_figure(plot: HeatMapPlot) -> MapFigure:
    """Return a map of two grids, its rows from the top."""
    low, high = plot.color_range()
    n = len(plot.row_labels)
    texts = plot.bar_texts()
    told = {tr("chosen"): plot.chosen, tr("best"): plot.best}
    marks = {label: (n - 1 - cell[0], cell[1]) for label, cell in told.items() if cell is not None}
    return MapFigure(
        _NAME,
        plot.axes.title,
        "",
        plot.row_labels[::-1],
        plot.column_labels,
        tuple(floats(row) for row in plot.values[::-1]),
        plot.row_name(),
        plot.axes.x_label or plot.names[1],
        FigureAxis(plot.axes.title, low=low, high=high),
        plot.decimals,
        plot.written,
        marked=tuple(dict.fromkeys(marks.values())),
        mark_label=", ".join(marks),
        ends=(((low + high) / 2, texts[1]),) if texts and not texts[0] else (),
    )


def pareto_figure(plot: ParetoPlot) -> CurvesFigure:
    """Return models by size and worth, with those that nothing beats."""
    spots, marks = plot.spots, plot.marks
    series = []
    if marks is not None:
        front = [spots[i] for i in marks.front]
        points = tuple(s.x for s in front), tuple(s.y for s in front)
        series.append(Series(tr("models that no other beats"), *points, kind="steps", number=_NEUTRAL))
    for category in dict.fromkeys(spot.category for spot in spots):
        own = [spot for spot in spots if spot.category == category]
        points = tuple(s.x for s in own), tuple(s.y for s in own)
        series.append(Series(own[0].title, *points, kind="points", number=category))
    rings = []
    if marks is not None:
        told = {marks.suggested: tr(marks.rule), marks.best: tr("best")}
        rings = [Mark(f"{said}: {spots[i].note}", spots[i].x, spots[i].y) for i, said in told.items()]
    axes = plot.axes
    x = FigureAxis(axes.x_label, whole=axes.integer_x)
    return CurvesFigure(_NAME, axes.title, "", x, FigureAxis(axes.title), tuple(series), marks=tuple(rings))


def density_figure(plot: DensityPlot) -> CurvesFigure:
    """Return densities by class; of a class with zeros the name says how many."""
    series = []
    for at, one in enumerate(plot.densities):
        zeros = "" if isnan(one.zeros) else tr(" ({zeros:.0f} % are 0)").format(zeros=100 * one.zeros)
        series.append(Series(one.label + zeros, floats(one.xs), floats(one.ys), kind="area", number=at))
    title = plot.subject or plot.accessibleName()
    x = FigureAxis(tr("value of {feature}").format(feature=plot.subject) if plot.subject else tr("value"))
    return CurvesFigure(_NAME, title, "", x, FigureAxis(tr("density")), tuple(series))


def histogram_figure(plot: HistogramPlot) -> CurvesFigure:
    """Return how often numbers occur, a bar a bin."""
    half = (plot.width_of_bins - 1) / 2
    x, y = tuple(float(start) + half for start in plot.starts), floats(plot.counts)
    axes = FigureAxis(plot.axes.x_label, whole=True), FigureAxis(plot.axes.title, whole=True, low=0.0)
    return CurvesFigure(_NAME, plot.axes.title, "", *axes, (Series("", x, y, kind="bars"),))


def feature_map_figure(plot: FeatureMapPlot) -> MapFigure:
    """Return features against something else; those of the model bear their rank."""
    shown, features = plot.shown, plot.features
    if shown is None:
        return heat_figure(plot)
    names = [_ranked(f.name, f.feature_id, f.rank) for f in features]
    columns = [tick or column for tick, column in zip(shown.ticks, shown.columns, strict=True)]
    if shown.square:
        columns = [str(feature.feature_id) for feature in features]
    elif not any(shown.ticks):
        columns = list(shown.columns)
    return MapFigure(
        _NAME,
        shown.title,
        "",
        tuple(names),
        tuple(columns),
        tuple(floats(row) for row in shown.values),
        "",
        shown.x_label,
        FigureAxis(shown.title, low=shown.limits[0], high=shown.limits[1]),
        ends=shown.bar,
        groups=tuple((group.label, group.size) for group in shown.groups),
        named=shown.columns,
        short_rows=tuple(str(feature.feature_id) for feature in features),
        short_title=tr("id of the feature"),
    )


def _ranked(name: str, feature_id: int, rank: int) -> str:
    called = f"{name} ({feature_id})"
    return f"{rank}. {called}" if rank else called
