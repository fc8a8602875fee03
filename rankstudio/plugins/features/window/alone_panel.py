"""Single features: a plot of how each feature ranks alone, its panel, and the controller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, QPointF, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.export.figures.values import FigureAxis, RowSeries, RowsFigure
from rankstudio.engine.support.number_format import percentage
from rankstudio.plugins.features.window.controller import FeaturesController
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand
from rankstudio.ui.background.worker import CancelFlag
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.plots.axes import Axes
from rankstudio.ui.plots.base import (
    MOST_ROWS,
    CellValue,
    Numbers,
    Plot,
    describe,
    floats,
)
from rankstudio.ui.plots.layers import Frame, draw_marker, padded, pen
from rankstudio.ui.plots.legend import draw_entry
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import SMALL, font
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel, Segmented
from rankstudio.ui.widgets.layout import named

if TYPE_CHECKING:
    from rankstudio.engine.analysis.features.features_alone import FeaturesAlone
    from rankstudio.engine.data.dataset import Fold, FoldedDataset

_NO_DOCUMENTS = tr("Open the data to see how each feature ranks alone.")
_MEASURING = tr("Measuring each feature alone …")
_OPTIONS = ((False, tr("sorted")), (True, tr("by id")))
_RADIUS = 3.4  # pixels of a dot
_LEAST_RADIUS = 1.6  # pixels of a dot if there are many features
_BETWEEN = 14.0  # pixels between entries of the legend


class AlonePanel(Panel):
    """A plot of how each feature ranks alone on each part.

    A part is the training, validation or test part of a fold. The user
    sorts the features by measure or by id.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Single features"), name="alone-panel")
        self.plot = named(AlonePlot(theme), "alone-plot", tr("Single features"))
        self.switch = named(Segmented(_OPTIONS, tr("order"), wide=True), "alone-switch")
        self.tools.addWidget(self.switch)
        self.set_content(self.plot)
        self.switch.chosen.connect(self.plot.set_by_id)
        self.clear()

    def show_features(
        self, features_alone: FeaturesAlone, ids: Ints, names: Sequence[str]
    ) -> None:
        """Show how well features rank the documents alone.

        ``ids`` and ``names`` are those of all columns of the data.
        """
        columns = features_alone.columns
        self.plot.set_features(
            features_alone, ids[columns], [names[column] for column in columns.tolist()]
        )
        self.mark((), None)

    def mark(self, selected: Sequence[int], feature: int | None) -> None:
        """Fill the dots of a model's columns, and mark the column of the inspected feature.

        Columns are those of the data; the plot, which may have only
        some of them, counts its own features by position.
        """
        columns = (
            self.plot.shown.columns
            if self.plot.shown is not None
            else np.empty(0, dtype=np.int64)
        )
        self.plot.mark(
            np.flatnonzero(np.isin(columns, list(selected))).tolist(),
            next(iter(np.flatnonzero(columns == feature).tolist()), None),
        )
        n_shown = self.plot.shown.order.size if self.plot.shown is not None else 0
        self.set_caption(
            tr("filled: in the model") if 0 < len(selected) < n_shown else ""
        )

    def show_share(self, share: float | None) -> None:
        """Show in the caption the share of features that are measured so far.

        If ``share`` is None, the caption is cleared.
        """
        self.set_caption(
            tr("{share} measured").format(share=percentage(share))
            if share is not None
            else ""
        )

    def clear(self, reason: str = _NO_DOCUMENTS) -> None:
        """Remove the features, and show the reason."""
        self.plot.placeholder = reason
        self.plot.set_features(None, np.empty(0, dtype=np.int64), ())
        self.set_caption("")


