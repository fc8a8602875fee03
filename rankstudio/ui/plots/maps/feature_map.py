"""Features from top to bottom against something else, in colours, with the selected ones outlined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from math import ceil

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.figures.values import (
    FigureAxis,
    MapFigure,
)
from rankstudio.ui.language import tr
from rankstudio.ui.plots.axes import AIR, LABEL_HEIGHT
from rankstudio.ui.plots.base import (
    DEFAULT_FILE_NAME,
    CellValue,
    Numbers,
    describe,
    floats,
)
from rankstudio.ui.plots.layers import Frame, pen
from rankstudio.ui.plots.maps.heat_map import (
    BAR_WIDTH,
    LEAST_WITH_GAP,
    ColorBar,
    HeatMapPlot,
    color_bar_width,
)
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import BELOW, RIGHT, SMALL, TINY, font, scaled
from rankstudio.ui.style.theme import Theme

GROUPS_HEIGHT = 18.0
"""Height of the line above the map that names groups of columns, in pixels."""
# pixels of the plot's width, from which on rows are called by names
_MIN_WIDTH_WITH_NAMES = 620
_MAX_NAME_WIDTH = 190.0
_MAX_BAR_HEIGHT = 180.0
_BAR_DISTANCE = 12.0  # pixels between map and colour bar
_MIN_LABEL_SPACING = 13.0  # pixels between two row labels at least
# of the labels that have room: with more, many would stand far from their rows
_MAX_LABELED_SHARE = 0.75
# of the rows: where more are selected, outlines would tell nothing
_MAX_OUTLINED_SHARE = 0.5
TICKS_HEIGHT = 16.0
"""Height of the texts under the columns, in pixels."""


@dataclass(frozen=True)
class MapFeature:
    """A feature of the data, as a row of the map.

    Attributes
    ----------
    feature_id : int
        Id of the feature, from 1.
    name : str
    rank : int
        Position at which the model selected the feature, from 1; 0 if
        the model does not have the feature.
    """

    feature_id: int
    name: str
    rank: int = 0


@dataclass(frozen=True)
class ColumnGroup:
    """Adjacent columns of a map that belong together, such as the folds of a run.

    Attributes
    ----------
    label : str
        Name of the group: "run 2".
    category : int
        Number of the color of the group.
    size : int
        Number of columns of the group.
    """

    label: str
    category: int
    size: int


@dataclass(frozen=True, eq=False)
class MapValues:
    """The matrix that the map shows of its features.

    Attributes
    ----------
    values : ndarray of shape (R, C)
        The rows are from top to bottom; NaN for a cell without a value.
    columns : tuple of str of length C
        Name of each column in the box of values: "fold 2 of run 1".
    ticks : tuple of str of length C
        Text under each column; "" for none.
    limits : pair of float
        The values of the darkest and the brightest color.
    title : str
        Name of the values, above the bar of colors.
    bar : tuple of (float, str)
        Values beside the bar of colors, with their texts.
    texts : tuple of tuple of str
        Text of each cell in the box of values.
    x_label : str
        Text below the columns.
    groups : tuple of ColumnGroup
        Groups of columns, from left to right; empty if there are none.
    square : bool
        Whether the map is as wide as high, as its columns are its rows.
    """

    values: Floats
    columns: tuple[str, ...]
    ticks: tuple[str, ...]
    limits: tuple[float, float]
    title: str
    bar: tuple[tuple[float, str], ...]
    texts: tuple[tuple[str, ...], ...]
    x_label: str
    groups: tuple[ColumnGroup, ...] = ()
    square: bool = False


def _label_with_rank(name: str, feature_id: int, rank: int) -> str:
    label = f"{name} ({feature_id})"
    return f"{rank}. {label}" if rank else label


class FeatureMapPlot(HeatMapPlot):
    """A map of values with a row for each feature; the model's features are outlined and labelled.

    Rows are called by their ids, and by their names where there is
    room. A click or the arrow keys pick a cell, and with it a feature.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    inspected : Signal(int)
        Id of the feature whose row was picked.
    """

    inspected = Signal(int)

    def __init__(self, theme: Theme) -> None:
        self.features: tuple[MapFeature, ...] = ()
        self.shown: MapValues | None = None
        self.marked: int | None = None  # id of the inspected feature
        # `limits` are the values of the darkest and the brightest
        # color. Each map has limits of its own, set by show_map.
        super().__init__(theme, names=(tr("feature"), tr("column")), limits=(0.0, 1.0))
        self.add_layer(partial(draw_outlines, self), 1.0, clipped=False)
        self.add_layer(partial(draw_margins, self), 2.0, clipped=False)

    def show_map(self, features: Sequence[MapFeature], content: MapValues) -> None:
        """Show features from top to bottom, and a matrix with a row for each of them.

        ``features`` are the rows, and ``content`` has the matrix and
        its texts. The chosen cell stays chosen unless it is beyond the
        new matrix.
        """
        self.features = tuple(features)
        self.shown = content
        self._limits = content.limits
        blank = [""] * len(content.columns)
        self.set_values(content.values[::-1], [""] * len(features), blank)
        if self.chosen is not None and not (
            self.chosen[0] < len(features) and self.chosen[1] < len(content.columns)
        ):
            self.chosen = None

    def show_nothing(self, reason: str) -> None:
        """Show no map, and a text on the reason."""
        self.placeholder = reason
        self.features = ()
        self.shown = None
        self.chosen = None
        self.set_values(np.empty((0, 0)), (), ())

    def mark_feature(self, feature: int | None) -> None:
        """Mark the row of the inspected feature, by its id; None marks no row."""
        self.marked = feature
        self.redraw()

    def label_of(self, row: MapFeature) -> str:
        """Return the label beside a row: the feature's name and id; in a narrow plot, the id alone.

        A long name is cut in its middle.
        """
        if self.width() < _MIN_WIDTH_WITH_NAMES:
            return str(row.feature_id)
        metrics = QFontMetricsF(font(TINY))
        name = metrics.elidedText(
            row.name, Qt.TextElideMode.ElideMiddle, _MAX_NAME_WIDTH
        )
        return f"{name}  {row.feature_id}"

    # Plot

    def bar_texts(self) -> tuple[str, ...]:
        """Return (), as `color_bar` of this class has texts of its own."""
        return ()

    def frame_for(self, size: QSizeF) -> Frame:
        """Lay out a drawing, with room for labels at the left, the color bar at the right and groups above.

        A square map, whose columns are its rows, is as wide as it is high.
        """
        frame = super().frame_for(size)
        if self.shown is None or self.is_empty():
            return frame
        metrics = QFontMetricsF(font(TINY))
        # Only features that the model has selected, which have a rank, are labelled.
        widths = [
            metrics.horizontalAdvance(self.label_of(row))
            for row in self.features
            if row.rank
        ]
        left = max(widths, default=0.0) + 2 * AIR
        # the title of the color bar begins 2 pixels to the left of it
        title = metrics.horizontalAdvance(self.shown.title) - 2
        right = _BAR_DISTANCE + max(
            color_bar_width([text for _, text in self.shown.bar]), title
        )
        # Texts under the columns take room only if there are any (True counts as 1).
        top = GROUPS_HEIGHT + 4
        below = TICKS_HEIGHT * any(self.shown.ticks) + scaled(LABEL_HEIGHT)
        area = frame.outer.adjusted(
            round(left), top, -round(max(right, BAR_WIDTH + AIR)), -below
        )
        width = max(1.0, area.width())
        height = max(1.0, area.height())
        side = min(width, height)
        area.setSize(QSizeF(side, side) if self.shown.square else QSizeF(width, height))
        return Frame(area, frame.outer, frame.x_range, frame.y_range)

    def color_bar(self, frame: Frame) -> ColorBar | None:
        """Return the bar of colours at the right of the map, with its numbers and title; None without a map."""
        # `limits` are the values at both ends of the bar; `bar` has the
        # values that are written beside it, with their texts.
        matrix = self.shown
        if matrix is None:
            return None
        area, (low, high) = frame.area, matrix.limits
        rect = QRectF(
            area.right() + _BAR_DISTANCE,
            area.top() + 4,
            BAR_WIDTH,
            min(area.height() - 8, _MAX_BAR_HEIGHT),
        )
        return ColorBar(
            rect,
            # shares of the bar's height
            [((value - low) / (high - low), text) for value, text in matrix.bar],
            matrix.title,
        )

    def figure(self) -> MapFigure:
        """Return the map as a figure for print; the names of the model's features begin with their ranks."""
        matrix = self.shown
        features = self.features
        if matrix is None:  # an empty figure
            return super().figure()
        names = [_label_with_rank(f.name, f.feature_id, f.rank) for f in features]
        # A column is called by its short text, else by its whole name;
        # in a square map, whose columns are the features, by its
        # feature's id. The figure has the whole names (`named`) and the
        # texts beside the bar of colors (`ends`), too.
        columns = [
            tick or column
            for tick, column in zip(matrix.ticks, matrix.columns, strict=True)
        ]
        if matrix.square:
            columns = [str(feature.feature_id) for feature in features]
        elif not any(matrix.ticks):
            columns = list(matrix.columns)
        return MapFigure(
            name=DEFAULT_FILE_NAME,
            title=matrix.title,
            caption="",
            rows=tuple(names),
            columns=tuple(columns),
            values=tuple(floats(row) for row in matrix.values),
            row_title="",
            column_title=matrix.x_label,
            color=FigureAxis(matrix.title, low=matrix.limits[0], high=matrix.limits[1]),
            ends=matrix.bar,
            groups=tuple((group.label, group.size) for group in matrix.groups),
            named=matrix.columns,
            short_rows=tuple(str(feature.feature_id) for feature in features),
            short_title=tr("id of the feature"),
        )

    def numbers(self) -> Numbers:
        """Return a row for each feature, from top to bottom: id, name, and the values of its columns."""
        if self.shown is None:
            return ["feature"], []
        rows: list[list[CellValue]] = [
            [feature.feature_id, feature.name, *map(float, values)]
            for feature, values in zip(self.features, self.shown.values, strict=True)
        ]
        return ["feature", "name", *self.shown.columns], rows

    def readout(self, cell: tuple[int, int]) -> list[Line]:
        """Return the lines of the box on a cell: feature, value and column."""
        # The rows of a cell are counted from the bottom, those of
        # `features` from the top.
        row, column = self._at(cell)
        if self.shown is None:
            return []
        # The rank of a feature is 0 if the model has not selected it.
        feature = self.features[row]
        name = (
            tr("{name} ({id}), selected as {rank}") if feature.rank else "{name} ({id})"
        )
        name = name.format(
            name=feature.name, id=feature.feature_id, rank=ordinal(feature.rank)
        )
        return [
            Line(name, self.shown.texts[row][column], bold=True),
            Line(self.shown.columns[column]),
        ]

    def feature_of(self, cell: tuple[int, int]) -> int:
        """Return the id of the feature of a cell's row."""
        return self.features[self._at(cell)[0]].feature_id

    def pick(self, cell: tuple[int, int]) -> None:
        """Outline a cell as the chosen one, and emit `inspected` with the id of its feature."""
        self.select(*cell)
        self.inspected.emit(self.features[self._at(cell)[0]].feature_id)

    def step(self, right: int, down: int) -> bool:
        """Pick the next cell in a direction; return whether there is a map.

        ``right`` and ``down`` are 1, 0 or -1, by the arrow key.
        """
        if self.shown is None:
            return False
        rows, columns = self.values.shape
        # Rows are counted from the bottom. Without a chosen cell, the
        # start is such that the step leads to the upper left cell.
        row, column = self.chosen or (rows - 1 + down, -right)
        self.pick(
            (
                min(max(row - down, 0), rows - 1),
                min(max(column + right, 0), columns - 1),
            )
        )
        return True

    def _at(self, cell: tuple[int, int]) -> tuple[int, int]:
        """Return a cell with its row counted from the top, as the features are."""
        return len(self.features) - 1 - cell[0], cell[1]

    def summary(self) -> str:
        """Return in words the chosen cell, or else how many features the map has and how many are selected."""
        if self.shown is None:
            return ""
        if self.chosen is None:
            selected = sum(1 for row in self.features if row.rank)
            return tr(
                "{n_features} features, {selected} of them selected; {title}"
            ).format(
                n_features=len(self.features), selected=selected, title=self.shown.title
            )
        return describe(
            [f"{line.text} {line.value}".strip() for line in self.readout(self.chosen)]
        )


