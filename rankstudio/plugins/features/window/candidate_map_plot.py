"""A path's candidates as a map: one row a feature, one column a step, brighter for a better score."""

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
    BAR,
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
"""Height of a row with which its name can be read, in pixels."""

COLUMN = 14
"""Least width of a column, in pixels."""

HEADER = 22
"""Height of the numbers of the steps."""

_N_MEASURED_NAMES = 200  # of the longest names
_MAX_CELL_WIDTH = 44  # of a cell, in pixels
_MAX_CELL_HEIGHT = 26
_MAX_NAMES_SHARE = 0.38  # share of the width that the names of features may take
_MAX_BAR_WIDTH = 120.0


class CandidateMapPlot(HeatMapPlot):
    """Rows from top to bottom in the order of the path, columns from the first step to the last.

    The selection of each step is outlined. The row of the inspected feature and the column of the chosen
    step are marked.

    Attributes
    ----------
    shown : CandidateMap or None
        The part of the map for which there is room.
    cellPicked : Signal(int, int)
        The feature (its column in the data) and the step (its place in the path) of the cell that was clicked
        or come to by an arrow key.
    """

    cellPicked = Signal(int, int)

    def __init__(self, theme: Theme) -> None:
        self._whole: CandidateMap | None = None
        self.shown: CandidateMap | None = None  # the part of it for which there is room
        self._all_names: Sequence[str] = ()
        self._ids: Sequence[int] | Ints = ()
        self._feature: int | None = None
        self._place: int | None = None
        self._score: CandidateScore | None = None
        self._ranked = False
        self._labels: tuple[str, ...] = ()
        self._row: int | None = None
        self._column: int | None = None
        super().__init__(theme, names=("", tr("step")), limits=(0.0, 1.0))

    def set_map(
        self,
        candidate_map: CandidateMap | None,
        names: Sequence[str],
        score: CandidateScore | None,
        steps: str = "step",
        ids: Sequence[int] | Ints = (),
    ) -> None:
        """Show other scores.

        Parameters
        ----------
        candidate_map : CandidateMap or None
            None for no scores.
        names : sequence of str
            Of all features.
        score : CandidateScore or None
        steps : str
            What one column is called: "step", "iteration".
        ids : sequence of int
            Of all features; without them nothing is said of the feature under the mouse.
        """
        self.set_names("", steps)
        self._whole = candidate_map
        self._score = score
        self._all_names = names
        self._ids = ids
        self._apply()

    def set_ranked(self, ranked: bool) -> None:
        """Show ranks rather than scores."""
        self._ranked = self.written = ranked
        self._apply()

    def mark(self, feature: int | None, step_position: int | None) -> None:
        """Mark the inspected feature (its column in the data) and the inspected step (its place)."""
        self._feature = feature
        self._place = step_position
        self._apply()

    def key(self) -> tuple[str, str, str]:
        """Return the meaning of the two ends and the middle of the colours, the best first."""
        if self._ranked:
            return tr("first"), tr("middle"), tr("last")
        if self._score is not None and self._score.least:
            return tr("drops out"), tr("twice it"), tr("far above")
        if self._score is not None and not self._score.from_zero:
            return tr("selected"), tr("halfway"), tr("the worst")
        growing = self._whole is None or self._whole.growing
        return tr("selected") if growing else tr("maximum"), tr("half"), tr("none", "share")

    # HeatMapPlot

    def frame_for(self, size: QSizeF) -> Frame:
        """Leave room for names at the left, numbers of steps above, and the key to the colours."""
        metrics = QFontMetricsF(font(TINY, bold=True))  # as the marked feature has it
        features = self._whole.features if self._whole else ()
        names = nlargest(
            _N_MEASURED_NAMES, (self._all_names[f] for f in features), key=len
        )  # of ten thousand
        widest = max(map(metrics.horizontalAdvance, names), default=0.0)
        left = (
            ceil(min(widest, size.width() * _MAX_NAMES_SHARE)) + AIR + 1
        )  # of all names, so that no column moves
        right = color_bar_width(self.key()) + 3 * AIR
        width = max(1.0, size.width() - left - right)
        height = max(1.0, size.height() - HEADER - 4)
        if self.shown is not None:
            width = min(width, _MAX_CELL_WIDTH * len(self.shown.numbers))
            height = min(height, _MAX_CELL_HEIGHT * len(self.shown.features))
        area = QRectF(left, HEADER, width, height)
        return Frame(area, QRectF(QPointF(0, 0), size), (0.0, 1.0), (0.0, 1.0))

    def color_bar(self, frame: Frame) -> ColorBar:
        """Return the bar of colours with their meanings."""
        height = min(_MAX_BAR_WIDTH, frame.area.height())
        bar = QRectF(frame.area.right() + 2 * AIR, frame.area.top(), BAR, height)
        return ColorBar(bar, list(zip((1.0, 0.5, 0.0), self.key(), strict=True)))

    def text_of(self, row: int, column: int) -> str:
        """Return the rank or the score of a cell, its row counted from the bottom."""
        if self.shown is None:
            return ""
        values = self.shown.ranks if self._ranked else self.shown.scores
        value = float(values[self._from_below(row), column])
        return "" if np.isnan(value) else f"{value:.0f}" if self._ranked else significant(value)

    def readout(self, cell: tuple[int, int]) -> list[Line]:
        """Return score, share and rank of a cell."""
        if self.shown is None:
            return []
        row = self._from_below(cell[0])
        column = cell[1]
        location = tr("{labels} at {names} {numbers}").format(
            labels=self._labels[row], names=self._names[1], numbers=self.shown.numbers[column]
        )
        value = float(self.shown.scores[row, column])
        share = float(self.shown.shares[row, column])
        if np.isnan(value):
            reason = (
                tr("selected without comparison") if self.shown.taken[row, column] else tr("no candidate")
            )
            return [Line(location, bold=True), Line(reason)]
        lines = [
            Line(tr(self._score.name) if self._score else tr("score"), significant(value), bold=True),
            Line(location),
        ]
        if self._score is not None and self._score.from_zero and not self._score.least:
            lines.append(Line(tr("share of the best"), percentage(share)))
        of = int(self.shown.n_candidates[column])
        return [
            *lines,
            Line(tr("rank"), tr("{ranks:.0f} of {of}").format(ranks=self.shown.ranks[row, column], of=of)),
        ]

    def feature_of(self, cell: tuple[int, int]) -> int:
        """Return the feature of a cell's row."""
        if self.shown is None or not len(self._ids):
            return 0
        return int(self._ids[self.shown.features[self._from_below(cell[0])]])

    def figure(self) -> MapFigure:
        """Return the visible part of the map; the selection of each step is outlined."""
        visible = self.shown
        if visible is None:
            return super().figure()
        values = visible.ranks if self._ranked else visible.shares
        score = self._score.name if self._score else ""
        title = tr("rank among the candidates") if self._ranked else tr("share of the best score of the step")
        greatest = float(np.nanmax(values)) if np.isfinite(values).any() else 1.0
        return MapFigure(
            "figure",
            tr("{score} of the candidates by step").format(score=tr(score))
            if score
            else self.accessibleName(),
            "",
            tuple(self._all_names[feature] for feature in visible.features),
            tuple(map(str, visible.numbers)),
            tuple(floats(row) for row in values),
            "",
            self._names[1],
            FigureAxis(title, whole=self._ranked, low=float(self._ranked), high=max(greatest, 1.0)),
            0 if self._ranked else 2,
            self._ranked,
            self._ranked,
            tuple((int(row), int(column)) for row, column in np.argwhere(visible.taken)),
            tr("selected"),
        )

    def numbers(self) -> Numbers:
        """Return one row per feature, one column per step, shown or not: the scores, or the ranks."""
        if self.shown is None:
            return ["feature"], []
        assert self._whole is not None
        values = self._whole.ranks if self._ranked else self._whole.scores
        names = [self._all_names[f] for f in self._whole.features]
        rows: list[list[CellValue]] = [
            [label, *map(float, row)] for label, row in zip(names, values, strict=True)
        ]
        return ["feature", *(f"{self._names[1]} {n}" for n in self._whole.numbers)], rows

    def click(self, point: QPointF) -> None:
        """Pick the cell under the mouse; a feature's name, the one in the marked column."""
        frame = self.frame()
        cell = self.hit_test(QPointF(max(point.x(), frame.area.left()), point.y()))
        if cell is not None and self.shown is not None:
            step = self.shown.places[cell[1]]
            named = point.x() < frame.area.left() and self._place is not None
            feature = self.shown.features[self._from_below(cell[0])]
            self.cellPicked.emit(feature, self._place if named else step)

    def confirm(self, cell: tuple[int, int]) -> None:
        """Choose the model of the step that the click before has inspected."""
        self.confirmed.emit()

    def step(self, right: int, down: int) -> bool:
        """Move the marks, also beyond the visible part."""
        full_map = self._whole
        if full_map is None or self.shown is None:
            return False
        # Downwards it goes as the rows stand, and then on in the order of the whole map.
        rest = [f for f in full_map.features if f not in self.shown.features]
        features = [*self.shown.features, *rest]
        places = self.shown.places if not full_map.growing else full_map.places
        row = features.index(self._feature) if self._feature in features else -down
        column = min(range(len(places)), key=lambda index: abs(places[index] - (self._place or 0)))
        row = int(np.clip(row + down, 0, len(features) - 1))
        column = int(np.clip(column + right, 0, len(places) - 1))
        self.cellPicked.emit(features[row], places[column])
        return True

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Show as much of the map as fits."""
        super().resizeEvent(event)
        if self._whole is not None:
            self._apply()

    def draw_map(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw cells, names, steps, selections, marks, and the key to the colours."""
        if self.is_empty() or self.shown is None:
            return
        draw_cells(self, painter, frame)
        if self.written:
            draw_values(self, painter, frame)
        self._draw_names(painter, frame, colors)
        self._draw_steps(painter, frame, colors)
        for row, column in np.argwhere(self.shown.taken).tolist():
            cell = self._from_below(row), column
            outline(self, painter, frame, cell, QColor("#ffffff"), 3.0)
            outline(self, painter, frame, cell, QColor("#11151c"), 1.6)
        if self._row is not None:
            first = self.cell_rect(frame, self._from_below(self._row), 0)
            rest = self.cell_rect(frame, self._from_below(self._row), self.values.shape[1] - 1)
            painter.setPen(pen(colors.q("accent"), 1.6))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            box = QRectF(QPointF(1, first.top() - 1), rest.bottomRight())
            painter.drawRoundedRect(box, 3, 3)
        if self.under_mouse is not None:
            outline(self, painter, frame, self.under_mouse, colors.q("muted"), 1.0)
        draw_color_bar(painter, self.color_bar(frame), colors)

    # Parts

    def _apply(self) -> None:
        """Cut the map to the size of the plot, and draw it."""
        full_map = self._whole
        if full_map is None:
            self.shown = None
            self._labels = ()
            self._row = None
            self._column = None
            self.set_values(np.empty((0, 0)), (), ())
            return
        self.shown = None
        area = self.frame().area
        n_rows = int(area.height() // ROW)
        n_columns = int(area.width() // COLUMN)
        visible = self.shown = full_map.view(n_rows, n_columns, self._place, self._feature)
        self._labels = tuple(self._all_names[f] for f in visible.features)
        self._row = visible.features.index(self._feature) if self._feature in visible.features else None
        self._column = None
        if self._place is not None:
            self._column = int(np.abs(np.array(visible.places) - self._place).argmin())
        values = visible.shares
        if self._ranked:
            values = 1.0 - (visible.ranks - 1.0) / np.maximum(1.0, visible.n_candidates - 1.0)
        self.set_values(values[::-1], self._labels[::-1], tuple(map(str, visible.numbers)))

    def _from_below(self, row: int) -> int:
        """Convert a row number between counting from the top and from the bottom."""
        return len(self._labels) - 1 - row

    def _draw_names(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for row, label in enumerate(self._labels):
            rect = self.cell_rect(frame, self._from_below(row), 0)
            box = QRectF(1, rect.top(), rect.left() - AIR, rect.height())
            painter.setFont(font(TINY, bold=row == self._row))
            painter.setPen(colors.q("text" if row == self._row else "muted"))
            text = painter.fontMetrics().elidedText(label, Qt.TextElideMode.ElideMiddle, int(box.width()))
            painter.drawText(box, flags, text)

    def _draw_steps(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Write the numbers of as many steps as have room, the chosen one among them."""
        assert self.shown is not None
        painter.setFont(font(TINY))
        painter.setPen(colors.q("muted"))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(0, 0, frame.area.left() - AIR, HEADER - 3), right, self._names[1])
        n = len(self.shown.numbers)
        metrics = QFontMetricsF(font(TINY))
        room = max(metrics.horizontalAdvance(str(self.shown.numbers[-1])) + 6.0, 14.0)
        stride = max(1, int(np.ceil(room * n / frame.area.width())))
        for column in range(n):
            chosen = column == self._column
            near = self._column is not None and 0 < abs(column - self._column) < stride
            if not chosen and (column % stride or (near and stride > 1)):
                continue
            rect = self.cell_rect(frame, self._from_below(0), column)
            painter.setFont(font(TINY, bold=chosen))
            painter.setPen(colors.q("accent" if chosen else "muted"))
            box = QRectF(rect.center().x() - 20, 0, 40, HEADER - 3)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(self.shown.numbers[column]))

    def summary(self) -> str:
        """Describe the map and its marked cell."""
        visible = self.shown
        if visible is None or self._score is None:
            return ""
        title = tr("{title}: {n_features} candidates at {n_steps} steps").format(
            title=tr(self._score.title), n_features=visible.n_features, n_steps=visible.n_steps
        )
        if self._row is None or self._column is None:
            return title
        cell = self.readout((self._from_below(self._row), self._column))
        return describe([title, *(f"{line.text} {line.value}".strip() for line in cell)])
