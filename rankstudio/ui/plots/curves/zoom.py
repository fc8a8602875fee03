"""Zooming by wheel and rectangle: pyqtgraph's ViewBox, without its menus and with our look."""

from __future__ import annotations

from math import log10
from typing import Any

from pyqtgraph import ViewBox, mkPen
from PySide6.QtCore import QRectF, Qt

from rankstudio.ui.style.colors import Colors


class Zoom(ViewBox):  # type: ignore[misc] # pyqtgraph has no types
    """The area of a plot of curves in which the mouse zooms and moves the picture.

    The wheel zooms, the left button draws a rectangle to zoom into, the
    middle button (or Shift and the left one) moves the picture.
    """

    def __init__(self) -> None:
        super().__init__(enableMenu=False)
        self.setMouseMode(ViewBox.RectMode)
        self.disableAutoRange()
        self.setZValue(-20)  # below all layers of the plot
        # whether x, or y, is laid out by its power of ten
        self.log_x = self.log_y = False

    def style(self, colors: Colors) -> None:
        """Give the rectangle that the mouse draws the colors of a theme."""
        self.rbScaleBox.setPen(mkPen(colors.q("accent"), width=1))
        self.rbScaleBox.setBrush(colors.q("accent", 0.12))

    def show_ranges(
        self, x_range: tuple[float, float], y_range: tuple[float, float]
    ) -> None:
        """Show an x range and a y range, and remove the limits of zooming.

        The signal on a zoom of the user is not emitted.
        """
        # For a logarithmic axis, pyqtgraph needs the exponents (base 10).
        if self.log_x:
            x_range = log10(x_range[0]), log10(x_range[1])
        if self.log_y:
            y_range = log10(y_range[0]), log10(y_range[1])
        self.setLimits(xMin=None, xMax=None, yMin=None, yMax=None, minXRange=None)
        self.setRange(xRange=x_range, yRange=y_range, padding=0, disableAutoRange=True)

    def limit_x(self, low: float, high: float) -> None:
        """Limit zooming and moving to an x range, and how close the user can zoom."""
        # For a logarithmic axis, pyqtgraph needs the exponents (base 10).
        if self.log_x:
            low = log10(low)
            high = log10(high)
        # The closest zoom: a twentieth of a logarithmic range, or two features.
        least = (high - low) / 20 if self.log_x else min(2.0, high - low)
        self.setLimits(xMin=low, xMax=high, minXRange=least)

    def fit(self, area: QRectF) -> None:
        """Cover a plot area; the map from pixels to data is updated at once, not at the next painting."""
        self.setGeometry(area)
        self.updateMatrix()

    def shown_ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the shown x and y range, in values.

        For a logarithmic axis, pyqtgraph has the exponents (base 10) instead.
        """
        (x0, x1), (y0, y1) = self.viewRange()
        if self.log_x:
            x0 = 10.0**x0
            x1 = 10.0**x1
        if self.log_y:
            y0 = 10.0**y0
            y1 = 10.0**y1
        return (float(x0), float(x1)), (float(y0), float(y1))

    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:
        """Zoom into a rectangle (left button), or move the picture (middle button, or Shift and left)."""
        is_left = event.button() == Qt.MouseButton.LeftButton
        moves = event.button() == Qt.MouseButton.MiddleButton or (
            is_left and event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        )
        if not (is_left or moves):
            event.ignore()
            return
        self.setMouseMode(ViewBox.PanMode if moves else ViewBox.RectMode)
        super().mouseDragEvent(event, axis)

    def showAxRect(self, rect: QRectF, **_: Any) -> None:
        """Zoom into a rectangle exactly, without the air that pyqtgraph adds."""
        super().showAxRect(rect, padding=0)

    def keyPressEvent(self, event: Any) -> None:
        """Ignore keys, so that the plot gets them."""
        event.ignore()
