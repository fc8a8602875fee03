"""The live curves: criterion and validation measure over k, one curve per combination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QWidget

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.experiment.plan.combinations import Axis, varied_axes
from rankstudio.engine.experiment.plan.left_out_names import left_out_name
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.ui.language import tr
from rankstudio.ui.plots.curves.curve_set import Band, SmallestMark
from rankstudio.ui.plots.curves.curves_plot import CurvesPlot
from rankstudio.ui.select.curve_controls import LeftOutBox, SmallestButton
from rankstudio.ui.style.fonts import scaled
from rankstudio.ui.style.number_format import axis_value, combination_label
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import LambdaSlider, Notice, Panel, Segmented
from rankstudio.ui.widgets.layout import fill, named


@dataclass(frozen=True)
class OverGrid:
    """Where each combination is on curves over one of its axes.

    Attributes
    ----------
    axis : Axis
        What the curves are drawn over.
    number : int
        Of that axis among the plan's.
    xs : tuple of float
        The value on it, by combination.
    curves : tuple of int
        The curve, by combination.
    labels : tuple of str
        What each curve is called: the values on the other axes.
    """

    axis: Axis
    number: int
    xs: tuple[float, ...]
    curves: tuple[int, ...]
    labels: tuple[str, ...]

    def of_curve(self, curve: int) -> list[int]:
        """Return the combinations on a curve, by ascending value."""
        combinations = [
            combination for combination, curve_number in enumerate(self.curves) if curve_number == curve
        ]
        return sorted(combinations, key=lambda combination: self.xs[combination])

    def combination(self, curve: int, x: float) -> int:
        """Return the combination at a point of a curve."""
        return min(self.of_curve(curve), key=lambda combination: abs(self.xs[combination] - x))


def over_grid(axes: Sequence[Axis], combinations: Sequence[tuple[Any, ...]]) -> OverGrid | None:
    """Return curves over the first grid of which several values were tried; None without such a grid."""
    if len(combinations) < 2:
        return None
    varied = varied_axes(combinations)
    number = next((index for index in varied if axes[index].is_grid), None)
    if number is None:
        return None
    other_axes = [index for index in varied if index != number]
    keys = [tuple(values[index] for index in other_axes) for values in combinations]
    distinct = list(dict.fromkeys(keys))
    return OverGrid(
        axes[number],
        number,
        tuple(float(values[number]) for values in combinations),
        tuple(distinct.index(key) for key in keys),
        tuple(combination_label([axes[index] for index in other_axes], key) for key in distinct),
    )


Interval = tuple[Sequence[float] | Floats, Sequence[float] | Floats, Sequence[float] | Floats]
"""Mean, lower and upper end at each k."""
Key = int | Literal["live", "inspected"]
_LEFT_OUT = "left_out"  # key of the curve of left-out queries
_MIN_HEIGHT_TO_STACK = 0.8  # times its width is a panel in which plots above each other are better to read
_MIN_WIDTH_FOR_ONE_ROW = 440  # pixels from which on sentence and box stand side by side
_MIN_WIDTH_BESIDE_SLIDER = 335  # pixels from which on the choice of the view stands beside the slider
CURVES = "curves"
MAP = "map"
"""Views of the validation."""
_VIEWS = ((CURVES, tr("curves")), (MAP, tr("map")))
_MIN_WIDTH_WITH_NAME = 500  # pixels from which on the button of the smallest model says in full which it is
BELOW = {
    StepKind.FEATURES: tr("features selected, k"),
    StepKind.ITERATIONS: tr("iteration"),
    StepKind.ROUNDS: tr("round"),
}
"""Title of the x axis of the curves."""
X_NAMES = {StepKind.FEATURES: "k", StepKind.ITERATIONS: tr("iteration"), StepKind.ROUNDS: tr("round")}
"""Name of a step before its number."""
ACT = {
    StepKind.FEATURES: tr("double-click to choose k"),
    StepKind.ITERATIONS: tr("the last iteration is the model"),
    StepKind.ROUNDS: tr("double-click to choose a round"),
}
"""How a model is chosen on a curve; a click inspects."""
_ONE_PER_COMBINATION = tr("one curve per combination, the first dark … the last bright")


@dataclass
class _Path:
    """Points of one curve, for the criterion and every measure."""

    ks: list[int] = field(default_factory=list)
    criterion: list[float] = field(default_factory=list)
    validation: dict[str, list[float]] = field(default_factory=dict)
    label: str = ""
    values: tuple[Any, ...] = ()  # on the axes, of a path that is no combination's


NO_CRITERION = tr("Run a method to see its criterion at each step.")
"""Text of the criterion's plot while it is empty."""


