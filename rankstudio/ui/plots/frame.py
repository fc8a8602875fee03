"""Where data lie on a drawing: the plot area and the ranges it shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF

from rankstudio.engine.arrays import Floats


@dataclass(frozen=True)
class Frame:
    """The affine map between data and the pixels of a drawing.

    Attributes
    ----------
    area : QRectF
        The plot area inside the drawing, in logical pixels; titles and tick labels lie around it.
    outer : QRectF
        The whole drawing.
    x_range, y_range : tuple of float
        The data shown at the left and right edge, and at the bottom and top edge.
    log_y : bool
        Whether equal heights are equal ratios; then ``y_range`` is above 0.
    log_x : bool
        Whether equal widths are.
    """

    area: QRectF
    outer: QRectF
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    log_y: bool = False
    log_x: bool = False

    def x_px(self, x: float) -> float:
        """Return the horizontal pixel of a value."""
        return float(self.pixels(np.array([x]), np.ones(1))[0][0])

    def y_px(self, y: float) -> float:
        """Return the vertical pixel of a value; pixels grow downwards, values upwards."""
        return float(self.pixels(np.ones(1), np.array([y]))[1][0])

    def point(self, x: float, y: float) -> QPointF:
        """Return the pixel of a point."""
        return QPointF(self.x_px(x), self.y_px(y))

    def pixels(self, xs: Floats, ys: Floats) -> tuple[Floats, Floats]:
        """Return the pixels of points, as two arrays of the inputs' shape."""
        (x0, x1), (y0, y1) = self.x_range, self.y_range
        if self.log_y:  # what is not above 0 lies at the lower end
            ys = np.log10(np.maximum(ys, y0))
            y0, y1 = np.log10(y0), np.log10(y1)
        if self.log_x:
            xs, x0, x1 = np.log10(xs), np.log10(x0), np.log10(x1)
        px = self.area.left() + (xs - x0) * (self.area.width() / (x1 - x0))
        py = self.area.bottom() - (ys - y0) * (self.area.height() / (y1 - y0))
        return px, py

    def x_at(self, px: float) -> float:
        """Return the value at a horizontal pixel."""
        low, high = np.log10(self.x_range) if self.log_x else self.x_range
        x = low + (px - self.area.left()) / max(self.area.width(), 1e-9) * (high - low)
        return float(10.0**x if self.log_x else x)


def padded(low: float, high: float, share: float = 0.06) -> tuple[float, float]:
    """Return a range with some air at both ends; never an empty one."""
    if not (np.isfinite(low) and np.isfinite(high)):
        return 0.0, 1.0
    if high <= low:
        air = abs(low) * 0.05 or 0.5
        return low - air, high + air
    air = (high - low) * share
    return low - air, high + air


def readable_range(values: Floats, keep: Floats) -> tuple[float, float]:
    """Return the y range that shows a family of curves well.

    The whole range, unless a few extreme values (at most a twentieth at each end, say one λ at k = 1) would
    press everything else into less than half of the picture; these then run out of the frame, visibly.

    Parameters
    ----------
    values : ndarray
        All values of all curves; NaN is ignored.
    keep : ndarray
        Values that must lie inside, the chosen curve's; may be empty.

    Returns
    -------
    tuple of float
        Padded lower and upper end.
    """
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    core_low, core_high = (float(v) for v in np.quantile(finite, (0.05, 0.95)))
    core = core_high - core_low
    if core > 0 and high - low > 2.0 * core:
        must = keep[np.isfinite(keep)]
        low = max(low, core_low - 0.5 * core)
        high = min(high, core_high + 0.5 * core)
        if must.size:
            low, high = min(low, float(must.min())), max(high, float(must.max()))
    return padded(low, high)
