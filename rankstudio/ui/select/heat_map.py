"""The heat map: the measure of every model that was tried, over two grids, or over settings and k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from rankstudio.engine.analysis.tried_models.grid_map import (
    Curve,
    GridMap,
    Pair,
    grid_map,
    grid_pairs,
)
from rankstudio.engine.arrays import Floats
from rankstudio.engine.experiment.plan.combinations import Axis, varied_axes
from rankstudio.engine.experiment.plan.left_out_names import left_out_name
from rankstudio.engine.experiment.plan.plan import Plan, has_map, longest_path
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.metrics.names import measure
from rankstudio.ui.language import tr
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.session import Session
from rankstudio.ui.plots import HeatMapPlot
from rankstudio.ui.select.shown_paths import ShownPaths
from rankstudio.ui.style.number_format import axis_value
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.choices import choice_box
from rankstudio.ui.widgets.layout import fill, named

SIZES = "sizes"
"""Key of the map over settings and numbers of features."""

_NO_RUN = tr("Run a method to compare all combinations of its parameters and k.")
_NO_RUN_OF_GRIDS = tr("Run a method to compare all combinations of its parameters.")
_MEASURED_PARTS = (("validation", tr("validation")), ("left-out", tr("left-out")))
_MIN_BOX_LETTERS = 4  # of a box; longer texts are cut in a narrow panel
_MAX_BOX_WIDTH = 128  # pixels of a box


class HeatView(QWidget):
    """The heat map with its boxes: one cell for each combination and k, brighter for a greater measure.

    The rows are values of a grid or settings, the columns values of
    another grid or numbers of features. The user chooses rows and
    columns in one box, and the validation or the left-out measure in
    another.

    Attributes
    ----------
    viewChanged : Signal()
        The user chose another map, or another kind of measure.
    """

    viewChanged = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        named(self, "heat-view", accessible_name="λ × k")
        self._left_out = False  # whether left-out queries are measured

        # key and label of each map that can be shown
        self._views: tuple[tuple[object, str], ...] = ()
        self._wanted_key: object = None  # key of the map that the user chose last

        # The two choices above the map: what is measured, and what its
        # rows and columns are.
        name = tr("rows and columns of the map")
        self.map_box = named(
            choice_box(()),
            "heat-views",
            accessible_name=name,
            tip=tr("Rows and columns of the map"),
        )
        self.part_box = named(
            choice_box(_MEASURED_PARTS),
            "heat-of",
            accessible_name=tr("measured on"),
            tip=tr("Measured quantity"),
        )

        # Both are hidden until there is something to choose.
        for box in (self.part_box, self.map_box):
            box.setMinimumContentsLength(_MIN_BOX_LETTERS)
            box.setMaximumWidth(_MAX_BOX_WIDTH)
            box.hide()

        # The map and the line below it.
        self._caption = named(PlainLabel(wraps=True), role="caption")
        self._caption.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.plot = named(
            HeatMapPlot(theme, tr("validation measure"), tr("features selected, k")),
            "heat-map",
        )
        self.plot.placeholder = _NO_RUN

        # named after the view's title
        self.plot.shared = Shared("heat", self.accessibleName(), always=True)
        boxes = fill(QHBoxLayout(), self.part_box, self.map_box, 1, spacing=6)
        fill(
            QVBoxLayout(self),
            boxes,
            (self.plot, 1),
            self._caption,
            margins=(0, 0, 0, 0),
            spacing=2,
        )
        self.map_box.activated.connect(self._on_view)
        self.part_box.activated.connect(self._on_view)

    def offer(
        self,
        views: Sequence[tuple[object, str]],
        *,
        both_parts: bool,
        left_out: bool,
        left_out_first: bool = True,
    ) -> None:
        """Offer maps by key and label; the map that the user chose stays if it is among them.

        ``left_out`` says whether left-out queries are measured, and
        ``both_parts`` whether the validation part is measured as well,
        so that the user can choose between both. With
        ``left_out_first``, left-out queries are shown unless the user
        chooses the validation part.
        """
        if tuple(views) != self._views:
            self._views = tuple(views)
            self.map_box.clear()
            for _, label in views:
                self.map_box.addItem(label)
            current = next(
                (
                    index
                    for index, (key, _) in enumerate(views)
                    if key == self._wanted_key
                ),
                0,
            )
            self.map_box.setCurrentIndex(current if views else -1)

        # The user's choice of the measured part is kept only while both
        # parts stay available. Otherwise index 1, left-out queries, or
        # 0, validation, is selected.
        could_choose = self.part_box.isVisibleTo(self)
        keeps_choice = could_choose and both_parts and left_out
        if not keeps_choice:
            self.part_box.setCurrentIndex(int(left_out and left_out_first))
        self._left_out = left_out
        self.map_box.setVisible(len(views) > 1)
        self.part_box.setVisible(both_parts)

    def caption(self) -> str:
        """Return the text below the map, which says how a model is chosen."""
        return self._caption.text()

    def view(self) -> object:
        """Return the key of the map that is shown; None without any."""
        index = self.map_box.currentIndex()
        if not 0 <= index < len(self._views):
            return None
        key, _ = self._views[index]
        return key

    def left_out(self) -> bool:
        """Return whether the measure on left-out queries is shown, rather than on the validation part."""
        return self._left_out and self.part_box.currentIndex() == 1

    def show_sizes(
        self, combinations: Sequence[str], matrix: ArrayLike, title: str, name: str
    ) -> None:
        """Show the measure of every model by its settings and size.

        Parameters
        ----------
        combinations : sequence of str of length S
            Labels of the S combinations of parameters.
        matrix : array of shape (S, K)
            Measure by combination and k = 1 … K; NaN for models without
            a measure (yet).
        title : str
            Name of the measure.
        name : str
            Name of the parameters that make the combinations.
        """
        values = np.asarray(matrix, dtype=np.float64)
        columns = [str(k + 1) for k in range(values.shape[1])]
        self._show(
            values,
            combinations,
            columns,
            title,
            names=(name, "k"),
            x_label=tr("features selected, k"),
        )
        self._caption.setText(
            tr("double-click a cell to choose {name} and k").format(name=name)
        )

    def show_grids(
        self,
        rows: Sequence[str],
        columns: Sequence[str],
        values: Floats,
        best: tuple[int, int] | None,
        title: str,
        names: tuple[str, str],
        other_parameters: Sequence[str],
    ) -> None:
        """Show a measure over the grids of two parameters, as a map.

        Parameters
        ----------
        rows, columns : sequence of str
            Labels of the grids' values.
        values : ndarray of shape (R, C)
            Measure by row and column; NaN for none.
        best : tuple of (int, int) or None
            Row and column of the best value.
        title : str
            Name of the measure.
        names : pair of str
            Names of the two parameters.
        other_parameters : sequence of str
            Names of the other parameters that were tried; a cell has
            the best value over these.
        """
        _, column_name = names
        self._show(values, rows, columns, title, names=names, x_label=column_name)
        self.plot.mark_best(best)
        hint = tr("double-click a cell to choose its model")
        note = ""
        if other_parameters:
            note = tr("each cell with its best {others}").format(
                others=", ".join(other_parameters)
            )
        self._caption.setText(" · ".join(filter(None, (note, hint))))

    def explain(self, reason: str) -> None:
        """Set the text of the empty map: the reason why there are no values, else what to do."""
        has_sizes = self.view() in (SIZES, None)
        self.plot.placeholder = reason or (_NO_RUN if has_sizes else _NO_RUN_OF_GRIDS)
        self.plot.redraw()

    def clear(self, reason: str = "") -> None:
        """Show no values, but the reason why there are none, or, for "", what to do."""
        # Screen readers name the empty map by its title in the list of maps.
        if self._views:
            self.setAccessibleName(self.map_box.currentText())
        self.explain(reason)
        self._caption.setText("")
        self.plot.set_values(np.empty((0, 0)), (), ())
        self.plot.select(None)

    def _show(
        self,
        values: Floats,
        rows: Sequence[str],
        columns: Sequence[str],
        title: str,
        names: tuple[str, str],
        x_label: str,
    ) -> None:
        """Show values as a map, of which ``rows`` and ``columns`` are the labels.

        ``names`` are those of the rows and of the columns, ``title`` is
        that of the measure, and ``x_label`` the text below the columns.
        """
        self.setAccessibleName(" × ".join(names))
        self.plot.set_names(*names)
        self.plot.set_axes(replace(self.plot.axes, title=title, x_label=x_label))
        self.plot.set_values(values, list(rows), list(columns))

    @Slot()
    def _on_view(self) -> None:
        self._wanted_key = self.view()
        self.viewChanged.emit()


_SEPARATOR = " · "


class HeatController(QObject):
    """Fills the heat map of the Select page, and emits a signal with the model of a clicked cell.

    Parameters
    ----------
    theme : Theme
    session : Session
    paths : ShownPaths
        Has the measures along the paths of the shown run.

    Attributes
    ----------
    picked : Signal(int, int)
        The user picked a cell: position of its combination, and place
        of its model on the path.
    confirmed : Signal()
        The user chooses the model that was picked last.
    """

    picked = Signal(object, int)
    confirmed = Signal()

    def __init__(
        self,
        theme: Theme,
        session: Session,
        paths: ShownPaths,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._paths = paths
        self.panel = HeatView(theme)
        self._drawn: RunRecord | None = None  # the run whose values the cells show
        self._grids: GridMap | None = None  # None for a map over settings and k
        self._pair: Pair | None = None  # positions of the two grids among the axes

        # The chosen and the inspected model: run, position of the
        # combination, and x on its path (number of features, or round).
        self._marked: tuple[RunRecord, int, int] | None = None
        self._inspected: tuple[RunRecord, int, int] | None = None
        self.panel.plot.picked.connect(self._pick)

        # A double click on a cell, or Enter, chooses its model.
        self.panel.plot.confirms = True
        self.panel.plot.confirmed.connect(self.confirmed)
        self.panel.viewChanged.connect(self.draw)

    def arrange(self, plan: Plan, measured: bool) -> bool:
        """Offer the maps of a plan, and return whether any map can be shown.

        ``measured`` says whether the data have a validation part.
        """
        # The key of a map is a pair of grids, or SIZES.
        pairs = grid_pairs(plan.axes)
        views: list[tuple[object, str]] = [
            (pair, _grid_map_title(plan.axes, pair)) for pair in pairs
        ]
        # A method that selects features also has a map over settings and k.
        if has_map(plan):
            views.append(
                (
                    SIZES,
                    tr("settings × k")
                    if len(plan.axes) > 1
                    else _size_map_title(plan.axes),
                )
            )

        # Left-out queries are measured if they select the model, or if
        # the user wants. They are shown first if they select the model,
        # or nothing else is measured.
        left_out = plan.leaves_out or self._paths.left_out.shown
        left_out_first = plan.leaves_out or not measured
        self.panel.offer(
            views,
            both_parts=measured and left_out,
            left_out=left_out,
            left_out_first=left_out_first,
        )
        return (measured or left_out) and bool(views)

    @Slot()
    def draw(self) -> None:
        """Draw the measures that are known by now, or the reason why there are none.

        The map shows each combination of parameters by size, or two grids.
        """
        current = self._paths.current.shown
        problem = self._paths.problem
        record = current.record
        dataset = current.dataset

        # The run of the map, its grids and their positions. Without
        # these, no cell belongs to a model until the map is drawn
        # again.
        self._drawn = self._grids = self._pair = None

        # A map of left-out measures needs them for all combinations,
        # not only for the chosen one.
        self._paths.left_out.measure_all(self.panel.left_out())

        # The map is empty without a run, or if the plan has no
        # parameters to compare. `view` is the key of the map: SIZES, or
        # a pair of grids.
        view = self.panel.view()
        if (
            record is None
            or dataset is None
            or problem
            or view is None
            or not record.plan.axes
        ):
            self.panel.clear(problem)
            return
        self._drawn = record

        # The title names the measure that is shown.
        title = tr("validation {name}")
        if self.panel.left_out():
            leaves_pairs = record.plan.pairs_out
            title = (
                tr("leave-pair-out {name}")
                if leaves_pairs
                else tr("leave-query-out {name}")
            )
        title = title.format(name=self._session.measure)

        # The map is either over the number of features or over two
        # grids. The first has a column for each size that a path of the
        # plan can reach.
        if view == SIZES:
            self._draw_sizes(
                record, title, longest_path(record.plan, dataset.n_features)
            )
        else:
            self._draw_grids(record, title, view)  # type: ignore[arg-type]  # any other key is a pair
        self._mark()

    def mark(self, combination: int | None, x: int = 0) -> None:
        """Outline the cell of the chosen model; None removes the outline.

        ``combination`` is the position of its combination, ``x`` its
        number of features or round.
        """
        self._marked = self._model(combination, x)
        self._mark()

    def inspect(self, combination: int | None, x: int = 0) -> None:
        """Outline the cell of the inspected model; None removes the outline.

        ``combination`` is the position of its combination, ``x`` its
        number of features or round.
        """
        self._inspected = self._model(combination, x)
        self._mark()

    def _model(
        self, combination: int | None, x: int
    ) -> tuple[RunRecord, int, int] | None:
        """Return the shown run with a combination and an x on its path; None without run or combination.

        ``combination`` is a position among the run's combinations of
        parameters, and ``x`` a number of features, an iteration or a
        round.
        """
        record = self._paths.current.shown.record
        return (
            None if combination is None or record is None else (record, combination, x)
        )

    def _draw_sizes(self, record: RunRecord, title: str, n_columns: int) -> None:
        """Show the measure of each combination by the number of features, in at least ``n_columns`` columns.

        ``title`` is the name of the measure. A row is a combination of
        parameters, column j the models with j + 1 features.
        """
        curves = [
            self._curve(record, combination)
            for combination in range(len(record.combinations))
        ]
        max_size = max(int(sizes.max(initial=0)) for sizes, _ in curves)
        matrix = np.full((len(curves), max(max_size, n_columns)), np.nan)
        # A `row` is a view of the matrix, so that it is filled here.
        for row, (sizes, values) in zip(matrix, curves, strict=True):
            has_cell = sizes > 0  # a model without a feature has no cell
            row[sizes[has_cell] - 1] = values[has_cell]

        # Rows are labelled with the values that differ between combinations.
        axes = record.plan.axes
        varied = varied_axes(record.combinations)
        labels = [
            _SEPARATOR.join(axis_value(axes[i], values[i]) for i in varied)
            for values in record.combinations
        ]
        self.panel.show_sizes(
            labels, matrix, title, _SEPARATOR.join(tr(axes[i].label) for i in varied)
        )

    def _draw_grids(self, record: RunRecord, title: str, pair: Pair) -> None:
        """Show the best measure over two grids of values, of which ``pair`` has the positions among the axes."""
        # The values of the map, each the best over all other
        # parameters. `_curve` has the measures of a combination at each
        # x of its path.
        axes = record.plan.axes
        higher = measure(self._session.measure).higher_is_better
        self._pair = pair
        grids = grid_map(
            axes,
            record.combinations,
            pair,
            lambda combination: self._curve(record, combination),
            higher,
        )
        self._grids = grids

        # The other parameters, over which the best value is taken. One
        # of them is the number of features, k, if the method selects
        # them one after the other.
        other_labels = [
            tr(axis.label)
            for index, axis in enumerate(axes)
            if index not in pair and len(axis.values) > 1
        ]
        has_sizes = (
            record.plan.step_kind is not StepKind.ITERATIONS
            and record.plan.entry.selects
        )
        other_labels += ["k"] if has_sizes else []

        # The map is labelled with the values of its two grids.
        row_labels, column_labels = (
            [axis_value(axis, value) for value in axis.values]
            for axis in (grids.rows, grids.columns)
        )
        self.panel.show_grids(
            row_labels,
            column_labels,
            grids.values,
            best=grids.best,
            title=title,
            names=_grid_names(axes, pair),
            other_parameters=other_labels,
        )

    def _curve(self, record: RunRecord, combination: int) -> Curve:
        """Return the x of each model of a path, and its shown measure; both are empty without a measure.

        The path is that of a combination of parameters, by its position
        in the plan. An x is a number of features, an iteration or a
        round. While all folds are shown, the measure is the mean over
        folds. Only the last iteration of an optimizer is a model, so
        only this iteration is returned.
        """
        # The measure that is shown: validation, or left-out.
        name = self._session.measure
        fold = self._paths.fold
        if self.panel.left_out():
            name = left_out_name(name, pairs=record.plan.pairs_out)

        # Iterations end in one model, of which the measure is the last one.
        models = (
            slice(-1, None)
            if record.plan.step_kind is StepKind.ITERATIONS
            else slice(None)
        )

        # All folds: the mean of the curve over the folds. `across` has
        # the mean and the interval of one measure.
        if fold is None:
            mean = self._paths.mean(record, combination)
            across = mean.validation.get(name) if mean else None
            if mean is not None and across is not None:
                return mean.x_values[models], across.mean[models]
            return np.empty(0, dtype=np.int64), np.empty(0)

        # One fold: the curve of its path, once all of its models are measured.
        path = record.paths.get((fold, combination))
        measured = self._paths.measures(record, (fold, combination), complete=True).get(
            name
        )
        if path is not None and measured is not None:
            return path.x_values[models], np.asarray(measured, dtype=np.float64)[models]
        return np.empty(0, dtype=np.int64), np.empty(0)

    def _mark(self) -> None:
        """Mark the cells of the chosen and the inspected model; a model without a cell has no mark."""
        plot = self.panel.plot
        plot.select(*(self._cell(self._marked) or (None,)))
        plot.inspect(*(self._cell(self._inspected) or (None,)))

    def _cell(self, model: tuple[RunRecord, int, int] | None) -> tuple[int, int] | None:
        """Return the row and column of a model's cell; None without a model or cell.

        ``model`` is a run, the position of a combination, and the x on
        its path. There is no cell if the map shows another run, or if a
        value of the model is none of the grids' values.
        """
        # The map may still be that of a run which was shown before.
        drawn = self._drawn
        if (
            model is None
            or drawn is None
            or drawn is not self._paths.current.shown.record
        ):
            return None
        record, combination, x = model
        if record is not drawn:
            return None

        # Over settings and k, the first column has k = 1.
        if self._grids is None or self._pair is None:
            return combination, x - 1
        values = record.combinations[combination]
        cell = self._grids.cell([values[index] for index in self._pair])
        return (int(cell[0]), int(cell[1])) if cell else None

    @Slot(int, int)
    def _pick(self, row: int, column: int) -> None:
        """Emit `picked` for the model of a cell: its combination, and its x on the path."""
        # Over settings and k, a row is a combination, and the first
        # column has k = 1. Over grids, `combinations` and `lengths`
        # have the combination of the best model of each cell (-1
        # without a model) and its x on the path.
        if self._grids is None:
            self.picked.emit(row, column + 1)
        elif self._grids.combinations[row, column] >= 0:
            cell = row, column
            self.picked.emit(
                int(self._grids.combinations[cell]), int(self._grids.lengths[cell])
            )


def _size_map_title(axes: tuple[Axis, ...]) -> str:
    """Return the title of the map over settings and k: "λ × k"."""
    return f"{_SEPARATOR.join(tr(axis.label) for axis in axes)} × k"


def _grid_names(axes: tuple[Axis, ...], pair: Pair) -> tuple[str, str]:
    """Return the names of two grids; if both belong to one method, without the method's name."""
    rows, columns = (axes[index] for index in pair)
    if rows.ranker == columns.ranker:
        return tr(rows.parameter.label), tr(columns.parameter.label)
    return tr(rows.label), tr(columns.label)


def _grid_map_title(axes: tuple[Axis, ...], pair: Pair) -> str:
    """Return the title of the map over two grids: "γ × λ"."""
    return " × ".join(_grid_names(axes, pair))
