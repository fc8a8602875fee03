"""The base of everything drawn on a plot: a layer of the pyqtgraph scene that can also draw into a file.

A layer draws in the logical pixels of the drawing, not in data coordinates, through the `Frame`. Line widths
and fonts then come out the same on a screen of any pixel ratio, in a 300 dpi picture and in a PDF.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Protocol

from pyqtgraph import GraphicsObject
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from rankstudio.ui.plots.frame import Frame
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.theme import Theme

SPILL = 6.0
"""How far markers may reach over the edge of the plot area, in pixels."""


Draw = Callable[[QPainter, Frame, Colors], None]
"""Draws a layer in logical pixels."""


class Layered(Protocol):
    """What a layer asks its plot."""

    theme: Theme

    def frame(self) -> Frame:
        """Return where data lie on the screen at this moment."""


class Layer(GraphicsObject):  # type: ignore[misc] # pyqtgraph has no types
    """One layer of a plot.

    Parameters
    ----------
    plot : Layered
    draw : callable
        Says what is on it.
    z : float
        Layers with greater z lie above.
    clipped : bool
        Whether nothing is drawn outside of the plot area.
    on_paper, on_screen : bool
        Whether the layer belongs to the figure in a file (what follows the mouse does not), and to the one in
        the window (a key to the colours does not: the panel's caption and the box with values are there).
    """

    def __init__(
        self,
        plot: Layered,
        draw: Draw,
        z: float,
        clipped: bool = True,
        on_paper: bool = True,
        on_screen: bool = True,
    ) -> None:
        super().__init__()
        self.plot = plot
        self.draw = draw
        self.clipped = clipped
        self.on_paper = on_paper
        self.on_screen = on_screen
        self._bounds = QRectF()
        self._broken = False
        self.setZValue(z)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def fit(self, outer: QRectF) -> None:
        """Take on the size of the drawing."""
        if outer != self._bounds:
            self.prepareGeometryChange()
            self._bounds = QRectF(outer)

    def boundingRect(self) -> QRectF:
        """Return the whole drawing."""
        return self._bounds

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Draw on the screen.

        An exception that leaves a painting method ends the process without a word, so it is reported as any
        other unexpected one is, once, and the layer stays blank.
        """
        if self._broken or not self.on_screen:
            return
        try:
            self.render_to(painter, self.plot.frame(), self.plot.theme.colors)
        except Exception:
            self._broken = True
            sys.excepthook(*sys.exc_info())

    def render_to(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw on any device, clipped as the layer wants."""
        painter.save()
        try:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if self.clipped:
                painter.setClipRect(frame.area.adjusted(-SPILL, -SPILL, SPILL, SPILL))
            self.draw(painter, frame, colors)
        finally:
            painter.restore()


def pen(color: QColor, width: float, dash: tuple[float, ...] = ()) -> QPen:
    """Return a pen whose width is in logical pixels on every device.

    Parameters
    ----------
    color : QColor
    width : float
    dash : tuple of float
        Dash and gap lengths in line widths.
    """
    made = QPen(color, width)
    # Nobody sees the joins of a thin line, and round ones take twice the time.
    thin = width < 2.0
    made.setJoinStyle(Qt.PenJoinStyle.BevelJoin if thin else Qt.PenJoinStyle.RoundJoin)
    made.setCapStyle(Qt.PenCapStyle.FlatCap if dash or thin else Qt.PenCapStyle.RoundCap)
    if dash:
        made.setDashPattern(list(dash))
    return made


def hairline(painter: QPainter, color: QColor, first: QPointF, second: QPointF) -> None:
    """Draw a horizontal or vertical line one logical pixel wide, aligned to the pixels."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    line = QPen(color, 1.0)
    line.setCapStyle(Qt.PenCapStyle.FlatCap)
    painter.setPen(line)
    painter.drawLine(first, second)
    painter.restore()


def draw_marker(painter: QPainter, shape: str, at: QPointF, radius: float) -> None:
    """Draw one of the markers of `rankstudio.ui.style.palettes.Category` with the painter's pen and brush."""
    x, y, r = at.x(), at.y(), radius
    if shape == "square":
        painter.drawRect(QRectF(x - r * 0.88, y - r * 0.88, 1.76 * r, 1.76 * r))
    elif shape == "diamond":
        s = r * 1.25
        painter.drawPolygon(
            QPolygonF([QPointF(x, y - s), QPointF(x + s, y), QPointF(x, y + s), QPointF(x - s, y)])
        )
    elif shape == "triangle":
        painter.drawPolygon(
            QPolygonF(
                [
                    QPointF(x, y - 1.15 * r),
                    QPointF(x + 1.1 * r, y + 0.8 * r),
                    QPointF(x - 1.1 * r, y + 0.8 * r),
                ]
            )
        )
    elif shape in ("plus", "cross", "star"):
        _draw_strokes(painter, shape, at, radius)
    else:
        painter.drawEllipse(at, r, r)


def _draw_strokes(painter: QPainter, shape: str, at: QPointF, radius: float) -> None:
    """Draw a marker made of strokes, in the brush's colour: a marker's fill is what carries its colour."""
    painter.save()
    color = (
        painter.brush().color() if painter.brush().style() != Qt.BrushStyle.NoBrush else painter.pen().color()
    )
    painter.setPen(pen(color, max(1.4, radius * 0.5)))
    x, y, r, d = at.x(), at.y(), radius, radius * 0.72
    if shape in ("plus", "star"):
        painter.drawLine(QPointF(x - r, y), QPointF(x + r, y))
        painter.drawLine(QPointF(x, y - r), QPointF(x, y + r))
    if shape in ("cross", "star"):
        painter.drawLine(QPointF(x - d, y - d), QPointF(x + d, y + d))
        painter.drawLine(QPointF(x - d, y + d), QPointF(x + d, y - d))
    painter.restore()
