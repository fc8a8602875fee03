"""The panel of model A against model B: a plot of all queries, with a sentence on all of them."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from math import isnan
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QLineF, QPointF, QRect, QRectF, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
    QPolygonF,
)

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.export.figures.values import CurvesFigure, FigureAxis, Series
from rankstudio.engine.metrics.names import per_query_name
from rankstudio.engine.support.number_format import signed
from rankstudio.plugins.queries.window.colors import loss_and_gain
from rankstudio.plugins.queries.window.model_legend import ModelLegend
from rankstudio.plugins.queries.window.sentences import comparison_sentence
from rankstudio.ui.language import tr, trn
from rankstudio.ui.plots.axes import Axes
from rankstudio.ui.plots.base import ARROWS, CellValue, Numbers, Plot, describe, floats
from rankstudio.ui.plots.layers import Frame, hairline, padded, pen
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import SMALL, font
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel, Segmented
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import WrappedLabel

if TYPE_CHECKING:
    from rankstudio.plugins.queries.query_comparison import QueryComparison

SCATTER = "scatter"
SORTED = "sorted"
LENGTH = "length"
"""The kinds of plot: B against A, sorted differences, and differences by number of documents."""
BAR = 8.0  # pixels: height of a bar in a cell
_HIT_DISTANCE = 10.0  # pixels between the mouse and a point that it hits
_MIN_DRAG_DISTANCE = 5.0  # pixels: minimum width or height of a drag
_MIN_CORNER_DISTANCE = 2.0  # pixels between two corners of a line drawn by hand
# A drawn line is straight if it is at most this much longer than the
# distance of its ends. For a quarter of a circle, the ratio is 1.11.
_MAX_STRAIGHT_RATIO = 1.08
_POINT_SIZE = 6.0  # pixels
_RING_RADIUS = 7.0
_FADED_OPACITY = 0.12
_POINT_OPACITY = 0.55
PART_NAMES = {"test": tr("test"), "vali": tr("validation"), "train": tr("training")}
"""Names of the parts of a fold."""


class QueryPlot(Plot):
    """A plot of the queries of a comparison, in one of three kinds.

    In the scatter plot, a query is a point with the measure of A as x
    and that of B as y. The other two kinds show B - A, as bars sorted
    from the greatest loss, or as points by the number of documents.

    A click picks a query. A drag selects queries, by a free line around
    points or across them, or by a band over sorted differences. Esc
    cancels the drag, or selects all queries again.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    picked : Signal(int)
        The user clicked a query or moved to it by an arrow key: its
        position in the comparison's order.
    brushed : Signal(object)
        The user selected queries: their positions, ascending (a tuple);
        empty for all queries.
    is_listed : ndarray of bool
        Whether each query is listed; the others are faded.
    """

    picked = Signal(int)
    brushed = Signal(object)

    def __init__(self, theme: Theme) -> None:
        self.comparison: QueryComparison | None = None
        self.mode = SCATTER

        # Position of the chosen query, whether each query passes the
        # filters of the list, and the outline of a drag of the mouse.
        self.chosen: int | None = None
        self.is_listed: Bools = np.zeros(0, dtype=np.bool_)
        self.outline: QPolygonF | None = None

        # positions of the queries with a value
        self._valued_positions: Ints = np.zeros(0, dtype=np.int64)

        # position at which a selection with Shift began
        self._anchor: int | None = None
        super().__init__(theme, Axes())

        # Layers with their depths: a greater one is drawn above. The id
        # beside the chosen query may reach beyond the axes.
        self.add_layer(partial(draw_points, self), 0.0)
        self.add_layer(partial(draw_differences, self), 0.0)
        self.add_layer(partial(draw_mark, self), 2.0, clipped=False)
        self.add_layer(partial(draw_outline, self), 3.0)

    def set_comparison(self, comparison: QueryComparison | None) -> None:
        """Show all queries of a comparison, none of them chosen.

        If ``comparison`` is None, the plot is empty.
        """
        self.comparison = comparison
        self.chosen = None
        self.under_mouse = None
        self.outline = None
        self._anchor = None
        n = len(comparison.queries) if comparison else 0
        self.is_listed = np.ones(n, dtype=np.bool_)
        self._valued_positions = (
            np.flatnonzero(~np.isnan(comparison.gain))
            if comparison
            else self._valued_positions[:0]
        )
        self.box.hide_readout()  # hides the box on the query under the mouse
        self._name_axes()

    @Slot(object)
    def set_mode(self, mode: str) -> None:
        """Show another kind of plot."""
        self.mode = mode
        self.under_mouse = None
        self.outline = None
        self.box.hide_readout()
        self._name_axes()

    def keep(self, is_listed: Bools) -> None:
        """Fade the queries for which ``is_listed``, (Q,), is False."""
        self.is_listed = is_listed
        self.mark_dirty()

    def select(self, position: int | None) -> None:
        """Draw a ring around a query; None removes the ring."""
        self.chosen = position
        self.mark_dirty()

    @property
    def points(self) -> tuple[Floats, Floats]:
        """X and y values of the queries in the present kind of plot, each of shape (Q,).

        The values are NaN for a query without a value. The kinds of
        plot show the measure of model B against that of A, B - A by the
        number of documents, and B - A in the order of the comparison.
        """
        comparison = self.comparison
        if comparison is None:
            return np.zeros(0), np.zeros(0)
        if self.mode == SCATTER:
            return comparison.a, comparison.b
        differences = comparison.b - comparison.a
        if self.mode == LENGTH:
            return np.array(
                [float(query.n_documents) for query in comparison.queries]
            ), differences
        return np.arange(1.0, comparison.a.size + 1), differences

    # Plot

    def spans(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the ranges of the axes x and y, which are equal for the scatter plot.

        In the other kinds of plot, the range of y includes zero.
        """
        xs, ys = (values[self._valued_positions] for values in self.points)
        if self.mode == SCATTER:
            low = min(xs.min(), ys.min(), 0.0)
            high = max(xs.max(), ys.max())

            # Measures up to 1 are shown in their whole range unless
            # they are small. The range is widened by 3 % at both ends.
            span = padded(float(low), 1.0 if 0.5 < high <= 1.0 else float(high), 0.03)
            return span, span
        largest = float(np.abs(ys).max()) or 1.0

        # Half a bar, or half a document, is free at both ends of the x axis.
        first = xs.min() - 0.5 if self.mode == LENGTH else 0.5
        x_range = (float(first), float(xs.max()) + 0.5)

        # On both sides of zero, at least a tenth of the largest difference is visible.
        return x_range, padded(
            float(min(ys.min(), -largest / 10)), float(max(ys.max(), largest / 10))
        )

    def is_empty(self) -> bool:
        """Return whether there is no query with a value."""
        return not self._valued_positions.size

    def figure(self) -> CurvesFigure:
        """Return the plot as a figure to export: queries as points, or differences as bars."""
        xs, ys = (floats(values[self._valued_positions]) for values in self.points)
        is_scatter = self.mode == SCATTER
        has_bars = self.mode == SORTED
        series = Series(
            self.axes.title if has_bars else "",
            xs,
            ys,
            kind="bars" if has_bars else "points",
        )
        x = FigureAxis(self.axes.x_label, whole=not is_scatter)
        y = FigureAxis(self.axes.title)
        return CurvesFigure(
            "figure", tr("A against B"), "", x, y, (series,), square=is_scatter
        )

    def numbers(self) -> Numbers:
        """Return the titles of the columns of exported numbers, and a row per query.

        A row has fold, id, numbers of documents, and the measures of both models.
        """
        comparison = self.comparison
        header = ["fold", "query", "documents", "relevant", "A", "B", "B - A"]
        if comparison is None:
            return header, []
        rows: list[list[CellValue]] = [
            [q.fold, q.query_id, q.n_documents, q.n_relevant, q.a, q.b, q.difference]
            for q in comparison.queries
        ]
        return header, rows

    def readout(self, position: int) -> list[Line]:
        """Return lines on a query: the measures of both models, and the number of documents."""
        # in an empty plot, no query is under the mouse
        assert self.comparison is not None
        query = self.comparison.queries[position]
        lines = [
            Line(
                tr("query {query_id}: B − A").format(query_id=query.query_id),
                signed(query.difference, 4),
                bold=True,
            ),
            Line("A", f"{query.a:.4f}"),
            Line("B", f"{query.b:.4f}"),
            Line(
                trn("{n} document", "{n} documents", query.n_documents).format(
                    n=query.n_documents
                )
            ),
        ]
        n_others = len(self._queries_at_point_of(position)) - 1

        # Queries may lie on each other: a click picks one after the other.
        text = trn(
            "and {n} more query here", "and {n} more queries here", n_others
        ).format(n=n_others)
        return [*lines, Line(text)] if n_others else lines

    def hit_test(self, point: QPointF) -> int | None:
        """Return the position of the query nearest to a pixel.

        ``point`` is the position of the pixel. The result is None if no
        query is near.
        """
        if self.is_empty() or self.comparison is None:
            return None
        xs, ys = self.points
        frame = self.frame()

        # Bars stand side by side: the pixel's column decides, at any height.
        if self.mode == SORTED:
            if not frame.area.contains(point):
                return None

            # The bars are at x = 1, 2, ...
            position = round(frame.x_at(point.x())) - 1
            return int(
                self._valued_positions[
                    min(max(0, position), self._valued_positions.size - 1)
                ]
            )
        nearest = frame.nearest(
            [(xs[self._valued_positions], ys[self._valued_positions])],
            point,
            _HIT_DISTANCE,
        )
        if nearest is None:
            return None
        _, index = nearest
        return int(self._valued_positions[index])

    def click(self, point: QPointF) -> None:
        """Pick the query under the mouse; without one, select all queries.

        If several queries lie at the same point, repeated clicks pick
        one after the other.
        """
        position = self.hit_test(point)
        if position is None:
            self.brushed.emit(())
            return
        positions = self._queries_at_point_of(position)
        next_index = positions.index(self.chosen) + 1 if self.chosen in positions else 0
        self.picked.emit(positions[next_index % len(positions)])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move from query to query by the arrow keys, in the comparison's order.

        With Shift, the arrow keys also select the queries.
        """
        if event.key() == Qt.Key.Key_Escape and self._has_selection:
            self._cancel_selection()
            event.accept()
            return
        move = ARROWS.get(event.key())
        if move is None or self.is_empty():
            event.ignore()
            return

        # Right and down move forward, left and up backward; `move` has
        # a number, -1, 0 or 1, for each of the two directions.
        index = (
            int(np.searchsorted(self._valued_positions, self.chosen)) + sum(move)
            if self.chosen is not None
            else 0
        )
        position = int(
            self._valued_positions[min(max(0, index), self._valued_positions.size - 1)]
        )

        # With Shift, everything from the query where the selection began is selected.
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            if self._anchor is None:
                self._anchor = self.chosen
            low, high = sorted(
                (position, position if self._anchor is None else self._anchor)
            )
            self.brushed.emit(tuple(range(low, high + 1)))
        else:
            self._anchor = None
        self.picked.emit(position)
        event.accept()

    # Dragging

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Draw the outline while the left button is down."""
        super().mouseMoveEvent(event)
        if self._pressed is not None and not self.is_empty():
            self._extend_outline(self._pressed, event.position())
            self.redraw()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Select the queries inside the outline, if the mouse was dragged."""
        # `_pressed` is the pixel at which the mouse button went down.
        if self._pressed is not None and not self.is_empty():
            self._extend_outline(self._pressed, event.position())
        outline = self.outline
        self.outline = None
        is_drag = outline is not None and self._is_wide(outline.boundingRect())
        if is_drag:
            # so that a drag that ends where it began is not also a click
            self._pressed = None
        super().mouseReleaseEvent(event)
        event.accept()  # also after a drag that Esc has ended
        if is_drag and outline is not None:
            self.brushed.emit(self.caught(closed(outline)))
        self.redraw()

    def event(self, event: QEvent) -> bool:
        """Use Esc, which otherwise stops runs, to cancel a selection if there is one.

        Qt asks a widget whether it takes a key before a shortcut of the window gets it.
        """
        is_shortcut = (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
        )
        if is_shortcut and event.key() == Qt.Key.Key_Escape and self._has_selection:  # type: ignore[attr-defined]
            event.accept()
            return True
        return bool(super().event(event))

    def caught(self, outline: QPolygonF) -> tuple[int, ...]:
        """Return the positions of the queries inside an outline, which is in pixels."""
        xs, ys = self.points
        px, py = self.frame().pixels(xs, ys)
        corners = np.array([(corner.x(), corner.y()) for corner in outline.toList()])
        return tuple(np.flatnonzero(inside_polygon(px, py, corners)).tolist())

    @property
    def _has_selection(self) -> bool:
        return self.outline is not None or not bool(self.is_listed.all())

    def _is_wide(self, outline: QRectF) -> bool:
        """Return whether an outline is large enough for a drag.

        A smaller outline is from an unsteady click.
        """
        if outline.width() >= _MIN_DRAG_DISTANCE:
            return True
        return self.mode == SCATTER and outline.height() >= _MIN_DRAG_DISTANCE

    def _cancel_selection(self) -> None:
        """Cancel the drag by which the user selects queries.

        Without a drag, select all queries again.
        """
        if self.outline is None:
            self.brushed.emit(())
        self.outline = None
        self._pressed = None
        self.redraw()

    def _extend_outline(self, start: QPointF, end: QPointF) -> None:
        """Extend the outline of a drag from ``start`` to the pixel ``end``.

        The outline is a free line in the scatter plot, otherwise a band
        of full height.
        """
        if self.mode != SCATTER:
            area = self.frame().area
            left, right = sorted((start.x(), end.x()))
            self.outline = QPolygonF(
                QRectF(left, area.top(), right - left, area.height())
            )
        elif self.outline is None:
            self.outline = QPolygonF([start, end])
        elif (self.outline.last() - end).manhattanLength() >= _MIN_CORNER_DISTANCE:
            self.outline.append(end)

    def _queries_at_point_of(self, position: int) -> list[int]:
        """Return the positions of the queries at the same point as a query, including this query."""
        xs, ys = self.points
        return [
            int(i) for i in np.flatnonzero((xs == xs[position]) & (ys == ys[position]))
        ]

    def _name_axes(self) -> None:
        """Name the axes for the current comparison and the kind of the plot."""
        comparison = self.comparison
        name = per_query_name(comparison.measure) if comparison is not None else ""
        if comparison is None:
            self.set_axes(Axes())
        elif self.mode == SCATTER:
            # `wins` and `losses` are those of B: points above the
            # diagonal are wins, so that their number is in the title of
            # the y axis.
            counts = comparison.counts
            self.set_axes(
                Axes(
                    tr("{measure} of B: better in {wins}").format(
                        measure=name, wins=counts.wins
                    ),
                    tr("{measure} of A: better in {losses}").format(
                        measure=name, losses=counts.losses
                    ),
                )
            )
        else:
            x = (
                tr("documents in the query")
                if self.mode == LENGTH
                else tr("queries, largest loss first")
            )
            self.set_axes(
                Axes(tr("{measure} of B − A").format(measure=name), x, integer_x=True)
            )
        self.setAccessibleName(tr("A against B"))

    def summary(self) -> str:
        """Return a description with the numbers of better and worse queries, and the largest loss."""
        comparison = self.comparison
        if comparison is None:
            return ""
        counts = comparison.counts
        first = comparison.queries[0]  # that with the largest loss of B
        return describe(
            [
                tr(
                    "B is better in {wins}, worse in {losses}, equal in {ties} queries"
                ).format(wins=counts.wins, losses=counts.losses, ties=counts.ties),
                tr("largest loss: query {query_id}, {difference}").format(
                    query_id=first.query_id, difference=signed(first.difference, 4)
                ),
            ]
        )


def paint_difference(
    painter: QPainter,
    rect: QRect,
    colors: Colors,
    value: float,
    largest: float,
    better: bool,
) -> None:
    """Draw a bar from zero, which is in the middle of ``rect``, in the color of a loss or a gain.

    Parameters
    ----------
    painter, colors
        Painter of the table, and the colors of the theme.
    rect : QRect
        Part of the cell for the bar; half of its width stands for ``largest``.
    value, largest : float
        The value of the bar, and the largest absolute value of all bars.
    better : bool
        Whether the value is a gain.
    """
    # The line at zero is 3 pixels longer than a bar at both ends.
    middle = rect.center().x() + 0.5
    top = rect.center().y() - BAR / 2 + 1
    hairline(
        painter,
        colors.q("line"),
        QPointF(middle, top - 3),
        QPointF(middle, top + BAR + 3),
    )
    if not value or not largest:
        return
    length = max(2.0, rect.width() / 2 * min(1.0, abs(value) / largest))
    loss, gain = loss_and_gain(colors)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(gain if better else loss)
    painter.drawRoundedRect(
        QRectF(middle if value > 0 else middle - length, top, length, BAR), 2, 2
    )


def paint_interval(
    painter: QPainter,
    rect: QRect,
    colors: Colors,
    low: float,
    high: float,
    largest: float,
) -> None:
    """Draw an interval from ``low`` to ``high`` over the bar of its value, on the same scale.

    Zero is in the middle of ``rect``, and half of its width stands for
    ``largest``; ends beyond it are cut off.
    """
    if not largest or isnan(low) or isnan(high):
        return
    middle = rect.center().x() + 0.5
    y = rect.center().y() + 1.0
    unit = rect.width() / 2 / largest
    left, right = (
        min(max(middle + value * unit, rect.left()), rect.right())
        for value in (low, high)
    )
    painter.setPen(pen(colors.q("text"), 1.2))
    painter.drawLine(QPointF(left, y), QPointF(right, y))

    for x in (left, right):
        painter.drawLine(QPointF(x, y - 3), QPointF(x, y + 3))


def _points_by_color(plot: QueryPlot, colors: Colors) -> list[tuple[Bools, QColor]]:
    """Return the colors of the queries, each with a mask (Q,) of its queries: losses, gains and ties of B.

    B is the second of the compared models. Queries that the filter of
    the list leaves out are faded. Faded queries come first, so that the
    others are drawn over them.
    """
    assert plot.comparison is not None
    gain = plot.comparison.gain
    loss_color, gain_color = loss_and_gain(colors)
    outcomes = (
        (gain < 0, loss_color),
        (gain > 0, gain_color),
        (gain == 0, colors.q("muted")),
    )
    masks_and_colors = []

    for is_shown, alpha in (
        (~plot.is_listed, _FADED_OPACITY),
        (plot.is_listed, _POINT_OPACITY),
    ):
        for has_outcome, color in outcomes:
            shade = QColor(color)
            shade.setAlphaF(alpha)
            masks_and_colors.append((has_outcome & is_shown, shade))

    return masks_and_colors


def draw_points(
    plot: QueryPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw the scatter plot: the line on which both models are equal, and a point per query.

    ``frame`` converts values to pixels.
    """
    if plot.comparison is None or plot.is_empty() or plot.mode == SORTED:
        return
    low, high = frame.x_range

    # the diagonal, or zero
    low_y, high_y = (low, high) if plot.mode == SCATTER else (0.0, 0.0)
    painter.setPen(pen(colors.q("muted", 0.7), 1.0, (3.0, 3.0)))
    painter.drawLine(frame.point(low, low_y), frame.point(high, high_y))
    px, py = frame.pixels(*plot.points)

    for mask, color in _points_by_color(plot, colors):
        painter.setPen(
            QPen(
                color,
                _POINT_SIZE,
                Qt.PenStyle.SolidLine,
                Qt.PenCapStyle.RoundCap,
                Qt.PenJoinStyle.RoundJoin,
            )
        )
        rows = np.flatnonzero(mask)
        painter.drawPoints(
            QPolygonF([QPointF(x, y) for x, y in zip(px[rows], py[rows], strict=True)])
        )


