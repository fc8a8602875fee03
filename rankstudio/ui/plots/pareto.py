"""A plot of models by size and worth, with the Pareto front and the suggested model."""

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
from rankstudio.ui.plots.base import DEFAULT_FILE_NAME, NEUTRAL, Numbers, Plot, describe
from rankstudio.ui.plots.layers import (
    INSPECTED,
    Frame,
    draw_marker,
    pen,
    readable_range,
)
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
# by which a logarithmic axis extends beyond the least and the greatest size
_LOG_MARGIN_FACTOR = 1.08
# pixels between the points of the front that a name should leave visible
_SAMPLE_SPACING = 4.0
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
    """The marker of one model; its worth is its mean measure.

    Attributes
    ----------
    x, y : float
        Size and worth of the model.
    error : float
        Standard error of the worth; NaN where there is none.
    category : int
        Number of the model's run, which decides the color and the marker.
    title, note : str
        Names of the run and of the model's parameters: "run 2 · GAS,
        then RankSVM" and "k = 4 · λ = 2⁶".
    """

    x: float
    y: float
    error: float
    category: int
    title: str
    note: str


@dataclass(frozen=True)
class Marks:
    """The models that a plot highlights: the Pareto front, the best and the suggested model.

    Attributes
    ----------
    front : tuple of int
        Positions of the spots on the Pareto front, by ascending size.
    best, suggested : int
        Positions of the best spot, and of the smallest one that is not
        clearly worse.
    levels : tuple of float
        Least worth at which each spot of the front counts as not clearly worse.
    rule : str
        Name of the rule behind the levels: "one standard error".
        Another name, as for a budget, has no band.
    cost : str
        Cost of the suggested model: "0.35 ms"; "" where models are
        compared by size.
    """

    front: tuple[int, ...]
    best: int
    suggested: int
    levels: tuple[float, ...]
    rule: str = "one standard error"
    cost: str = ""


