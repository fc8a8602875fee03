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
class CurvesOverGrid:
    """Curves over the values of a parameter with a grid, instead of over k, the number of features.

    Each combination of the parameters' values is a point of a curve.
    The combinations of a curve differ only in their value on one axis.
    An axis is a parameter of which the plan tries several values.

    Attributes
    ----------
    axis : Axis
        The axis over which the curves are drawn.
    position : int
        Position of the axis among those of the plan.
    xs : tuple of float
        For each combination, its value on the axis.
    curves : tuple of int
        For each combination, the number of its curve.
    labels : tuple of str
        For each curve, its label: the values on the other axes.
    """

    axis: Axis
    position: int
    xs: tuple[float, ...]
    curves: tuple[int, ...]
    labels: tuple[str, ...]

    def combinations_of(self, curve: int) -> list[int]:
        """Return the positions of a curve's combinations, by ascending value on the axis.

        ``curve`` is the number of the curve. For each combination,
        `curves` has the number of its curve, and `xs` its value on the
        axis.
        """
        combinations = [
            combination
            for combination, curve_number in enumerate(self.curves)
            if curve_number == curve
        ]
        return sorted(combinations, key=lambda combination: self.xs[combination])

    def combination(self, curve: int, x: float) -> int:
        """Return the position of the combination whose point on a curve is nearest to an x.

        ``curve`` is the number of the curve.
        """
        return min(
            self.combinations_of(curve),
            key=lambda combination: abs(self.xs[combination] - x),
        )


def curves_over_grid(
    axes: Sequence[Axis], combinations: Sequence[tuple[Any, ...]]
) -> CurvesOverGrid | None:
    """Return curves over the first parameter of which several numbers of a grid were tried.

    ``axes`` are the parameters of a plan that have several values, and
    each combination has one value for each axis. Return None without
    such a grid.
    """
    if len(combinations) < 2:
        return None

    # The parameters that differ between combinations; the first grid
    # among them becomes the x axis.
    varied = varied_axes(combinations)
    x_axis = next((index for index in varied if axes[index].is_grid), None)
    if x_axis is None:
        return None

    # Combinations with the same values of all other parameters are points of one curve.
    other_axes = [index for index in varied if index != x_axis]
    keys = [tuple(values[index] for index in other_axes) for values in combinations]
    distinct_keys = list(dict.fromkeys(keys))
    return CurvesOverGrid(
        axis=axes[x_axis],
        position=x_axis,
        xs=tuple(float(values[x_axis]) for values in combinations),
        curves=tuple(distinct_keys.index(key) for key in keys),
        labels=tuple(
            combination_label([axes[index] for index in other_axes], key)
            for key in distinct_keys
        ),
    )


Interval = tuple[
    Sequence[float] | Floats, Sequence[float] | Floats, Sequence[float] | Floats
]
"""Mean, lower and upper end at each k."""
Key = int | Literal["live", "inspected"]
_LEFT_OUT = "left_out"  # key of the curve of left-out queries
# of the panel's width; a higher panel has its two plots above each other
_MIN_HEIGHT_TO_STACK = 0.8
# pixels; from this width on, the parts of a row below the plots are side by side
_MIN_WIDTH_FOR_ONE_ROW = 440
# pixels; from this width on, the choice of the view is beside the slider
_MIN_WIDTH_BESIDE_SLIDER = 335
CURVES = "curves"
MAP = "map"
"""Key of the view of the validation measure as a map; `CURVES` is that of curves."""
_VIEWS = ((CURVES, tr("curves")), (MAP, tr("map")))
# pixels; from this width on, the button of the smallest model has its full text
_MIN_WIDTH_WITH_NAME = 500
BELOW = {
    StepKind.FEATURES: tr("features selected, k"),
    StepKind.ITERATIONS: tr("iteration"),
    StepKind.ROUNDS: tr("round"),
}
"""Title of the x axis of the curves."""
X_NAMES = {
    StepKind.FEATURES: "k",
    StepKind.ITERATIONS: tr("iteration"),
    StepKind.ROUNDS: tr("round"),
}
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
    """Points of one path, for the criterion and every measure."""

    ks: list[int] = field(default_factory=list)
    criterion: list[float] = field(default_factory=list)
    validation: dict[str, list[float]] = field(default_factory=dict)  # by measure
    label: str = ""
    values: tuple[Any, ...] = ()  # on the plan's axes, for a path that no run has