def draw_differences(
    plot: QueryPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw the differences as bars from zero, side by side; ``frame`` converts values to pixels."""
    if plot.comparison is None or plot.is_empty() or plot.mode != SORTED:
        return
    xs, ys = plot.points
    px, py = frame.pixels(xs, ys)
    zero = frame.y_px(0.0)
    distance = frame.area.width() / max(1, xs.size)  # from bar to bar

    # narrow bars overlap a little, without gaps
    width = max(1.0, distance * (0.85 if distance > 4 else 1.05))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, width > 2)

    for mask, color in _points_by_color(plot, colors):
        # Bars may be less transparent: unlike points, they do not lie
        # on each other.
        color.setAlphaF(min(1.0, color.alphaF() * 1.6))
        bar = QPen(color, width)
        bar.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(bar)
        rows = np.flatnonzero(mask & (ys != 0))
        painter.drawLines(
            [QLineF(x, zero, x, y) for x, y in zip(px[rows], py[rows], strict=True)]
        )

    hairline(
        painter,
        colors.q("muted"),
        QPointF(frame.area.left(), zero),
        QPointF(frame.area.right(), zero),
    )


def draw_mark(plot: QueryPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw a ring around the point of the chosen query, with the query's id beside it.

    The id is at the right, or at the left if there is no room.
    """
    if plot.comparison is None or plot.chosen is None:
        return
    xs, ys = plot.points
    if np.isnan(ys[plot.chosen]):
        return
    center = frame.point(xs[plot.chosen], ys[plot.chosen])
    painter.setPen(pen(colors.q("accent"), 2.2))
    painter.setBrush(colors.q("panel"))
    painter.drawEllipse(center, _RING_RADIUS, _RING_RADIUS)
    text = tr("query {query_id}").format(
        query_id=plot.comparison.queries[plot.chosen].query_id
    )

    # A box 18 pixels high for the id, 4 pixels from the ring.
    width = QFontMetricsF(font(SMALL)).horizontalAdvance(text) + 8
    box_x = center.x() + _RING_RADIUS + 4
    if box_x + width > frame.area.right():
        box_x = center.x() - _RING_RADIUS - 4 - width
    top = min(max(center.y() - 9, frame.area.top()), frame.area.bottom() - 18)
    box = QRectF(box_x, top, width, 18)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colors.q("panel", 0.85))
    painter.drawRoundedRect(box, 4, 4)
    painter.setFont(font(SMALL))
    painter.setPen(colors.q("text"))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def draw_outline(
    plot: QueryPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw the area that a drag encloses so far."""
    if plot.outline is not None:
        painter.setPen(pen(colors.q("accent"), 1.0))
        painter.setBrush(colors.q("accent", 0.12))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.drawPolygon(closed(plot.outline))


def closed(outline: QPolygonF) -> QPolygonF:
    """Return the area that a dragged line encloses.

    A nearly straight line is the diagonal of a rectangle, as in other programs.
    """
    corners = outline.toList()
    length = sum(QLineF(a, b).length() for a, b in pairwise(corners))
    is_straight = (
        length <= _MAX_STRAIGHT_RATIO * QLineF(corners[0], corners[-1]).length()
    )
    return QPolygonF(outline.boundingRect()) if is_straight else outline


def inside_polygon(xs: Floats, ys: Floats, corners: Floats) -> Bools:
    """Return whether each point lies inside a polygon, by the even-odd rule; points with NaN are outside.

    Parameters
    ----------
    xs, ys : array of shape (n,)
        The points.
    corners : array of shape (m, 2)
        Corners in the order of the outline, which is closed from the
        last to the first and may cross itself.

    Returns
    -------
    ndarray of bool of shape (n,)
    """
    inside = np.zeros(xs.shape, dtype=np.bool_)
    ends = np.roll(corners, -1, axis=0)  # the corner after each one

    for (x1, y1), (x2, y2) in zip(corners.tolist(), ends.tolist(), strict=True):
        # The ray from a point to the right crosses an edge if its two
        # ends are on both sides of the ray and the intersection is
        # right of the point. No ray crosses a horizontal edge.
        if y1 != y2:
            has_ends_on_both_sides = (ys < y1) != (ys < y2)
            inside ^= has_ends_on_both_sides & (
                xs < x1 + (ys - y1) * (x2 - x1) / (y2 - y1)
            )

    return inside & ~np.isnan(ys)


class ComparisonPanel(Panel):
    """A plot of the queries with the measures of A and B, in one of three kinds that the user switches.

    Above the plot is a legend of the models, below it a sentence on all queries.

    Attributes
    ----------
    plot : QueryPlot
    legend : ModelLegend
    sentence : PlainLabel
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("A against B"), name="query-comparison-panel")
        self.plot = named(QueryPlot(theme), "query-plot", tr("A against B"))

        # the plot's entry in the list of exports
        self.plot.shared = Shared("queries", tr("A against B, query by query"))

        # The sentence is cut off if the panel is low; its tooltip has it whole.
        self.sentence = named(
            WrappedLabel(keeps=False), "query-comparison-sentence", role="caption"
        )
        self.mode = named(
            Segmented(
                [(SCATTER, tr("scatter")), (SORTED, "B − A"), (LENGTH, tr("length"))],
                tr("plot type"),
            ),
            "query-plot-mode",
            tip=tr(
                "One point per query, sorted differences, or differences by number of documents"
            ),
        )
        self.tools.addWidget(self.mode)
        self.legend = ModelLegend(theme)
        fill(self.body, self.legend, (self.plot, 1), self.sentence, spacing=4)
        self.mode.chosen.connect(self.plot.set_mode)

    def show_comparison(self, comparison: QueryComparison) -> None:
        """Show the queries of a comparison."""
        self.plot.set_comparison(comparison)
        name = per_query_name(comparison.measure)
        self.plot.placeholder = tr(
            "{measure} is undefined in all of these queries."
        ).format(measure=name)
        part = PART_NAMES[comparison.part]
        self.set_caption(
            tr("{n_queries:,} {part} queries, {measure}").format(
                n_queries=len(comparison.queries), part=part, measure=name
            )
        )
        self.sentence.setText(comparison_sentence(comparison))

    def clear(self, reason: str) -> None:
        """Show a reason instead of queries."""
        self.plot.placeholder = reason
        self.plot.set_comparison(None)
        self.legend.show_models("", "")
        self.set_caption("")
        self.sentence.clear()
