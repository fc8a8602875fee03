"""Layers of a family of curves: curves, band, level, marks and keys, drawn in pixels of a frame."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import isnan

import numpy as np
from pyqtgraph.functions import arrayToQPolygonF
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPolygonF

from rankstudio.engine.arrays import Bools, Floats
from rankstudio.ui.language import tr
from rankstudio.ui.plots.curves.curve_set import REFERENCE_DASH, Band, Curve, CurveSet
from rankstudio.ui.plots.layers import Frame, between_axes, draw_line, pen
from rankstudio.ui.plots.readout import Pixels
from rankstudio.ui.style.colors import Colors, mix
from rankstudio.ui.style.fonts import LEFT, SMALL, TINY, font

# One pixel wide and opaque is Qt's fast lane: a twentieth of the time
# of a wider or translucent line. So the curves that step back are mixed
# with the ground, not made translucent.
_CHOSEN_WIDTH = 2.6
_PLAIN_WIDTH = 1.5
_FADED_WIDTH = 1.0
_FADED_SHARE = 0.38
# Points this far apart, in pixels, are drawn as points; closer ones
# would only thicken the line.
_MIN_POINT_DISTANCE = 13.0
_LONE_POINT_RADIUS = 3.4  # radius of a curve's only point, of which there is no line
# points to a pixel column, from which on it is drawn by its extremes
_MIN_CROWDED_POINTS = 2
_SWATCH_WIDTH = 16.0
_N_TRIED_HEIGHTS = 7  # at which there is looked for room
_NAMED_CURVE_FACTOR = 5  # times as bad it is to hide the curve that is named
_LONG_SWATCH_WIDTH = 24.0  # of a curve whose dashes are long
_GAP = 6.0
# points as which one of a text counts: half of a word is none
_POINTS_PER_TEXT_POINT = 25
_GRAIN = 4.0  # pixels between those of a ground that count as taken
_TITLE_MIDDLE = 9.0
_MIN_NAME_WIDTH = 70.0  # pixels
# radius of the smallest model's mark, seen around the circle of the chosen one
_DIAMOND_RADIUS = 7.0
_NAME_DISTANCE = 5.0  # pixels from it to its name


def draw_curves(
    family: CurveSet, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw the curves, straight between points and with a gap at NaN; the chosen one on top.

    While one curve is chosen, the other curves are thin and faded. A
    curve "beside" the chosen one stays as it is: such a curve shows
    another measure of the same models, to compare.
    """
    chosen = family.chosen_key
    strokes = family.strokes(colors)  # color and dash of each curve
    for key, curve in family.curves.items():
        if key != chosen:
            color, dash = strokes[key]
            if chosen is not None and not curve.beside:
                color = QColor(mix(color.name(), colors.panel, _FADED_SHARE))
            plain = chosen is None or curve.beside
            draw_curve(
                painter,
                frame,
                curve,
                color,
                _PLAIN_WIDTH if plain else _FADED_WIDTH,
                dash,
            )
    if chosen is not None and chosen in strokes:
        color, dash = strokes[chosen]
        draw_curve(painter, frame, family[chosen], color, _CHOSEN_WIDTH, dash)


