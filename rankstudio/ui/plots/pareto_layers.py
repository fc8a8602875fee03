"""What `ParetoPlot` draws: the front, the markers, and which ones to take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPolygonF

from rankstudio.ui.language import tr, trn
from rankstudio.ui.plots.frame import Frame
from rankstudio.ui.plots.layers import draw_marker, pen
from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import SMALL, font

if TYPE_CHECKING:
    from rankstudio.ui.plots.pareto import Marks, ParetoPlot

_PLAIN, _FRONT, _RING = 2.6, 4.2, 8.0
_FADED = 0.4
_BANDS = {
    "not told apart": (
        tr("not told apart from the best (95 %, paired over queries)"),
        tr("not told apart from the best"),
    ),
    "one standard error": (
        tr("within one standard error of the best, over the folds"),
        tr("within one standard error"),
    ),
}
"""What the band is called by its rule, at length and in short."""


def draw_pareto_front(plot: ParetoPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw the band in which a model is good enough, then the front as steps.

    A size buys what the last smaller one on the front is worth.
    """
    marks, spots = plot.marks, plot.spots
    if marks is None:
        return
    if len(marks.front) > 1:
        _draw_band(painter, frame, colors, _level_steps(plot, frame), frame.y_px(spots[marks.best].y))
    corners: list[QPointF] = []
    for i in marks.front:
        at = frame.point(spots[i].x, spots[i].y)
        corners += [QPointF(at.x(), corners[-1].y())] if corners else []
        corners.append(at)
    corners.append(QPointF(frame.area.right(), corners[-1].y()))
    painter.setPen(pen(colors.q("text", 0.55), 1.4))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(QPolygonF(corners))


def _level_steps(plot: ParetoPlot, frame: Frame) -> list[QPointF]:
    """Return the lower edge of the band: each size below the best has its level until the next one."""
    marks = plot.marks
    assert marks is not None  # the band is one of them
    begins = [frame.area.left(), *(frame.x_px(plot.spots[i].x) for i in marks.front[1:])]
    levels = [frame.y_px(level) for level in marks.levels[:-1]]
    ends = zip(begins[:-1], begins[1:], levels, strict=True)
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
    points = _points(plot, frame)
    painter.setPen(Qt.PenStyle.NoPen)
    last: tuple[int, float] | None = None
    others = (i for i in range(len(points)) if i not in front)
    for i in (*others, *front):
        category = plot.spots[i].category
        opacity = 1.0 if i in front or i == plot.under_mouse else _FADED
        if (category, opacity) != last:  # hundreds of one colour follow each other
            last = category, opacity
            look = palettes.category(colors, category)
            look.color.setAlphaF(opacity)
            painter.setBrush(look.color)
        draw_marker(painter, look.marker, points[i], _FRONT if i in front else _PLAIN)


def _points(plot: ParetoPlot, frame: Frame) -> list[QPointF]:
    """Return the pixels of all models at once, which takes a tenth of the time of one after the other."""
    places = np.array([(spot.x, spot.y) for spot in plot.spots]).reshape(-1, 2)
    xs, ys = frame.pixels(*places.T)
    return [QPointF(x, y) for x, y in zip(xs.tolist(), ys.tolist(), strict=True)]


def draw_marks(plot: ParetoPlot, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw rings around suggested, best and chosen model, then their names where they hide least."""
    marks = plot.marks
    if marks is None:
        return
    points = _points(plot, frame)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if plot.chosen is not None:
        painter.setPen(pen(colors.q("text"), 1.4))
        painter.drawEllipse(points[plot.chosen], _RING - 2.5, _RING - 2.5)
    named: dict[int, tuple[tuple[str, ...], str, float]] = {marks.best: ((tr("best"),), "muted", 1.4)}
    if marks.suggested != marks.best:
        named[marks.suggested] = (_suggested_names(plot, marks), "accent", 2.0)
    for i, (_, role, width) in named.items():
        painter.setPen(pen(colors.q(role), width))
        painter.drawEllipse(points[i], _RING, _RING)
    taken = [QRectF(points[i].x() - _RING, points[i].y() - _RING, 2 * _RING, 2 * _RING) for i in named]
    for i, (names, role, _) in reversed(named.items()):  # the longer name has fewer places
        box, text = _place(plot, frame, points[i], names, role == "accent", taken)
        painter.setFont(font(SMALL, role == "accent"))
        painter.setPen(colors.q(role))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        taken.append(box)


def _suggested_names(plot: ParetoPlot, marks: Marks) -> tuple[str, ...]:
    """Return what stands at the suggested model, at length and in short: "3 features"."""
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
    if plot.marks is None:
        return
    painter.setFont(font(SMALL))
    title = painter.fontMetrics().horizontalAdvance(plot.axes.title) + 24
    names = _BANDS.get(plot.marks.rule, (plot.marks.rule,))
    room = frame.outer.width() - title - 30
    text = next((name for name in names if painter.fontMetrics().horizontalAdvance(name) <= room), "")
    if not text:
        return
    left = frame.outer.right() - painter.fontMetrics().horizontalAdvance(text) - 8
    painter.setPen(pen(colors.q("muted"), 1.0, (2.0, 3.0)))
    painter.setBrush(colors.q("accent", 0.09))
    painter.drawRect(QRectF(left - 24, 4, 18, 10))
    painter.setPen(colors.q("muted"))
    painter.drawText(QRectF(left, 0, 1000, 18), Qt.AlignmentFlag.AlignLeft, text)


def _place(
    plot: ParetoPlot,
    frame: Frame,
    at: QPointF,
    names: tuple[str, ...],
    bold: bool,
    taken: list[QRectF],
) -> tuple[QRectF, str]:
    """Return the box at a point that hides least, and the longest name that hides no more in its box."""
    xs, ys = frame.pixels(*np.array([(spot.x, spot.y) for spot in plot.spots]).T)
    room = frame.area.adjusted(0, -12, 8, 0)

    def cost(place: tuple[QRectF, str]) -> tuple[bool, int, int]:
        box, _ = place
        beside, level = np.abs(xs - box.center().x()), np.abs(ys - box.center().y())
        hidden = np.count_nonzero((beside <= box.width() / 2 + 3) & (level <= box.height() / 2 + 3))
        return not room.contains(box), sum(box.intersects(other) for other in taken), int(hidden)

    boxes = ((box, name) for name in names for box in around(at, text_size(name, bold)))
    return min(((_inside(box, room), name) for box, name in boxes), key=cost)


def _inside(box: QRectF, room: QRectF) -> QRectF:
    """Return a box moved sideways as far as it takes to be inside the plot."""
    moved = QRectF(box)
    moved.moveRight(min(moved.right(), room.right()))
    moved.moveLeft(max(moved.left(), room.left()))
    return moved


def text_size(text: str, bold: bool) -> QSizeF:
    """Return the room that a name takes."""
    return QSizeF(QFontMetricsF(font(SMALL, bold)).horizontalAdvance(text) + 4, 15)


def around(at: QPointF, size: QSizeF) -> list[QRectF]:
    """Return boxes of a size around a ring: below, above, at the right and at the left, and askew."""
    w, h, gap = size.width(), size.height(), _RING + 2
    across = (at.x() - w / 2, at.x() - 6, at.x() - w + 6)
    boxes = [QRectF(left, top, w, h) for left in across for top in (at.y() + gap, at.y() - gap - h)]
    return [*boxes, *(QRectF(left, at.y() - h / 2, w, h) for left in (at.x() + gap, at.x() - gap - w))]