class ParetoPlot(Plot):
    """A plot of models as markers by size and worth (the mean measure), with the Pareto front as steps.

    A click picks a model.

    Parameters
    ----------
    theme : Theme
    title, x_label : str
        Names of the quantities of the y axis and of the x axis.

    Attributes
    ----------
    picked : Signal(int)
        Position of the spot that was clicked, or moved to with the
        arrow keys along the front.
    """

    picked = Signal(int)

    def __init__(self, theme: Theme, title: str = "", x_label: str = "") -> None:
        self.spots: tuple[Spot, ...] = ()
        self.marks: Marks | None = None
        # Positions of the chosen and the inspected model among the spots.
        self.chosen: int | None = None
        self.inspected: int | None = None
        # whether models are compared over folds, not queries, as for a single ranking
        self.over_folds = False
        super().__init__(theme, Axes(title, x_label, integer_x=True))
        # The numbers order the layers: a greater one lies above.
        self.add_layer(partial(draw_pareto_front, self), 0.0)
        self.add_layer(partial(draw_spots, self), 1.0)
        self.add_layer(partial(draw_marks, self), 2.0, clipped=False)
        self.add_layer(partial(draw_band_name, self), 3.0, clipped=False)

    def set_spots(self, spots: Sequence[Spot], marks: Marks | None = None) -> None:
        """Show other models, and no marks if there are no models."""
        self.spots = tuple(spots)
        self.marks = marks if spots else None
        self.chosen = self.inspected = None
        self.show_anew()

    def select(self, position: int | None) -> None:
        """Draw a ring around the chosen model, by its position; None removes the ring."""
        self.chosen = position
        self.mark_dirty()

    def inspect(self, position: int | None) -> None:
        """Draw a dashed ring around the model that is inspected.

        None removes the ring.
        """
        self.inspected = position
        self.mark_dirty()

    # Plot

    def spans(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the range of the sizes, and a range of worths that contains the front and its levels."""
        # A level is the least worth that is not clearly worse than the
        # best. The front and its levels are in sight in any case; of
        # other models, a few extreme worths may be cut off.
        xs, ys = self.sizes_and_worths
        smallest = float(xs.min())
        greatest = float(xs.max())
        front_values: list[float] = []
        if self.marks:
            front_values = [
                *(self.spots[i].y for i in self.marks.front),
                *self.marks.levels,
            ]
        y_range = readable_range(ys, np.array(front_values))
        if self.axes.log_sizes:
            return (
                smallest / _LOG_MARGIN_FACTOR,
                greatest * _LOG_MARGIN_FACTOR,
            ), y_range
        # half a feature; for costs 4 % of the range, or of 1 if all are equal
        margin = 0.5 if self.axes.integer_x else 0.04 * (float(np.ptp(xs)) or 1.0)
        return (smallest - margin, greatest + margin), y_range

    @property
    def sizes_and_worths(self) -> tuple[Floats, Floats]:
        """Sizes and worths of all models, two arrays of shape (n_models,)."""
        return np.array([s.x for s in self.spots], float), np.array(
            [s.y for s in self.spots], float
        )

    def is_empty(self) -> bool:
        """Return whether there is no model."""
        return not self.spots

    def figure(self) -> CurvesFigure:
        """Return the plot as a figure for print: the Pareto front, the models of each run, and two marks.

        The marks are at the best and at the suggested model.
        """
        spots = self.spots
        marks = self.marks
        series = []
        if marks is not None:
            front = [spots[i] for i in marks.front]
            xs = tuple(spot.x for spot in front)
            ys = tuple(spot.y for spot in front)
            series.append(
                Series(
                    tr("models on the Pareto front"),
                    xs,
                    ys,
                    kind="steps",
                    number=NEUTRAL,
                )
            )
        for category in dict.fromkeys(spot.category for spot in spots):
            members = [spot for spot in spots if spot.category == category]
            xs = tuple(spot.x for spot in members)
            ys = tuple(spot.y for spot in members)
            series.append(
                Series(members[0].title, xs, ys, kind="points", number=category)
            )
        rings = []
        if marks is not None:
            # a model that is both is called the best: the later entry wins
            labels = {marks.suggested: tr(marks.rule), marks.best: tr("best")}
            rings = [
                Mark(f"{label}: {spots[i].note}", spots[i].x, spots[i].y)
                for i, label in labels.items()
            ]
        axes = self.axes
        x = FigureAxis(axes.x_label, whole=axes.integer_x)
        return CurvesFigure(
            name=DEFAULT_FILE_NAME,
            title=axes.title,
            caption="",
            x=x,
            y=FigureAxis(axes.title),
            series=tuple(series),
            marks=tuple(rings),
        )

    def numbers(self) -> Numbers:
        """Return a row for each model: run, parameters, size, worth, standard error, front and choice."""
        y_title = self.axes.title or "value"
        front = self.marks.front if self.marks else ()
        header = [
            "model",
            "combination",
            "size",
            y_title,
            "standard error",
            "front",
            "chosen",
        ]
        return header, [
            [
                s.title,
                s.note,
                s.x,
                s.y,
                s.error,
                "front" if i in front else "",
                self._name_in_marks(i),
            ]
            for i, s in enumerate(self.spots)
        ]

    def readout(self, position: int) -> list[Line]:
        """Return the lines of the box on a model: its worth ± the standard error, and the best for comparison.

        ``position`` is that of the model among the spots.
        """
        spot = self.spots[position]
        error = "" if isnan(spot.error) else f" ± {spot.error:.4f}"
        lines = [Line(spot.title, f"{spot.y:.4f}{error}", bold=True), Line(spot.note)]
        name = self._name_in_marks(position)
        lines += [Line(name)] if name else []
        if self.marks is not None and position != self.marks.best:
            best = self.spots[self.marks.best]
            lines.append(
                Line(
                    tr("best: {name}").format(name=f"{best.title}, {best.note}"),
                    f"{best.y:.4f}",
                )
            )
        return lines

    def kept_in_sight(self, target: int) -> Pixels | None:
        """Return the pixels of a model and of the best model, which the box of values should not hide.

        ``target`` is the position of the first model; the result is two
        arrays, x and y.
        """
        best = self.marks.best if self.marks is not None else target
        # one marker if the target is the best
        spots = [self.spots[i] for i in {target, best}]
        return self.frame().pixels(
            np.array([spot.x for spot in spots], float),
            np.array([spot.y for spot in spots], float),
        )

    def pick(self, position: int) -> None:
        """Emit `picked` with the position of a model."""
        self.picked.emit(position)

    def step(self, right: int, down: int) -> bool:
        """Move along the front by an arrow key to the right or left; begin at the suggested model, or the best.

        ``right`` is 1 or -1, and ``down`` is 0 for such a key. Emit
        `picked` with the position of the new model. Return whether the
        key has an effect: keys up and down have none.
        """
        if self.marks is None or down:
            return False
        front = self.marks.front
        suggested = self.marks.suggested
        start = suggested if suggested in front else self.marks.best
        # the start of the move: the inspected model, else the chosen one
        ringed = self.chosen if self.inspected is None else self.inspected
        index = front.index(ringed) + right if ringed in front else front.index(start)
        self.picked.emit(front[max(0, min(len(front) - 1, index))])
        return True

    def hit_test(self, point: QPointF) -> int | None:
        """Return the position of the spot at a pixel, None where every spot is too far away.

        The nearest spot is returned, unless a spot of the front is
        near, too: spots of the front are larger and on top.
        """
        if not self.spots:
            return None
        # Distances in pixels from every spot, shape (number of spots,).
        px, py = self.frame().pixels(*self.sizes_and_worths)
        distances = np.hypot(px - point.x(), py - point.y())
        front = list(self.marks.front) if self.marks else []
        # spots of the front count from half the distance of a hit
        nearby = [i for i in front if distances[i] <= _HIT_DISTANCE / 2]
        best = (
            min(nearby, key=lambda i: distances[i])
            if nearby
            else int(distances.argmin())
        )
        return best if distances[best] <= _HIT_DISTANCE else None

    def _name_in_marks(self, position: int) -> str:
        """Return the name of a model in the marks, by its position: "best", the suggestion's rule, or both.

        Return "" for any other model.
        """
        if self.marks is None:
            return ""
        names = {self.marks.best: tr("best"), self.marks.suggested: tr(self.marks.rule)}
        if self.marks.best == self.marks.suggested == position:
            return tr("best, and choice by “{rule}”").format(rule=tr(self.marks.rule))
        return names.get(position, "")

    def summary(self) -> str:
        """Describe the best model, and the suggested one by the name of the rule that suggests it."""
        if self.marks is None:
            return tr("{title} of {n_spots} models").format(
                title=self.axes.title, n_spots=len(self.spots)
            )
        named_models = {
            tr("best"): self.marks.best,
            tr(self.marks.rule): self.marks.suggested,
        }
        return describe(
            [
                f"{name}: {self.spots[i].title}, {self.spots[i].note}, {self.spots[i].y:.4f}"
                for name, i in named_models.items()
            ]
        )


def draw_pareto_front(
    plot: ParetoPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw the band of the models that are not clearly worse than the best, then the front as steps.

    The steps are level from each model of the front to the next larger
    one, and then rise or fall to it.
    """
    marks = plot.marks
    spots = plot.spots
    if marks is None:
        return
    # Some rules, such as a budget, have no band.
    if len(marks.front) > 1 and marks.rule in _BAND_NAMES:
        _draw_band(
            painter,
            frame,
            colors,
            _level_steps(plot, frame),
            frame.y_px(spots[marks.best].y),
        )
    # Before each further model of the front, a corner at its size and
    # at the height of the model before; the last step reaches to the
    # right edge.
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
    """Return the lower edge of the band, as pairs of points: the left and the right end of each level.

    The level of a size extends to the next size of the front; the band
    ends at the size of the best model.
    """
    marks = plot.marks
    assert marks is not None  # only a plot with marks has a band
    # The first level begins at the left edge, and each ends where the
    # next model of the front is; the last model is the best one, which
    # needs no band.
    starts = [
        frame.area.left(),
        *(frame.x_px(plot.spots[i].x) for i in marks.front[1:]),
    ]
    levels = [frame.y_px(level) for level in marks.levels[:-1]]
    ends = zip(starts[:-1], starts[1:], levels, strict=True)
    return [QPointF(x, y) for left, right, y in ends for x in (left, right)]


def _draw_band(
    painter: QPainter, frame: Frame, colors: Colors, lower: list[QPointF], upper: float
) -> None:
    """Fill the band between the worth of the best model and the lower edge, and draw that edge dotted.

    ``lower`` has the corners of the edge from left to right, in pixels,
    and ``upper`` is the vertical pixel of the best worth.
    """
    corners = [QPointF(lower[0].x(), upper), *lower, QPointF(lower[-1].x(), upper)]
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colors.q("accent", 0.09))
    painter.drawPolygon(QPolygonF(corners))
    painter.setPen(pen(colors.q("muted"), 1.0, (2.0, 3.0)))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(QPolygonF(lower))