def draw_band(
    family: CurveSet, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw the band of a family of curves: an interval as a light area, and the mean as a line.

    The mean and the interval are over folds. An interval over
    permutations of the labels has no mean, but an outline and a name.
    """
    band = family.band
    if band is None:
        return
    # The outline of the area: along the lower ends, and back along the upper ones.
    xs = np.concatenate([band.xs, band.xs[::-1]])
    ys = np.concatenate([band.low, band.high[::-1]])
    is_finite = np.isfinite(ys)
    # No fold has the measure. pyqtgraph cannot make a polygon of no points.
    if not is_finite.any():
        return
    px, py = frame.pixels(xs[is_finite], ys[is_finite])
    painter.setPen(Qt.PenStyle.NoPen)
    # The band of permuted labels is gray; that over folds has the color
    # of the accent. The second argument of `q` is the opacity.
    permuted = band.p_values is not None
    painter.setBrush(
        colors.q("muted", 0.28)
        if permuted
        else colors.q("accent", 0.16 if colors.dark else 0.11)
    )
    with between_axes(painter, frame):
        painter.drawPolygon(arrayToQPolygonF(px, py))
    if permuted:
        _outline_band(band, painter, frame, colors)
        return
    # the mean over folds, as a dashed line of 2 pixels
    mean = Curve(band.name, list(band.xs), list(band.mean))
    draw_curve(painter, frame, mean, colors.q("accent", 0.85), 2.0, (5.0, 2.0))


def _outline_band(band: Band, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw the ends of a band, which may be narrower than a pixel, and write its name."""
    painter.setPen(pen(colors.q("muted"), 1.0))
    with between_axes(painter, frame):
        for ends in (band.low, band.high):
            draw_line(painter, *frame.pixels(band.xs, ends))
    if band.xs.size == 1:  # no area: a bracket
        low, high = (
            frame.point(float(band.xs[0]), float(ends[0]))
            for ends in (band.low, band.high)
        )
        painter.drawLine(low, high)
        for end in (low, high):  # with a short line across each end
            painter.drawLine(end - QPointF(5, 0), end + QPointF(5, 0))
    _name_band(band, painter, frame, colors)


def _name_band(band: Band, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Write the name of a band above its right end, or below it if there is no room above.

    A name that is too wide is cut at its comma.
    """
    # The distances are a few pixels.
    painter.setFont(font(SMALL))
    metrics = painter.fontMetrics()
    name = band.name
    if metrics.horizontalAdvance(name) > frame.area.width() - 4:
        name = name.partition(",")[0]  # "permuted" of "permuted, 95 %"
    last = frame.point(float(band.xs[-1]), float(band.high[-1]))
    left_edge = min(last.x(), frame.area.right()) - metrics.horizontalAdvance(name) - 2
    above = last.y() - metrics.descent() - 3
    below = frame.y_px(float(band.low[-1])) + metrics.ascent() + 3
    painter.setPen(colors.q("muted"))
    # `above` and `below` are the two possible base lines of the text.
    fits = above - metrics.ascent() >= frame.area.top()
    painter.drawText(
        QPointF(max(left_edge, frame.area.left() + 2), above if fits else below), name
    )


def draw_reference(
    family: CurveSet, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw the level with which the curves are compared as a dotted line, unless it is out of sight."""
    py = reference_pixel(family, frame)  # its height; None if it is out of sight
    if py is not None:
        painter.setPen(pen(colors.q("muted"), 1.2, REFERENCE_DASH))
        painter.drawLine(
            QPointF(frame.area.left(), py), QPointF(frame.area.right(), py)
        )


def reference_pixel(family: CurveSet, frame: Frame) -> float | None:
    """Return the vertical pixel of the level that curves are compared with.

    Return None without a level, or if it is out of sight.
    """
    if family.reference is None or family.is_empty():
        return None
    py = round(frame.y_px(family.reference[0])) + 0.5
    return py if frame.area.top() <= py <= frame.area.bottom() else None


def draw_smallest(
    family: CurveSet, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw a diamond at the smallest model that is not significantly worse than the best one.

    A text beside the diamond names the model, unless the model is chosen.
    """
    center = _smallest_pixel(family, frame)  # None if the model is out of sight
    mark = family.smallest
    if center is None or mark is None:
        return
    corners = (
        (0.0, -_DIAMOND_RADIUS),
        (_DIAMOND_RADIUS, 0.0),
        (0.0, _DIAMOND_RADIUS),
        (-_DIAMOND_RADIUS, 0.0),
    )
    painter.setPen(pen(colors.q("accent"), 1.6))
    painter.setBrush(colors.q("panel"))
    painter.drawPolygon(QPolygonF([center + QPointF(*corner) for corner in corners]))
    # A chosen model has a note, which says the same.
    is_chosen = family.choice == (mark.key, mark.x)
    name_box = None if is_chosen else _smallest_room(family, frame)
    if name_box is not None:
        painter.setFont(font(TINY))
        # The ground is translucent: curves below the name remain visible.
        painter.fillRect(name_box, colors.q("panel", 0.82))
        painter.setPen(colors.q("accent"))
        painter.drawText(name_box, Qt.AlignmentFlag.AlignCenter, tr("smallest"))


def _smallest_pixel(family: CurveSet, frame: Frame) -> QPointF | None:
    """Return the pixel of the smallest model that is not significantly worse than the best one.

    Return None if the model is out of sight, or if there is no such model.
    """
    y = family.smallest_value()
    if family.smallest is None or isnan(y):
        return None
    center = frame.point(family.smallest.x, y)
    return center if frame.area.adjusted(-1, -1, 1, 1).contains(center) else None


def _smallest_room(family: CurveSet, frame: Frame) -> QRectF | None:
    """Return the box for the name of the smallest model that hides least of the curves.

    Boxes beside its diamond are tried: below, above, at the sides and
    at the corners. Return None where none is inside the plot area, or
    there is no such model.
    """
    center = _smallest_pixel(family, frame)
    if center is None:
        return None
    metrics = QFontMetricsF(font(TINY))
    width = metrics.horizontalAdvance(tr("smallest")) + 4.0
    height = metrics.height()
    distance = _DIAMOND_RADIUS + _NAME_DISTANCE
    box = QRectF(0.0, 0.0, width, height)
    rooms = []
    # shifts of the middle of the box from the diamond
    down = distance + height / 2
    across = distance + width / 2
    half = width / 2
    sides = (0, down), (0, -down), (across, 0), (-across, 0)
    for shift in (*sides, (half, down), (half, -down), (-half, down), (-half, -down)):
        box.moveCenter(center + QPointF(*shift))
        if frame.area.contains(box):
            rooms.append(QRectF(box))  # a copy, as `box` moves on
    n_hidden = _hidden_pixel_counts(family, frame, rooms)
    return rooms[n_hidden.index(min(n_hidden))] if rooms else None


def draw_choice(
    family: CurveSet, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw the chosen point: a dashed vertical line at its x, and an open circle on its curve."""
    choice = family.choice
    if choice is None or family.is_empty():
        return
    key, x = choice
    px = round(frame.x_px(x)) + 0.5  # the middle of a pixel, so that the line is sharp
    # After zooming, the point may be out of sight.
    if not frame.area.left() - 1 <= px <= frame.area.right() + 1:
        return
    if any(len(curve.xs) > 1 for curve in family.curves.values()):
        # Otherwise all points are at this x, and the line would only cover them.
        painter.setPen(pen(colors.q("accent"), 1.2, (3.0, 2.6)))
        painter.drawLine(
            QPointF(px, frame.area.top() - 4), QPointF(px, frame.area.bottom())
        )
    y = family[key].value_at(x) if key in family else float("nan")
    if np.isfinite(y):
        painter.setPen(pen(colors.q("accent"), 2.0))
        painter.setBrush(colors.q("panel"))
        painter.drawEllipse(QPointF(px, frame.y_px(y)), 4.5, 4.5)


def draw_inspection(
    family: CurveSet, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Draw the inspected point: a dotted vertical line at its x, and an open circle on its curve.

    The user can inspect a point before choosing it. Line and circle are
    in the color of the text, to tell them from those of the chosen
    point.
    """
    if family.inspection is None or family.is_empty():
        return
    key, x = family.inspection
    # The middle of a pixel. After zooming, the point may be out of sight.
    px = round(frame.x_px(x)) + 0.5
    if not frame.area.left() - 1 <= px <= frame.area.right() + 1:
        return
    # With single points only, all are at this x, and the line would cover them.
    if any(len(curve.xs) > 1 for curve in family.curves.values()):
        painter.setPen(pen(colors.q("text", 0.7), 1.2, (1.0, 2.6)))
        painter.drawLine(
            QPointF(px, frame.area.top() - 4), QPointF(px, frame.area.bottom())
        )
    y = family[key].value_at(x) if key in family else float("nan")
    if np.isfinite(y):
        painter.setPen(pen(colors.q("text"), 1.6))
        painter.setBrush(colors.q("panel"))
        painter.drawEllipse(QPointF(px, frame.y_px(y)), 4.5, 4.5)


def draw_cursor(
    family: CurveSet,
    painter: QPainter,
    frame: Frame,
    colors: Colors,
    x: float | None,
    pointed: Hashable | None,
) -> None:
    """Draw a vertical line at the mouse's x, and over the other curves the one that is pointed at.

    ``x`` is None while the mouse is on no plot. ``pointed`` is the key
    of a curve; it is None while the mouse is on another plot with the
    same x axis.
    """
    if x is None:
        return
    px = round(frame.x_px(x)) + 0.5
    painter.setPen(pen(colors.q("muted", 0.75), 1.0))
    painter.drawLine(QPointF(px, frame.area.top()), QPointF(px, frame.area.bottom()))
    if pointed is None or pointed not in family:
        return
    curve, (color, dash) = family[pointed], family.strokes(colors)[pointed]
    # The chosen curve is drawn over the others anyway.
    if pointed != family.chosen_key:
        draw_curve(painter, frame, curve, color, 2.0, dash)
    y = curve.value_at(x)
    if np.isfinite(y):
        painter.setPen(pen(colors.q("panel"), 1.5))
        painter.setBrush(color)
        painter.drawEllipse(frame.point(x, y), 4.0, 4.0)


def draw_curve(
    painter: QPainter,
    frame: Frame,
    curve: Curve,
    color: QColor,
    width: float,
    dash: tuple[float, ...] = (),
) -> None:
    """Draw a curve through its points, with a gap at NaN; few points are drawn as dots, too.

    ``width`` is that of the line in pixels. ``dash`` has the lengths of
    dashes and gaps; () for a solid line.
    """
    xs, ys = curve.arrays()
    if xs.size == 0:
        return
    px, py = frame.pixels(xs, ys)
    # Thousands of points are reduced to a few in each pixel column
    # (`extremes`); m11 is the number of device pixels to a logical one.
    reduced = extremes(px, py, painter.deviceTransform().m11())
    if reduced is not None:
        # The line is thin, as a wider one takes twenty times as long.
        (px, py), width = reduced, min(width, _FADED_WIDTH)
    painter.setPen(pen(color, width, dash))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    with between_axes(painter, frame):
        draw_line(painter, px, py)
    dots = _point_mask(px, py)
    if dots.any():
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        # a little wider than the line
        radius = 1.2 + 0.6 * width if px.size > 1 else _LONE_POINT_RADIUS
        for x, y in zip(px[dots], py[dots], strict=True):
            painter.drawEllipse(QPointF(x, y), radius, radius)


def extremes(px: Floats, py: Floats, scale: float) -> tuple[Floats, Floats] | None:
    """Reduce the points of a curve to four in each pixel column: the first, lowest, highest and last.

    A line through them looks the same as one through all points. Return
    x and y of the remaining points. Return None if there are few points
    anyway, if some go to the left, or if some are missing (NaN): then
    all points are drawn.

    Parameters
    ----------
    px, py : ndarray
        Points in logical pixels.
    scale : float
        Device pixels to a logical one.
    """
    # The pixel column of each point, and the position of the first
    # point of each column.
    columns = np.floor(px * scale)
    starts = np.flatnonzero(np.diff(columns, prepend=-np.inf))
    if (
        px.size < _MIN_CROWDED_POINTS * starts.size
        or not np.isfinite(py).all()
        or (np.diff(px) < 0).any()
    ):
        return None
    ends = np.append(starts[1:], px.size) - 1  # the last point of each column
    lowest = np.minimum.reduceat(py, starts)
    highest = np.maximum.reduceat(py, starts)
    # Four points a column, side by side in a row; raveled, they are in
    # drawing order. The lowest and the highest may be at any x of the
    # column, as it is one pixel wide.
    ys = np.column_stack((py[starts], lowest, highest, py[ends]))
    xs = np.column_stack((px[starts], px[starts], px[ends], px[ends]))
    return xs.ravel(), ys.ravel()


def _point_mask(px: Floats, py: Floats) -> Bools:
    """Return which points of a curve are drawn as dots, a truth value for each point.

    ``px`` and ``py`` are the pixels of the points. If there is room,
    all points are dots; else only points between two gaps (NaN), which
    no line would show.
    """
    is_finite = np.isfinite(py)
    if px.size < 2 or float(np.ptp(px)) / (px.size - 1) >= _MIN_POINT_DISTANCE:
        return is_finite
    before = np.concatenate([[False], is_finite[:-1]])
    after = np.concatenate([is_finite[1:], [False]])
    is_isolated: Bools = is_finite & ~before & ~after
    return is_isolated


def draw_reference_key(
    family: CurveSet, painter: QPainter, frame: Frame, colors: Colors, title: str
) -> None:
    """Write the name of the dotted line, the level to compare with, at the right of the title.

    ``title`` is the title of the plot. A name without room is cut at
    its colon, and then at its end; the box beside the mouse has it in
    full. With too little room, nothing is written.
    """
    if family.reference is None or reference_pixel(family, frame) is None:
        return
    painter.setFont(font(TINY))
    available_width = (
        frame.outer.width()
        - QFontMetricsF(font()).horizontalAdvance(title)
        - _SWATCH_WIDTH
        - 4 * _GAP
    )
    if available_width < _MIN_NAME_WIDTH:
        return
    metrics = painter.fontMetrics()
    _, text = family.reference  # the level and its name
    if metrics.horizontalAdvance(text) > available_width:
        # "best single feature" of "best single feature: BM25"
        text = text.partition(":")[0]
    text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(available_width))
    width = metrics.horizontalAdvance(text) + 1
    box = QRectF(frame.outer.right() - width, 0, width + 1, 2 * _TITLE_MIDDLE)
    painter.setPen(colors.q("muted"))
    painter.drawText(box, LEFT, text)
    # a piece of the dotted line before its name
    left_edge = box.left() - _GAP
    painter.setPen(pen(colors.q("muted"), 1.2, REFERENCE_DASH))
    painter.drawLine(
        QPointF(left_edge - _SWATCH_WIDTH, _TITLE_MIDDLE),
        QPointF(left_edge, _TITLE_MIDDLE),
    )


def draw_beside_key(
    family: CurveSet, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Write the name of the curve beside the chosen one at an edge, in two lines at most.

    That curve shows another measure of the same models. A piece of its
    line is drawn before the name.
    """
    placed_name = _key_of_curve_beside(family, frame)
    if placed_name is None:
        return
    key, lines, ground = placed_name  # of the curve; lines of the name; their box
    color, dash = family.strokes(colors)[key]
    painter.setFont(font(TINY))
    height = ground.height() / len(lines)
    painter.fillRect(ground, colors.q("panel", 0.82))
    painter.setPen(pen(color, 1.5, dash))
    left_edge = ground.left() + _GAP
    middle = ground.top() + height / 2
    painter.drawLine(
        QPointF(left_edge, middle), QPointF(left_edge + _LONG_SWATCH_WIDTH, middle)
    )
    painter.setPen(colors.q("muted"))
    for row, line in enumerate(lines):
        box = QRectF(
            left_edge + _LONG_SWATCH_WIDTH + _GAP,
            ground.top() + row * height,
            ground.width(),
            height,
        )
        painter.drawText(box, LEFT, line)


def readable_pixels(family: CurveSet, frame: Frame) -> Pixels:
    """Return the pixels that the note about the choice should not hide: all points, and names of curves.

    The result has two arrays of one length, the x and the y of the
    pixels. The points of the chosen curve occur several times, so that
    they count more. The box of a name is a grid of points, each of
    which occurs several times, too.
    """
    points = frame.pixels(*family.points(family.chosen_key, one_curve=False))
    # the boxes of the names of the curve beside the chosen one (its
    # key, the lines of its name, their box), and of the smallest model;
    # None for a name that is not written
    placed_name = _key_of_curve_beside(family, frame)
    beside_box = placed_name[2] if placed_name is not None else None
    for ground in (beside_box, _smallest_room(family, frame)):
        if ground is not None:
            # the grid of points in the box, each of them repeated
            columns = np.arange(ground.left(), ground.right(), _GRAIN)
            rows = np.arange(ground.top(), ground.bottom(), _GRAIN)
            x, y = (
                np.repeat(axis, _POINTS_PER_TEXT_POINT)
                for axis in np.meshgrid(columns, rows)
            )
            points = np.append(points[0], x), np.append(points[1], y)
    return points


def _key_of_curve_beside(
    family: CurveSet, frame: Frame
) -> tuple[Hashable, list[str], QRectF] | None:
    """Return the key of the curve beside the chosen one, the lines of its name, and the box for them.

    That curve shows another measure of the same models; of several, the
    first is named. Return None if there is no such curve, or no room
    for a name.
    """
    beside_curves = [
        (key, curve)
        for key, curve in family.curves.items()
        if curve.beside and curve.xs
    ]
    metrics = QFontMetricsF(font(TINY))
    available_width = frame.area.width() - _LONG_SWATCH_WIDTH - 4 * _GAP
    if not beside_curves or available_width < _MIN_NAME_WIDTH:
        return None
    key, curve = beside_curves[0]
    # A name that is too wide has two lines, from its first comma on.
    lines = (
        [curve.label]
        if metrics.horizontalAdvance(curve.label) <= available_width
        else curve.label.split(", ", 1)
    )
    lines = [
        metrics.elidedText(line, Qt.TextElideMode.ElideRight, int(available_width))
        for line in lines
    ]
    width = max(map(metrics.horizontalAdvance, lines)) + _LONG_SWATCH_WIDTH + 3 * _GAP
    return key, lines, _free_room(family, frame, width, metrics.height() * len(lines))


def _free_room(family: CurveSet, frame: Frame, width: float, height: float) -> QRectF:
    """Return the box of a size in pixels, at the right or left edge, that hides least of the curves.

    ``width`` and ``height`` are the size. Of equally good boxes, the
    lowest is returned, and the one at the right before the one at the
    left.
    """
    area = frame.area
    tops = np.linspace(
        area.bottom() - 4 - height, area.top() + 4, _N_TRIED_HEIGHTS
    ).tolist()
    rooms = [
        QRectF(x, y, width, height)
        for y in tops
        for x in (area.right() - width, area.left() + 4)
    ]
    n_hidden = _hidden_pixel_counts(family, frame, rooms)
    return rooms[n_hidden.index(min(n_hidden))]


def _hidden_pixel_counts(
    family: CurveSet, frame: Frame, rooms: Sequence[QRectF]
) -> list[int]:
    """Return how many pixels of the curves each of some boxes hides, in the order of the boxes.

    A pixel of a curve beside the chosen one counts several times, as
    its name is what the boxes are for.
    """
    n_hidden = [0] * len(rooms)
    for curve in family.curves.values():
        xs, ys = curve.arrays()
        is_finite = np.isfinite(ys)
        if not is_finite.any():
            continue
        px, py = frame.pixels(xs[is_finite], ys[is_finite])
        for index, room in enumerate(rooms):
            columns = np.arange(
                max(room.left(), px.min()), min(room.right(), px.max()) + 1
            )
            # The height of the curve in each pixel column of the box.
            # The curve is hidden inside the box and within 3 pixels of
            # it.
            drawn = np.interp(columns, px, py)
            inside = (drawn > room.top() - 3) & (drawn < room.bottom() + 3)
            n_hidden[index] += int(inside.sum()) * (
                _NAMED_CURVE_FACTOR if curve.beside else 1
            )
    return n_hidden
