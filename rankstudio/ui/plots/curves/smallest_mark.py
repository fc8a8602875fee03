"""The mark of the smallest model that is not significantly worse than the best one of its curve."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPolygonF

from rankstudio.engine.export.figures.values import Mark
from rankstudio.ui.language import tr
from rankstudio.ui.plots.curves.curve_set import CurveSet
from rankstudio.ui.plots.frame import Frame
from rankstudio.ui.plots.layers import pen
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import TINY, font

_RADIUS = 7.0  # so that it is seen around the circle of the chosen model
_AWAY = 5.0  # pixels from its name


@dataclass(frozen=True)
class SmallestMark:
    """A point of a curve.

    Attributes
    ----------
    key : hashable
        Of the curve.
    x : float
    difference, p : float
        Its measure less that of the best model of the curve, and the p of that difference.
    """

    key: Hashable
    x: float
    difference: float
    p: float

    def lines_at(self, x: float) -> list[Line]:
        """Return what the box with values says of it; nothing at another x."""
        if x != self.x:
            return []
        told = tr("{difference:+.4f}, p = {p:.2g}").format(difference=self.difference, p=self.p)
        return [Line(tr("smallest not significantly worse"), told)]

    def on_paper(self, family: CurveSet, x_name: str) -> tuple[Mark, ...]:
        """Return it as a mark of a figure; nothing where its curve has no such point."""
        y = self._y(family)
        return (Mark(self.in_words(x_name), float(self.x), y),) if np.isfinite(y) else ()

    def in_words(self, x_name: str) -> str:
        """Return what it is and where."""
        return tr("smallest not significantly worse: {x_name} = {x:g}").format(x_name=x_name, x=self.x)

    def draw(self, family: CurveSet, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw a diamond."""
        at = self._at(family, frame)
        if at is None:
            return
        corners = ((0.0, -_RADIUS), (_RADIUS, 0.0), (0.0, _RADIUS), (-_RADIUS, 0.0))
        painter.setPen(pen(colors.q("accent"), 1.6))
        painter.setBrush(colors.q("panel"))
        painter.drawPolygon(QPolygonF([at + QPointF(*corner) for corner in corners]))

    def draw_name(self, family: CurveSet, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Write what it is beside it."""
        room = self.room(family, frame)
        if room is not None:
            painter.setFont(font(TINY))
            painter.fillRect(room, colors.q("panel", 0.82))
            painter.setPen(colors.q("accent"))
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter, tr("smallest"))

    def room(self, family: CurveSet, frame: Frame) -> QRectF | None:
        """Return the place of its name, where that hides fewest points; None where there is no room."""
        at = self._at(family, frame)
        if at is None:
            return None
        metrics = QFontMetricsF(font(TINY))
        width, height = metrics.horizontalAdvance(tr("smallest")) + 4.0, metrics.height()
        away = _RADIUS + _AWAY
        ground = QRectF(0.0, 0.0, width, height)
        rooms = []
        down, aside, half = away + height / 2, away + width / 2, width / 2
        sides = (0, down), (0, -down), (aside, 0), (-aside, 0)
        for shift in (*sides, (half, down), (half, -down), (-half, down), (-half, -down)):
            ground.moveCenter(at + QPointF(*shift))
            if frame.area.contains(ground):
                rooms.append(QRectF(ground))
        px, py = frame.pixels(*family.points(None, alone=False))

        def hidden(room: QRectF) -> int:
            inside = (px > room.left()) & (px < room.right()) & (py > room.top()) & (py < room.bottom())
            return int(np.count_nonzero(inside))

        return min(rooms, key=hidden, default=None)

    def _at(self, family: CurveSet, frame: Frame) -> QPointF | None:
        """Return its pixel; None where it is out of sight."""
        y = self._y(family)
        at = frame.point(self.x, y) if np.isfinite(y) else None
        return at if at is not None and frame.area.adjusted(-1, -1, 1, 1).contains(at) else None

    def _y(self, family: CurveSet) -> float:
        return float(family[self.key].value_at(self.x)) if self.key in family else float("nan")
