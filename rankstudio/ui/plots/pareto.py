"""Size against worth: models as markers, the front that nothing beats, and which size to take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import isnan

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPolygonF

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.figures.values import (
    CurvesFigure,
    FigureAxis,
    Mark,
    Series,
)
from rankstudio.ui.language import tr, trn
from rankstudio.ui.plots.axes import Axes
from rankstudio.ui.plots.base import NAME, NEUTRAL, Numbers, Plot, describe
from rankstudio.ui.plots.layers import INSPECTED, Frame, draw_marker, pen, readable_range
from rankstudio.ui.plots.readout import Line, Pixels
from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import SMALL, font
from rankstudio.ui.style.theme import Theme

_HIT_DISTANCE = 14.0  # pixels from a marker in which the mouse means it
_PLAIN_RADIUS = 2.6
_FRONT_RADIUS = 4.2
_RING_RADIUS = 8.0
_FADED_OPACITY = 0.4
_LOG_MARGIN_FACTOR = 1.08  # by which factor a logarithmic axis goes on beyond the least and the greatest size
_SAMPLE_SPACING = 4.0  # pixels between those of the front that a name had better not hide
_BAND_NAMES = {
    "not significantly worse": (
        tr("not significantly worse than the best (95 %, paired over queries)"),
        tr("not significantly worse than the best"),
    ),
    "one standard error": (
        tr("within one standard error of the best, over the folds"),
        tr("within one standard error"),
    ),
}
"""Names of the band by its rule, at length and in short."""
_BAND_NAMES_OVER_FOLDS = {
    "not significantly worse": (
        tr("not significantly worse than the best (95 %, paired over folds)"),
        tr("not significantly worse than the best"),
    ),
}


@dataclass(frozen=True)
class Spot:
    """One model.

    Attributes
    ----------
    x, y : float
        Its size and its worth.
    error : float
        Standard error of the worth; NaN where there is none.
    category : int
        Whose colour and marker it takes: the run's.
    title, note : str
        What it is: "run 2 · GAS, then RankSVM" and "k = 4 · λ = 2⁶".
    """

    x: float
    y: float
    error: float
    category: int
    title: str
    note: str


@dataclass(frozen=True)
class Marks:
    """Marks that are drawn around the spots.

    Attributes
    ----------
    front : tuple of int
        Positions of the spots that nothing beats, by ascending size.
    best, suggested : int
        Positions of the best, and of the smallest that is not clearly worse.
    levels : tuple of float
        What each spot of the front has to be worth for that.
    rule : str
        What that is called: "one standard error"; for another choice, such as a budget, there is no band.
    cost : str
        What the suggested model costs: "0.35 ms"; "" where models are compared by size.
    """

    front: tuple[int, ...]
    best: int
    suggested: int
    levels: tuple[float, ...]
    rule: str = "one standard error"
    cost: str = ""


class ParetoPlot(Plot):
    """Markers by size and worth, with the front as steps.

    Parameters
    ----------
    theme : Theme
    title, x_label : str

    Attributes
    ----------
    picked : Signal(int)
        Position of the spot that was clicked, or moved to with the arrow keys along the front.
    """

    picked = Signal(int)

    def __init__(self, theme: Theme, title: str = "", x_label: str = "") -> None:
        self.spots: tuple[Spot, ...] = ()
        self.marks: Marks | None = None
        self.chosen: int | None = None
        self.inspected: int | None = None
        self.over_folds = False  # of one ranking, each fold counts as a query
        super().__init__(theme, Axes(title, x_label, integer_x=True))
        self.add_layer(partial(draw_pareto_front, self), 0.0)
        self.add_layer(partial(draw_spots, self), 1.0)
        self.add_layer(partial(draw_marks, self), 2.0, clipped=False)
        self.add_layer(partial(draw_band_name, self), 3.0, clipped=False)

    def set_spots(self, spots: Sequence[Spot], marks: Marks | None = None) -> None:
        """Show other models; no marks where there are none."""
        self.spots = tuple(spots)
        self.marks = marks if spots else None
        self.chosen = self.inspected = None
        self.show_anew()

    def select(self, position: int | None) -> None:
        """Ring the current choice; None takes the ring away."""
        self.chosen = position
        self.mark_dirty()

    def inspect(self, position: int | None) -> None:
        """Ring another model with dashes, as inspected; None takes the ring away."""
        self.inspected = position
        self.mark_dirty()

    # Plot

    def spans(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the range of the sizes, and that in which the front is seen well."""
        xs, ys = self.places
        front_values = (
            [self.spots[i].y for i in self.marks.front] + [*self.marks.levels] if self.marks else []
        )
        if self.axes.log_sizes:
            return (
                float(xs.min()) / _LOG_MARGIN_FACTOR,
                float(xs.max()) * _LOG_MARGIN_FACTOR,
            ), readable_range(ys, np.array(front_values))
        room = 0.5 if self.axes.integer_x else 0.04 * (float(np.ptp(xs)) or 1.0)
        return (float(xs.min()) - room, float(xs.max()) + room), readable_range(ys, np.array(front_values))

    @property
    def places(self) -> tuple[Floats, Floats]:
        """Sizes and worths of all models."""
        return np.array([s.x for s in self.spots], float), np.array([s.y for s in self.spots], float)

    def is_empty(self) -> bool:
        """Return whether there is no model."""
        return not self.spots

    def figure(self) -> CurvesFigure:
        """Return models by size and worth, with those that nothing beats."""
        spots = self.spots
        marks = self.marks
        series = []
        if marks is not None:
            front = [spots[i] for i in marks.front]
            xs = tuple(spot.x for spot in front)
            ys = tuple(spot.y for spot in front)
            series.append(Series(tr("models on the Pareto front"), xs, ys, kind="steps", number=NEUTRAL))
        for category in dict.fromkeys(spot.category for spot in spots):
            members = [spot for spot in spots if spot.category == category]
            xs = tuple(spot.x for spot in members)
            ys = tuple(spot.y for spot in members)
            series.append(Series(members[0].title, xs, ys, kind="points", number=category))
        rings = []
        if marks is not None:
            labels = {marks.suggested: tr(marks.rule), marks.best: tr("best")}
            rings = [Mark(f"{label}: {spots[i].note}", spots[i].x, spots[i].y) for i, label in labels.items()]
        axes = self.axes
        x = FigureAxis(axes.x_label, whole=axes.integer_x)
        return CurvesFigure(
            NAME, axes.title, "", x, FigureAxis(axes.title), tuple(series), marks=tuple(rings)
        )

    def numbers(self) -> Numbers:
        """Return one row a model: which it is, size, worth, error, and what is marked."""
        y_title = self.axes.title or "value"
        front = self.marks.front if self.marks else ()
        header = ["model", "combination", "size", y_title, "standard error", "front", "chosen"]
        return header, [
            [s.title, s.note, s.x, s.y, s.error, "front" if i in front else "", self._called(i)]
            for i, s in enumerate(self.spots)
        ]

    def readout(self, position: int) -> list[Line]:
        """Return the lines of the box on a marker."""
        spot = self.spots[position]
        error = "" if isnan(spot.error) else f" ± {spot.error:.4f}"
        lines = [Line(spot.title, f"{spot.y:.4f}{error}", bold=True), Line(spot.note)]
        name = self._called(position)
        lines += [Line(name)] if name else []
        if self.marks is not None and position != self.marks.best:
            best = self.spots[self.marks.best]
            lines.append(Line(tr("best: {name}").format(name=f"{best.title}, {best.note}"), f"{best.y:.4f}"))
        return lines

    def kept_in_sight(self, target: int) -> Pixels | None:
        """Return the pixels of a marker and of the best one."""
        spots = [self.spots[i] for i in {target, self.marks.best if self.marks is not None else target}]
        return self.frame().pixels(
            np.array([spot.x for spot in spots], float), np.array([spot.y for spot in spots], float)
        )

    def pick(self, position: int) -> None:
        """Pick a marker."""
        self.picked.emit(position)

    def step(self, right: int, down: int) -> bool:
        """Move along the front; begin at the suggested model, or at the best."""
        if self.marks is None or down:
            return False
        front = self.marks.front
        suggested = self.marks.suggested
        start = suggested if suggested in front else self.marks.best
        present = self.chosen if self.inspected is None else self.inspected
        index = front.index(present) + right if present in front else front.index(start)
        self.picked.emit(front[max(0, min(len(front) - 1, index))])
        return True

    def hit_test(self, point: QPointF) -> int | None:
        """Return the marker nearest to a pixel, by its position, the front's first; None far from any."""
        if not self.spots:
            return None
        px, py = self.frame().pixels(*self.places)
        distances = np.hypot(px - point.x(), py - point.y())
        front = list(self.marks.front) if self.marks else []
        nearby = [i for i in front if distances[i] <= _HIT_DISTANCE / 2]
        best = min(nearby, key=lambda i: distances[i]) if nearby else int(distances.argmin())
        return best if distances[best] <= _HIT_DISTANCE else None

    def _called(self, position: int) -> str:
        if self.marks is None:
            return ""
        names = {self.marks.best: tr("best"), self.marks.suggested: tr(self.marks.rule)}
        if self.marks.best == self.marks.suggested == position:
            return tr("best, and choice by “{rule}”").format(rule=tr(self.marks.rule))
        return names.get(position, "")

    def summary(self) -> str:
        """Return in words which model is best, and which is suggested."""
        if self.marks is None:
            return tr("{title} of {n_spots} models").format(title=self.axes.title, n_spots=len(self.spots))
        named_models = {tr("best"): self.marks.best, tr(self.marks.rule): self.marks.suggested}
        return describe(
            [
                f"{name}: {self.spots[i].title}, {self.spots[i].note}, {self.spots[i].y:.4f}"
                for name, i in named_models.items()
            ]
        )


