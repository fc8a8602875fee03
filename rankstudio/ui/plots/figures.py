"""The curves of a finished run as PNG files, drawn without a window: what the terminal takes home."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from PySide6.QtCore import QSizeF
from PySide6.QtWidgets import QApplication

from rankstudio.engine.analysis.fold_average import average_paths
from rankstudio.engine.experiment.results.results import PathResult, RunResult
from rankstudio.ui.language import tr
from rankstudio.ui.plots.curves.curves_plot import CurvesPlot
from rankstudio.ui.plots.export import export_plot
from rankstudio.ui.style.theme import Theme

_SIZE = QSizeF(640, 400)


def write_figures(result: RunResult, folder: Path) -> list[Path]:
    """Draw the criterion and the validation measures over k, averaged over the folds: a curve a combination.

    These are Figures 3 and 4 of the greedy RankRLS paper where that is what was run.

    Parameters
    ----------
    result : RunResult
        With at least one fold.
    folder : Path
        Where the PNG files go.

    Returns
    -------
    list of Path
        What was written; nothing for a method without steps to draw.

    Raises
    ------
    OutputError
        Where a file cannot be written.
    """
    if max(len(path.steps) for fold in result.folds for path in fold.paths) < 2:
        return []
    app = _application()
    theme = Theme("light")
    theme.apply(app)
    # Folds of one plan try the same combinations in the same order.
    by_combination = list(zip(*(fold.paths for fold in result.folds), strict=True))
    written = []
    for name in ("criterion", *by_combination[0][0].validation):
        plot = _plot(theme, result, by_combination, name)
        written.append(folder / f"{_file_name(name)}.png")
        export_plot(plot, written[-1], size=_SIZE)
        plot.deleteLater()
    return written


def _plot(
    theme: Theme, result: RunResult, by_combination: Sequence[tuple[PathResult, ...]], name: str
) -> CurvesPlot:
    """Return the plot of a measure, or of the criterion, with one curve a combination."""
    title = tr(result.plan.criterion) if name == "criterion" else tr("validation {name}").format(name=name)
    labels = [_label(result, paths[0]) for paths in by_combination]
    plot = CurvesPlot(theme, f"{title}{_explanation(result, labels)}")
    plot.set_axes(replace(plot.axes, x_label=tr(result.plan.step_kind.value)))
    longest = max(int(path.x_values[-1]) for paths in by_combination for path in paths)
    plot.set_family(range(len(by_combination)), labels, (1, longest))
    for key, paths in enumerate(by_combination):
        mean = average_paths(paths)
        values = mean.criterion if name == "criterion" else mean.validation[name]
        plot.set_curve(key, mean.x_values, values.mean)
    single = [fold.baseline.validation.get(name) for fold in result.folds]
    if None not in single:
        plot.set_reference(float(np.mean(single)), tr("best single feature"))  # type: ignore[arg-type]
    return plot


def _application() -> QApplication:
    """Return the application there is, or one that needs no display."""
    running = QApplication.instance()
    if isinstance(running, QApplication):
        return running
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    return QApplication([])


def _explanation(result: RunResult, labels: list[str]) -> str:
    """Say what the curves are: colours run from dark to bright along the grid."""
    folds = tr(", mean of {n_folds} folds").format(n_folds=len(result.folds)) if len(result.folds) > 1 else ""
    return folds + (
        tr("  ·  {labels} dark … {labels_2} bright").format(labels=labels[0], labels_2=labels[-1])
        if len(labels) > 1
        else ""
    )


def _label(result: RunResult, path: PathResult) -> str:
    on_axes = zip(result.plan.axes, path.unit.values, strict=True)
    return ", ".join(f"{axis.label} = {axis.format(value)}" for axis, value in on_axes)


def _file_name(name: str) -> str:
    return "criterion" if name == "criterion" else "validation-" + name.replace("@", "-at-")
