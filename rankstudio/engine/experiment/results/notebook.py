"""Results as a notebook shows them: a table, and curves drawn by matplotlib."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.plan.left_out_names import is_left_out
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.support.escaping import html_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from rankstudio.engine.experiment.results.results import PathResult, RunResult

_DIGITS = 4
_POWER = re.compile(r"2\^(-?\d+)")

Color = tuple[float, ...]


def run_html(run: RunResult) -> str:
    """Return a run as HTML: what it is, a row for each fold, and means below."""
    frame = run.to_frame()
    plan = run.plan
    what = f"{plan.title} on {run.data_name}, chosen by {plan.select_by}, {convention(plan.convention).label}"
    foot = "" if run.complete else ", not finished"
    part = "test" if any(fold.test for fold in run.folds) else "validation"
    means = ", ".join(f"{name} {value:.{_DIGITS}f}" for name, value in run.average.items())
    return f"<p>{html_text(what + foot)}</p>{_table(frame)}<p>Mean of the {part} part: {html_text(means)}</p>"


def path_html(path: PathResult) -> str:
    """Return a path as HTML: a row for each step."""
    return _table(path.to_frame())


def plot_run(run: RunResult, name: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the curves of a run, see :meth:`RunResult.plot`."""
    paths = [path for fold in run.folds for path in fold.paths]
    name = _validated(paths, name or run.plan.select_by, asked=name is not None)
    ax = _new_axes() if ax is None else ax
    colors = _colors(len(run.plan.combinations))
    for color, combination in zip(colors, zip(*(fold.paths for fold in run.folds), strict=True), strict=True):
        x, y = _mean_curve(combination, name)
        values = zip(run.plan.axes, combination[0].unit.values, strict=True)
        label = ", ".join(f"{axis.label} = {axis.format(value)}" for axis, value in values)
        _draw(ax, x, y, _POWER.sub(r"$2^{\1}$", label), color)
    over = f", mean over {len(run.folds)} folds" if len(run.folds) > 1 else ""
    _label(ax, paths, name, f"{run.data_name}: {run.plan.title}{over}")
    if len(run.plan.combinations) > 1:
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def plot_path(path: PathResult, name: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the curve of one path, see :meth:`RunResult.plot`."""
    measured = _validated([path], name or next(iter(path.validation), ""), asked=name is not None)
    ax = _new_axes() if ax is None else ax
    _draw(ax, *_mean_curve((path,), measured), "", _colors(1)[0])
    _label(ax, [path], measured, f"Fold {path.unit.fold}")
    return ax


def _draw(ax: Axes, x: Ints, y: Floats, label: str, color: Color) -> None:
    ax.plot(x, y, marker="o" if x.size == 1 else "", label=label, color=color)


def _colors(n: int) -> list[Color]:
    """Return colours from dark to light, as the values of a grid ascend."""
    import matplotlib as mpl  # noqa: PLC0415 - takes long, and runs need it not

    return [mpl.colormaps["viridis"](place)[:3] for place in np.linspace(0.0, 0.9, n)]


def _mean_curve(paths: tuple[PathResult, ...], name: str) -> tuple[Ints, Floats]:
    """Return where the steps stand that all paths have, and their mean; of iterations only the last."""
    if paths[0].step_kind is StepKind.ITERATIONS:
        last = [_curve(path, name)[-1] for path in paths]
        return paths[0].x_values[-1:], np.array([np.mean(last)])
    shared = min(len(path.steps) for path in paths)
    rows = np.array([_curve(path, name)[:shared] for path in paths])
    there = np.sum(~np.isnan(rows), axis=0)
    means: Floats = np.divide(np.nansum(rows, axis=0), there, out=np.full(shared, np.nan), where=there > 0)
    return paths[0].x_values[:shared], means


def _curve(path: PathResult, name: str) -> Floats:
    return path.validation[name] if name else path.criterion


def _validated(paths: list[PathResult], name: str, *, asked: bool) -> str:
    """Return the measure to draw; "" for the criterion, where nothing was validated and nobody asked."""
    known = [set(path.validation) for path in paths]
    shared = sorted(set.intersection(*known)) if known else []
    if name in shared:
        return name
    if asked:
        raise ParameterError(
            "name", name, f"one of {', '.join(shared)}" if shared else "none without validation"
        )
    return shared[0] if shared else ""


def _label(ax: Axes, paths: list[PathResult], name: str, title: str) -> None:
    features = not paths or paths[0].step_kind is StepKind.FEATURES
    ax.set_xlabel("features" if features else "step")
    ax.set_ylabel((name if is_left_out(name) else f"validation {name}") if name else "criterion")
    ax.set_title(title)


def _new_axes() -> Axes:
    from matplotlib import pyplot as plt  # noqa: PLC0415 - as above

    return plt.subplots(layout="constrained")[1]


def _table(frame: pd.DataFrame) -> str:
    """Return a frame as HTML with rounded numbers; names in it are text."""
    return frame.to_html(border=0, float_format=lambda value: f"{value:.{_DIGITS}f}", na_rep="")