def draw_pareto_front(plot: ParetoPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw the band in which a model is good enough, then the front as steps.

    A size buys what the last smaller one on the front is worth.
    """
    marks = plot.marks
    spots = plot.spots
    if marks is None:
        return
    if len(marks.front) > 1 and marks.rule in _BAND_NAMES:
        _draw_band(painter, frame, colors, _level_steps(plot, frame), frame.y_px(spots[marks.best].y))
    corners: list[QPointF] = []
    for i in marks.front:
        point = frame.point(spots[i].x, spots[i].y)
        corners += [QPointF(point.x(), corners[-1].y())] if corners else []
        corners.append(point)
    corners.append(QPointF(frame.area.right(), corners[-1].y()))
    painter.setPen(pen(colors.q("text", 0.55), 1.4))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(QPolygonF(corners))


def _level_steps(plot: ParetoPlot, frame: Frame) -> list[QPointF]:
    """Return the lower edge of the band: each size below the best has its level until the next one."""
    marks = plot.marks
    assert marks is not None  # the band is one of them
    starts = [frame.area.left(), *(frame.x_px(plot.spots[i].x) for i in marks.front[1:])]
    levels = [frame.y_px(level) for level in marks.levels[:-1]]
    ends = zip(starts[:-1], starts[1:], levels, strict=True)
    return [QPointF(x, y) for left, right, y in ends for x in (left, right)]


def _draw_band(painter: QPainter, frame: Frame, colors: Colors, lower: list[QPointF], upper: float) -> None:
    """Fill between the level of the best and the levels of what is good enough; dot the lower edge."""
    corners = [QPointF(lower[0].x(), upper), *lower, QPointF(lower[-1].x(), upper)]
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colors.q("accent", 0.09))
    painter.drawPolygon(QPolygonF(corners))
    painter.setPen(pen(colors.q("muted"), 1.0, (2.0, 3.0)))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(QPolygonF(lower))


def draw_spots(plot: ParetoPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw a marker a model in its run's colour; those on the front larger and on top."""
    front = plot.marks.front if plot.marks else ()
    points = frame.points(*plot.places)
    painter.setPen(Qt.PenStyle.NoPen)
    last: tuple[int, float] | None = None
    background = (i for i in range(len(points)) if i not in front)
    for i in (*background, *front):
        category = plot.spots[i].category
        opacity = 1.0 if i in front or i == plot.under_mouse else _FADED_OPACITY
        if (category, opacity) != last:  # hundreds of one colour follow each other
            last = category, opacity
            look = palettes.category(colors, category)
            look.color.setAlphaF(opacity)
            painter.setBrush(look.color)
        draw_marker(painter, look.marker, points[i], _FRONT_RADIUS if i in front else _PLAIN_RADIUS)


def draw_marks(plot: ParetoPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw rings around suggested, best and chosen model, then their names where they hide least."""
    marks = plot.marks
    if marks is None:
        return
    points = frame.points(*plot.places)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    rings = (plot.chosen, (), _RING_RADIUS - 2.5), (plot.inspected, INSPECTED, _RING_RADIUS - 1.0)
    for position, dash, radius in rings:
        if position is not None:
            painter.setPen(pen(colors.q("text"), 1.4, dash))
            painter.drawEllipse(points[position], radius, radius)
    named: dict[int, tuple[tuple[str, ...], str, float]] = {marks.best: ((tr("best"),), "muted", 1.4)}
    if marks.suggested != marks.best:
        named[marks.suggested] = (_suggested_names(plot, marks), "accent", 2.0)
    for i, (_, role, width) in named.items():
        painter.setPen(pen(colors.q(role), width))
        painter.drawEllipse(points[i], _RING_RADIUS, _RING_RADIUS)
    occupied = [
        QRectF(points[i].x() - _RING_RADIUS, points[i].y() - _RING_RADIUS, 2 * _RING_RADIUS, 2 * _RING_RADIUS)
        for i in named
    ]
    for i, (names, role, _) in reversed(named.items()):  # the longer name has fewer places
        box, text = _best_name_box(plot, frame, points[i], names, role == "accent", occupied)
        painter.setFont(font(SMALL, role == "accent"))
        painter.setPen(colors.q(role))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        occupied.append(box)


def _suggested_names(plot: ParetoPlot, marks: Marks) -> tuple[str, ...]:
    """Return the text at the suggested model, at length and in short: "3 features", or its cost."""
    if marks.cost:
        at_length = tr("{cost}, the cheapest in the band").format(cost=marks.cost)
        return (at_length, marks.cost) if marks.rule in _BAND_NAMES else (marks.cost,)
    size = plot.spots[marks.suggested].x
    number = 1 if size == 1 else 2
    texts = (
        trn(
            "{size:.4g} feature, the smallest in the band",
            "{size:.4g} features, the smallest in the band",
            number,
        ),
        trn("{size:.4g} feature", "{size:.4g} features", number),
    )
    return tuple(text.format(size=size) for text in texts)


def draw_band_name(plot: ParetoPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Write at the upper right what the band is."""
    if plot.marks is None or plot.marks.rule not in _BAND_NAMES:
        return
    painter.setFont(font(SMALL))
    title = painter.fontMetrics().horizontalAdvance(plot.axes.title) + 24
    names = (_BAND_NAMES | _BAND_NAMES_OVER_FOLDS if plot.over_folds else _BAND_NAMES)[plot.marks.rule]
    room = frame.outer.width() - title - 30
    text = next((name for name in names if painter.fontMetrics().horizontalAdvance(name) <= room), "")
    if not text:
        return
    left_edge = frame.outer.right() - painter.fontMetrics().horizontalAdvance(text) - 8
    painter.setPen(pen(colors.q("muted"), 1.0, (2.0, 3.0)))
    painter.setBrush(colors.q("accent", 0.09))
    painter.drawRect(QRectF(left_edge - 24, 4, 18, 10))
    painter.setPen(colors.q("muted"))
    painter.drawText(QRectF(left_edge, 0, 1000, 18), Qt.AlignmentFlag.AlignLeft, text)


def _best_name_box(
    plot: ParetoPlot,
    frame: Frame,
    point: QPointF,
    names: tuple[str, ...],
    bold: bool,
    occupied: list[QRectF],
) -> tuple[QRectF, str]:
    """Return the box at a point that hides least, and the longest name that hides no more in its box."""
    xs, ys = _drawn_pixels(plot, frame)
    room = frame.area.adjusted(0, -12, 8, 0)

    def cost(candidate: tuple[QRectF, str]) -> tuple[bool, int, int]:
        box, _ = candidate
        across, level = np.abs(xs - box.center().x()), np.abs(ys - box.center().y())
        n_hidden = np.count_nonzero((across <= box.width() / 2 + 3) & (level <= box.height() / 2 + 3))
        return not room.contains(box), sum(box.intersects(other) for other in occupied), int(n_hidden)

    boxes = ((box, name) for name in names for box in around(point, text_size(name, bold)))
    return min(((_shifted_inside(box, room), name) for box, name in boxes), key=cost)


def _drawn_pixels(plot: ParetoPlot, frame: Frame) -> tuple[Floats, Floats]:
    """Return the pixels of all markers, and some along the front and the level parts of the band."""
    xs, ys = frame.pixels(*plot.places)
    front = list(plot.marks.front) if plot.marks is not None else []
    ends = [*xs[front[1:]], frame.area.right()]
    parts = list(zip(xs[front], ends, ys[front], strict=True))
    if plot.marks is not None and len(front) > 1 and plot.marks.rule in _BAND_NAMES:
        edge = _level_steps(plot, frame)
        parts += [(a.x(), b.x(), a.y()) for a, b in zip(edge[::2], edge[1::2], strict=True)]
    for left, right, level in parts:
        along = np.arange(left, right, _SAMPLE_SPACING)
        xs, ys = np.append(xs, along), np.append(ys, np.full(along.size, level))
    for x, (low, high) in zip(ends, pairwise(level for _, _, level in parts[: len(front)]), strict=False):
        along = np.arange(min(low, high), max(low, high), _SAMPLE_SPACING)
        xs, ys = np.append(xs, np.full(along.size, x)), np.append(ys, along)
    return xs, ys


def _shifted_inside(box: QRectF, room: QRectF) -> QRectF:
    """Return a box moved sideways as far as it takes to be inside the plot."""
    shifted_box = QRectF(box)
    shifted_box.moveRight(min(shifted_box.right(), room.right()))
    shifted_box.moveLeft(max(shifted_box.left(), room.left()))
    return shifted_box


def text_size(text: str, bold: bool) -> QSizeF:
    """Return the room that a name takes."""
    return QSizeF(QFontMetricsF(font(SMALL, bold)).horizontalAdvance(text) + 4, 15)


def around(point: QPointF, size: QSizeF) -> list[QRectF]:
    """Return boxes of a size around a ring, the nearest first: below, above, at the right and the left."""
    w = size.width()
    h = size.height()
    boxes = []
    for gap in (_RING_RADIUS + 2, _RING_RADIUS + 10, _RING_RADIUS + 20, _RING_RADIUS + 32):
        across = (point.x() - w / 2, point.x() - 6, point.x() - w + 6, point.x() + gap, point.x() - gap - w)
        boxes += [
            QRectF(left_edge, top, w, h)
            for left_edge in across
            for top in (point.y() + gap, point.y() - gap - h)
        ]
        boxes += [
            QRectF(left_edge, point.y() - h / 2, w, h) for left_edge in (point.x() + gap, point.x() - gap - w)
        ]
    return boxes
