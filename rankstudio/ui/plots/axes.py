"""Title, axis texts, ticks and grid of a plot."""

from __future__ import annotations

from dataclasses import dataclass
from math import log10

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFontMetrics, QFontMetricsF, QPainter

from rankstudio.engine.export.figures.ticks import (
    DECIMAL_STEPS,
    integer_ticks,
    log_ticks,
    nice_ticks,
    power_label,
    tick_labels,
)
from rankstudio.ui.plots.layers import Frame, hairline
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import BELOW, RIGHT, SMALL, TINY, font, scaled
from rankstudio.ui.style.number_format import power

TITLE_HEIGHT = 26
LABEL_HEIGHT = 20
TICK_HEIGHT = 20
AIR = 8.0
_X_SPACING = 52
_GRID_SPACING = 34
_Y_SPACING = 28
_SIZE_SPACING = 30
_LINE_HEIGHT = 18  # of a title or a tick label

Ticks = list[tuple[float, str]]


def _size_ticks(x_range: tuple[float, float], width: float) -> Ticks:
    """Return the ticks of a logarithmic axis of sizes: as many as have room for their numbers.

    Sizes are whole numbers from 1. A tick is a pair of a size and its
    text. ``x_range`` has the sizes at both ends of the axis, which is
    ``width`` pixels wide.
    """
    low, high = (log10(end) for end in x_range)
    # An earlier candidate takes the room of a later one: powers of ten
    # first, then 2, 5 and 3 times these.
    decades = range(int(low) - 1, int(high) + 1)
    candidates = [
        leading * 10.0**decade for leading in (1, 2, 5, 3) for decade in decades
    ]
    ticks: list[float] = []
    for size in candidates:
        is_inside = size >= 1 and x_range[0] <= size <= x_range[1]
        # the pixels from this candidate to each tick so far
        gaps = (abs(log10(size) - log10(tick)) * width / (high - low) for tick in ticks)
        if is_inside and all(gap >= scaled(_SIZE_SPACING) for gap in gaps):
            ticks.append(size)
    return [(size, f"{size:.0f}") for size in sorted(ticks)]