NO_MEASURES = tr("Run a method to see its validation measure at each step.")
"""Text of the measure's plot while it is empty."""


class CurvesPanel(Panel):
    """Two linked plots with one curve per λ.

    Attributes
    ----------
    over : OverGrid or None
        Where the combinations are on curves over a grid, of models of one step; else each is a curve.
    view : Segmented
        Whether the validation is seen as curves or as a map.
    hint : Notice
        What could be drawn if the data had other parts.
    picked : Signal(object, int)
        Key of the curve (position of its combination, or a path of no run) and k, when the user picked a
        point. The panel marks it only when its owner answers with :meth:`inspect`.
    confirmed : Signal()
        The user chooses the point that was picked last.
    chosen : Signal(object, int)
        Key and k of a model that the user chose by the button of the smallest one.
    """

    picked = Signal(object, int)
    confirmed = Signal()
    chosen = Signal(object, int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Curves"), padding=8, name="curves-panel")
        self._axes: tuple[Axis, ...] = ()
        self._combinations: tuple[tuple[Any, ...], ...] = ()
        self._step_kind = StepKind.FEATURES
        self._several = True
        self.over: OverGrid | None = None
        self._sign = 1.0
        self._selects = self._alone = self._pairs = False
        self._measure = "MAP"
        self._data_label = ""
        self._paths: dict[Key, _Path] = {}
        self._band: tuple[list[int], Interval, Mapping[str, Interval]] | None = None
        self._chosen: tuple[Key, int] | None = None
        self._inspected: tuple[Key, int] | None = None
        self._baseline: tuple[dict[str, float], str] = ({}, "")
        self.slider = LambdaSlider()
        self.slider.hide()
        self.criterion_plot = named(CurvesPlot(theme, tr("criterion")), "criterion-plot")
        self.criterion_plot.may_be_logarithmic = True
        self.criterion_plot.best_is_least = True
        self.criterion_plot.shared = Shared("criterion", tr("Criterion curves"), always=True)
        validation = CurvesPlot(theme, tr("validation {measure}").format(measure=self._measure))
        self.validation_plot = named(validation, "validation-plot")
        self.validation_plot.shared = Shared("validation", tr("Validation curves"), always=True)
        self.left_out, self.smallest = LeftOutBox(), SmallestButton()
        self.view = named(Segmented(_VIEWS, tr("validation as")), "validation-view")
        self.view.chosen.connect(self._show_view)
        self._map: QWidget | None = None
        self._mapped = False
        self._measurable = True
        self.hint = named(Notice(theme, stacked=True), "curves-hint")
        self.explain(NO_CRITERION, NO_MEASURES)
        self._lay_out()
        self._link()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put plots above each other, and what is asked for in a row, where that leaves them more room."""
        super().resizeEvent(event)
        high = self.height() > _MIN_HEIGHT_TO_STACK * self.width()
        self._row.setDirection(QBoxLayout.Direction.TopToBottom if high else QBoxLayout.Direction.LeftToRight)
        self.smallest.set_short(self.width() < scaled(_MIN_WIDTH_WITH_NAME))
        for row, least in self._rows:
            across = self.width() >= scaled(least)
            row.setDirection(QBoxLayout.Direction.LeftToRight if across else QBoxLayout.Direction.TopToBottom)

    def begin(
        self,
        method_label: str,
        data_label: str,
        axes: Sequence[Axis],
        combinations: Sequence[tuple[Any, ...]],
        n_steps: int,
        criterion: str = "criterion",
        step_kind: StepKind = StepKind.FEATURES,
        *,
        sized: bool = True,
        selects: bool = False,
        measured: bool = False,
    ) -> None:
        """Start anew: one empty curve per combination.

        Parameters
        ----------
        method_label, data_label : str
            For title and caption: "Greedy RankRLS" and "MQ2008 fold 4".
        axes : sequence of Axis
            Of the plan: what it tries several values of.
        combinations : sequence of tuple
            The values on them, a tuple for each; empty for a plan without an axis, which has one curve.
        n_steps : int
            The greatest k to come.
        criterion : str
            What the method's criterion is; "" where it has none.
        step_kind : StepKind
            What the curves are drawn over.
        sized : bool
            Whether there are features at all; a ranking that was given has none.
        selects : bool
            Whether the method selects features, from all queries also where queries are left out.
        measured : bool
            Whether the criterion is the negative of a measure, which is drawn.
        """
        self._selects = selects
        self.set_title(method_label)
        self.setAccessibleName(f"{method_label} · {data_label}")
        self._data_label = data_label
        self._axes, self._combinations, self._step_kind = tuple(axes), tuple(combinations), step_kind
        self._several = n_steps > 1
        self._sized = sized
        self.over = over_grid(axes, combinations) if sized and not self._several else None
        self._sign = -1.0 if measured else 1.0
        self.criterion_plot.best_is_least = not measured
        legend = which_curve(self._axes, self._combinations)
        if self.over is not None:
            legend = _ONE_PER_COMBINATION if len(self.over.labels) > 1 else ""
        self._below.setText(" · ".join(filter(None, (self._x_title(), legend))))
        self._paths = {key: _Path() for key in range(max(1, len(self._combinations)))}
        self._band = None
        self._chosen = self._inspected = None
        self._baseline = {}, ""
        self.show_smallest(None)
        self.set_caption("")
        self.criterion_plot.set_axes(replace(self.criterion_plot.axes, title=criterion or tr("criterion")))
        left_out = tr("leave-query-out")
        named_so = left_out.lower() in criterion.lower()
        self.criterion_plot.link_title(*(("leave-query-out", left_out) if named_so else ("criterion", "")))
        self.criterion_plot.setVisible(bool(criterion))
        # A ranker's one step has all features at once: where its point lies is known when it comes.
        x_range: tuple[float, float] | None = (
            (1, n_steps) if n_steps > 1 and step_kind is not StepKind.ITERATIONS else None
        )
        names = list(self._paths)
        labels = [self.label(key) for key in self._paths]
        grid: tuple[float, ...] = ()
        if self.over is not None:
            grid = tuple(sorted(set(self.over.xs)))
            labels = list(self.over.labels)
            names = list(range(len(labels)))
            x_range = (grid[0], grid[-1])
        for plot in self.plots().values():
            plot.x_name = tr(self.over.axis.label) if self.over is not None else X_NAMES[step_kind]
            plot.set_axes(replace(plot.axes, show_x=sized, grid=grid, integer_x=not grid))
            plot.set_family(names, labels, x_range)

    def explain(self, criterion: str, validation: str) -> None:
        """Let the plots say something while they are empty."""
        for plot, text in ((self.criterion_plot, criterion), (self.validation_plot, validation)):
            plot.placeholder = text
            plot.redraw()

    def set_measured(self, measured: bool, left_out: bool = False, *, pairs: bool = False) -> None:
        """Take whether the data have a validation part; without one there is nothing to draw of it.

        ``left_out`` says that left-out training queries are measured, or pairs of documents: they are drawn
        then where there is no such part, else beside it.
        """
        self._pairs = pairs
        self._alone = left_out and not measured
        self._measurable = measured or left_out
        self._show_view()
        self.set_measure(self._measure)

    def add_map(self, view: QWidget) -> None:
        """Add the map that shows the validation besides curves."""
        self._map = view
        self._row.addWidget(view, 1)
        self._show_view()

    def offer_map(self, offered: bool) -> None:
        """Let the user see the validation as a map, where there is one."""
        self._mapped = offered
        self._show_view()

    @Slot()
    def _show_view(self) -> None:
        offered = self._mapped and self._measurable
        as_map = offered and self.view.value() == MAP
        self.view.setVisible(offered)
        self.validation_plot.setVisible(self._measurable and not as_map)
        if self._map is not None:
            self._map.setVisible(as_map)

    def set_baseline(self, measures: Mapping[str, float], name: str) -> None:
        """Draw the best single feature as a line to compare with; no measures take it away."""
        self._baseline = dict(measures), name
        self._draw_baseline()

    def add_step(self, key: Key, k: int, criterion: float, validation: Mapping[str, float]) -> None:
        """Let a curve grow by one point."""
        path = self._path(key)
        self._explain()
        path.ks.append(k)
        path.criterion.append(self._sign * criterion)
        for name, value in validation.items():
            path.validation.setdefault(name, []).append(value)
        if self.over is not None:
            self._draw(key)
        else:
            self.criterion_plot.append(key, k, path.criterion[-1])
            if self._shown in validation:
                self.validation_plot.append(key, k, validation[self._shown])
        self._draw_left_out()

    def set_path(
        self,
        key: Key,
        ks: Sequence[int] | Ints,
        criterion: Sequence[float] | Floats,
        validation: Mapping[str, Sequence[float] | Floats],
        label: str = "",
        values: Sequence[Any] = (),
    ) -> None:
        """Replace a whole curve.

        Parameters
        ----------
        key : int, "live" or "inspected"
        ks, criterion : sequence of shape (K,)
        validation : mapping of str to sequence of shape (K,)
            By measure.
        label : str
            What a path of no run is called; the others are named after their combinations.
        values : sequence
            Where a path of no run is on the axes.
        """
        self._paths[key] = _Path(
            [int(k) for k in ks],
            [self._sign * float(c) for c in criterion],
            {name: [float(v) for v in measured] for name, measured in validation.items()},
            label,
            tuple(values),
        )
        self._explain()
        self._draw(key)
        if any(point is not None and point[0] == key for point in (self._chosen, self._inspected)):
            self._mark()

    def remove_path(self, key: Key) -> None:
        """Take a curve away."""
        if self._inspected is not None and self._inspected[0] == key:
            self._inspected = None
        if self._paths.pop(key, None) is not None:
            for plot in self.plots().values():
                plot.remove_curve(key)

    def set_band(self, ks: Sequence[int], criterion: Interval, validation: Mapping[str, Interval]) -> None:
        """Show mean and interval over folds, of the criterion and of every measure."""
        self._band = ([int(k) for k in ks], criterion, validation)
        self._draw_band()

    def add_asked(self, widget: QWidget, row: QBoxLayout, least: int) -> None:
        """Add a widget of requests, below the curves and before the left-out queries.

        Parameters
        ----------
        widget : QWidget
        row : QBoxLayout
            Layout in it, whose parts stand above each other in a panel that is narrower than `least`.
        least : int
            Pixels, at the usual size of the font.
        """
        self._asked.insertWidget(0, widget, 1)
        self._rows.append((row, least))
        focused = (
            child for child in widget.findChildren(QWidget) if child.focusPolicy() & Qt.FocusPolicy.TabFocus
        )
        for before, after in pairwise((self.smallest, *focused, self.left_out)):
            self.setTabOrder(before, after)

    def set_permuted(
        self, ks: Sequence[int] | Ints, interval: Interval | None, p_values: Floats | None = None
    ) -> None:
        """Show between which values the permuted criterion lies, with the p of each; None takes that away."""
        plot = self.criterion_plot
        if interval is not None and p_values is not None:
            of_each = (np.asarray(values, dtype=np.float64)[: len(ks)] for values in (*interval, p_values))
            xs = self._chosen_xs(ks[: p_values.size])
            plot.family.band = Band(np.array(xs, dtype=np.float64), *of_each)
            plot.mark_dirty()
        elif plot.family.band is not None and plot.family.band.p_values is not None:
            plot.family.band = None
            plot.mark_dirty()

    def set_measure(self, name: str) -> None:
        """Show another measure."""
        self._measure = name
        left_out = tr("leave-pair-out {name}") if self._pairs else tr("leave-query-out {name}")
        title = left_out if self._alone else tr("validation {name}")
        self.validation_plot.set_axes(replace(self.validation_plot.axes, title=title.format(name=name)))
        part = ("leave-query-out", tr("leave-query-out")), ("validation part", tr("validation"))
        self.validation_plot.link_title(*part[not self._alone])
        for key in self._paths:
            self._draw(key)
        self._draw_band()
        self._draw_baseline()
        self._mark()

    def select(self, key: Key | None, k: int = 0) -> None:
        """Mark the current choice in both plots; None takes the mark away."""
        self._chosen = None if key is None else (key, k)
        self._mark()

    def inspect(self, key: Key | None, k: int = 0) -> None:
        """Mark another model as inspected in both plots; None takes the mark away."""
        self._inspected = None if key is None else (key, k)
        self._mark_inspected()

    def show_smallest(self, mark: SmallestMark | None, best: int = 0) -> None:
        """Mark the smallest model of the chosen curve that is not significantly worse than its best one.

        A button chooses it, and where it is chosen the best one, which stands at ``best``. Where both are the
        same there is no mark, and the button says so. None takes mark and button away.
        """
        self.validation_plot.set_smallest(None if mark is None or mark.x == best else mark)
        self.smallest.offer(mark, best, self._chosen, X_NAMES[self._step_kind])

    def label(self, key: Key) -> str:
        """Return how a curve is called: "λ = 2⁶"."""
        if isinstance(key, str):
            return self._paths[key].label if key in self._paths else ""
        return (
            combination_label(self._axes, self._combinations[key]) if self._combinations else ""
        ) or "path"

    def plots(self) -> dict[str, CurvesPlot]:
        """Return the plots by name, for export."""
        return {"criterion": self.criterion_plot, "validation": self.validation_plot}

    def _lay_out(self) -> None:
        """Lay out the slider, the two plots side by side, and the captions below."""
        self._below = named(PlainLabel(BELOW[self._step_kind]), role="caption")
        self._below.setWordWrap(True)  # or the form would give way to a long name
        self._below.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._row = fill(
            QBoxLayout(QBoxLayout.Direction.LeftToRight),
            (self.criterion_plot, 1),
            (self.validation_plot, 1),
            spacing=12,
        )
        self._foot = fill(QHBoxLayout(), (self._below, 1), self.smallest, spacing=8)
        self._asked = fill(QHBoxLayout(), self.left_out, spacing=8)
        self._asked.setAlignment(self.left_out, Qt.AlignmentFlag.AlignRight)
        self._values = fill(QHBoxLayout(), (self.slider, 3), 1, self.view, margins=(0, 0, 0, 6))
        fill(self.body, self.hint, self._values, (self._row, 1), self._foot, self._asked, spacing=2)
        across = (
            (self._foot, _MIN_WIDTH_FOR_ONE_ROW),
            (self._asked, _MIN_WIDTH_FOR_ONE_ROW),
            (self._values, _MIN_WIDTH_BESIDE_SLIDER),
        )
        self._rows: list[tuple[QBoxLayout, int]] = [*across]

    def _link(self) -> None:
        for plot in self.plots().values():
            plot.picked.connect(self._on_picked)
            plot.confirms = True
            plot.confirmed.connect(self.confirmed)
        self.smallest.picked.connect(lambda key, x: self.chosen.emit(*self._model_at(key, x)))
        self.criterion_plot.aligned, self.validation_plot.aligned = self.validation_plot, self.criterion_plot
        self.criterion_plot.zoomed.connect(self.validation_plot.follow_zoom)
        self.validation_plot.zoomed.connect(self.criterion_plot.follow_zoom)
        self.criterion_plot.hovered.connect(self.validation_plot.set_cursor)
        self.validation_plot.hovered.connect(self.criterion_plot.set_cursor)

    def _explain(self) -> None:
        """Show in the caption how to use the curves, once there is one."""
        if not self.caption():
            self.set_caption(" · ".join(filter(None, (self._data_label, self._how_to_act()))))

    def _x_title(self) -> str:
        """Return the x title of both plots; of a model that has all features at once, their number."""
        if not self._sized:
            return tr("given scores: no features")
        if self.over is not None:
            return tr(self.over.axis.label)
        return BELOW[self._step_kind] if self._several else tr("features of the model")

    def _how_to_act(self) -> str:
        """Return how a model is chosen; "" where there is only one."""
        if self._several:
            return ACT[self._step_kind]
        return tr("double-click a point to choose its model") if len(self._combinations) > 1 else ""

    def _path(self, key: Key) -> _Path:
        return self._paths.setdefault(key, _Path())

    @property
    def _shown(self) -> str:
        """The name of what the curves show."""
        return self._left_out if self._alone else self._measure

    @property
    def _left_out(self) -> str:
        return left_out_name(self._measure, pairs=self._pairs)

    def _draw_left_out(self) -> None:
        """Draw beside the validation of the chosen path, or the only one, that of left-out queries."""
        only_key = next(iter(self._paths), 0) if len(self._paths) == 1 else None
        key = self._chosen[0] if self._chosen else only_key
        path = self._paths.get(key) if key is not None else None
        values = path.validation.get(self._left_out, []) if path and not self._alone else []
        xs: Sequence[float] = path.ks[: len(values)] if path else []
        if self.over is not None and key is not None and not isinstance(key, str):
            xs, values = self._across(self.over.curves[key], self._left_out)
        label = tr("left-out queries, selection not repeated") if self._selects else tr("left-out queries")
        if self._pairs:
            label = tr("left-out pairs, selection not repeated") if self._selects else tr("left-out pairs")
        self.validation_plot.family.set_beside(_LEFT_OUT, label, xs, values)
        self.validation_plot.mark_dirty()

    def _across(self, curve: int, name: str) -> tuple[list[float], list[float]]:
        """Return the values of the grid on a curve that have a measure, or the criterion (""), and these."""
        assert self.over is not None
        xs = []
        ys = []
        for combination in self.over.of_curve(curve):
            path = self._paths.get(combination, _Path())
            values = path.validation.get(name, []) if name else path.criterion
            if values:
                xs.append(self.over.xs[combination])
                ys.append(values[-1])
        return xs, ys

    def _x(self, key: Key, k: float) -> float:
        """Return where a model of a path is drawn."""
        if self.over is None:
            return k
        values = self._path(key).values
        if isinstance(key, str):
            return float(values[self.over.number]) if values else self.over.xs[0]
        return self.over.xs[key]

    def _curve(self, key: Key) -> Key:
        """Return the key of the curve that a path is drawn on."""
        return key if self.over is None or isinstance(key, str) else self.over.curves[key]

    def _chosen_xs(self, ks: Sequence[int] | Ints) -> list[float]:
        """Return where the models of the chosen path are drawn."""
        return [self._x(self._chosen[0], k) if self._chosen else float(k) for k in ks]

    def _draw(self, key: Key) -> None:
        """Draw the curve of a combination in both plots, or its curve over the chosen axis."""
        path = self._path(key)
        if self.over is not None and not isinstance(key, str):
            curve = self.over.curves[key]
            self.criterion_plot.set_curve(curve, *self._across(curve, ""))
            self.validation_plot.set_curve(curve, *self._across(curve, self._shown))
            return
        values = path.validation.get(self._shown, [])
        xs = [self._x(key, k) for k in path.ks]
        self.criterion_plot.set_curve(key, xs, path.criterion)
        self.validation_plot.set_curve(key, xs[: len(values)], values)
        if isinstance(key, str):
            for plot in self.plots().values():
                plot.family[key].label = self.label(key)

    def _draw_band(self) -> None:
        if self._band is None:
            return
        ks, (mean, low, high), validation = self._band
        xs = self._chosen_xs(ks)
        ends = (low, high) if self._sign > 0 else (high, low)
        self.criterion_plot.set_band(xs, *(self._sign * np.asarray(line) for line in (mean, *ends)))
        if self._shown in validation:
            self.validation_plot.set_band(xs, *validation[self._shown])

    def _draw_baseline(self) -> None:
        measures, name = self._baseline
        value = measures.get(self._shown)
        self.validation_plot.set_reference(value, tr("best single feature: {name}").format(name=name))

    def _mark(self) -> None:
        self._draw_left_out()
        self._mark_inspected()
        if self._chosen is None:
            for plot in self.plots().values():
                plot.select(None)
            return
        key, k = self._chosen
        curve = self._curve(key)
        x = self._x(key, k)
        self.criterion_plot.select(curve, x)
        self.validation_plot.select(curve, x, self._note(key, k))

    def _mark_inspected(self) -> None:
        if self._inspected is None:
            for plot in self.plots().values():
                plot.inspect(None)
            return
        key, k = self._inspected
        curve = self._curve(key)
        x = self._x(key, k)
        self.criterion_plot.inspect(curve, x)
        self.validation_plot.inspect(curve, x, self._note(key, k, tr("inspected")))

    def _note(self, key: Key, k: int, state: str = tr("chosen")) -> tuple[str, ...]:
        """Return the note on a point: its model and its measures; nothing where it has no value."""
        path = self._path(key)
        values = dict(zip(path.ks, path.validation.get(self._shown, []), strict=False))
        if k not in values:
            return ()
        named = [self.label(key)] if self._axes or isinstance(key, str) else []
        step_text = [] if self.over is not None else [f"{X_NAMES[self._step_kind]} = {k}"]
        size = [*step_text, *named, state] if self._sized else [tr("given")]
        model_label = " · ".join(size)
        validated = tr("validation {measure} {values:.4f}")
        left_out = tr("left-out {measure} {values:.4f}")
        parts = [(left_out if self._alone else validated, values[k])]
        left_out_values = [] if self._alone else path.validation.get(self._left_out, [])
        parts += [(left_out, value) for x, value in zip(path.ks, left_out_values, strict=False) if x == k]
        return model_label, *(text.format(measure=self._measure, values=value) for text, value in parts)

    @Slot(object, object)
    def _on_picked(self, key: Key, x: float) -> None:
        self.picked.emit(*self._model_at(key, x))

    def _model_at(self, key: Key, x: float) -> tuple[Key, int]:
        """Return the path and the k of the model at a point of a curve."""
        if self.over is not None:
            key = key if isinstance(key, str) else self.over.combination(key, x)
            x = self._path(key).ks[-1]
        return key, int(x)


def which_curve(axes: Sequence[Axis], combinations: Sequence[tuple[Any, ...]]) -> str:
    """Return which curve is which; "" for a single one."""
    if len(combinations) < 2:
        return ""
    varied = varied_axes(combinations)
    if len(varied) > 1:
        return _ONE_PER_COMBINATION
    axis = axes[varied[0]]
    first, last = (axis_value(axis, combinations[index][varied[0]]) for index in (0, -1))
    return tr("one curve per {label}, {first} dark … {last} bright").format(
        label=tr(axis.label), first=first, last=last
    )
