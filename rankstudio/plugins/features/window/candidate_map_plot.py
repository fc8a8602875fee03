"""A map of a path's candidates: a row per feature, a column per step, brighter cells for better scores."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest
from math import ceil

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QResizeEvent

from rankstudio.engine.analysis.features.candidate_map import CandidateMap
from rankstudio.engine.arrays import Ints
from rankstudio.engine.export.figures.values import FigureAxis, MapFigure
from rankstudio.engine.methods.catalog.method import CandidateScore
from rankstudio.engine.support.number_format import percentage, significant
from rankstudio.ui.language import tr
from rankstudio.ui.plots import HeatMapPlot
from rankstudio.ui.plots.axes import AIR
from rankstudio.ui.plots.base import CellValue, Numbers, describe, floats
from rankstudio.ui.plots.layers import Frame, pen
from rankstudio.ui.plots.maps.heat_map import (
    BAR_WIDTH,
    ColorBar,
    color_bar_width,
    draw_cells,
    draw_color_bar,
    draw_values,
    outline,
)
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import TINY, font
from rankstudio.ui.style.theme import Theme

ROW = 17
"""Minimum height of a row in pixels, at which its name can be read."""

COLUMN = 14
"""Minimum width of a column, in pixels."""

HEADER = 22
"""Height of the row of step numbers, in pixels."""

_N_MEASURED_NAMES = 200  # names whose width is measured: the longest ones
_MAX_CELL_WIDTH = 44  # pixels
_MAX_CELL_HEIGHT = 26
_MAX_NAMES_SHARE = 0.38  # share of the width that the names of features may take
_MAX_BAR_HEIGHT = 120.0


class CandidateMapPlot(HeatMapPlot):
    """A plot of the candidates of a path, colored by their scores or ranks at each step.

    Rows are features, from top to bottom in the order of the path;
    columns are steps. The selection of each step is outlined, and the
    row of the inspected feature and the column of the inspected step
    are marked. A click or an arrow key inspects the feature and the
    step of a cell.

    Attributes
    ----------
    shown : CandidateMap or None
        The part of the map for which there is room.
    cellPicked : Signal(int, int)
        The user clicked a cell or moved to it by an arrow key: the
        feature's column in the data, and the position of the step on
        the path.
    """

    cellPicked = Signal(int, int)

    def __init__(self, theme: Theme) -> None:
        # The whole map, and the part of it that fits into the plot.
        self._whole_map: CandidateMap | None = None
        self.shown: CandidateMap | None = None
        self._all_names: Sequence[str] = ()  # of all features of the data
        self._ids: Sequence[int] | Ints = ()
        self._feature: int | None = None  # column of the inspected feature
        self._step_position: int | None = None  # of the inspected step, on the path
        self._score: CandidateScore | None = None
        self._shows_ranks = False
        self._labels: tuple[str, ...] = ()  # names of the shown rows
        self._marked_row: int | None = None  # from the top
        self._marked_column: int | None = None

        # names of the rows and columns, and the range of the colors
        super().__init__(theme, names=("", tr("step")), limits=(0.0, 1.0))

    @property
    def _step_name(self) -> str:
        """Name of a column, such as "step" or "iteration"."""
        _, column_name = self._names
        return column_name

    def set_map(
        self,
        candidate_map: CandidateMap | None,
        names: Sequence[str],
        score: CandidateScore | None,
        steps: str = "step",
        ids: Sequence[int] | Ints = (),
    ) -> None:
        """Show another map of candidates.

        Parameters
        ----------
        candidate_map : CandidateMap or None
            None shows an empty plot.
        names : sequence of str
            Names of all features.
        score : CandidateScore or None
            The kind of score, with its name; None without candidates.
        steps : str
            Name of a column: "step", "iteration".
        ids : sequence of int
            Ids of all features; without them the plot does not know the
            feature under the mouse.
        """
        self.set_names("", steps)
        self._whole_map = candidate_map
        self._score = score
        self._all_names = names
        self._ids = ids
        self._apply()

    def set_ranked(self, ranked: bool) -> None:
        """Show ranks rather than scores."""
        self._shows_ranks = self.written = ranked
        self._apply()

    def mark(self, feature: int | None, step_position: int | None) -> None:
        """Mark the inspected feature and the inspected step.

        ``feature`` is the column of the feature, and ``step_position``
        the position of the step on the path; None removes a mark.
        """
        self._feature = feature
        self._step_position = step_position
        self._apply()

    def key(self) -> tuple[str, str, str]:
        """Return the meanings of the best, the middle and the worst color."""
        # A color is a share of the step's best score. Of a score whose
        # least value is selected, the share is the best score divided
        # by it. Without a zero, it is the position between the worst
        # and the best score.
        if self._shows_ranks:
            return tr("first"), tr("middle"), tr("last")
        if self._score is not None and self._score.least:
            return tr("drops out"), tr("twice it"), tr("far above")
        if self._score is not None and not self._score.from_zero:
            return tr("selected"), tr("halfway"), tr("the worst")

        # whether each step adds to the features of the one before
        growing = self._whole_map is None or self._whole_map.growing
        return (
            tr("selected") if growing else tr("maximum"),
            tr("half"),
            tr("none", "share"),  # "none" in the context of a share, for translators
        )

    # HeatMapPlot

    def frame_for(self, size: QSizeF) -> Frame:
        """Return the frame of the cells.

        ``size`` is that of the whole plot in pixels. The names are at
        the left of the frame, the numbers of steps above it, and the
        color bar at its right.
        """
        metrics = QFontMetricsF(font(TINY, bold=True))  # the marked feature is bold
        features = self._whole_map.features if self._whole_map else ()

        # The names of all features are measured, shown or not, so that
        # the columns do not move. Of ten thousand names, measuring the
        # longest ones is enough.
        names = nlargest(
            _N_MEASURED_NAMES, (self._all_names[f] for f in features), key=len
        )
        widest = max(map(metrics.horizontalAdvance, names), default=0.0)

        # Between two parts there are AIR pixels. The numbers of steps
        # above need HEADER pixels, and 4 are free below.
        left = ceil(min(widest, size.width() * _MAX_NAMES_SHARE)) + AIR + 1
        right = color_bar_width(self.key()) + 3 * AIR
        width = max(1.0, size.width() - left - right)
        height = max(1.0, size.height() - HEADER - 4)
        if self.shown is not None:
            width = min(width, _MAX_CELL_WIDTH * len(self.shown.numbers))
            height = min(height, _MAX_CELL_HEIGHT * len(self.shown.features))
        area = QRectF(left, HEADER, width, height)
        return Frame(area, QRectF(QPointF(0, 0), size), (0.0, 1.0), (0.0, 1.0))

    def color_bar(self, frame: Frame) -> ColorBar:
        """Return the color bar with the meanings of the colors."""
        height = min(_MAX_BAR_HEIGHT, frame.area.height())
        bar = QRectF(frame.area.right() + 2 * AIR, frame.area.top(), BAR_WIDTH, height)
        return ColorBar(bar, list(zip((1.0, 0.5, 0.0), self.key(), strict=True)))

    def text_of(self, row: int, column: int) -> str:
        """Return the rank or the score of a cell, its row counted from the bottom."""
        if self.shown is None:
            return ""
        values = self.shown.ranks if self._shows_ranks else self.shown.scores
        value = float(values[self._flipped(row), column])
        if np.isnan(value):
            return ""
        return f"{value:.0f}" if self._shows_ranks else significant(value)

    def readout(self, cell: tuple[int, int]) -> list[Line]:
        """Return the lines of the box on a cell: its feature and step, its score, share and rank.

        A cell is a row, counted from the bottom, and a column.
        """
        if self.shown is None:
            return []
        row_from_below, column = cell
        row = self._flipped(row_from_below)
        location = tr("{labels} at {names} {numbers}").format(
            labels=self._labels[row],
            names=self._step_name,
            numbers=self.shown.numbers[column],
        )
        value = float(self.shown.scores[row, column])
        share = float(self.shown.shares[row, column])
        if np.isnan(value):
            # `is_selected` says which feature each step selects.
            reason = (
                tr("selected without comparison")
                if self.shown.is_selected[row, column]
                else tr("no candidate")
            )
            return [Line(location, bold=True), Line(reason)]
        lines = [
            Line(
                tr(self._score.name) if self._score else tr("score"),
                significant(value),
                bold=True,
            ),
            Line(location),
        ]
        # A share of the best score has a meaning only if the best score
        # is the greatest, and 0 means no effect.
        if self._score is not None and self._score.from_zero and not self._score.least:
            lines.append(Line(tr("share of the best"), percentage(share)))
        n_candidates = int(self.shown.n_candidates[column])
        rank = tr("{ranks:.0f} of {of}").format(
            ranks=self.shown.ranks[row, column], of=n_candidates
        )
        return [*lines, Line(tr("rank"), rank)]

    def feature_of(self, cell: tuple[int, int]) -> int:
        """Return the id of the feature in a cell's row; 0 if it is not known."""
        if self.shown is None or not len(self._ids):
            return 0
        row_from_below, _ = cell
        return int(self._ids[self.shown.features[self._flipped(row_from_below)]])

    def figure(self) -> MapFigure:
        """Return the visible part of the map; the selection of each step is outlined."""
        visible = self.shown
        if visible is None:
            return super().figure()
        ranked = self._shows_ranks
        values = visible.ranks if ranked else visible.shares
        score = self._score.name if self._score else ""
        title = (
            tr("rank among the candidates")
            if ranked
            else tr("share of the best score of the step")
        )

        # The scale goes from the first rank, 1, or the share 0, to the
        # greatest value. Ranks are written into the cells, the first in
        # the darkest color.
        greatest = float(np.nanmax(values)) if np.isfinite(values).any() else 1.0
        figure_title = self.accessibleName()
        if score:
            figure_title = tr("{score} of the candidates by step").format(
                score=tr(score)
            )
        return MapFigure(
            "figure",
            title=figure_title,
            caption="",
            rows=tuple(self._all_names[feature] for feature in visible.features),
            columns=tuple(map(str, visible.numbers)),
            values=tuple(floats(row) for row in values),
            row_title="",
            column_title=self._step_name,
            color=FigureAxis(
                title,
                whole=ranked,
                low=float(ranked),
                high=max(greatest, 1.0),
            ),
            decimals=0 if ranked else 2,
            written=ranked,
            first_dark=ranked,
            marked=tuple(
                (int(row), int(column))
                for row, column in np.argwhere(visible.is_selected)
            ),
            mark_label=tr("selected"),
        )

    def numbers(self) -> Numbers:
        """Return the scores or ranks of the whole map.

        There is a row for each feature, and a column for each step.
        """
        if self.shown is None:
            return ["feature"], []
        assert self._whole_map is not None
        values = self._whole_map.ranks if self._shows_ranks else self._whole_map.scores
        names = [self._all_names[f] for f in self._whole_map.features]
        rows: list[list[CellValue]] = [
            [label, *map(float, row)] for label, row in zip(names, values, strict=True)
        ]
        return [
            "feature",
            *(f"{self._step_name} {n}" for n in self._whole_map.numbers),
        ], rows

    def click(self, point: QPointF) -> None:
        """Pick the cell under the mouse.

        A click on a feature's name picks the cell in the marked column.
        """
        # A name is left of the cells: the point is moved to the first
        # cell of its row. `step_positions` has the positions of the
        # shown steps on the path.
        frame = self.frame()
        cell = self.hit_test(QPointF(max(point.x(), frame.area.left()), point.y()))
        if cell is not None and self.shown is not None:
            row_from_below, column = cell
            step_position = self.shown.step_positions[column]
            is_on_name = point.x() < frame.area.left()
            if is_on_name and self._step_position is not None:
                step_position = self._step_position
            self.cellPicked.emit(
                self.shown.features[self._flipped(row_from_below)], step_position
            )

    def confirm(self, cell: tuple[int, int]) -> None:
        """Choose the inspected model: the click before has picked that of the cell."""
        self.confirmed.emit()

    def step(self, right: int, down: int) -> bool:
        """Move the marks of feature and step by a cell, also beyond the visible part of the map.

        Return whether there is a map. ``right`` and ``down`` are -1, 0
        or 1, by the arrow key.
        """
        full_map = self._whole_map
        if full_map is None or self.shown is None:
            return False

        # The visible rows are followed by the others in the order of the whole map.
        rest = [f for f in full_map.features if f not in self.shown.features]
        features = [*self.shown.features, *rest]

        # Of iterations and rounds, only some are in the map, and the
        # marks move between these. Positions are those on the path.
        step_positions = (
            self.shown.step_positions
            if not full_map.growing
            else full_map.step_positions
        )

        # Without an inspected feature, any arrow key leads to the first row.
        row = features.index(self._feature) if self._feature in features else -down
        step_position = self._step_position or 0
        column = min(
            range(len(step_positions)),
            key=lambda index: abs(step_positions[index] - step_position),
        )
        row = int(np.clip(row + down, 0, len(features) - 1))
        column = int(np.clip(column + right, 0, len(step_positions) - 1))
        self.cellPicked.emit(features[row], step_positions[column])
        return True

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Show as much of the map as fits."""
        super().resizeEvent(event)
        if self._whole_map is not None:
            self._apply()

    def draw_map(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw cells, names, steps, selections, marks, and the color bar."""
        if self.is_empty() or self.shown is None:
            return
        draw_cells(self, painter, frame)
        if self.written:  # whether cells contain their numbers
            draw_values(self, painter, frame)
        self._draw_names(painter, frame, colors)
        self._draw_steps(painter, frame, colors)
        for row, column in np.argwhere(self.shown.is_selected).tolist():
            cell = self._flipped(row), column

            # A dark line on a wider white one is visible on light and dark cells.
            outline(self, painter, frame, cell, QColor("#ffffff"), 3.0)
            outline(self, painter, frame, cell, QColor("#11151c"), 1.6)

        # A frame around the row of the inspected feature, with its name.
        if self._marked_row is not None:
            row_from_below = self._flipped(self._marked_row)
            first_cell = self.cell_rect(frame, row_from_below, 0)
            last_cell = self.cell_rect(frame, row_from_below, self.values.shape[1] - 1)
            painter.setPen(pen(colors.q("accent"), 1.6))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            box = QRectF(QPointF(1, first_cell.top() - 1), last_cell.bottomRight())
            painter.drawRoundedRect(box, 3, 3)
        if self.under_mouse is not None:
            outline(self, painter, frame, self.under_mouse, colors.q("muted"), 1.0)
        draw_color_bar(painter, self.color_bar(frame), colors)

    # Parts

    def _apply(self) -> None:
        """Cut the map to the size of the plot, and draw it with the marked row and column."""
        full_map = self._whole_map
        if full_map is None:
            self.shown = None
            self._labels = ()
            self._marked_row = None
            self._marked_column = None
            self.set_values(np.empty((0, 0)), (), ())
            return

        # Without a shown part, the frame is as large as the plot allows.
        self.shown = None
        area = self.frame().area
        n_rows = int(area.height() // ROW)
        n_columns = int(area.width() // COLUMN)

        # the part of the map with the inspected step and feature
        visible = full_map.view(n_rows, n_columns, self._step_position, self._feature)
        self.shown = visible
        self._labels = tuple(self._all_names[f] for f in visible.features)
        self._marked_row = None
        if self._feature in visible.features:
            self._marked_row = visible.features.index(self._feature)
        self._marked_column = None
        if self._step_position is not None:
            self._marked_column = int(
                np.abs(np.array(visible.step_positions) - self._step_position).argmin()
            )

        # Colors need values from 0 to 1: the shares, or 1 for the first
        # rank and 0 for the last.
        values = visible.shares
        if self._shows_ranks:
            values = 1.0 - (visible.ranks - 1.0) / np.maximum(
                1.0, visible.n_candidates - 1.0
            )

        # The rows of a heat map are counted from the bottom.
        self.set_values(
            values[::-1], self._labels[::-1], tuple(map(str, visible.numbers))
        )

    def _flipped(self, row: int) -> int:
        """Convert a row number from counting from the top to counting from the bottom, or back."""
        return len(self._labels) - 1 - row

    def _draw_names(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Write the names of the features left of their rows.

        The name of the inspected feature is bold.
        """
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for row, label in enumerate(self._labels):
            rect = self.cell_rect(frame, self._flipped(row), 0)
            box = QRectF(1, rect.top(), rect.left() - AIR, rect.height())
            is_marked = row == self._marked_row
            painter.setFont(font(TINY, bold=is_marked))
            painter.setPen(colors.q("text" if is_marked else "muted"))
            text = painter.fontMetrics().elidedText(
                label, Qt.TextElideMode.ElideMiddle, int(box.width())
            )
            painter.drawText(box, flags, text)

    def _draw_steps(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Write the numbers above as many columns as fit, including the marked step."""
        assert self.shown is not None
        painter.setFont(font(TINY))
        painter.setPen(colors.q("muted"))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(
            QRectF(0, 0, frame.area.left() - AIR, HEADER - 3), right, self._step_name
        )
        n = len(self.shown.numbers)
        metrics = QFontMetricsF(font(TINY))

        # Every ``stride``-th column has a number, but none so close to
        # the marked one that the two would overlap. A number has 6
        # pixels of space beside it.
        number_width = max(
            metrics.horizontalAdvance(str(self.shown.numbers[-1])) + 6.0, 14.0
        )
        stride = max(1, int(np.ceil(number_width * n / frame.area.width())))
        for column in range(n):
            is_marked = column == self._marked_column
            is_beside_marked = (
                self._marked_column is not None
                and 0 < abs(column - self._marked_column) < stride
            )
            is_skipped = bool(column % stride) or (is_beside_marked and stride > 1)
            if is_skipped and not is_marked:
                continue
            rect = self.cell_rect(frame, self._flipped(0), column)
            painter.setFont(font(TINY, bold=is_marked))
            painter.setPen(colors.q("accent" if is_marked else "muted"))

            # a box 40 pixels wide around the middle of the column
            box = QRectF(rect.center().x() - 20, 0, 40, HEADER - 3)
            painter.drawText(
                box, Qt.AlignmentFlag.AlignCenter, str(self.shown.numbers[column])
            )

    def summary(self) -> str:
        """Describe the map and its marked cell."""
        visible = self.shown
        if visible is None or self._score is None:
            return ""
        title = tr("{title}: {n_features} candidates at {n_steps} steps").format(
            title=tr(self._score.title),
            n_features=visible.n_features,
            n_steps=visible.n_steps,
        )
        if self._marked_row is None or self._marked_column is None:
            return title
        lines = self.readout((self._flipped(self._marked_row), self._marked_column))
        return describe(
            [title, *(f"{line.text} {line.value}".strip() for line in lines)]
        )
