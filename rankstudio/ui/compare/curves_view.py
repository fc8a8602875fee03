"""A panel with the curves of the ticked runs in one plot."""

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
    """A panel with a curve for each run: the measure over size, cost, share of the queries or time.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    picked : Signal(int, object, int)
        The model that the user clicked: the run's number, the model's
        values of the parameters of which the plan tries several, and
        its number of features or round.
    confirmed : Signal()
        The user chooses the model that was clicked last.
    by : Segmented
        Choice of the quantity on the x axis.
    """

    picked = Signal(int, object, int)
    confirmed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Curves"), name="curves-view", keeps_title=True)
        # the points of each curve that is drawn
        self._points: tuple[tuple[_Point, ...], ...] = ()
        self._n_runs = 0  # runs that are compared, with a curve or without
        self._n_folds = 0  # the most that a compared run has
        self.by = named(Segmented((), tr("x axis of the curves")), "curves-by")
        self.tools.addWidget(self.by)
        self.plot = named(OverlayPlot(theme), "run-curves-plot")
        self.plot.placeholder = _EMPTY_TEXT
        # Only the selected run has a band, and names stand at the ends of the curves.
        self.plot.one_band = self.plot.names_at_ends = True
        # the entry of the plot in the list of exports
        self.plot.shared = Shared(
            "curves", tr("Curves of the ticked runs"), compares=True
        )
        self.set_content(self.plot)
        self.plot.picked.connect(self._pick)
        self.plot.confirms = True  # a double click chooses a model
        self.plot.confirmed.connect(self._confirm)
        self._offered_axes: tuple[str, ...] = ()
        self._costs_are_milliseconds = False
        self.offer(None, shares=False, test=False)  # no runs yet

    def offer(self, costs: RunCosts | None, *, shares: bool, test: bool) -> None:
        """Offer the quantities of the x axis, and the test part by k.

        Parameters
        ----------
        costs : RunCosts or None
            Costs of the features; None if features have no costs.
        shares : bool
            Whether runs differ in the share of the training queries.
        test : bool
            Whether there is a test part that is not sealed.
        """
        self._costs_are_milliseconds = costs is not None and costs.milliseconds
        has_costs = costs is not None
        axes = {
            "size": True,
            "test": test,
            "cost": has_costs,
            "train": shares,
            "seconds": True,
        }
        offered = tuple(key for key, is_offered in axes.items() if is_offered)
        if offered != self._offered_axes:
            chosen = self.by.value()
            self._offered_axes = offered
            labels = {
                "size": tr("by k"),
                "test": tr("test"),
                "cost": tr("by cost"),
                "train": tr("by queries"),
                "seconds": tr("by time"),
            }
            self.by.set_options([(key, labels[key]) for key in offered])
            self.by.select(chosen)  # if it is still offered

    def show_curves(
        self,
        runs: Mapping[int, tuple[str, Plan]],
        curves: Sequence[RunCurve | None],
        reference: int | None,
        name: str,
    ) -> None:
        """Show the curves of runs.

        Over shares of the queries, runs that differ only in these share
        a curve.

        Parameters
        ----------
        runs : Mapping of int to (str, Plan)
            Title and plan of each run, by the run's number.
        curves : sequence of RunCurve or None
            The curve of each run, in the order of `runs`.
        reference : int or None
            Number of the run with which the others are compared.
        name : str
            Name of the measure.
        """
        x_key = str(self.by.value())
        self._n_runs = len(runs)
        # The curves that exist: a run without the measure has none.
        run_curves = [
            (key, curve)
            for key, curve in zip(runs, curves, strict=True)
            if curve is not None
        ]
        # Each group of positions in run_curves is drawn as one curve.
        # Over shares of the queries, a run is one point, so the runs of
        # a group make a curve.
        groups = [[index] for index in range(len(run_curves))]
        if x_key == "train":
            # `learning_curves` groups plans that differ only in the
            # share; without plans, there are no groups.
            groups = learning_curves([runs[key][1] for key, _ in run_curves]) or groups
        self._points = tuple(
            tuple(
                (key, curve, point)
                for key, curve in (run_curves[index] for index in group)
                for point in range(curve.x.size)
            )
            for group in groups
        )
        is_in_milliseconds = x_key == "cost" and self._costs_are_milliseconds
        self.plot.set_axes(
            replace(
                self.plot.axes,
                title=(
                    tr("test {name}") if x_key == "test" else tr("validation {name}")
                ).format(name=name),
                x_label=PER_QUERY if is_in_milliseconds else _X_LABELS[x_key],
                integer_x=x_key in ("size", "test"),
            )
        )
        self.plot.higher_is_better = measure(name).higher_is_better
        # a curve has the title of its last run
        last_runs = [points[-1][0] for points in self._points]
        title_counts = Counter(runs[key][0] for key in last_runs)
        unique_titles = {title for title, n in title_counts.items() if n == 1}
        self._n_folds = max((curve.n_folds for _, curve in run_curves), default=0)
        self.plot.set_curves(
            [
                _overlaid_curve(points, runs, reference, unique_titles)
                for points in self._points
            ]
        )
        self.set_caption(self._caption_text(x_key))

    def mark(self, key: int | None, choice: Choice, inspection: Choice | None) -> None:
        """Mark the chosen and the inspected model of a run on its curves; emphasise its curve.

        ``key`` is the number of the run. A choice names a model by its
        values of the plan's parameters, and by its number of features
        or rounds. The inspected model is marked only if it is not the
        chosen one. This emits no signal.
        """
        self.plot.emphasise(key)
        self.plot.select(self._point(key, choice))
        differs = inspection is not None and inspection != choice
        self.plot.inspect(
            self._point(key, inspection) if inspection is not None and differs else None
        )

    def _point(self, key: int | None, choice: Choice) -> tuple[int, int] | None:
        """Return where a model is: the index of its curve, and its index on the curve.

        ``key`` is the number of the run, and ``choice`` names the
        model. Return None if no curve has the model.
        """
        # A model is identified by its run, its values on the axes, and
        # its coordinate on the path (a number of features, or a round).
        # The `lengths` of a curve are the coordinates of its points.
        model = (key, choice.values, choice.x_value)
        matches = (
            (number, position)
            for number, points in enumerate(self._points)
            for position, (run, curve, point) in enumerate(points)
            if (run, curve.values, curve.lengths[point]) == model
        )
        return next(matches, None)

    def _caption_text(self, by: str) -> str:
        """Return the caption for a quantity on the x axis: what the curves show, or what a click does."""
        if not self._points:
            return ""
        # Only a run whose documents are open has a curve of the test part.
        if by == "test" and len(self._points) < self._n_runs:
            return tr("data open for {n} of {of} runs").format(
                n=len(self._points), of=self._n_runs
            )
        if by == "test":
            return tr("models selected by validation")
        if by in ("train", "seconds"):
            return tr("best model of each run · double-click to choose")
        text = trn(
            "{measure}, {n} fold", "{measure}, mean over {n} folds", self._n_folds
        )
        return text.format(measure=self.plot.axes.title, n=self._n_folds)

    @Slot(int, int)
    def _pick(self, number: int, position: int) -> None:
        if self.by.value() == "test":
            return  # a model that is picked here would be selected by the test part
        key, curve, point = self._points[number][position]
        self.picked.emit(key, curve.values, curve.lengths[point])

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
    """Return the curve through some points, with the number and the title of the last point's run.

    ``runs`` has the title and the plan of each run, by number. The
    title is written at the curve's end if it is in ``unique``, the
    titles that only one curve has. ``reference`` is the number of the
    run with which the others are compared.
    """
    key, _, _ = points[-1]
    _, first_curve, _ = points[0]
    title, _ = runs[key]
    # Each of the four has one value per point: x, the mean measure, its
    # difference from the reference run, and half the length of the
    # interval of this difference.
    x, mean, difference, half = np.array(
        [
            [quantity[point] for quantity in (c.x, c.mean, c.difference, c.half)]
            for _, c, point in points
        ]
    ).T
    is_of_one_run = len({run for run, *_ in points}) == 1
    return OverlaidCurve(
        key=key,
        label=f"{key} {title}",
        x=x,
        y=mean,
        notes=tuple(
            _point_note(runs[run][1], curve, point) for run, curve, point in points
        ),
        difference=difference,
        half=half,
        reference=key == reference,
        name=title if title in unique else "",
        # the position of the model that the folds selected, which a run
        # has on its own curve only
        model=first_curve.model if is_of_one_run else None,
        # the reference differs from itself by 0, so its band shows the
        # differences of its models to its own selected model
        own_half=first_curve.own_half if key == reference else None,
    )


def _point_note(plan: Plan, curve: RunCurve, point: int) -> str:
    """Return the note on a point: its size, its parameters, and the reason if it has no paired difference.

    ``point`` is the position of the point on ``curve``, which shows a
    run of ``plan``.
    """
    # `unpaired` is the reason why the run is not compared with the reference.
    combination = combination_label(plan.axes, curve.values)
    return " · ".join(
        part
        for part in (_size_text(float(curve.sizes[point])), combination, curve.unpaired)
        if part
    )