NO_CRITERION = tr("Run a method to see its criterion at each step.")
"""Text of the criterion's plot while it is empty."""


NO_MEASURES = tr("Run a method to see its validation measure at each step.")
"""Text of the measure's plot while it is empty."""


class CurvesPanel(Panel):
    """Two linked plots, of the criterion and of the validation measure, over the number of features k.

    Each combination of the parameters' values has a curve. The user
    inspects a model with a click on a point, and chooses it with a
    double click.

    Attributes
    ----------
    over_grid : CurvesOverGrid or None
        Places of the combinations on curves over a grid, if each model
        has one step; else each combination is a curve.
    view : Segmented
        Chooses whether the validation measure is shown as curves or as a map.
    hint : Notice
        Message that the data have no validation part.
    picked : Signal(object, int)
        The user picked a point: its path (position of the combination,
        or the key of a path that no run has) and its k. The panel marks
        the point only when its owner answers with :meth:`inspect`.
    confirmed : Signal()
        The user chooses the point that was picked last.
    chosen : Signal(object, int)
        The user chose a model with the button of the smallest model
        (key of its path, k).
    """

    picked = Signal(object, int)
    confirmed = Signal()
    chosen = Signal(object, int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Curves"), padding=8, name="curves-panel")

        # The settings of the plan whose curves are shown, as `begin` describes them.
        self._axes: tuple[Axis, ...] = ()
        self._combinations: tuple[tuple[Any, ...], ...] = ()
        self._step_kind = StepKind.FEATURES
        self._has_steps = True  # whether paths have several steps
        self.over_grid: CurvesOverGrid | None = None

        # -1.0 if the criterion is the negative of
        # a measure: the measure itself is drawn
        self._sign = 1.0
        self._selects = False  # whether the method selects features
        self._shows_left_out_only = False  # the data have no validation part
        self._pairs = False  # pairs of documents are left out, rather than queries
        self._measure = "MAP"
        self._data_label = ""

        # What is drawn: the curves; the interval over the folds (its
        # ks, the interval of the criterion, and those of the measures
        # by name); the chosen and the inspected model, each the key of
        # its path and its k; and the measures and the name of the best
        # single feature.
        self._paths: dict[Key, _Path] = {}
        self._band: tuple[list[int], Interval, Mapping[str, Interval]] | None = None
        self._chosen: tuple[Key, int] | None = None
        self._inspected: tuple[Key, int] | None = None
        self._baseline: tuple[dict[str, float], str] = ({}, "")

        # The plot of the criterion, and the plot of the measure.
        self.slider = LambdaSlider()
        self.slider.hide()
        self.criterion_plot = named(
            CurvesPlot(theme, tr("criterion")), "criterion-plot"
        )
        self.criterion_plot.may_be_logarithmic = True
        self.criterion_plot.best_is_least = True
        self.criterion_plot.shared = Shared(
            "criterion", tr("Criterion curves"), always=True
        )
        validation = CurvesPlot(
            theme, tr("validation {measure}").format(measure=self._measure)
        )
        self.validation_plot = named(validation, "validation-plot")
        self.validation_plot.shared = Shared(
            "validation", tr("Validation curves"), always=True
        )

        # Controls beside the plots.
        self.left_out = LeftOutBox()
        self.smallest_button = SmallestButton()
        self.view = named(Segmented(_VIEWS, tr("validation as")), "validation-view")
        self.view.chosen.connect(self._show_view)

        # The heat map, which another controller adds, and whether the
        # user can choose it; whether the plot of the measure has
        # anything to show.
        self._map: QWidget | None = None
        self._offers_map = False
        self._measurable = True
        self.hint = named(Notice(theme, stacked=True), "curves-hint")
        self.explain(NO_CRITERION, NO_MEASURES)
        self._lay_out()
        self._link()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange the plots, and the parts of each row of controls, side by side or above each other."""
        super().resizeEvent(event)

        # A high panel has its two plots above each other. The limit is
        # a share of the width.
        is_high = self.height() > _MIN_HEIGHT_TO_STACK * self.width()
        self._row.setDirection(
            QBoxLayout.Direction.TopToBottom
            if is_high
            else QBoxLayout.Direction.LeftToRight
        )
        self.smallest_button.set_short(self.width() < scaled(_MIN_WIDTH_WITH_NAME))
        for row, min_width in self._rows:
            fits = self.width() >= scaled(min_width)
            row.setDirection(
                QBoxLayout.Direction.LeftToRight
                if fits
                else QBoxLayout.Direction.TopToBottom
            )

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
        """Start anew: one empty curve for each combination of the parameters' values.

        Parameters
        ----------
        method_label, data_label : str
            Title and caption, such as "Greedy RankRLS" and "MQ2008 fold 4".
        axes : sequence of Axis
            The axes of the plan.
        combinations : sequence of tuple
            The values of each combination on the axes; empty for a plan
            without an axis, which has one curve.
        n_steps : int
            The greatest k of the paths.
        criterion : str
            Name of the method's criterion; "" for a method without one.
        step_kind : StepKind
            Kind of the steps over which the curves are drawn.
        sized : bool
            Whether the models have features; a given ranking has none.
        selects : bool
            Whether the method selects features. Such a method selects
            from all queries, even for left-out measures.
        measured : bool
            Whether the criterion is the negative of a measure; then the
            measure is drawn.
        """
        # The settings of the plan, by which the curves are drawn and named.
        self._selects = selects
        self.set_title(method_label)
        self.setAccessibleName(f"{method_label} · {data_label}")
        self._data_label = data_label
        self._axes = tuple(axes)
        self._combinations = tuple(combinations)
        self._step_kind = step_kind
        self._has_steps = n_steps > 1
        self._sized = sized

        # Without steps, the curves are over a parameter instead of k.
        self.over_grid = (
            curves_over_grid(axes, combinations)
            if sized and not self._has_steps
            else None
        )
        self._sign = -1.0 if measured else 1.0
        self.criterion_plot.best_is_least = not measured

        # The text below the plots says what the x axis and each curve stand for.
        legend = which_curve(self._axes, self._combinations)
        if self.over_grid is not None:
            legend = _ONE_PER_COMBINATION if len(self.over_grid.labels) > 1 else ""
        self._below.setText(" · ".join(filter(None, (self._x_title(), legend))))

        # No curve has a point yet, and none is chosen.
        self._paths = {key: _Path() for key in range(max(1, len(self._combinations)))}
        self._band = None
        self._chosen = self._inspected = None
        self._baseline = {}, ""
        self.show_smallest(None)
        self.set_caption("")
        self._title_criterion(criterion)

        # None leaves the range to the points: the only step of a ranker
        # has all features, and the number of iterations is not known in
        # advance.
        x_range: tuple[float, float] | None = (
            (1, n_steps)
            if n_steps > 1 and step_kind is not StepKind.ITERATIONS
            else None
        )

        # There is one curve for each combination, or, if the x axis is
        # a parameter, one for each combination of the other parameters.
        names = list(self._paths)
        labels = [self.label(key) for key in self._paths]
        grid: tuple[float, ...] = ()
        if self.over_grid is not None:
            grid = tuple(sorted(set(self.over_grid.xs)))
            labels = list(self.over_grid.labels)
            names = list(range(len(labels)))
            x_range = (grid[0], grid[-1])
        for plot in self.plots().values():
            plot.x_name = (
                tr(self.over_grid.axis.label)
                if self.over_grid is not None
                else X_NAMES[step_kind]
            )
            plot.set_axes(
                replace(plot.axes, show_x=sized, grid=grid, integer_x=not grid)
            )
            plot.set_family(names, labels, x_range)

    def _title_criterion(self, criterion: str) -> None:
        """Show the name of the criterion as a title that links to the glossary; hide the plot for ""."""
        self.criterion_plot.set_axes(
            replace(self.criterion_plot.axes, title=criterion or tr("criterion"))
        )
        left_out = tr("leave-query-out")

        # Only these words of the title are linked to the glossary;
        # without them, "" links the whole title to the entry on
        # criteria.
        if left_out.lower() in criterion.lower():
            self.criterion_plot.link_title("leave-query-out", left_out)
        else:
            self.criterion_plot.link_title("criterion", "")
        self.criterion_plot.setVisible(bool(criterion))

    def explain(self, criterion: str, validation: str) -> None:
        """Set the texts that the plots of the criterion and of the measure show while they are empty."""
        for plot, text in (
            (self.criterion_plot, criterion),
            (self.validation_plot, validation),
        ):
            plot.placeholder = text
            plot.redraw()

    def set_measured(
        self, measured: bool, left_out: bool = False, *, pairs: bool = False
    ) -> None:
        """Set which kinds of measures the validation plot shows.

        ``measured`` says whether the data have a validation part, and
        ``left_out`` whether left-out training queries are measured
        (with ``pairs``, left-out pairs of documents). The left-out
        measure is drawn in addition to the validation measure, or alone
        if the data have no validation part.
        """
        self._pairs = pairs
        self._shows_left_out_only = left_out and not measured
        self._measurable = measured or left_out
        self._show_view()
        self.set_measure(self._measure)

    def add_map(self, view: QWidget) -> None:
        """Add the map, which can be shown instead of the validation curves."""
        self._map = view
        self._row.addWidget(view, 1)
        self._show_view()

    def offer_map(self, offered: bool) -> None:
        """Set whether the user can choose the map instead of the validation curves."""
        self._offers_map = offered
        self._show_view()

    @Slot()
    def _show_view(self) -> None:
        """Show the validation measure as curves or as a heat map, as the user chose.

        Curves and map are hidden if no model is measured, neither on a
        validation part nor on left-out queries.
        """
        # `_offers_map` says whether the plan has a heat map,
        # `_measurable` whether anything is measured.
        can_choose_view = self._offers_map and self._measurable
        shows_map = can_choose_view and self.view.value() == MAP
        self.view.setVisible(can_choose_view)
        self.validation_plot.setVisible(self._measurable and not shows_map)
        if self._map is not None:
            self._map.setVisible(shows_map)

    def set_baseline(self, measures: Mapping[str, float], name: str) -> None:
        """Draw the measures of the best single feature as a line to compare with; empty for no line.

        ``measures`` has a value for each measure; ``name`` is the feature's name.
        """
        self._baseline = dict(measures), name
        self._draw_baseline()

    def add_step(
        self, key: Key, k: int, criterion: float, validation: Mapping[str, float]
    ) -> None:
        """Add the model of a step, with ``k`` features, to a path as one point.

        ``key`` is the position of the path's combination of parameters,
        ``criterion`` the value of the method's criterion, and
        ``validation`` has a value for each measure.
        """
        # `_sign` is -1 if the criterion is the negative of a measure:
        # then the measure itself is drawn.
        path = self._path(key)
        self._set_default_caption()  # unless the panel has a caption already
        path.ks.append(k)
        path.criterion.append(self._sign * criterion)
        for name, value in validation.items():
            path.validation.setdefault(name, []).append(value)

        # Over a grid, a curve has points of several paths, so that it
        # is drawn as a whole.
        if self.over_grid is not None:
            self._draw(key)
        else:
            self.criterion_plot.append(key, k, path.criterion[-1])
            # `_shown` is the name of the measure that the curves show.
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
            Position of the path's combination, or the name of a path
            that no run has: that of the chosen or of the inspected
            model.
        ks, criterion : sequence of shape (K,)
            For each of the K models of the path, its x (number of
            features, iteration or round) and its criterion.
        validation : mapping of str to sequence of shape (K,)
            Values of the models by the name of the measure; a sequence
            may be shorter than K while not all models are measured.
        label : str
            Label of a path that no run has; the other paths are named
            after their combinations.
        values : sequence
            Values on the axes of a path that no run has.
        """
        # `_sign` is -1 if the criterion is the negative of a measure:
        # then the measure itself is drawn.
        self._paths[key] = _Path(
            ks=[int(k) for k in ks],
            criterion=[self._sign * float(c) for c in criterion],
            validation={
                name: [float(v) for v in measured]
                for name, measured in validation.items()
            },
            label=label,
            values=tuple(values),
        )
        self._set_default_caption()  # unless the panel has a caption already
        self._draw(key)

        # The marks of the chosen and the inspected model lie on their curves.
        marked_keys = [
            marked_key
            for marked_key, _ in filter(None, (self._chosen, self._inspected))
        ]
        if key in marked_keys:
            self._mark()

    def remove_path(self, key: Key) -> None:
        """Remove a curve."""
        if self._inspected is not None and self._inspected[0] == key:
            self._inspected = None
        if self._paths.pop(key, None) is not None:
            for plot in self.plots().values():
                plot.remove_curve(key)

    def set_band(
        self, ks: Sequence[int], criterion: Interval, validation: Mapping[str, Interval]
    ) -> None:
        """Show the mean and interval over folds of the criterion and of every measure.

        An interval has a mean, a lower and an upper end for each k of
        ``ks``; ``validation`` has one for each measure.
        """
        self._band = ([int(k) for k in ks], criterion, validation)
        self._draw_band()

    def add_asked(self, widget: QWidget, row: QBoxLayout, least: int) -> None:
        """Add a widget with requests below the curves, before the box of left-out queries.

        Parameters
        ----------
        widget : QWidget
            Its controls ask for more computations on the shown path,
            such as a permutation test.
        row : QBoxLayout
            Layout in the widget; its parts are above each other while
            the panel is narrower than `least`.
        least : int
            Width in pixels, at the usual size of the font.
        """
        self._asked.insertWidget(0, widget, 1)
        self._rows.append((row, least))

        # The Tab key goes from the button of the smallest model through
        # the widget's controls to the box of left-out queries.
        focused = (
            child
            for child in widget.findChildren(QWidget)
            if child.focusPolicy() & Qt.FocusPolicy.TabFocus
        )
        for before, after in pairwise((self.smallest_button, *focused, self.left_out)):
            self.setTabOrder(before, after)

    def set_permuted(
        self,
        ks: Sequence[int] | Ints,
        interval: Interval | None,
        p_values: Floats | None = None,
    ) -> None:
        """Show the interval of the permuted criterion at each k, with its p-value; None removes it.

        The permuted criterion is that of selections from shuffled
        labels. ``interval`` has its means, lower and upper ends. All
        sequences have a value for each k; those that are longer than
        ``ks`` are cut.
        """
        plot = self.criterion_plot
        if interval is not None and p_values is not None:
            # Mean, lower and upper end, and p-value.
            lines = (
                np.asarray(line, dtype=np.float64)[: len(ks)]
                for line in (*interval, p_values)
            )
            # the x at which each model of the chosen path is drawn
            xs = self._chosen_xs(ks[: p_values.size])
            plot.family.band = Band(np.array(xs, dtype=np.float64), *lines)
            plot.mark_dirty()
        elif plot.family.band is not None and plot.family.band.p_values is not None:
            # Only the band of a permuted criterion has p-values; any other band stays.
            plot.family.band = None
            plot.mark_dirty()

    def set_measure(self, name: str) -> None:
        """Show another measure, by its name such as "NDCG@10": draw all curves and marks of it."""
        self._measure = name

        # The plot shows the validation measure or, for data without a
        # validation part, the measure on left-out queries or pairs.
        left_out = (
            tr("leave-pair-out {name}") if self._pairs else tr("leave-query-out {name}")
        )
        title = left_out if self._shows_left_out_only else tr("validation {name}")
        self.validation_plot.set_axes(
            replace(self.validation_plot.axes, title=title.format(name=name))
        )
        if self._shows_left_out_only:
            self.validation_plot.link_title("leave-query-out", tr("leave-query-out"))
        else:
            self.validation_plot.link_title("validation part", tr("validation"))
        for key in self._paths:
            self._draw(key)
        self._draw_band()
        self._draw_baseline()
        self._mark()

    def select(self, key: Key | None, k: int = 0) -> None:
        """Mark the chosen model in both plots, by the key of its path and its k.

        None removes the mark.
        """
        self._chosen = None if key is None else (key, k)
        self._mark()

    def inspect(self, key: Key | None, k: int = 0) -> None:
        """Mark another model as inspected in both plots, by the key of its path and its k.

        None removes the mark.
        """
        self._inspected = None if key is None else (key, k)
        self._mark_inspected()

    def show_smallest(self, mark: SmallestMark | None, best: int = 0) -> None:
        """Mark the smallest model of the chosen curve that is not significantly worse than its best one.

        A button chooses the marked model or, once it is chosen, the
        best model, which is at ``best``. If both are the same model,
        there is no mark, and the button says so. ``mark`` is the
        smallest model; None removes mark and button.
        """
        self.validation_plot.set_smallest(
            None if mark is None or mark.x == best else mark
        )
        self.smallest_button.offer(mark, best, self._chosen, X_NAMES[self._step_kind])

    def label(self, key: Key) -> str:
        """Return the label of a path, such as "λ = 2⁶"; "path" if there is no other path."""
        # A text is the key of a path that no run has: `set_path` has set its label.
        if isinstance(key, str):
            return self._paths[key].label if key in self._paths else ""
        label = (
            combination_label(self._axes, self._combinations[key])
            if self._combinations
            else ""
        )
        return label or "path"

    def plots(self) -> dict[str, CurvesPlot]:
        """Return the plots by name, for export."""
        return {"criterion": self.criterion_plot, "validation": self.validation_plot}

    def _lay_out(self) -> None:
        """Lay out the slider, the two plots side by side, and the captions below."""
        self._below = named(PlainLabel(BELOW[self._step_kind]), role="caption")

        # otherwise a long text would make the form narrower
        self._below.setWordWrap(True)
        self._below.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._row = fill(
            QBoxLayout(QBoxLayout.Direction.LeftToRight),
            (self.criterion_plot, 1),
            (self.validation_plot, 1),
            spacing=12,
        )
        # Rows of controls: the caption with a button; what the user can
        # ask for in addition; and the slider with the choice of the
        # view.
        self._foot = fill(
            QHBoxLayout(), (self._below, 1), self.smallest_button, spacing=8
        )
        self._asked = fill(QHBoxLayout(), self.left_out, spacing=8)
        self._asked.setAlignment(self.left_out, Qt.AlignmentFlag.AlignRight)
        self._values = fill(
            QHBoxLayout(),
            (self.slider, 3),
            1,
            self.view,
            margins=(0, 0, 0, 6),
        )
        fill(
            self.body,
            self.hint,
            self._values,
            (self._row, 1),
            self._foot,
            self._asked,
            spacing=2,
        )

        # Each row, and the width of the panel from which on its parts are side by side.
        self._rows: list[tuple[QBoxLayout, int]] = [
            (self._foot, _MIN_WIDTH_FOR_ONE_ROW),
            (self._asked, _MIN_WIDTH_FOR_ONE_ROW),
            (self._values, _MIN_WIDTH_BESIDE_SLIDER),
        ]

    def _link(self) -> None:
        """Connect the signals of the plots, and let each plot follow the zoom and the cursor of the other."""
        for plot in self.plots().values():
            plot.picked.connect(self._on_picked)

            # With `confirms`, a double click on a point, or Enter, chooses its model.
            plot.confirms = True
            plot.confirmed.connect(self.confirmed)

        # The button has the curve and the x of its model. Other parts
        # of the window need the key of the path and the k instead.
        self.smallest_button.picked.connect(
            lambda path_key, x: self.chosen.emit(*self._model_at(path_key, x))
        )
        # Aligned plots begin at the same horizontal pixel.
        self.criterion_plot.aligned = self.validation_plot
        self.validation_plot.aligned = self.criterion_plot
        self.criterion_plot.zoomed.connect(self.validation_plot.follow_zoom)
        self.validation_plot.zoomed.connect(self.criterion_plot.follow_zoom)
        self.criterion_plot.hovered.connect(self.validation_plot.set_cursor)
        self.validation_plot.hovered.connect(self.criterion_plot.set_cursor)

    def _set_default_caption(self) -> None:
        """Show in the caption the data and how to choose a model, unless there is a caption already."""
        if not self.caption():
            self.set_caption(
                " · ".join(filter(None, (self._data_label, self._how_to_act())))
            )

    def _x_title(self) -> str:
        """Return the title of the x axis of both plots: steps, a parameter, or the number of features."""
        # A ranking from a file has no number of features (`_sized` is
        # False). A method without steps has one model for each path,
        # and a title of its own; `BELOW` has the titles for steps, by
        # their kind.
        if not self._sized:
            return tr("given scores: no features")
        if self.over_grid is not None:
            return tr(self.over_grid.axis.label)
        return (
            BELOW[self._step_kind] if self._has_steps else tr("features of the model")
        )

    def _how_to_act(self) -> str:
        """Return a text on how a model is chosen; "" if there is only one model."""
        # A path with several steps has several models, any other has one.
        if self._has_steps:
            return ACT[self._step_kind]
        return (
            tr("double-click a point to choose its model")
            if len(self._combinations) > 1
            else ""
        )

    def _path(self, key: Key) -> _Path:
        return self._paths.setdefault(key, _Path())

    @property
    def _shown(self) -> str:
        """The name of the measure that the validation curves show."""
        return self._left_out_name if self._shows_left_out_only else self._measure

    @property
    def _left_out_name(self) -> str:
        return left_out_name(self._measure, pairs=self._pairs)

    def _draw_left_out(self) -> None:
        """Draw the left-out measure of the chosen path, or of the only one, beside its validation measure."""
        # Without a chosen path, the left-out measure of the only path
        # is drawn; of several paths, none. If the left-out measure is
        # shown alone, the curves themselves have it already.
        only_key = next(iter(self._paths), 0) if len(self._paths) == 1 else None
        key = self._chosen[0] if self._chosen else only_key
        path = self._paths.get(key) if key is not None else None
        values: list[float] = []
        if path is not None and not self._shows_left_out_only:
            values = path.validation.get(self._left_out_name, [])
        xs: Sequence[float] = path.ks[: len(values)] if path else []

        # If the x axis is a parameter, each path is only a point, and
        # all points of its curve are drawn. A key that is a text
        # belongs to a path that no run has, which is no part of such a
        # curve.
        if self.over_grid is not None and key is not None and not isinstance(key, str):
            xs, values = self._across(self.over_grid.curves[key], self._left_out_name)

        # The label says what is left out: queries or pairs of documents
        # (`_pairs`). A method that selects features (`_selects`) does
        # not select them again without the left-out queries.
        label = (
            tr("left-out queries, selection not repeated")
            if self._selects
            else tr("left-out queries")
        )
        if self._pairs:
            label = (
                tr("left-out pairs, selection not repeated")
                if self._selects
                else tr("left-out pairs")
            )
        self.validation_plot.family.set_beside(_LEFT_OUT, label, xs, values)
        self.validation_plot.mark_dirty()

    def _across(self, curve: int, name: str) -> tuple[list[float], list[float]]:
        """Return the points of a curve over the grid: the xs that have a value, and the values.

        ``curve`` is the number of the curve; ``name`` is that of a
        measure, or "" for the criterion. Each point is a path, and its
        value that of the path's last model.
        """
        assert self.over_grid is not None
        xs = []
        ys = []
        for combination in self.over_grid.combinations_of(curve):
            path = self._paths.get(combination, _Path())
            values = path.validation.get(name, []) if name else path.criterion
            if values:
                xs.append(self.over_grid.xs[combination])
                ys.append(values[-1])
        return xs, ys

    def _x(self, key: Key, k: float) -> float:
        """Return the x at which a model of a path is drawn: its k, or its value on the parameter's axis."""
        if self.over_grid is None:
            return k

        # A text is the key of a path that no run has: it brings its
        # values on the axes, but has none before it is set.
        values = self._path(key).values
        if isinstance(key, str):
            return (
                float(values[self.over_grid.position])
                if values
                else self.over_grid.xs[0]
            )
        return self.over_grid.xs[key]

    def _curve(self, key: Key) -> Key:
        """Return the key of the curve on which the path of a combination of parameters is drawn.

        ``key`` is the key of the path. Over a grid, the curve is shared
        with other paths; else both keys are equal.
        """
        return (
            key
            if self.over_grid is None or isinstance(key, str)
            else self.over_grid.curves[key]
        )

    def _chosen_xs(self, ks: Sequence[int] | Ints) -> list[float]:
        """Return the xs at which the models of the chosen path are drawn, for each of their ks."""
        return [self._x(self._chosen[0], k) if self._chosen else float(k) for k in ks]

    def _draw(self, key: Key) -> None:
        """Draw a path in both plots: as a curve or, over a grid, as a point of its curve."""
        path = self._path(key)

        # Over a grid, the whole curve is drawn again. A text is the key
        # of a path that no run has, which has a curve of its own.
        if self.over_grid is not None and not isinstance(key, str):
            curve = self.over_grid.curves[key]
            self.criterion_plot.set_curve(curve, *self._across(curve, ""))
            self.validation_plot.set_curve(curve, *self._across(curve, self._shown))
            return

        # Fewer models may have a measure than a criterion.
        values = path.validation.get(self._shown, [])
        xs = [self._x(key, k) for k in path.ks]
        self.criterion_plot.set_curve(key, xs, path.criterion)
        self.validation_plot.set_curve(key, xs[: len(values)], values)

        # `begin` has set the labels of the paths of the run; others bring their own.
        if isinstance(key, str):
            for plot in self.plots().values():
                plot.family[key].label = self.label(key)

    def _draw_band(self) -> None:
        """Draw the interval over the folds around the mean of the chosen path, in both plots."""
        # `_band` has the k of each model, the mean and the ends of the
        # criterion, and the same three of each measure by its name.
        if self._band is None:
            return
        ks, (mean, low, high), validation = self._band
        xs = self._chosen_xs(ks)

        # The negative of a measure is stored, and the measure is drawn:
        # its lower end is the negative of the stored upper end.
        lower, upper = (low, high) if self._sign > 0 else (high, low)
        lines = (self._sign * np.asarray(line) for line in (mean, lower, upper))
        self.criterion_plot.set_band(xs, *lines)
        if self._shown in validation:
            self.validation_plot.set_band(xs, *validation[self._shown])

    def _draw_baseline(self) -> None:
        measures, name = self._baseline
        value = measures.get(self._shown)
        self.validation_plot.set_reference(
            value, tr("best single feature: {name}").format(name=name)
        )

    def _mark(self) -> None:
        """Mark the chosen and the inspected model, and draw the left-out measure of the chosen path.

        Without a chosen or an inspected model, remove the marks of that model.
        """
        self._draw_left_out()
        self._mark_inspected()
        if self._chosen is None:
            for plot in self.plots().values():
                plot.select(None)
            return
        key, k = self._chosen
        curve = self._curve(key)  # key of the curve on which the path is drawn
        x = self._x(key, k)
        self.criterion_plot.select(curve, x)
        self.validation_plot.select(curve, x, self._note(key, k))

    def _mark_inspected(self) -> None:
        """Mark the inspected model in both plots, with a note in the plot of the measure.

        Without an inspected model, remove the marks.
        """
        if self._inspected is None:
            for plot in self.plots().values():
                plot.inspect(None)
            return
        key, k = self._inspected
        curve = self._curve(key)  # key of the curve on which the path is drawn
        x = self._x(key, k)
        self.criterion_plot.inspect(curve, x)
        self.validation_plot.inspect(curve, x, self._note(key, k, tr("inspected")))

    def _note(self, key: Key, k: int, state: str = tr("chosen")) -> tuple[str, ...]:
        """Return the lines of the note on a point: its model and each of its measures.

        ``key`` is the key of the path, and ``k`` the number of features
        of the model. ``state`` says whether the model is chosen or
        inspected. Return () for a point without a value.
        """
        # The value of the shown measure by k. The last models of a path
        # may not be measured yet, so that the lengths differ.
        path = self._path(key)
        values = dict(zip(path.ks, path.validation.get(self._shown, []), strict=False))
        if k not in values:
            return ()

        # The first line names the model: its k, unless the x axis is a
        # parameter, its values if there are several paths, and its
        # state. A ranking from a file has neither k nor values.
        path_label = [self.label(key)] if self._axes or isinstance(key, str) else []
        step_text = (
            [] if self.over_grid is not None else [f"{X_NAMES[self._step_kind]} = {k}"]
        )
        model_parts = [*step_text, *path_label, state] if self._sized else [tr("given")]
        model_label = " · ".join(model_parts)

        # One line for the shown measure, and one for the left-out measure beside it.
        validated = tr("validation {measure} {values:.4f}")
        left_out = tr("left-out {measure} {values:.4f}")
        parts = [(left_out if self._shows_left_out_only else validated, values[k])]
        left_out_values = (
            []
            if self._shows_left_out_only
            else path.validation.get(self._left_out_name, [])
        )
        parts += [
            (left_out, value)
            for x, value in zip(path.ks, left_out_values, strict=False)
            if x == k
        ]
        return model_label, *(
            text.format(measure=self._measure, values=value) for text, value in parts
        )

    @Slot(object, object)
    def _on_picked(self, key: Key, x: float) -> None:
        self.picked.emit(*self._model_at(key, x))

    def _model_at(self, key: Key, x: float) -> tuple[Key, int]:
        """Return the key of the path and the k of the model at a point of a curve.

        ``key`` is the key of the curve, and ``x`` the x of the point.
        Over a grid, each point is a path, of which the last model is
        meant.
        """
        if self.over_grid is not None:
            key = key if isinstance(key, str) else self.over_grid.combination(key, x)
            x = self._path(key).ks[-1]
        return key, int(x)


def which_curve(axes: Sequence[Axis], combinations: Sequence[tuple[Any, ...]]) -> str:
    """Return the legend of the curves: which ones are dark and which bright; "" for a single curve.

    Each combination, a value for each axis of the plan, has a curve.
    """
    if len(combinations) < 2:
        return ""

    # With one parameter that differs, the legend names its first and
    # last value; with several, the combinations have no common name.
    varied = varied_axes(combinations)
    if len(varied) > 1:
        return _ONE_PER_COMBINATION
    (position,) = varied
    axis = axes[position]
    first, last = (axis_value(axis, combinations[index][position]) for index in (0, -1))
    return tr("one curve per {label}, {first} dark … {last} bright").format(
        label=tr(axis.label), first=first, last=last
    )