def draw_spots(
    plot: ParetoPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw a marker for each model in its run's color.

    Markers of the front are larger and on top.
    """
    # Models behind the front come first, and are faded except the one under the mouse.
    front = plot.marks.front if plot.marks else ()
    points = frame.points(*plot.sizes_and_worths)
    painter.setPen(Qt.PenStyle.NoPen)
    last_brush: tuple[int, float] | None = None
    background = (i for i in range(len(points)) if i not in front)
    for i in (*background, *front):
        category = plot.spots[i].category
        opacity = 1.0 if i in front or i == plot.under_mouse else _FADED_OPACITY
        # hundreds of markers of one color follow each other
        if (category, opacity) != last_brush:
            last_brush = category, opacity
            line_style = palettes.category(colors, category)
            line_style.color.setAlphaF(opacity)
            painter.setBrush(line_style.color)
        draw_marker(
            painter,
            line_style.marker,
            points[i],
            _FRONT_RADIUS if i in front else _PLAIN_RADIUS,
        )


def draw_marks(
    plot: ParetoPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw rings around the chosen, inspected, best and suggested model, then names of the latter two."""
    marks = plot.marks
    if marks is None:
        return
    points = frame.points(*plot.sizes_and_worths)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    # Thin rings have room inside the rings of the best and suggested model.
    thin_rings = (
        (plot.chosen, (), _RING_RADIUS - 2.5),
        (plot.inspected, INSPECTED, _RING_RADIUS - 1.0),
    )
    for position, dash, radius in thin_rings:
        if position is not None:
            painter.setPen(pen(colors.q("text"), 1.4, dash))
            painter.drawEllipse(points[position], radius, radius)
    # Position of a model: its names from long to short, the role of the
    # color, and the width of the ring.
    named: dict[int, tuple[tuple[str, ...], str, float]] = {
        marks.best: ((tr("best"),), "muted", 1.4)
    }
    if marks.suggested != marks.best:
        named[marks.suggested] = (_suggested_names(plot, marks), "accent", 2.0)
    for i, (_, role, width) in named.items():
        painter.setPen(pen(colors.q(role), width))
        painter.drawEllipse(points[i], _RING_RADIUS, _RING_RADIUS)
    # the boxes of the rings, which names should not cover
    occupied = [
        QRectF(
            points[i].x() - _RING_RADIUS,
            points[i].y() - _RING_RADIUS,
            2 * _RING_RADIUS,
            2 * _RING_RADIUS,
        )
        for i in named
    ]
    # In reverse, as the suggestion's longer name fits in fewer places.
    # Each name counts as occupied for the next one.
    for i, (names, role, _) in reversed(named.items()):
        is_bold = role == "accent"
        box, text = _best_name_box(plot, frame, points[i], names, is_bold, occupied)
        painter.setFont(font(SMALL, is_bold))
        painter.setPen(colors.q(role))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        occupied.append(box)


def _suggested_names(plot: ParetoPlot, marks: Marks) -> tuple[str, ...]:
    """Return the texts for the suggested model, the longest first.

    The last is its size, such as "3 features", or the cost if models
    are compared by cost. A longer text needs a rule that has a band.
    """
    if marks.cost:
        at_length = tr("{cost}, the cheapest in the band").format(cost=marks.cost)
        return (at_length, marks.cost) if marks.rule in _BAND_NAMES else (marks.cost,)
    size = plot.spots[marks.suggested].x
    number = 1 if size == 1 else 2  # singular or plural; a mean size is no whole number
    texts = (
        trn(
            "{size:.4g} feature, the smallest in the band",
            "{size:.4g} features, the smallest in the band",
            number,
        ),
        trn("{size:.4g} feature", "{size:.4g} features", number),
    )
    return tuple(text.format(size=size) for text in texts)


def draw_band_name(
    plot: ParetoPlot, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Write the meaning of the band at the upper right, if a long or a short name has room.

    A small box in the colors of the band stands before it. The band is
    that of models that are not clearly worse than the best; some rules
    have none.
    """
    if plot.marks is None or plot.marks.rule not in _BAND_NAMES:
        return
    painter.setFont(font(SMALL))
    # with a gap of 24 pixels between the title and the name
    title_width = painter.fontMetrics().horizontalAdvance(plot.axes.title) + 24
    names_of_rules = (
        _BAND_NAMES | _BAND_NAMES_OVER_FOLDS if plot.over_folds else _BAND_NAMES
    )
    names = names_of_rules[plot.marks.rule]
    # 30 pixels are for the small box before the name
    available_width = frame.outer.width() - title_width - 30
    # The first name that has room; a longer one comes before a shorter one.
    text = next(
        (
            name
            for name in names
            if painter.fontMetrics().horizontalAdvance(name) <= available_width
        ),
        "",
    )
    if not text:
        return
    left_edge = frame.outer.right() - painter.fontMetrics().horizontalAdvance(text) - 8
    painter.setPen(pen(colors.q("muted"), 1.0, (2.0, 3.0)))
    painter.setBrush(colors.q("accent", 0.09))
    painter.drawRect(QRectF(left_edge - 24, 4, 18, 10))
    painter.setPen(colors.q("muted"))
    # 1000 pixels are more than the text needs
    painter.drawText(QRectF(left_edge, 0, 1000, 18), Qt.AlignmentFlag.AlignLeft, text)


def _best_name_box(
    plot: ParetoPlot,
    frame: Frame,
    point: QPointF,
    names: tuple[str, ...],
    bold: bool,
    occupied: list[QRectF],
) -> tuple[QRectF, str]:
    """Return the box near a point that hides least of the plot, and the name that stands in it.

    ``names`` are the texts to choose from; of those that hide equally
    little, the first one is chosen. ``occupied`` are the boxes of rings
    and other names, which the box should not cover. ``bold`` says
    whether the name is in bold.
    """
    xs, ys = _drawn_pixels(plot, frame)
    # A name may reach 12 pixels above the plot area, and 8 beyond its right edge.
    room = frame.area.adjusted(0, -12, 8, 0)

    def cost(candidate: tuple[QRectF, str]) -> tuple[bool, int, int]:
        """Return whether the box leaves the plot, then how many boxes and how many drawn points it hides.

        ``candidate`` is a box and the text in it. The plot, its drawn
        points and the boxes of other names are those of the enclosing
        function. The candidate with the least result is the best.
        """
        # A point within 3 pixels of the box counts as hidden.
        box, _ = candidate
        dx = np.abs(xs - box.center().x())
        dy = np.abs(ys - box.center().y())
        n_hidden = np.count_nonzero(
            (dx <= box.width() / 2 + 3) & (dy <= box.height() / 2 + 3)
        )
        return (
            not room.contains(box),
            sum(box.intersects(other) for other in occupied),
            int(n_hidden),
        )

    candidates = (
        (box, name) for name in names for box in around(point, text_size(name, bold))
    )
    return min(
        ((_shifted_inside(box, room), name) for box, name in candidates), key=cost
    )


def _drawn_pixels(plot: ParetoPlot, frame: Frame) -> tuple[Floats, Floats]:
    """Return the pixels of all markers, and of points along the front and along the levels of the band.

    The result has two arrays of one length, x and y. A box that covers
    few of these pixels hides little of the plot.
    """
    xs, ys = frame.pixels(*plot.sizes_and_worths)
    front = list(plot.marks.front) if plot.marks is not None else []
    # Each level part ends at the size of the front's next model.
    step_ends = [*xs[front[1:]], frame.area.right()]
    # A level part is a horizontal line: left end, right end, height.
    level_parts = list(zip(xs[front], step_ends, ys[front], strict=True))
    if plot.marks is not None and len(front) > 1 and plot.marks.rule in _BAND_NAMES:
        edge = _level_steps(plot, frame)
        level_parts += [
            (a.x(), b.x(), a.y()) for a, b in zip(edge[::2], edge[1::2], strict=True)
        ]
    # Points at equal distances stand for a line.
    for left_end, right_end, y in level_parts:
        sample_xs = np.arange(left_end, right_end, _SAMPLE_SPACING)
        xs = np.append(xs, sample_xs)
        ys = np.append(ys, np.full(sample_xs.size, y))
    # Between two level parts of the front there is an upright one; the
    # last level part has none after it.
    front_levels = [y for _, _, y in level_parts[: len(front)]]
    for x, (y, next_y) in zip(step_ends, pairwise(front_levels), strict=False):
        sample_ys = np.arange(min(y, next_y), max(y, next_y), _SAMPLE_SPACING)
        xs = np.append(xs, np.full(sample_ys.size, x))
        ys = np.append(ys, sample_ys)
    return xs, ys


def _shifted_inside(box: QRectF, room: QRectF) -> QRectF:
    """Return a box that is moved sideways until it lies inside ``room``."""
    shifted_box = QRectF(box)
    shifted_box.moveRight(min(shifted_box.right(), room.right()))
    shifted_box.moveLeft(max(shifted_box.left(), room.left()))
    return shifted_box


def text_size(text: str, bold: bool) -> QSizeF:
    """Return the size of a name's box in pixels."""
    return QSizeF(QFontMetricsF(font(SMALL, bold)).horizontalAdvance(text) + 4, 15)


def around(point: QPointF, size: QSizeF) -> list[QRectF]:
    """Return boxes of a size around a ring, the nearest first: below, above, at the right and the left.

    The boxes are tried as places for the name of a model. The ring is
    centered at ``point``, and ``size`` is the size of each box.
    """
    x = point.x()
    y = point.y()
    w = size.width()
    h = size.height()
    boxes = []
    for gap in (
        _RING_RADIUS + 2,
        _RING_RADIUS + 10,
        _RING_RADIUS + 20,
        _RING_RADIUS + 32,
    ):
        # Centered, with an end near the point (6 pixels beyond it), and
        # beside the point: each below and above.
        left_edges = (x - w / 2, x - 6, x - w + 6, x + gap, x - gap - w)
        boxes += [
            QRectF(left_edge, top, w, h)
            for left_edge in left_edges
            for top in (y + gap, y - gap - h)
        ]
        boxes += [
            QRectF(left_edge, y - h / 2, w, h) for left_edge in (x + gap, x - gap - w)
        ]
    return boxes