def ordinal(number: int) -> str:
    """Return a number as an ordinal, such as "1st", "2nd" or "23rd"."""
    endings = {1: tr("{number}st"), 2: tr("{number}nd"), 3: tr("{number}rd")}
    # 11th, 12th and 13th are no exceptions
    last = 0 if number % 100 in (11, 12, 13) else number % 10
    return endings.get(last, tr("{number}th")).format(number=number)


def draw_outlines(
    plot: FeatureMapPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw outlines around the rows of the model's features, and around the inspected feature's row."""
    if plot.shown is None or plot.is_empty():
        return
    # the pixels between columns, and between rows from the top
    xs, ys = plot.edges(frame)
    # Outlines run in the gaps between cells, in the color of the text.
    # If cells are too small for gaps, those of a square map are white,
    # to be seen over dark cells.
    gaps = min(np.diff(xs).min(), np.diff(ys).min()) >= LEAST_WITH_GAP
    outline_color = (
        colors.q("text") if gaps or not plot.shown.square else QColor("#ffffff")
    )
    outline = pen(outline_color, 2.0 if gaps else 1.0)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    selected = [index for index, feature in enumerate(plot.features) if feature.rank]
    # Outlines around most of the rows would not single out any.
    if len(selected) > _MAX_OUTLINED_SHARE * len(plot.features):
        selected = []
    marked = [
        index
        for index, feature in enumerate(plot.features)
        if feature.feature_id == plot.marked
    ]
    accent = pen(colors.q("accent"), 2.0)
    for rows, frame_pen in ((selected, outline), (marked, accent)):
        painter.setPen(frame_pen)
        for row in rows:
            corner = QPointF(xs[-1], ys[row + 1] - 1)
            painter.drawRect(QRectF(QPointF(xs[0] - 1, ys[row] - 1), corner))


def draw_margins(
    plot: FeatureMapPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw row labels, column texts and groups of columns."""
    matrix = plot.shown
    if matrix is None or plot.is_empty():
        return
    _draw_row_labels(plot, painter, frame, colors)
    _draw_ticks(plot, painter, frame, colors)
    _draw_groups(plot, painter, frame, colors)


def spread(targets: list[float], low: float, high: float) -> list[float]:
    """Return the heights of labels, in pixels: near some ascending targets, but apart from each other.

    The heights lie between ``low`` and ``high``. If there is no room
    for all, the last targets are left out, so that the result is
    shorter.
    """
    fitting = targets[: max(1, int((high - low) / _MIN_LABEL_SPACING) + 1)]
    # First each is moved on until it is far enough from the one before.
    # Then, from the last one on, each is moved back until it is inside
    # the range.
    label_heights: list[float] = []
    for value in fitting:
        label_heights.append(
            max(value, label_heights[-1] + _MIN_LABEL_SPACING if label_heights else low)
        )
    for i in reversed(range(len(label_heights))):
        upper = (
            high
            if i == len(label_heights) - 1
            else label_heights[i + 1] - _MIN_LABEL_SPACING
        )
        label_heights[i] = min(label_heights[i], upper)
    return label_heights


def _draw_row_labels(
    plot: FeatureMapPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Write the labels of the model's features beside their rows, apart from each other.

    If there are too many, those of the features that the model selected
    first are written, and that of the inspected feature. A line leads
    from each label to the middle of its row.
    """
    _, ys = plot.edges(frame)  # the pixels between rows, from the top
    painter.setFont(font(TINY))
    # As many labels as fit into a share of the height. A rank of 0 is
    # that of a feature which the model has not selected.
    max_rank = max(
        1, int(_MAX_LABELED_SHARE * frame.area.height() / _MIN_LABEL_SPACING)
    )
    marked = plot.marked
    rows = [
        (index, feature)
        for index, feature in enumerate(plot.features)
        if 0 < feature.rank <= max_rank
        or (feature.rank and feature.feature_id == marked)
    ]
    middles = [float(ys[index] + ys[index + 1]) / 2 - 0.5 for index, _ in rows]
    label_heights = spread(middles, frame.area.top() + 4, frame.area.bottom() - 4)
    edge = frame.area.left() - 2
    # `spread` leaves out labels without room, so `label_heights` may be shorter.
    for (_, feature), middle, y in zip(rows, middles, label_heights, strict=False):
        painter.setPen(pen(colors.q("faint"), 1.0))
        painter.drawLine(QPointF(edge - AIR + 3, y), QPointF(edge, middle))
        painter.setPen(
            colors.q("accent" if feature.feature_id == plot.marked else "text")
        )
        box = QRectF(0, y - 9, edge - AIR, 18)  # 18 pixels high, with y in the middle
        painter.drawText(box, RIGHT, plot.label_of(feature))


def _draw_ticks(
    plot: FeatureMapPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Write the texts under the columns: of each group the first one, and further ones that have room.

    Below them stands the text of the x axis.
    """
    assert plot.shown is not None  # the caller has checked that there is a map
    xs, _ = plot.edges(frame)
    painter.setFont(font(TINY))
    painter.setPen(colors.q("muted"))
    ticks = plot.shown.ticks
    bottom = frame.area.bottom()
    if any(ticks):
        metrics = QFontMetricsF(font(TINY))
        widest = max(metrics.horizontalAdvance(text) for text in ticks)
        # Every stride-th column has a text, so that 3 pixels are between two.
        stride = max(1, ceil((widest + 3) * len(ticks) / frame.area.width()))
        # The first column of each group, and the end; without groups, there is one.
        starts = list(
            accumulate((group.size for group in plot.shown.groups), initial=0)
        )
        for begin, end in pairwise(starts if len(starts) > 1 else [0, len(ticks)]):
            for column in range(begin, end, stride):
                middle = float(xs[column] + xs[column + 1]) / 2
                # centered below the column, 60 pixels wide
                box = QRectF(middle - 30, bottom + 2, 60, 16)
                painter.drawText(box, BELOW, ticks[column])
        bottom += TICKS_HEIGHT
    # a box whose middle is that of the plot area
    box = QRectF(0, bottom + 2, 2 * frame.area.center().x(), scaled(LABEL_HEIGHT))
    painter.setFont(font(SMALL))
    painter.drawText(box, BELOW, plot.shown.x_label)


def _draw_groups(
    plot: FeatureMapPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw above each group of columns a line in the color of its run, and the group's label.

    A label without room is shortened to the number of the run, or left out.
    """
    assert plot.shown is not None  # the caller has checked that there is a map
    xs, _ = plot.edges(frame)  # the pixels between columns
    metrics = QFontMetricsF(font(TINY))
    painter.setFont(font(TINY))
    begin = 0  # position of the group's first column
    for group in plot.shown.groups:
        left = float(xs[begin])
        right = float(xs[begin + group.size])
        color = palettes.category(colors, group.category).color
        # the line is 3 pixels above the map, the label above the line
        painter.setPen(pen(color, 2.0))
        painter.drawLine(
            QPointF(left + 1, frame.area.top() - 3),
            QPointF(right - 3, frame.area.top() - 3),
        )
        label = group.label
        available_width = right - left - 4
        if metrics.horizontalAdvance(label) > available_width:
            label = label.rpartition(" ")[2]  # "2" of "run 2"
        if metrics.horizontalAdvance(label) <= available_width:
            painter.setPen(colors.q("text"))
            box = QRectF(left, frame.area.top() - 21, right - left, 16)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, label)
        begin += group.size
