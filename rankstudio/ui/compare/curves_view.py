"""The curves of the ticked runs over each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan

from PySide6.QtCore import Signal, Slot

from rankstudio.engine.analysis.run_costs import RunCosts
from rankstudio.engine.analysis.run_curves import RunCurve
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.ui.language import tr
from rankstudio.ui.plots.curves.overlay_plot import OverlaidCurve, OverlayPlot
from rankstudio.ui.style.number_format import combination_label, plain
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel, Segmented
from rankstudio.ui.widgets.layout import named

_NOTHING = tr("Validation curves of the ticked runs appear here.")
PER_QUERY = tr("milliseconds per query for the features of the model")
_ABOUT = {
    "size": tr("features of the model, k"),
    "cost": tr("cost of the features of the model"),
    "seconds": tr("run time in seconds"),
}


class CurvesView(Panel):
    """Validation measure over size, cost or time, one curve a run.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    picked : Signal(int, object, int)
        Number of the run, the values on its plan's axes and the place on the path of the model that the user
        chose.
    by : Segmented
        What x is.
    """

    picked = Signal(int, object, int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Curves"))
        self.setObjectName("curves-view")
        self.keep_title()
        self._found: tuple[tuple[int, RunCurve], ...] = ()
        self.by = named(Segmented((), tr("x axis of the curves")), "curves-by")
        self.tools.addWidget(self.by)
        self.plot = named(OverlayPlot(theme), "run-curves-plot")
        self.plot.placeholder = _NOTHING
        self.plot.shared = Shared("curves", tr("Curves of the ticked runs"), compares=True)
        self.set_content(self.plot)
        self.plot.picked.connect(self._pick)
        self._offered: tuple[str, ...] = ()
        self._milliseconds = False
        self.offer(None)

    def offer(self, costs: RunCosts | None) -> None:
        """Offer what x can be; the cost only where features have one."""
        self._milliseconds = costs is not None and costs.milliseconds
        offered = ("size", *([] if costs is None else ["cost"]), "seconds")
        if offered != self._offered:
            kept = self.by.value()
            self._offered = offered
            labels = {"size": tr("by k"), "cost": tr("by cost"), "seconds": tr("by time")}
            self.by.set_options([(key, labels[key]) for key in offered])
            self.by.select(kept)

    def show_curves(
        self,
        runs: Mapping[int, tuple[str, Plan]],
        found: Sequence[RunCurve | None],
        reference: int | None,
        name: str,
    ) -> None:
        """Show what each run has, by its number.

        Parameters
        ----------
        runs : Mapping of int to (str, Plan)
            What each is called, and its plan.
        found : sequence of RunCurve or None
            One a run.
        reference : int or None
            Number of the one with which the others are compared.
        name : str
            Of the measure.
        """
        by = str(self.by.value())
        self._found = tuple((key, one) for key, one in zip(runs, found, strict=True) if one is not None)
        self.plot.set_axes(
            replace(
                self.plot.axes,
                title=tr("validation {name}").format(name=name),
                x_label=PER_QUERY if by == "cost" and self._milliseconds else _ABOUT[by],
                integer_x=by == "size",
            )
        )
        self.plot.set_curves([_overlaid(key, *runs[key], one, key == reference) for key, one in self._found])
        self.set_caption(self._said(by))

    def mark(self, key: int | None, values: tuple[float, ...] | None, place: int | None) -> None:
        """Mark the current choice where a curve has it; tells nobody."""
        for number, (run, curve) in enumerate(self._found):
            if run == key and values == curve.values and place in curve.places:
                self.plot.select((number, curve.places.index(place)))
                return
        self.plot.select(None)

    def _said(self, by: str) -> str:
        if not self._found:
            return ""
        if by == "seconds":
            return tr("best model of each run · click a point to select it")
        if len(self._found) > 1 and any(not one.unpaired for _, one in self._found):
            return tr("mean over folds, bands: paired difference · click a point")
        return tr("mean over folds · click a point to select it")

    @Slot(int, int)
    def _pick(self, number: int, point: int) -> None:
        key, curve = self._found[number]
        self.picked.emit(key, curve.values, curve.places[point])


def _size(size: float) -> str:
    return tr("no features") if isnan(size) else f"k = {plain(size)}"


def _overlaid(key: int, label: str, plan: Plan, curve: RunCurve, reference: bool) -> OverlaidCurve:
    combination = combination_label(plan.axes, curve.values)
    notes = tuple(
        " · ".join(part for part in (_size(float(size)), combination, curve.unpaired) if part)
        for size in curve.sizes
    )
    return OverlaidCurve(
        key, f"{key} {label}", curve.x, curve.mean, notes, curve.difference, curve.half, reference
    )