@dataclass(frozen=True)
class Axes:
    """Texts and ticks around a plot area.

    Attributes
    ----------
    title : str
        Name of the quantity of the y axis, at the top left.
    x_label : str
        Name of the quantity of the x axis, below it.
    integer_x : bool
        Whether x counts something.
    x_air : float
        Share by which the range of x was widened at each end. Ticks of
        a count leave these margins out.
    show_x, show_y : bool
        Whether the axis has ticks, and y a grid.
    log_y : bool
        Whether equal heights are equal ratios.
    short : str
        A shorter title, for a plot without room for the title; "" for none.
    grid : tuple of float
        Values of the parameter on the x axis, ascending, which have the
        ticks; empty if x is no parameter.
    log_sizes : bool
        Whether x counts something from 1, and equal widths are equal ratios.
    """

    title: str = ""
    x_label: str = ""
    integer_x: bool = False
    show_x: bool = True
    show_y: bool = True
    log_y: bool = False
    short: str = ""
    x_air: float = 0.0
    grid: tuple[float, ...] = ()
    log_sizes: bool = False

    @property
    def log_x(self) -> bool:
        """Whether equal widths are equal ratios, as for sizes and for a grid whose values are all above 0."""
        return self.log_sizes or (bool(self.grid) and min(self.grid) > 0)

    def y_ticks(self, y_range: tuple[float, float], height: float) -> Ticks:
        """Return the value and the text of each tick that fits into a height in pixels; none without a y axis.

        ``y_range`` has the values at both ends of the axis.
        """
        # After the range, `nice_ticks` and `log_ticks` take the number
        # of ticks that have room. DECIMAL_STEPS are the steps between
        # ticks that need few digits.
        if not self.show_y:
            return []
        if self.log_y:
            return [
                (t, power_label(t))
                for t in log_ticks(*y_range, max(2.0, height / scaled(_Y_SPACING)))
            ]
        values = nice_ticks(
            *y_range, max(2.0, height / scaled(_Y_SPACING)), DECIMAL_STEPS
        )
        return list(zip(values, tick_labels(values), strict=True))

    def x_ticks(self, x_range: tuple[float, float], width: float) -> Ticks:
        """Return the value and the text of each tick that fits into a width in pixels; none without an x axis.

        ``x_range`` has the values at both ends of the axis.
        """
        if not self.show_x:
            return []
        # values of a parameter, such as λ, are written as powers
        if self.grid:
            # Every stride-th value is a tick, so that the texts have
            # room. -(-a // b) is a / b rounded up.
            stride = max(
                1, -(-len(self.grid) * scaled(_GRID_SPACING) // max(1, int(width)))
            )
            return [
                (x, power(x))
                for x in self.grid[::stride]
                if x_range[0] <= x <= x_range[1]
            ]
        if self.log_sizes and x_range[0] > 0:
            return _size_ticks(x_range, width)
        count = max(2.0, width / scaled(_X_SPACING))
        if self.integer_x:
            # The range was widened by the share `x_air` at each end.
            # These margins have no ticks, so the range before is
            # computed again.
            air = (x_range[1] - x_range[0]) * self.x_air / (1 + 2 * self.x_air)
            return [
                (t, f"{t:.0f}")
                for t in integer_ticks(x_range[0] + air, x_range[1] - air, count)
            ]
        values = nice_ticks(*x_range, count)
        return list(zip(values, _tick_texts(values), strict=True))

    def frame(
        self, size: QSizeF, x_range: tuple[float, float], y_range: tuple[float, float]
    ) -> Frame:
        """Lay out a drawing: the plot area is what titles and labels leave.

        Parameters
        ----------
        size : QSizeF
            Size of the whole drawing, in logical pixels.
        x_range, y_range : tuple of float
            Values at both ends of the axes.
        """
        # The height decides on the ticks of y. The width of their texts
        # then decides how much of the width remains. AIR are a few
        # pixels.
        top = scaled(TITLE_HEIGHT) if self.title else AIR
        bottom = scaled(TICK_HEIGHT) + (scaled(LABEL_HEIGHT) if self.x_label else 0)
        height = max(1.0, size.height() - top - bottom)
        metrics = QFontMetricsF(font(TINY))
        widths = [
            metrics.horizontalAdvance(text) for _, text in self.y_ticks(y_range, height)
        ]
        left_edge = max(widths, default=0.0) + AIR
        width = max(1.0, size.width() - left_edge - 2 * AIR)
        area = QRectF(round(left_edge), round(top), round(width), round(height))
        return Frame(
            area,
            QRectF(QPointF(0, 0), size),
            x_range,
            y_range,
            self.log_y,
            self.log_x and x_range[0] > 0,
        )


def _tick_texts(values: list[float]) -> list[str]:
    """Return the texts of ticks, without trailing zeros: 0, 0.25, 0.5, 0.75, 1."""
    labels = tick_labels(values)
    return [t.rstrip("0").rstrip(".") if "." in t else t for t in labels]


def draw_axes(
    axes: Axes,
    painter: QPainter,
    frame: Frame,
    colors: Colors,
    reserved_width: float,
    placeholder: str | None,
) -> None:
    """Draw the grid, ticks and texts of `Axes`, or the text of an empty plot.

    Parameters
    ----------
    axes : Axes
    painter : QPainter
    frame : Frame
        The map from values to pixels, with the plot area.
    colors : Colors
    reserved_width : float
        Width of the text at the right of the title, in pixels.
    placeholder : str or None
        Text of an empty plot; None where there is something to draw.
    """
    area = frame.area
    if placeholder is not None:
        _draw_placeholder(placeholder, painter, frame, colors)
    else:
        _draw_ticks(axes, painter, frame, colors)
    painter.setFont(font(SMALL))
    painter.setPen(colors.q("muted"))
    painter.drawText(
        title_box(frame),
        Qt.AlignmentFlag.AlignLeft,
        shown_title(axes, frame, reserved_width),
    )
    if axes.x_label and placeholder is None:
        box, label = label_box(
            axes.x_label, painter.fontMetrics(), area.center().x(), frame.outer
        )
        painter.drawText(
            box, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom, label
        )


def title_box(frame: Frame) -> QRectF:
    """Return the box of the title of a drawing, above the plot area."""
    return QRectF(0, 0, frame.outer.width(), scaled(_LINE_HEIGHT))


def shown_title(axes: Axes, frame: Frame, reserved_width: float) -> str:
    """Return the title as it is drawn: in its short form if it has no room, cut if that has none either.

    The title is above the plot. In its line, ``reserved_width`` pixels
    at the right are for another text.
    """
    metrics = QFontMetrics(font(SMALL))
    available_width = int(frame.outer.width() - reserved_width)
    title = (
        axes.title
        if _text_width(metrics, axes.title) <= available_width
        else axes.short or axes.title
    )
    return metrics.elidedText(title, Qt.TextElideMode.ElideRight, available_width)


def cut_texts(
    axes: Axes, frame: Frame, reserved_width: float, placeholder: str | None
) -> list[str]:
    """Return in full the texts around a plot that have no room, and are cut.

    The title, or its short form, is among them if it is cut. For an
    empty plot, its text (``placeholder``) is tested, too; for any other
    plot, the text of the x axis. Beside the title, ``reserved_width``
    pixels are taken.
    """
    metrics = QFontMetrics(font(SMALL))
    outer = frame.outer
    title_room = outer.width() - reserved_width
    title = (
        axes.title
        if _text_width(metrics, axes.title) <= title_room
        else axes.short or axes.title
    )
    cut = [title] if _text_width(metrics, title) > title_room else []
    if placeholder is not None:
        box = _placeholder_box(frame).toRect()
        drawn = metrics.boundingRect(box, Qt.TextFlag.TextWordWrap.value, placeholder)
        fits = drawn.width() <= box.width() and drawn.height() <= box.height()
        return cut if fits else [*cut, placeholder]
    label_fits = _text_width(metrics, axes.x_label) <= outer.width()
    return cut if label_fits else [*cut, axes.x_label]


def _text_width(metrics: QFontMetrics, text: str) -> int:
    return metrics.horizontalAdvance(text)


def label_box(
    text: str, metrics: QFontMetrics, middle: float, outer: QRectF
) -> tuple[QRectF, str]:
    """Return the box of the x axis's text, and the text, cut where it is wider than the drawing.

    The box is centered at `middle`, a horizontal pixel, or shifted as
    far as it takes to lie inside the drawing (`outer`).
    """
    label = metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(outer.width()))
    width = min(metrics.horizontalAdvance(label) + 2.0, outer.width())
    left_edge = max(min(middle - width / 2, outer.right() - width), outer.left())
    height = scaled(LABEL_HEIGHT)
    return QRectF(left_edge, outer.bottom() - height, width, height), label