class AloneController(Controller):
    """Measures every feature of the current fold alone, by the measure that is shown.

    Parameters
    ----------
    theme : Theme
    models : Models
    features_controller : FeaturesController
        Controller that has the inspected feature, and inspects a clicked one.
    """

    def __init__(
        self,
        theme: Theme,
        models: Models,
        features_controller: FeaturesController,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        session = models.session
        current = models.current
        worker = models.task_worker
        self._session = session
        self._current = current
        self._features_controller = features_controller
        self._absence = models.absence

        # The data whose measures are shown, or are being computed.
        self._measured_dataset: FoldedDataset | None = None
        self.panel = AlonePanel(theme)
        self.panels = (self.panel,)
        self.panel.plot.picked.connect(self._on_picked)

        # The measures are computed again if the key has changed after
        # one of the signals `on`, and the panel is visible. Other jobs
        # are done between two of its results.
        triggers = (
            session.datasetChanged,
            session.foldChanged,
            session.measureChanged,
            session.planChanged,
        )
        self._measures_demand = OnDemand(
            parent=self,
            worker=worker,
            key=self._key,
            compute=self._measure,
            failed=self._fail,
            slot="alone",
            panel=self.panel,
            on=(*triggers, models.absence.changed),
            clear=self._clear,
            stops_when_hidden=True,
            gives_way=True,
        )
        current.changed.connect(self._mark)
        session.inspected.connect(self._mark)

    @Slot()
    def update(self) -> None:
        """Show how the features rank alone, if visible."""
        self._measures_demand.update()
        self._mark()

    def leave(self) -> None:
        """Stop measuring for a hidden page."""
        self._measures_demand.update()

    def _key(self) -> Key | None:
        """Return everything on which the measures of single features depend; None without documents.

        While all folds are shown, the first one is measured.
        """
        session = self._session
        dataset = self._session.dataset
        if dataset is None or not session.has_documents:
            return None
        return (
            session.shown_fold or dataset.folds[0],
            session.measure,
            session.convention,
            session.sealed,
        )

    def _measure(self) -> Computation | None:
        """Return the computation of the ranking by each feature alone; None without data."""
        session = self._session
        dataset = self._session.dataset
        if dataset is None:
            return None

        # Measures of the same data are shown until the new ones come.
        if self.panel.plot.shown is None or dataset is not self._measured_dataset:
            self.panel.clear(_MEASURING)
        self._measured_dataset = dataset
        ids = dataset.feature_ids
        names = dataset.feature_names

        def show(update: FeaturesAlone | float) -> None:
            """Show the measures, or the share of features that are measured so far.

            In the enclosing method are the ids and names of the data
            for which that method was called.
            """
            if isinstance(update, float):
                self.panel.show_share(update)
            else:
                self.panel.show_features(update, ids, names)
                self._mark()

        # `shown_fold` is the shown fold, None while all folds are shown.
        fold = session.shown_fold or dataset.folds[0]
        work = partial(
            _measured, fold, session.measure, session.convention, session.sealed
        )
        return Computation(tr("Measuring each feature alone"), work, show)

    def _fail(self, reason: str) -> None:
        self.panel.clear(reason)
        self.failed.emit(reason)

    def _clear(self) -> None:
        self._measured_dataset = None
        self.panel.clear(self._absence.documents(_NO_DOCUMENTS))

    @Slot()
    def _mark(self) -> None:
        """Mark the features of the chosen model, and the inspected feature.

        Nothing is done while the plot is hidden or empty.
        """
        model = self._current.model
        if self.panel.isVisible() and self.panel.plot.shown is not None:
            self.panel.mark(
                model.step.selected if model else (), self._features_controller.column
            )

    @Slot(int)
    def _on_picked(self, column: int) -> None:
        if self._session.dataset is not None:
            self._features_controller.show_at(self.panel.plot.feature_of(column), None)


def _measured(
    fold: Fold, measure: str, convention: str, sealed: bool, _: CancelFlag
) -> Iterator[FeaturesAlone | float]:
    """Measure how well each feature of a fold ranks the documents alone.

    ``measure`` and ``convention`` say how rankings are measured, and
    test parts are left out if ``sealed``. Yield the share that is done,
    repeatedly, and finally the measures of all features.
    """
    from rankstudio.engine.analysis.features.features_alone import measuring_alone  # noqa: PLC0415 - on the worker only

    yield (yield from measuring_alone(fold, measure, convention, sealed=sealed))


class AlonePlot(Plot):
    """A plot with a dot for each feature and part at the measure of the ranking by this feature alone.

    Dots of the model's features are filled. Vertical lines mark the
    inspected feature and the one under the mouse.

    Attributes
    ----------
    picked : Signal(int)
        The user clicked a feature or moved to it by the arrow keys: its
        position among the shown features.
    """

    picked = Signal(int)

    def __init__(self, theme: Theme) -> None:
        self.shown: FeaturesAlone | None = None
        self.by_id = False

        # Ids and names of the n features, their positions in the shown
        # order, whether they are in the model, and the position of the
        # inspected one.
        self._ids: Ints = np.empty(0, dtype=np.int64)
        self._names: tuple[str, ...] = ()
        self._order: Ints = np.empty(0, dtype=np.int64)
        self._selected: Bools = np.zeros(0, dtype=np.bool_)
        self._feature: int | None = None
        super().__init__(theme, Axes())

        # Layers by ascending depth: a line behind the dots, the dots, and the legend.
        self.add_layer(self._draw_marked, -1.0)
        self.add_layer(self._draw, 0.0)
        self.add_layer(self._draw_legend, 1.0, clipped=False)

    def set_features(
        self, features_alone: FeaturesAlone | None, ids: Ints, names: Sequence[str]
    ) -> None:
        """Show features with their ids and names; None shows an empty plot."""
        self.shown = features_alone
        self._ids = ids
        self._names = tuple(names)
        self._selected = np.zeros(ids.size if features_alone else 0, dtype=np.bool_)

        # Hide the box on the feature under the mouse, which may be gone.
        self.under_mouse = None
        self.box.hide_readout()
        self._arrange()

    @Slot(object)
    def set_by_id(self, by_id: bool) -> None:
        """Put the features in the order of their ids if ``by_id``, else the best first."""
        self.by_id = by_id
        self._arrange()

    def mark(self, selected: Sequence[int], feature: int | None) -> None:
        """Fill the dots of a model's features, and mark the inspected feature, None for none.

        ``selected`` and ``feature`` are positions among the features of
        the plot.
        """
        self._selected = np.zeros(self._order.size, dtype=np.bool_)

        # Positions beyond those of the shown features are ignored.
        self._selected[[column for column in selected if column < self._order.size]] = (
            True
        )
        self._feature = feature
        self.mark_dirty()

    # Plot

    def spans(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the ranges of the features' x values and of their measures.

        Both ranges have some space at the ends.
        """
        assert self.shown is not None  # the ranges of an empty plot are not asked for
        values = np.concatenate(list(self.shown.parts.values()))
        low = float(np.nanmin(values))
        high = float(np.nanmax(values))
        xs = self._x_values

        # Features are at a distance of 1 or more.
        return (float(xs[0]) - 0.7, float(xs[-1]) + 0.7), padded(low, high)

    def is_empty(self) -> bool:
        """Return whether nothing was measured."""
        return self.shown is None or not np.isfinite(self.shown.parts["train"]).any()

    def figure(self) -> RowsFigure:
        """Return a figure with a row per feature in the shown order; features of the model are highlighted.

        There are at most `MOST_ROWS` rows. If the model has all
        features, none is highlighted.
        """
        order = self._order[:MOST_ROWS].tolist()
        parts = self.shown.parts.items() if self.shown is not None else ()
        strong = frozenset(
            index for index, column in enumerate(order) if self._selected[column]
        )
        strong = strong if len(strong) < len(order) else frozenset()
        return RowsFigure(
            "figure",
            title=self.axes.title,
            caption="",
            axis=FigureAxis(self.axes.title),
            rows=tuple(
                f"{self._names[column]} ({self._ids[column]})" for column in order
            ),
            series=tuple(
                RowSeries(
                    tr(part), floats(values[column] for column in order), number=number
                )
                for number, (part, values) in enumerate(parts)
            ),
            strong=strong,
            strong_label=tr("in the model") if strong else "",
            row_title=tr("feature"),
        )

    def numbers(self) -> Numbers:
        """Return the numbers of the plot: a row for each feature in the shown order.

        A row has id, name, measures, and whether the feature is in the model.
        """
        if self.shown is None:
            return ["id", "feature"], []
        parts = self.shown.parts
        rows: list[list[CellValue]] = [
            [
                int(self._ids[column]),
                self._names[column],
                *(float(values[column]) for values in parts.values()),
                "yes" if self._selected[column] else "no",
            ]
            for column in self._order.tolist()
        ]
        return ["id", "feature", *parts, tr("in the model")], rows

    def beside_title(self, frame: Frame) -> float:
        """Return the pixels that the legend needs beside the title."""
        return sum(wide for _, wide in self._entries()) + 8.0

    def hit_test(self, point: QPointF) -> int | None:
        """Return the column of the feature above or below a pixel."""
        frame = self.frame()
        if self.is_empty() or not frame.area.adjusted(-4, -4, 4, 4).contains(point):
            return None
        nearest = int(np.argmin(np.abs(self._x_values - frame.x_at(point.x()))))
        return int(self._order[nearest])

    def readout(self, column: int) -> list[Line]:
        """Return the lines of the box on a feature: its name, and its measure on each part.

        ``column`` is its position among the features of the plot.
        """
        assert self.shown is not None  # in an empty plot, no feature is under the mouse
        styles = [
            palettes.category(self.theme.colors, i)
            for i in range(len(self.shown.parts))
        ]
        lines = [Line(f"{self._names[column]} ({self._ids[column]})", bold=True)]
        lines += [
            Line(tr(name), f"{values[column]:.4f}", style.color)
            for (name, values), style in zip(
                self.shown.parts.items(), styles, strict=True
            )
        ]
        if self.shown.ascending[column]:
            lines.append(Line(tr("small values first")))
        return [*lines, Line(tr("in the model"))] if self._selected[column] else lines

    def feature_of(self, column: int) -> int:
        """Return the id of the feature at a position among those of the plot."""
        return int(self._ids[column])

    def pick(self, column: int) -> None:
        """Pick the feature at a position among those of the plot."""
        self.picked.emit(column)

    def step(self, right: int, down: int) -> bool:
        """Move from feature to feature in the shown order; return whether the plot has features.

        ``right`` and ``down`` are -1, 0 or 1, by the arrow key.
        """
        if self.is_empty():
            return False
        current = self._index_of(self._feature)
        target = 0 if current is None else current + right + down
        self.picked.emit(int(self._order[min(max(0, target), self._order.size - 1)]))
        return True

    # Drawing

    @property
    def _x_values(self) -> Floats:
        """X values of the features, in the shown order."""
        if self.by_id:
            return self._ids[self._order].astype(np.float64)
        return np.arange(1.0, self._order.size + 1)

    def _index_of(self, column: int | None) -> int | None:
        """Return the index in the shown order of the feature in a column of the plot.

        Return None if the feature is not shown, or if ``column`` is None.
        """
        indices = (
            np.flatnonzero(self._order == column)
            if column is not None
            else self._order[:0]
        )
        return int(indices[0]) if indices.size else None

    def _draw(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the dots of the model's features above all others."""
        if self.shown is None or self.is_empty():
            return

        # Pixels between two features. With a radius of 0.4 of these,
        # the dots of neighbours do not touch.
        first_x, last_x = frame.x_range
        feature_width = frame.area.width() / max(1.0, last_x - first_x)
        radius = float(np.clip(feature_width * 0.4, _LEAST_RADIUS, _RADIUS))
        selected = self._selected[self._order]
        if not selected.any():  # without a model, all dots are filled
            selected = np.ones_like(selected)
        for filled in (False, True):  # filled dots are drawn last
            for i, values in enumerate(self.shown.parts.values()):
                style = palettes.category(colors, i)
                faded = QColor(style.color)
                faded.setAlphaF(0.55)
                painter.setPen(pen(style.color if filled else faded, 1.1))
                painter.setBrush(style.color if filled else Qt.BrushStyle.NoBrush)
                px, py = frame.pixels(self._x_values, values[self._order])
                for index in np.flatnonzero(
                    (selected == filled) & np.isfinite(py)
                ).tolist():
                    draw_marker(
                        painter, style.marker, QPointF(px[index], py[index]), radius
                    )

    def _draw_marked(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw a vertical line at the inspected feature, and one at the feature under the mouse."""
        # `_index_of` returns the position in the shown order. Half a
        # pixel is added, as lines are sharp only in the middle of
        # pixels.
        for column, color in (
            (self.under_mouse, colors.q("line")),
            (self._feature, colors.q("accent")),
        ):
            index = self._index_of(column)
            if index is not None:
                x = round(frame.x_px(float(self._x_values[index]))) + 0.5
                painter.setPen(pen(color, 1.4))
                painter.drawLine(
                    QPointF(x, frame.area.top()), QPointF(x, frame.area.bottom())
                )

    def _entries(self) -> list[tuple[str, float]]:
        """Return the entries of the legend with their widths."""
        metrics = QFontMetricsF(font(SMALL))
        names = [tr(name) for name in self.shown.parts] if self.shown else []
        return [
            (name, 12.0 + metrics.horizontalAdvance(name) + _BETWEEN) for name in names
        ]

    def _draw_legend(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the legend with the marker of each part, at the right of the title."""
        if self.is_empty():
            return
        entries = self._entries()

        # Each entry has the name of a part and a width, in which the
        # space after it is contained. All sizes are in pixels: a line
        # of 18, with a swatch of 8 for the marker.
        x = frame.area.right() - sum(width for _, width in entries) + _BETWEEN
        painter.setFont(font(SMALL))
        for i, (name, width) in enumerate(entries):
            box = QRectF(x, 0, width, 18)
            style = palettes.category(colors, i)
            draw_entry(
                painter,
                box,
                style,
                name,
                colors.q("text"),
                swatch=8,
                gap=4,
                marker=_RADIUS,
            )
            x += width

    def _arrange(self) -> None:
        """Sort the features in the chosen order, and set the titles of the axes."""
        if self.shown is None:
            self._order = np.empty(0, dtype=np.int64)
            self.set_axes(Axes())
        else:
            self._order = (
                np.argsort(self._ids, kind="stable") if self.by_id else self.shown.order
            )
            x = (
                tr("id of the feature")
                if self.by_id
                else tr("features, best on train first")
            )
            self.set_axes(
                Axes(
                    tr("{measure} alone").format(measure=self.shown.measure),
                    x,
                    integer_x=True,
                )
            )
        self.setAccessibleName(tr("Single features"))

    def summary(self) -> str:
        """Return a description of the plot for screen readers.

        The description has the best single feature, and the measures of
        the inspected feature.
        """
        if self.shown is None:
            return ""
        best = int(self.shown.order[0])
        train = self.shown.parts["train"]
        sentences = [
            tr("best single feature: {names}, {measure} {train:.4f} on train").format(
                names=self._names[best],
                measure=self.shown.measure,
                train=train[best],
            )
        ]
        column = self._feature
        if column is not None and column < train.size:
            values = ", ".join(
                f"{tr(name)} {part[column]:.4f}"
                for name, part in self.shown.parts.items()
            )
            sentences.append(f"{self._names[column]}: {values}")
        return describe(sentences)
