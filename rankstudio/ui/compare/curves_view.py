"""The curves of the ticked runs over each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import isnan

import numpy as np
from PySide6.QtCore import Signal, Slot

from rankstudio.engine.analysis.tried_models.run_costs import RunCosts
from rankstudio.engine.analysis.tried_models.run_curves import RunCurve, learning_curves
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.metrics.names import measure
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.session import Choice
from rankstudio.ui.plots.curves.overlay_plot import OverlaidCurve, OverlayPlot
from rankstudio.ui.style.number_format import combination_label, plain
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel, Segmented
from rankstudio.ui.widgets.layout import named

_EMPTY_TEXT = tr("Validation curves of the ticked runs appear here.")
PER_QUERY = tr("milliseconds per query for the features of the model")
_X_LABELS = {
    "size": tr("features of the model, k"),
    "test": tr("features of the model, k"),
    "cost": tr("cost of the features of the model"),
    "train": tr("share of the training queries in percent"),
    "seconds": tr("run time in seconds"),
}

_Point = tuple[int, RunCurve, int]
"""Number of a run, its curve, and the position of a point on it."""


class CurvesView(Panel):
    """Measure over size, cost, share of the queries or time, with one curve for each run.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    picked : Signal(int, object, int)
        Number of the run, the values on its plan's axes and the place on the path of the model that the user
        clicked.
    confirmed : Signal()
        The user chooses the model that was clicked last.
    by : Segmented
        What x is.
    """

    picked = Signal(int, object, int)
    confirmed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Curves"), name="curves-view", keeps_title=True)
        self._points: tuple[tuple[_Point, ...], ...] = ()  # of each curve that is drawn
        self._n_runs = 0  # that are compared
        self._n_folds = 0
        self.by = named(Segmented((), tr("x axis of the curves")), "curves-by")
        self.tools.addWidget(self.by)
        self.plot = named(OverlayPlot(theme), "run-curves-plot")
        self.plot.placeholder = _EMPTY_TEXT
        self.plot.one_band = self.plot.names_at_ends = True
        self.plot.shared = Shared("curves", tr("Curves of the ticked runs"), compares=True)
        self.set_content(self.plot)
        self.plot.picked.connect(self._pick)
        self.plot.confirms = True
        self.plot.confirmed.connect(self._confirm)
        self._offered: tuple[str, ...] = ()
        self._milliseconds = False
        self.offer(None, shares=False, test=False)

    def offer(self, costs: RunCosts | None, *, shares: bool, test: bool) -> None:
        """Offer the quantities of the x axis, and the test part by k.

        Costs are offered only if features have some, shares of the queries if runs differ in them, and the
        test part if there is one and it is not sealed.
        """
        self._milliseconds = costs is not None and costs.milliseconds
        priced = costs is not None
        axes = {"size": True, "test": test, "cost": priced, "train": shares, "seconds": True}
        offered = tuple(key for key, offers in axes.items() if offers)
        if offered != self._offered:
            chosen = self.by.value()
            self._offered = offered
            labels = {
                "size": tr("by k"),
                "test": tr("test"),
                "cost": tr("by cost"),
                "train": tr("by queries"),
                "seconds": tr("by time"),
            }
            self.by.set_options([(key, labels[key]) for key in offered])
            self.by.select(chosen)

    def show_curves(
        self,
        runs: Mapping[int, tuple[str, Plan]],
        curves: Sequence[RunCurve | None],
        reference: int | None,
        name: str,
    ) -> None:
        """Show the curve of each run, by its number.

        Parameters
        ----------
        runs : Mapping of int to (str, Plan)
            What each is called, and its plan.
        curves : sequence of RunCurve or None
            One a run.
        reference : int or None
            Number of the one with which the others are compared.
        name : str
            Of the measure.
        """
        x_key = str(self.by.value())
        self._n_runs = len(runs)
        compared = [(key, curve) for key, curve in zip(runs, curves, strict=True) if curve is not None]
        groups = learning_curves([runs[key][1] for key, _ in compared]) if x_key == "train" else None
        self._points = tuple(
            tuple((*compared[index], point) for index in group for point in range(compared[index][1].x.size))
            for group in groups or [[index] for index in range(len(compared))]
        )
        self.plot.set_axes(
            replace(
                self.plot.axes,
                title=(tr("test {name}") if x_key == "test" else tr("validation {name}")).format(name=name),
                x_label=PER_QUERY if x_key == "cost" and self._milliseconds else _X_LABELS[x_key],
                integer_x=x_key in ("size", "test"),
            )
        )
        self.plot.higher_is_better = measure(name).higher_is_better
        titles = Counter(runs[points[-1][0]][0] for points in self._points)
        unique = {title for title, n in titles.items() if n == 1}
        self._n_folds = max((curve.n_folds for _, curve in compared), default=0)
        self.plot.set_curves([_overlaid_curve(points, runs, reference, unique) for points in self._points])
        self.set_caption(self._said(x_key))

    def mark(self, key: int | None, choice: Choice, inspection: Choice | None) -> None:
        """Mark the chosen and the inspected model of a run on its curves; emits no signal."""
        self.plot.emphasise(key)
        self.plot.select(self._point(key, choice))
        differs = inspection is not None and inspection != choice
        self.plot.inspect(self._point(key, inspection) if inspection is not None and differs else None)

    def _point(self, key: int | None, choice: Choice) -> tuple[int, int] | None:
        """Return the curve of a model and its index on the curve; None if no curve has the model."""
        marked = (
            (number, position)
            for number, points in enumerate(self._points)
            for position, (run, curve, point) in enumerate(points)
            if (run, curve.values, curve.places[point]) == (key, choice.values, choice.place)
        )
        return next(marked, None)

    def _said(self, by: str) -> str:
        if not self._points:
            return ""
        if by == "test" and len(self._points) < self._n_runs:
            return tr("data open for {n} of {of} runs").format(n=len(self._points), of=self._n_runs)
        if by == "test":
            return tr("models selected by validation")
        if by in ("train", "seconds"):
            return tr("best model of each run · double-click to choose")
        text = trn("{measure}, {n} fold", "{measure}, mean over {n} folds", self._n_folds)
        return text.format(measure=self.plot.axes.title, n=self._n_folds)

    @Slot(int, int)
    def _pick(self, number: int, position: int) -> None:
        if self.by.value() == "test":
            return  # a model chosen here would be chosen by the test part
        key, curve, point = self._points[number][position]
        self.picked.emit(key, curve.values, curve.places[point])

    @Slot()
    def _confirm(self) -> None:
        if self.by.value() != "test":
            self.confirmed.emit()


def _size_text(size: float) -> str:
    return tr("no features") if isnan(size) else f"k = {plain(size)}"


def _overlaid_curve(
    points: Sequence[_Point],
    runs: Mapping[int, tuple[str, Plan]],
    reference: int | None,
    unique: Collection[str],
) -> OverlaidCurve:
    """Return the curve through some points, with the style of the last point's run."""
    key = points[-1][0]
    values = np.array(
        [[quantity[point] for quantity in (c.x, c.mean, c.difference, c.half)] for _, c, point in points]
    ).T
    notes = tuple(_point_note(runs[run][1], curve, point) for run, curve, point in points)
    return OverlaidCurve(
        key,
        f"{key} {runs[key][0]}",
        values[0],
        values[1],
        notes,
        values[2],
        values[3],
        key == reference,
        name=runs[key][0] if runs[key][0] in unique else "",
        model=points[0][1].model if len({run for run, *_ in points}) == 1 else None,
        own_half=points[0][1].own_half if key == reference else None,
    )


def _point_note(plan: Plan, curve: RunCurve, point: int) -> str:
    """Return the note on a point: its size, its parameters and why it is not paired."""
    combination = combination_label(plan.axes, curve.values)
    return " · ".join(
        part for part in (_size_text(float(curve.sizes[point])), combination, curve.unpaired) if part
    )