def _draw_ticks(axes: Axes, painter: QPainter, frame: Frame, colors: Colors) -> None:
    """Draw the grid and the texts of both axes: lines of a grid for y, texts alone for x."""
    area = frame.area
    painter.setFont(font(TINY))
    for value, text in axes.y_ticks(frame.y_range, area.height()):
        y = round(frame.y_px(value))  # a whole pixel, so that the line is sharp
        hairline(
            painter,
            colors.q("line_soft"),
            QPointF(area.left(), y),
            QPointF(area.right(), y),
        )
        painter.setPen(colors.q("muted"))
        box = QRectF(
            0, y - scaled(_LINE_HEIGHT) / 2, area.left() - AIR, scaled(_LINE_HEIGHT)
        )
        painter.drawText(box, RIGHT, text)
    hairline(painter, colors.q("line"), area.bottomLeft(), area.bottomRight())
    painter.setPen(colors.q("muted"))
    for value, text in axes.x_ticks(frame.x_range, area.width()):
        # the text is centered 4 pixels below its tick, in a box 80 pixels wide
        box = QRectF(
            frame.x_px(value) - 40, area.bottom() + 4, 80, scaled(_LINE_HEIGHT)
        )
        painter.drawText(box, BELOW, text)


def _draw_placeholder(
    placeholder: str, painter: QPainter, frame: Frame, colors: Colors
) -> None:
    """Write the text of an empty plot in its middle.

    ``placeholder`` is the text, which is wrapped to lines. If the lines
    are too high together, a single line is written.
    """
    painter.setFont(font(SMALL))
    painter.setPen(colors.q("muted"))
    flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
    box = _placeholder_box(frame)
    metrics = painter.fontMetrics()
    wrapped = metrics.boundingRect(
        box.toRect(), Qt.TextFlag.TextWordWrap.value, placeholder
    )
    if wrapped.height() > box.height():  # on one line, cut where it is too long
        flags = Qt.AlignmentFlag.AlignCenter
        placeholder = metrics.elidedText(
            placeholder, Qt.TextElideMode.ElideRight, int(box.width())
        )
    painter.drawText(box, flags, placeholder)


def _placeholder_box(frame: Frame) -> QRectF:
    """Return the box of an empty plot's text: the whole plot below its title, as there are no ticks."""
    top = min(scaled(_LINE_HEIGHT), frame.area.top())
    return QRectF(16, top, frame.outer.width() - 32, frame.outer.height() - top)
